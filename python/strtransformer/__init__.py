"""Blind source separation with one masked-patch Transformer per source.

The estimator is :class:`StrTransformer`; beside it are classical methods
(:mod:`strtransformer.baselines`), problems with known answers (:mod:`strtransformer.datasets`),
scores (:mod:`strtransformer.metrics`) and files (:func:`read`, :func:`load`). Everything is
computed by a Rust library, ``strtransformer._core``.

Importing this package imports nothing that is slow: NumPy, and scikit-learn for the estimators, are
loaded when something that needs them is first used.
"""

import importlib

from ._core import __version__

# Public name → module that defines it.
_WHERE = {
    "StrTransformer": "._estimator",
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

__all__ = ["__version__", *_WHERE, *_MODULES]


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


def __dir__():
    return sorted(__all__)
