"""Columns of Student's t quantiles and of reciprocal degrees of freedom."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.inference.student_t import t_critical_polynomial, t_critical_value
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from sqlrank.interval_options import IntervalOptions

UNIT_COUNT = "units"
"""Column of the number of units; counts of single metrics have their name before it."""

T_QUANTILE = "t_quantile"
"""Column of the quantile of Student's t."""

POLYNOMIAL_POWERS = (1, 2, 4)
"""Powers of the reciprocal degrees of freedom that are columns, from which the others of a t quantile are multiplied."""


def inverse_df_columns(units: exp.Expr) -> list[exp.Expr]:
    """Return powers of the reciprocal degrees of freedom as columns, from a count of units."""
    divisor = exp.func("NULLIF", exp.Sub(this=units.copy(), expression=sql_literal(1)), sql_literal(0))
    powers: list[exp.Expr] = []
    for power in POLYNOMIAL_POWERS:
        value: exp.Expr = sql_literal(1)
        for _ in range(power):
            value = exp.Div(this=value, expression=divisor.copy())
        powers.append(exp.alias_(value, _inverse_df(power)))
    return powers


def _inverse_df(power: int) -> str:
    """Return the name of a power of the reciprocal degrees of freedom."""
    return f"inverse_df{f'_{power}' if power > 1 else ''}"


def t_quantile_column(confidence: IntervalOptions, units: exp.Column) -> exp.Expr:
    """Return the t quantile for a column of unit counts, with a comment.

    It is exact for 2 and 3 units, and a polynomial for more.
    """
    if confidence.method == "normal":
        return exp.alias_(sql_literal(NormalDist().inv_cdf((1 + confidence.level) / 2)), T_QUANTILE)
    factors = [sql_literal(factor) for factor in t_critical_polynomial(confidence.level)]
    one, two, four = (exp.column(_inverse_df(power)) for power in POLYNOMIAL_POWERS)
    value: exp.Expr = exp.Add(this=factors[0], expression=exp.Mul(this=factors[1], expression=one))
    # Pairs of terms, each times an even power: a sum without nested parentheses.
    for powers, low, high in zip(([two], [four], [four, two], [four, four], [four, four, two]), factors[2::2], factors[3::2], strict=True):
        pair: exp.Expr = exp.paren(exp.Add(this=low, expression=exp.Mul(this=high, expression=one.copy())))
        for power in reversed(powers):
            pair = exp.Mul(this=power.copy(), expression=pair)
        value = exp.Add(this=value, expression=pair)
    exact_quantiles = [(count, t_critical_value(confidence.level, count - 1)) for count in (2, 3)]
    ifs = [
        exp.If(this=exp.EQ(this=units.copy(), expression=sql_literal(count)), true=sql_literal(quantile))
        for count, quantile in exact_quantiles
    ]
    column = exp.alias_(exp.Case(ifs=ifs, default=value), T_QUANTILE)
    percent = f"{50 * (1 + confidence.level):.10g}"
    column.comments = [
        f"quantile of Student's t at {percent} %: exact for 1 and 2 degrees of freedom, beyond by a polynomial in 1 / df, to 1e-10"
    ]
    return column
