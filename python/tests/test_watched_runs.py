"""Runs that somebody looks at: callbacks, progress, Ctrl-C, and other threads meanwhile."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from strtransformer import StrTransformer, _progress

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_a_callback_is_told_about_steps(problem, quick):
    told = []
    quick["max_iter"] = 400
    separator = StrTransformer(3, random_state=0, callback=told.append, **quick)
    separator.fit(problem.observations)
    assert told and told[-1]["step"] == 400 and told[-1]["max_iter"] == 400
    steps = [step["step"] for step in told]
    assert steps == sorted(set(steps))
    expected = {"restart", "step", "max_iter", "objective", "smoothed_objective"}
    expected |= {"reconstruction", "structure"}
    assert expected <= set(told[0]) and all(np.isfinite(step["objective"]) for step in told)
    assert separator.history_["smoothed_objective"][-1] == told[-1]["smoothed_objective"]


def test_a_callback_can_stop_the_run(problem, quick):
    quick["max_iter"] = 10**6
    separator = StrTransformer(3, random_state=0, callback=lambda told: told["step"] >= 5, **quick)
    with pytest.warns(match="interrupted"):
        separator.fit(problem.observations)
    assert 5 <= separator.n_iter_ < 10**6 and separator.stop_reason_ == "interrupted"
    # It holds what a run of so many steps does, and can be used.
    assert separator.transform(problem.observations).shape == (200, 3)


def test_what_a_callback_raises_ends_the_run_and_keeps_it(problem, quick):
    def fails(told):
        raise RuntimeError("no more")

    quick["max_iter"] = 10**6
    separator = StrTransformer(3, random_state=0, callback=fails, **quick)
    with pytest.raises(RuntimeError, match="no more"):
        separator.fit(problem.observations)
    assert separator.stop_reason_ == "interrupted" and separator.mixing_.shape == (4, 3)


def test_other_threads_run_meanwhile(problem, quick):
    quick["max_iter"] = 1500
    ticks, over = [], threading.Event()

    def tick():
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    began = time.monotonic()
    StrTransformer(3, random_state=0, **quick).fit(problem.observations)
    ended = time.monotonic()
    over.set()
    ticker.join()
    during = [moment for moment in ticks if began < moment < ended]
    assert len(during) > 0.2 * (ended - began) / 0.005


@pytest.mark.parametrize("installed", [True, False])
def test_progress_is_shown(problem, quick, capsys, monkeypatch, installed):
    if not installed:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    else:
        pytest.importorskip("tqdm")
    StrTransformer(3, random_state=0, verbose=1, n_restarts=2, **quick).fit(problem.observations)
    shown = capsys.readouterr().err
    assert "StrTransformer 2/2" in shown and "12/12" in shown and "objective" in shown
    StrTransformer(3, random_state=0, **quick).fit(problem.observations)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("last", [1000, 700])
def test_a_line_is_not_printed_for_every_step(capsys, last):
    line = _progress._Line(1000, "fit")
    for step in range(1, last + 1):
        line.show(step, "objective 1")
    line.close()
    shown = capsys.readouterr().err
    assert shown.count("steps") == 2 and f"{last}/1000" in shown


SCRIPT = """
import os, signal, sys, threading
from strtransformer import StrTransformer
from strtransformer.datasets import make_mixture

X = make_mixture("sines", n_samples=300).observations
told = []
callback = None if sys.argv[1] == "alone" else told.append
config = {"optimizer.early_stopping.enabled": False}
separator = StrTransformer(
    3, max_iter=10**6, random_state=0, n_jobs=1, callback=callback, config=config
)
threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    separator.fit(X)
except KeyboardInterrupt:
    sources = separator.transform(X)
    steps = separator.n_iter_
    in_range = all(step["step"] <= steps for step in told)
    print(separator.stop_reason_, steps > 10 and in_range, sources.shape)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT for one process: Windows has none")
@pytest.mark.parametrize("company", ["alone", "with a callback"])
def test_ctrl_c_ends_the_run_and_keeps_it(company):
    command = [sys.executable, "-c", SCRIPT, company]
    child = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert child.stdout.strip() == "interrupted True (300, 3)", child.stderr
    assert child.returncode == 0
