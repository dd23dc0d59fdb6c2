"""A state that was found: which columns it has, and whether its rows can be added up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import InputError, suggestion
from sqlrank.statement.statement import FOLD
from sqlrank.states.batches import check_once, merged
from sqlrank.states.conditions import condition
from sqlrank.states.made import BATCH, DAY, DEFINITION, OF_BINS, ROWS
from sqlrank.states.split import merge_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.engines.database import Database, Table
    from sqlrank.states.asked import Wanted


class Held:
    """A state that was found: its columns, as its metrics and its callers know them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.names = list(table.types or ())
        ours = {*OF_BINS, ROWS, DEFINITION, BATCH}
        self.keys = [name for name in self.names if name.lower() not in ours and merge_of(name) is None]

    @property
    def day(self) -> str | None:
        """The column of days, as it is spelled there; None if there is none."""
        name = self.table.column(DAY)
        return name if name in self.keys else None

    @property
    def has_bins(self) -> bool:
        """Whether its rows are of bins of the score."""
        return all(self.table.column(name) is not None for name in OF_BINS)

    def has(self, name: str) -> bool:
        """Whether it is known to have a column of this name, in whatever case."""
        return self.table.types is not None and self.table.column(name) is not None

    def column(self, name: str) -> exp.Column:
        """Return a column of the state, whatever the case of its name is there."""
        return exp.column(exp.to_identifier(self.table.column(name) or name, quoted=True))

    def check(self, asked: Wanted, by: Sequence[str]) -> None:
        """Raise ``InputError`` unless the state has what metrics need, and the columns that groups are told apart by."""
        missing = [item.name for item in asked.summed if any(self.table.column(name) is None for name in item.aggregates)]
        missing += [] if self.has_bins else [item.name for item in asked.ordered]
        if any(self.table.column(name) is None for name in (ROWS, DEFINITION)):
            raise InputError(
                f"state: {self.table.shown} has no {ROWS} or no {DEFINITION}, and is no state; sqlrank.state (sqlrank state) makes one"
            )
        if missing:
            raise InputError(
                f"state: {self.table.shown} does not have the sums of {', '.join(missing)}, with these parameters; make it anew with all "
                f"metrics, such as sqlrank state {' '.join(repr(item.name) for item in asked.metrics)}"
            )
        for name in by:
            if self.table.types is not None and (self.table.column(name) or name) not in self.keys:
                raise InputError(
                    f"state: {name!r} is no column that rows of {self.table.shown} are told apart by{suggestion(name, self.keys)} "
                    f"There are: {', '.join(self.keys)}"
                )

    def check_sure(self, asked: Wanted, by: Sequence[str]) -> None:
        """Raise ``InputError`` unless the state has folds, or, of rankings, what the spread of the values of lists is told by."""
        if not asked.of_lists or self.has(FOLD):
            self.check_folds(by)
            return
        means = asked.means(self.has)
        if missing := [item.name for item in means if not all(self.has(name) for each in item.moments for name in each.aggregates)]:
            raise InputError(
                f"state: {self.table.shown} does not have the sums of squares by which it is told how sure the weighted means of {', '.join(missing)} "
                "are, since it was made before these were kept; make it anew, or leave out confidence="
            )

    def check_folds(self, by: Sequence[str]) -> None:
        """Raise ``InputError`` unless it can be told how sure metrics of groups are."""
        name = self.table.column(FOLD)
        if name not in self.keys:
            raise InputError(
                f"state: {self.table.shown} has no column {FOLD}, by which it is told how sure a metric is; make it anew with fold= (--fold), "
                "which names what was drawn on its own, such as fold='user_id'"
            )
        if name in [self.table.column(each) for each in by]:
            raise InputError(f"by names {name}, and a fold alone does not say how sure it is; leave out by={name!r}, or confidence=")

    def rows(self, database: Database, where: str | None, argument: str = "where") -> exp.Subquery:
        """Return the rows of a condition, which was given as ``argument`` and can be added up; of batches what they leave.

        Raises:
            InputError: no condition, no rows, rows of several definitions, or counts below zero.
        """
        found = self._chosen(database, where, argument)
        if not database.looks:
            return found
        is_below_zero = self._check_rows(database, found, argument)
        if not self.has(BATCH):
            return found
        keys = [*self.keys, *([str(self.table.column("bin"))] if self.has_bins else [])]
        check_once(database, self.table, keys, found)
        return merged(database, self.table, keys, found) if is_below_zero else found

    def folds(self, database: Database, where: str | None) -> str:
        """Return what tells the folds of the rows of a condition from others: the end of their definition, empty if they have none."""
        rows = self._chosen(database, where, "where")
        ((found,),) = database.rows(exp.select(exp.alias_(exp.Max(this=self.column(DEFINITION)), "found")).from_(rows))
        return str(found).partition("-")[2]

    def _chosen(self, database: Database, where: str | None, argument: str) -> exp.Subquery:
        """Return the rows of a condition, as they stand."""
        source = exp.select("*").from_(self.table.item())
        if where is not None:
            chosen_by = None if self.table.types is None else [*self.keys, *([str(self.table.column(BATCH))] if self.has(BATCH) else [])]
            source = source.where(condition(where, self.table, chosen_by, database.dialect, argument))
        return source.subquery("s")

    def _check_rows(self, database: Database, rows: exp.Subquery, argument: str) -> bool:
        """Return whether any row is of what is taken back."""
        definition, number = self.column(DEFINITION), self.column(ROWS)
        ends = [exp.Min(this=definition), exp.Max(this=definition.copy()), exp.Min(this=number), exp.Count(this=exp.Star())]
        ((least, most, fewest, count),) = database.rows(
            exp.select(*(exp.alias_(end, f"end_{place}") for place, end in enumerate(ends))).from_(rows.copy())
        )
        if not count:
            raise InputError(f"state: {self.table.shown} has no rows to add up; see what {argument}= leaves of it")
        if least != most:
            days = "" if self.table.column(DAY) is None else "; see which days have which: SELECT DISTINCT day, definition"
            raise InputError(
                f"state: rows of different definitions ({least}, {most}) cannot be added up: they are of other metrics, columns, conditions "
                f"or bins{days}; choose those of one with where=, or make the others anew"
            )
        if fewest < 0 and not self.has(BATCH):
            raise InputError(
                f"state: {self.table.shown} has rows with {fewest:g} in {ROWS}, and nothing is less than none; make these days anew"
            )
        return bool(fewest < 0)
