"""How things are computed: chosen once, from the question, the engine and cheap facts; never what they give."""

from __future__ import annotations

from math import ldexp
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.errors import MetricError, suggestion
from sqlrank.inputs.checks import over
from sqlrank.statement.first import first_documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.columns import Columns
    from sqlrank.library.asked import Asked
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value
    from sqlrank.question import Question

DERIVED = ("rest", "chosen", "members", "drawn")
"""Plans that follow from the input, and are not for users to choose."""

PROBED = 100_000
DISTINCT_SHARE = 0.02
"""Scores are counted instead of sorted if fewer than this share of the first ``PROBED`` rows are distinct."""

REPEATED_SHARE = 0.9
"""The same where each row has to find by its score how far it moves a metric: from then on there are some hundred thousand of them at most."""

UNTIED_SHARE = 0.999
"""Scores are packed into integers if at least this share of the first ``PROBED`` rows are distinct: tied ones are sorted again."""

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

ONE_WORKER = 50_000_000
"""Rows of a group that one worker of a distributed engine can sort."""


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
        plans["order"] = _order(question, columns, asked.get("order", "auto"), weighted)
    # Orders in which each distinct score has a row, which predictions find by it.
    if columns.rows_are_units and plans.get("order") in {"grouped", "bucketed"} and columns.base is not None and not columns.base.valued:
        plans["drawn"] = "scores"
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


def _order(question: Question, columns: Columns, wanted: str, weighted: bool) -> str:
    """Return how a global order is computed: what was asked for, or what suits the engine and the data."""
    database = columns.database
    if wanted in {"ranked", "packed"} and weighted:
        raise MetricError(f"order={wanted!r} is for predictions that all weigh 1; choose window, bucketed or grouped")
    is_told = columns.has_units and any("Influence" in item.file.facts for item in question.asked)
    sorted_once = "ranked" if not weighted and not is_told else "carried" if database.dialect == "duckdb" and not is_told else "window"
    if wanted == "auto" and dialect_of(database.dialect).is_distributed:
        wanted = "window" if _has_small_groups(question, columns) else "bucketed"
    elif wanted == "auto" and database.looks:
        total, distinct = _scores(columns)
        if distinct < (REPEATED_SHARE if is_told else DISTINCT_SHARE) * total:
            return "grouped"
        is_packed = database.dialect == "duckdb" and total == PROBED and distinct >= UNTIED_SHARE * total
        return "packed" if sorted_once == "ranked" and is_packed else sorted_once
    return sorted_once if wanted in {"auto", "window"} else wanted


def _has_small_groups(question: Question, columns: Columns) -> bool:
    """Whether groups are told apart, each of which one worker can sort; where the data cannot be looked at, that is taken for granted."""
    is_partitioned = bool(columns.by) and all(question.sets or [columns.by])
    if not is_partitioned or not columns.database.looks or columns.base is None:
        return is_partitioned
    by = [exp.column(exp.to_identifier(name, quoted=True)) for name in columns.base.by]
    sizes = over(exp.select(exp.alias_(exp.Count(this=exp.Star()), "size")).group_by(*by), columns.base, ("label",))
    ((most,),) = columns.database.rows(exp.select("MAX(size)").from_(sizes.subquery("sizes")))
    return bool((most or 0) <= ONE_WORKER)


def _scores(columns: Columns) -> tuple[int, int]:
    """Return how many predictions the first ``PROBED`` are, and how many scores they have."""
    if columns.base is None:
        return 0, 0
    probed = exp.select("score").from_(columns.base.select(("score",)).subquery("predictions")).limit(PROBED).subquery("probed")
    count = exp.select(exp.Count(this=exp.Star()), exp.Count(this=exp.Distinct(expressions=[exp.column("score")]))).from_(probed)
    ((total, distinct),) = columns.database.rows(count)
    return total, distinct


def stamp(question: Question, plans: Mapping[str, Any]) -> list[str]:
    """Return the lines that say how a statement computes, of the plans that it reads, and what to choose for something else."""
    library = question.library
    read = set().union(*(item.uses.settings for item in question.asked))
    read -= {"merging", "rest"} if plans.get("order") != "bucketed" else set()
    relations = set().union(*(item.uses.relations for item in question.asked))
    used = {
        name: plans[name]
        for name in library.plans
        if name in read and name in plans and name not in DERIVED and _matters(library, name, str(plans[name]), relations)
    }
    change = [said for name, value in used.items() if (said := _change(library, name, str(value)))]
    plain = "one scan of each input" if len(question.bases) < 2 else f"{' and '.join(question.bases)} are joined"  # noqa: PLR2004
    chosen = ", ".join(f"{name}={value}" for name, value in used.items())
    return [f"plan: {chosen or plain}", f"for another: {'; '.join(change) or 'there is none for these metrics'}"]


def _matters(library: Library, name: str, value: str, relations: set[str]) -> bool:
    """Whether what may be chosen instead on any engine, if there is something, reads other files of these relations."""
    values = library.plans[name]["values"]
    others = [said for other, said in values.items() if "engines" not in said or other == value]
    return len(others) < 2 or any(len({said.get(relation) for said in others}) > 1 for relation in relations)  # noqa: PLR2004


def _change(library: Library, name: str, value: str) -> str:
    """Return what to choose instead of a value, and when; nothing if that is the value itself."""
    said = str({**library.plans[name], **library.plans[name]["values"].get(value, {})}.get("change", ""))
    return "" if said.startswith(f"{name}={value}") else said
