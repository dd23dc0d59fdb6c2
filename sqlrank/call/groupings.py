"""Groupings of a call: the columns of ``by``, their expressions, and their names in results."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError
from sqlrank.result_columns import SLICE_COLUMN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_COMPUTED = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*=\s*(?!(?:ANY|SOME|ALL)\s*\()(?P<expression>[^=\s].*)",
    re.DOTALL | re.IGNORECASE,
)
_QUOTED = re.compile(r'"(?:[^"]|"")+"|`(?:[^`]|``)+`')


def parse_group_by(by: Any) -> list[list[str]]:
    """Return the columns of each grouping of a group-by argument; a list of columns is one
    grouping.

    >>> parse_group_by("day"), parse_group_by([[], ["country"]])
    ([['day']], [[], ['country']])
    """
    entries = [by] if isinstance(by, str) else list(by or ())
    is_flat = all(isinstance(entry, str) for entry in entries)
    groupings = (
        [entries]
        if is_flat
        else [[entry] if isinstance(entry, str) else list(entry) for entry in entries]
    )
    for position, group in enumerate(groupings):
        if len(set(group)) < len(group):
            raise MetricError(f"by names a column twice: {', '.join(group)}")
        if set(group) in map(set, groupings[:position]):
            raise MetricError(f"by names a grouping twice: {', '.join(group) or 'all'}")
    return groupings


def split_group_expressions(groupings: list[list[str]]) -> tuple[list[list[str]], dict[str, str]]:
    """Separate names of group-by columns from their expressions: ``day=DATE(ts)``."""
    names: dict[str, str] = {}
    expressions: dict[str, str] = {}
    for entry in dict.fromkeys(chain.from_iterable(groupings)):
        match = _COMPUTED.fullmatch(entry)
        names[entry] = entry if match is None else match["name"]
        if match is not None:
            expressions[names[entry]] = match["expression"]
    if len(set(names.values())) < len(names):
        raise MetricError(f"by names a column twice: {', '.join(names.values())}")
    return [[*map(names.__getitem__, group)] for group in groupings], expressions


def name_groups(groups: Iterable[str]) -> list[str]:
    """Return the names of columns of ``by`` without quotes.

    >>> name_groups(['"my segment"', "day", 'it"s'])
    ['my segment', 'day', 'it"s']
    """
    return [
        name[1:-1].replace(name[0] * 2, name[0]) if _QUOTED.fullmatch(name) else name
        for name in groups
    ]


def label_groups(
    names: Iterable[str],
    sources: Collection[str],
    reserved: Collection[str] = (),
    system: str | None = None,
) -> dict[str, str]:
    """Return the names of group-by columns in results: without quotes, and without the input before
    a column, unless another column of the result has that name.

    >>> label_groups(["queries.country", "queries.day", "run.day"], ["run", "queries"])
    {'queries.country': 'country', 'queries.day': 'queries.day', 'run.day': 'run.day'}
    """
    names = list(dict.fromkeys(names))
    unquoted = dict(zip(names, name_groups(names), strict=True))
    labels = {
        name: name_groups([name.partition(".")[2]])[0]
        if name.partition(".")[0] in sources and name != system
        else label
        for name, label in unquoted.items()
    }
    taken = {*reserved, SLICE_COLUMN}
    used = [label.lower() for label in labels.values()]
    return {
        name: unquoted[name] if used.count(label.lower()) > 1 or label in taken else label
        for name, label in labels.items()
    }


def label_groupings(
    groupings: list[list[str]], sources: Collection[str], reserved: Collection[str]
) -> tuple[list[list[str]], dict[str, str], dict[str, str]]:
    """Return groupings by their names in results, these names by column, and the text of each in
    ``by``, an expression as ``day=DATE(ts)``.
    """
    groups, expressions = split_group_expressions(groupings)
    labels = label_groups(chain.from_iterable(groups), sources, reserved)
    texts = {
        label: f"{name}={expressions[name]}" if name in expressions else name
        for name, label in labels.items()
    }
    return [[labels[name] for name in group] for group in groups], labels, texts
