"""``py.typed`` means something: mypy and pyright know every public name and parameter.

The package itself is checked with ``mypy --strict``; small programs are checked as a user would,
one that must be clean and lines of which every one must be refused.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import strtransformer

ROOT = Path(__file__).resolve().parents[2]

CLEAN = """\
import numpy as np

import strtransformer
from strtransformer import Prepare, StrTransformer, sweep
from strtransformer.baselines import FastICA, Picard, fastica, picard
from strtransformer.datasets import make_mixture
from strtransformer.metrics import amari_distance, mac

problem = make_mixture("sines", n_samples=500)
estimator = StrTransformer(0.9, preset="fast", random_state=0).set_output(transform="default")
sources = estimator.fit(problem.observations).transform(problem.observations)
agreement: float = mac(sources, problem.sources)
clean, deviation = estimator.denoise(return_std=True)
names: list[str] = [str(name) for name in estimator.get_feature_names_out()]
ica = FastICA(3, whiten=False, fun=lambda u: (u**3, (3 * u**2).mean(axis=-1)))
steps: int = ica.fit(problem.observations).n_iter_
whitening, unmixing, found = fastica(problem.observations, 3)
Picard(ortho=False, extended=None, ls_tries=5).fit_transform(problem.observations)
picard(problem.observations.T, fastica_it=3)
if problem.mixing is not None:
    distance: float = amari_distance(ica.components_, np.asarray(problem.mixing))
recording = strtransformer.read("a.csv", channels=[1, "b"])
trials = strtransformer.Recording.from_trials(np.zeros((4, 2, 8)), sampling_rate=100.0)
lengths: list[int] = trials.pieces
per_trial = [part.shape for part in trials.split(np.zeros((32, 2)))]
prepare = Prepare(band=(1, None), notch=50, sampling_rate=250.0)
StrTransformer(3, prepare=prepare).fit(prepare.fit_transform(problem.observations))
result = sweep({"a": recording.data}, "out", settings={"n_components": 3}, seeds=range(3))
first: bool = result[0].ok
"""

WRONG = [
    "StrTransformer(n_component=3)",
    'StrTransformer(3, max_iter="ten")',
    "StrTransformer(3).fits([[1.0]])",
    "strtransformer.Prepare(bands=(1, 40))",
    "StrTransformer(3).component_",
    "StrTransformer(3).fit([[1.0]], sampling=1.0)",
    "StrTransformer(3).denoise(return_deviation=True)",
    "strtransformer.nothing",
    'strtransformer.read("a.csv", channel="a")',
    'strtransformer.load("a.strt").history',
    'strtransformer.save(StrTransformer(), "a.strt", figure=True)',
    'strtransformer.sweep("a.csv", "out", seed=1)',
    "strtransformer.Recording(np.zeros((4, 2)), piece=[2, 2])",
    "strtransformer.Recording.from_trials(np.zeros((2, 2, 4)), names=['a', 'b'])",
    "strtransformer.mne.fit(None, presets='fast')",
    "strtransformer.mne.read_ica('a-ica.fif', verbose=True)",
    "strtransformer.datasets.make_mixture(samples=3)",
    "strtransformer.metrics.amari_distance(W=[[1.0]], B=[[1.0]])",
    *(
        f"strtransformer.baselines.{name}(n_component=3)"
        for name in strtransformer.baselines.__all__
        if name[0].isupper() and name != "DensityError"
    ),
    "strtransformer.baselines.FastICA(wihten=False)",
    "strtransformer.baselines.Picard(ls_try=3)",
    "strtransformer.baselines.fastica([[1.0]], functions='exp')",
    "strtransformer.baselines.picard([[1.0]], funn='tanh')",
]
HEAD = "import numpy as np\nimport strtransformer\nfrom strtransformer import StrTransformer\n\n"


def checked(command, folder):
    """Lines of ``wrong.py`` that are refused, and what is said of ``clean.py``."""
    (folder / "clean.py").write_text(CLEAN)
    (folder / "wrong.py").write_text(HEAD + "\n".join(WRONG) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", *command, "clean.py", "wrong.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    told = done.stdout + done.stderr
    first = HEAD.count("\n") + 1
    refused = {int(line) - first for line in re.findall(r"wrong\.py:(\d+)\S* ?-? error", told)}
    return refused, re.findall(r".*clean\.py:\d.*", told), told


def unrefused(refused):
    return [line for number, line in enumerate(WRONG) if number not in refused]


def test_the_package_is_clean_under_mypy_strict():
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_knows_names_and_parameters(tmp_path):
    pytest.importorskip("mypy")
    refused, clean, told = checked(["mypy", "--strict", "--cache-dir", str(tmp_path)], tmp_path)
    assert not clean and not unrefused(refused), told


def test_pyright_knows_names_and_parameters(tmp_path):
    pytest.importorskip("pyright")
    refused, clean, told = checked(["pyright", "--pythonpath", sys.executable], tmp_path)
    assert not clean and not unrefused(refused), told


def test_what_type_checkers_read_is_what_is_there():
    """Names are written three times: for ``__getattr__``, in ``__all__`` and for type checkers."""
    tree = ast.parse(Path(strtransformer.__file__).read_text(encoding="utf-8"))
    (block,) = [
        node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)
    ]
    imported = {alias.name for line in block.body for alias in line.names}
    known = {*strtransformer._WHERE, *strtransformer._MODULES}
    assert imported == known
    assert [*strtransformer._WHERE, *strtransformer._MODULES] == strtransformer.__all__[1:]
