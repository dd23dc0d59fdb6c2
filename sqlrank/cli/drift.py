"""Run the command ``sqlrank drift``, which compares rows of a rollup with reference rows, and with a tolerance sets verdicts and exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlrank
from sqlrank.cli.console import exit_on_error
from sqlrank.cli.parsing import parse_group_columns
from sqlrank.cli.verdict_output import VerdictOutput
from sqlrank.errors import SqlrankError
from sqlrank.output.display import DEFAULT_DIGITS, Format, drift_display_columns, select_display_columns, terminal_width
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, resolve_format, write_result
from sqlrank.result_columns import DRIFT_DISPLAY

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def drift(call: CommandCall) -> None:
    """Detect drift of metrics and scores in a rollup."""
    with exit_on_error():
        form = resolve_format(call.format, call.output, call.digits)
        if not call.tolerance and (call.treat_inconclusive_as or call.summary or call.junit):
            raise SqlrankError("--treat-inconclusive-as, --summary and --junit are for verdicts, which need --tolerance")
        verdict_output = VerdictOutput.from_options(call, FileKind.DRIFT)
    with exit_on_error(), verdict_output.report_error():
        result = sqlrank.drift(**call.read_arguments(by=parse_group_columns(call.by)))
        decimals = DEFAULT_DIGITS if call.digits is None else call.digits
        names = [name for name in DRIFT_DISPLAY if name in result.column_names]
        is_for_terminal = form is Format.table and call.output is None and terminal_width() is not None
        displayed = select_display_columns(result, drift_display_columns(result)) if is_for_terminal else result
        if not call.tolerance:
            style = TableStyle(decimals, num_hidden=result.num_columns - displayed.num_columns)
            write_result(displayed, form, FileKind.DRIFT, verdict_output.output, style)
    if call.tolerance:
        verdict_output.write_and_exit(result, names, form, decimals, displayed)
