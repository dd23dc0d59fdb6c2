"""Evaluate metrics, compare systems, print SQL statements, list metrics, and parse one: the public
functions evaluate, compare, sql, metrics, parse and query.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.arrow_arrays import table_from_rows
from sqlrank.call.argument_checks import entry_point
from sqlrank.call.interval_options import check_confidence_level
from sqlrank.call.request import ColumnNames, Request, select_arguments
from sqlrank.call.resolve import resolve_request
from sqlrank.call.sources import QuerySource
from sqlrank.engines.open_database import ExecutionOptions, open_for_inspection
from sqlrank.engines.remote_database import printed_dialect
from sqlrank.errors import InputError, MetricError
from sqlrank.registry import metric_resolver
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric_info import METRIC_INFO_COLUMNS, list_metrics, search_metrics
from sqlrank.rendering.dialects import get_dialect
from sqlrank.run.execution import execute_request
from sqlrank.run.prepare import audit_text, prepare_audit, prepare_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Unpack

    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.option_types import ComparisonPolicies, DialectName, Policies
    from sqlrank.registry.metric import Metric


@entry_point
def evaluate(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    rollup: Any = None,
    window_days: int | None = None,
    window_ends: str | None = None,
    connection: Any = None,
    dialect: DialectName | None = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    across: str | Sequence[str] = (),
    where: str | None = None,
    per_query: bool = False,
    confidence: float | None = None,
    interval: str = "auto",
    unit: str | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    compat: str | None = None,
    names: ColumnNames = "requested",
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Unpack[Policies],
) -> pa.Table:
    """Evaluate metrics where the data are, and return an Arrow table.

    Each metric is a float64 column. A source is the name of a table or view of ``connection``, a
    DuckDB relation, or a Parquet, CSV, JSON or TREC file. A pattern or a directory names several
    files. In memory it is an object with the Arrow stream protocol (pyarrow, Polars, pandas), a
    Polars LazyFrame, a query such as ``"SELECT ..."``, an ibis expression or Spark DataFrame, or a
    dict such as ``{"q1": {"d1": 1.2}}``. A list of sources forms one table.

    Args:
        metrics: metrics to compute, such as ``["nDCG@10", "AP", "P(rel=2)@5"]``;
            :func:`sqlrank.metrics` lists all.
        run: retrieved documents: ``query_id``, ``doc_id``, and ``score`` (number) or ``rank``
            (integer). Several runs are a dict from names to runs, or a list, and ``by`` includes
            ``system``.
        qrels: judgments: ``query_id``, ``doc_id``, ``relevance`` (number); not needed if no metric
            reads judgments.
        predictions: for metrics of predictions ``label`` (number), ``score`` (number) and
            optionally ``weight`` (number from 0); for metrics of rankings run and judgments in one
            table: ``query_id``, ``doc_id``, ``score``, ``label``, with NULL for unjudged documents.
        queries: optional, the queries to evaluate: ``query_id``, ``weight`` (number from 0), and
            attributes to group by. A text is the policy that selects queries: ``"judged"``,
            ``"judged_and_retrieved"``, ``"retrieved"`` or ``"strict"``; with a table, pass the
            policy as ``topics=``.
        inputs: sources of further roles, by name: ``history``, ``items``, ``features``,
            ``baseline``, or those that ``sql_dir`` declares.
        rollup: partial aggregates from :func:`sqlrank.rollup`, instead of predictions or rankings.
            Rank metrics have the additional columns ``M.bound_low`` and ``M.bound_high``;
            ``num_days`` (if there is a column ``day``) and ``num_rows`` count the merged days and
            rows.
        window_days: for a rollup the window length in days, such as 28: a row for each ``day`` of
            the rollup (and group of ``by``), with the metrics of the window that ends on it;
            ``num_days`` counts the days with data. A group has rows for windows in which it has
            data.
        window_ends: a condition in SQL on the last days of these windows, such as ``"day >=
            '2026-01-01'"``; ``where`` filters the merged rows.
        connection: a DuckDB connection, the path of a DuckDB file (opened read-only), or None for a
            database in memory; or a connection to another database, where sources are names of
            tables or queries, and nothing is uploaded: PEP 249 (psycopg, sqlite3, Snowflake,
            BigQuery, Databricks, Trino, ClickHouse), ADBC, a SparkSession, a chdb session, a
            DataFusion context, an ibis backend.
        dialect: the SQL dialect of ``connection``, if its class does not determine it.
        columns: canonical column names to yours, such as ``{"query_id": "user_id"}``, for one input
            ``{"run.query_id": "term"}``, or to an expression in the SQL of the engine (``{"weight":
            "1 / propensity"}``); for predictions also several score columns (``{"score": ["old",
            "new"]}``), each evaluated.
        by: group-by columns, of rankings (systems, days) or queries, or expressions
            (``"day=DATE(ts)"``). A list of lists gives several groupings at once, with ``[]`` for
            the total: rows have NULL in the columns that they sum over, and the column ``slice``
            contains the names of the grouping's columns, or ``all``. NULL is a group of its own.
        across: columns whose groups are compared, such as ``"country"``. Each metric is a row, with
            its least and greatest value, their difference and ratio; ``EqualizedOdds`` and
            ``DemographicParity`` are differences of one or two metrics.
        where: a condition in SQL on the rows of the inputs, such as ``"day = '2026-01-01'"``;
            columns that several inputs have need a prefix: ``"run.day = ... AND qrels.day = ..."``.
        per_query: return one row per query instead of the aggregate.
        confidence: confidence level, such as 0.95. Each metric ``M`` is followed by the limits of
            its interval, ``M.ci_low`` and ``M.ci_high``, its standard error ``M.se`` (float64) and
            its number of units ``M.n_units`` (int64: queries, or rows of predictions), NULL if
            there are none. For a rollup with buckets ``M.n_buckets`` is the number of buckets.
        interval: ``"auto"`` (Wilson's for proportions, else Student's), ``"wilson"``, ``"t"``,
            ``"normal"`` or ``"bootstrap"``.
        replicates: number of replicates for ``"bootstrap"``, by default 999 for query values and
            199 for rows of predictions.
        seed: seed of the resampling, 0 by default; equal seeds give equal results.
        unit: column or expression of predictions that identifies independent units, such as
            ``"user_id"``; by default ``query_id`` if there is one, else each row.
        compat: compatibility mode that reproduces the numbers of a tool: ``"trec10"``,
            ``"sklearn"``, ``"ranx"``, ...
        names: ``"plain"`` for columns with unique identifiers for names, as in SQL, such as
            ``ndcg_at_10`` and ``ndcg_at_10.ci_low``, for tools that refuse ``@`` in names;
            ``"requested"`` for metrics as they are written.
        check: ``"auto"``, ``"full"`` (search all rows for duplicates, however many) or ``"off"``.
        sql_dir: a directory with metrics, relations and functions of your own.
        plan: execution plans, such as ``{"score_order": "buckets"}``; by default chosen from the
            data and the engine.
        memory_limit: memory limit of this process, such as ``"2GB"``; data beyond it spill to
            ``temp_directory``. This and the other limits apply to DuckDB only and are rejected
            elsewhere.
        threads: number of DuckDB threads, at most eight times the number of cores.
        temp_directory: directory for spilled data; by default a temporary one that is removed
            afterwards.
        timeout: seconds after which the query is cancelled.
        progress: function that is called with the percentage done; on other databases than DuckDB
            with 0 and 100.
        **policies: policies of all metrics: ``ties``, ``queries``, ``if_undefined``, ``unjudged``,
            ``depth``, ``rel``, ``aggregate``, ...

    Returns:
        The ``by`` columns, ``slice`` for several groupings, ``query_id`` with ``per_query``, and
        ``k`` for a range of cut-offs. One float64 column per metric follows, named as it was
        written, or plainly with ``names="plain"``; rows are ordered by the columns before the
        metrics. Undefined values are NULL. A curve such as ``"ROC"`` has a row per ``point``
        (int64). The schema's metadata contain the statement (``sqlrank.sql``), the rows searched
        for duplicates (``sqlrank.duplicates_searched``), whether no document is relevant
        (``sqlrank.no_relevant``), and the plan of a global order (``sqlrank.score_order``).
        ``sqlrank.notes`` says in lines how many units policies left out or filled, if any, and
        ``sqlrank.left_out`` has their counts by group as JSON. As JSON they contain the kinds of
        columns (``sqlrank.columns``) and properties of metrics (``sqlrank.measures``), which
        :func:`sqlrank.chart` reads, and the canonical metrics of other names
        (``sqlrank.canonical``).

    Raises:
        MetricError: a metric, parameter or policy does not exist or is not valid.
        InputError: the data cannot be evaluated; the message has all problems.
        ExecutionError: time or memory ran out, or a database rejected a statement; its own error is
            the cause.

    >>> import pyarrow as pa, sqlrank
    >>> run = pa.table({"query_id": [1, 1], "doc_id": ["a", "b"], "score": [0.9, 0.5]})
    >>> qrels = pa.table({"query_id": [1], "doc_id": ["b"], "relevance": [1]})
    >>> sqlrank.show(sqlrank.evaluate(["MRR", "Precision@1"], run=run, qrels=qrels))
       MRR  Precision@1
    0.5000       0.0000
    """
    arguments = locals()
    options = ExecutionOptions.from_arguments(arguments)
    call = Request.from_arguments(
        arguments, requested_names=True, command="sql", options={"connection": connection}
    )
    if rollup is not None:
        # Its import takes a tenth of a second
        from sqlrank.rollups.evaluate_rollup import evaluate_rollup

        return evaluate_rollup(call, rollup, options, window_days, window_ends)
    return execute_request(call, options)


@entry_point
def compare(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    rollups: Mapping[str, Any] | None = None,
    connection: Any = None,
    dialect: DialectName | None = None,
    columns: Mapping[str, Any] | None = None,
    system: str = "system",
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    unit: str | None = None,
    baseline: str | None = None,
    lower_is_better: str | Sequence[str] = (),
    where: str | None = None,
    test: str = "t",
    correction: str = "holm",
    confidence: float | None = 0.95,
    interval: str = "fixed",
    expected_units: int | None = None,
    target_effect: float | str | None = None,
    power: float = 0.8,
    replicates: int | None = None,
    seed: int | None = None,
    per_query: bool = False,
    compat: str | None = None,
    names: ColumnNames = "requested",
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Unpack[ComparisonPolicies],
) -> pa.Table:
    """Compare systems by paired unit values or by their rollups, with confidence intervals and
    tests.

    Returns an Arrow table with a row per group, metric and pair. Per-query values are computed
    where the data are, as :func:`sqlrank.evaluate` does with ``per_query``. A query counts if both
    systems have a value; query weights weight the differences. Metrics over all rows of predictions
    are compared by influence-function values of units. For AUC this is the method of DeLong, DeLong
    & Clarke-Pearson (1988), with Student's t for few positives. Rollups with buckets of the same
    units are compared by leaving a bucket out of both (the grouped jackknife).

    Args:
        metrics: metrics to compare: ranking metrics, metrics of predictions under
            ``level="query"``, or metrics over all rows, such as AUC and LogLoss.
        run: as for :func:`sqlrank.evaluate`: one table with a column ``system``, or ``{"bm25": ...,
            "dense": ...}``.
        qrels: judgments.
        predictions: predictions; several scores (``columns={"score": ["old", "new"]}``) are the
            systems.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        rollups: instead of other sources, the rollup that :func:`sqlrank.rollup` made of each
            system, by name: ``{"old": "rollup_of_old", "new": "rollup_of_new"}``. Arguments that
            need rows or units, such as ``columns``, ``unit`` and ``per_query``, are refused.
        connection: where the data are; statistics of the unit values are computed locally.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        columns: mapping from canonical column names to those of the source.
        system: the column that identifies systems.
        by: columns to group by, such as ``"country"``, of rollups key columns; a list of lists
            gives several groupings, where ``[]`` means all rows.
        unit: for metrics over all rows the randomization unit: the column whose values are
            independent, as for :func:`sqlrank.evaluate`. With several scores each row is a unit by
            default, unless rows have a query.
        baseline: the system that the others are compared with; by default all pairs are compared.
            The baseline of a pair is the system given first, or the first in sort order if systems
            come from a column.
        lower_is_better: metrics of columns of your own, or the columns, of which lower values are
            better: ``"latency_ms"``.
        where: a SQL condition on the rows to read, of rollups over key columns.
        test: ``"t"`` (Student), ``"wilcoxon"``, ``"sign"`` or ``"randomization"`` (Fisher).
        correction: correction for multiple comparisons: ``"holm"``, ``"bh"`` (Benjamini &
            Hochberg), ``"max_t"`` (Westfall & Young) or ``"none"``.
        confidence: confidence level of intervals; a system is better if its corrected p-value is
            below ``1 - confidence``. For rollups, whose intervals need buckets, None is for certain
            bounds alone.
        interval: ``"fixed"`` is valid for one look, at the planned end; ``"sequential"`` for values
            of queries is valid at every look, and wider (the asymptotic confidence sequence of
            Waudby-Smith et al. 2021). The test is then its always-valid p-value.
        expected_units: number of queries at which sequential intervals are the narrowest, 1,000 by
            default; the same at each look.
        target_effect: effect size to detect, such as 0.01 or ``"1%"`` of the baseline;
            ``required_units`` is the number of queries required.
        power: statistical power behind ``mde`` and ``required_units``.
        replicates: number of sign flips of the randomization test, which takes all of up to 20
            differences, and of ``max_t``; the default is 9999.
        seed: seed of the random signs; the default is 0.
        per_query: return the paired differences: a row per group, metric, pair and query, the
            largest loss first.
        compat: as for :func:`sqlrank.evaluate`.
        names: ``"plain"`` for metrics by identifiers, such as ``ndcg_at_10``.
        check: as for :func:`sqlrank.evaluate`.
        sql_dir: as for :func:`sqlrank.evaluate`.
        plan: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        progress: as for :func:`sqlrank.evaluate`.
        **policies: as for :func:`sqlrank.evaluate`.

    Returns:
        The columns of ``by``, with ``slice`` if there are several groupings; ``metric``,
        ``baseline``, ``system`` (string); ``value_baseline``, ``value`` and ``difference``
        (float64, means over the queries of both systems). ``ci_low`` and ``ci_high`` are the t
        interval of the difference at ``ci_level``, the corrected confidence level; it excludes 0
        exactly where there is a ``winner``. ``relative_difference`` is the difference over the
        baseline's absolute value, ``se`` the standard error. ``n_units`` and ``unpaired`` count
        queries compared and left out (int64). ``wins``, ``ties``, ``losses`` are int64, NULL for
        influence-function values, as is ``cohens_d``, Cohen's d. ``statistic``, ``p_value``,
        ``p_adjusted`` are float64, p-values two-sided. ``winner`` (string) is the better system if
        test and interval agree. ``mde`` (float64), the minimum detectable effect, and
        ``required_units`` (int64) are at the corrected level. ``test``, ``correction`` are strings;
        ``reason`` says why there is no interval. Rollups have no units, so that the columns from
        ``n_units`` to ``cohens_d`` and ``required_units`` are NULL. They have the certain bounds of
        the difference, ``bound_low`` and ``bound_high`` (float64), ``n_buckets``, and the numbers
        of merged days and rows of both sides, ``num_days_baseline``, ``num_days`` (if there is a
        column ``day``), ``num_rows_baseline``, ``num_rows`` (int64). Every group, metric and pair
        has a row. Undefined values are NULL: there is no test of fewer than two queries. There is
        none without variance either, except that p is 1 for equal systems.

    Raises:
        MetricError: a metric, system, test or policy that does not exist or cannot be compared.
        InputError: data that cannot be evaluated, or rollups with different buckets.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> import sqlrank
    >>> bm25 = {"q1": {"a": 1.0, "b": 0.5}, "q2": {"a": 0.1, "b": 0.4}, "q3": {"b": 0.2}}
    >>> dense = {"q1": {"a": 1.0}, "q2": {"a": 0.1}, "q3": {"a": 0.2}}
    >>> qrels = {query: {"a": 1} for query in bm25}
    >>> result = sqlrank.compare("MRR", run={"bm25": bm25, "dense": dense}, qrels=qrels)
    >>> sqlrank.show(result)
    metric    bm25   dense  difference           interval       p  winner
    MRR     0.5000  1.0000     +0.5000  -0.7421 to 1.0000  0.2254  none
    MRR: 2 of 3 queries change, so a test of their signs has no p-value below 0.5.
    Paired t-test of 3 queries, intervals at 95%.
    """
    arguments = locals()
    options = ExecutionOptions.from_arguments(arguments)
    # Imported where they are called: evaluate does without them
    if rollups is None:
        from sqlrank.comparison.paired_tests import TestOptions
        from sqlrank.comparison.system_comparison import compare_systems

        check_confidence_level(confidence)
        call = Request.from_arguments(
            arguments,
            leave_out=("system", "by", "per_query", "confidence", "interval", "replicates", "seed"),
        )
        tests = select_arguments(TestOptions, arguments, confidence=float(confidence or 0))
        return compare_systems(
            call, tests, options, system=system, by=by, baseline=baseline, per_query=per_query
        )
    from sqlrank.rollups.contrasts import compare_rolled_up

    call = Request.from_arguments(arguments, leave_out=["system"])
    return compare_rolled_up(call, rollups, baseline, correction, power, options)


@entry_point
def sql(  # noqa: D417  evaluate describes the other arguments
    metrics: str | Metric | Iterable[str | Metric],
    *,
    dialect: DialectName | None = None,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    rollup: Any = None,
    connection: Any = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    across: str | Sequence[str] = (),
    where: str | None = None,
    per_query: bool = False,
    confidence: float | None = None,
    interval: str = "auto",
    unit: str | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    create_table: str | None = None,
    create_view: str | None = None,
    insert: str | None = None,
    overwrite_by: str | None = None,
    audit: bool = False,
    compat: str | None = None,
    names: ColumnNames = "requested",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    **policies: Unpack[Policies],
) -> str:
    """Return the statement that :func:`evaluate` would run, in the SQL dialect of an engine.

    The dialect is ``dialect``, or that of ``connection``. Sources are names of tables or files, or
    several as for :func:`evaluate`. If they can be read here (a file, or a table of
    ``connection``), their columns are inspected. The text is then that of :func:`evaluate` without
    the columns of its checks. Otherwise ``by`` columns are assumed to be columns of the run, or of
    the input named before a dot: ``"queries.country"``, and ``"qrels.day"`` for one that run and
    qrels share. Predictions that cannot be inspected have weights if ``columns`` map them:
    ``{"weight": "weight"}``.

    Names of tables and columns follow the rules of the engine: ``campaign`` is ``CAMPAIGN`` for
    Snowflake, while quoted names are unchanged.

    Columns of metrics are identifiers such as ``ndcg_at_10`` under any ``names``, since SQL has no
    others without quotes.

    Arguments that are not listed are those of :func:`evaluate`.

    Args:
        metrics: metrics to compute, such as ``["nDCG@10", "AP"]``.
        dialect: the SQL dialect, such as ``"bigquery"``; by default that of ``connection``, else
            DuckDB's.
        rollup: the result of :func:`sqlrank.rollup_sql`, instead of other sources. Rank metrics
            have ``_bound_low`` and ``_bound_high``, all have ``num_rows``, and ``num_days`` if the
            table can be inspected; groups with several definitions are NULL.
        where: a condition in the SQL of the engine, such as ``"day = CURRENT_DATE"``; a column of a
            run or qrels that cannot be inspected needs a prefix: ``"run.day = CURRENT_DATE"``.
        create_table: name of a table to create from the result. An existing one is replaced if the
            engine can do so in one statement.
        create_view: name of a view to create instead.
        insert: name of a table to add the rows to, by column names.
        overwrite_by: a column of ``by`` such as ``"day"``: the rows of the table of ``insert`` for
            the days of the result are deleted first, by a script of two statements, in a
            transaction if the engine supports it.
        audit: return the checks of the input rows instead: a statement with a row per input and
            rule, and the number of rows that break it.

    Returns:
        The statement, under comments that name the metrics, the sources and the plan.

    Raises:
        MetricError: as for :func:`evaluate`, and for constructs that the dialect does not support.
        InputError: a name or a condition is invalid.

    >>> import sqlrank
    >>> statement = sqlrank.sql("BaseRate", predictions="clicks", by="day", dialect="bigquery")
    >>> print("SELECT" + statement.rpartition("SELECT")[2])
    SELECT
      `day`,
      -- BaseRate: share of positives among the rows.
      SUM(label) / COUNT(*) AS base_rate
    FROM predictions
    GROUP BY `day`
    ORDER BY `day`
    """
    arguments = locals()
    target_dialect = printed_dialect(connection, dialect)
    options = {
        name: arguments[name]
        for name in ("connection", "create_table", "create_view", "insert", "overwrite_by")
    }
    call = Request.from_arguments(
        arguments, requested_names=True, command="sql", options={**options, "audit": audit or None}
    )
    if rollup is not None:
        from sqlrank.rollups.evaluate_rollup import rollup_query_sql  # as for evaluate

        return rollup_query_sql(
            call,
            rollup,
            connection,
            target_dialect,
            (create_table, create_view, insert),
            overwrite_by,
        )
    from sqlrank.output.table_writes import (  # evaluate reads none
        delete_insert_script,
        wrap_for_storage,
    )

    request = resolve_request(call)
    if (
        connection is None
        and not get_dialect(target_dialect).supports_md5
        and request.confidence is not None
        and request.confidence.is_bootstrap
    ):
        raise MetricError(
            f"{target_dialect} has no MD5, by which units are drawn. Evaluate through connection=,"
            " or choose another interval"
        )
    with open_for_inspection(connection, target_dialect, request.sources.values()) as database:
        if audit:
            return audit_text(*prepare_audit(request, database), database.dialect)
        prepared = prepare_statement(request, database)
        read_tables = [
            bound_input.table.display_from_item for bound_input in prepared.inputs.by_role.values()
        ]
        wrapped = wrap_for_storage(
            prepared.statement, target_dialect, create_table, create_view, insert, read_tables
        )
        if overwrite_by is not None:
            return delete_insert_script(
                prepared.statement,
                wrapped,
                target_dialect,
                overwrite_by,
                insert,
                database.can_materialize_ctes,
            )
        return replace(prepared, statement=wrapped).rendered.text


@entry_point
def metrics(sql_dir: str | Path | None = None, *, search: str | None = None) -> pa.Table:
    """List all metrics: name, family, parameters, relation, source and description; or search
    metrics, policies, commands and pages.

    Args:
        sql_dir: a directory with metrics of your own, which are listed, too. A text that is no
            directory is searched.
        search: words, a part of a name, description or synonym, or the name of a family.

    Returns:
        A row per metric, all of whose columns are texts; of a search a row per result, the best
        first.

    Raises:
        ContractError: a file of ``sql_dir`` violates the contract.

    >>> import sqlrank
    >>> "nDCG" in sqlrank.metrics()["name"].to_pylist()
    True
    >>> sqlrank.metrics("click probability")["name"].to_pylist()[0]
    'LogLoss'
    """
    # Long
    is_search = (
        search is None
        and isinstance(sql_dir, str)
        and os.sep not in sql_dir
        and not os.path.isdir(sql_dir)  # noqa: PTH112
    )
    if is_search:
        search, sql_dir = str(sql_dir), None
    library = registry_for(sql_dir)
    rows = list_metrics(library, None) if search is None else search_metrics(library, search)
    # Notebooks show tables with metadata of sqlrank as the terminal does.
    metadata = {"sqlrank.version": __version__}
    fields = [(name, pa.string()) for name in METRIC_INFO_COLUMNS]
    return table_from_rows(rows, pa.schema(fields, metadata))


@entry_point
def parse(text: str, sql_dir: str | Path | None = None) -> Metric:
    """Parse the text of a metric; ``str()`` of the result is canonical and parses back.

    Args:
        text: a metric, such as ``"nDCG(gain=exp2)@10"``.
        sql_dir: a directory with metrics of your own.

    Returns:
        The metric with its name, parameters and cut-off.

    Raises:
        MetricError: the text cannot be parsed, or the metric does not exist.

    >>> import sqlrank
    >>> sqlrank.parse("ndcg( gain = exp2 )@10")
    Metric(name='nDCG', params=(('gain', 'exp2'),), cutoff=10)
    """
    return metric_resolver.parse_canonical(text, registry_for(sql_dir))


@entry_point
def query(statement: str | Path) -> QuerySource:
    """Return a source whose rows are those of a query, in the SQL of the engine; the path of a file
    stands for the query in it.

    A text that begins with SELECT, WITH or FROM is a query in any case; this says so of every text.
    It is one SELECT, and is trusted as a view is: it may call any function that its connection may.
    It is computed once where it is evaluated on DuckDB.

    Args:
        statement: the text of the query, or the path of its file.

    Returns:
        A source for ``run``, ``qrels``, ``predictions``, ``queries`` and ``inputs``.

    Raises:
        InputError: the file cannot be read.

    >>> import sqlrank
    >>> run = sqlrank.query(
    ...     "SELECT 'q1' AS query_id, 'd' || i AS doc_id, -i AS score FROM range(5) AS t(i)"
    ... )
    >>> sqlrank.show(sqlrank.evaluate("MRR", run=run, qrels={"q1": {"d2": 1}}))
       MRR
    0.3333
    """
    # Returns False for texts that are too long for a path
    if isinstance(statement, str) and not os.path.isfile(statement):  # noqa: PTH113
        return QuerySource(statement)
    try:
        return QuerySource.from_file(statement)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"statement={str(statement)!r} cannot be read: {error}") from None
