"""Read a SELECT of sql/learn, a step of training, over tables of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.registry.query_templates import load_select

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_training_step(name: str, tables: Mapping[str, str | exp.Select]) -> exp.Select:
    """Return the SELECT of a file in sql/learn over tables given as names or queries."""
    tree = load_select("learn", f"{name}.sql")
    for table in list(tree.find_all(exp.Table)):
        source = tables.get(table.name)
        if isinstance(source, exp.Select):
            table.replace(source.subquery(table.alias_or_name))
        elif source is not None:
            table.replace(exp.alias_(exp.to_table(source), table.alias_or_name, table=True))
    return tree
