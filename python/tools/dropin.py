"""Runs the tests of scikit-learn's FastICA and of python-picard against this package's classes and
functions of these names.

    python python/tools/dropin.py                        # both, and python-picard's tests from PyPI
    python python/tools/dropin.py --picard-tests DIR     # these files of python-picard instead
    python python/tools/dropin.py --seeds all            # scikit-learn's tests with all its seeds

The test files are run where they lie, unchanged: before they are imported, the names that they
import (``sklearn.decomposition.FastICA`` and ``fastica``; ``picard.Picard``, ``picard`` and
``amari_distance``) are made this package's. It needs pytest, and python-picard for its part.

Printed are how many pass, and every test that fails with why that is right; what fails or passes
otherwise than said here makes the exit status 1.
"""

import argparse
import importlib.metadata
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

#: Tests that fail, and why that is right.
FAILING = {
    "sklearn": {
        "test_fastica_eigh_low_rank_warning": (
            "ten sources of channels of rank two have no answer: they are refused, not warned of"
        ),
    },
    "picard": {
        "test_picard_errors": (
            "an estimator of scikit-learn stores its parameters as they are; max_iter=0 is refused"
            " by fit"
        ),
        "test_picard_fastica_fun_parameter_constraints": (
            "asks for an attribute that is private to scikit-learn's own estimators"
        ),
    },
}
#: Tests that touch nothing of this package: they pass whatever it does.
FOREIGN = {
    "sklearn": {"test_gs"},
    "picard": {"test_fun", "test_line_search_overflow"},
}


class Tally:
    """A pytest plugin that counts how tests ended."""

    def __init__(self):
        self.passed, self.failed = [], {}

    def pytest_runtest_logreport(self, report):
        """Notes a test whose call, or what comes before it, is over."""
        if report.failed:
            self.failed[report.nodeid] = report.longreprtext.strip().splitlines()[-1]
        elif report.when == "call" and report.passed:
            self.passed.append(report.nodeid)


def swap(suite):
    """Puts this package's classes and functions in the place of the others."""
    from strtransformer import baselines, metrics

    if suite == "sklearn":
        import sklearn.decomposition

        sklearn.decomposition.FastICA = baselines.FastICA
        sklearn.decomposition.fastica = baselines.fastica
    else:
        import picard

        picard.Picard = baselines.Picard
        picard.picard = baselines.picard
        picard.amari_distance = metrics.amari_distance


def run(suite, where):
    """Runs one suite in this process; 0 where everything ended as it is said here."""
    swap(suite)
    tally = Tally()
    options = ["-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", "--no-summary"]
    pytest.main([*options, *where], plugins=[tally])
    ran = len(tally.passed) + len(tally.failed)
    name = {node: node.split("::")[-1].split("[")[0] for node in [*tally.passed, *tally.failed]}
    foreign = sum(name[node] in FOREIGN[suite] for node in name)
    print(f"{suite}: {len(tally.passed)} of {ran} pass; {foreign} of them touch nothing of ours")
    expected = FAILING[suite]
    for node, last in tally.failed.items():
        said = expected.get(name[node])
        print(f"  {'fails rightly' if said else 'FAILS'}: {node}\n    {said or last}")
    wrongly = [node for node in tally.failed if name[node] not in expected]
    healed = sorted(set(expected) & {name[node] for node in tally.passed})
    for test in healed:
        print(f"  passes, though it is said to fail: {test}")
    return int(ran == 0 or bool(wrongly) or bool(healed))


def picard_tests(into):
    """Downloads the tests of the installed version of python-picard."""
    version = importlib.metadata.version("python-picard")
    download = ["-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", into]
    subprocess.run([sys.executable, *download, f"python-picard=={version}"], check=True)
    (archive,) = Path(into).glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(into, filter="data")
    return next(Path(into).glob("*/picard/tests"))


def main():
    """Each suite in a process of its own, since each swaps other names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--picard-tests", type=Path, help="folder of python-picard's test files")
    parser.add_argument("--seeds", help="SKLEARN_TESTS_GLOBAL_RANDOM_SEED: a number, range or all")
    parser.add_argument("--only", choices=["sklearn", "picard"], help="one of both")
    parser.add_argument("--inner", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inner:
        sys.exit(run(arguments.inner[0], arguments.inner[1:]))

    environment = {**os.environ, "SKLEARN_RUN_FLOAT32_TESTS": "1"}
    if arguments.seeds:
        environment["SKLEARN_TESTS_GLOBAL_RANDOM_SEED"] = arguments.seeds
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for suite in ["sklearn", "picard"]:
            if arguments.only not in (None, suite):
                continue
            if suite == "sklearn":
                where = ["--pyargs", "sklearn.decomposition.tests.test_fastica"]
            else:
                tests = (arguments.picard_tests or picard_tests(folder)).absolute()
                where = ["--import-mode=importlib", "--rootdir", str(tests), str(tests)]
            command = [sys.executable, os.path.abspath(__file__), "--inner", suite, *where]
            status |= subprocess.run(command, env=environment, cwd=folder).returncode
    sys.exit(status)


if __name__ == "__main__":
    main()
