"""Problems with known answers: seeded sources, mixings and noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _checks, _core

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Mixture", "SOURCE_KINDS", "make_mixture"]

SOURCE_KINDS = tuple(_core.source_kinds())
"""Every kind of sources that :func:`make_mixture` knows."""


class Mixture(NamedTuple):
    """A generated problem."""

    observations: NDArray[np.float64]
    """Channels (n_samples, n_channels) of standard deviation 1, plus noise."""
    sources: NDArray[np.float64]
    """True sources (n_samples, n_sources) of mean 0 and standard deviation 1."""
    mixing: NDArray[Any] | None
    """(n_channels, n_sources) with observations = sources @ mixing.T + noise; None where the mixing
    is nonlinear.
    """


def make_mixture(
    kind: str = "gp",
    *,
    mixing: str = "linear",
    n_samples: int = 1000,
    n_sources: int = 3,
    n_channels: int | None = None,
    noise: float = 0.02,
    random_state: int = 0,
    sources: ArrayLike | None = None,
) -> Mixture:
    """Generate a mixture of known sources.

    The same arguments give the same numbers, and the same as ``strt generate`` on the command line.

    Parameters
    ----------
    kind : str, default="gp"
        How the sources behave in time, one of ``SOURCE_KINDS``: ``gp`` and ``gpclose`` (smooth
        Gaussian processes of well separated or close length-scales), ``sines``, ``ar``,
        ``nonsmooth`` (sawtooth, square wave, AR(1) with Laplace innovations), ``switchingar``,
        ``segmentlaplace``, ``segmentgaussian``, ``nonstationary``, ``varied`` (resonances and
        noise, some of changing strength), ``independent`` (independent samples of Laplace's
        density, uniform and exponential), ``laplacear`` (AR(1) of one pole with Laplace
        innovations); and sources of one law, independent runs of one system made Gaussian by
        ranks: ``lorenz``, ``lorenzz``,
        ``rossler``, ``mackeyglass``, ``henon``, ``logistic``, ``vanderpol``, ``tar``, ``garch``,
        ``coupled``, ``lorenzbackwards`` (a run, another one backwards in time, a surrogate),
        ``lorenzsurrogates`` (a run and its surrogates).
    mixing : str, default="linear"
        ``linear``, ``conditionedC`` (condition number C), ``pnl``, ``asinh``, ``mlp2``,
        ``mlp3``, ``leakymlpL`` or ``tanhmlpL`` (L layers).
    n_samples, n_sources : int, default=1000, 3
        Size of the problem; with ``sources`` given, theirs is taken.
    n_channels : int, default=None
        At least ``n_sources``. ``None`` takes twice as many.
    noise : float, default=0.02
        Standard deviation of the Gaussian noise on the channels.
    random_state : int, default=0
        Seed of all random numbers.
    sources : array-like of shape (n_samples, n_sources), default=None
        Mix these in place of generated ones.

    Returns
    -------
    Mixture
        Named tuple of ``observations``, ``sources`` and ``mixing``.
    """
    given = None
    if sources is not None:
        given = np.asarray(sources, dtype=np.float64)
        if given.ndim != 2:
            raise ValueError(
                f"sources: expected an array (n_samples, n_sources), found {given.ndim} dimensions"
            )
        n_samples, n_sources = given.shape
    if n_channels is None:
        n_channels = 2 * _checks.whole("n_sources", n_sources, 1)
    return Mixture(
        *_core.generate(
            _checks.text("kind", kind, f"one of {', '.join(SOURCE_KINDS)}"),
            _checks.text("mixing", mixing, "a name such as 'linear'"),
            _checks.whole("n_samples", n_samples, 1),
            _checks.whole("n_sources", n_sources, 1),
            _checks.whole("n_channels", n_channels, 1),
            _checks.number("noise", noise, 0),
            _checks.whole("random_state", random_state, 0),
            given,
        )
    )
