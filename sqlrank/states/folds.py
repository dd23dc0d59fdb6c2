"""Folds of a state: one more key, a digest of the unit that a row is of, by which it is told how sure a metric is."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.library.nodes import BIGINT
from sqlrank.library.roles import UNIT
from sqlrank.statement.bind import literal
from sqlrank.statement.digests import digest_of, number_of
from sqlrank.statement.keys import GROUP, QUERY, key
from sqlrank.statement.rows import ordered
from sqlrank.statement.statement import FOLD, Output, Statement

if TYPE_CHECKING:
    from sqlrank.call import Call
    from sqlrank.question import Question

FOLDS, MOST = 32, 1000
"""How many folds there are unless said, and at most."""

SALT = "state:"
"""What stands before a unit in what is digested: the same everywhere, so that folds of two states are the same units."""

DIGEST = "unit_digest"

IN_FOLDS = "lists_in_folds"
"""The step that has the fold of each list."""


@dataclass(frozen=True)
class Folds:
    """So many folds of the units that a column or an expression names."""

    unit: str
    number: int

    @classmethod
    def of(cls, unit: str | None, number: int | None) -> Folds | None:
        """Return what ``fold`` and ``folds`` say, None for no folds; raise ``MetricError`` for a number that is none."""
        if unit is None:
            if number is not None:
                raise MetricError(
                    "folds= is how many folds there are of the units that fold= names, such as fold='user_id' (--fold user_id)"
                )
            return None
        found = FOLDS if number is None else number
        if isinstance(found, bool) or not isinstance(found, int) or not 1 < found <= MOST:
            raise MetricError(f"folds={found!r} is not possible: give a whole number from 2 to {MOST}, such as {FOLDS}")
        return cls(unit, found)

    @property
    def definition(self) -> str:
        """Eight digits that tell these folds from others."""
        return hashlib.sha256(json.dumps([self.unit, self.number, SALT]).encode()).hexdigest()[:8]

    def call(self, call: Call) -> Call:
        """Return a call that reads the unit of each row."""
        others = {name: theirs for name, theirs in (call.columns or {}).items() if name != f"predictions.{UNIT}"}
        return replace(call, columns={**others, UNIT: self.unit})

    def split(self, tree: exp.Select) -> None:
        """Let a statement that makes a state have a row for each fold, too: the digest of the unit below, and its number above it."""
        inner = tree.args["from_"].this
        if not isinstance(inner, exp.Subquery):
            names = sorted({column.name for column in tree.find_all(exp.Column)} - {GROUP})
            inner = exp.select(GROUP, *names).from_(inner.copy()).subquery("placed")
            tree.from_(inner, copy=False)
        placed = inner.this
        shown = [*(item.alias_or_name for item in placed.selects)]
        placed.select(exp.alias_(digest_of(SALT, exp.column(UNIT)), DIGEST), copy=False)
        fold = exp.Mod(this=number_of(DIGEST), expression=literal(self.number))
        above = exp.select(*shown, exp.alias_(fold, FOLD)).from_(placed.subquery("digested"))
        inner.set("this", above)
        group, *others = tree.selects
        tree.select(group, exp.column(FOLD), *others, append=False, copy=False)
        tree.group_by(FOLD, copy=False)

    def column_of(self, question: Question) -> str | None:
        """Return the column that tells units of rankings, None if that is the query itself.

        Raises:
            MetricError: no column of queries, or a metric whose values depend on which lists share a slice, as those of a unit then would.
        """
        if self.unit in {QUERY, (question.call.columns or {}).get(QUERY)}:
            return None
        if "queries" not in question.sources:
            raise MetricError(
                f"fold={self.unit!r}: what was drawn on its own is a query of rankings, fold='query_id', or a column of queries= (--queries), the "
                "table that says what is known of each"
            )
        for item in question.asked:
            if any("Across lists" in file.facts for file in item.uses.files):
                raise MetricError(f"{item.metric} depends on other lists, which fold={self.unit!r} would tell apart; take fold='query_id'")
        return f"queries.{self.unit.removeprefix('queries.')}"

    def of_lists(self, question: Question) -> Question:
        """Return a question for the values of lists, each beside its unit."""
        column = self.column_of(question)
        by = question.by if column is None else [*question.by, column]
        return replace(question, call=replace(question.call, per_query=True, with_weights=True), by=by)

    def listed(self, statement: Statement, question: Question) -> Statement:
        """Return the statement of the values of lists as one that has those of each fold of their units put together."""
        values: Any = statement.tree.copy()
        steps = values.args.pop("with_")
        values.set("order", None)
        by = [output for output in statement.outputs if output.kind == "by"]
        unit = next(output for output in statement.outputs if output.kind == "query") if self.column_of(question) is None else by.pop()
        kept = [output for output in statement.outputs if output.kind in {"metric", "audit", "weight"}]
        keys = [key(output.alias) for output in by]
        carried: list[exp.Expr] = [*keys, *(exp.column(output.alias) for output in kept)]
        digest = exp.alias_(digest_of(SALT, key(unit.alias)), DIGEST)
        digested = exp.select(*carried, digest).from_(values.subquery("list_values")).subquery("digested")
        fold = exp.alias_(exp.Mod(this=number_of(DIGEST), expression=literal(self.number)), FOLD)
        step = exp.select(*carried, fold).from_(digested)
        step.comments = [f"{IN_FOLDS}: one row per list, with the number of its fold"]
        metrics = [exp.column(output.alias) for output in kept if output.kind == "metric"]
        audits = [exp.alias_(exp.Sum(this=exp.column(output.alias)), output.alias) for output in kept if output.kind == "audit"]
        number = exp.alias_(exp.cast(exp.column(FOLD), BIGINT), FOLD)
        tree = exp.select(*keys, number, *metrics, *audits).from_(IN_FOLDS).group_by(*(item.copy() for item in keys), exp.column(FOLD))
        tree = ordered(tree, [*keys, exp.column(FOLD)])
        tree.set("with_", steps)
        tree.with_(IN_FOLDS, as_=step, copy=False)
        outputs = [*by, Output(FOLD, FOLD, "point"), *(output for output in kept if output.kind != "weight")]
        return Statement(tree, outputs, statement.stamp)
