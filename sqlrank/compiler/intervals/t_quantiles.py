"""Build the columns of degrees of freedom and of quantiles of Student's t."""

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


def df_column(units: exp.Expr) -> exp.Expr:
    """Return the degrees of freedom as a column, from a count of units."""
    value = exp.func("NULLIF", units - 1, sql_literal(0))
    return comment_column(value, DF, "degrees of freedom, NULL in place of 0")


def t_quantile_column(confidence: IntervalOptions, df_name: str = DF) -> exp.Expr:
    """Return the t quantile for a column of degrees of freedom: exact for 1 and 2, and a polynomial
    in their reciprocal for more.
    """
    if confidence.method == "normal":
        return exp.alias_(sql_literal(normal_quantile((1 + confidence.level) / 2)), T_QUANTILE)
    limit, *factors = t_critical_polynomial(confidence.level)
    value = sql_literal(limit)
    for power, factor in enumerate(factors, start=1):
        degrees = (
            exp.column(df_name)
            if power == 1
            else exp.Pow(this=exp.column(df_name), expression=sql_literal(power))
        )
        term = exp.Div(this=sql_literal(abs(factor)), expression=degrees)
        value = (exp.Sub if factor < 0 else exp.Add)(this=value, expression=term)
    ifs = [
        exp.If(
            this=exp.column(df_name).eq(df),
            true=sql_literal(t_critical_value(confidence.level, df)),
        )
        for df in (1, 2)
    ]
    column = exp.alias_(exp.Case(ifs=ifs, default=value), T_QUANTILE)
    percent = f"{50 * (1 + confidence.level):.10g}"
    column.comments = [
        f"quantile of Student's t at {percent} %: exact for df 1 and 2, else a series to 1e-10"
    ]
    return column
