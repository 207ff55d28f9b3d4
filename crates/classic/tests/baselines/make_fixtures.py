"""Records what other implementations find on small problems: the fixtures of tests/baselines.rs.

    pip install -r requirements.txt     # and R with the package ica, for JADE
    python make_fixtures.py             # writes fixtures.safetensors beside this file

Three recordings, each made for a family of methods, stored as float32 and used as stored:

    nongaussian     T = 1500, 5 channels, 4 sources: Laplace, uniform, exponential, two-sided;
                    noise 0.05
    stationary      T = 1500, 4 channels, 4 sources: Gaussian AR(2) resonances
    nonstationary   T = 2000, 4 channels, 4 sources: white Gaussian, the variance changes slowly

For every method one tensor `<recording>.<method>` (channels x sources) with
sources = (channels - mean) @ tensor, from channels that are standardised and whitened here, as the
library does. Every iteration starts at the whitened components themselves and runs until its
tolerance is far below what the tests look at.
"""
import subprocess, tempfile, warnings
from pathlib import Path
import numpy as np
from picard import picard
from pyriemann.geometry.ajd import ajd_pham, rjd, uwedge
from safetensors.numpy import save_file
from sklearn.decomposition import FastICA

HERE = Path(__file__).parent
K = 4


def standardized(values):
    return (values - values.mean(0)) / values.std(0)


def mixed(rng, sources, m, noise):
    observations = standardized(sources) @ rng.normal(size=(K, m))
    observations = observations + noise * rng.normal(size=(len(sources), m))
    return (observations * [1, 10, 0.1, 3, 50][:m] + [5, -3, 0, 0.2, 100][:m]).astype(np.float32)


def nongaussian(rng, T=1500):
    two_sided = rng.choice([-1.0, 1.0], T) + 0.3 * rng.normal(size=T)
    sources = np.c_[rng.laplace(size=T), rng.uniform(size=T), rng.exponential(size=T), two_sided]
    return mixed(rng, sources, 5, 0.05)


def stationary(rng, T=1500):
    sources = np.zeros((T + 500, K))
    for k, (frequency, modulus) in enumerate([(0.02, 0.95), (0.05, 0.93), (0.11, 0.9), (0.2, 0.8)]):
        first, second = 2 * modulus * np.cos(2 * np.pi * frequency), -modulus ** 2
        for t in range(2, T + 500):
            sources[t, k] = first * sources[t - 1, k] + second * sources[t - 2, k] + rng.normal()
    return mixed(rng, sources[500:], K, 0.0)


def nonstationary(rng, T=2000):
    time = np.arange(T)[:, None] / T
    envelope = np.exp(1.2 * np.sin(2 * np.pi * (time * [1.3, 2.1, 3.7, 5.3] + rng.uniform(size=K))))
    return mixed(rng, envelope * rng.normal(size=(T, K)), K, 0.0)


def whiten(observations):
    """Whitened components and the matrix (channels x K) that makes them from centred channels."""
    y = observations.astype(np.float64)
    centred = y - y.mean(0)
    scale = centred.std(0)
    values, vectors = np.linalg.eigh(np.cov((centred / scale).T, bias=True))
    matrix = (vectors[:, ::-1] / np.sqrt(values[::-1]))[:, :K] / scale[:, None]
    return centred @ matrix, matrix


def lagged(z, lag):
    product = z[:-lag].T @ z[lag:] / (len(z) - lag)
    return (product + product.T) / 2


def jade(z):
    with tempfile.TemporaryDirectory() as folder:
        components, rotation = f"{folder}/whitened.csv", f"{folder}/rotation.csv"
        np.savetxt(components, z, delimiter=",", fmt="%.17g")
        subprocess.run(["Rscript", str(HERE / "jade.R"), components, rotation], check=True)
        return np.loadtxt(rotation, delimiter=",")


def fastica(z, algorithm, fun):
    method = FastICA(algorithm=algorithm, fun=fun, whiten=False, w_init=np.eye(K), tol=1e-13,
                     max_iter=100_000)
    return method.fit(z).components_.T


def picard_free_or_orthogonal(z, ortho):
    _, w, _ = picard(z.T.copy(), ortho=ortho, extended=True, whiten=False, centering=False,
                     w_init=np.eye(K), tol=1e-11, max_iter=2000)
    return w.T


def main():
    warnings.simplefilter("error")  # nothing that did not converge is recorded
    tensors = {}

    def record(name, observations, methods):
        z, matrix = whiten(observations)
        tensors[name] = observations
        for method, find in methods.items():
            tensors[f"{name}.{method}"] = np.ascontiguousarray(matrix @ find(z))

    record("nongaussian", nongaussian(np.random.default_rng(3)), {
        **{f"fastica.{algorithm}.{fun}": lambda z, a=algorithm, f=fun: fastica(z, a, f)
           for algorithm in ("parallel", "deflation") for fun in ("logcosh", "exp", "cube")},
        "picard.orthogonal": lambda z: picard_free_or_orthogonal(z, True),
        "picard.free": lambda z: picard_free_or_orthogonal(z, False),
        "jade": jade,
    })
    covariances = lambda z: np.stack([lagged(z, lag) for lag in range(1, 30)])
    with_identity = lambda z: np.concatenate([np.eye(K)[None], covariances(z)])
    record("stationary", stationary(np.random.default_rng(1)), {
        "amuse": lambda z: np.linalg.eigh(lagged(z, 1))[1],
        "sobi.rjd": lambda z: rjd(covariances(z), eps=1e-12)[0],
        "sobi.uwedge": lambda z: uwedge(with_identity(z), eps=1e-12)[0].T,
    })
    blocks = lambda z: np.stack([block.T @ block / len(block) for block in np.split(z, 40)])
    record("nonstationary", nonstationary(np.random.default_rng(2)), {
        "nss.pham": lambda z: ajd_pham(blocks(z), eps=1e-18, n_iter_max=1000)[0].T,
        "nss.rjd": lambda z: rjd(blocks(z), eps=1e-12)[0],
        "nss.uwedge": lambda z: uwedge(blocks(z), eps=1e-12)[0].T,
    })
    save_file(tensors, HERE / "fixtures.safetensors")
    for name, tensor in tensors.items():
        print(name, tensor.shape, tensor.dtype)


if __name__ == "__main__":
    main()
