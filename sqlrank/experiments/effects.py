"""From the sums of variants to what each did: differences, lifts and their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.experiments.sums import double, read
from sqlrank.statement.bind import literal
from sqlrank.statement.distributions import few_quantile_polynomial, quantile_polynomial
from sqlrank.statement.spread import polynomial

if TYPE_CHECKING:
    from sqlrank.experiments.asked import Experiment

TUNED_FOR = 5000
"""The number of units at which intervals that hold at every look are the narrowest."""

FEW = 3
"""Degrees of freedom up to which the quantile of Student's t is the exponential of a polynomial."""


def steps_of_effects(asked: Experiment, control: str, level: float) -> dict[str, exp.Query]:
    """Return the steps from ``arms`` to a row per metric and variant beside the control, whose intervals are of a level."""
    steps: dict[str, exp.Query] = {"pooled": _bound("pooled", control=exp.Literal.string(control))}
    steps |= {name: _bound(name) for name in ("slopes", "adjusted", "effects")}
    steps["lifts"] = read("lifts", f"{asked.lift}.sql")
    reaches = {name: _reach(asked, freedom, level) for name, freedom in (("reach", "freedom"), ("relative_reach", "relative_freedom"))}
    ends = {item.alias: item.this for item in read("ends", f"{asked.lift}.sql").selects}
    return steps | {"limits": _bound("limits", **reaches, **ends)}


def sample_ratio(asked: Experiment) -> exp.Select:
    """Return one row: how many units there are, chi-square of their numbers in variants, and its degrees of freedom."""
    share: exp.Expr = exp.Div(this=literal(1), expression=exp.Window(this=exp.Count(this=exp.Star())))
    if asked.shares:
        ifs = [
            exp.If(this=exp.EQ(this=exp.column("variant"), expression=exp.Literal.string(name)), true=literal(float(part)))
            for name, part in asked.shares.items()
        ]
        share = exp.Case(ifs=ifs, default=double(0))
    variants = literal(len(asked.shares)) if asked.shares else exp.Count(this=exp.Star())
    query: exp.Select = _bound("sample_ratio", share=share, variants=variants, metric=exp.Literal.string(asked.estimates[0].name))
    return query


def tuning(level: float) -> float:
    """Return the square of the scale of intervals that hold at every look (Waudby-Smith et al. 2021, section 2)."""
    log_alpha = 2 * math.log(1 - level)
    return (-log_alpha + math.log1p(-log_alpha)) / TUNED_FOR


def _bound(name: str, **values: Any) -> Any:
    return exp.replace_placeholders(read(f"{name}.sql"), **values)


def _reach(asked: Experiment, freedom: str, level: float) -> exp.Expr:
    """Return how many standard errors an interval reaches, as an expression."""
    if asked.interval == "always":
        found: exp.Expr = _bound("always", tuning=literal(tuning(level)), alpha=literal(1 - level)).selects[0].this
        return found
    column = exp.column(freedom)
    few = exp.func("EXP", polynomial(few_quantile_polynomial(level), column))
    is_few = exp.LT(this=column.copy(), expression=literal(FEW))
    rest = polynomial(quantile_polynomial(level), column)
    return exp.Case(ifs=[exp.If(this=is_few, true=few)], default=rest)


def always_p(statistic: float, units: int, level: float) -> float:
    """Return the least p for which an interval that holds at every look, tuned for a level, leaves 0 out at ``1 - p``."""
    scale = units * tuning(level)
    return min(1.0, math.sqrt(scale + 1) * math.exp(-statistic * statistic * scale / (2 * (scale + 1))))
