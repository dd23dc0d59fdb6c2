"""Check if an expression needs parentheses in the place of another, by operator precedence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot.expressions import Expr

_ARITHMETIC: Mapping[type[Expr], int] = {exp.Mul: 3, exp.Div: 3, exp.Add: 2, exp.Sub: 2}
"""Arithmetic operators, with how tightly they bind."""

OPERATORS = (exp.Binary, exp.Neg, exp.Not, exp.Between, exp.In)


def needs_parentheses(value: Expr, place: Expr) -> bool:
    """Return True if an expression needs parentheses in the place of another."""
    parent = place.parent
    if not isinstance(value, OPERATORS) or not isinstance(parent, OPERATORS):
        return False
    inner, outer = _ARITHMETIC.get(type(value), 0), _ARITHMETIC.get(type(parent), 0)
    if inner and not outer and isinstance(parent, exp.Predicate):
        return False
    return not (inner and outer and (inner > outer or (inner == outer and place.arg_key == "this")))
