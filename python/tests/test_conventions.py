"""Conventions of scikit-learn that are more than its checks: what ``score`` measures, shares of the
variance, warnings at the line of the user, and pickles.
"""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from strtransformer import StrTransformer, load, metrics
from strtransformer.baselines import SOBI, FastICA
from strtransformer.datasets import make_mixture


@pytest.fixture(scope="module")
def six():
    """Three sources in six channels of very different scales."""
    X = make_mixture("ar", n_samples=600, n_channels=6, noise=0.3, random_state=2).observations
    return X * np.array([1.0, 10.0, 0.1, 1.0, 5.0, 100.0]) + 3.0


@pytest.mark.parametrize("n_components", [1, 3, 6])
def test_score_is_the_likelihood_of_a_gaussian(six, n_components):
    stats = pytest.importorskip("scipy.stats")
    train, test = six[:400], six[400:]
    estimator = StrTransformer(n_components, preset="fast").fit(train)
    scale = train.std(axis=0)
    variances, axes = np.linalg.eigh(np.cov(((train - train.mean(axis=0)) / scale).T, bias=True))
    variances = variances.copy()
    left_out = slice(0, 6 - n_components)  # in ascending order
    if n_components < 6:
        variances[left_out] = variances[left_out].mean()
    covariance = np.outer(scale, scale) * ((axes * variances) @ axes.T)
    gaussian = stats.multivariate_normal(train.mean(axis=0), covariance)
    assert estimator.score(test) == pytest.approx(gaussian.logpdf(test).mean(), rel=1e-6)
    gappy = test.copy()
    gappy[5, 2] = np.nan
    assert estimator.score(gappy) == pytest.approx(
        gaussian.logpdf(np.delete(test, 5, axis=0)).mean(), rel=1e-6
    )
    with pytest.raises(ValueError, match="expected rows that have every channel"):
        estimator.score(np.full((3, 6), np.nan))


def test_score_chooses_the_number_of_sources(six):
    search = GridSearchCV(
        StrTransformer(preset="fast"), {"n_components": range(1, 7)}, cv=TimeSeriesSplit(3)
    ).fit(six)
    assert search.best_params_ == {"n_components": 3}


def test_score_of_a_loaded_model_is_the_same(six, tmp_path):
    estimator = StrTransformer(3, preset="fast", random_state=0).fit(six)
    estimator.save(tmp_path / "run.strt")
    assert load(tmp_path / "run.strt").score(six) == pytest.approx(estimator.score(six))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_nonlinear_mixer_is_scored_by_the_variance_that_it_explains(quick, problem):
    X = problem.observations
    estimator = StrTransformer(3, mixer="mlp", random_state=0, **quick).fit(X)
    rebuilt = estimator.inverse_transform(estimator.transform(X))
    assert estimator.score(X) == pytest.approx(metrics.explained_variance(X, rebuilt))


def test_components_as_a_share_of_the_variance(six):
    scaled = (six - six.mean(axis=0)) / six.std(axis=0)
    shares = np.cumsum(np.linalg.eigvalsh(scaled.T @ scaled)[::-1]) / scaled.size
    for number in range(1, 6):
        just_below, above = shares[number - 1] - 1e-6, shares[number - 1] + 1e-6
        for share, expected in [(just_below, number), (above, number + 1)]:
            fitted = StrTransformer(float(share), preset="fast").fit(six)
            assert fitted.components_.shape[0] == expected
            assert SOBI(float(share)).fit(six).components_.shape[0] == expected
    for wrong in (0.0, 1.0, 1.5, -0.5):
        with pytest.raises(ValueError, match=f"n_components = {wrong}: expected a whole number"):
            StrTransformer(wrong).fit(six)


def line_of_warning(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    (warning,) = told
    return warning


def test_warnings_point_at_the_line_of_the_user(six):
    few, short = dict(max_iter=1, tol=1e-12, random_state=0), six[:20]
    ours = StrTransformer(2, preset="fast", random_state=0, max_iter=0)
    for call in [
        lambda: FastICA(**few).fit(six),
        lambda: FastICA(**few).fit_transform(six),
        lambda: FastICA(**few).set_output(transform="pandas").fit_transform(six),
        lambda: make_pipeline(StandardScaler(), FastICA(**few)).fit(six),
        lambda: make_pipeline(StandardScaler(), FastICA(**few)).fit_transform(six),
        lambda: ours.fit(short),
        lambda: ours.fit_transform(short),
        lambda: make_pipeline(StandardScaler(), ours).fit_transform(short),
    ]:
        warning = line_of_warning(call)
        assert warning.filename == __file__, warning
        assert warning.lineno == call.__code__.co_firstlineno


@pytest.mark.parametrize("preset", ["default", "fast", "paper"])
@pytest.mark.filterwarnings("ignore")
def test_pickles_are_small_and_lose_nothing(six, preset):
    estimator = StrTransformer(3, preset=preset, max_iter=5, random_state=0)
    assert len(pickle.dumps(estimator)) < 1000
    estimator.fit(six.astype(np.float32))
    stored = pickle.dumps(estimator)
    model = len(estimator.model_.to_bytes())
    assert len(stored) < (0.5 if preset != "fast" else 1.1) * model
    again = pickle.loads(stored)
    assert vars(again).keys() == vars(estimator).keys()
    assert again.model_.to_bytes() == estimator.model_.to_bytes()
    for name in ("components_", "mixing_", "mean_", "whitening_", "scale_centers_"):
        assert getattr(again, name).dtype == getattr(estimator, name).dtype
        assert_array_equal(getattr(again, name), getattr(estimator, name))
    for name, values in estimator.history_.items():
        assert_array_equal(again.history_[name], values)
    assert (again.seed_, again.config_) == (estimator.seed_, estimator.config_)
    assert_array_equal(again.transform(six), estimator.transform(six))


@pytest.mark.filterwarnings("ignore")
def test_fit_transform_is_transform_and_sources_are_as_they_were_optimised(six):
    free = StrTransformer(3, preset="paper", max_iter=20, random_state=0)
    mapped = free.fit_transform(six)
    assert_allclose(mapped, free.transform(six))
    assert free.sources_.shape == mapped.shape
    assert np.abs(free.sources_ - mapped).max() > 1e-6
    assert_array_equal(free.sources_, free.model_.sources)
    assert not hasattr(StrTransformer(), "sources_")
    usual = StrTransformer(3, max_iter=5, random_state=0)
    assert_array_equal(usual.fit_transform(six), usual.sources_)
