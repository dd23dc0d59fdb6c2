"""Record requests as callers pass them, not validated, and the limits of a call, which are checked
when it is made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sqlrank.call.sources import collect_sources
from sqlrank.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

_Record = TypeVar("_Record")


ColumnNames = Literal["requested", "plain"]
"""Names of metrics in results: as requested, or unique identifiers."""


@dataclass(frozen=True)
class Request:
    """The arguments of a request; they are validated when it is resolved.

    Attributes:
        include_query_weights: Return the weights of queries with their values, if there are any.
        per_unit: Return pseudo-values of units for metrics of groups.
        only_queries: The only queries to read, if there are any.
        requested_names: Columns have the names under which metrics were requested, instead of the
            canonical ones.
        across: Columns whose groups are compared.
        system: The column of ``by`` that identifies the systems of a comparison, None without one.
        names: ``plain`` if columns and rows of metrics have identifiers for names.
        lower_is_better: Metrics of columns, or the columns, of which lower values are better.
        command: The command that prints the statement, such as ``sql``, None if there is none.
        options: Further arguments of the command.
    """

    metrics: Any
    sources: Mapping[str, Any]
    columns: Mapping[str, Any] | None = None
    by: Any = ()
    across: Any = ()
    system: str | None = None
    where: str | None = None
    per_query: bool = False
    compat: str | None = None
    sql_dir: Any = None
    plan: Mapping[str, Any] | None = None
    confidence: float | None = None
    interval: str = "auto"
    include_query_weights: bool = False
    per_unit: bool = False
    only_queries: tuple[Any, ...] = ()
    requested_names: bool = False
    names: ColumnNames = "requested"
    lower_is_better: str | Sequence[str] = ()
    unit: str | None = None
    replicates: int | None = None
    seed: int | None = None
    policies: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_arguments(
        cls, arguments: Mapping[str, Any], *, leave_out: Collection[str] = (), **others: Any
    ) -> Request:
        """Return the request of all arguments of a public function, but those to ``leave_out``,
        which others read there.
        """
        values = {name: value for name, value in arguments.items() if name not in leave_out}
        sources = collect_sources(
            **{
                name: values.get(name)
                for name in ("run", "qrels", "predictions", "queries", "inputs")
            }
        )
        return select_arguments(cls, values, sources=sources, **others)


def select_arguments(
    record: Callable[..., _Record], arguments: Mapping[str, Any], **others: Any
) -> _Record:
    """Return a record, such as the limits of a call, made of the arguments that have the names of
    its fields, and of ``others``.
    """
    names = {field.name for field in fields(record)}  # type: ignore[arg-type]
    return record(
        **{name: value for name, value in {**arguments, **others}.items() if name in names}
    )


def split_column_list(text: str) -> list[str]:
    """Split a text at commas outside of parentheses and quotes: ``system,day=SUBSTR(ts, 1,
    10)``.
    """
    names, depth, quote = [""], 0, ""
    for letter in text:
        if quote or letter in "'\"":
            quote = "" if letter == quote else quote or letter
        depth += 0 if quote else (letter == "(") - (letter == ")")
        if letter == "," and not depth and not quote:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]


_SIZE = re.compile(
    r"\s*(?P<number>\d+(\.\d+)?)\s*((?P<unit>[KMGT])(?P<binary>i?)B|bytes)\s*", re.IGNORECASE
)


@dataclass(frozen=True)
class ResourceLimits:
    """Resource limits of a call, which are checked when it is made; the directory for spilled data
    is then created.

    Attributes:
        memory_limit: Memory of this process, such as ``"2GB"``.
        threads: Number of threads.
        temp_directory: Directory for spilled data.
        timeout: Time-out in seconds.
    """

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: str | Path | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Check the limits, and create the directory for spilled data."""
        if self.timeout is not None and not (
            isinstance(self.timeout, (int, float)) and self.timeout > 0
        ):
            raise InputError(f"timeout={self.timeout!r} is not possible: give seconds above 0")
        if self.threads is not None and not isinstance(self.threads, int):
            raise InputError(f"threads={self.threads!r} is not possible: give an integer")
        if self.temp_directory is not None:
            try:
                Path(self.temp_directory).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    f"temp_directory={str(self.temp_directory)!r} is not possible:"
                    f" {error.strerror}. Name a folder that can be written to"
                ) from None


def parse_memory_size(text: str) -> float | None:
    """Return the bytes of a memory size, None for other texts.

    >>> parse_memory_size("2GB"), parse_memory_size("1.5 KiB"), parse_memory_size("much")
    (2000000000.0, 1536.0, None)
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    return float(match["number"]) * (1024.0 if match["binary"] else 1000.0) ** " KMGT".index(
        (match["unit"] or " ").upper()
    )
