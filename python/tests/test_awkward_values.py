"""Values that no one should give, but someone will: each is used or refused; nothing crashes."""

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
