"""The statement of an experiment that is complete but for p-values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.experiments.asked import SAMPLE_RATIO
from sqlrank.experiments.effects import sample_ratio, steps_of_effects
from sqlrank.experiments.sums import chained, steps_of_sums, tables_of
from sqlrank.statement.statement import Output, Statement

if TYPE_CHECKING:
    from sqlrank.experiments.asked import Experiment
    from sqlrank.inputs.input import Input

COLUMNS: dict[str, str] = {
    **dict.fromkeys(("metric", "control", "variant"), "TEXT"),
    **dict.fromkeys(("value_control", "value", "difference", "low", "high", "relative", "relative_low", "relative_high", "se"), "DOUBLE"),
    **dict.fromkeys(("units_control", "units"), "BIGINT"),
    **dict.fromkeys(("statistic", "freedom", "theta"), "DOUBLE"),
    "crossed": "BIGINT",
}
"""The columns of the statement's result, and their types."""

OF_RATIO = ("units", "statistic", "freedom")


def statement(asked: Experiment, item: Input, control: str) -> Statement:
    """Return the statement whose rows are those of each metric and variant, and one for the numbers of units."""
    steps = steps_of_sums(asked, item) | steps_of_effects(asked, control, asked.confidence)
    steps["sample_ratio"] = sample_ratio(asked)
    found = {name: exp.cast(exp.column(name, table="l"), kind) for name, kind in COLUMNS.items() if name != "crossed"}
    effects = exp.select(*(exp.alias_(value, name) for name, value in found.items())).from_(exp.to_table("limits").as_("l"))
    ratio: dict[str, exp.Expr] = {name: exp.cast(exp.Null(), kind) for name, kind in COLUMNS.items()}
    ratio |= {name: exp.cast(exp.column(name, table="r"), COLUMNS[name]) for name in OF_RATIO}
    ratio["metric"] = exp.cast(exp.Literal.string(SAMPLE_RATIO), "TEXT")
    of_ratio = exp.select(*(exp.alias_(ratio[name], name) for name in found)).from_(exp.to_table("sample_ratio").as_("r"))
    rows = exp.union(effects, of_ratio, distinct=False).subquery("found")
    counted = exp.cast(exp.column("crossed", table="k"), "BIGINT")
    body = exp.select(*(exp.column(name, table="found") for name in found), exp.alias_(counted, "crossed"))
    steps["result"] = (
        body.from_(rows)
        .join(exp.to_table("strays").as_("k"), join_type="cross")
        .order_by(*(exp.column(name, table="found") for name in ("metric", "variant")))
    )
    tree = chained(steps, tables_of(item))
    outputs = [Output(name, name, "row") for name in COLUMNS]
    return Statement(tree, outputs, f"sqlrank {__version__}: {', '.join(estimate.name for estimate in asked.estimates)}")
