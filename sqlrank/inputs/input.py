"""An input of a call: a table with what its columns are called here, and which of its rows are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import suggestion
from sqlrank.library.nodes import DOUBLE, INT, nodes
from sqlrank.statement.keys import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.engines.database import Table
    from sqlrank.library.roles import Role


@dataclass
class Input:
    """One input of a call.

    ``names`` maps canonical and ``by`` names to columns of the table, ``computed`` to expressions over them, which have types, too;
    ``by`` are the columns that tell groups apart, under their names in the statement; ``where`` keeps only some rows, and so do
    ``valued``, columns of which no row that is read is NULL. ``as_text`` are columns that are read as texts; ``checks`` is the file of its rules; ``is_labelled`` says that judgments are read off the labels of predictions.
    """

    role: Role
    table: Table
    checks: Path | None = None
    names: dict[str, str] = field(default_factory=dict)
    computed: dict[str, exp.Expr] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    by: list[str] = field(default_factory=list)
    where: exp.Expr | None = None
    valued: list[str] = field(default_factory=list)
    as_text: set[str] = field(default_factory=set)
    is_labelled: bool = False

    @property
    def shown(self) -> str:
        """The input as messages call it."""
        return f"{self.role.name} ({self.table.shown})"

    def find(self, columns: Mapping[str, str]) -> None:
        """Find the canonical columns among those of the table: those that are mapped, or else have the canonical name."""
        for canonical in self.role.columns:
            given = columns.get(canonical)
            candidates = [given] if self.table.types is None else [given, canonical]
            for candidate in candidates:
                if candidate is not None and (found := self.column(candidate)):
                    self.names.setdefault(canonical, found)

    def column(self, text: str) -> str | None:
        """Return the column that a text names, or the expression that stands for one."""
        return text if text in self.computed else self.table.column(text)

    def need(self, needed: Iterable[str]) -> None:
        """Take needed columns that cannot be looked up as those of their canonical names."""
        if self.table.types is None:
            for canonical in needed:
                self.names.setdefault(canonical, self.table.column(canonical) or canonical)

    def keep(self, condition: exp.Expr) -> None:
        """Read only the rows that fulfil a condition, too."""
        self.where = condition if self.where is None else exp.and_(self.where, condition, copy=False)

    def type_of(self, canonical: str) -> str:
        """Return the DuckDB type that a canonical column is read in, or an empty string if it is not there or not known."""
        if canonical in self.as_text:
            return "VARCHAR"
        theirs = self.names.get(canonical, "")
        return self.types.get(theirs) or (self.table.types or {}).get(theirs, "")

    def said(self, name: str) -> str:
        """Return what messages call a column: a ``by`` column as the table does, others by their canonical names."""
        return self.names[name] if name in self.by else name

    def missing(self, needed: Iterable[str]) -> list[str]:
        """Return a problem for each needed column that is not there."""
        problems = []
        for canonical in needed:
            if canonical not in self.names:
                there = self.table.types or {}
                problems.append(
                    f"{self.shown}: no column {canonical!r}{suggestion(canonical, there)} "
                    f"Say which it is with columns={{{canonical!r}: ...}} (--column {canonical}=...); there are: {', '.join(there)}"
                )
        return problems

    def select(
        self, needed: Iterable[str], score_type: str = "given", shown: bool = False, as_given: bool = False, keeps_null: bool = False
    ) -> exp.Select:
        """Return a SELECT of the needed columns under their canonical names; an optional one that is missing has its default.

        ``shown`` gives the query for the caller's eyes, which does not name what is registered for this call only; ``as_given``
        leaves numbers in their types, ``keeps_null`` reads rows without a value, too.
        """
        items = [_aliased(self.value(name, score_type, as_given), name, quoted=name in self.by) for name in [*self.by, *needed]]
        query = exp.select(*items)
        query = query.where(self.where.copy()) if self.where is not None else query
        query = query if keeps_null else query.where(*(is_there(self.given(name)) for name in self.valued))
        read = {column.name: column.this for column in nodes(query, exp.Column)}
        return _qualified(query.from_(self.table.item(read.values(), shown)))

    def value(self, name: str, score_type: str = "given", as_given: bool = False) -> exp.Expr:
        """Return what a column of the table is read as: numbers that are not doubles, or may not be, are made doubles where it matters."""
        column = self.role.columns.get(name)
        if name not in self.names:
            default = None if column is None else column.default
            return exp.cast(exp.Null() if default is None else exp.Literal.number(default), DOUBLE)
        value = self.given(name)
        kind = self.type_of(name)
        value.type = exp.DataType.build(DOUBLE) if kind == "DOUBLE" else None
        if kind == "BOOLEAN":
            return exp.cast(value, INT)
        if name == "doc_id" and self.table.has_collations and kind == "VARCHAR":
            return exp.Collate(this=value, expression=exp.to_identifier("C", quoted=True))
        if name in self.as_text or kind.startswith("ENUM"):
            return exp.cast(value, "VARCHAR")
        if column is not None and column.is_number:
            is_unknown = self.table.types is None and column.type == "number"
            is_made_one = column.type == "double" and kind != "DOUBLE"
            is_made_one |= name == "score" and score_type != "given" and kind not in {"DOUBLE", "FLOAT"}
            if kind.startswith("DECIMAL") or (not as_given and (is_unknown or is_made_one)):
                value = exp.cast(value, DOUBLE)
        return _single(value) if score_type == "float32" and name == "score" else value

    def given(self, name: str) -> exp.Expr:
        """Return what stands for a column, as it is: an expression, or a column in quotes unless its canonical name says the same."""
        theirs = self.names[name]
        if theirs in self.computed:
            return self.computed[theirs].copy()
        is_bare = self.table.types is None and name not in self.by and theirs == self.table.column(name)
        return exp.column(name) if is_bare else named(theirs)


def compared(inputs: Mapping[str, Input], columns: Mapping[str, Sequence[str]]) -> dict[str, list[tuple[str, str]]]:
    """Return roles and their columns whose values are compared with each other: by what they name, and those that groups are told by."""
    found: dict[str, list[tuple[str, str]]] = {}
    for role, names in columns.items():
        for name in names:
            column = inputs[role].role.columns.get(name)
            if key := column.of if column is not None and name not in inputs[role].by else name:
                found.setdefault(key, []).append((role, name))
    return found


def is_there(value: exp.Expr) -> exp.Not:
    """Return that a value is not NULL."""
    return exp.Not(this=exp.Is(this=value, expression=exp.Null()))


def _aliased(value: exp.Expr, name: str, quoted: bool) -> exp.Expr:
    if isinstance(value, exp.Column) and value.name == name and value.this.quoted == quoted:
        return value
    return exp.alias_(value, exp.to_identifier(name, quoted=quoted))


def _qualified(query: exp.Select) -> exp.Select:
    """Say of which table the columns are, if it has an alias: engines differ in what else a bare name can mean."""
    table = query.args["from_"].this
    if isinstance(table, exp.Table) and table.alias:
        for column in nodes(query, exp.Column):
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
