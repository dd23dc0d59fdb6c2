"""Clip interval limits, convert values between -1..1 and 0..1, and test if standard errors exceed
rounding errors.
"""

from __future__ import annotations

import math

from sqlglot import exp

from sqlrank.inference.standard_errors import ROUNDING_NOISE
from sqlrank.sql_ast import case_when, sql_literal


def clip_limits(
    low: exp.Expr, high: exp.Expr, value: exp.Expr, bounds: tuple[float, float] | None
) -> tuple[exp.Expr, exp.Expr]:
    """Clip interval limits to the bounds of a metric, unless the value itself exceeds them."""
    if bounds is None:
        return low, high
    clipped = []
    for limit, bound, beyond, inside in (
        (low, bounds[0], exp.LT, exp.GTE),
        (high, bounds[1], exp.GT, exp.LTE),
    ):
        if math.isinf(bound):
            clipped.append(limit)
            continue
        is_beyond = exp.and_(
            beyond(this=limit.copy(), expression=sql_literal(bound)),
            inside(this=value.copy(), expression=sql_literal(bound)),
            wrap=False,
        )
        clipped.append(case_when(is_beyond, sql_literal(bound), limit.copy()))
    return clipped[0], clipped[1]


def units_differ(value: exp.Expr, error: exp.Expr) -> exp.Expr:
    """Return the condition that a standard error exceeds rounding error; otherwise units do not
    vary.
    """
    noise = exp.Mul(this=sql_literal(ROUNDING_NOISE), expression=exp.Abs(this=value.copy()))
    return exp.GT(this=error.copy(), expression=noise)


def to_0_1(value: exp.Expr) -> exp.Expr:
    """Map a value between -1 and 1 to 0..1."""
    return exp.Div(
        this=exp.paren(exp.Add(this=sql_literal(1), expression=value.copy())),
        expression=sql_literal(2),
    )


def from_0_1(share: exp.Expr) -> exp.Expr:
    """Map a value between 0 and 1 to -1..1."""
    return exp.Sub(
        this=exp.Mul(this=sql_literal(2), expression=exp.paren(share)), expression=sql_literal(1)
    )
