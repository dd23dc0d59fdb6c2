"""Run the command ``sqlrank power``, which plans the number of queries of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlrank
from sqlrank.cli.console import exit_on_error
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, resolve_format, write_result

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def power(call: CommandCall) -> None:
    """Compute the difference that so many queries detect, and the queries that a difference
    needs.
    """
    with exit_on_error():
        form = resolve_format(call.format, call.output, call.digits)
        file = call.output_file(FileKind.POWER)
        write_result(
            sqlrank.power(**call.read_arguments()),
            form,
            FileKind.POWER,
            file,
            TableStyle(call.digits, is_command=True),
        )
