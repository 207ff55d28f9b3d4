"""The program ``strt``: the one that cargo builds, from the wheel."""

import sys

from . import _core


def main():
    """Run ``strt`` with the arguments of this process and end with its exit status."""
    sys.exit(_core.main(["strt", *sys.argv[1:]]))
