"""Find the units and groups of a gate whose values got worse most, for its summaries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.comparison.paired_differences import MAX_CELLS_PER_GROUPING
from sqlrank.registry.query_templates import load_select
from sqlrank.result_columns import REGRESSIONS_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.comparison.comparison_plan import ComparisonPlan
    from sqlrank.comparison.paired_differences import DifferenceSummary, PairedUnits

MAX_REGRESSIONS = 10
"""Groups of a metric that are listed; ``comparison/regressions.sql`` lists as many units."""


def find_regressions(units: PairedUnits, comparison: ComparisonPlan, summaries: Sequence[DifferenceSummary]) -> dict[str, str]:
    """Return the metadata with the units and groups of each metric that got worse, those that lost most first, empty without any.

    A row has ``metric``, ``kind`` (``queries`` or ``groups``), ``name``, ``baseline``, ``candidate`` and ``difference``.
    """
    rows: list[dict[str, Any]] = []
    for index, (measure, metric) in enumerate(zip(units.measures, comparison.metrics, strict=True)):
        sign = {"higher": 1, "lower": -1}.get(measure.direction, 0)
        query = load_select("comparison", "regressions.sql")
        bound: Any = exp.replace_placeholders(query, metric=index, sign=sign, cells=MAX_CELLS_PER_GROUPING)
        regressions = [] if measure.uses_influence else [("queries", *row) for row in units.fetch_rows(bound)]
        groups = [summary for summary in summaries if summary.metric == index and units.cells[summary.cell]]
        worse = [summary for summary in groups if summary.difference is not None and sign * summary.difference < 0]
        for summary in sorted(worse, key=lambda summary: sign * (summary.difference or 0))[:MAX_REGRESSIONS]:
            label = ", ".join(f"{name}={value}" for name, value in units.cells[summary.cell].items())
            regressions.append(("groups", label, summary.value_baseline, summary.value))
        name = (*metric.column_names, str(metric.metric))[0]
        rows += [
            {"metric": name, "kind": kind, "name": unit, "baseline": first, "candidate": second, "difference": second - first}
            for kind, unit, first, second in regressions
        ]
    return {REGRESSIONS_KEY: json.dumps(rows)} if rows else {}
