"""Define the columns of the logical keys ``list_id``, ``group_id`` and ``unit_id``: quote, compare
and name them in comments.

The SQL files use three logical keys. With ``by=["system"]`` a group is a system, and a list is a
system's answer to a query. Wherever a file selects, groups, partitions, orders or joins by a key,
the compiler writes its columns: none, one or many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.interval_options import REPLICATE_COLUMN
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN
from sqlrank.sql_ast import NEVER_NULL, quoted_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

GROUP_ID, LIST_ID, UNIT_ID = "group_id", "list_id", "unit_id"

COMPARED_ID, COMPONENT_ID = "compared_id", "component_id"
"""Keys of differences between groups: the groups that are compared, and the metric, if the
differences are of several.
"""

SINGLETON_IDS = ("unlabeled_record_id", "unplaced_record_id")
"""Columns with the record that is a cluster of its own, which relations have only under policies by
which there are such records.
"""

SCORE_NAME, QUERY_ID = "scored_by", "query_id"
"""Columns of the score name and of the query."""

SLICE_NUMBER = "slice_number"
"""Column with the number of the grouping that a repeated row counts in."""

NEVER_NULL_COLUMNS = {UNIT_ID, SLICE_NUMBER, SCORE_NAME, CUTOFF_COLUMN, REPLICATE_COLUMN}
"""Columns that are never NULL; units that are NULL have been rejected."""

INTERNAL_COLUMNS = {
    LIST_ID,
    UNIT_ID,
    SLICE_NUMBER,
    SCORE_NAME,
    QUERY_ID,
    CUTOFF_COLUMN,
    REPLICATE_COLUMN,
}


class UnquotedName(str):
    """An identifier written unquoted in the SQL files.

    It must stay unquoted, because Snowflake folds it to upper case.
    """

    __slots__ = ()


@dataclass(frozen=True)
class KeyColumns:
    """The columns of a logical key in a source.

    In ``nullable`` columns, NULL is a value of its own.
    """

    columns: tuple[str, ...] = ()
    nullable: bool = False

    @property
    def has_cutoff(self) -> bool:
        """True if the key contains the cut-off of a range."""
        return CUTOFF_COLUMN in self.columns

    @property
    def without_cutoff(self) -> tuple[str, ...]:
        """The columns without the cut-off."""
        return tuple(name for name in self.columns if name != CUTOFF_COLUMN)

    def with_cutoff(self) -> KeyColumns:
        """Return a copy that ends with the cut-off column."""
        return KeyColumns((*self.without_cutoff, CUTOFF_COLUMN), self.nullable)


KeysByName = dict[str, KeyColumns]
"""Keys of a source by logical name.

``unit_id`` has no columns if every row is a unit.
"""


_KEY_WORDS = {SLICE_NUMBER: "grouping", SCORE_NAME: "score", CUTOFF_COLUMN: "cut-off"}


def name_keys(columns: Iterable[str]) -> list[str]:
    """Return key columns as a comment names them: those of the user as they are, others in words.

    >>> name_keys(["campaign_id", QUERY_ID, SLICE_NUMBER])
    ['campaign_id', 'query', 'grouping']
    """
    return [
        " ".join(
            _KEY_WORDS.get(
                name,
                name.removesuffix("_id")
                if isinstance(name, UnquotedName) or name in INTERNAL_COLUMNS
                else name,
            ).split()
        )
        for name in columns
    ]


def key_column(name: str, table: str | None = None) -> exp.Column:
    """Return a key column, quoted if the user named it.

    Names in the SQL files are unquoted.
    """
    return (
        exp.column(str(name), table=table)
        if isinstance(name, UnquotedName) or name in INTERNAL_COLUMNS
        else quoted_column(name, table)
    )


def key_equalities(
    keys: Iterable[str], left_table: str, right_table: str, nullable: bool
) -> list[exp.Expr]:
    """Return the equality conditions of a key in two tables."""
    return [
        _compare_columns(
            key_column(name, left_table),
            key_column(name, right_table),
            nullable and name not in NEVER_NULL_COLUMNS,
        )
        for name in keys
    ]


def list_key_equalities(
    left_columns: Sequence[str],
    right_columns: Sequence[str],
    left_table: str,
    right_table: str,
    nullable: bool,
) -> list[exp.Expr]:
    """Return the equality conditions of a list key, whose last column is never NULL."""
    pairs = [
        (key_column(left_name, left_table), key_column(right_name, right_table))
        for left_name, right_name in zip(left_columns, right_columns, strict=True)
    ]
    return [_compare_columns(*pair, nullable and pair is not pairs[-1]) for pair in pairs]


def _compare_columns(left: exp.Column, right: exp.Column, nullable: bool) -> exp.Expr:
    # in parentheses, because DataFusion binds AND before IS NOT DISTINCT FROM
    return (
        exp.paren(exp.NullSafeEQ(this=left, expression=right))
        if nullable
        else never_null_equality(left, right)
    )


def never_null_equality(left: exp.Column, right: exp.Column) -> exp.EQ:
    """Return an equality of columns that are never NULL, marked so that passes of the optimizer
    know that no row is lost to a NULL.
    """
    equality = exp.EQ(this=left, expression=right)
    equality.meta[NEVER_NULL] = True
    return equality


def with_list_column(
    keys: Mapping[str, KeyColumns], selects: Iterable[str], column: str
) -> KeysByName:
    """Return the keys of a source in which each list is a group.

    The list column is added to the group key.
    """
    group = keys.get(GROUP_ID)
    if group is None or column in group.columns or column not in selects:
        return dict(keys)
    return {**keys, GROUP_ID: KeyColumns((*group.columns, column), group.nullable)}
