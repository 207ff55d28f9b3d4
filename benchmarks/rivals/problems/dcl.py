"""Latent dynamics of dynamics contrastive learning (González Laiz, Schmidt and Schneider, ICLR
2025).

A state of six dimensions that a rotation moves (`lds`: all pairs of axes by up to 5 degrees, noise
0.01), five rotations between which a Markov chain switches with probability 0.1 (`slds`: up to 10
degrees, noise 0.0001), or the Lorenz system itself by Euler's method (`lorenz`: step 0.01, noise
0.001). Four layers of leaky ReLU and a matrix to 50 channels. Published: 1000 runs of 1000 samples;
the score is affine R². Laws are those of the authors' program, by reading it. Noise, angles, steps,
and for `slds` dimensions, modes and runs are in the names of its data files, which are not public;
the probability and the mixing network are the program's defaults. The number of channels, and six
dimensions for `lds`, are our choice.
"""

import numpy as np

from ..interface import Problem, Recording
from .layers import leaky, unit_columns

RUNS = {"small": (10, 400), "published": (1000, 1000)}  # runs, samples of each
CHANNELS, LAYERS, DRAWS, BEST = 50, 4, 10_000, 10
NOTE = "the state is one coupled system, so its coordinates are not independent sources"


def rotation(random: np.random.RandomState, n: int, degrees: float) -> np.ndarray:
    """The product of rotations of all pairs of axes by up to so many degrees, either way."""
    product = np.eye(n)
    for i in range(n):
        for j in range(i + 1, n):
            angle = np.radians(random.uniform(0, degrees)) * random.choice([-1, 1])
            turn = np.eye(n)
            turn[i, i] = turn[j, j] = np.cos(angle)
            turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
            product = product @ turn
    return product


def on_sphere(random: np.random.RandomState, n_runs: int, n: int) -> np.ndarray:
    points = random.normal(size=(n_runs, n))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def linear(random, n_runs, length, n_modes, degrees, noise, n=6, switch=0.1) -> np.ndarray:
    turns = np.stack([rotation(random, n, degrees) for _ in range(n_modes)])
    mode = random.randint(n_modes, size=n_runs)
    states = [on_sphere(random, n_runs, n)]
    while len(states) < length:
        if n_modes > 1:
            leaves = random.uniform(size=n_runs) < switch
            mode = (mode + leaves * random.randint(1, n_modes, size=n_runs)) % n_modes
        moved = np.einsum("rij,rj->ri", turns[mode], states[-1])
        states.append(moved + noise * random.normal(size=moved.shape))
    return np.stack(states, 1)


def lorenz(random, n_runs, length, step=0.01, noise=0.001) -> np.ndarray:
    states = [on_sphere(random, n_runs, 3)]
    while len(states) < length:
        x, y, z = states[-1].T
        slope = np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], 1)
        # The program adds one draw of noise to all coordinates of all runs.
        states.append(states[-1] + step * slope + noise * random.normal())
    return np.stack(states, 1)


def observed(random: np.random.RandomState, states: np.ndarray) -> np.ndarray:
    n = states.shape[-1]
    conditions = sorted(np.linalg.cond(unit_columns(random, n)) for _ in range(DRAWS))
    x, done = states, 0
    while done < LAYERS:
        a = unit_columns(random, n)
        if np.linalg.cond(a) <= conditions[BEST]:
            x = (leaky(x) if done else x) @ a.T
            done += 1
    return x @ random.uniform(-1, 1, (n, CHANNELS)) / np.sqrt(n)


def generate(seed: int, kind: str, n_runs: int, length: int) -> Recording:
    random = np.random.RandomState(seed)
    if kind == "lorenz":
        states = lorenz(random, n_runs, length)
    elif kind == "slds":
        states = linear(random, n_runs, length, 5, 10, 1e-4)
    else:
        states = linear(random, n_runs, length, 1, 5, 0.01)
    flat = states.reshape(-1, states.shape[-1])
    first = np.arange(len(flat)) % length == 0
    return Recording(observed(random, flat), flat, depth=LAYERS, first=first)


def problems(size: str) -> list[Problem]:
    published = {"lds": "98.8", "slds": "99.5", "lorenz": "90.4"}
    return [
        Problem(
            family="dcl",
            name=f"dcl {kind}",
            make=lambda seed, kind=kind: generate(seed, kind, *RUNS[size]),
            published=f"DCL: R² {figure} %",
            note=NOTE,
        )
        for kind, figure in published.items()
    ]
