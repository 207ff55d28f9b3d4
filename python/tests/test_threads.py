"""How many threads a fit may use, in this process and in workers of others."""

import os

import joblib
import pytest

from strtransformer import _threads


@pytest.fixture(autouse=True)
def no_limits(monkeypatch):
    for name in _threads._LIMITS:
        monkeypatch.delenv(name, raising=False)


def test_asked_for():
    cores = _threads._cores()
    assert _threads.resolve(3) == 3
    assert _threads.resolve(-1) == cores
    assert _threads.resolve(-2) == max(1, cores - 1)
    assert _threads.resolve(-1000) == 1
    assert _threads.resolve(None) == 0
    with pytest.raises(ValueError, match="n_jobs = 0"):
        _threads.resolve(0)


def test_limits_of_the_environment_hold_where_nothing_is_asked_for(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert _threads.resolve(None) == 1 and _threads.resolve(2) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "4,2")  # nested levels: not a number
    assert _threads.resolve(None) == 0
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert _threads.resolve(None) == 1


def _seen():
    return _threads.resolve(None), os.environ.get("OMP_NUM_THREADS")


def test_workers_of_joblib_are_not_oversubscribed():
    for threads, limit in joblib.Parallel(n_jobs=2, backend="loky")(
        joblib.delayed(_seen)() for _ in range(2)
    ):
        assert threads == int(limit) >= 1
    for threads, _ in joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(_seen)() for _ in range(2)
    ):
        assert threads == 1
