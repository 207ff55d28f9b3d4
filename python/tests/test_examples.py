"""The examples run and leave their pictures."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"


@pytest.mark.parametrize(
    ("name", "needs", "arguments", "says"),
    [
        ("first_separation", ["matplotlib"], ["--steps", "300"], "mean absolute correlation"),
        ("eeg_artefacts", ["matplotlib", "mne"], ["--steps", "200"], "ocular components: ["),
        ("line_and_drift", ["matplotlib"], ["--seeds", "1"], "prepared, 3 sources: MAC 0.9"),
        ("nonlinear_mixture", ["matplotlib"], ["--steps", "100"], "mlp     correlation"),
    ],
)
def test_example(name, needs, arguments, says, tmp_path):
    for module in needs:
        pytest.importorskip(module)
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(EXAMPLES / f"{name}.py"),
        str(tmp_path / "new"),
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout, done.stdout
    picture = tmp_path / "new" / f"{name}.png"
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 20_000


def test_every_example_is_run():
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == {"first_separation", "eeg_artefacts", "line_and_drift", "nonlinear_mixture"}
