"""How a global order is computed: what was asked for, or what suits the engine and the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.errors import MetricError
from sqlrank.inputs.checks import over
from sqlrank.plans.probe import PROBED, probed

if TYPE_CHECKING:
    from sqlrank.inputs.columns import Columns
    from sqlrank.question import Question

DISTINCT_SHARE = 0.02
"""Scores are counted instead of sorted if fewer than this share of the first ``PROBED`` rows are distinct."""

REPEATED_SHARE = 0.9
"""The same where each row has to find by its score how far it moves a metric: from then on there are some hundred thousand of them at most."""

UNTIED_SHARE = 0.999
"""Scores are packed into integers if at least this share of the first ``PROBED`` rows are distinct: tied ones are sorted again."""

MOST_GROUPS = 5_000
"""Groups of the first ``PROBED`` rows up to which scores are packed: each row finds the number of its own."""

POSITIVE_SHARE = 0.015
"""Scores with weights are packed if at least this share of the rows is positive: of fewer those far from positives are added up, unsorted."""

LEAST_WEIGHT, MOST_WEIGHT = 1e-10, 1e13
"""The least weight above 0, and the most that all weigh, which integers add up that are numbers of parts of 2^-80."""

ONE_WORKER = 50_000_000
"""Rows of a group that one worker of a distributed engine can sort."""


def order(question: Question, columns: Columns, wanted: str, weighted: bool) -> str:
    """Return how a global order is computed: what was asked for, or what suits the engine and the data."""
    database = columns.database
    is_packable = not weighted or question.confidence is None
    if wanted == "condensed" and (question.confidence is not None or columns.has_units):
        raise MetricError("order='condensed' is for metrics without intervals and units; choose window, bucketed or grouped")
    if weighted and (wanted == "ranked" or (wanted == "packed" and not is_packable)):
        where = " where there are intervals" * (wanted == "packed")
        raise MetricError(f"order={wanted!r} is for predictions that all weigh 1{where}; choose window, bucketed or grouped")
    if wanted == "packed" and weighted and database.looks and _weights(columns)[0] is False:
        what = f"weights of 0, or of {LEAST_WEIGHT:g} and more, and {MOST_WEIGHT:g} in all"
        raise MetricError(f"order='packed' is for {what}; choose window or grouped, or divide the weights by a number")
    is_told = columns.has_units and any("Influence" in item.file.facts for item in question.asked)
    sorted_once = "window" if weighted or is_told else "ranked"
    if wanted == "auto" and dialect_of(database.dialect).is_distributed:
        wanted = "window" if _has_small_groups(question, columns) else "bucketed"
    elif wanted == "auto" and database.looks and columns.base is not None:
        total, distinct, groups = probed(database, columns.base, _group(question, columns) if database.dialect == "duckdb" else [])
        if distinct < (REPEATED_SHARE if is_told else DISTINCT_SHARE) * total:
            return "grouped"
        is_untied = database.dialect == "duckdb" and total == PROBED and distinct >= UNTIED_SHARE * total and groups <= MOST_GROUPS
        if not is_untied or not is_packable or is_told:
            return sorted_once
        is_whole, share = _weights(columns) if weighted else (True, 1.0)
        return "condensed" if share < POSITIVE_SHARE else "packed" if is_whole else sorted_once
    return sorted_once if wanted in {"auto", "window"} else wanted


def _weights(columns: Columns) -> tuple[bool | None, float]:
    """Return whether integers that are numbers of parts hold weights and their sum, None of weights that are not sound; and the share of positives."""
    if columns.base is None:
        return None, 1
    weighs, above = exp.column("weight"), exp.column("weight") > 0
    known = exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Count(this=weighs.copy()))
    least = exp.Min(this=exp.Case().when(above, weighs.copy()))
    positive = exp.Avg(this=exp.Case().when(exp.column("label").eq(1), exp.Literal.number(1)).else_(exp.Literal.number(0)))
    facts = exp.select(known, exp.Min(this=weighs.copy()), least, exp.Sum(this=exp.cast(weighs.copy(), "double")), positive)
    ((is_known, lowest, least_above, total, share),) = columns.database.rows(over(facts, columns.base, ("label", "weight")))
    if not is_known or lowest is None or lowest < 0 or least_above is None:
        return None, 1
    return bool(least_above >= LEAST_WEIGHT and total <= MOST_WEIGHT), share


def _has_small_groups(question: Question, columns: Columns) -> bool:
    """Whether groups are told apart, each of which one worker can sort; where the data cannot be looked at, that is taken for granted."""
    is_partitioned = bool(columns.by) and all(question.sets or [columns.by])
    if not is_partitioned or not columns.database.looks or columns.base is None:
        return is_partitioned
    by = [exp.column(exp.to_identifier(name, quoted=True)) for name in columns.base.by]
    sizes = over(exp.select(exp.alias_(exp.Count(this=exp.Star()), "size")).group_by(*by), columns.base, ("label",))
    ((most,),) = columns.database.rows(exp.select("MAX(size)").from_(sizes.subquery("sizes")))
    return bool((most or 0) <= ONE_WORKER)


def _group(question: Question, columns: Columns) -> list[str]:
    """Return the columns of predictions that tell groups apart."""
    needed = columns.needed.get(question.base or "", ())
    return [*(columns.base.by if columns.base is not None else ()), *(["query_id"] if "query_id" in needed else [])]
