"""How long ``import strtransformer`` takes beyond NumPy: ``python python/tools/import_time.py``.

Each import happens in a fresh interpreter; the median of several is printed, in milliseconds.
"""

import statistics
import subprocess
import sys

RUNS = 15
CODE = (
    "import time; import numpy; began = time.perf_counter(); {}; print(1000 * (time.perf_counter()"
    " - began))"
)


def milliseconds(statement):
    """Median time of a statement in an interpreter that has imported NumPy."""
    times = [
        float(subprocess.check_output([sys.executable, "-c", CODE.format(statement)]))
        for _ in range(RUNS)
    ]
    return statistics.median(times)


if __name__ == "__main__":
    print(
        "import strtransformer                     "
        f" {milliseconds('import strtransformer'):8.1f} ms"
    )
    print(
        "from strtransformer import StrTransformer "
        f" {milliseconds('from strtransformer import StrTransformer'):8.1f} ms"
    )
    print(
        "import sklearn.decomposition              "
        f" {milliseconds('import sklearn.decomposition'):8.1f} ms"
    )
