"""Write the output of commands with verdicts (result, summary, JUnit report, annotations) by their
options, and set the exit status.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from sqlrank.cli.console import echo_message, exit_on_error, ignore_closed_pipe
from sqlrank.cli.option_messages import as_option_message
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
from sqlrank.output.display import terminal_width, wrap_text
from sqlrank.output.output_file import FileKind, OutputFile, check_distinct
from sqlrank.output.result_formats import HUMAN_FORMATS, TableStyle, write_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from sqlrank.cli.options import CommandCall
    from sqlrank.output.display import Format

MAX_PRINTED = 3
"""Queries, and groups, of a metric that are printed if a gate does not pass; the summary has
ten.
"""

EXITS = {"pass": 0, "fail": 1, "inconclusive": 3}


@dataclass(frozen=True)
class VerdictOutput:
    """The output of a command with verdicts.

    Attributes:
        command: name of the command.
        kind: kind of content of its result.
        treat_inconclusive_as: verdict whose exit status an inconclusive one has: ``pass`` or
            ``fail``.
        output: file of the result, None for standard output.
        summary: file that a Markdown summary is appended to.
        junit: file of the JUnit report.
    """

    command: str
    kind: FileKind
    treat_inconclusive_as: str | None
    output: OutputFile | None
    summary: OutputFile | None
    junit: OutputFile | None

    @classmethod
    def from_options(cls, call: CommandCall, kind: FileKind) -> VerdictOutput:
        """Return the output of a command from its options, with checked files.

        Raises ``SqlrankError`` for files that must not be written.
        """
        if call.treat_inconclusive_as not in {None, "pass", "fail"}:
            raise SqlrankError(
                f"--treat-inconclusive-as {call.treat_inconclusive_as}: give pass or fail"
            )
        sources = call.list_sources()
        files = [
            None
            if path is None
            else OutputFile(
                path, file_kind, option, call.force, appends=option == "--summary", sources=sources
            )
            for option, path, file_kind in (
                ("-o", call.output, kind),
                ("--summary", call.summary, FileKind.SUMMARY),
                ("--junit", call.junit, FileKind.JUNIT),
            )
        ]
        check_distinct(files)
        return cls(call.command.name, kind, call.treat_inconclusive_as, *files)

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

    def write_and_exit(self, result: pa.Table, form: Format, digits: int | None) -> None:
        """Write all outputs, and exit with the status of the verdict.

        A closed standard output does not change the exit status. If all rows are skipped, an
        inconclusive verdict is not treated as a pass.
        """
        verdict = (result.schema.metadata or {})[b"sqlrank.verdict"].decode()
        treated = self.treat_inconclusive_as if verdict == "inconclusive" else None
        is_blocked = treated == "pass" and is_all_skipped(result)
        with exit_on_error():
            if self.summary is not None:
                self.summary.append(markdown_summary(result, digits, self.command))
            if self.junit is not None:
                self.junit.write(format_junit(result, self.command, self.treat_inconclusive_as))
            is_on_github = os.environ.get("GITHUB_ACTIONS") == "true"
            annotations = (
                github_annotations(result, self.command, self.treat_inconclusive_as)
                if is_on_github
                else ()
            )
            with ignore_closed_pipe():
                write_result(
                    result, form, self.kind, self.output, TableStyle(digits, is_command=True)
                )
                if verdict != "pass" and form in HUMAN_FORMATS and self.output is None:
                    for line in list_regressions(result, MAX_PRINTED):
                        typer.echo("\n".join(wrap_text(line, terminal_width() or len(line))))
            for line in annotations:
                typer.echo(line, err=True)
            with ignore_closed_pipe():
                typer.echo(
                    f"verdict: {verdict}", err=form not in HUMAN_FORMATS or self.output is not None
                )
            if is_blocked:
                echo_message(
                    f"note: {ALL_SKIPPED}, and --treat-inconclusive-as pass does not apply"
                )
        raise typer.Exit(EXITS[verdict if is_blocked else treated or verdict])
