"""Put columns where keys stand for them, and a cut-off where each of a range does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.library.asked import CUTOFF, EACH
from sqlrank.library.nodes import nodes
from sqlrank.statement.keys import GROUP, LIST, UNIT, Key, Keys, key, same, same_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Known:
    """What is known of the sources of a query: the keys of each table that it names.

    ``lists`` is what an id that is called ``list_id`` gives way to, where lists have no numbers; ``cutoffs`` the step that has a row per
    cut-off, where a range is asked for, ``own_cutoffs`` that which has the cut-off of each list.
    """

    keys_of: Callable[[str], Keys]
    lists: Key | None = None
    cutoffs: str | None = None
    own_cutoffs: str | None = None

    def is_swept(self, query: exp.Query) -> bool:
        """Whether the rows of a query depend on the cut-off: it names it, or reads what does."""
        if self.cutoffs is None:
            return False
        sources = (self.keys_of(table.name) for table in nodes(query, exp.Table))
        return any(map(_of_each, nodes(query, exp.Column))) or any(key.is_swept for keys in sources for key in keys.values())


def _of_each(column: exp.Column) -> bool:
    return column.table == EACH


def expand(query: exp.Query, known: Known, is_swept: bool = False) -> Keys:
    """Put columns where keys stand for them, in place, and return the keys that the rows have.

    A query that depends on the cut-off of a range, or is to (``is_swept``), has a row per cut-off for each that it has for one: its rows
    are joined with the cut-offs, and every key has the cut-off as its last column.
    """
    if isinstance(query, exp.Union):
        is_swept = is_swept or known.is_swept(query)
        found = expand(query.left, known, is_swept)
        expand(query.right, known, is_swept)
        return found
    if not isinstance(query, exp.Select):
        raise TypeError(f"cannot expand keys in {type(query).__name__}")
    scope = _Scope(query, known, is_swept)
    for window in nodes(query, exp.Window):
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

    def __init__(self, query: exp.Select, known: Known, is_swept: bool) -> None:
        self.lists = known.lists
        self.sources: dict[str, Keys] = {}
        is_swept = is_swept or known.is_swept(query)
        for clause in (query.args.get("from_"), *(query.args.get("joins") or [])):
            if clause is not None:
                source = clause.this
                inner = isinstance(source, exp.Subquery)
                self.sources[source.alias_or_name] = expand(source.this, known) if inner else known.keys_of(source.name)
        self.swept = self._sweep(query, known) if is_swept else None
        if known.own_cutoffs is not None:
            self._look_up(query, known.own_cutoffs, known.keys_of(known.own_cutoffs))

    def _sweep(self, query: exp.Select, known: Known) -> str:
        """Return the source that has the cut-off: the first, or the cut-offs themselves, with which it is joined before all others."""
        swept = next(iter(self.sources))
        if not self._is_swept(swept):
            swept = str(known.cutoffs)
            self.sources[swept] = {}
            query.set("joins", [exp.Join(this=exp.to_table(swept), kind="CROSS"), *(query.args.get("joins") or [])])
        for column in nodes(query, exp.Column):
            if _of_each(column):
                column.replace(exp.column(CUTOFF, table=None if len(self.sources) == 1 else swept))
        return swept

    def _look_up(self, query: exp.Select, own: str, keys: Keys) -> None:
        """Join the cut-off that each list has, if the query names it, to the first source that has lists."""
        cutoffs = [column for column in nodes(query, exp.Column) if _of_each(column)]
        if not cutoffs:
            return
        source = next(alias for alias, keys in self.sources.items() if LIST in keys)
        query.join(own, on=exp.EQ(this=exp.column(LIST, table=source), expression=exp.column(LIST, table=own)), copy=False)
        self.sources[own] = keys
        for column in cutoffs:
            column.replace(exp.column(CUTOFF, table=own))

    def _is_swept(self, source: str) -> bool:
        return any(key.is_swept for key in self.sources[source].values())

    def key(self, node: exp.Column) -> Key:
        """Return what a key stands for that is of one source, or of any."""
        sources = [self.sources[node.table]] if node.table else list(self.sources.values())
        held = [keys[node.name] for keys in sources if node.name in keys]
        columns = dict.fromkeys(column for key in held for column in key.plain)
        found = Key(tuple(columns), any(key.nullable for key in held))
        return found if self.swept is None else found.with_cutoff()

    def columns(self, node: exp.Column) -> list[exp.Column]:
        """Return the columns of a key, each of the first source that has it."""
        alone = len(self.sources) == 1
        return [key(name, None if alone else self._owner(node, name)) for name in self.key(node).columns]

    def _owner(self, node: exp.Column, column: str) -> str:
        if column == CUTOFF and self.swept is not None:
            return self.swept
        of = node.name
        return node.table or next(alias for alias, keys in self.sources.items() if of in keys and column in keys[of].columns)

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
            found.setdefault(LIST, Key((LIST,)))
        query.set("expressions", list(columns.values()))
        return found

    def _same(self, this: exp.Column, other: exp.Column) -> list[exp.Expr]:
        """Compare the columns that both groups have; those of lists one by one, since a list has as many everywhere."""
        left, right = self.key(this), self.key(other)
        nullable = left.nullable or right.nullable
        if this.name == LIST:
            return same_lists(left.plain, right.plain, this.table, other.table, nullable)
        return same([name for name in left.plain if name in right.plain], this.table, other.table, nullable)

    def join(self, join: exp.Join) -> None:
        """Compare the columns that both keys have; a join without a condition left is a cross join."""
        condition = join.args.get("on")
        alias = join.this.alias_or_name
        parts: list[exp.Expr] = []
        if self.swept not in {None, alias} and self._is_swept(alias):
            parts += same([CUTOFF], alias, str(self.swept), nullable=False)
        elif condition is None:
            return
        for part in condition.flatten(unnest=False) if isinstance(condition, exp.And) else filter(None, [condition]):
            if isinstance(part, exp.EQ) and _is_key(part.this) and _is_key(part.expression):
                parts += self._same(part.this, part.expression)
            else:
                parts.append(part)
        parts = list(dict.fromkeys(parts))
        if parts:
            join.set("on", exp.and_(*parts, wrap=False))
            join.set("kind", None if condition is None else join.args.get("kind"))
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
    if items:
        order.set("expressions", list(dict.fromkeys(items)))
    else:
        window.set("order", None)


def _is_key(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name in {GROUP, LIST, UNIT}
