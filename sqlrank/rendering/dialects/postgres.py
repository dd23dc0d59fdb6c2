"""PostgreSQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect, FunctionForms, TableFunctionForm, keep_nodes
from sqlrank.rendering.dialect_forms import (
    Steps,
    find_comparisons_of_one_origin,
    order_within_group,
    split_at_blanks,
    subquery_operations,
)
from sqlrank.rendering.number_rewrites import read_series_function
from sqlrank.sql_ast import BIGINT, call_function, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence


def _cast_bits(digits: exp.Expr) -> exp.Expr:
    text = exp.DPipe(this=sql_literal("x"), expression=digits, safe=True)
    return exp.cast(exp.cast(text, exp.DataType.build("BIT(32)", dialect="postgres")), BIGINT)


def _select_types(query: exp.Query, columns: Sequence[exp.Column]) -> exp.Select:
    """Return a query for the types of columns, which drivers report as numbers."""
    names = (exp.cast(call_function("PG_TYPEOF", column), "TEXT") for column in columns)
    nothing = exp.select("*").from_(query.copy().subquery("described")).where("1 = 0")
    return (
        exp.select(*names)
        .from_(exp.select("1 AS one").subquery("one"))
        .join(nothing.subquery("described"), on="1 = 1", join_type="left")
    )


def _double_percents(query: str) -> str:
    """Return a query for FORMAT, which reads the places of tables."""
    return re.sub(r"%(?!\d+\$s)", "%%", query)


def _compare_arrays(tree: exp.Expr) -> None:
    """Compare nullable keys of one type as arrays, which are equal where both are NULL and can be
    hashed: joins by IS NOT DISTINCT FROM compare each row with each.

    A join by one key compares both ways. By arrays alone, the planner expects one in 200 pairs of
    groups to match, so many that it compiles the statement for longer than it runs.
    """
    for comparison in find_comparisons_of_one_origin(tree):
        first, second = (
            exp.Array(expressions=[operand.copy()])
            for operand in (comparison.this, comparison.expression)
        )
        arrays = exp.EQ(this=first, expression=second)
        is_alone = isinstance(comparison.find_ancestor(exp.And, exp.Join), exp.Join)
        comparison.replace(exp.and_(arrays, comparison.copy()) if is_alone else arrays)


def _count_constant_groups(tree: exp.Expr) -> None:
    """Write the number of groups where all are constants, such as the names of several runs: the
    planner expects 200, each with all queries, and compiles the statement for ten times as long as
    it runs.
    """
    steps = Steps(tree)
    for group in find_nodes(tree, exp.Group):
        select: exp.Select = group.parent  # type: ignore[assignment]
        if group.expressions == select.selects and len(select.selects) == 1:
            names = {*steps.find_expressions(select.selects[0])}
            if all(isinstance(name, exp.Literal) for name in names):
                select.limit(len(names), copy=False)


def _finish_tree(tree: exp.Expr) -> None:
    _compare_arrays(tree)
    _count_constant_groups(tree)


_RAISE_PROBLEM = r"""
EXCEPTION WHEN data_exception OR syntax_error_or_access_rule_violation THEN
  -- The check casts what is wrong to a boolean, in whatever language the server reports it
  problem := substring(SQLERRM FROM 'boolean\W+(.*)\W$');
  IF problem IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
  END IF;
  advice := strpos(problem || '. ', '. ') + 2;
  counted := COALESCE(substring(problem FROM ' [(](?:rows|keys): [0-9]+[)]$'), '');
  RAISE EXCEPTION USING
    MESSAGE = substr(problem, 1, advice - 3) || counted,
    HINT = substr(problem, advice, greatest(length(problem) - length(counted) - advice + 1, 0));
"""
"""End of a function: without it, an error is followed by the whole query as its context."""

DIALECT = Dialect(
    label="PostgreSQL",
    sqlglot_name="postgres",
    aliases=("postgresql", "pg"),
    drivers=("psycopg", "psycopg2", "pg8000"),
    write_list_elements=keep_nodes,
    write_quantile=order_within_group,
    write_series=read_series_function,
    write_hex_number=_cast_bits,
    write_words=split_at_blanks("[^[:alnum:]]+"),
    finish=_finish_tree,
    fold_identifier=str.lower,
    calls_functions_by_fields=True,
    supports_collations=True,
    supports_jsonb=True,
    computes_ctes_once=True,
    repeats_expressions=True,
    supports_create_or_replace_table=False,
    supports_transactions=True,
    uses_savepoints=True,
    disabled_setting="jit",  # of many groups it compiles for longer than the statement runs
    type_query=_select_types,
    shadowing_query="shadowing_functions_postgres.sql",
    functions=FunctionForms(
        version=(
            "CREATE OR REPLACE FUNCTION {name}() RETURNS text LANGUAGE SQL IMMUTABLE AS $$ SELECT"
            " {version} $$"
        ),
        group=("by", "name of the column of {inputs} to group by"),
        table=TableFunctionForm(
            create=(
                "DROP FUNCTION IF EXISTS {name}({other_types})",
                (
                    "CREATE OR REPLACE FUNCTION {name}({arguments}) RETURNS TABLE ({columns})"
                    " LANGUAGE plpgsql STABLE SET jit = off AS $sqlrank$\nDECLARE\n"
                    "  problem text;\n  counted text;\n  advice int;\nBEGIN\n  RETURN QUERY EXECUTE"
                    " format($query$\n{query}\n$query$, {formatted}){using};"
                    + _RAISE_PROBLEM
                    + "END\n$sqlrank$"
                ),
                "COMMENT ON FUNCTION {name} IS {comment}",
            ),
            drop="DROP FUNCTION IF EXISTS {name}",
            types=("regclass", "double precision", "text", "boolean"),
            call="{name}({values})",
            source="%{place}$s",
            group="%{last}$s",
            parameter="${place}",
            argument="{role} regclass",
            number='"{name}" double precision{default}',
            default=" DEFAULT {value}",
            group_argument='"by" text DEFAULT NULL',
            checks_argument="checks boolean DEFAULT TRUE",
            text_type="text",
            number_type="double precision",
            escape_query=_double_percents,
        ),
        list=(
            (
                "CREATE OR REPLACE FUNCTION {name}({parameters}) RETURNS double precision LANGUAGE"
                " SQL IMMUTABLE PARALLEL SAFE AS $$ SELECT {expression} $$"
            ),
            "COMMENT ON FUNCTION {name}({types}) IS {comment}",
        ),
        list_types=("anyarray", "integer"),
        list_operations={
            **subquery_operations(1),
            "length": "CARDINALITY",
            "series": lambda start, end: call_function(
                "ARRAY", exp.select(call_function("GENERATE_SERIES", start, end))
            ),
        },
    ),
    has_dbt_macros=True,
    dbt_deletes_and_inserts=True,
)
