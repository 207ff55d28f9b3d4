"""`strtransformer.mne.fit`: the chain is exact, MNE's tools work on it, blinks are removed."""

import pickle
from pathlib import Path

import numpy as np
import pytest

mne = pytest.importorskip("mne")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from sklearn.exceptions import ConvergenceWarning  # noqa: E402

import strtransformer  # noqa: E402
from simulated_eeg import FRONTAL, NAMES, simulated_eeg  # noqa: E402

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
EEGLAB = DATA / "eeglab_eeg32" / "eeglab_data.set"

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def raw():
    return simulated_eeg()[0]


@pytest.fixture(scope="module")
def ica(raw):
    return strtransformer.mne.fit(raw, 5, random_state=0, max_iter=600)


def frontal_correlation(raw, frontal, eog):
    """Largest |correlation| of a frontal channel with the EOG channel."""
    channels, reference = raw.get_data(frontal), raw.get_data(eog)[0]
    return max(abs(np.corrcoef(channel, reference)[0, 1]) for channel in channels)


def used_rows(ica, raw):
    """What the estimator was given: pre-whitened channels in rows."""
    return (raw.get_data(ica.ch_names) / ica.pre_whitener_).T


# ---- the chain of maps


def test_the_result_is_an_ica_of_mne(ica, raw):
    assert type(ica) is mne.preprocessing.ICA
    assert ica.method == "strtransformer" and ica.current_fit == "raw"
    assert ica.ch_names == NAMES and ica.n_components_ == 5 and ica.n_samples_ == raw.n_times
    assert "strtransformer" in repr(ica) and ica._repr_html_()
    assert ica.strtransformer_.model_.sampling_rate == raw.info["sfreq"]


def test_sources_are_those_of_the_estimator(ica, raw):
    sources = ica.get_sources(raw).get_data()
    ours = ica.strtransformer_.transform(used_rows(ica, raw)).T
    assert np.abs(sources - ours).max() < 1e-10
    assert np.allclose(sources.mean(axis=1), 0.0, atol=1e-3)
    assert np.allclose(sources.std(axis=1), 1.0, atol=1e-3)


def test_pca_is_orthonormal_and_complete(ica):
    rows = ica.pca_components_
    assert rows.shape == (16, 16) and np.abs(rows @ rows.T - np.eye(16)).max() < 1e-12
    variance = ica.pca_explained_variance_
    assert (np.diff(variance[:5]) <= 0).all() and (np.diff(variance[5:]) <= 0).all()
    assert variance[4] >= variance[5], "sources read the principal components of largest variance"


def test_topographies_are_the_mixing(ica):
    mixing = ica.strtransformer_.mixing_
    maps = ica.get_components()
    assert np.abs(maps - mixing).max() < 1e-4 * np.abs(mixing).max()


def test_without_exclusions_nothing_changes(ica, raw):
    data = raw.get_data(NAMES)
    same = ica.apply(raw.copy(), exclude=[], verbose="error").get_data(NAMES)
    assert np.abs(same - data).max() < 1e-12 * np.abs(data).max() + 1e-18


def test_fewer_pca_components_leave_the_rest_out(ica, raw):
    kept = ica.apply(raw.copy(), exclude=[], n_pca_components=5, verbose="error").get_data(NAMES)
    data = raw.get_data(NAMES) / ica.pre_whitener_ - ica.pca_mean_[:, None]
    axes = ica.pca_components_[:5]
    expected = (axes.T @ (axes @ data) + ica.pca_mean_[:, None]) * ica.pre_whitener_
    assert np.abs(kept - expected).max() < 1e-12 * np.abs(expected).max()
    assert 0.9 < np.var(kept) / np.var(raw.get_data(NAMES)) < 1.0


def test_an_unmixing_of_any_space_is_split_exactly():
    """Also where the sources do not read the leading principal components."""
    from strtransformer.mne import _split_unmixing

    random = np.random.default_rng(1)
    data = random.standard_normal((6, 6)) @ random.standard_normal((6, 400))
    unmixing = random.standard_normal((3, 6))

    class Holder:
        pass

    holder = Holder()
    _split_unmixing(holder, unmixing, np.cov(data))
    again = holder.unmixing_matrix_ @ holder.pca_components_[:3]
    assert np.abs(again - unmixing).max() < 1e-12
    variance = np.var(holder.pca_components_ @ data, axis=1, ddof=1)
    assert np.allclose(variance, holder.pca_explained_variance_)


# ---- MNE's tools


def test_blinks_are_found_and_removed(ica, raw, capsys):
    # Among five components a z-score cannot reach MNE's default threshold of 3.
    found, scores = ica.find_bads_eog(
        raw, ch_name="EOG", measure="correlation", threshold=0.5, verbose="error"
    )
    assert len(found) == 1
    assert abs(np.asarray(scores).ravel()[found[0]]) > 0.9
    before = frontal_correlation(raw, FRONTAL, ["EOG"])
    clean = ica.apply(raw.copy(), exclude=found, verbose="error")
    after = frontal_correlation(clean, FRONTAL, ["EOG"])
    with capsys.disabled():
        print(
            f"\nsimulated EEG: |correlation| of frontal channels with EOG {before:.3f} before, "
            f"{after:.3f} after"
        )
    assert before > 0.9 and after < 0.2


def test_the_eeglab_recording(capsys):
    if not EEGLAB.is_file():
        pytest.skip("recordings: eeglab_eeg32 is not in ../shared/data (seen from the repository)")
    raw = mne.io.read_raw_eeglab(EEGLAB, preload=True, verbose="error").crop(0.0, 120.0)
    # The eye's voltage is the difference between above (FPz) and below (EOG1).
    raw = mne.set_bipolar_reference(raw, "FPz", "EOG1", "VEOG", drop_refs=False, verbose="error")
    raw.set_channel_types(dict.fromkeys(["EOG1", "EOG2", "VEOG"], "eog"), on_unit_change="ignore")
    raw.filter(1.0, 40.0, picks="all", verbose="error")
    ica = strtransformer.mne.fit(raw, 12, random_state=0, max_iter=400)
    assert len(ica.ch_names) == 30, "EOG channels take no part"
    found, scores = ica.find_bads_eog(raw, ch_name="VEOG", verbose="error")
    frontal = ["F3", "Fz", "F4"]
    before = frontal_correlation(raw, frontal, ["VEOG"])
    clean = ica.apply(raw.copy(), exclude=found, verbose="error")
    after = frontal_correlation(clean, frontal, ["VEOG"])
    with capsys.disabled():
        print(
            f"\nEEGLAB recording: component {[int(k) for k in found]} of 12, "
            f"|score| {np.abs(scores).max():.3f}; "
            f"|correlation| of frontal channels with the EOG {before:.3f} before, {after:.3f} after"
        )
    assert found == [int(np.abs(scores).argmax())] and np.abs(scores).max() > 0.8
    assert before > 0.45 and after < 0.25


def test_heart_beats_can_be_looked_for(ica, raw):
    found, scores = ica.find_bads_ecg(raw, ch_name="EOG", method="correlation", verbose="error")
    assert isinstance(found, list) and np.shape(scores) == (5,)


def test_pictures(ica, raw):
    figures = [
        ica.plot_components(show=False),
        ica.plot_sources(raw, show=False, show_scrollbars=False),
        *ica.plot_properties(raw, picks=[0], show=False, verbose="error"),
        ica.plot_overlay(raw, exclude=[0], show=False, verbose="error"),
        ica.plot_scores(np.linspace(-1, 1, 5), show=False),
    ]
    assert all(figure is not None for figure in figures)
    plt.close("all")


def test_saved_and_read_again(ica, raw, tmp_path):
    ica = ica.copy()
    ica.exclude = [1]
    ica.save(tmp_path / "test-ica.fif", verbose="error")
    again = mne.preprocessing.read_ica(tmp_path / "test-ica.fif", verbose="error")
    assert again.method == "strtransformer"
    assert again.exclude == [1] and again.n_iter_ == ica.n_iter_
    assert np.abs(again.get_sources(raw).get_data() - ica.get_sources(raw).get_data()).max() < 1e-10
    assert again.fit_params == ica.fit_params and again.fit_params["preset"] == "default"


def test_what_mne_loses_is_read_again(ica, raw, tmp_path):
    file = tmp_path / "test-ica.fif"
    strtransformer.mne.save_ica(ica, file)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "test-ica.fif",
        "test-ica.safetensors",
    ]
    again = strtransformer.mne.read_ica(file)
    assert np.array_equal(again.get_sources(raw).get_data(), ica.get_sources(raw).get_data())
    assert again.random_state == ica.random_state is not None
    mine, theirs = again.strtransformer_, ica.strtransformer_
    assert np.array_equal(mine.components_, theirs.components_)
    assert np.array_equal(mine.sources_, theirs.sources_)
    assert mine.config_ == theirs.config_
    # Once more, from what was read.
    with pytest.raises(FileExistsError, match="test-ica.safetensors: expected no file"):
        strtransformer.mne.save_ica(again, file)
    strtransformer.mne.save_ica(again, file, overwrite=True)
    assert strtransformer.mne.read_ica(file).strtransformer_.seed_ == theirs.seed_


def test_files_that_do_not_belong_together_are_refused(ica, raw, tmp_path):
    file, other = tmp_path / "test-ica.fif", tmp_path / "other-ica.fif"
    strtransformer.mne.save_ica(ica, file)
    half = strtransformer.mne.fit(raw, ica.n_components_, preset="fast", stop=raw.n_times // 2)
    strtransformer.mne.save_ica(half, other)
    (tmp_path / "other-ica.safetensors").replace(tmp_path / "test-ica.safetensors")
    with pytest.raises(ValueError, match="expected the model of .*test-ica.fif, found another one"):
        strtransformer.mne.read_ica(file)
    with pytest.warns(RuntimeWarning, match="the ICA has no strtransformer_") as told:
        plain = strtransformer.mne.read_ica(other)
    assert told[0].filename == __file__ and not hasattr(plain, "strtransformer_")
    with pytest.raises(ValueError, match="got an ICA without one; save it with ica.save"):
        strtransformer.mne.save_ica(plain, tmp_path / "third-ica.fif")
    assert not (tmp_path / "third-ica.safetensors").exists()


def test_copies_keep_the_estimator(ica, raw):
    for twin in (ica.copy(), pickle.loads(pickle.dumps(ica))):
        assert np.array_equal(twin.strtransformer_.components_, ica.strtransformer_.components_)
        assert np.array_equal(twin.get_sources(raw).get_data(), ica.get_sources(raw).get_data())


# ---- what is left out


def test_bad_annotations_are_missing_not_cut(raw):
    annotations = mne.Annotations([10.0, 20.0], [2.0, 1.0], ["BAD_move", "fine"])
    marked = raw.copy().set_annotations(annotations)
    ica = strtransformer.mne.fit(marked, 3, random_state=0, max_iter=20)
    assert ica.n_samples_ == raw.n_times - int(2.0 * raw.info["sfreq"])
    sources = ica.strtransformer_.model_.sources
    assert sources.shape[0] == raw.n_times, "time goes on while samples are missing"
    missing = np.isnan(sources).all(axis=1)
    assert np.flatnonzero(missing)[[0, -1]].tolist() == [1280, 1535] and missing.sum() == 256
    everything = strtransformer.mne.fit(
        marked, 3, random_state=0, max_iter=20, reject_by_annotation=False
    )
    assert everything.n_samples_ == raw.n_times


def test_stretches_outside_the_bounds_are_missing(raw):
    spoiled = raw.copy()
    spoiled._data[3, 900:1000] += 1e-3
    ica = strtransformer.mne.fit(spoiled, 3, random_state=0, max_iter=20, reject=dict(eeg=900e-6))
    assert ica.n_samples_ == raw.n_times - 256, "one stretch of two seconds"
    assert ica.reject_ == dict(eeg=900e-6)
    flat = strtransformer.mne.fit(spoiled, 3, random_state=0, max_iter=20, flat=dict(eeg=1e-9))
    assert flat.n_samples_ == raw.n_times
    message = "reject: expected channel types of the data \\(eeg\\), got mag"
    with pytest.raises(ValueError, match=message):
        strtransformer.mne.fit(spoiled, 3, reject=dict(mag=1.0))


def test_start_stop_and_decim(raw):
    ica = strtransformer.mne.fit(raw, 3, random_state=0, max_iter=20, start=5.0, stop=25.0, decim=2)
    assert ica.n_samples_ == 1280 and ica.strtransformer_.model_.sampling_rate == 64.0


def test_epochs_are_pieces(raw):
    epochs = mne.make_fixed_length_epochs(raw, 2.0, preload=True, verbose="error").drop([1, 4])
    ica = strtransformer.mne.fit(epochs, 3, random_state=0, max_iter=20)
    assert ica.current_fit == "epochs" and ica.n_samples_ == len(epochs) * 256
    assert ica.strtransformer_.model_.pieces == [256] * len(epochs)
    sources = ica.get_sources(epochs).get_data()
    assert sources.shape == (len(epochs), 3, 256)
    first = ica.strtransformer_.model_.sources[:256].T
    assert np.abs(sources[0] - first).max() < 1e-8
    clean = ica.apply(epochs.copy(), exclude=[0], verbose="error")
    assert clean.get_data().shape == epochs.get_data().shape


def test_epochs_of_eight_samples(raw):
    epochs = mne.make_fixed_length_epochs(raw, 8 / 128, preload=True, verbose="error")
    ica = strtransformer.mne.fit(epochs, 3, random_state=0, max_iter=20)
    assert epochs.get_data().shape[2] == 8
    assert ica.strtransformer_.model_.pieces == [8] * len(epochs)
    assert ica.get_sources(epochs).get_data().shape == (len(epochs), 3, 8)


def test_projections_are_part_of_the_chain(raw):
    referenced = raw.copy().set_eeg_reference("average", projection=True, verbose="error")
    referenced.apply_proj(verbose="error")
    ica = strtransformer.mne.fit(referenced, None, random_state=0, max_iter=5, picks=NAMES[:8])
    assert ica.n_components_ == 7, "a projection takes one dimension"
    sources = ica.get_sources(referenced).get_data()
    assert np.allclose(sources.std(axis=1), 1.0, atol=1e-3)


def test_share_of_the_variance(raw):
    ica = strtransformer.mne.fit(raw, 0.95, random_state=0, max_iter=5)
    share = np.cumsum(ica.pca_explained_variance_) / ica.pca_explained_variance_.sum()
    assert share[ica.n_components_ - 1] > 0.95 >= share[ica.n_components_ - 2]


# ---- refusals


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (dict(mixer="mlp"), ValueError, "mixer: expected 'affine', got 'mlp'"),
        (
            dict(config={"sources.coordinates": "neural"}, max_iter=5),
            ValueError,
            "config: expected sources that are a linear map",
        ),
        (dict(n_components=1), ValueError, "n_components: expected 2 to 16"),
        (dict(n_components=17), ValueError, "n_components: expected 2 to 16"),
        (dict(n_components=1.5), ValueError, "between 0 and 1"),
        (dict(decim=0), ValueError, "decim: expected a whole number from 1"),
        (dict(start=30.0, stop=10.0), ValueError, "start < stop"),
        (dict(picks=["Cz"]), ValueError, "at least two good channels of data, got 1"),
        (dict(tstep=0), ValueError, "tstep = 0: expected seconds above 0"),
        (
            dict(tstep=-1.0, reject=dict(eeg=1.0)),
            ValueError,
            "tstep = -1.0: expected seconds above 0",
        ),
        (
            dict(decim=1000),
            ValueError,
            "more than 16 usable samples.* decim=1000 has left .* smaller one; "
            "give a longer recording",
        ),
        (dict(nonsense=1), TypeError, "nonsense"),
    ],
)
def test_refusals(raw, arguments, kind, message):
    with pytest.raises(kind, match=message):
        strtransformer.mne.fit(raw, **{"n_components": 3, **arguments})


def test_what_is_not_a_recording(raw):
    with pytest.raises(TypeError, match="expected mne.io.Raw or mne.Epochs, got ndarray"):
        strtransformer.mne.fit(raw.get_data(), 3)
    epochs = mne.make_fixed_length_epochs(raw, 2.0, preload=True, verbose="error")
    with pytest.raises(ValueError, match="start: expected for mne.io.Raw only"):
        strtransformer.mne.fit(epochs, 3, start=1.0)
    with pytest.raises(ValueError, match="expected at least one epoch"):
        strtransformer.mne.fit(epochs[:0], 3)
    marked = raw.copy().set_annotations(mne.Annotations([0.0], [40.0], ["bad"]))
    with pytest.raises(ValueError, match="expected more than 16 usable samples"):
        strtransformer.mne.fit(marked, 3)


def test_only_channels_that_are_no_data():
    info = mne.create_info(["s1", "s2"], 128.0, "stim")
    with pytest.raises(ValueError, match="at least two good channels of data, got 0"):
        strtransformer.mne.fit(mne.io.RawArray(np.zeros((2, 500)), info, verbose="error"), 2)


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
def test_warnings_point_at_the_caller(raw):
    with pytest.warns(ConvergenceWarning) as told:
        strtransformer.mne.fit(raw, 3, random_state=0, max_iter=5)
    of_kind = [warning for warning in told if warning.category is ConvergenceWarning]
    assert [warning.filename for warning in of_kind] == [__file__]


def test_unfiltered_data_is_warned_of(raw):
    info = mne.create_info(raw.ch_names, 128.0, "eeg")
    unfiltered = mne.io.RawArray(raw.get_data(), info, verbose="error")
    with pytest.warns(RuntimeWarning, match="not high-pass filtered"):
        strtransformer.mne.fit(unfiltered, 3, random_state=0, max_iter=5)
