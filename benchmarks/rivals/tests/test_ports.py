"""Generators against the programs of their authors, number for number.

Needs checkouts of those programs in one folder, which RIVALS_CHECKOUTS names (github.com/
hmorioka/TCL as TCL, hmorioka/PCL as PCL, ilkhem/iVAE as iVAE, weirayao/tdrl as tdrl,
sanshuiii/CaRiNG as CaRiNG); skipped without them.
"""

import contextlib
import io
import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest

# What the programs import as well: to be loaded before any stub is in place.
import sklearn.preprocessing  # noqa: F401
import torch  # noqa: F401

from rivals.problems import ivae, pcl, sequences, tcl


def load(checkout: str, file: str, monkeypatch, *stubs: str, change=()):
    """A module of a checkout; `stubs` are packages that it imports and does not need here.

    `change` replaces text of the file: sizes that it has no parameter for.
    """
    folder = os.environ.get("RIVALS_CHECKOUTS")
    path = Path(folder or "/nowhere") / checkout
    if not path.is_dir():
        pytest.skip(f"no checkout of {checkout}: set RIVALS_CHECKOUTS to a folder that has it")
    monkeypatch.syspath_prepend(str(path))
    for name in [name for name in sys.modules if name.split(".")[0] == "subfunc"]:
        monkeypatch.delitem(sys.modules, name)
    parents = {name.rsplit(".", n)[0] for name in stubs for n in range(1, name.count(".") + 1)}
    for name in sorted(parents | set(stubs)):
        stub = types.ModuleType(name)
        stub.__all__ = []
        stub.__getattr__ = lambda _name: lambda *_: None
        monkeypatch.setitem(sys.modules, name, stub)
    text = (path / file).read_text(encoding="utf-8")
    for old, new in change:
        assert old in text, f"{checkout}/{file} has no {old!r}"
        text = text.replace(old, new)
    module = types.ModuleType(f"{checkout}_generator")
    exec(compile(text, str(path / file), "exec"), module.__dict__)
    return module


def quietly(function, **arguments):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(**arguments)


PLOTS = "subfunc.showdata"


@pytest.mark.parametrize("layers", [1, 3])
def test_tcl(monkeypatch, layers):
    theirs = load("TCL", "subfunc/generate_artificial_data.py", monkeypatch, PLOTS)
    x, s, labels = quietly(
        theirs.generate_artificial_data,
        num_comp=4,
        num_segment=8,
        num_segmentdata=16,
        num_layer=layers,
        random_seed=3,
    )
    ours = tcl.generate(3, layers, 4, 8, 16)
    np.testing.assert_allclose(ours.sources, s.T, rtol=0, atol=0)
    np.testing.assert_allclose(ours.channels, x.T, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(ours.labels, labels)


@pytest.mark.parametrize("layers", [1, 3])
def test_pcl(monkeypatch, layers):
    theirs = load("PCL", "subfunc/generate_artificial_data.py", monkeypatch, PLOTS)
    x, s, *_ = quietly(
        theirs.generate_artificial_data,
        num_comp=4,
        num_data=200,
        ar_coef=[0.7] * 4,
        ar_order=1,
        num_layer=layers,
        random_seed=3,
    )
    ours = pcl.generate(3, layers, 4, 200)
    np.testing.assert_allclose(ours.sources, s, rtol=1e-12)
    np.testing.assert_allclose(ours.channels, x, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("layers", [1, 3])
def test_ivae(monkeypatch, layers):
    theirs = load("iVAE", "data/data.py", monkeypatch)
    s, x, labels, *_ = theirs.generate_data(
        20, 6, 4, n_layers=layers, activation="xtanh", seed=3, one_hot_labels=False
    )
    ours = ivae.generate(3, layers, 4, 6, 20)
    np.testing.assert_allclose(ours.sources, s, rtol=1e-6)
    np.testing.assert_allclose(ours.channels, x, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(ours.labels, labels)


PACKAGES = ("ipdb", "tqdm", "matplotlib", "matplotlib.pyplot", "leap.tools.utils")


def test_tdrl(monkeypatch, tmp_path):
    theirs = load(
        "tdrl",
        "LiLY/tools/gen_dataset.py",
        monkeypatch,
        *PACKAGES,
        change=[("batch_size = 40000", "batch_size = 30")],
    )
    theirs.root_dir = str(tmp_path)
    np.random.seed(3)
    theirs.pnl_modular_gaussian_ts()
    made = np.load(tmp_path / "pnl_modular_5" / "source" / "data.npz")
    ours = sequences.modular(3, 30)
    np.testing.assert_allclose(ours.sources, made["yt"].reshape(-1, 9), rtol=1e-12)
    np.testing.assert_allclose(ours.channels, made["xt"].reshape(-1, 9), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(ours.labels[::3], made["ct"].ravel())
    assert ours.first.sum() == 150


def test_caring(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["NG-TDMP.py", "3"])
    theirs = load(
        "CaRiNG",
        "data_generator/NG-TDMP.py",
        monkeypatch,
        *PACKAGES,
        # Its path has a format that Python refuses, and its folder is outside the checkout.
        change=[
            ("batch_size = 40000", "batch_size = 30"),
            ('"seed%_mixinglag" % seed', '"made"'),
            ('root_dir = "../caring/datasets"', f"root_dir = {str(tmp_path)!r}"),
        ],
    )
    theirs.np.random.seed(3)
    theirs.stationary_local_uninvertable_z_tulda()
    made = np.load(tmp_path / "made" / "data.npz")
    ours = sequences.tdmp(3, 30)
    np.testing.assert_allclose(ours.sources, made["yt"].reshape(-1, 3), rtol=1e-12)
    np.testing.assert_allclose(ours.channels, made["xt"].reshape(-1, 3), rtol=1e-10, atol=1e-12)
