"""The inputs of a call: FROM items with the columns they have, under the names that the statement knows them by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compose import Source
from sqlrank.errors import suggestion
from sqlrank.keys import named
from sqlrank.request import Labelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlrank.database import Database

COLUMNS = {
    "run": ("query_id", "doc_id", "score", "rank"),
    "qrels": ("query_id", "doc_id", "relevance"),
    "queries": ("query_id", "weight"),
    "predictions": ("label", "score", "weight", "query_id", "doc_id", "rank"),
    "training": ("label", "query_id", "features", "row_id", "feature", "value"),
}
"""The columns of each input under their canonical names."""

MEASURES = {"run": "score", "qrels": "relevance"}
"""The column of an input that says something of a document, and so never what it is grouped by."""


NUMERIC = ("score", "rank", "relevance", "weight", "label", "value")
"""The columns that are computed with; the others only tell rows apart."""


@dataclass
class Input:
    """One input: the item that stands in FROM, its columns with their types, and what they are called here.

    ``names`` maps a canonical or ``by`` name to the column of the source; ``where`` keeps only some rows; ``origin`` is the
    item as the caller could write it, where that differs; ``computed`` are expressions that stand for columns, ``as_text`` the
    columns that are read as texts. ``has_collations`` says that texts are not ordered byte by byte unless asked to be.
    """

    role: str
    shown: str
    node: exp.Expr
    types: dict[str, str]
    names: dict[str, str] = field(default_factory=dict)
    by: list[str] = field(default_factory=list)
    where: exp.Expr | None = None
    is_labelled: bool = False
    computed: dict[str, exp.Expr] = field(default_factory=dict)
    is_empty: bool = False
    as_text: set[str] = field(default_factory=set)
    origin: exp.Expr | None = None
    has_collations: bool = False

    def map(self, columns: Mapping[str, str], by: Iterable[str], internal: Mapping[str, str]) -> None:
        """Find the canonical and ``by`` columns among those of the source."""
        wanted = COLUMNS[self.role]
        for canonical in wanted:
            for candidate in (columns.get(canonical), canonical):
                if candidate is not None and (found := self.column(candidate)):
                    self.names.setdefault(canonical, found)
        label = columns.get("label") or columns.get("relevance") or "label"
        if self.is_labelled and (found := self.column(label) or self.names.get("relevance")):
            self.names["relevance"] = found
            self.keep(exp.Not(this=exp.Is(this=named(found), expression=exp.Null())))
        for name in by:
            found = self.column(columns.get(name, name))
            if found and found != self.names.get(MEASURES.get(self.role, "")):
                self.names[internal[name]] = found
                self.by.append(internal[name])

    def keep(self, condition: exp.Expr) -> None:
        """Read only the rows that fulfil a condition, too."""
        self.where = condition if self.where is None else exp.and_(self.where, condition)

    def column(self, name: str) -> str | None:
        """Return the column of this name, exactly or but for case."""
        if name in self.types:
            return name
        return next((column for column in self.types if column.lower() == name.lower()), None)

    def type_of(self, canonical: str) -> str:
        """Return the DuckDB type that a canonical column is read in, or an empty string if it is not there."""
        if canonical in self.as_text:
            return "VARCHAR"
        return self.types.get(self.names.get(canonical, ""), "")

    def missing(self, needed: Iterable[str]) -> list[str]:
        """Return a problem for each needed column that is not there."""
        problems = []
        for canonical in needed:
            if canonical not in self.names:
                hint = suggestion(canonical, self.types)
                there = ", ".join(self.types)
                problems.append(
                    f"{self.role} ({self.shown}): no column {canonical!r}{hint} "
                    f"Say which it is with columns={{{canonical!r}: ...}} (--column {canonical}=...); there are: {there}"
                )
        return problems

    def select(self, needed: Iterable[str], float32: bool = False, shown: bool = False) -> exp.Select:
        """Return a SELECT of the needed columns under their canonical names; an optional one that is missing is NULL.

        ``shown`` gives the query for the caller's eyes, which does not name what is registered for this call only.
        """
        items = [exp.alias_(self._value(name, float32), exp.to_identifier(name, quoted=name in self.by)) for name in [*self.by, *needed]]
        query = exp.select(*items).from_((self.origin if shown and self.origin is not None else self.node).copy())
        return qualified(query.where(self.where.copy()) if self.where is not None else query)

    def source(self, needed: Iterable[str], float32: bool = False) -> Source:
        """Return this input as the statement reads it."""
        return Source(self.select(needed, float32).subquery(), self.by)

    def _value(self, name: str, float32: bool) -> exp.Expr:
        if name not in self.names:
            return exp.cast(exp.Literal.number(1) if name == "weight" else exp.Null(), "DOUBLE")
        theirs = self.names[name]
        column = self.computed[theirs].copy() if theirs in self.computed else named(theirs)
        if self.type_of(name) == "BOOLEAN":
            return exp.cast(column, "INT")
        if name == "doc_id" and self.has_collations and self.type_of(name) == "VARCHAR":
            return exp.Collate(this=column, expression=exp.to_identifier("C", quoted=True))
        if name in self.as_text or self.type_of(name).startswith("ENUM"):
            return exp.cast(column, "VARCHAR")
        if name in NUMERIC and self.type_of(name).startswith("DECIMAL"):
            return exp.cast(column, "DOUBLE")
        return _single(column) if float32 and name == "score" else column


class Inputs:
    """The inputs of one call on one database; ``find`` resolves a source that is given for a role."""

    def __init__(self, database: Database, find: Callable[[str, Any], Input]) -> None:
        self.database = database
        self.found: dict[str, Input] = {}
        self.internal: dict[str, str] = {}
        self._find = find

    def add(self, role: str, source: Any) -> None:
        """Resolve a source."""
        is_labelled = isinstance(source, Labelled)
        self.found[role] = self._find(role, source.source if is_labelled else source)
        self.found[role].is_labelled = is_labelled


def qualified(query: exp.Select) -> exp.Select:
    """Say of which table the columns are, if it has an alias: engines differ in what else a bare name can mean."""
    table = query.args["from_"].this
    if isinstance(table, exp.Table) and table.alias:
        for column in query.find_all(exp.Column):
            column.set("table", exp.to_identifier(table.alias))
    return query


def _single(score: exp.Expr) -> exp.Expr:
    """Return a score in single precision, where what is too large is infinite."""
    case = exp.Case(default=exp.cast(score, "FLOAT"))
    for sign, beyond in (("", exp.GTE), ("-", exp.LTE)):
        limit = exp.Literal.number(f"{sign}3.4028235677973366e38")
        case.append(
            "ifs", exp.If(this=beyond(this=score.copy(), expression=limit), true=exp.cast(exp.Literal.string(f"{sign}inf"), "FLOAT"))
        )
    return case
