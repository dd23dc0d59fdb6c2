"""The ``sqlrank`` command: evaluate, sql, metrics and learn."""

from __future__ import annotations

import inspect
from pathlib import Path  # noqa: TC003  typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Any

import typer

import sqlrank
from sqlrank.cli.console import pairs, problems, progress_bar
from sqlrank.cli.learn import learn
from sqlrank.cli.options import (
    By,
    ColumnOf,
    Compat,
    Confidence,
    Database,
    Inputs,
    Interval,
    Metrics,
    PerQuery,
    Plan,
    Policy,
    Predictions,
    Qrels,
    Queries,
    Run,
    SqlDir,
    Where,
    Written,
    metric_names,
)  # fmt: skip
from sqlrank.engines import DIALECT_NAMES
from sqlrank.errors import MetricError, SqlrankError
from sqlrank.library.metric import freeze, read
from sqlrank.library.shelf import library_of
from sqlrank.results.formats import ENDINGS, Format, a_row_per_metric, write, write_dbt_model

if TYPE_CHECKING:
    from sqlrank.library.metric import Value

app = typer.Typer(
    name="sqlrank",
    help="Metrics for rankings, recommenders and click models, computed in SQL where the predictions are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # a fifth of a second for boxes round the help
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def evaluate(
    metrics: Metrics,
    run: Run = None,
    qrels: Qrels = None,
    predictions: Predictions = None,
    queries: Queries = None,
    db: Database = None,
    by: By = None,
    where: Where = None,
    per_query: PerQuery = False,
    confidence: Confidence = None,
    interval: Interval = "auto",
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    format: Written = None,  # noqa: A002  the option's public name
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to a file instead of standard output.")] = None,
    check: Annotated[str, typer.Option(help="auto, full (search all rows for duplicates) or off.")] = "auto",
    memory_limit: Annotated[str | None, typer.Option(help="Memory DuckDB may use, such as 2GB; the rest is spilled.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads DuckDB may use.")] = None,
    temp_directory: Annotated[Path | None, typer.Option(help="Where to spill.")] = None,
    timeout: Annotated[float | None, typer.Option(min=0.001, help="Seconds after which to give up.")] = None,
) -> None:
    """Evaluate metrics and print them."""
    with problems(), progress_bar("evaluating") as progress:
        result = sqlrank.evaluate(
            metrics,
            run=run,
            qrels=qrels,
            predictions=predictions,
            queries=queries,
            connection=db,
            columns=_columns(column),
            by=_groupings(by),
            where=where,
            per_query=per_query,
            confidence=confidence,
            interval=interval,
            compat=compat,
            check=check,  # type: ignore[arg-type]
            sql_dir=sql_dir,
            plan=pairs("--plan", plan),
            inputs=pairs("--input", input),
            memory_limit=memory_limit,
            threads=threads,
            temp_directory=temp_directory,
            timeout=timeout,
            progress=progress,
            **_policies(policy),
        )
    form = format or (ENDINGS.get(output.suffix.lower()) if output else None) or Format.table
    with problems():
        write(a_row_per_metric(result) if confidence is not None and form in {Format.table, Format.markdown} else result, form, output)
    searched = result.schema.metadata.get(b"sqlrank.duplicates_searched", b"none").decode()
    if searched not in {"all rows", "none"}:
        typer.echo(f"note: searched for duplicates among {searched} only; --check full searches all", err=True)


@app.command()
def sql(
    metrics: Metrics,
    dialect: Annotated[
        str, typer.Option(help=f"One of {', '.join(DIALECT_NAMES)}.", autocompletion=lambda: list(DIALECT_NAMES))
    ] = "duckdb",
    run: Run = None,
    qrels: Qrels = None,
    predictions: Predictions = None,
    queries: Queries = None,
    db: Database = None,
    by: By = None,
    where: Where = None,
    per_query: PerQuery = False,
    confidence: Confidence = None,
    interval: Interval = "auto",
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    create_table: Annotated[str | None, typer.Option(help="Make this table of the result, such as project.dataset.metrics.")] = None,
    create_view: Annotated[str | None, typer.Option(help="Make this view of the result.")] = None,
    insert: Annotated[str | None, typer.Option(help="Add the rows of the result to this table.")] = None,
    dbt: Annotated[
        Path | None,
        typer.Option(help="Write a dbt model, such as models/daily.sql, and daily.yml beside it; inputs are models or sources."),
    ] = None,
    materialized: Annotated[str | None, typer.Option(help="How dbt keeps the model: table, view or incremental.")] = None,
) -> None:
    """Print the statement that computes metrics, or that stores them."""
    with problems():
        options: dict[str, Any] = {
            "dialect": dialect,
            "run": run,
            "qrels": qrels,
            "predictions": predictions,
            "queries": queries,
            "connection": db,
            "columns": _columns(column),
            "by": _groupings(by),
            "where": where,
            "per_query": per_query,
            "confidence": confidence,
            "interval": interval,
            "compat": compat,
            "sql_dir": sql_dir,
            "plan": pairs("--plan", plan),
            "inputs": pairs("--input", input),
            **_policies(policy),
        }
        stored: dict[str, Any] = {"create_table": create_table, "create_view": create_view, "insert": insert}
        if dbt is None:
            if materialized is not None:
                raise SqlrankError("--materialized is for --dbt")
            typer.echo(sqlrank.sql(metrics, **options, **stored) + ";")
            return
        clash = [f"--{name.replace('_', '-')}" for name, value in {"db": db, **stored}.items() if value is not None]
        if clash:
            raise SqlrankError(f"{clash[0]} is not for --dbt, which writes a model over models and sources")
        for path in write_dbt_model(dbt, metrics, materialized=materialized or "table", **options):
            typer.echo(f"wrote {path}", err=True)


@app.command()
def metrics(
    name: Annotated[str | None, typer.Argument(help="Show one metric in full.", autocompletion=metric_names)] = None,
    sql_dir: SqlDir = None,
    format: Annotated[Format, typer.Option(help="How to write the list.")] = Format.table,  # noqa: A002  the option's public name
) -> None:
    """List the metrics, or show the documentation and the SQL of one."""
    with problems():
        if name is None:
            write(sqlrank.metrics(sql_dir).select(["name", "family", "parameters", "description"]), format, None)
            return
        found = library_of(sql_dir).asked(read(name))
        typer.echo(found.path.read_text("utf-8"), nl=False)


app.command()(learn)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"sqlrank {sqlrank.__version__}")
        raise typer.Exit


def _columns(given: list[str] | None) -> dict[str, str | list[str]]:
    """Read names of columns; several for the score are several models."""
    scores = [item for item in given or [] if item.startswith("score=")]
    if len(scores) < 2:  # noqa: PLR2004  one is a name like any other
        return dict(pairs("--column", given))
    others = pairs("--column", [item for item in given or [] if item not in scores])
    return others | {"score": [item.removeprefix("score=") for item in scores]}


def _policies(given: list[str] | None) -> dict[str, Any]:
    """Read policies as metrics' parameters are read, so that ``depth=100`` is a number and ``ties=rank`` a name."""
    if not given:
        return {}
    known = set(inspect.signature(sqlrank.evaluate).parameters) - {"policies", "queries"}
    clash = [name for name in pairs("--policy", given) if name in known]
    if clash:
        raise SqlrankError(f"--policy: unknown policy {clash[0]!r}; it is an option of its own, see --help")
    given = [item.replace("queries=", "topics=", 1) if item.startswith("queries=") else item for item in given]
    read_as = {name: value for item in given for name, value in _params(item)}
    return {
        name: dict(value) if isinstance(value, tuple) and isinstance(value[0], tuple) else freeze(value) for name, value in read_as.items()
    }


def _params(item: str) -> tuple[tuple[str, Value], ...]:
    try:
        return read(f"m({item})").params
    except MetricError:
        raise SqlrankError(f"--policy {item}: cannot read this; write it like ties=rank, depth=100 or gain={{1: 3, 2: 9}}") from None


def _groupings(by: list[str] | None) -> Any:
    if not by:
        return ()
    for item in by:
        if not all(name.strip() for name in item.split(",")):
            raise SqlrankError(f"--by {item!r}: a column has no name; write --by a, --by a,b or --by total")
    if all("," not in item and item != "total" for item in by):
        return by
    return [[] if item == "total" else [name.strip() for name in item.split(",")] for item in by]
