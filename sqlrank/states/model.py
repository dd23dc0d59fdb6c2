"""A dbt model that keeps a state: each day a batch of its own, which is made anew as a whole when rows come late."""

from __future__ import annotations

import dataclasses
from datetime import date
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.arguments import public
from sqlrank.call import Call
from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.named import named_database
from sqlrank.engines.render import render
from sqlrank.errors import InputError, shown
from sqlrank.prepare import prepare
from sqlrank.results.dbt import DbtModel, check_model, reference, schema_of
from sqlrank.results.replacing import key_of
from sqlrank.results.store import as_stored
from sqlrank.states.batches import Batch
from sqlrank.states.bins import FINENESS, Bins
from sqlrank.states.folds import Folds
from sqlrank.states.made import defined, question_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.library.metric import Metric

WHOLE_BATCHES = {
    "duckdb": "",
    "snowflake": "",
    "redshift": "",
    "bigquery": ", partition_by={{'field': '{0}', 'data_type': 'date', 'granularity': 'day'}}",
    "spark": ", partition_by=['{0}']",
    "databricks": ", partition_by=['{0}']",
}
"""The dialects whose adapter puts a batch in the place of the one before as a whole, and what it has to be told for that."""


@public
def state_model(
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
    bins: str = "grid",
    fineness: int = FINENESS,
    atoms: Sequence[float] = (),
    fold: str | None = None,
    folds: int | None = None,
    dialect: str = "duckdb",
    columns: Mapping[str, Any] | None = None,
    where: str | None = None,
    batch: str | None = None,
    sql_dir: str | Path | None = None,
    **policies: Any,
) -> DbtModel:
    """Return a dbt model of a state that dbt builds day by day, by its strategy ``microbatch``.

    Each run makes the last day, ``lookback`` days before it and those that are missing anew, from the rows of each day alone if the model or
    source that is read has an ``event_time``. Other arguments are those of :func:`sqlrank.state`.

    Args:
        metrics: what the state has to have.
        name: the name of the model.
        predictions: a model or seed, or a source such as ``"ads.impressions"``.
        run: as ``predictions``, for metrics of rankings.
        qrels: as ``predictions``.
        queries: as ``predictions``.
        by: columns that tell rows apart, the day among them.
        begin: the first day, such as ``"2026-01-01"``.
        day: the column of ``by`` that is the day, a date.
        lookback: how many days before the last are made anew each time, for labels that come late.
        bins: as for :func:`sqlrank.state`.
        fineness: as for :func:`sqlrank.state`.
        atoms: as for :func:`sqlrank.state`.
        fold: as for :func:`sqlrank.state`.
        folds: as for :func:`sqlrank.state`.
        dialect: the SQL of the warehouse.
        columns: canonical column names to yours.
        where: a condition in SQL on the rows that are read, which may hold Jinja.
        batch: a name for the rows of the model, as the column ``batch``, where others are added beside them, such as of what is taken back.
        sql_dir: a folder with metrics of your own.
        **policies: parameters that hold for all metrics.

    Raises:
        MetricError: a metric that no sums of days give.
        InputError: a name that dbt does not take, a day that is none, or an engine whose adapter does not replace whole batches.

    >>> print(state_model("AUC", "ads", predictions="clicks", by="day", begin="2026-01-01").sql.splitlines()[0][:70])
    {{ config(materialized='incremental', incremental_strategy='microbatch
    """
    given = {"by": by, "columns": columns}
    sources = {"predictions": predictions, "run": run, "qrels": qrels, "queries": queries}
    check_model(name, given)
    dialect_of(dialect)
    if dialect not in WHOLE_BATCHES:
        raise InputError(
            f"dbt has no microbatch for {dialect} that replaces whole days, as far as sqlrank knows; choose from: {', '.join(WHOLE_BATCHES)}, or "
            "run what sqlrank.state_sql (sqlrank state --sql --insert --replace day) prints"
        )
    call = Call.of(metrics, {**sources, **given, "where": where, "sql_dir": sql_dir}, policies)
    of_folds = Folds.of(fold, folds)
    question, definition = question_of(call, dialect, Bins.of(bins, fineness, atoms), of_folds)
    made = defined(prepare(question, named_database(dialect, reference)).statement, definition, question, of_folds)
    if (marked := Batch.of(batch)) is not None:
        made = marked.marked(made)
    # A bin tells rows apart as their other keys do.
    outputs = [dataclasses.replace(item, kind="point") if item.name == "bin" else item for item in made.outputs]
    made = dataclasses.replace(made, outputs=outputs)
    event = key_of(made, day, dialect, "day").name
    config = {"event_time": event, "batch_size": "day", "begin": _day(begin), "lookback": lookback}
    told = ", ".join(f"{key}={value!r}" for key, value in config.items()) + WHOLE_BATCHES[dialect].format(event)
    statement = dataclasses.replace(made, tree=as_stored(made))
    text = f"{{{{ config(materialized='incremental', incremental_strategy='microbatch', {told}) }}}}\n"
    text += f"{render(statement.tree, statement.stamp, dialect)}\n"
    description = f"Sums per {' and '.join(question.by)} that sqlrank evaluate --state adds up (sqlrank {__version__})"
    return DbtModel(text, schema_of(name, description, statement, question, dialect))


def _day(begin: Any) -> str:
    """Return the first day as dbt reads it; raise ``InputError`` for what is no day."""
    try:
        return (begin if isinstance(begin, date) else date.fromisoformat(str(begin))).isoformat()[:10]
    except ValueError:
        raise InputError(f"begin={shown(begin)} is no day; write it as 2026-01-31") from None
