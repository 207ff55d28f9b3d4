"""What a method is given, what it gives back, and what a problem is.

A problem makes a `Recording` from a seed; a method turns a `Given` into a `Found`. A `Given` never
holds the sources. What a method uses beyond channels and number of sources is named in
`Method.told`, so that a table can say it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LABELS = "segment labels"
DEPTH = "depth of the mixing"
STATES = "number of states"
LINEAR = "whether the mixing is linear"


class Refused(ValueError):
    """A method says that it cannot take a problem: an answer, and not a failure of the run."""


@dataclass(frozen=True)
class Recording:
    """Channels with their true sources, and what its authors tell their method."""

    channels: np.ndarray  # (T, M)
    sources: np.ndarray  # (T, K)
    labels: np.ndarray | None = None  # (T,) segment of every sample, from 0
    depth: int | None = None  # layers of the mixing network
    states: int | None = None  # hidden states of the sources
    is_linear: bool = False  # the mixing is a matrix
    first: np.ndarray | None = None  # (T,) whether a sample begins a sequence; None: only the first


@dataclass(frozen=True)
class Given:
    """All that a method sees."""

    channels: np.ndarray  # (T, M), every column of mean 0 and variance 1
    n_sources: int
    seed: int
    labels: np.ndarray | None = None
    depth: int | None = None
    states: int | None = None
    is_linear: bool = False
    first: np.ndarray | None = None
    device: str = "cpu"
    budget: float = 1.0  # factor on the number of training steps

    def steps(self, published: int) -> int:
        """Training steps: the method's own number times the budget, at least 20."""
        return max(20, round(published * self.budget))

    def pairs(self, lag: int = 1) -> np.ndarray:
        """Samples t whose predecessors t-1, ..., t-lag are in the same sequence."""
        times = np.arange(lag, len(self.channels))
        if self.first is None:
            return times
        number = np.cumsum(self.first)
        return times[number[times] == number[times - lag]]

    def lengths(self) -> list[int]:
        """Samples of every sequence."""
        begins = [0] if self.first is None else np.flatnonzero(self.first)
        return np.diff(np.append(begins, len(self.channels))).tolist()

    def shortest(self) -> int:
        """Samples of the shortest sequence."""
        return min(self.lengths())

    def segments(self) -> np.ndarray:
        """The labels, or where there are none equal stretches of time, as TCL takes for MEG."""
        if self.labels is not None:
            return self.labels
        n = len(self.channels)
        return np.arange(n) * min(256, max(4, n // 50)) // n


@dataclass(frozen=True)
class Found:
    """Estimated sources (T, K), up to order, sign and scale."""

    sources: np.ndarray
    # Estimates of |s| where the theory of a method promises these and not s (TCL).
    absolutes: np.ndarray | None = None


@dataclass(frozen=True)
class Check:
    """What a method's own paper shows, and the problem on which it is looked for here."""

    problem: str
    score: str  # a name in scores.SCORES
    at_least: float  # ours, for one seed at the budget of `check`
    shown: str  # in the paper's simulations, in words


@dataclass(frozen=True)
class Method:
    name: str
    paper: str
    run: Callable[[Given], Found]
    settings: str  # what decides the result, besides the budget; part of a row's key
    told: tuple[str, ...] = ()
    check: Check | None = None


@dataclass(frozen=True)
class Problem:
    family: str
    name: str
    make: Callable[[int], Recording]  # seed -> recording
    published: str = ""  # figure, metric and reference of its authors
    note: str = ""  # where the assumptions of StrTransformer do not hold
