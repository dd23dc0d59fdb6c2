"""Quantiles of Student's t in a statement: a polynomial in 1 over the degrees of freedom, which is a column that is found first."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.statement.bind import literal
from sqlrank.statement.distributions import quantile_polynomial, t_quantile

if TYPE_CHECKING:
    from sqlrank.library.confidence import Confidence


def inverse(units: exp.Expr, name: str) -> exp.Expr:
    """Return 1 over the degrees of freedom of a number of units, by which quantiles are found, as a column that is named after it."""
    freedom = exp.func("NULLIF", exp.Sub(this=units.copy(), expression=literal(1)), literal(0))
    return exp.alias_(exp.Div(this=literal(1), expression=freedom), f"{name}_inverse")


def quantile(confidence: Confidence, name: str) -> exp.Expr:
    """Return the quantile for the number of units in a column, beside its inverse: exact for 2 and 3, else a polynomial in that."""
    if confidence.interval == "normal":
        return literal(NormalDist().inv_cdf((1 + confidence.level) / 2))
    *factors, value = map(literal, quantile_polynomial(confidence.level))
    for factor in reversed(factors):
        rest = exp.Mul(this=exp.paren(value) if isinstance(value, exp.Add) else value, expression=exp.column(f"{name}_inverse"))
        value = exp.Add(this=factor, expression=rest)
    few = [(count, t_quantile(confidence.level, count - 1)) for count in (2, 3)]
    ifs = [exp.If(this=exp.EQ(this=exp.column(name), expression=literal(count)), true=literal(exact)) for count, exact in few]
    return exp.Case(ifs=ifs, default=value)
