"""Rewrite the elements and lengths of list columns, ``CROSS JOIN UNNEST(x) WITH ORDINALITY`` and ``y[position]``, for a dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.sql_ast import find_nodes
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlrank.rendering.dialects import Dialect


ELEMENT_LIST = "element_list"
"""Column that repeats a whole list in each row, beside the position of an element."""


@dataclass(frozen=True)
class _ListJoin:
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
    def read(cls, join: exp.Join) -> _ListJoin | None:
        """Return the parts of a join, None if it is no join with the elements of a list."""
        unnest: Any = join.this
        if not isinstance(unnest, exp.Unnest) or not isinstance(unnest.args.get("offset"), exp.Identifier):
            return None
        (element,), (values,) = unnest.args["alias"].columns, unnest.expressions
        return cls(join.parent, join, values, unnest.alias, element.name, unnest.args["offset"].name)

    @property
    def columns(self) -> list[exp.Column]:
        """The columns that the SELECT reads outside of FROM."""
        clauses = [*self.select.expressions, *filter(None, [self.select.args.get("where")])]
        return [column for clause in clauses for column in find_nodes(clause, exp.Column)]

    def find_columns(self, name: str) -> list[exp.Column]:
        """Return the columns of the SELECT that are the element or its position, without those in brackets."""
        own = (column for column in self.columns if column.name == name and column.table in {"", self.alias})
        return [column for column in own if not isinstance(column.parent, exp.Bracket)]

    def replace(self, name: str, value: exp.Expr) -> None:
        """Replace the element or its position by an expression; a column of the result keeps its name."""
        for column in self.find_columns(name):
            column.replace(exp.alias_(value.copy(), column.name) if column.parent is self.select else value.copy())

    def replace_brackets(self, write: Callable[[exp.Expr, exp.Expr], exp.Expr]) -> None:
        """Replace the elements of other lists; ``write`` returns the one of a list at a position."""
        for bracket in [
            column.parent for column in self.columns if isinstance(column.parent, exp.Bracket) and column.arg_key == "expressions"
        ]:
            bracket.replace(write(bracket.this.copy(), bracket.expressions[0].copy()))

    def read_from(self, *items: exp.Expr) -> None:
        """Read rows with further columns in place of the source and the elements: a CTE before that of the SELECT, or a subquery."""
        names = {self.element, self.position}
        read = dict.fromkeys(column.copy() for column in self.columns if not (column.name in names and column.table in {"", self.alias}))
        rows = exp.select(*read, *items)
        self.select.args["joins"].remove(self.join)
        rows.set("from_", self.select.args["from_"])
        unqualify_columns(rows)
        cte = self.select.find_ancestor(exp.CTE)
        if cte is None:
            self.select.set("from_", exp.From(this=rows.subquery(self.alias)))
        else:
            steps = cte.parent.expressions
            name = unique_name(self.alias, {table.name for table in [*steps, *find_nodes(cte.parent, exp.Table)]})
            ids = [column.name.removesuffix("_id") for column in read if column.name.endswith("_id")]
            rows.comments = [f"One row per {' and '.join([*ids[:1], 'element of its list'])}, with its position."]
            steps.insert(steps.index(cte), exp.CTE(this=rows, alias=exp.TableAlias(this=exp.to_identifier(name))))
            self.select.set("from_", exp.From(this=exp.to_table(name)))
        unqualify_columns(self.select)


def unqualify_columns(select: exp.Select) -> None:
    """Leave out the table of the columns of a SELECT that reads only one."""
    for column in find_nodes(select, exp.Column):
        column.set("table", None)


def rewrite_list_elements(tree: exp.Expr, target: Dialect, statement_title: str) -> None:
    """Rewrite the cross joins of list columns with their elements in place.

    Raises:
        MetricError: The dialect has none.
    """
    for join in [list_join for node in find_nodes(tree, exp.Join) if (list_join := _ListJoin.read(node)) is not None]:
        if target.list_elements is None:
            raise MetricError(
                f"{statement_title} cannot be written for {target.sqlglot_name}, which has no UNNEST of lists with positions: make a table with a row "
                "per document of each list, and give it as run and qrels"
            )
        if (write := _FORMS[target.list_elements]) is not None:
            write(join)
    for size in find_nodes(tree, exp.ArraySize) if target.list_elements == "json_each" else ():
        size.replace(exp.Anonymous(this="JSON_ARRAY_LENGTH", expressions=[size.this]))


def _select_elements(join: _ListJoin) -> None:
    """Unnest in the SELECT list, which DuckDB does without the join of a lateral subquery."""
    subscripts = exp.Anonymous(this="GENERATE_SUBSCRIPTS", expressions=[join.values.copy(), exp.Literal.number(1)])
    elements: dict[str, exp.Expr] = {join.element: exp.Unnest(expressions=[join.values.copy()]), join.position: subscripts}
    read = [column for name in elements for column in join.find_columns(name)]
    is_looked_up = any(isinstance(column.parent, exp.Bracket) for column in join.columns) or join.select.args.get("where") is not None
    if read and not is_looked_up and all(isinstance(column.parent, (exp.Select, exp.Alias, exp.Cast)) for column in read):
        join.select.args["joins"].remove(join.join)
        for name, value in elements.items():
            join.replace(name, value)
        unqualify_columns(join.select)
    else:
        join.read_from(*(exp.alias_(value, name) for name, value in elements.items()))


def _select_ranges(join: _ListJoin) -> None:
    """Unnest the list and the range of its positions side by side, which DataFusion does in the SELECT list only."""
    length = exp.cast(exp.Anonymous(this="ARRAY_LENGTH", expressions=[join.values.copy()]), "BIGINT")
    end = exp.Add(this=length, expression=exp.Literal.number(1))
    positions = exp.Anonymous(this="RANGE", expressions=[exp.Literal.number(1), end])
    elements = {join.element: join.values.copy(), join.position: positions}
    join.read_from(*(exp.alias_(exp.Anonymous(this="UNNEST", expressions=[value]), name) for name, value in elements.items()))


def _join_subscripts(join: _ListJoin) -> None:
    """Multiply rows by the positions of ClickHouse's lists, and look the elements up."""
    numbers = exp.Anonymous(this="arrayEnumerate", expressions=[join.values.copy()])
    positions = exp.Anonymous(this="arrayJoin", expressions=[numbers])
    join.read_from(exp.alias_(join.values.copy(), ELEMENT_LIST), exp.alias_(positions, join.position))
    position = exp.column(join.position)
    join.replace(join.position, exp.cast(position.copy(), "INT"))  # unsigned integers have no common type with others
    join.replace(join.element, exp.Bracket(this=exp.column(ELEMENT_LIST), expressions=[position], offset=1))


def _look_up(function: str) -> Callable[[_ListJoin], None]:
    """Return the form of an engine with a function that gives NULL, not an error, for elements that are not there."""

    def rewrite_join(join: _ListJoin) -> None:
        join.replace_brackets(lambda values, position: exp.Anonymous(this=function, expressions=[values, position]))

    return rewrite_join


def _shift_positions_from_zero(join: _ListJoin) -> None:
    """Convert positions that are counted from 0, as POSEXPLODE of Spark does."""
    unqualify_columns(join.select)
    _number_from_one(join, exp.column(join.position))
    _look_up("GET")(join)


def _number_from_one(join: _ListJoin, index: exp.Expr) -> None:
    join.replace(join.position, exp.paren(exp.Add(this=index, expression=exp.Literal.number(1))))


def _flatten_elements(join: _ListJoin) -> None:
    """Read the elements of Snowflake's lists, which are variants: ids become texts."""
    index = exp.column("index", table=join.alias)
    join.replace_brackets(lambda values, _: exp.Anonymous(this="GET", expressions=[values, index.copy()]))
    _number_from_one(join, index)
    join.replace(join.element, exp.cast(exp.column("value", table=join.alias), "VARCHAR"))
    call = exp.Anonymous(this="FLATTEN", expressions=[exp.Kwarg(this=exp.var("INPUT"), expression=join.values)])
    join.join.set("this", exp.Lateral(this=call, alias=exp.TableAlias(this=exp.to_identifier(join.alias))))


def _unnest_with_offset(join: _ListJoin) -> None:
    """Read the elements of BigQuery's lists with their offsets."""
    for column in join.columns:
        if column.table == join.alias:
            column.set("table", None)  # the aliases name the element and its offset, not a table
    _number_from_one(join, exp.column(join.position))
    join.replace_brackets(lambda values, index: exp.Bracket(this=values, expressions=[index], offset=0, safe=True))


def _read_json(join: _ListJoin) -> None:
    """Read the elements of a text that is a JSON array, as SQLite has lists."""
    key = exp.column("key", table=join.alias)
    start = exp.DPipe(this=exp.Literal.string("$["), expression=key.copy(), safe=True)
    path = exp.DPipe(this=start, expression=exp.Literal.string("]"), safe=True)
    join.replace_brackets(lambda values, _: exp.Anonymous(this="JSON_EXTRACT", expressions=[values, path.copy()]))
    _number_from_one(join, key)
    join.replace(join.element, exp.column("value", table=join.alias))
    function = exp.Anonymous(this="JSON_EACH", expressions=[join.values])
    join.join.set("this", exp.Table(this=function, alias=exp.TableAlias(this=exp.to_identifier(join.alias))))


_FORMS: Mapping[str, Callable[[_ListJoin], None] | None] = {
    "ordinality": None,
    "ordinality_safe": _look_up("ELEMENT_AT"),
    "select": _select_elements,
    "ranges": _select_ranges,
    "subscripts": _join_subscripts,
    "offset": _unnest_with_offset,
    "posexplode": _shift_positions_from_zero,
    "flatten": _flatten_elements,
    "json_each": _read_json,
}
"""Rewrites by the value of ``Dialect.list_elements``."""
