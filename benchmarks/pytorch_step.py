"""The PyTorch side of `strt-lab speed`: a worker that the program starts, keeps alive and talks to.

    python pytorch_step.py

Reads one JSON request a line from standard input and answers each with one JSON line on standard
output:

    {"command": "versions"}
    {"command": "load", "path": "step.safetensors"}
        read the tensors of one step
    {"command": "check", "form": "loop"}
        J, terms, gradient norms of every variant
    {"command": "time", "form": "batched", "threads": 2, "steps": 10}
        seconds of each step
    {"command": "sgemm", "threads": 2, "size": 1024, "repeats": 5}
        seconds of each product of square matrices

Forms: loop, batched, masked, compiled (see step/training.py). What a request fails with comes back
as {"error": "..."}. What is drawn (windows, masks, shifts) and all that follows from it alone is
prepared before the clock starts.
"""

import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy
import torch

from step.problem import Problem
from step.training import Bench


def sgemm(threads: int, size: int, repeats: int) -> list[float]:
    """Seconds of each float32 product of square matrices."""
    torch.set_num_threads(threads)
    a, b = torch.rand(size, size), torch.rand(size, size)
    out, seconds = torch.empty(size, size), []
    for _ in range(repeats):
        began = time.perf_counter()
        torch.mm(a, b, out=out)
        seconds.append(time.perf_counter() - began)
    return seconds


class Worker:
    """Answers requests; remembers the problem that was loaded last."""

    def __init__(self) -> None:
        self.bench: Bench | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        match request:
            case {"command": "versions"}:
                return dict(
                    python=platform.python_version(),
                    torch=torch.__version__,
                    numpy=numpy.__version__,
                    instruction_set=torch.backends.cpu.get_cpu_capability(),
                )
            case {"command": "load", "path": path}:
                self.bench = Bench(Problem.read(Path(path)))
                return {}
            case {"command": "check", "form": form} if self.bench:
                return dict(variants=self.bench.check(form))
            case {
                "command": "time", "form": form, "threads": threads, "steps": steps
            } if self.bench:
                return self.bench.time(form, threads, steps)
            case {"command": "sgemm", "threads": threads, "size": size, "repeats": repeats}:
                return dict(seconds=sgemm(threads, size, repeats))
        raise ValueError(f"unknown request, or no problem loaded: {request}")


def main() -> None:
    worker = Worker()
    # A library that prints must not break the protocol.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:  # whatever it is, the program has to hear of it
            answer = dict(error=f"{type(error).__name__}: {error}")
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
