"""Read a SQL file on demand: its documentation, syntax tree, and annotations, such as parameters,
the grain and the interval.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from sqlrank.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


GRAIN = "Grain"
"""Annotation of the columns that identify a row: ``-- Grain: list_id, doc_id``."""

_GRAIN = re.compile(
    r"one row|rows of (?P<source>\w+)|(?P<many>many per )?(?P<columns>\w+(?:, \w+)*)"
)


@dataclass(frozen=True, slots=True)
class Grain:
    """The grain of a file's rows.

    Attributes:
        columns: The columns that identify a row, or that group rows if not ``is_unique``; none if
            there is only one row, or a source.
        is_unique: True if no two rows agree in ``columns``; False for rows of a source, which no
            columns identify.
        source: The relation or input whose rows these are, where no columns identify them.

    >>> print(
    ...     read_grain("list_id, doc_id"),
    ...     read_grain("one row"),
    ...     read_grain("many per list_id"),
    ...     read_grain("rows of run"),
    ...     sep="; ",
    ... )
    list_id, doc_id; one row; many per list_id; rows of run
    """

    columns: tuple[str, ...] = ()
    is_unique: bool = True
    source: str = ""

    def __str__(self) -> str:
        """Return the grain as files declare it."""
        if self.source:
            return f"rows of {self.source}"
        return (
            ("" if self.is_unique else "many per ") + ", ".join(self.columns)
            if self.columns
            else "one row"
        )


def read_grain(text: str) -> Grain | None:
    """Parse the grain of a comment line, None if it has another form."""
    match = _GRAIN.fullmatch(text)
    if match is None:
        return None
    columns = tuple((match["columns"] or "").split(", ")) if match["columns"] else ()
    return Grain(columns, not (match["many"] or match["source"]), match["source"] or "")


SqlFileKind = Literal["metrics", "curves", "relations", "functions"]

NO_CUTOFF = 2_147_483_647
"""Value of a cut-off parameter without a limit, greater than any list length."""

UNBOUNDED = 1.7976931348623157e308
"""Largest double, used as the bound of unbounded parameters."""

GRAINS = {"list_id": "list", "group_id": "group"}
"""The grain of a metric, by the key of its GROUP BY."""

ANNOTATIONS = (
    "Depth", "Direction", "Engines", "For each", "Full name", "Grain", "Influence key", "Interval",
    "Materialize", "Nonzero", "Note", "Outcomes", "Range", "Reading", "Reads", "Reference value",
    "Requires", "Revision", "Sampling unit", "Scope", "Source", "Steps", "Tie bounds",
    "Tie expectation", "Undefined", "Unit", "Use when", "Validate",
)  # fmt: skip
"""Annotations that a comment may declare besides parameters: ``-- Materialize: every list is
ranked.``
"""

SCOPES = ("group", "slice", "system", "score")
"""Scopes of a relation.

- group: of all lists of a group, also where each list is a group of its own
- slice: computed for every slice of grouping sets
- system: for every system of the run
- score: for every score of predictions that have several, in one row
"""

TIE_EXPECTATIONS = ("linear", "spread", "none")
"""Method by which the expectation over orders of ties is computed.

- linear: a metric that is a sum over documents, each weighted by the probability of its rank
- spread: a relation that spreads tied documents over the ranks of their tie group
- none: a function under which there is no expectation
"""

DEPTHS = ("k", "all")
"""Depths that a file may declare besides a number: its cut-off, or all documents up to
``depth``.
"""


class RowsRead(Enum):
    """Rows of the inputs that a relation reads, as ``-- Reads:`` declares: those that policies
    leave, or those before ``nulls`` or ``duplicates``.
    """

    VALID = ""
    UNFILTERED = "unfiltered"
    WITH_DUPLICATES = "with duplicates"


_PREVIOUS_RUN = re.compile(r"previous run as (\w+)")
_PROBABILITY = re.compile(r"(\w+)\(\) at most 1")
_CONDITIONAL = re.compile(r"(.+) under (\w+)=(\S+)")
_PARAM = re.compile(
    r"\$(?P<name>\w+): (?P<type>integer|numbers|number|column|flag)"
    r"(?: (?P<bound>from|above) (?P<low>\S+?))?(?: to (?P<high>\S+?))?(?:, default"
    r" (?P<default>\[[^]]*\]|\S+?))?: (?P<about>.+)"
)
_COMMENT = re.compile(r"(?:--.*\n?)+")
_CHOICE = re.compile(r"(?m)^(\w+)(\(\))?: default (\w+): (.+)$")
_BOUNDS = re.compile(
    r"(?P<low>-?\d+(?:\.\d+)?|-inf) to (?P<high>\d+(?:\.\d+)?|inf)(?:, but not"
    r" (?P<estimates>estimates )?under (?P<exceptions>\w+=\w+(?:, \w+=\w+)*))?"
)
_FACT = re.compile(rf"^({'|'.join(ANNOTATIONS)}): (.+?)\.?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A ``$parameter`` as its comment line declares it."""

    name: str
    type: str
    low: float
    high: float
    excludes_low: bool
    default: float | tuple[float, ...] | None
    about: str

    @property
    def default_text(self) -> str:
        """The default in the notation of users."""
        if isinstance(self.default, tuple):
            return "[" + ",".join(f"{number:g}" for number in self.default) + "]"
        return "all" if self.default in {None, NO_CUTOFF, UNBOUNDED} else f"{self.default:g}"

    @property
    def is_column(self) -> bool:
        """True if the parameter is the name of a column: of any numbers, or a flag, of 0 and 1
        alone.
        """
        return self.type in {"column", "flag"}

    @property
    def is_above_zero(self) -> bool:
        """True if every value in range is positive."""
        return self.low > 0 or (self.low == 0 and self.excludes_low)

    @property
    def range_text(self) -> str:
        """The type and range of a number in words, with an article."""
        return f"{'an' if self.type == 'integer' else 'a'} {str(self).replace('numbers', 'number')}"

    @property
    def limited_range_text(self) -> str:
        """That with the limit of cut-offs, for messages that are written before there is a
        value.
        """
        return f"{self.range_text} to {NO_CUTOFF}" if self.high == NO_CUTOFF else self.range_text

    def __str__(self) -> str:
        """Return the type and range in words."""
        lower = (
            ""
            if self.low in {-NO_CUTOFF, -UNBOUNDED}
            else f" {'above' if self.excludes_low else 'from'} {self.low:g}"
        )
        upper = "" if self.high in {NO_CUTOFF, UNBOUNDED} else f" to {self.high:.10g}"
        return self.type + lower + upper


@dataclass(frozen=True, slots=True)
class DeclaredSetting:
    """A function slot, or a policy that the metric declares, with its default."""

    name: str
    is_slot: bool
    default: str
    about: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a metric's values.

    ``exceptions`` are the settings (name, value) under which values may exceed them;
    ``holds_for_estimand`` if what they estimate may not.

    >>> Bounds.read("0 to 1, but not under precision_at=all_ranks, discount=map")
    Bounds(low=0.0, high=1.0, exceptions=(('precision_at', 'all_ranks'), ('discount', 'map')), holds_for_estimand=False)
    """  # noqa: E501

    low: float
    high: float
    exceptions: tuple[tuple[str, str], ...] = ()
    holds_for_estimand: bool = False

    @property
    def is_unbounded(self) -> bool:
        """True if any number is possible: ``-inf to inf``."""
        return math.isinf(self.low) and math.isinf(self.high)

    @classmethod
    def read(cls, text: str) -> Bounds | None:
        """Parse the bounds of a comment line, None if it has another form."""
        match = _BOUNDS.fullmatch(text)
        if match is None:
            return None
        names = [
            setting.partition("=") for setting in (match["exceptions"] or "").split(", ") if setting
        ]
        return cls(
            float(match["low"]),
            float(match["high"]),
            tuple((name, value) for name, _, value in names),
            match["estimates"] is not None,
        )


@dataclass(frozen=True, eq=False)
class SqlFile:
    """A ``.sql`` file whose documentation, annotations and syntax tree are read on demand.

    Invalid files raise ``ContractError`` with file and line.
    """

    kind: SqlFileKind
    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        """The text of the file."""
        try:
            return self.path.read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ContractError(f"{self.path}:1: not UTF-8 text: {error.reason}") from None

    @cached_property
    def doc(self) -> str:
        """The leading comment."""
        comment = _COMMENT.match(self.text)
        if comment is None:
            raise ContractError(f"{self.path}:1: a file begins with a comment that says what it is")
        return re.sub(r"(?m)^-- ?", "", comment[0].rstrip("\n"))

    @cached_property
    def params(self) -> dict[str, Parameter]:
        """The parameters that the comment declares."""
        parameters = {}
        for line_number, line in enumerate(self.doc.splitlines(), start=1):
            if match := _PARAM.fullmatch(line):
                parameters[match["name"]] = _parse_parameter(match)
            elif line.startswith("$"):
                raise ContractError(
                    f"{self.path}:{line_number}: cannot read the parameter. Write '$k: integer from"
                    " 1, default 10: what it is'"
                )
        return parameters

    @cached_property
    def declared_settings(self) -> dict[str, DeclaredSetting]:
        """The function slots and policies that the comment declares."""
        return {
            name: DeclaredSetting(name, bool(slot), default, about)
            for name, slot, default, about in _CHOICE.findall(self.doc)
        }

    @cached_property
    def statement(self) -> Any:
        """The syntax tree of the file; raises ``ContractError`` for invalid SQL."""
        from sqlrank.registry import contract  # importing sqlglot takes a quarter of a second

        return contract.parse_sql_file(self.kind, self.path, self.text)

    @cached_property
    def tree(self) -> Any:
        """The SELECT of the file, or the expression of a function."""
        return self.statement.expression if self.kind == "functions" else self.statement

    @cached_property
    def column_comments(self) -> dict[str, str]:
        """The trailing comments of columns, by column: ``rank, -- position in the list``."""
        selects = () if self.kind == "functions" else self.tree.selects
        comments = {
            column.alias_or_name: column.comments or column.unalias().comments for column in selects
        }
        return {
            name: " ".join(" ".join(lines).split()) for name, lines in comments.items() if lines
        }

    @cached_property
    def function_arguments(self) -> tuple[str, ...]:
        """The arguments of a function."""
        return (
            tuple(argument.name for argument in self.statement.this.expressions)
            if self.kind == "functions"
            else ()
        )

    @cached_property
    def annotations(self) -> dict[str, str]:
        """The annotations of the comment, by keyword; the first line names the file, whatever the
        name is.
        """
        return dict(_FACT.findall(self.doc.partition("\n")[2]))

    @cached_property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of a relation that differ from those of the rows it reads: some of
        ``SCOPES``.
        """
        return (
            tuple(re.sub(r" \([^)]*\)", "", self.annotations["Scope"]).split(", "))
            if "Scope" in self.annotations
            else ()
        )

    @property
    def steps(self) -> tuple[int, str]:
        """The number of times that a relation is computed, and the relation that it reads first, in
        place of which it then reads its own rows; 1 and empty if it declares none.
        """
        match = re.fullmatch(r"([1-9]\d*) from (\w+)", self.annotations.get("Steps", ""))
        return (int(match[1]), match[2]) if match else (1, "")

    @property
    def rows_read(self) -> RowsRead:
        """The rows of the inputs that the file reads."""
        return next(
            (rows for rows in RowsRead if rows.value == self.annotations.get("Reads", "")),
            RowsRead.VALID,
        )

    @cached_property
    def engines(self) -> list[str]:
        """The engines that the file declares to be for, empty if it is for all."""
        return re.findall(
            r"[a-z]+",
            re.split(r",? which ", self.annotations.get("Engines", ""))[0].replace(" and ", ", "),
        )

    @property
    def depth(self) -> str:
        """The declared number of top documents per list that the file reads, or one of ``DEPTHS``;
        empty if it declares none.
        """
        return self.annotations.get("Depth", "").partition(" ")[0]

    @property
    def tie_expectation(self) -> str:
        """One of ``TIE_EXPECTATIONS``, empty if the file declares none."""
        return self.annotations.get("Tie expectation", "").partition(" ")[0]

    @cached_property
    def bounds(self) -> Bounds | None:
        """The bounds of the metric's values, None if the comment declares none."""
        return Bounds.read(self.annotations["Range"]) if "Range" in self.annotations else None

    @cached_property
    def title(self) -> str:
        """The first line of the documentation."""
        return self.doc.partition("\n")[0]

    @property
    def summary(self) -> str:
        """The first sentence of the documentation, which may span lines, without the name."""
        text = " ".join(self.doc.splitlines()).partition(": ")[2]
        return re.split(r"(?<=\.)\s+(?=[A-Z$]|\w+(?:\(\))?: )", text, maxsplit=1)[0]

    @property
    def description(self) -> str:
        """The first line of the documentation without the name."""
        return self.title.partition(": ")[2]

    @cached_property
    def full_name(self) -> str:
        """The name before the colon of the first line.

        ``AUC@k`` is the variant of AUC with a cut-off, ``Mean of predictions`` that of Mean for
        columns of predictions.
        """
        return self.title.partition(":")[0]

    @property
    def display_name(self) -> str:
        """The name that users write, without a cut-off or the input of a measured column."""
        return self.full_name.removesuffix("@k").partition(" of ")[0]

    @property
    def relative_path(self) -> str:
        """The path relative to the folder of SQL files, such as
        ``relations/rankings/judged_documents/by_join.sql``.
        """
        folders = {"curves", "metrics"} if self.kind == "curves" else {self.kind}
        indexes = [index for index, part in enumerate(self.path.parts) if part in folders]
        return "/".join(self.path.parts[indexes[-1] if indexes else -2 :])

    @property
    def source_name(self) -> str:
        """The path in comments of steps: of a relation without the folder of its family."""
        if self.kind != "relations":
            return self.relative_path
        folder = f"{self.name}/" if self.path.parent.name == self.name else ""
        return f"relations/{folder}{self.path.name}"

    @property
    def value_name(self) -> str:
        """The alias of a metric's value, without ``_at_k`` for a variant with a cut-off."""
        alias = str(self.tree.named_selects[-1])
        return alias.removesuffix("_at_k") if self.full_name.endswith("@k") else alias

    @property
    def is_always_defined(self) -> bool:
        """True if the metric is defined for every query."""
        return self.annotations.get("Undefined") == "never"

    @property
    def revision(self) -> str:
        """The number of the definition, raised if the values of a metric of the package change."""
        return self.annotations.get("Revision", "1")

    @cached_property
    def interval(self) -> DeclaredInterval:
        """The interval that the comment declares."""
        return read_interval(self.annotations.get(INTERVAL, "")) or DeclaredInterval()

    @property
    def source(self) -> str:
        """The reference of the definition."""
        match = re.search(r"^Source: (.+)$", self.doc, re.MULTILINE)
        return match[1] if match else ""

    @property
    def required_row_checks(self) -> list[str]:
        """The row checks that the file requires under some settings, such as ``binary labels``."""
        return [name for name, _, _ in self._row_requirements]

    def find_row_checks(self, settings: Mapping[str, Any]) -> list[str]:
        """Return the row checks that the file requires under these settings."""
        effective = {name: param.default for name, param in self.params.items()} | dict(settings)
        return [
            name
            for name, setting, value in self._row_requirements
            if not setting or str(effective.get(setting)) == value
        ]

    @property
    def _row_requirements(self) -> list[tuple[str, str, str]]:
        names = [name for name in self._requirement_names if not _PROBABILITY.fullmatch(name)]
        matches = [_CONDITIONAL.fullmatch(name) for name in names]
        return [
            (match[1], match[2], match[3]) if match else (name, "", "")
            for name, match in zip(names, matches, strict=True)
        ]

    @cached_property
    def probabilities(self) -> list[str]:
        """The function slots that must be at most 1: ``-- Requires: stop_probability() at most
        1``.
        """
        return [
            match[1]
            for requirement in self._requirement_names
            if (match := _PROBABILITY.fullmatch(requirement))
        ]

    @property
    def _requirement_names(self) -> list[str]:
        return self.annotations["Requires"].split(", ") if "Requires" in self.annotations else []

    @property
    def previous_run_role(self) -> str | None:
        """The input that defaults to the preceding run: ``-- Reads: previous run as baseline``."""
        match = _PREVIOUS_RUN.fullmatch(self.annotations.get("Reads", ""))
        return match[1] if match else None

    @cached_property
    def grain(self) -> str:
        """The grain of a metric or curve: ``list`` or ``group``."""
        return GRAINS[str(self.tree.named_selects[0])]

    @property
    def row_grain(self) -> Grain | None:
        """The grain of the rows, None if the comment declares none; a metric has a row per key, a
        curve one per point.
        """
        if self.kind in {"metrics", "curves"}:
            return Grain(tuple(self.tree.named_selects[: 1 if self.kind == "metrics" else 2]))
        return read_grain(self.annotations[GRAIN]) if GRAIN in self.annotations else None

    @property
    def source_relation(self) -> str:
        """The relation or input that a metric reads, empty without a FROM clause."""
        source = self.tree.args.get("from_")
        return "" if source is None else str(source.this.name)

    @property
    def first_source(self) -> str:
        """The first relation or input in the FROM clause, found without a parser."""
        match = re.search(r"\bFROM (\w+)", self.text)
        return match[1] if match else ""

    @property
    def cutoff_parameter(self) -> Parameter | None:
        """The cut-off parameter, written after ``@``: the first one, if named ``$k`` or without
        default.
        """
        first = next(iter(self.params.values()), None)
        return (
            first
            if first and not first.is_column and (first.name == "k" or first.default is None)
            else None
        )

    @property
    def measures_column(self) -> bool:
        """True if the metric is of a column that its user names."""
        return any(param.is_column for param in self.params.values())

    @property
    def measures_flag(self) -> bool:
        """True if the values of that column have to be 0 and 1, or true and false."""
        return any(param.type == "flag" for param in self.params.values())


def _parse_parameter(match: re.Match[str]) -> Parameter:
    default = match["default"]
    value: float | tuple[float, ...] | None = None
    unbounded = NO_CUTOFF if match["type"] == "integer" else UNBOUNDED
    if default == "all":
        value = unbounded
    elif default and default.startswith("["):
        value = tuple(float(number) for number in default.strip("[]").split(","))
    elif default:
        value = int(default) if match["type"] == "integer" else float(default)
    return Parameter(
        name=match["name"],
        type=match["type"],
        low=float(match["low"] or -unbounded),
        high=float(match["high"] or unbounded),
        excludes_low=match["bound"] == "above",
        default=value,
        about=match["about"],
    )


INTERVAL = "Interval"
"""Annotation of the intervals of a metric, where they do not follow from its expression."""

INFLUENCE_KEY = "Influence key"
"""Annotation of the condition under which a prediction has the influence of a row."""

_INTERVAL = re.compile(
    r"none \((?P<no_interval>.+)\)|bootstrap(?: from (?P<least_class_units>\d+) units of each"
    r" class)? \((?P<no_influence>.+)\)|of (?P<function>\w+)"
    r"|influence (?P<influence>.+? FROM \w+)(?:, error (?P<standard_error>\w+))?(?:, limits"
    r" (?P<limits>\w+))?(?:, cells (?P<cell_squares>\w+))?"
    r"|cells (?P<cells>\w+(?:, \w+)*)"
)


@dataclass(frozen=True, slots=True)
class DeclaredInterval:
    """The declarations of intervals in a file; every field is empty if it declares nothing.

    Attributes:
        no_interval: Why the metric has no interval.
        no_influence: Why the metric has no influence function, so that only the bootstrap and means
            over queries have intervals.
        least_class_units: Number of units with positives, and with negatives, below which the
            bootstrap has no limits.
        influence: Expression of a row's influence and the relation of the rows, as in
            ``auc_influence FROM prediction_influence``.
        standard_error: Function in ``standard_error/`` for rows that are units of equal weight.
        limits: Function in ``effective_trials/`` for the limits.
        cell_squares: Column of that relation that is added to the variance: ``cell_square()`` of
            the cells of all classes.
        cells: Sums of the metric to one of which each row adds, whose ``cell_square()`` are added
            to the variance.
        function: Function of the same slot whose interval is computed instead.

    >>> read_interval(
    ...     "influence 2 * auc_influence FROM prediction_influence, error delong"
    ... ).standard_error
    'delong'
    """

    no_interval: str = ""
    no_influence: str = ""
    least_class_units: str = ""
    influence: str = ""
    standard_error: str = ""
    limits: str = ""
    cell_squares: str = ""
    cells: str = ""
    function: str = ""


def read_interval(text: str) -> DeclaredInterval | None:
    """Parse the interval of a comment line, None if it has another form."""
    match = _INTERVAL.fullmatch(text)
    return (
        None
        if match is None
        else DeclaredInterval(**{name: value or "" for name, value in match.groupdict().items()})
    )
