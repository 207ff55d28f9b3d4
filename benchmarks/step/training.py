"""One training step: objective, backward pass, Adam; checked, tuned and timed."""

import math
import statistics
import time
from typing import Any

import torch

from .batched import BatchedBranches
from .loop import LoopBranches
from .objective import Objective
from .problem import Problem

# Ways to write the attention of each form; the fastest on the machine is the one that is timed.
ATTENTION = {
    "loop": ("explicit", "sdpa"),
    "batched": ("custom", "explicit", "sdpa"),
    "masked": ("custom", "explicit", "sdpa"),
    "compiled": ("explicit",),
}
TUNING_STEPS = 6


class Training:
    """The training loop of one form in one variant."""

    def __init__(self, problem: Problem, form: str, attention: str) -> None:
        if form == "loop":
            branches = LoopBranches(problem, attention)
        else:
            branches = BatchedBranches(problem, attention, "all" if form == "batched" else "masked")
        self.objective = Objective(problem, branches)
        self.evaluate = torch.compile(self.objective) if form == "compiled" else self.objective
        optimizer = problem.config["optimizer"]
        rates = optimizer["rates"]
        groups = [
            dict(params=[self.objective.fiber], lr=rates["fiber"]),
            dict(params=[self.objective.raw_gaps], lr=rates["controller"]),
            dict(params=list(branches.parameters()), lr=rates["networks"]),
        ]
        self.rates = [group["lr"] for group in groups]
        # The betas and eps of the program are PyTorch's.
        self.adam = torch.optim.Adam(groups, fused=True)
        self.schedule, self.n_steps, self.n = optimizer["schedule"], optimizer["steps"], 0

    def step(self) -> float:
        """One step of the training loop; returns J before it."""
        self.adam.zero_grad(set_to_none=True)
        total, _ = self.evaluate()
        total.backward()
        self.n += 1
        factor = self._factor()
        for group, rate in zip(self.adam.param_groups, self.rates):
            group["lr"] = rate * factor
        self.adam.step()
        return total.item()  # the loop looks at J: it must be finite

    def _factor(self) -> float:
        """Warm-up, then half a cosine, as the program's schedule."""
        if self.schedule["kind"] == "constant":
            return 1.0
        rise = min(1.0, self.n / max(1, self.schedule["warmup"]))
        fall = 0.5 * (1 + math.cos(math.pi * self.n / self.n_steps))
        return rise * (self.schedule["floor"] + (1 - self.schedule["floor"]) * fall)

    def time(self, steps: int) -> list[float]:
        """Seconds of each of `steps` steps."""
        seconds = []
        for _ in range(steps):
            began = time.perf_counter()
            self.step()
            seconds.append(time.perf_counter() - began)
        return seconds

    def check(self) -> dict[str, Any]:
        """J, its terms and the norm of every gradient group; nothing is updated."""
        self.adam.zero_grad(set_to_none=True)
        total, terms = self.evaluate()
        total.backward()
        square = lambda p: float(p.grad.double().square().sum())
        norm = lambda parameters: math.sqrt(sum(square(p) for p in parameters))
        return dict(
            objective=total.item(),
            terms={name: term.item() for name, term in terms.items()},
            gradient_norms=dict(
                fiber=norm([self.objective.fiber]),
                raw_gaps=norm([self.objective.raw_gaps]),
                networks=norm(list(self.objective.branches.parameters())),
            ),
        )


class Bench:
    """All forms and variants on one problem; keeps each training loop once it is made."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.trainings: dict[tuple[str, str], Training] = {}
        self.fastest: dict[tuple[str, int], str] = {}

    def training(self, form: str, attention: str) -> Training:
        key = (form, attention)
        if key not in self.trainings:
            self.trainings[key] = Training(self.problem, form, attention)
        return self.trainings[key]

    def check(self, form: str) -> list[dict[str, Any]]:
        """Every variant of a form, from the tensors as they were written: before any is timed."""
        return [dict(attention=a, **self.training(form, a).check()) for a in ATTENTION[form]]

    def time(self, form: str, threads: int, steps: int) -> dict[str, Any]:
        """Seconds of each step of the fastest variant."""
        torch.set_num_threads(threads)
        key = (form, threads)
        if key not in self.fastest:
            medians = {
                attention: statistics.median(self.training(form, attention).time(TUNING_STEPS))
                for attention in ATTENTION[form]
            }
            self.fastest[key] = min(medians, key=medians.__getitem__)
        attention = self.fastest[key]
        return dict(attention=attention, seconds=self.training(form, attention).time(steps))
