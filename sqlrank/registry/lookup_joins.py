"""Check that each LEFT JOIN of a SQL file finds at most one row, so that pruning it keeps the number of rows, and that joins compare groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlrank.registry.contract import Violation
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.sql_file import SqlFile

Keys = list[frozenset[str]]
"""Columns that identify a row, in each variant of a relation."""


GROUP_KEYS = {"group_id", "list_id"}
"""Columns that name the group of a row."""


def find_multiplying_joins(file: SqlFile, library: Registry) -> Iterator[Violation]:
    """Yield the LEFT JOINs of a file that may find several rows, and the joins that may find those of other groups."""
    for join in file.tree.find_all(exp.Join):
        if grouped := _find_grouped_source(join, library):
            alias = join.this.alias_or_name
            yield (
                join.this,
                f"rows of {alias} are of groups, as those of {grouped}. Compare {alias}.group_id in ON, which statements leave out where there are none",
            )
        if join.side != "LEFT":
            continue
        alias, keys = join.this.alias_or_name, _row_keys(join.this, library)
        compared = _compared_columns(join.args.get("on"), alias)
        if keys is None:
            yield join.this, f"nothing is known to identify a row of {alias}, of which a LEFT JOIN finds one. {_ADVICE}"
        elif missing := next((key for key in keys if not key <= compared), None):
            yield (
                join.this,
                f"a LEFT JOIN finds one row, and those of {alias} are identified by {', '.join(sorted(missing))}. Compare these in ON",
            )


def _find_grouped_source(join: exp.Join, library: Registry) -> str:
    """Return the source of groups that a join does not compare with those of its rows; empty if it compares them, or there is none.

    A LEFT JOIN of a relation is checked by the grain of that.
    """
    is_checked_by_grain = join.side == "LEFT" and join.this.name not in library.roles
    compared = _compared_columns(join.args.get("on"), join.this.alias_or_name)
    if is_checked_by_grain or compared & GROUP_KEYS or not _has_groups(join.this, library):
        return ""
    select: Any = join.parent
    earlier = [select.args["from_"].this, *(other.this for other in select.args["joins"][: join.index])]
    return next((source.alias_or_name for source in earlier if _has_groups(source, library)), "")


def _has_groups(source: exp.Expr, library: Registry) -> bool:
    """Return True if an item of FROM has a column with the group of its rows, as all inputs but the queries table."""
    if isinstance(source, exp.Subquery):
        return bool(GROUP_KEYS & set(source.this.named_selects))
    if source.name in library.roles:
        return source.name != "queries"
    return any(GROUP_KEYS & set(file.tree.named_selects) for file in library.relation_files(source.name))


_ADVICE = "Declare it (-- Grain: ... of a relation, unique = [...] of a role), or join a subquery with GROUP BY"


def _compared_columns(condition: exp.Expr | None, alias: str) -> set[str]:
    """Return the columns of a joined source that are compared for equality."""
    conjuncts = condition.flatten() if isinstance(condition, exp.And) else [condition]
    sides = [side for conjunct in conjuncts if isinstance(conjunct, exp.EQ) for side in (conjunct.this, conjunct.expression)]
    return {side.name for side in sides if isinstance(side, exp.Column) and side.table == alias}


def _row_keys(source: exp.Expr, library: Registry) -> Keys | None:
    """Return the columns that identify a row of an item of FROM, None if there are none."""
    if isinstance(source, exp.Subquery):
        return _query_keys(source.this, library)
    if source.name in library.roles:
        grains = [library.roles[source.name].row_grain]
    else:
        declared = [file.row_grain for file in library.relation_files(source.name)]
        grains = [grain for grain in declared if grain is not None]
        if len(grains) < len(declared):
            return None
    return [frozenset(grain.columns) for grain in grains] if grains and all(grain.is_unique for grain in grains) else None


def _query_keys(query: exp.Expr, library: Registry) -> Keys | None:
    """Return the columns that identify a row of a SELECT, by their names in it; the cast of a key is taken for the key."""
    if not isinstance(query, exp.Select):
        return None
    group, joins = query.args.get("group"), query.args.get("joins") or []
    source = query.args["from_"].this
    sources = {item.alias_or_name: _row_keys(item, library) for item in [source, *(join.this for join in joins)]}
    if group is not None:
        keys: Keys | None = [_independent_terms(group.expressions, sources)]
    elif query.find(exp.AggFunc) and not query.find(exp.Window):
        return [frozenset()]
    else:
        keys = sources[source.alias_or_name] if all(join.side == "LEFT" for join in joins) else None
    names = {value.name: item.alias_or_name for item in query.selects if isinstance(value := _strip_cast(item.unalias()), exp.Column)}
    if keys is None or not all(key <= names.keys() for key in keys):
        return None
    return [frozenset(names[name] for name in key) for key in keys]


def _strip_cast(value: exp.Expr) -> exp.Expr:
    return value.this if isinstance(value, exp.Cast) else value


def _independent_terms(terms: Sequence[exp.Expr], sources: dict[str, Keys | None]) -> frozenset[str]:
    """Return the terms of a GROUP BY without columns that the key of their source determines, if that is among them."""
    names_by_source: dict[str, set[str]] = {}
    for term in terms:
        names_by_source.setdefault(term.table if isinstance(term, exp.Column) else "", set()).add(term.name)
    for alias, names in names_by_source.items():
        keys = sources.get(alias) or []
        if len(keys) == 1 and keys[0] <= names:
            names_by_source[alias] = set(keys[0])
    return frozenset().union(*names_by_source.values())
