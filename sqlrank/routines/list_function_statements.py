"""Build CREATE FUNCTION statements of list functions and aggregates, with comments, for databases other than DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.select_builders import cast_double
from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.list_operations import rewrite_list_operations
from sqlrank.routines.routine import Routine, qualify_function
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.routines.routine import RoutineFacts
    from sqlrank.routines.symbolic_statement import RoutineParameter

_LIST_TYPES = {
    "databricks": ("ARRAY<STRING>", "INT"),
    "spark": ("ARRAY<STRING>", "INT"),
    "postgres": ("anyarray", "integer"),
    "bigquery": ("ANY TYPE", "INT64"),
}
"""Types of parameters that are lists, and of cut-offs, where functions declare them."""

_CREATE = {
    "spark": ("CREATE OR REPLACE FUNCTION {name}({parameters}) RETURNS DOUBLE COMMENT {comment} RETURN {expression}",),
    "bigquery": ("CREATE OR REPLACE FUNCTION {name}({parameters}) AS ({expression}) OPTIONS (description = {comment})",),
    "clickhouse": ("CREATE OR REPLACE FUNCTION {name} AS ({names}) -> {expression}",),
    "postgres": (
        (
            "CREATE OR REPLACE FUNCTION {name}({parameters}) RETURNS double precision LANGUAGE SQL IMMUTABLE PARALLEL SAFE "
            "AS $$ SELECT {expression} $$"
        ),
        "COMMENT ON FUNCTION {name}({types}) IS {comment}",
    ),
}
"""Statements that create a function and its comment, of parts that are written as trees."""
_CREATE["databricks"] = _CREATE["spark"]

_CREATE_AGGREGATE = {
    "bigquery": (
        "CREATE OR REPLACE AGGREGATE FUNCTION {name}({parameters}) RETURNS FLOAT64 AS ({expression}) OPTIONS (description = {comment})"
    ),
    "clickhouse": "CREATE OR REPLACE FUNCTION {name} AS ({names}) -> {expression}",
}
"""Statements that create an aggregate, where functions of SQL can be one."""


def supports_lists(dialect: str) -> bool:
    """Return True if a dialect has functions of lists."""
    return dialect in _CREATE


def supports_aggregates(dialect: str) -> bool:
    """Return True if a function of SQL can be an aggregate of columns."""
    return dialect in _CREATE_AGGREGATE


def create_aggregate_routine(
    dialect: str, schema: str, facts: RoutineFacts, body: exp.Expr, parameters: Sequence[RoutineParameter]
) -> Routine:
    """Return the aggregate of an expression over columns with symbolic parameters, all of which are passed."""
    expression = exp.Paren(this=rewrite_for_dialect(body, dialect, facts.name))
    types = {parameter.name: "FLOAT64" for parameter in parameters}
    return _create_routine(dialect, schema, facts, expression, types, (_CREATE_AGGREGATE[dialect],))


def create_list_routine(dialect: str, schema: str, facts: RoutineFacts, body: exp.Expr, parameters: Sequence[RoutineParameter]) -> Routine:
    """Return the function of an expression over lists with symbolic parameters."""
    operations = {"databricks": "spark"}.get(dialect, dialect)  # whose functions are the same
    value = rewrite_list_operations(rewrite_for_dialect(body, operations, facts.name), operations)
    list_type, cutoff_type = _LIST_TYPES.get(dialect, ("", ""))
    types = {parameter.name: cutoff_type if parameter.name == "k" else list_type for parameter in parameters}
    return _create_routine(dialect, schema, facts, exp.Paren(this=cast_double(value)), types, _CREATE[dialect])


def _create_routine(
    dialect: str, schema: str, facts: RoutineFacts, expression: exp.Paren, types: Mapping[str, str], statements: Sequence[str]
) -> Routine:
    """Return the function of an expression in parentheses, whose parameters have these types."""
    for node in find_nodes(expression, exp.Parameter):
        node.replace(exp.column(node.name))
    name = qualify_function(schema, facts.name, dialect).sql(dialect)
    texts = {
        "name": name,
        "names": ", ".join(types),
        "types": ", ".join(types.values()),
        "parameters": ", ".join(f"{parameter} {type_name}" for parameter, type_name in types.items()),
        "expression": expression.this.sql(dialect),
        "comment": exp.Literal.string(facts.comment).sql(dialect),
    }
    return Routine(
        facts,
        f"{name}({texts['names']})",
        tuple(statement.format(**texts) for statement in statements),
        (f"DROP FUNCTION IF EXISTS {name}",),
    )
