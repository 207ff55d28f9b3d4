"""Python and the program give the same bits for the same file, configuration and seed.

The model file holds every source as float64, so it is compared bit by bit; ``sources.npy`` holds
them as float32.
"""

import subprocess

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import strtransformer
from strtransformer import StrTransformer

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SETTINGS = {
    "branches.patch_sizes": [4, 8],
    "branches.d_model": 8,
    "branches.n_heads": 2,
    "weights.smoothness": 0.2,
    "optimizer.schedule.kind": "cosine",  # which bends sources within a few steps
}
ARGUMENTS = [part for key, value in SETTINGS.items() for part in ("--set", f"{key}={value}")]


def run(program, *arguments):
    done = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def files(program, tmp_path_factory):
    """One problem in every format that the program writes."""
    folder = tmp_path_factory.mktemp("problem") / "p"
    run(
        program,
        "generate",
        "ar",
        "--samples",
        200,
        "--seed",
        3,
        "--out",
        folder,
        "--format",
        "mat,parquet",
        "-q",
    )
    return folder


@pytest.mark.parametrize("ending", ["npy", "csv", "mat", "parquet"])
@pytest.mark.parametrize("mixer", ["affine", "mlp"])
def test_sources_model_and_history_are_the_same(program, files, tmp_path, ending, mixer):
    (file,) = files.glob(f"observations.{ending}")
    out = tmp_path / "run"
    options = ["--sources", 3, "--seed", 11, "--steps", 15, "--mixer", mixer, "--restarts", 2]
    run(program, "separate", file, *options, *ARGUMENTS, "--out", out, "-q")
    recording = strtransformer.read(file)
    separator = StrTransformer(
        3, mixer=mixer, max_iter=15, n_restarts=2, random_state=11, config=SETTINGS, n_jobs=1
    )
    sources = separator.fit_transform(recording)
    loaded = strtransformer.load(out)
    assert sources.dtype == np.float64 and sources.tobytes() == loaded.model_.sources.tobytes()
    assert_array_equal(sources.astype(np.float32), np.load(out / "sources.npy"))
    assert_array_equal(separator.fit_transform(recording.data), sources)
    assert_array_equal(loaded.transform(recording), separator.transform(recording))
    for name, values in separator.history_.items():
        assert_array_equal(loaded.history_[name], values, err_msg=name)

    # The folder that Python writes holds the same.
    separator.fit(recording).save(tmp_path / "own")
    for name in ("sources.npy", "sources.csv", "history.csv"):
        assert (tmp_path / "own" / name).read_bytes() == (out / name).read_bytes(), name
    written = set(path.name for path in (tmp_path / "own").iterdir())
    assert written == set(path.name for path in out.iterdir())


def test_new_data_have_the_same_sources(program, files, tmp_path):
    separator = StrTransformer(3, max_iter=8, random_state=0, config=SETTINGS, n_jobs=1)
    recording = strtransformer.read(files / "observations.npy")
    separator.fit(recording).save(tmp_path / "run")
    run(
        program,
        "transform",
        tmp_path / "run",
        files / "observations.csv",
        "--out",
        tmp_path / "s.npy",
        "-q",
    )
    expected = separator.transform(strtransformer.read(files / "observations.csv"))
    assert_array_equal(np.load(tmp_path / "s.npy"), expected.astype(np.float32))


def test_generated_problems_are_the_same(program, files):
    problem = strtransformer.datasets.make_mixture("ar", n_samples=200, random_state=3)
    assert_array_equal(np.load(files / "observations.npy"), problem.observations.astype(np.float32))
    assert_array_equal(np.load(files / "true_sources.npy"), problem.sources.astype(np.float32))
