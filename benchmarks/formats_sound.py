"""Compares what strt-io reads and writes with the reference programs, sample by sample.

    cargo build --release --package strt-io --example convert
    pip install wfdb soundfile h5py snirf mne scipy pyedflib zstandard
    python benchmarks/formats_sound.py [--public DIR]

Prints a table: format, reference, number of files, number of samples, largest difference (of the
largest value of the file). Files are generated; `--public` takes a folder with others, such as
`sample-data` of github.com/MIT-LCP/wfdb-python and the files of github.com/fNIRS/snirf-samples, and
compares every WFDB header, FLAC, Ogg, HDF5 and SNIRF file in it. A file that the reference cannot
read is counted as skipped; one that only we cannot read is told.
"""

import argparse
import gzip
import subprocess
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path

import h5py
import numpy as np
import pyedflib
import scipy.io
import soundfile
import wfdb
import zstandard

warnings.filterwarnings("ignore")
ROOT = Path(__file__).resolve().parent.parent
CONVERT = ROOT / "target/release/examples/convert"
rng = np.random.default_rng(5)


class Failed(Exception):
    """Ours could not read a file."""


def ours(path, channels=None, scratch=None):
    """Values (samples, channels), rate and names as strt-io reads them, in double precision."""
    out = scratch / "out.mat"
    command = [CONVERT, path, out] + ([channels] if channels else [])
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if run.returncode != 0:
        raise Failed(run.stderr.strip())
    found = scipy.io.loadmat(out)
    names = [str(name[0]) if name.size else "" for name in found["names"].ravel()]
    rate = float(found["fs"].item()) if "fs" in found else None
    return found["signals"], rate, names


class Table:
    """Collects the largest difference per format and reference."""

    def __init__(self):
        self.rows = defaultdict(lambda: [0, 0, 0.0])
        self.skipped = defaultdict(int)
        self.told = []

    def add(self, kind, reference, name, found, expected, rates=None):
        found, expected = np.asarray(found, float), np.asarray(expected, float)
        if expected.ndim == 1:
            expected = expected[:, None]
        row = self.rows[kind, reference]
        row[0] += 1
        if found.shape != expected.shape or not np.array_equal(np.isnan(found), np.isnan(expected)):
            self.told.append(
                f"{name}: shape or missing samples: {found.shape}, {expected.shape}, "
                f"{np.isnan(found).sum()}, {np.isnan(expected).sum()}"
            )
            row[2] = np.inf
            return
        if rates and rates[0] is not None and abs(rates[0] - rates[1]) > 1e-9 * rates[1]:
            self.told.append(f"{name}: rate {rates[0]}, reference {rates[1]}")
        row[1] += found.size
        size = np.nanmax(np.abs(expected), initial=0.0) or 1.0
        difference = np.nanmax(np.abs(found - expected), initial=0.0) / size
        row[2] = max(row[2], difference)

    def show(self):
        print(
            "| format | reference | files | samples | largest difference |\n|---|---|---|---|---|"
        )
        for (kind, reference), (files, samples, difference) in self.rows.items():
            print(f"| {kind} | {reference} | {files} | {samples} | {difference:.1e} |")
        for kind, count in self.skipped.items():
            print(f"skipped, not read by the reference: {kind} {count}")
        print("\n".join(self.told))


def compare_wfdb(table, path, scratch, kind=None):
    record = str(path.with_suffix(""))
    header = wfdb.rdheader(record)
    try:
        if isinstance(header, wfdb.MultiRecord):
            found = wfdb.rdrecord(record, m2s=True, smooth_frames=True)
            groups = [(1, range(found.n_sig), found.p_signal)]
            kind = kind or "WFDB, segments"
        else:
            found = wfdb.rdrecord(record, smooth_frames=False)
            per_frame = found.samps_per_frame
            groups = [
                (n, [i for i in range(found.n_sig) if per_frame[i] == n], None)
                for n in sorted(set(per_frame))
            ]
            kind = kind or ("WFDB, FLAC" if set(found.fmt) & {"508", "516", "524"} else "WFDB")
    except Exception as error:
        table.skipped["WFDB"] += 1
        return
    for n, channels, values in groups:
        if values is None:
            values = np.column_stack([found.e_p_signal[i] for i in channels])
        # A channel without any sample is refused by ours.
        kept = [k for k in range(values.shape[1]) if not np.isnan(values[:, k]).all()]
        chosen = ",".join(str(list(channels)[k] + 1) for k in kept)
        got, rate, _ = ours(path, chosen, scratch)
        table.add(kind, "wfdb", path.name, got, values[:, kept], (rate, found.fs * n))


def compare_sound(table, path, scratch, kind):
    try:
        expected, rate = soundfile.read(path, always_2d=True)
    except Exception:
        table.skipped[kind] += 1
        return
    got, own_rate, _ = ours(path, None, scratch)
    table.add(kind, "soundfile", path.name, got, expected, (own_rate, rate))


def compare_snirf(table, path, scratch):
    import mne
    import snirf

    with snirf.Snirf(str(path), "r") as file:
        block = file.nirs[0].data[0]
        expected = np.array(block.dataTimeSeries)
    got, rate, names = ours(path, None, scratch)
    table.add("SNIRF", "snirf", path.name, got, expected)
    try:
        raw = mne.io.read_raw_snirf(path, verbose="error")
    except Exception:
        table.skipped["SNIRF by MNE"] += 1
        return
    # MNE sorts the channels, and calls processed data by names of its own.
    shared = [name for name in raw.ch_names if name in names]
    if shared:
        columns = [names.index(name) for name in shared]
        table.add(
            "SNIRF",
            "MNE",
            path.name,
            got[:, columns],
            raw.get_data(shared).T,
            (rate, raw.info["sfreq"]),
        )


def walk(samples, channels, bits):
    steps = rng.normal(size=(samples, channels)) * 2 ** (bits - 1) / np.sqrt(samples) / 4
    top = 2 ** (bits - 1) - 1
    return np.clip(np.cumsum(steps, axis=0), -top, top).astype(np.int64)


def generated_sound(table, folder):
    for subtype, bits in [("PCM_S8", 8), ("PCM_16", 16), ("PCM_24", 24)]:
        for channels in [1, 2, 3, 8]:
            for make in ["walk", "noise", "silence"]:
                numbers = walk(20_000, channels, bits)
                if make == "noise":
                    numbers = rng.integers(
                        -(2 ** (bits - 1)), 2 ** (bits - 1), size=(9_999, channels)
                    )
                if make == "silence":
                    numbers[:] = 3
                path = folder / f"{subtype}{channels}{make}.flac"
                soundfile.write(
                    path, (numbers << (32 - bits)).astype(np.int32), 22_050, subtype=subtype
                )
                compare_sound(table, path, folder, "FLAC")
    for channels in [1, 2, 6]:
        for rate in [8_000, 44_100]:
            path = folder / f"{channels}_{rate}.ogg"
            data = np.clip(np.cumsum(rng.normal(size=(50_000, channels)), axis=0) / 900, -1, 1)
            with soundfile.SoundFile(
                path, "w", rate, channels, format="OGG", subtype="VORBIS"
            ) as file:
                for start in range(0, len(data), 5_000):
                    file.write(data[start : start + 5_000])
            compare_sound(table, path, folder, "Ogg Vorbis")


def generated_wfdb(table, folder):
    for code, bits in [
        ("16", 16),
        ("24", 24),
        ("32", 30),
        ("80", 8),
        ("212", 12),
        ("508", 8),
        ("516", 16),
        ("524", 24),
    ]:
        for channels in [1, 2, 5]:
            name = f"g{code}_{channels}"
            digital = walk(3_001, channels, bits)
            wfdb.wrsamp(
                name,
                fs=250,
                units=["mV"] * channels,
                sig_name=[f"c{i}" for i in range(channels)],
                d_signal=digital,
                fmt=[code] * channels,
                adc_gain=[37.5] * channels,
                baseline=[11] * channels,
                write_dir=str(folder),
            )
            compare_wfdb(table, folder / f"{name}.hea", folder)


def generated_packed(table, folder):
    data = rng.normal(size=(5_000, 4))
    np.save(folder / "a.npy", data)
    np.savetxt(folder / "a.csv", data, delimiter=",")
    for name, kind in [("a.npy", "NPY"), ("a.csv", "CSV")]:
        raw = (folder / name).read_bytes()
        for ending, packed in [
            ("gz", gzip.compress(raw)),
            ("zst", zstandard.compress(raw, 3)),
            ("zst", zstandard.compress(raw, 19)),
        ]:
            path = folder / f"{name}.{ending}"
            path.write_bytes(packed)
            got, _, _ = ours(path, None, folder)
            expected = (
                np.loadtxt(folder / name, delimiter=",")
                if kind == "CSV"
                else np.load(folder / name)
            )
            table.add(f"{kind} in {ending}", "numpy", path.name, got, expected)


def generated_hdf5(table, folder):
    layouts = [
        dict(),
        dict(chunks=(100, 3)),
        dict(chunks=(64, 7), maxshape=(None, 7)),
        dict(chunks=(50, 2), maxshape=(None, None)),
        dict(chunks=(3_000, 7), compression="gzip"),
        dict(chunks=(128, 2), compression="gzip", shuffle=True),
        dict(chunks=(33, 5), maxshape=(None, 7), compression="gzip", fletcher32=True),
    ]
    for libver in ["earliest", "v108", "v110", "latest"]:
        for i, layout in enumerate(layouts):
            for kind in ["<f8", ">f4", "<i2", "<f2", "u1"]:
                path = folder / f"{libver}_{i}_{kind.strip('<>')}.h5"
                data = (rng.normal(size=(3_000, 7)) * 50 + 100).astype(kind)
                version = libver if libver in ("earliest", "latest") else (libver, libver)
                with h5py.File(path, "w", libver=version) as file:
                    for k in range(12):
                        file.attrs[f"attribute {k}"] = "text"
                    file.create_dataset("data", data=data, **layout)
                got, _, _ = ours(path, None, folder)
                with h5py.File(path) as file:
                    table.add("HDF5", "h5py", path.name, got, file["data"][...])


def generated_snirf(table, folder):
    for k in range(3):
        path = folder / f"g{k}.snirf"
        with h5py.File(path, "w", libver="latest" if k == 1 else "earliest") as file:
            text = h5py.string_dtype()
            put = lambda name, value: file.create_dataset(
                name, data=value, dtype=text if isinstance(value, str) else None
            )
            put("formatVersion", "1.0")
            for name, value in [
                ("SubjectID", "x"),
                ("MeasurementDate", "2020-01-01"),
                ("TimeUnit", "s"),
                ("MeasurementTime", "00:00:00Z"),
                ("LengthUnit", "mm"),
                ("FrequencyUnit", "Hz"),
            ]:
                put(f"nirs/metaDataTags/{name}", value)
            put("nirs/data1/dataTimeSeries", np.abs(rng.normal(size=(900, 24))) + 0.1)
            put("nirs/data1/time", np.array([2.0, 0.125]) if k == 2 else np.arange(900) / 8.0)
            for c in range(24):
                for name, value in [
                    ("sourceIndex", c // 4 + 1),
                    ("detectorIndex", c // 2 % 2 + 1),
                    ("wavelengthIndex", c % 2 + 1),
                    ("dataType", 1),
                    ("dataTypeIndex", 1),
                ]:
                    put(f"nirs/data1/measurementList{c + 1}/{name}", np.int32(value))
            put("nirs/probe/wavelengths", np.array([760.0, 850.0]))
            put("nirs/probe/sourcePos3D", rng.normal(size=(6, 3)) * 30)
            put("nirs/probe/detectorPos3D", rng.normal(size=(2, 3)) * 30)
        compare_snirf(table, path, folder)


def written(table, folder):
    """What we write, read by the reference programs."""
    for rate, samples in [(256, 2_560), (250, 1_234), (1_000, 30_001)]:
        data = rng.normal(size=(samples, 3)) * [1.0, 1e-2, 1e4]
        np.savetxt(
            folder / "w.csv",
            np.column_stack([np.arange(samples) / rate, data]),
            delimiter=",",
            header="time,s1,s2,s3",
            comments="",
            fmt="%.17g",
        )
        for ending in ["edf", "flac", "wav"]:
            out = folder / f"w.{ending}"
            run = subprocess.run(
                [str(CONVERT), str(folder / "w.csv"), str(out)], capture_output=True, text=True
            )
            if run.returncode != 0:
                raise Failed(run.stderr)
            if ending == "edf":
                with pyedflib.EdfReader(str(out)) as file:
                    got = np.column_stack([file.readSignal(i) for i in range(3)])
                    rates = (file.getSampleFrequency(0), rate)
                steps = (data.max(axis=0) - data.min(axis=0)) / 65_535
                off = np.abs(got[:samples] - data) / steps
                table.add(
                    "EDF written, in steps",
                    "pyedflib",
                    out.name,
                    off.max(axis=0)[None, :],
                    np.zeros((1, 3)),
                    rates,
                )
            else:
                got, own = soundfile.read(out)
                factor = np.ones(3) if ending == "wav" else 0.99 / np.abs(data).max(axis=0)
                table.add(
                    f"{ending.upper()} written",
                    "soundfile",
                    out.name,
                    got / factor / np.abs(data).max(axis=0),
                    data / np.abs(data).max(axis=0),
                    (own, rate),
                )


def public(table, folder, scratch):
    for path in sorted(Path(folder).rglob("*")):
        try:
            if path.suffix == ".hea" and not path.stem.endswith("_layout"):
                compare_wfdb(table, path, scratch)
            elif path.suffix in (".flac", ".ogg"):
                compare_sound(
                    table, path, scratch, {".flac": "FLAC", ".ogg": "Ogg Vorbis"}[path.suffix]
                )
            elif path.suffix == ".snirf":
                compare_snirf(table, path, scratch)
        except Failed as error:
            table.told.append(f"not read by ours: {error}")
        except Exception as error:
            table.skipped[f"{path.suffix} ({type(error).__name__})"] += 1


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    arguments.add_argument("--public", metavar="DIR")
    arguments = arguments.parse_args()
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for make in [
            generated_sound,
            generated_wfdb,
            generated_packed,
            generated_hdf5,
            generated_snirf,
            written,
        ]:
            make(table, folder)
        if arguments.public:
            print("generated files:")
            table.show()
            table = Table()
            public(table, arguments.public, folder)
            print("\npublic files:")
    table.show()


if __name__ == "__main__":
    main()
