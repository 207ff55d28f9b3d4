"""Checks of arguments that several modules share: each names the argument, what was expected and
what came.

They look at kinds and bounds only; what a value means is judged by the library.
"""

import math
import numbers
from contextlib import contextmanager

import numpy as np


def is_whole(value):
    """Whether `value` is an integer of Python or NumPy, and not a bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole(name, value, least):
    """`value` as an int from `least` to below 2⁶³."""
    if not is_whole(value) or not least <= value < 2**63:
        raise ValueError(
            f"{name} = {value!r}: expected a whole number of at least {least}, below 2**63"
        )
    return int(value)


def number(name, value, least=None, *, finite=True):
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


def text(name, value, known):
    """`value` where it is a str; which ones there are, the library knows."""
    if not isinstance(value, str):
        raise ValueError(f"{name} = {value!r}: expected {known}")
    return value


def plain(value):
    """A NumPy scalar as Python's own; everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def table(X):
    """`X` with masked entries as NaN, for the checks of scikit-learn; a query that holds no data
    yet is refused.
    """
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
def unchanged_by_failure(estimator):
    """An estimator whose fit fails inside is left as it was before."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
