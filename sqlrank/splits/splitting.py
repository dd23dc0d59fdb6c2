"""How rows are split, as it was asked for, and the statement that does it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.database import stacked
from sqlrank.errors import InputError, MetricError, suggestion
from sqlrank.library.selects import read_select
from sqlrank.splits.keeping import Keeping
from sqlrank.splits.parts import TRAIN_AND_TEST, bounds_of, chosen, ends, folds_of, shares_of, ticket

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import Table

FOLD = "fold"
INEXACT = ("DOUBLE", "FLOAT", "DECIMAL", "REAL")
"""Types of which engines write the same value as different texts."""


@dataclass(frozen=True)
class Splitting:
    """How rows are split: a file of ``sql/splits``, the columns that it reads by what they are there, and the names and limits of parts."""

    kind: str
    columns: Mapping[str, str]
    names: Sequence[str | int]
    limits: Sequence[exp.Expr]
    values: Mapping[str, exp.Expr]
    into: str
    keeping: Keeping = field(default_factory=Keeping)

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Splitting:
        """Return what is asked for; raise ``MetricError`` for what does not go together."""
        if asked["rolling"] not in {True, False}:
            raise MetricError(f"rolling={asked['rolling']!r} is not possible: give True or False")
        keeping = Keeping.of(asked)
        if asked["last"] is not None:
            return replace(cls._last(asked), keeping=keeping)
        if keeping.joins:
            asked = {**asked, "item": None}
        return replace(cls._by_ticket(asked) if asked["time"] is None else cls._by_time(asked), keeping=keeping)

    @classmethod
    def _by_ticket(cls, asked: Mapping[str, Any]) -> Splitting:
        _refuse(asked, ("bounds", "rolling", "item"), "need time=, the column that they are of")
        if asked["key"] is None:
            raise MetricError("name the column that is split by, key='user_id', or time= and its bounds")
        salt = asked["salt"]
        if not salt or not any(letter.isalpha() for letter in salt):
            raise MetricError(
                f"salt={salt!r} is not possible: give the purpose of the split a name, such as salt='checkout'; one salt splits one way"
            )
        if (asked["shares"] is None) is (asked["folds"] is None):
            raise MetricError("give shares={'train': 0.8, 'test': 0.2} or folds=10")
        shares: dict[Any, Any] = shares_of(asked["shares"]) if asked["folds"] is None else folds_of(asked["folds"])
        into = asked["into"] or ("split" if asked["folds"] is None else FOLD)
        columns, values = {"key": asked["key"]}, {"salt": exp.Literal.string(f"{salt}:")}
        found = ends(list(shares.values()))
        if not asked["exact"]:
            _refuse(asked, ("stratum",), "need exact=True")
            return cls("hash", columns, list(shares), [exp.Literal.string(ticket(end)) for end in found], values, into)
        if asked["stratum"] is not None:
            columns["stratum"] = asked["stratum"]
        return cls("exact", columns, list(shares), [exp.convert(float(end)) for end in found], values, into)

    @classmethod
    def _by_time(cls, asked: Mapping[str, Any]) -> Splitting:
        _refuse(asked, ("key", "salt", "folds", "exact", "stratum", "item"), "are not for a split by time alone")
        columns, into = {"time": asked["time"]}, asked["into"] or "split"
        if asked["bounds"] is None:
            _refuse(asked, ("rolling",), "need bounds=")
            shares = shares_of(asked["shares"])
            # A row is in a part as long as the share of rows up to it is not above its end.
            limits = [exp.convert(float(end) + 1e-12) for end in ends(list(shares.values()))]
            return cls("time_share", columns, list(shares), limits, {}, into)
        bounds = bounds_of(asked["bounds"])
        if asked["rolling"]:
            _refuse(asked, ("shares",), "are not for rolling=True")
            return cls("rolling", columns, TRAIN_AND_TEST, bounds, {}, into)
        names = list(asked["shares"] or TRAIN_AND_TEST)
        if len(names) != len(bounds) + 1:
            raise MetricError(
                f"{len(bounds)} bounds make {len(bounds) + 1} parts; name as many: shares={{'train': ..., 'test': ...}} says their names"
            )
        return cls("time", columns, names, bounds, {}, into)

    @classmethod
    def _last(cls, asked: Mapping[str, Any]) -> Splitting:
        _refuse(asked, ("salt", "folds", "exact", "stratum", "shares", "bounds", "rolling"), "are not for last=")
        last = asked["last"]
        if isinstance(last, bool) or not isinstance(last, int) or last < 1:
            raise MetricError(f"last={last!r} is not possible: give a whole number from 1")
        if asked["key"] is None or asked["time"] is None:
            raise MetricError("last= needs key=, of which the last rows are test, and time=, which says what is last")
        columns = {"key": asked["key"], "time": asked["time"]} | ({} if asked["item"] is None else {"item": asked["item"]})
        first, second = map(exp.Literal.string, TRAIN_AND_TEST)
        values = {"last": exp.convert(last), "first": first, "second": second}
        return cls("last", columns, TRAIN_AND_TEST, (), values, asked["into"] or "split")

    @property
    def made(self) -> list[str]:
        """The columns that are added."""
        return [*([FOLD] if self.kind == "rolling" else []), self.into]

    def check(self, table: Table) -> None:
        """Refuse columns that are not there, that are made, or that cannot be split by; of what cannot be looked at nothing is known."""
        if table.types is None:
            return
        for name in (*self.columns.values(), *self.keeping.columns.values()):
            if table.column(name) is None:
                raise InputError(f"{table.shown} has no column {name!r}{suggestion(name, table.types)} There are: {', '.join(table.types)}")
        for name in self.made:
            if table.column(name) is not None:
                raise InputError(f"{table.shown} has a column {name!r} already; give the new one another name with into=")
        key = self.columns.get("key")
        kind = table.types[str(table.column(key))].upper() if key is not None and "salt" in self.values else ""
        if kind.startswith(INEXACT):
            raise InputError(f"{key} is {kind}, whose text differs between engines; cast it to a whole number or a text")

    def query(self, table: Table) -> exp.Query:
        """Return the rows of a table that are kept, with the columns that are added."""
        return self.keeping.query(self.all_rows(table), table, str(self.names[0]), self.into, self.kind == "rolling")

    def all_rows(self, table: Table) -> exp.Query:
        """Return the rows of a table with the columns that are added."""
        if self.kind != "rolling":
            return self._select(table, self.values)
        first, second = map(exp.Literal.string, TRAIN_AND_TEST)
        folds = []
        for number, bound in enumerate(self.limits):
            until = self.limits[number + 1] if number + 1 < len(self.limits) else None
            values = {"fold": exp.convert(number), "bound": bound, "first": first, "second": second}
            folds.append(self._select(table, values if until is None else values | {"until": until}, is_open=until is None))
        return exp.select("*").from_(stacked(folds))

    def _select(self, table: Table, values: Mapping[str, exp.Expr], is_open: bool = False) -> exp.Select:
        text = read_select("splits", f"{self.kind}.sql")
        if is_open:
            text.set("where", None)
        bound: Any = exp.replace_placeholders(text, **{name: value.copy() for name, value in values.items()})
        query: exp.Select = bound
        self._name(query, table)
        split = query.selects[-1]
        if self.limits and self.kind != "rolling":
            split.set("this", chosen(split.this, self.limits, self.names))
        split.set("alias", exp.to_identifier(self.into, quoted=True))
        source = query.args["from_"].this
        item = table.item([exp.to_identifier(name, quoted=True) for name in table.types or ()])
        item.set("alias", exp.TableAlias(this=exp.to_identifier("g")))
        source.replace(item)
        return query

    def _name(self, query: exp.Select, table: Table) -> None:
        """Put the caller's columns in the place of those of the file; of those that were not given nothing is left."""
        for column in list(query.find_all(exp.Column)):
            if isinstance(column.this, exp.Star) or column.table != "g":
                continue
            theirs = self.columns.get(column.name)
            if theirs is not None:
                column.set("this", exp.to_identifier(table.column(theirs), quoted=True))
            elif isinstance(column.parent, exp.Ordered):
                column.parent.pop()
            else:
                column.pop()


def _refuse(asked: Mapping[str, Any], names: Sequence[str], why: str) -> None:
    given = [f"{name}=" for name in names if asked[name] is not None and asked[name] is not False]
    if given:
        raise MetricError(f"{' and '.join(given)} {why}")
