"""Constant folding of numeric comparisons, AND, OR, NOT and CASE after parameters are bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

_COMPARED: dict[type[exp.Expr], Callable[[float, float], bool]] = {
    exp.EQ: lambda left, right: left == right,
    exp.NEQ: lambda left, right: left != right,
    exp.LT: lambda left, right: left < right,
    exp.LTE: lambda left, right: left <= right,
    exp.GT: lambda left, right: left > right,
    exp.GTE: lambda left, right: left >= right,
}
_KINDS = (*_COMPARED, exp.And, exp.Or, exp.Not, exp.Case, exp.Where)


def fold_constants(tree: exp.Expr) -> None:
    """Fold constants of a tree in place."""
    nodes: list[Any] = find_nodes(tree, *_KINDS)
    for node in reversed(nodes):
        if type(node) in _COMPARED:
            left_number, right_number = _number(node.this), _number(node.expression)
            if left_number is not None and right_number is not None:
                node.replace(exp.Boolean(this=_COMPARED[type(node)](left_number, right_number)))
        elif isinstance(node, (exp.And, exp.Or)):
            _fold_and_or(node)
        elif isinstance(node, exp.Not) and isinstance(node.this.unnest(), exp.Boolean):
            node.replace(exp.Boolean(this=not node.this.unnest().this))
        elif isinstance(node, exp.Case):
            _fold_case(node)
        elif isinstance(node, exp.Where) and _is(node.this, value=True):
            node.pop()


def _is(node: exp.Expr, value: bool) -> bool:
    inner = node.unnest()
    return isinstance(inner, exp.Boolean) and bool(inner.this) == value


def _number(node: exp.Expr) -> float | None:
    inner = node.unnest()
    if isinstance(inner, exp.Neg):
        operand = _number(inner.this)
        return None if operand is None else -operand
    return float(inner.this) if isinstance(inner, exp.Literal) and inner.is_number else None


def _fold_and_or(node: exp.And | exp.Or) -> None:
    """Fold an AND or OR with a constant operand."""
    neutral = isinstance(node, exp.And)
    if any(_is(operand, value=not neutral) for operand in (node.this, node.expression)):
        node.replace(exp.Boolean(this=not neutral))
    elif _is(node.this, value=neutral):
        node.replace(node.expression)
    elif _is(node.expression, value=neutral):
        node.replace(node.this)


def _fold_case(node: exp.Case) -> None:
    if node.this is not None:
        return
    branches: list[exp.Expr] = []
    for branch in node.args["ifs"]:
        if _is(branch.this, value=True):
            node.set("default", branch.args["true"])
            break
        if not _is(branch.this, value=False):
            branches.append(branch)
    node.set("ifs", branches)
    if not branches:
        node.replace(node.args.get("default") or exp.Null())
