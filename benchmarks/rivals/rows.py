"""Results, one JSON object a line, kept as they come so that an interrupted run goes on.

What a row belongs to is its key: problem, size, method, seed, budget and settings. A last line that
a crash cut short is dropped and run again.
"""

from __future__ import annotations

import json
from pathlib import Path

KEY = ("family", "problem", "size", "method", "seed", "budget", "settings")


def key_of(row: dict) -> tuple:
    return tuple(row[name] for name in KEY)


class Rows:
    """The rows of a file, and where new ones go. Without a path they are kept in memory only."""

    def __init__(self, path: Path | None):
        self.path, self.rows = path, []
        if path is None or not path.exists():
            return
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                row = json.loads(line)
                key_of(row)
            except (ValueError, KeyError, TypeError) as error:
                raise SystemExit(
                    f"{path}: line {number}: expected a row of this benchmark, found {line[:60]!r} "
                    f"({error}); give another file with --results"
                ) from None
            self.rows.append(row)
        if whole != text:
            path.write_text(whole, encoding="utf-8")

    def keys(self) -> set[tuple]:
        return {key_of(row) for row in self.rows}

    def add(self, row: dict) -> None:
        self.rows.append(row)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
