"""Answers `strt-lab recovery --rivals`: JSON requests in, answers out, one a line.

As `benchmarks/peers.py`: a request names a method, an NPY file of channels (samples x channels),
the number of sources, a seed and where to put the sources (NPY, samples x sources). Nothing else is
told, so methods that learn from labels take equal stretches of time.
"""

import json
import sys
import time

import numpy as np
import torch

from .bench import standardised
from .interface import Given
from .methods import METHODS

# StrTransformer and FastICA take part in the laboratory by themselves.
SERVED = [name for name in METHODS if name not in ("strt", "fastica")]


def answer(request: dict, device: str, budget: float) -> dict:
    given = Given(
        channels=standardised(np.load(request["input"]).astype(float)),
        n_sources=request["k"],
        seed=request["seed"],
        device=device,
        budget=budget,
    )
    began = time.perf_counter()
    found = METHODS[request["method"]].run(given)
    seconds = time.perf_counter() - began
    np.save(request["output"], np.ascontiguousarray(found.sources))
    # They train for a fixed number of steps and have no test of convergence.
    return {"seconds": seconds, "converged": True}


def serve(device: str, budget: float) -> None:
    versions = f"rivals with torch {torch.__version__}, budget {budget:g}"
    print(json.dumps({"methods": SERVED, "versions": versions}), flush=True)
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line), device, budget)
        except Exception as error:  # the benchmark goes on and names what failed
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
