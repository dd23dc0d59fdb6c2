"""Rewrite list columns for a dialect: their elements, their lengths, and operations on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.sql_ast import call_function, find_nodes, sql_literal
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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


def _element_rows(array: exp.Expr, element: str, position: str | None) -> exp.Unnest:
    """Return the FROM item of the elements of a list."""
    alias = exp.TableAlias(columns=[exp.to_identifier(element)])
    return exp.Unnest(
        expressions=[array],
        alias=alias,
        offset=None if position is None else exp.to_identifier(position),
    )


def subquery_operations(first_position: int) -> dict[str, Callable[..., exp.Expr]]:
    """Return writers of subqueries over elements, whose positions the dialect numbers from 0 or
    1.
    """

    def unnest_array(
        array: exp.Expr, element: str = LIST_ELEMENT, position: str | None = None
    ) -> exp.Unnest:
        unnest = _element_rows(array, element, position)
        if first_position == 1:  # PostgreSQL names the table of elements
            unnest.args["alias"].set("this", exp.to_identifier(f"{element}_rows"))
        return unnest

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
                exp.alias_(value.copy(), column.name)
                if column.parent is self.select
                else value.copy()
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

    def read_from(self, *items: exp.Expr) -> None:
        """Read rows with further columns in place of the source and the elements: a CTE before that
        of the SELECT, or a subquery.
        """
        names = {self.element, self.position}
        read = dict.fromkeys(
            column.copy()
            for column in self.columns
            if not (column.name in names and column.table in {"", self.alias})
        )
        rows = exp.select(*read, *items)
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
            ids = [
                column.name.removesuffix("_id") for column in read if column.name.endswith("_id")
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
