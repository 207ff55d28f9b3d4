"""A nonlinear mixture: what a linear method cannot undo, and what the MLP mixer makes of it.

    python nonlinear_mixture.py [FOLDER]

writes nonlinear_mixture.png into FOLDER (default: here).
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from strtransformer import StrTransformer
from strtransformer.datasets import make_mixture
from strtransformer.metrics import explained_variance, match_sources


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=".", type=Path)
    parser.add_argument("--steps", type=int, help="the most that are taken")
    arguments = parser.parse_args()

    # Three sources, bent on their way into six channels. The generator knows the truth; the
    # estimators do not see it.
    problem = make_mixture(
        "sines", mixing="mlp3", n_samples=800, n_sources=3, n_channels=6, random_state=1
    )
    channels, true = problem.observations, problem.sources

    # The same problem for an affine mixer (a matrix and an offset) and for a multilayer perceptron.
    found = {}
    for mixer in ("affine", "mlp"):
        estimator = StrTransformer(
            n_components=3, mixer=mixer, max_iter=arguments.steps, random_state=0
        )
        # A nonlinear mixer has no unmixing matrix, but a map of the channels, which `transform`
        # applies to new rows.
        sources = estimator.fit_transform(channels)
        explained = explained_variance(channels, estimator.inverse_transform(sources))
        matching = match_sources(sources, true)
        found[mixer] = (sources, matching)
        print(
            f"{mixer:6}  correlation with the true sources {matching.mac:.3f}, "
            f"explained variance {explained:.3f}"
        )
        # The share of the channels' variance that the sources explain does not tell the two apart
        # here: bent sources explain the channels as well. On your own recordings compare
        # restarts and look at the sources.

    # Unmixed well, a source is a straight line against the true one (sign and size are arbitrary).
    figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
    for row, (mixer, (sources, matching)) in zip(axes, found.items()):
        for k, axis in enumerate(row):
            x, y = true[:, matching.matched[k]], matching.sign[k] * sources[:, k]
            axis.plot(x, y, ".", markersize=2)
            title = f"mixer={mixer}, s{k + 1}: |r| = {matching.per_source[k]:.3f}"
            axis.set_title(title, fontsize=9)
            axis.set_xlabel("true source")
            axis.set_ylabel("found")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.folder / "nonlinear_mixture.png", dpi=120)
    print("picture:", arguments.folder / "nonlinear_mixture.png")


if __name__ == "__main__":
    main()
