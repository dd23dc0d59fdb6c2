"""Bind parameters: inline functions, replace ``$parameters`` by values, and fold constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.optimizer.constants import fold_constants
from sqlrank.registry.metric import ParameterValue, SymbolicNumber
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN, CUTOFF_PLACEHOLDER
from sqlrank.registry.sql_file import NO_CUTOFF, UNBOUNDED, Parameter
from sqlrank.sql_ast import find_nodes, is_not_null, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.registry.registry import Registry

MAX_GAIN = 1e90
"""Largest gain of a grade.

The row checks set the same limit for grades themselves.
"""


def bind_parameters(
    library: Registry,
    tree: exp.Expr,
    settings: Mapping[str, ParameterValue],
    params: Mapping[str, Parameter],
) -> exp.Expr:
    """Return a copy with functions inlined and ``$parameters`` replaced by their values.

    A symbolic number becomes a parameter of the statement. A cut-off that is read from a column
    becomes a column of the placeholder table ``CUTOFF_PLACEHOLDER``, which
    :func:`sqlrank.compiler.row_keys.expand_keys` resolves.
    """
    return _bind_tree(library, tree.copy(), settings, params)


def _bind_tree(
    library: Registry,
    tree: exp.Expr,
    settings: Mapping[str, ParameterValue],
    params: Mapping[str, Parameter],
) -> exp.Expr:
    holder = exp.Paren(this=tree)
    for node in find_nodes(holder, exp.Placeholder):
        value = settings.get(node.name, params[node.name].default)
        if isinstance(value, SymbolicNumber):
            node.replace(symbolic_parameter(value.name))
        elif (
            value == NO_CUTOFF
            and (series := node.find_ancestor(exp.GenerateSeries))
            and isinstance(series.parent, exp.Anonymous)
        ):
            series.parent.replace(series.parent.expressions[0])
        elif (
            value in {NO_CUTOFF, UNBOUNDED}
            and isinstance(node.parent, (exp.LTE, exp.GT, exp.GTE))
            and node is node.parent.expression
        ):
            _drop_unlimited_comparison(node.parent)
        elif value == CUTOFF_PLACEHOLDER:
            node.replace(exp.column(CUTOFF_COLUMN, table=CUTOFF_PLACEHOLDER))
        elif params[node.name].is_column:
            node.replace(exp.column(str(value)))
        else:
            node.replace(sql_literal(value))
    calls = [
        call for call in find_nodes(holder, exp.Anonymous) if call.name.lower() in library.functions
    ]  # others are of an engine
    for call in calls:
        if call.find_ancestor(exp.Anonymous) is None and call.root() is holder:
            call.replace(inline_function(library, call.name.lower(), call.expressions, settings))
    fold_constants(holder)
    bound: exp.Expr = holder.this
    return bound


def symbolic_parameter(name: str) -> exp.Parameter:
    """Return the reference to a parameter of the statement, which its reader binds."""
    return exp.Parameter(this=exp.var(name))


def inline_function(
    library: Registry, slot: str, arguments: list[exp.Expr], settings: Mapping[str, ParameterValue]
) -> exp.Expr:
    """Return the body of the function that fills a slot, applied to arguments."""
    chosen = settings.get(slot) or library.default_function(slot)
    if isinstance(chosen, tuple):
        return _case_from_map(slot, chosen, arguments, library.function_arguments(slot))
    file = library.find_function(slot, str(chosen))
    body = exp.Paren(this=file.tree.copy())
    values = dict(zip(file.function_arguments, arguments, strict=True))
    for column in find_nodes(body, exp.Column):
        if column.name in values and not column.table:
            column.replace(_parenthesize_operator(values[column.name].copy()))
    return _bind_tree(library, _parenthesize_operator(body.this), settings, file.params)


def _drop_unlimited_comparison(comparison: exp.LTE | exp.GT | exp.GTE) -> None:
    """Simplify ``rank <= all`` to ``rank IS NOT NULL``, and ``rank > all`` and ``rank >= all`` to
    FALSE.

    A WHERE clause that consists of it is removed, because engines would guess a selectivity for it.
    """
    if isinstance(comparison, (exp.GT, exp.GTE)):
        comparison.replace(exp.false())
    elif isinstance(comparison.parent, exp.Where):
        comparison.parent.pop()
    else:
        comparison.replace(is_not_null(comparison.this))


def _case_from_map(
    slot: str, pairs: tuple[Any, ...], arguments: list[exp.Expr], argument_names: tuple[str, ...]
) -> exp.Expr:
    """Return a CASE expression that maps grades to gains, or ranks to discounts.

    Unlisted grades keep their value; unlisted ranks get 0.
    """
    if argument_names not in {("relevance",), ("rank",)} or not all(
        isinstance(pair, tuple) for pair in pairs
    ):
        raise MetricError(f"{slot} cannot be a map. Only functions of a grade or a rank can")
    (argument,) = arguments
    maps_grades = argument_names == ("relevance",)
    if maps_grades and pairs[0][0] <= 0:
        raise MetricError(
            f"{slot} maps grade {pairs[0][0]:g}. Only grades above 0 can be given a gain"
        )
    if not maps_grades and (
        [key for key, _ in pairs] != list(range(1, len(pairs) + 1)) or pairs[0][1] <= 0
    ):
        raise MetricError(
            f"{slot} maps {', '.join(f'{key:g}' for key, _ in pairs)}. Name ranks from 1 on, none"
            " left out, the first above 0"
        )
    case = exp.Case(ifs=[], default=argument.copy() if maps_grades else sql_literal(0))
    for key, value in pairs:
        if maps_grades and abs(value) > MAX_GAIN:
            raise MetricError(
                f"{slot} gives grade {key:g} {value:g}. Give at most {MAX_GAIN:g}, so that sums are"
                " numbers"
            )
        case.append(
            "ifs",
            exp.If(
                this=exp.EQ(this=argument.copy(), expression=sql_literal(key)),
                true=sql_literal(value),
            ),
        )
    return case


def _parenthesize_operator(node: exp.Expr) -> exp.Expr:
    return exp.paren(node) if isinstance(node, (exp.Binary, exp.Neg)) else node
