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
            kept = exp.select("*").from_(step.this.subquery("once", copy=False)).where("RAND() >= 0")
            kept.comments = [ONCE]
            if keys := _of_lists(step.this):
                kept.set("hint", exp.Hint(expressions=[exp.Anonymous(this="REPARTITION", expressions=keys)]))
            step.set("this", kept)


def _of_lists(step: exp.Query) -> list[exp.Expr]:
    """Return what tells lists apart in a step that has them: kept by these, its readers need not move its rows again.

    Nothing if a name would end the comment that a hint is to other readers.
    """
    names = step.named_selects
    keys = step.selects[: names.index("query_id") + 1] if "query_id" in names else []
    keys = [] if any("*/" in item.alias_or_name for item in keys) else keys
    return [exp.column(item.args["alias"].copy() if isinstance(item, exp.Alias) else item.this.copy()) for item in keys]
