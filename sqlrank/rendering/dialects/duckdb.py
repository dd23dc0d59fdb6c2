"""DuckDB, the dialect of the SQL files: their trees need no portable form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect, FunctionForms, keep_nodes
from sqlrank.rendering.dialect_forms import unqualify_columns
from sqlrank.rendering.number_rewrites import (
    DoubleInference,
    drop_operand_casts,
    find_decimals,
    read_series_function,
    shorten_numbers,
    with_exponent,
)
from sqlrank.sql_ast import call_function, find_nodes, sql_literal

if TYPE_CHECKING:
    from sqlrank.rendering.dialect_forms import ListJoin


def _rewrite_tree(tree: exp.Expr) -> None:
    _mark_extremes(tree)
    _rewrite_is_nan(tree)
    _write_double_literals(tree)


def _mark_extremes(tree: exp.Expr) -> None:
    """Let sqlglot write LEAST and GREATEST as such: they ignore NULLs in DuckDB, which values that
    they choose from are not.
    """
    for extreme in find_nodes(tree, exp.Greatest, exp.Least):
        extreme.set("ignore_nulls", True)  # noqa: FBT003  sqlglot's flag


def _rewrite_is_nan(tree: exp.Expr) -> None:
    """Rewrite tests for NaN with ISFINITE.

    DuckDB answers ISNAN from the minimum and maximum in Parquet metadata, which ignore NaN.
    """
    for test in find_nodes(tree, exp.IsNan):
        is_not_finite: exp.Expr = exp.not_(exp.func("ISFINITE", test.this))
        parent = test.parent
        if isinstance(parent, exp.Or) and parent.expression == exp.IsInf(this=test.this):
            parent.replace(is_not_finite)
        else:
            test.replace(
                exp.paren(exp.and_(is_not_finite, exp.not_(exp.IsInf(this=test.this.copy()))))
            )


def _write_double_literals(tree: exp.Expr) -> None:
    """Write decimal literals with an exponent, which makes them doubles, and drop casts of
    doubles.
    """
    for literal in find_decimals(tree):
        literal.set("this", with_exponent(literal.this))
    for division in find_nodes(tree, exp.Div):
        drop_operand_casts(division)
    doubles = DoubleInference(DIALECT)
    doubles.annotate(tree)
    shorten_numbers(tree, doubles)


def _select_elements(join: ListJoin) -> None:
    """Unnest in the SELECT list, which DuckDB does without the join of a lateral subquery."""
    subscripts = call_function("GENERATE_SUBSCRIPTS", join.values.copy(), sql_literal(1))
    elements: dict[str, exp.Expr] = {
        join.element: exp.Unnest(expressions=[join.values.copy()]),
        join.position: subscripts,
    }
    read = [column for name in elements for column in join.find_columns(name)]
    is_looked_up = (
        any(isinstance(column.parent, exp.Bracket) for column in join.columns)
        or join.select.args.get("where") is not None
    )
    if (
        read
        and not is_looked_up
        and all(isinstance(column.parent, (exp.Select, exp.Alias, exp.Cast)) for column in read)
    ):
        join.select.args["joins"].remove(join.join)
        for name, value in elements.items():
            join.replace(name, value)
        unqualify_columns(join.select)
    else:
        join.read_from(elements)


_FILE_NODES = (
    exp.Array, exp.ArrayAgg, exp.ArrayAppend, exp.ArrayContains, exp.ArrayDistinct, exp.ArrayMax,
    exp.ArrayMin, exp.ArrayPosition, exp.ArraySize, exp.ArrayToString, exp.Bracket,
    exp.GenerateSeries, exp.IgnoreNulls, exp.Lambda, exp.LastValue, exp.Lower, exp.Mod,
    exp.NullSafeEQ, exp.RegexpExtractAll, exp.Slice, exp.Transform, exp.Unnest,
)  # fmt: skip

DIALECT = Dialect(
    label="DuckDB",
    sqlglot_name="duckdb",
    aliases=("motherduck",),
    write_list_elements=_select_elements,
    write_quantile=keep_nodes,
    write_series=read_series_function,
    write_hex_number=keep_nodes,
    rewrite=_rewrite_tree,
    composing_function="NFC_NORMALIZE",
    name_after_in="list",
    file_nodes=_FILE_NODES,
    file_functions=(
        "hash",
        "list_bool_and",
        "list_count",
        "list_reduce",
        "list_select",
        "list_sum",
        "list_unique",
    ),
    supports_from_first=True,
    int_division_is_double=True,
    exponent_literals_are_double=True,
    supports_row_hash=True,
    computes_ctes_once=True,
    computes_sources_once=True,
    prefers_integer_keys=True,
    plans_by_statistics=True,
    statistics_ignore_nan=True,
    supports_file_readers=True,
    supports_transactions=True,
    error_function="ERROR",
    functions=FunctionForms(
        version="CREATE OR REPLACE MACRO {name}() AS {version}",
        group=("by", "expression over {inputs} to group by"),
    ),
    has_dbt_macros=True,
    dbt_deletes_and_inserts=True,
    dbt_microbatch="",
)
