"""Spark SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect, FunctionForms, TableFunctionForm, keep_nodes
from sqlrank.rendering.dialect_forms import (
    LIST_ELEMENT,
    count_from_one,
    join_slice,
    look_up_elements,
    number_from_one,
    unqualify_columns,
)
from sqlrank.sql_ast import (
    BIGINT,
    DOUBLE,
    INT,
    call_function,
    find_nodes,
    replace_columns,
    sql_literal,
)

if TYPE_CHECKING:
    from sqlrank.rendering.dialect_forms import ListJoin

_SUM = "element_sum"
RAND_COMMENT = (
    "RAND makes Spark compute this once: deterministic CTEs are repeated for each reader."
)


def _convert_base(digits: exp.Expr) -> exp.Expr:
    return exp.cast(call_function("CONV", digits, sql_literal(16), sql_literal(10)), BIGINT)


def _sort_arrays(tree: exp.Expr) -> None:
    """Sort arrays of structs in descending order, since ARRAY_AGG has no ORDER BY, and extract the
    aggregated field.

    The field is accessed by name instead of a lambda: Spark does not compile expressions over
    lambdas, including their sort.
    """
    for aggregate in find_nodes(tree, exp.ArrayAgg):
        order = aggregate.this
        columns = [term.this for term in order.expressions]
        fields = [exp.PropertyEQ(this=column.this.copy(), expression=column) for column in columns]
        pairs = exp.ArrayAgg(this=exp.Struct(expressions=fields), nulls_excluded=True)
        ordered = call_function(
            "SORT_ARRAY", pairs, exp.false()
        )  # sqlglot 30.8 writes ARRAY_SORT, which ascends
        aggregate.replace(exp.Dot(this=ordered, expression=order.this.this.copy()))


def _shift_positions_from_zero(join: ListJoin) -> None:
    """Convert positions that are counted from 0, as POSEXPLODE does."""
    unqualify_columns(join.select)
    count_from_one(join, exp.column(join.position))
    look_up_elements("GET")(join)


def _sum_elements(array: exp.Expr) -> exp.Expr:
    names = [exp.to_identifier(_SUM), exp.to_identifier(LIST_ELEMENT)]
    added = exp.Lambda(
        this=exp.Add(this=names[0].copy(), expression=names[1].copy()), expressions=names
    )
    return call_function("AGGREGATE", array, exp.cast(sql_literal(0), DOUBLE), added)


def _materialize_by_rand(query: exp.Query) -> exp.Select:
    """Force a CTE to be computed once by a RAND condition.

    CTEs with lists are partitioned by list. Spark ignores the REPARTITION hint if the data are
    already partitioned by the key, and would recompute everything after the last shuffle. Wrapping
    the key in ELEMENT_AT(ARRAY(key), 1) hides the existing partitioning.
    """
    first: exp.Expr = query
    while isinstance(first, exp.Union):
        first = first.this
    comments = first.pop_comments() or []
    materialized = exp.select("*").from_(query.subquery("once", copy=False)).where("RAND() >= 0")
    materialized.comments = [*comments, RAND_COMMENT]
    if num_keys := _count_key_columns(query.named_selects):
        columns = [
            exp.column(
                select_item.args["alias"].copy()
                if isinstance(select_item, exp.Alias)
                else select_item.this.copy()
            )
            for select_item in query.selects
        ]
        keys = columns[:num_keys]
        hidden_keys = [_opaque_copy(column).as_(column.this.copy()) for column in keys]
        materialized.set("expressions", [*hidden_keys, *columns[num_keys:]])
        materialized.set(
            "hint",
            exp.Hint(expressions=[call_function("REPARTITION", *(key.copy() for key in keys))]),
        )
    return materialized


def _count_key_columns(names: list[str]) -> int:
    """Return the number of leading columns that identify lists, 0 if one contains ``*/``.

    Such a name would end the comment that other engines see in the hint.
    """
    num_keys = names.index("query_id") + 1 if "query_id" in names else 0
    return 0 if any("*/" in name for name in names[:num_keys]) else num_keys


def _opaque_copy(key: exp.Column) -> exp.Expr:
    """Return an equal expression that hides an existing partitioning by a key from Spark."""
    return call_function("ELEMENT_AT", exp.Array(expressions=[key.copy()]), sql_literal(1))


_BUCKET: exp.Expr = exp.maybe_parse(
    "SIGN(value) * RINT(4096 * SQRT(SQRT(SQRT(ABS(value)))))"
    " + SIGN(value - 1) * RINT(4096 * SQRT(SQRT(SQRT(ABS(value - 1)))))"
)


def _write_bucket(value: exp.Expr) -> exp.Expr:
    """Return the bucket of a number, narrowest near 0 and 1, where scores crowd.

    Roots are rounded correctly and RINT takes any double, so that buckets never fall.
    """
    return replace_columns(_BUCKET, lambda _: value)


DIALECT = Dialect(
    label="Spark",
    sqlglot_name="spark",
    aliases=("sparksql",),
    drivers=("pyspark",),
    write_list_elements=_shift_positions_from_zero,
    write_quantile=lambda value, share: exp.Quantile(this=value, quantile=share),
    write_series=keep_nodes,
    write_hex_number=_convert_base,
    join_words=join_slice,
    prepare=_sort_arrays,
    character="DECODE(X'{bytes}', 'UTF-8')",
    nan_function="ISNAN",
    supports_from_first=True,
    int_division_is_double=True,
    exponent_literals_are_double=True,
    floor_returns_double=False,
    is_distributed=True,
    write_window_bucket=_write_bucket,
    write_materialized=_materialize_by_rand,
    supports_create_or_replace_table=False,
    error_function="RAISE_ERROR",
    functions=FunctionForms(
        version="CREATE OR REPLACE FUNCTION {name}() RETURNS STRING RETURN {version}",
        group=("by", "name of the column of {inputs} to group by"),
        table=TableFunctionForm(
            create=("DECLARE OR REPLACE VARIABLE {name} STRING DEFAULT {quoted}",),
            drop="DROP TEMPORARY VARIABLE IF EXISTS {name}",
            call="EXECUTE IMMEDIATE {name} USING {values}",
            source="IDENTIFIER(:{role})",
            group="IDENTIFIER(:by)",
            parameter=":{name}",
            passed="{value} AS {name}",
            prefixes_schema=True,
        ),
        list=(
            (
                "CREATE OR REPLACE FUNCTION {name}({parameters}) RETURNS DOUBLE COMMENT {comment}"
                " RETURN {expression}"
            ),
        ),
        list_types=("ARRAY<STRING>", "DOUBLE"),  # 2.5 as an INT is 2, without a word
        list_operations={
            "transform": lambda array, function: exp.Transform(
                this=array, expression=number_from_one(function)
            ),
            "filter": "FILTER",
            "slice": lambda array, start, end: call_function(
                "SLICE", array, start, exp.cast(end, INT)
            ),
            "position": "ARRAY_POSITION",
            "distinct": "ARRAY_DISTINCT",
            "sort": "ARRAY_SORT",
            "min": "ARRAY_MIN",
            "sum": _sum_elements,
            "length": "ARRAY_SIZE",
            "series": "SEQUENCE",
        },
    ),
    has_dbt_macros=True,
    dbt_microbatch=", partition_by=['{0}']",
)
