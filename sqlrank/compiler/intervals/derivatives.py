"""Differentiate expressions symbolically by their aggregates, for the delta method, and find a
row's contribution to an aggregate.

It gives the partial derivatives of an expression by its SUMs and COUNTs. The influence of a row on
a metric is the sum of each derivative times the row's contribution to that aggregate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.sql_ast import is_null

if TYPE_CHECKING:
    from collections.abc import Callable

AGGREGATES = (exp.Sum, exp.Count, exp.Avg)

PartialDerivatives = dict[exp.Expr, exp.Expr]
"""Partial derivatives of an expression by aggregate."""


class NotDifferentiableError(Exception):
    """Error for an expression that is not a differentiable function of sums, such as MAX(x)."""


def partial_derivatives(expression: exp.Expr) -> PartialDerivatives | None:
    """Return the partial derivatives of an expression by aggregate.

    Returns None if it contains no aggregate or is not differentiable. CASE conditions and the
    second argument of NULLIF are treated as constants.
    """
    try:
        return _derive_expression(expand_averages(expression)) or None
    except NotDifferentiableError:
        return None


def row_contribution(total: exp.Expr) -> exp.Expr:
    """Return the contribution of a row to an aggregate."""
    operand = total.this
    if isinstance(total, exp.Sum):
        return exp.func("COALESCE", operand.copy(), exp.Literal.number(0))
    if isinstance(operand, exp.Star):
        return exp.Literal.number(1)
    missing = exp.If(this=is_null(operand.copy()), true=exp.Literal.number(0))
    return exp.Case(ifs=[missing], default=exp.Literal.number(1))


def expand_averages(expression: exp.Expr) -> exp.Expr:
    """Rewrite AVG(x) as SUM(x) / COUNT(x)."""

    def expand_average(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Avg):
            return node
        count = exp.func("NULLIF", exp.Count(this=node.this.copy()), exp.Literal.number(0))
        return exp.paren(exp.Div(this=exp.Sum(this=node.this), expression=count))

    return expression.copy().transform(expand_average)


def _derive_expression(node: exp.Expr) -> PartialDerivatives:
    if isinstance(node, (exp.Sum, exp.Count)):
        return {node: exp.Literal.number(1)}
    if node.find(*AGGREGATES, exp.Max, exp.Min) is None:
        return {}
    rule = _RULES.get(type(node))
    if rule is None:
        raise NotDifferentiableError(type(node).__name__)
    return rule(node)


def _derive_operand(node: exp.Expr) -> PartialDerivatives:
    return _derive_expression(node.this)


def _derive_sum(node: exp.Expr) -> PartialDerivatives:
    return _add_derivatives(_derive_expression(node.this), _derive_expression(node.expression))


def _derive_difference(node: exp.Expr) -> PartialDerivatives:
    return _add_derivatives(
        _derive_expression(node.this), _apply_operator(_derive_expression(node.expression), exp.Neg)
    )


def _derive_negation(node: exp.Expr) -> PartialDerivatives:
    return _apply_operator(_derive_expression(node.this), exp.Neg)


def _derive_product(node: exp.Expr) -> PartialDerivatives:
    left, right = node.this, node.expression
    return _add_derivatives(
        _multiply_derivatives(_derive_expression(left), right),
        _multiply_derivatives(_derive_expression(right), left),
    )


def _derive_ratio(node: exp.Expr) -> PartialDerivatives:
    """Differentiate a quotient a / b.

    The form (a' - (a / b) b') / b overflows only where a / b does.
    """
    numerator, denominator = node.this, node.expression
    terms = _multiply_derivatives(_derive_expression(denominator), node)
    return _divide_derivatives(
        _add_derivatives(_derive_expression(numerator), _apply_operator(terms, exp.Neg)),
        denominator,
    )


def _derive_logarithm(node: exp.Expr) -> PartialDerivatives:
    return _divide_derivatives(_derive_expression(node.this), node.this)


def _derive_exponential(node: exp.Expr) -> PartialDerivatives:
    return _multiply_derivatives(_derive_expression(node.this), node)


def _derive_root(node: exp.Expr) -> PartialDerivatives:
    twice = exp.Mul(this=exp.Literal.number(2), expression=node.copy())
    return _divide_derivatives(
        _derive_expression(node.this), exp.func("NULLIF", twice, exp.Literal.number(0))
    )


def _derive_case(node: exp.Expr) -> PartialDerivatives:
    """Differentiate CASE by branches; aggregates have derivative 0 in branches that do not contain
    them.
    """
    if node.this is not None:
        raise NotDifferentiableError("CASE x WHEN")
    branches = [
        (branch.this, _derive_expression(branch.args["true"])) for branch in node.args["ifs"]
    ]
    default = node.args.get("default")
    default_derivatives = {} if default is None else _derive_expression(default)
    derivatives: PartialDerivatives = {}
    for total in dict.fromkeys(
        total
        for branch_derivatives in [
            *(branch_derivatives for _, branch_derivatives in branches),
            default_derivatives,
        ]
        for total in branch_derivatives
    ):
        zero = exp.Literal.number(0)
        ifs = [
            exp.If(this=condition.copy(), true=branch_derivatives.get(total, zero).copy())
            for condition, branch_derivatives in branches
        ]
        derivatives[total] = exp.Case(
            ifs=ifs,
            default=None if default is None else default_derivatives.get(total, zero).copy(),
        )
    return derivatives


def _derive_alternatives(node: exp.Coalesce) -> PartialDerivatives:
    """Differentiate the first of several expressions that is not NULL."""
    *alternatives, last = [node.this, *node.expressions]
    ifs = [exp.If(this=exp.Not(this=is_null(value.copy())), true=value) for value in alternatives]
    return _derive_case(exp.Case(ifs=ifs, default=last))


_RULES: dict[type[exp.Expr], Callable[[Any], PartialDerivatives]] = {
    exp.Paren: _derive_operand,
    exp.Cast: _derive_operand,
    exp.Nullif: _derive_operand,
    exp.Add: _derive_sum,
    exp.Sub: _derive_difference,
    exp.Neg: _derive_negation,
    exp.Mul: _derive_product,
    exp.Div: _derive_ratio,
    exp.Ln: _derive_logarithm,
    exp.Exp: _derive_exponential,
    exp.Sqrt: _derive_root,
    exp.Case: _derive_case,
    exp.Coalesce: _derive_alternatives,
}


def _add_derivatives(left: PartialDerivatives, right: PartialDerivatives) -> PartialDerivatives:
    both = {
        total: exp.Add(this=left[total], expression=right[total])
        for total in left
        if total in right
    }
    return {**left, **right, **both}


def _apply_operator(
    derivatives: PartialDerivatives, operator: type[exp.Unary]
) -> PartialDerivatives:
    return {
        total: operator(this=_parenthesize_operand(factor)) for total, factor in derivatives.items()
    }


def _multiply_derivatives(derivatives: PartialDerivatives, factor: exp.Expr) -> PartialDerivatives:
    literal_one = exp.Literal.number(1)
    return {
        total: _parenthesize_operand(factor.copy())
        if derivative == literal_one
        else exp.Mul(
            this=_parenthesize_operand(derivative), expression=_parenthesize_operand(factor.copy())
        )
        for total, derivative in derivatives.items()
    }


def _divide_derivatives(
    derivatives: PartialDerivatives, denominator: exp.Expr
) -> PartialDerivatives:
    return {
        total: exp.Div(
            this=_parenthesize_operand(derivative),
            expression=_parenthesize_operand(denominator.copy()),
        )
        for total, derivative in derivatives.items()
    }


def _parenthesize_operand(node: exp.Expr) -> exp.Expr:
    return exp.paren(node) if isinstance(node, (exp.Binary, exp.Neg)) else node
