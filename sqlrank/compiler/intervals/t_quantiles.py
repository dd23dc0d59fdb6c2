"""Build the columns of Student's t quantiles, degrees of freedom, and powers of their reciprocal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.column_comments import comment_column
from sqlrank.inference.student_t import normal_quantile, t_critical_polynomial, t_critical_value
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from sqlrank.interval_options import IntervalOptions

UNIT_COUNT = "units"
"""Column of the number of units; counts of single metrics have their name before it."""

T_QUANTILE = "t_quantile"
"""Column of the quantile of Student's t."""

DF = "df"
"""Column of the degrees of freedom, NULL for one unit."""

POLYNOMIAL_POWERS = (1, 2, 4)
"""Powers of the reciprocal degrees of freedom that are columns, from which the others of a t quantile are multiplied."""


def df_column(units: exp.Expr) -> exp.Expr:
    """Return the degrees of freedom as a column, from a count of units."""
    value = exp.func("NULLIF", exp.Sub(this=units.copy(), expression=sql_literal(1)), sql_literal(0))
    return comment_column(value, DF, "degrees of freedom, NULL in place of 0")


def inverse_df_columns() -> list[exp.Expr]:
    """Return powers of the reciprocal degrees of freedom as columns."""
    powers: list[exp.Expr] = []
    for power in POLYNOMIAL_POWERS:
        value: exp.Expr = sql_literal(1)
        for _ in range(power):
            value = exp.Div(this=value, expression=exp.column(DF))
        powers.append(exp.alias_(value, _inverse_df(power)))
    return powers


def _inverse_df(power: int) -> str:
    """Return the name of a power of the reciprocal degrees of freedom."""
    return f"inverse_df{f'_{power}' if power > 1 else ''}"


def t_quantile_column(confidence: IntervalOptions) -> exp.Expr:
    """Return the t quantile, with a comment: it is exact for 1 and 2 degrees of freedom, and a polynomial for more."""
    if confidence.method == "normal":
        return exp.alias_(sql_literal(normal_quantile((1 + confidence.level) / 2)), T_QUANTILE)
    factors = [sql_literal(factor) for factor in t_critical_polynomial(confidence.level)]
    one, two, four = (exp.column(_inverse_df(power)) for power in POLYNOMIAL_POWERS)
    value: exp.Expr = exp.Add(this=factors[0], expression=exp.Mul(this=factors[1], expression=one))
    # Pairs of terms, each times an even power: a sum without nested parentheses.
    for powers, low, high in zip(([two], [four], [four, two], [four, four], [four, four, two]), factors[2::2], factors[3::2], strict=True):
        is_subtracted = isinstance(high, exp.Neg)
        term = exp.Mul(this=high.this if is_subtracted else high, expression=one.copy())
        pair: exp.Expr = exp.paren((exp.Sub if is_subtracted else exp.Add)(this=low, expression=term))
        for power in reversed(powers):
            pair = exp.Mul(this=power.copy(), expression=pair)
        value = exp.Add(this=value, expression=pair)
    ifs = [
        exp.If(this=exp.EQ(this=exp.column(DF), expression=sql_literal(df)), true=sql_literal(t_critical_value(confidence.level, df)))
        for df in (1, 2)
    ]
    column = exp.alias_(exp.Case(ifs=ifs, default=value), T_QUANTILE)
    percent = f"{50 * (1 + confidence.level):.10g}"
    column.comments = [f"quantile of Student's t at {percent} %: exact for df 1 and 2, else a series to 1e-10"]
    return column
