"""Run the commands ``sqlrank compare``, which compares systems, and ``sqlrank gate``, which tests a
candidate, with an exit status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlrank
from sqlrank.cli.console import echo_message, echo_notes, exit_on_error, progress_bar
from sqlrank.cli.parsing import parse_groupings, parse_tolerance_options
from sqlrank.cli.verdict_output import VerdictOutput
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, resolve_format, write_result

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
        write_result(
            result, form, FileKind.COMPARISON, file, TableStyle(call.digits, is_command=True)
        )
    echo_notes(result)
    if not call.per_query and "unpaired" in result.column_names:
        unpaired, paired = max(
            zip(result["unpaired"].to_pylist(), result["n_units"].to_pylist(), strict=True),
            default=(0, 0),
        )
        if unpaired:
            note = (
                f"{unpaired:,} of {unpaired + paired:,} units have a value for one of two systems"
                " only. Comparisons leave them out"
            )
            echo_message(f"note: {note}")


def gate(call: CommandCall) -> None:
    """Test that a candidate is not worse than a baseline, or that groups don't differ."""
    with exit_on_error():
        form = resolve_format(call.format, call.output, call.digits)
        verdict_output = VerdictOutput.from_options(call, FileKind.VERDICTS)
    with exit_on_error(), verdict_output.report_error(), progress_bar("gating") as progress:
        by = parse_groupings(call.by) if call.across else _gate_groupings(call.by)
        tolerance = parse_tolerance_options("--tolerance", call.tolerance) or {"*": "0"}
        result = sqlrank.gate(**call.read_arguments(by=by, tolerance=tolerance, progress=progress))
    verdict_output.write_and_exit(result, form, call.digits)


def _gate_groupings(by: list[str] | None) -> Any:
    """Return the groupings of a gate: all rows, and each named column or grouping."""
    groupings = parse_groupings(by)
    return (
        [[], *([grouping] for grouping in groupings)]
        if groupings and isinstance(groupings[0], str)
        else groupings and [[], *(grouping for grouping in groupings if grouping)]
    )
