"""CREATE FUNCTION statements of list functions, with their comments, for other databases than DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.select_builders import cast_double
from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.list_operations import rewrite_list_operations
from sqlrank.routines.routine import Routine
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    holder = exp.Paren(this=rewrite_for_dialect(body, dialect, facts.name))
    for node in find_nodes(holder, exp.Parameter):
        node.replace(exp.column(node.name))
    names = [parameter.name for parameter in parameters]
    separator = "." if get_dialect(dialect).supports_function_schemas else "_"
    name = exp.to_table(f"{schema}{separator}{facts.name}").sql(dialect)
    texts = {
        "name": name,
        "names": ", ".join(names),
        "parameters": ", ".join(f"{parameter} FLOAT64" for parameter in names),
        "expression": holder.this.sql(dialect),
        "comment": exp.Literal.string(facts.comment).sql(dialect),
    }
    return Routine(
        facts, f"{name}({', '.join(names)})", (_CREATE_AGGREGATE[dialect].format(**texts),), (f"DROP FUNCTION IF EXISTS {name}",)
    )


def create_list_routine(dialect: str, schema: str, facts: RoutineFacts, body: exp.Expr, parameters: Sequence[RoutineParameter]) -> Routine:
    """Return the function of an expression over lists with symbolic parameters."""
    operations = {"databricks": "spark"}.get(dialect, dialect)  # whose functions are the same
    holder = exp.Paren(this=rewrite_list_operations(rewrite_for_dialect(body, operations, facts.name), operations))
    for node in find_nodes(holder, exp.Parameter):
        node.replace(exp.column(node.name))
    names = [parameter.name for parameter in parameters]
    list_type, cutoff_type = _LIST_TYPES.get(dialect, ("", ""))
    types = [cutoff_type if name == "k" else list_type for name in names]
    separator = "." if get_dialect(dialect).supports_function_schemas else "_"
    name = exp.to_table(f"{schema}{separator}{facts.name}").sql(dialect)
    texts = {
        "name": name,
        "names": ", ".join(names),
        "types": ", ".join(types),
        "parameters": ", ".join(f"{name} {type_name}" for name, type_name in zip(names, types, strict=True)),
        "expression": cast_double(holder.this).sql(dialect),
        "comment": exp.Literal.string(facts.comment).sql(dialect),
    }
    return Routine(
        facts,
        f"{name}({', '.join(names)})",
        tuple(statement.format(**texts) for statement in _CREATE[dialect]),
        (f"DROP FUNCTION IF EXISTS {name}",),
    )
