"""The engines whose SQL statements are written in, and what each can say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Writer

from sqlrank.errors import MetricError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Dialect:
    """What the SQL of an engine can say.

    ``writer`` is the name that sqlglot has for it; ``unsupported`` maps constructs it has not to what to do instead.
    ``is_distributed`` where a window over all rows is the work of one machine among many. ``settings`` are what a
    statement must ask for to mean what it means elsewhere. ``fold`` gives a name without quotes the case that the engine
    gives it; where it does nothing, names match whatever their case, but for ClickHouse. ``replaces_table`` and
    ``replaces_view`` say whether there is CREATE OR REPLACE for them; Spark and Trino leave tables to catalogs, of which many
    cannot. ``table_engine`` is what a new table is made with. ``compares_null`` says whether there is IS NOT DISTINCT FROM,
    ``has_float32`` whether there are numbers of single precision. ``repeats`` says that a step which several others read is computed
    for each of them unless it is not deterministic, ``keeping`` is the setting without which a server computes it so, too, and which
    older ones have not. ``nan_function`` tells NaN where it does not equal itself,
    and ``infinity`` is what that is written as where no text can be made one. ``divides_whole`` says that a division of whole numbers
    is a double, ``decimals_are_doubles`` that 0.5 is one, ``exponents_are_doubles`` that 5e-1 is; ``floors_to_double`` that FLOOR
    of a double is one, ``types_are_of_values`` that columns have no type. ``copies_steps`` says that a step which is read more than
    once is kept in a copy, unless it is NOT MATERIALIZED; ``binds_and_first`` that AND binds before IS NOT DISTINCT FROM. ``deletes`` says
    that rows can be deleted, and ``transacts`` that all statements of a transaction are done, or none. ``finds_by_position`` where one text is found in another by POSITION: Databend,
    which reads Snowflake's SQL, has no CHARINDEX. ``sorts_arrays`` says that ARRAY_AGG takes no ORDER BY, but arrays are sorted once they
    are made, and ``searches_by_rows`` that there is no ARRAY_POSITION.
    """

    writer: str
    is_distributed: bool = False
    unsupported: tuple[tuple[type[exp.Expr], str], ...] = ()
    settings: tuple[str, ...] = ()
    fold: Callable[[str], str] = str
    replaces_table: bool = True
    replaces_view: bool = True
    table_engine: str | None = None
    compares_null: bool = True
    finds_by_position: bool = False
    sorts_arrays: bool = False
    searches_by_rows: bool = False
    has_nan: bool = True
    nan_function: str | None = None
    infinity: str | None = None
    has_float32: bool = True
    repeats: bool = False
    keeping: str | None = None
    divides_whole: bool = False
    decimals_are_doubles: bool = False
    exponents_are_doubles: bool = False
    floors_to_double: bool = True
    types_are_of_values: bool = False
    copies_steps: bool = False
    binds_and_first: bool = False
    deletes: bool = True
    transacts: bool = False

    @property
    def puts_null_first(self) -> dict[bool, bool]:
        """Whether NULL comes first, by whether an order is descending, if a statement says nothing."""
        order: Any = Writer.get_or_raise(self.writer).NULL_ORDERING
        return {False: order == "nulls_are_small", True: order == "nulls_are_large"}


_QUANTILE = (exp.PercentileCont, "aggregate='quantile' is for DuckDB only; choose another aggregate")

DIALECTS = {
    "duckdb": Dialect("duckdb", divides_whole=True, exponents_are_doubles=True, copies_steps=True, transacts=True),
    "bigquery": Dialect(
        "bigquery",
        is_distributed=True,
        transacts=True,
        unsupported=(_QUANTILE,),
        nan_function="IS_NAN",
        has_float32=False,
        searches_by_rows=True,
        divides_whole=True,
        decimals_are_doubles=True,
        exponents_are_doubles=True,
    ),
    "snowflake": Dialect(
        "snowflake",
        is_distributed=True,
        unsupported=(_QUANTILE,),
        fold=str.upper,
        has_float32=False,
        transacts=True,
        finds_by_position=True,
    ),
    "spark": Dialect(
        "spark",
        is_distributed=True,
        unsupported=(_QUANTILE,),
        replaces_table=False,
        nan_function="ISNAN",
        repeats=True,
        sorts_arrays=True,
        divides_whole=True,
        exponents_are_doubles=True,
        floors_to_double=False,
    ),
    "databricks": Dialect(
        "databricks",
        is_distributed=True,
        unsupported=(_QUANTILE,),
        nan_function="ISNAN",
        repeats=True,
        sorts_arrays=True,
        divides_whole=True,
        exponents_are_doubles=True,
        floors_to_double=False,
    ),
    "postgres": Dialect("postgres", unsupported=(_QUANTILE,), fold=str.lower, replaces_table=False, copies_steps=True, transacts=True),
    "redshift": Dialect("redshift", unsupported=(_QUANTILE,), fold=str.lower, replaces_table=False, compares_null=False, transacts=True),
    "trino": Dialect(
        "trino",
        is_distributed=True,
        unsupported=(_QUANTILE,),
        replaces_table=False,
        nan_function="IS_NAN",
        infinity="INFINITY()",
        exponents_are_doubles=True,
    ),
    "clickhouse": Dialect(
        "clickhouse",
        unsupported=(_QUANTILE,),
        settings=("join_use_nulls", "aggregate_functions_null_for_empty", "prefer_column_name_to_alias"),
        table_engine="MergeTree",
        nan_function="isNaN",
        keeping="enable_materialized_cte",
        divides_whole=True,
        decimals_are_doubles=True,
        exponents_are_doubles=True,
    ),
    "datafusion": Dialect("postgres", unsupported=(_QUANTILE,), fold=str.lower, nan_function="ISNAN", binds_and_first=True, deletes=False),
    "sqlite": Dialect(
        "sqlite",
        unsupported=(_QUANTILE,),
        replaces_table=False,
        replaces_view=False,
        has_nan=False,
        infinity="9e999",
        has_float32=False,
        decimals_are_doubles=True,
        exponents_are_doubles=True,
        floors_to_double=False,
        types_are_of_values=True,
        copies_steps=True,
        transacts=True,
    ),
}
"""Every dialect by its name; docs/engines.md says which of them were executed, and by what."""


def dialect_of(name: str) -> Dialect:
    """Return what is known of a dialect; raise ``MetricError`` for one that statements are not written in."""
    if name not in DIALECTS:
        raise MetricError(f"unknown dialect {name!r}{suggestion(name, DIALECTS)} Choose from: {', '.join(DIALECTS)}")
    return DIALECTS[name]
