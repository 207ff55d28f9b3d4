"""Other programs on the problems of `strt-lab recovery`: JSON requests in, answers out, one a line.

    pip install -r requirements-peers.txt

A request names a method, an NPY file of observations (samples x channels), the number of sources, a
seed and where to put the estimated sources (NPY, samples x sources). Methods whose package is
missing are not offered.
"""

import json
import sys
import time
import warnings
from importlib.metadata import version

import numpy as np

METHODS, VERSIONS = {}, [f"numpy {np.__version__}"]

try:
    import sklearn
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    def fastica(y, k, seed):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = FastICA(
                n_components=k, whiten="unit-variance", max_iter=1000, random_state=seed)
            sources = model.fit_transform(y)
        return sources, not any(issubclass(w.category, ConvergenceWarning) for w in caught)

    METHODS["sklearn-fastica"] = fastica
    VERSIONS.append(f"scikit-learn {sklearn.__version__}")
except ImportError:
    pass

try:
    import picard

    def run_picard(y, k, seed):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _, _, sources = picard.picard(
                y.T, n_components=k, ortho=False, extended=True, max_iter=1000, random_state=seed)
        return sources.T, not any("converge" in str(w.message) for w in caught)

    METHODS["python-picard"] = run_picard
    VERSIONS.append(f"python-picard {getattr(picard, '__version__', '?')}")
except ImportError:
    pass

try:
    import amica
    import torch

    torch.set_num_threads(1)

    def run_amica(y, k, seed):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sources = amica.AMICA(n_components=k, random_state=seed, verbose=0).fit_transform(y)
        return sources, not any("convergence" in str(w.message) for w in caught)

    METHODS["amica"] = run_amica
    VERSIONS.append(f"amica-python {version('amica-python')}")
except ImportError:
    pass


def main():
    print(json.dumps({"methods": list(METHODS), "versions": ", ".join(VERSIONS)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            y = np.load(request["input"]).astype(float)
            y = (y - y.mean(axis=0)) / y.std(axis=0)
            began = time.perf_counter()
            sources, converged = METHODS[request["method"]](y, request["k"], request["seed"])
            seconds = time.perf_counter() - began
            np.save(request["output"], np.ascontiguousarray(sources))
            answer = {"seconds": seconds, "converged": bool(converged)}
        except Exception as error:  # the benchmark goes on and names what failed
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
