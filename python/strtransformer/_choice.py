"""Which sources are meant: columns from 0, or names, ``s1`` being column 0; or what was decided on
the page of a run."""

from __future__ import annotations

import json
import operator
import os
import pathlib
from collections.abc import Iterable


def removed_sources(
    remove: Iterable[int | str] | None,
    keep: Iterable[int | str] | None,
    decisions: str | os.PathLike[str] | None,
    n_sources: int,
    fingerprint: str | None,
) -> list[int]:
    """The columns of the sources that go, in rising order; exactly one of the three is given."""
    given = [choice is not None for choice in (remove, keep, decisions)]
    if sum(given) != 1:
        many = "neither" if not any(given) else "both" if sum(given) == 2 else "all of them"
        raise ValueError(
            f"expected either `remove`, `keep` or `decisions`, got {many}:"
            " say which sources go or which stay"
        )
    if remove is not None:
        return sorted(_columns("remove", remove, n_sources))
    if keep is not None:
        return sorted(set(range(n_sources)) - _columns("keep", keep, n_sources))
    assert decisions is not None
    return _decided(decisions, n_sources, fingerprint)


def _decided(
    file: str | os.PathLike[str], n_sources: int, fingerprint: str | None
) -> list[int]:
    """The columns that were rejected on the page of a run, of which ``file`` was saved. Decisions
    about another recording than that with this fingerprint, where it is known, are refused."""
    path = pathlib.Path(file)
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no UTF-8, or no JSON
        saved = error
    if not isinstance(saved, dict) or saved.get("strt") != "decisions":
        raise ValueError(
            f"{path}: expected decisions that the page of a run has saved, found something else;"
            " save them again there, or name the sources with `remove`"
        )
    if saved.get("version") != 1:
        raise ValueError(
            f"{path}: version: expected 1, found {saved.get('version')!r}; save the decisions again"
        )
    names = [f"s{k + 1}" for k in range(n_sources)]
    try:
        kept = {str(source["name"]): source["keep"] for source in saved["sources"]}
        found = [str(source["name"]) for source in saved["sources"]]
    except (KeyError, TypeError):
        kept, found = {}, []
    if sorted(found) != sorted(names) or not all(isinstance(keep, bool) for keep in kept.values()):
        raise ValueError(
            f"{path}: sources: expected each of {names[0]} to {names[-1]} once with `keep` true or"
            f" false, found {', '.join(found) or 'none'}; decide again on the page of this run"
        )
    own = saved.get("fingerprint")
    if fingerprint is not None and own is not None and own != fingerprint:
        raise ValueError(
            f"{path}: fingerprint: expected that of the training data, {fingerprint}, found {own};"
            " these decisions are about another recording: decide again on the page of this run"
        )
    return [k for k, name in enumerate(names) if not kept[name]]


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
