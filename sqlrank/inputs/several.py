"""Several sources of one input, read below one another; runs of several systems keep the names of these."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlrank.call import Several
from sqlrank.engines.database import Table
from sqlrank.engines.files import COMPRESSIONS, is_file, reader
from sqlrank.engines.names import parts_of
from sqlrank.errors import ExecutionError, InputError
from sqlrank.library.roles import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.engines.database import Database

SHOWN = 3
"""How many of several sources a message names."""


def find(database: Database, role: str, source: Any) -> Table:
    """Return the table of a source, or of several below one another, with a column ``system`` for runs.

    Raises:
        InputError: a source that is not there, has no rows or no name, or sources that do not go together.
    """
    if not isinstance(source, Several):
        return database.find(role, source)
    tables = [find(database, role, part) for _, part in source.parts]
    if source.are_systems:
        names = _names(database, role, source, tables)
        for name, table in zip(names, tables, strict=True):
            _check_system(database, role, name, table)
        tables = [replace(part, system=name) for name, table in zip(names, tables, strict=True) for part in table.parts or (table,)]
    return _together(database, role, tables)


def _names(database: Database, role: str, source: Several, tables: Sequence[Table]) -> list[str]:
    """Return what the systems are called: each as it was named, or else by the first that no other has of tag, stem and name of its file."""
    left = [
        [name] if name else [tag for tag in (_tag(database, part, table),) if tag] + _stems(role, part)
        for (name, part), table in zip(source.parts, tables, strict=True)
    ]
    while True:
        times = Counter(names[0] for names in left)
        clashing = [names for names in left if times[names[0]] > 1]
        if not clashing:
            return [names[0] for names in left]
        if all(len(names) == 1 for names in clashing):
            raise InputError(
                f"{role}: two systems are called {clashing[0][0]!r}; give each a name: run={{'name': source}} (--run name=source)"
            )
        for names in clashing:
            del names[: len(names) > 1]


def _tag(database: Database, source: Any, table: Table) -> str | None:
    """Return the one tag of the lines of a TREC file."""
    if not database.looks or "tag" not in (table.types or {}) or not is_file(source) or reader(source):
        return None
    tag = exp.column("tag")
    ((least, most),) = database.rows(exp.select(exp.Min(this=tag), exp.Max(this=tag.copy())).from_(table.item()))
    return str(least) if least == most and least is not None else None


def _stems(role: str, source: Any) -> list[str]:
    """Return the name of a file without its endings, and with them; of a table the last part of its name."""
    if not isinstance(source, (str, Path)):
        raise InputError(f"{role}: a {type(source).__name__} of several has no name; give run={{'name': table}}")
    path = Path(source)
    if is_file(source):
        return [Path(path.stem).stem if path.suffix in COMPRESSIONS else path.stem, path.name]
    return [(parts_of(str(source)) or [str(source)])[-1]]


def _check_system(database: Database, role: str, name: str, table: Table) -> None:
    """Refuse a system without rows, which the result would be silent about, and one that says itself what its systems are."""
    if table.column(SYSTEM) is not None and table.types is not None:
        raise InputError(
            f"{role}: {table.shown} has a column {SYSTEM!r} of its own; give it alone with by={SYSTEM!r} (--by {SYSTEM}), or rename the column"
        )
    if table.is_empty or (database.looks and not database.rows(exp.select("1 AS one").from_(table.item()).limit(1))):
        raise InputError(f"{role}: {table.shown} has no rows, and {name!r} would be missing from the result")


def _together(database: Database, role: str, tables: Sequence[Table]) -> Table:
    first = tables[0]
    shown = ", ".join(table.shown for table in tables[:SHOWN])
    shown += f" and {len(tables) - SHOWN} more" if len(tables) > SHOWN else ""
    table = Table(
        shown,
        first.node,
        None,
        first.dialect,
        is_empty=all(part.is_empty for part in tables),
        is_counted=all(part.is_counted for part in tables),
        has_collations=first.has_collations,
        parts=tuple(tables),
    )
    if first.types is None:
        return replace(table, node=table.item())
    names = [name for name in first.types if all(part.column(name) is not None for part in tables)]
    kinds = {name: {(part.types or {})[part.column(name) or ""] for part in tables} for name in names}
    node = table.item([exp.to_identifier(name, quoted=True) for name in names])
    types = {name: kind for name, (kind, *others) in kinds.items() if not others}
    if len(types) < len(names):
        types = _common(database, role, node, kinds)
    return replace(table, node=node, types=types | ({SYSTEM: "VARCHAR"} if first.system is not None else {}))


def _common(database: Database, role: str, node: exp.Expr, kinds: dict[str, set[str]]) -> dict[str, str]:
    """Return the types of columns that differ in theirs, as the database has them below one another."""
    with suppress(duckdb.Error, ExecutionError):
        types = database.types(exp.select("*").from_(node))
        return {name: types[name] for name in kinds}
    differ = "; ".join(f"{name} is {' and '.join(sorted(kind))}" for name, kind in kinds.items() if len(kind) > 1)
    raise InputError(f"{role}: the sources do not go together: {differ}; cast one of them")
