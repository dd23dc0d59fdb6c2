"""Build the dbt microbatch model of a rollup: one batch per day, rebuilt for late rows."""

from __future__ import annotations

import dataclasses
from datetime import date
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.argument_checks import entry_point
from sqlrank.engines.database import NamesOnlyDatabase
from sqlrank.errors import InputError, join_words, short_repr
from sqlrank.output.dbt import APPENDS_COLUMNS, DbtModel, check_name, dbt_relation, model_text, schema_yaml
from sqlrank.output.table_writes import resolve_group_column, without_order
from sqlrank.prepare import prepare_statement
from sqlrank.rendering.dialects import get_dialect
from sqlrank.request import Request, collect_sources
from sqlrank.rollups.binning import DEFAULT_BINS, JackknifeBuckets, ScoreBinning
from sqlrank.rollups.build import add_definition_column, resolve_rollup_request
from sqlrank.rollups.writer import Batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.registry.metric import Metric

MICROBATCH_PARTITIONING = {
    "duckdb": "",
    "snowflake": "",
    "redshift": "",
    "bigquery": ", partition_by={{'field': '{0}', 'data_type': 'date', 'granularity': 'day'}}",
    "spark": ", partition_by=['{0}']",
    "databricks": ", partition_by=['{0}']",
}
"""Dialects whose dbt adapter replaces a whole batch, with the configuration it needs."""


@entry_point
def rollup_model(
    metrics: str | Metric | Iterable[str | Metric],
    name: str,
    *,
    predictions: str | None = None,
    run: str | None = None,
    qrels: str | None = None,
    queries: str | None = None,
    by: str | Sequence[str],
    begin: str | date,
    day: str = "day",
    lookback: int = 3,
    binning: str = "grid",
    n_bins: int = DEFAULT_BINS,
    exact_scores: Sequence[float] = (),
    unit: str | None = None,
    n_buckets: int | None = None,
    dialect: str = "duckdb",
    columns: Mapping[str, Any] | None = None,
    where: str | None = None,
    batch: str | None = None,
    sql_dir: str | Path | None = None,
    **policies: Any,
) -> DbtModel:
    """Return a dbt model of a rollup, built day by day with the ``microbatch`` strategy.

    Each run rebuilds the last day, ``lookback`` days before it and missing days. It reads only the rows of each day if the source has an
    ``event_time``. Other arguments are those of :func:`sqlrank.rollup`.

    Args:
        metrics: metrics that the rollup must support.
        name: name of the model.
        predictions: a model, a seed, or a source such as ``"ads.impressions"``.
        run: as ``predictions``, for ranking metrics.
        qrels: as ``predictions``.
        queries: as ``predictions``.
        by: key columns, including the day.
        begin: the first day, such as ``"2026-01-01"``.
        day: the day column of ``by``, a date.
        lookback: number of days before the last one to rebuild in each run, for labels that arrive late.
        binning: as for :func:`sqlrank.rollup`.
        n_bins: as for :func:`sqlrank.rollup`.
        exact_scores: as for :func:`sqlrank.rollup`.
        unit: as for :func:`sqlrank.rollup`.
        n_buckets: as for :func:`sqlrank.rollup`.
        dialect: SQL dialect of the warehouse.
        columns: mapping from canonical column names to those of the source.
        where: a SQL condition on the rows to read; it may contain Jinja.
        batch: name of the model's rows in the column ``batch``, needed if other rows are inserted next to them, such as retractions.
        sql_dir: a folder with metrics of your own.
        **policies: parameters that apply to all metrics.

    Returns:
        The model, whose ``sql`` and ``schema`` you write to files.

    Raises:
        MetricError: a metric that cannot be computed from aggregates.
        InputError: an invalid name, an invalid day, or an engine whose adapter cannot replace whole batches.

    >>> print(rollup_model("AUC", "ads", predictions="clicks", by="day", begin="2026-01-01").sql.splitlines()[0][:70])
    {{ config(materialized='incremental', incremental_strategy='microbatch
    """
    check_name(name)
    get_dialect(dialect)
    if dialect not in MICROBATCH_PARTITIONING:
        raise InputError(
            f"dbt has no microbatch for {dialect} that replaces whole days. Choose from: {', '.join(MICROBATCH_PARTITIONING)}, or "
            "run what sqlrank.rollup_sql (sqlrank rollup --sql --insert --overwrite-by day) prints"
        )
    call = Request(
        metrics,
        collect_sources(run=run, qrels=qrels, predictions=predictions, queries=queries),
        columns=columns,
        by=by,
        where=where,
        sql_dir=sql_dir,
        policies=policies,
    )
    request, definition = resolve_rollup_request(
        call, dialect, ScoreBinning.from_arguments(binning, n_bins, exact_scores), JackknifeBuckets.from_arguments(unit, n_buckets)
    )
    statement = add_definition_column(
        prepare_statement(request, NamesOnlyDatabase(dialect, dbt_relation, allows_jinja=True)).statement, definition, request
    )
    if (named_batch := Batch.from_arguments(batch)) is not None:
        statement = named_batch.add_batch_column(statement)
    # The bin is a key column like the others.
    outputs = [dataclasses.replace(output, kind="point") if output.name == "bin" else output for output in statement.outputs]
    statement = dataclasses.replace(statement, outputs=outputs)
    event = resolve_group_column(statement, day, dialect, "day").name
    config = {"event_time": event, "batch_size": "day", "begin": _parse_day(begin), "lookback": lookback}
    config_arguments = ", ".join(f"{key}={value!r}" for key, value in config.items()) + MICROBATCH_PARTITIONING[dialect].format(event)
    model_statement = dataclasses.replace(statement, tree=without_order(statement))
    config_text = f"materialized='incremental', incremental_strategy='microbatch', {config_arguments}{APPENDS_COLUMNS}"
    options = {"metrics": metrics, "by": by, "columns": columns, "where": where, "unit": unit, "batch": batch, **policies}
    text = model_text(config_text, model_statement, dialect, options)
    description = f"Sums per {join_words(request.group_by)} that sqlrank evaluate --rollup adds up (sqlrank {__version__})"
    return DbtModel(text, schema_yaml(name, description, model_statement, request, dialect))


def _parse_day(begin: Any) -> str:
    """Return the first day as ISO text; raise ``InputError`` if it is not a date."""
    try:
        return (begin if isinstance(begin, date) else date.fromisoformat(str(begin))).isoformat()[:10]
    except ValueError:
        raise InputError(f"begin={short_repr(begin)} is no day. Write it as 2026-01-31") from None
