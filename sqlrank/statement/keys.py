"""What ``list_id``, ``group_id`` and ``unit_id`` stand for: the columns that tell lists, groups of them, and units apart.

The SQL files speak of three keys. With ``by=["system"]`` a group is a system, and a list is what a system answered to a query; so
wherever a file selects, groups, partitions, orders or joins by a key, its columns stand there instead: none, one or many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

GROUP, LIST, UNIT = "group_id", "list_id", "unit_id"

SLICE, SCORED_BY, QUERY = "slice_number", "scored_by", "query_id"
"""Which grouping a row is repeated for, which of several scores it has, and the query of a list."""

SURE = {SLICE, SCORED_BY}
"""Columns that are never NULL, whatever may be NULL beside them."""

OURS = {LIST, UNIT, SLICE, SCORED_BY, QUERY}


class Ours(str):
    """A name that the files write, and so one without quotes: Snowflake keeps it in capitals, and would not find it in quotes."""

    __slots__ = ()


@dataclass(frozen=True)
class Key:
    """The columns that a key stands for in a source; NULL is a value of its own in those that are ``nullable``."""

    columns: tuple[str, ...] = ()
    nullable: bool = False


Keys = dict[str, Key]
"""The keys that a source has, by ``group_id``, ``list_id`` and ``unit_id``, which is nothing where rows are drawn on their own."""


def named(name: str, table: str | None = None) -> exp.Column:
    """Return a column under a name that can be anything."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def key(name: str, table: str | None = None) -> exp.Column:
    """Return a column inside the statement that tells rows apart: one of the caller's in quotes, one of ours as the files write it."""
    return exp.column(str(name), table=table) if isinstance(name, Ours) or name in OURS else named(name, table)


def same(keys: Iterable[str], left: str, right: str, nullable: bool) -> list[exp.Expr]:
    """Return the conditions under which two rows have the same key."""
    return [_equal(key(name, left), key(name, right), nullable and name not in SURE) for name in keys]


def same_lists(one: Sequence[str], other: Sequence[str], left: str, right: str, nullable: bool) -> list[exp.Expr]:
    """Return the conditions under which two rows are of the same list: its own column comes last, and is never NULL."""
    pairs = [(key(name, left), key(theirs, right)) for name, theirs in zip(one, other, strict=True)]
    return [_equal(*pair, nullable and pair is not pairs[-1]) for pair in pairs]


def _equal(one: exp.Column, other: exp.Column, nullable: bool) -> exp.Expr:
    # in parentheses, since DataFusion binds AND before IS NOT DISTINCT FROM
    return exp.paren(exp.NullSafeEQ(this=one, expression=other)) if nullable else exp.EQ(this=one, expression=other)


def expand(query: exp.Query, keys_of: Callable[[str], Keys], lists: Key | None = None) -> Keys:
    """Put columns where keys stand for them, in place, and return the keys that the rows have.

    ``keys_of`` tells those of each table named in the query; ``lists`` is what an id that is called ``list_id`` gives way to, where
    lists have no numbers.
    """
    if isinstance(query, exp.Union):
        found = expand(query.left, keys_of, lists)
        expand(query.right, keys_of, lists)
        return found
    if not isinstance(query, exp.Select):
        raise TypeError(f"cannot expand keys in {type(query).__name__}")
    scope = _Scope(query, keys_of, lists)
    for window in query.find_all(exp.Window):
        if window.parent_select is query:
            window.set("partition_by", scope.spread(window.args.get("partition_by") or []) or None)
            _order(window, scope)
    for join in query.args.get("joins") or []:
        scope.join(join)
    if group := query.args.get("group"):
        columns = scope.spread(group.expressions)
        query.set("group", exp.Group(expressions=columns) if columns else None)
    return scope.select(query)


class _Scope:
    """The sources of one SELECT, and the keys that each of them has."""

    def __init__(self, query: exp.Select, keys_of: Callable[[str], Keys], lists: Key | None) -> None:
        self.lists = lists
        self.sources: dict[str, Keys] = {}
        for clause in (query.args.get("from_"), *(query.args.get("joins") or [])):
            if clause is not None:
                source = clause.this
                inner = isinstance(source, exp.Subquery)
                self.sources[source.alias_or_name] = expand(source.this, keys_of, lists) if inner else keys_of(source.name)

    def key(self, node: exp.Column) -> Key:
        """Return what a key stands for that is of one source, or of any."""
        sources = [self.sources[node.table]] if node.table else list(self.sources.values())
        held = [keys[node.name] for keys in sources if node.name in keys]
        columns = dict.fromkeys(column for key in held for column in key.columns)
        return Key(tuple(columns), any(key.nullable for key in held))

    def columns(self, node: exp.Column) -> list[exp.Column]:
        """Return the columns of a key, each of the first source that has it."""
        alone = len(self.sources) == 1
        return [key(name, None if alone else node.table or self._owner(node.name, name)) for name in self.key(node).columns]

    def _owner(self, of: str, column: str) -> str:
        return next(alias for alias, keys in self.sources.items() if of in keys and column in keys[of].columns)

    def spread(self, nodes: Sequence[exp.Expr]) -> list[exp.Expr]:
        """Return expressions with columns for keys, each once."""
        items = (item for node in nodes for item in (self.columns(node) if _is_key(node) else [node]))  # type: ignore[arg-type]
        return list(dict.fromkeys(items))

    def select(self, query: exp.Select) -> Keys:
        """Put columns for keys into what is selected."""
        found: Keys = {}
        columns: dict[str, exp.Expr] = {}
        for item in query.expressions:
            if self.lists is not None and isinstance(item, exp.Alias) and item.alias == LIST:
                found[LIST] = self.lists
            elif _is_key(item):
                found[item.name] = self.key(item)
                columns |= {column.name: columns.get(column.name, column) for column in self.columns(item)}
            else:
                columns.setdefault(item.alias_or_name, item)
        if LIST in columns:
            found[LIST] = Key((LIST,))
        query.set("expressions", list(columns.values()))
        return found

    def _same(self, this: exp.Column, other: exp.Column) -> list[exp.Expr]:
        """Compare the columns that both groups have; those of lists one by one, since a list has as many everywhere."""
        left, right = self.key(this), self.key(other)
        nullable = left.nullable or right.nullable
        if this.name == LIST:
            return same_lists(left.columns, right.columns, this.table, other.table, nullable)
        return same([name for name in left.columns if name in right.columns], this.table, other.table, nullable)

    def join(self, join: exp.Join) -> None:
        """Compare the columns that both keys have; a join without a condition left is a cross join."""
        condition = join.args.get("on")
        if condition is None:
            return
        parts: list[exp.Expr] = []
        for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
            if isinstance(part, exp.EQ) and _is_key(part.this) and _is_key(part.expression):
                parts += self._same(part.this, part.expression)
            else:
                parts.append(part)
        parts = list(dict.fromkeys(parts))
        if parts:
            join.set("on", exp.and_(*parts, wrap=False))
        elif join.side:
            join.set("on", exp.true())
        else:
            join.set("on", None)
            join.set("kind", "CROSS")


def _order(window: exp.Window, scope: _Scope) -> None:
    order = window.args.get("order")
    if order is None:
        return
    items = []
    for item in order.expressions:
        columns = scope.columns(item.this) if _is_key(item.this) else [item.this]
        items += [exp.Ordered(**{**item.args, "this": column.copy()}) for column in columns]
    order.set("expressions", list(dict.fromkeys(items)))


def _is_key(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name in {GROUP, LIST, UNIT}


def extended(keys: Mapping[str, Key], selects: Iterable[str], column: str) -> Keys:
    """Return the keys of a source for groups that are the lists themselves: with the column that tells lists apart, if it has one."""
    group = keys.get(GROUP)
    if group is None or column in group.columns or column not in selects:
        return dict(keys)
    return {**keys, GROUP: Key((*group.columns, column), group.nullable)}
