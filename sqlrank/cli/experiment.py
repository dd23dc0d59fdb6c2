"""Run the command ``sqlrank experiment``, which estimates effects of an online experiment, or
prints the statement that does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer

import sqlrank
from sqlrank.cli.console import echo_notes, exit_on_error, progress_bar
from sqlrank.errors import SqlrankError
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, resolve_format, write_result

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall

_NAMED_COLUMN = re.compile(r"\s*\w+\s*=[^=]")
_NAMED = re.compile(r"([^=()]+)=(.*)", re.DOTALL)


def experiment(call: CommandCall) -> None:
    """Estimate effects of an online experiment's variants, with confidence intervals and tests."""
    with exit_on_error():
        metrics = _parse_metrics(call.metrics)
        parsed: dict[str, Any] = {
            "metrics": metrics,
            "covariates": _parse_covariates(call.covariates, list(metrics)),
        }
        if call.sql:
            typer.echo(
                sqlrank.experiment_sql(**call.read_arguments("experiment_sql", **parsed)) + ";"
            )
            return
        if call.dialect != "duckdb" or call.create_table or call.create_view:
            raise SqlrankError("--dialect, --create-table and --create-view are for --sql")
        form = resolve_format(call.format, call.output, call.digits)
        file = call.output_file(FileKind.EXPERIMENT)
    with exit_on_error(), progress_bar("summing") as progress:
        result = sqlrank.experiment(**call.read_arguments(**parsed, progress=progress))
    with exit_on_error():
        write_result(
            result, form, FileKind.EXPERIMENT, file, TableStyle(call.digits, is_command=True)
        )
    echo_notes(result)


def _parse_metrics(arguments: list[str]) -> dict[str, str]:
    """Parse ``Mean(x)`` and ``name=Mean(x)``."""
    metric_texts: dict[str, str] = {}
    for argument in arguments:
        match = _NAMED.fullmatch(argument)
        name, text = match.groups() if match else (argument, argument)
        if name in metric_texts:
            raise SqlrankError(f"{argument}: {name} is given twice")
        metric_texts[name] = text
    return metric_texts


def _parse_covariates(texts: list[str] | None, names: list[str]) -> dict[str, str]:
    """Parse ``metric=column``, or a bare column if there is only one metric."""
    columns_by_metric: dict[str, str] = {}
    for text in texts or []:
        name = next(
            (name for name in names if text.startswith(f"{name}=")),
            names[0] if len(names) == 1 else None,
        )
        # Without this, revenue=revenue_before under a misspelt name is a comparison, whose truth
        # would be the covariate.
        if name is None or (_NAMED_COLUMN.match(text) and not text.startswith(f"{name}=")):
            alone = ", or the column alone" if len(names) == 1 else ""
            raise SqlrankError(
                f"--covariate {text}: write --covariate METRIC=COLUMN{alone}. The metrics are"
                f" called: {', '.join(names)}"
            )
        if name in columns_by_metric:
            raise SqlrankError(f"--covariate {text}: {name} is given twice")
        columns_by_metric[name] = text.removeprefix(f"{name}=")
    return columns_by_metric
