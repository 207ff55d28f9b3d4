"""The estimator: shapes, attributes, inputs, and what it refuses."""

import pickle
import warnings

import joblib
import numpy as np
import pandas
import polars
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import strtransformer
from strtransformer import Recording, StrTransformer
from strtransformer.datasets import make_mixture
from strtransformer.metrics import explained_variance, mac

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_a_short_run_recovers_the_sources(problem):
    separator = StrTransformer(3, random_state=0, max_iter=300)
    sources = separator.fit_transform(problem.observations)
    assert mac(sources, problem.sources) > 0.99
    rebuilt = separator.inverse_transform(sources)
    assert explained_variance(problem.observations, rebuilt) > 0.99


def test_attributes_have_the_documented_shapes_and_relations(problem, quick):
    X = 50.0 + 3.0 * problem.observations
    separator = StrTransformer(2, random_state=0, **quick)
    sources = separator.fit_transform(X)
    assert sources.shape == (200, 2)
    shapes = dict(
        components_=(2, 4), mixing_=(4, 2), mean_=(4,), whitening_=(2, 4), scale_centers_=(2,)
    )
    shapes |= dict(expected_patch_size_=(2,), locality_slope_=(2,))
    for name, shape in shapes.items():
        assert getattr(separator, name).shape == shape, name
    assert (separator.n_iter_, separator.stop_reason_, separator.converged_) == (
        12,
        "step_limit",
        False,
    )
    assert separator.n_features_in_ == 4 and separator.seed_ == 0
    assert np.all(np.diff(separator.scale_centers_) > 0) and np.all(
        np.diff(separator.locality_slope_) < 0
    )
    assert np.isfinite(separator.assignment_margin_) and np.isfinite(separator.objective_)
    assert separator.config_["branches"]["patch_sizes"] == [4, 8]
    assert separator.config_["n_sources"] == 2

    assert_allclose(separator.transform(X), sources, atol=1e-12)
    assert_allclose((X - separator.mean_) @ separator.components_.T, sources, atol=1e-10)
    assert_allclose(
        separator.inverse_transform(sources),
        sources @ separator.mixing_.T + separator.mean_,
        rtol=1e-12,
    )
    white = (X - separator.mean_) @ separator.whitening_.T
    assert_allclose(white.T @ white / 200, np.eye(2), atol=1e-10)
    assert_allclose(sources.mean(axis=0), 0, atol=1e-10)
    assert_allclose(sources.std(axis=0), 1, rtol=1e-4)


def test_history_holds_every_tenth_step_by_name(problem, quick):
    separator = StrTransformer(3, random_state=0, n_restarts=2, **quick).fit(problem.observations)
    history = separator.history_
    assert_array_equal(history["step"], [1, 10, 12, 1, 10, 12])
    assert_array_equal(history["restart"], [0, 0, 0, 1, 1, 1])
    for name in ("objective", "reconstruction", "structure", "gradient_norm", "assignment_margin"):
        assert history[name].shape == (6,) and np.isfinite(history[name]).all(), name
    assert history["scale_centers"].shape == (6, 3) and history["energy"].shape == (6, 3, 2)
    assert_allclose(history["scale_weights"].sum(axis=2), 1)
    assert [restart["restart"] for restart in separator.restarts_] == [0, 1]
    assert separator.objective_ == min(restart["objective"] for restart in separator.restarts_)


def test_as_many_sources_as_channels_unless_told_otherwise(problem, quick):
    assert StrTransformer(**quick).fit(problem.observations).components_.shape == (4, 4)
    # Three sources and a little noise in four channels: the eigenvalues tell.
    assert StrTransformer("auto", **quick).fit(problem.observations).components_.shape == (3, 4)
    config = {"n_sources": 2, **quick.pop("config")}
    assert StrTransformer(config=config, **quick).fit(problem.observations).components_.shape == (
        2,
        4,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mixer", ["affine", "mlp"])
def test_the_dtype_is_kept(problem, quick, dtype, mixer):
    X = problem.observations.astype(dtype)
    separator = StrTransformer(2, mixer=mixer, random_state=0, **quick)
    sources = separator.fit_transform(X)
    assert sources.dtype == dtype and separator.transform(X).dtype == dtype
    assert separator.inverse_transform(sources).dtype == dtype
    assert separator.mean_.dtype == dtype and separator.whitening_.dtype == dtype
    # The numbers are those of the same values as float64.
    again = StrTransformer(2, mixer=mixer, random_state=0, **quick).fit_transform(
        X.astype(np.float64)
    )
    assert_array_equal(sources, again.astype(dtype))


def test_a_nonlinear_mixer_has_no_matrix_but_a_map(problem, quick):
    X = problem.observations
    separator = StrTransformer(3, mixer="mlp", random_state=0, **quick)
    sources = separator.fit_transform(X)
    assert not hasattr(separator, "mixing_") and not hasattr(separator, "components_")
    assert_allclose(separator.transform(X), sources, atol=1e-9)
    assert_allclose(separator.transform(X[50:51]), sources[50:51], atol=1e-9)
    # It is no matrix: half a sample from the mean has not half the source.
    mean, far = separator.transform(separator.mean_[None]), separator.mean_ + 2 * (
        X[50:51] - separator.mean_
    )
    assert not np.allclose(separator.transform(far) - mean, 2 * (sources[50:51] - mean), rtol=1e-6)
    again = pickle.loads(pickle.dumps(separator))
    assert_array_equal(again.transform(X), separator.transform(X))


def test_sources_that_are_free_in_every_sample_are_optimised_for_new_data(problem, quick):
    X = problem.observations
    config = {**quick["config"], "sources.coordinates": "fiber"}
    separator = StrTransformer(3, mixer="mlp", random_state=0, **{**quick, "config": config})
    sources = separator.fit_transform(X)
    assert (
        sources.shape == (200, 3)
        and not hasattr(separator, "mixing_")
        and not hasattr(separator, "components_")
    )
    assert_allclose(separator.mean_, X.mean(axis=0), atol=1e-12)
    moved = separator.transform(X, max_iter=5)
    assert moved.shape == (200, 3) and np.isfinite(moved).all()
    assert not np.array_equal(moved, separator.transform(X, max_iter=20))
    assert separator.inverse_transform(sources).shape == X.shape
    assert separator.score(X) <= 1
    # Fitted again with an affine mixer it has one.
    assert separator.set_params(mixer="affine").fit(X).mixing_.shape == (4, 3)
    assert not hasattr(separator.set_params(mixer="mlp").fit(X), "mixing_")


def test_missing_samples_take_no_part(problem, quick):
    X = problem.observations.copy()
    X[20:40, 1] = np.nan
    separator = StrTransformer(3, random_state=0, **quick)
    sources = separator.fit_transform(X)
    gone = np.zeros(200, dtype=bool)
    gone[20:40] = True
    assert_array_equal(np.isnan(sources).any(axis=1), gone)
    assert_array_equal(np.isnan(separator.transform(X)).any(axis=1), gone)
    assert np.isnan(separator.transform(X[20:40])).all()
    assert np.isfinite(separator.mean_).all() and np.isfinite(separator.score(X))
    with pytest.raises(ValueError, match="infinity"):
        separator.fit(np.where(np.isnan(X), np.inf, X))


def test_frames_give_names_and_get_them_back(problem, quick):
    names = ["Fz", "Cz", "Pz", "Oz"]
    frame = pandas.DataFrame(problem.observations, columns=names)
    separator = StrTransformer(2, random_state=0, **quick)
    plain = clone(separator).fit_transform(problem.observations)
    assert_array_equal(separator.fit_transform(frame), plain)
    assert list(separator.feature_names_in_) == names
    assert list(separator.get_feature_names_out()) == ["strtransformer0", "strtransformer1"]
    assert separator.model_.channel_names == names

    table = polars.DataFrame(problem.observations, schema=names)
    assert_array_equal(clone(separator).fit_transform(table), plain)
    assert list(clone(separator).fit(table).feature_names_in_) == names

    for library, kind in (("pandas", pandas.DataFrame), ("polars", polars.DataFrame)):
        out = clone(separator).set_output(transform=library).fit_transform(frame)
        assert isinstance(out, kind) and list(out.columns) == ["strtransformer0", "strtransformer1"]
    with pytest.raises(ValueError, match="feature names"):
        separator.transform(frame[names[::-1]])


def test_recordings_are_taken_as_they_are(problem, quick):
    recording = Recording(problem.observations, channel_names=list("abcd"), sampling_rate=250.0)
    separator = StrTransformer(2, random_state=0, **quick)
    sources = separator.fit_transform(recording)
    assert_array_equal(sources, clone(separator).fit_transform(problem.observations))
    assert (
        separator.model_.channel_names == list("abcd") and separator.model_.sampling_rate == 250.0
    )
    assert_array_equal(separator.transform(recording), separator.transform(problem.observations))
    assert separator.fit(problem.observations, sampling_rate=100).model_.sampling_rate == 100.0


@pytest.mark.parametrize("mixer", ["affine", "mlp"])
def test_pickled_and_copied(problem, quick, mixer):
    X = problem.observations
    separator = StrTransformer(2, mixer=mixer, random_state=0, **quick)
    assert pickle.loads(pickle.dumps(separator)).get_params() == separator.get_params()
    separator.fit(X)
    again = pickle.loads(pickle.dumps(separator))
    assert_array_equal(again.transform(X), separator.transform(X))
    assert_array_equal(again.model_.sources, separator.model_.sources)
    for name, values in separator.history_.items():
        assert_array_equal(again.history_[name], values)
        assert_array_equal(again.model_.history[name], values)
    assert again.config_ == separator.config_ and again.n_iter_ == separator.n_iter_
    assert pickle.dumps(again.model_) == pickle.dumps(separator.model_)
    fresh = clone(separator)
    assert not hasattr(fresh, "model_") and fresh.get_params() == separator.get_params()


def test_fits_in_other_processes_are_the_same(problem, quick):
    X = problem.observations
    estimators = [StrTransformer(2, random_state=seed, **quick) for seed in range(3)]
    here = [clone(estimator).fit(X) for estimator in estimators]
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(estimator.fit)(X) for estimator in estimators)
    for a, b in zip(here, there):
        assert_array_equal(a.components_, b.components_)


def test_part_of_a_pipeline(problem, quick):
    pipeline = make_pipeline(StandardScaler(), StrTransformer(2, random_state=0, **quick))
    assert pipeline.fit_transform(problem.observations).shape == (200, 2)
    assert list(pipeline.get_feature_names_out()) == ["strtransformer0", "strtransformer1"]


def test_seeds(problem, quick):
    X = problem.observations

    def sources(random_state):
        return StrTransformer(2, random_state=random_state, **quick).fit(X)

    assert_array_equal(sources(7).components_, sources(7).components_)
    assert not np.array_equal(sources(7).components_, sources(8).components_)
    assert_array_equal(
        sources(np.random.RandomState(3)).components_, sources(np.random.RandomState(3)).components_
    )
    assert sources(np.random.default_rng(3)).seed_ == sources(np.random.default_rng(3)).seed_
    drawn = sources(None)
    assert drawn.seed_ != sources(None).seed_
    assert_array_equal(sources(drawn.seed_).components_, drawn.components_)
    config = {"seed": 7, **quick.pop("config")}
    assert_array_equal(
        StrTransformer(2, config=config, **quick).fit(X).components_,
        StrTransformer(
            2, random_state=7, config={k: v for k, v in config.items() if k != "seed"}, **quick
        )
        .fit(X)
        .components_,
    )


def test_the_number_of_threads_changes_nothing(problem, quick):
    quick.pop("n_jobs")
    results = [
        StrTransformer(3, random_state=0, n_jobs=n, **quick).fit(problem.observations)
        for n in (1, 2, 3, -1, None)
    ]
    for result in results[1:]:
        assert_array_equal(result.model_.sources, results[0].model_.sources)
        assert pickle.dumps(result.mixing_) == pickle.dumps(results[0].mixing_)


def test_a_run_that_has_not_converged_says_what_to_change(problem, quick):
    with pytest.warns(ConvergenceWarning, match=r"not converged: 12 steps.*; try max_iter=24"):
        StrTransformer(2, random_state=0, **quick).fit(problem.observations)
    # Nothing to say where it has: no angle between two lines is above 10 radians. The rate is
    # lowered three times, at steps 50, 75 and 100.
    quick["max_iter"] = 150
    config = {
        **quick.pop("config"),
        "optimizer.schedule.kind": "settle",
        "optimizer.early_stopping.least": 50,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        separator = StrTransformer(2, random_state=0, tol=10.0, config=config, **quick)
        separator.fit(problem.observations)
    assert separator.converged_ and separator.stop_reason_ == "settled" and separator.n_iter_ == 125
    config["optimizer.early_stopping.enabled"] = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        separator.fit(problem.observations)
    assert separator.converged_ and separator.stop_reason_ == "step_limit"
    assert separator.n_iter_ == 150


def test_the_preset_fast_takes_no_steps(problem, tmp_path):
    X = problem.observations
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        separator = StrTransformer(3, preset="fast", random_state=0, n_jobs=1).fit(X)
    assert (separator.n_iter_, separator.stop_reason_, separator.converged_) == (0, "settled", True)
    assert mac(separator.transform(X), problem.sources) > 0.95
    assert separator.config_["optimizer"]["steps"] == 0
    separator.save(tmp_path / "run")
    loaded = strtransformer.load(tmp_path / "run")
    assert_array_equal(loaded.transform(X), separator.transform(X))
    # The parameters of a loaded run repeat it.
    assert_array_equal(clone(loaded).fit(X).components_, separator.components_)
    with pytest.raises(ValueError, match="optimizer.steps"):
        StrTransformer(3, preset="fast", mixer="mlp").fit(X)


def test_divergence_is_reported(problem, quick):
    config = {
        **quick.pop("config"),
        "optimizer.rates.networks": 1e30,
        "optimizer.rates.fiber": 1e30,
    }
    with pytest.warns(
        ConvergenceWarning, match=r"diverged.*config=\{'optimizer.rates.fiber': 0.02"
    ):
        separator = StrTransformer(2, random_state=0, config=config, **quick).fit(
            problem.observations
        )
    assert separator.stop_reason_ == "diverged" and not separator.converged_
    assert separator.n_iter_ < 12 and np.isfinite(separator.model_.sources).all()


def test_settings_as_dict_text_and_file(problem, quick, tmp_path):
    X = problem.observations
    del quick["config"]
    text = "[branches]\npatch_sizes = [4, 8]\nd_model = 8\nn_heads = 2\n"
    path = tmp_path / "settings.toml"
    path.write_text(text)
    nested = {
        "branches": {"patch_sizes": (4, np.int64(8)), "d_model": 8},
        "branches.n_heads": np.array(2),
    }
    dotted = {
        "branches.patch_sizes": [4, 8],
        "branches.d_model": 8,
        "branches.n_heads": 2,
        "weights.kappa": None,
    }
    fits = [
        StrTransformer(2, random_state=0, config=c, **quick).fit(X)
        for c in (nested, dotted, text, path, str(path))
    ]
    assert fits[0].config_["branches"]["patch_sizes"] == [4, 8]
    for fit in fits[1:]:
        assert fit.config_ == fits[0].config_
        assert_array_equal(fit.components_, fits[0].components_)
    paper = StrTransformer(2, preset="paper", random_state=0, **quick).fit(X)
    assert paper.config_["sources"]["coordinates"] == "direct"


def test_the_number_of_sources_is_estimated_and_explained():
    X = make_mixture("ar", n_samples=1000, n_channels=6, noise=0.1, random_state=1).observations
    separator = StrTransformer("auto", preset="fast", random_state=0).fit(X)
    count = separator.source_count_
    assert separator.components_.shape == (3, 6) and count["n_sources"] == 3
    assert count["shares"][0] == dict(n_sources=3, share=pytest.approx(1.0, abs=0.1))
    assert [component["kept"] for component in count["components"]] == [True, True, True, False]
    assert "3 of 6 channels' worth" in count["reasoning"]
    assert pickle.loads(pickle.dumps(separator)).source_count_ == count
    square = Recording(X[:, :3])
    assert square.count_sources()["n_sources"] == 3
    assert square.count_sources("mdl")["n_sources"] == square.count_sources()["by_eigenvalues"] == 2
    with pytest.raises(ValueError, match="expected 'auto' or 'mdl', got \"bic\""):
        square.count_sources("bic")
    assert StrTransformer(2, preset="fast").fit(X).source_count_ is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (dict(n_components=0), "n_components = 0: expected a whole number of at least 1"),
        (dict(n_components=2.5), "n_components = 2.5"),
        (dict(n_components="many"), "'auto', 'mdl' or None"),
        (dict(n_components=5), "5 sources were asked for"),
        (dict(mixer="linear"), "expected 'affine' .* or 'mlp'"),
        (dict(preset="best"), "expected 'default', 'fast' or 'paper'"),
        (dict(max_iter=-1), "max_iter = -1: expected a whole number of at least 0"),
        (dict(tol=-1.0), "early_stopping.tolerance"),
        (dict(n_restarts=0), "n_restarts = 0"),
        (dict(n_jobs=0), "n_jobs = 0"),
        (dict(n_jobs="two"), "n_jobs = 'two'"),
        (dict(callback=3), "callback = 3: expected a function"),
        (dict(random_state=-1), "random_state = -1"),
        (dict(config={"weights.smothness": 1}), "did you mean `weights.smoothness`"),
        (dict(config={"weights": {"smothness": 1}}), "did you mean `weights.smoothness`"),
        (dict(config={"branches.mask_ratio": 2.0}), "branches.mask_ratio = 2"),
        (dict(config={"mixer.kind": "mlp"}), "say it once"),
        (dict(config={"optimizer.steps": 5}, max_iter=6), "max_iter = 6.*optimizer.steps"),
        (dict(config={"seed": 5}, random_state=6), "random_state = 6.*seed"),
        (dict(config={"weights": {"gap": 1}, "weights.gap": 2}), "given twice"),
        (dict(config={"weights.gap": object()}), "expected a number"),
        (dict(config={3: 1}), "as keys"),
        (dict(config=7), "a dict, a TOML text or the path"),
        (dict(config="seed = = 3"), "config: line 1"),
        (
            dict(config={"branches.patch_sizes": [4, 128]}),
            "200 samples are too few for patches of 128",
        ),
    ],
)
def test_what_cannot_run_is_refused(problem, parameters, message):
    with pytest.raises(ValueError, match=message):
        StrTransformer(**{"max_iter": 2, "n_jobs": 1, **parameters}).fit(problem.observations)


def test_a_configuration_that_is_not_there():
    with pytest.raises(FileNotFoundError, match="nowhere.toml"):
        StrTransformer(2, config="nowhere.toml").fit(np.eye(40, 2))


def test_arrays_that_cannot_be_used(problem, quick):
    separator = StrTransformer(2, random_state=0, **quick)
    with pytest.raises(NotFittedError):
        separator.transform(problem.observations)
    with pytest.raises(ValueError, match="1 sample"):
        separator.fit(problem.observations[:1])
    with pytest.raises(ValueError, match="Expected 2D"):
        separator.fit(problem.observations[:, 0])
    with pytest.raises(ValueError, match="rank"):
        separator.fit(np.repeat(problem.observations[:, :1], 3, axis=1))
    separator.fit(problem.observations)
    with pytest.raises(ValueError, match="3 features"):
        separator.transform(problem.observations[:, :3])
    with pytest.raises(ValueError, match="expected 2 columns, one a source, found 3"):
        separator.inverse_transform(np.zeros((5, 3)))


def test_short_recordings_leave_out_patch_sizes_or_are_refused(problem):
    separator = StrTransformer(2, random_state=0, max_iter=3, n_jobs=1)
    with pytest.warns(UserWarning, match="30 samples are too few for two patches of 16 samples"):
        separator.fit(problem.observations[:30])
    assert separator.config_["branches"]["patch_sizes"] == [4, 8]
    with pytest.raises(ValueError, match="7 samples are too few for patches of 4"):
        separator.fit(problem.observations[:7])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (dict(mixer=None), "mixer = None: expected 'affine' or 'mlp'"),
        (dict(preset=None), "preset = None: expected 'default', 'fast' or 'paper'"),
        (dict(tol="a"), "tol = 'a': expected a finite number"),
        (dict(n_jobs=True), "n_jobs = True: expected a positive whole number"),
        (dict(random_state=2**63), r"random_state = 9223372036854775808: .*, below 2\*\*63"),
    ],
)
def test_wrong_kinds_are_named(problem, parameters, message):
    with pytest.raises(ValueError, match=message):
        StrTransformer(2, **parameters).fit(problem.observations)


def test_the_sampling_rate_is_checked_for_recordings_too(problem, quick):
    for X in (problem.observations, Recording(problem.observations, sampling_rate=5.0)):
        with pytest.raises(ValueError, match="sampling rate 0: expected a finite number above 0"):
            StrTransformer(2, **quick).fit(X, sampling_rate=0)
        with pytest.raises(ValueError, match="sampling_rate = 'a': expected a finite number"):
            StrTransformer(2, **quick).fit(X, sampling_rate="a")


def test_masked_entries_are_missing(problem, quick):
    masked = np.ma.masked_array(problem.observations.copy(), mask=np.zeros((200, 4), bool))
    masked[50:53, 1] = np.ma.masked
    separator = StrTransformer(2, random_state=0, **quick)
    sources = separator.fit_transform(masked)
    assert_array_equal(np.flatnonzero(np.isnan(sources).any(axis=1)), [50, 51, 52])
    assert_array_equal(sources, separator.fit_transform(masked.filled(np.nan)))
    assert_array_equal(np.isnan(separator.transform(masked)), np.isnan(sources))
    whole = np.ma.masked_array(np.arange(800).reshape(200, 4) ** 2 % 97, mask=masked.mask)
    assert (
        np.isnan(StrTransformer(2, random_state=0, **quick).fit_transform(whole)).any(axis=1).sum()
        == 3
    )


def test_a_query_is_not_data(problem, quick):
    with pytest.raises(TypeError, match=r"give X.collect\(\)"):
        StrTransformer(2, **quick).fit(polars.DataFrame(problem.observations).lazy())


def test_a_failed_refit_leaves_everything_as_it_was(problem, quick):
    frame = pandas.DataFrame(problem.observations, columns=list("abcd"))
    separator = StrTransformer(2, random_state=0, **quick).fit(frame)
    before = dict(vars(separator))
    separator.set_params(n_components=9)
    with pytest.raises(ValueError):
        separator.fit(problem.observations[:, :3])
    separator.set_params(n_components=2)
    assert vars(separator).keys() == before.keys() and separator.n_features_in_ == 4
    assert list(separator.feature_names_in_) == list("abcd")
    separator.transform(frame)


def test_the_order_of_channels_is_checked(problem, quick, tmp_path):
    X = problem.observations
    named, turned = Recording(X, list("abcd")), Recording(X[:, ::-1], list("dcba"))
    separator = StrTransformer(2, random_state=0, **quick).fit(named)
    separator.save(tmp_path / "run")
    loaded = strtransformer.load(tmp_path / "run")
    assert list(loaded.feature_names_in_) == list("abcd")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = separator.transform(named)
        assert_array_equal(loaded.transform(named), expected)
        assert_array_equal(loaded.transform(pandas.DataFrame(X, columns=list("abcd"))), expected)
        assert_array_equal(loaded.transform(Recording(X)), expected)
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(pandas.DataFrame(X, columns=list("dcba")))
    for estimator in (separator, loaded):
        for call in (
            estimator.transform,
            estimator.score,
            lambda Y: estimator.save(tmp_path / "x", X=Y),
        ):
            with pytest.raises(
                ValueError, match="training data in their order, a, b, c, d, got d, c, b, a"
            ):
                call(turned)
    with pytest.raises(ValueError, match="3 features"):
        separator.transform(Recording(X[:, :3]))
    separator.fit(X).save(tmp_path / "plain")
    assert not hasattr(strtransformer.load(tmp_path / "plain"), "feature_names_in_")


def test_denoised_sources(problem, quick):
    X = problem.observations.copy()
    X[50:55] = np.nan
    separator = StrTransformer(3, random_state=0, **quick).fit(X)
    clean, std = separator.denoise(return_std=True)
    assert clean.shape == std.shape == (len(X), 3)
    assert np.isfinite(clean).all() and (std > 0).all()
    # Gaps are less certain than what was seen.
    assert (std[52] > np.median(std, axis=0)).all()
    np.testing.assert_array_equal(separator.denoise(X), clean)
    again = pickle.loads(pickle.dumps(separator))
    np.testing.assert_array_equal(again.denoise(X), clean)
    with pytest.raises(ValueError, match="give it as `X`"):
        again.denoise()
    with pytest.raises(ValueError, match="mixer.kind"):
        StrTransformer(3, mixer="mlp", random_state=0, **quick).fit(X).denoise()


def test_verdicts(tmp_path):
    X = make_mixture("ar", n_samples=1000, n_sources=2, n_channels=4).observations
    separator = StrTransformer(2, preset="fast", random_state=0).fit(X)
    verdicts = separator.verdicts_
    assert verdicts is separator.verdicts_  # worked out once
    assert [verdict["source"] for verdict in verdicts] == ["s1", "s2"]
    for verdict in verdicts:
        assert verdict["finding"] == "resolved"
        assert verdict["mixed_with"] == []
        assert 0 < verdict["interference"] < 0.3
        assert verdict["found_again"] > 0.9
        assert verdict["restarts"] is None and verdict["reruns"] is None
    again = separator.verdicts(replicates=0, reruns=1)
    assert [verdict["reruns"] for verdict in again] == [1.0, 1.0]
    assert [verdict["found_again"] for verdict in again] == [None, None]
    unpickled = pickle.loads(pickle.dumps(separator))
    with pytest.raises(ValueError, match="give it as `X`"):
        unpickled.verdicts()
    assert unpickled.verdicts(X) == verdicts


def test_labels():
    t = np.arange(5000) / 250
    hum, wave = np.sin(2 * np.pi * 50 * t), np.sin(2 * np.pi * 7.3 * t)
    X = np.c_[hum + 0.5 * wave, wave - 0.4 * hum]
    separator = StrTransformer(2, preset="fast", random_state=0)
    labels = separator.fit(Recording(X, sampling_rate=250.0)).labels_
    assert labels is separator.labels_  # worked out once
    assert [label["source"] for label in labels] == ["s1", "s2"]
    assert sorted(label["label"] for label in labels) == ["line noise, 50 Hz", "rhythm, 7.3 Hz"]
    assert {label["kind"] for label in labels} == {"line noise", "rhythm"}
    assert all(0.5 <= label["confidence"] <= 1 and label["reason"] for label in labels)
    unpickled = pickle.loads(pickle.dumps(separator))
    assert unpickled.labels(Recording(X, sampling_rate=250.0)) == labels
    with pytest.raises(ValueError, match="give it as `X`"):
        unpickled.labels()
    with pytest.raises(ValueError, match="samples of the recording"):
        unpickled.labels(X[:100])
    noise = np.cumsum(np.random.default_rng(0).standard_normal((400, 2)) ** 3, axis=0) % 7
    silent = StrTransformer(2, preset="fast", random_state=0).fit(noise).labels_
    assert all((label["label"] is None) == (label["reason"] is None) for label in silent)
