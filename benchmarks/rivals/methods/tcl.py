"""Time-contrastive learning (Hyvärinen and Morioka, NIPS 2016).

A network h tells the segments of time apart by multinomial regression on |h(x)|. Where sources are
independent with a scale per segment (log-density linear in |s|), |s| is a linear map of |h(x)|,
which linear ICA then finds (theorem 1 of the paper). As there: maxout units, twice as many as
sources in each hidden layer, and the regression alone trained first. Different: Adam and 20 000
steps in place of momentum and 700 000.

The signs of sources are no part of its theory; h itself is handed back as sources.
"""

import warnings

import torch
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning
from torch import nn

from ..interface import DEPTH, LABELS, Check, Found, Given, Method
from ..networks import numbers, perceptron, start, train, whitened

STEPS, BATCH, DECAY = 20_000, 512, 1e-4


def run(given: Given) -> Found:
    device = start(given.seed, given.device)
    x = torch.as_tensor(whitened(given.channels), device=device)
    label = torch.as_tensor(given.segments(), dtype=torch.long, device=device)
    k, depth = given.n_sources, given.depth or 3
    features = perceptron([x.shape[1]] + [2 * k] * (depth - 1) + [k], "maxout").to(device)
    regression = nn.Linear(k, int(label.max()) + 1).to(device)

    def loss():
        some = torch.randint(len(x), (BATCH,), device=device)
        return nn.functional.cross_entropy(regression(features(x[some]).abs()), label[some])

    steps = given.steps(STEPS)
    train(regression.parameters(), loss, max(20, steps // 10), decay=DECAY)
    train([*features.parameters(), *regression.parameters()], loss, steps, 2e-3, decay=DECAY)
    h = numbers(features(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ica = FastICA(k, whiten="unit-variance", random_state=given.seed, max_iter=1000)
        absolutes = ica.fit_transform(abs(h))
    return Found(h, absolutes)


METHOD = Method(
    name="tcl",
    paper="Hyvärinen and Morioka, NIPS 2016",
    run=run,
    settings=f"adam 2e-3, {STEPS} steps of {BATCH}",
    told=(LABELS, DEPTH),
    check=Check(
        problem="tcl L2",
        score="mcc_absolute",
        at_least=0.9,
        shown="|s| recovered behind nonlinear mixing, where linear methods fail",
    ),
)
