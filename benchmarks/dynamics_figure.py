"""The first figure of the README: three runs of one chaotic system, as four methods separate them.

Every source is drawn over the true one that it is matched with. Needs the package strtransformer,
scikit-learn and matplotlib:

    python benchmarks/dynamics_figure.py docs/dynamics.png
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import FastICA

from strtransformer import StrTransformer, baselines, datasets, metrics

SHOWN = slice(400, 700)
BLACK, ORANGE = "#000000", "#d55e00"  # Okabe and Ito's: told apart by the colour-blind too


def main(path):
    problem = datasets.make_mixture(
        "lorenz", n_samples=2000, n_channels=5, noise=0.01, random_state=1
    )
    methods = {
        "StrTransformer": StrTransformer(3, random_state=0),
        "SOBI": baselines.SOBI(3),
        "FastICA": FastICA(3, whiten="unit-variance", random_state=0, max_iter=1000),
        "Picard": baselines.Picard(3, random_state=0),
    }
    figure, axes = plt.subplots(3, len(methods), figsize=(12, 4.2), sharex=True, sharey=True)
    for column, (name, method) in enumerate(methods.items()):
        found = method.fit_transform(problem.observations)
        aligned = metrics.align(found, problem.sources)
        for k, axis in enumerate(axes[:, column]):
            true, source = problem.sources[:, k], aligned[:, k]
            axis.plot(standard(true)[SHOWN], color=BLACK, linewidth=2.2, alpha=0.35)
            axis.plot(standard(source)[SHOWN], color=ORANGE, linewidth=0.9)
            correlation = abs(np.corrcoef(true, source)[0, 1])
            axis.set_title(f"|correlation| {correlation:.4f}", fontsize=8, pad=2)
            axis.set_axis_off()
        mac = metrics.mac(found, problem.sources)
        axes[0, column].annotate(
            f"{name}: MAC {mac:.4f}",
            (0.5, 1.3),
            xycoords="axes fraction",
            ha="center",
            fontsize=11,
            weight="bold",
        )
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    figure.savefig(path, dpi=110)


def standard(x):
    return (x - x.mean()) / x.std()


if __name__ == "__main__":
    main(sys.argv[1])
