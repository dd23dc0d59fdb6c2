"""How the ranks of judged documents are found: chosen from what metrics read and from cheap facts of the rows."""

from __future__ import annotations

from math import ldexp
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.inputs.checks import over
from sqlrank.library.uses import uses
from sqlrank.plans.probe import PROBED, probed
from sqlrank.statement.first import first_documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.columns import Columns
    from sqlrank.library.asked import Asked
    from sqlrank.question import Question

FEW_JUDGED = 3
"""Judged documents of a query, on the average, up to which counting is faster than sorting, whatever the lists' length."""

MOST_JUDGED = 10
"""Judged documents of any query up to which counting cannot be much slower than sorting, should those with many have the longest lists."""

LONG_LISTS = 8
"""How many times as long as the judgments the run has to be for the former to be looked at."""

TOP_SHARE = 4
"""How many times as long as the first documents that are looked at lists have to be for these to be kept apart: from twice on it is faster."""

WORTHWHILE = 1_000
"""Rows of a run up to which it takes longer to look for a way to rank them than to do it."""

STATE_BYTES = 256
"""Memory that a list takes while its greatest scores are found, beside these, at most."""

MEMORY_SHARE = 4
"""What part of the memory may be taken by greatest scores, which cannot be written to disk: one in so many."""

LONG_TEXTS = 500
"""Documents of a list, on the average, from which on texts that are not sorted save more than it takes to read them once more."""

UNTIED = 0.9
"""Texts are left out of the sort if at least this share of the first ``PROBED`` scores are distinct: tied documents are sorted after it."""


def of_rankings(question: Question) -> list[Asked]:
    """Return the metrics of rankings."""
    return [item for item in question.asked if item.home == "run"]


def first(question: Question, item: Asked) -> int | None:
    """Return how many documents of each list a metric looks at, None if all."""
    return first_documents(question.library, item, {"ranking": "top"})


def firsts(question: Question) -> int | None:
    """Return how many documents of each list the metrics look at, None if at all."""
    found = [first(question, item) for item in of_rankings(question)]
    return None if not found or None in found else max(number for number in found if number is not None)


def ranking(question: Question, columns: Columns, known: Mapping[str, int] | None) -> str:
    """Return how ranks are found: in arrays on Spark; on DuckDB, for inputs whose rows are counted already, as suits them."""
    database, inputs = columns.database, columns.inputs
    if dialect_of(database.dialect).repeats and _is_right(question, "listed"):
        return "listed"
    is_seen = all(role in inputs and inputs[role].table.is_counted for role in ("run", "qrels") if role == "run" or role in inputs)
    if database.dialect != "duckdb" or not database.looks or not of_rankings(question) or not is_seen:
        return "sorted"
    possible = [value for value in ("top", "counted", "scored") if _is_right(question, value)]
    if not possible:
        return "sorted"
    counts = {role: over(exp.select(exp.Count(this=exp.Star())), inputs[role], ("query_id",)) for role in inputs.keys() & {"run", "qrels"}}
    rows = known or {role: database.rows(count)[0][0] for role, count in counts.items()}
    if "top" in possible and _has_long_lists(question, columns, rows["run"]):
        return "top"
    if "counted" in possible and "qrels" in inputs and _has_few_judged(columns, rows):
        return "counted"
    return "scored" if "scored" in possible and _has_long_texts(question, columns, rows["run"]) else "sorted"


def _is_right(question: Question, value: str) -> bool:
    """Whether a way to find ranks is right under the policies of all metrics."""
    only = question.library.plans["ranking"]["values"][value]["only"]
    return all(item.settings.get(policy, values[0]) in values for item in of_rankings(question) for policy, values in only.items())


def _has_long_lists(question: Question, columns: Columns, rows: int) -> bool:
    """Whether lists are long beside the first documents that are looked at, whose scores the memory holds; a run that is grouped first is read once."""
    if question.keeps_one or rows < WORTHWHILE or not (looked_at := firsts(question)) or rows < TOP_SHARE * looked_at:
        return False
    number, memory, threads = _lists(columns)
    return TOP_SHARE * looked_at * number <= rows and MEMORY_SHARE * number * threads * (8 * looked_at + STATE_BYTES) <= _bytes(memory)


def _lists(columns: Columns) -> tuple[int, str, int]:
    """Return about how many lists the run has, and the limits of the database."""
    run = columns.inputs["run"]
    keys = [*(exp.column(exp.to_identifier(name, quoted=True)) for name in run.by), exp.column("query_id")]
    lists = exp.ApproxDistinct(this=exp.func("ROW", *keys))
    limits = (exp.func("CURRENT_SETTING", exp.Literal.string(name)) for name in ("memory_limit", "threads"))
    ((number, memory, threads),) = columns.database.rows(over(exp.select(lists, *limits), run, ("query_id",)))
    return number, memory, threads


def _has_long_texts(question: Question, columns: Columns, rows: int) -> bool:
    """Whether long lists of texts are sorted for the sake of judged documents alone, and few of their scores are tied; as above of grouped runs."""
    run, library = columns.inputs["run"], question.library
    if question.keeps_one or rows < PROBED or not run.type_of("doc_id").startswith("VARCHAR"):
        return False
    read = [uses(library, item.file, {**item.settings, "ranking": "scored"}).relations for item in of_rankings(question)]
    if not any("judged" in relations for relations in read) or any("ranked" in relations for relations in read):
        return False
    number, *_ = _lists(columns)
    if rows < LONG_TEXTS * number:
        return False
    total, distinct, _ = probed(columns.database, run)
    return distinct >= UNTIED * total


def _bytes(size: str) -> float:
    """Return a size as DuckDB writes it, such as ``12.4 GiB``, in bytes."""
    number, _, unit = size.partition(" ")
    return ldexp(float(number), 10 * ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit))


def _has_few_judged(columns: Columns, rows: Mapping[str, int]) -> bool:
    """Whether few documents of long lists are judged."""
    if not 0 < LONG_LISTS * rows["qrels"] <= rows["run"]:
        return False
    judged = over(exp.select("COUNT(*) AS judged").group_by("query_id"), columns.inputs["qrels"], ("query_id",))
    ((mean, most),) = columns.database.rows(exp.select("AVG(judged)", "MAX(judged)").from_(judged.subquery("counted")))
    return bool(mean <= FEW_JUDGED and most <= MOST_JUDGED)
