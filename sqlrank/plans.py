"""How things are computed: chosen once, from the question, the engine and cheap facts; never what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.errors import MetricError, suggestion
from sqlrank.inputs.checks import over
from sqlrank.ranks import PROBED, first, firsts, of_rankings, ranking, scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.columns import Columns
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value
    from sqlrank.question import Question

DERIVED = ("rest", "chosen", "members", "drawn")
"""Plans that follow from the input, and are not for users to choose."""

DISTINCT_SHARE = 0.02
"""Scores are counted instead of sorted if fewer than this share of the first ``PROBED`` rows are distinct."""

REPEATED_SHARE = 0.9
"""The same where each row has to find by its score how far it moves a metric: from then on there are some hundred thousand of them at most."""

UNTIED_SHARE = 0.999
"""Scores are packed into integers if at least this share of the first ``PROBED`` rows are distinct: tied ones are sorted again."""

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
        if values[value].get("engine", dialect) != dialect:
            others = [other for other, said in values.items() if "engine" not in said and other not in {"auto", "ranked"}]
            raise MetricError(f"{name}={value!r} is for DuckDB; choose {_or(others)} for {dialect}")
        for item in of_rankings(question):
            for policy, allowed in values[value].get("only", {}).items():
                if item.settings.get(policy, allowed[0]) not in allowed:
                    usual = next(iter(values))
                    raise MetricError(
                        f"{name}={value!r} is for {policy}={allowed[0]!r}, not {item.settings[policy]!r}; "
                        f"give {name}={usual!r}, or leave it out"
                    )
            if value == "top" and first(question, item) is None:
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
        plans["ranking"] = ranking(question, columns, rows)
    if plans["ranking"] == "top":
        plans["top"] = firsts(question) or 1
    if any("order" in item.uses.settings for item in question.asked):
        plans["order"] = _order(question, columns, asked.get("order", "auto"), weighted)
    # Orders in which each distinct score has a row, which predictions find by it.
    if columns.rows_are_units and plans.get("order") in {"grouped", "bucketed"} and columns.base is not None and not columns.base.valued:
        plans["drawn"] = "scores"
    return plans


def _order(question: Question, columns: Columns, wanted: str, weighted: bool) -> str:
    """Return how a global order is computed: what was asked for, or what suits the engine and the data."""
    database = columns.database
    if wanted in {"ranked", "packed"} and weighted:
        raise MetricError(f"order={wanted!r} is for predictions that all weigh 1; choose window, bucketed or grouped")
    is_told = columns.has_units and any("Influence" in item.file.facts for item in question.asked)
    sorted_once = "ranked" if not weighted and not is_told else "carried" if database.dialect == "duckdb" and not is_told else "window"
    if wanted == "auto" and dialect_of(database.dialect).is_distributed:
        wanted = "window" if _has_small_groups(question, columns) else "bucketed"
    elif wanted == "auto" and database.looks and columns.base is not None:
        total, distinct = scores(database, columns.base)
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
    change = [library.plans[name]["change"] for name in used if "change" in library.plans[name] and not _is_said(library, name, used[name])]
    plain = "one scan of each input" if len(question.bases) < 2 else f"{' and '.join(question.bases)} are joined"  # noqa: PLR2004
    lines = [f"plan: {', '.join(f'{name}={value}' for name, value in used.items()) or plain}"]
    return [*lines, f"for another: {'; '.join(change)}" if change else "for another: there is none for these metrics"]


def _matters(library: Library, name: str, value: str, relations: set[str]) -> bool:
    """Whether what may be chosen instead on any engine, if there is something, reads other files of these relations."""
    values = library.plans[name]["values"]
    others = [said for other, said in values.items() if "engine" not in said or other == value]
    return len(others) < 2 or any(len({said.get(relation) for said in others}) > 1 for relation in relations)  # noqa: PLR2004


def _is_said(library: Library, name: str, value: str) -> bool:
    return str(library.plans[name]["change"]).startswith(f"{name}={value}")
