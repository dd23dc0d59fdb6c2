"""Record the layout of a statement: its groupings, the inputs with their variants, the columns of
metrics and their CTEs, and output columns, also under several scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from sqlrank.compiler.row_keys import QUERY_ID, KeyColumns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlrank.call.interval_options import IntervalOptions
    from sqlrank.registry.resolved_metric import ResolvedMetric


@dataclass(frozen=True)
class GroupColumn:
    """A group-by column.

    Attributes:
        name: Name in the statement.
        label: Name in the result.
        requested_name: Its text in ``by``.
        columns: Columns of the inputs that have it, by role.
    """

    name: str
    label: str
    requested_name: str
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_query_attribute(self) -> bool:
        """True if only the queries table has the column."""
        return list(self.columns) == ["queries"]


@dataclass(frozen=True)
class GroupingLayout:
    """Group-by layout of a statement.

    Attributes:
        group_columns: Columns of groups.
        grouping_sets: Grouping sets by names in the statement, such as ``[["system"], []]``, None
            for a single grouping.
        labels: Names of the grouping sets in the result.
        lists_unnumbered: Lists are identified by the ids of the input instead of numbers.
    """

    group_columns: tuple[GroupColumn, ...]
    grouping_sets: list[list[str]] | None = None
    labels: tuple[str, ...] = ()
    lists_unnumbered: bool = False

    @cached_property
    def group_names(self) -> list[str]:
        """The names of the group-by columns in the statement."""
        return [column.name for column in self.group_columns]

    @cached_property
    def query_attributes(self) -> list[str]:
        """The names of the group-by columns that only the queries table has."""
        return [column.name for column in self.group_columns if column.is_query_attribute]

    @cached_property
    def list_columns(self) -> list[str]:
        """The names of the group-by columns without attributes of queries."""
        return [name for name in self.group_names if name not in self.query_attributes]


@dataclass(frozen=True)
class KeyedCte:
    """A CTE as it is joined.

    Attributes:
        step: Name of the CTE.
        keys: Columns that identify its rows.
        grain: Grain of the values that it has or aggregates, as of a :class:`MetricColumn`.
    """

    step: str
    keys: KeyColumns
    grain: str = "group"


@dataclass(frozen=True)
class MetricColumn:
    """A metric as a column of the statement.

    Attributes:
        alias: Name in the statement.
        metric: The metric.
        cte: CTE that computes its values.
        grain: Grain of the values before aggregation: a ranked ``list``, a ``query`` of a group, or
            a ``group``.
    """

    alias: str
    metric: ResolvedMetric
    cte: str
    grain: str

    @property
    def is_nullable(self) -> bool:
        """True if a query may have no value; the policy may fill values of queries without relevant
        documents.
        """
        is_filled = self.grain == "list" and self.metric.settings.get(
            "if_undefined", "zero"
        ) not in {"skip", "null"}
        return not (is_filled or self.metric.file.is_always_defined)

    def alias_for_score(self, number: int) -> str:
        """Return the alias of the values under one of several scores in the same row."""
        return f"{self.alias}_{number}"


@dataclass(frozen=True)
class OutputColumn:
    """A column of the result.

    Attributes:
        alias: Name in the statement.
        name: Name for the user.
        kind: ``by``, ``slice``, ``query``, ``unit``, ``cutoff``, ``point``, ``value`` or ``id`` (of
            a curve), ``metric``, ``audit``, ``weight``, a limit of an interval, or, of differences
            between groups, ``name`` (of a metric), ``label``, ``count`` or ``value``.
        metric: The metric of the column.
        quoted: The name is quoted in SQL.
    """

    alias: str
    name: str
    kind: str
    metric: ResolvedMetric | None = None
    quoted: bool = False


@dataclass(frozen=True)
class ResultLayout:
    """Layout of the result rows.

    Attributes:
        shape: The group-by layout.
        per_query: One row per query.
        weighted: Queries have weights.
        with_weights: Weights are columns of the result.
        base: Role whose groups the rows are, None for groups of ranked lists.
        query_column: Column that identifies lists of ``base``.
        confidence: Interval options.
        keep_unused: Skip projection pruning, so that every CTE keeps all its columns.
        requested_names: Columns have the names under which metrics were requested, instead of the
            canonical ones.
        across: Columns in the statement whose groups are compared.
        differences: The metrics of each row of differences by its name: one, or several of which
            the greatest difference counts.
        counts_undefined: Audit columns count the lists for which metrics are undefined.
    """

    shape: GroupingLayout
    per_query: bool = False
    weighted: bool = False
    with_weights: bool = False
    base: str | None = None
    query_column: str = QUERY_ID
    confidence: IntervalOptions | None = None
    keep_unused: bool = False
    requested_names: bool = False
    across: tuple[str, ...] = ()
    differences: tuple[tuple[str, tuple[str, ...]], ...] = ()
    counts_undefined: bool = False


def score_column_name(name: str, score: str) -> str:
    """Return the result column of a metric under one of several scores."""
    return f"{name} of {score}"


class InputVariant(Enum):
    """Rows of an input; the value is the name of their CTE.

    - VALID: the rows that policies leave
    - UNFILTERED: rows before ``nulls=drop``
    - RAW, NUMBERED: a row with several scores, before they are combined by UNION ALL, and with its
      number as unit
    - ALL_QUERIES: rows before those of queries that are not evaluated are left out
    - PER_SLICE: rows once per grouping set
    """

    VALID = "{role}"
    UNFILTERED = "unfiltered_{role}"
    RAW = "source_{role}"
    NUMBERED = "numbered_{role}"
    ALL_QUERIES = "{role}_of_all_queries"
    UNFILTERED_ALL_QUERIES = "unfiltered_{role}_of_all_queries"
    PER_SLICE = "{role}_by_slice"
    UNFILTERED_PER_SLICE = "unfiltered_{role}_by_slice"


class InputKey(NamedTuple):
    """A variant of the rows of a role's input."""

    role: str
    variant: InputVariant = InputVariant.VALID

    @property
    def name(self) -> str:
        """The name of the CTE.

        >>> InputKey("run").name, InputKey("predictions", InputVariant.PER_SLICE).name
        ('run', 'predictions_by_slice')
        """
        return self.variant.value.format(role=self.role)


@dataclass(frozen=True)
class InputQuery:
    """The query of an input.

    Attributes:
        rows: Sentence that says what its rows are.
        group: Columns that identify groups of rows.
        query: Query of the CTE, None if it is another input unchanged.
        reads_input: Input that the query reads instead of a table of the user.
        query_column: Column that identifies lists of a group.
        has_lists: The rows contain the list column as part of their key.
        joins_inputs: Further inputs that the query joins.
        scores: Names of the scores, if rows with several scores are units.
        table: Name of the table of the user that the query reads, if it has one.
        measured: The columns that metrics measure.
        merges_rows: Rows that differ in an optional unique column alone are merged for relations
            that do not read duplicates.
    """

    rows: str
    group: KeyColumns
    query: exp.Query | None = None
    reads_input: InputKey | None = None
    query_column: str = QUERY_ID
    has_lists: bool = False
    joins_inputs: tuple[InputKey, ...] = ()
    scores: tuple[str, ...] = ()
    table: str = ""
    measured: tuple[str, ...] = ()
    merges_rows: bool = False
