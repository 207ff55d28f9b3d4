"""FastICA's fixed-point iteration in NumPy, for what the library does not have: contrasts of the
caller's own, a slope of logcosh other than 1, and channels that are not whitened.

A source is wᵀz with ‖w‖ = 1. A step is w⁺ = E[z·g(wᵀz)] − E[g′(wᵀz)]·w, for all rows of W at once,
followed by the nearest rotation, or for one row after the other, followed by Gram–Schmidt. The
criterion is max_k | |w_k⁺·w_k| − 1 |. The library's ``fastica.rs`` does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _checks
from ._search import Searched
from ._start import rotation

if TYPE_CHECKING:
    from .._typing import Floats

#: g and the mean of g′ over the samples, of sources (K, n) or of one source (n,).
Contrast = Callable[["Floats"], "tuple[Floats, Any]"]


def contrast(fun: Any, fun_args: Mapping[str, Any] | None) -> Contrast:
    """The contrast of a name or a function, which is checked in every call."""
    arguments = dict(fun_args or {})
    if callable(fun):
        return lambda u: _checked(u, fun(u, **arguments))
    if fun == "logcosh":
        alpha = slope(arguments)

        def logcosh(u: Floats) -> tuple[Floats, Any]:
            g = np.tanh(alpha * u)
            return g, (alpha * (1.0 - g**2)).mean(axis=-1)

        return logcosh
    if fun == "exp":

        def bell(u: Floats) -> tuple[Floats, Any]:
            weight = np.exp(-0.5 * u**2)
            return u * weight, ((1.0 - u**2) * weight).mean(axis=-1)

        return bell
    if fun == "cube":
        return lambda u: (u**3, 3.0 * (u**2).mean(axis=-1))
    raise ValueError(f"fun = {fun!r}: expected one of logcosh, exp, cube, or a function")


def slope(fun_args: Mapping[str, Any] | None) -> float:
    """The slope of logcosh, 1 unless it is given."""
    alpha = _checks.number("fun_args: alpha", (fun_args or {}).get("alpha", 1.0))
    if not 1.0 <= alpha <= 2.0:
        raise ValueError(f"fun_args: alpha must be in [1,2], got {alpha!r}")
    return alpha


def _checked(u: Floats, returned: Any) -> tuple[Floats, Any]:
    """What a function of the caller returned, where it can be used."""
    try:
        g, mean_slope = returned
        g, mean_slope = np.asarray(g, dtype=float), np.asarray(mean_slope, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "fun: expected a function that returns g(u) and the mean of g'(u) over the last axis,"
            f" got {type(returned).__name__}"
        ) from error
    if g.shape != u.shape or mean_slope.shape != u.shape[:-1]:
        raise ValueError(
            f"fun: expected g(u) of shape {u.shape} and the mean of g'(u) over the last axis of"
            f" shape {u.shape[:-1]}, got {g.shape} and {mean_slope.shape}"
        )
    return g, mean_slope


def parallel(z: Floats, first: Floats, g: Contrast, max_iter: int, tol: float) -> Searched:
    """All rows at once, kept orthogonal symmetrically."""
    unmixing = rotation(first)
    iterations, change = 0, np.inf
    while iterations < max_iter and change >= tol:
        value, slopes = g(unmixing @ z.T)
        moved = rotation(value @ z / len(z) - slopes[:, None] * unmixing)
        change = float(np.max(np.abs(np.abs(np.einsum("ij,ij->i", moved, unmixing)) - 1.0)))
        unmixing = moved
        iterations += 1
    return _ended(unmixing, iterations, change, tol)


def deflation(z: Floats, first: Floats, g: Contrast, max_iter: int, tol: float) -> Searched:
    """One row after the other, each orthogonal to those before; `max_iter` is for each."""
    found = np.zeros((0, len(first)))
    iterations, furthest = 0, 0.0
    for begin in first:
        row = _orthogonal_to(found, begin)
        count, change = 0, np.inf
        while count < max_iter and change >= tol:
            value, mean_slope = g(row @ z.T)
            moved = _orthogonal_to(found, value @ z / len(z) - mean_slope * row)
            change = abs(abs(float(moved @ row)) - 1.0)
            row = moved
            count += 1
        iterations += count
        furthest = max(furthest, change)
        found = np.vstack([found, row])
    return _ended(found, iterations, furthest, tol)


def _orthogonal_to(found: Floats, row: Floats) -> Floats:
    """The part of a row that is orthogonal to those that were found, with norm 1; projected twice,
    so that rounding does not bring a found source back.
    """
    for _ in range(2):
        row = row - found.T @ (found @ row)
        norm = float(np.linalg.norm(row))
        if not np.isfinite(norm) or norm == 0.0:
            raise ValueError(
                f"FastICA: source {len(found) + 1} vanished: its step lies among the sources found"
                " before; use another fun, start or algorithm='parallel'"
            )
        row = row / norm
    return row


def _ended(unmixing: Floats, iterations: int, change: float, tol: float) -> Searched:
    reason = "tolerance" if change < tol else "iteration_limit"
    return Searched(unmixing, iterations, change, tol, reason)
