"""A gate: may a candidate ship, given how sure one can be that it is not worse than the baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.arguments import public
from sqlrank.call import Call
from sqlrank.comparison.asked import Asking
from sqlrank.comparison.judged import with_interval
from sqlrank.comparison.road import Place, check_paired, over_units, values
from sqlrank.comparison.shown import SPREAD, VALUES, row_of, slice_fields, slice_of, table_of
from sqlrank.comparison.stored import BASELINE, CANDIDATE, check_units, read_stored, together
from sqlrank.comparison.verdict import Verdict, limits, overall, tolerances, verdict_of
from sqlrank.engines.duckdb import Limits
from sqlrank.engines.files import is_meant
from sqlrank.errors import MetricError, suggestion
from sqlrank.library.confidence import check_level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.comparison.asked import Measure
    from sqlrank.comparison.units import Compared, Units
    from sqlrank.comparison.verdict import Tolerance
    from sqlrank.inputs.checks import Check
    from sqlrank.library.metric import Metric

PARQUET = ".parquet"
COLUMNS = {
    **VALUES,
    **SPREAD,
    "tolerance": pa.string(),
    "verdict": pa.string(),
    "reason": pa.string(),
    "needed": pa.int64(),
}


@public
def gate(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    connection: Any = None,
    dialect: str | None = None,
    columns: Mapping[str, Any] | None = None,
    by: str = "system",
    unit: str | None = None,
    slices: str | Sequence[str] | Sequence[Sequence[str]] = (),
    baseline: Any = None,
    tolerance: float | str | Mapping[str, float | str] = 0.0,
    min_units: int = 20,
    confidence: float = 0.95,
    where: str | None = None,
    compat: str | None = None,
    check: Check = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Any,
) -> pa.Table:
    """Say of each metric, overall and in slices, whether a candidate is worse than the baseline by more than is tolerated.

    The candidate fails where the interval of the paired difference is below the tolerance (and, so that many slices do not fail by chance,
    an interval that allows for their number is below no change); it passes where the interval is above it; else it is inconclusive.

    Args:
        metrics: what must not get worse: metrics of rankings, of predictions under ``level="query"``, or those of all rows, such as AUC.
        run: two systems, ``{"baseline": ..., "candidate": ...}`` or a table with a column ``by``; with a stored baseline the candidate alone.
        qrels: judgments.
        predictions: predictions with two scores (``columns={"score": ["old", "new"]}``), the first being the baseline.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        connection: where the data are.
        dialect: the SQL that ``connection`` speaks, if its class does not tell.
        columns: canonical column names to yours.
        by: the column that tells the two systems apart.
        unit: as for :func:`sqlrank.compare`.
        slices: columns within which the candidate must not be worse either, beside the whole; a list of lists says exactly which groupings.
        baseline: the name of the system that is the baseline, the first one given if they are in order, else ``"baseline"``; or a Parquet file or
            table of :func:`sqlrank.evaluate` with ``per_query=True``.
        tolerance: by how much a metric may be worse: 0.01, or a share of the baseline, ``"2%"``; by metric ``{"AP": "2%", "*": 0.01}``.
        min_units: queries below which a slice is skipped.
        confidence: of intervals, each side of which errs half as often as they do.
        where: a condition in SQL on the rows that are read.
        compat: as for :func:`sqlrank.evaluate`.
        check: as for :func:`sqlrank.evaluate`.
        sql_dir: as for :func:`sqlrank.evaluate`.
        plan: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        progress: as for :func:`sqlrank.evaluate`.
        **policies: as for :func:`sqlrank.evaluate`.

    Returns:
        The columns of :func:`sqlrank.compare` up to ``losses`` but for ``level``, with ``low`` and ``high`` at ``confidence``; then
        ``tolerance`` (string), ``verdict`` (``pass``, ``fail``, ``inconclusive`` or ``skipped``), ``reason``, and ``needed`` (int64: queries at
        which the interval is as narrow as the tolerance). The schema's metadata: ``sqlrank.verdict`` on all, ``fail`` if any fails, else
        ``inconclusive`` if any is or nothing was decided, else ``pass``.

    Raises:
        MetricError: a metric, system or tolerance that is not possible.
        InputError: data that cannot be evaluated, or a stored baseline of other SQL, policies or queries.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> baseline = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(30)}
    >>> candidate = {query: {"a": 1.0, "b": 2.0} for query in baseline}
    >>> judged = gate("RR", run={"baseline": baseline, "candidate": candidate}, qrels={query: {"a": 1} for query in baseline}, tolerance=0.1)
    >>> judged["verdict"].to_pylist(), judged.schema.metadata[b"sqlrank.verdict"]
    (['fail'], b'fail')
    """
    check_level(confidence)
    given = Call.of(metrics, locals(), policies)
    is_stored = baseline is not None and (not isinstance(baseline, str) or is_meant(baseline) or baseline.endswith(PARQUET))
    stored = read_stored(baseline) if is_stored else None
    groups = [[], [slices]] if isinstance(slices, str) else [[], list(slices)] if slices and isinstance(slices[0], str) else slices
    asking = Asking.of(given, None if is_stored else by, groups)
    plain = asking.measures
    allowed = tolerances(tolerance, plain)
    for measure, each in zip(plain, allowed, strict=True):
        limits(measure, each)
    work_limits = Limits(memory_limit, threads, temp_directory, timeout)
    if stored is not None and asking.is_moved:
        raise MetricError(
            f"{plain[0].name} has no values of queries that a stored baseline could hold; give the scores of both in one table"
        )
    tables = values(asking, Place(connection, dialect, work_limits, check, progress))
    if stored is not None:
        tables = [(group, together(table, stored, group, plain)) for group, table in tables]
    names = (BASELINE, CANDIDATE) if is_stored else None

    def work(units: Units) -> pa.Table:
        pair = names or _pair(asking.ordered(units.systems()), baseline, asking.given_order)
        places = [*range(len(plain)), *range(len(plain))]
        tested = [_tested(measure, each) for measure, each in zip(units.measures, allowed, strict=True)]
        found = units.compare([pair], places, [*units.measures, *tested])
        by_place = {(item.cell, item.metric): item for item in found}
        raw = [item for item in found if item.metric < len(plain)]
        check_paired(raw, asking)
        if is_stored and raw:
            check_units(max(item.units for item in raw), max(item.unpaired for item in raw if item.cell == raw[0].cell), asking)
        verdicts = [
            verdict_of(item, by_place[item.cell, item.metric + len(plain)], allowed[item.metric], confidence, len(raw), min_units)
            for item in raw
        ]
        return _shown(units, asking, tables, pair, raw, allowed, verdicts, confidence)

    return over_units(tables, asking, work_limits, work)


def _tested(measure: Measure, tolerance: Tolerance) -> Measure:
    sign, factor = limits(measure, tolerance)
    return replace(measure, sign=sign, factor=factor)


def _pair(systems: Sequence[str], baseline: str | None, in_order: Sequence[str]) -> tuple[str, str]:
    """Return the baseline and the candidate; raise ``MetricError`` unless there are just two systems."""
    if len(systems) != 2:  # noqa: PLR2004  a gate is between two
        raise MetricError(f"a gate is between two systems, and there are {len(systems)}: {', '.join(systems)}")
    first = baseline if baseline is not None else next((name for name in (*in_order, BASELINE) if name in systems), None)
    if first is None:
        raise MetricError(f"which of {' and '.join(systems)} is the baseline? Name it with baseline= (--baseline)")
    if first not in systems:
        raise MetricError(f"no system is called {first!r}{suggestion(first, systems)} Choose from: {', '.join(systems)}")
    return first, next(name for name in systems if name != first)


def _shown(
    units: Units,
    asking: Asking,
    tables: Sequence[tuple[list[str], pa.Table]],
    pair: tuple[str, str],
    compared: Sequence[Compared],
    allowed: Sequence[Tolerance],
    verdicts: Sequence[Verdict],
    confidence: float,
) -> pa.Table:
    rows = []
    for item, verdict in zip(compared, verdicts, strict=True):
        row = row_of(with_interval(item, confidence), units.measures[item.metric], pair)
        said = {"tolerance": str(allowed[item.metric]), "verdict": verdict.verdict, "reason": verdict.reason, "needed": verdict.needed}
        rows.append(slice_of(units.cells[item.cell], asking) | row | said)
    metadata = {"sqlrank.version": __version__, "sqlrank.verdict": overall(verdicts), "sqlrank.confidence": f"{confidence:g}"}
    return table_of(rows, slice_fields(asking, tables), COLUMNS).replace_schema_metadata(metadata)
