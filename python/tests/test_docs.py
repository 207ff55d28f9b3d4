"""The guide's code runs, and the reference says what the docstrings say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "python.md"


def test_every_block_of_the_guide_runs(tmp_path):
    """One after the other in one program, as a reader would type them."""
    for module in ("mne", "distributed", "pandas"):
        pytest.importorskip(module)
    blocks = re.findall(
        r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    assert len(blocks) >= 12
    program = tmp_path / "guide.py"
    # Workers that import the program again must not run it again.
    body = "\n".join(f"# block {number}\n{block}" for number, block in enumerate(blocks, start=1))
    program.write_text(
        "if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in body.splitlines())
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", program.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_the_reference_is_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "python" / "tools" / "api_reference.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
