"""What a page is made of: sections of paragraphs, tables, pictures and lists side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlrank.results.formats import DIGITS, Format, cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

LONGEST = 200
"""How many characters of a name are shown."""

LEAST = 1e-3
"""Below which numbers are shown by their first digits, of which decimals would leave few."""

MUCH = 1e4
"""From which on numbers are shown with their thousands set apart, and one decimal."""

OPEN = "not decided"
"""What stands for the better of two systems where the test does not say so."""

P_VALUES = ("p", "p_adjusted")
COUNTED = ("units", "unpaired", "wins", "ties", "losses", "needed")
"""Columns of whole numbers that are counts; others may be names, of which thousands are not set apart."""

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that no reader sees, and of which some turn round the direction of what follows."""


@dataclass(frozen=True)
class Cell:
    """What a place of a table shows, and the number by which it is sorted, None for a text; ``copied`` is a text that a button copies."""

    text: str
    number: float | None = None
    copied: str | None = None
    link: str | None = None


@dataclass(frozen=True)
class Table:
    """A table as it is shown: rows of cells by ``columns``, how many more rows there are, and the statement that computed them."""

    id: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left_out: int = 0
    sql: str = ""
    note: str = ""
    kind: str = "table"

    @property
    def is_number(self) -> list[bool]:
        """Whether a column holds numbers."""
        return [any(row[place].number is not None for row in self.rows) for place in range(len(self.columns))]


@dataclass(frozen=True)
class Picture:
    """A chart as SVG, or the reason why there is none."""

    id: str
    title: str
    svg: str
    reason: str = ""
    sql: str = ""
    kind: str = "picture"


@dataclass(frozen=True)
class Document:
    """A place of a list: its document, grade (None: not judged) and how that is coloured, and the place in the other list."""

    rank: int
    doc: str
    grade: str | None
    shade: int
    other: int | None


@dataclass(frozen=True)
class Beside:
    """The first documents of two systems for a query, and the explanations of both."""

    id: str
    title: str
    query: str
    systems: Sequence[str]
    values: Sequence[str]
    lists: Sequence[Sequence[Document]]
    explained: Sequence[str]
    commands: Sequence[str]
    kind: str = "beside"


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading."""

    id: str
    title: str
    blocks: Sequence[Any] = ()
    texts: Sequence[str] = field(default=())


def seen(text: Any) -> str:
    r"""Return a text with the codes of characters that no reader sees.

    >>> seen("a" + chr(1) + chr(0x202E))
    'a\\x01\\u202e'
    """
    return _UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}" if found[0] <= "\xff" else f"\\u{ord(found[0]):04x}", str(text))


def shortened(text: Any) -> str:
    """Return a name as a page shows it: its first characters, and the codes of those that no reader sees."""
    found = seen(text)
    return found if len(found) <= LONGEST else f"{found[:LONGEST]}... ({len(found):,} characters)"


def table(
    result: pa.Table,
    ident: str,
    title: str,
    most: int,
    *,
    counts: frozenset[str] = frozenset(),
    titles: Mapping[str, str] | None = None,
    note: str = "",
) -> Table:
    """Return a result as it is shown: its first rows, its metadata's statement; ``counts`` are columns of whole numbers."""
    rows = [[shown(name, value, name in counts) for name, value in row.items()] for row in result.slice(0, most).to_pylist()]
    names = [shortened((titles or {}).get(name, name)) for name in result.column_names]
    return Table(ident, title, names, rows, max(0, result.num_rows - most), statement(result), note)


def statement(result: pa.Table) -> str:
    """Return the statement that a result says it is of."""
    return str((result.schema.metadata or {}).get(b"sqlrank.sql", b""), "utf-8")


def shown(name: str, value: Any, is_count: bool = False) -> Cell:
    """Return a value of a column as a cell: p-values below what is written say so, whole numbers have no decimals."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Cell((OPEN if name == "better" else "NULL") if value is None else shortened(cell(value, Format.table)))
    if name in P_VALUES and value < 10**-DIGITS:
        return Cell(f"<{10**-DIGITS:g}", float(value))
    if isinstance(value, int):
        return Cell(f"{value:,}" if name in COUNTED else str(value), float(value))
    if abs(value) >= MUCH and not is_count:
        return Cell(f"{value:,.1f}", float(value))
    return Cell(f"{value:.2g}" if 0 < abs(value) < LEAST else cell(value, Format.table, DIGITS, is_count), float(value))
