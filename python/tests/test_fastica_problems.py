"""The problems on which scikit-learn tests its FastICA, solved by this estimator at scikit-learn's
tolerances.

The sources there are a square wave with Student-t noise, and a sine with a square wave: at least
one of them has structure in time, so the temporal method can tell them apart. All of them are
solved by ``StrTransformer`` itself, with its default settings and 300 steps. Where scikit-learn
tests a switch that is FastICA's own (algorithm, contrast), the class
``strtransformer.baselines.FastICA`` is tested; scikit-learn's own test file is run against it by
``test_dropin.py``.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from strtransformer import StrTransformer
from strtransformer.baselines import FastICA

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N_SAMPLES = 1000


def standardized(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


def rotated(seed, noise):
    """A square wave and noise of Student's t with one degree of freedom, mixed by a rotation and a
    reflection.
    """
    rng = np.random.RandomState(seed)
    wave = np.where(np.sin(np.linspace(0, 100, N_SAMPLES)) > 0, 1.0, -1.0)
    sources = standardized(np.column_stack([wave, rng.standard_t(1, size=N_SAMPLES)]))
    angle = 0.6
    mixing = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
    channels = sources @ mixing.T + noise * rng.standard_normal((N_SAMPLES, 2))
    return standardized(channels), sources


def six_channels(seed, noise):
    """A sine and a square wave in six channels."""
    rng = np.random.RandomState(seed)
    time = np.linspace(0, 100, N_SAMPLES)
    sources = standardized(np.column_stack([np.sin(time), np.ceil(np.sin(np.pi * time))]))
    channels = sources @ rng.standard_normal((2, 6)) + noise * rng.standard_normal((N_SAMPLES, 6))
    return standardized(channels), sources


def agreement(found, true):
    """|found·true|/T of each true source with the estimate that fits it best."""
    return np.abs(standardized(found).T @ true / len(true)).max(axis=0)


def separator(n_components, **parameters):
    return StrTransformer(n_components, random_state=0, **{"max_iter": 300, **parameters})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("noise", "tolerance"), [(0.0, 1e-2), (0.1, 1e-1)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rotated_sources(seed, noise, tolerance, dtype):
    channels, sources = rotated(seed, noise)
    channels = channels.astype(dtype)
    estimator = separator(2)
    found = estimator.fit_transform(channels)
    assert found.shape == (N_SAMPLES, 2) and found.dtype == dtype
    assert estimator.components_.shape == estimator.mixing_.shape == (2, 2)
    assert_allclose(agreement(found, sources), 1, atol=tolerance)
    small = np.abs(found).max() * (1e-5 if dtype == np.float32 else 1e-7)
    assert_allclose((channels - estimator.mean_) @ estimator.components_.T, found, atol=small)
    assert_allclose(estimator.transform(channels), found, atol=small)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_more_channels_than_sources(seed, noise):
    channels, sources = six_channels(seed, noise)
    estimator = separator(2)
    found = estimator.fit_transform(channels)
    assert_allclose(estimator.transform(channels), found, atol=1e-10)
    if noise == 0.0:
        assert_allclose(agreement(found, sources), 1, atol=1e-3)


def test_too_few_iterations_warn():
    channels, _ = six_channels(0, 0.0)
    with pytest.warns(ConvergenceWarning, match="not converged"):
        separator(2, max_iter=2, tol=0.0).fit(channels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_components", [5, 10])
def test_fit_transform_inverse_and_variance_on_uniform_noise(dtype, n_components):
    noise = np.random.RandomState(0).random_sample((100, 10)).astype(dtype)
    estimator = separator(n_components, max_iter=20)
    found = estimator.fit_transform(noise)
    assert found.shape == (100, n_components) and estimator.components_.shape == (n_components, 10)
    assert estimator.mixing_.shape == (10, n_components)
    for name in ("components_", "mixing_", "mean_", "whitening_"):
        assert getattr(estimator, name).dtype == dtype, name
    again = separator(n_components, max_iter=20).fit(noise).transform(noise)
    assert_allclose(found, again, rtol=1e-7, atol=np.abs(again).mean() / 1e6)
    # Variance 1, up to the ε by which sources are standardised.
    assert np.var(found) == pytest.approx(1.0, rel=1e-4)
    rebuilt = estimator.inverse_transform(found)
    assert rebuilt.shape == noise.shape
    if n_components == 10:
        assert_allclose(noise, rebuilt, atol=np.abs(rebuilt).mean() / 1e5)


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
@pytest.mark.parametrize(("noise", "tolerance"), [(0.0, 1e-2), (0.1, 1e-1)])
def test_switches_of_fastica(algorithm, fun, noise, tolerance):
    channels, sources = rotated(0, noise)
    estimator = FastICA(2, algorithm=algorithm, fun=fun, random_state=0)
    found = estimator.fit_transform(channels)
    assert_allclose(agreement(found, sources), 1, atol=tolerance)
    assert_allclose(estimator.transform(channels), found, atol=1e-7 * np.abs(found).max())


def test_what_fastica_refuses_and_warns_of():
    noise = np.random.RandomState(0).random_sample((50, 3))
    with pytest.raises(ValueError, match="fun = 'tanh': expected one of logcosh, exp, cube"):
        FastICA(fun="tanh").fit(noise)
    with pytest.raises(ValueError, match=r"w_init has invalid shape \(4, 4\): should be \(3, 3\)"):
        FastICA(w_init=np.eye(4)).fit(noise)
    with pytest.warns(
        ConvergenceWarning,
        match="FastICA did not converge.*not converged: iteration limit reached after 2 iterations",
    ):
        FastICA(max_iter=2, tol=1e-15, random_state=0).fit(noise)
    low_rank = np.random.RandomState(0).standard_normal((10, 2)) @ np.ones((2, 10))
    with pytest.raises(ValueError, match="rank"):
        FastICA(10).fit(low_rank)
