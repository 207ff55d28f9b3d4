"""How long `preset="fast"` takes beside scikit-learn's FastICA, turn by turn on one recording.

Autoregressive sources, as many channels as sources. Needs the package strtransformer, scikit-learn
and scipy:

    python benchmarks/fast.py
"""

import time
import warnings

import numpy as np
from scipy.signal import lfilter
from sklearn.decomposition import FastICA

from strtransformer import StrTransformer


def recording(n_sources, n_samples, seed=0):
    rng = np.random.default_rng(seed)
    poles = np.linspace(0.3, 0.98, n_sources)
    sources = [lfilter([1], [1, -pole], rng.standard_normal(n_samples)) for pole in poles]
    return np.stack(sources, 1) @ rng.standard_normal((n_sources, n_sources)).T


def seconds(separator, recording):
    began = time.perf_counter()
    separator.fit(recording)
    return time.perf_counter() - began


def main():
    warnings.simplefilter("ignore")  # FastICA does not converge on Gaussian sources, and says so
    for n_sources, n_samples, repeats in [(3, 1_000, 15), (32, 30_000, 3)]:
        x = recording(n_sources, n_samples)
        fast, fastica = [], []
        for _ in range(repeats):
            fast.append(seconds(StrTransformer(n_sources, preset="fast", random_state=0), x))
            rival = FastICA(n_sources, random_state=0, whiten="unit-variance", max_iter=1000)
            fastica.append(seconds(rival, x))
        print(
            f"{n_sources} sources x {n_samples} samples: "
            f"fast {np.median(fast):.4f} s (best {min(fast):.4f}), "
            f"scikit-learn FastICA {np.median(fastica):.4f} s (best {min(fastica):.4f})"
        )


if __name__ == "__main__":
    main()
