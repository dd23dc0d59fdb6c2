"""The thresholds around which a metric of predictions loses most: what it would be without the predictions there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.explanations.explanation import Step
from sqlrank.explanations.steps import rows_of, steps_of
from sqlrank.library.listing import better
from sqlrank.statement.bind import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.prepare import Prepared

PARTS = 10
"""Parts of about as many predictions each, between two thresholds."""

SCORE = "score"


def losses(prepared: Prepared, value: float | None, shown: int) -> Step | None:
    """Return what a metric would be without the predictions between two thresholds, where that is best first.

    Each part is left out of the predictions that the statement reads, and the statement is run over the rest, so that it is the same
    for every metric. None for an undefined value, for metrics of which no value is better, and where all scores are equal.
    """
    name = str(prepared.question.asked[0].metric)
    direction = better(name, prepared.question.library)
    step = _predictions(prepared)
    if value is None or direction == "neither" or step is None:
        return None
    bounds = _bounds(prepared, step)
    if len(bounds) < 2:  # noqa: PLR2004  one part is all that there is
        return None
    parts = list(zip([None, *bounds], [*bounds[:-1], None], strict=False))
    rows = []
    for (above, up_to), count in zip(parts, _counts(prepared, step, parts), strict=True):
        without = _without(prepared, step, _between(above, up_to))
        lost = None if without is None else (without - value if direction == "higher" else value - without)
        rows.append({"above": above, "up_to": up_to, "predictions": count, "without": without, "lost": lost})
    rows.sort(key=lambda row: (row["lost"] is None, -(row["lost"] or 0.0), row["above"] is not None, row["above"] or 0.0))
    title = f"where the most is lost: {name} without the predictions above one score and up to the next, and by how much that is better."
    kinds = {"above": pa.float64(), "up_to": pa.float64(), "predictions": pa.int64(), "without": pa.float64(), "lost": pa.float64()}
    return Step("losses", title, pa.Table.from_pylist(rows[:shown], schema=pa.schema(list(kinds.items()))), len(rows))


def _predictions(prepared: Prepared) -> exp.CTE | None:
    """Return the step that has the predictions, if the metric reads scores of these."""
    if prepared.question.base != "predictions" or prepared.question.is_ranking:
        return None
    return next((step for step in steps_of(prepared) if step.alias.startswith("predictions") and SCORE in step.this.named_selects), None)


def _bounds(prepared: Prepared, step: exp.CTE) -> list[float]:
    """Return the greatest score of each part, lowest first; equal scores are in one part."""
    order = exp.Order(expressions=[exp.Ordered(this=exp.column(SCORE))])
    tile = exp.Window(this=exp.Anonymous(this="NTILE", expressions=[exp.Literal.number(PARTS)]), order=order)
    parts = exp.select(SCORE, exp.alias_(tile, "part")).from_(step.alias).subquery("parts")
    query = exp.select(exp.alias_(exp.Max(this=exp.column(SCORE)), "bound")).from_(parts).group_by("part")
    return sorted({float(bound) for bound in rows_of(prepared, query, step.alias)["bound"].to_pylist() if bound is not None})


def _between(above: float | None, up_to: float | None) -> exp.Expr:
    score = exp.column(SCORE)
    sides = [exp.GT(this=score.copy(), expression=literal(above))] if above is not None else []
    return exp.and_(*sides, *([exp.LTE(this=score.copy(), expression=literal(up_to))] if up_to is not None else []))


def _counts(prepared: Prepared, step: exp.CTE, parts: Sequence[tuple[float | None, float | None]]) -> list[int]:
    """Return how many predictions each part has."""
    cases = [exp.Count(this=exp.Case().when(_between(*part), "1")) for part in parts]
    query = exp.select(*(exp.alias_(case, f"part_{number}") for number, case in enumerate(cases))).from_(step.alias)
    (row,) = rows_of(prepared, query, step.alias).to_pylist()
    return [int(count) for count in row.values()]


def _without(prepared: Prepared, step: exp.CTE, part: exp.Expr) -> float | None:
    """Return the metric over all predictions but those of a part."""
    tree = prepared.statement.tree.copy()
    left: Any = next(found for found in tree.args["with_"].expressions if found.alias == step.alias)
    names = [exp.to_identifier(name, quoted=name != name.lower()) for name in left.this.named_selects]
    query = exp.select(*map(exp.column, names)).from_(left.this.subquery("all_rows")).where(exp.not_(part))
    left.set("this", query)
    asked = replace(prepared, statement=replace(prepared.statement, tree=tree))
    rows = prepared.columns.database.table(asked.text(is_run=True))
    place = next(number for number, output in enumerate(prepared.statement.outputs) if output.kind == "metric")
    found = rows.column(place)[0].as_py() if rows.num_rows else None
    return None if found is None else float(found)
