"""A metric's expression taken apart into aggregates, which merge, and a formula over them."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.statement.influence import averages

if TYPE_CHECKING:
    from collections.abc import Mapping

MERGED_BY: Mapping[type[exp.Expr], type[exp.AggFunc]] = {exp.Sum: exp.Sum, exp.Count: exp.Sum, exp.Min: exp.Min, exp.Max: exp.Max}
"""What merges the values of an aggregate over parts of the rows."""

OF_ORDERS: Mapping[str, type[exp.AggFunc]] = {"positives": exp.Sum, "negatives": exp.Sum, "score_min": exp.Min, "score_max": exp.Max}
"""What is added up of a bin, and how."""

OF_SUMS = re.compile(r"(sum|count|min|max)_(\w+_)?[0-9a-f]{8}")
"""The name of a column that holds an aggregate: its words and eight digits."""

LONGEST = 40
"""Characters of an aggregate that stand in the name of its column, which PostgreSQL cuts at 63."""


def split(value: exp.Expr) -> tuple[dict[str, exp.Expr], exp.Expr] | None:
    """Return the aggregates of an expression by the names of their columns, and the formula that merges and puts them together.

    None for an aggregate that does not merge.
    """
    holder = exp.Paren(this=averages(value))
    found: dict[str, exp.Expr] = {}
    for node in list(holder.find_all(exp.AggFunc)):
        merge = MERGED_BY.get(type(node))
        if merge is None or node.find_ancestor(exp.AggFunc) is not None or isinstance(node.this, exp.Distinct):
            return None
        name = column_of(node)
        found[name] = node.copy()
        node.replace(merge(this=exp.column(name)))
    return found, holder.this


def merge_of(name: str) -> type[exp.AggFunc] | None:
    """Return what merges the values of a column of this name, None if it does not hold an aggregate.

    >>> merge_of("count_12345678") is exp.Sum, merge_of("max_score_12345678") is exp.Max, merge_of("day")
    (True, True, None)
    """
    found = OF_SUMS.fullmatch(name.lower())
    return None if found is None else {"min": exp.Min, "max": exp.Max}.get(found[1], exp.Sum)


def column_of(aggregate: exp.Expr) -> str:
    """Return the name of the column that holds an aggregate: its words, and eight digits that tell it from any other."""
    text = aggregate.sql("duckdb")
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:LONGEST].strip("_")
    return f"{words}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
