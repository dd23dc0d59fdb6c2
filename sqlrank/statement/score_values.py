"""What metrics of groups say of rows that have several scores: a row of the input with its values under each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlrank.library.nodes import nodes
from sqlrank.statement.bind import literal
from sqlrank.statement.keys import GROUP, SCORED_BY, UNIT, Key, key, same
from sqlrank.statement.rows import Part, double, grouped
from sqlrank.statement.spread import UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.statement.moves import Rows
    from sqlrank.statement.relations import Relations
    from sqlrank.statement.rows import Column

Moved = tuple["Part", "Rows", "Sequence[tuple[Column, exp.Expr]]"]
"""The metrics of a step that the same rows move, and how far each of these does."""

ROW, OF_ROWS = "p", "n"
"""What a row of the input is called where its values are made, and the numbers of rows of its group."""

OF_CLASSES = ("all_positives", "all_negatives")


class ScoreValues:
    """Adds what rows with several scores read to have their values beside each other; used once.

    What moves a metric is computed in the row itself: the number that says how far a score of a label does is looked up, and
    expressions over predictions are taken of each score in turn. ``values`` adds the values of rows by unit, for whatever is neither.
    """

    def __init__(
        self,
        relations: Relations,
        scores: Sequence[str],
        keep: Callable[[str, exp.Select, str], str],
        values: Callable[..., Part],
    ) -> None:
        self.relations = relations
        self.scores = scores
        self.keep = keep
        self.values = values
        self.group = Key()
        self.step = ""

    def rows(self, base: str, moved: Sequence[Moved], columns: Sequence[Column], audits: Mapping[Part, Sequence[str]]) -> exp.Select:
        """Return one row per row of the input ``base``, with the values under all of its scores: NULL where it is left out under one."""
        step = self.relations.input(f"{base} numbered")
        self.group, self.step = self.relations.keys(step)[GROUP], self.relations.learnt.get(step, step)
        query = exp.select(*(key(name, ROW) for name in self.group.columns)).from_(exp.to_table(self.step).as_(ROW))
        query = query.where(exp.GT(this=exp.column("weight", table=ROW), expression=literal(0)))
        direct = [item for item in moved if f"{base} as given" not in self.relations.sources and self._is_direct(item[1], base)]
        if direct:
            query = self._beside(query, self._sizes(step), OF_ROWS)
        found: dict[str, exp.Expr] = {}
        for number, (part, rows, moves) in enumerate(moved, start=1):
            is_direct = (part, rows, moves) in direct
            held = part if is_direct else self.values(part, rows, moves)
            for side, score in enumerate(self.scores, start=1):
                metrics, moving = f"m{number}_{side}", f"r{number}_{side}"
                query = self._beside(query, held, metrics, score)
                if is_direct and rows.kind == "alike":
                    query = self._beside(query, Part(rows.step, part.keys), moving, score, side)
                for column, move in moves:
                    own = exp.column(column.alias, table=metrics)
                    found[column.side(side)] = self._value(column, own, _at(move, metrics, moving, side, rows), rows) if is_direct else own
        values = (
            exp.alias_(double(found[column.side(side)]), column.side(side))
            for column in columns
            for side, _ in enumerate(self.scores, start=1)
        )
        query = query.select(*values)
        for part, names in audits.items():
            greatest = (exp.alias_(exp.Max(this=exp.column(name)), name) for name in names)
            counted = grouped(exp.select(*map(key, self.group.columns), *greatest).from_(part.step), self.group)
            checked = self.keep(f"checked_{part.step}", counted, "one row per group, whatever the score")
            query = self._beside(query, Part(checked, self.group), checked).select(*(exp.column(name, table=checked) for name in names))
        return query

    def _is_direct(self, rows: Rows, base: str) -> bool:
        """Whether what moves metrics can be told from a row of the input: the input itself, or what rows of it find."""
        return rows.step == self.relations.input(base) or rows.kind == "alike"

    def _sizes(self, step: str) -> Part:
        """Add how many rows a group has that weigh something, and how many there are of each class."""
        label = exp.EQ(this=exp.column("label"), expression=literal(1))
        classes = (_one_if(label), exp.Sub(this=literal(1), expression=_one_if(label)))
        counts: dict[str, exp.Expr] = {UNITS: exp.Count(this=exp.Star())}
        counts |= {name: exp.Sum(this=count) for name, count in zip(OF_CLASSES, classes, strict=True)}
        query = exp.select(*map(key, self.group.columns), *(exp.alias_(count, name) for name, count in counts.items())).from_(step)
        query = query.where(exp.GT(this=exp.column("weight"), expression=literal(0)))
        return Part(self.keep("rows_of_groups", grouped(query, self.group), "one row per group: how many rows it has"), self.group)

    def _beside(self, query: exp.Select, part: Part, alias: str, score: str | None = None, side: int | None = None) -> exp.Select:
        """Join the row of a step for the group, the score, what the score is, and the unit: as far as its rows are told apart by these."""
        on = same(self.group.columns, alias, ROW, self.group.nullable)
        on += [] if score is None else [exp.EQ(this=key(SCORED_BY, alias), expression=literal(score))]
        on += same([name for name in part.keys.columns if name == UNIT], alias, ROW, nullable=False)
        on += [] if side is None else self._found_by(part.step, alias, side)
        how: dict[str, Any] = {"on": exp.and_(*on, wrap=False), "join_type": "left"} if on else {"join_type": "cross"}
        return query.join(exp.to_table(part.step).as_(alias), copy=False, **how)

    def _found_by(self, step: str, alias: str, side: int) -> list[exp.Expr]:
        """Return the conditions under which a row finds that of a step under one of its scores, as the file of the step says them."""
        names = self.relations.ctes[self.step].named_selects
        condition: exp.Expr = sqlglot.parse_one(self.relations.found_by[step], read="duckdb")
        for column in nodes(condition, exp.Column):
            own = f"{column.name}_{side}" if f"{column.name}_{side}" in names else column.name
            column.replace(exp.column(own, table=ROW) if column.table == ROW else exp.column(column.name, table=alias))
        return list(condition.flatten())

    def _value(self, column: Column, value: exp.Expr, influence: exp.Expr, rows: Rows) -> exp.Expr:
        """Return the value of a row, whose mean over all is the metric."""
        chosen = column.asked.file.facts.get("Standard error", "influence") if rows.kind == "alike" else "influence"
        is_positive = _one_if(exp.EQ(this=exp.column("label", table=ROW), expression=literal(1)))
        sizes = [exp.column(name, table=OF_ROWS) for name in (UNITS, *OF_CLASSES)]
        return self.relations.function("unit_value", {"unit_value": chosen}, value, influence, sizes[0], is_positive, *sizes[1:])


def _one_if(condition: exp.Expr) -> exp.Case:
    """Return 1 where a condition holds, else 0."""
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=literal(1))], default=literal(0))


def _at(move: exp.Expr, metrics: str, moving: str, side: int, rows: Rows) -> exp.Expr:
    """Return how far a row moves a metric under one of its scores, of what is said of ``r``, the rows, and ``m``, the metrics."""
    move = exp.paren(move.copy())
    for column in nodes(move, exp.Column):
        name = column.name
        if column.table == "m":
            table = metrics
        elif rows.kind == "alike" and name != "force":
            table = moving
        else:
            table, name = ROW, {"force": "weight", "score": f"score_{side}"}.get(name, name)
        column.replace(exp.column(name, table=table))
    return move.this if isinstance(move.this, (exp.Column, exp.Mul)) else move
