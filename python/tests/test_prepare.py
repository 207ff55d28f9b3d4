"""Preparing a recording: the same as MNE's filters, the same for arrays, files and the program, and
as a transformer of scikit-learn.
"""

import pickle
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import strtransformer
from strtransformer import Prepare, Recording, StrTransformer

RATE = 250.0

pytestmark = pytest.mark.filterwarnings("ignore:line noise", "ignore:drift")


def channels(seconds=30, seed=0):
    """Four channels of noise, rhythms, drift and a line."""
    random = np.random.default_rng(seed)
    time = np.arange(int(seconds * RATE)) / RATE
    sources = np.stack(
        [
            np.sin(2 * np.pi * 11 * time) * (1 + np.sin(2 * np.pi * 0.3 * time)),
            random.standard_normal(len(time)),
            5 * np.sin(2 * np.pi * 0.03 * time) + np.sin(2 * np.pi * 50 * time),
        ],
        axis=1,
    )
    return sources @ random.standard_normal((3, 4)) + 0.1 * random.standard_normal((len(time), 4))


@parametrize_with_checks([Prepare()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("band", "low", "high"), [("1-40", 1, 40), ((0.5, None), 0.5, None), ((None, 30), None, 30)]
)
def test_bands_are_those_of_mne(band, low, high):
    mne = pytest.importorskip("mne")
    X = channels(20)
    expected = mne.filter.filter_data(X.T, RATE, low, high, verbose="error").T
    found = Prepare(band=band, sampling_rate=RATE).fit_transform(X)
    assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_notches_are_those_of_mne():
    mne = pytest.importorskip("mne")
    X = channels(20)
    expected = mne.filter.notch_filter(X.T, RATE, [50, 100], verbose="error").T
    found = Prepare(notch=50, sampling_rate=RATE).fit_transform(X)
    assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("start", "stop"), [(256, 250), (250, 100), (100, 256)])
def test_other_rates_are_those_of_scipy(start, stop):
    """Where both pass: resample_poly with a long filter, away from the ends."""
    signal = pytest.importorskip("scipy.signal")
    time = np.arange(20 * start) / start
    X = np.stack([np.sin(2 * np.pi * hz * time + 1) for hz in (3.0, 17.0)], axis=1)
    found = Prepare(resample=stop, sampling_rate=start).fit_transform(X)
    divisor = np.gcd(start, stop)
    window = signal.firwin(
        200 * max(start, stop) // divisor + 1, 0.95 / (max(start, stop) // divisor),
        window=("kaiser", 10.0),
    )  # fmt: skip
    expected = signal.resample_poly(X, stop // divisor, start // divisor, window=window)
    assert found.shape == expected.shape
    inside = slice(3 * stop, -3 * stop)
    assert_allclose(found[inside], expected[inside], atol=1e-3)


def test_parameters_become_operations_in_their_order():
    X = channels()
    prepare = Prepare(
        exclude=[4],
        bad_segments=[(10, 2)],
        detrend=True,
        notch=[50],
        band="1-45",
        resample=125,
        rereference="ch2",
        sampling_rate=RATE,
    )
    found = prepare.fit_transform(X)
    assert found.shape == (3750, 2)
    assert prepare.steps_ == [
        "1 bad segment taken as missing (2 s)",
        "straight lines removed",
        "notch 50, 100 Hz (FIR of 1651 samples)",
        "band 1-45 Hz (FIR of 825 samples)",
        "resampled from 250 to 125 Hz",
        "reference ch2, which is left out",
    ]
    assert list(prepare.get_feature_names_out()) == ["ch1", "ch3"]
    assert np.isnan(found[1250:1500]).all() and not np.isnan(found[:1250]).any()
    assert_array_equal(prepare.transform(X), found)
    assert_array_equal(clone(prepare).fit_transform(Recording(X, None, RATE)), found)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (dict(band=(1, 40)), "X: band: expected a recording with a sampling rate"),
        (dict(band=(40, 1), sampling_rate=RATE), "band: expected rising frequencies"),
        (dict(band=3, sampling_rate=RATE), "band = 3: expected two frequencies"),
        (dict(notch=200, sampling_rate=RATE), "X: notch: expected frequencies .* below 125 Hz"),
        (dict(resample=-3, sampling_rate=RATE), "resample: expected samples per second above 0"),
        (dict(rereference="Fp1"), "X: rereference: expected one of ch1, .*found `Fp1`"),
        (dict(exclude=[9]), "X: exclude: expected numbers from 1 to 4"),
        (dict(bad_segments="annotations"), "X: bad_segments: expected spans in seconds"),
        (dict(detrend=3), "detrend = 3: expected True or False"),
    ],
)
def test_what_cannot_be_is_refused_by_name(parameters, message):
    with pytest.raises(ValueError, match=message):
        Prepare(**parameters).fit(channels(5))


def test_an_estimator_prepares_whatever_it_sees(tmp_path):
    X, new = channels(), channels(seed=1)
    prepare = Prepare(band=(1, 40), notch=50, rereference="average", resample=125)
    separator = StrTransformer(2, preset="fast", random_state=0, prepare=prepare)
    sources = separator.fit_transform(X, sampling_rate=RATE)
    assert sources.shape == (3750, 2)
    by_hand = clone(prepare).set_params(sampling_rate=RATE).fit(X)
    alone = StrTransformer(2, preset="fast", random_state=0).fit(by_hand.transform(X))
    assert_array_equal(separator.components_, alone.components_)
    assert_array_equal(separator.transform(new), alone.transform(by_hand.transform(new)))
    pipeline = make_pipeline(by_hand, StrTransformer(2, preset="fast", random_state=0))
    assert_array_equal(pipeline.fit_transform(X), sources)
    # A recording that was read so is not prepared again; one that was read otherwise is refused.
    np.savetxt(tmp_path / "x.csv", X, fmt="%.17g", delimiter=",")
    read = strtransformer.read(tmp_path / "x.csv", sampling_rate=RATE, prepare=prepare)
    assert_array_equal(separator.transform(read), separator.transform(X))
    other = strtransformer.read(tmp_path / "x.csv", sampling_rate=RATE, prepare=dict(band="1-30"))
    with pytest.raises(ValueError, match="prepared otherwise .*band 1-30 Hz"):
        separator.transform(other)
    assert_array_equal(pickle.loads(pickle.dumps(read)).prepared, read.prepared)
    again = pickle.loads(pickle.dumps(separator))
    assert_array_equal(again.transform(new), separator.transform(new))


def test_saved_runs_prepare_in_the_program_and_when_loaded(program, tmp_path):
    X, new = channels(), channels(seed=1)
    for name, values in (("x", X), ("new", new)):
        np.savetxt(tmp_path / f"{name}.csv", values, fmt="%.17g", delimiter=",")
    read = strtransformer.read(tmp_path / "x.csv", sampling_rate=RATE)
    prepare = Prepare(band=(1, 40), rereference="average")
    separator = StrTransformer(2, preset="fast", random_state=0, prepare=prepare).fit(read)
    separator.save(tmp_path / "run")
    command = [*program, "transform", "run", "new.csv", "--rate", "250", "-q", "-o", "s.npy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = separator.transform(Recording(new, None, RATE))
    assert_array_equal(np.load(tmp_path / "s.npy"), expected.astype(np.float32))
    loaded = strtransformer.load(tmp_path / "run")
    assert isinstance(loaded.prepare, Prepare) and loaded.prepare.band == "1-40"
    assert_array_equal(loaded.transform(Recording(new, None, RATE)), expected)
    assert "band 1-40 Hz" in separator.report().html


def test_recordings_are_cleaned_as_they_are():
    X = channels() + 1000.0
    prepare = Prepare(band=(1, 40), resample=125, rereference="ch3", sampling_rate=RATE)
    separator = StrTransformer(2, preset="fast", random_state=0, prepare=prepare).fit(X)
    assert_array_equal(separator.clean(X, remove=[]), X)
    cleaned = separator.clean(X, remove=[1])
    assert cleaned.shape == X.shape
    assert_array_equal(cleaned[:, 2], X[:, 2])
    assert_allclose(cleaned.mean(axis=0), X.mean(axis=0), atol=1e-8)
    # Prepared, what is left is what cleaning leaves of the prepared recording.
    prepared, expected = clone(prepare).fit_transform(cleaned), separator.clean(remove=[1])
    prepared, expected = prepared - prepared.mean(axis=0), expected - expected.mean(axis=0)
    assert_allclose(prepared, expected, atol=1e-6)
    assert np.abs(expected - clone(prepare).fit_transform(X)).max() > 0.1
    with pytest.raises(ValueError, match="fill = True: expected False with prepare"):
        separator.clean(X, remove=[1], fill=True)


def test_drift_and_lines_are_warned_of():
    separator = StrTransformer(2, preset="fast", random_state=0)
    with pytest.warns(UserWarning, match="line noise: a line at 50 Hz"):
        separator.fit(channels(), sampling_rate=RATE)
