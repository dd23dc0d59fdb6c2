"""Write the header comment of a statement: its contents, inputs, settings, plan, and the command that prints it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlrank._version import __version__
from sqlrank.errors import escape_controls, join_words

if TYPE_CHECKING:
    from collections.abc import Callable

_DIALECT_LABELS = {
    "duckdb": "DuckDB",
    "bigquery": "BigQuery",
    "snowflake": "Snowflake",
    "spark": "Spark",
    "databricks": "Databricks",
    "postgres": "PostgreSQL",
    "redshift": "Redshift",
    "trino": "Trino",
    "clickhouse": "ClickHouse",
    "datafusion": "DataFusion",
    "sqlite": "SQLite",
}


@dataclass(frozen=True)
class StatementHeader:
    """The header comment of a statement, of which the lines that apply are written.

    Attributes:
        title: Its contents, such as ``nDCG, AP``.
        row: What a row of the result is, such as ``one row per system``.
        reads: Its inputs, such as ``eval.run (run)``.
        settings: The settings that decide its numbers and are not the defaults, such as ``ties=rank``.
        time_zone: The time zone by which it reads times, empty if it reads none that depend on it, or the zone is not known.
        plan: Its plan, with the alternatives.
        notes: Further lines.
        command: The command that prints it, None if there is none.
    """

    title: str
    row: str = ""
    reads: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    time_zone: str = ""
    plan: str = ""
    notes: tuple[str, ...] = ()
    command: str | None = None

    def keep_entries(self, is_kept: Callable[[str], bool]) -> StatementHeader:
        """Return the header without inputs, settings and a command that a condition excludes."""
        reads, settings = (tuple(filter(is_kept, texts)) for texts in (self.reads, self.settings))
        return replace(self, reads=reads, settings=settings, command=self.command if is_kept(self.command or "") else None)

    def format_comments(self, dialect: str) -> str:
        """Return the header as comment lines."""
        lines = {
            f"sqlrank {__version__} for {_DIALECT_LABELS[dialect]}": ", ".join(filter(None, (self.title, self.row))),
            "reads": ", ".join(self.reads),
            "settings": ", ".join([*self.settings, *([f"TimeZone={self.time_zone}"] if self.time_zone else [])]),
            "plan": self.plan,
        }
        texts = [f"{name}: {text}" for name, text in lines.items() if text]
        texts += [*self.notes, *([] if self.command is None else [f"made by: {self.command}"])]
        return "".join(f"-- {escape_controls(' '.join(line.splitlines()))}\n" for line in texts)


def row_phrase(keys: list[str]) -> str:
    """Return the words for a row of a result.

    >>> row_phrase([]), row_phrase(["campaign", "day"])
    ('one row', 'one row per campaign and day')
    """
    return f"one row per {join_words(keys)}" if keys else "one row"
