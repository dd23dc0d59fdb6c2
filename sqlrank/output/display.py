"""Format results for people: columns, values, reasons for NULL, and tables as text, Markdown and
LaTeX.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, Literal

from sqlrank.errors import MetricError, SqlrankError, escape_controls, suggest_choice
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.metric_info import better_direction, canonical_metric
from sqlrank.result_columns import (
    BOUNDS,
    CI_HIGH,
    CI_LOW,
    N_BUCKETS,
    N_UNITS,
    SE,
    Kind,
    column_kind,
)
from sqlrank.result_metadata import (
    EXPERIMENT,
    NO_RELEVANT_KEY,
    read_canonical_names,
    read_result_metadata,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pyarrow as pa

    from sqlrank.registry.registry import Registry


_MARKUP = (
    # code, HTML, emphasis, mathematics, escapes, entities
    r"[`<*]|(?<![^\W_])_|_(?![^\W_])|~.*~|\$.*\$|\\[^\w\s]|&#|&\w+;"
    # images and links, also those that GitHub finds in text
    r"|\][(\[:]|://|\bwww\.|\b(?:mailto|xmpp):|\w@[\w.-]*\.\w"
    r"|(?<!\w)(?:@[a-z]|#\d|:\w+:)|^\s|\s$"  # mentions, issues, emoji, and blanks that are stripped
)


def format_markdown(
    header: Sequence[str], aligned: Sequence[str], cells: Sequence[Sequence[str]]
) -> str:
    """Return a table of escaped texts; ``aligned`` are ``left`` or ``right``."""
    lines = [header, ["---:" if side == "right" else ":---" for side in aligned], *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def escape_markdown(text: str) -> str:
    r"""Escape a text for a table cell: as inline code if it contains markup.

    >>> print(escape_markdown("a|b"), escape_markdown("<b>"), escape_markdown("nDCG@10"))
    a\|b `<b>` nDCG@10
    """
    cell = text.replace("|", r"\|")
    if not re.search(_MARKUP, text, re.IGNORECASE):
        return cell.replace("\n", "<br>")
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    blank = " " if text[0] in "` \n" or text[-1] in "` \n" else ""
    code = cell.replace("\n", r"\n")
    return f"{fence}{blank}{code}{blank}{fence}"


_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row it would be an optional argument of \\
    "\n": " ",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def format_latex(
    header: Sequence[str], aligned: Sequence[str], cells: Sequence[Sequence[str]]
) -> str:
    """Return a tabular of escaped texts; ``aligned`` are ``left`` or ``right``."""
    lines = [
        f"\\begin{{tabular}}{{{''.join(side[0] for side in aligned)}}}",
        r"\toprule",
        rf"{' & '.join(header)} \\",
        r"\midrule",
        *(rf"{' & '.join(line)} \\" for line in cells),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "".join(f"{line}\n" for line in lines)


def escape_latex(text: str) -> str:
    r"""Escape a text for LaTeX.

    >>> print(escape_latex("num_q 50%"))
    num\_q 50\%
    """
    return "".join(_ESCAPES.get(character, character) for character in text)


def format_bold(text: str) -> str:
    """Return a text in bold LaTeX."""
    return rf"\textbf{{{text}}}"


DEFAULT_DIGITS = 4
"""Default number of decimals, as in evaluation tools."""

ROUNDING_ERROR = 1e-12
"""Magnitude below which a value is 0: computations round more."""

MIN_DECIMAL_NUMBER = 1e-6
"""Magnitude below which numbers have an exponent."""

_WORKFLOW_COMMAND = re.compile(r"^(\s*):(?=:)")
"""Start of a line that GitHub Actions would run as a command, such as ``::error::``."""


Markup = Literal["table", "markdown", "latex"]
"""Formats for people, whose markup texts are escaped for."""


def format_value(
    value: Any,
    form: Markup,
    digits: int = DEFAULT_DIGITS,
    *,
    kind: Kind = Kind.VALUE,
    is_fraction: bool = False,
    escape: Callable[[str], str] | None = None,
) -> str:
    """Return a value of a column of a kind as text of a format; ``escape`` escapes texts instead of
    the format.
    """
    if value is None:
        return "--" if form == "latex" else "NULL"
    if read_number(value) is not None:
        text = format_number(value, kind, digits, is_fraction=is_fraction)
        return escape_latex(text) if form == "latex" else text
    return escape_text(str(value), form) if escape is None else escape(str(value))


def read_number(value: Any) -> float | None:
    """Return the number that a value is, None for others; a truth value is none."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else None


def escape_text(text: str, form: Markup) -> str:
    """Return a text that shows as it is in a format, with codes for control characters."""
    if form == "table":
        return _WORKFLOW_COMMAND.sub(r"\1\\x3a", escape_controls(text))
    escaped = escape_controls(text, allowed="\n")
    return escape_latex(escaped) if form == "latex" else escape_markdown(escaped)


def format_number(
    value: float,
    kind: Kind = Kind.VALUE,
    digits: int = DEFAULT_DIGITS,
    *,
    is_fraction: bool = False,
) -> str:
    """Return a number of a kind as text: a p-value that rounds to 0 as a bound, another small
    number with two significant digits.

    Args:
        value: the number.
        kind: the kind of its column. Counts have no decimals, differences a sign, and lifts are
            percentages.
        digits: number of decimals.
        is_fraction: True for an integer among fractions, which has their decimals.

    >>> format_number(1e-9, Kind.P_VALUE), format_number(0.25, Kind.P_VALUE), format_number(
    ...     3.97e-05
    ... ), format_number(-1e-17)
    ('<0.0001', '0.2500', '0.00004', '0.0000')
    >>> format_number(12345.678), format_number(3.0), format_number(
    ...     3.0, is_fraction=True
    ... ), format_number(0.5, Kind.DIFFERENCE)
    ('12,345.6780', '3', '3.0000', '+0.5000')
    >>> format_number(0.25, Kind.LIFT), format_number(1234.0, Kind.COUNT), format_number(
    ...     1234
    ... ), format_number(1234, Kind.COUNT)
    ('+25.00%', '1,234', '1234', '1,234')
    """
    least = 10**-digits
    if kind is Kind.P_VALUE and value < least:
        return f"<{least:.{digits}f}"
    if kind is Kind.LIFT:
        return f"{value:+z,.{max(0, digits - 2)}%}"
    if isinstance(value, int):
        return f"{value:,}" if kind is Kind.COUNT else str(value)
    if abs(value) < ROUNDING_ERROR:
        value = 0.0
    sign = "+" if kind is Kind.DIFFERENCE and value > 0 else ""
    if value.is_integer() and not is_fraction and (kind is Kind.COUNT or abs(value) > 1):
        digits = 0
    elif 0 < abs(value) < least / 2:
        short = f"{value:.2g}"
        return sign + (f"{Decimal(short):f}" if abs(value) >= MIN_DECIMAL_NUMBER else short)
    return f"{value:{sign}z,.{digits}f}"


def group_items(items: Iterable[Any], read_key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    """Return items by a key of each, keys and items in their order.

    >>> group_items(["a", "bc", "d"], len)
    {1: ['a', 'd'], 2: ['bc']}
    """
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(read_key(item), []).append(item)
    return groups


def group_column_names(result: pa.Table) -> list[str]:
    """Return the group columns: those before ``metric``."""
    return list(result.column_names[: result.column_names.index("metric")])


GAP = "  "
NO_BREAK = "\N{NO-BREAK SPACE}"
"""Joins words that are not wrapped, such as a name and the beginning of its value."""

MIN_PROSE_WIDTH = 24
"""Smallest width of a column of sentences beside others; below, rows are shown as records."""

PROSE_CHARS = 30
"""Length from which a text with blanks is wrapped at them. Shorter texts are names."""

MAX_NAME_WIDTHS = (16, 8)
"""Greatest widths of names that stay in a table which is too wide, tried in turn. Longer ones
become letters, explained below it.
"""

BOLD, GREEN, RED, YELLOW = "\x1b[1m", "\x1b[32m", "\x1b[31m", "\x1b[33m"
_RESET = "\x1b[0m"


@dataclass(frozen=True)
class TextColumn:
    """A column of a table as text.

    Attributes:
        name: its header.
        cells: the texts of its rows.
        is_number: True if cells are right-aligned.
        colors: ANSI codes of cells, by row.
        numbers: the numbers that cells show, None for those of texts; empty if unknown.
    """

    name: str
    cells: Sequence[str]
    is_number: bool = False
    colors: Mapping[int, str] = field(default_factory=dict)
    numbers: Sequence[float | None] = ()

    @cached_property
    def width(self) -> int:
        """Return the number of terminal cells that the column takes without wrapping."""
        return max(map(text_width, [self.name, *self.cells]))

    @cached_property
    def is_prose(self) -> bool:
        """Return True if a cell is a sentence, which may be wrapped between words."""
        return not self.is_number and any(
            " " in cell and len(cell) > PROSE_CHARS for cell in self.cells
        )


def terminal_width() -> int | None:
    """Return the width of the terminal that standard output is, None if it is a pipe or a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def supports_color() -> bool:
    """Return True if standard output is a terminal with colors, and the user did not switch them
    off with NO_COLOR.
    """
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def text_width(text: str) -> int:
    """Return the number of terminal cells of a text, in which a Chinese character takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # a table of characters that few texts need

    return cell_len(text)


def lay_out(columns: Sequence[TextColumn], width: int | None = None, *, color: bool = False) -> str:
    """Return a table as text: columns side by side if they fit into the width, with letters for
    long names if they do so, else the columns in parts, or a row alone as a record.

    Names and numbers are never broken. Sentences are wrapped between words.
    """
    if width is None or (widths := _fit_widths(columns, width)) is None:
        if width is not None:
            shorter, legend = (
                (columns, "") if len(columns[0].cells) == 1 else _shorten_names(columns, width)
            )
            if legend and _fit_widths(shorter, width) is not None:
                return lay_out(shorter, width, color=color) + legend
            for part, notes in ((columns, ""), (shorter, legend)):
                if parts := _split_columns(part, width):
                    return "\n".join(lay_out(part, width, color=color) for part in parts) + notes
            return _format_records(columns, width, color)
        widths = [column.width for column in columns]
    lines = [
        [
            _align_text(column.name, size, column.is_number, BOLD if color else "")
            for column, size in zip(columns, widths, strict=True)
        ]
    ]
    for row in range(len(columns[0].cells) if columns else 0):
        wrapped = [
            wrap_text(column.cells[row], size) for column, size in zip(columns, widths, strict=True)
        ]
        for line in range(max(map(len, wrapped))):
            cell_lines = [texts[line] if line < len(texts) else "" for texts in wrapped]
            lines.append(
                [
                    _align_text(
                        text, size, column.is_number, column.colors.get(row, "") if color else ""
                    )
                    for text, size, column in zip(cell_lines, widths, columns, strict=True)
                ]
            )
    return "".join(f"{GAP.join(line).rstrip()}\n" for line in lines)


def wrap_text(text: str, width: int) -> list[str]:
    """Wrap a text between words; a longer word has a line of its own.

    >>> wrap_text("a gain of documents", 10)
    ['a gain of', 'documents']
    """
    if text_width(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        if line and text_width(f"{line} {word}") > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def _fit_widths(columns: Sequence[TextColumn], width: int) -> list[int] | None:
    """Return the widths of columns side by side, None if they do not fit."""
    widths = [column.width for column in columns]
    excess = table_width(columns) - width
    # The widest sentences give way first.
    for index in sorted(
        (index for index, column in enumerate(columns) if column.is_prose),
        key=lambda index: -widths[index],
    ):
        longest_word = max(
            (text_width(word) for cell in columns[index].cells for word in cell.split(" ")),
            default=0,
        )
        smallest = max(MIN_PROSE_WIDTH, longest_word, text_width(columns[index].name))
        taken = max(0, min(excess, widths[index] - smallest))
        widths[index] -= taken
        excess -= taken
    return widths if excess <= 0 else None


def assign_letters(names: Iterable[str], max_width: int) -> dict[str, str]:
    """Return a letter for each name that is wider, which no name is, by name.

    The first is B if it is that of the second name: before it often is the control of an A/B test.

    >>> assign_letters(["control", "the_new_checkout"], 10)
    {'the_new_checkout': 'B'}
    """
    texts = list(dict.fromkeys(names))
    free = [letter for letter in ascii_uppercase if letter not in texts]
    wide = [name for name in texts if text_width(name) > max_width]
    is_second = "A" not in texts and wide[:1] == texts[1:2]
    return dict(zip(wide, free[is_second:], strict=False))


def format_legend(letters: Mapping[str, str]) -> list[str]:
    """Return a line for each letter of a name."""
    return [f"{letter}: {name}" for name, letter in letters.items()]


def _shorten_names(columns: Sequence[TextColumn], width: int) -> tuple[list[TextColumn], str]:
    """Return columns with letters for the long names of their cells, but for metrics, and the lines
    that explain them, empty if there are none.
    """
    # Texts before numbers name rows, also if they are as long as sentences.
    numbers = [index for index, column in enumerate(columns) if column.is_number]
    names = [
        column
        for index, column in enumerate(columns)
        if not (column.is_number or column.name == "metric")
        and (not column.is_prose or index < max(numbers, default=0))
    ]
    shorter, letters = list(columns), {}
    for max_width in MAX_NAME_WIDTHS:
        letters = assign_letters((cell for column in names for cell in column.cells), max_width)
        shorter = [
            replace(column, cells=[letters.get(cell, cell) for cell in column.cells])
            if column in names
            else column
            for column in columns
        ]
        if _fit_widths(shorter, width) is not None:
            break
    return shorter, "".join(
        f"{line}\n" for text in format_legend(letters) for line in wrap_text(text, width)
    )


def _split_columns(columns: Sequence[TextColumn], width: int) -> list[list[TextColumn]]:
    """Return the columns of several rows in parts that fit, each with the columns of names; no
    parts if a column is too wide.
    """
    num_names = (
        next((index for index, column in enumerate(columns) if column.is_number), len(columns)) or 1
    )
    names, others = list(columns[:num_names]), columns[num_names:]
    if not others or len(columns[0].cells) == 1 or any(column.is_prose for column in columns):
        return []
    parts = [names]
    for column in others:
        if table_width([*names, column]) > width:
            return []
        if table_width([*parts[-1], column]) <= width:
            parts[-1] = [*parts[-1], column]
        else:
            parts.append([*names, column])
    return parts


def table_width(columns: Sequence[TextColumn]) -> int:
    """Return the width of columns side by side."""
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _format_records(columns: Sequence[TextColumn], width: int, color: bool) -> str:
    """Return a line per row and column that has a value, with an empty line between rows."""
    label = max(text_width(column.name) for column in columns)
    number_width = max(
        (text_width(cell) for column in columns if column.is_number for cell in column.cells),
        default=0,
    )
    records = []
    for row in range(len(columns[0].cells)):
        lines = []
        for column in (column for column in columns if column.cells[row]):
            code = column.colors.get(row, "") if color else ""
            cell = column.cells[row]
            texts = (
                [_align_text(cell, number_width, is_number=True, code=code)]
                if column.is_number
                else wrap_text(cell, width - label - len(GAP))
            )
            name = _align_text(column.name, label, is_number=False, code=BOLD if color else "")
            for index, text in enumerate(texts):
                value = (
                    text if column.is_number else _align_text(text, 0, is_number=False, code=code)
                )
                lines.append(f"{name if index == 0 else ' ' * label}{GAP}{value}".rstrip() + "\n")
        records.append("".join(lines))
    return "\n".join(records)


def _align_text(text: str, width: int, is_number: bool, code: str) -> str:
    padding = " " * max(0, width - text_width(text))
    styled = f"{code}{text}{_RESET}" if code and text else text
    return padding + styled if is_number else styled + padding


BETTER, WORSE = r"$^{\dagger}$", r"$^{\ddagger}$"
"""Marks of values that are significantly better and worse than those of the baseline."""


def format_system_table(result: pa.Table, digits: int) -> str | None:
    """Return a row per group and system, and a column per metric; None for pairs that have each its
    own baseline, and for other results.
    """
    if not {"baseline", "winner", "correction"} <= set(result.column_names):
        return None
    rows = result.to_pylist()
    baselines = {row["baseline"] for row in rows}
    if len(baselines) != 1:
        return None
    (baseline,) = baselines
    keys = group_column_names(result)
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    cells: dict[tuple[object, ...], dict[str, str]] = {}
    for row in rows:
        group, metric, system = tuple(row[key] for key in keys), row["metric"], row["system"]
        mark = "" if row["winner"] is None else BETTER if row["winner"] == system else WORSE
        for name, value, suffix in (
            (baseline, row["value_baseline"], ""),
            (system, row["value"], mark),
        ):
            text = format_value(value, "latex", digits, kind=column_kind(metric))
            cells.setdefault((*group, name), {})[metric] = text + suffix
    lines = [
        [
            *(format_value(value, "latex") for value in key),
            *(values.get(metric, "--") for metric in metrics),
        ]
        for key, values in cells.items()
    ]
    header = [escape_latex(name) for name in (*keys, "system", *metrics)]
    test, correction = next(
        ((row["test"], row["correction"]) for row in rows if row["test"] is not None),
        ("paired", "none"),
    )
    note = (
        f"% dagger: significantly better than {escape_latex(str(baseline))}, ddagger: worse ({test}"
        f" test, correction {correction})\n"
    )
    return format_latex(
        header, ["left"] * (len(keys) + 1) + ["right"] * len(metrics), lines
    ) + note.replace("\r", " ")


TOTAL_QUERY = "all"
"""Query id of a total row, as in the output of trec_eval."""


def sort_and_limit(
    result: pa.Table, library: Registry, sort: str | None, top: int | None
) -> pa.Table:
    """Sort the rows by a column and keep the first ``top``.

    Metrics sort best first, other columns ascending, and NULL last; ``-`` before the name reverses
    the order. Raises ``SqlrankError`` for an unknown column.
    """
    if sort is not None:
        import pyarrow.compute as pc  # a fifth of a second that most calls do without

        reverse = sort.startswith("-") and sort not in result.column_names
        name = _find_column(sort.removeprefix("-") if reverse else sort, result, library)
        canonical = read_canonical_names(result.schema.metadata)
        is_metric = str(result.schema.field(name).type) == "double"
        is_descending = (
            is_metric and better_direction(canonical.get(name, name), library) != "lower"
        ) is not reverse
        keys = [(name, "descending" if is_descending else "ascending")]
        result = result.take(
            pc.sort_indices(result, sort_keys=keys)
        )  # NULL last by default; saying so is deprecated
    return result if top is None else result.slice(0, min(top, result.num_rows))


def _find_column(name: str, result: pa.Table, library: Registry) -> str:
    """Return the column of a name, which may be another name of a metric."""
    available = result.column_names
    if name in available:
        return name
    try:
        metric = canonical_metric(parse_metric_text(name), library)
        canonical = str(
            type(metric)(library.file_for(metric).display_name, metric.params, metric.cutoff)
        )
    except MetricError:
        canonical = name
    requested = {
        metric: column
        for column, metric in read_canonical_names(result.schema.metadata).items()
        if column in available
    }
    if canonical not in available and canonical not in requested:
        raise SqlrankError(
            suggest_choice(
                f"--sort: the result has no column {name!r}", name, available, "There are"
            )
        )
    return canonical if canonical in available else requested[canonical]


def append_total(per_query: pa.Table, total: pa.Table) -> pa.Table:
    """Append the total rows to the per-query rows, under the query id ``all``."""
    import pyarrow as pa  # help does not need it

    index = per_query.column_names.index("query_id")
    texts = per_query["query_id"].cast(pa.string())
    rows = per_query.set_column(index, "query_id", texts)
    query_ids: Any = pa.array([TOTAL_QUERY] * total.num_rows, pa.string())
    return pa.concat_tables(
        [rows, total.add_column(index, "query_id", query_ids)]
    ).replace_schema_metadata(per_query.schema.metadata)


def to_long_format(result: pa.Table) -> pa.Table:
    """Convert a result with intervals to long format: one row per result row and metric.

    Columns: the key columns, ``metric`` (string), ``value``, the bounds ``bound_low`` and
    ``bound_high`` of a rollup, ``ci_low`` and ``ci_high`` (float64), ``n_units`` or ``n_buckets``
    (int64), and the remaining columns. A key column of one of these names is that ``(group)``.
    """
    metrics = [name for name in result.column_names if f"{name}.{CI_LOW}" in result.column_names]
    limit_columns = [
        limit
        for limit in (*BOUNDS, CI_LOW, CI_HIGH, N_UNITS, N_BUCKETS)
        if any(f"{name}.{limit}" in result.column_names for name in metrics)
    ]
    first_metric = result.column_names.index(metrics[0])
    keys = result.column_names[:first_metric]
    limits = {f"{name}.{limit}" for name in metrics for limit in (*limit_columns, SE)}
    remaining_columns = [
        name for name in result.column_names[first_metric:] if name not in {*metrics, *limits}
    ]
    added = {"metric", "value", *limit_columns}
    rows = [
        {f"{key} (group)" if key in added else key: row[key] for key in keys}
        | {"metric": name, "value": row[name]}
        | {limit: row.get(f"{name}.{limit}") for limit in limit_columns}
        | {column: row[column] for column in remaining_columns}
        for row in result.to_pylist()
        for name in metrics
    ]
    return type(result).from_pylist(rows)


MIN_UNITS = 2
"""Smallest number of units for which a standard error is defined."""

_NEVER = "never"


def null_reasons(result: pa.Table) -> list[str]:
    """Return one line for each reason why metrics or intervals of a result are NULL, or why all
    gains are 0.

    >>> import pyarrow as pa, sqlrank
    >>> null_reasons(sqlrank.evaluate("AUC", predictions=pa.table({"label": [1], "score": [0.5]})))
    ['AUC is NULL (undefined: predictions of one class only)']
    """
    metadata = read_result_metadata(result.schema.metadata)
    measures = {} if metadata is None or metadata.result == EXPERIMENT else metadata.measures
    names_by_reason: dict[tuple[str, int, str], list[str]] = {}
    for name, measure in measures.items():
        undefined = result[name].null_count if name in result.column_names else 0
        if undefined:
            declared = measure.get("undefined", _NEVER)
            reason = (
                "too large, or not a number" if declared == _NEVER else f"undefined: {declared}"
            )
            names_by_reason.setdefault(("NULL", undefined, reason), []).append(name)
        if (
            f"{name}.{CI_LOW}" in result.column_names
            and result[f"{name}.{CI_LOW}"].null_count > undefined
        ):
            rows = _rows_without_interval(result, name)
            reason = measure.get("no_interval") or _interval_reason(rows)
            names_by_reason.setdefault(("without an interval", len(rows), reason), []).append(name)
    # Metrics that are undefined without relevant documents say so themselves.
    sentences = []
    if NO_RELEVANT_KEY.encode() in (result.schema.metadata or {}) and not any(
        what == "NULL" for what, *_ in names_by_reason
    ):
        sentences.append(
            "no judgment is above 0, so that no document is relevant. Check the column that is read"
            " as relevance"
        )
    for (what, num_rows, reason), names in names_by_reason.items():
        where = f" in {num_rows:,} of {result.num_rows:,} rows" if result.num_rows > 1 else ""
        verb = "is" if len(names) == 1 else "are"
        sentences.append(f"{', '.join(names)} {verb} {what}{where} ({reason})")
    return sentences


def _rows_without_interval(result: pa.Table, name: str) -> list[dict[str, float | None]]:
    count = N_UNITS if f"{name}.{N_UNITS}" in result.column_names else N_BUCKETS
    columns = (f"{name}.{SE}", f"{name}.{count}", name, f"{name}.{CI_LOW}")
    return [
        {"se": error, "units": units}
        for error, units, value, low in zip(
            *(result[column].to_pylist() for column in columns), strict=True
        )
        if low is None and value is not None
    ]


def _interval_reason(rows: list[dict[str, float | None]]) -> str:
    if all(row["units"] is not None and row["units"] < MIN_UNITS for row in rows):
        return f"fewer than {MIN_UNITS} units"
    if all(row["se"] == 0 for row in rows):
        return "units that are all equal"
    if all(row["se"] is None and row["units"] is None for row in rows):
        return "no standard error. interval='bootstrap' with unit= gives an interval"
    return (
        "no standard error"
        if all(row["se"] is None for row in rows)
        else "no variance, or too few units"
    )
