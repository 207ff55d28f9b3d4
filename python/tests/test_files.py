"""Recordings from files; runs saved, loaded and reported."""

import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import strtransformer
from strtransformer import StrTransformer

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text(
        "time,Fz,Cz,Pz\n"
        + "".join(f"{t / 100},{t},{t * t},{'' if t == 2 else -t}\n" for t in range(10))
    )
    return path


def test_a_recording_says_what_was_found(table):
    recording = strtransformer.read(table)
    assert recording.channel_names == ["Fz", "Cz", "Pz"] and recording.sampling_rate == 100.0
    assert recording.shape == (10, 3) == (len(recording), recording.n_channels)
    assert (
        recording.data.shape == (10, 3)
        and np.isnan(recording.data[2, 2])
        and recording.n_missing == 1
    )
    assert recording.units == [None] * 3 and any(
        "delimiter" in note or "comma" in note for note in recording.notes
    )
    assert "10 samples × 3 channels, 100 Hz, 1 samples with missing" in repr(recording)
    assert_array_equal(np.asarray(recording, dtype=np.float32), recording.data.astype(np.float32))
    again = pickle.loads(pickle.dumps(recording))
    assert_array_equal(again.data, recording.data)
    assert (again.notes, again.format, again.sampling_rate) == (
        recording.notes,
        recording.format,
        100.0,
    )


def test_a_part_of_a_file(table):
    recording = strtransformer.read(table, channels=["Cz", 1], start=0.03, stop=0.06)
    assert recording.channel_names == ["Cz", "Fz"]
    assert_array_equal(recording.data, [[9, 3], [16, 4], [25, 5]])
    assert strtransformer.read(table, channels="1-2", sampling_rate=50).sampling_rate == 50.0
    assert strtransformer.read(table, time_column="none").n_channels == 4


def test_the_longer_side_of_an_array_is_time(tmp_path):
    data = np.arange(2000.0).reshape(4, 500) ** 0.5
    np.save(tmp_path / "side.npy", data)
    recording = strtransformer.read(tmp_path / "side.npy")
    assert_array_equal(recording.data, data.T)
    assert any("columns are samples" in note for note in recording.notes)
    assert strtransformer.read(tmp_path / "side.npy", transpose=True).shape == (500, 4)
    assert strtransformer.read(tmp_path / "side.npy", transpose=False).shape == (4, 500)


def test_one_channel_by_its_number(table):
    assert_array_equal(
        strtransformer.read(table, channels=2).data, strtransformer.read(table, channels="2").data
    )
    with pytest.raises(ValueError, match="channels = 2.5: expected names and numbers"):
        strtransformer.read(table, channels=2.5)


def test_what_cannot_be_read_is_refused(table, tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.csv"):
        strtransformer.read(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError, match="expected a file"):
        strtransformer.read(tmp_path)
    with pytest.raises(ValueError, match="did you mean `Fz`"):
        strtransformer.read(table, channels="Fzz")
    damaged = tmp_path / "damaged.npy"
    damaged.write_bytes(b"\x93NUMPY\x01\x00\x05")
    with pytest.raises(ValueError, match="damaged.npy"):
        strtransformer.read(damaged)


@pytest.fixture
def fitted(problem, quick):
    return StrTransformer(3, random_state=5, **quick).fit(problem.observations, sampling_rate=100)


def test_saved_and_loaded(problem, fitted, tmp_path):
    folder = tmp_path / "run"
    fitted.save(folder, formats=["mat"])
    files = {path.name for path in folder.iterdir()}
    assert {
        "sources.npy",
        "sources.csv",
        "sources.mat",
        "denoised.npy",
        "denoised.csv",
        "denoised.mat",
        "denoised_std.npy",
        "verdicts.csv",
        "labels.csv",
        "model.safetensors",
        "report.html",
        "summary.json",
    } <= files
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["command"].startswith(
        "StrTransformer(n_components=3, max_iter=12, random_state=5"
    )
    assert "max_iter=24" in summary["warnings"][0]
    loaded = strtransformer.load(folder)
    assert_array_equal(
        loaded.transform(problem.observations), fitted.transform(problem.observations)
    )
    for name in (
        "components_",
        "mixing_",
        "mean_",
        "whitening_",
        "scale_centers_",
        "locality_slope_",
    ):
        assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    for name, values in fitted.history_.items():
        assert_array_equal(loaded.history_[name], values)
    assert loaded.config_ == fitted.config_ and loaded.seed_ == 5 and loaded.n_iter_ == 12
    # Its parameters repeat the run.
    assert_array_equal(clone(loaded).fit(problem.observations).components_, fitted.components_)
    assert_array_equal(pickle.loads(pickle.dumps(loaded)).components_, fitted.components_)

    alone = strtransformer.load(folder / "model.safetensors")
    assert_array_equal(alone.components_, fitted.components_)
    assert alone.history_["step"].shape == (0,) and alone.history_["energy"].shape == (0, 3, 2)
    assert_array_equal(pickle.loads(pickle.dumps(alone)).components_, fitted.components_)


def test_folders_are_not_replaced_unasked(fitted, tmp_path):
    folder = tmp_path / "run"
    fitted.save(folder)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        fitted.save(folder)
    strtransformer.save(fitted, folder, overwrite=True)
    foreign = tmp_path / "mine"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError):
        fitted.save(foreign, overwrite=True)
    assert (foreign / "thesis.txt").read_text() == "mine"
    with pytest.raises(ValueError, match="expected some of npy, csv, mat"):
        fitted.save(tmp_path / "other", formats=["xlsx"])


def test_what_cannot_be_loaded_is_refused(fitted, tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        strtransformer.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="expected the folder of a run"):
        strtransformer.load(tmp_path)
    fitted.save(tmp_path / "run")
    model = tmp_path / "run" / "model.safetensors"
    model.write_bytes(model.read_bytes()[:-7])
    with pytest.raises(ValueError, match="model.safetensors"):
        strtransformer.load(tmp_path / "run")


def test_the_page_of_a_run(problem, fitted, tmp_path):
    page = fitted.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text == page.html and text.startswith("<!") and "StrTransformer(n_components=3" in text
    assert page._repr_html_().startswith("<iframe srcdoc=") and "KiB" in repr(page)
    # It is the page of the saved folder, but for the time.
    fitted.save(tmp_path / "run")
    assert abs(len((tmp_path / "run" / "report.html").read_text()) - len(text)) < 100

    again = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError, match="give it: X="):
        again.report()
    assert again.report(X=problem.observations).html == page.html
    with pytest.raises(ValueError, match="200 samples × 4 channels, found 100 × 4"):
        again.save(tmp_path / "other", X=problem.observations[:100])
