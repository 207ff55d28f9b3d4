"""Markdown tables of rows: one a family, mean and spread over seeds, and what is missing."""

from __future__ import annotations

from statistics import mean, stdev

from .methods import METHODS


def cell(rows: list[dict], score: str) -> str:
    """`mean ± standard deviation`, with the number that failed; or that the method refuses."""
    values = [row[score] for row in rows if score in row]
    failed = sum("error" in row for row in rows)
    if not values:
        return "failed" if failed else "refused" if rows else "–"
    spread = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
    return f"{mean(values):.3f}{spread}" + (f" ({failed} failed)" if failed else "")


def ordered(values) -> list:
    """Distinct values in the order in which they come."""
    return list(dict.fromkeys(values))


def family_table(rows: list[dict], score: str) -> str:
    """Problems down, methods across; then the mean processor time of a run, and what is told."""
    methods = [name for name in METHODS if any(row["method"] == name for row in rows)]
    lines = [
        "| problem | seeds | " + " | ".join(methods) + " |",
        "|---" * (len(methods) + 2) + "|",
    ]
    for problem in ordered(row["problem"] for row in rows):
        of = [row for row in rows if row["problem"] == problem]
        cells = [cell([row for row in of if row["method"] == name], score) for name in methods]
        seeds = len({row["seed"] for row in of})
        lines.append(f"| {problem} | {seeds} | " + " | ".join(cells) + " |")
    times = []
    for name in methods:
        of = [row for row in rows if row["method"] == name]
        seconds = [row["cpu_seconds"] for row in of if "cpu_seconds" in row]
        times.append(f"{mean(seconds):.1f}" if seconds else "–")
    lines.append("| processor seconds | | " + " | ".join(times) + " |")
    told = [", ".join(METHODS[name].told) or "nothing" for name in methods]
    lines.append("| told | | " + " | ".join(told) + " |")
    return "\n".join(lines)


def missing(rows: list[dict]) -> list[str]:
    """Cells of a family in which another method has a row and this one has none, or no score."""
    gaps = []
    methods = ordered(row["method"] for row in rows)
    for problem in ordered(row["problem"] for row in rows):
        not_run = []
        for method in methods:
            of = [row for row in rows if (row["problem"], row["method"]) == (problem, method)]
            errors = [row["error"] for row in of if "error" in row]
            reasons = [row["refused"] for row in of if "refused" in row]
            if not of:
                not_run.append(method)
            elif len(errors) + len(reasons) == len(of):
                what = f": {errors[0]}" if errors else f" refuses: {reasons[0]}"
                gaps.append(f"{problem}, {method}{what}")
        if not_run:
            gaps.append(f"{problem}: not run with {', '.join(not_run)}")
    return gaps


def markdown(rows: list[dict], score: str) -> str:
    parts = []
    kinds = ordered((row["family"], row["size"], row["budget"]) for row in rows)
    for kind in kinds:
        family, size, budget = kind
        of = [row for row in rows if (row["family"], row["size"], row["budget"]) == kind]
        parts.append(f"### {family}: {score}, size {size}, budget {budget:g}\n")
        parts.append(family_table(of, score) + "\n")
        gaps = missing(of)
        if gaps:
            parts.append("Missing: " + "; ".join(gaps) + ".\n")
    return "\n".join(parts)
