"""Lay out contrasts (comparisons, gates, drift, experiments) for people: a column per system,
effect and interval, and a line on the method; and label their verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlrank.errors import count_things, to_plural
from sqlrank.output.display import (
    DEFAULT_DIGITS,
    GREEN,
    MAX_NAME_WIDTHS,
    NO_BREAK,
    RED,
    YELLOW,
    Markup,
    TextColumn,
    assign_letters,
    escape_text,
    format_legend,
    format_number,
    format_value,
    group_column_names,
    group_items,
    lay_out,
    read_number,
    table_width,
    text_width,
    wrap_text,
)
from sqlrank.result_columns import (
    BOUNDS,
    CI_HIGH,
    CI_LOW,
    COMPONENT_COLUMN,
    GROUP_COUNTS,
    LIFT_LIMITS,
    N_BUCKETS,
    N_UNITS,
    P_ADJUSTED,
    P_VALUE,
    RATIO_LIMITS,
    SLICE_COLUMN,
    SRM_ALPHA,
    Kind,
    column_kind,
    side_columns,
)
from sqlrank.result_metadata import find_range, read_measures, read_texts, read_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from sqlrank.result_columns import ResultRow

NO_WINNER, DIFFERS = "none", "differs"
"""Winner shown where none is significantly better, and where a significant difference has no better
direction.
"""

EXACT = "exact"
"""Bounds shown of a value that has no other."""

TOTAL = "total"
"""Name of the group of all rows, as ``--by total`` has it."""

MAX_NAMED_ROWS = 5
"""Maximum number of rows that a remark names; of more it gives the number."""

VERDICT_COLORS = {"pass": GREEN, "fail": RED, "inconclusive": YELLOW}

TEST_NAMES = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "randomization": "randomization test",
    "fixed": "Welch's t-test",
    "sequential": "confidence sequences",
}
"""Names of the tests of comparisons, and of the interval methods of experiments."""

CORRECTION_NAMES = {"holm": "Holm", "bh": "Benjamini-Hochberg", "max_t": "Westfall-Young"}

COUNTED = {N_BUCKETS: "bucket", GROUP_COUNTS[0]: "group"}
"""Words for what contrasts count that are not of units, by the column that has the number."""


class ContrastKind(NamedTuple):
    """A kind of contrast: the suffixes of the values of both sides, and the columns that name them,
    or else names.
    """

    suffixes: tuple[str, str]
    columns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, str]:
        """Return the columns of both values."""
        return side_columns("value", *self.suffixes)


SYSTEMS, VARIANTS = (
    ContrastKind(("baseline", ""), ("baseline", "system")),
    ContrastKind(("control", ""), ("control", "variant")),
)
PERIODS, EXTREMES = (
    ContrastKind(("reference", "current"), names=("reference", "current")),
    ContrastKind(("min", "max"), names=("least", "greatest")),
)


class TextCell(NamedTuple):
    """A text with the number that it shows, if any, an ANSI code, and the group that has the
    number.
    """

    text: str
    number: float | None = None
    color: str = ""
    group: str = ""


class Row(NamedTuple):
    """A contrast: the texts that name its group and metric, both systems with their values,
    quantities by heading, and the winner's name.
    """

    keys: tuple[str, ...]
    pair: tuple[str, str]
    values: tuple[TextCell, TextCell]
    quantities: Mapping[str, TextCell]
    winner: str | None
    remark: str
    required_units: str


class DisplayTable(NamedTuple):
    """A table with the texts of its cells below a title, which may be empty."""

    title: str
    columns: list[TextColumn]


@dataclass(frozen=True)
class Contrasts:
    """Contrasts as texts.

    Attributes:
        headings: the headings of the columns that name a row.
        rows: the rows in the order of the result.
        quantities: the headings of quantities that some row has.
        has_winner: True if contrasts are tested.
        method: the lines on test, correction and intervals.
        escape: returns a text as it is shown in the format.
    """

    headings: list[str]
    rows: list[Row]
    quantities: list[str]
    has_winner: bool
    method: list[str]
    escape: Callable[[str], str]

    @property
    def systems(self) -> list[str]:
        """Return the names of all systems."""
        return list(dict.fromkeys(name for row in self.rows for name in row.pair))

    @property
    def notes(self) -> list[str]:
        """Return the lines below the table: remarks on rows, the units that they need, and the
        method.
        """
        rows_by_sentence = group_items(
            [(row, text) for row in self.rows for text in _split_sentences(row.remark)],
            lambda pair: pair[1],
        )
        # Sentences on the same rows stay together.
        sentences = group_items(
            rows_by_sentence, lambda text: tuple(id(row) for row, _ in rows_by_sentence[text])
        )
        lines = [
            f"{self._name_rows([row for row, _ in rows_by_sentence[texts[0]]])}:"
            f" {'. '.join(texts)}."
            for texts in sentences.values()
        ]
        needed = [
            f"{self._name_row(row)} {row.required_units}" for row in self.rows if row.required_units
        ]
        return [
            *lines,
            *([f"Required sample size: {', '.join(needed)}."] if needed else []),
            *self.method,
        ]

    def _name_rows(self, rows: Sequence[Row]) -> str:
        """Return the names of rows with a remark: of all rows of a group or metric its name, of
        many rows their verdict, if all rows with it share the remark.
        """
        if len(rows) == len(self.rows) > 1:
            return "Every row"
        names = self._name_common_keys(rows)
        if names and len(names) <= MAX_NAMED_ROWS:
            return ", ".join(names)
        if len(rows) <= MAX_NAMED_ROWS:
            return ", ".join(map(self._name_row, rows))
        verdicts = {row.quantities["verdict"].text for row in rows if "verdict" in row.quantities}
        same = [
            row
            for row in self.rows
            if "verdict" in row.quantities and row.quantities["verdict"].text in verdicts
        ]
        return (
            verdicts.pop()
            if len(verdicts) == 1 and len(same) == len(rows)
            else f"{len(rows):,} rows"
        )

    def _name_common_keys(self, rows: Sequence[Row]) -> list[str]:
        """Return the groups, or else metrics or pairs of systems, of which these are all rows,
        nothing for others.
        """
        last = len(self.headings) - 1
        parts: list[tuple[Callable[[Row], tuple[str, ...]], Callable[[Row], str]]] = [
            (lambda row: row.keys[:-1], lambda row: self._name_keys(row, range(last))),
            (lambda row: row.keys[-1:], lambda row: self._name_key(row, last)),
            (lambda row: row.pair, self._name_pair),
        ]
        for read_key, name in parts:
            first_rows = {read_key(row): row for row in reversed(rows)}
            num_rows = sum(read_key(row) in first_rows for row in self.rows)
            if () not in first_rows and len(first_rows) < len(rows) == num_rows:
                return list(map(name, reversed(first_rows.values())))
        return []

    def _name_keys(self, row: Row, indices: Iterable[int]) -> str:
        return " ".join(self._name_key(row, index) for index in indices)

    def _name_pair(self, row: Row) -> str:
        """Return the system of a row, of several baselines with its own."""
        baseline, system = map(self.escape, row.pair)
        has_baselines = len({row.pair[0] for row in self.rows}) > 1
        return f"{system} against {baseline}" if has_baselines else system

    def _name_row(self, row: Row) -> str:
        """Return the texts of a row that differ between rows, at least its metric."""
        differing = [
            index
            for index in range(len(self.headings))
            if len({row.keys[index] for row in self.rows}) > 1
        ]
        pair = [self._name_pair(row)] if len({row.pair for row in self.rows}) > 1 else []
        names = filter(None, [self._name_keys(row, differing), *pair])
        return " ".join(names) or row.keys[-1]

    def lay_out(self, width: int | None, hints: Sequence[str] = (), *, color: bool = False) -> str:
        """Return tables, notes and hints as text for a terminal of ``width`` columns, if given.

        What is too wide has letters for long names, then a table per group or metric.
        """
        tables, letters = self.build_tables(), dict[str, str]()
        if width is not None and not _fit_width(tables, width):
            for narrower in self._narrower_tables():  # the last one if none fits
                tables, letters = narrower
                if _fit_width(tables, width):
                    break
        texts = [
            "".join(f"{line}\n" for line in wrap_text(title, width or text_width(title)) if line)
            + lay_out(columns, width, color=color)
            for title, columns in tables
        ]
        *remarks, method = self.notes or [""]
        legend = format_legend({self.escape(name): letters[name] for name in letters})
        notes = [*legend, *remarks, " ".join(filter(None, [method, *hints]))]
        lines = [
            line.replace(NO_BREAK, " ")
            for note in notes
            if note
            for line in wrap_text(note, width or text_width(note))
        ]
        return "\n".join(texts) + "".join(f"{line}\n" for line in lines)

    def _narrower_tables(self) -> Iterator[tuple[list[DisplayTable], dict[str, str]]]:
        """Yield tables with the letters of long names, each narrower than the one before: fewer
        columns that name rows, the least varied first. A table per row comes last.
        """
        variety = [
            len({row.keys[index] for row in self.rows}) for index in range(len(self.headings))
        ]
        order = sorted(range(len(self.headings)), key=variety.__getitem__)
        groups = [cell.group for row in self.rows for cell in row.values]
        long_names, names = (
            assign_letters([*self.systems, *groups], width) for width in MAX_NAME_WIDTHS
        )
        for counts in (range(len(order)), [len(order)]):
            for letters in ([{}, long_names] if long_names else [{}], [names]):
                for count in counts:
                    for shorter in letters:
                        yield self.build_tables(shorter, order[:count]), shorter

    def build_tables(
        self, names: Mapping[str, str] | None = None, title_keys: Sequence[int] = ()
    ) -> list[DisplayTable]:
        """Return a table per baseline.

        Args:
            names: other names of systems.
            title_keys: indices of the columns that name a row of which each combination has a table
                of its own, below a title.
        """
        names = names or {}
        parts = group_items(
            self.rows, lambda row: ", ".join(self._name_key(row, index) for index in title_keys)
        )
        # Units without a value of one system change the value of the baseline.
        values = group_items(self.rows, lambda row: (row.keys, row.pair[0], row.values[0].text))
        shares_baseline = len(values) == len({(row.keys, row.pair[0]) for row in self.rows})
        tables = []
        for title, part in parts.items():
            by_baseline = group_items(
                part, lambda row: row.pair[0] if shares_baseline else row.pair
            )
            for number, rows in enumerate(by_baseline.values()):
                columns = self._build_columns(rows, names, title_keys)
                baseline, system = (names.get(name) or self.escape(name) for name in rows[0].pair)
                against = f"against {baseline}:"
                if len({row.pair for row in rows}) == 1:
                    against = f"{system} {against}"
                titles = [title if number == 0 else "", against if len(by_baseline) > 1 else ""]
                tables.append(DisplayTable(", ".join(filter(None, titles)), columns))
        return tables

    def _name_key(self, row: Row, index: int) -> str:
        """Return the text of a title: a metric or a whole group alone, a group column with its
        name.
        """
        is_whole = index == len(self.headings) - 1 or self.headings[index] == "group"
        return row.keys[index] if is_whole else f"{self.headings[index]}={row.keys[index]}"

    def join_tables(self) -> list[TextColumn]:
        """Return one table, which of several pairs has a column of the system, and of several
        baselines another one.
        """
        if len(dict.fromkeys(row.pair for row in self.rows)) == 1:
            return self.build_tables()[0].columns
        baselines = {row.pair[0] for row in self.rows}
        first = int(len(baselines) == 1)  # names the column of its values instead
        values = (baselines.pop() if first else "value_baseline", "value")
        named = [
            row._replace(keys=(*row.keys, *map(self.escape, row.pair[first:])), pair=values)
            for row in self.rows
        ]
        headings = [*self.headings, *("baseline", "system")[first:]]
        return replace(self, headings=headings, rows=named).build_tables()[0].columns

    def join_columns(self) -> Contrasts:
        """Return the contrasts in fewer columns: the group of a row stands with its metric, and a
        tolerance that differs between rows with the verdict.
        """
        *groups, last = range(len(self.headings))
        rows = []
        for row in self.rows:
            quantities = dict(row.quantities)
            tolerance, verdict = quantities.pop("tolerance", None), quantities.get("verdict")
            if tolerance and tolerance.text and verdict:
                text = f"{verdict.text} (tolerance {tolerance.text})"
                quantities["verdict"] = verdict._replace(text=text)
            where = ", ".join(self._name_key(row, index) for index in groups)
            keys = (f"{row.keys[last]} ({where})" if where else row.keys[last],)
            rows.append(row._replace(keys=keys, quantities=quantities))
        return replace(
            self,
            headings=self.headings[last:],
            rows=rows,
            quantities=[name for name in self.quantities if name != "tolerance"],
        )

    def _build_columns(
        self, rows: Sequence[Row], names: Mapping[str, str], title_keys: Sequence[int]
    ) -> list[TextColumn]:
        """Return the columns of contrasts with one baseline: a column per system, or of several
        systems a row each below their baseline.
        """
        display_names = {
            name: names.get(name) or self.escape(name) for row in rows for name in row.pair
        }
        rows = [
            row._replace(
                values=(_show_group(row.values[0], names), _show_group(row.values[1], names))
            )
            for row in rows
        ]
        indices = [index for index in range(len(self.headings)) if index not in title_keys]
        if len({row.pair for row in rows}) == 1:
            lines: list[tuple[Row, bool]] = [(row, False) for row in rows]
            values = [
                _build_column(display_names[name], [row.values[side] for row in rows])
                for side, name in enumerate(rows[0].pair)
            ]
        else:
            lines = list(
                chain.from_iterable(
                    [(block[0], True), *((row, False) for row in block)]
                    for block in group_items(rows, lambda row: row.keys).values()
                )
            )
            systems = [
                TextCell(display_names[row.pair[not is_baseline]]) for row, is_baseline in lines
            ]
            values = [
                _build_column("system", systems, is_number=False),
                _build_column("value", [row.values[not is_baseline] for row, is_baseline in lines]),
            ]
        keys = [
            _build_column(
                self.headings[index],
                [TextCell(row.keys[index]) for row, _ in lines],
                is_number=False,
            )
            for index in indices
        ]
        cells = {
            name: [
                TextCell("") if is_baseline else row.quantities[name] for row, is_baseline in lines
            ]
            for name in self.quantities
        }
        if self.has_winner:
            cells["winner"] = [
                TextCell("") if is_baseline else self._winner_cell(row, display_names)
                for row, is_baseline in lines
            ]
        return [
            *keys,
            *values,
            *(
                _build_column(name, cells[name], is_number=name not in _TEXT_HEADINGS)
                for name in cells
            ),
        ]

    def _winner_cell(self, row: Row, names: Mapping[str, str]) -> TextCell:
        if row.winner in row.pair:
            return TextCell(names[row.winner], color=RED if row.winner == row.pair[0] else GREEN)
        return TextCell(self.escape(row.winner or NO_WINNER))


_TEXT_HEADINGS = ("verdict", "winner")


def _build_column(name: str, cells: Sequence[TextCell], *, is_number: bool = True) -> TextColumn:
    colors = {index: cell.color for index, cell in enumerate(cells) if cell.color}
    return TextColumn(
        name, [cell.text for cell in cells], is_number, colors, [cell.number for cell in cells]
    )


def _show_group(cell: TextCell, names: Mapping[str, str]) -> TextCell:
    """Return a cell whose text ends with the group that has its number, which may have a letter."""
    group = names.get(cell.group, cell.group)
    return cell._replace(text=f"{cell.text} ({group})") if group else cell


def _fit_width(tables: Sequence[DisplayTable], width: int) -> bool:
    return all(table_width(table.columns) <= width for table in tables)


def read_contrasts(
    result: pa.Table,
    digits: int = DEFAULT_DIGITS,
    form: Markup = "table",
    *,
    escape: Callable[[str], str] | None = None,
    verdicts: Mapping[str, str] | None = None,
) -> Contrasts | None:
    """Return the contrasts of a result for a format, None if it has none.

    Args:
        result: a result of ``compare``, ``gate``, ``drift`` or ``experiment``.
        digits: number of decimals.
        form: the format, whose markup texts are escaped for.
        escape: escapes texts instead.
        verdicts: the texts of verdicts, if they are shown as others.
    """
    if (kind := _find_kind(result)) is None:
        return None
    names, rows = set(result.column_names), result.to_pylist()
    reader = _RowReader(
        kind,
        group_column_names(result),
        read_measures(result.schema.metadata),
        read_texts(result.schema.metadata),
        digits,
        form,
        escape or (lambda text: escape_text(text, form)),
        verdicts or {},
        (
            [COMPONENT_COLUMN]
            if kind is EXTREMES and any(row.get(COMPONENT_COLUMN) is not None for row in rows)
            else []
        ),
        not all(map(_has_relative_tolerance, rows)),
        read_unit(result.schema.metadata),
    )
    ratios = [row for row in rows if kind is VARIANTS and row["variant"] is None]
    rows = [row for row in rows if row not in ratios]
    tolerances = {row.get("tolerance") for row in rows} - {None}
    effects = (
        _choose_extreme_effects(rows, has_tolerance=bool(tolerances))
        if kind is EXTREMES
        else _choose_effects(rows, names, is_experiment=kind is VARIANTS)
    )
    effects |= {"tolerance": ("tolerance",)} if len(tolerances) > 1 else {}
    effects |= {"verdict": ("verdict",)} if "verdict" in names else {}
    headings = [
        heading
        for heading, columns in effects.items()
        if any(row.get(name) is not None for row in rows for name in columns)
    ]
    return Contrasts(
        [
            *(["group"] if SLICE_COLUMN in names else map(reader.escape, reader.groups)),
            *reader.components,
            "metric",
        ],
        [reader.read_row(row, {heading: effects[heading] for heading in headings}) for row in rows],
        headings,
        "winner" in names and "sqlrank.confidence" in reader.texts,
        [
            text
            for text in (reader.describe_method(rows), *map(reader.describe_sample_ratio, ratios))
            if text
        ],
        reader.escape,
    )


def _find_kind(result: pa.Table) -> ContrastKind | None:
    """Return the kind of contrasts of a result, None if it has none."""
    names = set(result.column_names)
    # Differences of single units have no statistics.
    has_statistics = not names.isdisjoint((P_ADJUSTED, "verdict", *BOUNDS, CI_LOW, GROUP_COUNTS[0]))
    kinds = (SYSTEMS, VARIANTS, PERIODS, EXTREMES) if has_statistics and result.num_rows else ()
    return next(
        (kind for kind in kinds if names >= {*kind.columns, *kind.values, "difference"}), None
    )


def _choose_effects(
    rows: Sequence[ResultRow], names: set[str], *, is_experiment: bool
) -> dict[str, tuple[str, ...]]:
    """Return the columns of quantities by heading: the lift of an experiment or else the
    difference, its interval, p-value and verdict.
    """
    are_lifts = is_experiment and have_lifts(rows)
    limits = LIFT_LIMITS if are_lifts else (CI_LOW, CI_HIGH)
    effects: dict[str, tuple[str, ...]] = (
        {"lift": ("relative_difference",)} if are_lifts else {"difference": ("difference",)}
    )
    has_interval = limits[0] in names and any(row[limits[0]] is not None for row in rows)
    # Bounds of exact values are the difference, and decide nothing beside an interval.
    is_exact = all(row.get(name) == row["difference"] for row in rows for name in BOUNDS)
    effects |= (
        {"interval": limits}
        if has_interval
        else {}
        if is_exact or names.isdisjoint(BOUNDS)
        else {"bounds": BOUNDS}
    )
    return effects | ({"p": (P_ADJUSTED,)} if P_ADJUSTED in names else {})


def have_lifts(rows: Sequence[ResultRow]) -> bool:
    """Return True if each difference of an experiment has a lift, which is shown in its place."""
    return all(
        row["relative_difference"] is not None for row in rows if row["difference"] is not None
    )


def _choose_extreme_effects(
    rows: Sequence[ResultRow], *, has_tolerance: bool
) -> dict[str, tuple[str, ...]]:
    """Return the columns of quantities of differences between groups: of a gate what tolerances
    limit, else difference and ratio.
    """
    if not has_tolerance:
        return {
            "difference": ("difference",),
            "interval": (CI_LOW, CI_HIGH),
            "ratio": ("ratio",),
            "ratio interval": RATIO_LIMITS,
        }
    heading = "ratio" if all(map(_has_relative_tolerance, rows)) else "difference"
    return {heading: ("difference", "ratio"), "interval": (CI_LOW, CI_HIGH, *RATIO_LIMITS)}


def _has_relative_tolerance(row: ResultRow) -> bool:
    return str(row.get("tolerance")).endswith("%")


@dataclass(frozen=True)
class _RowReader:
    """Formats the rows of a result: its kind, group columns, metrics and metadata."""

    kind: ContrastKind
    groups: Sequence[str]
    measures: Mapping[str, Mapping[str, str]]
    texts: Mapping[str, str]
    digits: int
    form: Markup
    escape: Callable[[str], str]
    verdicts: Mapping[str, str]
    components: Sequence[str]
    has_differences: bool
    unit: str

    def read_row(self, row: ResultRow, effects: Mapping[str, tuple[str, ...]]) -> Row:
        """Return a row as texts."""
        left, right = [row[name] for name in self.kind.columns] or self.kind.names
        first, second = (self._format_value(name, row[name]) for name in self.kind.values)
        if self.kind is EXTREMES:
            first, second = (
                self._name_extreme(row, *pair)
                for pair in zip((first, second), self.kind.suffixes, strict=True)
            )
        is_sliced = SLICE_COLUMN in row
        group = (
            [name_group(row, self.groups, self._format_text) or TOTAL]
            if is_sliced
            else [self._format_text(name, row[name]) for name in self.groups]
        )
        needed = row.get("required_units")
        winner = row.get("winner")
        if winner is None and differs_without_direction(
            row, self.measures.get(row["metric"], {}).get("better", ""), self.confidence
        ):
            winner = DIFFERS
        return Row(
            (
                *group,
                *(self._format_text(name, row[name]) for name in self.components),
                self.escape(row["metric"]),
            ),
            (left, right),
            (first, second),
            {heading: self._format_quantity(row, columns) for heading, columns in effects.items()},
            winner,
            self.escape(
                ". ".join(filter(None, [self._find_reason(row), _describe_undefined(row)]))
            ),
            ""
            if needed is None
            else f"{self._format_text('required_units', needed)}"
            f" {self._name_units([row], [needed])}",
        )

    def _find_reason(self, row: ResultRow) -> str | None:
        """Return the reason of a row; that of a change says no more than its verdict if decided."""
        is_decided = self.kind is PERIODS and row.get("verdict") in ("pass", "fail")
        return None if is_decided else row.get("reason")

    @property
    def confidence(self) -> float:
        """Return the confidence level of the call, 1 if the result has no intervals."""
        return float(self.texts.get("sqlrank.confidence", 1))

    def _format_value(self, name: str, value: Any) -> TextCell:
        text = format_value(
            value, self.form, self.digits, kind=column_kind(name), escape=self.escape
        )
        return TextCell(text, read_number(value))

    def _format_text(self, name: str, value: Any) -> str:
        return self._format_value(name, value).text

    def _name_extreme(self, row: ResultRow, cell: TextCell, side: str) -> TextCell:
        """Return the value of a group with the group, whose columns end with the side."""
        names = [
            name
            for name in row
            if name not in self.groups
            and name.endswith(f"_{side}")
            and name not in self.kind.values
        ]
        groups = ", ".join(self._format_text(name, row[name]) for name in names)
        return cell if cell.number is None else cell._replace(group=groups)

    def _format_quantity(self, row: ResultRow, columns: Sequence[str]) -> TextCell:
        """Return the text of a quantity; that of an interval lies within the attainable differences
        of its metric.
        """
        if columns == ("difference", "ratio"):
            is_relative = _has_relative_tolerance(row)
            cell = self._format_value(columns[is_relative], row[columns[is_relative]])
            return (
                cell._replace(text=f"ratio {cell.text}")
                if is_relative and self.has_differences
                else cell
            )
        if len(columns) > 2:  # noqa: PLR2004  limits of the difference and of the ratio
            columns = columns[2:] if _has_relative_tolerance(row) else columns[:2]
        value = row.get(columns[0])
        if columns == ("verdict",):
            verdict = str(value or "")
            return TextCell(
                self.verdicts.get(verdict, verdict), color=VERDICT_COLORS.get(verdict, "")
            )
        if columns == ("tolerance",):
            text = self.escape(value or "")
            return TextCell(text, float(value.rstrip("%")) if value else None)
        if len(columns) == 1:
            return self._format_value(columns[0], value)
        low, high = (row.get(name) for name in columns)
        if low is None or high is None:
            return TextCell("--" if self.form == "latex" else NO_WINNER)
        bounds = find_range(self.measures.get(row["metric"], {}))
        if columns == (CI_LOW, CI_HIGH) and bounds is not None:
            span = bounds[1] - bounds[0]
            low, high = max(low, -span), min(high, span)
        if columns == BOUNDS and low == high:
            return TextCell(EXACT, low)
        return TextCell(
            f"{self._format_value(columns[0], low).text} to"
            f" {self._format_value(columns[1], high).text}",
            low,
        )

    def _name_units(self, rows: Sequence[ResultRow], counts: Sequence[int]) -> str:
        """Return the word for the units of rows that have these numbers of them."""
        words = (
            word for name, word in COUNTED.items() if any(row.get(name) is not None for row in rows)
        )
        word = next(words, self.unit)
        return word if set(counts) == {1} else to_plural(word)

    def describe_method(self, rows: Sequence[ResultRow]) -> str:
        """Return the line on test, units, correction, level of intervals, and tolerance."""
        test = next(
            (row["test"] for row in rows if row.get("test")), self.texts.get("sqlrank.interval", "")
        )
        counts = [
            row[name]
            for row in rows
            for name in (N_UNITS, N_BUCKETS, GROUP_COUNTS[0])
            if row.get(name)
        ]
        counted = (
            f"{format_span(counts, '{:,}')} {self._name_units(rows, counts)}"
            if counts and self.kind is not VARIANTS
            else ""
        )
        is_tested = any(row.get(P_ADJUSTED) is not None for row in rows)
        correction = CORRECTION_NAMES.get(self.texts.get("sqlrank.correction", ""), "")
        levels = [
            row["ci_level"]
            for row in rows
            if row.get("ci_level") is not None and row[CI_LOW] is not None
        ]
        levels = levels or [
            self.confidence
            for row in rows
            if row.get(CI_LOW) is not None and "sqlrank.confidence" in self.texts
        ]
        tolerances = {row.get("tolerance") for row in rows} - {None}
        parts = [
            " of ".join(filter(None, [TEST_NAMES.get(test, "") if is_tested else "", counted])),
            f"p by {correction}" if is_tested and correction and len(rows) > 1 else "",
            f"intervals at {format_span(levels, '{:.4g}', 100)}%" if levels else "",
            "valid at every look" if self.texts.get("sqlrank.interval") == "sequential" else "",
            _describe_tolerance(str(tolerances.pop())) if len(tolerances) == 1 else "",
        ]
        text = ", ".join(filter(None, parts))
        return self.escape(f"{text[:1].upper()}{text[1:]}.") if text else ""

    def describe_sample_ratio(self, row: ResultRow) -> str:
        """Return the line on the sample ratio of an experiment."""
        verdict = "not as planned" if row[P_VALUE] < SRM_ALPHA else "as planned"
        return self.escape(
            f"Sample ratio {verdict}: {count_things(row[N_UNITS], self.unit)}, p"
            f" {format_number(row[P_VALUE], Kind.P_VALUE, self.digits)}."
        )


def _split_sentences(remark: str) -> list[str]:
    """Return the sentences of a remark, none of an empty one.

    >>> _split_sentences("worse by 0.1. 1 of 60 queries change")
    ['worse by 0.1', '1 of 60 queries change']
    """
    return remark.split(". ") if remark else []


def _describe_tolerance(tolerance: str) -> str:
    """Return a tolerance in words.

    >>> _describe_tolerance("0.01"), _describe_tolerance("2%"), _describe_tolerance("0")
    ('absolute tolerance 0.01', 'relative tolerance 2%', 'tolerance 0')
    """
    kind = "relative " if tolerance.endswith("%") else "absolute " if tolerance != "0" else ""
    return f"{kind}tolerance {tolerance}"


def _describe_undefined(row: ResultRow) -> str:
    """Return the number of groups in which a metric is undefined, empty without any."""
    num_undefined = row.get(GROUP_COUNTS[1])
    return (
        f"undefined in {num_undefined:,} of {num_undefined + row[GROUP_COUNTS[0]]:,} groups"
        if num_undefined
        else ""
    )


def format_span(values: Sequence[float], template: str, factor: float = 1) -> str:
    """Return the least and the greatest of some numbers.

    >>> format_span([60, 27], "{:,}"), format_span([0.95], "{:.4g}", 100)
    ('27 to 60', '95')
    """
    texts = list(
        dict.fromkeys(template.format(factor * value) for value in (min(values), max(values)))
    )
    return " to ".join(texts)


def name_group(
    row: ResultRow, groups: Sequence[str], format_text: Callable[[str, Any], str]
) -> str:
    """Return the group of a row by its columns, an empty text for all rows; a column of its
    grouping may be NULL.
    """
    grouping = str(row[SLICE_COLUMN]).split(", ") if SLICE_COLUMN in row else []
    names = [
        name
        for name in groups
        if name != SLICE_COLUMN and (row[name] is not None or name in grouping)
    ]
    return ", ".join(f"{name}={format_text(name, row[name])}" for name in names)


def differs_without_direction(row: ResultRow, direction: str, confidence: float) -> bool:
    """Return True if a difference is significant and the metric has no direction.

    Test and interval must both exclude zero.
    """
    p, low, high = (row.get(name) for name in (P_ADJUSTED, CI_LOW, CI_HIGH))
    excludes_zero = low is None or high is None or low > 0 or high < 0
    return (
        direction == "neither"
        and p is not None
        and p < 1 - confidence
        and bool(row["difference"])
        and excludes_zero
    )


SYSTEM_BETTER, BASELINE_BETTER, NOT_SIGNIFICANT = (
    "system is better",
    "baseline is better",
    "not significant",
)
DIFFERS_LABEL = "differs, none is better"
"""Verdict on a significant difference of a metric without direction, such as CalibrationRatio."""

STATES = {SYSTEM_BETTER: "better", BASELINE_BETTER: "worse", DIFFERS_LABEL: "differs"}
"""Short names of verdicts that a report marks."""

VARIANT_LABELS = {SYSTEM_BETTER: "variant is better", BASELINE_BETTER: "control is better"}
"""Verdicts on the variants of an experiment, which are compared with a control."""


def label_comparison(row: ResultRow, direction: str, confidence: float) -> str:
    """Return the verdict of a comparison."""
    if row["winner"] is not None:
        return SYSTEM_BETTER if row["winner"] == row["system"] else BASELINE_BETTER
    return (
        DIFFERS_LABEL if differs_without_direction(row, direction, confidence) else NOT_SIGNIFICANT
    )
