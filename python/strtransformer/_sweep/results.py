"""How the tasks of a sweep ended: tasks, the table of them, and the error that lists those that
failed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import pandas

    from .._estimator import StrTransformer


class SweepError(RuntimeError):
    """Tasks of a sweep have failed; the others are done.

    Attributes
    ----------
    result : SweepResult
        How every task ended.
    """

    def __init__(self, message: str, result: SweepResult) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.args[0], self.result))


class SweepWarning(UserWarning):
    """Tasks of a sweep have failed; the others are done."""


@dataclass
class SweepTask:
    """How one task ended.

    Attributes
    ----------
    name : str
        Its name, that of its folder without ``.strt``.
    recording : str
        Name of the recording.
    settings : dict
        What the grid gave this task.
    seed : int
        Its seed.
    folder : pathlib.Path
        The result folder.
    status : str
        ``"made"`` (run from the beginning), ``"resumed"`` (taken up from a checkpoint), ``"there"``
        (had been finished before and was not run again), ``"failed"``, or ``"waiting"`` (not run:
        the sweep was stopped).
    resumed_from : int | None
        Steps that had been taken when it was resumed.
    error : str | None
        Why it failed.
    summary : dict
        The contents of ``summary.json``; empty for a failed task.
    """

    name: str
    recording: str
    settings: dict[str, Any]
    seed: int
    folder: Path
    status: str = "waiting"
    resumed_from: int | None = None
    error: str | None = None
    summary: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def ok(self) -> bool:
        """Whether the folder holds a finished run."""
        return self.status in ("made", "resumed", "there")

    def load(self) -> StrTransformer:
        """The fitted estimator of the task, as `strtransformer.load` gives it."""
        from .. import load

        return load(self.folder)


class SweepResult:
    """How the tasks of a sweep ended, in the order of the request.

    Indexed by position or by the name of a task; iterating gives `SweepTask` objects.
    """

    def __init__(self, tasks: Iterable[SweepTask]) -> None:
        self.tasks = list(tasks)

    @property
    def ok(self) -> list[SweepTask]:
        """list of SweepTask: the finished ones."""
        return [task for task in self.tasks if task.ok]

    @property
    def failed(self) -> list[SweepTask]:
        """list of SweepTask: the others, each with its ``error``."""
        return [task for task in self.tasks if not task.ok]

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[SweepTask]:
        return iter(self.tasks)

    @overload
    def __getitem__(self, key: str | int) -> SweepTask: ...
    @overload
    def __getitem__(self, key: slice) -> list[SweepTask]: ...
    def __getitem__(self, key: str | int | slice) -> SweepTask | list[SweepTask]:
        if isinstance(key, str):
            for task in self.tasks:
                if task.name == key:
                    return task
            raise KeyError(
                f"expected the name of a task, got {key!r}; the names are"
                f" {[t.name for t in self.tasks]}"
            )
        return self.tasks[key]

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for task in self.tasks:
            counts[task.status] = counts.get(task.status, 0) + 1
        text = ", ".join(f"{number} {status}" for status, number in counts.items())
        return f"<SweepResult: {len(self.tasks)} tasks: {text or 'none'}>"

    def to_frame(self) -> pandas.DataFrame:
        """One row a task, as a `pandas.DataFrame`.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``name``, ``recording``, the names of the grid, ``seed``, ``status``,
            ``resumed_from``, ``steps``, ``converged``, ``objective`` (smoothed),
            ``explained_variance``, ``mac`` (with a reference), ``seconds``, ``folder`` and
            ``error``.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas, which is not installed: `pip install pandas`"
            ) from error
        return pandas.DataFrame([_row(task) for task in self.tasks])

    def report(self) -> str:
        """str: the failed tasks with their errors, or that there are none."""
        if not self.failed:
            return f"all {len(self.tasks)} tasks are done"
        lines = [f"{len(self.failed)} of {len(self.tasks)} tasks failed; the others are done:"]
        for task in self.failed:
            why = (task.error or task.status).strip().replace("\n", "\n    ")
            lines.append(f"  {task.name}: {why}")
        lines.append("call sweep again with the same arguments: it runs only what is not finished")
        return "\n".join(lines)


def _row(task: SweepTask) -> dict[str, Any]:
    summary = task.summary
    return {
        "name": task.name,
        "recording": task.recording,
        **{key: value for key, value in task.settings.items()},
        "seed": task.seed,
        "status": task.status,
        "resumed_from": task.resumed_from,
        "steps": summary.get("steps"),
        "converged": summary.get("converged"),
        "objective": summary.get("smoothed_objective"),
        "explained_variance": summary.get("explained_variance"),
        "mac": (summary.get("scores") or {}).get("mac"),
        "seconds": summary.get("wall_seconds"),
        "folder": str(task.folder),
        "error": task.error,
    }
