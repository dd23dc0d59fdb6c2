"""Batches: rows of a state that were added at once; of what is taken back, such as labels that have turned, sums and counts below zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import InputError, MetricError, shown
from sqlrank.inputs.where import read_condition
from sqlrank.results.store import identifier_of
from sqlrank.statement.statement import Output, Statement
from sqlrank.states.made import BATCH, DEFINITION, ROWS
from sqlrank.states.split import OF_ORDERS, merge_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import Database, Table
    from sqlrank.question import Question

NOTHING = 1e-12
"""What is left of sums that cancel each other, beside what was added up, where nothing but the last digits is."""


@dataclass(frozen=True)
class Batch:
    """Rows that are added at once, under a name that none before them have; ``is_negative`` of those that are taken back.

    ``only`` says in SQL which rows are read, beside what the definition says.
    """

    name: str
    is_negative: bool = False
    only: str | None = None

    @classmethod
    def of(cls, name: str | None, *, is_negative: bool = False, only: str | None = None, replaced: str | None = None) -> Batch | None:
        """Return the batch that is asked for, None if there is none; raise ``MetricError`` for what does not go together."""
        if name is None:
            if is_negative or only is not None:
                what = "negative=" if is_negative else "only="
                raise MetricError(
                    f"{what} needs batch=, a name for these rows, such as '2026-03-05-corrections', so that none is added twice"
                )
            return None
        if not isinstance(name, str) or not name.strip():
            raise MetricError(f"batch={shown(name)} is no name; give one such as '2026-03-05-corrections'")
        if is_negative and replaced is not None:
            raise MetricError("negative= takes rows back from sums that stay, and replace= deletes these; leave one of them out")
        return cls(name, bool(is_negative), only)

    def read(self, question: Question, dialect: str) -> Question:
        """Return the question for the rows of the batch alone; raise ``InputError`` for a condition that is none."""
        if self.only is None:
            return question
        where = question.call.where
        read_condition(self.only, dialect, "only")
        both = self.only if where is None else f"({where}\n) AND ({self.only}\n)"
        return replace(question, call=replace(question.call, where=both))

    def marked(self, statement: Statement) -> Statement:
        """Return the statement of a state with a column that has the name of the batch, and the signs of its sums turned if it is negative."""
        tree: Any = statement.tree.copy()
        if self.is_negative:
            for item, output in zip(tree.selects, statement.outputs, strict=True):
                if output.kind == "value" and _merge_of(output.name) is exp.Sum:
                    # Less than zero, not the negative: that of nothing would be shown as -0.
                    item.set("this", exp.Sub(this=exp.Literal.number(0), expression=exp.paren(item.this)))
        tree.select(exp.alias_(exp.Literal.string(self.name), BATCH), copy=False)
        return Statement(tree, [*statement.outputs, Output(BATCH, BATCH, "id")], statement.stamp)

    def once(self, stored: Statement) -> Statement:
        """Return the statement that adds rows to a table with a condition more: the table has none of this batch, so that it may run again."""
        tree = stored.tree.copy()
        rows = tree.expression
        steps = rows.args.pop("with_", None)
        same = exp.EQ(this=exp.column(BATCH), expression=exp.Literal.string(self.name))
        there = exp.select(exp.alias_(exp.Count(this=exp.Star()), "rows_there")).from_(tree.this.this.copy()).where(same)
        # A condition on a joined row, which no engine takes to be one on what a sum over all rows is of.
        is_new = exp.EQ(this=exp.column("rows_there", table="there"), expression=exp.Literal.number(0))
        columns = [exp.column(identifier_of(item).copy(), table="added") for item in rows.selects]
        query = exp.select(*columns).from_(rows.subquery("added")).join(there.subquery("there"), join_type="cross").where(is_new)
        query.set("with_", steps)
        tree.set("expression", query)
        return replace(stored, tree=tree)


def _merge_of(name: str) -> type[exp.AggFunc] | None:
    """Return what merges the values of a column of a state, None if it tells rows apart."""
    known: dict[str, type[exp.AggFunc]] = {ROWS: exp.Sum, DEFINITION: exp.Min, **OF_ORDERS}
    return known.get(name.lower()) or merge_of(name)


def check_once(database: Database, table: Table, keys: Sequence[str], rows: exp.Subquery) -> None:
    """Raise ``InputError`` for a batch that has two rows of the same ``keys``, such as a file that is there twice: no sum shows that."""
    told = [exp.column(exp.to_identifier(name, quoted=True)) for name in (str(table.column(BATCH)), *keys)]
    shown_ = [exp.alias_(column.copy(), f"told_{place}") for place, column in enumerate(told)]
    several = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    found = database.rows(exp.select(*shown_).from_(rows.copy()).group_by(*(column.copy() for column in told)).having(several).limit(1))
    if found:
        name, *values = found[0]
        group = ", ".join(f"{key} = {value}" for key, value in zip(keys, values, strict=True)) or "all rows"
        raise InputError(
            f"state: {table.shown} has the batch {name!r} twice for {group}, which would count twice; delete those rows and add them once"
        )


def merged(database: Database, table: Table, keys: Sequence[str], rows: exp.Subquery) -> exp.Subquery:
    """Return rows of several batches added up by the columns ``keys`` of a state, without those of which nothing is left.

    A sum of which only the last digits are left is 0, as that of no rows is.

    Raises:
        InputError: more was taken back of a group than there was, or all of all groups.
    """
    named = {name: exp.column(exp.to_identifier(name, quoted=True)) for name in table.types or ()}
    merges = {name: merge for name in named if (merge := _merge_of(name)) is not None}
    added = [
        exp.alias_(_what_is_left(named[name]) if merge is exp.Sum else merge(this=named[name].copy()), named[name].this.copy())
        for name, merge in merges.items()
    ]
    query = exp.select(*(named[key].copy() for key in keys), *added).from_(rows)
    left = (query.group_by(*(named[key].copy() for key in keys)) if keys else query).subquery("s")
    never = sorted((name for name in merges if name.lower() in {ROWS, "positives", "negatives"}), key=lambda name: name.lower() != ROWS)
    _check(database, table, left, {name: named[name] for name in keys}, {name: named[name] for name in never})
    found = exp.select("*").from_(left).where(exp.GT(this=named[never[0]].copy(), expression=exp.Literal.number(0)))
    number = exp.select(exp.alias_(exp.Count(this=exp.Star()), "number")).from_(found.copy().subquery("s"))
    if not database.rows(number)[0][0]:
        raise InputError(f"state: {table.shown} has no rows to add up, since all that there were have been taken back")
    return found.subquery("s")


def _what_is_left(column: exp.Column) -> exp.Expr:
    total, size = exp.Sum(this=column.copy()), exp.Sum(this=exp.Abs(this=column.copy()))
    least = exp.Mul(this=exp.Literal.number(f"{NOTHING:.12f}"), expression=size)
    is_nothing = exp.LTE(this=exp.Abs(this=total.copy()), expression=least)
    return exp.Case(ifs=[exp.If(this=is_nothing, true=exp.Literal.number(0))], default=total)


def _check(database: Database, table: Table, rows: exp.Subquery, keys: Mapping[str, exp.Column], never: Mapping[str, exp.Column]) -> None:
    """Raise ``InputError`` for a group of which less than nothing is left in columns that are ``never`` below zero."""
    below = exp.or_(*(exp.LT(this=column.copy(), expression=exp.Literal.number(0)) for column in never.values()))
    told = [exp.alias_(column.copy(), f"told_{place}") for place, column in enumerate([*keys.values(), *never.values()])]
    found = database.rows(exp.select(*told).from_(rows.copy()).where(below).limit(1))
    if found:
        group = ", ".join(f"{name} = {value}" for name, value in zip(keys, found[0], strict=False)) or "the state"
        name, left = min(zip(never, found[0][len(keys) :], strict=True), key=lambda item: item[1])
        raise InputError(
            f"state: more was taken back of {table.shown} than there was: {group} is left with {float(left):g} {name}; a batch was added twice, or "
            f"is of other rows: leave it out by where=\"{BATCH} <> '...'\", or make these days anew"
        )
