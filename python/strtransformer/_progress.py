"""Progress of a fit: a bar of tqdm where it is installed (terminal or notebook), else one line on
stderr.

It shows what it is told about steps and computes nothing.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ._typing import Callback

_LINE_EVERY = 1.0  # seconds


class Bar(Protocol):
    """Something that shows how far a run is."""

    def show(self, step: int, text: str) -> None:
        """Shows a step."""

    def close(self) -> None:
        """Ends it."""


def bar(total: int, description: str) -> Bar:
    """Something with ``show(step, text)`` and ``close()``."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(total, description)
    return _Tqdm(tqdm(total=total, desc=description, unit="step"))


class _Tqdm:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def show(self, step: int, text: str) -> None:
        self._inner.set_postfix_str(text, refresh=False)
        self._inner.update(step - self._inner.n)

    def close(self) -> None:
        self._inner.close()


class _Line:
    def __init__(self, total: int, description: str) -> None:
        self._total, self._description, self._shown = total, description, 0.0
        self._waiting: str | None = None  # the last line, where it was not shown
        self._again = "\r" if sys.stderr.isatty() else "\n"

    def show(self, step: int, text: str) -> None:
        now = time.monotonic()
        self._waiting = f"{self._description}: {step}/{self._total} steps, {text}"
        if step < self._total and now - self._shown < _LINE_EVERY:
            return
        self._shown = now
        self._print()

    def _print(self) -> None:
        print(self._waiting, end=self._again, file=sys.stderr, flush=True)
        self._waiting = None

    def close(self) -> None:
        if self._waiting is not None:  # a run may end before its last step
            self._print()
        if self._again == "\r":
            print(file=sys.stderr)


class Reporter:
    """The callback of a fit: shows every step it is told of, then tells the user's own callback."""

    def __init__(self, callback: Callback | None, verbose: int, n_restarts: int | None) -> None:
        self._callback, self._verbose, self._n_restarts = callback, verbose, n_restarts
        self._bar: Bar | None = None
        self._restart: int | None = None

    @property
    def wanted(self) -> bool:
        """Whether anybody wants to be told."""
        return bool(self._verbose) or self._callback is not None

    def __call__(self, told: dict[str, Any]) -> object:
        if self._verbose:
            self._show(told)
        return self._callback(told) if self._callback is not None else False

    def _show(self, told: dict[str, Any]) -> None:
        if self._bar is None or self._restart != told["restart"]:
            self.close()
            self._restart = told["restart"]
            name = "StrTransformer"
            if self._n_restarts is None and self._restart > 0:
                name += f" {self._restart + 1}"
            elif self._n_restarts is not None and self._n_restarts > 1:
                name += f" {self._restart + 1}/{self._n_restarts}"
            self._bar = bar(told["max_iter"], name)
        self._bar.show(told["step"], f"objective {told['smoothed_objective']:.4g}")

    def close(self) -> None:
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
