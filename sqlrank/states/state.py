"""Make a state: one small table of sums per day and slice, of bins of the score or of lists, from which metrics of any days follow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.arguments import public
from sqlrank.call import Call, leaves
from sqlrank.engines import remote
from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.duckdb import Limits
from sqlrank.engines.files import is_meant
from sqlrank.engines.looking import done_on, looked_at
from sqlrank.engines.render import render
from sqlrank.errors import MetricError
from sqlrank.evaluation import evaluated
from sqlrank.prepare import prepare
from sqlrank.results.replacing import replacing
from sqlrank.results.store import store
from sqlrank.states.batches import Batch
from sqlrank.states.bins import FINENESS, Bins
from sqlrank.states.folds import Folds
from sqlrank.states.kept import keep
from sqlrank.states.made import defined, question_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

    from sqlrank.inputs.checks import Check
    from sqlrank.library.metric import Metric
    from sqlrank.statement.statement import Statement


@public
def state(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    predictions: Any = None,
    run: Any = None,
    qrels: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    by: str | Sequence[str] = (),
    bins: str = "grid",
    fineness: int = FINENESS,
    atoms: Sequence[float] = (),
    fold: str | None = None,
    folds: int | None = None,
    connection: Any = None,
    dialect: str | None = None,
    columns: Mapping[str, Any] | None = None,
    where: str | None = None,
    insert: str | None = None,
    replace: str | None = None,
    batch: str | None = None,
    negative: bool = False,
    only: str | None = None,
    check: Check = "auto",
    sql_dir: str | Path | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    **policies: Any,
) -> pa.Table:
    """Return the sums from which metrics follow for any range of days and any roll-up of slices, by :func:`sqlrank.evaluate` with ``state=``.

    Args:
        metrics: what the state has to have: sums over predictions, such as LogLoss, and metrics of their order, such as AUC; or metrics of rankings
            that have a value per list, such as nDCG@10.
        predictions: as for :func:`sqlrank.evaluate`, as are ``run``, ``qrels``, ``queries`` and ``inputs`` for metrics of rankings.
        run: see ``predictions``.
        qrels: see ``predictions``.
        queries: see ``predictions``.
        inputs: see ``predictions``.
        by: the columns that rows can be chosen and rolled up by later, the day among them: ``["day", "campaign"]``.
        bins: ``"grid"``, steps of the 16th root of the score, or ``"score"``, each score by itself: exact, for few of them.
        fineness: steps of the grid between 0 and 1.
        atoms: scores with bins of their own beside the grid, such as those that many rows have, which the curve ``CommonScores`` finds.
        fold: the column of predictions, or an expression, that says what was drawn on its own, such as ``"user_id"``, or of rankings ``"query_id"``
            or a column of ``queries``: rows are told apart by a ``fold`` of these, too, from which :func:`sqlrank.evaluate` has intervals.
        folds: how many folds there are, 32 unless said: a state has up to as many times the rows.
        connection: where the data are.
        dialect: the SQL that ``connection`` speaks, if its class does not tell.
        columns: canonical column names to yours.
        where: a condition in SQL on the rows that are read.
        insert: a table of ``connection``, a DuckDB one, to add the rows to; made if it is not there.
        replace: a column of ``by``, such as ``"day"``: rows of that table for the days of the result are replaced.
        batch: a name for these rows, as the column ``batch``; ``insert`` refuses one that the table has already, so that nothing counts twice.
        negative: whether the rows are taken back from those that are there already: their sums and counts are below zero.
        only: a condition in SQL on which rows a batch is of, which is no part of the definition: ``"user_id IN (7, 9)"``.
        check: as for :func:`sqlrank.evaluate`.
        sql_dir: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        **policies: parameters that hold for all metrics.

    Returns:
        A row per group of ``by``, ``fold`` (int64) if it is asked for, and bin: ``bin``, ``positives``, ``negatives``, ``score_min`` and ``score_max`` if metrics of an order are
        asked for, ``num_rows`` and a column per further sum, all float64, and ``definition`` (text), which tells rows that may be added up
        from others; ``batch`` (text) if one is named. Of rankings a row per group of ``by``: ``num_rows``, how many lists, and of the values of
        each metric how many there are, their sum, that of their squares, the least and the greatest.

    Raises:
        MetricError: a metric that no sums of days give, with those that they do.
        InputError: data that cannot be evaluated, a table of another definition, or a batch that it has already.

    >>> import pyarrow as pa
    >>> clicks = pa.table({"day": [1, 1], "label": [1, 0], "score": [0.75, 0.25]})
    >>> state("AUC", predictions=clicks, by="day").select(["day", "bin", "positives", "negatives"]).to_pylist()
    [{'day': 1, 'bin': 939.0, 'positives': 0.0, 'negatives': 1.0}, {'day': 1, 'bin': 1005.0, 'positives': 1.0, 'negatives': 0.0}]
    """
    call = Call.of(metrics, locals(), policies)
    spoken = remote.spoken_by(connection, dialect)
    of_folds = Folds.of(fold, folds)
    question, definition = question_of(call, spoken, Bins.of(bins, fineness, atoms), of_folds)
    marked = Batch.of(batch, is_negative=negative, only=only, replaced=replace)
    limits = Limits(memory_limit, threads, temp_directory, timeout)
    if replace is not None and (insert is None or replace not in question.by):
        raise MetricError(
            f"replace={replace!r} is a column of by, of the rows of insert= that are replaced; by is {', '.join(question.by) or 'empty'}"
        )
    if insert is not None and connection is None:
        raise MetricError("insert= needs connection= (--db), the DuckDB connection or file that has the table, or is to have it")
    if insert is not None and not remote.is_duckdb(connection):
        raise MetricError(
            "insert= is run on DuckDB; for another engine sqlrank.state_sql (sqlrank state --sql) writes the statement to run there"
        )
    is_new = insert is not None and isinstance(connection, (str, Path)) and not Path(connection).exists()
    asked = question if marked is None else marked.read(question, spoken)

    def made(statement: Statement) -> Statement:
        held = defined(statement, definition, question, of_folds)
        return held if marked is None else marked.marked(held)

    found = done_on(None if is_new else connection, spoken, limits, lambda database: evaluated(asked, database, check, made))
    found = found.replace_schema_metadata({"sqlrank.version": __version__})
    if insert is not None:
        keep(found, connection, insert, replace)
    return found


@public
def state_sql(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    predictions: Any = None,
    run: Any = None,
    qrels: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    by: str | Sequence[str] = (),
    bins: str = "grid",
    fineness: int = FINENESS,
    atoms: Sequence[float] = (),
    fold: str | None = None,
    folds: int | None = None,
    connection: Any = None,
    dialect: str | None = None,
    columns: Mapping[str, Any] | None = None,
    where: str | None = None,
    create_table: str | None = None,
    insert: str | None = None,
    replace: str | None = None,
    batch: str | None = None,
    negative: bool = False,
    only: str | None = None,
    sql_dir: str | Path | None = None,
    **policies: Any,
) -> str:
    """Return the statement that makes a state in the SQL of an engine; ``create_table``, ``insert`` and ``replace`` as for :func:`sqlrank.sql`.

    With ``batch`` the statement adds no rows to a table that has rows of that batch, so that it may run twice.

    Raises:
        MetricError: as :func:`state`, and for what the dialect cannot express.
        InputError: a name or a condition that is none.

    >>> print(state_sql("AUC", predictions="clicks", by="day", dialect="bigquery").splitlines()[1])
    WITH predictions AS (
    """
    call = Call.of(metrics, locals(), policies)
    spoken = remote.spoken_by(connection, dialect) if connection is not None else dialect or "duckdb"
    dialect_of(spoken)
    if spoken == "sqlite" and connection is None and fold is not None:
        raise MetricError("SQLite has no MD5, by which folds are told; make the state through connection=, or give it a function md5")
    of_folds = Folds.of(fold, folds)
    question, definition = question_of(call, spoken, Bins.of(bins, fineness, atoms), of_folds)
    has_files = any(is_meant(each) for source in question.sources.values() for each in leaves(source))
    marked = Batch.of(batch, is_negative=negative, only=only, replaced=replace)
    question = question if marked is None else marked.read(question, spoken)
    with looked_at(connection, spoken, has_files) as database:
        prepared = prepare(question, database)
        made = defined(prepared.statement, definition, question, of_folds)
        made = made if marked is None else marked.marked(made)
        read = [item.table.written for item in prepared.columns.inputs.values()]
        stored = store(made, spoken, create_table, None, insert, read)
        if replace is not None:
            return replacing(made, stored, spoken, replace, insert, database.keeps)
        if marked is not None and insert is not None:
            stored = marked.once(stored)
        return render(stored.tree, stored.stamp, spoken, database.keeps)
