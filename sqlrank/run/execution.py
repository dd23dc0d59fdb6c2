"""Execute requests: prepare and run the statement, verify its audit columns, and describe the
result in its schema metadata.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.call.resolve import ResolvedRequest, resolve_request
from sqlrank.call.sources import count_rows_in_memory
from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.compiler.statement import result_keys
from sqlrank.engines.database import TimeRangeError
from sqlrank.errors import ExecutionError
from sqlrank.inputs import cross_input_checks, row_checks
from sqlrank.inputs.class_names import check_for_classes
from sqlrank.inputs.filters import explain_failed_cast
from sqlrank.registry.resolved_metric import metric_fingerprints
from sqlrank.registry.roles import UNIT_COLUMN
from sqlrank.result_columns import EXTREME_VALUES, N_UNITS, extreme_column
from sqlrank.result_metadata import (
    NO_RELEVANT_KEY,
    ROW_COUNTS_KEY,
    ROW_UNIT,
    UNIT_KEY,
    LeftOut,
    group_texts,
    left_out_metadata,
    metrics_metadata,
)
from sqlrank.run.left_out import find_left_out
from sqlrank.run.left_out_columns import AUDIT_ALL_ROWS
from sqlrank.run.prepare import (
    AUDIT_INVALID_ROWS,
    PreparedStatement,
    prepare_statement,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlrank.call.request import Request
    from sqlrank.compiler.statement import CompiledStatement
    from sqlrank.engines.database import Database
    from sqlrank.engines.open_database import ExecutionOptions
    from sqlrank.inputs.bound_input import BoundInputs
    from sqlrank.inputs.row_checks import CheckMode, ValidationReport

BINARY_LABELS = "binary labels"
"""Row check of metrics whose labels are 0 and 1."""

ZERO_WEIGHTS_KEY = "sqlrank.zero_weights"
"""Key in the metadata of unit values if rows have weight 0; these are no units."""

ROWS_OF_ONE_UNIT = ("predictions", "classified")
"""Roles whose rows are units if no column has them."""

MAX_ROWS_COUNTED, MAX_GROUPS_COUNTED = 20_000, 1000
"""Maximum rows and groups of a result with row counts per group in its metadata."""

_ARROW_TYPES = {
    "by": None,
    "slice": None,
    "query": None,
    "unit": None,
    "id": None,
    "name": None,
    "label": None,
    "count": pa.int64(),
    "cutoff": pa.int32(),
    "point": pa.int64(),
    N_UNITS: pa.int64(),
}
"""Arrow types of result columns by kind, None for input columns; all others are float64."""


def execute_request(call: Request, options: ExecutionOptions) -> pa.Table:
    """Execute a request on its connection."""
    return run_resolved(resolve_request(call), options)


def run_resolved(request: ResolvedRequest, options: ExecutionOptions) -> pa.Table:
    """Execute a resolved request on a connection."""
    confidence = request.confidence
    if not request.assembled_roles and (confidence is None or not confidence.is_bootstrap):
        counts = [*map(count_rows_in_memory, request.sources.values())]
        options = options.with_threads_for(None if None in counts else sum(filter(None, counts)))
    return options.run(lambda database: execute_resolved(request, database, options.check))


def execute_resolved(
    request: ResolvedRequest,
    database: Database,
    check: CheckMode,
    transform: Callable[[CompiledStatement], CompiledStatement] = lambda statement: statement,
    inputs: BoundInputs | None = None,
) -> pa.Table:
    """Execute a resolved request.

    ``transform`` changes the compiled statement before it runs; ``inputs`` are given if they are
    bound already.
    """
    prepared = prepare_statement(request, database, check, inputs=inputs)
    prepared = replace(prepared, statement=transform(prepared.statement))
    try:
        result = _fetch_result(prepared)
    except ExecutionError as error:
        with suppress(ExecutionError):  # the original error takes precedence
            if database.is_data_error(error):
                _explain_invalid_rows(prepared)
        explain_failed_cast(prepared.inputs, error)
        raise
    metadata = _schema_metadata(prepared)
    if prepared.is_audited:
        metadata |= _group_row_counts(prepared, result)
        audited = result
        result = _verify_audit_columns(prepared, result)
        metadata |= left_out_metadata(_find_left_out(prepared, audited))
    return result.replace_schema_metadata(metadata)


def _find_left_out(prepared: PreparedStatement, audited: pa.Table) -> list[LeftOut]:
    """Return the units that policies left out of a result with audit columns, or filled."""
    inputs = prepared.inputs

    def evaluate(counts: ResolvedRequest) -> pa.Table:
        counted = replace(counts, only_queries=())  # the inputs are filtered already
        return execute_resolved(
            counted, inputs.database, "off", inputs=replace(inputs, request=counted, condition=None)
        )

    return find_left_out(inputs, prepared.statement, audited, evaluate, prepared.report)


def _fetch_result(prepared: PreparedStatement) -> pa.Table:
    outputs, database = prepared.statement.outputs, prepared.inputs.database
    types = {output.name: _ARROW_TYPES.get(output.kind, pa.float64()) for output in outputs}
    confidence = prepared.request.confidence
    has_units = (
        confidence is not None and confidence.per_unit
    )  # rows with several scores are units without a key
    try:
        return (database.fetch_result if has_units or result_keys(outputs) else database.fetch_row)(
            prepared.rendered.executable, types
        )
    except TimeRangeError as error:
        raise TimeRangeError(
            error.column, f"Read it as a text with {_read_as_text(prepared.inputs, error.column)}"
        ) from None


def _read_as_text(inputs: BoundInputs, column: str) -> str:
    """Return the argument of a call by which a column of its result is a text."""
    request, render = inputs.request, inputs.database.render
    group = next(
        (
            name
            for name in request.group_by
            if column
            in {
                label := request.group_labels[name],
                *(extreme_column(label, side) for side in EXTREME_VALUES),
            }
        ),
        None,
    )
    if (
        column == UNIT_COLUMN
        and request.confidence is not None
        and request.confidence.unit is not None
    ):
        return f"unit={f'CAST({request.confidence.unit} AS VARCHAR)'!r}"
    if group is None:
        text = request.column_mapping.get(column, render(exp.to_identifier(column)))
        return f"columns={{{column!r}: {f'CAST({text} AS VARCHAR)'!r}}}"
    text = request.group_expressions.get(group, render(exp.to_identifier(group)))
    argument = "across" if group in request.across else "by"
    name = group if group.isidentifier() else f"{argument}_text"
    return f"{argument}={f'{name}=CAST({text} AS VARCHAR)'!r}"


def _schema_metadata(prepared: PreparedStatement) -> dict[str, str]:
    columns = {
        output.name: output.kind for output in prepared.statement.outputs if output.kind != "audit"
    }
    result_metadata = metrics_metadata(
        columns,
        prepared.request.metrics,
        prepared.request.library,
        requested_names=prepared.request.requested_names,
    )
    if prepared.request.across:
        result_metadata = replace(result_metadata, result="group_differences")
    metadata = {
        "sqlrank.version": __version__,
        "sqlrank.sql": prepared.rendered.text,
        **result_metadata.to_schema_metadata(),
    }
    if prepared.request.is_ranking:
        metadata["sqlrank.duplicates_searched"] = (
            "none" if prepared.request.deduplicates else _duplicate_search_scope(prepared)
        )
    if (
        prepared.report is not None
        and prepared.report.top_grade is not None
        and not prepared.report.positive
    ):
        metadata[NO_RELEVANT_KEY] = "true"
    if prepared.request.base_role is not None:
        metadata["sqlrank.score_order"] = str(prepared.plans.get("score_order", "none"))
    if prepared.request.per_query:
        metadata["sqlrank.metrics"] = json.dumps(
            metric_fingerprints(prepared.request.metrics, prepared.request.library)
        )
    if (confidence := prepared.request.confidence) is not None:
        metadata |= {
            "sqlrank.confidence": f"{confidence.level:g}",
            "sqlrank.interval": confidence.method,
        }
        metadata |= (
            {"sqlrank.replicates": str(confidence.replicates), "sqlrank.seed": str(confidence.seed)}
            if confidence.is_bootstrap
            else {}
        )
        unit = _find_unit(prepared.inputs)
        metadata |= {} if unit is None else {UNIT_KEY: unit}
        metadata |= (
            {ZERO_WEIGHTS_KEY: "true"}
            if confidence.per_unit and _has_zero_weights(prepared.inputs)
            else {}
        )
    return metadata


def _find_unit(inputs: BoundInputs) -> str | None:
    """Return the column of the units of all metrics, ``ROW_UNIT`` for rows, None if it has no name
    or metrics have several.
    """
    confidence = inputs.request.confidence
    if inputs.rows_are_units or confidence is None:
        return ROW_UNIT
    if confidence.unit is not None:
        return confidence.unit
    are_lists = {
        metric.input_role == "run" or metric.is_per_list or metric.compares_within_queries
        for metric in inputs.request.metrics
    }
    if inputs.base is None:
        return QUERY_ID if are_lists == {True} else None
    role = inputs.base.role
    if confidence.per_unit or (inputs.has_units and are_lists == {False}):
        return _find_list_unit(inputs)
    if are_lists == {False}:
        return ROW_UNIT if role.name in ROWS_OF_ONE_UNIT else None
    return role.query_column if are_lists == {True} else None


def _find_list_unit(inputs: BoundInputs) -> str | None:
    """Return the column of lists if they are the units, since no other column is mapped."""
    base = inputs.base
    if base is None:
        return None
    role = base.role
    unit, lists = (base.columns.get(name or "") for name in (role.unit_column, role.query_column))
    return None if unit is None or unit is not lists else role.query_column


def _has_zero_weights(inputs: BoundInputs) -> bool:
    """Return True if rows have weight 0, so that a group may have no units."""
    if inputs.base is None or "weight" not in inputs.base.columns:
        return False
    lowest = row_checks.select_over_input(
        exp.select(exp.Min(this=exp.column("weight"))), inputs.base, ("weight",)
    )
    return bool(inputs.database.query_rows(lowest)[0][0] == 0)


def _group_row_counts(prepared: PreparedStatement, result: pa.Table) -> dict[str, str]:
    """Return the input row counts per group as metadata.

    Empty for values per list, and for very many groups.
    """
    if (
        AUDIT_ALL_ROWS not in result.column_names
        or prepared.request.has_no_group_rows
        or result.num_rows > MAX_ROWS_COUNTED
    ):
        return {}
    keys = [output.name for output in prepared.statement.outputs if output.kind in {"by", "slice"}]
    row_counts = {
        tuple(group_texts(row, keys)): int(row[AUDIT_ALL_ROWS] or 0)
        for row in result.select([*keys, AUDIT_ALL_ROWS]).to_pylist()
    }
    return (
        {ROW_COUNTS_KEY: json.dumps([[*key, count] for key, count in row_counts.items()])}
        if len(row_counts) <= MAX_GROUPS_COUNTED
        else {}
    )


def _duplicate_search_scope(prepared: PreparedStatement) -> str:
    report = prepared.report
    if report is None or report.all_rows:
        return "none" if report is None else "all rows"
    first = (
        f" that can be among the first {prepared.plans['num_ranked']}"
        if prepared.plans["rank_method"] == "top_k"
        else ""
    )
    return f"rows of documents of positive relevance{first}"


def _explain_invalid_rows(prepared: PreparedStatement) -> None:
    """Check the rows of the evaluated input, and raise ``InputError`` with every problem."""
    inputs = prepared.inputs
    base_input = inputs.base or inputs.by_role.get("run")
    if (
        base_input is None
        or base_input.role.name not in inputs.needed_columns
        or not prepared.is_audited
    ):
        return
    if BINARY_LABELS in prepared.request.required_row_checks and not inputs.scores:
        check_for_classes(base_input, prepared.request)
    for view in inputs.per_score():
        row_checks.validate_rows(
            view.by_role[base_input.role.name],
            view.needed_columns[base_input.role.name],
            prepared.request.required_row_checks,
        )


def _verify_audit_columns(prepared: PreparedStatement, result: pa.Table) -> pa.Table:
    """Verify the audit columns of a result, and return it without them."""
    counts = {
        name: _sum_counts(result[name])
        for name in (AUDIT_INVALID_ROWS, AUDIT_ALL_ROWS)
        if name in result.column_names
    }
    # An input without rows is invalid, too.
    if counts.get(AUDIT_INVALID_ROWS, 0) != 0 or counts.get(AUDIT_ALL_ROWS, 1) == 0:
        _explain_invalid_rows(prepared)
    if prepared.report is not None and "audit_docs" in result.column_names:
        _verify_ranking_join(prepared, prepared.report, result)
    return result.drop_columns(
        [output.name for output in prepared.statement.outputs if output.kind == "audit"]
    )


def _sum_counts(column: pa.ChunkedArray) -> int | None:
    """Return the sum of a count column, None if it has no values."""
    if len(column) > MAX_ROWS_COUNTED:
        import pyarrow.compute as pc  # its import takes longer than a small evaluation

        return int(total) if (total := pc.sum(column).as_py()) is not None else None
    counts = [int(count) for count in column.to_pylist() if count is not None]
    return sum(counts) if counts else None


def _count_groups(result: pa.Table, keys: list[str]) -> int:
    """Count the distinct values of some columns together."""
    if result.num_rows > MAX_ROWS_COUNTED:
        return int(
            result.group_by(keys).aggregate([]).num_rows
        )  # imports Acero, and pandas with it
    return len({tuple(group_texts(row, keys)) for row in result.select(keys).to_pylist()})


def _verify_ranking_join(
    prepared: PreparedStatement, report: ValidationReport, result: pa.Table
) -> None:
    request, inputs = prepared.request, prepared.inputs.by_role
    docs, retrieved = (_sum_counts(result[name]) or 0 for name in ("audit_docs", "audit_retrieved"))
    by = prepared.inputs.group_names
    is_system = not set(by) & set(inputs["qrels"].group_names) and set(by) <= set(
        inputs["run"].group_names
    )
    is_judged = (
        request.shared_policies.get("queries", "judged") in {"judged", "strict"}
        and request.grouping_sets is None
    )
    keys = [output.name for output in prepared.statement.outputs if output.kind == "by"]
    systems = (
        1 if not by else _count_groups(result, keys) if is_system and not request.across else None
    )
    is_joined = (
        prepared.plans["rank_method"] != "array"
    )  # an array lookup finds a document once, even if the list contains duplicates
    expected = (
        report.positive * systems if is_judged and is_joined and systems is not None else None
    )
    cross_input_checks.check_ranking_join(inputs, report, (docs, retrieved), expected)
