"""Build CREATE MACRO statements for DuckDB, table macros and scalar macros, with comments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.formatter import format_tree
from sqlrank.routines.check_steps import CHECK, CHECKS_PARAMETER, PROBLEMS, add_checks
from sqlrank.routines.routine import Routine, qualify_function
from sqlrank.routines.symbolic_statement import GROUP_COLUMN, source_table
from sqlrank.routines.table_functions import CTE_PREFIX, GROUP_PARAMETER, build_table_query
from sqlrank.sql_ast import find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.routines.routine import RoutineFacts
    from sqlrank.routines.symbolic_statement import RoutineParameter, SymbolicStatement


LONGEST_UNGROUPED = 6_000
"""Most characters of a second query for calls without a group, so that the script of all functions stays below 1.5 MB."""


def create_table_macro(
    schema: str, facts: RoutineFacts, symbolic: SymbolicStatement, ungrouped: SymbolicStatement | None = None
) -> Routine:
    """Return the table macro of a symbolic statement, with an overload for calls without a group if a statement for them is given."""
    is_checked = [exp.PropertyEQ(this=exp.to_identifier(CHECKS_PARAMETER), expression=exp.true())] if symbolic.checks else []
    parameters = [*map(exp.to_identifier, facts.inputs), *_order_parameters(symbolic.parameters)]
    group = exp.to_identifier(GROUP_PARAMETER, quoted=True)
    optional_group = exp.PropertyEQ(this=group, expression=exp.null())
    query = _build_checked_query(facts, symbolic)
    returns = exp.ReturnsProperty(this=exp.Schema(this=exp.var("TABLE")), is_table=True)
    properties = exp.Properties(expressions=[returns])
    routine = _build_macro(schema, facts, [*parameters, optional_group, *is_checked], query, properties)
    if ungrouped is None:
        return routine
    query_without_groups = _build_checked_query(facts, ungrouped)
    query_without_groups.set("expressions", [exp.alias_(exp.null(), GROUP_COLUMN), *query_without_groups.selects])
    for node in query_without_groups.walk():
        node.comments = None
    place = sum(isinstance(parameter, exp.Identifier) for parameter in parameters)  # before those with a default
    with_group = [*parameters[:place], group, *parameters[place:], *is_checked]
    target = qualify_function(schema, facts.name, "duckdb")
    signature = exp.UserDefinedFunction(this=target, expressions=[*parameters, *is_checked], wrapped=True).sql("duckdb")
    others = exp.Tuple(expressions=with_group).sql("duckdb")
    first, second = (format_tree(tree, "duckdb", pretty=tree is query)[0] for tree in (query_without_groups, query))
    if len(first) > LONGEST_UNGROUPED:
        return routine
    create = f"CREATE OR REPLACE MACRO {signature} AS TABLE (\n{first}\n), {others} AS TABLE (\n{second}\n)"
    return replace(routine, create=(create, *routine.create[1:]))


def _build_checked_query(facts: RoutineFacts, symbolic: SymbolicStatement) -> exp.Select:
    """Return the query of a table macro, which first checks the rows of its inputs."""
    names = [*facts.inputs, *(parameter.name for parameter in symbolic.parameters), CHECKS_PARAMETER, GROUP_PARAMETER]
    query = build_table_query(
        symbolic, "duckdb", lambda role: _read_source(role, symbolic.find_group_column(role)), _reference_parameter, names
    )
    _qualify_columns(query, facts.inputs)
    add_checks(query, symbolic, "duckdb", _reference_parameter, exp.column(CHECKS_PARAMETER))
    for cte in query.args["with_"].expressions:
        if cte.alias in {PROBLEMS, CHECK}:  # each on a line, so that the script of all functions stays below 1.5 MB
            cte.set("this", exp.var(format_tree(cte.this, "duckdb", pretty=False)[0]))
    return query


def _qualify_columns(query: exp.Select, roles: Sequence[str]) -> None:
    """Qualify the columns of the passed tables in place where they get their types, since DuckDB takes one that is missing for its own alias."""
    sources = {CTE_PREFIX + source_table(role): role for role in roles}
    for select in find_nodes(query, exp.Select):
        table = select.args["from_"].this
        if table.name not in sources or select.args.get("joins"):
            continue
        for item in select.selects:
            column = item.unalias().this if isinstance(item.unalias(), exp.Cast) else None
            if isinstance(column, exp.Column) and not column.table:
                column.set("table", exp.to_identifier(sources[table.name]))
                table.set("alias", exp.TableAlias(this=exp.to_identifier(sources[table.name])))


def _read_source(role: str, group: str | None) -> exp.Select:
    """Return the query that reads the table that is passed for a role, with the column of the group if it has it.

    That column is the first, because DuckDB reads the first of two columns of one name.
    """
    groups = [] if group is None else [exp.alias_(_reference_parameter(GROUP_PARAMETER), group)]
    return exp.select(*groups, "*").from_(exp.Table(this=exp.Anonymous(this="query_table", expressions=[exp.column(role)])))


def create_scalar_macro(schema: str, facts: RoutineFacts, body: exp.Expr, parameters: Sequence[RoutineParameter]) -> Routine:
    """Return the macro of an expression with symbolic parameters."""
    holder = exp.Paren(this=rewrite_for_dialect(body, "duckdb", facts.name))
    for node in find_nodes(holder, exp.Parameter):
        node.replace(_reference_parameter(node.name))
    return _build_macro(schema, facts, _order_parameters(parameters), holder.this)


def _reference_parameter(parameter: str) -> exp.Column:
    return exp.column(exp.to_identifier(parameter, quoted=parameter == GROUP_PARAMETER))


def _order_parameters(parameters: Sequence[RoutineParameter]) -> list[exp.Expr]:
    """Return parameters, those without a default before those that have one."""
    ordered = sorted(parameters, key=lambda parameter: parameter.default is not None)
    return [
        exp.to_identifier(parameter.name)
        if parameter.default is None
        else exp.PropertyEQ(this=exp.to_identifier(parameter.name), expression=sql_literal(parameter.default))
        for parameter in ordered
    ]


def _build_macro(
    schema: str, facts: RoutineFacts, parameters: Sequence[exp.Expr], body: exp.Expr, properties: exp.Properties | None = None
) -> Routine:
    """Return the statements of a macro."""
    target = qualify_function(schema, facts.name, "duckdb")
    function = exp.UserDefinedFunction(this=target, expressions=list(parameters), wrapped=True)
    create = exp.Create(this=function, kind="MACRO", replace=True, expression=body, properties=properties)
    kind = "MACRO TABLE" if facts.kind == "table" else "MACRO"
    name, comment = target.sql("duckdb"), exp.Literal.string(facts.comment).sql("duckdb")
    return Routine(
        facts,
        function.sql("duckdb").replace(f' "{GROUP_PARAMETER}"', f" {GROUP_PARAMETER}"),
        (format_tree(create, "duckdb", pretty=True)[0], f"COMMENT ON {kind} {name} IS {comment}"),
        (f"DROP {kind} IF EXISTS {name}",),
    )
