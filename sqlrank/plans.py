"""How things are computed: chosen once, from the question, the engine and cheap facts; never what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.errors import MetricError, suggestion
from sqlrank.inputs.checks import over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.columns import Columns
    from sqlrank.library.library import Library
    from sqlrank.question import Question

DERIVED = ("rest", "chosen", "members", "drawn")
"""Plans that follow from the input, and are not for users to choose."""

PROBED = 100_000
DISTINCT_SHARE = 0.02
"""Scores are counted instead of sorted if fewer than this share of the first ``PROBED`` rows are distinct."""

FEW_JUDGED = 3
"""Judged documents of a query, on the average, up to which counting is faster than sorting, whatever the lists' length."""

MOST_JUDGED = 10
"""Judged documents of any query up to which counting cannot be much slower than sorting, should those with many have the longest lists."""

LONG_LISTS = 8
"""How many times as long as the judgments the run has to be for the former to be looked at."""

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
        for item in question.asked:
            for policy, allowed in values[value].get("only", {}).items():
                if item.home == "run" and item.settings.get(policy, allowed[0]) not in allowed:
                    usual = next(iter(values))
                    raise MetricError(
                        f"{name}={value!r} is for {policy}={allowed[0]!r}, not {item.settings[policy]!r}; "
                        f"give {name}={usual!r}, or leave it out"
                    )


def _or(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def choose(question: Question, columns: Columns, rows: Mapping[str, int] | None = None) -> dict[str, str]:
    """Return the plans of a call; ``rows`` are numbers of rows that are known already."""
    database = columns.database
    dialect = dialect_of(database.dialect)
    is_duckdb = database.dialect == "duckdb"
    asked = {str(name): str(value) for name, value in question.plan.items()}
    weighted = question.base is not None and "weight" in columns.needed.get(question.base, ())
    weighted |= question.confidence is not None and question.confidence.of_rows
    plans = {
        "lists": "numbered" if is_duckdb else "plain",
        "counting": "framed" if is_duckdb else "bits",
        "merging": "early" if dialect.repeats else "late",
        "rest": "added" if weighted else "subtracted",
        "chosen": "known" if "queries" in columns.inputs else "all",
        "members": "joined" if columns.attributes else "own",
        "drawn": "clusters" if columns.has_units else "rows",
        **{name: value for name, value in asked.items() if name != "order"},
    }
    if "ranking" not in plans:
        plans["ranking"] = "counted" if _suits_counting(question, columns, rows) else "sorted"
    if any("order" in item.uses.settings for item in question.asked):
        plans["order"] = _order(question, columns, asked.get("order", "auto"), weighted)
    return plans


def _suits_counting(question: Question, columns: Columns, rows: Mapping[str, int] | None) -> bool:
    """Whether ranks are better counted than sorted for: on DuckDB, where few documents of long lists are judged."""
    only = question.library.plans["ranking"]["values"]["counted"]["only"]
    of_rankings = [item for item in question.asked if item.home == "run"]
    is_open = all(item.settings.get(policy, values[0]) in values for item in of_rankings for policy, values in only.items())
    if columns.database.dialect != "duckdb" or not columns.database.looks or not of_rankings or not is_open:
        return False
    return _has_few_judged(columns, rows)


def _has_few_judged(columns: Columns, known: Mapping[str, int] | None) -> bool:
    database, inputs = columns.database, columns.inputs
    if not all(role in inputs and inputs[role].table.is_counted for role in ("run", "qrels")):
        return False
    count = exp.select(exp.Count(this=exp.Star()))
    rows = known or {role: database.rows(over(count.copy(), inputs[role], ("query_id",)))[0][0] for role in ("run", "qrels")}
    if not 0 < LONG_LISTS * rows["qrels"] <= rows["run"]:
        return False
    judged = over(exp.select("COUNT(*) AS judged").group_by("query_id"), inputs["qrels"], ("query_id",))
    ((mean, most),) = database.rows(exp.select("AVG(judged)", "MAX(judged)").from_(judged.subquery("counted")))
    return bool(mean <= FEW_JUDGED and most <= MOST_JUDGED)


def _order(question: Question, columns: Columns, wanted: str, weighted: bool) -> str:
    """Return how a global order is computed: what was asked for, or what suits the engine and the data."""
    database = columns.database
    if wanted == "ranked" and weighted:
        raise MetricError("order='ranked' is for predictions that all weigh 1; choose window, bucketed or grouped")
    if wanted == "auto":
        wanted = "window"
        if dialect_of(database.dialect).is_distributed:
            wanted = "window" if _has_small_groups(question, columns) else "bucketed"
        elif database.looks and _has_few_scores(columns):
            wanted = "grouped"
    if wanted != "window":
        return wanted
    has_segments = question.confidence is not None and any("Influence" in item.file.facts for item in question.asked)
    return "ranked" if not weighted and not has_segments else "carried" if database.dialect == "duckdb" else "window"


def _has_small_groups(question: Question, columns: Columns) -> bool:
    """Whether groups are told apart, each of which one worker can sort; where the data cannot be looked at, that is taken for granted."""
    is_partitioned = bool(columns.by) and all(question.sets or [columns.by])
    if not is_partitioned or not columns.database.looks or columns.base is None:
        return is_partitioned
    by = [exp.column(exp.to_identifier(name, quoted=True)) for name in columns.base.by]
    sizes = over(exp.select(exp.alias_(exp.Count(this=exp.Star()), "size")).group_by(*by), columns.base, ("label",))
    ((most,),) = columns.database.rows(exp.select("MAX(size)").from_(sizes.subquery("sizes")))
    return bool((most or 0) <= ONE_WORKER)


def _has_few_scores(columns: Columns) -> bool:
    if columns.base is None:
        return False
    probed = exp.select("score").from_(columns.base.select(("score",)).subquery("predictions")).limit(PROBED).subquery("probed")
    count = exp.select(exp.Count(this=exp.Star()), exp.Count(this=exp.Distinct(expressions=[exp.column("score")]))).from_(probed)
    total, distinct = columns.database.rows(count)[0]
    return bool(distinct < DISTINCT_SHARE * total)


def stamp(question: Question, plans: Mapping[str, Any]) -> list[str]:
    """Return the lines that say how a statement computes, of the plans that it reads, and what to choose for something else."""
    library = question.library
    read = set().union(*(item.uses.settings for item in question.asked))
    read -= {"merging", "rest"} if plans.get("order") != "bucketed" else set()
    used = {name: plans[name] for name in library.plans if name in read and name in plans and name not in DERIVED}
    change = [library.plans[name]["change"] for name in used if "change" in library.plans[name] and not _is_said(library, name, used[name])]
    plain = "one scan of each input" if len(question.bases) < 2 else f"{' and '.join(question.bases)} are joined"  # noqa: PLR2004
    lines = [f"plan: {', '.join(f'{name}={value}' for name, value in used.items()) or plain}"]
    return [*lines, f"for another: {'; '.join(change)}" if change else "for another: there is none for these metrics"]


def _is_said(library: Library, name: str, value: str) -> bool:
    return str(library.plans[name]["change"]).startswith(f"{name}={value}")
