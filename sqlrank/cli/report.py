"""Run the command ``sqlrank report``, which writes results of several calls as one HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlrank
from sqlrank.cli.console import exit_on_error, progress_bar
from sqlrank.errors import SqlrankError
from sqlrank.reports.html_page import page_file, require_report_modules

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def report(call: CommandCall) -> None:
    """Write an HTML report: metrics, comparisons, curves, groups, queries and data counts, a rollup
    over days, or an experiment.
    """
    with exit_on_error():
        if call.output is None:
            raise SqlrankError("name the file to write with -o, such as -o report.html")
        require_report_modules()
        file = page_file(call.output, "-o", call.force, call.list_sources())
    with exit_on_error(), progress_bar("reporting") as progress:
        page = sqlrank.report(**call.read_arguments(progress=progress))
    with exit_on_error():
        file.write(page.html)
