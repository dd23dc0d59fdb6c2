"""What ``list_id``, ``group_id`` and ``unit_id`` stand for: the columns that tell lists, groups of them, and units apart.

The SQL files speak of three keys. With ``by=["system"]`` a group is a system, and a list is what a system answered to a query; so
wherever a file selects, groups, partitions, orders or joins by a key, its columns stand there instead: none, one or many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.library.asked import CUTOFF
from sqlrank.library.confidence import REPLICATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

GROUP, LIST, UNIT = "group_id", "list_id", "unit_id"

SLICE, SCORED_BY, QUERY = "slice_number", "scored_by", "query_id"
"""Which grouping a row is repeated for, which of several scores it has, and the query of a list."""

SURE = {UNIT, SLICE, SCORED_BY, CUTOFF, REPLICATE}
"""Columns that are never NULL, whatever may be NULL beside them; a unit that is has been refused."""

OURS = {LIST, UNIT, SLICE, SCORED_BY, QUERY, CUTOFF, REPLICATE}


class Ours(str):
    """A name that the files write, and so one without quotes: Snowflake keeps it in capitals, and would not find it in quotes."""

    __slots__ = ()


@dataclass(frozen=True)
class Key:
    """The columns that a key stands for in a source; NULL is a value of its own in those that are ``nullable``."""

    columns: tuple[str, ...] = ()
    nullable: bool = False

    @property
    def is_swept(self) -> bool:
        """Whether there is a row per cut-off of a range."""
        return CUTOFF in self.columns

    @property
    def plain(self) -> tuple[str, ...]:
        """The columns without the cut-off."""
        return tuple(name for name in self.columns if name != CUTOFF)

    def with_cutoff(self) -> Key:
        """Return the columns of rows that there is one of per cut-off."""
        return Key((*self.plain, CUTOFF), self.nullable)


Keys = dict[str, Key]
"""The keys that a source has, by ``group_id``, ``list_id`` and ``unit_id``, which is nothing where rows are drawn on their own."""


def named(name: str, table: str | None = None) -> exp.Column:
    """Return a column under a name that can be anything."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def key(name: str, table: str | None = None) -> exp.Column:
    """Return a column inside the statement that tells rows apart: one of the caller's in quotes, one of ours as the files write it."""
    return exp.column(str(name), table=table) if isinstance(name, Ours) or name in OURS else named(name, table)


def same(keys: Iterable[str], left: str, right: str, nullable: bool) -> list[exp.Expr]:
    """Return the conditions under which two rows have the same key."""
    return [_equal(key(name, left), key(name, right), nullable and name not in SURE) for name in keys]


def same_lists(one: Sequence[str], other: Sequence[str], left: str, right: str, nullable: bool) -> list[exp.Expr]:
    """Return the conditions under which two rows are of the same list: its own column comes last, and is never NULL."""
    pairs = [(key(name, left), key(theirs, right)) for name, theirs in zip(one, other, strict=True)]
    return [_equal(*pair, nullable and pair is not pairs[-1]) for pair in pairs]


def _equal(one: exp.Column, other: exp.Column, nullable: bool) -> exp.Expr:
    # in parentheses, since DataFusion binds AND before IS NOT DISTINCT FROM
    return exp.paren(exp.NullSafeEQ(this=one, expression=other)) if nullable else exp.EQ(this=one, expression=other)


def extended(keys: Mapping[str, Key], selects: Iterable[str], column: str) -> Keys:
    """Return the keys of a source for groups that are the lists themselves: with the column that tells lists apart, if it has one."""
    group = keys.get(GROUP)
    if group is None or column in group.columns or column not in selects:
        return dict(keys)
    return {**keys, GROUP: Key((*group.columns, column), group.nullable)}
