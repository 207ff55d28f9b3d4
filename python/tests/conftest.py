"""What several test files share: small problems, and where the program is."""

import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from strtransformer.datasets import make_mixture

# Small networks and few steps: the tests are about the package, not about how well sources are
# recovered. Under this schedule all steps are taken, and nonlinear runs bend their sources in the
# second of them.
QUICK = dict(
    max_iter=12,
    config={
        "branches.patch_sizes": [4, 8],
        "branches.d_model": 8,
        "branches.n_heads": 2,
        "optimizer.schedule.kind": "cosine",
    },
    n_jobs=1,
)


def pytest_terminal_summary(terminalreporter):
    """Appends skipped tests to the list that ``cargo xtask test`` counts.

    A line is what is missing, a tab, which test. The reason of a skip begins with what is missing,
    followed by a colon.
    """
    skipped = os.environ.get("STRT_SKIPPED")
    if not skipped:
        return
    with open(skipped, "a", encoding="utf-8") as file:
        for report in terminalreporter.stats.get("skipped", []):
            reason = report.longrepr[2].removeprefix("Skipped: ")
            package = re.match(r"could not import '([^']+)'", reason)
            missing = f"the Python package {package[1]}" if package else reason.split(":")[0]
            file.write(f"{missing}\t{report.nodeid}\n")


@pytest.fixture
def quick():
    """Parameters of an estimator that fits in a moment."""
    return {**QUICK, "config": dict(QUICK["config"])}


@pytest.fixture(scope="session")
def problem():
    """Three sources in four channels."""
    return make_mixture("sines", n_samples=200, n_sources=3, n_channels=4, random_state=1)


@pytest.fixture(scope="session")
def program():
    """The command line of ``strt``: this environment's console script, or what cargo built."""
    name = "strt.exe" if os.name == "nt" else "strt"
    script = Path(sysconfig.get_path("scripts")) / name
    if script.exists():
        return [str(script)]
    built = Path(__file__).parents[2] / "target" / "release" / name
    if built.exists():
        return [str(built)]
    found = shutil.which(name)
    return [found] if found else [sys.executable, "-m", "strtransformer"]
