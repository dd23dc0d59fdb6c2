"""Recognize metrics that are aggregates of the columns of one input, and build the expressions of their aggregate functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.parameter_binding import bind_parameters, symbolic_parameter
from sqlrank.compiler.select_builders import cast_double, null_if_not_finite
from sqlrank.resolve import resolve_request
from sqlrank.routines.symbolic_statement import RoutineParameter, free_parameters, with_symbolic_parameters
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.resolve import ResolvedRequest
    from sqlrank.routines.symbolic_statement import InstallationOptions, SymbolicMetric


def is_aggregate(metric: SymbolicMetric, roles: Sequence[str], options: InstallationOptions) -> bool:
    """Return True if a metric reads columns of one input itself, at least one of them."""
    if metric.file.kind != "metrics" or metric.file.grain != "group" or list(roles) != [metric.file.source_relation]:
        return False
    names = {column.name for column in find_nodes(metric.file.tree.selects[-1], exp.Column)}
    return bool(names) and names <= options.library.roles[roles[0]].columns.keys()


def build_aggregate(
    metric: SymbolicMetric, role: str, options: InstallationOptions
) -> tuple[exp.Expr, list[RoutineParameter], ResolvedRequest]:
    """Return the expression of a metric over columns, which are columns of its role, with symbolic parameters for parameters, and all of these."""
    request = resolve_request(options.build_request([str(metric.metric)], [role]))
    resolved = with_symbolic_parameters(request.metrics[0], metric)
    request = replace(request, metrics=[resolved])
    library, file = options.library, metric.file
    value = bind_parameters(library, file.tree.selects[-1].unalias(), resolved.settings, file.params)
    specs = options.library.roles[role].columns
    read = {column.name for column in find_nodes(value, exp.Column)}
    columns = [RoutineParameter(name, spec.default, spec.description) for name, spec in specs.items() if name in read]
    for column in find_nodes(value, exp.Column):
        if specs[column.name].is_number:
            column.replace(cast_double(symbolic_parameter(column.name)))
        else:
            column.replace(symbolic_parameter(column.name))
    if library.may_be_infinite(file, resolved.dependencies.files):
        value = null_if_not_finite(value)
    if file.is_always_defined:
        value = exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])
    return cast_double(value), [*columns, *free_parameters(metric, resolved)], request
