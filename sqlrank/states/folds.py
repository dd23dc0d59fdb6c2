"""Folds of a state: one more key, a digest of the unit that a row is of, by which it is told how sure a metric is."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.library.roles import UNIT
from sqlrank.statement.bind import literal
from sqlrank.statement.digests import digest_of, number_of
from sqlrank.statement.keys import GROUP
from sqlrank.statement.statement import FOLD

if TYPE_CHECKING:
    from sqlrank.call import Call

FOLDS, MOST = 32, 1000
"""How many folds there are unless said, and at most."""

SALT = "state:"
"""What stands before a unit in what is digested: the same everywhere, so that folds of two states are the same units."""

DIGEST = "unit_digest"


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
