"""Evaluate a metric of predictions without the rows of each score range (score-range ablation)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.explanations.explanation import Step
from sqlrank.explanations.intermediate_steps import find_ctes, run_over_ctes
from sqlrank.registry.metric_info import better_direction
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.prepare import PreparedStatement

NUM_SCORE_RANGES = 10
"""Number of score ranges, with about equal numbers of predictions."""

SCORE_FIELD = "score"


def score_range_ablation(prepared: PreparedStatement, value: float | None, max_rows: int) -> Step | None:
    """Return the metric without the predictions of each score range, the largest gain first.

    The statement runs over the remaining predictions for each range, so that it works for every metric. Returns None for an undefined
    value, a metric without direction, or equal scores.
    """
    name = str(prepared.request.metrics[0].metric)
    direction = better_direction(name, prepared.request.library)
    predictions_cte = _find_predictions(prepared)
    if value is None or direction == "neither" or predictions_cte is None:
        return None
    bounds = _fetch_range_bounds(prepared, predictions_cte)
    if len(bounds) < 2:  # noqa: PLR2004  one part is all that there is
        return None
    score_ranges = list(zip([None, *bounds], [*bounds[:-1], None], strict=False))
    rows = []
    for (above, up_to), count in zip(score_ranges, _count_predictions(prepared, predictions_cte, score_ranges), strict=True):
        value_without = _evaluate_without(prepared, predictions_cte, _range_condition(above, up_to))
        loss = None if value_without is None else (value_without - value if direction == "higher" else value - value_without)
        rows.append({"above": above, "up_to": up_to, "predictions": count, "without": value_without, "lost": loss})
    rows.sort(key=lambda row: (row["lost"] is None, -(row["lost"] or 0.0), row["above"] is not None, row["above"] or 0.0))
    title = f"score ranges with the greatest loss: {name} without the predictions of each, and its improvement."
    column_types = {"above": pa.float64(), "up_to": pa.float64(), "predictions": pa.int64(), "without": pa.float64(), "lost": pa.float64()}
    return Step("losses", title, pa.Table.from_pylist(rows[:max_rows], schema=pa.schema(list(column_types.items()))), len(rows))


def _find_predictions(prepared: PreparedStatement) -> exp.CTE | None:
    """Return the CTE of predictions, or None if the metric does not read their scores."""
    if prepared.request.base_role != "predictions" or prepared.request.is_ranking:
        return None
    return next((cte for cte in find_ctes(prepared) if cte.alias.startswith("predictions") and SCORE_FIELD in cte.this.named_selects), None)


def _fetch_range_bounds(prepared: PreparedStatement, predictions_cte: exp.CTE) -> list[float]:
    """Return the maximum score of each range, in ascending order; equal scores share a range."""
    order = exp.Order(expressions=[exp.Ordered(this=exp.column(SCORE_FIELD))])
    tile = exp.Window(this=exp.Anonymous(this="NTILE", expressions=[exp.Literal.number(NUM_SCORE_RANGES)]), order=order)
    tiles = exp.select(SCORE_FIELD, exp.alias_(tile, "part")).from_(predictions_cte.alias).subquery("parts")
    query = exp.select(exp.alias_(exp.Max(this=exp.column(SCORE_FIELD)), "bound")).from_(tiles).group_by("part")
    return sorted(
        {float(bound) for bound in run_over_ctes(prepared, query, predictions_cte.alias)["bound"].to_pylist() if bound is not None}
    )


def _range_condition(above: float | None, up_to: float | None) -> exp.Expr:
    score = exp.column(SCORE_FIELD)
    lower_bounds = [exp.GT(this=score.copy(), expression=sql_literal(above))] if above is not None else []
    return exp.and_(*lower_bounds, *([exp.LTE(this=score.copy(), expression=sql_literal(up_to))] if up_to is not None else []))


def _count_predictions(
    prepared: PreparedStatement, predictions_cte: exp.CTE, score_ranges: Sequence[tuple[float | None, float | None]]
) -> list[int]:
    """Return the number of predictions in each range."""
    cases = [exp.Count(this=exp.Case().when(_range_condition(*score_range), "1")) for score_range in score_ranges]
    query = exp.select(*(exp.alias_(case, f"part_{index}") for index, case in enumerate(cases))).from_(predictions_cte.alias)
    (row,) = run_over_ctes(prepared, query, predictions_cte.alias).to_pylist()
    return [int(count) for count in row.values()]


def _evaluate_without(prepared: PreparedStatement, predictions_cte: exp.CTE, range_condition: exp.Expr) -> float | None:
    """Return the metric over the predictions outside of a score range."""
    tree = prepared.statement.tree.copy()
    filtered_cte: Any = next(cte for cte in tree.args["with_"].expressions if cte.alias == predictions_cte.alias)
    names = [exp.to_identifier(name, quoted=name != name.lower()) for name in filtered_cte.this.named_selects]
    query = exp.select(*map(exp.column, names)).from_(filtered_cte.this.subquery("all_rows")).where(exp.not_(range_condition))
    filtered_cte.set("this", query)
    filtered_statement = replace(prepared, statement=replace(prepared.statement, tree=tree))
    rows = prepared.inputs.database.fetch_arrow(filtered_statement.render().executable)
    metric_index = next(index for index, output in enumerate(prepared.statement.outputs) if output.kind == "metric")
    value = rows.column(metric_index)[0].as_py() if rows.num_rows else None
    return None if value is None else float(value)
