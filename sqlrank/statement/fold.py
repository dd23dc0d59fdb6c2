"""Leave out what is known once parameters are in place: comparisons of two numbers, and the branches that they decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.library.nodes import nodes

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


def fold(tree: exp.Expr) -> None:
    """Leave out, in place, what always holds or never does."""
    found: list[Any] = nodes(tree, *_KINDS)
    for node in reversed(found):
        if type(node) in _COMPARED:
            left, right = _number(node.this), _number(node.expression)
            if left is not None and right is not None:
                node.replace(exp.Boolean(this=_COMPARED[type(node)](left, right)))
        elif isinstance(node, (exp.And, exp.Or)):
            _connected(node)
        elif isinstance(node, exp.Not) and isinstance(node.this.unnest(), exp.Boolean):
            node.replace(exp.Boolean(this=not node.this.unnest().this))
        elif isinstance(node, exp.Case):
            _cases(node)
        elif isinstance(node, exp.Where) and _is(node.this, value=True):
            node.pop()


def _is(node: exp.Expr, value: bool) -> bool:
    inner = node.unnest()
    return isinstance(inner, exp.Boolean) and bool(inner.this) == value


def _number(node: exp.Expr) -> float | None:
    inner = node.unnest()
    if isinstance(inner, exp.Neg):
        below = _number(inner.this)
        return None if below is None else -below
    return float(inner.this) if isinstance(inner, exp.Literal) and inner.is_number else None


def _connected(node: exp.And | exp.Or) -> None:
    """Leave out of AND what is true, and of OR what is false; the other value decides."""
    neutral = isinstance(node, exp.And)
    if any(_is(side, value=not neutral) for side in (node.this, node.expression)):
        node.replace(exp.Boolean(this=not neutral))
    elif _is(node.this, value=neutral):
        node.replace(node.expression)
    elif _is(node.expression, value=neutral):
        node.replace(node.this)


def _cases(node: exp.Case) -> None:
    if node.this is not None:
        return
    kept: list[exp.Expr] = []
    for branch in node.args["ifs"]:
        if _is(branch.this, value=True):
            node.set("default", branch.args["true"])
            break
        if not _is(branch.this, value=False):
            kept.append(branch)
    node.set("ifs", kept)
    if not kept:
        node.replace(node.args.get("default") or exp.Null())
