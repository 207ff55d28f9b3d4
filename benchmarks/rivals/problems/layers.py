"""Mixing networks of TCL and PCL: well-conditioned square matrices with leaky ReLU between them.

Matrices have uniform entries and unit columns; those with a condition number above the lowest
quarter of 10 000 draws are drawn again. Random numbers are used in the order of the authors'
programs, so that the same seed gives the same matrices (tests/test_ports.py).
"""

import numpy as np

DRAWS, QUARTER = 10_000, 0.25


def unit_columns(random: np.random.RandomState, n: int) -> np.ndarray:
    a = random.uniform(-1, 1, [n, n])
    return a / np.sqrt((a * a).sum(axis=0))


def conditioned_matrices(random: np.random.RandomState, n: int, layers: int) -> list[np.ndarray]:
    conditions = sorted(np.linalg.cond(unit_columns(random, n)) for _ in range(DRAWS))
    limit = conditions[int(DRAWS * QUARTER)]
    matrices = []
    while len(matrices) < layers:
        a = unit_columns(random, n)
        if np.linalg.cond(a) <= limit:
            matrices.append(a)
    return matrices


def leaky(x: np.ndarray, slope: float = 0.2) -> np.ndarray:
    return np.where(x < 0, slope * x, x)


def mixed(sources: np.ndarray, matrices: list[np.ndarray]) -> np.ndarray:
    """Sources (T, n) through the layers; no activation before the first or after the last."""
    x = sources
    for i, a in enumerate(matrices):
        x = (leaky(x) if i else x) @ a.T
    return x
