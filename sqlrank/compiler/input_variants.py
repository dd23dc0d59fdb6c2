"""Define variants of an input's rows, such as those before NULLs are dropped, with their CTE names,
and record each variant's query.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from sqlrank.compiler.row_keys import QUERY_ID, KeyColumns

if TYPE_CHECKING:
    from sqlglot import exp


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
