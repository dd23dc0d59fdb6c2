"""Write the header of a request's statement: its inputs, the settings that decide its numbers, and
its command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.call_descriptions import call_settings, describe_sources, request_command
from sqlrank.inputs.bound_input import find_time_zone
from sqlrank.planner.planner import plan_summary
from sqlrank.registry.metric_resolver import load_compat_mode
from sqlrank.rendering.renderer import StatementHeader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlrank.inputs.column_binding import BoundInputs
    from sqlrank.resolve import ResolvedRequest


def request_header(
    request: ResolvedRequest, inputs: BoundInputs, plans: Mapping[str, Any], notes: Sequence[str]
) -> StatementHeader:
    """Return the header of a request's statement."""
    call = request.original
    requested_names = [*request.differences] or [
        name for metric in request.metrics for name in metric.requested_names
    ]
    command = (
        None
        if call.command is None
        else request_command(call.command, requested_names, call, inputs.database.dialect)
    )
    return StatementHeader(
        ", ".join(request.differences or [str(metric.metric) for metric in request.metrics]),
        reads=tuple(describe_sources(_read_sources(request))),
        settings=tuple(_iterate_settings(request, inputs)),
        time_zone=find_time_zone(inputs.by_role.values(), inputs.database),
        plan=plan_summary(request, plans),
        notes=tuple(notes),
        command=command,
    )


def _read_sources(request: ResolvedRequest) -> dict[str, Any]:
    """Return the sources that the statement reads: rankings that are derived from predictions are
    these.
    """
    sources = {role: source for role, source in request.sources.items() if source is not None}
    if not request.rankings_from_predictions:
        return sources
    predictions = sources.get("predictions", sources.get("run"))
    return {"predictions": predictions} | {
        role: source
        for role, source in sources.items()
        if role not in {"run", "qrels", "predictions"}
    }


def _iterate_settings(request: ResolvedRequest, inputs: BoundInputs) -> Iterator[str]:
    """Yield the settings that decide numbers and are not the defaults."""
    call = request.original
    if call.compat is not None:
        implied = ", ".join(_compat_settings(request))
        yield f"compat={call.compat} ({implied})" if implied else f"compat={call.compat}"
    queries = call.sources.get("queries")
    yield from (
        [f"queries={queries}"]
        if isinstance(queries, str) and queries in request.library.allowed_values("queries")
        else []
    )
    role = request.base_role if request.base_role is not None else "queries"
    if "weight" in inputs.needed_columns.get(role, ()) and "weight" in inputs.by_role[role].columns:
        yield f"weight={inputs.by_role[role].columns['weight']}"
    yield from (f"{name}={expression}" for name, expression in request.group_expressions.items())
    yield from [f"across={', '.join(request.across)}"] if request.across else []
    yield from call_settings(call)
    if (confidence := request.confidence) is not None:
        yield f"confidence={confidence.level:g}"
        yield from [f"interval={confidence.method}"] if confidence.method != "auto" else []
        yield from [f"unit={confidence.unit}"] if confidence.unit is not None else []
        yield from (
            [f"replicates={confidence.replicates}", f"seed={confidence.seed}"]
            if confidence.is_bootstrap
            else []
        )


def _compat_settings(request: ResolvedRequest) -> list[str]:
    """Return the settings of a compatibility mode for these metrics."""
    mode = load_compat_mode(request.original.compat, request.library)
    policy_names = request.original.policies.keys()
    read = {
        name for metric in request.metrics for name in metric.settings
    } | request.shared_policies.keys()
    settings = [
        f"{name}={value}"
        for name, value in mode.get("defaults", {}).items()
        if name in read and name not in policy_names
    ]
    for metric in request.metrics:
        settings += [
            f"{name}={value} of {metric.metric.name}"
            for name, value in mode.get("metrics", {}).get(metric.metric.name, {}).items()
            if metric.settings.get(name) == value
        ]
    return list(dict.fromkeys(settings))
