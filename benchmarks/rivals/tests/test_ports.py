"""Generators against the programs of their authors, number for number.

Needs checkouts of those programs in one folder, which RIVALS_CHECKOUTS names (github.com/
hmorioka/TCL as TCL, hmorioka/PCL as PCL, ilkhem/iVAE as iVAE, weirayao/tdrl as tdrl,
sanshuiii/CaRiNG as CaRiNG); skipped without them.
"""

import contextlib
import importlib.util
import io
import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from rivals.problems import ivae, pcl, tcl


def load(checkout: str, file: str, monkeypatch, *stubs: str):
    """A module of a checkout; `stubs` are packages that it imports and does not need here."""
    folder = os.environ.get("RIVALS_CHECKOUTS")
    path = Path(folder or "/nowhere") / checkout
    if not path.is_dir():
        pytest.skip(f"no checkout of {checkout}: set RIVALS_CHECKOUTS to a folder that has it")
    monkeypatch.syspath_prepend(str(path))
    for name in [name for name in sys.modules if name.split(".")[0] == "subfunc"]:
        monkeypatch.delitem(sys.modules, name)
    for name in stubs:
        stub = types.ModuleType(name)
        stub.__all__ = []
        stub.__getattr__ = lambda _name: None
        monkeypatch.setitem(sys.modules, name, stub)
    spec = importlib.util.spec_from_file_location(f"{checkout}_generator", path / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
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
