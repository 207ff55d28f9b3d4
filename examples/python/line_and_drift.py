"""A recording with drift and line noise, separated as it is and prepared.

    python line_and_drift.py [FOLDER]

writes line_and_drift.png into FOLDER (default: here).
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from strtransformer import Prepare, Recording, StrTransformer
from strtransformer.metrics import match_sources

RATE = 250.0


def recording(seconds=60, seed=0):
    """Three rhythms that come and go in eight channels, under drift and a line of 50 Hz."""
    random = np.random.default_rng(seed)
    n = int(seconds * RATE)
    time = np.arange(n) / RATE

    def rhythm(hz, width):
        """Noise around a frequency."""
        spectrum = np.fft.rfft(random.standard_normal(n))
        spectrum *= np.exp(-0.5 * ((np.fft.rfftfreq(n, 1 / RATE) - hz) / width) ** 2)
        wave = np.fft.irfft(spectrum, n)
        return wave / wave.std()

    sources = np.stack([rhythm(22, 3), rhythm(10, 1), rhythm(5, 1)], axis=1)
    channels = sources @ random.standard_normal((3, 8))
    channels += 0.2 * random.standard_normal((n, 8))
    # Every electrode drifts by itself, over many seconds; the line is the same for all but in
    # strength and phase.
    channels += 20 * np.stack([rhythm(0, 0.1) for _ in range(8)], axis=1)
    phase, strength = random.uniform(0, 2 * np.pi, 8), random.uniform(1, 6, 8)
    channels += strength * np.sin(2 * np.pi * 50 * time[:, None] + phase)
    return Recording(channels, None, RATE), sources


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=".", type=Path)
    parser.add_argument("--seeds", type=int, default=5, help="recordings, each of its own")
    parser.add_argument("--preset", default="fast", help="default takes longer")
    arguments = parser.parse_args()

    # The same for whatever the estimator sees; fit says in a warning what the recording has.
    prepare = Prepare(band=(1, 40), notch=50)
    ways = {
        "as it is, 3 sources": dict(n_components=3),
        "as it is, 8 sources": dict(n_components=8),
        "prepared, 3 sources": dict(n_components=3, prepare=prepare),
    }
    found = {}
    for name, parameters in ways.items():
        scores = []
        for seed in range(arguments.seeds):
            channels, true = recording(seed=seed)
            separator = StrTransformer(preset=arguments.preset, random_state=0, **parameters)
            sources = separator.fit_transform(channels)
            # True sources have no drift and no line, so preparing does not touch them.
            scores.append(np.max(match_sources(sources, true).correlations, axis=0).mean())
            if seed == 0:
                found[name] = sources, true
        print(f"{name}: MAC {np.mean(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})")

    figure, axes = plt.subplots(3, 3, figsize=(11, 5), sharex=True, layout="constrained")
    shown = slice(2500, 3250)
    for column, (name, (sources, true)) in enumerate(found.items()):
        axes[0, column].set_title(name)
        best = np.argmax(match_sources(sources, true).correlations, axis=0)
        for row, source in enumerate(best):
            sign = np.sign(np.dot(sources[:, source], true[:, row]))
            scaled = sign * sources[shown, source] / sources[shown, source].std()
            axes[row, column].plot(np.arange(shown.start, shown.stop) / RATE, scaled, linewidth=0.9)
            axes[row, column].plot(
                np.arange(shown.start, shown.stop) / RATE, true[shown, row], "0.4", linewidth=0.6
            )
            axes[row, column].set_yticks([])
    for axis in axes[-1]:
        axis.set_xlabel("seconds (grey: the true source)")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.folder / "line_and_drift.png", dpi=120)
    print("picture:", arguments.folder / "line_and_drift.png")


if __name__ == "__main__":
    main()
