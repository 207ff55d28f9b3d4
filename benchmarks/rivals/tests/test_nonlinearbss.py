"""The examples of NonlinearBSS against a slow version of their formulas, and their laws."""

import numpy as np
import pytest

from rivals.problems import nonlinearbss
from rivals.scores import mcc


def test_the_mixing_is_that_of_a_loop_over_samples_and_can_be_undone():
    sources = np.random.default_rng(0).normal(size=(40, 3))
    channels = nonlinearbss.mixed(np.random.default_rng(1), sources)

    random, layers, scales = np.random.default_rng(1), [], []
    x = [list(row) for row in sources]
    for layer in range(2):
        a = np.linalg.svd(random.uniform(-1, 1, (3, 3)))[0]
        x = [[sum(a[i, j] * row[j] for j in range(3)) for i in range(3)] for row in x]
        deviations = [np.std([row[i] for row in x], ddof=1) for i in range(3)]
        scale = sum(deviations) / 3
        x = [[value / scale for value in row] for row in x]
        if layer == 0:
            x = [[v if v >= 0 else np.exp(v) - 1 for v in row] for row in x]
        layers.append(a)
        scales.append(scale)
    np.testing.assert_allclose(channels, x, rtol=1e-12, atol=1e-12)

    bent = channels * scales[1] @ layers[1]
    straight = np.where(bent < 0, np.log1p(np.minimum(bent, 0)), bent)
    assert mcc(straight @ layers[0], sources) == pytest.approx(1)


def levels(recording) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of the sources in every segment that has 20 samples."""
    parts = [recording.sources[recording.labels == k] for k in np.unique(recording.labels)]
    parts = [part for part in parts if len(part) >= 20]
    return np.array([p.mean(axis=0) for p in parts]), np.array([p.std(axis=0) for p in parts])


@pytest.mark.parametrize(
    ("name", "shape", "segments", "mean"),
    [
        ("nbss ivae", (1000, 3), 10, 5),
        ("nbss tcl", (5000, 10), 100, 0),
        ("nbss spatial", (1000, 3), 10, 5),
        ("nbss space-time", (5000, 3), 50, 1),
    ],
)
def test_the_laws_of_the_examples(name, shape, segments, mean):
    problem = next(p for p in nonlinearbss.problems("small") if p.name == name)
    made = problem.make(1)
    assert made.sources.shape == made.channels.shape == shape and made.depth == 2
    assert 0.8 * segments <= len(np.unique(made.labels)) <= segments
    means, deviations = levels(made)
    # Deviations are uniform in [0.1, 5]; an estimate from 20 samples or more is near its own.
    assert deviations.max() < 8 and deviations.min() < 1 and 2 < deviations.mean() < 3.1
    # A mean of a segment is uniform in ± mean, or 0; its estimate has an error of its own.
    assert np.abs(means).max() < mean + 4 * 5 / np.sqrt(20)
    assert means.std() == pytest.approx(mean / np.sqrt(3), abs=0.5)


def test_a_place_is_a_sequence_of_its_times_and_neighbours_share_a_segment():
    problem = next(p for p in nonlinearbss.problems("small") if p.name == "nbss space-time")
    made = problem.make(1)
    assert made.first.sum() == 50 and made.first[::100].all()
    # Ten segments of time: a place changes its label nine times and never returns to one.
    for labels in made.labels.reshape(50, 100):
        assert np.count_nonzero(np.diff(labels)) == len(set(labels)) - 1 == 9
