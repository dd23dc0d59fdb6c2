"""How things are computed: chosen once, from the question, the engine and cheap facts; never what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.engines.dialects import dialect_of
from sqlrank.errors import MetricError, suggestion
from sqlrank.plans.order import order
from sqlrank.plans.ranking import first, firsts, of_rankings, ranking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.columns import Columns
    from sqlrank.library.metric import Value
    from sqlrank.question import Question

DERIVED = ("rest", "whole", "chosen", "members", "drawn")
"""Plans that follow from the input, and are not for users to choose."""


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
        for item in of_rankings(question):
            for policy, allowed in values[value].get("only", {}).items():
                if item.settings.get(policy, allowed[0]) not in allowed:
                    what = f"{policy}={allowed[0]!r}, not {item.settings[policy]!r}"
                    raise MetricError(f"{name}={value!r} is for {what}; give {name}={next(iter(values))!r}, or leave it out")
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
        "whole": "weights" if weighted else "rows",
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
        plans["order"] = order(question, columns, asked.get("order", "auto"), weighted)
    # Predictions find how far they move a metric by their scores, or by the thresholds that a sort tells them.
    if columns.rows_are_units and "order" in plans and columns.base is not None and not columns.base.valued:
        plans["drawn"] = "scores" if plans["order"] in {"grouped", "bucketed"} else "thresholds"
    return plans
