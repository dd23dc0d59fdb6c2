"""Put functions and the values of parameters into the tree of a file, and leave out what then always holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.library.asked import CUTOFF, EACH
from sqlrank.library.file import ALL
from sqlrank.library.nodes import nodes
from sqlrank.statement.fold import fold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.library.file import Param
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value

MOST_GAIN = 1e90
"""What a grade can be given at most, as the checks ask of grades themselves."""


def bind(library: Library, tree: exp.Expr, settings: Mapping[str, Value], params: Mapping[str, Param]) -> exp.Expr:
    """Return a copy with functions expanded and ``$parameters`` replaced by their values.

    One that is each cut-off of a range becomes a column of ``EACH``, for which :func:`sqlrank.statement.expand.expand` finds a source.
    """
    return _bound(library, tree.copy(), settings, params)


def _bound(library: Library, tree: exp.Expr, settings: Mapping[str, Value], params: Mapping[str, Param]) -> exp.Expr:
    holder = exp.Paren(this=tree)
    for node in nodes(holder, exp.Placeholder):
        value = settings.get(node.name, params[node.name].default)
        if value == ALL and isinstance(node.parent, (exp.LTE, exp.GT)) and node is node.parent.expression:
            _unbound(node.parent)
        elif value == EACH:
            node.replace(exp.column(CUTOFF, table=EACH))
        else:
            node.replace(literal(value))
    for call in nodes(holder, exp.Anonymous):
        if call.find_ancestor(exp.Anonymous) is None and call.root() is holder:
            call.replace(apply(library, call.name.lower(), call.expressions, settings))
    fold(holder)
    bound: exp.Expr = holder.this
    return bound


def apply(library: Library, slot: str, arguments: list[exp.Expr], settings: Mapping[str, Value]) -> exp.Expr:
    """Return the body of the function that fills a slot, applied to arguments."""
    chosen = settings.get(slot) or library.default_of(slot)
    if isinstance(chosen, tuple):
        return _mapped(slot, chosen, arguments, library.arguments(slot))
    file = library.function(slot, str(chosen))
    body = exp.Paren(this=file.tree.copy())
    values = dict(zip(file.arguments, arguments, strict=True))
    for column in nodes(body, exp.Column):
        if column.name in values and not column.table:
            column.replace(_wrap(values[column.name].copy()))
    return _bound(library, _wrap(body.this), settings, file.params)


def _unbound(comparison: exp.LTE | exp.GT) -> None:
    """Put what is left of ``rank <= all`` in its place: a rank. A WHERE of nothing else goes: engines would guess how many rows it keeps."""
    if isinstance(comparison, exp.GT):
        comparison.replace(exp.false())
    elif isinstance(comparison.parent, exp.Where):
        comparison.parent.pop()
    else:
        comparison.replace(exp.Not(this=exp.Is(this=comparison.this, expression=exp.Null())))


def _mapped(slot: str, pairs: tuple[Any, ...], arguments: list[exp.Expr], named: tuple[str, ...]) -> exp.Expr:
    """Return a CASE that maps grades to gains, or ranks to discounts; a grade that is not named keeps its value, a rank counts 0."""
    if named not in {("relevance",), ("rank",)} or not all(isinstance(pair, tuple) for pair in pairs):
        raise MetricError(f"{slot} cannot be a map; only functions of a grade or a rank can")
    (argument,) = arguments
    is_of_grades = named == ("relevance",)
    if is_of_grades and pairs[0][0] <= 0:
        raise MetricError(f"{slot} maps grade {pairs[0][0]:g}; only grades above 0 can be given a gain")
    if not is_of_grades and ([key for key, _ in pairs] != list(range(1, len(pairs) + 1)) or pairs[0][1] <= 0):
        raise MetricError(
            f"{slot} maps {', '.join(f'{key:g}' for key, _ in pairs)}; name ranks from 1 on, none left out, the first above 0"
        )
    case = exp.Case(ifs=[], default=argument.copy() if is_of_grades else literal(0))
    for key, value in pairs:
        if is_of_grades and abs(value) > MOST_GAIN:
            raise MetricError(f"{slot} gives grade {key:g} {value:g}; give at most {MOST_GAIN:g}, so that sums are numbers")
        case.append("ifs", exp.If(this=exp.EQ(this=argument.copy(), expression=literal(key)), true=literal(value)))
    return case


def literal(value: Value | None) -> exp.Expr:
    """Return a value as SQL: whole numbers without a point."""
    if isinstance(value, str):
        return exp.Literal.string(value)
    if value is None or isinstance(value, tuple):
        raise MetricError(f"a list of values is not possible here: {value!r}")
    number = int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
    found = exp.Literal.number(repr(abs(number)))
    return exp.Neg(this=found) if number < 0 else found


def _wrap(node: exp.Expr) -> exp.Expr:
    return exp.paren(node) if isinstance(node, (exp.Binary, exp.Neg)) else node
