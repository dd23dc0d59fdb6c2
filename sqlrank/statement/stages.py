"""From relations to rows: values per list, their aggregates beside the values per group, and the rows that are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.deadline import check_time
from sqlrank.library.asked import CUTOFF, EACH
from sqlrank.library.confidence import REPLICATE
from sqlrank.library.nodes import nodes
from sqlrank.statement.bind import literal
from sqlrank.statement.bootstrap import Replicates
from sqlrank.statement.keys import GROUP, LIST, QUERY, SLICE, Key, key, same, same_lists
from sqlrank.statement.relations import Relations, free
from sqlrank.statement.rows import SLICED_BY, Column, Part, double, grouped, joined, ordered, per_slice, slice_name, swept
from sqlrank.statement.sides import Sides, side_by_side
from sqlrank.statement.spread import Spread
from sqlrank.statement.unit_values import UnitValues
from sqlrank.statement.values import aggregate, filled, if_asked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.library.asked import Asked
    from sqlrank.library.confidence import Confidence
    from sqlrank.library.metric import Value
    from sqlrank.statement.rows import Shape


class Stages:
    """Adds the steps after the relations; used once."""

    def __init__(
        self, relations: Relations, per_query: bool, weighted: bool, list_column: str = QUERY, confidence: Confidence | None = None
    ) -> None:
        self.relations = relations
        self.confidence = confidence
        is_drawn = confidence is not None and confidence.is_drawn
        self.replicates = Replicates(confidence, relations, self._keep) if confidence is not None and is_drawn else None
        self.spread = None if confidence is None or is_drawn else Spread(confidence, relations, self._keep)
        self.shape: Shape = relations.shape
        self.weighted = weighted
        self.per_query = per_query
        self.list_column = list_column
        self.row_keys = [*self.shape.by, *([list_column] if per_query else []), *([REPLICATE] if is_drawn else [])]
        self.cutoffs = relations.cutoffs
        self.columns: list[Column] = []
        self.scans: dict[str, exp.Select] = {}
        self.titles: dict[str, str] = {}
        self._units: dict[str, str] = {}
        self._keys: dict[str, Key] = {}
        self._steps: dict[str, str] = {}

    def add(self, asked: Asked) -> Column:
        """Add a metric, and everything it reads."""
        check_time()
        is_ranking = asked.home == "run" and asked.file.grain == "list"
        unit = "list" if is_ranking else "query" if asked.per_list and not self.per_query else "group"
        per_list = asked.file.grain == "group" and (self.per_query or asked.settings.get("level") == "query")
        step = self.relations.read(asked.file.reads, asked.settings, per_list)
        scan = self._scan_at_own(step) if asked.has_own_cutoffs else self._scan(step, unit, asked.file.grain, self.cutoffs)
        alias = free(asked.metric.slug, {column.alias for column in self.columns})
        value = exp.alias_(self.relations.value(asked), alias)
        for column in nodes(value, exp.Column):
            if column.table == EACH:
                column.replace(exp.column(CUTOFF))
        value.comments = [asked.file.title]
        self.scans[scan].select(value, copy=False)
        self.columns.append(Column(alias, asked, scan, unit))
        return self.columns[-1]

    def audit(self, tree: exp.Select, settings: Mapping[str, Value], role: str) -> str:
        """Add columns that the checks of the input read; return the step that they are in."""
        source = tree.args["from_"].this.name
        per_list = self.per_query and role != "run"
        unit, grain = ("list", "list") if role == "run" else ("group", "group")
        scan = self._scan(self.relations.read(source, settings, per_list), unit, grain)
        for column in tree.selects[1:]:
            self.scans[scan].select(column.copy(), copy=False)
        return scan

    def _scan(self, step: str, unit: str, grain: str = "group", swept_by: str | None = None) -> str:
        """Return the name of the one GROUP BY over a step, for each cut-off where it is swept."""
        wanted = f"{step}_per_{self.list_column}" if unit == "query" else f"by_{step}"
        scan = self._steps.get(f"{unit} of {step}")
        if scan is None:
            scan = self._steps[f"{unit} of {step}"] = self._free(wanted)
            keys = self.relations.keys(step, per_list=self.per_query or unit == "query")
            held = keys[LIST] if grain == "list" else self._of_groups(keys[GROUP], unit)
            self._keys[scan] = held if swept_by is None else held.with_cutoff()
            self._units[scan] = unit
            query = swept(exp.select(*map(key, self._keys[scan].columns)).from_(step), None if held.is_swept else swept_by)
            self.scans[scan] = grouped(query, self._keys[scan])
            self.titles[scan] = {
                "list": "one row per list",
                "query": f"one row per {self.list_column} of a group",
                "group": "one row per group",
            }[unit]
        return scan

    def _scan_at_own(self, step: str) -> str:
        """Return the name of the GROUP BY over a step of lists, each of which has its cut-off beside."""
        own, mark = str(self.relations.own_cutoffs), f"list of {step} at its cut-off"
        if mark not in self._steps:
            scan = self._steps[mark] = self._free(f"by_{step}_at_cutoff")
            held, theirs = self.relations.keys(step)[LIST], self.relations.keys(own)[LIST]
            keys = [key(name, step) for name in held.columns]
            on = same_lists(held.columns, theirs.columns, step, own, theirs.nullable)
            query = exp.select(*keys).from_(step).join(own, on=exp.and_(*on, wrap=False))
            self.scans[scan] = query.group_by(*(column.copy() for column in keys), exp.column(CUTOFF, table=own))
            self._keys[scan], self._units[scan], self.titles[scan] = held, "list", "one row per list, at the cut-off of its query"
        return self._steps[mark]

    def _free(self, name: str) -> str:
        return free(name, {*self.scans, *self.relations.ctes, *self.relations.taken})

    def _of_groups(self, held: Key, unit: str) -> Key:
        """Return the columns that tell rows apart: without the query where values of queries become one."""
        own = {*self.shape.by, SLICE, CUTOFF, REPLICATE} if unit == "group" and not self.per_query else set(held.columns)
        return Key(tuple(name for name in held.columns if name in own), held.nullable)

    def rows(self, base: str | None, audits: Mapping[str, Sequence[str]]) -> exp.Select:
        """Return the rows that are asked for, in a stated order; ``base`` is the role whose groups they are, if not those of lists.

        ``audits`` are the columns that checks read, by the step that has them.
        """
        of_lists = [scan for scan, unit in self._units.items() if unit == "list"]
        if of_lists:
            self._per_query(of_lists, audits)
        if base is None and self.confidence is None and self.cutoffs is None and all(column.unit == "list" for column in self.columns):
            return self._over_lists(audits, is_final=True)
        parts = [Part(scan, self._keys[scan]) for scan, unit in self._units.items() if unit == "group"]
        if base is not None and (self.row_keys or self.shape.sets is not None or not parts):
            groups = self._scan(self.relations.read(base, {}, rows="as given"), "group")
            if self.scans[groups].selects:
                parts = [Part(groups, self._keys[groups]), *(part for part in parts if part.step != groups)]
        if base is None and not of_lists and self.row_keys:
            groups = self._scan(self.relations.read("members", self.columns[0].asked.settings, self.per_query), "group")
            parts = [Part(groups, self._keys[groups]), *(part for part in parts if part.step != groups)]
        over = []
        if of_lists:
            step = self._keep("over_lists", self._over_lists(audits, is_final=False), "one row per group: its lists, aggregated")
            hidden = [SLICE] if self.shape.sets is not None else []
            keys = Key((*self.row_keys, *hidden), nullable=True)
            over.append(Part(step, keys if self.cutoffs is None else keys.with_cutoff()))
        over += self._over_queries(base)
        units = {self._steps.get("over_lists"): "list", self._steps.get("over_queries"): "query"}
        if self.spread is not None and self.spread.confidence.per_unit:
            checked = {Part(scan, self._keys[scan]): names for scan, names in audits.items()}
            return UnitValues(self.relations, self.spread, self._keep).rows(str(base), parts, self.scans, self.columns, checked)
        spreads = [] if self.spread is None else self.spread.after([*over, *parts], units, self.scans, self.columns)
        if self.spread is not None and self.spread.carried and base is None:
            over, spreads = [*spreads, *over], []
        has_lists_first = base is None or (self.replicates is not None and over)
        steps = {unit: step for step, unit in units.items() if step is not None}
        sides = Sides(self.relations, self.columns, self.row_keys, self.spread, steps)
        found = {scan: (self._units[scan], names) for scan, names in audits.items()}
        body = side_by_side(sides, [*over, *parts, *spreads] if has_lists_first else [*parts, *over, *spreads], found)
        if self.replicates is None:
            return body
        return self.replicates.rows(body, base, self.columns, [name for _, names in found.values() for name in names])

    def _keep(self, name: str, query: exp.Select, title: str) -> str:
        step = self._steps[name] = self._free(name)
        self.scans[step], self.titles[step] = query, title
        if self.confidence is not None and name in {"per_query", "list_values"}:  # intervals read the values of queries again
            self.relations.costly.add(step)
        return step

    def _per_query(self, scans: Sequence[str], audits: Mapping[str, Sequence[str]]) -> None:
        """Add one row per list: its ``by`` columns, its query, and each metric with undefined values filled as the policy says."""
        lists = self.relations.read("lists", self.columns[0].asked.settings)
        shape = self.shape
        columns: list[exp.Expr] = [key(name, "a" if name in shape.attributes else "l") for name in shape.by]
        columns += [exp.column(QUERY, table="l"), *([exp.column("weight", table="a")] if self.weighted else [])]
        columns += [] if self.cutoffs is None else [exp.column(CUTOFF, table=self.cutoffs)]
        for column in self.columns:
            if column.unit == "list":
                columns.append(exp.alias_(filled(self.relations, column, column.asked.settings), column.alias))
        columns += [exp.column(name, table=scan) for scan in scans for name in audits.get(scan, ())]
        query = swept(exp.select(*columns).from_(exp.to_table(lists).as_("l")), self.cutoffs)
        for scan in scans:
            keys = self._keys[scan]
            on = same_lists(keys.plain, keys.plain, scan, "l", keys.nullable)
            on += same([CUTOFF], scan, str(self.cutoffs), nullable=False) if keys.is_swept else []
            query.join(exp.table_(scan), on=exp.and_(*on, wrap=False, copy=False), join_type="left", copy=False)
        if shape.attributes or self.weighted:
            queries = exp.to_table(self.relations.input("queries")).as_("a")
            query.join(queries, on=exp.and_(*same([QUERY], "a", "l", nullable=False)), join_type="left", copy=False)
        step = self._keep("per_query", query, "one row per query to evaluate, with the value of every metric")
        if self.replicates is not None:
            weight = exp.func("COALESCE", exp.column("weight"), literal(1)) if self.weighted else None
            self._steps["per_query"] = self.replicates.draw(step, query, QUERY, weight)

    def _over_lists(self, audits: Mapping[str, Sequence[str]], is_final: bool) -> exp.Select:
        """One row per group, or per query, with the metrics of lists."""
        shape = self.shape
        keys: list[exp.Expr] = [*map(key, self.row_keys), *([] if self.cutoffs is None else [exp.column(CUTOFF)])]
        of_lists = [column for column in self.columns if column.unit == "list"]
        names = [name for scan in audits if self._units[scan] == "list" for name in audits[scan]]
        if self.per_query:
            values = [exp.alias_(double(exp.column(column.alias)), column.alias) for column in of_lists]
            query = exp.select(*keys, *values, *map(exp.column, names)).from_(self._steps["per_query"])
            return ordered(query, keys[:-1]).order_by(keys[-1]) if is_final else query
        values = [
            exp.alias_(
                double(aggregate(self.relations, column, weighted=self.weighted, is_drawn=self.replicates is not None)), column.alias
            )
            for column in of_lists
        ]
        values += [exp.alias_(exp.Sum(this=exp.column(name)), name) for name in names]
        step = self._steps["per_query"]
        if shape.sets is None:
            query = exp.select(*keys, *values).from_(step)
            query = query.group_by(*keys) if keys else query
            return ordered(query, keys) if is_final else query
        repeated = per_slice(step, self.scans[step].named_selects, shape)
        step = self._keep("per_slice", repeated, "one row per query to evaluate and grouping that it counts in")
        label = slice_name(shape) if is_final else exp.column(SLICE)
        query = exp.select(*keys, label, *values).from_(step).group_by(*keys, exp.column(SLICE))
        return ordered(query, [*keys, exp.column(SLICED_BY)]) if is_final else query

    def _over_queries(self, base: str | None) -> list[Part]:
        """Add the metrics that have a value per query of a group: a row for each, then one per group."""
        columns = [column for column in self.columns if column.unit == "query"]
        if not columns or base is None:
            return []
        start = self._scan(self.relations.read(base, {}, per_list=True), "query")
        keys = self._keys[start]
        values = [exp.alias_(if_asked(self.relations, column), column.alias) for column in columns]
        cutoffs = None if keys.is_swept else self.cutoffs
        shown = [key(name, start) for name in keys.columns] + ([] if cutoffs is None else [key(CUTOFF, cutoffs)])
        per_query = swept(exp.select(*shown, *values).from_(start), cutoffs)
        for scan, unit in list(self._units.items()):
            if unit == "query" and scan != start:
                per_query = joined(per_query, start, Part(scan, self._keys[scan]), cutoffs)
        step = self._keep("list_values", per_query, f"one row per {self.list_column} of a group, with its metrics")
        groups = Key(tuple(name for name in keys.columns if name in self.shape.by or name == SLICE), keys.nullable)
        groups = groups if self.cutoffs is None else groups.with_cutoff()
        over = [
            exp.alias_(aggregate(self.relations, column, weighted=False, is_drawn=self.replicates is not None), column.alias)
            for column in columns
        ]
        if self.replicates is not None:
            step = self.replicates.draw(step, per_query, self.list_column, None)
            groups = Key((*groups.columns, REPLICATE), groups.nullable)
        query = grouped(exp.select(*map(key, groups.columns), *over).from_(step), groups)
        return [Part(self._keep("over_queries", query, "one row per group: the metrics of its lists, aggregated"), groups)]
