"""The simulation of iVAE (Khemakhem et al., AISTATS 2020; its program's defaults).

Gaussian sources whose scale, uniform in [0.5, 3], is drawn anew for every segment and source,
through L layers with tanh(x) + 0.1·x between them. Published size: 5 sources, 40 segments of 1000
samples.
"""

import numpy as np

from ..interface import Problem, Recording

SIZES = {"small": (5, 40, 200), "published": (5, 40, 1000)}  # sources, segments, samples of each
DRAWS, SLOPE, SCALES = 10_000, 0.1, (0.5, 3)
NOTE = "sources are white within a segment, and their scales jump"


def unit_columns(random: np.random.RandomState, n: int) -> np.ndarray:
    a = random.uniform(-1, 1, (n, n)).astype(np.float32)
    return a / np.sqrt((a**2).sum(axis=0))


def conditioned_matrix(random: np.random.RandomState, n: int) -> np.ndarray:
    """A matrix with a condition number in the lowest quarter of 10 000 others."""
    limit = np.percentile([np.linalg.cond(unit_columns(random, n)) for _ in range(DRAWS)], 25)
    while True:
        a = unit_columns(random, n)
        if np.linalg.cond(a) <= limit:
            return a


def generate(seed: int, layers: int, n: int, n_segments: int, length: int) -> Recording:
    random = np.random.RandomState(seed)
    scales = random.uniform(*SCALES, (n_segments, n))
    labels = np.repeat(np.arange(n_segments), length)
    sources = random.randn(n_segments * length, n).astype(np.float32)
    sources *= scales[labels]
    channels = sources
    for layer in range(layers):
        channels = channels @ conditioned_matrix(random, n)
        if layer < layers - 1:
            channels = np.tanh(channels) + SLOPE * channels
    return Recording(channels, sources, labels, depth=layers, is_linear=layers == 1)


def problems(size: str) -> list[Problem]:
    return [
        Problem(
            family="ivae",
            name=f"ivae L{layers}",
            make=lambda seed, layers=layers: generate(seed, layers, *SIZES[size]),
            note=NOTE,
        )
        for layers in range(1, 4)
    ]
