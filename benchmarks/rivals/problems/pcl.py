"""The simulation of PCL (Hyvärinen and Morioka, AISTATS 2017).

Autoregressive sources, s(t) = 0.7·s(t-1) + Laplace innovation, all with one law, through L layers
of leaky-ReLU mixing. Published size: 20 sources, 2¹⁸ samples.
"""

import numpy as np

from ..interface import Problem, Recording
from .layers import conditioned_matrices, mixed

SIZES = {"small": (5, 2**13), "published": (20, 2**18)}  # sources, samples
COEFFICIENT = 0.7


def generate(seed: int, layers: int, n: int, n_samples: int) -> Recording:
    seed = seed + n_samples + layers
    random = np.random.RandomState(seed)
    scale = np.sqrt(1 - COEFFICIENT**2) / np.sqrt(2)
    innovations = np.column_stack([random.laplace(0, scale, n_samples) for _ in range(n)])
    s = np.zeros((n_samples, n))
    for t in range(1, n_samples):
        s[t] = COEFFICIENT * s[t - 1] + innovations[t]
    s = (s - s.mean(axis=0)) / s.std(axis=0)
    matrices = conditioned_matrices(np.random.RandomState(seed), n, layers)
    return Recording(mixed(s, matrices), s, depth=layers, is_linear=layers == 1)


def problems(size: str) -> list[Problem]:
    return [
        Problem(
            family="pcl",
            name=f"pcl L{layers}",
            make=lambda seed, layers=layers: generate(seed, layers, *SIZES[size]),
        )
        for layers in range(1, 6)
    ]
