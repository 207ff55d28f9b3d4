"""Energies of trajectories, and true sources in what a run leaves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from strtransformer import StrTransformer

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_energies_of_sources_and_of_any_trajectories(problem, quick):
    separator = StrTransformer(3, random_state=0, **quick).fit(problem.observations)
    own = separator.energy(n_draws=8)
    assert own["cost"].shape == (3, 3) and own["errors"].shape == (3, 3, 2)
    again = separator.energy(separator.sources_, n_draws=8)
    assert_allclose(again["cost"], own["cost"], rtol=1e-4)
    assert_allclose(again["margin"], own["margin"], atol=1e-4)
    # H is the errors, weighted between those of the patch sizes.
    assert np.all(own["cost"] <= own["errors"].max(axis=2) + 1e-12)
    assert np.all(own["cost"] >= own["errors"].min(axis=2) - 1e-12)

    two = separator.energy(problem.sources[:, :2])
    assert two["cost"].shape == (3, 2) and two["margin"] is None
    scaled = separator.energy(7.0 + 3.0 * problem.sources[:, :2])
    assert_allclose(scaled["cost"], two["cost"], rtol=1e-4)


def test_what_has_no_energy_is_refused(problem, quick):
    fast = StrTransformer(3, preset="fast").fit(problem.observations)
    with pytest.raises(ValueError, match="expected networks that have learned"):
        fast.energy()
    separator = StrTransformer(3, random_state=0, **quick).fit(problem.observations)
    with pytest.raises(ValueError, match="expected at least 16 samples"):
        separator.energy(problem.sources[:12])
    with pytest.raises(ValueError, match="n_draws"):
        separator.energy(n_draws=0)


def test_true_sources_are_shown_and_scored(problem, quick, tmp_path):
    separator = StrTransformer(3, random_state=0, **quick).fit(problem.observations)
    folder = tmp_path / "run"
    separator.save(folder, figures=True, reference=problem.sources)
    assert (folder / "scores.csv").exists()
    assert "Reference 1" in (folder / "sources.svg").read_text(encoding="utf-8")
    with_truth = separator.report(reference=problem.sources).html
    assert "eference source" in with_truth
    with pytest.raises(ValueError, match="samples"):
        separator.save(tmp_path / "other", reference=problem.sources[:100])
    assert not (tmp_path / "other").exists()
