"""How the commands that judge end: what is written, for whom, and the exit status."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlrank.cli.console import problems
from sqlrank.errors import SqlrankError
from sqlrank.results.formats import FOR_PEOPLE
from sqlrank.results.verdicts import append, junit, summary, workflow_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sqlrank.results.formats import Format

Inconclusive = Annotated[str | None, typer.Option(help="Count what is inconclusive as pass or as fail, instead of exit status 3.")]
Summary = Annotated[Path | None, typer.Option("--summary", help="Add a summary in Markdown to this file.")]
Junit = Annotated[Path | None, typer.Option("--junit", help="Write a JUnit report to this file.")]

EXITS = {"pass": 0, "fail": 1, "inconclusive": 3}


@dataclass(frozen=True)
class Ending:
    """What was asked of the end of a command."""

    command: str
    inconclusive: str | None
    summary: Path | None
    junit: Path | None

    def __post_init__(self) -> None:
        """Raise ``SqlrankError`` for what does not count."""
        if self.inconclusive not in {None, "pass", "fail"}:
            raise SqlrankError(f"--inconclusive {self.inconclusive}: give pass or fail")

    def tell(self, result: pa.Table, shown: Sequence[str], form: Format, output: Path | None, digits: int) -> None:
        """Write the files for those who review, print the verdict, and exit with its status."""
        with problems():
            if self.summary is not None:
                append(self.summary, summary(result, digits, self.command, shown))
            if self.junit is not None:
                self.junit.write_text(junit(result, self.command), "utf-8")
        for line in workflow_lines(result, self.command) if os.environ.get("GITHUB_ACTIONS") == "true" else ():
            typer.echo(line, err=True)
        verdict = (result.schema.metadata or {})[b"sqlrank.verdict"].decode()
        typer.echo(f"verdict: {verdict}", err=form not in FOR_PEOPLE or output is not None)
        raise typer.Exit(EXITS[self.inconclusive if verdict == "inconclusive" and self.inconclusive else verdict])
