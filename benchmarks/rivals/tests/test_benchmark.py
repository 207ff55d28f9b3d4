"""Scores, rows, tables and the way from a problem to a row."""

import json

import numpy as np
import pytest

from rivals.bench import Task, solve
from rivals.interface import Found, Given, Refused
from rivals.methods import METHODS
from rivals.problems import all_problems
from rivals.rows import Rows
from rivals.scores import affine_r2, all_scores, mcc
from rivals.tables import markdown


def test_mcc_matches_each_source_once_whatever_order_sign_and_scale():
    true = np.random.default_rng(0).normal(size=(500, 3))
    assert mcc(true[:, [2, 0, 1]] * [-3, 0.1, 1], true) == pytest.approx(1)
    # One estimate that resembles two sources counts for one of them.
    same = np.column_stack([true[:, 0]] * 3)
    assert mcc(same, true) < 0.45
    assert mcc(np.zeros((500, 3)), true) == 0


def test_affine_r2_does_not_see_a_rotation_and_mcc_does():
    random = np.random.default_rng(1)
    true = random.normal(size=(500, 2))
    turned = true @ np.array([[1, 1], [-1, 1]]) + 5
    assert affine_r2(turned, true) == pytest.approx(1)
    assert mcc(turned, true) < 0.8
    assert affine_r2(random.normal(size=(500, 2)), true) < 0.05


def test_sources_that_are_not_finite_are_an_error():
    with pytest.raises(ValueError, match="diverged"):
        all_scores(Found(np.full((5, 1), np.nan)), np.ones((5, 1)))


def test_pairs_and_lengths_do_not_cross_from_one_sequence_to_the_next():
    first = np.array([1, 0, 0, 1, 0], dtype=bool)
    channels = np.arange(10.0).reshape(5, 2)
    given = Given(channels, 1, 0, first=first)
    np.testing.assert_array_equal(given.pairs(), [1, 2, 4])
    np.testing.assert_array_equal(given.pairs(2), [2])
    assert given.lengths() == [3, 2]
    assert Given(channels, 1, 0).lengths() == [5]


def test_problems_have_names_of_their_own_and_the_same_seed_gives_the_same_numbers():
    problems = all_problems("small")
    assert len({problem.name for problem in problems}) == len(problems)
    for problem in [p for p in problems if p.family in ("dcl", "nonlinearbss")]:
        one, two, other = problem.make(1), problem.make(1), problem.make(2)
        np.testing.assert_array_equal(one.channels, two.channels)
        assert not np.array_equal(one.sources, other.sources)
        assert np.isfinite(one.channels).all() and len(one.channels) == len(one.sources)


def row(**changes) -> dict:
    made = solve(Task("ivae", "ivae L1", "small", "fastica", 1, 1.0, "cpu", None))
    return made | changes


def test_rows_survive_and_one_that_was_cut_short_is_dropped(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = Rows(path)
    rows.add({**row(), "problem": "a"})
    rows.add({**row(), "problem": "b"})
    path.write_text(path.read_text()[:-9])
    again = Rows(path)
    assert [r["problem"] for r in again.rows] == ["a"]
    again.add({**row(), "problem": "c"})
    assert [r["problem"] for r in Rows(path).rows] == ["a", "c"]
    path.write_text("{}\n")
    with pytest.raises(SystemExit, match="line 1"):
        Rows(path)


def test_a_failure_is_a_row_with_its_reason_and_a_gap_of_the_table(monkeypatch):
    good = row()
    assert good["mcc"] > 0.9, "linear mixing"

    def fails(_given):
        raise RuntimeError("no such thing")

    broken = METHODS["tcl"].__class__(**{**METHODS["tcl"].__dict__, "run": fails})
    monkeypatch.setitem(METHODS, "tcl", broken)
    bad = solve(Task("ivae", "ivae L1", "small", "tcl", 1, 1.0, "cpu", None))
    assert "no such thing" in bad["error"] and "mcc" not in bad
    text = markdown([good, bad], "mcc")
    assert "| failed |" in text and "ivae L1, tcl: RuntimeError" in text
    assert "segment labels" in text


def test_a_problem_that_a_method_cannot_take_is_refused_and_not_a_failure():
    row = solve(Task("sequences", "tdrl modular", "small", "cebra-time", 1, 0.001, "cpu", None))
    assert "3 samples" in row["refused"] and "error" not in row and "mcc" not in row
    text = markdown([row], "mcc")
    assert "| refused |" in text and "tdrl modular, cebra-time refuses: " in text
    assert "failed" not in text


def test_strt_takes_sequences_as_pieces_and_says_where_it_refuses():
    pytest.importorskip("strtransformer")
    random = np.random.default_rng(0)
    channels = random.normal(size=(600, 4))
    first = np.arange(600) % 100 == 0
    given = Given(channels, 2, 0, is_linear=True, first=first)
    found = METHODS["strt"].run(given).sources
    assert found.shape == (600, 2) and np.isfinite(found).all()
    # Across the boundaries it would be another recording.
    whole = METHODS["strt"].run(Given(channels, 2, 0, is_linear=True)).sources
    assert not np.allclose(found, whole)
    with pytest.raises(Refused, match="9 sources were asked for"):
        METHODS["strt"].run(Given(channels, 9, 0, is_linear=True))


@pytest.mark.parametrize("name", [name for name in METHODS if name != "strt"])
def test_every_method_gives_finite_sources_and_the_same_twice(name):
    made = next(p for p in all_problems("small") if p.name == "pcl L2").make(1)
    given = Given(
        channels=made.channels[:600],
        n_sources=5,
        seed=7,
        depth=2,
        budget=0.002,
    )
    try:
        one, two = (METHODS[name].run(given).sources for _ in range(2))
    except ImportError as error:
        pytest.skip(str(error))
    assert one.shape == (600, 5) and np.isfinite(one).all()
    # The package cebra draws the seed of its pairs itself and has no parameter for it.
    if name != "cebra-time":
        np.testing.assert_array_equal(one, two)


def test_requests_of_the_laboratory_are_answered(tmp_path):
    from rivals.serving import answer

    np.save(tmp_path / "in.npy", np.random.default_rng(0).normal(size=(300, 4)))
    request = {
        "method": "pcl",
        "input": str(tmp_path / "in.npy"),
        "output": str(tmp_path / "out.npy"),
        "k": 2,
        "seed": 1,
    }
    reply = answer(json.loads(json.dumps(request)), "cpu", 0.001)
    assert reply["converged"] and np.load(tmp_path / "out.npy").shape == (300, 2)
