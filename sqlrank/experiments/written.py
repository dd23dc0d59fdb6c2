"""The statement of an experiment: a row per metric and variant, and one for the numbers of units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.experiments.asked import SAMPLE_RATIO
from sqlrank.experiments.effects import steps_of_effects
from sqlrank.experiments.sums import chained, steps_of_sums, tables_of
from sqlrank.statement.statement import Output, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.experiments.asked import Experiment
    from sqlrank.inputs.input import Input

COLUMNS: dict[str, str] = {
    **dict.fromkeys(("metric", "control", "variant"), "TEXT"),
    **dict.fromkeys(("value_control", "value", "difference", "low", "high", "level"), "DOUBLE"),
    **dict.fromkeys(("relative", "relative_low", "relative_high", "se"), "DOUBLE"),
    **dict.fromkeys(("units_control", "units"), "BIGINT"),
    **dict.fromkeys(("statistic", "freedom", "p", "p_adjusted"), "DOUBLE"),
    "better": "TEXT",
    **dict.fromkeys(("detectable", "theta"), "DOUBLE"),
}
"""The columns of a result, and their types."""

CROSSED = "crossed"
"""The column of a printed statement that says how many units were seen in several variants."""

OF_RATIO = ("units", "statistic", "freedom", "p")


def effects(asked: Experiment, control: str) -> Any:
    """Return the statement from a table ``arms``, with the sums of variants, to the rows of the result."""
    body = exp.select(*(exp.column(name, table="found") for name in COLUMNS)).from_(_rows(COLUMNS))
    return chained({**steps_of_effects(asked, control), "result": body}, set())


def statement(asked: Experiment, item: Input, control: str) -> Statement:
    """Return the statement whose rows are those of the result, with how many units are left out."""
    columns = {**COLUMNS, CROSSED: "BIGINT"}
    body = exp.select(*(exp.column(name, table="found") for name in columns)).from_(_rows(columns))
    body = body.order_by(*(exp.column(name, table="found") for name in ("metric", "variant")))
    tree = chained({**steps_of_sums(asked, item), **steps_of_effects(asked, control), "result": body}, tables_of(item))
    outputs = [Output(name, name, "row") for name in columns]
    return Statement(tree, outputs, f"sqlrank {__version__}: {', '.join(estimate.name for estimate in asked.estimates)}")


def _rows(columns: Mapping[str, str]) -> exp.Subquery:
    """Return the rows of metrics and variants, and that of the numbers of units, with columns of these names and types."""
    of_ratio: dict[str, exp.Expr] = {name: exp.cast(exp.Null(), kind) for name, kind in columns.items()}
    of_ratio |= {name: exp.cast(exp.column(name, table="m"), columns[name]) for name in (*OF_RATIO, CROSSED) if name in columns}
    of_ratio["metric"] = exp.cast(exp.Literal.string(SAMPLE_RATIO), "TEXT")
    found = [exp.alias_(exp.cast(exp.column(name, table="v"), kind), name) for name, kind in columns.items()]
    ratio = exp.select(*(exp.alias_(value, name) for name, value in of_ratio.items())).from_(exp.to_table("mismatch").as_("m"))
    return exp.union(exp.select(*found).from_(exp.to_table("verdicts").as_("v")), ratio, distinct=False).subquery("found")
