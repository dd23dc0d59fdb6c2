"""The worked example of a metric: the command on the tables of its inputs in examples/data/small, and the statements for warehouses."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from sqlrank.registry.dependencies import find_dependencies, find_engines, find_input_role
from sqlrank.registry.loader import load_registry
from sqlrank.rendering.dialects import get_dialect

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlrank.registry.sql_file import SqlFile

ROOT = Path(__file__).parents[1]
TABLES = "examples/data/small"
QUERY = "q1"
WAREHOUSES = {"duckdb": "DuckDB", "bigquery": "BigQuery", "snowflake": "Snowflake"}
WIDEST = 100
OPTIONS = ("run", "qrels", "predictions", "queries")
"""Inputs with an option of their own."""
OWN_TABLES = {("qrels", "subtopics"): "subtopics", ("predictions", "forecasts"): "forecasts", ("records", "names"): "named_records"}
"""Tables of an input for the metrics of a folder, which read more of its columns than others."""


def asked(file: SqlFile) -> str:
    """Return the text of a metric in an example: with a column of the table, or with a required or integer cut-off."""
    if file.measures_column:
        of_predictions, of_queries = ("label", "label") if table("predictions", file) == "predictions" else ("score", "latency_ms")
        of_queries = "passed" if file.measures_flag else of_queries
        return f"{file.display_name}({of_predictions if find_input_role(load_registry(), file) == 'predictions' else of_queries})"
    if file.cutoff_parameter is None or (file.cutoff_parameter.default is not None and file.cutoff_parameter.type != "integer"):
        return file.display_name
    return file.display_name + ("@3" if file.cutoff_parameter.type == "integer" else "@0.5")


def roles(file: SqlFile) -> list[str]:
    """Return the inputs that a metric reads."""
    read = find_dependencies(load_registry(), file, {"queries": "retrieved"}).roles | {find_input_role(load_registry(), file)}
    return [name for name in load_registry().roles if name in read]


def table(role: str, file: SqlFile) -> str:
    """Return the table that an input of a metric is read from: labels are numbers where they need not be 0 and 1."""
    own = OWN_TABLES.get((role, file.path.parent.name))
    if own:
        return own
    is_binary = "binary labels" in file.required_row_checks or file.measures_flag
    return "numbers" if role == "predictions" and not is_binary else role


def warehouses(file: SqlFile) -> dict[str, str]:
    """Return the warehouses that have a statement of a metric: not all have quantiles of groups, or the relations that it reads."""
    engines = find_engines(find_dependencies(load_registry(), file, {}).files) or WAREHOUSES
    has_quantile = {name for name in WAREHOUSES if file.value_name != "quantile" or get_dialect(name).quantile is not None}
    return {name: title for name, title in WAREHOUSES.items() if name in engines and name in has_quantile}


def command(file: SqlFile) -> list[str]:
    """Return the command that explains a metric on its tables; the points of a curve are all that there is to see of it."""
    given = _given(file, lambda name: f"{TABLES}/{name}.csv")
    if file.kind == "curves":
        return ["evaluate", asked(file), *given]
    is_of_query = file.grain == "list" and find_input_role(load_registry(), file) == "run"
    return ["explain", asked(file), *(["--query", QUERY] if is_of_query else []), *given]


def evaluation(file: SqlFile) -> list[str]:
    """Return the command that evaluates a metric on all rows of its tables."""
    return ["evaluate", asked(file), *_given(file, lambda name: f"{TABLES}/{name}.csv")]


def call(file: SqlFile) -> str:
    """Return the command that evaluates a metric on files that are named as their inputs."""
    return shown(["evaluate", asked(file), *_given(file, lambda name: f"{name}.parquet")])


def python_call(file: SqlFile) -> str:
    """Return the call of Python that does the same.

    >>> from sqlrank.registry.loader import load_registry
    >>> python_call(load_registry().metrics["unseen"])
    'sqlrank.evaluate("Unseen@3", run="run.parquet", inputs={"history": "history.parquet"})'
    """
    given = {role: f"{table(role, file)}.parquet" for role in roles(file)}
    named = [f'{role}="{path}"' for role, path in given.items() if role in OPTIONS]
    others = ", ".join(f'"{role}": "{path}"' for role, path in given.items() if role not in OPTIONS)
    arguments = [f'"{asked(file)}"', *named, *([f"inputs={{{others}}}"] if others else [])]
    return f"sqlrank.evaluate({', '.join(arguments)})"


def statement(file: SqlFile, dialect: str) -> list[str]:
    """Return the command that prints the statement of a metric for a warehouse whose tables are named as their inputs."""
    return ["sql", asked(file), "--dialect", dialect, *_given(file, str)]


def commands(file: SqlFile) -> list[list[str]]:
    """Return all that is run for the page of a metric."""
    return [command(file), evaluation(file), *(statement(file, dialect) for dialect in warehouses(file))]


def _given(file: SqlFile, name: Callable[[str], str]) -> list[str]:
    found = []
    for role in roles(file):
        place = name(table(role, file))
        found += [f"--{role}", place] if role in OPTIONS else ["--input", f"{role}={place}"]
    return found


def shown(arguments: list[str]) -> str:
    """Return a command as it is written, on lines that are not too long."""
    lines, line = [], "sqlrank"
    for word in map(shlex.quote, arguments):
        if len(line) + len(word) > WIDEST and word.startswith("--"):
            lines.append(f"{line} \\")
            line = f"    {word}"
        else:
            line = f"{line} {word}"
    return "\n".join([*lines, line])
