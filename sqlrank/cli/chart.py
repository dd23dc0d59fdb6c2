"""The command ``sqlrank chart``."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.call import leaves
from sqlrank.charts.files import check_ending, get_ready
from sqlrank.charts.files import write as draw_to
from sqlrank.cli.console import pairs, problems, progress_bar
from sqlrank.cli.given import asked, groupings, runs
from sqlrank.cli.options import (
    By,
    Check,
    ColumnOf,
    Compat,
    Confidence,
    Database,
    Ends,
    Force,
    Inputs,
    Interval,
    Memory,
    Plan,
    Policy,
    Predictions,
    Qrels,
    Queries,
    Rolling,
    Run,
    Sort,
    SqlDir,
    State,
    TempDirectory,
    Threads,
    Timeout,
    Top,
    Unit,
    Where,
    metric_names,
)  # fmt: skip
from sqlrank.deadline import WORK
from sqlrank.errors import SqlrankError
from sqlrank.library.shelf import library_of
from sqlrank.results.arrange import arranged
from sqlrank.results.targets import check_target

Drawn = Annotated[
    list[str] | None,
    typer.Argument(help="What to draw, such as ROC, nDCG@1..20, or nDCG@10 AP.", autocompletion=metric_names),
]


def chart(
    metrics: Drawn = None,
    run: Run = None,
    qrels: Qrels = None,
    predictions: Predictions = None,
    queries: Queries = None,
    state: State = None,
    rolling: Rolling = None,
    ends: Ends = None,
    db: Database = None,
    result: Annotated[
        Path | None, typer.Option(help="Draw this result instead, a Parquet file that evaluate or compare wrote with -o.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="roc, pr, gain, lift, threshold, calibration, cutoffs, line, heatmap, bars, forest or differences; by itself what fits."
        ),
    ] = None,
    by: By = None,
    where: Where = None,
    confidence: Confidence = None,
    interval: Interval = "auto",
    unit: Unit = None,
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file: .svg, .png, .pdf, .html or .json.")] = None,
    sort: Sort = None,
    top: Top = None,
    check: Check = "auto",
    memory_limit: Memory = None,
    threads: Threads = None,
    temp_directory: TempDirectory = None,
    timeout: Timeout = None,
    force: Force = False,
) -> None:
    """Draw metrics, a curve, or a result that was stored, as a picture or a page."""
    given = dict(locals())
    with problems():
        sources = [*leaves(runs(run)), qrels, predictions, queries, state, db, result, *pairs("--input", input).values()]
        file = _target(output, kind, force, sources)
        if (result is None) is (not metrics):
            raise SqlrankError("name what to draw, such as ROC, or a stored result with --result FILE: one of the two")
    # Under this name the end of the process does not wait for it, if there is nothing to draw.
    started = Thread(target=get_ready, args=(file,), name=WORK, daemon=True)
    started.start()
    with problems(), progress_bar("evaluating") as progress:
        found = (
            _stored(result)
            if result is not None
            else sqlrank.evaluate(**asked(given, "result", "kind", "by", "sort", "top"), by=groupings(by), progress=progress)
        )
    with problems():
        started.join()
        draw_to(sqlrank.chart(arranged(found, library_of(sql_dir), sort, top), kind), file)


def _target(output: Path | None, kind: str | None, is_forced: bool, sources: list[Any]) -> Path:
    """Return where to draw; raise ``SqlrankError`` before anything is computed for what cannot be drawn, or not there."""
    if output is None:
        raise SqlrankError("name the file to draw with -o, such as -o roc.svg")
    check_ending(output)
    from sqlrank.charts.kinds import check_kind  # noqa: PLC0415  half a second that help does not need

    check_kind(kind)
    check_target(output, is_forced, sources)
    return output


def _stored(path: Path) -> Any:
    """Return a result that was stored as Parquet."""
    import pyarrow as pa  # noqa: PLC0415  as in _target
    import pyarrow.parquet as pq  # noqa: PLC0415

    if not path.is_file():
        raise SqlrankError(f"--result {path}: there is no such file; store a result with -o {path.with_suffix('.parquet').name}")
    try:
        return pq.read_table(path)
    except pa.ArrowInvalid:
        raise SqlrankError(f"--result {path}: no Parquet file; other formats do not keep what the columns are") from None
