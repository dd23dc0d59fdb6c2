"""Compute, insert or print sums per day, group and score bin, or a dbt model of them: the public
functions ``rollup`` and ``rollup_sql``.
"""

from __future__ import annotations

import dataclasses
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.call.argument_checks import entry_point
from sqlrank.call.request import Request, request_command, setting_text
from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.row_keys import key_equalities
from sqlrank.compiler.statement import BUCKET_COLUMN, CompiledStatement
from sqlrank.engines.database import NamesOnlyDatabase
from sqlrank.engines.duckdb_session import claim_during, explain_duckdb_error, is_write_error
from sqlrank.engines.open_database import ExecutionOptions, open_for_inspection
from sqlrank.engines.query_sources import parse_table_name
from sqlrank.engines.remote_database import infer_dialect, is_duckdb_connection, printed_dialect
from sqlrank.errors import (
    ExecutionError,
    InputError,
    MetricError,
    first_line,
    join_words,
    short_repr,
)
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.output.dbt import (
    APPENDS_COLUMNS,
    DbtModel,
    check_name,
    dbt_relation,
    model_text,
    schema_yaml,
)
from sqlrank.output.table_writes import (
    delete_insert_script,
    resolve_group_column,
    without_order,
    wrap_for_storage,
)
from sqlrank.rendering.dialects import DIALECTS, get_dialect
from sqlrank.result_metadata import left_out_metadata, read_left_out
from sqlrank.rollups.build import (
    DEFAULT_BINS,
    Definition,
    JackknifeBuckets,
    ScoreBinning,
    add_definition_column,
    resolve_rollup_request,
)
from sqlrank.rollups.decomposition import (
    BATCH_COLUMN,
    DAY_COLUMN,
    DEFINITION_COLUMN,
    describe_group,
    merge_class,
    select_row_keys,
)
from sqlrank.run.execution import execute_resolved
from sqlrank.run.prepare import prepare_statement
from sqlrank.sql_ast import (
    count_rows,
    is_null,
    output_identifier,
    quoted_column,
    sql_literal,
    take_first,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    import pyarrow as pa

    from sqlrank.call.resolve import ResolvedRequest
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.option_types import DialectName, RollupPolicies
    from sqlrank.registry.metric import Metric


@dataclass(frozen=True)
class Batch:
    """A named batch of rows; ``is_retraction`` marks retractions.

    ``where`` is a SQL condition on the rows to read, in addition to ``where``.
    """

    name: str
    is_retraction: bool = False
    where: str | None = None

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Batch | None:
        """Return the batch of a call, or None; raise ``MetricError`` for conflicting options."""
        name, batch_where = arguments["batch"], arguments.get("batch_where")
        is_retraction = bool(arguments.get("retract"))
        if name is None:
            if is_retraction or batch_where is not None:
                what = "retract=" if is_retraction else "batch_where="
                raise MetricError(
                    f"{what} needs batch=, a name for these rows, such as '2026-03-05-corrections',"
                    " so that none is added twice"
                )
            return None
        if not isinstance(name, str) or not name.strip():
            raise MetricError(
                f"batch={short_repr(name)} is no name. Give one such as '2026-03-05-corrections'"
            )
        if is_retraction and arguments.get("overwrite_by") is not None:
            raise MetricError(
                "retract= subtracts rows from sums that stay, and overwrite_by= deletes these."
                " Leave one of them out"
            )
        return cls(name, is_retraction, batch_where)

    def restrict(self, request: ResolvedRequest, dialect: str) -> ResolvedRequest:
        """Return the request restricted to the rows of the batch; raise ``InputError`` for an
        invalid condition.
        """
        if self.where is None:
            return request
        where = request.where
        parse_condition(self.where, dialect, "batch_where")
        both = self.where if where is None else f"({where}\n) AND ({self.where}\n)"
        return replace(request, where=both)

    def add_batch_column(self, statement: CompiledStatement) -> CompiledStatement:
        """Add the batch column to a rollup's statement, and negate its sums for retractions."""
        tree: Any = statement.tree.copy()
        if self.is_retraction:
            for select_item, output in zip(tree.selects, statement.outputs, strict=True):
                if output.kind == "value" and merge_class(output.name) is exp.Sum:
                    # Subtract from zero: a negated zero would be shown as -0.
                    select_item.set("this", 0 - exp.paren(select_item.this))
        tree.select(sql_literal(self.name).as_(BATCH_COLUMN), copy=False)
        return CompiledStatement(
            tree,
            [*statement.outputs, OutputColumn(BATCH_COLUMN, BATCH_COLUMN, "id")],
            statement.header,
        )

    def insert_once(self, stored: CompiledStatement) -> CompiledStatement:
        """Return the INSERT statement with a condition: the table has no rows of this batch.

        It may therefore run again.
        """
        return _if_none(stored, exp.column(BATCH_COLUMN).eq(self.name))


def add_new(stored: CompiledStatement) -> CompiledStatement:
    """Return the INSERT statement restricted to days and groups that the table does not have.

    It may therefore run again.
    """
    outputs = zip(stored.tree.expression.selects, stored.outputs, strict=True)
    keys = [
        output_identifier(select_item) for select_item, output in outputs if output.kind == "by"
    ]
    if not keys:
        return _if_none(stored, None)
    target = stored.tree.this.this.copy()
    existing = (
        exp.select(*(exp.column(name) for name in keys), "1 AS is_there")
        .distinct()
        .from_(target)
        .subquery("there")
    )
    pairs = ((exp.column(name, table=side) for side in ("added", "there")) for name in keys)
    is_same_group = exp.and_(
        *(
            exp.paren(exp.NullSafeEQ(this=new_key, expression=existing_key))
            for new_key, existing_key in pairs
        )
    )
    is_new = is_null(exp.column("is_there", table="there"))
    return _with_rows(
        stored, lambda query: query.join(existing, on=is_same_group, join_type="left").where(is_new)
    )


def _if_none(stored: CompiledStatement, condition: exp.Expr | None) -> CompiledStatement:
    """Return the INSERT statement restricted to tables without matching rows, or without any
    rows.
    """
    existing_rows = exp.select(count_rows().as_("rows_there")).from_(stored.tree.this.this.copy())
    existing_rows = existing_rows if condition is None else existing_rows.where(condition)
    # Filter on a joined row, so that no engine pushes the condition below the aggregate.
    is_new = exp.column("rows_there", table="there").eq(0)
    return _with_rows(
        stored,
        lambda query: query.join(existing_rows.subquery("there"), join_type="cross").where(is_new),
    )


def _with_rows(
    stored: CompiledStatement, choose: Callable[[exp.Select], exp.Select]
) -> CompiledStatement:
    """Return the INSERT statement with its rows, under the alias ``added``, filtered by
    ``choose``.
    """
    tree = stored.tree.copy()
    rows: Any = tree.expression
    ctes = rows.args.pop("with_", None)
    columns = [
        exp.column(output_identifier(select_item), table="added") for select_item in rows.selects
    ]
    query = choose(exp.select(*columns).from_(rows.subquery("added")))
    query.set("with_", ctes)
    tree.set("expression", query)
    return replace(stored, tree=tree)


@dataclass(frozen=True)
class RollupPlan:
    """A rollup to build: its call, the resolved request, and the columns beside its sums."""

    call: Request
    bins: ScoreBinning
    request: ResolvedRequest
    definition: Definition
    batch: Batch | None

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any], dialect: str) -> RollupPlan:
        """Resolve the arguments of a call; raise ``MetricError`` for invalid ones."""
        call = Request.from_arguments(arguments, leave_out=["unit"])  # of the buckets
        bins = ScoreBinning.from_arguments(
            arguments["binning"], arguments["n_bins"], arguments["exact_scores"]
        )
        buckets = JackknifeBuckets.from_arguments(arguments["unit"], arguments["n_buckets"])
        request, definition = resolve_rollup_request(call, dialect, bins, buckets)
        batch = Batch.from_arguments(arguments)
        return cls(
            call,
            bins,
            request if batch is None else batch.restrict(request, dialect),
            definition,
            batch,
        )

    def add_columns(self, statement: CompiledStatement) -> CompiledStatement:
        """Return the statement with the columns of definition and batch."""
        statement = add_definition_column(statement, self.definition, self.request)
        return statement if self.batch is None else self.batch.add_batch_column(statement)


STAGING_VIEW = "sqlrank_new_rollup"
"""Name of the temporary view of the rows to insert."""

INSERT_LOCK = threading.Lock()
"""Lock that serializes inserts of threads, so that each sees the rows committed before.

DuckDB's lock on the file excludes other processes.
"""


def insert_rollup(rows: pa.Table, connection: Any, insert: str, overwrite_by: str | None) -> None:
    """Insert rows into a table, created if missing, in one transaction.

    Rows with the same values of the column ``overwrite_by`` are deleted first.

    Raises:
        InputError: the table has other columns, rows of another definition, or of the same batch or
            days.
        ExecutionError: DuckDB cannot write the table, for instance because another process has the
            file open.
    """
    is_path = not isinstance(connection, duckdb.DuckDBPyConnection)
    target = parse_table_name("insert", insert, "duckdb")
    try:
        with INSERT_LOCK:
            duck = duckdb.connect(str(connection)) if is_path else connection
            try:
                duck.register(STAGING_VIEW, rows)
                with claim_during(duck), _open_transaction(duck):
                    _stage_rows(duck, target, insert, rows, overwrite_by)
            finally:
                if is_path:
                    duck.close()
                else:
                    duck.unregister(STAGING_VIEW)
    except duckdb.Error as error:
        reason = explain_duckdb_error(error)
        if isinstance(error, duckdb.TransactionException) and not is_write_error(error):
            reason = (
                "rows were added to it by a transaction that is not committed, or that this one"
                " does not see yet. Roll back what this connection has begun, and insert again"
                f" ({first_line(error)})"
            )
        raise ExecutionError(f"insert: nothing was added to {insert}: {reason}") from error


@contextmanager
def _open_transaction(duck: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run a block atomically, within the caller's transaction if there is one.

    Two statements outside of a transaction have different transaction ids.
    """
    has_one = len({duck.execute("SELECT TXID_CURRENT()").fetchone() for _ in range(2)}) == 1
    if has_one:
        yield
        return
    duck.begin()
    try:
        yield
    except BaseException:
        duck.rollback()
        raise
    duck.commit()


def _stage_rows(
    duck: duckdb.DuckDBPyConnection,
    target: exp.Table,
    table_name: str,
    rows: pa.Table,
    overwrite_by: str | None,
) -> None:
    staging_view = exp.to_table(STAGING_VIEW)
    create_statement = exp.Create(
        this=target,
        kind="TABLE",
        exists=True,
        expression=exp.select("*").from_(staging_view).limit(0),
    )
    duck.execute(create_statement.sql("duckdb"))
    existing_columns = [
        name
        for name, *_ in (
            duck.execute(exp.select("*").from_(target).limit(0).sql("duckdb")).description or ()
        )
    ]
    if BATCH_COLUMN in existing_columns and BATCH_COLUMN not in rows.column_names:
        raise InputError(
            f"insert: {table_name} has batches. Name that of these rows, such as batch='2026-03-05'"
        )
    if sorted(existing_columns) != sorted(rows.column_names):
        raise InputError(
            f"insert: {table_name} has the columns {', '.join(existing_columns)}, and these rows"
            f" {', '.join(rows.column_names)}: a rollup of other metrics. Insert into another table"
        )
    _conflict_with_inserts(duck, target)
    if overwrite_by is not None:
        is_replaced = exp.Exists(
            this=exp.select("1")
            .from_(exp.alias_(staging_view, "n", table=True))
            .where(*key_equalities([overwrite_by], "n", target.name, nullable=True))
        )
        duck.execute(exp.Delete(this=target, where=exp.Where(this=is_replaced)).sql("duckdb"))
    (definition,) = {*rows[DEFINITION_COLUMN].to_pylist()} or {""}
    other_definitions = (
        exp.select(DEFINITION_COLUMN)
        .from_(target)
        .where(exp.column(DEFINITION_COLUMN).neq(definition))
    )
    if rows.num_rows and (
        conflict := duck.execute(take_first(other_definitions).sql("duckdb")).fetchone()
    ):
        raise InputError(
            f"insert: {table_name} holds rows of the definition {conflict[0]}, and these are of"
            f" {definition}: other metrics, columns, weights, conditions or bins, which cannot be"
            " added up. Insert into another table, or rebuild all days"
        )
    if overwrite_by is None:
        (_check_batch if BATCH_COLUMN in rows.column_names else _check_groups)(
            duck, target, table_name, rows
        )
    names = [exp.to_identifier(name, quoted=True) for name in rows.column_names]
    duck.execute(
        exp.insert(
            exp.select(*(exp.column(name) for name in names)).from_(staging_view),
            target,
            columns=names,
        ).sql("duckdb")
    )


def _conflict_with_inserts(duck: duckdb.DuckDBPyConnection, target: exp.Table) -> None:
    """Rewrite the catalog entry of a table unchanged, so that DuckDB detects concurrent inserts.

    Of two transactions that do so DuckDB aborts one; it does not detect two plain inserts.
    """
    names = [
        identifier.name
        for identifier in (target.args.get("catalog"), target.args.get("db"))
        if identifier is not None
    ]
    names = names or [row[0] for row in duck.execute("SELECT CURRENT_DATABASE()").fetchall()]
    other_databases = duck.execute(
        "SELECT database_name FROM duckdb_databases() WHERE type <> 'duckdb'"
    ).fetchall()
    if not {name for (name,) in other_databases} & set(names):
        unchanged = exp.AlterColumn(this=quoted_column(DEFINITION_COLUMN), drop=True)
        duck.execute(exp.Alter(this=target, kind="TABLE", actions=[unchanged]).sql("duckdb"))


def _check_groups(
    duck: duckdb.DuckDBPyConnection, target: exp.Table, table_name: str, rows: pa.Table
) -> None:
    """Raise ``InputError`` for days and groups that the table already has: they would count
    twice.
    """
    keys = [name for name in select_row_keys(rows.column_names) if name.lower() != BUCKET_COLUMN]
    if not rows.num_rows:
        return
    is_new = exp.Exists(
        this=exp.select("1")
        .from_(exp.to_table(STAGING_VIEW).as_("n"))
        .where(*key_equalities(keys, "n", "t", nullable=True))
    )
    query = (
        exp.select(*(quoted_column(name, "t") for name in keys), "1")
        .from_(exp.alias_(target, "t", table=True))
        .where(is_new)
    )
    if duplicate := duck.execute(take_first(query).sql("duckdb")).fetchone():
        column = next(
            (name for name in keys if name.lower() == DAY_COLUMN), keys[0] if keys else None
        )
        advice = f"overwrite_by={column!r} replaces them" if column else "delete those first"
        raise InputError(
            f"insert: {table_name} has rows of {describe_group(keys, duplicate)} already, which"
            f" would count twice. Nothing was added: {advice}, and a name in batch=, given from the"
            " first insert on, lets others be added to them"
        )


def _check_batch(
    duck: duckdb.DuckDBPyConnection, target: exp.Table, table_name: str, rows: pa.Table
) -> None:
    """Raise ``InputError`` for a batch that the table already has: its rows would count twice."""
    names = rows[BATCH_COLUMN].unique().to_pylist()
    if not names:
        return
    existing = exp.select(BATCH_COLUMN).from_(target).where(exp.column(BATCH_COLUMN).isin(*names))
    if duplicate := duck.execute(take_first(existing).sql("duckdb")).fetchone():
        raise InputError(
            f"insert: {table_name} has rows of the batch {duplicate[0]!r} already, which would"
            " count twice. Nothing was added: name another batch if these rows are others, or"
            " delete those first"
        )


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
    **policies: Unpack[RollupPolicies],
) -> DbtModel:
    """Return a dbt model of a rollup, built day by day with the ``microbatch`` strategy.

    Each run rebuilds the last day, ``lookback`` days before it and missing days. It reads only the
    rows of each day if the source has an ``event_time``. Other arguments are those of
    :func:`sqlrank.rollup`.

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
        lookback: number of days before the last one to rebuild in each run, for labels that arrive
            late.
        binning: as for :func:`sqlrank.rollup`.
        n_bins: as for :func:`sqlrank.rollup`.
        exact_scores: as for :func:`sqlrank.rollup`.
        unit: as for :func:`sqlrank.rollup`.
        n_buckets: as for :func:`sqlrank.rollup`.
        dialect: SQL dialect of the warehouse.
        columns: mapping from canonical column names to those of the source.
        where: a SQL condition on the rows to read; it may contain Jinja.
        batch: name of the model's rows in the column ``batch``, needed if other rows are inserted
            next to them, such as retractions.
        sql_dir: a folder with metrics of your own.
        **policies: parameters that apply to all metrics.

    Returns:
        The model, whose ``sql`` and ``schema`` you write to files.

    Raises:
        MetricError: a metric that cannot be computed from aggregates.
        InputError: an invalid name, an invalid day, or an engine whose adapter cannot replace whole
            batches.

    >>> import sqlrank
    >>> model = sqlrank.rollup_model(
    ...     "AUC", "ads", predictions="clicks", by="day", begin="2026-01-01"
    ... )
    >>> print(model.sql.splitlines()[0][:70])
    {{ config(materialized='incremental', incremental_strategy='microbatch
    """
    arguments = locals()
    check_name(name)
    partitioning = get_dialect(dialect).dbt_microbatch
    if partitioning is None:
        possible = [
            other for other, record in DIALECTS.items() if record.dbt_microbatch is not None
        ]
        raise InputError(
            f"dbt has no microbatch for {dialect} that replaces whole days. Choose from:"
            f" {', '.join(possible)}, or run what sqlrank.rollup_sql (sqlrank rollup --sql --insert"
            " --overwrite-by day) prints"
        )
    rollup_plan = RollupPlan.from_arguments(arguments, dialect)
    request = rollup_plan.request
    database = NamesOnlyDatabase(dialect, dbt_relation, allows_jinja=True)
    statement = rollup_plan.add_columns(prepare_statement(request, database).statement)
    # The bin is a key column like the others.
    outputs = [
        dataclasses.replace(output, kind="point") if output.name == "bin" else output
        for output in statement.outputs
    ]
    statement = dataclasses.replace(statement, outputs=outputs)
    event = resolve_group_column(statement, day, dialect, "day").name
    config = {
        "event_time": event,
        "batch_size": "day",
        "begin": _parse_day(begin),
        "lookback": lookback,
    }
    config_arguments = ", ".join(
        f"{key}={value!r}" for key, value in config.items()
    ) + partitioning.format(event)
    model_statement = dataclasses.replace(statement, tree=without_order(statement))
    config_text = (
        "materialized='incremental', incremental_strategy='microbatch',"
        f" {config_arguments}{APPENDS_COLUMNS}"
    )
    options = {
        name: arguments[name] for name in ("metrics", "by", "columns", "where", "unit", "batch")
    } | policies
    text = model_text(config_text, model_statement, dialect, options)
    description = (
        f"Sums per {join_words(request.group_labels.values())} that sqlrank evaluate --rollup adds"
        f" up (sqlrank {__version__})"
    )
    return DbtModel(text, schema_yaml(name, description, model_statement, request, dialect))


def _parse_day(begin: Any) -> str:
    """Return the first day as ISO text; raise ``InputError`` if it is not a date."""
    try:
        return (begin if isinstance(begin, date) else date.fromisoformat(str(begin))).isoformat()[
            :10
        ]
    except ValueError:
        raise InputError(f"begin={short_repr(begin)} is no day. Write it as 2026-01-31") from None


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
    dialect: DialectName | None = None,
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
    **policies: Unpack[RollupPolicies],
) -> pa.Table:
    """Build a table of mergeable aggregates, from which :func:`sqlrank.evaluate` computes metrics
    with ``rollup=``.

    Metrics follow for any range of days and any roll-up of groups.

    Args:
        metrics: metrics that the rollup must support: sums over predictions, such as LogLoss; rank
            metrics, such as AUC; or ranking metrics with per-query values, such as nDCG@10.
        predictions: as for :func:`sqlrank.evaluate`; ranking metrics take ``run``, ``qrels``,
            ``queries`` and ``inputs``.
        run: see ``predictions``.
        qrels: see ``predictions``.
        queries: see ``predictions``.
        inputs: see ``predictions``.
        by: key columns to filter and roll up by later, including the day: ``["day", "campaign"]``.
        binning: ``"grid"``, steps of the 16th root of the score, or ``"exact"``, one bin per
            distinct score: exact, for few distinct scores.
        n_bins: number of grid steps between 0 and 1.
        exact_scores: scores with bins of their own in the grid, such as frequent ones; the curve
            ``CommonScores`` finds them.
        unit: the randomization unit, for intervals: a column of predictions or an expression, such
            as ``"user_id"``. For rankings it is ``"query_id"`` or a column of ``queries``. Adds the
            key column ``bucket``.
        n_buckets: number of buckets, 32 by default; a rollup has up to as many times the rows.
        connection: where the data are.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        columns: mapping from canonical column names to those of the source.
        where: a SQL condition on the rows to read.
        insert: a DuckDB table of ``connection`` to insert into, created if missing. Rows of days
            and groups that it already has are refused, unless they are replaced or named as a
            batch.
        overwrite_by: a column of ``by``, such as ``"day"``: existing rows for the days of the
            result are replaced.
        batch: name of these rows in the column ``batch``. ``insert`` refuses a batch that the table
            already has, so that nothing counts twice.
        retract: True to retract existing rows: the sums and counts are negative.
        batch_where: a SQL condition that selects the rows of this batch: ``"user_id IN (7, 9)"``.
            Unlike ``where``, it does not change the definition hash.
        check: as for :func:`sqlrank.evaluate`.
        sql_dir: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        **policies: parameters that apply to all metrics.

    Returns:
        A row per group of ``by``, ``bucket`` (int64) if given, and score bin. Rank metrics have
        ``bin``, ``positives``, ``negatives``, ``score_min`` and ``score_max``. All have
        ``num_rows`` and a column per aggregate (float64), and ``definition_hash`` (text); only rows
        of equal hashes may be merged. ``batch`` (text) exists if one is named. For rankings there
        is a row per group of ``by``: ``num_rows`` is the number of lists. Each metric has the
        count, sum, sum of squares, minimum and maximum of its per-query values. The metadata say
        what policies left out or filled, as for :func:`sqlrank.evaluate`.

    Raises:
        MetricError: a metric that cannot be computed from aggregates, with a list of those that
            can.
        InputError: data that cannot be evaluated, a table of another definition, or a batch or days
            that it already has.

    >>> import pyarrow as pa, sqlrank
    >>> clicks = pa.table({"day": [1, 1], "label": [1, 0], "score": [0.75, 0.25]})
    >>> daily = sqlrank.rollup("AUC", predictions=clicks, by="day")
    >>> sqlrank.show(sqlrank.evaluate("AUC", rollup=daily).select(["AUC"]))
       AUC
    1.0000
    """
    arguments = locals()
    rollup_plan = RollupPlan.from_arguments(arguments, infer_dialect(connection, dialect))
    request, definition = rollup_plan.request, rollup_plan.definition
    options = ExecutionOptions.from_arguments(arguments)
    labels = list(request.group_labels.values())
    if overwrite_by is not None and (insert is None or overwrite_by not in labels):
        raise MetricError(
            f"overwrite_by={overwrite_by!r} is a column of by, of the rows of insert= that are"
            f" replaced. by is {', '.join(labels) or 'empty'}"
        )
    if insert is not None and connection is None:
        raise MetricError(
            "insert= needs connection=, the DuckDB connection or file that has the table, or is to"
            " have it"
        )
    if insert is not None and not is_duckdb_connection(connection):
        raise MetricError(
            "insert= is run on DuckDB. For another engine sqlrank.rollup_sql (sqlrank rollup --sql)"
            " writes the statement to run there"
        )
    is_new = (
        insert is not None and isinstance(connection, (str, Path)) and not Path(connection).exists()
    )
    options = replace(options, connection=None) if is_new else options
    result = options.run(
        lambda database: execute_resolved(request, database, check, rollup_plan.add_columns)
    )
    left_out = read_left_out(result.schema.metadata)
    if request.rolled_up:
        left_out = [replace(entry, metrics=definition.metric_names) for entry in left_out]
    result = result.replace_schema_metadata(
        {"sqlrank.version": __version__, **left_out_metadata(left_out)}
    )
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
    dialect: DialectName | None = None,
    columns: Mapping[str, Any] | None = None,
    where: str | None = None,
    create_table: str | None = None,
    insert: str | None = None,
    overwrite_by: str | None = None,
    batch: str | None = None,
    retract: bool = False,
    batch_where: str | None = None,
    sql_dir: str | Path | None = None,
    **policies: Unpack[RollupPolicies],
) -> str:
    """Return the statement that builds a rollup, in the SQL of an engine.

    A statement may run twice, but it cannot raise an error as :func:`rollup` does. Arguments that
    are not listed are those of :func:`rollup`.

    Args:
        metrics: metrics that the rollup must support.
        dialect: the SQL dialect, such as ``"bigquery"``; by default that of ``connection``, else
            DuckDB's.
        create_table: name of a table to create from the rows.
        insert: name of a rollup to add the rows to. Alone, it adds no days and groups that the
            table already has.
        overwrite_by: a column of ``by`` such as ``"day"``: the rows of the table of ``insert`` for
            the days of the result are deleted first.
        batch: name of the rows. Nothing is added to a table that has rows of that batch.

    Returns:
        The statement, or a script of two with ``overwrite_by``.

    Raises:
        MetricError: as for :func:`rollup`, or a construct that the dialect cannot express.
        InputError: an invalid name or condition.

    >>> import sqlrank
    >>> statement = sqlrank.rollup_sql(
    ...     "AUC", predictions="clicks", by="day", dialect="bigquery"
    ... )
    >>> print(statement.splitlines()[1])
    -- reads: clicks (predictions)
    """
    arguments = locals()
    dialect_name = printed_dialect(connection, dialect)
    if connection is None and not get_dialect(dialect_name).supports_md5 and unit is not None:
        raise MetricError(
            f"{dialect_name} has no MD5, which buckets need. Make the rollup through connection=,"
            " or give it a function md5"
        )
    rollup_plan = RollupPlan.from_arguments(arguments, dialect_name)
    sources = rollup_plan.request.sources.values()
    with open_for_inspection(connection, dialect_name, sources) as database:
        prepared = prepare_statement(rollup_plan.request, database)
        statement = _add_header(
            rollup_plan, rollup_plan.add_columns(prepared.statement), arguments, dialect_name
        )
        read = [
            bound_input.table.display_from_item for bound_input in prepared.inputs.by_role.values()
        ]
        stored = wrap_for_storage(statement, dialect_name, create_table, None, insert, read)
        if overwrite_by is not None:
            return delete_insert_script(
                statement, stored, dialect_name, overwrite_by, insert, database.can_materialize_ctes
            )
        if insert is not None:
            named_batch = rollup_plan.batch
            stored = add_new(stored) if named_batch is None else named_batch.insert_once(stored)
        return replace(prepared, statement=stored).rendered.text


def _add_header(
    rollup_plan: RollupPlan,
    statement: CompiledStatement,
    arguments: Mapping[str, Any],
    dialect: str,
) -> CompiledStatement:
    """Return the statement with the settings and the command of its call in the header."""
    options = {
        "binning": None if arguments["binning"] == "grid" else arguments["binning"],
        "n_bins": None if arguments["n_bins"] == DEFAULT_BINS else arguments["n_bins"],
        "exact_scores": list(rollup_plan.bins.exact_scores),
        "unit": arguments["unit"],
        "n_buckets": arguments["n_buckets"],
    }
    storage, batch_options = (
        {name: arguments[name] for name in names}
        for names in (
            ("connection", "create_table", "insert", "overwrite_by"),
            ("batch", "retract", "batch_where"),
        )
    )
    call = replace(rollup_plan.call, options={**options, **storage, **batch_options, "sql": True})
    settings = [
        setting_text(name, value) for name, value in {**options, **batch_options}.items() if value
    ]
    header = replace(
        statement.header,
        settings=(*statement.header.settings, *settings),
        command=request_command("rollup", rollup_plan.definition.metric_names, call, dialect),
    )
    return replace(statement, header=header)
