"""Densities of sources for Picard: −ln p up to a constant, its derivative (the score) and the
derivative of that.

A density of the caller's own is an object with ``log_lik(Y)`` and ``score_and_der(Y)``, as in
python-picard, and is compared with its own differences before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from .._typing import Floats

#: Slope of the density "exp", as in python-picard.
_EXP_SLOPE = 0.1
#: Step of the differences, and how far a derivative may be from one.
_STEP, _ALLOWED = 1e-6, 1e-6


class DensityError(ValueError, AssertionError):
    """A density whose derivatives are not those of its values. An ``AssertionError`` as well, which
    is what python-picard raises.
    """


class Density(Protocol):
    """What a density has to have."""

    def log_lik(self, Y: Floats, /) -> Any:
        """−ln p of every value, up to a constant."""

    def score_and_der(self, Y: Floats, /) -> tuple[Any, Any]:
        """Its first and second derivative."""


class _Tanh:
    def log_lik(self, Y: Floats) -> Floats:
        size = np.abs(Y)
        return np.asarray(size + np.log1p(np.exp(-2.0 * size)))

    def score_and_der(self, Y: Floats) -> tuple[Floats, Floats]:
        score = np.tanh(Y)
        return score, 1.0 - score**2


class _Exp:
    def log_lik(self, Y: Floats) -> Floats:
        return np.asarray(-np.exp(-0.5 * _EXP_SLOPE * Y**2) / _EXP_SLOPE)

    def score_and_der(self, Y: Floats) -> tuple[Floats, Floats]:
        bell = np.exp(-0.5 * _EXP_SLOPE * Y**2)
        return Y * bell, (1.0 - _EXP_SLOPE * Y**2) * bell


class _Cube:
    def log_lik(self, Y: Floats) -> Floats:
        return np.asarray(Y**4 / 4.0)

    def score_and_der(self, Y: Floats) -> tuple[Floats, Floats]:
        return Y**3, 3.0 * Y**2


_KNOWN: dict[str, Density] = {"tanh": _Tanh(), "exp": _Exp(), "cube": _Cube()}


def density(fun: str | Density, *, check: bool = True) -> Density:
    """The density of a name, or one of the caller's own."""
    if isinstance(fun, str):
        if fun not in _KNOWN:
            raise ValueError(
                f"fun = {fun!r}: expected one of {', '.join(_KNOWN)}, or an object with log_lik and"
                " score_and_der"
            )
        return _KNOWN[fun]
    missing = [name for name in ("log_lik", "score_and_der") if not hasattr(fun, name)]
    if missing:
        raise ValueError(
            f"fun = {fun!r}: expected one of {', '.join(_KNOWN)}, or an object with log_lik and"
            f" score_and_der; it has no {' and no '.join(missing)}"
        )
    if check:
        _check(fun)
    return fun


def _check(fun: Density) -> None:
    """Compares both derivatives with differences at some values."""
    at = np.linspace(-2.3, 2.1, 11)
    score, slope = (np.asarray(values, dtype=float) for values in fun.score_and_der(at))

    def differences(of: Any) -> Floats:
        return np.asarray((of(at + _STEP) - of(at - _STEP)) / (2.0 * _STEP))

    pairs = {
        "score_and_der(Y)[0]": (score, differences(fun.log_lik), "log_lik(Y)"),
        "score_and_der(Y)[1]": (
            slope,
            differences(lambda y: fun.score_and_der(y)[0]),
            "score_and_der(Y)[0]",
        ),
    }
    for name, (given, expected, of) in pairs.items():
        if given.shape != at.shape or expected.shape != at.shape:
            raise DensityError(
                f"fun: expected one value of {name} for every value of Y, got shape {given.shape}"
                f" for {at.shape}"
            )
        off = np.abs(given - expected)
        if not np.all(off <= _ALLOWED * (1.0 + np.abs(expected))):
            worst = int(np.argmax(off))
            raise DensityError(
                f"fun: expected {name} to be the derivative of {of}, at Y = {at[worst]:.3g}"
                f" {expected[worst]:.6g}, got {given[worst]:.6g}"
            )
