"""The simulation of TCL (Hyvärinen and Morioka, NIPS 2016).

Laplace sources whose scale, uniform in [0, 1], is drawn anew for every segment and source, through
L layers of leaky-ReLU mixing. Published size: 20 sources, 256 segments of 512 samples.
"""

import numpy as np

from ..interface import Problem, Recording
from .layers import conditioned_matrices, mixed

SIZES = {"small": (5, 64, 128), "published": (20, 256, 512)}  # sources, segments, samples of each
NOTE = "sources are white within a segment, and their scales jump"


def generate(seed: int, layers: int, n: int, n_segments: int, length: int) -> Recording:
    random = np.random.RandomState(seed)
    random.rand(n_segments)
    scales = random.uniform(0, 1, [n, n_segments])
    sources = np.empty((n_segments * length, n))
    for segment in range(n_segments):
        rows = slice(segment * length, (segment + 1) * length)
        for source in range(n):
            drawn = random.laplace(0, 1 / np.sqrt(2), length)
            sources[rows, source] = drawn * scales[source, segment]
    random = np.random.RandomState(seed)
    random.rand(layers + n_segments)
    channels = mixed(sources, conditioned_matrices(random, n, layers))
    labels = np.repeat(np.arange(n_segments), length)
    return Recording(channels, sources, labels, depth=layers, is_linear=layers == 1)


def problems(size: str) -> list[Problem]:
    return [
        Problem(
            family="tcl",
            name=f"tcl L{layers}",
            make=lambda seed, layers=layers: generate(seed, layers, *SIZES[size]),
            note=NOTE,
        )
        for layers in range(1, 6)
    ]
