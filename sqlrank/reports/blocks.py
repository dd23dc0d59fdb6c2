"""Define the sections and blocks of reports (tables, figures, documents side by side), and build
tables and figures of results.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import sqlrank
from sqlrank.charts.export import svg_panels
from sqlrank.errors import InputError, MetricError, escape_controls
from sqlrank.output.contrast_tables import read_contrasts
from sqlrank.output.display import TextColumn, format_value, read_number
from sqlrank.output.result_formats import read_display_columns
from sqlrank.result_columns import SLICE_COLUMN, Kind, column_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


BLANKS = "\t\n"
"""Control characters that a page renders as blanks."""

MAX_NAME_CHARS = 200
"""Maximum number of characters shown of a name."""

MAX_TABLE_ROWS = 2_000
"""Maximum number of rows that a page holds of a table, which filter and sort reach; ``max_rows`` of
them are shown first.
"""


@dataclass(frozen=True)
class Cell:
    """A table cell: its text, the number to sort by (None for text), a link, a text to copy, an
    interval, and marks.

    ``is_best`` makes the text bold, ``verdict`` is a verdict that adds its symbol, and ``shade`` is
    a class of the style sheet.
    """

    text: str
    number: float | None = None
    copied: str | None = None
    link: str | None = None
    is_best: bool = False
    verdict: str = ""
    shade: str = ""
    interval: str = ""


@dataclass(frozen=True)
class TableBlock:
    """A table block: rows of cells by column, the number of rows that the page leaves out, and the
    SQL statement.

    The first ``max_rows`` rows are shown until the reader asks for all. A folded table shows its
    title only. Each line of the note is a paragraph.
    """

    id: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left_out: int = 0
    sql: str = ""
    note: str = ""
    is_folded: bool = False
    max_rows: int = MAX_TABLE_ROWS
    kind: str = "table"

    @property
    def is_number(self) -> list[bool]:
        """Return a list with True for each column that holds numbers."""
        return [
            any(row[index].number is not None for row in self.rows)
            for index in range(len(self.columns))
        ]


@dataclass(frozen=True)
class Figure:
    """A chart block as SVG panels with notes on how to read them, or the reason why there is
    none.
    """

    id: str
    title: str
    panels: Sequence[str] = ()
    notes: Sequence[str] = ()
    reason: str = ""
    sql: str = ""
    kind: str = "picture"

    @property
    def panel_width(self) -> int:
        """Return the width in pixels of the widest panel, as it was drawn."""
        return max(
            (int(width) for panel in self.panels for width in _DRAWN.findall(panel)), default=0
        )


@dataclass(frozen=True)
class RankedDocument:
    """A ranked document: rank, id, grade (None if unjudged) with its shade, and rank in the other
    list.
    """

    rank: int
    doc: str
    grade: str | None
    shade: int
    other: int | None


@dataclass(frozen=True)
class SideBySide:
    """The top documents of two systems for a query, with explanations of both values."""

    id: str
    title: str
    query: str
    systems: Sequence[str]
    values: Sequence[str]
    lists: Sequence[Sequence[RankedDocument]]
    explained: Sequence[str]
    commands: Sequence[str]
    kind: str = "beside"


@dataclass(frozen=True)
class VerdictSentence:
    """A sentence of the verdict: its state (``better``, ``worse``, ``mixed``, ``differs``,
    ``even``, ``pass``, ``inconclusive`` or ``warning``), and its text.

    A minor one qualifies the verdicts, and is shown in smaller text.
    """

    state: str
    text: str
    is_minor: bool = False


@dataclass(frozen=True)
class VerdictList:
    """The sentences that a report begins with."""

    verdicts: Sequence[VerdictSentence]
    kind: str = "verdicts"


@dataclass(frozen=True)
class ThresholdExplorer:
    """The confusion matrices of systems over thresholds, for a slider: rows of threshold, tp, fp,
    tn and fn as JSON.
    """

    id: str
    title: str
    systems: Sequence[tuple[str, str]]
    sql: str
    kind: str = "thresholds"


@dataclass(frozen=True)
class Section:
    """A section of a page: heading, paragraphs and blocks."""

    id: str
    title: str
    blocks: Sequence[Any] = ()
    texts: Sequence[str] = field(default=())
    is_folded: bool = False


def truncate_text(text: Any) -> str:
    """Return a text truncated and with invisible characters escaped."""
    escaped = escape_controls(str(text), allowed=BLANKS)
    return (
        escaped
        if len(escaped) <= MAX_NAME_CHARS
        else f"{escaped[:MAX_NAME_CHARS]}... ({len(escaped):,} characters)"
    )


def result_block(
    result: pa.Table,
    ident: str,
    title: str,
    max_rows: int,
    *,
    note: str = "",
    is_folded: bool = False,
) -> TableBlock:
    """Return a result as a table block, contrasts in their compact form; ``max_rows`` is the number
    of rows shown first.
    """
    first_rows = result.slice(0, MAX_TABLE_ROWS)
    notes, remarks = [note], list[str]()
    if (contrasts := read_contrasts(first_rows, escape=truncate_text)) is not None:
        *remarks, method = contrasts.notes or [""]
        columns, notes = contrasts.join_tables(), [note, method]
    else:
        columns, method = read_display_columns(first_rows, "table", escape=truncate_text)
        notes.append(method)
    return TableBlock(
        ident,
        title,
        [column.name for column in columns],
        list(zip(*map(_read_cells, columns), strict=True)),
        max(0, result.num_rows - MAX_TABLE_ROWS),
        read_statement(result),
        "\n".join(filter(None, [" ".join(filter(None, notes)), *remarks])),
        is_folded,
        max_rows,
    )


def select_first_groups(
    result: pa.Table,
    names: Sequence[str],
    max_groups: int,
    order: Sequence[tuple[Any, ...]] = (),
    *,
    is_sorted: bool = False,
) -> tuple[pa.Table, int]:
    """Return the rows of the first groups by some columns, and the number of groups left out.

    Args:
        result: a result.
        names: the columns of the groups.
        max_groups: maximum number of groups.
        order: the first groups, before the others in the order of the rows.
        is_sorted: True to sort the rows by the order of groups.
    """
    keys = read_groups(result, names)
    ranks = {key: rank for rank, key in enumerate(dict.fromkeys([*order, *keys]))}
    rows = [row for row, key in enumerate(keys) if ranks[key] < max_groups]
    if is_sorted:
        rows.sort(key=lambda row: ranks[keys[row]])
    return result.take(pa.array(rows, pa.int64())), max(0, len(set(keys)) - max_groups)


MAX_GROUPS_DRAWN = 20
"""Approximate number of rows of groups drawn; each group has its own axes."""


def count_fitting_groups(result: pa.Table, names: Sequence[str]) -> int:
    """Return the number of groups whose rows are drawn, at least one."""
    keys = read_groups(result, names)
    return max(1, MAX_GROUPS_DRAWN * len(set(keys)) // max(1, len(keys)))


def read_groups(result: pa.Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the group of each row by some columns."""
    columns = [result[name].to_pylist() for name in names]
    return list(zip(*columns, strict=True)) or [()] * result.num_rows


def _read_cells(column: TextColumn) -> list[Cell]:
    """Return the cells of a column of text."""
    return [Cell(text, number) for text, number in zip(column.cells, column.numbers, strict=True)]


def read_statement(result: pa.Table) -> str:
    """Return the SQL statement in the metadata of a result."""
    return str((result.schema.metadata or {}).get(b"sqlrank.sql", b""), "utf-8")


def format_cell(name: str, value: Any, is_count: bool = False) -> Cell:
    """Format a value as a cell."""
    kind = Kind.COUNT if is_count else column_kind(name)
    return Cell(format_value(value, "table", kind=kind, escape=truncate_text), read_number(value))


MAX_DRAWN_CHARS = 60
"""Maximum number of characters drawn of a name."""

OWN_TEXT_COLUMNS = ("metric", "test", "correction", SLICE_COLUMN)
"""Columns with texts of sqlrank's own, which charts look up and must not shorten."""

PLACING_FIELDS = {"colour", "low", "high", "row", "column", "name", "edge", "bar"}
"""Fields of a mark's description that tooltips repeat under their titles."""

_MARK = re.compile(
    r'<(?P<tag>path|line|rect) aria-label="(?P<description>[^"]*)"'
    r' role="graphics-symbol"(?P<rest>[^>]*?)/>'
)
_EMPTY_MARKS = re.compile(
    r'<g class="[^"]*role-mark[^"]*" role="graphics-symbol"[^>]*?(?:/>|></g>)'
)
_LINE_ROLE, _AREA_ROLE = 'aria-roledescription="line mark"', 'aria-roledescription="area mark"'
_POSITION = re.compile(r' (?:transform|d|x|y|x1|x2|y1|y2|width|height)="[^"]*"')
_LONG_NUMBER = re.compile(r"(\.\d{3})\d+")
_DRAWN = re.compile(r"--drawn:(\d+)")
_ID = re.compile(r'( id="|="url\(#)((?:clip|gradient_)\d+)')


def build_figure(
    result: pa.Table | Callable[[], pa.Table], ident: str, title: str, kind: str | None = None
) -> Figure:
    """Return the figure of a result, which may be evaluated here, or the reason why there is none.

    A result that cannot be evaluated or drawn does not prevent the rest of the report.
    """
    try:
        result = result if isinstance(result, pa.Table) else result()
        panels, notes = svg_panels(sqlrank.chart(_with_short_names(result), kind))
    except (InputError, MetricError) as error:
        return Figure(ident, title, reason=str(error))
    embedded = [_embed_svg(panel, f"{ident}-{index}", title) for index, panel in enumerate(panels)]
    return Figure(ident, title, embedded, [" ".join(notes)], sql=read_statement(result))


def _embed_svg(svg_text: str, ident: str, title: str) -> str:
    """Return an SVG for a page: ids that occur once, a name for screen readers, and native
    tooltips.

    The style sheet grows it from the width that it was drawn with.
    """
    width_match = re.search(r'width="(\d+)"', svg_text)
    drawn_width = f"--drawn:{width_match[1]}" if width_match else ""
    svg_tag = f'<svg role="img" aria-label="{escape(truncate_text(title))}" style="{drawn_width}" '
    unique_svg = _ID.sub(rf"\g<1>{ident}-\g<2>", svg_text).replace("<svg ", svg_tag, 1)
    # The last digits of a position depend on the order in which threads add.
    rounded = _POSITION.sub(lambda position: _LONG_NUMBER.sub(r"\1", position[0]), unique_svg)
    return _MARK.sub(_with_tooltip, _EMPTY_MARKS.sub("", rounded))


def _with_tooltip(match: re.Match[str]) -> str:
    """Return a mark whose description is its tooltip: the lines of its fields, without those that
    only place it.
    """
    if _LINE_ROLE in match["rest"] or _AREA_ROLE in match["rest"]:  # described by their first point
        return match[0]
    fields = [text.partition(": ") for text in match["description"].split("; ")]
    titles = [
        "".join(field)
        for field in fields
        if field[0] not in PLACING_FIELDS
        and not field[0].startswith("difference of ")
        and not field[0].endswith(")")
        and field[2] != "null"
    ] or ["".join(field) for field in fields]
    return f"<{match['tag']}{match['rest']}><title>{'&#10;'.join(titles)}</title></{match['tag']}>"


def _with_short_names(result: pa.Table) -> pa.Table:
    """Shorten the texts of a result consistently, so that they fit next to an axis.

    Different texts stay different.
    """
    kinds = {pa.string(), pa.large_string()}
    columns = {
        field.name: result[field.name].to_pylist()
        for field in result.schema
        if field.type in kinds and field.name not in OWN_TEXT_COLUMNS
    }
    names = _shorten_labels(
        [text for texts in columns.values() for text in dict.fromkeys(texts) if text is not None]
    )
    for name, texts in columns.items():
        field = result.schema.field(name)
        short: Any = pa.array([None if text is None else names[text] for text in texts], field.type)
        result = result.set_column(result.schema.get_field_index(name), field, short)
    return result


def _shorten_labels(texts: list[str]) -> dict[str, str]:
    """Return a short form of each text, numbered where truncation would make texts equal.

    >>> _shorten_labels(["a", "b" * 61, "b" * 62])["b" * 62][-7:]
    '... (2)'
    """
    short_texts: dict[str, str] = {}
    taken = {
        text
        for text in texts
        if len(text) <= MAX_DRAWN_CHARS and escape_controls(text, BLANKS) == text
    }
    repetitions: Counter[str] = Counter()
    for text in dict.fromkeys(texts):
        escaped = escape_controls(text, BLANKS)
        first = escaped if len(escaped) <= MAX_DRAWN_CHARS else f"{escaped[:MAX_DRAWN_CHARS]}..."
        short = first
        while short in taken and text != short:
            repetitions[first] += 1
            short = f"{first} ({repetitions[first] + 1})"
        taken.add(short)
        short_texts[text] = short
    return short_texts
