"""TREC text that is not as it should be: which line, what stands there, and what was expected."""

from __future__ import annotations

import io
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlrank.errors import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FIELDS = {"run": "query Q0 document rank score tag", "qrels": "query iteration document relevance"}
"""What stands in a line, by what it is of."""

KINDS = {"run": "run", "qrels": "qrels", "baseline": "run"}
"""What the lines of a role are of."""

_COMMENT = re.compile(r"\s*#(\s|\S*\s*$)", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def problem(role: str, files: Iterable[Path]) -> str | None:
    """Return what is wrong with the first line that is not one of TREC's; None if there is none, or it cannot be read at all."""
    role = KINDS[role]
    for path in files:
        with suppress(OSError, pa.ArrowException):
            for number, line in _lines(path):
                fields = re.split(r"[ \t]+", line)
                if _fits(role, fields):
                    continue
                is_of_rank = len(fields) == len(FIELDS[role].split())
                wrong = f"rank {quoted(fields[3])}" if is_of_rank else f"{len(fields)} field{'s' * (len(fields) > 1)}"
                return f"{path}, line {number} has {wrong}: {quoted(line)}; {_advice(role, fields)}"
    return None


def _fits(role: str, fields: list[str]) -> bool:
    """Whether these are the fields of a line, as ``sql/inputs`` reads them."""
    expected = len(FIELDS[role].split())
    if role != "run":
        return len(fields) == expected
    has_rank = len(fields) >= expected and _NUMBER.fullmatch(fields[3]) is not None
    return has_rank and (len(fields) == expected or _NUMBER.fullmatch(fields[5]) is None)


def _advice(role: str, fields: list[str]) -> str:
    other = next(name for name in FIELDS if name != role)
    if len(fields) == len(FIELDS[other].split()):
        return f"that is a line of {_a(other)}, not of {_a(role)}; give the file with {other}= (--{other})"
    names = FIELDS[role].split()
    return f"a line of {_a(role)} has {len(names)} fields with blanks or tabs between them: {', '.join(names)}"


def _a(role: str) -> str:
    return "a run" if role == "run" else role


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are neither empty nor comments, with their numbers."""
    with io.TextIOWrapper(pa.input_stream(str(path), compression="detect"), encoding="utf-8-sig", errors="replace", newline="\n") as text:
        for number, line in enumerate(text, start=1):
            content = line.strip(" \t\r\n")
            if content and not _COMMENT.match(line):
                yield number, content
