"""Fuse the files of the metrics asked for into one statement that takes each shared step once."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.bind import Binder
from sqlrank.contract import INPUTS
from sqlrank.errors import MetricError
from sqlrank.keys import KEY, carry, expand, key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.library import Library
    from sqlrank.metric import Value
    from sqlrank.settings import Asked
    from sqlrank.sqlfile import SqlFile


_OF_RANKINGS = {"score_type", "unjudged"}
"""Settings that mean nothing to metrics of predictions."""


@dataclass(frozen=True)
class Source:
    """An input as the statement reads it: a FROM item and the ``by`` columns it has."""

    node: exp.Table | exp.Subquery
    by: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Column:
    """One column of the per-query result: an alias in the statement and what it holds.

    ``is_of_queries`` says that a value per query of a group is still to be aggregated.
    """

    alias: str
    asked: Asked
    scan: str
    is_of_queries: bool = False


class Composer:
    """Builds the relations of one statement; used once.

    A relation is identified by its tree after parameters and functions are in place: metrics whose relations have the
    same tree share one CTE, and one GROUP BY.
    """

    def __init__(self, library: Library, sources: Mapping[str, Source], by: list[str]) -> None:
        self.library = library
        self.sources = sources
        self.by = by
        self.is_grouped = "predictions" in sources
        self.binder = Binder(library)
        self.ctes: dict[str, exp.Query] = {}
        self.titles: dict[str, str] = {}
        self.costly: set[str] = set()
        self.scans: dict[str, exp.Select] = {}
        self.query_scans: dict[str, exp.Select] = {}
        self.columns: list[Column] = []
        self._names: dict[exp.Query, str] = {}
        self._carried: dict[str, list[str]] = {name: source.by for name, source in sources.items()}
        self._built: dict[str, list[tuple[dict[str, Value | None], str]]] = {}

    def add(self, asked: Asked) -> Column:
        """Add a metric and everything it reads; return the column of its value per list."""
        self.binder.used = {"aggregate", "no_relevant", "score_type"}
        value, source = self._bind_metric(asked)
        cte = self.relation(source, asked.settings)
        self._check_ties(asked)
        self._check_unused(asked)
        self.binder.note(asked.file)
        is_of_queries = self._is_of_queries(asked)
        scan = self._query_scan(cte) if is_of_queries else self._scan(cte, asked.settings)
        column = Column(self._free_alias(asked.metric.slug), asked, scan, is_of_queries)
        (self.query_scans if is_of_queries else self.scans)[scan].select(exp.alias_(value, column.alias), copy=False)
        self.columns.append(column)
        return column

    def add_curve(self, asked: Asked) -> str:
        """Add a curve and everything it reads; return the name of its CTE."""
        self.binder.used = set()
        cte = self._build(asked.file, asked.settings)
        self._check_unused(asked)
        return cte

    def add_audit(self, audit: exp.Select, settings: Mapping[str, Value]) -> str:
        """Add the columns that the checks of the input read; return the scan they are in."""
        scan = self._scan(self.relation(audit.args["from_"].this.name, settings), settings)
        for column in audit.selects[1:]:
            self.scans[scan].select(column.copy(), copy=False)
        return scan

    def groups(self) -> str:
        """Return the scan that has a row for every group of predictions."""
        return self._scan("predictions", {})

    def queries(self) -> str:
        """Return the scan that has a row for every query of a group of predictions."""
        return self._query_scan("predictions")

    def lists(self, settings: Mapping[str, Value]) -> str:
        """Return the name of the CTE with one row per list to evaluate."""
        return self.relation("lists", settings)

    def function(self, slot: str, settings: Mapping[str, Value], *arguments: exp.Expr) -> exp.Expr:
        """Return the body of the function that fills a slot, applied to arguments."""
        return self.binder.apply(slot, list(arguments), settings)

    def _scan(self, cte: str, settings: Mapping[str, Value]) -> str:
        """Return the name of the one GROUP BY over a relation."""
        scan = self._free_name(f"by_{cte}")
        if scan not in self.scans and self.is_grouped:
            self.scans[scan] = self._grouped(cte, self.by, {})
            self.titles[scan] = "one row per group: the metrics that read this relation"
        if scan not in self.scans:
            keys = ["list_id"] if settings.get("numbering") != "plain" else [*self.by, KEY]
            columns = [exp.column(exp.to_identifier(key, quoted=key in self.by)) for key in keys]
            self.scans[scan] = exp.select(*columns).from_(cte).group_by(*columns)
            self.titles[scan] = "one row per list: the metrics that read this relation"
        return scan

    def _is_of_queries(self, asked: Asked) -> bool:
        """Whether the queries of a group have values of their own, and its file does not say itself what becomes of them."""
        return asked.settings.get("level") == "query" and "level" not in asked.file.choices and KEY not in self.by

    def _query_scan(self, cte: str) -> str:
        """Return the name of the one GROUP BY of queries over a relation."""
        scan = self._free_name(f"{cte}_of_queries")
        if scan not in self.query_scans:
            self.query_scans[scan] = self._grouped(cte, [*self.by, KEY], {"level": "query"})
            self.titles[scan] = "one row per query of a group: the metrics that read this relation"
        return scan

    def _grouped(self, cte: str, keys: list[str], settings: Mapping[str, Value]) -> exp.Select:
        source = self._source(cte, cte, settings) if cte in self.sources else exp.to_table(cte)
        scan = exp.select(*map(key, keys)).from_(source)
        return scan.group_by(*map(key, keys)) if keys else scan

    def _bind_metric(self, asked: Asked) -> tuple[exp.Expr, str]:
        value = asked.file.tree.selects[-1].unalias()
        source: str = asked.file.tree.args["from_"].this.name
        many = [param for param in asked.file.params.values() if param.type == "numbers"]
        if not many:
            return self.binder.bind(value, asked.settings, asked.file.params), source
        given = asked.settings[many[0].name]
        points = given if isinstance(given, tuple) else (given,)
        each = [self.binder.bind(value, {**asked.settings, many[0].name: point}, asked.file.params) for point in points]
        total = each[0]
        for term in each[1:]:
            total = exp.Add(this=total, expression=term)
        return exp.Div(this=exp.paren(total), expression=exp.Literal.number(len(each))), source

    def relation(self, name: str, settings: Mapping[str, Value]) -> str:
        """Return the name of the CTE for a relation under these settings, adding it and what it reads."""
        if name in self.sources:
            return name
        for read, cte in self._built.get(name, []):
            if all(settings.get(setting) == value for setting, value in read.items()):
                self.binder.used |= read.keys()
                return cte
        outer, self.binder.used = self.binder.used, set(self.library.policies)
        cte = self._build(self.library.relation(name, settings), settings)
        self._built.setdefault(name, []).append(({setting: settings.get(setting) for setting in self.binder.used}, cte))
        self.binder.used |= outer
        return cte

    def _build(self, file: SqlFile, settings: Mapping[str, Value]) -> str:
        tree: Any = self.binder.bind(file.tree, settings, file.params)
        if settings.get("numbering") == "plain" and not self.is_grouped:
            _use_query_id(tree)
        for table in list(tree.find_all(exp.Table)):
            if table.name in self.sources:
                table.replace(self._source(table.name, table.alias_or_name, settings))
            else:
                self._read_relation(table, settings)
        carries = (expand if self.is_grouped else carry)(tree, self._carried)
        if file.name == "topics":
            tree, carries = self._cross_by(tree, carries)
        if tree not in self._names:
            cte = self._free_name(file.name)
            self._names[tree] = cte
            self.ctes[cte] = tree
            self.titles[cte] = file.sentence
            if file.is_costly:
                self.costly.add(cte)
            self._carried[cte] = carries
            self.binder.note(file)
        return self._names[tree]

    def _free_alias(self, slug: str) -> str:
        """Return an alias that no other metric has: ``CG(gain={1: 2.3})`` and ``CG(gain={1.2: 3})`` have the same slug."""
        taken = {column.alias for column in self.columns}
        return _free(slug, taken)

    def _free_name(self, name: str) -> str:
        """Return a CTE name that neither another CTE nor a table of the caller has."""
        taken = {*self.ctes, *(table.name.lower() for source in self.sources.values() for table in source.node.find_all(exp.Table))}
        return _free(name, taken)

    def _read_relation(self, table: exp.Table, settings: Mapping[str, Value]) -> None:
        cte = self.relation(table.name, settings)
        if cte != table.name:
            table.replace(exp.alias_(exp.to_table(cte), table.alias_or_name, table=True))

    def _source(self, name: str, alias: str, settings: Mapping[str, Value]) -> exp.Expr:
        """Return the FROM item of an input, with what tells its groups apart: under ``level=query`` the query, too."""
        source = self.sources[name if settings.get("level") != "query" else f"{name} of queries"]
        node = source.node.copy()
        node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        if isinstance(node, exp.Subquery):
            node.set("carries", source.by)
        else:
            self._carried[node.name] = source.by
        return node

    def _cross_by(self, tree: exp.Query, carries: list[str]) -> tuple[exp.Query, list[str]]:
        """Ask every query of every system: cross the queries with the ``by`` columns that only the run has."""
        missing = [name for name in self.by if name not in carries and name in self.sources["run"].by]
        if not missing:
            return tree, carries
        columns = [key(name) for name in missing]
        run = self.sources["run"].node.copy()
        if not run.alias:
            run.set("alias", exp.TableAlias(this=exp.to_identifier("run")))
        groups = exp.select(*columns).from_(run).group_by(*columns).subquery("systems")
        kept = [key(name, "asked") for name in carries]
        crossed = [key(name, "systems") for name in missing]
        joined = exp.select(*kept, *crossed, exp.column(KEY, table="asked")).from_(tree.subquery("asked")).join(groups, join_type="cross")
        return joined, [*carries, *missing]

    def _check_ties(self, asked: Asked) -> None:
        """Refuse the expectation over ties for a metric that is not a sum over documents."""
        if self.is_grouped:
            return
        is_share_of_hits = asked.settings.get("denominator") == "hits"
        if asked.settings.get("ties") == "expected" and (is_share_of_hits or not self._is_linear(asked.file, asked.settings)):
            rankings = (file for file in self.library.metrics.values() if "predictions" not in self.library.inputs(file))
            linear = sorted(file.display_name for file in rankings if self._is_linear(file, asked.settings))
            raise MetricError(
                f"ties='expected' is not defined for {asked.metric}, which is not a sum over documents; it is for: {', '.join(linear)}. "
                "Choose another value of ties, such as doc_desc"
            )

    def _is_linear(self, metric: SqlFile, settings: Mapping[str, Value]) -> bool:
        """Whether a metric, or else the relation it reads, weighs documents by their ``chance``, or no document is judged."""
        relation = self.library.relation(metric.tree.args["from_"].this.name, settings)
        reader = metric if "chance" in relation.tree.named_selects else relation
        return any(column.name == "chance" for column in reader.tree.find_all(exp.Column)) or not self._reads_judged(relation, settings)

    def _reads_judged(self, relation: SqlFile, settings: Mapping[str, Value]) -> bool:
        names = {table.name for table in relation.tree.find_all(exp.Table)} - INPUTS
        return "judged" in names or any(self._reads_judged(self.library.relation(name, settings), settings) for name in names)

    def _idle_policies(self, file: SqlFile) -> set[str]:
        """The policies that choose between files of relations of which a metric reads none."""
        reads = self.library.reads(file)
        chosen = {
            policy: {relation for value in description["values"].values() for relation in value} - {"about"}
            for policy, description in self.library.policies.items()
        }
        return {policy for policy, relations in chosen.items() if relations and not relations & reads}

    def _check_unused(self, asked: Asked) -> None:
        if not asked.metric.params:
            return
        at = asked.file.at.name if asked.file.at else None
        takes = self.binder.used | set(asked.file.params) | set(asked.file.choices)
        aggregate = str(asked.settings.get("aggregate", "mean"))
        takes |= set(self.library.function("aggregate", aggregate).params)
        takes -= {"level", *self.library.own_choices, *self._idle_policies(asked.file)} - asked.file.choices.keys()
        if self.is_grouped:
            takes -= _OF_RANKINGS if self._is_of_queries(asked) else {*_OF_RANKINGS, "aggregate"}
            takes |= {"level"} if asked.file.kind == "metrics" else set()
        unknown = [name for name, _ in asked.metric.params if name not in takes]
        if unknown:
            known = sorted(name for name in takes if name != at and name not in {"numbering", "queries"})
            raise MetricError(f"{asked.file.display_name} has no parameter {unknown[0]!r}; it takes: {', '.join(known)}")


def _free(name: str, taken: set[str]) -> str:
    candidates = (f"{name}_{number}" if number > 1 else name for number in count(1))
    return next(candidate for candidate in candidates if candidate not in taken)


def _use_query_id(tree: exp.Expr) -> None:
    """Turn the number of a list back into the id of its query."""
    for identifier in tree.find_all(exp.Identifier):
        if identifier.name == "list_id":
            identifier.set("this", KEY)
    for select in tree.find_all(exp.Select):
        seen: dict[str, exp.Expr] = {}
        for column in select.expressions:
            seen.setdefault(column.alias_or_name, column)
        select.set("expressions", list(seen.values()))
