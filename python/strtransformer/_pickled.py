"""What a pickled estimator holds: its parameters and its model, compressed; attributes that follow
from the model are left out and made again.

The networks of a model are float64 with the digits of float32, so that half of their bytes are
zeros; bytes of equal place are brought together, which is what a compressor can use. Nothing is
lost.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from . import _core

#: Attributes that `_publish` makes of the model.
_PUBLISHED = (
    "components_", "mixing_", "mean_", "whitening_", "n_iter_", "converged_", "stop_reason_",
    "history_", "scale_centers_", "expected_patch_size_", "locality_slope_", "assignment_margin_",
    "objective_", "restarts_", "seed_", "config_", "_verdicts", "_labels",
)  # fmt: skip
_MODEL = "_packed_model"
_LEVEL = 6


def packed(state: dict[str, Any]) -> dict[str, Any]:
    """The state of an estimator as it is pickled."""
    model = state.get("model_")
    if model is None:
        return state
    kept = {name: value for name, value in state.items() if name not in _PUBLISHED}
    del kept["model_"]
    restore, (model_bytes, *others) = model.__reduce__()
    dtype = np.asarray(state["mean_"]).dtype
    kept[_MODEL] = (restore, _compressed(model_bytes), others, state["seed_"], dtype)
    return kept


def unpacked(state: dict[str, Any]) -> tuple[dict[str, Any], tuple[int, np.dtype[Any]] | None]:
    """The state with its model, and with what the attributes are made of it; None where there is
    no model, or the attributes are there (a pickle of an earlier version).
    """
    if _MODEL not in state:
        return state, None
    state = dict(state)
    restore, model_bytes, others, seed, dtype = state.pop(_MODEL)
    model: _core.Model = restore(_expanded(model_bytes), *others)
    state["model_"] = model
    return state, (seed, dtype)


def _compressed(plain: bytes) -> bytes:
    """Bytes ordered by their place among eight, then compressed."""
    whole = len(plain) // 8 * 8
    planes = np.frombuffer(plain, np.uint8, whole).reshape(-1, 8).T.tobytes()
    return zlib.compress(planes + plain[whole:], _LEVEL)


def _expanded(packed_bytes: bytes) -> bytes:
    mixed = zlib.decompress(packed_bytes)
    whole = len(mixed) // 8 * 8
    plain: bytes = np.frombuffer(mixed, np.uint8, whole).reshape(8, -1).T.tobytes()
    return plain + mixed[whole:]
