"""Recordings in pieces: trials, their boundaries, and what has rows cut into trials again."""

import pickle

import numpy as np
import pytest

import strtransformer
from strtransformer import Recording, StrTransformer
from strtransformer.baselines import AMUSE, SOBI, WASOBI, Fast
from strtransformer.metrics import match_sources

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:pieces of at most 8 samples are too short:UserWarning"),
]


def trials(n_trials=250, n_samples=8, seed=0):
    """Three AR(1) sources in four channels, every trial a process of its own: (trials, channels,
    samples), and the sources (rows, 3).
    """
    random = np.random.default_rng(seed)
    poles = np.array([0.9, 0.5, -0.6])
    state = random.normal(size=(n_trials, 3))
    sources = np.empty((n_trials, n_samples, 3))
    for t in range(n_samples):
        if t > 0:
            state = poles * state + np.sqrt(1 - poles**2) * random.normal(size=(n_trials, 3))
        sources[:, t] = state
    mixing = random.normal(size=(4, 3))
    mixed = sources @ mixing.T + 0.01 * random.normal(size=(n_trials, n_samples, 4))
    return mixed.transpose(0, 2, 1), sources.reshape(-1, 3)


def test_trials_are_pieces_of_one_recording():
    X = np.arange(24.0).reshape(2, 3, 4)
    recording = Recording.from_trials(X, ["a", "b", "c"], 100.0)
    assert recording.shape == (8, 3) and recording.sampling_rate == 100.0
    assert recording.pieces == [4, 4] and recording.n_pieces == 2
    assert "2 pieces" in repr(recording)
    assert np.array_equal(recording.data[4:], X[1].T)
    first, second = recording.split(recording.data)
    assert np.array_equal(first, X[0].T) and np.array_equal(second, X[1].T)
    assert pickle.loads(pickle.dumps(recording)).pieces == [4, 4]
    assert Recording.from_trials(X.astype(np.float32)).data.dtype == np.float64


def test_pieces_of_any_length():
    recording = Recording(np.random.default_rng(0).normal(size=(10, 2)), pieces=[3, 1, 6])
    assert [len(part) for part in recording.split(recording.data)] == [3, 1, 6]
    assert Recording(recording.data).pieces == [10]


@pytest.mark.parametrize(
    ("pieces", "words"),
    [([3, 4], "together 7 samples"), ([10, 0], "piece 1"), ([], "0 pieces")],
)
def test_lengths_must_be_all_of_it(pieces, words):
    with pytest.raises(ValueError, match=words):
        Recording(np.zeros((10, 2)), pieces=pieces)


def test_trials_of_a_file_are_those_of_the_array(tmp_path):
    data, _ = trials(20)
    expected = Recording.from_trials(data)
    np.save(tmp_path / "trials.npy", data)
    np.save(tmp_path / "rows.npy", data.swapaxes(1, 2))
    for name, transpose in [("trials.npy", None), ("rows.npy", False)]:
        found = strtransformer.read(tmp_path / name, transpose=transpose)
        assert found.pieces == expected.pieces == [8] * 20
        np.testing.assert_array_equal(found.data, expected.data)


def test_what_is_no_trial_is_refused():
    with pytest.raises(TypeError, match="three dimensions"):
        Recording.from_trials(np.zeros((10, 2)))
    with pytest.raises(ValueError, match="0 samples"):
        Recording.from_trials(np.zeros((3, 2, 0)))
    with pytest.raises(ValueError, match="from_trials"):
        StrTransformer(2).fit(np.zeros((3, 2, 8)))
    with pytest.raises(ValueError, match="expected 8, one a sample"):
        Recording.from_trials(np.zeros((2, 1, 4)) + np.arange(4.0)).split(np.zeros(3))


@pytest.mark.parametrize("preset", ["fast", "default"])
def test_trials_of_eight_samples_are_separated(preset):
    X, truth = trials()
    recording = Recording.from_trials(X)
    estimator = StrTransformer(3, preset=preset, random_state=0, max_iter=None).fit(recording)
    sources = estimator.transform(recording)
    assert match_sources(sources, truth).mac > 0.95
    assert estimator.model_.pieces == [8] * len(X)
    assert len(recording.split(sources)) == len(X)
    again = pickle.loads(pickle.dumps(estimator))
    assert again.model_.pieces == [8] * len(X)
    assert np.array_equal(again.transform(recording), sources)


def test_the_order_of_trials_changes_nothing():
    X, _ = trials()
    found = [
        StrTransformer(3, preset="fast", random_state=0).fit(Recording.from_trials(some)).mixing_
        for some in (X, X[::-1].copy())
    ]
    assert np.abs(found[0] - found[1]).max() < 1e-3 * np.abs(found[0]).max()


@pytest.mark.parametrize("method", [AMUSE, SOBI, WASOBI, Fast])
def test_baselines_know_pieces(method):
    X, truth = trials()
    recording = Recording.from_trials(X)
    sources = method(3).fit_transform(recording)
    assert match_sources(sources, truth).mac > 0.9
    whole = method(3).fit(recording.data)
    assert not np.allclose(np.abs(whole.mixing_), np.abs(method(3).fit(recording).mixing_))


def test_patches_that_do_not_fit_are_refused_by_the_length_of_trials():
    X, _ = trials()
    with pytest.raises(ValueError, match="250 pieces has 8 samples.*need 32"):
        StrTransformer(3, config={"branches.patch_sizes": [16]}).fit(Recording.from_trials(X))


def test_filters_do_not_cross_pieces():
    rate, length = 100.0, 400
    t = np.arange(length) / rate
    pieces = [np.sin(2 * np.pi * 10 * t) + level for level in (0.0, 50.0)]
    X = np.stack([np.concatenate(pieces), np.concatenate(pieces[::-1])], axis=1)
    prepare = strtransformer.Prepare(band=(5.0, 20.0))
    recording = Recording(X, sampling_rate=rate, pieces=[length, length])
    filtered = prepare.fit_transform(recording)
    alone = prepare.fit_transform(Recording(X[:length], sampling_rate=rate))
    assert np.abs(filtered[:length] - alone).max() < 1e-9
