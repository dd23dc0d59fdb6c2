"""Values of units as a table that is the same for all metrics, systems and slices, and what is compared of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.engines.duckdb import rows
from sqlrank.errors import InputError
from sqlrank.library.selects import read_select
from sqlrank.statement.bind import literal
from sqlrank.statement.rows import of_score, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from sqlrank.comparison.asked import Asking, Measure

STEPS = {"differences": True, "averages": False, "signed": True, "spread": False}
"""The steps of a comparison, and whether one need not be kept where rows have the values of several scores: these are simply read again."""

CELLS_OF_A_GROUPING = 10**9
Key = tuple[int, int, int]
"""The numbers of cell, metric and pair of a comparison."""


@dataclass(frozen=True)
class Compared:
    """What is known of a metric in a cell for a pair of systems, as ``comparison/compared.sql`` says it."""

    cell: int
    metric: int
    pair: int
    units: int
    unpaired: int
    value_baseline: float | None
    value: float | None
    difference: float | None
    scale: float | None
    se: float | None
    squares: float | None
    total: float | None
    above: int | None
    equal: int | None
    below: int | None
    is_normal: bool = False

    @property
    def freedom(self) -> float:
        """The degrees of freedom of Student's t."""
        return math.inf if self.is_normal else self.units - 1

    @property
    def key(self) -> Key:
        """What tells comparisons apart."""
        return self.cell, self.metric, self.pair


class Units:
    """Values of units in a DuckDB database of their own: temporary tables that the files of ``sql/comparison`` read.

    Each table has the column that tells systems apart, those of its slices, that of units, ``weight`` if these have any, and one of doubles
    for each metric; where units are rows with several scores, ``by_rows``, it has the slices and one of doubles for each metric and score.
    ``cells`` are the slices by number, in the order of groupings and of their values.
    """

    def __init__(
        self, database: duckdb.DuckDBPyConnection, tables: Sequence[tuple[list[str], pa.Table]], asking: Asking, by_rows: bool
    ) -> None:
        self.database = database
        self.measures = asking.measured(by_rows)
        self.scores = asking.given_order if by_rows else []
        self.kind = "VIEW" if by_rows else "TABLE"
        self.cells: dict[int, dict[str, Any]] = {}
        for number, (group, table) in enumerate(tables):
            database.register(f"given_{number}", table)
            own = self._of_scores() if by_rows else self._of_units(table, asking)
            sliced = exp.select(*_cells(group, number), *own).from_(f"given_{number}")
            self.make(f"sliced_{number}", sliced, "TABLE" if group else self.kind)
            shown = [exp.column("cell"), *(exp.column(f"slice_{place}") for place, _ in enumerate(group))]
            cells = self.rows(exp.select(*shown).distinct().from_(f"sliced_{number}").order_by("cell"))
            self.cells |= {row[0]: dict(zip(group, row[1:], strict=True)) for row in cells}
        names = ["cell", *(item.alias for item in own)]
        self.make("unit_values", stacked([exp.select(*names).from_(f"sliced_{number}") for number, _ in enumerate(tables)]), self.kind)

    def _of_units(self, table: pa.Table, asking: Asking) -> list[exp.Expr]:
        """Return what is read of a row per unit and system: under names of our own."""
        weight = exp.column("weight") if "weight" in table.column_names else literal(1.0)
        return [
            exp.alias_(exp.cast(exp.column(asking.system, quoted=True), "TEXT"), "system"),
            exp.alias_(exp.column(asking.unit), "unit"),
            exp.alias_(exp.cast(weight, "DOUBLE"), "weight"),
            *(exp.alias_(exp.column(measure.name, quoted=True), f"value_{place}") for place, measure in enumerate(self.measures)),
        ]

    def _of_scores(self) -> list[exp.Expr]:
        """Return what is read of a row that has values under every score."""
        return [
            exp.alias_(exp.column(of_score(measure.name, score), quoted=True), f"value_{place}_{side}")
            for place, measure in enumerate(self.measures)
            for side, score in enumerate(self.scores)
        ]

    def systems(self) -> list[str]:
        """Return what the systems are called; raise ``InputError`` for one that has no name."""
        if self.scores:
            return self.scores
        found = [row[0] for row in self.rows(exp.select("system").distinct().from_("unit_values").order_by("system"))]
        if None in found:
            raise InputError("a system is NULL; give every system a name to compare it")
        return found

    def compare(self, pairs: Sequence[tuple[str, str]], places: Sequence[int], asked: Sequence[Measure]) -> list[Compared]:
        """Return what is known of pairs of systems, by cell, metric and pair; each of ``asked`` is of the values of the measure at its place."""
        numbered = list(enumerate(zip(places, asked, strict=True)))
        if self.scores:
            sides = [(self.scores.index(one), self.scores.index(two)) for one, two in pairs]
            paired = [_of_row(metric, place, item, pair, both) for metric, (place, item) in numbered for pair, both in enumerate(sides)]
        else:
            self._put_beside(pairs, places)
            paired = [_of_pair(metric, place, item) for metric, (place, item) in numbered]
        self.make("paired", stacked(paired), self.kind)
        for step, is_read_once in STEPS.items():
            self.make(step, read_select("comparison", f"{step}.sql"), self.kind if is_read_once else "TABLE")
        return [replace(Compared(*row), is_normal=asked[row[1]].is_normal) for row in self.rows(read_select("comparison", "compared.sql"))]

    def _put_beside(self, pairs: Sequence[tuple[str, str]], places: Sequence[int]) -> None:
        """Put the values of both systems of each pair beside each other, by unit."""
        members = {
            "pair": [number for number, _ in enumerate(pairs) for _ in range(2)],
            "system": [name for pair in pairs for name in pair],
            "is_baseline": [is_first for _ in pairs for is_first in (True, False)],
        }
        self.database.register("members", pa.table(members))
        beside = read_select("comparison", "beside.sql")
        for place in sorted(set(places)):
            for name, is_first in (("baseline", exp.column("is_baseline", table="m")), ("system", ~exp.column("is_baseline", table="m"))):
                value = exp.Case(ifs=[exp.If(this=is_first, true=exp.column(f"value_{place}", table="v"))])
                beside.select(exp.alias_(exp.Max(this=value), f"{name}_{place}"), copy=False)
        self.make("beside", beside)

    def ranks(self) -> dict[Key, tuple[int, float, float]]:
        """Return by comparison how many units differ, the sum of ranks of those above 0, and what ties take from its variance."""
        self.make("sizes", read_select("comparison", "sizes.sql"))
        return {row[:3]: row[3:] for row in self.rows(read_select("comparison", "ranks.sql"))}

    def rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return rows(self.database, query.sql("duckdb"))

    def arrow(self, query: exp.Query) -> pa.Table:
        """Return a table of the rows of a query."""
        return self.database.sql(query.sql("duckdb")).to_arrow_table()

    def make(self, name: str, query: exp.Query, kind: str = "TABLE", **values: Any) -> None:
        """Make a temporary table or view of a query, in which ``$name`` stands for a value."""
        bound = exp.replace_placeholders(query, **values) if values else query
        made = exp.Create(this=exp.to_table(name), kind=kind, replace=True, expression=bound, properties=_TEMPORARY.copy())
        self.database.execute(made.sql("duckdb"))


_TEMPORARY = exp.Properties(expressions=[exp.TemporaryProperty()])


def _cells(group: Sequence[str], number: int) -> list[exp.Expr]:
    """Return the number of the cell that each row of a grouping is of, and the columns of its slice under names of our own."""
    order = [exp.Ordered(this=exp.column(column, quoted=True), nulls_first=True) for column in group]
    place: exp.Expr = literal(number * CELLS_OF_A_GROUPING)
    if order:
        rank = exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=exp.Order(expressions=order))
        place = exp.Add(this=place, expression=rank)
    slices = [exp.alias_(exp.column(column, quoted=True), f"slice_{place}") for place, column in enumerate(group)]
    return [exp.alias_(exp.cast(place, "BIGINT"), "cell"), *slices]


def _of_pair(metric: int, place: int, asked: Measure) -> exp.Select:
    """Return the values of both systems for a metric, with how their difference is taken."""
    values = [exp.alias_(exp.column(f"{name}_{place}"), f"{name}_value") for name in ("baseline", "system")]
    return exp.select("cell", "pair", "unit", "weight", *values, *_taken(metric, asked)).from_("beside")


def _of_row(metric: int, place: int, asked: Measure, pair: int, sides: tuple[int, int]) -> exp.Select:
    """Return the same under both scores of a row; rows have no names, and all weigh 1: a value is made for its weight."""
    said = [exp.alias_(literal(value), name) for name, value in {"pair": pair, "unit": 0, "weight": 1.0}.items()]
    names = zip(("baseline", "system"), sides, strict=True)
    values = [exp.alias_(exp.column(f"value_{place}_{side}"), f"{name}_value") for name, side in names]
    return exp.select("cell", *said, *values, *_taken(metric, asked)).from_("unit_values")


def _taken(metric: int, asked: Measure) -> list[exp.Expr]:
    """Return which metric a row is of, and how differences of its values are taken."""
    said = {"metric": metric, "sign": asked.sign, "factor": asked.factor, "is_share": asked.is_share}
    return [exp.alias_(literal(value), name) for name, value in said.items()]
