"""The worked example of a metric: the command on the tables of its inputs in examples/data/small,
and the statements for warehouses.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_dependencies, find_engines, find_input_role
from website.sections import find_section

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

ROOT = Path(__file__).parents[1]
TABLES = "examples/data/small"
EXAMPLE = f"{TABLES}/{{}}.csv"
"""Place of a table of the examples."""
QUERY = "q1"
WAREHOUSES = {"duckdb": "DuckDB", "bigquery": "BigQuery", "snowflake": "Snowflake"}
WIDEST = 88
USUAL_CUTOFF = 10
"""Cut-off of the calls that readers copy."""
OPTIONS = ("run", "qrels", "predictions", "queries")
"""Inputs with an option of their own."""
OWN_TABLES = {
    ("qrels", "subtopics"): "subtopics",
    ("predictions", "forecasts"): "forecasts",
    ("records", "names"): "named_records",
}
"""Tables of an input for the metrics of a section, which read more of its columns than others."""


def format_metric(file: SqlFile, cutoff: int = 3) -> str:
    """Return the text of a metric in an example: with a column of the table, or with a required or
    integer cut-off, which suits the small tables.
    """
    if file.measures_column:
        if find_input_role(load_registry(), file) == "predictions":
            column = "label" if choose_table("predictions", file) == "predictions" else "score"
        else:
            column = "passed" if file.measures_flag else "latency_ms"
        return f"{file.display_name}({column})"
    if file.cutoff_parameter is None or (
        file.cutoff_parameter.default is not None and file.cutoff_parameter.type != "integer"
    ):
        return file.display_name
    return file.display_name + (f"@{cutoff}" if file.cutoff_parameter.type == "integer" else "@0.5")


def list_roles(file: SqlFile) -> list[str]:
    """Return the inputs that a metric reads."""
    read = find_dependencies(load_registry(), file, {"queries": "retrieved"}).roles | {
        find_input_role(load_registry(), file)
    }
    return [name for name in load_registry().roles if name in read]


def choose_table(role: str, file: SqlFile) -> str:
    """Return the table that an input of a metric is read from: labels are numbers where they need
    not be 0 and 1.
    """
    own = OWN_TABLES.get((role, find_section(file)))
    if own:
        return own
    is_binary = (
        bool({"binary labels", "scores from 0 to 1"} & {*file.required_row_checks})
        or file.measures_flag
    )
    return "numbers" if role == "predictions" and not is_binary else role


def list_warehouses(file: SqlFile) -> dict[str, str]:
    """Return the warehouses that have a statement of a metric: not all have the relations that it
    reads.
    """
    engines = find_engines(find_dependencies(load_registry(), file, {}).files) or WAREHOUSES
    return {name: title for name, title in WAREHOUSES.items() if name in engines}


def build_command(
    file: SqlFile, verb: str, *options: str, place: str = "{}", cutoff: int = 3
) -> list[str]:
    """Return a command on a metric and its tables, which are at a place for their name."""
    command = [verb, format_metric(file, cutoff), *options]
    for role in list_roles(file):
        source = place.format(choose_table(role, file))
        command += [f"--{role}", source] if role in OPTIONS else ["--input", f"{role}={source}"]
    return command


def build_explain_command(file: SqlFile) -> list[str]:
    """Return the command that explains a metric on its tables; the points of a curve are all that
    there is to see of it.
    """
    if file.kind == "curves":
        return build_command(file, "evaluate", place=EXAMPLE)
    is_of_query = file.grain == "list" and find_input_role(load_registry(), file) == "run"
    query = ("--query", QUERY) if is_of_query else ()
    return build_command(file, "explain", *query, place=EXAMPLE)


def python_call(file: SqlFile) -> str:
    """Return the call of Python that does the same.

    >>> from sqlrank.registry.loader import load_registry
    >>> python_call(load_registry().metrics["unseen"])
    'sqlrank.evaluate("Unseen@10", run="run.parquet", inputs={"history": "history.parquet"})'
    """
    sources = {role: f"{choose_table(role, file)}.parquet" for role in list_roles(file)}
    named = [f'{role}="{path}"' for role, path in sources.items() if role in OPTIONS]
    others = ", ".join(
        f'"{role}": "{path}"' for role, path in sources.items() if role not in OPTIONS
    )
    arguments = [
        f'"{format_metric(file, USUAL_CUTOFF)}"',
        *named,
        *([f"inputs={{{others}}}"] if others else []),
    ]
    call = f"sqlrank.evaluate({', '.join(arguments)})"
    if len(call) <= WIDEST:
        return call
    return "\n".join(["sqlrank.evaluate(", *(f"    {argument}," for argument in arguments), ")"])


def list_commands(file: SqlFile) -> list[list[str]]:
    """Return all that is run for the page of a metric."""
    return [
        build_explain_command(file),
        build_command(file, "evaluate", place=EXAMPLE),
        *(build_command(file, "sql", "--dialect", name) for name in list_warehouses(file)),
    ]


def format_command(arguments: list[str]) -> str:
    """Return a command as it is written, with an option and its value on one line."""
    words = " ".join(map(shlex.quote, arguments))
    lines, line = [], "sqlrank"
    for group in re.split(r" (?=--)", words):
        if len(line) + len(group) > WIDEST and group.startswith("--"):
            lines.append(f"{line} \\")
            line = f"    {group}"
        else:
            line = f"{line} {group}"
    return "\n".join([*lines, line])
