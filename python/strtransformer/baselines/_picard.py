"""Picard under the parameters of python-picard's, as a class and as a function.

Of the class, what the library has is computed there; what it does not have (densities other than
tanh, plain Infomax, channels that are not whitened) by `_likelihood`. The function, whose sources
keep the scale of the likelihood, goes by `_likelihood` throughout.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _checks
from .._warn import warn
from . import _fixed_point, _likelihood
from ._base import Baseline, Found, complete, documented, is_complete
from ._densities import Density, DensityError, density
from ._search import Searched, checked_whiten, ignore_number, unwhitened, whitened
from ._start import checked_start, start

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import Floats, RandomState

__all__ = ["DensityError", "Picard", "picard"]

#: Halvings of a step that the library tries.
_TRIES = 10


@documented
class Picard(Baseline):
    """Preconditioned L-BFGS on the likelihood; sub- and super-Gaussian sources.

    It takes the parameters of ``picard.Picard``, with the same defaults. Other than there, channels
    are scaled before they are whitened, sources have variance 1 and are ordered by correlation
    time, samples may be missing, and channels whose rank is below ``n_components`` are refused.

    Parameters
    ----------
    ortho : bool, default=True
        Keep the sources exactly uncorrelated (Picard-O).
    extended : bool or None, default=None
        Judge of each source whether it is super- or sub-Gaussian; otherwise all are taken for what
        ``fun`` says. ``None`` does so where ``ortho`` is true. ``ortho=False, extended=True`` is
        the likelihood of extended Infomax, maximised by another algorithm.
    whiten : {True, "unit-variance", "arbitrary-variance", False}, default=True
        Sources have variance 1 (also ``True``), or a sum of squares of 1. With ``False`` the
        channels are taken as they are, neither centred nor whitened nor fewer than there are:
        ``n_components`` is ignored, ``mean_`` is 0 and there is no ``whitening_``.
    fun : {"tanh", "exp", "cube"} or object, default="tanh"
        The density of the sources. An object has ``log_lik(Y)`` and ``score_and_der(Y)``; it is
        compared with its own differences, and :class:`DensityError` is raised where they disagree.
    max_iter : int, default=500
        Iterations at most.
    tol : float, default=1e-7
        What the largest entry of the gradient must fall below. With 0 all iterations are taken.
    w_init : array-like of shape (n_components, n_components), default=None
        First unmixing of the whitened components, one row a source, in place of a random one.
    m : int, default=7
        Steps that L-BFGS remembers.
    ls_tries : int, default=10
        Halvings of a step before a direction is given up.
    lambda_min : float, default=0.01
        Eigenvalues of the approximate Hessian are raised to this.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first unmixing.
    """

    _method = "picard"

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        ortho: bool = True,
        extended: bool | None = None,
        whiten: str | bool = True,
        fun: str | Density = "tanh",
        max_iter: int = 500,
        tol: float = 1e-7,
        w_init: ArrayLike | None = None,
        m: int = 7,
        ls_tries: int = 10,
        lambda_min: float = 0.01,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.ortho = ortho
        self.extended = extended
        self.whiten = whiten
        self.fun = fun
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.m = m
        self.ls_tries = ls_tries
        self.lambda_min = lambda_min
        self.random_state = random_state

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        first = checked_start(self.w_init, n_components)
        return {
            "ortho": bool(self.ortho),
            "extended": self._judges(),
            "max_iter": _checks.whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol, 0),
            "m": _checks.whole("m", self.m, 1),
            "lambda_min": _checks.number("lambda_min", self.lambda_min),
            "w_init": None if first is None else first.T,
            "seed": _checks.seed(self.random_state),
        }

    def _judges(self) -> bool:
        return bool(self.ortho if self.extended is None else self.extended)

    def _search(self, rows: Floats, pieces: list[int] | None) -> Found:
        scaling = checked_whiten(self.whiten)
        options = self._search_options()
        if scaling is None:
            ignore_number(self.n_components)
            return unwhitened(lambda z: self._iterate(z, options), rows)
        # The library's free likelihood has ½y² in it, and keeps a given start orthogonal.
        has_it = self.ortho or self._judges() and self.w_init is None
        if isinstance(self.fun, str) and self.fun == "tanh" and has_it and options.tries == _TRIES:
            found = super()._search(rows, pieces)
        else:
            number = self._number(rows)
            found = whitened(lambda z: self._iterate(z, options), self._method, rows, number)
        if scaling == "arbitrary-variance":
            return found.scaled(1.0 / np.sqrt(complete(rows)))
        return found

    def _search_options(self, *, check: bool = True, verbose: bool = False) -> _likelihood.Options:
        least = _checks.number("lambda_min", self.lambda_min)
        if least <= 0.0:
            raise ValueError(f"lambda_min = {least!r}: expected a finite number above 0")
        return _likelihood.Options(
            density=density(self.fun, check=check),
            ortho=bool(self.ortho),
            extended=self._judges(),
            max_iter=_checks.whole("max_iter", self.max_iter, 1),
            tol=_checks.number("tol", self.tol, 0),
            memory=_checks.whole("m", self.m, 1),
            tries=_checks.whole("ls_tries", self.ls_tries, 1),
            least_curvature=least,
            verbose=verbose,
        )

    def _iterate(self, z: Floats, options: _likelihood.Options, fastica_it: int = 0) -> Searched:
        first = start(self.w_init, z.shape[1], _checks.seed(self.random_state))
        if fastica_it:

            def g(u: Floats) -> tuple[Floats, Any]:
                score, slopes = options.density.score_and_der(u)
                return np.asarray(score), np.mean(slopes, axis=-1)

            first = _fixed_point.parallel(z, first, g, fastica_it, 0.0).unmixing
        return _likelihood.minimize(z, first, options)

    def _not_converged(self, found: Found) -> str:
        # python-picard's words, which programs may filter by.
        return (
            "Picard did not converge. Consider increasing the number of iterations or the"
            f" tolerance. ({found.convergence})"
        )


def picard(
    X: ArrayLike,
    fun: str | Density = "tanh",
    n_components: int | float | None = None,
    ortho: bool = True,
    extended: bool | None = None,
    whiten: bool = True,
    return_X_mean: bool = False,
    return_n_iter: bool = False,
    centering: bool = True,
    max_iter: int = 500,
    tol: float = 1e-7,
    m: int = 7,
    ls_tries: int = 10,
    lambda_min: float = 0.01,
    check_fun: bool = True,
    w_init: ArrayLike | None = None,
    fastica_it: int | None = None,
    random_state: RandomState = None,
    verbose: bool = False,
) -> tuple[Any, ...]:
    """Picard as a function, as ``picard.picard``: channels in rows, samples in columns.

    Sources have the scale at which the likelihood is largest, in no particular order.

    Parameters
    ----------
    X : array-like of shape (n_features, n_samples)
        The recording.
    fun : {"tanh", "exp", "cube"} or object, default="tanh"
        As for :class:`Picard`, and so are those that are not here: n_components, ortho, extended,
        max_iter, tol, m, ls_tries, lambda_min, w_init, random_state.
    whiten : bool, default=True
        Whether channels are whitened; otherwise ``n_components`` is ignored.
    return_X_mean : bool, default=False
        Whether to return the means too.
    return_n_iter : bool, default=False
        Whether to return the number of iterations too.
    centering : bool, default=True
        Whether the means are subtracted. Whitening always does.
    check_fun : bool, default=True
        Whether a density of the caller's own is compared with its differences.
    fastica_it : int or None, default=None
        Iterations of FastICA before those of Picard.
    verbose : bool, default=False
        Print the gradient of every iteration.

    Returns
    -------
    K : ndarray of shape (n_components, n_features) or None
        The whitening; None with ``whiten=False``.
    W : ndarray of shape (n_components, n_components)
        The unmixing of the whitened components.
    Y : ndarray of shape (n_components, n_samples)
        The sources, ``W @ K @ (X - X_mean)``.
    X_mean : ndarray of shape (n_features,)
        Means of the channels, 0 where they were not subtracted. Only with ``return_X_mean``.
    n_iter : int
        Iterations. Only with ``return_n_iter``.
    """
    if whiten and not centering:
        raise ValueError(
            "centering = False: expected True beside whiten=True, since whitening is about the"
            " means; give whiten=False as well"
        )
    estimator = Picard(
        n_components,
        ortho=ortho,
        extended=extended,
        whiten=bool(whiten),
        fun=fun,
        max_iter=max_iter,
        tol=tol,
        w_init=w_init,
        m=m,
        ls_tries=ls_tries,
        lambda_min=lambda_min,
        random_state=random_state,
    )
    if estimator._judges() and not ortho and not (isinstance(fun, str) and fun == "tanh"):
        warn(
            "fun: the likelihood of ortho=False, extended=True is made for 'tanh'; another density"
            " may give wrong sources or overflow"
        )
    options = estimator._search_options(check=check_fun, verbose=verbose)
    before = 0 if fastica_it is None else _checks.whole("fastica_it", fastica_it, 0)
    rows = estimator._rows(np.asarray(X).T, reset=True).astype(np.float64, copy=False)
    if whiten:
        kept: list[Searched] = []

        def search(z: Floats) -> Searched:
            kept.append(estimator._iterate(z, options, before))
            return kept[-1]

        found = whitened(search, estimator._method, rows, estimator._number(rows))
        # As it was found: the library brings sources to variance 1 and into its order.
        found = replace(found, unmixing=kept[-1].unmixing)
        mean, spread = found.mean, found.whitening
    else:
        ignore_number(n_components)
        mean, spread = np.zeros(rows.shape[1]), None
        if centering:
            mean = rows[is_complete(rows)].mean(axis=0)
        found = unwhitened(lambda z: estimator._iterate(z, options, before), rows - mean)
    if not found.converged:
        warn(estimator._not_converged(found))
    unmixing = found.unmixing
    into = unmixing if spread is None else unmixing @ spread
    returned: list[Any] = [spread, unmixing, into @ (rows - mean).T]
    if return_X_mean:
        returned.append(mean)
    if return_n_iter:
        returned.append(found.n_iter)
    return tuple(returned)
