"""Filter test rows for leakage and cold starts: drop those with an unknown user or item, or with a pair seen in train.

Drops test rows whose user or item is unknown in train, or whose pair was seen in train.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError, suggest_choice
from sqlrank.registry.query_templates import load_select
from sqlrank.registry.row_comments import describe_rows
from sqlrank.sql_ast import find_nodes, first_select

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import SourceTable
    from sqlrank.splits.split_request import SplitRequest

COLD_START_RULES = {
    "keep": (),
    "drop_users": ("training_users",),
    "drop_items": ("training_items",),
    "drop": ("training_users", "training_items"),
}
SEEN_PAIR_RULES = {"keep": (), "drop": ("training_pairs",)}
SPLIT_ROWS = "split_rows"


@dataclass(frozen=True)
class LeakageFilter:
    """A leakage filter: the joins of ``sql/splits/without_leakage.sql`` that it needs, and its user and item columns."""

    joins: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_request(cls, request: SplitRequest) -> LeakageFilter:
        """Parse the filter options; raise ``MetricError`` for invalid ones or a missing column."""
        for name, value, rules in (
            ("cold_start", request.cold_start, COLD_START_RULES),
            ("seen_pairs", request.seen_pairs, SEEN_PAIR_RULES),
        ):
            if value not in rules:
                raise MetricError(suggest_choice(f"unknown {name} {value!r}", value, rules))
        joins = (*COLD_START_RULES[request.cold_start], *SEEN_PAIR_RULES[request.seen_pairs])
        if not joins:
            if request.user is not None:
                raise MetricError("user= is for cold_start= and seen_pairs=. The column to split by is key=")
            return cls()
        if request.folds is not None:
            raise MetricError("cold_start= and seen_pairs= need a training part, which folds do not have. Give shares= or time_bounds=")
        columns = {"user_id": request.user or request.key, "item_id": request.item}
        columns_by_join = {"training_users": ("user_id",), "training_items": ("item_id",), "training_pairs": ("user_id", "item_id")}
        needed_columns = {column for join in joins for column in columns_by_join[join]}
        for column, option in (("user_id", "user"), ("item_id", "item")):
            if column in needed_columns and columns[column] is None:
                raise MetricError(f"cold_start= and seen_pairs= need {option}=, the column of {option}s")
        return cls(
            joins, {column: column_name for column, column_name in columns.items() if column_name is not None and column in needed_columns}
        )

    def build_query(self, rows: exp.Query, table: SourceTable, training_part: str, part_column: str, has_folds: bool) -> exp.Query:
        """Return the filtered rows; ``training_part`` names the first part, ``part_column`` the column of parts."""
        if not self.joins:
            return rows
        query: Any = exp.replace_placeholders(load_select("splits", "without_leakage.sql"), first=exp.Literal.string(training_part))
        query.set("joins", [join for join in query.args["joins"] if join.alias_or_name in self.joins])
        where = query.args["where"].this
        conditions = [conjunct for conjunct in where.expression.unnest().flatten() if _find_alias(conjunct) in self.joins]
        query.set("where", exp.Where(this=exp.or_(where.this, exp.and_(*conditions, wrap=False), copy=False)))
        for select in find_nodes(query, exp.Select):
            select.comments = [describe_rows(comment, keys={"fold": ["fold"] if has_folds else []}) for comment in select.comments or []]
        names = {name: str(table.find_column(column_name) or column_name) for name, column_name in self.columns.items()} | {
            "split": part_column
        }
        for column in list(find_nodes(query, exp.Column)):
            if column.name == "fold" and not has_folds and column.root() is query:
                _leave_out(column)
            elif column.name in names:
                column.set("this", exp.to_identifier(names[column.name], quoted=True))
        first_select(rows).comments = [f"One row per row of the source, with its {part_column}."]
        filtered: exp.Query = query.with_(SPLIT_ROWS, as_=rows, copy=False)
        return filtered


def _find_alias(condition: exp.Expr) -> str:
    """Return the table alias that a condition refers to."""
    column = condition.find(exp.Column)
    return column.table if column is not None else ""


def _leave_out(column: exp.Column) -> None:
    """Remove a missing column from the SELECT, GROUP BY and join conditions."""
    user = column.parent
    if isinstance(user, exp.EQ) and isinstance(user.parent, exp.And):
        user.parent.replace(user.parent.expression)
    else:
        (user if isinstance(user, exp.Alias) else column).pop()
