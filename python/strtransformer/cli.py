"""The program ``strt``: the one that cargo builds, from the wheel."""

from __future__ import annotations

import sys
from typing import NoReturn

from . import _core


def main() -> NoReturn:
    """Run ``strt`` with the arguments of this process and end with its exit status."""
    sys.exit(_core.main(["strt", *sys.argv[1:]]))
