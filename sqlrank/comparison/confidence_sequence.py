"""Compute intervals and p-values that are valid at every look, by the confidence sequence of the
SQL files of experiments.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.duckdb_session import fetch_tuples
from sqlrank.errors import MetricError, suggest_choice
from sqlrank.interval_options import SEQUENTIAL, TEST_INTERVALS
from sqlrank.registry.query_templates import load_select
from sqlrank.result_metadata import LeftOut
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb

    from sqlrank.comparison.comparison_plan import ComparisonPlan
    from sqlrank.comparison.paired_differences import ContrastKey, DifferenceSummary

EXPECTED_UNITS = 1000
"""Number of units at which intervals are the narrowest by default; by simulation, looks from 20
units on err as often as stated or less, unless differences are skewed (benchmarks/peeking.py).
"""

MIN_SEQUENCE_UNITS = 200
"""Number of units below which a note says that the guarantee needs many."""


COUNTS = (
    *range(2, 1000),
    *(digits * 10**zeros for zeros in range(1, 7) for digits in range(100, 1000)),
)
"""Numbers of units of three digits, which required units are rounded up to."""


@dataclass(frozen=True)
class ConfidenceSequence:
    """The confidence sequence of a mean: intervals that together hold it at every look, with a
    probability of ``level``.

    It is the narrowest at ``expected_units``. The guarantee needs both to be the same at each look.
    DuckDB evaluates the files of ``sql/analyses/experiments``, which have the formulas.
    """

    database: duckdb.DuckDBPyConnection
    level: float
    expected_units: int
    _critical_values: dict[tuple[float, float], float] = field(default_factory=dict)

    def _evaluate_sequence(
        self, column: str, requests: Sequence[tuple[float, float, float]]
    ) -> list[float]:
        """Return ``critical_value`` or ``log_p`` by statistics, levels and degrees of freedom, one
        less than units.
        """
        arguments = {
            "metric": list(range(len(requests))),
            "difference": [statistic for statistic, _, _ in requests],
            "alpha": [1 - level for _, level, _ in requests],
            "n_units": [df + 1 for *_, df in requests],
        }
        constants = {
            name: sql_literal(value)
            for name, value in {"variant": 0, "n_units_control": 0, "se": 1}.items()
        }
        columns = {
            name: exp.Explode(this=exp.Placeholder(this=name)) for name in arguments
        } | constants
        tuning = {
            "tuned_alpha": sql_literal(1 - self.level),
            "expected_units": sql_literal(self.expected_units),
        }
        steps = {
            "effects": exp.select(*(exp.alias_(value, name) for name, value in columns.items())),
            "sequence_scales": exp.replace_placeholders(
                load_select("analyses/experiments", "sequence_scales.sql"), **tuning
            ),
            "critical_values": load_select(
                "analyses/experiments", "critical_values", "sequential.sql"
            ),
        }
        query = exp.select(column).from_("critical_values").order_by("metric")
        for name, step in steps.items():
            query = query.with_(name, as_=step)
        return [value for (value,) in fetch_tuples(self.database, query.sql("duckdb"), arguments)]

    def critical_values(self, requests: Iterable[tuple[float, float]]) -> list[float]:
        """Return the standard errors that intervals reach to each side, by their levels and degrees
        of freedom.
        """
        requests = list(requests)
        if missing := list(
            dict.fromkeys(request for request in requests if request not in self._critical_values)
        ):
            values = self._evaluate_sequence(
                "critical_value", [(0.0, *request) for request in missing]
            )
            self._critical_values.update(zip(missing, values, strict=True))
        return [self._critical_values[request] for request in requests]

    def critical_value(self, level: float, df: float) -> float:
        """Return a single critical value, as ``t_critical_value`` does for one look."""
        return self.critical_values([(level, df)])[0]

    def p_values(
        self, tests: Mapping[ContrastKey, tuple[float, float]]
    ) -> dict[ContrastKey, float]:
        """Return p-values that are valid at every look, by the t statistics and degrees of freedom
        of comparisons.

        A p-value is the least p for which the interval of level 1 - p excludes 0.
        """
        logarithms = self._evaluate_sequence(
            "log_p", [(statistic, self.level, df) for statistic, df in tests.values()]
        )
        return {
            key: math.exp(min(0.0, log_p)) for key, log_p in zip(tests, logarithms, strict=True)
        }

    def required_units(self, deviation: float, half_width: float, level: float) -> int | None:
        """Return the number of units required for an interval of this half-width, of three digits;
        None if there are not so many.
        """
        if (level, COUNTS[-1] - 1) not in self._critical_values:
            self.critical_values((level, count - 1) for count in COUNTS)
        place = bisect_left(
            COUNTS,
            0.0,
            key=lambda n: (
                half_width * math.sqrt(n) - deviation * self._critical_values[level, n - 1]
            ),
        )
        return COUNTS[place] if place < len(COUNTS) else None


def open_sequence(
    database: duckdb.DuckDBPyConnection, interval: str, level: float, expected_units: int | None
) -> ConfidenceSequence | None:
    """Return the confidence sequence for comparisons at several looks, None for the interval of one
    look.
    """
    return (
        ConfidenceSequence(database, level, expected_units or EXPECTED_UNITS)
        if interval == SEQUENTIAL
        else None
    )


def check_interval(interval: str, comparison: ComparisonPlan) -> None:
    """Raise ``MetricError`` for an interval that does not exist, or that the metrics don't have."""
    if interval not in TEST_INTERVALS:
        raise MetricError(
            suggest_choice(f"unknown interval {interval!r}", interval, TEST_INTERVALS)
        )
    if interval == SEQUENTIAL and comparison.uses_influence:
        raise MetricError(
            f"{comparison.measures[0].name} is compared by interval='fixed', unless level='query'"
            " asks for values of queries"
        )


def find_few_units(
    interval: str, summaries: Sequence[DifferenceSummary], comparison: ComparisonPlan
) -> list[LeftOut]:
    """Return the note on metrics with too few units for intervals that are valid at every look."""
    few = {
        summary.metric
        for summary in summaries
        if summary.se is not None and summary.units < MIN_SEQUENCE_UNITS
    }
    metrics = tuple(comparison.measures[index].name for index in sorted(few))
    if interval != SEQUENTIAL or not metrics:
        return []
    text = (
        f"fewer than {MIN_SEQUENCE_UNITS} units: intervals for every look need many, and err more"
        " often if differences are skewed"
    )
    return [LeftOut(text, metrics)]
