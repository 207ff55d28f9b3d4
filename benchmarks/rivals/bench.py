"""Every method on every problem and seed, several processes side by side."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from dataclasses import dataclass

from .interface import Given, Problem, Refused
from .methods import METHODS
from .problems import all_problems
from .rows import Rows, key_of
from .scores import all_scores


@dataclass(frozen=True)
class Task:
    family: str
    problem: str
    size: str
    method: str
    seed: int
    budget: float
    device: str
    data: str | None

    def key_row(self) -> dict:
        return {
            "family": self.family,
            "problem": self.problem,
            "size": self.size,
            "method": self.method,
            "seed": self.seed,
            "budget": self.budget,
            "settings": METHODS[self.method].settings,
        }


def standardised(channels):
    return (channels - channels.mean(axis=0)) / channels.std(axis=0)


def solve(task: Task) -> dict:
    """A row with scores, or with why not: one failure is a gap, not the end of the rest.

    `refused` is what the method answers to a problem that it cannot take, `error` is anything else.

    The method's seed is the problem's plus 1000: it never shares random numbers with the generator.
    """
    row = task.key_row()
    try:
        found = [p for p in all_problems(task.size, task.data) if p.name == task.problem]
        recording = found[0].make(task.seed)
        given = Given(
            channels=standardised(recording.channels),
            n_sources=recording.sources.shape[1],
            seed=task.seed + 1000,
            labels=recording.labels,
            depth=recording.depth,
            states=recording.states,
            is_linear=recording.is_linear,
            first=recording.first,
            device=task.device,
            budget=task.budget,
        )
        began, busy = time.perf_counter(), time.process_time()
        result = METHODS[task.method].run(given)
        row["seconds"] = round(time.perf_counter() - began, 2)
        row["cpu_seconds"] = round(time.process_time() - busy, 2)
        row |= {k: round(v, 5) for k, v in all_scores(result, recording.sources).items()}
    except Refused as reason:
        row["refused"] = str(reason)
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def run(problems: list[Problem], methods: list[str], seeds: range, rows: Rows, options) -> None:
    """Adds the rows that are not there yet, each as soon as it is known."""
    tasks = [
        Task(
            problem.family,
            problem.name,
            options.size,
            method,
            seed,
            options.budget,
            options.device,
            options.data,
        )
        for problem in problems
        for seed in seeds
        for method in methods
    ]
    there = rows.keys()
    tasks = [task for task in tasks if key_of(task.key_row()) not in there]
    # One thread a process: the figures do not depend on how many run side by side.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    jobs = options.jobs or os.cpu_count() or 1
    # CUDA does not survive a fork.
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(jobs, max(1, len(tasks)))) as pool:
        for done, row in enumerate(pool.imap_unordered(solve, tasks), 1):
            rows.add(row)
            if "mcc" in row:
                shown = f"MCC {row['mcc']:.4f}, {row['seconds']:.1f} s"
            else:
                shown = row.get("error") or f"refused: {row['refused']}"
            line = f"{done}/{len(tasks)} {row['problem']} seed {row['seed']} {row['method']}"
            print(f"{line}: {shown}", file=sys.stderr, flush=True)
