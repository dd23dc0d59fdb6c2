"""The command ``sqlrank metrics``: list metrics, or show the documentation and SQL of one."""

from __future__ import annotations

from typing import Annotated

import typer

import sqlrank
from sqlrank.cli import options as opt
from sqlrank.cli.console import exit_on_error
from sqlrank.errors import MetricError, SqlrankError
from sqlrank.output.file_kinds import FileKind
from sqlrank.output.result_formats import Format, write_result
from sqlrank.registry.aliases import find_metric
from sqlrank.registry.loader import registry_for


def metrics(
    name: Annotated[
        str | None, typer.Argument(help="Show one metric in full, or list those that contain a text.", autocompletion=opt.metric_names)
    ] = None,
    sql_dir: opt.SqlDir = None,
    format: Annotated[Format | None, typer.Option(help="Output format of the list. Default: a table.")] = None,  # noqa: A002  the option's public name
) -> None:
    """List the metrics, or show the documentation and the SQL of one."""
    with exit_on_error():
        library = registry_for(sql_dir)
        try:
            spelled = name if name is None or not name.replace(" ", "").isalpha() else "-".join(name.split())
            metric_file = None if spelled is None else find_metric(spelled, library)[1]
        except MetricError:
            if not sqlrank.metrics(sql_dir, search=name).num_rows:
                raise
            metric_file = None
        if metric_file is None:
            listed = sqlrank.metrics(sql_dir, search=name).select(["name", "family", "parameters", "description"])
            write_result(listed, format or Format.table, FileKind.TABLE, None)
        elif format is not None:
            raise SqlrankError(f"--format is for the list of metrics, and {name} alone is shown as its SQL file; leave out one of the two")
        else:
            typer.echo(metric_file.path.read_text("utf-8"), nl=False)
