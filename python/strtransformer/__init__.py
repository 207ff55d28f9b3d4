"""Blind source separation with one masked-patch Transformer per source.

The estimator is :class:`StrTransformer`; beside it are classical methods
(:mod:`strtransformer.baselines`), problems with known answers (:mod:`strtransformer.datasets`),
scores (:mod:`strtransformer.metrics`) and files (:func:`read`, :func:`load`). Everything is
computed by a Rust library, ``strtransformer._core``.

Importing this package imports nothing that is slow: NumPy, and scikit-learn for the estimators, are
loaded when something that needs them is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._core import __version__

if TYPE_CHECKING:
    # What `__getattr__` finds when it is first asked for, for type checkers and editors.
    from . import baselines, datasets, io, metrics, mne
    from ._estimator import StrTransformer
    from ._prepare import Prepare
    from ._sweep import SweepError, SweepResult, SweepTask, SweepWarning, sweep
    from .io import Recording, load, read, save

# Public name → module that defines it.
_WHERE = {
    "StrTransformer": "._estimator",
    "Prepare": "._prepare",
    "Recording": ".io",
    "load": ".io",
    "read": ".io",
    "save": ".io",
    "sweep": "._sweep",
    "SweepError": "._sweep",
    "SweepResult": "._sweep",
    "SweepTask": "._sweep",
    "SweepWarning": "._sweep",
}
_MODULES = ("baselines", "datasets", "io", "metrics", "mne")

# Written out, since type checkers read it; a test compares it with the table above.
__all__ = [
    "__version__",
    "StrTransformer",
    "Prepare",
    "Recording",
    "load",
    "read",
    "save",
    "sweep",
    "SweepError",
    "SweepResult",
    "SweepTask",
    "SweepWarning",
    "baselines",
    "datasets",
    "io",
    "metrics",
    "mne",
]


if not TYPE_CHECKING:  # else every name would be known to type checkers

    def __getattr__(name):
        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        if name in _WHERE:
            value = getattr(importlib.import_module(_WHERE[name], __name__), name)
            globals()[name] = value
            return value
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}; it has {', '.join(sorted(__all__))}"
        )


def __dir__() -> list[str]:
    return sorted(__all__)
