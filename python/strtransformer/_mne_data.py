"""Data out of MNE's containers: which channels, which samples, and what must not be used, as
missing.

In: a Raw or Epochs and what was asked for. Out: pieces (channels × samples) and factors for them.
Nothing is separated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._warn import warn

if TYPE_CHECKING:
    from ._typing import Floats

#: Channel types that MNE's ICA takes.
_TYPES = ("mag", "grad", "eeg", "csd", "seeg", "ecog", "dbs", "hbo", "hbr", "fnirs_cw_amplitude",
          "fnirs_fd_ac_amplitude", "fnirs_fd_phase", "fnirs_od", "eog")  # fmt: skip


def is_raw(mne: Any, inst: Any) -> bool:
    """Whether `inst` is Raw (else Epochs); anything else is refused."""
    if isinstance(inst, mne.io.BaseRaw):
        return True
    if not isinstance(inst, mne.BaseEpochs):
        raise TypeError(
            f"inst: expected mne.io.Raw or mne.Epochs, got {type(inst).__name__}; for an array use "
            "strtransformer.StrTransformer, or wrap it with mne.io.RawArray(data, info)"
        )
    if len(inst) == 0:
        raise ValueError(
            "inst: expected at least one epoch, got none; all were dropped (see inst.drop_log)"
        )
    return False


def refuse_raw_options(span: Mapping[str, Any]) -> None:
    given = [name for name, value in span.items() if value is not None]
    if given:
        raise ValueError(
            f"{', '.join(given)}: expected for mne.io.Raw only, got epochs; choose samples and drop"
            " epochs before the fit (epochs.crop, epochs.drop_bad)"
        )


def warn_of_preparation(inst: Any, from_raw: bool) -> None:
    if inst.info["highpass"] < 1e-8:
        warn(
            "the data was not high-pass filtered, so slow drifts will take up components; filter"
            " before the fit, such as inst.filter(1.0, None)",
            RuntimeWarning,
        )
    if not from_raw and inst.baseline is not None:
        warn(
            "the epochs are baseline-corrected, which moves every epoch by another offset; fit on"
            " high-pass filtered epochs without a baseline (baseline=None)",
            RuntimeWarning,
        )


def picked_info(mne: Any, inst: Any, picks: Any) -> Any:
    """Measurement info of the channels that are used, as MNE's ICA keeps it."""
    probe = mne.io.RawArray(np.zeros((len(inst.ch_names), 1)), inst.info, verbose="error")
    if picks is None:
        kinds = dict(zip(inst.ch_names, inst.get_channel_types()))
        try:
            good = probe.pick("data", exclude="bads").ch_names
        except ValueError:  # there are none
            good = []
        names = [name for name in good if kinds[name] in _TYPES]
    else:
        names = probe.pick(picks, exclude="bads").ch_names
    where = [inst.ch_names.index(name) for name in names]
    foreign = sorted(set(inst.get_channel_types(picks=where)) - set(_TYPES)) if where else []
    if foreign:
        raise ValueError(
            f"picks: expected channels of the types {', '.join(_TYPES)}, got {', '.join(foreign)};"
            " leave them out, or give their type with inst.set_channel_types"
        )
    if len(where) < 2:
        raise ValueError(
            f"picks: expected at least two good channels of data, got {len(where)}: {names}; name"
            " others in picks, or see inst.get_channel_types() and inst.info['bads']"
        )
    info = mne.pick_info(inst.info, where)
    if info["comps"]:
        with info._unlock():
            info["comps"] = []  # a compensation needs channels that are not all here
    return info


def raw_data(
    raw: Any,
    info: Any,
    start: float | None,
    stop: float | None,
    reject_by_annotation: bool,
) -> Floats:
    """Channels × samples; NaN where an annotation says bad."""
    first, last = (_sample(raw, at, default) for at, default in ((start, 0), (stop, raw.n_times)))
    if not 0 <= first < last <= raw.n_times:
        raise ValueError(
            f"start, stop: expected 0 ≤ start < stop ≤ {raw.n_times} samples"
            f" ({raw.n_times / raw.info['sfreq']:g} s), got samples {first} to {last}"
        )
    how = "NaN" if reject_by_annotation else None
    names = info["ch_names"]
    return np.asarray(raw.get_data(names, first, last, reject_by_annotation=how, verbose="error"))


def _sample(raw: Any, at: float | None, default: int) -> int:
    if at is None:
        return default
    if isinstance(at, (int, np.integer)):
        return int(at)
    return int(raw.time_as_index(float(at))[0])


def positive_integer(name: str, value: Any) -> int | None:
    if value is not None and (not isinstance(value, (int, np.integer)) or value < 1):
        raise ValueError(f"{name}: expected a whole number from 1, got {value!r}")
    return None if value is None else int(value)


def blank(
    data: Floats,
    info: Any,
    reject: Mapping[str, float],
    flat: Mapping[str, float],
    length: int,
) -> None:
    """Makes stretches of `length` samples whose peak-to-peak amplitude is out of bounds missing, in
    place.
    """
    kinds = np.array(info.get_channel_types())
    for name, bounds in (("reject", reject), ("flat", flat)):
        unknown = sorted(set(bounds) - set(kinds))
        if unknown:
            raise ValueError(
                f"{name}: expected channel types of the data ({', '.join(sorted(set(kinds)))}), got"
                f" {', '.join(unknown)}"
            )
    for first in range(0, data.shape[1], length):
        stretch = data[:, first : first + length]
        used = stretch[:, np.isfinite(stretch).all(axis=0)]
        if used.shape[1] == 0:
            continue
        amplitude = np.ptp(used, axis=1)
        above = any((amplitude[kinds == kind] > bound).any() for kind, bound in reject.items())
        below = any((amplitude[kinds == kind] < bound).any() for kind, bound in flat.items())
        if above or below:
            stretch[:] = np.nan


def check_enough(n_samples: int, n_all: int, n_channels: int, decim: int) -> None:
    if n_samples <= n_channels:
        advice = "give a longer recording"
        if n_samples < n_all:
            advice = (
                f"the others of {n_all} are annotated as bad, outside reject and flat, or not"
                f" finite: loosen them, or {advice}"
            )
        if decim > 1:
            advice = f"decim={decim} has left {n_all}: take a smaller one; {advice}"
        raise ValueError(
            f"inst: expected more than {n_channels} usable samples, since there are {n_channels}"
            f" channels, got {n_samples}; {advice}"
        )


def pre_whitener(info: Any, data: Floats) -> Floats:
    """One factor per channel type (m×1): the standard deviation of all its channels together."""
    kinds = np.array(info.get_channel_types())
    factors = np.empty((len(data), 1))
    for kind in set(kinds):
        deviation = float(np.std(data[kinds == kind]))
        if deviation == 0.0:
            raise ValueError(
                f"inst: expected {kind} channels that vary, got constant ones; leave them out with"
                " picks"
            )
        factors[kinds == kind] = deviation
    return factors
