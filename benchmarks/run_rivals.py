"""Neural rivals of StrTransformer on its problems and on theirs (docs/rivals.md).

    pip install -r benchmarks/requirements-rivals.txt
    python benchmarks/run_rivals.py run --results rivals.jsonl --seeds 5 --device cuda
    python benchmarks/run_rivals.py table --results rivals.jsonl

`serve` answers `strt-lab recovery --rivals`; `list` names families and methods; `check` looks for
what each method's own paper shows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rivals import bench, serving, tables
from rivals.checks import check
from rivals.methods import METHODS
from rivals.problems import SIZES, all_problems
from rivals.rows import Rows
from rivals.scores import SCORES


def chosen(asked: str | None, known: list[str], option: str) -> list[str]:
    names = known if asked is None else asked.split(",")
    for name in names:
        if name not in known:
            expected = ", ".join(known)
            raise SystemExit(f"{option}: expected some of {expected}, found `{name}`")
    return names


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, found {text}")
    return value


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = top.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run what is not in the file of results yet")
    run.add_argument("--results", type=Path, required=True, help="rows, one JSON object a line")
    run.add_argument("--families", help="families of problems, with commas [default: all]")
    run.add_argument("--problems", help="problems by name, with commas [default: all of them]")
    run.add_argument("--seeds", type=int, default=5, help="seeds of every problem")
    run.add_argument("--first-seed", type=int, default=1)
    run.add_argument("--size", choices=SIZES, default="small")
    run.add_argument("--data", help="folder of recordings, for the family `sensors`")
    run.add_argument("--jobs", type=int, default=0, help="processes; 0 takes all cores")
    test = commands.add_parser("check", help="each method on a problem of its own paper")
    for command in (run, test):
        command.add_argument("--methods", help="methods, with commas [default: all]")
        command.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
        command.add_argument(
            "--budget", type=positive, default=1.0, help="factor on the rivals' training steps"
        )
    table = commands.add_parser("table", help="print the rows as Markdown")
    table.add_argument("--results", type=Path, required=True)
    table.add_argument("--score", choices=SCORES, default="mcc")
    commands.add_parser("list", help="families and methods")
    serve = commands.add_parser("serve", help="answer requests of strt-lab, one JSON object a line")
    serve.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    serve.add_argument("--budget", type=positive, default=1.0)
    return top


def main() -> int:
    options = parser().parse_args()
    if options.command == "serve":
        serving.serve(options.device, options.budget)
    elif options.command == "table":
        if not options.results.exists():
            raise SystemExit(f"{options.results}: no such file; make it with `run --results`")
        print(tables.markdown(Rows(options.results).rows, options.score))
    elif options.command == "list":
        for problem in all_problems("small", data=""):
            print(f"{problem.family:<20} {problem.name:<24} {problem.published}")
        for method in METHODS.values():
            print(f"{method.name:<20} told {', '.join(method.told) or 'nothing'}; {method.paper}")
    elif options.command == "check":
        names = chosen(options.methods, list(METHODS), "--methods")
        return check(names, options.device, options.budget)
    else:
        problems = all_problems(options.size, options.data)
        families = chosen(
            options.families, list(dict.fromkeys(p.family for p in problems)), "--families"
        )
        problems = [problem for problem in problems if problem.family in families]
        names = chosen(options.problems, [problem.name for problem in problems], "--problems")
        problems = [problem for problem in problems if problem.name in names]
        methods = chosen(options.methods, list(METHODS), "--methods")
        seeds = range(options.first_seed, options.first_seed + options.seeds)
        bench.run(problems, methods, seeds, Rows(options.results), options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
