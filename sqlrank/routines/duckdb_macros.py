"""Functions of DuckDB: macros, whose parameters are put into their query where it is bound, with comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.formatter import format_tree
from sqlrank.routines.routine import Routine
from sqlrank.routines.symbolic_statement import SOURCE_GROUP_COLUMN
from sqlrank.routines.table_functions import GROUP_PARAMETER, build_table_query
from sqlrank.sql_ast import find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.routines.routine import RoutineFacts
    from sqlrank.routines.symbolic_statement import RoutineParameter, SymbolicStatement


def create_table_macro(schema: str, facts: RoutineFacts, symbolic: SymbolicStatement) -> Routine:
    """Return the table macro of a symbolic statement."""
    names = [*facts.inputs, *(parameter.name for parameter in symbolic.parameters), GROUP_PARAMETER]
    query = build_table_query(symbolic, "duckdb", lambda role: _read_source(role, role in symbolic.group_roles), _reference, names)
    group = exp.PropertyEQ(this=exp.to_identifier(GROUP_PARAMETER, quoted=True), expression=exp.null())
    parameters = [*map(exp.to_identifier, facts.inputs), *_parameters(symbolic.parameters), group]
    returns = exp.ReturnsProperty(this=exp.Schema(this=exp.var("TABLE")), is_table=True)
    return _macro(schema, facts, parameters, query, exp.Properties(expressions=[returns]))


def _read_source(role: str, has_group: bool) -> exp.Select:
    """Return the query that reads the table that is passed for a role."""
    group = [exp.alias_(_reference(GROUP_PARAMETER), SOURCE_GROUP_COLUMN)] if has_group else []
    return exp.select("*", *group).from_(exp.Table(this=exp.Anonymous(this="query_table", expressions=[exp.column(role)])))


def create_scalar_macro(schema: str, facts: RoutineFacts, body: exp.Expr, parameters: Sequence[RoutineParameter]) -> Routine:
    """Return the macro of an expression with symbolic parameters."""
    holder = exp.Paren(this=rewrite_for_dialect(body, "duckdb", facts.name))
    for node in find_nodes(holder, exp.Parameter):
        node.replace(_reference(node.name))
    return _macro(schema, facts, _parameters(parameters), holder.this)


def _reference(parameter: str) -> exp.Column:
    return exp.column(exp.to_identifier(parameter, quoted=parameter == GROUP_PARAMETER))


def _parameters(parameters: Sequence[RoutineParameter]) -> list[exp.Expr]:
    """Return parameters, those without a default before those that have one."""
    ordered = sorted(parameters, key=lambda parameter: parameter.default is not None)
    return [
        exp.to_identifier(parameter.name)
        if parameter.default is None
        else exp.PropertyEQ(this=exp.to_identifier(parameter.name), expression=sql_literal(parameter.default))
        for parameter in ordered
    ]


def _macro(
    schema: str, facts: RoutineFacts, parameters: Sequence[exp.Expr], body: exp.Expr, properties: exp.Properties | None = None
) -> Routine:
    """Return the statements of a macro."""
    target = exp.to_table(f"{schema}.{facts.name}")
    function = exp.UserDefinedFunction(this=target, expressions=list(parameters), wrapped=True)
    create = exp.Create(this=function, kind="MACRO", replace=True, expression=body, properties=properties)
    kind = "MACRO TABLE" if facts.kind == "table" else "MACRO"
    name, comment = target.sql("duckdb"), exp.Literal.string(facts.comment).sql("duckdb")
    return Routine(
        facts,
        function.sql("duckdb").replace('"', ""),
        (format_tree(create, "duckdb", pretty=True)[0], f"COMMENT ON {kind} {name} IS {comment}"),
        (f"DROP {kind} IF EXISTS {name}",),
    )
