"""Run the commands ``sqlrank compare``, which compares systems, and ``sqlrank gate``, which tests a candidate, with an exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

import sqlrank
from sqlrank.cli.console import echo_notes, exit_on_error, progress_bar
from sqlrank.cli.parsing import parse_groupings, parse_tolerance_options
from sqlrank.cli.verdict_output import VerdictOutput
from sqlrank.output.display import (
    DEFAULT_DIGITS,
    Format,
    comparison_display_columns,
    format_system_table,
    gate_display_columns,
    select_display_columns,
    terminal_width,
)
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import HUMAN_FORMATS, TableStyle, resolve_format, write_result

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def compare(call: CommandCall) -> None:
    """Compare systems: paired differences with confidence intervals and tests."""
    with exit_on_error():
        form = resolve_format(call.format, call.output, call.digits)
        file = call.output_file(FileKind.COMPARISON)
    with exit_on_error(), progress_bar("comparing") as progress:
        result = sqlrank.compare(**call.read_arguments(progress=progress))
    with exit_on_error():
        # A correction widens intervals beyond the level that was asked for, which a reader of a gate's intervals would miss.
        is_corrected = (
            any(level is not None and level > call.confidence for level in result["ci_level"].to_pylist()) if not call.per_query else False
        )
        shows_level = is_corrected and form is Format.table and file is None and terminal_width() is not None
        displayed_columns = comparison_display_columns(result, has_target_effect=call.target_effect is not None, shows_level=shows_level)
        displayed = select_display_columns(result, displayed_columns) if form in HUMAN_FORMATS and not call.per_query else result
        style = TableStyle(DEFAULT_DIGITS if call.digits is None else call.digits, num_hidden=result.num_columns - displayed.num_columns)
        systems = format_system_table(result, style.digits) if form is Format.latex and not call.per_query else None
        if systems is None:
            write_result(displayed, form, FileKind.COMPARISON, file, style)
        else:
            typer.echo(systems, nl=False) if file is None else file.write(systems)
    echo_notes(result)
    if not call.per_query and "unpaired" in result.column_names:
        unpaired, paired = max(zip(result["unpaired"].to_pylist(), result["n_units"].to_pylist(), strict=True), default=(0, 0))
        if unpaired:
            note = f"{unpaired:,} of {unpaired + paired:,} units have a value for one of two systems only. Comparisons leave them out"
            typer.echo(f"note: {note}", err=True)


def gate(call: CommandCall) -> None:
    """Test that a candidate is not worse than a baseline, or that groups don't differ."""
    with exit_on_error():
        form = resolve_format(call.format, call.output, call.digits)
        verdict_output = VerdictOutput.from_options(call, FileKind.VERDICTS)
    with exit_on_error(), verdict_output.report_error(), progress_bar("gating") as progress:
        by = parse_groupings(call.by) if call.across else _gate_groupings(call.by)
        tolerance = parse_tolerance_options("--tolerance", call.tolerance) or {"*": "0"}
        result = sqlrank.gate(**call.read_arguments(by=by, tolerance=tolerance, progress=progress))
    decimals = DEFAULT_DIGITS if call.digits is None else call.digits
    displayed = gate_display_columns(result)
    verdict_output.write_and_exit(
        result, displayed, form, decimals, select_display_columns(result, displayed) if form in HUMAN_FORMATS else result
    )


def _gate_groupings(by: list[str] | None) -> Any:
    """Return the groupings of a gate: all rows, and each named column or grouping."""
    groupings = parse_groupings(by)
    return (
        [[], *([grouping] for grouping in groupings)]
        if groupings and isinstance(groupings[0], str)
        else groupings and [[], *(grouping for grouping in groupings if grouping)]
    )
