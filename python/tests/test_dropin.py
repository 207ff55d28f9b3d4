"""``baselines.FastICA``, ``fastica``, ``Picard`` and ``picard`` in the place of scikit-learn's and
python-picard's: their parameters, what the functions return, and scikit-learn's own tests.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.decomposition
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from strtransformer.baselines import DensityError, FastICA, Picard, fastica, picard
from strtransformer.metrics import amari_distance

DROPIN = Path(__file__).resolve().parents[1] / "tools" / "dropin.py"


@pytest.fixture(scope="module")
def mixture():
    """Laplace sources in as many channels: samples, mixing."""
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((3, 3))
    return rng.laplace(size=(2000, 3)) @ mixing.T + 5.0, mixing


def test_scikit_learns_own_tests():
    done = subprocess.run(
        [sys.executable, str(DROPIN), "--only", "sklearn"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fails rightly: " in done.stdout and "FAILS" not in done.stdout


def aligned(components):
    """Rows in an order and with signs of their own."""
    largest = components[np.arange(len(components)), np.abs(components).argmax(axis=1)]
    signed = components * np.sign(largest)[:, None]
    return signed[np.argsort(signed[:, 0])]


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_the_answer_is_scikit_learns(mixture, algorithm, fun):
    X, _ = mixture
    options = dict(algorithm=algorithm, fun=fun, tol=1e-10, max_iter=500, random_state=0)
    ours, theirs = FastICA(**options).fit(X), sklearn.decomposition.FastICA(**options).fit(X)
    assert_allclose(aligned(ours.components_), aligned(theirs.components_), atol=1e-4)
    assert_allclose(ours.mean_, theirs.mean_)


def cube(u, power=3):
    return u**power, (power * u ** (power - 1)).mean(axis=-1)


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_a_function_is_the_contrast_that_it_computes(mixture, algorithm):
    X, _ = mixture
    first = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    options = dict(algorithm=algorithm, w_init=first, tol=1e-12)
    named = FastICA(fun="cube", **options).fit(X)
    own = FastICA(fun=cube, fun_args={"power": 3}, **options).fit(X)
    assert own.n_iter_ == named.n_iter_
    assert_allclose(own.components_, named.components_, atol=1e-8)
    sloped = FastICA(fun_args={"alpha": 1.5}, **options).fit(X)
    plain = FastICA(**options).fit(X)
    assert 1e-6 < np.abs(sloped.components_ - plain.components_).max() < 0.2


def test_wrong_functions_and_options_are_refused(mixture):
    X, _ = mixture
    for options, message in [
        (dict(fun=np.tanh), r"expected .* mean of g'\(u\) over the last axis"),
        (dict(fun=lambda u: (u, u)), r"of shape \(3,\), got \(3, 2000\) and \(3, 2000\)"),
        (dict(fun="tanh"), "fun = 'tanh': expected one of logcosh, exp, cube, or a function"),
        (dict(fun_args={"alpha": 3}), r"alpha must be in \[1,2\]"),
        (dict(whiten="yes"), "whiten = 'yes': expected 'unit-variance'"),
        (dict(whiten_solver="qr"), "whiten_solver = 'qr': expected one of svd, eigh"),
        (dict(algorithm="both"), "algorithm = 'both': expected one of parallel, deflation"),
    ]:
        with pytest.raises(ValueError, match=message):
            FastICA(**options).fit(X)

    def broken(u):
        raise RuntimeError("of the caller")

    with pytest.raises(RuntimeError, match="of the caller"):
        FastICA(fun=broken).fit(X)


@pytest.mark.parametrize("kind", [FastICA, Picard])
def test_ways_of_whitening(mixture, kind):
    X, mixing = mixture
    unit = kind(whiten="unit-variance", random_state=0).fit(X)
    assert_allclose(unit.transform(X).std(axis=0), 1)
    white = (X - unit.mean_) @ unit.whitening_.T
    assert_allclose(white.T @ white / len(X), np.eye(3), atol=1e-8)
    assert_allclose(unit._unmixing @ unit.whitening_, unit.components_, atol=1e-12)
    arbitrary = kind(whiten="arbitrary-variance", random_state=0).fit(X)
    assert_allclose((arbitrary.transform(X) ** 2).sum(axis=0), 1)
    assert_allclose(arbitrary.inverse_transform(arbitrary.transform(X)), X, atol=1e-8)
    with pytest.warns(UserWarning, match="Ignoring n_components with whiten=False"):
        none = kind(2, whiten=False, random_state=0).fit(white)
    assert not hasattr(none, "whitening_") and none.components_.shape == (3, 3)
    assert amari_distance(none.components_ @ unit.whitening_, mixing) < 0.1
    assert_allclose(none.transform(white), white @ none.components_.T)


def test_a_start_has_one_row_a_source(mixture):
    """One that is the answer stays where it is, which its transpose would not."""
    X, _ = mixture
    found = FastICA(tol=1e-10, random_state=0).fit(X)
    answer = found._unmixing
    with pytest.warns(ConvergenceWarning):
        stayed = FastICA(w_init=answer, max_iter=1, tol=0.0).fit(X)
    assert_allclose(stayed.components_, found.components_, atol=1e-4)
    with pytest.warns(ConvergenceWarning):
        moved = FastICA(w_init=answer.T, max_iter=1, tol=0.0).fit(X)
    assert np.abs(moved.components_ - found.components_).max() > 0.1


def test_the_function_returns_what_scikit_learns_does(mixture):
    X, _ = mixture
    K, W, S, mean, n_iter = fastica(X, 2, random_state=0, return_X_mean=True, return_n_iter=True)
    assert K.shape == (2, 3) and W.shape == (2, 2) and n_iter >= 1
    assert_allclose((X - mean) @ (W @ K).T, S, atol=1e-10)
    assert fastica(X, 2, random_state=0, compute_sources=False)[2] is None
    X = X.copy()
    X[7] = np.nan
    assert np.isnan(fastica(X, 2, random_state=0)[2][7]).all()


class Tanh:
    """The density of the library, as an object."""

    def log_lik(self, Y):
        return np.log(np.cosh(Y))

    def score_and_der(self, Y):
        return np.tanh(Y), 1 - np.tanh(Y) ** 2


@pytest.mark.parametrize("ortho", [True, False])
def test_a_density_of_the_callers_own(mixture, ortho):
    X, _ = mixture
    options = dict(ortho=ortho, extended=True, random_state=0)
    named, own = Picard(**options).fit(X), Picard(fun=Tanh(), **options).fit(X)
    assert own.converged_
    assert_allclose(aligned(own.components_), aligned(named.components_), atol=1e-6)


def test_wrong_densities_are_refused(mixture):
    X, _ = mixture

    class Wrong(Tanh):
        def score_and_der(self, Y):
            return np.tanh(Y), 2 - np.tanh(Y) ** 2

    with pytest.raises(DensityError, match=r"expected score_and_der\(Y\)\[1\] to be the deriv"):
        Picard(fun=Wrong()).fit(X)
    with pytest.raises(AssertionError):
        picard(X.T, fun=Wrong())
    with pytest.raises(ValueError, match="it has no log_lik and no score_and_der"):
        Picard(fun=np.tanh).fit(X)
    with pytest.raises(ValueError, match="fun = 'logcosh': expected one of tanh, exp, cube"):
        Picard(fun="logcosh").fit(X)


@pytest.mark.parametrize("fun", ["tanh", "exp"])
def test_plain_infomax_is_where_its_gradient_vanishes(mixture, fun):
    X, mixing = mixture
    K, W, Y, mean, n_iter = picard(
        X.T, fun=fun, ortho=False, random_state=0, return_X_mean=True, return_n_iter=True
    )
    score = np.tanh(Y) if fun == "tanh" else Y * np.exp(-0.05 * Y**2)
    assert_allclose(score @ Y.T / Y.shape[1], np.eye(3), atol=1e-6)
    assert_allclose(W @ K @ (X.T - mean[:, None]), Y, atol=1e-9)
    assert 1 <= n_iter < 60
    if fun == "tanh":
        assert amari_distance(W @ K, mixing) < 0.1


def test_extended_follows_ortho_unless_it_is_given():
    rng = np.random.default_rng(3)
    mixing = rng.standard_normal((3, 3))
    flat = rng.uniform(-1, 1, size=(2000, 3)) @ mixing.T  # sub-Gaussian: only `extended` sees it
    for options, solved in [
        (dict(), True),
        (dict(ortho=False), False),
        (dict(ortho=False, extended=True), True),
    ]:
        found = Picard(random_state=0, **options).fit(flat)
        assert (amari_distance(found.components_, mixing) < 0.1) == solved, options


def test_picard_without_whitening_or_centering(mixture, capsys):
    X, mixing = mixture
    K, W, Y, mean = picard(
        X.T, ortho=False, whiten=False, return_X_mean=True, random_state=0, verbose=True
    )
    assert K is None and "gradient" in capsys.readouterr().out
    assert_allclose(mean, X.mean(axis=0))
    assert amari_distance(W, mixing) < 0.1
    with pytest.raises(ValueError, match="centering = False: expected True beside whiten=True"):
        picard(X.T, centering=False)
    with pytest.warns(UserWarning, match="Picard did not converge"):
        picard(X.T, max_iter=1, random_state=0)
