"""Compares recordings of a folder with what the reference readers of their formats read.

    python python/tools/formats.py FOLDER            # a Markdown table
    python python/tools/formats.py FOLDER --files    # and a line for every file

Reference readers are MNE (BrainVision, FIF, GDF, EEGLAB), pyxdf (XDF), pyedflib (EDF, BDF), wfdb
(WFDB) and soundfile (sound); files whose reader is not installed are counted as not compared. All
samples of all channels that this package reads by default are compared, channel by channel, by name
where the reference reader has names. A difference is relative to the largest value of the file.
Samples that this package calls missing (gaps of FIF, breaks of XDF) are left out.

Files that are refused here but not by the reference reader are named below the table, with why. The
exit status is 1 when a file differs by more than 1e-6.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

import strtransformer.io

#: What may be lost to rounding: some readers scale in single precision.
TOLERANCE = 1e-6


#: Units of this package in terms of those of MNE, which has volts and siemens.
PREFIXES = {"nV": 1e9, "µV": 1e6, "uV": 1e6, "mV": 1e3, "µS": 1e6, "uS": 1e6}


def mne_raw(read):
    def values(path):
        import mne

        mne.set_log_level("error")
        raw = getattr(mne.io, read)(path, preload=True)
        return {None: (raw.ch_names, raw.get_data().T)}

    return values


def eeglab(path):
    try:
        return mne_raw("read_raw_eeglab")(path)
    except TypeError:
        import mne

        # Trials end to end, as this package reads them.
        epochs = mne.read_epochs_eeglab(path)
        return {None: (epochs.ch_names, np.concatenate(list(epochs.get_data().swapaxes(1, 2))))}


def xdf(path):
    import pyxdf

    streams, _ = pyxdf.load_xdf(path)
    found = {}
    for stream in streams:
        is_regular = float(stream["info"]["nominal_srate"][0]) > 0
        is_numeric = stream["info"]["channel_format"] != ["string"]
        if is_regular and is_numeric and len(stream["time_stamps"]):
            found[stream["info"]["name"][0]] = (None, np.asarray(stream["time_series"], float))
    if not found:
        raise ValueError("no stream of numbers with a rate")
    return found


def edf(path):
    import pyedflib

    with pyedflib.EdfReader(str(path)) as file:
        columns = [file.readSignal(channel) for channel in range(file.signals_in_file)]
        return {None: (file.getSignalLabels(), np.column_stack(columns))}


def wfdb_record(path):
    import wfdb

    record = wfdb.rdrecord(str(path.with_suffix("")))
    return {None: (record.sig_name, record.p_signal)}


def sound(path):
    import soundfile

    return {None: (None, soundfile.read(path, always_2d=True)[0])}


#: Ending: format, reference reader, function.
READERS = {
    "vhdr": ("BrainVision", "MNE", mne_raw("read_raw_brainvision")),
    "ahdr": ("BrainVision", "MNE", mne_raw("read_raw_brainvision")),
    "fif": ("FIF", "MNE", mne_raw("read_raw_fif")),
    "gdf": ("GDF", "MNE", mne_raw("read_raw_gdf")),
    "set": ("EEGLAB", "MNE", eeglab),
    "xdf": ("XDF", "pyxdf", xdf),
    "edf": ("EDF", "pyedflib", edf),
    "bdf": ("BDF", "pyedflib", edf),
    "hea": ("WFDB", "wfdb", wfdb_record),
    "wav": ("WAV", "soundfile", sound),
    "flac": ("FLAC", "soundfile", sound),
    "ogg": ("Ogg", "soundfile", sound),
}


def places(names, wanted):
    """Where the channels are, by name; in their order where names were made up or made unique."""
    if set(wanted) <= set(names):
        return [names.index(name) for name in wanted]
    if len(names) != len(wanted):
        raise ValueError(f"channels {wanted}, not {names}")
    return list(range(len(names)))


def matched(reader, recording, names, values):
    """Both as samples × channels, of the channels that this package reads."""
    ours = recording.data
    if names is not None:
        values = values[:, places(list(names), recording.channel_names)]
    # Numbers of FIF are those of the file for both; MNE leaves the power of ten of units out.
    if reader == "MNE" and recording.format != "FIF":
        # EEGLAB's files name no unit; MNE takes microvolts for granted.
        default = 1e6 if recording.format == "EEGLAB" else 1.0
        values = values * [PREFIXES.get(unit, 1.0) if unit else default for unit in recording.units]
    if len(values) < len(ours):
        # Breaks of a stream are missing samples here; pyxdf has none there.
        ours = ours[~np.isnan(ours).all(axis=1)]
    return ours, values


def difference(reader, recording, names, values):
    """Largest difference relative to the largest value, and samples left out."""
    ours, theirs = matched(reader, recording, names, values)
    if ours.shape != theirs.shape:
        raise ValueError(f"{ours.shape} numbers, not {theirs.shape}")
    missing = np.isnan(ours)
    largest = np.nanmax(np.abs(theirs), initial=0.0) or 1.0
    apart = np.abs(ours - theirs)[~missing & ~np.isnan(theirs)]
    n_missing = int(np.isnan(recording.data).any(axis=1).sum())
    return float(apart.max(initial=0.0) / largest), n_missing


def compared(path):
    """What came of one file: a word, the largest difference, and what to say."""
    _, reader, reference = READERS[path.suffix[1:].lower()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = reference(path)
    except ModuleNotFoundError as error:
        return "not compared", 0.0, f"{error.name} is not installed"
    except Exception as error:
        theirs, why = None, f"{type(error).__name__}: {error}".splitlines()[0]
    worst, notes = 0.0, []
    for variable in theirs or [None]:
        try:
            recording = strtransformer.io.read(path, variable=variable)
        except (ValueError, OSError) as error:
            return ("refused" if theirs else "neither"), 0.0, str(error)
        if theirs is None:
            return "ours only", 0.0, why
        try:
            apart, missing = difference(reader, recording, *theirs[variable])
        except ValueError as error:
            return "differs", np.inf, str(error)
        worst = max(worst, apart)
        notes.append(f"{recording.data.shape[0]} × {recording.data.shape[1]}, {missing} missing")
    return ("same" if worst <= TOLERANCE else "differs"), worst, "; ".join(notes)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--files", action="store_true", help="also print a line for every file")
    arguments = arguments.parse_args()
    rows, refused, failed = {}, [], False
    for path in sorted(arguments.folder.rglob("*")):
        if path.suffix[1:].lower() not in READERS:
            continue
        name, reader, _ = READERS[path.suffix[1:].lower()]
        outcome, apart, note = compared(path)
        failed |= outcome == "differs"
        if outcome == "refused":
            refused.append(note)
        if arguments.files:
            print(f"{path.relative_to(arguments.folder)}: {outcome}, {apart:.1e}; {note}")
        rows.setdefault((name, reader), []).append((outcome, apart))
    if arguments.files:
        print()
    print(
        "| format | reference reader | files compared | largest difference | read here only"
        " | refused here only | read by neither |"
    )
    print("|---|---|---|---|---|---|---|")
    for (name, reader), found in sorted(rows.items()):
        count = lambda *words: sum(outcome in words for outcome, _ in found)
        worst = max(apart for _, apart in found)
        print(
            f"| {name} | {reader} | {count('same', 'differs')} | {worst:.1e} |"
            f" {count('ours only')} | {count('refused')} | {count('neither')} |"
        )
    if refused:
        print("\nRefused here only:", *refused, sep="\n- ")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
