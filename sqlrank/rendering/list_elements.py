"""Write the elements of list columns, ``CROSS JOIN UNNEST(x) WITH ORDINALITY``, in the idiom of a dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlrank.rendering.dialects import Dialect


def rewrite_list_elements(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite the cross joins of list columns with their elements in place."""
    write = _FORMS[target.list_elements]
    for join in find_nodes(tree, exp.Join) if write else ():
        if isinstance(join.this, exp.Unnest) and isinstance(join.this.args.get("offset"), exp.Identifier):
            write(join.parent, join)  # type: ignore[misc]


def _select_elements(select: Any, join: exp.Join) -> None:
    """Unnest in the SELECT list, which DuckDB does without the join of a lateral subquery."""
    unnest: Any = join.this
    alias, offset, (element,), (values,) = unnest.alias, unnest.args["offset"], unnest.args["alias"].columns, unnest.expressions
    subscripts = exp.Anonymous(this="GENERATE_SUBSCRIPTS", expressions=[values.copy(), exp.Literal.number(1)])
    elements: dict[str, exp.Expr] = {element.name: exp.Unnest(expressions=[values.copy()]), offset.name: subscripts}
    select.args["joins"].remove(join)
    clauses = [*select.expressions, *filter(None, [select.args.get("where")])]
    columns = [column for clause in clauses for column in find_nodes(clause, exp.Column)]
    read_elements = [column for column in columns if column.name in elements and column.table in {"", alias}]
    if select.args.get("where") is None and all(isinstance(column.parent, (exp.Select, exp.Alias, exp.Cast)) for column in read_elements):
        for column in read_elements:
            value = elements[column.name].copy()
            column.replace(exp.alias_(value, column.name) if column.parent is select else value)
        return
    rows = exp.select(
        *dict.fromkeys(column.copy() for column in columns if column not in read_elements),
        *(exp.alias_(value, name) for name, value in elements.items()),
    )
    rows.set("from_", select.args["from_"])
    select.set("from_", exp.From(this=rows.subquery(alias)))
    for column in columns:
        column.set("table", exp.to_identifier(alias))


_FORMS: Mapping[str, Callable[[Any, exp.Join], None] | None] = {"ordinality": None, "select": _select_elements}
"""Rewrites by the value of ``Dialect.list_elements``."""
