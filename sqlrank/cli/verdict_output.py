"""Write the result of a command by its options, and of commands with verdicts also summary, JUnit
report and annotations, with an exit status.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from sqlrank.cli.console import as_option_message, echo_message, ignore_closed_pipe
from sqlrank.errors import SqlrankError
from sqlrank.output.ci_reports import (
    ALL_SKIPPED,
    format_junit,
    format_junit_error,
    github_annotations,
    is_all_skipped,
    list_regressions,
    markdown_summary,
)
from sqlrank.output.display import supports_color, terminal_width, wrap_text
from sqlrank.output.output_file import FileKind, OutputFile, check_distinct
from sqlrank.output.result_formats import HUMAN_FORMATS, TableStyle, resolve_format, write_result

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pyarrow as pa

    from sqlrank.cli.options import CommandCall

MAX_PRINTED = 3
"""Queries, and groups, of a metric that are printed if a gate does not pass; the summary has
ten.
"""

EXITS = {"pass": 0, "fail": 1, "inconclusive": 3}
COLORS = {"pass": typer.colors.GREEN, "fail": typer.colors.RED, "inconclusive": typer.colors.YELLOW}


class ResultOutput:
    """The format and file of a result, checked before any work; without a file it is printed.

    ``names`` are the options of the sources that the file must not be.
    """

    def __init__(
        self, call: CommandCall, kind: FileKind, names: Collection[str] | None = None
    ) -> None:
        self.kind, self.digits = kind, call.values.get("digits")
        self.form = resolve_format(call.format, call.output, self.digits)
        self.file = call.output_file(kind, names)

    @property
    def is_text_printed(self) -> bool:
        """Return True if people read the result on standard output."""
        return self.form in HUMAN_FORMATS and self.file is None

    def write(self, result: pa.Table, *, has_total: bool = False) -> None:
        """Write the result."""
        style = TableStyle(self.digits, has_total, is_command=True)
        write_result(result, self.form, self.kind, self.file, style)


class VerdictOutput:
    """The output of a command with verdicts: its result, a file that a Markdown summary is appended
    to, and a JUnit report.
    """

    def __init__(self, call: CommandCall, kind: FileKind) -> None:
        self.command, self.treat_inconclusive_as = call.command.name, call.treat_inconclusive_as
        self.result = ResultOutput(call, kind)
        if self.treat_inconclusive_as not in {None, "pass", "fail"}:
            raise SqlrankError(
                f"--treat-inconclusive-as {call.treat_inconclusive_as}: give pass or fail"
            )
        sources = call.list_sources()
        self.summary = call.summary and OutputFile(
            call.summary, FileKind.SUMMARY, "--summary", call.force, appends=True, sources=sources
        )
        self.junit = call.junit and OutputFile(
            call.junit, FileKind.JUNIT, "--junit", call.force, sources=sources
        )
        check_distinct([self.result.file, self.summary, self.junit])

    @contextmanager
    def report_error(self) -> Iterator[None]:
        """Write an error without verdicts to the JUnit report, where CI would publish an earlier
        result, and raise it again.
        """
        try:
            yield
        except BaseException as error:
            if self.junit is not None:
                message = as_option_message(str(error).strip() or type(error).__name__)
                with suppress(OSError, SqlrankError):  # the error itself is raised
                    self.junit.write(format_junit_error(message, self.command))
            raise

    def write_and_exit(self, result: pa.Table) -> None:
        """Write all outputs, and exit with the status of the verdict.

        A closed standard output does not change the exit status. If all rows are skipped, an
        inconclusive verdict is not treated as a pass.
        """
        verdict = (result.schema.metadata or {})[b"sqlrank.verdict"].decode()
        treated = self.treat_inconclusive_as if verdict == "inconclusive" else None
        is_blocked = treated == "pass" and is_all_skipped(result)
        if self.summary is not None:
            self.summary.append(markdown_summary(result, self.result.digits, self.command))
        if self.junit is not None:
            self.junit.write(format_junit(result, self.command, self.treat_inconclusive_as))
        annotations = (
            github_annotations(result, self.command, self.treat_inconclusive_as)
            if os.environ.get("GITHUB_ACTIONS") == "true"
            else ()
        )
        line = f"verdict: {verdict}"
        with ignore_closed_pipe():
            if self.result.is_text_printed:
                typer.echo(
                    typer.style(line, fg=COLORS[verdict], bold=True) if supports_color() else line
                )
            self.result.write(result)
            if verdict != "pass" and self.result.is_text_printed:
                for text in list_regressions(result, MAX_PRINTED):
                    typer.echo("\n".join(wrap_text(text, terminal_width() or len(text))))
        for annotation in annotations:
            typer.echo(annotation, err=True)
        if not self.result.is_text_printed:
            typer.echo(line, err=True)
        if is_blocked:
            echo_message(f"note: {ALL_SKIPPED}, and --treat-inconclusive-as pass does not apply")
        raise typer.Exit(EXITS[verdict if is_blocked else treated or verdict])
