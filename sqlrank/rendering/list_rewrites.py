"""Rewrite list columns for a dialect: their elements, their lengths, and operations on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.sql_ast import DOUBLE, INT, call_function, find_nodes, sql_literal
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlrank.rendering.dialects import Dialect


_ELEMENT, _ELEMENT_POSITION, _ELEMENT_SUM = "element", "element_position", "element_sum"
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


def rewrite_list_operations(tree: exp.Expr, dialect: str) -> exp.Expr:
    """Return an expression over lists for a dialect; it is changed in place.

    Raises:
        MetricError: The dialect has no operations of lists in expressions.
    """
    if dialect not in _WRITERS:
        raise MetricError(f"{dialect} has no functions of lists. Choose from: {', '.join(_WRITERS)}")
    holder = exp.Paren(this=tree)
    for node in reversed(find_nodes(holder, exp.Anonymous, *_OPERATIONS)):  # operands before what is computed of them
        operation = _CALLS.get(node.name) if isinstance(node, exp.Anonymous) else _OPERATIONS[type(node)]
        if operation is not None:
            node.replace(_WRITERS[dialect][operation](*_list_operands(node)))
    rewritten: exp.Expr = holder.this
    return rewritten


def _list_operands(node: exp.Expr) -> list[Any]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    if isinstance(node, exp.GenerateSeries):
        return [node.args["start"], node.args["end"]]
    return [node.this] if node.args.get("expression") is None else [node.this, node.expression]


def _plus_one(node: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Add(this=node, expression=sql_literal(1)), copy=False)


def _build_lambda(names: list[str], body: exp.Expr) -> exp.Lambda:
    return exp.Lambda(this=body, expressions=[exp.to_identifier(name) for name in names])


def _number_from_one(function: exp.Lambda) -> exp.Lambda:
    """Return a lambda whose second parameter, a position, is numbered from 0, with one more in its body."""
    for parameter in function.expressions[1:]:
        for use in [node for node in find_nodes(function.this, exp.Identifier) if node.name == parameter.name]:
            use.replace(_plus_one(use.copy()))
    return function


def _map_elements(array: exp.Expr, function: exp.Lambda) -> exp.Expr:
    """Return ClickHouse's map of a lambda, whose second parameter is an element of a second array."""
    positions = [call_function("arrayEnumerate", array.copy())] if len(function.expressions) > 1 else []
    return call_function("arrayMap", function, array, *positions)


def _element_rows(array: exp.Expr, element: str, position: str | None) -> exp.Unnest:
    """Return the FROM item of the elements of a list."""
    alias = exp.TableAlias(columns=[exp.to_identifier(element)])
    return exp.Unnest(expressions=[array], alias=alias, offset=None if position is None else exp.to_identifier(position))


def _subquery_writers(first_position: int) -> dict[str, Callable[..., exp.Expr]]:
    """Return writers of subqueries over elements, whose positions the dialect numbers from 0 or 1."""

    def unnest_array(array: exp.Expr, element: str = _ELEMENT, position: str | None = None) -> exp.Unnest:
        unnest = _element_rows(array, element, position)
        if first_position == 1:  # PostgreSQL names the table of elements
            unnest.args["alias"].set("this", exp.to_identifier(f"{element}_rows"))
        return unnest

    def collect_rows(query: exp.Select) -> exp.Expr:
        return call_function("ARRAY", query)

    def transform_elements(array: exp.Expr, function: exp.Lambda) -> exp.Expr:
        element, *positions = [parameter.name for parameter in function.expressions]
        function = function if first_position else _number_from_one(function)
        return collect_rows(exp.select(function.this).from_(unnest_array(array, element, *positions)))

    def filter_elements(array: exp.Expr, function: exp.Lambda) -> exp.Expr:
        (element,) = [parameter.name for parameter in function.expressions]
        return collect_rows(exp.select(exp.column(element)).from_(unnest_array(array, element)).where(function.this))

    def slice_first(array: exp.Expr, _: exp.Expr, end: exp.Expr) -> exp.Expr:
        position: exp.Expr = exp.column(_ELEMENT_POSITION)
        is_first = exp.LTE(this=position if first_position else _plus_one(position), expression=end)
        return collect_rows(exp.select(_ELEMENT).from_(unnest_array(array, _ELEMENT, _ELEMENT_POSITION)).where(is_first))

    def find_position(array: exp.Expr, value: exp.Expr) -> exp.Expr:
        least: exp.Expr = exp.Min(this=exp.column(_ELEMENT_POSITION))
        is_value = exp.EQ(this=exp.column(_ELEMENT), expression=value)
        query = exp.select(least if first_position else _plus_one(least))
        return query.from_(unnest_array(array, _ELEMENT, _ELEMENT_POSITION)).where(is_value).subquery()

    return {
        "transform": transform_elements,
        "filter": filter_elements,
        "slice": slice_first,
        "position": find_position,
        "distinct": lambda array: collect_rows(exp.select(_ELEMENT).distinct().from_(unnest_array(array))),
        "sort": lambda array: collect_rows(exp.select(_ELEMENT).from_(unnest_array(array)).order_by(_ELEMENT)),
        "min": lambda array: exp.select(exp.Min(this=exp.column(_ELEMENT))).from_(unnest_array(array)).subquery(),
        "sum": lambda array: exp.select(exp.Sum(this=exp.column(_ELEMENT))).from_(unnest_array(array)).subquery(),
    }


_WRITERS: Mapping[str, Mapping[str, Callable[..., exp.Expr]]] = {
    "spark": {
        "transform": lambda array, function: exp.Transform(this=array, expression=_number_from_one(function)),
        "filter": lambda array, function: call_function("FILTER", array, function),
        "slice": lambda array, start, end: call_function("SLICE", array, start, exp.cast(end, INT)),
        "position": lambda array, value: call_function("ARRAY_POSITION", array, value),
        "distinct": lambda array: call_function("ARRAY_DISTINCT", array),
        "sort": lambda array: call_function("ARRAY_SORT", array),
        "min": lambda array: call_function("ARRAY_MIN", array),
        "sum": lambda array: call_function(
            "AGGREGATE",
            array,
            exp.cast(sql_literal(0), DOUBLE),
            _build_lambda([_ELEMENT_SUM, _ELEMENT], exp.Add(this=exp.to_identifier(_ELEMENT_SUM), expression=exp.to_identifier(_ELEMENT))),
        ),
        "length": lambda array: call_function("ARRAY_SIZE", array),
        "series": lambda start, end: call_function("SEQUENCE", start, end),
    },
    "clickhouse": {
        "transform": _map_elements,
        "filter": lambda array, function: call_function("arrayFilter", function, array),
        "slice": lambda array, start, end: call_function("arraySlice", array, start, end),
        "position": lambda array, value: call_function("indexOf", array, value),
        "distinct": lambda array: call_function("arrayDistinct", array),
        "sort": lambda array: call_function("arraySort", array),
        "min": lambda array: exp.Nullif(this=call_function("arrayMin", array), expression=sql_literal(0)),  # 0 of an empty list
        "sum": lambda array: call_function("arraySum", array),
        "length": lambda array: call_function("length", array),
        "series": lambda start, end: call_function(
            "range", call_function("toUInt32", start), call_function("toUInt32", _plus_one(exp.paren(end)))
        ),
    },
    "postgres": {
        **_subquery_writers(1),
        "length": lambda array: call_function("CARDINALITY", array),
        "series": lambda start, end: call_function("ARRAY", exp.select(call_function("GENERATE_SERIES", start, end))),
    },
    "bigquery": {
        **_subquery_writers(0),
        "length": lambda array: call_function("ARRAY_LENGTH", array),
        "series": lambda start, end: call_function("GENERATE_ARRAY", start, end),
    },
}
"""Writers of operations by dialect; ``min`` and ``sum`` are of lists of positive numbers."""


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
        size.replace(call_function("JSON_ARRAY_LENGTH", size.this))


def _select_elements(join: _ListJoin) -> None:
    """Unnest in the SELECT list, which DuckDB does without the join of a lateral subquery."""
    subscripts = call_function("GENERATE_SUBSCRIPTS", join.values.copy(), sql_literal(1))
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
    length = exp.cast(call_function("ARRAY_LENGTH", join.values.copy()), "BIGINT")
    end = exp.Add(this=length, expression=sql_literal(1))
    positions = call_function("RANGE", sql_literal(1), end)
    elements = {join.element: join.values.copy(), join.position: positions}
    join.read_from(*(exp.alias_(call_function("UNNEST", value), name) for name, value in elements.items()))


def _join_subscripts(join: _ListJoin) -> None:
    """Multiply rows by the positions of ClickHouse's lists, and look the elements up."""
    numbers = call_function("arrayEnumerate", join.values.copy())
    positions = call_function("arrayJoin", numbers)
    join.read_from(exp.alias_(join.values.copy(), ELEMENT_LIST), exp.alias_(positions, join.position))
    position = exp.column(join.position)
    join.replace(join.position, exp.cast(position.copy(), "INT"))  # unsigned integers have no common type with others
    join.replace(join.element, exp.Bracket(this=exp.column(ELEMENT_LIST), expressions=[position], offset=1))


def _look_up(function: str) -> Callable[[_ListJoin], None]:
    """Return the form of an engine with a function that gives NULL, not an error, for elements that are not there."""

    def rewrite_join(join: _ListJoin) -> None:
        join.replace_brackets(lambda values, position: call_function(function, values, position))

    return rewrite_join


def _shift_positions_from_zero(join: _ListJoin) -> None:
    """Convert positions that are counted from 0, as POSEXPLODE of Spark does."""
    unqualify_columns(join.select)
    _write_position(join, exp.column(join.position))
    _look_up("GET")(join)


def _write_position(join: _ListJoin, index: exp.Expr) -> None:
    join.replace(join.position, exp.paren(exp.Add(this=index, expression=sql_literal(1))))


def _flatten_elements(join: _ListJoin) -> None:
    """Read the elements of Snowflake's lists, which are variants: ids become texts."""
    index = exp.column("index", table=join.alias)
    join.replace_brackets(lambda values, _: call_function("GET", values, index.copy()))
    _write_position(join, index)
    join.replace(join.element, exp.cast(exp.column("value", table=join.alias), "VARCHAR"))
    call = call_function("FLATTEN", exp.Kwarg(this=exp.var("INPUT"), expression=join.values))
    join.join.set("this", exp.Lateral(this=call, alias=exp.TableAlias(this=exp.to_identifier(join.alias))))


def _unnest_with_offset(join: _ListJoin) -> None:
    """Read the elements of BigQuery's lists with their offsets."""
    for column in join.columns:
        if column.table == join.alias:
            column.set("table", None)  # the aliases name the element and its offset, not a table
    _write_position(join, exp.column(join.position))
    join.replace_brackets(lambda values, index: exp.Bracket(this=values, expressions=[index], offset=0, safe=True))


def _read_json(join: _ListJoin) -> None:
    """Read the elements of a text that is a JSON array, as SQLite has lists."""
    key = exp.column("key", table=join.alias)
    start = exp.DPipe(this=sql_literal("$["), expression=key.copy(), safe=True)
    path = exp.DPipe(this=start, expression=sql_literal("]"), safe=True)
    join.replace_brackets(lambda values, _: call_function("JSON_EXTRACT", values, path.copy()))
    _write_position(join, key)
    join.replace(join.element, exp.column("value", table=join.alias))
    function = call_function("JSON_EACH", join.values)
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
