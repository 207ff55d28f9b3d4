"""A first separation: three signals, mixed into six channels, come apart again.

    python first_separation.py [FOLDER]

writes first_separation.png into FOLDER (default: here).
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from strtransformer import StrTransformer
from strtransformer.metrics import match_sources


def recording(n_samples=1000, seed=0):
    """Three sources with different structure in time, and six channels that are mixtures of them.

    Rows are samples, in order of time: the method learns from what comes before and after.
    """
    random = np.random.default_rng(seed)
    time = np.arange(n_samples)
    quick = np.sign(np.sin(2 * np.pi * time / 17)) + 0.1 * random.standard_normal(n_samples)
    middle = np.sin(2 * np.pi * time / 60) * (1 + 0.5 * np.sin(2 * np.pi * time / 400))
    slow = np.cumsum(random.standard_normal(n_samples))
    sources = np.stack([quick, middle, slow], axis=1)
    sources = (sources - sources.mean(axis=0)) / sources.std(axis=0)
    mixing = random.standard_normal((3, 6))
    return sources @ mixing + 0.02 * random.standard_normal((n_samples, 6)), sources


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=".", type=Path)
    parser.add_argument("--steps", type=int, help="the most that are taken")
    arguments = parser.parse_args()

    channels, true = recording()

    # Called like any decomposition of scikit-learn. random_state makes the run repeatable to the
    # last bit.
    estimator = StrTransformer(n_components=3, max_iter=arguments.steps, random_state=4)
    sources = estimator.fit_transform(channels)

    # Sources come in order of their time scale, shortest first; sign and size are arbitrary.
    print("expected patch, in samples:", np.round(estimator.expected_patch_size_, 1))
    print("converged:", estimator.converged_)

    # Here the truth is known. Training has not seen it.
    matching = match_sources(sources, true)
    print(f"mean absolute correlation with the true sources: {matching.mac:.3f}")

    # What the sources explain of the channels, and the channels from the sources again.
    again = estimator.inverse_transform(sources)
    print(f"largest error of the channels: {np.abs(again - channels).max():.2f}")

    figure, axes = plt.subplots(3, 3, figsize=(11, 5), sharex=True, layout="constrained")
    shown = slice(0, 400)
    columns = (
        ("channels (3 of 6)", channels, "0.4"),
        ("sources found", sources, "C0"),
        ("true sources", true, "C2"),
    )
    for column, (title, signals, colour) in enumerate(columns):
        axes[0, column].set_title(title)
        for row in range(3):
            signal = signals[shown, matching.matched[row] if title == "true sources" else row]
            if title == "sources found":
                signal = signal * matching.sign[row]
            axes[row, column].plot(signal, color=colour, linewidth=0.9)
            axes[row, column].set_yticks([])
    for row in range(3):
        axes[row, 1].set_ylabel(f"s{row + 1}")
    for axis in axes[-1]:
        axis.set_xlabel("sample")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.folder / "first_separation.png", dpi=120)
    print("picture:", arguments.folder / "first_separation.png")


if __name__ == "__main__":
    main()
