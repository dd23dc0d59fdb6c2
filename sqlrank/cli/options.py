"""Declare options that several commands share, with their types, help and completion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sqlrank.cli.parsing import parse_source
from sqlrank.errors import join_words
from sqlrank.output.display import Format
from sqlrank.registry.loader import load_registry
from sqlrank.rendering import DIALECT_NAMES


def metric_names(incomplete: str) -> list[str]:
    """Complete the name of a metric."""
    names = dict.fromkeys(file.display_name for file in load_registry().metrics.values())
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def _compat_names(incomplete: str) -> list[str]:
    return [name for name in sorted(load_registry().compat_files) if name.startswith(incomplete)]


def _complete_plans(incomplete: str) -> list[str]:
    values = (f"{name}={value}" for name, plan in load_registry().plans.items() for value in plan["values"])
    return [value for value in values if value.startswith(incomplete)]


def source_option(text: str) -> Any:
    """Return an option that is a source, with its help."""
    return typer.Option(help=text, parser=parse_source, metavar="TEXT")


Metrics = Annotated[list[str], typer.Argument(help="Metrics, such as nDCG@10 'P(rel=2)@5' AP.", autocompletion=metric_names)]
Run = Annotated[
    list[str] | None,
    typer.Option(
        help="Retrieved documents: a table, a Parquet, CSV or TREC file, a pattern, a folder, a query 'SELECT ...', or @file.sql with one. "
        "Repeat for more systems, name=run."
    ),
]
Qrels = Annotated[str | None, source_option("Judgments: a table, a Parquet, CSV or TREC file, a pattern, a folder, a query, or @file.sql.")]
Predictions = Annotated[
    str | None,
    source_option("Predictions: label, score, weight. With query_id and doc_id, they replace --run and --qrels of ranking metrics."),
]
Queries = Annotated[str | None, source_option("Queries with weights and attributes to group by.")]
Rollup = Annotated[
    str | None,
    source_option("A rollup that 'sqlrank rollup' made: a table, a Parquet or CSV file, a pattern, a folder, a query, or @file.sql."),
]
WindowDays = Annotated[int | None, typer.Option(help="Of a rollup: a row per day with the metrics of so many last days, such as 28.")]
WindowEnd = Annotated[
    str | None, typer.Option(help="With --window-days: a condition on the days of these rows, such as \"day >= '2026-01-01'\".")
]
DatabaseFile = Annotated[
    str | None, typer.Option("--db", help="A DuckDB file with the tables, opened read-only unless rows are written to it.")
]
By = Annotated[
    list[str] | None,
    typer.Option(help="Column to group by, or 'day=DATE(ts)'. Write a,b for both and 'total' for all rows. Repeat for more."),
]
Across = Annotated[
    list[str] | None,
    typer.Option(help="Column whose groups are compared: each metric's least and greatest value, difference and ratio. Repeat for more."),
]
LowerIsBetter = Annotated[
    list[str] | None, typer.Option(help="A column of your own, or a metric of it, of which lower values are better. Repeat for more.")
]
Where = Annotated[
    str | None,
    typer.Option(help='SQL condition on the rows to read: "day = \'2026-01-01\'", or "run.day = ... AND qrels.day = ...".'),
]
PerQuery = Annotated[bool, typer.Option("--per-query", help="One row per query.")]
ColumnMapping = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Map a column, query_id=user_id, of one input run.query_id=term, or 'weight=1 / propensity'. Several scores are systems. Repeat for more.",
    ),
]
Confidence = Annotated[float | None, typer.Option(help="Confidence level of an interval for each metric, such as 0.95.")]
Interval = Annotated[
    str, typer.Option(help="Interval method: auto (Wilson for proportions, else Student's t), wilson, t, normal or bootstrap.")
]
Unit = Annotated[
    str | None, typer.Option(help="The column of predictions whose values are sampled independently, such as user_id. Default: query_id.")
]
Replicates = Annotated[int | None, typer.Option(help="Number of bootstrap replicates, for --interval bootstrap. Default: 999 or 199.")]
OverwriteBy = Annotated[
    str | None,
    typer.Option(
        help="A column of --by, such as day: rows of --insert, or of an incremental model, for the days of the result are replaced."
    ),
]
DbtModelName = Annotated[
    Path | None,
    typer.Option(help="Write a dbt model, such as models/daily.sql, and daily.yml next to it. Inputs are models or sources."),
]
DialectName = Annotated[str, typer.Option(help=f"One of {', '.join(DIALECT_NAMES)}.", autocompletion=lambda: list(DIALECT_NAMES))]
Seed = Annotated[int | None, typer.Option(help="Seed of random draws.")]
Compat = Annotated[str | None, typer.Option(help="Reproduce the numbers of a tool, such as trec10.", autocompletion=_compat_names)]
Names = Annotated[str, typer.Option(help="Names of metrics in the result: requested, or plain, such as ndcg_at_10.")]
Policy = Annotated[
    list[str] | None,
    typer.Option("--policy", "-p", help="A policy: ties=rank, queries=judged_and_retrieved, depth=100, rel=2. Repeat for more."),
]
Plan = Annotated[
    list[str] | None,
    typer.Option(
        "--plan",
        help="How to compute, without effect on the values: score_order=buckets, rank_method=count. Repeat for more.",
        autocompletion=_complete_plans,
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        help="A further input as name=source: history, items, features, baseline, or of your SQL files. A source may be a query, or @file.sql. Repeat for more.",
    ),
]
Digits = Annotated[int | None, typer.Option(min=0, max=17, help="Decimals of tables, 4 by default.")]
Sort = Annotated[str | None, typer.Option(help="Sort by this column, a metric best first. --sort=-COLUMN reverses. NULLs are last.")]
Top = Annotated[int | None, typer.Option(min=1, help="Maximum number of rows shown.")]
WithTotal = Annotated[bool, typer.Option("--with-total", help="With --per-query, the total below the queries, as the query 'all'.")]
FORMAT_NAMES = join_words(Format, "or")
FormatOption = Annotated[
    Format | None,
    typer.Option(metavar="FORMAT", help=f"Output format: {FORMAT_NAMES}. Default: that of the suffix of --output, or a table."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace a file that sqlrank did not write, or one of another kind, but never an input.")
]
SqlDir = Annotated[Path | None, typer.Option(help="A folder with SQL files of your own.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write to a file instead of standard output.")]
Check = Annotated[str, typer.Option(help="auto, full (search all rows for duplicates) or off.")]
MemoryLimit = Annotated[str | None, typer.Option(help="Memory DuckDB may use, such as 2GB. The rest is spilled.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads DuckDB may use.")]
Timeout = Annotated[float | None, typer.Option(min=0.001, help="Timeout in seconds.")]
TempDirectory = Annotated[Path | None, typer.Option(help="Where to spill.")]
