"""Compute, insert or print sums per day, group and score bin: the public functions ``rollup`` and ``rollup_sql``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.argument_checks import entry_point
from sqlrank.call_descriptions import request_command, setting_text
from sqlrank.engines.connection_dialect import infer_dialect, is_duckdb_connection
from sqlrank.engines.open_database import open_for_inspection, run_on_database
from sqlrank.engines.query_sources import reads_files
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.errors import MetricError
from sqlrank.execution import execute_resolved
from sqlrank.output.table_writes import delete_insert_script, wrap_for_storage
from sqlrank.prepare import prepare_statement
from sqlrank.rendering.dialects import get_dialect
from sqlrank.request import Request, collect_sources, leaf_sources
from sqlrank.result_metadata import left_out_metadata, read_left_out
from sqlrank.rollups.binning import DEFAULT_BINS, JackknifeBuckets, ScoreBinning
from sqlrank.rollups.build import add_definition_column, resolve_rollup_request
from sqlrank.rollups.writer import Batch, add_new, insert_rollup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

    from sqlrank.compiler.statement import CompiledStatement
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.registry.metric import Metric


@entry_point
def rollup(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    predictions: Any = None,
    run: Any = None,
    qrels: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    by: str | Sequence[str] = (),
    binning: str = "grid",
    n_bins: int = DEFAULT_BINS,
    exact_scores: Sequence[float] = (),
    unit: str | None = None,
    n_buckets: int | None = None,
    connection: Any = None,
    dialect: str | None = None,
    columns: Mapping[str, Any] | None = None,
    where: str | None = None,
    insert: str | None = None,
    overwrite_by: str | None = None,
    batch: str | None = None,
    retract: bool = False,
    batch_where: str | None = None,
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Any,
) -> pa.Table:
    """Build a table of mergeable aggregates, from which :func:`sqlrank.evaluate` computes metrics with ``rollup=``.

    Metrics follow for any range of days and any roll-up of groups.

    Args:
        metrics: metrics that the rollup must support: sums over predictions, such as LogLoss; rank metrics, such as AUC; or ranking metrics
            with per-query values, such as nDCG@10.
        predictions: as for :func:`sqlrank.evaluate`; ranking metrics take ``run``, ``qrels``, ``queries`` and ``inputs``.
        run: see ``predictions``.
        qrels: see ``predictions``.
        queries: see ``predictions``.
        inputs: see ``predictions``.
        by: key columns to filter and roll up by later, including the day: ``["day", "campaign"]``.
        binning: ``"grid"``, steps of the 16th root of the score, or ``"exact"``, one bin per distinct score: exact, for few distinct scores.
        n_bins: number of grid steps between 0 and 1.
        exact_scores: scores with bins of their own in the grid, such as frequent ones; the curve ``CommonScores`` finds them.
        unit: the randomization unit, for intervals: a column of predictions or an expression, such as ``"user_id"``. For rankings it is
            ``"query_id"`` or a column of ``queries``. Adds the key column ``bucket``.
        n_buckets: number of buckets, 32 by default; a rollup has up to as many times the rows.
        connection: where the data are.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        columns: mapping from canonical column names to those of the source.
        where: a SQL condition on the rows to read.
        insert: a DuckDB table of ``connection`` to insert into, created if missing. Rows of days and groups that it already has are
            refused, unless they are replaced or named as a batch.
        overwrite_by: a column of ``by``, such as ``"day"``: existing rows for the days of the result are replaced.
        batch: name of these rows in the column ``batch``. ``insert`` refuses a batch that the table already has, so that nothing counts
            twice.
        retract: True to retract existing rows: the sums and counts are negative.
        batch_where: a SQL condition that selects the rows of this batch: ``"user_id IN (7, 9)"``. Unlike ``where``, it does not change the
            definition hash.
        check: as for :func:`sqlrank.evaluate`.
        sql_dir: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        **policies: parameters that apply to all metrics.

    Returns:
        A row per group of ``by``, ``bucket`` (int64) if given, and score bin. Rank metrics have ``bin``, ``positives``, ``negatives``,
        ``score_min`` and ``score_max``. All have ``num_rows`` and a column per aggregate (float64), and ``definition_hash`` (text); only rows
        of equal hashes may be merged. ``batch`` (text) exists if one is named. For rankings there is a row per group of ``by``:
        ``num_rows`` is the number of lists. Each metric has the count, sum, sum of squares, minimum and maximum of its per-query values.
        The metadata say what policies left out or filled, as for :func:`sqlrank.evaluate`.

    Raises:
        MetricError: a metric that cannot be computed from aggregates, with a list of those that can.
        InputError: data that cannot be evaluated, a table of another definition, or a batch or days that it already has.

    >>> import pyarrow as pa
    >>> clicks = pa.table({"day": [1, 1], "label": [1, 0], "score": [0.75, 0.25]})
    >>> rollup("AUC", predictions=clicks, by="day").select(["day", "bin", "positives", "negatives"]).to_pylist()
    [{'day': 1, 'bin': 939.0, 'positives': 0.0, 'negatives': 1.0}, {'day': 1, 'bin': 1005.0, 'positives': 1.0, 'negatives': 0.0}]
    """
    call = Request(
        metrics,
        collect_sources(run=run, qrels=qrels, predictions=predictions, queries=queries, inputs=inputs),
        columns=columns,
        by=by,
        where=where,
        sql_dir=sql_dir,
        policies=policies,
    )
    dialect_name = infer_dialect(connection, dialect)
    request, definition = resolve_rollup_request(
        call, dialect_name, ScoreBinning.from_arguments(binning, n_bins, exact_scores), JackknifeBuckets.from_arguments(unit, n_buckets)
    )
    named_batch = Batch.from_arguments(batch, is_retraction=retract, batch_where=batch_where, overwrite_by=overwrite_by)
    limits = ResourceLimits(memory_limit, threads, temp_directory, timeout)
    if overwrite_by is not None and (insert is None or overwrite_by not in request.group_by):
        raise MetricError(
            f"overwrite_by={overwrite_by!r} is a column of by, of the rows of insert= that are replaced. by is {', '.join(request.group_by) or 'empty'}"
        )
    if insert is not None and connection is None:
        raise MetricError("insert= needs connection=, the DuckDB connection or file that has the table, or is to have it")
    if insert is not None and not is_duckdb_connection(connection):
        raise MetricError(
            "insert= is run on DuckDB. For another engine sqlrank.rollup_sql (sqlrank rollup --sql) writes the statement to run there"
        )
    is_new = insert is not None and isinstance(connection, (str, Path)) and not Path(connection).exists()
    batch_request = request if named_batch is None else named_batch.restrict(request, dialect_name)

    def add_columns(statement: CompiledStatement) -> CompiledStatement:
        with_definition = add_definition_column(statement, definition, request)
        return with_definition if named_batch is None else named_batch.add_batch_column(with_definition)

    result = run_on_database(
        None if is_new else connection,
        dialect_name,
        limits,
        lambda database: execute_resolved(batch_request, database, check, add_columns),
    )
    left_out = read_left_out(result.schema.metadata)
    if request.rolled_up:
        left_out = [replace(entry, metrics=definition.metric_names) for entry in left_out]
    result = result.replace_schema_metadata({"sqlrank.version": __version__, **left_out_metadata(left_out)})
    if insert is not None:
        insert_rollup(result, connection, insert, overwrite_by)
    return result


@entry_point
def rollup_sql(  # noqa: D417  rollup describes the other arguments
    metrics: str | Metric | Iterable[str | Metric],
    *,
    predictions: Any = None,
    run: Any = None,
    qrels: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    by: str | Sequence[str] = (),
    binning: str = "grid",
    n_bins: int = DEFAULT_BINS,
    exact_scores: Sequence[float] = (),
    unit: str | None = None,
    n_buckets: int | None = None,
    connection: Any = None,
    dialect: str | None = None,
    columns: Mapping[str, Any] | None = None,
    where: str | None = None,
    create_table: str | None = None,
    insert: str | None = None,
    overwrite_by: str | None = None,
    batch: str | None = None,
    retract: bool = False,
    batch_where: str | None = None,
    sql_dir: str | Path | None = None,
    **policies: Any,
) -> str:
    """Return the statement that builds a rollup, in the SQL of an engine.

    A statement may run twice, but it cannot raise an error as :func:`rollup` does. Arguments that are not listed are those of :func:`rollup`.

    Args:
        metrics: metrics that the rollup must support.
        dialect: the SQL dialect, such as ``"bigquery"``; by default that of ``connection``, else DuckDB's.
        create_table: name of a table to create from the rows.
        insert: name of a rollup to add the rows to. Alone, it adds no days and groups that the table already has.
        overwrite_by: a column of ``by`` such as ``"day"``: the rows of the table of ``insert`` for the days of the result are deleted first.
        batch: name of the rows. Nothing is added to a table that has rows of that batch.

    Returns:
        The statement, or a script of two with ``overwrite_by``.

    Raises:
        MetricError: as for :func:`rollup`, or a construct that the dialect cannot express.
        InputError: an invalid name or condition.

    >>> print(rollup_sql("AUC", predictions="clicks", by="day", dialect="bigquery").splitlines()[1])
    -- reads: clicks (predictions)
    """
    call = Request(
        metrics,
        collect_sources(run=run, qrels=qrels, predictions=predictions, queries=queries, inputs=inputs),
        columns=columns,
        by=by,
        where=where,
        sql_dir=sql_dir,
        policies=policies,
    )
    dialect_name = infer_dialect(connection, dialect) if connection is not None else dialect or "duckdb"
    if connection is None and not get_dialect(dialect_name).supports_md5 and unit is not None:
        raise MetricError(f"{dialect_name} has no MD5, which buckets need. Make the rollup through connection=, or give it a function md5")
    bins = ScoreBinning.from_arguments(binning, n_bins, exact_scores)
    request, definition = resolve_rollup_request(call, dialect_name, bins, JackknifeBuckets.from_arguments(unit, n_buckets))
    has_files = any(reads_files(leaf) for source in request.sources.values() for leaf in leaf_sources(source))
    named_batch = Batch.from_arguments(batch, is_retraction=retract, batch_where=batch_where, overwrite_by=overwrite_by)
    request = request if named_batch is None else named_batch.restrict(request, dialect_name)
    with open_for_inspection(connection, dialect_name, has_files) as database:
        prepared = prepare_statement(request, database)
        statement = add_definition_column(prepared.statement, definition, request)
        statement = statement if named_batch is None else named_batch.add_batch_column(statement)
        options = {
            "binning": None if binning == "grid" else binning,
            "n_bins": None if n_bins == DEFAULT_BINS else n_bins,
            "exact_scores": list(bins.exact_scores),
            "unit": unit,
            "n_buckets": n_buckets,
        }
        storage = {"connection": connection, "create_table": create_table, "insert": insert, "overwrite_by": overwrite_by}
        batch_options = {"batch": batch, "retract": retract, "batch_where": batch_where}
        printed_call = replace(call, options={**options, **storage, **batch_options, "sql": True})
        header = replace(
            statement.header,
            settings=(
                *statement.header.settings,
                *(setting_text(name, value) for name, value in {**options, **batch_options}.items() if value),
            ),
            command=request_command("rollup", definition.metric_names, printed_call, dialect_name),
        )
        statement = replace(statement, header=header)
        read = [bound_input.table.display_from_item for bound_input in prepared.inputs.by_role.values()]
        stored = wrap_for_storage(statement, dialect_name, create_table, None, insert, read)
        if overwrite_by is not None:
            return delete_insert_script(statement, stored, dialect_name, overwrite_by, insert, database.can_materialize_ctes)
        if insert is not None:
            stored = add_new(stored) if named_batch is None else named_batch.insert_once(stored)
        return replace(prepared, statement=stored).render().text
