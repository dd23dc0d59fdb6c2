"""``sqlrank evaluate``: metrics of predictions, printed or written to a file."""

from __future__ import annotations

from functools import partial

import typer

import sqlrank
from sqlrank.call import leaves
from sqlrank.cli.console import pairs, problems, progress_bar
from sqlrank.cli.given import asked, groupings, runs
from sqlrank.cli.options import (
    By,
    Check,
    ColumnOf,
    Compat,
    Confidence,
    Database,
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
)
from sqlrank.errors import SqlrankError
from sqlrank.library.shelf import library_of
from sqlrank.results.arrange import arranged
from sqlrank.results.arrange import with_total as totalled
from sqlrank.results.formats import FOR_PEOPLE, Looks, a_row_per_metric, form_of, write
from sqlrank.results.targets import check_target


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
