"""Real recordings through the `strt` program, with figures that do not depend on a listener.

    python benchmarks/real_recordings.py --strt target/release/strt --data ../shared/data \\
        [--only fecg]

- fecg: 8 channels of skin electrodes on a pregnant woman (DaISy). Heart rate of every component,
  from its beats.
- eeg: 32 channels with eye movements (EEGLAB). Largest |correlation| of a component with
  FPz - EOG1, 1 to 40 Hz.
- bio: five recordings of different signals (BioSPPy), mixed with noise; three of one person
  (NeuroKit), likewise.

Needs numpy (see requirements.txt). Everything that is random has a fixed seed.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np


def band(x, rate, low, high):
    """x without what lies outside low..high Hz, by its Fourier series."""
    spectrum = np.fft.rfft(x - x.mean(axis=0), axis=0)
    frequency = np.fft.rfftfreq(len(x), 1 / rate)
    spectrum[(frequency < low) | (frequency > high)] = 0
    return np.fft.irfft(spectrum, len(x), axis=0)


def correlations(x, y):
    """|correlation| of the columns of x with y."""
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return np.abs(z.T @ ((y - y.mean()) / y.std())) / len(y)


def beats(x, rate):
    """Beats per minute, and the deviation of the intervals between beats over their mean."""
    strength = band(x, rate, 8, 40) ** 2
    width = int(0.08 * rate)
    strength = np.convolve(strength, np.ones(width) / width, mode="same")
    threshold = 0.3 * np.percentile(strength, 98)
    found, pause = [], int(0.25 * rate)
    for t in np.argsort(-strength):
        if strength[t] < threshold:
            break
        if all(abs(t - other) > pause for other in found):
            found.append(t)
    intervals = np.diff(np.sort(found)) / rate
    if len(intervals) < 5:
        return 0.0, np.inf
    return 60 / np.median(intervals), intervals.std() / intervals.mean()


class Program:
    def __init__(self, path, folder, arguments):
        self.path, self.folder, self.arguments = path, folder, arguments

    def separate(self, name, recording, *arguments):
        """The sources and the summary of one run."""
        out = self.folder / name
        command = [self.path, "separate", recording, "--out", out, "--quiet"]
        command += [*arguments, *self.arguments]
        subprocess.run([str(word) for word in command], check=True)
        summary = json.loads((out / "summary.json").read_text())
        return np.load(out / "sources.npy").astype(float), summary

    def channels(self, name, recording):
        """The channels of a recording as the program reads them, by name.

        K = m sources and the mixer give them back.
        """
        count = self.all_sources(recording)
        sources, summary = self.separate(name, recording, "--steps", "1", *count)
        mixer = json.loads((self.folder / name / "mixer.json").read_text())
        values = sources @ np.array(mixer["matrix"]).T + np.array(mixer["offset"])
        return dict(zip(mixer["channels"], values.T)), summary["input"]["sampling_rate"]

    def all_sources(self, recording):
        command = [str(self.path), "info", str(recording), "--json"]
        info = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        kept = [channel for channel in info["channels"] if channel["left_out"] is None]
        return ["--sources", str(len(kept))]


def fecg(program, data):
    recording = data / "daisy_fecg" / "FOETAL_ECG.dat"
    sources, summary = program.separate("fecg", recording, *program.all_sources(recording))
    rate = summary["input"]["sampling_rate"]
    print(f"foetal ECG: {sources.shape[0]} samples, {sources.shape[1]} sources, "
          f"{summary['wall_seconds']:.1f} s")
    for k, x in enumerate(sources.T, 1):
        bpm, spread = beats(x, rate)
        print(f"  s{k}: {bpm:5.1f} beats/min, intervals vary by {100 * spread:.0f} %")


def eeg(program, data):
    recording = data / "eeglab_eeg32" / "eeglab_data.set"
    channels, rate = program.channels("eeg-channels", recording)
    eye = band(channels["FPz"] - channels["EOG1"], rate, 1, 40)
    others = [x for name, x in channels.items() if name not in ("FPz", "EOG1", "EOG2")]
    raw = correlations(band(np.array(others).T, rate, 1, 40), eye).max()
    sources, summary = program.separate("eeg", recording, *program.all_sources(recording))
    found = correlations(band(sources, rate, 1, 40), eye)
    print(f"EEG: {sources.shape[0]} samples, {sources.shape[1]} sources, "
          f"{summary['wall_seconds']:.1f} s")
    print(f"  s{found.argmax() + 1}: |correlation| with FPz - EOG1 (1 to 40 Hz) {found.max():.3f}; "
          f"best other channel {raw:.3f}")


def mixture(program, name, truth, noise, seeds):
    """Mean absolute correlation over mixings of truth's columns into twice as many channels."""
    truth = (truth - truth.mean(axis=0)) / truth.std(axis=0)
    scores = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        k = truth.shape[1]
        mixed = truth @ random.normal(size=(2 * k, k)).T
        mixed = mixed / mixed.std(axis=0) + noise * random.normal(size=mixed.shape)
        np.save(program.folder / "mixed.npy", mixed)
        np.save(program.folder / "truth.npy", truth)
        recording, reference = program.folder / "mixed.npy", program.folder / "truth.npy"
        _, summary = program.separate(
            f"{name}-{noise}-{seed}", recording, "--sources", k, "--reference", reference)
        scores.append(summary["scores"])
    macs = [score["mac"] for score in scores]
    worst = min(score["worst"] for score in scores)
    print(f"{name}: {truth.shape[0]} samples, {truth.shape[1]} sources, noise {noise}: "
          f"mean MAC {np.mean(macs):.4f}, lowest {min(macs):.4f}, worst source {worst:.4f} "
          f"({seeds} mixings)")


def bio(program, data):
    names = ["ecg", "emg_1", "resp", "ppg", "bcg"]
    paths = [data / "biosppy_bio" / f"{name}.txt" for name in names]
    columns = [np.loadtxt(path, comments="#")[:15000] for path in paths]
    for noise in (0.0, 0.05):
        mixture(program, "biosppy", np.array(columns).T, noise, 3)
    path = data / "neurokit_bio" / "bio_resting_5min_100hz.csv"
    header = path.read_text().splitlines()[0].replace('"', "").split(",")
    values = np.genfromtxt(path, delimiter=",", skip_header=1)
    wanted = [header.index(name) for name in ("ECG", "PPG", "RSP")]
    for noise in (0.0, 0.05):
        mixture(program, "neurokit", values[:, wanted], noise, 3)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strt", default="target/release/strt", help="the program")
    parser.add_argument(
        "--data", default="../shared/data", type=pathlib.Path, help="folder of the recordings")
    parser.add_argument("--only", choices=["fecg", "eeg", "bio"], help="one recording")
    parser.add_argument(
        "arguments", nargs="*", help="after --: further arguments of `strt separate`")
    options = parser.parse_args()
    version = subprocess.run(
        [options.strt, "--version"], check=True, capture_output=True, text=True)
    print(f"{version.stdout.strip()}, numpy {np.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.strt, pathlib.Path(folder), options.arguments)
        for part in (fecg, eeg, bio):
            if options.only in (None, part.__name__):
                part(program, options.data)


if __name__ == "__main__":
    main()
