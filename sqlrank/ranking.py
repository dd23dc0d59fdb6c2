"""How the ranks of judged documents are found: by sorting every list, or by counting where few documents are judged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.checks import over
from sqlrank.settings import COUNTABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs import Inputs
    from sqlrank.request import Request
    from sqlrank.settings import Asked

FEW_JUDGED = 3
"""Judged documents of a query, on the average, up to which counting is faster than sorting, whatever the lists' length."""

MOST_JUDGED = 10
"""Judged documents of any query up to which counting cannot be much slower than sorting, should those with many have the longest lists."""

LONG_LISTS = 8
"""How many times as long as the judgments the run has to be for the former to be looked at."""


def with_ranking(request: Request, inputs: Inputs, rows: Mapping[str, int] | None = None) -> Request:
    """Return the request with the way to find ranks that suits the data, where none was asked for; ``rows`` are known numbers of rows."""
    if inputs.database.dialect != "duckdb" or any(not _is_open(item) for item in request.asked) or not _has_few_judged(inputs, rows):
        return request
    return replace(request, asked=[replace(item, settings={**item.settings, "ranking": "counted"}) for item in request.asked])


def _is_open(item: Asked) -> bool:
    return "ranking" not in item.settings and all(item.settings.get(policy, values[0]) in values for policy, values in COUNTABLE.items())


def _is_counted_quickly(node: exp.Expr) -> bool:
    """Whether the number of rows stands somewhere: for tables and Parquet files, not for text or the rows of a query."""
    return node.find(exp.ReadParquet) is not None or isinstance(node.this, exp.Identifier)


def _has_few_judged(inputs: Inputs, rows: Mapping[str, int] | None) -> bool:
    if rows is None:
        if not all(_is_counted_quickly(inputs.found[role].node) for role in ("run", "qrels")):
            return False
        count = exp.select(exp.Count(this=exp.Star()))
        rows = {role: inputs.database.rows(over(count.copy(), inputs.found[role], ("query_id",)))[0][0] for role in ("run", "qrels")}
    if not 0 < LONG_LISTS * rows["qrels"] <= rows["run"]:
        return False
    judged = over(exp.select("COUNT(*) AS judged").group_by("query_id"), inputs.found["qrels"], ("query_id",))
    query = exp.select("AVG(judged)", "MAX(judged)").from_(judged.subquery("counted"))
    ((mean, most),) = inputs.database.rows(query)
    return bool(mean <= FEW_JUDGED and most <= MOST_JUDGED)
