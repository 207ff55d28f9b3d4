"""What all classical methods share: a linear unmixing of channels as an estimator of scikit-learn.

In: rows of channels and the options of a method. Out: its attributes, and sources. Which unmixing
it is, is found by the library, or by a search of `_fixed_point` or `_likelihood` for options that
the library does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import _checks, _core
from .._rows import DTYPES, OfRows
from .._sklearn import ConvergenceWarning, check_array, check_is_fitted
from .._warn import warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._typing import Floats

_Self = TypeVar("_Self", bound="Baseline")


@dataclass(frozen=True)
class Found:
    """What a method found, in float64; `whitening` is None where nothing was whitened."""

    sources: Floats
    components: Floats
    mixing: Floats
    mean: Floats
    whitening: Floats | None
    unmixing: Floats
    n_iter: int
    converged: bool
    stop_reason: str
    convergence: str

    @classmethod
    def of(cls, decomposition: _core.Decomposition) -> Found:
        """From what the library gives."""
        return cls(
            sources=decomposition.sources,
            components=decomposition.components,
            mixing=decomposition.mixing,
            mean=decomposition.mean,
            whitening=decomposition.whitening,
            unmixing=decomposition.unmixing,
            n_iter=decomposition.n_iter,
            converged=decomposition.converged,
            stop_reason=decomposition.stop_reason,
            convergence=decomposition.convergence,
        )

    def scaled(self, factor: float) -> Found:
        """Whitened components, and with them the sources, times a factor."""
        return replace(
            self,
            sources=self.sources * factor,
            components=self.components * factor,
            mixing=self.mixing / factor,
            whitening=None if self.whitening is None else self.whitening * factor,
        )


class Baseline(OfRows):
    """A linear unmixing of channels, found by ``_method`` with ``_options()``."""

    n_components: int | float | None
    components_: Floats
    mixing_: Floats
    mean_: Floats
    whitening_: Floats
    n_iter_: int
    converged_: bool
    stop_reason_: str
    convergence_: str
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    _method = ""

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        """The options of the method for so many complete samples and sources."""
        raise NotImplementedError

    def fit(self: _Self, X: ArrayLike, y: object = None) -> _Self:
        """Find the unmixing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording. NaN where values are missing.
        y : None
            Ignored.

        Returns
        -------
        self : estimator
        """
        self._decompose(X)
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> Floats:
        """Find the unmixing and give the sources.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording. NaN where values are missing.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The sources, NaN in missing samples.
        """
        found, dtype = self._decompose(X)
        return found.sources.astype(dtype, copy=False)

    def transform(self, X: ArrayLike) -> Floats:
        """Sources of a recording: ``(X - mean_) @ components_.T``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            A recording with the channels of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Sources, NaN in missing samples.
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        found = _core.unmix_rows(rows, self.mean_, self.components_)
        return found.astype(rows.dtype, copy=False)

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Channels that sources give: ``X @ mixing_.T + mean_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Sources. A column of zeros leaves that source out.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Channels in the units of the training data.
        """
        check_is_fitted(self)
        sources = check_array(
            X, dtype=DTYPES, ensure_all_finite="allow-nan", estimator=self, input_name="X"
        )
        return _core.mix_rows(sources, self.mixing_, self.mean_).astype(sources.dtype, copy=False)

    def _decompose(self, X: ArrayLike) -> tuple[Found, np.dtype[Any]]:
        with _checks.unchanged_by_failure(self):
            rows = self._rows(X, reset=True)
            pieces = X.pieces if isinstance(X, _core.Recording) else None
            found = self._search(rows, pieces)
            dtype = rows.dtype
            with np.errstate(over="ignore"):  # told here
                components = found.components.astype(dtype, copy=False)
            wrong = _checks.beyond_floats(components)
            if wrong is not None:
                raise ValueError(wrong)  # transform() would give numbers that are none
        self.components_ = components
        self.mixing_ = found.mixing.astype(dtype, copy=False)
        self.mean_ = found.mean.astype(dtype, copy=False)
        vars(self).pop("whitening_", None)
        if found.whitening is not None:
            self.whitening_ = found.whitening.astype(dtype, copy=False)
        self._unmixing = found.unmixing.astype(dtype, copy=False)
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        self.stop_reason_ = found.stop_reason
        self.convergence_ = found.convergence
        if not found.converged:
            warn(self._not_converged(found), ConvergenceWarning)
        return found, dtype

    def _search(self, rows: Floats, pieces: list[int] | None) -> Found:
        """The unmixing of checked rows in these pieces."""
        number = self._number(rows)
        options = self._options(complete(rows), number)
        recording = _core.Recording(rows, pieces=pieces)
        return Found.of(_core.decompose(self._method, recording, number, options))

    def _number(self, rows: Floats) -> int:
        """How many sources are asked for."""
        asked = self.n_components
        if asked is None:
            return int(rows.shape[1])
        if isinstance(asked, (float, np.floating)):
            if not _checks.is_share(asked):
                raise ValueError(
                    f"n_components = {asked!r}: expected a whole number of sources, or a share of"
                    " the variance between 0 and 1"
                )
            return _checks.components_of_share(float(asked), rows)
        return _checks.whole("n_components", asked, 1)

    def _not_converged(self, found: Found) -> str:
        return (
            f"{type(self).__name__}: {found.convergence}; raise max_iter or tol, or take fewer"
            " components"
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


def is_complete(rows: Floats) -> NDArray[np.bool_]:
    """Which samples have every channel (n_samples,)."""
    return np.asarray(np.isfinite(rows).all(axis=1))


def complete(rows: Floats) -> int:
    """How many samples have every channel."""
    return int(is_complete(rows).sum())


_NUMBER = """
    n_components : int, float or None, default=None
        Number of sources. A float between 0 and 1 takes as many as principal components need for
        that share of the variance of the scaled channels. ``None`` takes as many as there are
        channels.
"""

_ATTRIBUTES = """
    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unmixing, in the units of ``X``: sources = ``(X - mean_) @ components_.T``.
    mixing_ : ndarray of shape (n_features, n_components)
        Mixing, in the units of ``X``.
    mean_ : ndarray of shape (n_features,)
        Means of the channels over the complete samples.
    whitening_ : ndarray of shape (n_components, n_features)
        ``(X - mean_) @ whitening_.T`` are uncorrelated components of variance 1.
    n_iter_ : int
        Iterations or sweeps.
    converged_ : bool
        Whether the criterion fell below its tolerance.
    stop_reason_ : {"direct", "tolerance", "iteration_limit", "line_search"}
        Why the search ended.
    convergence_ : str
        The convergence report in words.
    n_features_in_ : int
        Number of channels.
"""

_Class = TypeVar("_Class", bound=type)


def documented(cls: _Class) -> _Class:
    """Adds what the docstrings of all methods share: `n_components` first, the attributes last."""
    head, line, parameters = (cls.__doc__ or "").partition("    Parameters\n    ----------\n")
    cls.__doc__ = head + line + _NUMBER.lstrip("\n") + parameters.rstrip() + "\n" + _ATTRIBUTES
    return cls
