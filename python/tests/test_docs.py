"""The guide's code runs, the reference says what the docstrings say, and packages are fit for their
registries.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from strtransformer import StrTransformer, _core

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "python.md"


def test_every_block_of_the_guide_runs(tmp_path):
    """One after the other in one flat program, as a reader would paste them."""
    for module in ("mne", "distributed", "pandas"):
        pytest.importorskip(module)
    blocks = re.findall(
        r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    assert len(blocks) >= 12
    program = tmp_path / "guide.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
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


def test_what_the_docs_say_of_settings_is_what_the_library_has():
    """Every dotted key that they name exists, and every default that the estimator tells is so."""
    settings = {setting["key"]: setting for setting in _core.settings()}
    sections = "|".join(sorted({key.split(".")[0] for key in settings if "." in key}))
    pages = ("python-api.md", "recovery.md", "speed.md")
    texts = [GUIDE, *(ROOT / "docs" / page for page in pages)]
    named = 0
    for text in (path.read_text(encoding="utf-8") for path in texts):
        for key in re.findall(rf"[`\"]((?:{sections})\.[a-z0-9_.]+)[`\"=]", text):
            assert key in settings, key
            named += 1
    assert named >= 10

    docs = " ".join(StrTransformer.__doc__.split()).replace("``", "`")
    assert f"takes the configuration's ({settings['optimizer.steps']['automatic']})" in docs
    tolerance = settings["optimizer.early_stopping.tolerance"]["default"]
    assert f"takes the configuration's ({tolerance})" in docs
    assert f"the last {settings['optimizer.early_stopping.patience']['default']} steps" in docs
    assert f"n_restarts : int, default={settings['restarts']['default']}" in docs
    assert f'default="{settings["mixer.kind"]["default"]}"' in docs
    smallest = settings["branches.patch_sizes"]["default"][0]
    assert f"({smallest} samples, so {2 * smallest} samples)" in docs


#: Crates that are published: all but those that say otherwise.
PUBLISHED = sorted(
    manifest.parent
    for manifest in (ROOT / "crates").glob("*/Cargo.toml")
    if "publish = false" not in manifest.read_text(encoding="utf-8")
)


def test_pages_of_registries_need_nothing_beside_them():
    """A registry shows a README alone: a relative link or picture would lead nowhere."""
    pages = [ROOT / "python" / "README.md", *(crate / "README.md" for crate in PUBLISHED)]
    assert len(pages) == 12
    for page in pages:
        text = page.read_text(encoding="utf-8")
        targets = re.findall(r"\]\(([^)]*)\)|(?:src|href)=[\"']([^\"']*)", text)
        for target in (one or other for one, other in targets):
            assert target.startswith(("https://", "#")), f"{page}: {target}"


def test_crates_carry_their_licences_and_say_what_they_are():
    for crate in PUBLISHED:
        for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
            assert (crate / licence).exists(), f"{crate}: {licence}"
        manifest = (crate / "Cargo.toml").read_text(encoding="utf-8")
        for key in ("description = ", "license.workspace", "documentation = ", "keywords", "categ"):
            assert f"\n{key}" in manifest, f"{crate}: {key}"


def test_one_version_and_one_date():
    def found(pattern, *path):
        return re.search(pattern, ROOT.joinpath(*path).read_text(encoding="utf-8"), re.M).groups()

    (version,) = found(r'^version = "(.*)"$', "Cargo.toml")
    cited, on = found(r"^version: (.*)\ndate-released: (.*)$", "CITATION.cff")
    newest, dated = found(r"^## (\S+) - (\d{4}-\d\d-\d\d)$", "CHANGELOG.md")
    assert (cited, on) == (newest, dated) == (version, on)
    workspace = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    own = re.findall(r'^str\S+ = \{ path = .*version = "(.*?)"', workspace, re.M)
    assert set(own) == {version} and len(own) == len(PUBLISHED) - 1
