"""What ``score`` of an affine model measures: the mean log-likelihood of rows of channels.

The rows are taken for draws of a Gaussian in the channels as they were scaled: in the K directions
that the sources see it has their covariance, in each of the m − K others the mean σ² of the
eigenvalues that were left out,

    ln p(x) = −½·[ ‖s‖² + Σ_{k≤K} ln λ_k + r²/σ² + (m − K)·ln σ² + m·ln 2π ] − Σ_c ln d_c

with the whitened components s, the residual r outside of them, and the scales d of the channels.
These are M. E. Tipping and C. M. Bishop's probabilistic principal components at their maximum, in
J. R. Statist. Soc. B 61(3), 1999. The rotation of the sources plays no part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _checks, _core

if TYPE_CHECKING:
    from ._typing import Floats

#: Least variance of a direction, as a share of the largest: beyond it there is rounding only.
_LEAST = 1e-12


def mean_log_likelihood(model: _core.Model, rows: Floats) -> float:
    """Of the rows (n, m) that have every channel."""
    rows = np.asarray(rows, dtype=np.float64)
    rows = rows[np.isfinite(rows).all(axis=1)]
    if len(rows) == 0:
        raise ValueError("X: expected rows that have every channel, found none")
    scale, variances = model.channel_scale, model.eigenvalues
    n_channels, n_sources = len(scale), model.n_sources
    least = _LEAST * variances[0]
    wrong = _checks.beyond_floats(model.whitening)
    if wrong is not None:
        raise ValueError(wrong.replace("components_", "the whitening"))
    whitening = model.whitening * scale  # over scaled channels
    scaled = (rows - model.channel_mean) / scale
    components = scaled @ whitening.T
    # Rows of `whitening` are principal axes divided by the square root of their variances.
    axes = whitening * np.sqrt(variances[:n_sources])[:, None]
    squares = (components**2).sum(axis=1)
    logarithms = np.log(np.maximum(variances[:n_sources], least)).sum()
    if n_sources < n_channels:
        noise = max(float(variances[n_sources:].mean()), least)
        left = ((scaled - (scaled @ axes.T) @ axes) ** 2).sum(axis=1)
        squares = squares + left / noise
        logarithms += (n_channels - n_sources) * np.log(noise)
    constant = n_channels * np.log(2.0 * np.pi) + logarithms + 2.0 * np.log(scale).sum()
    return float(-0.5 * (squares.mean() + constant))
