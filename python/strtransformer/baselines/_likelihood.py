"""Picard's minimisation in NumPy, for what the library does not have: densities other than tanh,
the likelihood of plain Infomax, a number of tries of the line search, and channels that are not
whitened.

With Y = W·Z, signs ε_i = ±1, ℓ = −ln p with score g, and means E over the samples:

    orthogonal: L = Σ_i ε_i·E[ℓ(y_i)]                             W a rotation
    free:       L = Σ_i E[ε_i·ℓ(y_i) (+ ½y_i²)] − ln |det W|      + ½y² where `extended`

Steps are relative, W ← (I + E)·W or, for rotations, W ← cayley(E)·W with E skew-symmetric. The
gradient G, the Hessian of independent sources that L-BFGS starts from, and the criterion max |G|
are those of the library's ``picard/objective.rs``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._search import Searched

if TYPE_CHECKING:
    from .._typing import Floats
    from ._densities import Density

#: A step may raise the objective by this much, relative to 1 + |L|: rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Options:
    """How the likelihood is maximised."""

    density: Density
    ortho: bool
    extended: bool
    max_iter: int
    tol: float
    memory: int
    tries: int
    least_curvature: float
    verbose: bool = False


def minimize(z: Floats, first: Floats, options: Options) -> Searched:
    """From `first` (K, K), one row a source, over samples z (n, K)."""
    objective = _Objective(options, z.shape[1])
    unmixing, y = first, first @ z.T
    pairs: deque[tuple[Floats, Floats]] = deque(maxlen=options.memory)
    before: tuple[Floats, Floats] | None = None
    iterations = 0
    while True:
        moments = _Moments.of(options, y)
        if options.extended and objective.judge(moments):
            # Another objective: what was learnt of its curvature is void.
            pairs.clear()
            before = None
        gradient = objective.gradient(moments)
        value = float(np.max(np.abs(gradient)))
        if options.verbose:
            print(f"iteration {iterations}: gradient {value:.4g}")
        if value < options.tol:
            return Searched(unmixing, iterations, value, options.tol, "tolerance")
        if iterations == options.max_iter or not np.isfinite(value):
            return Searched(unmixing, iterations, value, options.tol, "iteration_limit")
        if before is not None:
            step, earlier = before
            change = gradient - earlier
            if float(np.sum(step * change)) > 0.0:
                pairs.append((step, change))
        direction = _direction(gradient, pairs, objective.inverse(moments))
        moved = objective.line_search(unmixing, y, direction)
        if moved is None:
            pairs.clear()
            moved = objective.line_search(unmixing, y, -gradient)
        if moved is None:
            return Searched(unmixing, iterations, value, options.tol, "line_search")
        unmixing, y, step = moved
        before = (step, gradient)
        iterations += 1


@dataclass(frozen=True)
class _Moments:
    """Means over the samples from which everything but the value follows."""

    score: Floats  # E[g(y_i)·y_j] (K, K)
    slope: Floats  # E[g′(y_i)] (K,)
    power: Floats  # E[y_i²] (K,)
    slope_power: Floats  # E[g′(y_i)·y_j²] (K, K)
    covariance: Floats  # E[y_i·y_j] (K, K)

    @classmethod
    def of(cls, options: Options, y: Floats) -> _Moments:
        n = y.shape[1]
        g, slopes = (np.asarray(each, dtype=float) for each in options.density.score_and_der(y))
        squares = y**2
        return cls(
            score=g @ y.T / n,
            slope=slopes.mean(axis=1),
            power=squares.mean(axis=1),
            slope_power=slopes @ squares.T / n,
            covariance=y @ y.T / n,
        )


class _Objective:
    """L, its gradient and its curvature, with the present signs of the sources."""

    def __init__(self, options: Options, n_sources: int) -> None:
        self._options = options
        self._signs: Floats = np.ones(n_sources)

    def judge(self, moments: _Moments) -> bool:
        """Takes each source for super- or sub-Gaussian; whether that changed anything."""
        criterion = moments.slope * moments.power - np.diag(moments.score)
        judged = np.where(criterion < 0.0, -1.0, 1.0)
        changed = bool(np.any(judged != self._signs))
        self._signs = judged
        return changed

    def value(self, unmixing: Floats, y: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            each = np.asarray(self._options.density.log_lik(y), dtype=float).mean(axis=1)
            total = float(self._signs @ each)
            if self._options.ortho:
                return total
            if self._options.extended:
                total += 0.5 * float((y**2).mean(axis=1).sum())
            return total - float(np.linalg.slogdet(unmixing)[1])

    def gradient(self, moments: _Moments) -> Floats:
        relative = self._signs[:, None] * moments.score
        if self._options.ortho:
            return np.asarray(0.5 * (relative - relative.T))
        if self._options.extended:
            relative = relative + moments.covariance
        return np.asarray(relative - np.eye(len(relative)))

    def inverse(self, moments: _Moments) -> _Inverse:
        least = self._options.least_curvature
        if self._options.ortho:
            each = self._signs * (moments.slope * moments.power - np.diag(moments.score))
            return _Inverse(np.maximum(0.5 * (each[:, None] + each[None, :]), least), 0.0)
        curvature = self._signs[:, None] * moments.slope_power
        if self._options.extended:
            curvature = curvature + moments.power[None, :]
        return _Inverse.raised(curvature, least)

    def line_search(
        self, unmixing: Floats, y: Floats, direction: Floats
    ) -> tuple[Floats, Floats, Floats] | None:
        """The first of the steps 1, ½, ¼, … that does not raise the objective."""
        value = self.value(unmixing, y)
        allowed = value + _ROUNDING * (1.0 + abs(value))
        identity = np.eye(len(unmixing))
        for tries in range(self._options.tries):
            step = 0.5**tries * direction
            if self._options.ortho:
                turn = np.linalg.solve(identity - 0.5 * step, identity + 0.5 * step)
            else:
                turn = identity + step
            moved = turn @ unmixing, turn @ y
            if self.value(*moved) <= allowed:
                return (*moved, step)
        return None


@dataclass(frozen=True)
class _Inverse:
    """The inverse of E_ij ↦ h_ij·E_ij + c·E_ji: pairs of entries are solved together."""

    curvature: Floats
    coupling: float

    @classmethod
    def raised(cls, curvature: Floats, least: float) -> _Inverse:
        """Coupled by 1, with every pair's smaller eigenvalue raised to `least`."""
        other = curvature.T
        mean, half = 0.5 * (curvature + other), 0.5 * (curvature - other)
        smaller = mean - np.hypot(half, 1.0)
        raised = curvature + np.where(smaller < least, least - smaller, 0.0)
        diagonal = np.maximum(np.diag(curvature), least - 1.0)
        np.fill_diagonal(raised, diagonal)
        return cls(raised, 1.0)

    def solve(self, matrix: Floats) -> Floats:
        if self.coupling == 0.0:
            return np.asarray(matrix / self.curvature)
        other = self.curvature.T
        determinant = self.curvature * other - 1.0
        np.fill_diagonal(determinant, 1.0)
        solved = (other * matrix - matrix.T) / determinant
        # On the diagonal an entry is its own partner.
        np.fill_diagonal(solved, np.diag(matrix) / (np.diag(self.curvature) + 1.0))
        return np.asarray(solved)


def _direction(gradient: Floats, pairs: deque[tuple[Floats, Floats]], inverse: _Inverse) -> Floats:
    """The L-BFGS direction that starts from the inverse Hessian of independent sources."""
    left = gradient.copy()
    weights = []
    for step, change in reversed(pairs):
        weight = float(np.sum(step * left)) / float(np.sum(step * change))
        left = left - weight * change
        weights.append(weight)
    right = inverse.solve(left)
    for (step, change), weight in zip(pairs, reversed(weights)):
        back = float(np.sum(change * right)) / float(np.sum(step * change))
        right = right + (weight - back) * step
    return -right
