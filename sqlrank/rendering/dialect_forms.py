"""Forms that several dialects share: elements of lists, operations on lists, and comparisons of
columns of one origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.rendering.optimizer.statement_graph import is_aggregated, union_members
from sqlrank.sql_ast import call_function, find_nodes, sql_literal, unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def order_within_group(value: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), in an order with the NULLs last."""
    order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=False)])
    return exp.WithinGroup(this=exp.PercentileCont(this=share), expression=order)


LIST_ELEMENT, _ELEMENT_POSITION = "element", "element_position"
"""Names in subqueries and lambdas that operations are rewritten to."""

_OPERATIONS: dict[type[exp.Expr], str] = {
    exp.Transform: "transform",
    exp.ArrayFilter: "filter",
    exp.ArrayDistinct: "distinct",
    exp.ArraySort: "sort",
    exp.ArrayMin: "min",
    exp.Length: "length",
    exp.GenerateSeries: "series",
}
_CALLS = {"LIST_SUM": "sum", "LIST_SLICE": "slice", "LIST_POSITION": "position"}
LIST_OPERATIONS = {*_OPERATIONS.values(), *_CALLS.values()}
"""Operations that a dialect with functions of lists has to write."""


def rewrite_list_operations(
    tree: exp.Expr, writers: Mapping[str, Callable[..., exp.Expr] | str]
) -> exp.Expr:
    """Return an expression over lists by the writers of a dialect; it is changed in place."""
    holder = exp.Paren(this=tree)
    for node in reversed(
        find_nodes(holder, exp.Anonymous, *_OPERATIONS)
    ):  # operands before what is computed of them
        operation = (
            _CALLS.get(node.name) if isinstance(node, exp.Anonymous) else _OPERATIONS[type(node)]
        )
        if operation is not None:
            write = writers[operation]
            operands = _list_operands(node)
            node.replace(
                call_function(write, *operands) if isinstance(write, str) else write(*operands)
            )
    rewritten: exp.Expr = holder.this
    return rewritten


def _list_operands(node: exp.Expr) -> list[Any]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    if isinstance(node, exp.GenerateSeries):
        return [node.args["start"], node.args["end"]]
    return [node.this] if node.args.get("expression") is None else [node.this, node.expression]


def plus_one(node: exp.Expr) -> exp.Expr:
    """Return a number plus 1, in parentheses."""
    return exp.paren(exp.Add(this=node, expression=sql_literal(1)), copy=False)


def number_from_one(function: exp.Lambda) -> exp.Lambda:
    """Return a lambda whose second parameter, a position, is numbered from 0, with one more in its
    body.
    """
    for parameter in function.expressions[1:]:
        for use in [
            node
            for node in find_nodes(function.this, exp.Identifier)
            if node.name == parameter.name
        ]:
            use.replace(plus_one(use.copy()))
    return function


def _unnest_elements(
    first_position: int, array: exp.Expr, element: str = LIST_ELEMENT, position: str | None = None
) -> exp.Unnest:
    """Return the FROM item of the elements of a list, and of their positions if they have a name;
    PostgreSQL, which numbers them from 1, names the table of elements.
    """
    table = exp.to_identifier(f"{element}_rows") if first_position == 1 else None
    return exp.Unnest(
        expressions=[array],
        alias=exp.TableAlias(this=table, columns=[exp.to_identifier(element)]),
        offset=None if position is None else exp.to_identifier(position),
    )


def subquery_operations(first_position: int) -> dict[str, Callable[..., exp.Expr]]:
    """Return writers of subqueries over elements, whose positions the dialect numbers from 0 or
    1.
    """
    unnest_array = partial(_unnest_elements, first_position)

    def collect_rows(query: exp.Select) -> exp.Expr:
        return call_function("ARRAY", query)

    def transform_elements(array: exp.Expr, function: exp.Lambda) -> exp.Expr:
        element, *positions = [parameter.name for parameter in function.expressions]
        function = function if first_position else number_from_one(function)
        return collect_rows(
            exp.select(function.this).from_(unnest_array(array, element, *positions))
        )

    def filter_elements(array: exp.Expr, function: exp.Lambda) -> exp.Expr:
        (element,) = [parameter.name for parameter in function.expressions]
        return collect_rows(
            exp.select(exp.column(element)).from_(unnest_array(array, element)).where(function.this)
        )

    def slice_first(array: exp.Expr, _: exp.Expr, end: exp.Expr) -> exp.Expr:
        position: exp.Expr = exp.column(_ELEMENT_POSITION)
        is_first = exp.LTE(this=position if first_position else plus_one(position), expression=end)
        return collect_rows(
            exp.select(LIST_ELEMENT)
            .from_(unnest_array(array, LIST_ELEMENT, _ELEMENT_POSITION))
            .where(is_first)
        )

    def find_position(array: exp.Expr, value: exp.Expr) -> exp.Expr:
        least: exp.Expr = exp.Min(this=exp.column(_ELEMENT_POSITION))
        is_value = exp.EQ(this=exp.column(LIST_ELEMENT), expression=value)
        query = exp.select(least if first_position else plus_one(least))
        return (
            query.from_(unnest_array(array, LIST_ELEMENT, _ELEMENT_POSITION))
            .where(is_value)
            .subquery()
        )

    return {
        "transform": transform_elements,
        "filter": filter_elements,
        "slice": slice_first,
        "position": find_position,
        "distinct": lambda array: collect_rows(
            exp.select(LIST_ELEMENT).distinct().from_(unnest_array(array))
        ),
        "sort": lambda array: collect_rows(
            exp.select(LIST_ELEMENT).from_(unnest_array(array)).order_by(LIST_ELEMENT)
        ),
        "min": lambda array: (
            exp.select(exp.Min(this=exp.column(LIST_ELEMENT))).from_(unnest_array(array)).subquery()
        ),
        "sum": lambda array: (
            exp.select(exp.Sum(this=exp.column(LIST_ELEMENT))).from_(unnest_array(array)).subquery()
        ),
    }


@dataclass(frozen=True)
class ListJoin:
    """The cross join of a SELECT with the elements of a list.

    Attributes:
        select: The SELECT.
        join: The join.
        values: The list.
        alias: Alias of the elements.
        element: Column of the elements.
        position: Column of their positions, from 1.
    """

    select: Any
    join: exp.Join
    values: exp.Expr
    alias: str
    element: str
    position: str

    @classmethod
    def read(cls, join: exp.Join) -> ListJoin | None:
        """Return the parts of a join, None if it is no join with the elements of a list."""
        unnest: Any = join.this
        if not isinstance(unnest, exp.Unnest) or not isinstance(
            unnest.args.get("offset"), exp.Identifier
        ):
            return None
        (element,), (values,) = unnest.args["alias"].columns, unnest.expressions
        return cls(
            join.parent, join, values, unnest.alias, element.name, unnest.args["offset"].name
        )

    @property
    def columns(self) -> list[exp.Column]:
        """The columns that the SELECT reads outside of FROM."""
        clauses = [*self.select.expressions, *filter(None, [self.select.args.get("where")])]
        return [column for clause in clauses for column in find_nodes(clause, exp.Column)]

    def find_columns(self, name: str) -> list[exp.Column]:
        """Return the columns of the SELECT that are the element or its position, without those in
        brackets.
        """
        own = (
            column
            for column in self.columns
            if column.name == name and column.table in {"", self.alias}
        )
        return [column for column in own if not isinstance(column.parent, exp.Bracket)]

    def replace(self, name: str, value: exp.Expr) -> None:
        """Replace the element or its position by an expression; a column of the result keeps its
        name.
        """
        for column in self.find_columns(name):
            column.replace(
                value.copy().as_(column.name) if column.parent is self.select else value.copy()
            )

    def replace_brackets(self, write: Callable[[exp.Expr, exp.Expr], exp.Expr]) -> None:
        """Replace the elements of other lists; ``write`` returns the one of a list at a
        position.
        """
        for bracket in [
            column.parent
            for column in self.columns
            if isinstance(column.parent, exp.Bracket) and column.arg_key == "expressions"
        ]:
            bracket.replace(write(bracket.this.copy(), bracket.expressions[0].copy()))

    def read_from(self, items: Mapping[str, exp.Expr]) -> None:
        """Read rows with further columns, by their names, in place of the source and the elements:
        a CTE before that of the SELECT, or a subquery.

        Those that the SELECT reads, or the last one, without which a list would be one row.
        """
        new: set[str] = set()
        read: dict[exp.Expr, None] = {}
        for column in self.columns:
            if column.name in items and column.table in {"", self.alias}:
                new.add(column.name)
            else:
                read[column.copy()] = None
        new = new or {[*items][-1]}
        rows = exp.select(*read, *(value.as_(name) for name, value in items.items() if name in new))
        self.select.args["joins"].remove(self.join)
        rows.set("from_", self.select.args["from_"])
        unqualify_columns(rows)
        cte = self.select.find_ancestor(exp.CTE)
        if cte is None:
            self.select.set("from_", exp.From(this=rows.subquery(self.alias)))
        else:
            steps = cte.parent.expressions
            name = unique_name(
                self.alias, {table.name for table in [*steps, *find_nodes(cte.parent, exp.Table)]}
            )
            keys = {"list_id": "query"}
            ids = [
                keys.get(column.name, column.name.removesuffix("_id"))
                for column in read
                if column.name.endswith("_id")
            ]
            rows.comments = [
                f"One row per {' and '.join([*ids[:1], 'element of its list'])}, with its position."
            ]
            steps.insert(
                steps.index(cte),
                exp.CTE(this=rows, alias=exp.TableAlias(this=exp.to_identifier(name))),
            )
            self.select.set("from_", exp.From(this=exp.to_table(name)))
        unqualify_columns(self.select)


def unqualify_columns(select: exp.Select) -> None:
    """Leave out the table of the columns of a SELECT that reads only one."""
    for column in find_nodes(select, exp.Column):
        column.set("table", None)


def look_up_elements(function: str) -> Callable[[ListJoin], None]:
    """Return the form of an engine with a function that gives NULL, not an error, for elements that
    are not there.
    """

    def rewrite_join(join: ListJoin) -> None:
        join.replace_brackets(lambda values, position: call_function(function, values, position))

    return rewrite_join


def count_from_one(join: ListJoin, index: exp.Expr) -> None:
    """Replace the position in a join by one more than an index."""
    join.replace(join.position, exp.paren(exp.Add(this=index, expression=sql_literal(1))))


def split_at_blanks(others: str) -> Callable[[exp.Expr], exp.Expr]:
    """Return the form of an engine that splits a text at blanks, which replace the runs of other
    characters.
    """

    def write_words(text: exp.Expr) -> exp.Expr:
        pattern = [sql_literal(others), sql_literal(" "), sql_literal("g")]
        words = exp.Trim(this=call_function("REGEXP_REPLACE", text, *pattern))
        return call_function(
            "STRING_TO_ARRAY", exp.Nullif(this=words, expression=sql_literal("")), sql_literal(" ")
        )

    return write_words


def join_slice(values: exp.Expr, start: exp.Expr, length: exp.Expr) -> exp.Expr:
    """Return the joined elements of a list by SLICE, which takes their number."""
    return call_function(
        "ARRAY_JOIN", call_function("SLICE", values, start, length), sql_literal(" ")
    )


Origins = frozenset[tuple[str, ...]]
"""Columns of tables, or expressions, of which a column holds the values; empty if not certain."""


class Steps:
    """The CTEs of a statement, in which origins are looked up."""

    def __init__(self, tree: exp.Expr) -> None:
        ctes = find_nodes(tree, exp.CTE)
        self._queries = {cte.alias: cte.this for cte in ctes}
        self._places = {name: place for place, name in enumerate(self._queries)}
        self._known: dict[tuple[int, str], Origins] = {}

    def find(self, column: exp.Column) -> Origins:
        """Return the origins of a column that is read with its table."""
        cte = column.find_ancestor(exp.CTE)
        last = len(self._places) if cte is None else self._places[cte.alias]
        return self._find_in(column, column.parent_select, last)

    def _find_in(self, column: exp.Column, select: exp.Select | None, last: int) -> Origins:
        """Return the origins of a column of a SELECT that reads the first ``last`` CTEs."""
        if select is None:
            return frozenset()
        clauses = [select.args.get("from_"), *select.args.get("joins", [])]
        sources = {clause.this.alias_or_name: clause.this for clause in clauses if clause}
        source = sources.get(column.table) if column.table else None
        if not column.table and len(sources) == 1:
            (source,) = sources.values()
        if isinstance(source, exp.Subquery):
            return self._find_output(source.this, column.name, last)
        if not isinstance(source, exp.Table):
            return frozenset()
        place = None if source.args.get("db") else self._places.get(source.name)
        if place is None or place >= last:  # a table of the user may have the name of a later CTE
            table = source.copy()
            table.set("alias", None)
            return frozenset({(table.sql(), column.name)})
        return self._find_output(self._queries[source.name], column.name, place)

    def find_expressions(self, value: exp.Expr) -> list[exp.Expr]:
        """Return the expressions that a column holds the values of, such as columns of tables."""
        select, cte = value.parent_select, value.find_ancestor(exp.CTE)
        if not isinstance(value, exp.Column) or select is None:
            return [value]
        last = len(self._places) if cte is None else self._places[cte.alias]
        clauses = [select.args.get("from_"), *select.args.get("joins", [])]
        values = []
        for source in (clause.this for clause in clauses if clause):
            query = source.this if isinstance(source, exp.Subquery) else None
            if self._places.get(source.name, last) < last and not source.args.get("db"):
                query = self._queries[source.name]
            if query is not None and value.table in {"", source.alias_or_name}:
                items = [item for member in union_members(query) for item in member.selects]
                values += [item.unalias() for item in items if item.alias_or_name == value.name]
        return [other for item in values for other in self.find_expressions(item)] or [value]

    def is_of_caller(self, value: exp.Expr) -> bool:
        """Return True if a value is one of a table of the caller, which may hold it many times."""
        selects: list[Any] = [other.parent_select for other in self.find_expressions(value)]
        sources = [select.args["from_"].this for select in selects]
        return all(
            isinstance(source, exp.Table)
            and (bool(source.args.get("db")) or source.name not in self._places)
            for source in sources
        )

    def is_small(self, query: exp.Expr) -> bool:
        """Return True if the rows of a query are of aggregates or of a series, not of a table."""
        return all(
            select.args.get("group") is not None
            or any(map(is_aggregated, select.selects))
            or all(
                self._is_small_source(clause.this, select)
                for clause in [select.args.get("from_"), *(select.args.get("joins") or [])]
                if clause
            )
            for select in union_members(query)
        )

    def _is_small_source(self, source: exp.Expr, reader: exp.Expr) -> bool:
        if not isinstance(source, exp.Table):
            return not isinstance(source, exp.Subquery) or self.is_small(source.this)
        cte = reader.find_ancestor(exp.CTE)
        last = len(self._places) if cte is None else self._places[cte.alias]
        is_step = not source.args.get("db") and self._places.get(source.name, last) < last
        return is_step and self.is_small(self._queries[source.name])

    def _find_output(self, query: exp.Expr, name: str, last: int) -> Origins:
        key = (id(query), name)
        if key not in self._known:
            parts = [*self._find_in_members(query, name, last)]
            self._known[key] = frozenset().union(*parts) if all(parts) else frozenset()
        return self._known[key]

    def _find_in_members(self, query: exp.Expr, name: str, last: int) -> Iterator[Origins]:
        """Yield the origins of an output in each member of a union that has not NULL for it."""
        for select in union_members(query):
            item = next((item for item in select.selects if item.alias_or_name == name), None)
            value = None if item is None else item.unalias()
            if isinstance(value, exp.Column):
                yield self._find_in(value, select, last)
            elif value is None:
                yield frozenset()
            elif not isinstance(value.this if isinstance(value, exp.Cast) else value, exp.Null):
                tables = sorted(table.sql() for table in find_nodes(select, exp.Table))
                yield frozenset({(*tables, value.sql())})


def find_comparisons_of_one_origin(tree: exp.Expr) -> list[exp.NullSafeEQ]:
    """Return the comparisons by IS NOT DISTINCT FROM whose columns are of one origin.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one('''WITH a AS (SELECT day FROM t), b AS (SELECT day, hour FROM t)
    ... SELECT 1 FROM a JOIN b ON a.day IS NOT DISTINCT FROM b.day AND a.day IS NOT DISTINCT FROM b.hour''')
    >>> [comparison.sql() for comparison in find_comparisons_of_one_origin(tree)]
    ['a.day IS NOT DISTINCT FROM b.day']
    """  # noqa: E501
    comparisons = find_nodes(tree, exp.NullSafeEQ)
    if not comparisons:
        return []
    steps = Steps(tree)
    return [
        comparison
        for comparison in comparisons
        if isinstance(comparison.this, exp.Column)
        and isinstance(comparison.expression, exp.Column)
        and (origins := steps.find(comparison.this))
        and origins == steps.find(comparison.expression)
    ]
