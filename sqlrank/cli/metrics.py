"""Run the command ``sqlrank metrics``, which lists metrics, searches them by words, or shows the
documentation and SQL of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

import sqlrank
from sqlrank.cli.console import echo_message, exit_on_error
from sqlrank.cli.option_messages import as_option_message
from sqlrank.errors import MetricError, SqlrankError
from sqlrank.output.display import Format, TextColumn, lay_out, terminal_width
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, write_result
from sqlrank.registry.aliases import find_metric
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric import normalize_name
from sqlrank.registry.sql_folder import read_toml, sql_root

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlrank.cli.options import CommandCall

LISTED_COLUMNS = ["name", "family", "parameters", "description"]
PARAMETERS_WIDTH = 120
"""Width of a terminal from which a list of metrics shows their parameters."""


def metrics(call: CommandCall) -> None:
    """Find metrics by words, list all, or show the documentation and the SQL of one."""
    name = " ".join(call.name or ()) or None
    with exit_on_error():
        library = registry_for(call.sql_dir)
        if name is None:
            _print_tasks(call.format)
            _print_list(sqlrank.metrics(call.sql_dir), call.format)
            return
        try:
            spelled = "-".join(name.split()) if name.replace(" ", "").isalpha() else name
            metric, metric_file = find_metric(spelled, library)
        except MetricError as error:
            matching_metrics = sqlrank.metrics(call.sql_dir, search=name)
            if not matching_metrics.num_rows and " " in name:
                raise MetricError(
                    f"nothing found for {name!r}. 'sqlrank metrics' lists all metrics"
                ) from error
            is_misspelt = "Did you mean" in str(error) and set(
                matching_metrics["family"].to_pylist()
            ) <= {"page"}
            if not matching_metrics.num_rows or is_misspelt:  # a page may quote the same mistake
                raise
            _print_list(matching_metrics, call.format)
            if hint := (
                str(error)
                if "different things" in str(error)
                else library.misplaced_name_hint(name)
            ):
                echo_message(f"note: {as_option_message(hint)}")
            return
        if call.format is not None:
            raise SqlrankError(
                f"--format is for the list of metrics, and {name} alone is shown as its SQL file."
                " Leave out one of the two"
            )
        typer.echo(metric_file.path.read_text("utf-8"), nl=False)
        if normalize_name(metric.name) != normalize_name(
            spelled.partition("@")[0].partition("(")[0]
        ):
            echo_message(f"note: {name} is {metric} here")
        elif metric_file.kind == "curves" and metric_file.name.lower() in library.metrics:
            echo_message(f"note: {metric}@0.1 is one value: sqlrank metrics {metric}@0.1")


def _print_list(table: pa.Table, form: Format | None) -> None:
    """Print a list of metrics; in a narrow terminal without parameters, for which a row would be a
    block of lines.
    """
    width = terminal_width()
    is_narrow = width is not None and width < PARAMETERS_WIDTH and form in {None, Format.table}
    columns = [name for name in LISTED_COLUMNS if not (is_narrow and name == "parameters")]
    style = TableStyle(num_hidden=len(LISTED_COLUMNS) - len(columns))
    write_result(table.select(columns), form or Format.table, FileKind.TABLE, None, style)


def _print_tasks(form: Format | None) -> None:
    """Print the metrics that people look for, by task, to those who read the list in a terminal."""
    width = terminal_width()
    if width is not None and form in {None, Format.table}:
        tasks = read_toml(sql_root() / "search.toml")["tasks"]
        typer.echo(
            lay_out(
                [
                    TextColumn("task", list(tasks)),
                    TextColumn("metrics and commands", list(tasks.values())),
                ],
                width,
            )
        )
