"""Which steps of a statement an engine computes once for all that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.library.nodes import nodes

if TYPE_CHECKING:
    from sqlrank.engines.dialects import Dialect

ONCE = "RAND makes Spark compute this once for all that read it: it repeats what is deterministic"


def compute_once(tree: exp.Expr, target: Dialect, keeps: bool) -> None:
    """Make the costly steps that several others read such that an engine which repeats steps computes them once.

    A step that reads an input is not to be kept by an engine that would: it is only names and a filter.
    """
    steps = tree.find(exp.With)
    read = [table.name for table in nodes(tree, exp.Table)]
    for step in steps.expressions if steps else ():
        wanted = step.args.pop("materialized", None)
        if wanted is None or read.count(step.alias) == 1:
            continue
        if not wanted and target.copies_steps:
            step.set("materialized", False)  # noqa: FBT003  sqlglot's flag
        elif wanted and keeps:
            step.set("materialized", True)  # noqa: FBT003  sqlglot's flag
        elif wanted and target.repeats:
            step.set("this", _once(step.this))


def _once(query: exp.Query) -> exp.Select:
    """Return a query that is computed once; what is of lists is kept by list, so that its readers need not move its rows again.

    A hint alone would be passed over where rows stand by list already, and readers would repeat all that comes after the last move of
    rows. A key that is made anew does not show that.
    """
    kept = exp.select("*").from_(query.subquery("once", copy=False)).where("RAND() >= 0")
    kept.comments = [ONCE]
    if number := _keys(query.named_selects):
        columns = [exp.column(item.args["alias"].copy() if isinstance(item, exp.Alias) else item.this.copy()) for item in query.selects]
        keys = columns[:number]
        made = [exp.alias_(_anew(column), column.this.copy()) for column in keys]
        kept.set("expressions", [*made, *columns[number:]])
        kept.set("hint", exp.Hint(expressions=[exp.Anonymous(this="REPARTITION", expressions=[key.copy() for key in keys])]))
    return kept


def _keys(names: list[str]) -> int:
    """Return how many columns, the first ones, tell lists apart: none if a name would end the comment that a hint is to other readers."""
    number = names.index("query_id") + 1 if "query_id" in names else 0
    return 0 if any("*/" in name for name in names[:number]) else number


def _anew(key: exp.Column) -> exp.Expr:
    """Return a key as it is, in words that Spark does not see through."""
    return exp.Anonymous(this="ELEMENT_AT", expressions=[exp.Array(expressions=[key.copy()]), exp.Literal.number(1)])
