"""Compare systems: paired differences of metrics with confidence intervals and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.argument_checks import entry_point
from sqlrank.comparison.comparison_request import ComparisonRequest, system_pairs
from sqlrank.comparison.comparison_table import comparison_table, unit_difference_table
from sqlrank.comparison.paired_tests import TestOptions, run_tests
from sqlrank.comparison.unit_values import ExecutionOptions, check_fully_paired, evaluate_unit_values, system_values, with_unit_tables
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.errors import MetricError
from sqlrank.request import Request, collect_sources
from sqlrank.result_metadata import comparison_metadata, rename_metric_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.comparison.paired_differences import PairedUnits
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.registry.metric import Metric


@entry_point
def compare(
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
    system: str = "system",
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    unit: str | None = None,
    baseline: str | None = None,
    where: str | None = None,
    test: str = "t",
    correction: str = "holm",
    confidence: float = 0.95,
    target_effect: float | str | None = None,
    power: float = 0.8,
    replicates: int | None = None,
    seed: int | None = None,
    per_query: bool = False,
    compat: str | None = None,
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Any,
) -> pa.Table:
    """Compare systems by paired unit values, with confidence intervals and tests.

    Returns an Arrow table with a row per group, metric and pair. Per-query values are computed where the data are, as
    :func:`sqlrank.evaluate` does with ``per_query``. A query counts if both systems have a value; query weights weight the differences.
    Metrics over all rows of predictions are compared by influence-function values of units. For AUC this is the method of DeLong, DeLong &
    Clarke-Pearson (1988).

    Args:
        metrics: metrics to compare: ranking metrics, metrics of predictions under ``level="query"``, or metrics over all rows, such as AUC
            and LogLoss.
        run: as for :func:`sqlrank.evaluate`: one table with a column ``system``, or ``{"bm25": ..., "dense": ...}``.
        qrels: judgments.
        predictions: predictions; several scores (``columns={"score": ["old", "new"]}``) are the systems.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        connection: where the data are; statistics of the unit values are computed locally.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        columns: mapping from canonical column names to those of the source.
        system: the column that identifies systems.
        by: columns to group by, such as ``"country"``; a list of lists gives several groupings, where ``[]`` means all rows.
        unit: for metrics over all rows the randomization unit: the column whose values are independent, as for :func:`sqlrank.evaluate`.
            With several scores each row is a unit by default, unless rows have a query.
        baseline: the system that the others are compared with; by default all pairs are compared. The baseline of a pair is the system
            given first, or the first in sort order if systems come from a column.
        where: a SQL condition on the rows to read.
        test: ``"t"`` (Student), ``"wilcoxon"``, ``"sign"`` or ``"randomization"`` (Fisher).
        correction: correction for multiple comparisons: ``"holm"``, ``"bh"`` (Benjamini & Hochberg), ``"max_t"`` (Westfall & Young) or
            ``"none"``.
        confidence: confidence level of intervals; a system is better if its corrected p-value is below ``1 - confidence``.
        target_effect: effect size to detect, such as 0.01 or ``"1%"`` of the baseline; ``required_units`` is the number of queries required.
        power: statistical power behind ``mde`` and ``required_units``.
        replicates: number of sign flips of the randomization test and ``max_t``; the default is 9999.
        seed: seed of the random signs; the default is 0.
        per_query: return the paired differences: a row per group, metric, pair and query, the largest loss first.
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
        The columns of ``by``, with ``slice`` if there are several groupings; ``metric``, ``baseline``, ``system`` (string);
        ``value_baseline``, ``value`` and ``difference`` (float64, means over the queries of both systems). ``ci_low`` and ``ci_high`` are the t
        interval of the difference at ``ci_level``, the corrected confidence level; it excludes 0 exactly where there is a ``winner``.
        ``relative_difference`` is the difference over the baseline, ``se`` the standard error. ``n_units`` and ``unpaired`` count queries compared and
        left out (int64). ``wins``, ``ties``, ``losses`` are int64, NULL for influence-function values, as is ``cohens_d``, Cohen's d.
        ``statistic``, ``p_value``, ``p_adjusted`` are float64, p-values two-sided. ``winner`` (string) is the better system if test and interval
        agree. ``mde`` (float64), the minimum detectable effect, and ``required_units`` (int64) are at the corrected level. ``test``, ``correction`` are strings; ``reason``
        says why there is no interval.
        Every group, metric and pair has a row. Undefined values are NULL: there is no test of fewer than two queries. There is none without
        variance either, except that p is 1 for equal systems.

    Raises:
        MetricError: a metric, system, test or policy that does not exist or cannot be compared.
        InputError: data that cannot be evaluated.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> import pyarrow as pa
    >>> bm25 = {"q1": {"a": 1.0, "b": 0.5}, "q2": {"a": 0.1, "b": 0.4}, "q3": {"b": 0.2}}
    >>> dense = {"q1": {"a": 1.0}, "q2": {"a": 0.1}, "q3": {"a": 0.2}}
    >>> qrels = {query: {"a": 1} for query in bm25}
    >>> row = compare("RR", run={"bm25": bm25, "dense": dense}, qrels=qrels).to_pylist()[0]
    >>> row["difference"], row["wins"], row["ties"], row["losses"], row["winner"]
    (0.5, 2, 1, 0, None)
    """
    tests = TestOptions(test, correction, confidence, target_effect, power, replicates, seed)
    call = Request(
        metrics,
        collect_sources(run=run, qrels=qrels, predictions=predictions, queries=queries, inputs=inputs),
        columns=columns,
        where=where,
        compat=compat,
        sql_dir=sql_dir,
        plan=plan,
        unit=unit,
        policies=policies,
    )
    request = ComparisonRequest.from_call(call, system, by)
    if request.uses_influence and (per_query or test != "t" or correction == "max_t"):
        what = "has no values of queries to show; leave out per_query" if per_query else "is compared by test='t', and not under max_t"
        raise MetricError(f"{request.measures[0].name} {what}, unless level='query' (-p level=query) asks for values of queries")
    limits = ResourceLimits(memory_limit, threads, temp_directory, timeout)
    options = ExecutionOptions(connection, dialect, limits, check, progress)
    tables = evaluate_unit_values(request, options)

    if (test != "t" or correction == "max_t") and any("weight" in table.column_names for _, table in tables):
        raise MetricError("queries have weights, which only t-tests heed, and not under max_t; choose test='t', or leave the weights out")

    def work(units: PairedUnits) -> pa.Table:
        pairs = system_pairs(request.sort_systems(units.systems()), baseline)
        summaries = units.summarize_differences(pairs)
        check_fully_paired(summaries, request)
        if per_query:
            return unit_difference_table(units, request, pairs, tables)
        return comparison_table(run_tests(units, summaries, tests), units, request, pairs, tables, tests)

    result = with_unit_tables(tables, request, limits, work, [] if per_query else system_values(request, options, tables))
    settings = {
        "test": test,
        "correction": correction,
        "confidence": f"{confidence:g}",
        "seed": str(seed or 0),
        "replicates": str(tests.num_replicates),
    }
    metadata = {"sqlrank.version": __version__, **{f"sqlrank.{name}": value for name, value in settings.items()}}
    schema_metadata = tables[0][1].schema.metadata
    within = [name for group in request.groupings for name in group]
    metadata |= comparison_metadata(
        "differences" if per_query else "comparison", result.schema, within, schema_metadata
    ).to_schema_metadata()
    result = result.replace_schema_metadata(metadata | {"sqlrank.sql": schema_metadata[b"sqlrank.sql"].decode()})
    return rename_metric_rows(result, request.metrics)
