"""The shared steps of a statement: each input, and each relation that metrics read, once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.library.nodes import nodes
from sqlrank.library.uses import uses
from sqlrank.statement.bind import apply, bind
from sqlrank.statement.expand import Known, expand
from sqlrank.statement.keys import GROUP, LIST, QUERY, SCORED_BY, UNIT, Key, Keys, Ours, extended, key
from sqlrank.statement.rows import sliced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.library.asked import Asked
    from sqlrank.library.file import SqlFile
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value
    from sqlrank.statement.rows import Shape


@dataclass(frozen=True)
class Source:
    """An input as the statement reads it: the query of its step, and the columns that tell groups of its rows apart.

    ``over`` names the source that the query reads instead of a table of the caller's, ``beside`` others that it joins; without a query it
    is that source itself.
    ``list_column`` is the column that tells lists of a group apart, where ``has_lists``: those of rankings are the rows of a relation;
    ``scores`` are what the scores of its rows are called where these are units, by number.
    """

    title: str
    group: Key
    query: exp.Query | None = None
    over: str | None = None
    list_column: str = QUERY
    has_lists: bool = False
    beside: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()


class Relations:
    """The relations of one statement, in the order in which they are read; used once.

    A relation is identified by its tree after parameters and functions are in place: metrics whose relations have the
    same tree share one CTE.
    """

    def __init__(self, library: Library, sources: Mapping[str, Source], shape: Shape) -> None:
        self.library = library
        self.sources = sources
        self.shape = shape
        self.ctes: dict[str, exp.Query] = {}
        self.titles: dict[str, str] = {}
        self.inputs: dict[str, str] = {}
        self.costly: set[str] = set()
        self.found_by: dict[str, str] = {}
        self.learnt: dict[str, str] = {}
        self.cutoffs: str | None = None
        self.first_cutoff = 1
        self.own_cutoffs: str | None = None
        self.drawn: Callable[[str, str], str] | None = None
        self._across: set[str] = set()
        self._keys: dict[str, Keys] = {}
        self._names: dict[exp.Query, str] = {}
        self._built: dict[Any, str] = {}
        queries = (source.query for source in sources.values() if source.query is not None and source.over is None)
        self.taken = {table.name.lower() for query in queries for table in nodes(query, exp.Table) if not table.db}

    def sweep(self, first: int, last: int) -> None:
        """Let what is read from now on have a row per cut-off of a range, where it depends on that."""
        self.cutoffs = self.read("cutoffs", {"first_cutoff": first, "all_cutoffs": last - first + 1})
        self.first_cutoff = first

    def once(self, cutoff: exp.Expr, value: exp.Expr) -> exp.Expr:
        """Return what is the same at every cut-off, in the row of the first alone."""
        is_first = exp.EQ(this=cutoff.copy(), expression=exp.Literal.number(self.first_cutoff))
        return exp.alias_(exp.Case(ifs=[exp.If(this=is_first, true=value)]), value.name)

    def function(self, slot: str, settings: Mapping[str, Value], *arguments: exp.Expr) -> exp.Expr:
        """Return the body of the function that fills a slot, applied to arguments."""
        return apply(self.library, slot, list(arguments), settings)

    def value(self, asked: Asked) -> exp.Expr:
        """Return the expression of a metric; of one that takes several numbers the mean over these."""
        value = asked.file.tree.selects[-1].unalias()
        many = [param for param in asked.file.params.values() if param.type == "numbers"]
        if not many:
            return bind(self.library, value, asked.settings, asked.file.params)
        given = asked.settings[many[0].name]
        settings = ({**asked.settings, many[0].name: point} for point in (given if isinstance(given, tuple) else (given,)))
        each: list[exp.Expr] = [bind(self.library, value, held, asked.file.params) for held in settings]
        total = reduce(lambda one, two: exp.Add(this=one, expression=two), each)
        return exp.Div(this=exp.paren(total), expression=exp.Literal.number(len(each)))

    def units(self, step: str) -> Sequence[str]:
        """Return the columns that tell units apart in the rows of a step: none if each row is one."""
        return self._keys[step].get(UNIT, Key()).columns

    def keys(self, name: str, per_list: bool = False) -> Keys:
        """Return the keys of a step; ``per_list`` makes the lists of a group groups of their own."""
        is_split = per_list and name not in self._across
        return extended(self._keys[name], self.ctes[name].named_selects, self._list_column(name)) if is_split else self._keys[name]

    def _list_column(self, name: str) -> str:
        source = next((self.sources[source] for source, step in self.inputs.items() if step == name), None)
        return source.list_column if source is not None else QUERY

    def read(self, name: str, settings: Mapping[str, Value], per_list: bool = False, rows: str = "") -> str:
        """Return the name of the step for a relation or input under these settings, adding it and what it reads.

        ``rows`` says which rows of an input: ``as given``, ``with duplicates``, or those that are left under the policies.
        """
        if name in self.library.roles:
            file = None if rows else self.library.rows_of(name, settings)
            if file is not None:
                return self.build(file, settings, per_list)
            held = f"{name} {rows}" if f"{name} {rows}" in self.sources else name
            return self.input(f"{held} per slice" if f"{held} per slice" in self.sources else held)
        file = self.library.relation(name, settings)
        per_list = per_list and "Across lists" not in file.facts
        relevant = sorted(uses(self.library, file, settings).settings | self.library.deciders(name).keys())
        mark = (name, per_list, tuple((setting, settings.get(setting)) for setting in relevant))
        if mark not in self._built:
            self._built[mark] = self.build(file, settings, per_list)
        return self._built[mark]

    def input(self, name: str) -> str:
        """Return the name of the step for an input, adding it."""
        if name in self.inputs:
            return self.inputs[name]
        source = self.sources[name]
        below = {over: self.input(over) for over in (source.over, *source.beside) if over is not None}
        if source.query is None:
            self.inputs[name] = below[str(source.over)]
            return self.inputs[name]
        query = source.query.copy()
        for table in nodes(query, exp.Table) if below else ():
            if table.name in below:
                table.replace(renamed(below[table.name], table.alias_or_name))
        keys: Keys = {GROUP: source.group}
        if source.has_lists and source.list_column in query.named_selects:
            keys[LIST] = Key((*source.group.columns, source.list_column), source.group.nullable)
        role = self.library.roles[name.partition(" ")[0]]
        if (unit := role.unit_column or role.list_column) in query.named_selects and role.lists is None:
            keys[UNIT] = Key((Ours(unit),))
        step = name.replace(" ", "_")
        self.inputs[name] = self.add(step if step not in self.taken else f"{step}_rows", query, source.title, keys)
        if self.drawn is not None:
            self.inputs[name] = self.drawn(name, self.inputs[name])
        return self.inputs[name]

    def build(self, file: SqlFile, settings: Mapping[str, Value], per_list: bool = False) -> str:
        """Return the name of the step for a file of a relation or curve."""
        tree: Any = bind(self.library, file.tree, settings, file.params)
        for table in nodes(tree, exp.Table):
            rows = "with duplicates" if table.name == file.name else file.facts.get("Rows", "")
            table.replace(renamed(self.read(table.name, settings, per_list, rows), table.alias_or_name))
        lists = Key((*self.shape.of_lists, QUERY), nullable=True) if self.shape.plain else None
        keys = expand(tree, Known(lambda name: self.keys(name, per_list), lists, self.cutoffs, self.own_cutoffs))
        if "Per score" in file.facts and (source := self.sources[file.reads]).scores and source.query is not None:
            tree = self._per_score(tree, str(source.over), source.query.copy())
        if "Per system" in file.facts:
            tree, keys = self._per_system(tree, keys)
        if "Per slice" in file.facts and self.shape.sets is not None:
            tree, keys = sliced(tree, keys, self.shape)
        if tree not in self._names:
            self._names[tree] = self.add(file.name, tree, f"{file.place}: {file.sentence}", keys)
            for fact, steps in (("Costly", self.costly), ("Across lists", self._across)):
                if fact in file.facts:
                    steps.add(self._names[tree])
            if "Found by" in file.facts:
                self.found_by[self._names[tree]] = file.facts["Found by"]
        return self._names[tree]

    def add(self, name: str, tree: exp.Query, title: str, keys: Keys) -> str:
        """Add a step, and return its name."""
        step = self.free_name(name)
        self.ctes[step] = tree
        self.titles[step] = title
        self._keys[step] = keys
        return step

    def free_name(self, name: str) -> str:
        """Return a name that neither another step nor a table of the caller has."""
        return free(name, {*self.ctes, *self.taken})

    def _per_score(self, tree: exp.Query, over: str, query: exp.Query) -> exp.Query:
        """Let rows learn in one step what windows over each of their scores say, and put what they do below one another."""
        given = self.input(over)
        group = self._keys[given][GROUP].columns
        rows = exp.select(*(key(name) if name in group else exp.column(name) for name in self.ctes[given].named_selects)).from_(given)
        wide = self.free_name(f"{given}_told")
        windows = [item for item in tree.selects if item.find(exp.Window)]
        for part in nodes(query, exp.Select):
            score = next(item.this.name for item in part.selects if item.alias == "score")
            for item in windows:
                learnt = f"{item.alias}{score.removeprefix('score')}"
                rows.select(exp.alias_(_of_score(item.this, score), learnt), copy=False)
                part.select(exp.alias_(exp.column(learnt), item.alias), copy=False)
            part.from_(exp.Table(this=exp.to_identifier(wide)), copy=False)
        self.learnt[given] = self.add(wide, rows, "predictions: with what they learn under each of their scores", self._keys[given])
        self.costly.add(wide)
        return query

    def _per_system(self, tree: exp.Query, keys: Keys) -> tuple[exp.Query, Keys]:
        """Ask every query of every system: cross the queries with the ``by`` columns that only the run has."""
        held = keys[GROUP].columns
        run = self.input("run")
        missing = [name for name in self._keys[run][GROUP].columns if name not in held]
        if not missing:
            return tree, keys
        columns = [key(name) for name in missing]
        systems = exp.select(*columns).from_(run).group_by(*columns).subquery("systems")
        kept = [key(name, "asked") for name in held]
        crossed = [key(name, "systems") for name in missing]
        joined = exp.select(*kept, *crossed, exp.column(QUERY, table="asked")).from_(tree.subquery("asked"))
        return joined.join(systems, join_type="cross"), {GROUP: Key((*held, *missing), nullable=True)}


def renamed(step: str, alias: str) -> exp.Expr:
    """Return a step under the name by which a file reads it."""
    return exp.table_(step, alias=None if step == alias else alias)


def free(name: str, taken: set[str]) -> str:
    """Return a name, with a number if it is taken."""
    candidates = (f"{name}_{number}" if number > 1 else name for number in count(1))
    return next(candidate for candidate in candidates if candidate not in taken)


def _of_score(window: exp.Expr, score: str) -> exp.Expr:
    """Return a window over predictions under one of their scores as one over rows that have them all."""
    window = window.copy()
    for column in [item for item in nodes(window, exp.Column) if item.name == "score"]:
        column.replace(exp.column(score))
    partition = [item for item in window.args.get("partition_by") or [] if item.name != SCORED_BY]
    window.set("partition_by", partition or None)
    return window
