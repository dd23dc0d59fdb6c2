"""How far one row moves a metric: the derivative of its expression with respect to each of its sums, times what the row adds to that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Callable

SUMS = (exp.Sum, exp.Count, exp.Avg)

Terms = dict[exp.Expr, exp.Expr]
"""The derivative of an expression with respect to each sum in it, by the sum."""


class NoDerivativeError(Exception):
    """An expression that is no smooth function of sums, such as MAX(x)."""


def terms(expression: exp.Expr) -> Terms | None:
    """Return the derivative with respect to each sum, None if there is no sum or no derivative.

    The conditions of a CASE, and what NULLIF compares with, are taken as fixed.
    """
    try:
        return _derive(averages(expression)) or None
    except NoDerivativeError:
        return None


def added(total: exp.Expr) -> exp.Expr:
    """Return what a row adds to a sum."""
    counted = total.this
    if isinstance(total, exp.Sum):
        return exp.func("COALESCE", counted.copy(), exp.Literal.number(0))
    if isinstance(counted, exp.Star):
        return exp.Literal.number(1)
    missing = exp.If(this=exp.Is(this=counted.copy(), expression=exp.Null()), true=exp.Literal.number(0))
    return exp.Case(ifs=[missing], default=exp.Literal.number(1))


def averages(expression: exp.Expr) -> exp.Expr:
    """Write AVG(x) as SUM(x) / COUNT(x)."""

    def written(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Avg):
            return node
        count = exp.func("NULLIF", exp.Count(this=node.this.copy()), exp.Literal.number(0))
        return exp.paren(exp.Div(this=exp.Sum(this=node.this), expression=count))

    return expression.copy().transform(written)


def _derive(node: exp.Expr) -> Terms:
    if isinstance(node, (exp.Sum, exp.Count)):
        return {node: exp.Literal.number(1)}
    if node.find(*SUMS, exp.Max, exp.Min) is None:
        return {}
    rule = _RULES.get(type(node))
    if rule is None:
        raise NoDerivativeError(type(node).__name__)
    return rule(node)


def _inside(node: exp.Expr) -> Terms:
    return _derive(node.this)


def _sum(node: exp.Expr) -> Terms:
    return _plus(_derive(node.this), _derive(node.expression))


def _difference(node: exp.Expr) -> Terms:
    return _plus(_derive(node.this), _scaled(_derive(node.expression), exp.Neg))


def _negative(node: exp.Expr) -> Terms:
    return _scaled(_derive(node.this), exp.Neg)


def _product(node: exp.Expr) -> Terms:
    left, right = node.this, node.expression
    return _plus(_times(_derive(left), right), _times(_derive(right), left))


def _ratio(node: exp.Expr) -> Terms:
    """The derivative of a / b, written as (a' - (a / b) b') / b, in which nothing overflows that does not in a / b."""
    above, below = node.this, node.expression
    share = _times(_derive(below), node)
    return _over(_plus(_derive(above), _scaled(share, exp.Neg)), below)


def _logarithm(node: exp.Expr) -> Terms:
    return _over(_derive(node.this), node.this)


def _exponential(node: exp.Expr) -> Terms:
    return _times(_derive(node.this), node)


def _root(node: exp.Expr) -> Terms:
    twice = exp.Mul(this=exp.Literal.number(2), expression=node.copy())
    return _over(_derive(node.this), exp.func("NULLIF", twice, exp.Literal.number(0)))


def _case(node: exp.Expr) -> Terms:
    """By branches, each sum having a derivative of 0 in those that do not hold it."""
    if node.this is not None:
        raise NoDerivativeError("CASE x WHEN")
    branches = [(item.this, _derive(item.args["true"])) for item in node.args["ifs"]]
    default = node.args.get("default")
    others = {} if default is None else _derive(default)
    found: Terms = {}
    for total in dict.fromkeys(total for held in [*(held for _, held in branches), others] for total in held):
        zero = exp.Literal.number(0)
        ifs = [exp.If(this=condition.copy(), true=held.get(total, zero).copy()) for condition, held in branches]
        found[total] = exp.Case(ifs=ifs, default=None if default is None else others.get(total, zero).copy())
    return found


_RULES: dict[type[exp.Expr], Callable[[Any], Terms]] = {
    exp.Paren: _inside,
    exp.Cast: _inside,
    exp.Nullif: _inside,
    exp.Add: _sum,
    exp.Sub: _difference,
    exp.Neg: _negative,
    exp.Mul: _product,
    exp.Div: _ratio,
    exp.Ln: _logarithm,
    exp.Exp: _exponential,
    exp.Sqrt: _root,
    exp.Case: _case,
}


def _plus(left: Terms, right: Terms) -> Terms:
    both = {total: exp.Add(this=left[total], expression=right[total]) for total in left if total in right}
    return {**left, **right, **both}


def _scaled(held: Terms, by: type[exp.Unary]) -> Terms:
    return {total: by(this=_closed(factor)) for total, factor in held.items()}


def _times(held: Terms, factor: exp.Expr) -> Terms:
    one = exp.Literal.number(1)
    return {
        total: _closed(factor.copy()) if item == one else exp.Mul(this=_closed(item), expression=_closed(factor.copy()))
        for total, item in held.items()
    }


def _over(held: Terms, below: exp.Expr) -> Terms:
    return {total: exp.Div(this=_closed(item), expression=_closed(below.copy())) for total, item in held.items()}


def _closed(node: exp.Expr) -> exp.Expr:
    return exp.paren(node) if isinstance(node, (exp.Binary, exp.Neg)) else node
