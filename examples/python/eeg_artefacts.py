"""Blinks in EEG: separated, found by MNE, and removed.

    python eeg_artefacts.py [FOLDER] [--recording FILE.set]

writes eeg_artefacts.png into FOLDER (default: here). FILE is EEGLAB's own sample recording,
eeglab_data.set, or another with channels named FPz, F3, EOG1 and EOG2; without one, EEG with blinks
is simulated.
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import mne
import numpy as np

import strtransformer.mne

NAMES = ["Fp1", "Fp2", "F7", "F3", "Fz", "F4", "F8", "C3", "Cz", "C4", "P7", "P3", "Pz", "P4", "O1",
         "O2"]  # fmt: skip


def simulated(seconds=60.0, rate=128.0, seed=0):
    """EEG of 16 electrodes and an EOG channel.

    Blinks at the forehead, alpha at the back, beta, a slow wave, muscle.
    """
    random = np.random.default_rng(seed)
    n_samples = int(seconds * rate)
    time = np.arange(n_samples) / rate
    blinks = np.zeros(n_samples)
    for at in np.cumsum(random.uniform(1.5, 3.5, size=int(seconds / 2.5) - 1)):
        blinks += random.uniform(0.7, 1.3) * np.exp(-0.5 * ((time - at) / 0.08) ** 2)
    wander = np.cumsum(random.standard_normal(n_samples)) / np.sqrt(rate)
    alpha = (1 + 0.6 * np.sin(2 * np.pi * 0.1 * time)) * np.sin(2 * np.pi * 10 * time + wander)
    beta = 1 + 0.6 * np.sin(2 * np.pi * 0.17 * time)
    beta *= np.sin(2 * np.pi * 20 * time + 2 * wander[::-1])
    slow = np.convolve(random.standard_normal(n_samples), np.hanning(48), mode="same")
    muscle = np.diff(random.laplace(size=n_samples + 1))

    known = mne.channels.get_builtin_montages()
    name = "colin27_1020" if "colin27_1020" in known else "standard_1020"
    montage = mne.channels.make_standard_montage(name)
    at = montage.get_positions()["ch_pos"]
    # Where each is strongest, how far it reaches (m) and how strong it is (µV).
    sources = [
        (blinks, (at["Fp1"] + at["Fp2"]) / 2, 0.06, 60.0),
        (alpha, at["O1"], 0.1, 20.0),
        (beta, at["P4"], 0.08, 12.0),
        (slow, at["C3"], 0.09, 20.0),
        (muscle, at["F8"], 0.05, 8.0),
    ]
    channels = 0.5 * random.standard_normal((len(NAMES), n_samples))
    for source, place, reach, microvolts in sources:
        distance = np.array([np.linalg.norm(at[name] - place) for name in NAMES])
        pattern = microvolts * np.exp(-0.5 * (distance / reach) ** 2)
        channels += pattern[:, None] * source / source.std()
    eog = 100.0 * blinks / blinks.std() + 3.0 * random.standard_normal(n_samples)
    info = mne.create_info([*NAMES, "EOG"], rate, ["eeg"] * len(NAMES) + ["eog"])
    raw = mne.io.RawArray(1e-6 * np.vstack([channels, eog]), info, verbose="error")
    return raw.set_montage(montage)


def recorded(path):
    """An EEGLAB recording with electrodes below the eyes.

    The eye's voltage is the difference between above and below.
    """
    raw = mne.io.read_raw_eeglab(path, preload=True, verbose="error")
    raw = mne.set_bipolar_reference(raw, "FPz", "EOG1", "EOG", drop_refs=False, verbose="error")
    ocular = dict.fromkeys(["EOG1", "EOG2", "EOG"], "eog")
    return raw.set_channel_types(ocular, on_unit_change="ignore")


def correlation(raw, name):
    """|Correlation| of a channel with the EOG."""
    channel, eog = raw.get_data([name, "EOG"])
    return abs(np.corrcoef(channel, eog)[0, 1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=".", type=Path)
    parser.add_argument("--recording", type=Path)
    parser.add_argument("--components", type=int, help="default: 5, or 12 of a recording")
    parser.add_argument("--steps", type=int, help="the most that are taken")
    arguments = parser.parse_args()

    raw = recorded(arguments.recording) if arguments.recording else simulated()
    # As for every ICA: slow drifts would take up components.
    raw.filter(1.0, 40.0, picks="all", verbose="error")

    # A genuine ICA object of MNE comes back; EOG channels are not part of the decomposition.
    n_components = arguments.components or (12 if arguments.recording else 5)
    ica = strtransformer.mne.fit(raw, n_components, random_state=0, max_iter=arguments.steps)
    print(ica)

    # From here on it is MNE: which components go with the EOG channel, and the recording without
    # them. (Its other measure, the z-score, needs a dozen components or more: among fewer none can
    # stand out by three standard deviations.)
    found, scores = ica.find_bads_eog(
        raw, ch_name="EOG", measure="correlation", threshold=0.5, verbose="error"
    )
    ica.exclude = [int(component) for component in found]
    print("ocular components:", ica.exclude)
    clean = ica.apply(raw.copy(), verbose="error")

    frontal = "Fp1" if "Fp1" in raw.ch_names else "F3"
    before, after = correlation(raw, frontal), correlation(clean, frontal)
    print(f"|correlation| of {frontal} with the EOG: {before:.2f} before, {after:.2f} after")

    figure = plt.figure(figsize=(11, 6), layout="constrained")
    grid = figure.add_gridspec(3, 3)
    ocular = ica.exclude[0] if ica.exclude else int(np.argmax(np.abs(scores)))
    axis = figure.add_subplot(grid[:2, 0])
    mne.viz.plot_topomap(ica.get_components()[:, ocular], ica.info, axes=axis, show=False)
    axis.set_title(f"ICA{ocular:03d}")
    axis = figure.add_subplot(grid[2, 0])
    components = range(len(scores))
    colours = ["C3" if k in ica.exclude else "0.6" for k in components]
    axis.bar(components, np.abs(scores), color=colours)
    axis.set(xlabel="component", ylabel="|score|", title="find_bads_eog")
    shown = slice(0, int(12 * raw.info["sfreq"]))
    source = ica.get_sources(raw).get_data()[ocular]
    microvolts = lambda recording, name: 1e6 * recording.get_data([name])[0]
    rows = [
        ("EOG (µV)", microvolts(raw, "EOG"), None),
        (f"ICA{ocular:03d}", source, None),
        (f"{frontal} (µV)", microvolts(raw, frontal), microvolts(clean, frontal)),
    ]
    for row, (label, signal, cleaned) in enumerate(rows):
        axis = figure.add_subplot(grid[row, 1:])
        axis.plot(raw.times[shown], signal[shown], color="0.4", linewidth=0.9, label="before")
        if cleaned is not None:
            axis.plot(raw.times[shown], cleaned[shown], color="C0", linewidth=0.9, label="after")
            axis.legend(loc="upper left", ncols=2)
        axis.set_ylabel(label)
    axis.set_xlabel("time (s)")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.folder / "eeg_artefacts.png", dpi=120)
    print("picture:", arguments.folder / "eeg_artefacts.png")


if __name__ == "__main__":
    main()
