"""The tasks of a sweep on the engines of joblib: handed out, waited for, stopped, handed out again.

The work itself is `_core.ensure_run`, which finds, resumes or makes one run in its folder.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from .. import _core
from .request import configured

if TYPE_CHECKING:
    from .results import SweepTask

#: Between two looks at a folder that another process is working in.
_POLL_SECONDS = 0.5


def run_all(
    tasks: list[SweepTask],
    orders: list[dict[str, Any]],
    backend: str | None,
    n_jobs: int | None,
    retries: int,
    verbose: int,
) -> None:
    """Hands the tasks to joblib and notes how they ended. What the engine loses is handed out
    again.
    """
    import joblib

    _prepare(backend)
    if n_jobs is None and backend is not None:
        n_jobs = -1
    open_tasks = list(range(len(tasks)))
    stop = _Stop()
    orders = [{**order, "stop": stop.key} for order in orders]
    for attempt in range(retries + 1):
        # Only the context knows the backends of others, such as Dask.
        chosen = (
            nullcontext() if backend is None else joblib.parallel_config(backend, n_jobs=n_jobs)
        )
        with chosen:
            # Once tasks are handed out, what is raised comes from the engine.
            parallel = joblib.Parallel(
                n_jobs=n_jobs if backend is None else None,
                verbose=verbose,
                batch_size=1,
                pre_dispatch="all",
            )
            try:
                records = parallel(joblib.delayed(_work)(orders[i]) for i in open_tasks)
            except KeyboardInterrupt:
                stop.set()
                raise
            except Exception as error:
                why = f"the engine failed: {type(error).__name__}: {error}"
            else:
                for i, record in zip(open_tasks, records):
                    _note(tasks[i], record)
                stop.forget()
                return
        for i in open_tasks:
            _note(tasks[i], {"status": "failed", "error": why})
    stop.forget()
    # Whatever was finished all the same is found in its folder.
    for i in open_tasks:
        _note_if_finished(tasks[i], orders[i])


#: The sweeps of this process that are running, or were stopped, by their keys.
_STOPS: dict[str, _Stop] = {}
#: Seconds to wait for the threads of a stopped sweep; they end after their current step.
_STOP_SECONDS = 10.0


class _Stop:
    """Ctrl-C reaches the main thread only: this hands it on to the tasks that run in other threads
    of this process.

    Orders carry the `key`, not the object, since they travel to other processes, which are told
    otherwise.
    """

    def __init__(self) -> None:
        self.key = uuid.uuid4().hex
        self._asked = threading.Event()
        self._change = threading.Condition()
        self._running = 0
        _STOPS[self.key] = self

    def asked(self, _told: object = None) -> bool:
        """Whether tasks shall end; the callback of their runs."""
        return self._asked.is_set()

    def set(self) -> None:
        """Has all tasks end, and waits until they have."""
        self._asked.set()
        with self._change:
            self._change.wait_for(lambda: self._running == 0, _STOP_SECONDS)

    def forget(self) -> None:
        """Nothing is left to be stopped."""
        _STOPS.pop(self.key, None)

    def __enter__(self) -> _Stop:
        with self._change:
            self._running += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._change:
            self._running -= 1
            self._change.notify_all()


def _note(task: SweepTask, record: Mapping[str, Any]) -> None:
    task.status = record["status"]
    task.resumed_from = record.get("resumed_from")
    task.error = record.get("error")
    task.summary = record.get("summary", {})


def _note_if_finished(task: SweepTask, order: dict[str, Any]) -> None:
    """Notes a task whose folder is finished, without running anything."""
    if _core.inspect_run(order["target"]) == "finished":
        _note(task, _work(order))


def _prepare(backend: str | None) -> None:
    """Makes a backend known to joblib; says what is missing."""
    if backend == "dask":
        try:
            from distributed import default_client
        except ImportError as error:
            raise ImportError(
                "backend='dask' needs Dask: `pip install strtransformer[dask]`"
            ) from error
        try:
            default_client()
        except ValueError as error:
            raise ValueError(
                "backend='dask': expected an active Dask client, found none; make one first, such"
                " as client = distributed.Client(address)"
            ) from error
    elif backend == "ray":
        try:
            from ray.util.joblib import register_ray
        except ImportError as error:
            raise ImportError(
                "backend='ray' needs Ray: `pip install strtransformer[ray]`"
            ) from error
        register_ray()


def _work(order: dict[str, Any]) -> dict[str, Any]:
    """One task, in a worker. Failures are told, not raised; only Ctrl-C goes through."""
    stop = _STOPS.get(order.get("stop", ""))
    running: AbstractContextManager[Any] = nullcontext() if stop is None else stop
    with running:
        return _worked(order, stop)


def _worked(order: dict[str, Any], stop: _Stop | None) -> dict[str, Any]:
    give_up = time.monotonic() + order["wait"]
    while True:
        if stop is not None and stop.asked():
            return {"status": "waiting", "error": "the sweep was stopped"}
        try:
            return _ensure(order, stop)
        except _core.FolderBusyError as error:
            if time.monotonic() > give_up:
                return {"status": "failed", "error": f"{error} (waited {order['wait']:g} s)"}
            time.sleep(_POLL_SECONDS)
        except Exception as error:
            return {"status": "failed", "error": f"{type(error).__name__}: {error}"}


def _ensure(order: dict[str, Any], stop: _Stop | None) -> dict[str, Any]:
    settings, estimate = configured(order)
    record = _core.ensure_run(
        order["input"],
        order["target"],
        settings,
        estimate_sources=estimate,
        reading=json.dumps(order["reading"]),
        reference=order["reference"],
        formats=order["formats"],
        autosave=order["autosave"],
        overwrite=order["overwrite"],
        command=f"strtransformer.sweep({order['input']!r}, params={order['params']!r})",
        callback=None if stop is None else stop.asked,
    )
    record["summary"] = json.loads(record["summary"])
    if record["summary"]["stop_reason"] == "diverged":
        why = " ".join(record["summary"]["warnings"][:1])
        return {**record, "status": "failed", "error": f"{order['target']}: {why}"}
    return record
