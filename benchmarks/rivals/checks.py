"""Each method on a problem of its own paper, beside a linear method on the same problem.

A method passes where it reaches its `at_least` and is above FastICA: what its paper shows for
nonlinear mixing. Thresholds belong to the size `small` and are ours; the papers draw curves and do
not print their numbers.
"""

from .bench import Task, solve
from .methods import METHODS
from .problems import all_problems


def check(names: list[str], device: str, budget: float) -> int:
    """Prints one line a method; 1 where one of them fails."""
    families = {problem.name: problem.family for problem in all_problems("small")}
    failures = 0
    for name in names:
        wanted = METHODS[name].check
        if wanted is None:
            continue
        family = families[wanted.problem]
        row, linear = (
            solve(Task(family, wanted.problem, "small", who, 1, budget, device, None))
            for who in (name, "fastica")
        )
        if "error" in row:
            print(f"{name}: failed: {row['error']}")
            failures += 1
            continue
        value, other = row[wanted.score], linear[wanted.score]
        good = value >= wanted.at_least and value > other
        failures += not good
        print(
            f"{name}: {wanted.problem} {wanted.score} {value:.3f} (at least {wanted.at_least}, "
            f"FastICA {other:.3f}), {row['seconds']:.0f} s: {'' if good else 'NOT '}as shown in "
            f"its paper, {wanted.shown}",
            flush=True,
        )
    return 1 if failures else 0
