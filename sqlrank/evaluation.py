"""From the inputs to the result: what is checked before, the statement, and what is checked in what it returns."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import duckdb

from sqlrank import checks, consistency
from sqlrank._version import __version__
from sqlrank.connections import as_from_duckdb
from sqlrank.errors import ExecutionError
from sqlrank.filters import filters, keep
from sqlrank.mapping import map_columns, statement_over
from sqlrank.predictions import check_negatives, check_predictions, over_predictions, read_predictions
from sqlrank.ranking import with_ranking
from sqlrank.render import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from sqlrank.inputs import Inputs
    from sqlrank.request import Request
    from sqlrank.statement import Statement


def evaluated(
    request: Request,
    given: Mapping[str, Any],
    columns: Mapping[str, Any],
    where: str | None,
    per_query: bool,
    check: checks.Check,
    inputs: Inputs,
) -> pa.Table:
    """Return the result over sources that are resolved on the database of the inputs."""
    for role, source in given.items():
        inputs.add(role, source)
    keep(inputs.found, filters(where, given, inputs.database.dialect, inputs.found))
    if request.is_of_predictions:
        return _evaluate_predictions(inputs, request, columns, per_query, check)
    needed = map_columns(inputs, request, columns)
    report = None if check == "off" else _check_inputs(inputs, request, needed, check)
    request = with_ranking(request, inputs, None if report is None else report.rows)
    statement = statement_over(request, inputs, needed, per_query, audited=report is not None)
    text = render(statement, inputs.database.dialect, inputs.database.keeps)
    result = _run(inputs, statement, text)
    if report is not None:
        result = _check_result(inputs, request, report, result)
    searched = "none" if report is None else "all rows" if report.all_rows else "rows of documents of positive relevance"
    metadata = {"sqlrank.version": __version__, "sqlrank.sql": text, "sqlrank.duplicates_searched": searched}
    return result.replace_schema_metadata(metadata)


def _evaluate_predictions(inputs: Inputs, request: Request, columns: Mapping[str, Any], per_query: bool, check: checks.Check) -> pa.Table:
    is_audited = check != "off"
    found = read_predictions(inputs, request, columns, per_query)
    if is_audited and "rank" in found.needed:
        checks.check_row_order(inputs.database, inputs.found["predictions"])
    if is_audited:
        check_negatives(inputs.database, request, found, per_query)
    dialect = inputs.database.dialect
    statement, strategy = over_predictions(request, found, per_query, dialect, inputs.database, is_audited)
    text = render(statement, dialect, inputs.database.keeps)
    try:
        result = _run(inputs, statement, text)
    except (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException, ExecutionError):
        with suppress(ExecutionError):  # the first error is the one to see
            check_predictions(inputs, request, found, columns)
        raise
    if is_audited:
        if any(result["audit_broken"].to_pylist()):
            check_predictions(inputs, request, found, columns)
        result = result.drop_columns(["audit_broken"])
    return result.replace_schema_metadata({"sqlrank.version": __version__, "sqlrank.sql": text, "sqlrank.strategy": strategy})


def _run(inputs: Inputs, statement: Statement, text: str) -> pa.Table:
    result = inputs.database.table(text)
    return result.rename_columns(statement.names) if inputs.database.dialect == "duckdb" else as_from_duckdb(result, statement)


def _check_inputs(inputs: Inputs, request: Request, needed: Mapping[str, tuple[str, ...]], check: checks.Check) -> checks.Report:
    """Check what can be checked before the statement runs."""
    database, found = inputs.database, inputs.found
    report = checks.check_rows(database, found, needed, check)
    policy = request.settings.get("queries", "truth")
    consistency.check_weights(database, found, "run" if policy in {"run", "intersect"} else "qrels")
    if request.settings.get("queries") == "strict":
        consistency.check_strict(database, found)
    if request.uses("ties", "error"):
        consistency.check_ties(database, found["run"])
    consistency.check_stops(database, request.library, request.asked, report.top_grade)
    return report


def _check_result(inputs: Inputs, request: Request, report: checks.Report, result: pa.Table) -> pa.Table:
    """Check what the statement found on the way; return the result without those columns."""
    docs, retrieved = (sum(value or 0 for value in result[name].to_pylist()) for name in ("audit_docs", "audit_retrieved"))
    by = set(request.by)
    is_system = not by & set(inputs.found["qrels"].by) and by <= set(inputs.found["run"].by)
    is_truth = request.settings.get("queries", "truth") in {"truth", "strict"} and request.sets is None
    systems = 1 if not by else result.group_by(list(request.by)).aggregate([]).num_rows if is_system else None
    expected = report.positive * systems if is_truth and systems is not None else None
    consistency.check_result(inputs.database, inputs.found, report, (docs, retrieved), expected)
    return result.drop_columns(["audit_docs", "audit_retrieved"])
