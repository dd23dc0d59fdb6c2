"""Describe the capabilities and peculiarities of the supported SQL dialects, in one record for each."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot.dialects.dialect import Dialect as SqlglotDialect

from sqlrank.errors import MetricError, suggest_choice

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Dialect:
    """Capabilities of a SQL dialect."""

    sqlglot_name: str
    """Name of the dialect in sqlglot."""

    is_file_dialect: bool = False
    """The SQL files are in this dialect: their trees are written without a portable form."""

    is_distributed: bool = False
    """A window over all rows runs on a single worker of many."""

    required_settings: tuple[str, ...] = ()
    """Settings that every statement needs for standard semantics."""

    fold_identifier: Callable[[str], str] = str
    """Case folding of unquoted identifiers; identity where names match in any case (and in ClickHouse)."""

    supports_create_or_replace_table: bool = True
    """CREATE OR REPLACE TABLE is supported; in Spark and Trino it depends on the catalog."""

    supports_create_or_replace_view: bool = True
    """CREATE OR REPLACE VIEW is supported."""

    table_engine: str | None = None
    """Table engine of new tables."""

    supports_is_not_distinct_from: bool = True
    """IS NOT DISTINCT FROM is supported."""

    uses_position_function: bool = False
    """Text is searched by POSITION; Databend reads Snowflake's SQL but lacks CHARINDEX."""

    sorts_by_monotone_functions: bool = True
    """Windows sort by EXP(x) and LN(x); DataFusion takes their order for that of x, and then refuses the plan."""

    supports_greatest: bool = True
    """GREATEST and LEAST are supported; otherwise MAX and MIN of several arguments."""

    supports_grouping_sets: bool = True
    """Rows are grouped by GROUPING SETS, and columns that a set lacks are NULL."""

    supports_window_clause: bool = True
    """Windows are named in a WINDOW clause."""

    supports_ordered_array_agg: bool = True
    """ARRAY_AGG takes an ORDER BY; otherwise arrays are sorted afterwards."""

    supports_array_position: bool = True
    """ARRAY_POSITION is supported."""

    distinguishes_zeros: bool = False
    """-0.0 and 0.0 are grouped, joined or sorted as two values."""

    supports_nan: bool = True
    """Floating-point NaN exists."""

    nan_function: str | None = None
    """Function that tests for NaN, if NaN does not equal itself."""

    infinity: str | None = None
    """Expression of infinity, if text cannot be cast to it."""

    supports_float32: bool = True
    """Single-precision numbers exist."""

    recomputes_ctes: bool = False
    """A CTE is computed again for each reader, unless it is random.

    If neither this nor ``computes_ctes_once`` holds, statements rely on no behavior, and only mark CTEs where a server has a setting.
    """

    materialize_setting: str | None = None
    """Setting with which a server materializes CTEs that are marked; older versions lack it. None where no setting is needed or there is none."""

    int_division_is_double: bool = False
    """Division of integers gives a double."""

    decimal_literals_are_double: bool = False
    """The literal 0.5 is a double."""

    exponent_literals_are_double: bool = False
    """The literal 5e-1 is a double."""

    floor_returns_double: bool = True
    """FLOOR of a double is a double."""

    is_dynamically_typed: bool = False
    """Columns have no type (dynamic typing)."""

    number_series: str | None = None
    """Form of a series of integers.

    ``function``: GENERATE_SERIES in FROM, ``unnest``: UNNEST of an array of them, ``numbers``: the function of ClickHouse, None: a cross
    join of digits.
    """

    list_elements: str | None = "ordinality"
    """Form of the elements of a list column with their positions, None if the dialect has none.

    ``ordinality``: UNNEST WITH ORDINALITY, ``ordinality_safe``: the same, and ELEMENT_AT, which is NULL beyond the end of a list,
    ``select``: UNNEST in the SELECT list, ``ranges``: UNNEST of the list and of a range of positions in the SELECT list, ``subscripts``:
    rows multiplied by positions, ``offset``: UNNEST WITH OFFSET, ``posexplode``: POSEXPLODE, whose positions begin at 0, ``flatten``:
    FLATTEN of a variant, ``json_each``: JSON_EACH of a text.
    """

    map_functions: tuple[str, str] = ("MAP_KEYS", "MAP_VALUES")
    """Functions of the keys and of the values of a map."""

    supports_jsonb: bool = False
    """JSONB and its functions are supported; a list may be such a column, or one of JSON."""

    quantile: str = "within_group"
    """Form of an exact, interpolated quantile of a group.

    ``arguments``: QUANTILE_CONT(x, 0.5), ``within_group``: PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), ``percentile``:
    PERCENTILE(x, 0.5), ``parametric``: quantileExactInclusive(0.5)(x), ``row_numbers``: a sum over rows that are numbered by value.
    """

    hex_number: str | None = None
    """Conversion of hexadecimal digits to an integer.

    ``prefix``: a cast of 0x and the digits, ``base``: CONV(digits, 16, 10), ``from_base``: FROM_BASE(digits, 16), ``bits``: a cast of x
    and the digits to BIT(32), ``bytes``: UNHEX, and the bytes as an integer, None: a sum of the digits, each times a power of 16.
    """

    computes_ctes_once: bool = False
    """A CTE with several readers is computed once unless it is NOT MATERIALIZED."""

    computes_sources_once: bool = False
    """A query given as a source is computed once, so that it may draw random rows."""

    and_binds_before_is_distinct: bool = False
    """AND binds before IS NOT DISTINCT FROM."""

    supports_delete: bool = True
    """DELETE is supported."""

    supports_transactions: bool = False
    """Transactions are atomic."""

    supports_md5: bool = True
    """MD5 is supported."""

    supports_row_hash: bool = False
    """HASH of several columns is supported; sorting hashes is faster than grouping texts."""

    error_function: str | None = None
    """Function that ends a statement with the text in its message; without one a cast of the text to BOOLEAN does."""

    error_function_converts: bool = False
    """That function converts a text, and so has a type, which is not BOOLEAN."""

    supports_collations: bool = False
    """Text is compared by a collation of the database unless COLLATE "C" demands bytes."""

    name_after_in: str = "table"
    """Meaning of a name on the right of IN: ``table``, ``bracketed_table`` if it is one also in brackets, or ``list`` for a column of lists."""

    calls_functions_by_fields: bool = False
    """A field of a value in brackets may be a function: (x).f is f(x)."""

    supports_from_first: bool = False
    """A query may begin with FROM."""

    supports_file_readers: bool = False
    """FROM reads files."""

    uses_savepoints: bool = False
    """A failed statement ends the transaction unless a savepoint precedes it."""

    prefers_integer_keys: bool = False
    """Lists are joined and sorted faster by integers, at the cost of a window that numbers them."""

    plans_by_statistics: bool = False
    """The planner's thresholds were measured on this engine, and statistics of its tables take little time."""

    supports_table_macros: bool = False
    """Macros take tables, and parameters with defaults."""

    supports_function_schemas: bool = True
    """Functions of users are in schemas."""

    statistics_ignore_nan: bool = False
    """Comparisons are answered from the statistics of files, which ignore NaN."""

    @property
    def default_nulls_first(self) -> dict[bool, bool]:
        """Default NULLS FIRST behavior by whether the order is descending."""
        order: Any = SqlglotDialect.get_or_raise(self.sqlglot_name).NULL_ORDERING
        return {False: order == "nulls_are_small", True: order == "nulls_are_large"}


# sqlglot warns about text that it cannot parse, such as LOAD httpfs; without a handler the warning goes to standard error.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

DIALECTS = {
    "duckdb": Dialect(
        "duckdb",
        supports_from_first=True,
        name_after_in="list",
        is_file_dialect=True,
        computes_sources_once=True,
        int_division_is_double=True,
        exponent_literals_are_double=True,
        computes_ctes_once=True,
        supports_transactions=True,
        supports_row_hash=True,
        error_function="ERROR",
        supports_table_macros=True,
        supports_file_readers=True,
        prefers_integer_keys=True,
        plans_by_statistics=True,
        statistics_ignore_nan=True,
        number_series="function",
        list_elements="select",
        hex_number="prefix",
        quantile="arguments",
    ),
    "bigquery": Dialect(
        "bigquery",
        supports_from_first=True,
        is_distributed=True,
        supports_transactions=True,
        nan_function="IS_NAN",
        error_function="ERROR",
        supports_float32=False,
        supports_array_position=False,
        int_division_is_double=True,
        decimal_literals_are_double=True,
        exponent_literals_are_double=True,
        number_series="unnest",
        hex_number="prefix",
        list_elements="offset",
        quantile="row_numbers",
    ),
    "snowflake": Dialect(
        "snowflake",
        is_distributed=True,
        fold_identifier=str.upper,
        supports_window_clause=False,
        supports_float32=False,
        supports_transactions=True,
        uses_position_function=True,
        distinguishes_zeros=True,
        list_elements="flatten",
    ),
    "spark": Dialect(
        "spark",
        supports_from_first=True,
        is_distributed=True,
        supports_create_or_replace_table=False,
        nan_function="ISNAN",
        error_function="RAISE_ERROR",
        recomputes_ctes=True,
        supports_ordered_array_agg=False,
        int_division_is_double=True,
        exponent_literals_are_double=True,
        floor_returns_double=False,
        number_series="unnest",
        hex_number="base",
        list_elements="posexplode",
        quantile="percentile",
    ),
    "databricks": Dialect(
        "databricks",
        supports_from_first=True,
        is_distributed=True,
        nan_function="ISNAN",
        error_function="RAISE_ERROR",
        recomputes_ctes=True,
        supports_ordered_array_agg=False,
        int_division_is_double=True,
        exponent_literals_are_double=True,
        floor_returns_double=False,
        number_series="unnest",
        hex_number="base",
        list_elements="posexplode",
        quantile="percentile",
    ),
    "postgres": Dialect(
        "postgres",
        calls_functions_by_fields=True,
        fold_identifier=str.lower,
        supports_create_or_replace_table=False,
        computes_ctes_once=True,
        supports_transactions=True,
        supports_collations=True,
        uses_savepoints=True,
        number_series="function",
        hex_number="bits",
        supports_jsonb=True,
    ),
    "redshift": Dialect(
        "redshift",
        calls_functions_by_fields=True,
        fold_identifier=str.lower,
        supports_create_or_replace_table=False,
        supports_is_not_distinct_from=False,
        supports_window_clause=False,
        supports_transactions=True,
        list_elements=None,
    ),
    "trino": Dialect(
        "trino",
        is_distributed=True,
        supports_create_or_replace_table=False,
        nan_function="IS_NAN",
        infinity="INFINITY()",
        exponent_literals_are_double=True,
        number_series="unnest",
        hex_number="from_base",
        list_elements="ordinality_safe",
        quantile="row_numbers",
    ),
    "clickhouse": Dialect(
        "clickhouse",
        error_function="toInt64",
        error_function_converts=True,
        supports_from_first=True,
        required_settings=("join_use_nulls", "aggregate_functions_null_for_empty", "prefer_column_name_to_alias"),
        supports_grouping_sets=False,
        table_engine="MergeTree",
        supports_function_schemas=False,
        name_after_in="bracketed_table",
        distinguishes_zeros=True,
        nan_function="isNaN",
        materialize_setting="enable_materialized_cte",
        int_division_is_double=True,
        decimal_literals_are_double=True,
        exponent_literals_are_double=True,
        number_series="numbers",
        hex_number="bytes",
        list_elements="subscripts",
        map_functions=("mapKeys", "mapValues"),
        quantile="parametric",
    ),
    "datafusion": Dialect(
        "postgres",
        fold_identifier=str.lower,
        distinguishes_zeros=True,
        nan_function="ISNAN",
        and_binds_before_is_distinct=True,
        supports_grouping_sets=False,
        supports_delete=False,
        sorts_by_monotone_functions=False,
        list_elements="ranges",
        quantile="row_numbers",  # its PERCENTILE_CONT is off by 2e-7
    ),
    "sqlite": Dialect(
        "sqlite",
        supports_create_or_replace_table=False,
        supports_create_or_replace_view=False,
        supports_greatest=False,
        supports_grouping_sets=False,
        supports_md5=False,
        supports_nan=False,
        infinity="9e999",
        supports_float32=False,
        decimal_literals_are_double=True,
        exponent_literals_are_double=True,
        is_dynamically_typed=True,
        computes_ctes_once=True,
        supports_transactions=True,
        list_elements="json_each",
        quantile="row_numbers",
    ),
}
"""All dialects by name; docs/engines.md lists those that were executed."""


def write_character(character: str, sqlglot_name: str) -> str:
    """Return the call that gives a character: by its number, or by its bytes where the function of an engine takes these.

    >>> write_character(chr(10), "duckdb"), write_character(chr(0x202E), "spark")
    ('CHR(10)', "DECODE(X'E280AE', 'UTF-8')")
    """
    digits = character.encode(errors="surrogatepass").hex().upper()
    if sqlglot_name in {"spark", "databricks"}:
        return f"DECODE(X'{digits}', 'UTF-8')"
    if sqlglot_name == "clickhouse":
        return f"UNHEX('{digits}')"
    return f"{'CHAR' if sqlglot_name == 'sqlite' else 'CHR'}({ord(character)})"


def get_dialect(name: str) -> Dialect:
    """Return the capabilities of a dialect.

    Raises:
        MetricError: The dialect is not supported.
    """
    if name not in DIALECTS:
        raise MetricError(suggest_choice(f"unknown dialect {name!r}", name, DIALECTS))
    return DIALECTS[name]
