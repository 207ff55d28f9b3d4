"""All problems, family by family."""

from ..interface import Problem
from . import dcl, ivae, nonlinearbss, own, pcl, sensors, sequences, snica, tcl

SIZES = ("small", "published")


def all_problems(size: str, data: str | None = None) -> list[Problem]:
    """Every problem of that size; those from recordings only with a folder of them."""
    found = []
    for module in (own, tcl, ivae, pcl, snica, sequences, dcl, nonlinearbss):
        found += module.problems(size)
    return found + sensors.problems(size, data)
