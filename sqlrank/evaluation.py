"""A call is evaluated: its statement is prepared and run, and what it found on the way is checked."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.engines import remote
from sqlrank.engines.connections import as_from_duckdb
from sqlrank.engines.looking import done_on
from sqlrank.errors import ExecutionError
from sqlrank.inputs import checks, together
from sqlrank.library.definitions import definitions
from sqlrank.library.told import ROWS, texts_of, told
from sqlrank.plans.choice import check_plan
from sqlrank.prepare import AUDIT_BROKEN, AUDIT_ROWS, prepare, requirements
from sqlrank.question import look_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlrank.call import Call
    from sqlrank.engines.database import Database
    from sqlrank.engines.duckdb import Limits
    from sqlrank.inputs.checks import Check, Report
    from sqlrank.prepare import Prepared
    from sqlrank.question import Question
    from sqlrank.statement.statement import Statement

BY_ROWS = "row"
"""What is said to be a unit where rows of several scores are."""

MOST_ROWS, MOST_GROUPS = 20_000, 1000
"""Rows and groups of a result up to which its metadata say how many rows of the input each group has."""

_TYPES = {
    "by": None,
    "slice": None,
    "query": None,
    "unit": None,
    "id": None,
    "cutoff": pa.int32(),
    "point": pa.int64(),
    "units": pa.int64(),
}
"""The types of columns of a result by their kind, None for those of the inputs; all others are doubles."""


def answer(
    call: Call, connection: Any, dialect: str | None, limits: Limits, check: Check, progress: Callable[[float], None] | None = None
) -> pa.Table:
    """Return the result of a call, where its connection is; ``progress`` is called with the percentage done."""
    dialect = remote.spoken_by(connection, dialect)
    question = look_up(call)
    check_plan(question, dialect)
    return done_on(connection, dialect, limits, lambda database: evaluated(question, database, check), progress)


def evaluated(
    question: Question, database: Database, check: Check, made: Callable[[Statement], Statement] = lambda statement: statement
) -> pa.Table:
    """Return the result of a question over sources of a database, by what is ``made`` of its statement."""
    prepared = prepare(question, database, check)
    prepared = replace(prepared, statement=made(prepared.statement))
    try:
        result = _run(prepared)
    except (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException, ExecutionError):
        with suppress(ExecutionError):  # the first error is the one to see
            _check_values(prepared)
        raise
    metadata = _metadata(prepared)
    if prepared.is_audited:
        metadata |= _counted(prepared, result)
        result = _verified(prepared, result)
    return result.replace_schema_metadata(metadata)


def _run(prepared: Prepared) -> pa.Table:
    database = prepared.columns.database
    result = database.table(prepared.text(is_run=True))
    outputs = prepared.statement.outputs
    if database.dialect == "duckdb":
        return result.rename_columns([output.name for output in outputs])
    return as_from_duckdb(result, {output.name: _TYPES.get(output.kind, pa.float64()) for output in outputs})


def _metadata(prepared: Prepared) -> dict[str, str]:
    columns = {output.name: output.kind for output in prepared.statement.outputs if output.kind != "audit"}
    said = told(columns, prepared.question.asked, prepared.question.library)
    found = {"sqlrank.version": __version__, "sqlrank.sql": prepared.text(), **said.metadata()}
    if prepared.question.is_ranking:
        found["sqlrank.duplicates_searched"] = "none" if prepared.question.keeps_one else _searched(prepared)
    if prepared.question.base is not None:
        found["sqlrank.strategy"] = str(prepared.plans.get("order", "none"))
    if prepared.question.call.per_query:
        found["sqlrank.metrics"] = json.dumps(definitions(prepared.question.asked, prepared.question.library))
    if (confidence := prepared.question.confidence) is not None:
        found |= {"sqlrank.confidence": f"{confidence.level:g}", "sqlrank.interval": confidence.interval}
        found |= {"sqlrank.replicates": str(confidence.replicates), "sqlrank.seed": str(confidence.seed)} if confidence.is_drawn else {}
        unit = BY_ROWS if prepared.columns.rows_are_units else confidence.unit
        found |= {} if unit is None else {"sqlrank.unit": unit}
    return found


def _counted(prepared: Prepared, result: pa.Table) -> dict[str, str]:
    """Return what is said of how many rows each group has: by the texts of what tells groups apart; nothing of lists, and of very many."""
    if AUDIT_ROWS not in result.column_names or prepared.question.call.per_query or result.num_rows > MOST_ROWS:
        return {}
    keys = [output.name for output in prepared.statement.outputs if output.kind in {"by", "slice"}]
    found = {tuple(texts_of(row, keys)): int(row[AUDIT_ROWS] or 0) for row in result.select([*keys, AUDIT_ROWS]).to_pylist()}
    return {ROWS: json.dumps([[*key, count] for key, count in found.items()])} if len(found) <= MOST_GROUPS else {}


def _searched(prepared: Prepared) -> str:
    report = prepared.report
    if report is None or report.all_rows:
        return "none" if report is None else "all rows"
    first = f" that can be among the first {prepared.plans['top']}" if prepared.plans["ranking"] == "top" else ""
    return f"rows of documents of positive relevance{first}"


def _check_values(prepared: Prepared) -> None:
    """Raise ``InputError`` with every problem in the rows of what is evaluated."""
    columns = prepared.columns
    base = columns.base
    if base is None or base.role.name not in columns.needed or not prepared.is_audited:
        return
    for _ in columns.each_score():
        checks.check_values(columns.database, base, columns.needed[base.role.name], requirements(prepared.question))


def _verified(prepared: Prepared, result: pa.Table) -> pa.Table:
    """Check what the statement found on the way; return the result without those columns."""
    # No count at all is one of no rows.
    if AUDIT_BROKEN in result.column_names and _sum(result[AUDIT_BROKEN]) != 0:
        _check_values(prepared)
    if prepared.report is not None and "audit_docs" in result.column_names:
        _check_rankings(prepared, prepared.report, result)
    return result.drop_columns([output.name for output in prepared.statement.outputs if output.kind == "audit"])


def _sum(column: pa.ChunkedArray) -> int | None:
    """Return the sum of counts of rows of the result, None without any."""
    if len(column) > MOST_ROWS:
        import pyarrow.compute as pc  # noqa: PLC0415  takes longer than a small evaluation's statement

        return int(found) if (found := pc.sum(column).as_py()) is not None else None
    counts = [int(count) for count in column.to_pylist() if count is not None]
    return sum(counts) if counts else None


def _check_rankings(prepared: Prepared, report: Report, result: pa.Table) -> None:
    question, inputs = prepared.question, prepared.columns.inputs
    docs, retrieved = (_sum(result[name]) or 0 for name in ("audit_docs", "audit_retrieved"))
    by = prepared.columns.by
    is_system = not set(by) & set(inputs["qrels"].by) and set(by) <= set(inputs["run"].by)
    is_truth = question.settings.get("queries", "truth") in {"truth", "strict"} and question.sets is None
    keys = [output.name for output in prepared.statement.outputs if output.kind == "by"]
    systems = 1 if not by else result.group_by(keys).aggregate([]).num_rows if is_system else None
    is_joined = prepared.plans["ranking"] != "listed"  # in an array a document is found once, however often it stands there
    expected = report.positive * systems if is_truth and is_joined and systems is not None else None
    together.check_result(prepared.columns.database, inputs, report, (docs, retrieved), expected)
