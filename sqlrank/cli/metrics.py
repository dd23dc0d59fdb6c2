"""``sqlrank metrics``: what can be asked for, and the documentation and SQL of each."""

from __future__ import annotations

from typing import Annotated

import typer

import sqlrank
from sqlrank.cli.console import problems
from sqlrank.cli.options import (
    SqlDir,
    metric_names,
)
from sqlrank.errors import MetricError
from sqlrank.library.known import ours
from sqlrank.library.metric import read
from sqlrank.library.shelf import library_of
from sqlrank.results.formats import Format, write


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
