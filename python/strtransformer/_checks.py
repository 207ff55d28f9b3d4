"""Checks of arguments that several modules share: each names the argument, what was expected and
what came.

They look at kinds and bounds only; what a value means is judged by the library.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

if TYPE_CHECKING:
    from ._typing import Floats, RandomState


def is_whole(value: object) -> bool:
    """Whether `value` is an integer of Python or NumPy, and not a bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole(name: str, value: Any, least: int) -> int:
    """`value` as an int from `least` to below 2⁶³."""
    if not is_whole(value) or not least <= value < 2**63:
        raise ValueError(
            f"{name} = {value!r}: expected a whole number of at least {least}, below 2**63"
        )
    return int(value)


def number(name: str, value: Any, least: float | None = None, *, finite: bool = True) -> float:
    """`value` as a float, of at least `least` where that is given; never NaN."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if (
        not real
        or math.isnan(value)
        or (finite and math.isinf(value))
        or (least is not None and value < least)
    ):
        kind = "a finite number" if finite else "a number"
        bound = "" if least is None else f" of at least {least}"
        raise ValueError(f"{name} = {value!r}: expected {kind}{bound}")
    return float(value)


def text(name: str, value: Any, known: str) -> str:
    """`value` where it is a str; which ones there are, the library knows."""
    if not isinstance(value, str):
        raise ValueError(f"{name} = {value!r}: expected {known}")
    return value


def seed(random_state: RandomState) -> int:
    """An int as it is; otherwise a seed from the generator, or from NumPy's global one."""
    from ._sklearn import check_random_state

    if is_whole(random_state):
        return whole("random_state", random_state, 0)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def is_share(value: object) -> TypeGuard[float]:
    """Whether `n_components` is a share of the variance: a float between 0 and 1."""
    return isinstance(value, (float, np.floating)) and 0.0 < float(value) < 1.0


def components_of_share(share: float, X: Floats, *, scale: bool = True) -> int:
    """How many principal components of the channels have `share` of their variance together.

    Over complete samples, channels centred and, with `scale`, of standard deviation 1, which is
    what the library whitens.
    """
    complete = np.asarray(X, dtype=np.float64)
    complete = complete[np.isfinite(complete).all(axis=1)]
    if len(complete) < 2:
        return 1  # the library says what is missing
    # Squares of huge numbers are beyond what a float can hold, of denormal ones they are 0.
    largest = np.abs(complete).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    complete = complete / (largest if scale else largest.max())
    centred = complete - complete.mean(axis=0)
    deviation = centred.std(axis=0)
    if scale:
        centred = centred / np.where(deviation > 0, deviation, 1.0)
    variances = np.linalg.svd(centred, compute_uv=False) ** 2
    reached = np.cumsum(variances) / max(variances.sum(), np.finfo(float).tiny)
    return min(int(np.searchsorted(reached, share)) + 1, int(X.shape[1]))


def beyond_floats(unmixing: Floats) -> str | None:
    """What is wrong with an unmixing in the units of the channels, if a channel is so small that
    its column holds numbers beyond what its type can.
    """
    wrong = np.flatnonzero(~np.isfinite(unmixing).all(axis=0))
    if len(wrong) == 0:
        return None
    return (
        f"X, column {wrong[0]}: its values are so small that components_ is not finite in"
        f" {unmixing.dtype}; multiply it, such as by 1e10"
    )


def channels(name: str, given: Any) -> str:
    """Names and numbers of channels as one text, as the library takes them."""
    if isinstance(given, str):
        return given
    chosen = [given] if is_whole(given) else given
    if not np.iterable(chosen):
        raise ValueError(
            f"{name} = {given!r}: expected names and numbers of channels, such as 'Fz,Cz,5-8' or"
            " [1, 2]"
        )
    return ",".join(f'"{channel}"' if "," in str(channel) else str(channel) for channel in chosen)


def plain(value: Any) -> Any:
    """A NumPy scalar as Python's own; everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def table(X: Any) -> Any:
    """`X` with masked entries as NaN, for the checks of scikit-learn; a query that holds no data
    yet is refused, and so are trials, of which rows are not known.
    """
    if getattr(X, "ndim", 2) == 3:
        raise ValueError(
            f"X: expected two dimensions (n_samples, n_features), got three, {X.shape}; give trials"
            " as Recording.from_trials(X), with the axes (trials, channels, samples)"
        )
    if isinstance(X, np.ma.MaskedArray):
        if not np.issubdtype(X.dtype, np.inexact):
            X = X.astype(np.float64)
        return X.filled(np.nan)
    if type(X).__name__ == "LazyFrame":
        raise TypeError(
            "X: expected data, got a LazyFrame, which only describes a query; give X.collect()"
        )
    return X


@contextmanager
def unchanged_by_failure(estimator: object) -> Iterator[None]:
    """An estimator whose fit fails inside is left as it was before."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
