"""Values that no one should give, but someone will: each is used or refused; nothing crashes."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import strtransformer
from strtransformer import StrTransformer, baselines, metrics


@pytest.fixture(scope="module")
def X():
    t = np.arange(300)
    return np.stack(
        [np.sin(0.3 * t), np.cos(0.05 * t), np.sin(0.3 * t) + np.cos(0.05 * t)], axis=1
    ) + 0.01 * np.sin(t[:, None] ** 1.5)


def short(**parameters):
    return StrTransformer(2, max_iter=2, **parameters)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_numbers_of_numpy_in_a_configuration(X):
    config = {
        "weights.smoothness": np.longdouble(0.02),
        "branches.patch_sizes": [np.int64(4), 8],
        "branches.crop": np.int32(64),
    }
    fitted = short(config=config).fit(X)
    assert fitted.config_["weights"]["smoothness"] == 0.02
    assert fitted.config_["branches"]["patch_sizes"] == [4, 8]


def test_a_dict_that_holds_itself_is_refused(X):
    config = {}
    config["weights"] = config
    with pytest.raises(ValueError, match="does one hold itself"):
        short(config=config).fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_seeds_of_64_bits_come_back(X, tmp_path):
    seed = 2**63 + 1
    np.save(tmp_path / "x.npy", X)
    program = [
        "strt",
        "separate",
        str(tmp_path / "x.npy"),
        "--sources",
        "2",
        "--steps",
        "2",
        "--seed",
        str(seed),
    ]
    assert strtransformer._core.main([*program, "--out", str(tmp_path / "x.strt"), "--quiet"]) == 0
    assert strtransformer.load(tmp_path / "x.strt").config_["seed"] == seed


def test_sizes_beyond_memory(X):
    assert baselines.Picard(2, m=2**62, random_state=0).fit(X).components_.shape == (2, 3)
    with pytest.raises(ValueError, match="order"):
        metrics.temporal_predictability(X[:, 0], 2**62)


def test_more_threads_than_any_machine_has_are_refused(X):
    with pytest.raises(ValueError, match="from 0 to 1024"):
        short(n_jobs=100_000).fit(X)


@pytest.mark.parametrize("factor", [1e-310, 1e300, np.array([1e-310, 1e300, 1.0])])
def test_denormal_and_huge_values_are_scaled_or_refused(X, factor):
    """They are scaled; where a matrix in their units is beyond floats, that is told, or refused."""
    scaled, plain = X * factor, StrTransformer(2, preset="fast", random_state=0)
    expected = plain.fit_transform(X)
    is_tiny = np.min(factor) < 1e-300
    ours = StrTransformer(2, preset="fast", random_state=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sources = ours.fit_transform(scaled)
    assert metrics.mac(sources, expected) > 0.9999
    np.testing.assert_allclose(ours.transform(scaled), sources)
    assert np.isfinite(ours.mixing_).all() and np.isfinite(ours.clean(scaled, remove=[0])).all()
    messages = [str(warning.message) for warning in told]
    assert any("column 0: its values are so small" in text for text in messages) == is_tiny
    for estimator in (baselines.SOBI(2), baselines.FastICA(2, random_state=0)):
        if is_tiny:
            with pytest.raises(ValueError, match="X, column 0: .* multiply it, such as by 1e10"):
                estimator.fit(scaled)
            assert not hasattr(estimator, "components_")
        else:
            fitted = estimator.fit_transform(scaled)
            np.testing.assert_allclose(estimator.transform(scaled), fitted, atol=1e-9)
    if is_tiny:
        with pytest.raises(ValueError, match="column 0: .* the whitening is not finite"):
            ours.score(scaled)
    else:
        assert np.isfinite(ours.score(scaled))


@pytest.mark.filterwarnings("ignore:X, column 0")
@pytest.mark.parametrize("factor", [1e-310, 1e300])
def test_a_share_of_the_variance_of_denormal_and_huge_values(X, factor):
    plain, scaled = (StrTransformer(0.9, preset="fast").fit(rows) for rows in (X, X * factor))
    assert len(plain.components_) == len(scaled.components_) == 2


FULL_DISK = """
import numpy as np
from strtransformer import StrTransformer

fitted = StrTransformer(2, preset="fast").fit(np.load("x.npy"))
try:
    fitted.save("disk/run.strt")
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a small disk to mount: Linux only")
def test_a_full_disk_is_an_error_of_the_system_and_leaves_nothing(X, tmp_path):
    """Nothing is lost by that: the estimator still holds everything."""
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "disk").mkdir()
    (tmp_path / "full.py").write_text(FULL_DISK)
    script = "mount -t tmpfs -o size=16k tmpfs disk || exit 99; $PYTHON full.py; ls -A disk"
    try:
        done = subprocess.run(
            ["unshare", "--map-root-user", "--mount", "sh", "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PYTHON": sys.executable},
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        pytest.skip("a small disk to mount: there is no unshare")
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("a small disk to mount: " + done.stderr.strip())
    (line,) = done.stdout.splitlines()
    assert line.startswith("OSError disk/run.strt.partial/"), done
    assert "No space left on device" in line and "written" not in line
