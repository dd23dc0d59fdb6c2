"""How things are computed: chosen once, from the question, the engine and cheap facts; never what they give."""

from __future__ import annotations

from math import ldexp
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.errors import MetricError, suggestion
from sqlrank.inputs.checks import over
from sqlrank.plans.order import order
from sqlrank.statement.first import first_documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.columns import Columns
    from sqlrank.library.asked import Asked
    from sqlrank.library.metric import Value
    from sqlrank.question import Question

DERIVED = ("rest", "whole", "chosen", "members", "drawn")
"""Plans that follow from the input, and are not for users to choose."""

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


def check_plan(question: Question, dialect: str) -> None:
    """Raise ``MetricError`` for a plan that does not exist, is not for the engine, or not right under the policies of a metric."""
    library = question.library
    for name, value in question.plan.items():
        if name not in library.plans or name in DERIVED:
            known = [plan for plan in library.plans if plan not in DERIVED]
            raise MetricError(f"unknown plan {name!r}{suggestion(name, known)} Choose from: {', '.join(known)}")
        values = library.plans[name]["values"]
        if value not in values:
            raise MetricError(f"unknown {name} {value!r}{suggestion(str(value), values)} Choose from: {', '.join(values)}")
        if dialect not in (engines := values[value].get("engines", [dialect])):
            others = [one for one, said in values.items() if dialect in said.get("engines", [dialect]) and one not in {"auto", "ranked"}]
            raise MetricError(f"{name}={value!r} is for {_or(engines).replace('duckdb', 'DuckDB')}; choose {_or(others)} for {dialect}")
        for item in _of_rankings(question):
            for policy, allowed in values[value].get("only", {}).items():
                if item.settings.get(policy, allowed[0]) not in allowed:
                    what = f"{policy}={allowed[0]!r}, not {item.settings[policy]!r}"
                    raise MetricError(f"{name}={value!r} is for {what}; give {name}={next(iter(values))!r}, or leave it out")
            if value == "top" and _first(question, item) is None:
                what = f"metrics of the first documents alone, not {item.metric}"
                raise MetricError(f"ranking='top' is for {what}; give ranking='sorted', or leave it out")


def _or(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def choose(question: Question, columns: Columns, rows: Mapping[str, int] | None = None) -> dict[str, Value]:
    """Return the plans of a call, and what they take; ``rows`` are numbers of rows that are known already."""
    database = columns.database
    dialect = dialect_of(database.dialect)
    asked = {str(name): str(value) for name, value in question.plan.items()}
    weighted = question.base is not None and "weight" in columns.needed.get(question.base, ())
    weighted |= question.confidence is not None and question.confidence.of_rows
    plans: dict[str, Value] = {
        "lists": "numbered" if database.dialect == "duckdb" else "plain",
        "counting": "framed" if database.dialect == "duckdb" else "bits",
        "merging": "early" if dialect.repeats else "late",
        "rest": "added" if weighted else "subtracted",
        "whole": "weights" if weighted else "rows",
        "chosen": "known" if "queries" in columns.inputs else "all",
        "members": "joined" if columns.attributes else "own",
        "drawn": "clusters" if columns.has_units else "rows",
        **{name: value for name, value in asked.items() if name != "order"},
    }
    if "ranking" not in plans:
        plans["ranking"] = _ranking(question, columns, rows)
    if plans["ranking"] == "top":
        plans["top"] = _firsts(question) or 1
    if any("order" in item.uses.settings for item in question.asked):
        plans["order"] = order(question, columns, asked.get("order", "auto"), weighted)
    # Predictions find how far they move a metric by their scores, or by the thresholds that a sort tells them.
    if columns.rows_are_units and "order" in plans and columns.base is not None and not columns.base.valued:
        plans["drawn"] = "scores" if plans["order"] in {"grouped", "bucketed"} else "thresholds"
    return plans


def _of_rankings(question: Question) -> list[Asked]:
    return [item for item in question.asked if item.home == "run"]


def _first(question: Question, item: Asked) -> int | None:
    return first_documents(question.library, item, {"ranking": "top"})


def _firsts(question: Question) -> int | None:
    """Return how many documents of each list the metrics look at, None if at all."""
    found = [_first(question, item) for item in _of_rankings(question)]
    return None if not found or None in found else max(number for number in found if number is not None)


def _ranking(question: Question, columns: Columns, known: Mapping[str, int] | None) -> str:
    """Return how ranks are found: in arrays on Spark; on DuckDB, for inputs whose rows are counted already, as suits them."""
    database, inputs = columns.database, columns.inputs
    if dialect_of(database.dialect).repeats and _is_right(question, "listed"):
        return "listed"
    is_seen = all(role in inputs and inputs[role].table.is_counted for role in ("run", "qrels") if role == "run" or role in inputs)
    if database.dialect != "duckdb" or not database.looks or not _of_rankings(question) or not is_seen:
        return "sorted"
    possible = [value for value in ("top", "counted") if _is_right(question, value)]
    if not possible:
        return "sorted"
    counts = {role: over(exp.select(exp.Count(this=exp.Star())), inputs[role], ("query_id",)) for role in inputs.keys() & {"run", "qrels"}}
    rows = known or {role: database.rows(count)[0][0] for role, count in counts.items()}
    if "top" in possible and _has_long_lists(question, columns, rows["run"]):
        return "top"
    return "counted" if "counted" in possible and "qrels" in inputs and _has_few_judged(columns, rows) else "sorted"


def _is_right(question: Question, value: str) -> bool:
    """Whether a way to find ranks is right under the policies of all metrics."""
    only = question.library.plans["ranking"]["values"][value]["only"]
    return all(item.settings.get(policy, values[0]) in values for item in _of_rankings(question) for policy, values in only.items())


def _has_long_lists(question: Question, columns: Columns, rows: int) -> bool:
    """Whether lists are long beside the first documents that are looked at, whose scores the memory holds; a run that is grouped first is read once."""
    if question.keeps_one or rows < WORTHWHILE or not (first := _firsts(question)) or rows < TOP_SHARE * first:
        return False
    database, run = columns.database, columns.inputs["run"]
    keys = [*(exp.column(exp.to_identifier(name, quoted=True)) for name in run.by), exp.column("query_id")]
    lists = exp.ApproxDistinct(this=exp.func("ROW", *keys))
    limits = (exp.func("CURRENT_SETTING", exp.Literal.string(name)) for name in ("memory_limit", "threads"))
    ((number, memory, threads),) = database.rows(over(exp.select(lists, *limits), run, ("query_id",)))
    return bool(TOP_SHARE * first * number <= rows) and bool(MEMORY_SHARE * number * threads * (8 * first + STATE_BYTES) <= _bytes(memory))


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
