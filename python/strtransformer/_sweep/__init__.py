"""Many separations: recordings × settings × seeds, one result folder a task, on any engine that
joblib speaks to.

`sweep` lists the tasks, names their folders, hands each to joblib, and reports how all of them
ended. A task is what `strt separate` does: the folder is the same, so `strt info`, `strt transform`
and `strt resume` work on it.

What this module deliberately does not do: schedule, start clusters, copy files between machines, or
decide whether a folder holds what was asked for. Engines are joblib's (loky, dask, ray); workers
must see the files of the recordings and the folder `out` under the same names; and comparing,
locking, resuming and writing folders is done in Rust.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _checks
from .._warn import warn
from .request import (
    as_file,
    check_names,
    checked_formats,
    checked_reading,
    checked_seeds,
    checked_settings,
    choices_of,
    configured,
    named_recordings,
    named_references,
    reading_of,
    refuse_named_channels,
    task_name,
)
from .results import SweepError, SweepResult, SweepTask, SweepWarning
from .running import run_all

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SweepError", "SweepResult", "SweepTask", "SweepWarning", "sweep"]


def sweep(
    recordings: str
    | os.PathLike[str]
    | Iterable[str | os.PathLike[str]]
    | Mapping[str, str | os.PathLike[str] | ArrayLike],
    out: str | os.PathLike[str],
    *,
    settings: Mapping[str, Any] | None = None,
    grid: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]] | None = None,
    seeds: int | Iterable[int] = (0,),
    reference: str
    | os.PathLike[str]
    | ArrayLike
    | Mapping[str, str | os.PathLike[str] | ArrayLike]
    | None = None,
    reading: Mapping[str, Any] | None = None,
    formats: Iterable[str] = (),
    backend: str | None = None,
    n_jobs: int | None = None,
    threads: int = 1,
    autosave: float = 60.0,
    wait: float = 60.0,
    retries: int = 2,
    overwrite: bool = False,
    on_error: str = "raise",
    verbose: int = 0,
) -> SweepResult:
    """Separate many recordings, with many settings and seeds.

    Every combination is a task with a folder of its own in `out`, as ``strt separate`` writes it.
    Called again with the same arguments, finished tasks are not run again and unfinished ones
    continue from their last checkpoint, with the same bits as if nothing had happened: a sweep that
    was stopped, or lost a machine, is finished by calling it once more.

    Parameters
    ----------
    recordings : path | list of paths | dict
        Files in any format that `strtransformer.read` takes; or a dict from names to paths or
        arrays (n_samples, n_channels). Arrays are kept as ``out/inputs/NAME.npy``, where workers,
        and ``strt resume``, find them. A `Recording` or a frame is refused, since that
        file has no place for names and rate: give the file that it was read from, or
        ``recording.data``, ``frame.to_numpy()``.
    out : path
        Folder for the result folders. On a cluster every worker must see it, and the recordings,
        under the same name.
    settings : dict, optional
        Parameters of `StrTransformer` for all tasks: n_components (needed; ``"auto"`` estimates
        it), mixer, preset, max_iter, tol, n_restarts, config, or names of the configuration with
        dots, such as ``"weights.smoothness"``.
    grid : dict | list of dicts, optional
        Settings that vary: a dict from names to lists of values (all combinations), or a list of
        settings. Their values are part of the folders' names.
    seeds : int | iterable of int
        Every combination is run with each; they take the place of ``random_state``.
    reference : path | array | dict, optional
        True sources for the scores: one for all recordings or a dict by the names of the
        recordings. Arrays are kept as ``out/references/NAME.npy``.
    reading : dict, optional
        How files are read: rate (or sampling_rate), channels, start, stop, variable, transpose,
        delimiter, time_column, as the options of ``strt separate``. For arrays only the rate is of
        use.
    formats : sequence of str
        Further formats of the sources, of ``"mat"``, ``"parquet"``, ``"wav"``, ``"wavs"`` (one file
        a source), ``"flac"``, ``"edf"``. Tasks that are finished are not written again in other
        formats.
    backend : {"loky", "dask", "ray", ...}, optional
        Any backend of joblib. None takes what an enclosing ``joblib.parallel_config`` says, else
        loky. ``"dask"`` needs an active ``distributed.Client``, ``"ray"`` starts or joins a ray
        cluster. Ctrl-C ends the tasks, which keep their checkpoints; those on another machine may
        go on.
    n_jobs : int, optional
        Tasks at a time; -1 takes all cores. None: all that `backend` has where one is given, else
        as joblib decides.
    threads : int
        Threads of a task; 0 takes all cores. The sources are the same for any number.
    autosave : float
        Seconds between two checkpoints: what the death of a worker may cost.
    wait : float
        Seconds to wait for a folder in which another process is working; then the task is reported
        as failed. It is never run twice at the same time.
    retries : int
        How often to hand out again what is unfinished when the engine itself fails (a killed loky
        worker, a Dask worker that keeps dying).
    overwrite : bool
        Replace folders that hold another run than the one asked for. What matches is kept even
        then.
    on_error : {"raise", "warn", "ignore"}
        What to do at the end when tasks have failed.
    verbose : int
        Passed on to joblib.

    Returns
    -------
    result : SweepResult
        How every task ended: ``.ok``, ``.failed``, ``.to_frame()``.

    Raises
    ------
    SweepError
        When tasks have failed and `on_error` is ``"raise"``: lists each with its error; ``.result``
        has the others.

    Examples
    --------
    >>> result = sweep(
    ...     ["a.edf", "b.edf"], "results", settings=dict(n_components=6),
    ...     grid=dict(mixer=["affine", "mlp"]), seeds=range(5), n_jobs=4,
    ... )  # doctest: +SKIP
    >>> result.to_frame().groupby("mixer")["objective"].mean()  # doctest: +SKIP
    """
    if on_error not in ("raise", "warn", "ignore"):
        raise ValueError(f"on_error: expected 'raise', 'warn' or 'ignore', got {on_error!r}")
    retries = _checks.whole("retries", retries, 0)
    if n_jobs is not None and (not _checks.is_whole(n_jobs) or n_jobs == 0):
        raise ValueError(
            f"n_jobs = {n_jobs!r}: expected tasks at a time from 1, -1 for all cores, or None"
        )
    asked = checked_reading(reading)
    how = {
        "formats": checked_formats(formats),
        "threads": _checks.whole("threads", threads, 0),
        "autosave": _checks.number("autosave", autosave, 0),
        "wait": _checks.number("wait", wait, 0, finite=False),
        "overwrite": bool(overwrite),
    }
    shared = checked_settings("settings", settings or {})
    choices, each = choices_of(grid), checked_seeds(seeds)
    sources = named_recordings(recordings)
    truths = named_references(reference, sources)
    for name, value in sources.items():
        refuse_named_channels(name, value)
    place = Path(out).absolute()
    place.mkdir(parents=True, exist_ok=True)
    files = {
        name: as_file(value, place / "inputs" / f"{name}.npy", overwrite)
        for name, value in sources.items()
    }
    truth_files = {
        name: as_file(value, place / "references" / f"{name}.npy", overwrite)
        for name, value in truths.items()
    }
    tasks, orders = [], []
    for name, choice, seed in itertools.product(files, choices, each):
        task = SweepTask("", name, choice, seed, Path())
        task.name = task_name(name, choice, seed)
        task.folder = place / f"{task.name}.strt"
        tasks.append(task)
        orders.append(
            {
                "input": str(files[name]),
                "target": str(task.folder),
                "params": {**shared, **choice, "random_state": seed},
                "reference": str(truth_files[name]) if name in truth_files else None,
                "reading": reading_of(sources[name], asked),
                **how,
            }
        )
    check_names(tasks)
    for order in orders:
        configured(order)
    run_all(tasks, orders, backend, n_jobs, retries, verbose)
    result = SweepResult(tasks)
    if result.failed and on_error != "ignore":
        if on_error == "raise":
            raise SweepError(result.report(), result)
        warn(result.report(), SweepWarning)
    return result
