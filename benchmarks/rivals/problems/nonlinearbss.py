"""Examples of the R package NonlinearBSS (Sipilä, Nordhausen and Taskinen), from its manual pages.

White Gaussian sources whose deviation, uniform in [0.1, 5], and mean are drawn anew for every
segment and source, through two layers: x → A·x with A orthogonal (the left singular vectors of a
matrix with uniform entries), divided by the mean deviation of all channels, with ELU between the
layers.

- `nbss ivae` (page of `iVAE`): 3 sources, 10 segments of 100 samples, means in [-5, 5].
- `nbss tcl` (page of `TCL`): 10 sources, 100 segments of 50, mean 0.
- `nbss spatial` (page of `iVAE_spatial`): 3 sources at 1000 random places, not a series at all;
  segments are the cells of 10 places, means in [-5, 5].
- `nbss space-time` (page of `iVAE_radial_spatio_temporal`): 3 sources at 50 places and 100 times,
  5 cells of places times 10 stretches of time, means in [-1, 1]. A place is a sequence here.

The example of `VAE`, stationary white Gaussian sources, is left out: nothing tells them apart.
Sizes are those of the examples. Laws are those of the package; it draws with R, so the numbers are
not. It prints no figure: its examples train for a few epochs, to show a call.
"""

import numpy as np

from ..interface import Problem, Recording

DEVIATIONS, LAYERS = (0.1, 5), 2
WHITE = "sources are white within a segment"


def mixed(random: np.random.Generator, sources: np.ndarray) -> np.ndarray:
    x = sources
    for layer in range(LAYERS):
        n = x.shape[1]
        a = np.linalg.svd(random.uniform(-1, 1, (n, n)))[0]
        x = x @ a.T
        x = x / x.std(axis=0, ddof=1).mean()
        if layer < LAYERS - 1:
            x = np.where(x < 0, np.expm1(np.minimum(x, 0)), x)
    return x


def recording(random, labels: np.ndarray, n: int, mean: float, first=None) -> Recording:
    """Sources with a law for every label, mixed."""
    shape = (int(labels.max()) + 1, n)
    means = random.uniform(-mean, mean, shape)
    deviations = random.uniform(*DEVIATIONS, shape)
    sources = means[labels] + deviations[labels] * random.normal(size=(len(labels), n))
    return Recording(mixed(random, sources), sources, labels, depth=LAYERS, first=first)


def segments(seed: int, n: int, n_segments: int, length: int, mean: float) -> Recording:
    labels = np.repeat(np.arange(n_segments), length)
    return recording(np.random.default_rng(seed), labels, n, mean)


def nearest(random, places: np.ndarray, n_cells: int) -> np.ndarray:
    """Of every place (n, d) which of `n_cells` among them is nearest."""
    centers = places[random.choice(len(places), n_cells, replace=False)]
    return np.linalg.norm(places[:, None] - centers, axis=2).argmin(axis=1)


def spatial(seed: int, n: int = 3, n_places: int = 1000, n_cells: int = 10) -> Recording:
    random = np.random.default_rng(seed)
    labels = nearest(random, random.uniform(size=(n_places, 2)), n_cells)
    return recording(random, labels, n, 5)


def space_time(seed: int, n: int = 3, n_places: int = 50, n_times: int = 100) -> Recording:
    random = np.random.default_rng(seed)
    cells = nearest(random, random.uniform(size=(n_places, 2)), 5)
    stretches = nearest(random, np.arange(n_times)[:, None], 10)
    labels = (10 * cells[:, None] + stretches).ravel()
    first = np.arange(len(labels)) % n_times == 0
    return recording(random, labels, n, 1, first)


def problems(_size: str) -> list[Problem]:
    made = {
        "ivae": (lambda seed: segments(seed, 3, 10, 100, 5), WHITE),
        "tcl": (lambda seed: segments(seed, 10, 100, 50, 0), WHITE),
        "spatial": (spatial, "samples have places and no order in time"),
        "space-time": (space_time, WHITE),
    }
    return [
        Problem(family="nonlinearbss", name=f"nbss {name}", make=make, note=note)
        for name, (make, note) in made.items()
    ]
