"""How many documents of each list metrics look at, read off their trees: whether the others need to be ranked at all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.library.nodes import nodes
from sqlrank.library.uses import uses
from sqlrank.statement.bind import bind
from sqlrank.statement.fold import fold
from sqlrank.statement.kept import LIST_KEYS, OF_KEPT, Rows, Same, Values, worst

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.library.asked import Asked
    from sqlrank.library.file import SqlFile
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value

CUT = "retrieved"
"""The relation that documents below the first of a list can be left out of."""

MOST = 100_000
"""Documents of a list beyond which nobody would keep the first ones apart."""

_LOST = Rows(whole=False, solid=False, columns={})
_IN_ANY_ORDER = {Same.SCORE: Same.ALWAYS}
_WHERE_MISSING = {Same.PLACE: Same.RANK, Same.ALWAYS: Same.KEPT, Same.SCORE: Same.KEPT, Same.LENGTH: Same.LOST}
"""What classes of columns become that are looked up: NULL where their row is missing."""


def first_documents(library: Library, asked: Asked, plan: Mapping[str, Value]) -> int | None:
    """Return how many documents of each list a metric depends on under a plan: it has the same value if no others are read.

    0 if it reads none, None if all. ``plan`` is under which documents are left out.
    """
    held = {name: value[0] if isinstance(value, tuple) and _is_many(asked, name) else value for name, value in asked.settings.items()}
    return _first(library, asked.file, tuple(sorted({**held, **plan}.items())))


def _is_many(asked: Asked, name: str) -> bool:
    return name in asked.file.params and asked.file.params[name].type == "numbers"


@lru_cache(maxsize=1024)
def _first(library: Library, file: SqlFile, settings: tuple[tuple[str, Value], ...]) -> int | None:
    if CUT not in uses(library, file, dict(settings)).relations:
        return 0
    if file.kind == "curves":
        return None
    seen: set[int] = set()
    tried = 0
    while (number := min((one for one in seen if one > tried), default=None if tried else 1)) is not None and number <= MOST:
        tried = number
        found = _Trees(library, dict(settings), number, seen).rows(file)
        if found.whole and found.columns is not None and list(found.columns.values())[-1] is Same.ALWAYS:
            return number
    return None


@lru_cache(maxsize=4096)
def _rows(library: Library, file: SqlFile, settings: tuple[tuple[str, Value], ...], first: int) -> tuple[Rows, frozenset[int]]:
    """Return the rows of a relation, which metrics share, and the numbers that its conditions compare ranks with."""
    seen: set[int] = set()
    rows = _Trees(library, dict(settings), first, seen).rows(file)
    return rows, frozenset(seen)


class _Trees:
    """The rows of relations, if the first documents of a list are read."""

    def __init__(self, library: Library, settings: Mapping[str, Value], first: int, seen: set[int]) -> None:
        self.library = library
        self.settings = settings
        self.first = first
        self.seen = seen

    def rows(self, file: SqlFile) -> Rows:
        """Return what the rows of a file are."""
        return self._query(bind(self.library, file.tree, self.settings, file.params))

    def _relation(self, name: str) -> Rows:
        if name in self.library.roles:
            return Rows()
        file = self.library.relation(name, self.settings)
        if name == CUT:
            columns = {column: Same.SCORE if column == "score" else Same.ALWAYS for column in file.tree.named_selects}
            return Rows(whole=False, columns=columns)
        read = uses(self.library, file, self.settings)
        if CUT not in read.relations:
            return Rows()
        settings = tuple((name, self.settings[name]) for name in sorted(read.settings & self.settings.keys()))
        rows, seen = _rows(self.library, file, settings, self.first)
        self.seen |= seen
        return rows

    def _query(self, query: Any) -> Rows:
        if isinstance(query, exp.Union):
            return _both(self._query(query.left), self._query(query.right), query.named_selects)
        return self._select(query) if isinstance(query, exp.Select) else _LOST

    def _source(self, node: exp.Expr) -> Rows:
        return self._query(node.this) if isinstance(node, exp.Subquery) else self._relation(node.name)

    def _select(self, select: exp.Select) -> Rows:
        base = select.args["from_"].this
        first = self._source(base)
        scope = _Scope({base.alias_or_name: first}, first.whole, first.solid)
        joins = [(join, self._source(join.this)) for join in select.args.get("joins") or []]
        if not all(scope.join(join, rows) for join, rows in joins):
            return _LOST
        names = select.named_selects
        scope.put_numbers(select)
        where = select.args.get("where")
        for condition in [] if where is None else list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]:
            if not scope.keep(condition.unnest(), self._values(scope)):
                return _LOST
        is_grouped = select.args.get("group") is not None or any(
            not isinstance(found.parent, exp.Window) for item in select.expressions for found in nodes(item, exp.AggFunc)
        )
        items = dict(zip(names, (item.unalias() for item in select.expressions), strict=True))
        return self._grouped(select, items, scope) if is_grouped else self._each(items, scope)

    def _values(self, scope: _Scope) -> Values:
        return Values(scope.sources, self.first, self.seen)

    def _each(self, items: Mapping[str, exp.Expr], scope: _Scope) -> Rows:
        """A row for each of the sources."""
        values = self._values(scope)
        numbers = {name: number for name, item in items.items() if (number := _number(item)) is not None}
        return Rows(scope.whole, scope.solid, {name: values.of(item) for name, item in items.items()}, numbers)

    def _grouped(self, select: exp.Select, items: Mapping[str, exp.Expr], scope: _Scope) -> Rows:
        """A row for each group; one of a list that has kept rows is there in either case."""
        values = self._values(scope)
        keys = select.args["group"].expressions if select.args.get("group") else []
        if any(worst([values.of(key)]) is not Same.ALWAYS for key in keys):
            return _LOST
        names = {key.name for key in keys}
        grouped = _Grouped(scope, names, self.first, self.seen)
        columns = {name: grouped.of(item) for name, item in items.items()}
        return Rows(scope.whole or (scope.solid and names <= LIST_KEYS), scope.solid, columns)


class _Grouped(Values):
    """The classes of expressions over groups."""

    def __init__(self, scope: _Scope, keys: set[str], first: int, seen: set[int]) -> None:
        super().__init__(scope.sources, first, seen)
        self.rows = Values(scope.sources, first, seen)
        self.scope = scope
        self.keys = keys

    def of(self, node: exp.Expr, kept: bool = False) -> Same:
        """Return the class of an expression of a group."""
        return self._aggregate(node) if isinstance(node, exp.AggFunc) else super().of(node, kept)

    def _aggregate(self, node: exp.AggFunc) -> Same:
        if isinstance(node.this, exp.Star):
            is_length = self.keys == {"list_id"} and self.rows.has_scores
            return Same.ALWAYS if self.scope.whole else Same.LENGTH if is_length else Same.LOST
        found = self.rows.of(node.this)
        if isinstance(node, exp.Min) and found in {Same.PLACE, Same.RANK}:
            return found
        if self.scope.whole:
            is_length = found is Same.LENGTH and isinstance(node, (exp.Min, exp.Max))
            return found if is_length or found is Same.ALWAYS else Same.LOST
        left = self.rows.neutral(node.this)
        adds_nothing = isinstance(left, exp.Null) or (isinstance(node, exp.Sum) and left == exp.Literal.number(0))
        is_there = self.scope.solid and self.keys <= LIST_KEYS
        return Same.ALWAYS if is_there and adds_nothing and found is Same.ALWAYS else Same.LOST


@dataclass
class _Scope:
    """The sources of a SELECT, and what is known of its rows."""

    sources: dict[str, Rows]
    whole: bool
    solid: bool

    def join(self, join: exp.Join, rows: Rows) -> bool:
        """Add a source; return whether rows still are what is known of them."""
        if rows.tells and any(other.tells for other in self.sources.values()):
            return False
        alias = join.this.alias_or_name
        condition = join.args.get("on") or exp.null()
        if join.side not in {"", "LEFT"} or worst([Values({**self.sources, alias: rows}, 0, set()).of(condition)]) is not Same.ALWAYS:
            return False
        if join.side == "LEFT":
            rows = Rows(columns=(rows if rows.whole else rows.having(_WHERE_MISSING)).columns)
        else:
            is_of_lists = {key.name for key in nodes(condition, exp.Column)} <= LIST_KEYS
            self.whole, self.solid = self.whole and rows.whole, self.solid and rows.solid
            self.solid = self.whole or (self.solid and is_of_lists)
        self.sources = {name: other.having(_IN_ANY_ORDER) for name, other in {**self.sources, alias: rows}.items()}
        return True

    def put_numbers(self, select: exp.Select) -> None:
        """Put numbers in the place of columns that are nothing else, and leave out what then always holds."""
        for column in nodes(select, exp.Column):
            for alias, rows in self.sources.items():
                if column.name in rows.numbers and column.table in {"", alias} and column.parent_select is select:
                    column.replace(rows.numbers[column.name].copy())
        fold(select)

    def keep(self, condition: exp.Expr, values: Values) -> bool:
        """Leave out the rows for which a condition does not hold; return whether rows still are what is known of them."""
        if values.within(condition):
            self.whole = self.solid = True
            changes = dict.fromkeys(OF_KEPT, Same.ALWAYS)
        elif values.has_rank(condition):
            self.solid = self.solid and not self.whole
            self.whole = False
            changes = {Same.RANK: Same.PLACE}
        elif values.holds(condition):
            self.solid = self.whole
            changes = {}
        else:
            return False
        self.sources = {alias: rows.having({**changes, **_IN_ANY_ORDER}) for alias, rows in self.sources.items()}
        return True


def _both(one: Rows, other: Rows, names: list[str]) -> Rows:
    """Return the rows of two queries, one after the other."""
    columns = {}
    for name, left, right in zip(names, (one.columns or {}).values(), (other.columns or {}).values(), strict=False):
        found = {left, right}
        if found == {Same.LENGTH}:
            columns[name] = left
        elif found <= {Same.ALWAYS, Same.RANK, Same.PLACE} and found & {Same.RANK, Same.PLACE}:
            columns[name] = Same.RANK  # kept are then the rows of a rank up to K
        else:
            columns[name] = worst(found)
    return Rows(one.whole and other.whole, one.solid and other.solid, columns)


def _number(node: exp.Expr) -> exp.Expr | None:
    inner = node.this if isinstance(node, exp.Cast) else node
    return inner if isinstance(inner, exp.Literal) and inner.is_number else None
