"""A call, looked up: the metrics with their files and settings, what tells rows apart, and the sources that they need."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.call import with_runs_before
from sqlrank.errors import InputError, MetricError, suggestion
from sqlrank.library import settings
from sqlrank.library.asked import CUTOFF
from sqlrank.library.confidence import OF_DRAWS, read_confidence
from sqlrank.library.metric import freeze
from sqlrank.library.roles import SYSTEM, UNIT
from sqlrank.library.shelf import library_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.call import Call
    from sqlrank.library.asked import Asked
    from sqlrank.library.confidence import Confidence
    from sqlrank.library.library import Library

SLICED_BY = "slice"
"""The column of a result that says which grouping a row is of."""

OF_ROWS = ("nulls", "duplicates")
"""Policies that say which rows are read."""

_COMPUTED = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<expression>[^=].*)", re.DOTALL)

SHARED = ("queries", "score_type", *OF_ROWS)
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
    by_expressions: Mapping[str, str]
    confidence: Confidence | None = None
    reads_units: bool = False

    @property
    def is_ranking(self) -> bool:
        """Whether any metric is one of rankings."""
        return any(item.home == "run" for item in self.asked)

    @property
    def bases(self) -> tuple[str, ...]:
        """The role whose groups are shown, or those that are joined to it; none for metrics of rankings alone."""
        return () if self.base is None else joined(self.base, self.sources, self.library)

    @property
    def columns(self) -> Mapping[str, Any]:
        """The caller's names of columns, and what stands for columns to group by."""
        unit = {} if self.confidence is None or self.confidence.unit is None else {UNIT: self.confidence.unit}
        return {**(self.call.columns or {}), **self.by_expressions, **unit}

    @property
    def drops_nulls(self) -> bool:
        """Whether rows without a value are left out."""
        return self.uses("nulls", "drop")

    @property
    def keeps_one(self) -> bool:
        """Whether documents that stand twice are taken for one."""
        return any(item.settings.get("duplicates", "error") != "error" for item in self.asked)

    @property
    def inner_names(self) -> list[str]:
        """The names that columns have inside the statement."""
        roles = (column for role in self.library.roles.values() for column in role.columns)
        return [*self.library.inner_columns, *roles, *(item.metric.slug for item in self.asked), CUTOFF, *OF_DRAWS]

    def uses(self, policy: str, value: str) -> bool:
        """Whether a policy has this value for any of the metrics."""
        return any(item.settings.get(policy) == value for item in self.asked)


def look_up(call: Call) -> Question:
    """Return the question; raise ``MetricError`` for what does not exist or does not fit, before any source is opened."""
    library = library_of(call.sql_dir)
    given, policies = _split_queries(call, library)
    plan, policies = _split_plan(call, policies)
    held_roles = {*given, *(("run", "qrels") if "predictions" in given else ())}
    asked = settings.ask(call.metrics, library, call.compat, policies, held_roles)
    columns, sets = groupings(call.by)
    columns, sets, expressions = _computed(columns, sets)
    homes = dict.fromkeys(item.home for item in asked)
    others = [role for role in homes if role != "run"]
    if len(others) > 1:
        raise MetricError(f"{asked[0].metric} is of {others[0]} and others are of {others[1]}; ask for them in two calls")
    if call.per_query and (role := next((role for role in others if not library.roles[role].list_column), None)):
        raise MetricError(f"per_query gives a row per list, which {role} do not have; leave it out")
    sources, labelled = _sources(given, asked, others[0] if others else None, library)
    if getattr(sources.get("run"), "are_systems", False):
        columns, sets = _with_systems(columns, sets)
    _refuse_clashes(columns, asked, {*({"score"} if others else ()), *({SLICED_BY} if sets else ())})
    if sets and call.per_query and "run" in homes:
        raise MetricError(f"per_query gives a row per query, of which there are no groupings; give by one list, by={columns}")
    confidence = read_confidence(asked, call.confidence, call.interval, call.unit, call.per_query, (call.replicates, call.seed))
    confidence = None if confidence is None else replace(confidence, per_unit=call.per_unit)
    shared = {name: asked[0].settings.get(name) for name in SHARED}
    for item in asked:
        for name, value in shared.items():
            if item.settings.get(name) != value and (name == "nulls" or (item.home == "run") == (asked[0].home == "run")):
                raise MetricError(f"{name} holds for a whole call; give {name}={value!r} as a policy, not to single metrics")
    of_rankings = next((item.settings for item in asked if item.home == "run"), {})
    held = {name: of_rankings[name] for name in SHARED if of_rankings.get(name) is not None}
    return Question(
        call, library, asked, sets, columns, held, sources, labelled, others[0] if others else None, plan, expressions, confidence
    )


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
    plan = {name: freeze(value, f"plan {name}") for name, value in (call.plan or {}).items() if value is not None}
    if policies.get("strategy") is not None:
        plan.setdefault("order", freeze(policies["strategy"], "strategy"))
    return plan, {name: value for name, value in policies.items() if name != "strategy"}


def groupings(given: Any, name: str = "by") -> tuple[list[str], list[list[str]] | None]:
    """Return the columns that an argument of this name says, and their groupings if there are several.

    >>> groupings("day"), groupings([[], ["country"]])
    ((['day'], None), (['country'], [[], ['country']]))
    """
    columns = [given] if isinstance(given, str) else list(given or ())
    sets = None
    if any(not isinstance(item, str) for item in columns):
        sets = [[item] if isinstance(item, str) else list(item) for item in columns]
        columns = list(dict.fromkeys(column for group in sets for column in group))
        sets = None if len(sets) == 1 else sets
        for position, group in enumerate(sets or ()):
            if set(group) in map(set, sets[:position]):  # type: ignore[index]
                raise MetricError(f"{name} names a grouping twice: {', '.join(group) or 'all'}")
    if len(set(columns)) < len(columns):
        raise MetricError(f"{name} names a column twice: {', '.join(columns)}")
    return columns, sets


def _with_systems(columns: list[str], sets: list[list[str]] | None) -> tuple[list[str], list[list[str]] | None]:
    """Tell several runs apart, unless ``by`` says itself where it does."""
    if SYSTEM in columns:
        return columns, sets
    return [SYSTEM, *columns], None if sets is None else [[SYSTEM, *group] for group in sets]


def _computed(columns: list[str], sets: list[list[str]] | None) -> tuple[list[str], list[list[str]] | None, dict[str, str]]:
    """Tell the names of columns from the expressions that stand for them: ``day=DATE(ts)``."""
    told = {item: match for item in columns if (match := _COMPUTED.fullmatch(item))}
    names = {item: told[item]["name"] if item in told else item for item in columns}
    if len(set(names.values())) < len(names):
        raise MetricError(f"by names a column twice: {', '.join(names.values())}")
    renamed = None if sets is None else [[names[item] for item in group] for group in sets]
    return list(names.values()), renamed, {match["name"]: match["expression"] for match in told.values()}


def _refuse_clashes(by: list[str], asked: list[Asked], taken: set[str]) -> None:
    """Refuse to group by what identifies a document, or by the name of a column that the result has anyway."""
    taken |= {"query_id", "doc_id", "label", *(str(item.metric) for item in asked)}
    taken |= {CUTOFF} if any(isinstance(item.metric.cutoff, tuple) for item in asked) else set()
    for name in by:
        if name in taken or (name.lower() == SLICED_BY and SLICED_BY in taken):
            raise MetricError(f"by cannot name {name!r}, which is a column of the run or of the result; rename the column")


def _sources(given: Mapping[str, Any], asked: list[Asked], base: str | None, library: Library) -> tuple[dict[str, Any], bool]:
    """Return the sources by role, and whether run and judgments are read off the predictions."""
    unknown = [role for role in given if role not in library.roles]
    if unknown:
        raise InputError(f"unknown input {unknown[0]!r}{suggestion(unknown[0], library.roles)} Choose from: {', '.join(library.roles)}")
    given = with_runs_before(given, asked)
    side = {role for item in asked for role in item.uses.roles if role != "queries" or item.has_own_cutoffs} - {"run", "qrels", base}
    if absent := [role for role in sorted(side) if role not in given]:
        reader = next(item for item in asked if absent[0] in item.uses.roles)
        raise InputError(f"{reader.metric} needs {absent[0]}; give inputs={{{absent[0]!r}: ...}} (--input {absent[0]}=...)")
    rankings = [item for item in asked if item.home == "run"]
    if base is not None:
        _check_base(given, {*side, *(["queries"] if rankings else [])}, next(item for item in asked if item.home == base), library)
        if not rankings:
            return dict(given), False
        if base != "predictions":
            raise MetricError(f"{rankings[0].metric} is a metric of rankings and others are of {base}; ask for them in two calls")
    return _of_rankings(given, {role for item in rankings for role in item.uses.roles})


def joined(role: str, given: Mapping[str, Any], library: Library) -> tuple[str, ...]:
    """Return a role, or those that are joined to it where one of these is given instead."""
    parts = library.roles[role].joins
    return parts if role not in given and any(part in given for part in parts) else (role,)


def _check_base(given: Mapping[str, Any], side: set[str], asked: Asked, library: Library) -> None:
    """Refuse a call without what a metric is of, or with more than is read."""
    needed = joined(asked.home, given, library)
    if not given.keys() >= set(needed) or given.keys() - {*needed, *side}:
        if asked.home == "predictions":
            raise InputError(f"{asked.metric} needs predictions= (--predictions), a table with label and score, and nothing else")
        many = ", ".join(f"{role!r}: ..." for role in needed)
        options = " ".join(f"--input {role}=..." for role in needed)
        parts = library.roles[asked.home].joins
        instead = f", or {' and '.join(parts)} in its place" if parts and asked.home in needed else ""
        raise InputError(f"{asked.metric} needs inputs={{{many}}} ({options}){instead}, and no more than it reads")


def _of_rankings(given: Mapping[str, Any], read: set[str]) -> tuple[dict[str, Any], bool]:
    """Return the sources of rankings: run and, if judgments are read, qrels; or predictions, which are both."""
    if "predictions" in given:
        if "run" in given or "qrels" in given:
            raise InputError("give either predictions, which are run and judgments in one table, or run and qrels")
        source = given["predictions"]
        is_stream = hasattr(source, "__arrow_c_stream__") and not hasattr(source, "sql_query")
        return {**given, "predictions": pa.table(source) if is_stream else source}, True
    missing = [role for role in ("run", "qrels") if role not in given and (role == "run" or role in read)]
    if missing:
        raise InputError(
            f"no {' and no '.join(missing)}; ranking metrics need run= and qrels=, or predictions= (--run and --qrels, or --predictions)"
        )
    return dict(given), False
