"""Records what the authors' own programs for WASOBI, EFICA and MULTICOMBI find: further fixtures of
tests/baselines.rs.

    pip install -r requirements.txt     # and Octave
    python make_octave_fixtures.py DIR  # writes octave.safetensors beside this file

DIR holds iwasobi.m, efica.m and multicombi.m as P. Tichavský and Z. Koldovský published them (also
part of the AAR plug-in of EEGLAB); they are not part of this repository.

EFICA's iterations run until its tolerance is far below what the tests look at: constants of its
text are replaced for that. WASOBI gets the whitened components also tapered, with zeros after them,
so that the covariances that it estimates are those of the library (`wasobi.tapered`).

Beside those of fixtures.safetensors there are two recordings:

    shapes  T = 1500, 4 channels, 4 sources: white noise with a Laplace density, a sharper one, a
            flatter one (generalised Gaussian, exponent 4) and that of a sine
    both    T = 1500, 4 channels, 4 sources: two Gaussian AR(2) resonances, Laplace and uniform
            white noise

Tensors are as in make_fixtures.py: `<recording>.<method>` (channels x sources), with
sources = (channels - mean) @ tensor.
"""
import re, subprocess, sys, tempfile
from pathlib import Path
import numpy as np
from safetensors.numpy import load_file, save_file

HERE = Path(__file__).parent
K = 4


def mixed(rng, sources):
    observations = (sources - sources.mean(0)) / sources.std(0) @ rng.normal(size=(K, K))
    return (observations * [1, 10, 0.1, 3] + [5, -3, 0, 0.2]).astype(np.float32)


def both(rng, T=1500):
    sources = rng.normal(size=(T + 500, K))
    for k, (frequency, modulus) in enumerate([(0.03, 0.95), (0.12, 0.9)]):
        first, second = 2 * modulus * np.cos(2 * np.pi * frequency), -modulus ** 2
        for t in range(2, T + 500):
            sources[t, k] += first * sources[t - 1, k] + second * sources[t - 2, k]
    sources[:, 2] = rng.laplace(size=T + 500)
    sources[:, 3] = rng.uniform(size=T + 500)
    return mixed(rng, sources[500:])


def shapes(rng, T=1500):
    flat = rng.gamma(0.25, size=T) ** 0.25 * rng.choice([-1, 1], T)
    sine = np.sin(2 * np.pi * rng.uniform(size=T))
    sources = np.c_[rng.laplace(size=T), rng.normal(size=T) ** 3, flat, sine]
    return mixed(rng, sources)


def whiten(observations):
    """Whitened components and the matrix (channels x K) that makes them from centred channels."""
    y = observations.astype(np.float64)
    centred = y - y.mean(0)
    scale = centred.std(0)
    values, vectors = np.linalg.eigh(np.cov((centred / scale).T, bias=True))
    matrix = (vectors[:, ::-1] / np.sqrt(values[::-1]))[:, :K] / scale[:, None]
    return centred @ matrix, matrix


def tapered(z, share=0.05, zeros=10):
    """z under a window that falls to 0 at both ends, of mean 0, with zeros after it."""
    from_end = np.minimum(np.arange(len(z)), np.arange(len(z))[::-1])
    falling = round(share * len(z))
    window = np.where(from_end < falling, 0.5 - 0.5 * np.cos(np.pi * (from_end + 0.5) / falling), 1)
    window = window[:, None]
    return np.r_[window * (z - (window * z).sum(0) / window.sum()), np.zeros((zeros, K))]


def converging(folder, scratch):
    """Copies the programs, EFICA's tolerances far lower and its limits far higher."""
    for name in ("iwasobi.m", "efica.m", "multicombi.m"):
        text = (folder / name).read_bytes().decode("latin1")
        if name == "efica.m":
            for constant, value in [("epsilon", "1e-13"), ("fineepsilon", "1e-13"),
                                    ("MaxIt", "10000"), ("FinetuneMaxIt", "10000"),
                                    ("MaxItAfterSaddleTest", "10000")]:
                text, n = re.subn(rf"(?m)^{constant}=[^;]*;", f"{constant}={value};", text)
                assert n == 1, constant
        (Path(scratch) / name).write_bytes(text.encode("latin1"))


def octave(folder, call, z):
    """The unmixing W (K x K) that `W = call` finds in x = z', as a matrix of columns."""
    with tempfile.TemporaryDirectory() as scratch:
        converging(folder, scratch)
        np.savetxt(f"{scratch}/z.csv", z, delimiter=",", fmt="%.17g")
        program = (
            f"addpath('{scratch}'); x = dlmread('{scratch}/z.csv', ',')'; W = {call}; "
            f"dlmwrite('{scratch}/w.csv', W, 'delimiter', ',', 'precision', 17);"
        )
        subprocess.run(["octave", "--no-gui", "--quiet", "--eval", program], check=True)
        return np.loadtxt(f"{scratch}/w.csv", delimiter=",").T


def main(folder):
    recorded = load_file(HERE / "fixtures.safetensors")
    tensors = {
        "both": both(np.random.default_rng(4)),
        "shapes": shapes(np.random.default_rng(5)),
    }
    for name, observations, call in [
        ("stationary.wasobi.plain", recorded["stationary"], "iwasobi(x, 10)"),
        ("stationary.wasobi.tapered", recorded["stationary"], "iwasobi(x, 10, 0.99, 1e-5)"),
        ("nongaussian.efica", recorded["nongaussian"], f"efica(x, eye({K}))"),
        ("shapes.efica", tensors["shapes"], f"efica(x, eye({K}))"),
        ("both.multicombi", tensors["both"], "multicombi(x, 10)"),
    ]:
        z, matrix = whiten(observations)
        tensors[name] = np.ascontiguousarray(matrix @ octave(folder, call, tapered(z) if "tapered" in name else z))
    save_file(tensors, HERE / "octave.safetensors")
    for name, tensor in tensors.items():
        print(name, tensor.shape, tensor.dtype)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
