"""Represent a statement as a graph of CTEs and SELECTs with the columns that each reads, and define
node predicates that passes share.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlrank.sql_ast import DOUBLE, OPERATORS, find_nodes, source_names, unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from sqlglot.expressions import Expr


_ARITHMETIC: Mapping[type[Expr], int] = {exp.Mul: 3, exp.Div: 3, exp.Add: 2, exp.Sub: 2}
"""Arithmetic operators, with how tightly they bind."""


def needs_parentheses(value: Expr, place: Expr) -> bool:
    """Return True if an expression needs parentheses in the place of another."""
    parent = place.parent
    if not isinstance(value, OPERATORS) or not isinstance(parent, OPERATORS):
        return False
    inner, outer = _ARITHMETIC.get(type(value), 0), _ARITHMETIC.get(type(parent), 0)
    if inner and not outer and isinstance(parent, exp.Predicate):
        return False
    return not (inner and outer and (inner > outer or (inner == outer and place.arg_key == "this")))


Readers = dict[str, list[tuple["Scope", exp.Table]]]
"""The SELECTs that read each CTE, with the table under which they read it."""

_CLAUSES = frozenset({"expressions", "from_", "joins", "where", "group", "order"})
"""Clauses of SELECTs that passes rewrite; SELECTs with others are left as they are."""

_NOT_ROW_WISE = (exp.Window, exp.AggFunc, exp.Rand)


class Scope:
    """One SELECT of a statement.

    Attributes:
        select: The SELECT.
        step: The CTE, or the outermost query, that it belongs to.
    """

    def __init__(self, select: exp.Select, step: StatementStep) -> None:
        self.select = select
        self.step = step

    def mark_changed(self) -> None:
        """Clear the results of searches in the tree, because it has changed."""
        for name in ("_walked_nodes", "sources", "source_steps", "is_plain"):
            self.__dict__.pop(name, None)
        self.step.__dict__.pop("column_names", None)

    @cached_property
    def _walked_nodes(self) -> list[Any]:
        return find_nodes(self.select, exp.Column, exp.Query, exp.Star, *_WITH_ROWS, *_NOT_ROW_WISE)

    @cached_property
    def sources(self) -> dict[str, Expr]:
        """The items of FROM and JOIN by alias."""
        clauses = [self.select.args.get("from_"), *self.joins]
        return {clause.this.alias_or_name: clause.this for clause in clauses if clause is not None}

    @cached_property
    def source_steps(self) -> dict[str, StatementStep | None]:
        """The CTE that is read under each alias, None for other items."""
        return {alias: self.step.graph.find(source) for alias, source in self.sources.items()}

    @property
    def clauses(self) -> set[str]:
        """The clauses that the SELECT has, by the names of sqlglot."""
        return {clause for clause, value in self.select.args.items() if value}

    @property
    def joins(self) -> list[exp.Join]:
        """The joins, in order."""
        joins: list[exp.Join] = self.select.args.get("joins") or []
        return joins

    @property
    def first_source(self) -> Expr | None:
        """The item of FROM."""
        clause = self.select.args.get("from_")
        return None if clause is None else clause.this

    @property
    def items(self) -> dict[str, Expr]:
        """The columns of the result with their expressions."""
        return {item.alias_or_name: item for item in self.select.expressions}

    @property
    def columns(self) -> list[exp.Column]:
        """The columns that the SELECT reads; names of its result in ORDER BY are none."""
        names = self.items.keys() if self.select.args.get("order") else ()
        return [
            node
            for node in self._walked_nodes
            if isinstance(node, exp.Column)
            and not (names and not node.table and node.name in names and is_sort_key(node))
        ]

    @cached_property
    def is_plain(self) -> bool:
        """True if the SELECT reads CTEs only, by name, without queries inside of it, stars, items
        that give several rows for one, and rare clauses.
        """
        return (
            None not in self.source_steps.values()
            and len(self.sources) == len(self.joins) + (self.first_source is not None)
            and self.clauses <= _CLAUSES
            and not any(
                isinstance(node, (exp.Query, exp.Star)) or _gives_rows(node)
                for node in self._walked_nodes
                if not isinstance(node, exp.Column)
                and node is not self.select
                and not isinstance(node.parent, exp.Count)
            )
        )

    @property
    def names_in_subqueries(self) -> set[str]:
        """The aliases of the tables that its subqueries read, in lower case."""
        subqueries = [
            node
            for node in self._walked_nodes
            if isinstance(node, exp.Select) and node is not self.select
        ]
        return {
            table.alias_or_name.lower()
            for query in subqueries
            for table in find_nodes(query, exp.Table, exp.Subquery)
        }

    @property
    def is_row_mapping(self) -> bool:
        """True if no column of the result depends on other rows."""
        return not any(isinstance(node, _NOT_ROW_WISE) for node in self._walked_nodes)

    @property
    def is_aggregate(self) -> bool:
        """True if the SELECT aggregates all rows to one."""
        return not self.select.args.get("group") and any(
            map(is_aggregated, self.select.expressions)
        )

    def find_owner(self, column: exp.Column) -> str | None:
        """Return the alias of the source that a column belongs to, None if that is not certain."""
        table = column.args.get("table")
        if table is not None:
            return table.name if table.name in self.sources else None
        name = column.name
        owners = [
            alias
            for alias, step in self.source_steps.items()
            if step is None or name in step.column_names
        ]
        return owners[0] if len(owners) == 1 else None

    def is_nullable(self, alias: str) -> bool:
        """Return True if an outer join may give NULL for the columns of a source."""
        sides = {join.this.alias_or_name: join.side for join in self.joins}
        return bool(sides.get(alias)) or any(side in {"RIGHT", "FULL"} for side in sides.values())

    def substitute(
        self, column: exp.Column, value: Expr, comments: list[str] | None = None
    ) -> None:
        """Replace a column of the SELECT by an expression; a column of the result keeps its name,
        and its comment or gets one.
        """
        if column.parent is not self.select or column.arg_key != "expressions":
            column.replace(
                exp.paren(value, copy=False) if needs_parentheses(value, column) else value
            )
        else:
            is_named = isinstance(value, exp.Column) and value.name == column.name
            item = value if is_named else exp.Alias(this=value, alias=column.this.copy())
            value.comments = None
            item.comments = column.comments or comments
            column.replace(item)
        self.mark_changed()


class StatementStep:
    """A CTE, or the outermost query.

    Attributes:
        graph: The statement.
        query: Its query.
        cte: The CTE, None for the outermost query.
        name: The name of the CTE, empty for the outermost query.
    """

    def __init__(self, graph: StatementGraph, query: exp.Query, cte: exp.CTE | None) -> None:
        self.graph = graph
        self.cte = cte
        self.name = "" if cte is None else cte.alias
        self.query = query
        self.scopes = [Scope(select, self) for select in union_members(query)]
        self.is_union = not isinstance(query, exp.Select)
        sources = (source for scope in self.scopes for source in scope.sources.values())
        self.is_input = any(
            graph.find(source) is None and not is_list_column(source) for source in sources
        )

    @cached_property
    def column_names(self) -> list[str]:
        """The columns of the result; sqlglot's ``named_selects`` of a UNION walks through its
        tree.
        """
        return [item.alias_or_name for item in self.scopes[0].select.expressions]


class StatementGraph:
    """The steps of a statement in order; the last is the outermost query.

    The CTEs are taken out of the statement until ``write_ctes``, so that each step is a tree of its
    own.
    """

    def __init__(self, query: exp.Query) -> None:
        self.query = query
        self.steps_by_name: dict[str, StatementStep] = {}
        with_clause = query.args.pop("with_", None)
        for cte in () if with_clause is None else with_clause.expressions:
            self.steps_by_name[cte.alias] = StatementStep(self, cte.this, cte)
        self.body = StatementStep(self, query, None)

    @property
    def steps(self) -> list[StatementStep]:
        """The steps in order."""
        return [*self.steps_by_name.values(), self.body]

    def write_ctes(self) -> None:
        """Write the CTEs into the statement."""
        if self.steps_by_name:
            self.query.set(
                "with_", exp.With(expressions=[step.cte for step in self.steps_by_name.values()])
            )

    def find(self, source: Expr) -> StatementStep | None:
        """Return the step that an item of FROM names."""
        return (
            self.steps_by_name.get(source.name)
            if isinstance(source, exp.Table) and source.args.get("db") is None
            else None
        )

    def find_readers(self) -> Readers:
        """Return the SELECTs that read each CTE, with the table under which they read it."""
        readers: Readers = {name: [] for name in self.steps_by_name}
        for step in self.steps:
            for scope in step.scopes:
                for table in find_nodes(scope.select, exp.Table):
                    if self.find(table) is not None:
                        readers[table.name].append((scope, table))
        return readers

    def remove(self, step: StatementStep) -> None:
        """Remove a CTE that nothing reads any more."""
        del self.steps_by_name[step.name]


def union_members(query: exp.Expr) -> list[exp.Select]:
    """Return the SELECTs of a query in order."""
    rest, members = [query], []
    while rest:
        member = rest.pop()
        if isinstance(member, exp.SetOperation):
            rest += [member.args["expression"], member.this]
        elif isinstance(member, exp.Select):
            members.append(member)
        elif isinstance(member, exp.Subquery):
            rest.append(member.this)
    return members


_WITH_ROWS = (exp.Explode, exp.Anonymous)
"""Nodes of which ``_gives_rows`` is asked."""


def _gives_rows(item: Expr) -> bool:
    """Return True for UNNEST and GENERATE_SUBSCRIPTS, which give several rows for one."""
    return isinstance(item, exp.Explode) or (
        isinstance(item, exp.Anonymous) and item.name.upper() == "GENERATE_SUBSCRIPTS"
    )


def outermost_query(tree: exp.Expr) -> exp.Query | None:
    """Return the query of a statement that creates or fills a table, or the query that the
    statement is.
    """
    query = tree if isinstance(tree, exp.Query) else tree.args.get("expression")
    return query if isinstance(query, exp.Query) else None


def add_step(tree: exp.Expr, select: exp.Expr, step: exp.Select, name: str) -> str:
    """Add a step before the one that a SELECT is in, and return its unique name."""
    query: Any = outermost_query(tree)
    if query.args.get("with_") is None:
        query.set("with_", exp.With(expressions=[]))
    steps = query.args["with_"].expressions
    name = unique_name(name, source_names(tree))
    reader = select.find_ancestor(exp.CTE)
    place = next((place for place, other in enumerate(steps) if other is reader), len(steps))
    steps.insert(place, exp.CTE(this=step, alias=exp.TableAlias(this=exp.to_identifier(name))))
    query.args["with_"].set("expressions", steps)
    return name


JOINED = ("from_", "joins", "laterals", "where")
"""Clauses that decide the rows which a window of a SELECT is over, if it has no groups."""


def move_rows(
    select: exp.Select, comment: str
) -> tuple[exp.Select, Callable[[exp.Expr, str], exp.Expr]]:
    """Move the rows of a SELECT without groups into one of their own, in place.

    Returns:
        The SELECT of the rows, and the function that adds a value to it, unless it has the value,
        under a name or a similar one, and returns the column.
    """
    rows = exp.Select()
    rows.comments = [comment]
    for clause in JOINED:
        rows.set(clause, select.args.get(clause))
        select.set(clause, None)
    names: dict[exp.Expr, str] = {}

    def add_column(value: exp.Expr, name: str) -> exp.Expr:
        if value not in names:
            names[value] = unique_name(name, names.values())
            same_name = isinstance(value, exp.Column) and value.name == names[value]
            rows.select(value.copy() if same_name else value.as_(names[value]), copy=False)
        return exp.column(names[value], quoted=isinstance(value, exp.Column) and value.this.quoted)

    return rows, add_column


def pass_columns(select: exp.Select, add_column: Callable[[exp.Expr, str], exp.Expr]) -> None:
    """Read the columns of a SELECT from the rows that ``move_rows`` moved, in place; a column of
    the result keeps its name.
    """
    for column in [column for item in select.selects for column in find_nodes(item, exp.Column)]:
        passed_on = add_column(column, column.name)
        is_renamed_item = column.parent is select and passed_on.name != column.name
        column.replace(exp.alias_(passed_on, column.this.copy()) if is_renamed_item else passed_on)


def is_list_column(source: Expr) -> bool:
    """Return True if an item of FROM has the elements of a list column of another item."""
    return isinstance(source, exp.Unnest) and isinstance(source.expressions[0], exp.Column)


def keeps_rows(tree: Expr) -> bool:
    """Return True if a query only filters the rows of one table, and computes columns of each."""
    kinds = (exp.Join, exp.Window, exp.AggFunc, exp.Group, exp.Distinct, exp.Subquery, exp.Union)
    return not find_nodes(tree, *kinds)


def is_constant(value: Expr) -> bool:
    """Return True if an expression is a number or truth value, also one cast to a double."""
    inner = value.this if isinstance(value, exp.Cast) and value.is_type(DOUBLE) else value
    inner = inner.this if isinstance(inner, exp.Neg) else inner
    return (isinstance(inner, exp.Literal) and inner.is_number) or isinstance(inner, exp.Boolean)


def columns_to_keep(
    selects: Iterable[exp.Select], names: Sequence[str], read: Collection[str]
) -> list[int]:
    """Return the positions of the columns that are read or sorted by: one at least, and an
    aggregate where all rows become one by it.
    """
    indexes = {index for index, name in enumerate(names) if name in read}
    for select in selects if len(indexes) < len(names) else ():
        order = select.args.get("order")
        sorted_by = (
            set() if order is None else {column.name for column in find_nodes(order, exp.Column)}
        )
        indexes |= {
            index
            for index, item in enumerate(select.expressions)
            if item.alias_or_name in sorted_by
        }
        aggregates = (
            []
            if select.args.get("group")
            else [index for index, item in enumerate(select.expressions) if is_aggregated(item)]
        )
        if aggregates and indexes.isdisjoint(aggregates):
            indexes.add(aggregates[0])
    return sorted(indexes) or [0]


def is_aggregated(item: Expr) -> bool:
    """Return True if a column of a result needs an aggregation of the SELECT, as functions of
    windows and subqueries do not.
    """
    if isinstance(item.unalias(), (exp.Column, exp.Literal)):
        return False
    select = item.parent_select
    return any(
        node.parent_select is select and not _is_windowed(node)
        for node in find_nodes(item, exp.AggFunc)
    )


def _is_windowed(function: exp.AggFunc) -> bool:
    parent = function.parent
    return isinstance(
        parent.parent if isinstance(parent, (exp.IgnoreNulls, exp.Filter)) else parent, exp.Window
    )


def is_sort_key(column: exp.Column) -> bool:
    """Return True if a column is a term of the ORDER BY of a SELECT."""
    parent = column.parent
    return (
        isinstance(parent, exp.Ordered)
        and parent.parent is not None
        and isinstance(parent.parent.parent, exp.Select)
    )


def iterate_conjuncts(condition: Expr | None) -> Iterator[Expr]:
    """Yield the conditions that an AND connects."""
    if isinstance(condition, exp.And):
        yield from condition.flatten(unnest=False)
    elif condition is not None:
        yield condition


def rewrite_graph(rewrite: Callable[[StatementGraph], object], text: str) -> str:
    """Return a statement after a pass over its graph, for the examples of passes."""
    query: Any = sqlglot.parse_one(text, read="duckdb")
    graph = StatementGraph(query)
    rewrite(graph)
    graph.write_ctes()
    return str(query.sql("duckdb"))
