"""A call, looked up: the metrics with their files and settings, what tells rows apart, and the sources that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.errors import InputError, MetricError, suggestion
from sqlrank.library import settings
from sqlrank.library.confidence import read_confidence
from sqlrank.library.metric import freeze
from sqlrank.library.shelf import library_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.call import Call
    from sqlrank.library.asked import Asked
    from sqlrank.library.confidence import Confidence
    from sqlrank.library.library import Library

SHARED = ("queries", "score_type")
"""Policies that hold for a whole call: they say which lists there are, and how their scores are read."""


@dataclass(frozen=True)
class Question:
    """What was asked for, looked up.

    ``sources`` are by role; ``labelled`` says that run and judgments are read off the predictions. ``base`` is the role whose groups
    are shown, None for metrics of rankings alone. ``plan`` are the plans that were asked for.
    """

    call: Call
    library: Library
    asked: list[Asked]
    sets: list[list[str]] | None
    by: list[str]
    settings: Mapping[str, Any]
    sources: Mapping[str, Any]
    labelled: bool
    base: str | None
    plan: Mapping[str, Any]
    confidence: Confidence | None = None

    @property
    def is_ranking(self) -> bool:
        """Whether any metric is one of rankings."""
        return any(item.home == "run" for item in self.asked)

    @property
    def columns(self) -> Mapping[str, Any]:
        """The caller's names of columns."""
        return self.call.columns or {}

    @property
    def inner_names(self) -> list[str]:
        """The names that columns have inside the statement."""
        roles = (column for role in self.library.roles.values() for column in role.columns)
        return [*self.library.inner_columns, *roles, *(step.metric.slug for item in self.asked for step in item.cutoffs), "k"]

    def uses(self, policy: str, value: str) -> bool:
        """Whether a policy has this value for any of the metrics."""
        return any(item.settings.get(policy) == value for item in self.asked)


def look_up(call: Call) -> Question:
    """Return the question; raise ``MetricError`` for what does not exist or does not fit, before any source is opened."""
    library = library_of(call.sql_dir)
    given, policies = _split_queries(call, library)
    plan, policies = _split_plan(call, policies)
    asked = settings.ask(call.metrics, library, call.compat, policies)
    columns, sets = _groupings(call.by)
    homes = dict.fromkeys(item.home for item in asked)
    others = [role for role in homes if role != "run"]
    if len(others) > 1:
        raise MetricError(f"{asked[0].metric} is of {others[0]} and others are of {others[1]}; ask for them in two calls")
    sources, labelled = _sources(given, asked, others[0] if others else None, library)
    _refuse_clashes(columns, asked, {"score"} if others else set())
    confidence = read_confidence(call.confidence, call.interval, asked, call.per_query, sets is not None)
    shared = {name: asked[0].settings.get(name) for name in SHARED}
    for item in asked:
        for name, value in shared.items():
            if item.settings.get(name) != value and (item.home == "run") == (asked[0].home == "run"):
                raise MetricError(f"{name} holds for a whole call; give {name}={value!r} as a policy, not to single metrics")
    of_rankings = next((item.settings for item in asked if item.home == "run"), {})
    held = {name: of_rankings[name] for name in SHARED if of_rankings.get(name) is not None}
    return Question(call, library, asked, sets, columns, held, sources, labelled, others[0] if others else None, plan, confidence)


def _split_queries(call: Call, library: Library) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell the policy ``queries="intersect"`` from a table of queries; ``topics`` names the policy beside a table."""
    policies, sources = dict(call.policies), dict(call.sources)
    if "topics" in policies:
        policies["queries"] = policies.pop("topics")
    elif isinstance(sources.get("queries"), str) and sources["queries"] in library.values_of("queries"):
        policies["queries"] = sources.pop("queries")
    return sources, policies


def _split_plan(call: Call, policies: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the plans and the policies; ``strategy`` is the old name of a plan."""
    if call.plan is not None and not hasattr(call.plan, "items"):
        raise MetricError(f"plan={call.plan!r} is not possible: give a plan and its value, such as {{'order': 'bucketed'}}")
    plan = {name: freeze(value, f"plan {name}") for name, value in (call.plan or {}).items() if value is not None}
    if policies.get("strategy") is not None:
        plan.setdefault("order", freeze(policies["strategy"], "strategy"))
    return plan, {name: value for name, value in policies.items() if name != "strategy"}


def _groupings(by: Any) -> tuple[list[str], list[list[str]] | None]:
    """Return the columns of ``by``, and their groupings if there are several."""
    if not isinstance(by, (str, list, tuple, type(None))) or not all(isinstance(item, (str, list, tuple)) for item in by or ()):
        raise MetricError(f"by={by!r} is not possible: give a column, a list of columns, or a list of lists")
    columns = [by] if isinstance(by, str) else list(by or ())
    sets = None
    if any(not isinstance(item, str) for item in columns):
        sets = [[item] if isinstance(item, str) else list(item) for item in columns]
        columns = list(dict.fromkeys(name for group in sets for name in group))
        sets = None if len(sets) == 1 else sets
    if len(set(columns)) < len(columns):
        raise MetricError(f"by names a column twice: {', '.join(columns)}")
    return columns, sets


def _refuse_clashes(by: list[str], asked: list[Asked], taken: set[str]) -> None:
    """Refuse to group by what identifies a document, or by the name of a column that the result has anyway."""
    taken |= {"query_id", "doc_id", "label", *(str(item.metric) for item in asked)}
    taken |= {"k"} if any(isinstance(item.metric.cutoff, tuple) for item in asked) else set()
    for name in by:
        if name in taken:
            raise MetricError(f"by cannot name {name!r}, which is a column of the run or of the result; rename the column")


def _sources(given: Mapping[str, Any], asked: list[Asked], base: str | None, library: Library) -> tuple[dict[str, Any], bool]:
    """Return the sources by role, and whether run and judgments are read off the predictions."""
    unknown = [role for role in given if role not in library.roles]
    if unknown:
        raise InputError(f"unknown input {unknown[0]!r}{suggestion(unknown[0], library.roles)} Choose from: {', '.join(library.roles)}")
    side = {role for item in asked for role in item.uses.roles} - {"run", "qrels", "queries", base}
    absent = [role for role in sorted(side) if role not in given]
    if absent:
        raise InputError(f"{asked[0].metric} needs {absent[0]}; give inputs={{{absent[0]!r}: ...}} (--input {absent[0]}=...)")
    rankings = [item for item in asked if item.home == "run"]
    if base is not None:
        _check_base(given, {base, *side}, next(item for item in asked if item.home == base))
        if not rankings:
            return dict(given), False
        if base != "predictions":
            raise MetricError(f"{rankings[0].metric} is a metric of rankings and others are of {base}; ask for them in two calls")
    return _of_rankings(given)


def _check_base(given: Mapping[str, Any], allowed: set[str], asked: Asked) -> None:
    """Refuse a call without what a metric is of, or with more than is read."""
    if asked.home not in given or given.keys() - allowed:
        if asked.home == "predictions":
            raise InputError(f"{asked.metric} needs predictions= (--predictions), a table with label and score, and nothing else")
        raise InputError(f"{asked.metric} needs inputs={{{asked.home!r}: ...}} (--input {asked.home}=...), and no more than it reads")


def _of_rankings(given: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the sources of rankings: run and qrels, or predictions, which are both."""
    if "predictions" in given:
        if "run" in given or "qrels" in given:
            raise InputError("give either predictions, which are run and judgments in one table, or run and qrels")
        source = given["predictions"]
        is_stream = hasattr(source, "__arrow_c_stream__") and not hasattr(source, "sql_query")
        return {**given, "predictions": pa.table(source) if is_stream else source}, True
    missing = [role for role in ("run", "qrels") if role not in given]
    if missing:
        raise InputError(
            f"no {' and no '.join(missing)}; ranking metrics need run= and qrels=, or predictions= (--run and --qrels, or --predictions)"
        )
    return dict(given), False
