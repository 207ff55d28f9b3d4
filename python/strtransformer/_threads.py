"""How many threads a fit may use.

``n_jobs`` decides where it is given. Where it is ``None``, a process that somebody else fills with
work is not filled a second time: workers of joblib (loky), Dask and Ray say by ``OMP_NUM_THREADS``
how many threads each may use, and inside a joblib thread the answer is one. The number never
changes a result.
"""

from __future__ import annotations

import numbers
import os
import sys

# Set by loky, by the nanny of a Dask worker and by Ray in the processes they start.
_LIMITS = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")


def resolve(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``; 0 means all cores."""
    if n_jobs is None:
        return _unasked()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(
            f"n_jobs = {n_jobs!r}: expected a positive whole number, a negative one (-1: all cores,"
            " -2: all but one) or None"
        )
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, _cores() + 1 + int(n_jobs))


def _unasked() -> int:
    limits = [
        int(value)
        for value in map(os.environ.get, _LIMITS)
        if value and value.isdigit() and int(value) > 0
    ]
    if _is_nested():
        limits.append(1)
    return min([*limits, _cores()]) if limits else 0


def _is_nested() -> bool:
    """Whether this is a thread of joblib or of a Dask worker."""
    joblib = sys.modules.get("joblib")
    if joblib is not None:
        backend, _ = joblib.parallel.get_active_backend()
        # A process of its own has its own limit above.
        if getattr(backend, "nesting_level", 0) and not os.environ.get("OMP_NUM_THREADS"):
            return True
    distributed = sys.modules.get("distributed")
    if distributed is not None and not os.environ.get("OMP_NUM_THREADS"):
        try:
            distributed.get_worker()
        except ValueError:
            return False
        return True
    return False


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
