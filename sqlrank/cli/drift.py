"""Run the command ``sqlrank drift``, which compares rows of a rollup with reference rows, and with
a tolerance sets verdicts and exit status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlrank
from sqlrank.cli.console import exit_on_error
from sqlrank.cli.parsing import parse_group_columns
from sqlrank.cli.verdict_output import VerdictOutput
from sqlrank.errors import SqlrankError
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, resolve_format, write_result

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def drift(call: CommandCall) -> None:
    """Detect drift of metrics and scores in a rollup."""
    with exit_on_error():
        form = resolve_format(call.format, call.output, call.digits)
        if not call.tolerance and (call.treat_inconclusive_as or call.summary or call.junit):
            raise SqlrankError(
                "--treat-inconclusive-as, --summary and --junit are for verdicts, which need"
                " --tolerance"
            )
        verdict_output = VerdictOutput.from_options(call, FileKind.DRIFT)
    with exit_on_error(), verdict_output.report_error():
        result = sqlrank.drift(**call.read_arguments(by=parse_group_columns(call.by)))
        if not call.tolerance:
            write_result(
                result,
                form,
                FileKind.DRIFT,
                verdict_output.output,
                TableStyle(call.digits, is_command=True),
            )
    if call.tolerance:
        verdict_output.write_and_exit(result, form, call.digits)
