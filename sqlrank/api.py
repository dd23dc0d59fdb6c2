"""The public functions: evaluate, sql, metrics and parse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.arguments import public
from sqlrank.call import Call, leaves
from sqlrank.engines import remote
from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.duckdb import Limits
from sqlrank.engines.files import is_meant
from sqlrank.engines.looking import looked_at
from sqlrank.engines.render import render
from sqlrank.errors import MetricError
from sqlrank.evaluation import answer
from sqlrank.library import settings
from sqlrank.library.listing import COLUMNS, listed
from sqlrank.library.shelf import library_of
from sqlrank.plans.choice import check_plan
from sqlrank.prepare import prepare
from sqlrank.question import look_up
from sqlrank.results.replacing import replacing
from sqlrank.results.store import store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.inputs.checks import Check
    from sqlrank.library.metric import Metric


@public
def evaluate(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    state: Any = None,
    rolling: int | None = None,
    ends: str | None = None,
    connection: Any = None,
    dialect: str | None = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    where: str | None = None,
    per_query: bool = False,
    confidence: float | None = None,
    interval: str = "auto",
    unit: str | None = None,
    replicates: int | None = None,
    seed: int = 0,
    compat: str | None = None,
    check: Check = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Any,
) -> pa.Table:
    """Evaluate metrics where the data are, and return an Arrow table with a float64 column for each.

    A source is the name of a table or view of ``connection``, a Parquet, CSV, JSON or TREC file, a pattern or a folder, a DuckDB
    relation, anything that speaks the Arrow stream protocol (pyarrow, Polars, pandas), a Polars LazyFrame, a map such as
    ``{"q1": {"d1": 1.2}}``, or a list of these, which are one table.

    Args:
        metrics: what to compute, such as ``["nDCG@10", "AP", "P(rel=2)@5"]``; :func:`sqlrank.metrics` lists all.
        run: documents retrieved: ``query_id``, ``doc_id``, and ``score`` (number) or ``rank`` (integer). Several are a
            map from names to runs, or a list, and ``by`` includes ``system``.
        qrels: judgments: ``query_id``, ``doc_id``, ``relevance`` (number); not needed where no metric reads judgments.
        predictions: for metrics of predictions ``label`` (number), ``score`` (number) and, if there is one, ``weight`` (number
            from 0); for metrics of rankings run and judgments in one table: ``query_id``, ``doc_id``, ``score``, ``label``, where a
            NULL label is no judgment.
        queries: optional, the queries to evaluate: ``query_id``, ``weight`` (number from 0), and attributes to slice by; or one of ``"truth"``,
            ``"intersect"``, ``"run"`` and ``"strict"``: which queries count (``topics=`` says that beside a table).
        inputs: sources of further roles, by name: ``history``, ``items``, ``features``, ``baseline``, or those that ``sql_dir`` declares.
        state: sums that :func:`sqlrank.state` made, in the place of predictions or rankings: metrics of an order have their ``M.least`` and
            ``M.greatest`` beside them, and ``days`` (if it has a column ``day``) and ``rows`` say what was added up.
        rolling: of a state how many days each row is of, such as 28: a row for each ``day`` of the state (and group of ``by``), with the metrics
            of the days up to it; ``days`` says how many of them there were. A group has rows where it has any in these days.
        ends: a condition in SQL on the days at which these windows end, such as ``"day >= '2026-01-01'"``; ``where`` is one on what is added up.
        connection: a DuckDB connection, the path of a DuckDB file (opened read-only), or None for one in memory; or a connection
            to another database, where sources are names of tables, and nothing is uploaded: one of PEP 249 (psycopg, sqlite3,
            Snowflake, BigQuery, Databricks, Trino, ClickHouse), one of ADBC, a SparkSession, a chdb session, a DataFusion context.
        dialect: the SQL that ``connection`` speaks, if its class does not tell.
        columns: canonical column names to yours, such as ``{"query_id": "user_id"}``, for one input ``{"run.query_id": "term"}``, or to an
            expression in the SQL of the engine (``{"weight": "1 / propensity"}``); of predictions several score columns
            (``{"score": ["old", "new"]}``), each evaluated.
        by: columns that tell rankings apart (systems, days) or slice queries, or expressions (``"day=DATE(ts)"``); a list of lists gives several groupings at
            once, ``[]`` among them the total: rows have NULL in the columns that they sum over, and a column ``slice`` names their
            grouping by its columns, or ``all``. NULL is a group of its own.
        where: a condition in SQL on the rows that are read, such as ``"day = '2026-01-01'"``; with several inputs those that
            have a column of that name are told apart by ``"run.day = ... AND qrels.day = ..."``.
        per_query: one row per query instead of the aggregate.
        confidence: such as 0.95: after each metric ``M`` the limits of its interval, ``M.low`` and ``M.high``, its standard error
            ``M.se`` (float64) and its units ``M.units`` (int64: queries, or rows of predictions; of a state folds, which it needs for
            this), NULL where there is none.
        interval: ``"auto"`` (Wilson's for shares, else Student's), ``"wilson"``, ``"t"``, ``"normal"`` or ``"bootstrap"``.
        replicates: how often units are drawn for ``"bootstrap"``: 999 of values of queries, 199 of rows of predictions unless said.
        seed: of what is drawn; the same seed draws the same.
        unit: the column of predictions, or an expression, that says what was drawn on its own, such as ``"user_id"``: ``query_id`` if
            they have it, else each row.
        compat: reproduce the numbers of a tool: ``"trec10"``, ``"sklearn"``, ``"ranx"``, ...
        check: ``"auto"``, ``"full"`` (search all rows for duplicates, however many) or ``"off"``.
        sql_dir: a folder with metrics, relations and functions of your own.
        plan: how things are computed, such as ``{"order": "bucketed"}``; chosen from the data and the engine otherwise.
        memory_limit: of this process, such as ``"2GB"``; what does not fit is spilled to ``temp_directory``. This and the other
            limits hold on DuckDB only and are refused elsewhere.
        threads: how many threads DuckDB uses, at most eight times as many as there are cores.
        temp_directory: where to spill; a folder that is removed afterwards unless given.
        timeout: seconds after which the query is cancelled.
        progress: called with the percentage done; on other databases than DuckDB with 0 and 100.
        **policies: ``ties``, ``queries``, ``no_relevant``, ``unjudged``, ``depth``, ``rel``, ``aggregate``, ...

    Returns:
        The ``by`` columns, ``slice`` if there are several groupings, ``query_id`` if ``per_query``, ``k`` if a range of cut-offs was asked for, then one float64
        column per metric under its canonical name; rows in the order of the columns before the metrics. Undefined is
        NULL. A curve such as ``"ROC"`` has a row per ``point`` (int64). The schema's metadata: the statement (``sqlrank.sql``), rows
        searched for duplicates (``sqlrank.duplicates_searched``), the plan of a global order (``sqlrank.strategy``), and as JSON what
        each column is (``sqlrank.columns``) and what is known of its metrics (``sqlrank.measures``); :func:`sqlrank.chart` reads these.

    Raises:
        MetricError: a metric, parameter or policy that does not exist or does not fit.
        InputError: data that cannot be evaluated, with all problems found.
        ExecutionError: time or memory ran out, or a database refused a statement; its own error is the cause.

    >>> import pyarrow as pa
    >>> run = pa.table({"query_id": [1, 1], "doc_id": ["a", "b"], "score": [0.9, 0.5]})
    >>> qrels = pa.table({"query_id": [1], "doc_id": ["b"], "relevance": [1]})
    >>> evaluate(["RR", "P@1"], run=run, qrels=qrels).to_pylist()
    [{'RR': 0.5, 'P@1': 0.0}]
    """
    limits = Limits(memory_limit, threads, temp_directory, timeout)
    if state is not None or rolling is not None or ends is not None:
        from sqlrank.states.reading import answer_of  # noqa: PLC0415  a tenth of a second that most calls do without

        return answer_of(Call.of(metrics, locals(), policies), state, connection, dialect, limits, rolling, ends)
    return answer(Call.of(metrics, locals(), policies), connection, dialect, limits, check, progress)


@public
def sql(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    dialect: str | None = None,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    state: Any = None,
    connection: Any = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    where: str | None = None,
    per_query: bool = False,
    confidence: float | None = None,
    interval: str = "auto",
    unit: str | None = None,
    replicates: int | None = None,
    seed: int = 0,
    create_table: str | None = None,
    create_view: str | None = None,
    insert: str | None = None,
    replace: str | None = None,
    compat: str | None = None,
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    **policies: Any,
) -> str:
    """Return the statement that :func:`evaluate` would run, in the SQL of an engine: ``dialect``, or what ``connection`` speaks.

    Sources are names of tables or files, or several as :func:`evaluate` takes them. If they can be read here (a file, or a table of
    ``connection``), their columns are looked up, and the text is that of :func:`evaluate` but for the columns that its checks add;
    otherwise ``by`` columns are taken to be columns of the run, or of the input named before a dot: ``"queries.country"``, and
    ``"qrels.day"`` for one that run and qrels share. Predictions that cannot be looked at have weights if ``columns`` name them:
    ``{"weight": "weight"}``.

    Names of tables and columns are read as the engine reads them: ``campaign`` is ``CAMPAIGN`` for Snowflake, while a name in quotes stands as it is.

    ``where`` is a condition in the SQL of the engine, such as ``"day = CURRENT_DATE"``; a column of a run or qrels that cannot be
    looked at is named with its input: ``"run.day = CURRENT_DATE"``. ``create_table`` and ``create_view`` name what to make of the
    result, replaced if it is there and the engine does that in one statement; ``insert`` the table to add the rows to, by the
    names of its columns. With ``replace``, a column of ``by`` such as ``"day"``, the rows which that table has for the days of the
    result are deleted before: a script of two statements, in a transaction where the engine has one.

    ``state`` is what :func:`sqlrank.state_sql` made, in the place of other sources: metrics of an order have ``_least`` and ``_greatest``, all
    ``num_rows``, and ``days`` if it can be looked up; over rows of several definitions they are NULL.

    Raises:
        MetricError: as :func:`evaluate`, and for what the dialect cannot express.
        InputError: a name or a condition that is none.

    >>> print(sql("P@5", run="run", qrels="qrels").splitlines()[-3])
    SELECT
    """
    spoken = remote.spoken_by(connection, dialect) if connection is not None else dialect or "duckdb"
    dialect_of(spoken)
    call = Call.of(metrics, locals(), policies)
    if state is not None:
        from sqlrank.states.written import text_of  # noqa: PLC0415  as for evaluate

        return text_of(call, state, connection, spoken, (create_table, create_view, insert), replace)
    question = look_up(call)
    check_plan(question, spoken)
    if spoken == "sqlite" and connection is None and question.confidence is not None and question.confidence.is_drawn:
        raise MetricError("SQLite has no MD5, by which units are drawn; evaluate through connection=, or choose another interval")
    has_files = any(is_meant(each) for source in question.sources.values() for each in leaves(source))
    with looked_at(connection, spoken, has_files) as database:
        prepared = prepare(question, database)
        read = [item.table.written for item in prepared.columns.inputs.values()]
        stored = store(prepared.statement, spoken, create_table, create_view, insert, read)
        if replace is not None:
            return replacing(prepared.statement, stored, spoken, replace, insert, database.keeps)
        return render(stored.tree, stored.stamp, spoken, database.keeps)


@public
def metrics(sql_dir: str | Path | None = None, *, word: str | None = None) -> pa.Table:
    """Return what can be asked for: name, family, parameters, relation, source and description of every metric.

    With a ``word``, of those only in whose name, description or other names it stands, in any case, or whose family it is.

    >>> "nDCG" in metrics()["name"].to_pylist()
    True
    """
    return pa.Table.from_pylist(listed(library_of(sql_dir), word), pa.schema([(name, pa.string()) for name in COLUMNS]))


@public
def parse(text: str, sql_dir: str | Path | None = None) -> Metric:
    """Return a metric from its text; ``str()`` of it is canonical and parses back.

    Raises:
        MetricError: the text cannot be read, or there is no such metric.

    >>> parse("ndcg( gain = exp2 )@10")
    Metric(name='nDCG', params=(('gain', 'exp2'),), cutoff=10)
    """
    return settings.parse(text, library_of(sql_dir))
