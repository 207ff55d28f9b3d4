"""How good a separation is: against true sources or a true mixing, or blind.

Arrays of sources have one row a sample and one column a source. Rows in which an estimate is NaN
are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _checks, _core
from ._core import Matching

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Matching",
    "align",
    "amari_distance",
    "amari_from_mixing",
    "amari_index",
    "explained_variance",
    "mac",
    "match_sources",
    "residual_dependence",
    "si_sdr",
    "temporal_predictability",
]


def _matrix(values: ArrayLike, name: str) -> NDArray[np.float64]:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim == 1:
        matrix = matrix[:, np.newaxis]
    if matrix.ndim != 2:
        raise ValueError(
            f"{name}: expected an array (n_samples, n_sources), found {matrix.ndim} dimensions"
        )
    return matrix


def match_sources(
    estimated: ArrayLike, true: ArrayLike, *, method: str = "correlation"
) -> Matching:
    """Match estimated sources with true ones so that the sum of their absolute correlations is
    largest.

    Parameters
    ----------
    estimated : array-like of shape (n_samples, n_estimated)
        Estimated sources.
    true : array-like of shape (n_samples, n_true)
        True sources: finite, none of them constant.
    method : {"correlation", "rank"}, default="correlation"
        Pearson's correlation, or Spearman's (of ranks), which a monotone distortion of a source
        leaves alone.

    Returns
    -------
    Matching
        With ``mac``, ``worst``, ``per_source`` (n_estimated,), ``matched`` (index of the true
        source or None), ``sign`` (n_estimated,) and ``correlations`` (n_estimated, n_true).
    """
    if method not in ("correlation", "rank"):
        raise ValueError(f"method = {method!r}: expected 'correlation' or 'rank'")
    return _core.match_sources(
        _matrix(estimated, "estimated"), _matrix(true, "true"), method == "rank"
    )


def mac(estimated: ArrayLike, true: ArrayLike, *, method: str = "correlation") -> float:
    """Mean absolute correlation of estimated with true sources under the best matching.

    Parameters
    ----------
    estimated : array-like of shape (n_samples, n_estimated)
        Estimated sources.
    true : array-like of shape (n_samples, n_true)
        True sources.
    method : {"correlation", "rank"}, default="correlation"
        As in :func:`match_sources`.

    Returns
    -------
    float
        From 0 to 1; the mean over the min(n_estimated, n_true) matched pairs.
    """
    return match_sources(estimated, true, method=method).mac


def si_sdr(estimated: ArrayLike, true: ArrayLike) -> NDArray[np.float64]:
    """Scale-invariant signal-to-distortion ratio of every estimated source, in dB.

    Parameters
    ----------
    estimated : array-like of shape (n_samples, n_estimated)
        Estimated sources.
    true : array-like of shape (n_samples, n_true)
        True sources.

    Returns
    -------
    ndarray of shape (n_estimated,)
        NaN for an estimate that is matched with no true source.
    """
    found = _core.si_sdr(_matrix(estimated, "estimated"), _matrix(true, "true"))
    return np.array([np.nan if value is None else value for value in found])


def align(estimated: ArrayLike, true: ArrayLike) -> NDArray[np.float64]:
    """Estimated sources z-scored, with the sign and in the order of the true ones, to be drawn
    beside them.

    Parameters
    ----------
    estimated : array-like of shape (n_samples, n_estimated)
        Estimated sources.
    true : array-like of shape (n_samples, n_true)
        True sources.

    Returns
    -------
    ndarray of shape (n_samples, n_true)
        NaN in the column of a true source without an estimate.
    """
    return _core.align(_matrix(estimated, "estimated"), _matrix(true, "true"))


def amari_distance(W: ArrayLike, A: ArrayLike) -> float:
    """Amari distance of an unmixing from a true mixing, through ``W @ A``.

    Parameters
    ----------
    W : array-like of shape (n_sources, n_channels)
        Estimated unmixing, for example ``components_`` of an estimator.
    A : array-like of shape (n_channels, n_sources)
        True mixing.

    Returns
    -------
    float
        0 when ``W @ A`` is a scaled permutation, at most 1. Two mixings are compared by
        :func:`amari_from_mixing`, a product by :func:`amari_index`.
    """
    unmixing, mixing = _matrix(W, "W"), _matrix(A, "A")
    if unmixing.shape != mixing.shape[::-1]:
        raise ValueError(
            f"W, A: expected an unmixing (n_sources, n_channels) and a mixing (n_channels,"
            f" n_sources), got {unmixing.shape} and {mixing.shape}; two mixings are compared by"
            " amari_from_mixing"
        )
    return _core.amari_distance(unmixing @ mixing)


def amari_from_mixing(estimated_mixing: ArrayLike, true_mixing: ArrayLike) -> float:
    """Amari distance between two mixing matrices, through pinv(estimated) @ true.

    Parameters
    ----------
    estimated_mixing : array-like of shape (n_channels, n_sources)
        For example ``mixing_`` of an estimator.
    true_mixing : array-like of shape (n_channels, n_sources)
        The true mixing.

    Returns
    -------
    float
        0 when they agree up to order and scale of their columns, at most 1.
    """
    return _core.amari_from_mixing(
        _matrix(estimated_mixing, "estimated_mixing"), _matrix(true_mixing, "true_mixing")
    )


def amari_index(product: ArrayLike) -> float:
    """Amari distance of a product ``components_ @ true_mixing``.

    Parameters
    ----------
    product : array-like of shape (n_sources, n_sources)
        0 exactly when it is a scaled permutation.

    Returns
    -------
    float
        From 0 to 1.
    """
    return _core.amari_distance(_matrix(product, "product"))


def explained_variance(observed: ArrayLike, reconstructed: ArrayLike) -> float:
    """Share of the variance of channels that a reconstruction explains, every channel counting
    alike.

    Parameters
    ----------
    observed : array-like of shape (n_samples, n_channels)
        What was recorded.
    reconstructed : array-like of shape (n_samples, n_channels)
        What the model makes of it.

    Returns
    -------
    float
        At most 1.
    """
    return _core.explained_variance(
        _matrix(observed, "observed"), _matrix(reconstructed, "reconstructed")
    )


def temporal_predictability(source: ArrayLike, order: int = 10) -> float:
    """R² of the best linear prediction of every sample of a source from the ``order`` before it.

    Parameters
    ----------
    source : array-like of shape (n_samples,)
        One source; NaN where samples are missing.
    order : int, default=10
        Samples of the past.

    Returns
    -------
    float
        From 0 (white noise) to 1.
    """
    values = np.asarray(source, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(
            f"source: expected one source (n_samples,), found {values.ndim} dimensions; give a"
            " column of them"
        )
    return _core.temporal_predictability(values, _checks.whole("order", order, 1))


def residual_dependence(sources: ArrayLike) -> NDArray[np.float64]:
    """Pairwise dependence that is left between sources: mutual information above what chance gives.

    Parameters
    ----------
    sources : array-like of shape (n_samples, n_sources)
        Estimated sources, at least 40 complete samples.

    Returns
    -------
    ndarray of shape (n_sources, n_sources)
        Symmetric, 0 on the diagonal.
    """
    return _core.residual_dependence(_matrix(sources, "sources"))
