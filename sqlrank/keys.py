"""Give the columns of ``by`` to every step that identifies a query or a group.

The SQL files of rankings speak of ``query_id`` alone. With ``by=["system"]`` a query is identified by the system and its id
together, so wherever a file selects, groups, partitions or joins by ``query_id``, the other columns go along (``carry``). In
those of predictions ``list_id`` stands for the columns of a group, none or many, and gives way to them (``expand``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

KEY = "query_id"
SLICE, SCORED_BY = "slice", "scored_by"
"""Which grouping a row is repeated for, and which of several scores it has."""

OURS = {KEY, "list_id", SLICE, SCORED_BY}


def carry(query: exp.Query, carried: Mapping[str, list[str]]) -> list[str]:
    """Add the companions of ``query_id`` to a query, in place, and return those that its rows now carry.

    ``carried`` says which companion columns each table named in the query has.
    """
    if isinstance(query, exp.Union):
        columns = carry(query.left, carried)
        carry(query.right, carried)
        return columns
    if not isinstance(query, exp.Select):
        raise TypeError(f"cannot carry keys through {type(query).__name__}")
    sources = _sources(query, carried, carry)
    owner = {column: alias for alias, columns in reversed(sources.items()) for column in columns}
    qualify = len(sources) > 1
    companions = [key(name, owner[name] if qualify else None) for name in dict.fromkeys(c for cs in sources.values() for c in cs)]
    for window in query.find_all(exp.Window):
        if window.parent_select is query:
            _extend(window, "partition_by", companions)
            order = window.args.get("order")
            if order is not None and any(_is_key(item.this) for item in order.expressions):
                order.set("expressions", [*(exp.Ordered(this=c.copy()) for c in companions), *order.expressions])
    if group := query.args.get("group"):
        _extend(group, "expressions", companions)
    for join in query.args.get("joins") or []:
        if condition := join.args.get("on"):
            join.set("on", _join(condition, sources))
    if not any(column.alias_or_name == KEY for column in query.selects):
        return []
    query.set("expressions", [*(c.copy() for c in companions), *query.expressions])
    return [column.name for column in companions]


def _sources(
    query: exp.Select, carried: Mapping[str, list[str]], within: Callable[[exp.Query, Mapping[str, list[str]]], list[str]]
) -> dict[str, list[str]]:
    sources = {}
    for clause in (query.args.get("from_"), *(query.args.get("joins") or [])):
        if clause is None:
            continue
        source = clause.this
        if isinstance(source, exp.Subquery):
            known = source.args.get("carries")
            sources[source.alias] = list(known) if known is not None else within(source.this, carried)
        else:
            sources[source.alias_or_name] = list(carried.get(source.name, ()))
    return sources


def _extend(node: exp.Expr, arg: str, companions: list[exp.Column]) -> None:
    keys = node.args.get(arg) or []
    if any(_is_key(key) for key in keys):
        node.set(arg, [*(column.copy() for column in companions), *keys])


def _join(condition: exp.Expr, sources: Mapping[str, list[str]]) -> exp.Expr:
    for equality in list(condition.find_all(exp.EQ)):
        left, right = equality.this, equality.expression
        if _is_key(left) and _is_key(right):
            shared = [name for name in sources[left.table] if name in sources[right.table]]
            pairs = [exp.EQ(this=key(name, left.table), expression=key(name, right.table)) for name in shared]
            joined = exp.and_(*pairs, equality.copy(), wrap=False)
            if equality is condition:
                condition = joined
            else:
                equality.replace(joined)
    return condition


def _is_key(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name == KEY


def named(name: str, table: str | None = None) -> exp.Column:
    """Return a column under a name that can be anything."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def key(name: str, table: str | None = None) -> exp.Column:
    """Return a column inside the statement that tells rows apart: one of the caller's in quotes, one of ours as the files write it.

    Snowflake keeps the latter in capitals, and would not find it under the same name in quotes.
    """
    return exp.column(name, table=table) if name in OURS else named(name, table)


def expand(query: exp.Query, carried: Mapping[str, list[str]]) -> list[str]:
    """Put the columns that tell groups apart where ``list_id`` stands for them, in place; return those of its rows.

    ``carried`` says which these are for each table named in the query. Where there are none, the clause goes.
    """
    if isinstance(query, exp.Union):
        columns = expand(query.left, carried)
        expand(query.right, carried)
        return columns
    if not isinstance(query, exp.Select):
        raise TypeError(f"cannot expand keys in {type(query).__name__}")
    sources = _sources(query, carried, expand)
    companions = list(dict.fromkeys(name for names in sources.values() for name in names))
    owner = {name: alias if len(sources) > 1 else None for alias, names in reversed(sources.items()) for name in names}
    columns_of = [key(name, owner[name]) for name in companions]
    is_carried = any(_is_list(column) for column in query.selects)
    for join in query.args.get("joins") or []:
        if condition := join.args.get("on"):
            join.set("on", _same_group(condition, sources))
    for window in query.find_all(exp.Window):
        if window.parent_select is query:
            window.set("partition_by", _spread(window.args.get("partition_by") or [], columns_of) or None)
    if group := query.args.get("group"):
        keys = _spread(group.expressions, columns_of)
        query.set("group", exp.Group(expressions=keys) if keys else None)
    query.set("expressions", _spread(query.expressions, columns_of))
    return companions if is_carried else []


def _is_list(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name == "list_id"


def _spread(nodes: Sequence[exp.Expr], columns: Sequence[exp.Column]) -> list[exp.Expr]:
    return [item for node in nodes for item in ([column.copy() for column in columns] if _is_list(node) else [node])]


def _same_group(condition: exp.Expr, sources: Mapping[str, list[str]]) -> exp.Expr:
    """Compare all columns of a group, of which any may be NULL."""
    holder = exp.Paren(this=condition)
    for equality in list(holder.find_all(exp.EQ)):
        left, right = equality.this, equality.expression
        if _is_list(left) and _is_list(right):
            pairs = [exp.NullSafeEQ(this=key(name, left.table), expression=key(name, right.table)) for name in sources[left.table]]
            # in parentheses, since DataFusion binds AND before IS NOT DISTINCT FROM
            equality.replace(exp.and_(*map(exp.paren, pairs)) if pairs else exp.true())
    found: exp.Expr = holder.this
    return found
