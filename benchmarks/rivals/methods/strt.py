"""StrTransformer itself, through its Python package, with default settings.

Where the mixing is nonlinear it takes its nonlinear mixer, as in `strt-lab recovery`. The budget
does not shorten it: it stops when its sources have settled. Sequences are separated by a missing
sample, so that no window crosses from one to the next.
"""

import warnings

import numpy as np

from ..interface import LINEAR, Found, Given, Method


def with_gaps(given: Given) -> tuple[np.ndarray, np.ndarray]:
    """Channels with a missing row before every sequence but the first, and where each row went."""
    if given.first is None:
        return given.channels, np.arange(len(given.channels))
    gaps = np.cumsum(given.first) - 1
    rows = np.arange(len(given.channels)) + gaps
    padded = np.full((rows[-1] + 1, given.channels.shape[1]), np.nan)
    padded[rows] = given.channels
    return padded, rows


def run(given: Given) -> Found:
    from strtransformer import StrTransformer

    channels, rows = with_gaps(given)
    model = StrTransformer(
        given.n_sources,
        mixer="affine" if given.is_linear else "mlp",
        random_state=given.seed,
        n_jobs=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Found(model.fit_transform(channels)[rows])


def version() -> str:
    try:
        import strtransformer
    except ImportError:
        return "not installed"
    return f"strtransformer {strtransformer.__version__}, defaults"


METHOD = Method(
    name="strt", paper="this repository", run=run, settings=version(), told=(LINEAR,)
)
