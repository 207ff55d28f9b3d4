"""What a sweep is asked for: recordings, settings and seeds in, files, names of folders and
configurations out.

Everything that can be refused before a task runs is refused here, by name.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _checks, _core
from .._configure import ESTIMATES

if TYPE_CHECKING:
    from .results import SweepTask

#: Longest piece of a folder's name that a value may be written out as.
_LONGEST_VALUE = 40


def named_recordings(recordings: Any) -> dict[str, Any]:
    """Recordings by name: those of a dict, or the stems of files."""
    if isinstance(recordings, (str, os.PathLike)):
        recordings = [recordings]
    if isinstance(recordings, Mapping):
        named = {_plain(str(name)): value for name, value in recordings.items()}
        if len(named) < len(recordings):
            raise ValueError(
                f"recordings: expected names that differ as names of files, got {list(recordings)}"
            )
    else:
        foreign = (
            isinstance(recordings, np.ndarray)
            or hasattr(recordings, "columns")
            or not np.iterable(recordings)
        )
        recordings = recordings if foreign else list(recordings)
        if foreign or not all(isinstance(path, (str, os.PathLike)) for path in recordings):
            raise TypeError(
                "recordings: expected paths, or a dict from names to paths or arrays, got a"
                f" {type(recordings).__name__}; give arrays with names, as {{'name': array}}"
            )
        named = {}
        for path in map(Path, recordings):
            name = _plain(path.stem)
            if name in named:
                raise ValueError(
                    f"recordings: expected files of different names, got {named[name]} and {path};"
                    " give a dict from names to paths"
                )
            named[name] = path
    if not named:
        raise ValueError("recordings: expected at least one, got none")
    return named


def named_references(reference: Any, sources: Mapping[str, Any]) -> dict[str, Any]:
    if reference is None:
        return {}
    if not isinstance(reference, Mapping):
        return dict.fromkeys(sources, reference)
    named = {_plain(str(name)): value for name, value in reference.items()}
    unknown = sorted(set(named) - set(sources))
    if unknown:
        raise ValueError(
            f"reference: expected names of recordings ({', '.join(sources)}), got"
            f" {', '.join(unknown)}"
        )
    return named


def refuse_named_channels(name: str, value: object) -> None:
    """Refuses what has names of channels and a rate, for which NPY has no place."""
    if isinstance(value, _core.Recording):
        instead = "X.data (and reading={'rate': X.sampling_rate})"
    elif hasattr(value, "columns") and not isinstance(value, np.ndarray):
        instead = "frame.to_numpy()"
    else:
        return
    raise TypeError(
        f"recordings: expected a path or an array for {name!r}, got a {type(value).__name__}, whose"
        f" names of channels would be lost; give the file itself, or {instead}"
    )


#: How a file may be read.
_READING = (
    "rate",
    "channels",
    "start",
    "stop",
    "variable",
    "transpose",
    "delimiter",
    "time_column",
    "prepare",
)
#: Formats of the sources.
_FORMATS = ("npy", "csv", "mat", "parquet", "wav", "wavs", "flac", "edf")


def checked_reading(reading: Any) -> dict[str, Any]:
    """How files are read, in plain values."""
    if reading is not None and not isinstance(reading, Mapping):
        raise ValueError(
            f"reading = {reading!r}: expected a dict with any of {', '.join(_READING)}"
        )
    found = {name: _checks.plain(value) for name, value in (reading or {}).items()}
    if "sampling_rate" in found:
        if "rate" in found:
            raise ValueError(
                "reading: expected rate or sampling_rate, got both; they mean the same"
            )
        found["rate"] = found.pop("sampling_rate")
    unknown = [str(name) for name in found if name not in _READING]
    if unknown:
        raise ValueError(
            f"reading: expected any of {', '.join(_READING)}, got {', '.join(unknown)}"
        )
    for name in ("rate", "start", "stop"):
        if found.get(name) is not None:
            found[name] = _checks.number(f"reading: {name}", found[name])
    for name in ("channels", "variable", "delimiter", "time_column"):
        if found.get(name) is not None:
            _checks.text(f"reading: {name}", found[name], "a text, as the option of strt separate")
    if found.get("prepare") is not None:
        from .._prepare import as_options

        found["prepare"] = as_options(found["prepare"])
    if not isinstance(found.get("transpose"), bool | None):
        raise ValueError(
            f"reading: transpose = {found['transpose']!r}: expected True, False or None"
        )
    return found


def reading_of(value: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """How a recording is read: the rows of an array are samples, whatever its shape."""
    if isinstance(value, (str, os.PathLike)) or asked.get("transpose") is not None:
        return asked
    return {**asked, "transpose": False}


def checked_formats(formats: Any) -> list[str]:
    if isinstance(formats, str) or not np.iterable(formats):
        raise ValueError(f"formats = {formats!r}: expected a list, such as ['mat']")
    unknown = [str(name) for name in formats if name not in _FORMATS]
    if unknown:
        raise ValueError(
            f"formats: expected any of {', '.join(_FORMATS)}, got {', '.join(unknown)}"
        )
    return list(formats)


def as_file(value: Any, place: Path, overwrite: bool) -> Path:
    """The path of a recording; an array is written to `place` first."""
    if isinstance(value, (str, os.PathLike)):
        return Path(value).absolute()
    array = np.asarray(_checks.table(value))
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.number):
        raise ValueError(
            f"{place.stem}: expected an array of numbers (n_samples, n_channels), got shape"
            f" {array.shape} of {array.dtype}"
        )
    if place.exists():
        try:
            found = np.load(place)
        except (ValueError, EOFError, OSError) as error:
            found = None
            if not overwrite:
                raise ValueError(
                    f"{place}: expected the array of an earlier sweep, found a damaged file"
                    f" ({error}); remove it, or give overwrite=True"
                ) from error
        if found is not None and np.array_equal(found, array, equal_nan=True):
            return place
        if not overwrite:
            raise ValueError(
                f"{place}: expected the array that is given now, found other values, which an"
                " earlier sweep has left; choose another name or another out, or give"
                " overwrite=True"
            )
    place.parent.mkdir(exist_ok=True)
    beside = place.with_suffix(f".{os.getpid()}.partial")
    try:
        with open(beside, "wb") as file:
            np.save(file, array)
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)
    return place


def choices_of(grid: Any) -> list[dict[str, Any]]:
    """The settings that vary, one dict a combination."""
    if grid is None:
        return [{}]
    if not isinstance(grid, Mapping):
        if isinstance(grid, (str, bytes)) or not np.iterable(grid):
            raise ValueError(
                f"grid = {grid!r}: expected a dict from names to lists of values, or a list of"
                " dicts"
            )
        choices = [checked_settings("grid", choice) for choice in grid]
        if not choices:
            raise ValueError(
                "grid: expected at least one dict of settings, got none; leave grid out where"
                " nothing varies"
            )
        return choices
    lists = {}
    for name, values in grid.items():
        if isinstance(values, (str, bytes, Mapping)) or not np.iterable(values):
            raise ValueError(f"grid: expected a list of values for {name!r}, got {values!r}")
        lists[name] = list(values)
        if not lists[name]:
            raise ValueError(
                f"grid: expected at least one value for {name!r}, got none; leave it out where it"
                " does not vary"
            )
    return [
        checked_settings("grid", dict(zip(lists, values)))
        for values in itertools.product(*lists.values())
    ]


def checked_settings(where: str, settings: Any) -> dict[str, Any]:
    """Settings in plain values."""
    if not isinstance(settings, Mapping) or not all(isinstance(name, str) for name in settings):
        raise ValueError(
            f"{where}: expected a dict from names of settings to values, got {settings!r}"
        )
    if "random_state" in settings:
        raise ValueError(
            f"{where}: expected no random_state, since every task has its own seed; give seeds=..."
        )
    return {name: _checks.plain(value) for name, value in settings.items()}


def checked_seeds(seeds: Any) -> list[int]:
    if _checks.is_whole(seeds):
        seeds = [seeds]
    if isinstance(seeds, str) or not np.iterable(seeds):
        raise ValueError(
            f"seeds: expected whole numbers from 0 and below 2**63, such as range(5), got {seeds!r}"
        )
    seeds = list(seeds)
    wrong = [seed for seed in seeds if not _checks.is_whole(seed) or not 0 <= seed < 2**63]
    if wrong or not seeds:
        raise ValueError(
            "seeds: expected whole numbers from 0 and below 2**63, at least one, got"
            f" {wrong or 'none'}"
        )
    return [int(seed) for seed in seeds]


def task_name(recording: str, choice: Mapping[str, Any], seed: int) -> str:
    pieces = [
        recording,
        *(f"{_plain(name)}={_value(value)}" for name, value in choice.items()),
        f"seed={seed}",
    ]
    return "__".join(pieces)


def _value(value: object) -> str:
    """A value as a piece of a name: itself where it is short and plain, else a digest."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    plain = _plain(text)
    if plain == text and len(plain) <= _LONGEST_VALUE:
        return plain
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _plain(text: str) -> str:
    """Text that every file system takes as a name."""
    plain = re.sub(r"[^\w.+-]", "_", text).strip(".")
    if not plain:
        raise ValueError(f"expected a name with letters or digits, got {text!r}")
    return plain


def check_names(tasks: list[SweepTask]) -> None:
    names = [task.name for task in tasks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"grid, seeds: expected combinations that differ, got {', '.join(twice)} more than once"
        )


#: What a task takes from the parameters of `StrTransformer`.
_PARAMETERS = ("n_components", "mixer", "preset", "max_iter", "tol", "n_restarts", "config")


def configured(order: Mapping[str, Any]) -> tuple[_core.Config, str | None]:
    """The configuration of a task, and how the number of sources is to be estimated; None where it
    is given. Refuses what cannot be run.
    """
    params = dict(order["params"])
    seed = params.pop("random_state")
    dotted = {name: params.pop(name) for name in list(params) if "." in name}
    unknown = sorted(set(params) - set(_PARAMETERS))
    if unknown:
        raise ValueError(
            f"settings, grid: expected {', '.join(_PARAMETERS)}, or names of the configuration such"
            f" as weights.smoothness, got {', '.join(unknown)}"
        )
    config = params.get("config")
    if dotted:
        if config is not None and not isinstance(config, Mapping):
            raise ValueError(
                f"settings: expected config as a dict beside {', '.join(dotted)}, got"
                f" {type(config).__name__}"
            )
        config = {**(config or {}), **dotted}
    number = params.get("n_components")
    if number is None:
        raise ValueError(
            "settings: expected n_components, the number of sources, or 'auto' to estimate it, got"
            " nothing; give settings=dict(n_components=...)"
        )
    estimate = number if isinstance(number, str) else None
    if estimate is not None and estimate not in ESTIMATES:
        raise ValueError(f"n_components = {number!r}: expected a whole number, 'auto' or 'mdl'")
    max_iter, tol, restarts = (params.get(name) for name in ("max_iter", "tol", "n_restarts"))
    settings = _core.configure(
        preset=_checks.text(
            "preset", params.get("preset", "default"), "'default', 'fast' or 'paper'"
        ),
        mixer=_checks.text("mixer", params.get("mixer", "affine"), "'affine' or 'mlp'"),
        config=config,
        n_components=None if estimate else _checks.whole("n_components", number, 1),
        max_iter=None if max_iter is None else _checks.whole("max_iter", max_iter, 0),
        tol=None if tol is None else _checks.number("tol", tol),
        n_restarts=None if restarts is None else _checks.whole("n_restarts", restarts, 1),
        seed=seed,
        threads=order["threads"],
    )
    return settings, estimate
