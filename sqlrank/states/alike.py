"""Sums of a state whose rows all weigh 1: fewer of them, each over less, since that is what a state costs to make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.library.nodes import nodes
from sqlrank.statement.statement import Statement
from sqlrank.states.asked import BASE

if TYPE_CHECKING:
    from collections.abc import Iterator

WEIGHT = "weight"


def of_rows_alike(statement: Statement) -> Statement:
    """Return the statement of a state without weights, where these are 1 for all rows: a sum of them is a count of rows, and negatives are the other rows."""
    tree: Any = statement.tree.copy()
    steps = {step.alias: step.this for step in tree.ctes}
    given, made = steps.get(BASE), steps[tree.args["from_"].this.name]
    if not isinstance(given, exp.Select):
        return statement
    weights = [item for item in given.selects if item.alias_or_name == WEIGHT]
    others = [query for query in steps.values() if query is not made and query is not given]
    if not weights or _columns(weights[0]) or any(_reads(query) for query in others):
        return statement
    for total in nodes(made, exp.Sum):
        _lighten(total)
    if not any(_reads(item) for item in made.selects):
        for query in [given, *_below(made)]:
            query.set("expressions", [item for item in query.selects if item.alias_or_name != WEIGHT])
    return Statement(tree, statement.outputs, statement.stamp)


def _reads(tree: exp.Expr) -> bool:
    return any(column.name == WEIGHT for column in _columns(tree))


def _columns(tree: exp.Expr) -> list[exp.Column]:
    return nodes(tree, exp.Column)


def _below(query: exp.Select) -> Iterator[exp.Select]:
    """Yield the queries that one is made of."""
    source = query.args["from_"].this
    while isinstance(source, exp.Subquery):
        yield source.this
        source = source.this.args["from_"].this


def _lighten(total: exp.Sum) -> None:
    """Write a sum in which each row weighs 1, in place."""
    others = exp.Case(ifs=[exp.If(this=exp.column("label").eq(1), true=exp.Literal.number(0))], default=exp.column(WEIGHT))
    if total.this == others:
        counted = exp.Case(ifs=[exp.If(this=exp.column("label").eq(1), true=exp.Literal.number("1.0"))], default=exp.Literal.number(0))
        total.replace(exp.Sub(this=exp.Count(this=exp.Star()), expression=exp.Sum(this=counted)))
        return
    for product in nodes(total, exp.Mul):
        if product.this == exp.column(WEIGHT):
            product.replace(product.expression)
    if total.this == exp.column(WEIGHT):
        total.replace(exp.Count(this=exp.Star()))
        return
    for column in _columns(total):
        if column.name == WEIGHT:
            column.replace(exp.Literal.number("1.0"))
