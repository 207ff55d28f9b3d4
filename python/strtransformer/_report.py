"""The page of a run: text that can be written to a file and shown in a notebook."""

from __future__ import annotations

import html as _html
import os

from . import _core

_HEIGHT = 800  # pixels of the frame in a notebook


class Report:
    """The page of a run, self-contained.

    Attributes
    ----------
    html : str
        The page.
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced where it exists.
        """
        _core.write(os.fspath(path), self.html)

    def __repr__(self) -> str:
        return f"Report({len(self.html) // 1024} KiB of HTML; save it with .save(path))"

    def _repr_html_(self) -> str:
        page = _html.escape(self.html)
        return (
            f'<iframe srcdoc="{page}" width="100%" height="{_HEIGHT}" style="border: 0"></iframe>'
        )
