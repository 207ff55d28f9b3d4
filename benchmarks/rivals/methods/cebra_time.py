"""CEBRA-Time, from the package `cebra` (Schneider, Lee and Mathis, Nature 2023).

Contrastive learning with samples one step apart as positive pairs and Euclidean distance, no
labels. Its theory promises sources up to a linear map, so linear ICA (FastICA) of the embedding
follows, as for TCL; R² is not changed by that.
"""

import warnings

import numpy as np
import torch

from ..interface import Found, Given, Method, Refused
from ..networks import start, whitened
from . import linear

STEPS, BATCH, SHORTEST = 5_000, 512, 50


def run(given: Given) -> Found:
    import cebra

    if given.shortest() < SHORTEST:
        raise Refused(
            f"cebra.CEBRA takes one sequence; those of this problem have {given.shortest()} "
            f"samples, and below {SHORTEST} too many pairs would cross from one to the next"
        )
    start(given.seed, given.device)
    np.random.seed(given.seed)
    model = cebra.CEBRA(
        model_architecture="offset1-model-mse",
        distance="euclidean",
        conditional="time",
        time_offsets=1,
        output_dimension=given.n_sources,
        batch_size=min(BATCH, len(given.channels) // 2),
        learning_rate=1e-3,
        max_iterations=given.steps(STEPS),
        num_hidden_units=64,
        device=given.device,
        verbose=False,
    )
    x = whitened(given.channels)
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")
        embedding = model.fit(x).transform(x)
    return linear.run(Given(embedding.astype(float), given.n_sources, given.seed))


METHOD = Method(
    name="cebra-time",
    paper="Schneider, Lee and Mathis, Nature 2023",
    run=run,
    settings=f"offset1-model-mse, adam 1e-3, {STEPS} steps of {BATCH}",
)
