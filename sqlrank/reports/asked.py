"""What a report asks: one call, of which each section asks a part through the public functions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

import sqlrank
from sqlrank.call import Call, Several
from sqlrank.comparison.asked import SCORE, Asking
from sqlrank.deadline import check_time, time_left
from sqlrank.engines import remote
from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.duckdb import Limits
from sqlrank.engines.looking import done_on
from sqlrank.errors import InputError, MetricError
from sqlrank.inputs.several import find
from sqlrank.inputs.where import read_condition
from sqlrank.library.confidence import check_level
from sqlrank.library.roles import SYSTEM
from sqlrank.question import groupings, look_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlrank.library.library import Library
    from sqlrank.library.metric import Metric

OF_RANKINGS = ("nDCG@10", "AP", "RR", "P@10", "R@100")
OF_PREDICTIONS = ("AUC", "LogLoss", "Brier", "NormalizedEntropy", "CalibrationRatio")
"""What is asked for unless it is said."""

ROLES = ("run", "qrels", "predictions", "queries")


@dataclass(frozen=True)
class Asked:
    """What a report was asked: its metrics, its sources by role, what is the same in all calls, and how much is shown.

    ``runs`` are single runs by the names of their systems, if there are several; ``system`` is the column that tells systems apart, None
    for one system. ``groups`` are the columns of each grouping that is looked into; ``common`` and ``policies`` are
    arguments of all calls.
    """

    metrics: list[Metric]
    library: Library
    sources: Mapping[str, Any]
    runs: Mapping[str, Any]
    system: str | None
    groups: list[list[str]]
    common: Mapping[str, Any]
    policies: Mapping[str, Any]
    confidence: float
    unit: str | None
    baseline: str | None
    is_ranking: bool
    rows: int
    examples: int
    tell: Callable[[], None] = field(default=lambda: None)

    @classmethod
    def of(cls, metrics: Any, given: Mapping[str, Any], common: Mapping[str, Any]) -> Asked:
        """Look up what is asked; raise ``MetricError`` or ``InputError`` for what a report cannot be of."""
        sources = {role: _kept(given[role]) for role in ROLES if given[role] is not None}
        if metrics is None:
            metrics = OF_RANKINGS if "run" in sources else OF_PREDICTIONS
        check_level(given["confidence"])
        _, sets = groupings(given["by"])
        groups = sets if sets is not None else [groupings(given["by"])[0]] if given["by"] else []
        question = look_up(Call.of(metrics, {**sources, **common}, given["policies"]))
        for item in question.asked:
            if item.file.kind == "curves" or isinstance(item.metric.cutoff, tuple):
                raise MetricError(
                    f"{item.metric} has rows of its own, and a report draws its curves by itself; name metrics with one value"
                )
        if not question.is_ranking and question.base != "predictions":
            raise MetricError(f"a report is of rankings or of predictions, and {question.asked[0].metric} is of {question.base}")
        if question.is_ranking and question.base is not None:
            raise MetricError("metrics of rankings and of predictions are reports of their own; name metrics of one kind")
        run = Several.of("run", sources.get("run"))
        runs = _runs(run, common) if isinstance(run, Several) and run.are_systems else {}
        is_scored = isinstance((common["columns"] or {}).get(SCORE), (list, tuple)) and "predictions" in sources
        system = given["system"] or (SCORE if is_scored else SYSTEM if runs else None)
        return cls(
            [item.metric for item in question.asked],
            question.library,
            {**sources, **({"run": runs} if runs else {})},
            runs,
            system,
            [group for group in groups if group],
            common,
            given["policies"],
            given["confidence"],
            given["unit"],
            given["baseline"],
            question.is_ranking,
            given["rows"],
            given["examples"],
        )

    @property
    def keys(self) -> list[str]:
        """The column that tells systems apart, where results do not have it by themselves."""
        return [] if self.system is None or self.runs or self.system == SCORE else [self.system]

    @property
    def names(self) -> list[str]:
        """The metrics as they are written."""
        return [str(metric) for metric in self.metrics]

    @property
    def cutoffs(self) -> dict[Metric, int]:
        """The metrics that have a cut-off, with it."""
        return {metric: int(metric.cutoff) for metric in self.metrics if isinstance(metric.cutoff, (int, float))}

    @property
    def given_order(self) -> list[str]:
        """The systems that were given by name, the baseline first."""
        scores = (self.common["columns"] or {}).get(SCORE)
        names = list(self.runs) or (list(scores) if self.system == SCORE and scores else [])
        return list(dict.fromkeys([*([] if self.baseline is None else [self.baseline]), *names]))

    def evaluate(self, metrics: Any, by: Any = (), **options: Any) -> pa.Table:
        """Return the result of metrics for each system, in the order in which they were given, and within columns."""
        found = sqlrank.evaluate(metrics, by=[*self.keys, *by], **self.sources, **self._common(metrics), **options)
        if self.system not in found.column_names:
            return found
        places = {name: place for place, name in enumerate(self.given_order)}
        of = [places.get(str(name), len(places)) for name in found[self.system].to_pylist()]
        found = found.take(sorted(range(len(of)), key=of.__getitem__))
        known = {"sqlrank.baseline": self.given_order[0]} if len(self.given_order) > 1 or self.baseline is not None else {}
        return found.replace_schema_metadata({**(found.schema.metadata or {}), **known})

    def with_intervals(self, by: Any = ()) -> pa.Table:
        """Return the result of the metrics with their intervals."""
        return self.evaluate(self.metrics, by, confidence=self.confidence, unit=self.unit)

    def compare(self, metrics: Any, baseline: str | None, **options: Any) -> pa.Table:
        """Return the comparison of systems."""
        options = {"by": self.system, "baseline": baseline, "confidence": self.confidence, **options}
        return sqlrank.compare(metrics, **self.sources, **self._common(metrics), **options)

    def comparable(self) -> tuple[list[Metric], list[str]]:
        """Return the metrics that can be compared in one call, and of the others why not."""
        fitting: dict[bool, list[Metric]] = {}
        reasons = []
        for metric in self.metrics:
            try:
                call = Call.of([metric], {**self.sources, **self.common}, self.heeded([metric]))
                fitting.setdefault(Asking.of(call, self.system, ()).is_moved, []).append(metric)
            except MetricError as error:
                reasons.append(str(error))
        first, *others = fitting.values() or [[]]
        reasons += [
            f"{metric} is compared by other units than {first[0]}; ask for it in a report of its own" for part in others for metric in part
        ]
        return first, reasons

    def explain(self, metric: Any, system: str, query: Any, rows: int) -> Any:
        """Return the explanation of a metric for a query of one of several systems."""
        sources, common = self.of_system(system)
        # The rows were checked when they were evaluated; whole lists are sorted, so that all judged documents are seen.
        own = {name: common[name] for name in ("columns", "where")}
        own |= {"check": "off", "plan": {**(common["plan"] or {}), "ranking": "sorted"}}
        return sqlrank.explain(metric, query=query, rows=rows, **sources, **{**self._common([metric]), **own})

    def of_system(self, system: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the sources and the common arguments of one system: its run, its score, or its rows where systems are a column."""
        sources, common = dict(self.sources), dict(self.common)
        if self.runs:
            sources["run"] = self.runs[system]
        elif self.system == SCORE:
            common["columns"] = {**(common["columns"] or {}), SCORE: system}
        elif self.system is not None:
            common["where"] = self._where(self.system, system)
            # Its name is no column that an explanation reads.
            common["columns"] = {name: theirs for name, theirs in (common["columns"] or {}).items() if name != self.system}
        return sources, common

    def _where(self, column: str, system: str) -> str:
        """Return the condition on the rows of a system, beside that of the report."""
        speaks = dialect_of(remote.spoken_by(self.common["connection"], self.common["dialect"])).writer
        role, dot, name = column.partition(".")
        if not dot or role not in self.sources:
            role, name = "run" if "run" in self.sources else "predictions", column
        named = exp.column(exp.to_identifier(str((self.common["columns"] or {}).get(name, name)), quoted=True), table=role)
        own = exp.EQ(this=exp.cast(named, "TEXT"), expression=exp.Literal.string(system))
        given = [] if self.common["where"] is None else [read_condition(self.common["where"], speaks)]
        return exp.and_(*given, own).sql(speaks)

    def heeded(self, metrics: Any) -> dict[str, Any]:
        """Return the policies that metrics of a call read: one that none reads is refused, and a section may ask for others than the report."""
        found: dict[str, Any] = {}
        for _ in range(2):  # some are read under values of others only
            for name, value in self.policies.items():
                try:
                    look_up(Call.of(metrics, {**self.sources, **self.common}, {**found, name: value}))
                except MetricError:
                    continue
                found[name] = value
        return found

    def _common(self, metrics: Any) -> dict[str, Any]:
        """Return the arguments of all calls, with the policies that metrics read and the time that is left of that of the report."""
        self.tell()
        check_time()
        return {**self.common, **self.heeded(metrics), "timeout": None if self.common["timeout"] is None else time_left()}

    def telling(self, progress: Callable[[float], None] | None, calls: int) -> Asked:
        """Return the same, which tells of its calls as a share of about so many."""
        if progress is None:
            return self
        done = iter(range(10**9))
        return replace(self, tell=lambda: progress(min(99.0, 100 * next(done) / calls)))


LIMITS = ("memory_limit", "threads", "temp_directory", "timeout")


def _kept(source: Any) -> Any:
    """Return a source that can be read several times: a stream is read once into memory."""
    if isinstance(source, list):
        return [_kept(item) for item in source]
    if isinstance(source, dict):
        return {name: item if isinstance(item, dict) else _kept(item) for name, item in source.items()}
    is_stream = hasattr(source, "__arrow_c_stream__") and not hasattr(source, "sql_query")
    return pa.table(source) if is_stream else source


def _runs(run: Several, common: Mapping[str, Any]) -> dict[str, Any]:
    """Return single runs by the names that results give them; raise ``InputError`` for two of one name."""
    names = [name for name, _ in run.parts]
    if None in names:
        dialect = remote.spoken_by(common["connection"], common["dialect"])
        table = done_on(common["connection"], dialect, Limits(), lambda database: find(database, "run", run))
        names = list(dict.fromkeys(part.system for part in table.parts or (table,)))
    if len(set(names)) < len(run.parts):
        raise InputError(f"two runs are called {names[0]!r}; give each a name of its own")
    return {str(name): _kept(source) for name, (_, source) in zip(names, run.parts, strict=True)}
