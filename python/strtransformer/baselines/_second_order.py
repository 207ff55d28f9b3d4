"""Methods that go by order in time: covariances at lags, of blocks, and the likelihood of both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import _checks
from ._base import Baseline, documented

#: The longest lag of SOBI, and the order of WASOBI, where the recording is long enough.
_LONGEST_LAG = 29
_ORDER = 20


def longest_lag(asked: int, n_complete: int, n_components: int) -> int:
    """The longest lag up to `asked` that leaves more products than there are sources."""
    return max(1, min(asked, n_complete - n_components - 1))


@documented
class AMUSE(Baseline):
    """The covariance at one lag, diagonalised directly.

    Parameters
    ----------
    lag : int, default=1
        The lag, in samples.
    """

    _method = "amuse"

    def __init__(self, n_components: int | float | None = None, *, lag: int = 1) -> None:
        self.n_components = n_components
        self.lag = lag

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        return {"lag": _checks.whole("lag", self.lag, 1)}


@documented
class SOBI(Baseline):
    """Joint diagonalisation of the covariances at many lags.

    Parameters
    ----------
    lags : sequence of int, default=None
        The lags, in samples. ``None`` takes 1 to 29, in a short recording those that leave more
        pairs of samples than there are sources.
    max_iter : int, default=200
        Sweeps at most.
    tol : float, default=1e-8
        What the sine of every rotation of a sweep must fall below.
    """

    _method = "sobi"

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        lags: Iterable[int] | None = None,
        max_iter: int = 200,
        tol: float = 1e-8,
    ) -> None:
        self.n_components = n_components
        self.lags = lags
        self.max_iter = max_iter
        self.tol = tol

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        lags: Iterable[int]
        if self.lags is None:
            lags = range(1, longest_lag(_LONGEST_LAG, n_complete, n_components) + 1)
        else:
            lags = self.lags
        return {
            "lags": [_checks.whole("lags", lag, 1) for lag in lags],
            "max_iter": _checks.whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
        }


@documented
class NSS(Baseline):
    """Joint diagonalisation of the covariances of successive blocks, for variances that change with
    time.

    Parameters
    ----------
    n_blocks : int, default=None
        Number of blocks, at least 2. ``None`` takes blocks of max(50, 10·K) samples, at most 100 of
        them.
    diagonalizer : {"pham", "orthogonal"}, default="pham"
        Pham's likelihood criterion, or rotations only.
    max_iter : int, default=200
        Sweeps at most.
    tol : float, default=1e-8
        What every change of a sweep must fall below.
    """

    _method = "nss"

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        n_blocks: int | None = None,
        diagonalizer: str = "pham",
        max_iter: int = 200,
        tol: float = 1e-8,
    ) -> None:
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.diagonalizer = diagonalizer
        self.max_iter = max_iter
        self.tol = tol

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        blocks = self.n_blocks
        return {
            "n_blocks": None if blocks is None else _checks.whole("n_blocks", blocks, 2),
            "diagonalizer": self.diagonalizer,
            "max_iter": _checks.whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
        }


@documented
class WASOBI(Baseline):
    """Joint diagonalisation of the covariances at many lags, weighed optimally for Gaussian
    autoregressive sources.

    Parameters
    ----------
    order : int, default=None
        Order of the autoregressive models, and the longest lag. ``None`` takes 20, in a short
        recording less, so that more pairs of samples are left than there are sources.
    largest_pole : float, default=0.99
        Poles of a model are kept within this modulus, at most 0.9999.
    taper : float, default=0.05
        Share of the samples at each end over which covariances are tapered, from 0 to 0.5.
    ridge : float, default=0.01
        Regularisation of the weights; 1e-5 for autoregressive sources without noise.
    rounds : int, default=3
        Times that models and weights are estimated.
    max_iter : int, default=100
        Steps at most, in each round.
    tol : float, default=1e-8
        What every change of a step must fall below.
    """

    _method = "wasobi"

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        order: int | None = None,
        largest_pole: float = 0.99,
        taper: float = 0.05,
        ridge: float = 0.01,
        rounds: int = 3,
        max_iter: int = 100,
        tol: float = 1e-8,
    ) -> None:
        self.n_components = n_components
        self.order = order
        self.largest_pole = largest_pole
        self.taper = taper
        self.ridge = ridge
        self.rounds = rounds
        self.max_iter = max_iter
        self.tol = tol

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        return {
            "order": order_for(self.order, n_complete, n_components),
            "largest_pole": _checks.number("largest_pole", self.largest_pole),
            "taper": _checks.number("taper", self.taper),
            "ridge": _checks.number("ridge", self.ridge),
            "rounds": _checks.whole("rounds", self.rounds, 1),
            "max_iter": _checks.whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
        }


def order_for(asked: int | None, n_complete: int, n_components: int) -> int:
    """The order of WASOBI's models, automatic where it is None."""
    if asked is None:
        return longest_lag(_ORDER, n_complete, n_components)
    return _checks.whole("order", asked, 1)


@documented
class Fast(Baseline):
    """Maximum likelihood of sources by their spectra, or by variances that change with time,
    whichever describes them in fewer bits; where spectra leave doubt, also by innovations that are
    not Gaussian.

    It minimises the kernel energy of :class:`strtransformer.StrTransformer` alone, by L-BFGS from
    what SOBI or NSS finds and from random starts, always the same ones. ``StrTransformer`` with
    ``preset="fast"`` finds sources in this way too, and has a report and denoising.

    Parameters
    ----------
    """

    _method = "fast"

    def __init__(self, n_components: int | float | None = None) -> None:
        self.n_components = n_components

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        return {}
