"""A recording without some sources, from Python and by the program; MNE judges the EDF."""

import json
import subprocess

import numpy as np
import pytest

from strtransformer import StrTransformer, load


@pytest.fixture
def fitted(problem):
    X = problem.observations * 40 + 500
    return X, StrTransformer(3, preset="fast", random_state=0).fit(X)


def test_removed_sources_leave_by_their_columns_of_the_mixing(fitted):
    X, separator = fitted
    S = separator.transform(X)
    expected = X - np.outer(S[:, 1] - S[:, 1].mean(), separator.mixing_[:, 1])
    np.testing.assert_allclose(separator.clean(X, remove=[1]), expected, rtol=0, atol=1e-6)
    for same in ({"remove": ["s2"]}, {"remove": "s2"}, {"keep": [0, "s3"]}, {"keep": "s1,s3"}):
        np.testing.assert_array_equal(separator.clean(X, **same), separator.clean(X, remove=[1]))
    np.testing.assert_array_equal(separator.clean(X, remove=[]), X)
    np.testing.assert_allclose(
        separator.clean(remove=[1]), separator.clean(X, remove=[1]), rtol=0, atol=1e-6
    )
    assert separator.clean(X.astype(np.float32), remove=[1]).dtype == np.float32


def test_missing_samples_stay_missing_or_are_filled(fitted):
    X, separator = fitted
    gappy = X.copy()
    gappy[50, 2] = np.nan
    cleaned = separator.clean(gappy, remove=[0])
    assert np.isnan(cleaned[50]).all() and np.isfinite(np.delete(cleaned, 50, axis=0)).all()
    assert np.isfinite(separator.clean(gappy, remove=[0], fill=True)).all()


def test_nonlinear(problem, quick):
    X = problem.observations
    separator = StrTransformer(3, mixer="mlp", random_state=0, **quick).fit(X)
    S = separator.model_.sources
    still = S.copy()
    still[:, 2] = S[:, 2].mean()
    expected = X - separator.inverse_transform(S) + separator.inverse_transform(still)
    np.testing.assert_allclose(separator.clean(remove=["s3"]), expected, rtol=0, atol=1e-9)


def decided(separator, rejected, **changed):
    sources = [{"name": f"s{k + 1}", "keep": k not in rejected} for k in range(3)]
    about = {"strt": "decisions", "version": 1, "run": "a run", "sources": sources}
    return {**about, "fingerprint": separator.model_.fingerprint, **changed}


def test_decisions_of_the_page(fitted, tmp_path):
    X, separator = fitted
    path = tmp_path / "decisions.json"
    path.write_text(json.dumps(decided(separator, [0, 2])))
    for file in (path, str(path)):
        np.testing.assert_array_equal(
            separator.clean(X, decisions=file), separator.clean(X, remove=[0, 2])
        )
    # The page has the fingerprint that the decisions are held against.
    page = separator.report().html
    assert f'"fingerprint":"{separator.model_.fingerprint}"' in page.replace(" ", "")
    for wrong, message in [
        ({"strt": "events"}, "expected decisions that the page of a run has saved"),
        ({"version": 2}, "version: expected 1, found 2"),
        ({"sources": [{"name": "s1", "keep": True}]}, "expected each of s1 to s3 once"),
        ({"sources": [{"name": f"s{k}", "keep": 1} for k in (1, 2, 3)]}, "`keep` true or"),
        ({"sources": "s1"}, "found none"),
        ({"fingerprint": "0123456789abcdef"}, "about another recording"),
    ]:
        path.write_text(json.dumps(decided(separator, [0], **wrong)))
        with pytest.raises(ValueError, match=message):
            separator.clean(X, decisions=path)
    path.write_bytes(b"\xff{")
    with pytest.raises(ValueError, match="found something else"):
        separator.clean(X, decisions=path)
    with pytest.raises(FileNotFoundError):
        separator.clean(X, decisions=tmp_path / "none.json")
    with pytest.raises(ValueError, match="got both"):
        separator.clean(X, decisions=path, remove=[0])


def test_refusals(fitted, tmp_path):
    X, separator = fitted
    for wrong, message in [
        ({}, "got neither"),
        ({"remove": [0], "keep": [1]}, "got both"),
        ({"remove": [3]}, "expected columns from 0 to 2 or names from s1 to s3, got 3"),
        ({"remove": [-1]}, "got -1"),
        ({"keep": ["s4"]}, "keep: .* got 's4'"),
    ]:
        with pytest.raises(ValueError, match=message):
            separator.clean(X, **wrong)
    with pytest.raises(TypeError, match="expected a list"):
        separator.clean(X, remove=1)
    with pytest.raises(ValueError, match="features"):
        separator.clean(X[:, :2], remove=[0])
    separator.save(tmp_path / "run")
    with pytest.raises(ValueError, match="give it as `X`"):
        load(tmp_path / "run").clean(remove=[0])


def edf(path, data, onset, text):
    """A small EDF+C file: records of a second, 16 bits, one annotation."""
    rate, (n, m) = 100, data.shape
    fields = lambda width, values: "".join(f"{value:<{width}}" for value in values)  # noqa: E731
    labels = [f"C{i + 1}" for i in range(m)] + ["EDF Annotations"]
    head = f"{'0':<8}{'X X X X':<80}{'Startdate 16-NOV-2026 X X X':<80}16.11.2610.00.00"
    head += f"{256 * (m + 2):<8}{'EDF+C':<44}{n // rate:<8}{1:<8}{m + 1:<4}"
    head += fields(16, labels) + fields(80, [""] * (m + 1)) + fields(8, ["uV"] * m + [""])
    head += fields(8, [-3276.8] * m + [-1]) + fields(8, [3276.7] * m + [1])
    head += fields(8, [-32768] * (m + 1)) + fields(8, [32767] * (m + 1))
    head += fields(80, [""] * (m + 1))
    head += fields(8, [rate] * m + [30]) + fields(32, [""] * (m + 1))
    with open(path, "wb") as file:
        file.write(head.encode())
        for record in range(n // rate):
            rows = data[record * rate : (record + 1) * rate]
            file.write(np.round(rows.T * 10).astype("<i2").tobytes())
            note = f"+{record}\x14\x14\x00"
            note += f"+{onset}\x14{text}\x14\x00" if record == 0 else ""
            file.write(note.encode().ljust(60, b"\x00"))


def test_a_cleaned_edf_is_read_by_mne_with_its_events(problem, program, tmp_path):
    mne = pytest.importorskip("mne")
    X = problem.observations
    X = (X / X.std(axis=0) * 100)[: len(X) // 100 * 100]
    edf(tmp_path / "in.edf", X, 1.5, "blink")

    def strt(*words):
        done = subprocess.run([*program, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    strt("separate", "in.edf", "-k", "3", "--preset", "fast", "--quiet")
    strt("clean", "in.strt", "--remove", "s2")
    raws = [
        mne.io.read_raw_edf(tmp_path / name, preload=True, verbose="error")
        for name in ("in.edf", "in_clean.edf")
    ]
    before, after = raws
    assert after.ch_names == before.ch_names and after.info["sfreq"] == 100
    assert list(after.annotations.description) == ["blink"]
    assert after.annotations.onset[0] == pytest.approx(1.5)
    recorded, cleaned = (raw.get_data().T * 1e6 for raw in raws)
    expected = load(tmp_path / "in.strt").clean(recorded, remove=["s2"])
    # A step of the file is 0.1.
    assert np.abs(cleaned - expected).max() < 0.051
    assert np.abs(cleaned - recorded).max() > 1
