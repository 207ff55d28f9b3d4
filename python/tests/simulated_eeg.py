"""Simulated EEG with known blinks, for tests: 16 electrodes of the 10-20 system and one EOG
channel.

Sources are blinks (short pulses at the forehead), two rhythms, a slow wander and muscle noise;
every one reaches the electrodes by distance from its place. Returned in volts, as MNE has it.
"""

import mne
import numpy as np

NAMES = [
    "Fp1",
    "Fp2",
    "F7",
    "F3",
    "Fz",
    "F4",
    "F8",
    "C3",
    "Cz",
    "C4",
    "P7",
    "P3",
    "Pz",
    "P4",
    "O1",
    "O2",
]
FRONTAL = ["Fp1", "Fp2", "F7", "F8"]
RATE = 128.0


def simulated_eeg(seconds=40.0, seed=0):
    """`mne.io.RawArray` with 16 EEG channels and EOG, filtered 1 to 40 Hz, and the true sources (5
    × samples).
    """
    random = np.random.default_rng(seed)
    n_samples = int(seconds * RATE)
    sources = _sources(random, n_samples)
    montage = mne.channels.make_standard_montage(_montage_name())
    at = montage.get_positions()["ch_pos"]
    places = [0.5 * (at["Fp1"] + at["Fp2"]), at["O1"], at["P4"], at["C3"], at["F8"]]
    widths = [0.06, 0.06, 0.05, 0.05, 0.04]
    microvolts = [60.0, 15.0, 12.0, 12.0, 8.0]
    channels = np.zeros((len(NAMES), n_samples))
    for source, place, width, size in zip(sources, places, widths, microvolts):
        distance = np.array([np.linalg.norm(at[name] - place) for name in NAMES])
        channels += size * np.exp(-0.5 * (distance / width) ** 2)[:, None] * source
    channels += 0.5 * random.standard_normal(channels.shape)
    eog = 100.0 * sources[0] + 3.0 * random.standard_normal(n_samples)
    info = mne.create_info([*NAMES, "EOG"], RATE, ["eeg"] * len(NAMES) + ["eog"])
    raw = mne.io.RawArray(1e-6 * np.vstack([channels, eog]), info, verbose="error")
    raw.set_montage(montage)
    return raw.filter(1.0, 40.0, picks="all", verbose="error"), sources


def _montage_name():
    """The 10-20 system, whose name changes in MNE 1.14."""
    known = mne.channels.get_builtin_montages()
    return "colin27_1020" if "colin27_1020" in known else "standard_1020"


def _sources(random, n_samples):
    time = np.arange(n_samples) / RATE
    blinks = np.zeros(n_samples)
    at = 1.0
    while at < time[-1] - 1.0:
        blinks += random.uniform(0.7, 1.3) * np.exp(-0.5 * ((time - at) / 0.08) ** 2)
        at += random.uniform(1.5, 3.5)

    def rhythm(hertz, wander):
        phase = 2 * np.pi * hertz * time + wander * np.cumsum(
            random.standard_normal(n_samples)
        ) / np.sqrt(RATE)
        envelope = 1.0 + 0.6 * np.sin(
            2 * np.pi * random.uniform(0.05, 0.2) * time + random.uniform(0, 6)
        )
        return envelope * np.sin(phase)

    slow = np.convolve(random.standard_normal(n_samples), np.hanning(48), mode="same")
    muscle = np.diff(random.laplace(size=n_samples + 1))
    sources = [blinks, rhythm(10.0, 1.0), rhythm(20.0, 2.0), slow, muscle]
    return np.array([source / source.std() for source in sources])
