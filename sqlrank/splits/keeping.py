"""Which rows of a split are kept: what is tested may be of users and items that the training part does not have, or does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError, suggestion
from sqlrank.library.nodes import nodes
from sqlrank.library.selects import read_select

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import Table

COLD = {"keep": (), "drop_users": ("users",), "drop_items": ("items",), "drop": ("users", "items")}
SEEN = {"keep": (), "drop": ("pairs",)}
STEP = "split_rows"


@dataclass(frozen=True)
class Keeping:
    """Which rows are left out: the joins of ``sql/splits/kept.sql`` that find them, and the columns of users and items by what they are there."""

    joins: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Keeping:
        """Return what is asked for; raise ``MetricError`` for what is not possible, or without a column of users or items that it needs."""
        for name, values in (("cold", COLD), ("seen", SEEN)):
            if asked[name] not in values:
                raise MetricError(f"unknown {name} {asked[name]!r}{suggestion(str(asked[name]), values)} Choose from: {', '.join(values)}")
        joins = (*COLD[asked["cold"]], *SEEN[asked["seen"]])
        if not joins:
            if asked["user"] is not None:
                raise MetricError("user= is for cold= and seen=")
            return cls()
        if asked["folds"] is not None:
            raise MetricError(
                "cold= and seen= compare what is tested with what is trained on, which folds do not say; give shares= or bounds="
            )
        columns = {"user_id": asked["user"] or asked["key"], "item_id": asked["item"]}
        needed = {"users": ("user_id",), "items": ("item_id",), "pairs": ("user_id", "item_id")}
        read = {column for join in joins for column in needed[join]}
        for column, option in (("user_id", "user"), ("item_id", "item")):
            if column in read and columns[column] is None:
                raise MetricError(f"cold= and seen= need {option}=, the column of {option}s")
        return cls(joins, {column: theirs for column, theirs in columns.items() if column in read})

    def query(self, rows: exp.Query, table: Table, first: str, into: str, has_folds: bool) -> exp.Query:
        """Return the rows of a split that are kept; ``first`` is the part that is trained on, ``into`` the column of parts."""
        if not self.joins:
            return rows
        query: Any = exp.replace_placeholders(read_select("splits", "kept.sql"), first=exp.Literal.string(first))
        query.set("joins", [join for join in query.args["joins"] if join.alias_or_name in self.joins])
        where = query.args["where"].this
        wanted = [part for part in where.expression.unnest().flatten() if _alias(part) in self.joins]
        query.set("where", exp.Where(this=exp.or_(where.this, exp.and_(*wanted, wrap=False), copy=False)))
        names = {name: str(table.column(theirs) or theirs) for name, theirs in self.columns.items()} | {"split": into}
        for column in list(nodes(query, exp.Column)):
            if column.name == "fold" and not has_folds and column.root() is query:
                _leave_out(column)
            elif column.name in names:
                column.set("this", exp.to_identifier(names[column.name], quoted=True))
        kept: exp.Query = query.with_(STEP, as_=rows, copy=False)
        return kept


def _alias(condition: exp.Expr) -> str:
    """Return which source a condition is on."""
    found = condition.find(exp.Column)
    return found.table if found is not None else ""


def _leave_out(column: exp.Column) -> None:
    """Take a column that is not there out of what is selected, grouped by and compared."""
    user = column.parent
    if isinstance(user, exp.EQ) and isinstance(user.parent, exp.And):
        user.parent.replace(user.parent.expression)
    else:
        (user if isinstance(user, exp.Alias) else column).pop()
