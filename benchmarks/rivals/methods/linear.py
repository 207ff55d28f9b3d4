"""FastICA (scikit-learn), for what a linear method reaches on the same problem."""

import warnings

from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from ..interface import Found, Given, Method


def run(given: Given) -> Found:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ica = FastICA(
            given.n_sources, whiten="unit-variance", random_state=given.seed, max_iter=1000
        )
        return Found(ica.fit_transform(given.channels))


METHOD = Method(
    name="fastica",
    paper="Hyvärinen, IEEE Transactions on Neural Networks 1999",
    run=run,
    settings="scikit-learn, 1000 iterations",
)
