"""Find the column of an input that a metric measures by a mean, share, sum or quantile, as in ``Mean(latency_ms)``, and name it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from sqlrank.errors import MetricError, join_words
from sqlrank.registry.metric import COLUMN_PARAMETER, Metric, to_sql_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sqlrank.registry.registry import Registry
    from sqlrank.registry.sql_file import SqlFile

MEASURED_ROLES = ("answers", "predictions", "queries")
"""Roles whose columns can be measured."""

MEASURES_PLAN = "list_measures"
"""The plan that says of which input a metric of lists measures a column."""

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*")
_COLUMN = re.compile(r'(?:(?P<role>\w+)\.)?(?P<name>"(?:[^"]|"")+"|\w+)')


@dataclass(frozen=True, slots=True)
class MeasuredColumn:
    """A column that a metric measures.

    Attributes:
        role: Role of the input.
        column: Column of the table.
        name: Name in the statement, which is a plain identifier.
        is_flag: Only 0 and 1, or true and false, are valid values.
        counts_missing: The metric counts rows without a value.
    """

    role: str
    column: str
    name: str
    is_flag: bool = False
    counts_missing: bool = False


def find_measured_column(metric: Metric, file: SqlFile, input_roles: Collection[str], library: Registry) -> MeasuredColumn | None:
    """Find the column that a metric measures and the input that it is of, None for metrics that measure none.

    Raises:
        MetricError: No column is named, or the inputs do not say whose it is.
    """
    if not file.measures_column:
        return None
    text = str(dict(metric.params).get(COLUMN_PARAMETER, ""))
    match = _COLUMN.fullmatch(text)
    if match is None:
        raise MetricError(f"{file.display_name} needs a column. Write {file.display_name}(latency_ms)")
    column = match["name"][1:-1].replace('""', '"') if match["name"].startswith('"') else match["name"]
    available_roles = [role for role in MEASURED_ROLES if role in input_roles]
    if match["role"] is not None and match["role"] not in available_roles:
        options = (
            ", ".join(f"{role}.{match['name']}" for role in available_roles)
            or "the name of queries, predictions or answers, and give that input"
        )
        raise MetricError(f"{metric}: there is no input {match['role']} to measure. Write {options}")
    if match["role"] is None and len(available_roles) != 1:
        choices = join_words((f"{file.display_name}({role}.{match['name']})" for role in available_roles), "or")
        needed = (
            f"{column!r} may be of {join_words(available_roles, 'or')}. Write {choices}"
            if available_roles
            else "give queries=, predictions= or inputs={'answers': ...}, which has the column"
        )
        raise MetricError(f"{metric}: {needed}")
    return MeasuredColumn(
        match["role"] or available_roles[0], column, _internal_name(column, library), file.measures_flag, file.is_always_defined
    )


def named_roles(metrics: Iterable[Metric]) -> set[str] | None:
    """Return the inputs that metrics name before their columns, as in ``Mean(queries.cost)``; None if no metric measures a column."""
    texts = [str(dict(metric.params)[COLUMN_PARAMETER]) for metric in metrics if COLUMN_PARAMETER in dict(metric.params)]
    matches = [match for text in texts if (match := _COLUMN.fullmatch(text)) is not None]
    return {match["role"] for match in matches if match["role"] is not None} if texts else None


def with_free_name(measured: MeasuredColumn, others: Iterable[MeasuredColumn | None]) -> MeasuredColumn:
    """Return the column under a name in the statement that no other column of its input has."""
    taken = {other.name for other in others if other is not None and other.role == measured.role and other.column != measured.column}
    while measured.name in taken:
        measured = replace(measured, name=f"{measured.name}_")
    return measured


def _internal_name(column: str, library: Registry) -> str:
    """Return the name of a measured column in the statement: its own, unless that means something else there or is hard to quote."""
    taken = {*library.relation_columns, *(name for role in library.roles.values() for name in role.columns)}
    if _PLAIN_NAME.fullmatch(column) and column not in taken and column.upper() not in _list_keywords():
        return column
    return f"{to_sql_name(column)}_value"


@cache
def _list_keywords() -> frozenset[str]:
    """Return the words that a dialect reserves."""
    from sqlglot import Dialect  # noqa: PLC0415  importing sqlglot takes a quarter of a second

    reserved = (Dialect.get_or_raise(name).generator_class.RESERVED_KEYWORDS for name in ("bigquery", "duckdb", "redshift", "trino"))
    return frozenset(word.upper() for words in reserved for word in words)
