"""Bins of a state: steps of a fixed axis, with bins of their own for scores that many rows have, or each score by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.statement.bind import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("grid", "score")
"""How scores are put into bins: by steps of a fixed axis, or each by itself."""

FINENESS = 1024
"""Steps of the grid between 0 and 1 unless said: of click rates some 400 bins have rows, within which 0.5 % of all pairs are."""

MOST_ATOMS = 500
"""Scores with bins of their own, at most: each takes two of the parts that a step of the grid has."""

PARTS = 1024
"""The parts of a step; a power of two, so that a bin is the same double on every engine."""


@dataclass(frozen=True)
class Bins:
    """Which rows share a bin; ``atoms`` are scores with bins of their own, from the least up."""

    kind: str
    fineness: int
    atoms: tuple[float, ...]

    @classmethod
    def of(cls, kind: str, fineness: int, atoms: Sequence[float]) -> Bins:
        """Return what ``bins``, ``fineness`` and ``atoms`` say; raise ``MetricError`` for what is none of these."""
        if kind not in KINDS:
            raise MetricError(f"bins={kind!r} is not possible: give one of: {', '.join(KINDS)}")
        given = [atoms] if isinstance(atoms, (int, float)) else list(atoms)
        strange = next((one for one in given if isinstance(one, bool) or not isinstance(one, (int, float)) or not math.isfinite(one)), None)
        if strange is not None:
            raise MetricError(f"atoms={strange!r} is not possible: give the scores that have bins of their own, such as [0.25, 0.5]")
        found = tuple(sorted({float(one) + 0.0 for one in given}))
        if found and kind != "grid":
            raise MetricError("atoms= (--atom) is for bins='grid'; with bins='score' each score has a bin of its own")
        if len(found) > MOST_ATOMS:
            raise MetricError(
                f"atoms= has {len(found):,} scores, and at most {MOST_ATOMS} can have bins of their own; name the most frequent"
            )
        return cls(kind, fineness, found)

    def part(self, tree: exp.Select) -> None:
        """Let a statement that makes a state put each atom, and what is below and above it in its step of the grid, into bins of their own."""
        if not self.atoms:
            return
        inner: Any = tree.args["from_"].this.this
        placed = next(item for item in inner.selects if item.alias == "bin")
        placed.set("this", exp.Add(this=placed.this.copy(), expression=self._place(0, len(self.atoms))))

    def _place(self, first: int, end: int) -> exp.Expr:
        """Return which part of its step a score is in, which lies between these atoms, by halves."""
        if first == end:
            return literal(2 * first / PARTS)
        middle = (first + end) // 2
        score, atom = exp.column("score"), literal(self.atoms[middle])
        ifs = [
            exp.If(this=exp.LT(this=score, expression=atom), true=self._place(first, middle)),
            exp.If(this=exp.EQ(this=score.copy(), expression=atom.copy()), true=literal((2 * middle + 1) / PARTS)),
        ]
        return exp.Case(ifs=ifs, default=self._place(middle + 1, end))
