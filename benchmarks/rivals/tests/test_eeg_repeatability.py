"""The measures of `eeg_repeatability.py` where their values are known."""

from itertools import permutations

import eeg_repeatability as eeg
import numpy as np
import pytest


def test_agreement_matches_components_whatever_order_sign_and_scale():
    random = np.random.default_rng(0)
    x = random.normal(size=(2000, 3)) @ random.normal(size=(3, 3))
    covariance = np.cov(x, rowvar=False)
    one, two = random.normal(size=(2, 3, 3))
    again = one[[2, 0, 1]] * np.array([[-3.0], [0.1], [1.0]])
    assert eeg.agreement(one, again, covariance) == pytest.approx(1)
    # Against the correlation of the components themselves.
    a, b = x @ one.T, x @ two.T
    every = np.abs(np.corrcoef(a, b, rowvar=False)[:3, 3:])
    found = eeg.agreement(one, two, covariance)
    best = max(every[range(3), list(order)].sum() for order in permutations(range(3)))
    assert found.sum() == pytest.approx(best) and found.sum() < 2.99


def test_bits_removed_are_the_mutual_information_of_gaussians_whatever_the_scale():
    random = np.random.default_rng(1)
    correlation = 0.9
    mixing = np.array([[1, 0], [correlation, np.sqrt(1 - correlation**2)]])
    x = random.normal(size=(30_000, 2)) @ mixing.T
    expected = -0.5 * np.log2(1 - correlation**2)
    w = np.linalg.inv(mixing)
    assert eeg.bits_removed(x, w) == pytest.approx(expected, abs=0.02)
    scaled = w * np.array([[1000.0], [-0.001]])
    assert eeg.bits_removed(x, scaled) == pytest.approx(expected, abs=0.02)
    assert eeg.bits_removed(x, np.eye(2)) == pytest.approx(0)


def test_unmixing_is_exact_for_a_linear_map_and_says_what_is_left():
    random = np.random.default_rng(2)
    x, w = random.normal(size=(500, 3)) + 7, random.normal(size=(3, 3))
    found, left = eeg.unmixing(x, x @ w.T - 5)
    np.testing.assert_allclose(found, w, atol=1e-10)
    assert left < 1e-20
    assert 0.05 < eeg.unmixing(x, np.tanh(x - 7))[1] < 0.2


def test_a_run_that_failed_is_a_gap_of_the_table(monkeypatch):
    def fails(_x, _seed):
        raise RuntimeError("no such thing")

    def halves(x, seed):
        return x * [1.0, -2.0], True

    monkeypatch.setitem(eeg.METHODS, "amica", fails)
    monkeypatch.setitem(eeg.METHODS, "picard", halves)
    x = np.random.default_rng(3).normal(size=(400, 2))
    rows = [eeg.solve("picard", seed, x, 128.0) for seed in (1, 2)]
    rows.append(eeg.solve("amica", 1, x, 128.0))
    assert "no such thing" in rows[2]["error"]
    text = eeg.table(rows)
    assert "| amica | failed |" in text
    assert "| picard | 2 | 1.0000 | 1.000 | 100 % | 0.000 ± 0.000 | 2 of 2 |" in text
