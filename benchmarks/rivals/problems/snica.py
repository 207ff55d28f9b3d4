"""Switching linear dynamics of SNICA (Hälvä et al., NeurIPS 2021).

Every source switches with probability 0.01 a sample between two autoregressions of order two: one
that oscillates (momentum in [0.9, 1], reversion 0.1, mean in [0, 0.5], noise 0.003) and one that
reverts (momentum 0.3, reversion in [0.5, 0.6], mean in [-0.5, 0], noise 0.3). Three sources, twelve
channels, tanh(x) + 0.01·x between layers, noise of a tenth of the variance. Published length: 10⁵
samples. Laws and parameters are those of the authors' program; it draws with JAX, so the numbers
are not.
"""

import numpy as np

from ..interface import Problem, Recording

SAMPLES = {"small": 4_000, "published": 100_000}
N, M, DRAWS, SLOPE, SWITCH, NOISE = 3, 12, 10_000, 0.01, 0.01, 0.1


def source(random: np.random.Generator, n_samples: int) -> np.ndarray:
    # (momentum, reversion, mean, noise) of both laws
    laws = (
        (random.uniform(0.9, 1), 0.1, random.uniform(0, 0.5), 0.003),
        (0.3, random.uniform(0.5, 0.6), random.uniform(-0.5, 0), 0.3),
    )
    states = (np.cumsum(random.random(n_samples) < SWITCH) + random.integers(2)) % 2
    s = np.empty(n_samples)
    s[0], before = random.normal(0, np.sqrt(0.1), 2)
    for t in range(1, n_samples):
        momentum, reversion, mean, noise = laws[states[t]]
        drift = (1 + momentum - reversion) * s[t - 1] - momentum * before + reversion * mean
        # The second component of the state is the last value, with noise 0.001.
        before = s[t - 1] + random.normal(0, 1e-3)
        s[t] = drift + random.normal(0, noise)
    return s


def layer(random: np.random.Generator, inputs: int, outputs: int) -> np.ndarray:
    """Of 10 000 matrices with unit columns that with the condition number nearest the quarter."""
    drawn = random.uniform(-1, 1, (DRAWS, inputs, outputs))
    drawn /= np.sqrt((drawn**2).sum(axis=1, keepdims=True))
    conditions = np.linalg.cond(drawn)
    return drawn[np.argmin(np.abs(conditions - np.percentile(conditions, 25)))]


def generate(seed: int, layers: int, n_samples: int) -> Recording:
    random = np.random.default_rng(seed)
    sources = np.column_stack([source(random, n_samples) for _ in range(N)])
    x = sources
    for i in range(layers + 1):
        x = x @ layer(random, N if i == 0 else M, M)
        if i < layers:
            x = np.tanh(x) + SLOPE * x
    x = x + np.sqrt(NOISE) * x.std(axis=0) * random.normal(size=x.shape)
    return Recording(x, sources, depth=layers + 1, states=2**N, is_linear=layers == 0)


def problems(size: str) -> list[Problem]:
    return [
        Problem(
            family="snica",
            name=f"snica L{layers}",
            make=lambda seed, layers=layers: generate(seed, layers, SAMPLES[size]),
            note="noise of a tenth of the variance on every channel",
        )
        for layers in range(3)
    ]
