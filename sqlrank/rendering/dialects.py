"""Capabilities and peculiarities of the supported SQL dialects."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Writer

from sqlrank.errors import MetricError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Dialect:
    """Capabilities of a SQL dialect.

    Attributes:
        sqlglot_name: Name of the dialect in sqlglot.
        is_distributed: A window over all rows runs on a single worker of many.
        unsupported: Unsupported constructs, with the alternative to recommend.
        required_settings: Settings that every statement needs for standard semantics.
        fold_identifier: Case folding of unquoted identifiers; identity where names match in any case (and in ClickHouse).
        supports_create_or_replace_table: CREATE OR REPLACE TABLE is supported; in Spark and Trino it depends on the catalog.
        supports_create_or_replace_view: CREATE OR REPLACE VIEW is supported.
        table_engine: Table engine of new tables.
        supports_is_not_distinct_from: IS NOT DISTINCT FROM is supported.
        uses_position_function: Text is searched by POSITION; Databend reads Snowflake's SQL but lacks CHARINDEX.
        array_agg_ignores_order_by: ARRAY_AGG takes no ORDER BY, so arrays are sorted afterwards.
        lacks_array_position: ARRAY_POSITION is missing.
        distinguishes_zeros: -0.0 and 0.0 are grouped, joined or sorted as two values.
        has_nan: Floating-point NaN exists.
        nan_function: Function that tests for NaN, if NaN does not equal itself.
        infinity: Expression of infinity, if text cannot be cast to it.
        has_float32: Single-precision numbers exist.
        recomputes_ctes: A deterministic CTE is recomputed for each reader.
        materialize_setting: Setting that makes a server materialize CTEs; older versions lack it.
        int_division_is_double: Division of integers gives a double.
        decimal_literals_are_double: The literal 0.5 is a double.
        exponent_literals_are_double: The literal 5e-1 is a double.
        floor_returns_double: FLOOR of a double is a double.
        is_dynamically_typed: Columns have no type (dynamic typing).
        materializes_ctes: CTEs with several readers are materialized unless NOT MATERIALIZED.
        and_binds_before_is_distinct: AND binds before IS NOT DISTINCT FROM.
        supports_delete: DELETE is supported.
        supports_transactions: Transactions are atomic.
    """

    sqlglot_name: str
    is_distributed: bool = False
    unsupported: tuple[tuple[type[exp.Expr], str], ...] = ()
    required_settings: tuple[str, ...] = ()
    fold_identifier: Callable[[str], str] = str
    supports_create_or_replace_table: bool = True
    supports_create_or_replace_view: bool = True
    table_engine: str | None = None
    supports_is_not_distinct_from: bool = True
    uses_position_function: bool = False
    array_agg_ignores_order_by: bool = False
    lacks_array_position: bool = False
    distinguishes_zeros: bool = False
    has_nan: bool = True
    nan_function: str | None = None
    infinity: str | None = None
    has_float32: bool = True
    recomputes_ctes: bool = False
    materialize_setting: str | None = None
    int_division_is_double: bool = False
    decimal_literals_are_double: bool = False
    exponent_literals_are_double: bool = False
    floor_returns_double: bool = True
    is_dynamically_typed: bool = False
    materializes_ctes: bool = False
    and_binds_before_is_distinct: bool = False
    supports_delete: bool = True
    supports_transactions: bool = False

    @property
    def default_nulls_first(self) -> dict[bool, bool]:
        """Default NULLS FIRST behavior by whether the order is descending."""
        order: Any = Writer.get_or_raise(self.sqlglot_name).NULL_ORDERING
        return {False: order == "nulls_are_small", True: order == "nulls_are_large"}


_QUANTILE = (exp.PercentileCont, "aggregate='quantile' is for DuckDB only; choose another aggregate")

# sqlglot warns about text that it cannot parse, such as LOAD httpfs; without a handler the warning goes to standard error.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

DIALECTS = {
    "duckdb": Dialect(
        "duckdb", int_division_is_double=True, exponent_literals_are_double=True, materializes_ctes=True, supports_transactions=True
    ),
    "bigquery": Dialect(
        "bigquery",
        is_distributed=True,
        supports_transactions=True,
        unsupported=(_QUANTILE,),
        nan_function="IS_NAN",
        has_float32=False,
        lacks_array_position=True,
        int_division_is_double=True,
        decimal_literals_are_double=True,
        exponent_literals_are_double=True,
    ),
    "snowflake": Dialect(
        "snowflake",
        is_distributed=True,
        unsupported=(_QUANTILE,),
        fold_identifier=str.upper,
        has_float32=False,
        supports_transactions=True,
        uses_position_function=True,
        distinguishes_zeros=True,
    ),
    "spark": Dialect(
        "spark",
        is_distributed=True,
        unsupported=(_QUANTILE,),
        supports_create_or_replace_table=False,
        nan_function="ISNAN",
        recomputes_ctes=True,
        array_agg_ignores_order_by=True,
        int_division_is_double=True,
        exponent_literals_are_double=True,
        floor_returns_double=False,
    ),
    "databricks": Dialect(
        "databricks",
        is_distributed=True,
        unsupported=(_QUANTILE,),
        nan_function="ISNAN",
        recomputes_ctes=True,
        array_agg_ignores_order_by=True,
        int_division_is_double=True,
        exponent_literals_are_double=True,
        floor_returns_double=False,
    ),
    "postgres": Dialect(
        "postgres",
        unsupported=(_QUANTILE,),
        fold_identifier=str.lower,
        supports_create_or_replace_table=False,
        materializes_ctes=True,
        supports_transactions=True,
    ),
    "redshift": Dialect(
        "redshift",
        unsupported=(_QUANTILE,),
        fold_identifier=str.lower,
        supports_create_or_replace_table=False,
        supports_is_not_distinct_from=False,
        supports_transactions=True,
    ),
    "trino": Dialect(
        "trino",
        is_distributed=True,
        unsupported=(_QUANTILE,),
        supports_create_or_replace_table=False,
        nan_function="IS_NAN",
        infinity="INFINITY()",
        exponent_literals_are_double=True,
    ),
    "clickhouse": Dialect(
        "clickhouse",
        unsupported=(_QUANTILE,),
        required_settings=("join_use_nulls", "aggregate_functions_null_for_empty", "prefer_column_name_to_alias"),
        table_engine="MergeTree",
        distinguishes_zeros=True,
        nan_function="isNaN",
        materialize_setting="enable_materialized_cte",
        int_division_is_double=True,
        decimal_literals_are_double=True,
        exponent_literals_are_double=True,
    ),
    "datafusion": Dialect(
        "postgres",
        unsupported=(_QUANTILE,),
        fold_identifier=str.lower,
        distinguishes_zeros=True,
        nan_function="ISNAN",
        and_binds_before_is_distinct=True,
        supports_delete=False,
    ),
    "sqlite": Dialect(
        "sqlite",
        unsupported=(_QUANTILE,),
        supports_create_or_replace_table=False,
        supports_create_or_replace_view=False,
        has_nan=False,
        infinity="9e999",
        has_float32=False,
        decimal_literals_are_double=True,
        exponent_literals_are_double=True,
        floor_returns_double=False,
        is_dynamically_typed=True,
        materializes_ctes=True,
        supports_transactions=True,
    ),
}
"""All dialects by name; docs/engines.md lists those that were executed."""


def get_dialect(name: str) -> Dialect:
    """Return the capabilities of a dialect.

    Raises:
        MetricError: The dialect is not supported.
    """
    if name not in DIALECTS:
        raise MetricError(f"unknown dialect {name!r}{did_you_mean(name, DIALECTS)} Choose from: {', '.join(DIALECTS)}")
    return DIALECTS[name]
