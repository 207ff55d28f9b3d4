"""FastICA under the parameters of scikit-learn's, as a class and as a function.

What the library has is computed there; what it does not have (functions as contrasts, slopes of
logcosh, channels that are not whitened) by `_fixed_point`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _checks
from . import _fixed_point
from ._base import Baseline, Found, complete, documented
from ._search import Searched, checked_whiten, ignore_number, unwhitened, whitened
from ._start import checked_start, start

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import Floats, RandomState

_ALGORITHMS = ("parallel", "deflation")
_SOLVERS = ("svd", "eigh")


@documented
class FastICA(Baseline):
    """Fixed-point iteration on a contrast of non-Gaussianity.

    It takes the parameters of ``sklearn.decomposition.FastICA``, with the same defaults. Other than
    there, channels are scaled before they are whitened, sources are ordered by correlation time,
    samples may be missing, and channels whose rank is below ``n_components`` are refused.

    Parameters
    ----------
    algorithm : {"parallel", "deflation"}, default="parallel"
        All sources at once, or one after the other.
    whiten : {"unit-variance", "arbitrary-variance", True, False}, default="unit-variance"
        Sources have variance 1 (also ``True``), or a sum of squares of 1. With ``False`` the
        channels are taken as they are, neither centred nor whitened nor fewer than there are:
        ``n_components`` is ignored, ``mean_`` is 0 and there is no ``whitening_``.
    fun : {"logcosh", "exp", "cube"} or callable, default="logcosh"
        The contrast. A function is given sources u of shape (n_components, n_samples), with
        deflation one of shape (n_samples,), and returns g(u) and the mean of g'(u) over the last
        axis.
    fun_args : dict, default=None
        Further arguments of such a function; of ``"logcosh"`` the slope ``{"alpha": 1.0}``, from 1
        to 2.
    max_iter : int, default=200
        Iterations at most; with deflation, for each source.
    tol : float, default=1e-4
        What the change of the unmixing must fall below. With 0 all iterations are taken.
    w_init : array-like of shape (n_components, n_components), default=None
        First unmixing of the whitened components, one row a source, in place of a random one.
    whiten_solver : {"svd", "eigh"}, default="svd"
        Accepted for scikit-learn's sake: channels are whitened in one way, which is as accurate as
        ``"eigh"``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first unmixing.
    """

    _method = "fastica"

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        algorithm: str = "parallel",
        whiten: str | bool = "unit-variance",
        fun: str | Callable[..., tuple[Any, Any]] = "logcosh",
        fun_args: Mapping[str, Any] | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        w_init: ArrayLike | None = None,
        whiten_solver: str = "svd",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.whiten_solver = whiten_solver
        self.random_state = random_state

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        first = checked_start(self.w_init, n_components)
        return {
            "algorithm": self.algorithm,
            "fun": self.fun,
            "max_iter": _checks.whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol, 0),
            "w_init": None if first is None else first.T,
            "seed": _checks.seed(self.random_state),
        }

    def _search(self, rows: Floats, pieces: list[int] | None) -> Found:
        scaling = checked_whiten(self.whiten)
        for name, known in (("algorithm", _ALGORITHMS), ("whiten_solver", _SOLVERS)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} = {getattr(self, name)!r}: expected one of {', '.join(known)}"
                )
        g = _fixed_point.contrast(self.fun, self.fun_args)
        if scaling is None:
            ignore_number(self.n_components)
            return unwhitened(lambda z: self._iterate(z, g), rows)
        if callable(self.fun) or self.fun == "logcosh" and _fixed_point.slope(self.fun_args) != 1.0:
            number = self._number(rows)
            found = whitened(lambda z: self._iterate(z, g), self._method, rows, number)
        else:
            found = super()._search(rows, pieces)
        if scaling == "arbitrary-variance":
            return found.scaled(1.0 / np.sqrt(complete(rows)))
        return found

    def _iterate(self, z: Floats, g: _fixed_point.Contrast) -> Searched:
        first = start(self.w_init, z.shape[1], _checks.seed(self.random_state))
        way = _fixed_point.parallel if self.algorithm == "parallel" else _fixed_point.deflation
        max_iter = _checks.whole("max_iter", self.max_iter, 1)
        return way(z, first, g, max_iter, _checks.number("tol", self.tol, 0))

    def _not_converged(self, found: Found) -> str:
        # scikit-learn's words, which programs may filter by.
        return (
            "FastICA did not converge. Consider increasing tolerance or the maximum number of"
            f" iterations. ({found.convergence})"
        )


def fastica(
    X: ArrayLike,
    n_components: int | float | None = None,
    *,
    algorithm: str = "parallel",
    whiten: str | bool = "unit-variance",
    fun: str | Callable[..., tuple[Any, Any]] = "logcosh",
    fun_args: Mapping[str, Any] | None = None,
    max_iter: int = 200,
    tol: float = 1e-4,
    w_init: ArrayLike | None = None,
    whiten_solver: str = "svd",
    random_state: RandomState = None,
    return_X_mean: bool = False,
    compute_sources: bool = True,
    return_n_iter: bool = False,
) -> tuple[Any, ...]:
    """FastICA as a function, as ``sklearn.decomposition.fastica``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The recording.
    n_components : int, float or None, default=None
        As for :class:`FastICA`, and so are those that are not here: algorithm, whiten, fun,
        fun_args, max_iter, tol, w_init, whiten_solver, random_state.
    return_X_mean : bool, default=False
        Whether to return the means too.
    compute_sources : bool, default=True
        Whether to return the sources; otherwise None is in their place.
    return_n_iter : bool, default=False
        Whether to return the number of iterations too.

    Returns
    -------
    K : ndarray of shape (n_components, n_features) or None
        The whitening; None with ``whiten=False``.
    W : ndarray of shape (n_components, n_components)
        The unmixing of the whitened components: ``W @ K`` is ``components_``.
    S : ndarray of shape (n_samples, n_components) or None
        The sources.
    X_mean : ndarray of shape (n_features,) or None
        Means of the channels; None with ``whiten=False``. Only with ``return_X_mean``.
    n_iter : int
        Iterations. Only with ``return_n_iter``.
    """
    estimator = FastICA(
        n_components,
        algorithm=algorithm,
        whiten=whiten,
        fun=fun,
        fun_args=fun_args,
        max_iter=max_iter,
        tol=tol,
        w_init=w_init,
        whiten_solver=whiten_solver,
        random_state=random_state,
    )
    found, dtype = estimator._decompose(X)
    sources = found.sources.astype(dtype, copy=False)
    whitening = getattr(estimator, "whitening_", None)
    returned = [whitening, estimator._unmixing, sources if compute_sources else None]
    if return_X_mean:
        returned.append(None if whitening is None else estimator.mean_)
    return (*returned, estimator.n_iter_) if return_n_iter else tuple(returned)
