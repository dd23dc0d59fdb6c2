"""The ``sqlrank`` command: evaluate, compare, gate, experiment, chart, explain, report, sql, split, state, drift, metrics and learn."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.call import leaves
from sqlrank.cli.chart import chart
from sqlrank.cli.compare import compare, gate
from sqlrank.cli.console import Once, pairs, problems, progress_bar
from sqlrank.cli.drift import drift
from sqlrank.cli.experiment import experiment
from sqlrank.cli.explain import explain
from sqlrank.cli.given import asked, columns, groupings, policies, runs
from sqlrank.cli.learn import learn
from sqlrank.cli.options import (
    By,
    Check,
    ColumnOf,
    Compat,
    Confidence,
    Database,
    DbtModel,
    Dialect,
    Digits,
    Ends,
    Force,
    Inputs,
    Interval,
    Memory,
    Metrics,
    Output,
    PerQuery,
    Plan,
    Policy,
    Predictions,
    Qrels,
    Queries,
    Replace,
    Replicates,
    Rolling,
    Run,
    Seed,
    Sort,
    SqlDir,
    State,
    TempDirectory,
    Threads,
    Timeout,
    Top,
    Total,
    Unit,
    Where,
    Written,
    metric_names,
)  # fmt: skip
from sqlrank.cli.report import report
from sqlrank.cli.split import split
from sqlrank.cli.state import state as make_state
from sqlrank.errors import MetricError, SqlrankError
from sqlrank.library.known import ours
from sqlrank.library.metric import read
from sqlrank.library.shelf import library_of
from sqlrank.results.arrange import arranged
from sqlrank.results.arrange import with_total as totalled
from sqlrank.results.formats import FOR_PEOPLE, Format, Looks, a_row_per_metric, form_of, write, write_dbt_model
from sqlrank.results.targets import check_target

app = typer.Typer(
    name="sqlrank",
    help="Metrics for rankings, recommenders and click models, computed in SQL where the predictions are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # a fifth of a second for boxes round the help
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(cls=Once)
def evaluate(
    metrics: Metrics,
    run: Run = None,
    qrels: Qrels = None,
    predictions: Predictions = None,
    queries: Queries = None,
    state: State = None,
    rolling: Rolling = None,
    ends: Ends = None,
    db: Database = None,
    by: By = None,
    where: Where = None,
    per_query: PerQuery = False,
    confidence: Confidence = None,
    interval: Interval = "auto",
    unit: Unit = None,
    replicates: Replicates = None,
    seed: Seed = 0,
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    format: Written = None,  # noqa: A002  the option's public name
    output: Output = None,
    digits: Digits = None,
    sort: Sort = None,
    top: Top = None,
    with_total: Total = False,
    check: Check = "auto",
    memory_limit: Memory = None,
    threads: Threads = None,
    temp_directory: TempDirectory = None,
    timeout: Timeout = None,
    force: Force = False,
) -> None:
    """Evaluate metrics and print them."""
    given = dict(locals())
    with problems():
        form = form_of(format, output, digits)
        check_target(output, force, [*leaves(runs(run)), qrels, predictions, queries, state, db, *pairs("--input", input).values()])
    with problems(), progress_bar("evaluating") as progress:
        if with_total and not per_query:
            raise SqlrankError("--with-total is for --per-query")
        own = asked(given, "by", "per_query", "sort", "top", "with_total")
        evaluated = partial(sqlrank.evaluate, **own, by=groupings(by), progress=progress)
        result = evaluated(per_query=per_query)
        library = library_of(sql_dir)
        shown = arranged(result, library, sort, top)
        shown = totalled(shown, evaluated(per_query=False)) if with_total else shown
        shown = a_row_per_metric(shown) if confidence is not None and form in FOR_PEOPLE else shown
    with problems():
        write(shown, form, output, Looks.of(shown.column_names, library, digits, with_total))
    searched = result.schema.metadata.get(b"sqlrank.duplicates_searched", b"none").decode()
    if searched not in {"all rows", "none"}:
        typer.echo(f"note: searched for duplicates among {searched} only; --check full searches all", err=True)


@app.command(cls=Once)
def sql(
    metrics: Metrics,
    dialect: Dialect = "duckdb",
    run: Run = None,
    qrels: Qrels = None,
    predictions: Predictions = None,
    queries: Queries = None,
    state: State = None,
    db: Database = None,
    by: By = None,
    where: Where = None,
    per_query: PerQuery = False,
    confidence: Confidence = None,
    interval: Interval = "auto",
    unit: Unit = None,
    replicates: Replicates = None,
    seed: Seed = 0,
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    create_table: Annotated[str | None, typer.Option(help="Make this table of the result, such as project.dataset.metrics.")] = None,
    create_view: Annotated[str | None, typer.Option(help="Make this view of the result.")] = None,
    insert: Annotated[str | None, typer.Option(help="Add the rows of the result to this table.")] = None,
    replace: Replace = None,
    dbt: DbtModel = None,
    materialized: Annotated[str | None, typer.Option(help="How dbt keeps the model: table, view or incremental.")] = None,
    force: Force = False,
) -> None:
    """Print the statement that computes metrics, or that stores them."""
    with problems():
        intervals = {"confidence": confidence, "interval": interval, "unit": unit, "replicates": replicates, "seed": seed}
        options: dict[str, Any] = {
            "dialect": dialect,
            "run": runs(run),
            "qrels": qrels,
            "predictions": predictions,
            "queries": queries,
            "state": state,
            "connection": db,
            "columns": columns(column),
            "by": groupings(by),
            "where": where,
            "per_query": per_query,
            **intervals,
            "compat": compat,
            "sql_dir": sql_dir,
            "plan": pairs("--plan", plan),
            "inputs": pairs("--input", input),
            **policies(policy),
        }
        stored: dict[str, Any] = {"create_table": create_table, "create_view": create_view, "insert": insert}
        if dbt is None:
            if materialized is not None:
                raise SqlrankError("--materialized is for --dbt")
            typer.echo(sqlrank.sql(metrics, **options, **stored, replace=replace) + ";")
            return
        clash = [f"--{name.replace('_', '-')}" for name, value in {"db": db, "state": state, **stored}.items() if value is not None]
        if clash:
            raise SqlrankError(f"{clash[0]} is not for --dbt, which writes a model over models and sources")
        for path in write_dbt_model(dbt, metrics, force, materialized=materialized or "table", replace=replace, **options):
            typer.echo(f"wrote {path}", err=True)


@app.command(cls=Once)
def metrics(
    name: Annotated[
        str | None, typer.Argument(help="Show one metric in full, or list those that a word is said of.", autocompletion=metric_names)
    ] = None,
    sql_dir: SqlDir = None,
    format: Annotated[Format, typer.Option(help="How to write the list.")] = Format.table,  # noqa: A002  the option's public name
) -> None:
    """List the metrics, or show the documentation and the SQL of one."""
    with problems():
        library = library_of(sql_dir)
        try:
            spelled = name if name is None or not name.replace(" ", "").isalpha() else "-".join(name.split())
            found = None if spelled is None else library.asked(ours(read(spelled), library))
        except MetricError:
            if not sqlrank.metrics(sql_dir, word=name).num_rows:
                raise
            found = None
        if found is None:
            write(sqlrank.metrics(sql_dir, word=name).select(["name", "family", "parameters", "description"]), format, None)
        else:
            typer.echo(found.path.read_text("utf-8"), nl=False)


for command in (compare, gate, experiment, chart, explain, report, split, make_state, drift, learn):
    app.command(cls=Once)(command)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"sqlrank {sqlrank.__version__}")
        raise typer.Exit
