"""Find the units and groups of a gate whose values got worse most, for its summaries."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.resolve import resolve_request
from sqlrank.comparison.paired_differences import MAX_CELLS_PER_GROUPING
from sqlrank.errors import SqlrankError
from sqlrank.inputs.column_binding import bind_inputs
from sqlrank.inputs.filters import filter_inputs
from sqlrank.registry.query_templates import load_select
from sqlrank.result_columns import REGRESSIONS_KEY
from sqlrank.sql_ast import find_nodes, quoted_column, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sqlrank.comparison.comparison_plan import ComparisonPlan
    from sqlrank.comparison.paired_differences import DifferenceSummary, PairedUnits
    from sqlrank.engines.database import Database
    from sqlrank.engines.open_database import ExecutionOptions

MAX_REGRESSIONS = 10
"""Groups of a metric that are listed; ``comparison/regressions.sql`` lists as many units."""


def find_regressions(
    units: PairedUnits, comparison: ComparisonPlan, summaries: Sequence[DifferenceSummary]
) -> dict[str, str]:
    """Return the metadata with the units and groups of each metric that got worse, those that lost
    most first, empty without any.

    A row has ``metric``, ``kind`` (``queries`` or ``groups``), ``name``, ``baseline``,
    ``candidate`` and ``difference``.
    """
    rows: list[dict[str, Any]] = []
    for index, (measure, metric) in enumerate(zip(units.measures, comparison.metrics, strict=True)):
        sign = {"higher": 1, "lower": -1}.get(measure.direction, 0)
        query = load_select("analyses/comparison", "regressions.sql")
        bound: Any = exp.replace_placeholders(
            query, metric=index, sign=sign, cells=MAX_CELLS_PER_GROUPING
        )
        regressions = (
            [] if measure.uses_influence else [("queries", *row) for row in units.fetch_rows(bound)]
        )
        groups = [
            summary
            for summary in summaries
            if summary.metric == index and units.cells[summary.cell]
        ]
        worse = [
            summary
            for summary in groups
            if summary.difference is not None and sign * summary.difference < 0
        ]
        for summary in sorted(worse, key=lambda summary: sign * (summary.difference or 0))[
            :MAX_REGRESSIONS
        ]:
            label = ", ".join(
                f"{name}={value}" for name, value in units.cells[summary.cell].items()
            )
            regressions.append(("groups", label, summary.value_baseline, summary.value))
        name = (*metric.column_names, str(metric.metric))[0]
        rows += [
            {
                "metric": name,
                "kind": kind,
                "name": unit,
                "baseline": first,
                "candidate": second,
                "difference": second - first,
            }
            for kind, unit, first, second in regressions
        ]
    return {REGRESSIONS_KEY: json.dumps(rows)} if rows else {}


def add_documents(
    result: pa.Table, comparison: ComparisonPlan, options: ExecutionOptions, systems: Sequence[str]
) -> pa.Table:
    """Return a gate whose regressed queries have the ids of the first documents of both systems,
    for runs with scores that DuckDB reads.
    """
    metadata = dict(result.schema.metadata or {})
    rows: list[dict[str, Any]] = json.loads(metadata.get(REGRESSIONS_KEY.encode(), b"[]"))
    queries = {row["name"] for row in rows if row["kind"] == "queries"}
    if not queries or options.connection is not None or "run" not in comparison.call.sources:
        return result

    def read_documents(database: Database) -> list[tuple[str, str, str]]:
        inputs = filter_inputs(bind_inputs(resolve_request(comparison.call_by(())), database))
        run = inputs.by_role["run"]
        if "score" not in run.columns:
            return []
        ids = [sql_literal(query) for query in sorted(queries)]
        run = run.with_filter(
            exp.In(this=exp.cast(run.raw_expression("query_id"), "TEXT"), expressions=ids)
        )
        keys = [quoted_column(name) for name in run.group_names]
        query = load_select("analyses/comparison", "first_documents.sql")
        ranked = query.args["from_"].this.this
        ranked.args["from_"].set(
            "this", run.select_columns(("query_id", "doc_id", "score")).subquery("run")
        )
        for window in find_nodes(ranked, exp.Window):
            window.set("partition_by", [*keys, *window.args["partition_by"]])
        ranked.select(*keys, copy=False)
        return database.query_rows(query.select(*keys))

    documents: dict[tuple[str, str], list[str]] = {}
    with suppress(SqlrankError):  # a summary is no reason to fail
        for query_id, doc_id, *system in options.run(read_documents):
            documents.setdefault((query_id, str(system[0]) if system else systems[-1]), []).append(
                doc_id
            )
    for row in rows if documents else ():
        if row["kind"] == "queries":
            row["documents"] = [documents.get((row["name"], system), []) for system in systems]
    metadata[REGRESSIONS_KEY.encode()] = json.dumps(rows).encode()
    return result.replace_schema_metadata(metadata)
