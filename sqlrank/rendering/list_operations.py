"""Rewrite operations on lists from DuckDB's form for other dialects: as functions of lambdas, or as subqueries over elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.sql_ast import DOUBLE, INT, find_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


def _call_function(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _plus_one(node: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Add(this=node, expression=exp.Literal.number(1)), copy=False)


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
    positions = [_call_function("arrayEnumerate", array.copy())] if len(function.expressions) > 1 else []
    return _call_function("arrayMap", function, array, *positions)


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
        return _call_function("ARRAY", query)

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
        "filter": lambda array, function: _call_function("FILTER", array, function),
        "slice": lambda array, start, end: _call_function("SLICE", array, start, exp.cast(end, INT)),
        "position": lambda array, value: _call_function("ARRAY_POSITION", array, value),
        "distinct": lambda array: _call_function("ARRAY_DISTINCT", array),
        "sort": lambda array: _call_function("ARRAY_SORT", array),
        "min": lambda array: _call_function("ARRAY_MIN", array),
        "sum": lambda array: _call_function(
            "AGGREGATE",
            array,
            exp.cast(exp.Literal.number(0), DOUBLE),
            _build_lambda([_ELEMENT_SUM, _ELEMENT], exp.Add(this=exp.to_identifier(_ELEMENT_SUM), expression=exp.to_identifier(_ELEMENT))),
        ),
        "length": lambda array: _call_function("ARRAY_SIZE", array),
        "series": lambda start, end: _call_function("SEQUENCE", start, end),
    },
    "clickhouse": {
        "transform": _map_elements,
        "filter": lambda array, function: _call_function("arrayFilter", function, array),
        "slice": lambda array, start, end: _call_function("arraySlice", array, start, end),
        "position": lambda array, value: _call_function("indexOf", array, value),
        "distinct": lambda array: _call_function("arrayDistinct", array),
        "sort": lambda array: _call_function("arraySort", array),
        "min": lambda array: exp.Nullif(this=_call_function("arrayMin", array), expression=exp.Literal.number(0)),  # 0 of an empty list
        "sum": lambda array: _call_function("arraySum", array),
        "length": lambda array: _call_function("length", array),
        "series": lambda start, end: _call_function(
            "range", _call_function("toUInt32", start), _call_function("toUInt32", _plus_one(exp.paren(end)))
        ),
    },
    "postgres": {
        **_subquery_writers(1),
        "length": lambda array: _call_function("CARDINALITY", array),
        "series": lambda start, end: _call_function("ARRAY", exp.select(_call_function("GENERATE_SERIES", start, end))),
    },
    "bigquery": {
        **_subquery_writers(0),
        "length": lambda array: _call_function("ARRAY_LENGTH", array),
        "series": lambda start, end: _call_function("GENERATE_ARRAY", start, end),
    },
}
"""Writers of operations by dialect; ``min`` and ``sum`` are of lists of positive numbers."""
