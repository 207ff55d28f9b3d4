"""Which sources are meant: columns from 0, or names, ``s1`` being column 0."""

from __future__ import annotations

import operator
from collections.abc import Iterable


def removed_sources(
    remove: Iterable[int | str] | None, keep: Iterable[int | str] | None, n_sources: int
) -> list[int]:
    """The columns of the sources that go, in rising order; exactly one of both lists is given."""
    if remove is not None and keep is None:
        return sorted(_columns("remove", remove, n_sources))
    if keep is not None and remove is None:
        return sorted(set(range(n_sources)) - _columns("keep", keep, n_sources))
    raise ValueError(
        "expected either `remove` or `keep`, got"
        f" {'neither' if remove is None else 'both'}: say which sources go or which stay"
    )


def _columns(name: str, listed: Iterable[int | str], n_sources: int) -> set[int]:
    if isinstance(listed, str):
        listed = [word.strip() for word in listed.split(",")]
    try:
        return {_column(name, source, n_sources) for source in listed}
    except TypeError as error:
        raise TypeError(
            f"{name}: expected a list of columns or names of sources, got {listed!r}"
        ) from error


def _column(name: str, source: int | str, n_sources: int) -> int:
    names = [f"s{k + 1}" for k in range(n_sources)]
    if isinstance(source, str):
        if source in names:
            return names.index(source)
    else:
        column = operator.index(source)
        if 0 <= column < n_sources:
            return column
    raise ValueError(
        f"{name}: expected columns from 0 to {n_sources - 1} or names from s1 to s{n_sources},"
        f" got {source!r}"
    )
