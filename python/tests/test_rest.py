"""Baselines, generators, metrics, and the package as a whole."""

import ast
import doctest
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import strtransformer
from strtransformer import _core, metrics
from strtransformer.baselines import (
    AMUSE,
    EFICA,
    JADE,
    NSS,
    SOBI,
    WASOBI,
    Fast,
    FastICA,
    MultiCombi,
    Picard,
)
from strtransformer.datasets import SOURCE_KINDS, make_mixture

METHODS = [
    Fast(3),
    FastICA(3, random_state=0),
    Picard(3, random_state=0),
    JADE(3),
    AMUSE(3),
    SOBI(3),
    NSS(3),
    WASOBI(3),
    EFICA(3, random_state=0),
    MultiCombi(3, random_state=0),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_a_baseline_unmixes(method):
    problem = make_mixture("nonsmooth", n_samples=2000, random_state=2)
    X = 10 + problem.observations
    found = method.fit_transform(X)
    if not isinstance(method, NSS):  # whose variances do not change here
        assert metrics.mac(found, problem.sources) > 0.9
    assert (
        method.mixing_.shape == (6, 3) and method.components_.shape == (3, 6) and method.converged_
    )
    assert_allclose(method.transform(X), found, atol=1e-10)
    assert_allclose(method.components_ @ method.mixing_, np.eye(3), atol=1e-10)
    assert_allclose(method.mean_, X.mean(axis=0), atol=1e-10)
    assert np.abs(method.inverse_transform(found) - X).max() < 0.2
    X[5, 0] = np.nan
    assert np.isnan(method.fit_transform(X)).any(axis=1).sum() == 1
    assert method.convergence_.startswith("converged")


def test_options_of_baselines_are_checked():
    X = make_mixture(n_samples=300).observations
    assert SOBI(3, lags=[1, 5]).fit(X).converged_ and AMUSE(3, lag=4).fit(X).n_iter_ == 1
    assert NSS(3, n_blocks=4, diagonalizer="orthogonal").fit(X).components_.shape == (3, 6)
    for method, message in [
        (AMUSE(3, lag=0), "lag = 0"),
        (SOBI(3, lags=[0]), "lags = 0"),
        (NSS(3, diagonalizer="jacobi"), "pham, orthogonal"),
        (WASOBI(3, order=0), "order = 0"),
        (WASOBI(3, largest_pole=1.0), "largest_pole = 1.0"),
        (EFICA(3, tol=-1e-9), "tolerance"),
        (MultiCombi(3, threshold=0.0), "threshold = 0.0"),
        (MultiCombi(3, order=400), "too few for multicombi"),
        (Picard(3, tol=-1.0), "tol = -1.0"),
        (JADE(1.5), "n_components = 1.5: expected a whole number of sources, or a share"),
        (JADE(7), "7 sources were asked for"),
    ]:
        with pytest.raises(ValueError, match=message):
            method.fit(X)


def test_generated_problems():
    for kind in SOURCE_KINDS:
        problem = make_mixture(kind, n_samples=300)
        assert problem.observations.shape == (300, 6) and problem.sources.shape == (300, 3)
    assert_allclose(problem.sources.std(axis=0), 1)
    exact = make_mixture("ar", noise=0.0, n_channels=4)
    assert_allclose(exact.sources @ exact.mixing.T, exact.observations, atol=1e-12)
    assert make_mixture("gp", mixing="pnl").mixing is None
    own = make_mixture("gp", sources=np.random.default_rng(0).laplace(size=(100, 2)))
    assert own.observations.shape == (100, 4)
    with pytest.raises(ValueError, match="expected one of gp, gpclose"):
        make_mixture("noise")
    with pytest.raises(ValueError, match="at least as many channels"):
        make_mixture(n_channels=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(n_samples=-5), "n_samples = -5: expected a whole number of at least 1"),
        (dict(n_samples=10.5), "n_samples = 10.5: expected a whole number"),
        (dict(n_sources="2"), "n_sources = '2': expected a whole number"),
        (dict(n_channels=-1), "n_channels = -1: expected a whole number"),
        (dict(noise=-0.1), "noise = -0.1: expected a finite number of at least 0"),
        (dict(random_state=None), "random_state = None: expected a whole number"),
        (dict(random_state=1.5), "random_state = 1.5: expected a whole number"),
        (dict(kind=None), "kind = None: expected one of gp"),
        (dict(mixing=3), "mixing = 3: expected a name"),
    ],
)
def test_wrong_sizes_of_problems_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_mixture(**arguments)


def test_masked_entries_are_missing_to_baselines_and_failures_change_nothing():
    X = np.ma.masked_array(make_mixture(n_samples=300).observations, mask=False)
    X[7, 0] = np.ma.masked
    method = SOBI(3).fit(X)
    assert_array_equal(np.flatnonzero(np.isnan(method.transform(X)).any(axis=1)), [7])
    with pytest.raises(ValueError):
        method.set_params(lags=[0]).fit(X[:, :4])
    assert method.n_features_in_ == 6 and method.transform(X).shape == (300, 3)
    with pytest.raises(ValueError, match="tol = 'a': expected a finite number"):
        JADE(3, tol="a").fit(X)


def test_scores():
    problem = make_mixture("ar", n_samples=500, n_channels=3)
    flipped = -2.0 * problem.sources[:, [2, 0, 1]]
    matching = metrics.match_sources(flipped, problem.sources)
    assert matching.matched == [2, 0, 1] and matching.mac == pytest.approx(1) == matching.worst
    assert_array_equal(matching.sign, [-1, -1, -1])
    assert_allclose(matching.per_source, 1)
    assert matching.correlations.shape == (3, 3)
    assert metrics.mac(flipped, problem.sources, method="rank") == pytest.approx(1)
    assert_allclose(metrics.align(flipped, problem.sources), problem.sources, atol=1e-10)
    noisy = problem.sources + 0.1 * np.random.default_rng(0).standard_normal((500, 3))
    assert_allclose(metrics.si_sdr(noisy, problem.sources), 20, atol=1.5)
    assert (
        np.isnan(metrics.si_sdr(np.column_stack([noisy, flipped[:, 0]]), problem.sources)).sum()
        == 1
    )
    reordered = problem.mixing[:, ::-1] * 3
    assert metrics.amari_distance(np.linalg.inv(reordered), problem.mixing) < 1e-12
    assert metrics.amari_from_mixing(reordered, problem.mixing) < 1e-12
    assert metrics.amari_distance(reordered.T, problem.mixing) == pytest.approx(
        metrics.amari_index(reordered.T @ problem.mixing)
    )
    with pytest.raises(ValueError, match="two mixings are compared by amari_from_mixing"):
        metrics.amari_distance(problem.mixing[:, :2], problem.mixing[:, :2])
    assert metrics.amari_index(np.ones((3, 3))) == pytest.approx(1)
    assert metrics.explained_variance(problem.observations, problem.observations) == 1
    assert metrics.temporal_predictability(problem.sources[:, 2]) > 0.9
    assert metrics.residual_dependence(problem.sources).shape == (3, 3)
    with pytest.raises(ValueError, match="order = -1: expected a whole number of at least 1"):
        metrics.temporal_predictability(problem.sources[:, 2], -1)
    with pytest.raises(ValueError, match="source: expected one source"):
        metrics.temporal_predictability(problem.sources)
    with pytest.raises(ValueError, match="'correlation' or 'rank'"):
        metrics.mac(noisy, problem.sources, method="best")
    with pytest.raises(ValueError):
        metrics.mac(noisy[:10], problem.sources)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def test_importing_loads_nothing_slow():
    code = (
        "import sys, strtransformer; print([m for m in ('numpy', 'sklearn', 'joblib', 'scipy',"
        " 'mne', 'pandas') if m in sys.modules])"
    )
    assert run(sys.executable, "-c", code).stdout.strip() == "[]"
    assert set(strtransformer.__all__) <= set(dir(strtransformer))
    assert all(
        getattr(strtransformer, name) is not None
        for name in ("StrTransformer", "read", "load", "metrics", "datasets")
    )
    with pytest.raises(AttributeError, match="no attribute 'Separator'"):
        strtransformer.Separator


def test_the_program_of_the_wheel(program, tmp_path):
    version = run(*program, "--version")
    assert (
        version.stdout.strip() == f"strt {strtransformer.__version__}" and version.returncode == 0
    )
    assert run(sys.executable, "-m", "strtransformer", "--version").stdout == version.stdout
    wrong = run(sys.executable, "-m", "strtransformer", "separate")
    assert wrong.returncode == 2 and "required" in wrong.stderr
    assert (
        run(sys.executable, "-m", "strtransformer", "info", str(tmp_path / "none.csv")).returncode
        == 1
    )


def test_the_stub_names_everything_that_the_module_has():
    stub = ast.parse((Path(strtransformer.__file__).parent / "_core.pyi").read_text())
    named = {}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            named[node.name] = {
                item.name for item in node.body if isinstance(item, ast.FunctionDef)
            }
        elif isinstance(node, ast.FunctionDef):
            named[node.name] = set()
        elif isinstance(node, ast.AnnAssign):
            named[node.target.id] = set()
    public = {name for name in vars(_core) if not name.startswith("_")} | {"__version__"}
    assert public - {"annotations"} == set(named) - {
        name for name in named if name.startswith("_") and name != "__version__"
    }
    for name, members in named.items():
        if members:
            there = {member for member in vars(getattr(_core, name)) if not member.startswith("_")}
            assert there == {member for member in members if not member.startswith("_")}, name


def test_every_public_thing_is_documented():
    for name in strtransformer.__all__:
        assert getattr(strtransformer, name).__doc__, name
    for module in (
        strtransformer.metrics,
        strtransformer.datasets,
        strtransformer.baselines,
        strtransformer.io,
    ):
        for name in module.__all__:
            assert getattr(module, name).__doc__, name
    assert_array_equal(sorted(_core.source_kinds()), sorted(SOURCE_KINDS))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_example_of_the_estimator_is_true():
    tests = doctest.DocTestFinder().find(strtransformer.StrTransformer, globs={})
    results = [doctest.DocTestRunner().run(test) for test in tests if test.examples]
    assert sum(result.attempted for result in results) >= 7
    assert sum(result.failed for result in results) == 0
