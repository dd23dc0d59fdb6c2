"""Compose the help of commands: options in named groups, two examples of each command, and the first screen for newcomers."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

INPUTS, METRICS, GROUPING = "Inputs", "Metrics and policies", "Grouping and filters"
INTERVALS, VERDICTS, OUTPUT, LIMITS = "Intervals", "Verdicts", "Output", "Limits"

GROUPS: dict[str, tuple[str, ...]] = {
    INPUTS: ("run", "qrels", "predictions", "queries", "rollup", "experiment", "data", "db", "input", "column", "result", "system", "baseline", "control"),
    METRICS: ("compat", "policy", "plan", "names", "lower_is_better", "weighted", "sql_dir"),
    GROUPING: ("by", "across", "where", "per_query", "query", "show_where", "window_days", "window_ends"),
    INTERVALS: (
        "confidence", "interval", "unit", "replicates", "seed", "test", "correction", "target_effect", "power", "lift_scale", "n_buckets",
    ),
    VERDICTS: ("tolerance", "min_units", "treat_inconclusive_as", "summary_file", "junit_file"),
    OUTPUT: (
        "format", "output", "digits", "sort", "top", "with_total", "kind", "title", "created_at", "max_rows", "query_examples", "sql", "dialect",
        "create_table", "create_view", "insert", "overwrite_by", "dbt", "materialized", "audit", "begin", "lookback", "schema", "drop", "score_table",
        "force",
    ),
    LIMITS: ("check", "memory_limit", "threads", "temp_directory", "timeout"),
}  # fmt: skip
"""Options by group, in the order of the help."""

OWN_GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "experiment": {INPUTS: ("variant", "unit", "covariate", "expected_share", "multi_variant_units")},
    "drift": {GROUPING: ("reference", "current")},
    "report": {GROUPING: ("reference", "current")},
    "rollup": {"Bins and batches": ("binning", "n_bins", "exact_score", "batch", "retract", "batch_where")},
    "split": {
        "Parts": ("key", "salt", "share", "folds", "exact", "stratum"),
        "Time": ("time", "time_bound", "expanding", "leave_last", "item"),
        "Users and items": ("user", "cold_start", "seen_pairs"),
        OUTPUT: ("column",),
    },
    "learn": {"Training": ("k", "surrogate", "margin", "learning_rate", "l2", "max_iter", "seed", "start", "merge")},
}
"""Options that are in another group for one command."""

EXAMPLES: dict[str, tuple[str, str]] = {
    "evaluate": (
        "sqlrank evaluate nDCG@10 AP --run run.trec --qrels qrels.trec --confidence 0.95",
        "sqlrank evaluate AUC LogLoss --predictions clicks.parquet --column label=click --by campaign",
    ),
    "sql": (
        "sqlrank sql AUC LogLoss --predictions shop.clicks --by day --dialect bigquery",
        "sqlrank sql nDCG@10 --run run --qrels qrels --dbt models/daily.sql --dialect snowflake",
    ),
    "metrics": ("sqlrank metrics nDCG", "sqlrank metrics 'click probability'"),
    "compare": (
        "sqlrank compare nDCG@10 AP --run old=old.trec --run new=new.trec --qrels qrels.trec",
        "sqlrank compare AUC --predictions clicks.parquet --column score=old --column score=new --by campaign",
    ),
    "gate": (
        "sqlrank gate nDCG@10 --tolerance 0.01 --run old=old.trec --run new=new.trec --qrels qrels.trec",
        "sqlrank gate AP --tolerance AP=2% --run new.trec --qrels qrels.trec --baseline baseline.parquet",
    ),
    "experiment": (
        "sqlrank experiment 'Mean(revenue)' --data visits.parquet --unit user_id --control A",
        "sqlrank experiment 'ctr=Ratio(clicks, views)' --data visits --db shop.duckdb --covariate clicks_before",
    ),
    "chart": (
        "sqlrank chart ROC --predictions clicks.parquet -o roc.svg",
        "sqlrank chart --result comparison.parquet --kind forest -o forest.html",
    ),
    "explain": (
        "sqlrank explain nDCG@10 --query q1 --run run.trec --qrels qrels.trec",
        "sqlrank explain AUC --predictions clicks.parquet --max-rows 5",
    ),
    "report": (
        "sqlrank report nDCG@10 AP --run old=old.trec --run new=new.trec --qrels qrels.trec -o report.html",
        "sqlrank report AUC LogLoss --predictions clicks.parquet --by campaign -o report.html",
    ),
    "split": (
        "sqlrank split events.parquet --key user_id --salt 2026 --share train=0.8 --share test=0.2 -o parts.parquet",
        "sqlrank split events.parquet --key user_id --time ts --leave-last 1 -o parts.parquet",
    ),
    "rollup": (
        "sqlrank rollup AUC LogLoss --predictions clicks.parquet --by day --db ads.duckdb --insert daily",
        "sqlrank rollup AUC --predictions shop.clicks --by day --sql --dialect bigquery",
    ),
    "drift": (
        "sqlrank drift AUC PSI --rollup daily.parquet --reference \"day < '2026-03-01'\" --current \"day >= '2026-03-01'\"",
        "sqlrank drift AUC --rollup daily.parquet --reference \"day < '2026-03-01'\" --tolerance AUC=0.01",
    ),
    "learn": (
        "sqlrank learn train.parquet -k 20 --column features=age --column features=price",
        "sqlrank learn train.parquet -k 20 --column features=age --score-table new_rows --dialect bigquery",
    ),
    "functions": (
        "sqlrank functions nDCG AUC --dialect postgres -o functions.sql",
        "sqlrank functions --db metrics.duckdb",
    ),
}  # fmt: skip
"""Two calls of each command."""

START = """\
Metrics for rankings, recommenders and click models, computed in SQL where the data is.

Start with one of these commands:

  sqlrank metrics 'click probability'
      Find the metric for a task, from words.
  sqlrank evaluate nDCG@10 --run run.trec --qrels qrels.trec
      Compute metrics, with confidence intervals and by groups.
  sqlrank compare nDCG@10 --run old=old.trec --run new=new.trec --qrels qrels.trec
      Test if two systems differ.
  sqlrank gate nDCG@10 --tolerance 0.01 --run old=old.trec --run new=new.trec --qrels qrels.trec
      Fail a build if a candidate is worse than the baseline.
  sqlrank sql AUC --predictions shop.clicks --by day --dialect bigquery
      Print the statement, to run it in your warehouse.

'sqlrank --help' lists all commands, and 'sqlrank COMMAND --help' the options of one.
"""

_OPTION_BOUNDARY = re.compile(r" (?=-)")
_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "NUMBER", "path": "FILE"}


def option_group(command: str, option: str) -> str:
    """Return the group of an option in the help of a command, ``Options`` for one of no group."""
    for groups in (OWN_GROUPS.get(command, {}), GROUPS):
        for title, names in groups.items():
            if option in names:
                return title
    return "Options"


def group_titles(command: str) -> list[str]:
    """Return the titles of groups in the order of the help: inputs, those of the command alone, and the others."""
    return list(dict.fromkeys([INPUTS, *OWN_GROUPS.get(command, {}), *GROUPS, "Options"]))


def grouped_options(command: str, records: Mapping[str, tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Return the texts of options by group, in the order of the groups; ``records`` are option and help by name."""
    groups: dict[str, list[tuple[str, str]]] = {title: [] for title in group_titles(command)}
    for name, (flags, text) in records.items():
        groups[option_group(command, name)].append((with_type_name(flags), text))
    return {title: options for title, options in groups.items() if options}


def first_sentence(text: str) -> str:
    """Return the first sentence of a help text, on one line."""
    flat = " ".join(text.split())
    return f"{flat.split('. ')[0].removesuffix('.')}."


def wrap_command(command: str, width: int) -> list[str]:
    r"""Return the lines of a command, broken before options, where a backslash continues it, so that it can be copied.

    >>> print(*wrap_command("sqlrank compare nDCG@10 --run old=old.trec --run new=new.trec", 45), sep="\n")
    sqlrank compare nDCG@10 --run old=old.trec \
        --run new=new.trec
    """
    first, *options = _OPTION_BOUNDARY.split(command)
    lines = [first]
    for option in options:
        if len(f"{lines[-1]} {option} \\") <= width:
            lines[-1] += f" {option}"
        else:
            lines.append(f"    {option}")
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def start_screen(width: int) -> str:
    """Return the text for callers without arguments, as wide as the terminal."""
    lines: list[str] = []
    for line in START.splitlines():
        text = line.lstrip()
        indent = line[: len(line) - len(text)]
        wrapped = wrap_command if text.startswith("sqlrank ") else wrap
        lines += [f"{indent}{part}" for part in wrapped(text, width - len(indent)) or [""]]
    return "\n".join([*lines, ""])


def with_type_name(words: str) -> str:
    """Name the type of a value as other commands do.

    >>> with_type_name("--run <list[str]>"), with_type_name("--top <int range>"), with_type_name("--check <auto|off>")
    ('--run TEXT', '--top INTEGER', '--check [auto|off]')
    """
    return re.sub(r"<(?:list\[)?([\w|]+)(?: range)?\]?>", lambda match: _TYPES.get(match[1], f"[{match[1]}]"), words)
