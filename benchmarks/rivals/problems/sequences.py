"""Short sequences of coupled sources: TDRL's modular process and CaRiNG's NG-TDMP.

Both drive sources by the past of *all* sources, x(t) = leaky(Σ_l leaky(B_l·s(t-l)) + noise),
through two layers of leaky ReLU and an orthogonal matrix. So sources are not independent, and a
sequence has 3 or 10 samples. Random numbers are used in the order of the authors' programs
(tests/test_ports.py).

- TDRL (Yao, Chen and Zhang, NeurIPS 2022): eight such sources with two lags, of which two
  couplings change between five domains, and one more that is white noise with a scale and mean per
  domain.
- CaRiNG (Chen et al., ICML 2024): three sources with one lag; the noise is multiplied by the last
  sources, and to the last channel is added what the two vectors of sources before were, so that
  one sample of channels does not determine the sources.
"""

import numpy as np
from scipy.stats import ortho_group

from ..interface import Problem, Recording
from .layers import leaky

DRAWS, NOISE = 10_000, 0.1
SEQUENCES = {"small": (400, 600), "published": (40_000, 40_000)}  # TDRL (a domain), CaRiNG
COUPLED = "sources drive each other and sequences are short: they are not independent series"


def transitions(random: np.random.RandomState, n: int, lags: int) -> list[np.ndarray]:
    """Matrices of unit columns with a condition number below the quarter of positive ones."""
    conditions = []
    for _ in range(DRAWS):
        a = random.uniform(1, 2, (n, n))
        conditions.append(np.linalg.cond(a / np.sqrt((a**2).sum(axis=0))))
    limit = np.percentile(conditions, 25)
    found: list[np.ndarray] = []
    while len(found) < lags:
        a = random.uniform(0, 2, (n, n)) - 1
        a /= np.sqrt((a**2).sum(axis=0))
        if np.linalg.cond(a) <= limit:
            found.append(a)
    return found[::-1]


def mixed(sources: np.ndarray, matrices: list[np.ndarray]) -> np.ndarray:
    for a in matrices:
        sources = leaky(sources) @ a
    return sources


def standard_normal(random: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
    drawn = random.normal(0, 1, shape)
    return (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)


def recording(sources: np.ndarray, channels: np.ndarray, domains=None) -> Recording:
    """From (sequences, samples, ...) to one long recording that knows where sequences begin."""
    n_sequences, length, n = sources.shape
    labels = None if domains is None else np.repeat(domains, length)
    first = np.arange(n_sequences * length) % length == 0
    return Recording(channels.reshape(-1, n), sources.reshape(-1, n), labels, first=first)


def modular(seed: int, n_sequences: int, n_domains: int = 5) -> Recording:
    """TDRL's `pnl_modular_gaussian_ts`, the domains that it calls source."""
    random = np.random.RandomState(seed)
    driven, lags = 8, 2
    moves = transitions(random, driven, lags)
    matrices = [ortho_group.rvs(driven + 1, random_state=random) for _ in range(2)]
    edges = random.uniform(-1, 1, (n_domains, 2))
    scales = random.uniform(0.01, 1, (n_domains, 1))
    means = random.uniform(-0.5, 0.5, (n_domains, 1))
    domains = []
    for domain in range(n_domains):
        past = standard_normal(random, (n_sequences, lags, driven))
        free = standard_normal(random, (n_sequences, lags + 1, 1))
        free = free * scales[domain] + means[domain]
        moves[0][1, 2], moves[0][3, 4] = edges[domain]
        now = random.normal(0, NOISE, (n_sequences, driven))
        for lag in range(lags):
            now += leaky(past[:, lag] @ moves[lag])
        all_driven = np.concatenate([past, leaky(now)[:, None]], axis=1)
        domains.append(np.concatenate([all_driven, free], axis=2))
    sources = np.concatenate(domains)
    of_sequence = np.repeat(np.arange(n_domains), n_sequences)
    return recording(sources, mixed(sources, matrices), of_sequence)


def tdmp(seed: int, n_sequences: int) -> Recording:
    """CaRiNG's NG-TDMP (`data_generator/NG-TDMP.py`)."""
    random = np.random.RandomState(seed)
    n, steps = 3, 9
    (move,) = transitions(random, n, 1)
    matrices = [ortho_group.rvs(n, random_state=random) for _ in range(2)]
    seen_later = np.array([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]])
    sources = [standard_normal(random, (n_sequences, 1, n))[:, 0]]
    channels = [mixed(sources[0], matrices)]
    for _ in range(steps):
        now = random.normal(0, NOISE, (n_sequences, n)) * sources[-1]
        now = leaky(now + leaky(sources[-1] @ move))
        channels.append(mixed(now, matrices))
        if len(sources) > 1:
            channels[-1][:, -1] += sources[-2] @ seen_later[0] + sources[-1] @ seen_later[1]
        sources.append(now)
    return recording(np.stack(sources, 1), np.stack(channels, 1))


def problems(size: str) -> list[Problem]:
    of_domain, all_of_them = SEQUENCES[size]
    return [
        Problem(
            family="sequences",
            name="tdrl modular",
            make=lambda seed: modular(seed, of_domain),
            published="TDRL: MCC 0.993",
            note=COUPLED,
        ),
        Problem(
            family="sequences",
            name="caring ng-tdmp",
            make=lambda seed: tdmp(seed, all_of_them),
            published="CaRiNG: MCC 0.921; TDRL 0.837, iVAE 0.553, PCL 0.489, SlowVAE 0.398",
            note=COUPLED,
        ),
    ]
