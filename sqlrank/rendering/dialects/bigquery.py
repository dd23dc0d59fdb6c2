"""BigQuery: GoogleSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect, FunctionForms, TableFunctionForm, keep_nodes
from sqlrank.rendering.dialect_forms import count_from_one, subquery_operations
from sqlrank.sql_ast import call_function, find_nodes, sql_literal

if TYPE_CHECKING:
    from sqlrank.rendering.dialect_forms import ListJoin

_ELEMENT, _OFFSET = "entry", "entry_place"


def _search_arrays(tree: exp.Expr) -> None:
    """Search arrays by subqueries: the 1-based position of a value."""
    for search in find_nodes(tree, exp.ArrayPosition):
        rows = exp.Unnest(
            expressions=[search.this],
            alias=exp.TableAlias(columns=[exp.to_identifier(_ELEMENT)]),
            offset=exp.to_identifier(_OFFSET),
        )
        position = exp.Add(this=exp.Min(this=exp.column(_OFFSET)), expression=sql_literal(1))
        is_value = exp.EQ(this=exp.column(_ELEMENT), expression=search.expression)
        search.replace(exp.select(position).from_(rows).where(is_value).subquery())


def _unnest_with_offset(join: ListJoin) -> None:
    """Read the elements of lists with their offsets."""
    for column in join.columns:
        if column.table == join.alias:
            column.set("table", None)  # the aliases name the element and its offset, not a table
    count_from_one(join, exp.column(join.position))
    join.replace_brackets(
        lambda values, index: exp.Bracket(this=values, expressions=[index], offset=0, safe=True)
    )


def _join_words(values: exp.Expr, start: exp.Expr, length: exp.Expr) -> exp.Expr:
    """Return the joined elements of a list by a subquery over their offsets."""
    element, offset = exp.column(_ELEMENT), exp.column(_OFFSET)
    rows = exp.Unnest(
        expressions=[values],
        alias=exp.TableAlias(columns=[element.this.copy()]),
        offset=offset.this.copy(),
    )
    query = (
        exp.select(element)
        .from_(rows)
        .where(offset >= start - 1, offset < start + length - 1)
        .order_by(offset.copy())
    )
    return call_function("ARRAY_TO_STRING", call_function("ARRAY", query), sql_literal(" "))


DIALECT = Dialect(
    label="BigQuery",
    sqlglot_name="bigquery",
    aliases=("googlesql",),
    drivers=("google",),
    write_list_elements=_unnest_with_offset,
    write_series=keep_nodes,
    composing_function="NORMALIZE",
    write_hex_number=keep_nodes,
    join_words=_join_words,
    prepare=_search_arrays,
    nan_function="IS_NAN",
    supports_from_first=True,
    searches_from_items=True,
    int_division_is_double=True,
    decimal_literals_are_double=True,
    supports_float32=False,
    is_distributed=True,
    supports_transactions=True,
    error_function="ERROR",
    functions=FunctionForms(
        version="CREATE OR REPLACE FUNCTION {name}() AS ({version})",
        group=("group_key", "column of {inputs} with the group, as text, which may be NULL"),
        table=TableFunctionForm(
            create=(
                (
                    "CREATE OR REPLACE TABLE FUNCTION {name}({arguments})\nOPTIONS (description ="
                    " {comment})\nAS (\n{query}\n)"
                ),
            ),
            drop="DROP TABLE FUNCTION IF EXISTS {name}",
            call="{name}({values})",
            source="{role}",
            group="group_key",
            parameter="{name}",
            argument="{role} TABLE<{fields}>",
            fields={
                "key": "STRING",
                "list": "ARRAY<STRING>",
                "integer": "INT64",
                "number": "FLOAT64",
                "double": "FLOAT64",
            },
            number="{name} FLOAT64",
        ),
        aggregate=(
            "CREATE OR REPLACE AGGREGATE FUNCTION {name}({parameters}) RETURNS FLOAT64 AS"
            " ({expression}) OPTIONS (description = {comment})"
        ),
        list=(
            (
                "CREATE OR REPLACE FUNCTION {name}({parameters}) AS ({expression}) OPTIONS"
                " (description = {comment})"
            ),
        ),
        list_types=("ANY TYPE", "INT64"),
        list_operations={
            **subquery_operations(0),
            "length": "ARRAY_LENGTH",
            "series": "GENERATE_ARRAY",
        },
    ),
    has_dbt_macros=True,
    dbt_microbatch=", partition_by={{'field': '{0}', 'data_type': 'date', 'granularity': 'day'}}",
)
