"""Compare systems by paired unit values or by rollups, with intervals and tests: the public
function ``compare``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.call.argument_checks import entry_point
from sqlrank.call.request import ColumnNames, Request, select_arguments
from sqlrank.comparison.paired_tests import TestOptions
from sqlrank.comparison.system_comparison import compare_systems
from sqlrank.engines.open_database import ExecutionOptions
from sqlrank.interval_options import check_confidence_level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Unpack

    import pyarrow as pa

    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.option_types import ComparisonPolicies, DialectName
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
    rollups: Mapping[str, Any] | None = None,
    connection: Any = None,
    dialect: DialectName | None = None,
    columns: Mapping[str, Any] | None = None,
    system: str = "system",
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    unit: str | None = None,
    baseline: str | None = None,
    lower_is_better: str | Sequence[str] = (),
    where: str | None = None,
    test: str = "t",
    correction: str = "holm",
    confidence: float | None = 0.95,
    interval: str = "fixed",
    expected_units: int | None = None,
    target_effect: float | str | None = None,
    power: float = 0.8,
    replicates: int | None = None,
    seed: int | None = None,
    per_query: bool = False,
    compat: str | None = None,
    names: ColumnNames = "requested",
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Unpack[ComparisonPolicies],
) -> pa.Table:
    """Compare systems by paired unit values or by their rollups, with confidence intervals and
    tests.

    Returns an Arrow table with a row per group, metric and pair. Per-query values are computed
    where the data are, as :func:`sqlrank.evaluate` does with ``per_query``. A query counts if both
    systems have a value; query weights weight the differences. Metrics over all rows of predictions
    are compared by influence-function values of units. For AUC this is the method of DeLong, DeLong
    & Clarke-Pearson (1988), with Student's t for few positives. Rollups with buckets of the same
    units are compared by leaving a bucket out of both (the grouped jackknife).

    Args:
        metrics: metrics to compare: ranking metrics, metrics of predictions under
            ``level="query"``, or metrics over all rows, such as AUC and LogLoss.
        run: as for :func:`sqlrank.evaluate`: one table with a column ``system``, or ``{"bm25": ...,
            "dense": ...}``.
        qrels: judgments.
        predictions: predictions; several scores (``columns={"score": ["old", "new"]}``) are the
            systems.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        rollups: instead of other sources, the rollup that :func:`sqlrank.rollup` made of each
            system, by name: ``{"old": "rollup_of_old", "new": "rollup_of_new"}``. Arguments that
            need rows or units, such as ``columns``, ``unit`` and ``per_query``, are refused.
        connection: where the data are; statistics of the unit values are computed locally.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        columns: mapping from canonical column names to those of the source.
        system: the column that identifies systems.
        by: columns to group by, such as ``"country"``, of rollups key columns; a list of lists
            gives several groupings, where ``[]`` means all rows.
        unit: for metrics over all rows the randomization unit: the column whose values are
            independent, as for :func:`sqlrank.evaluate`. With several scores each row is a unit by
            default, unless rows have a query.
        baseline: the system that the others are compared with; by default all pairs are compared.
            The baseline of a pair is the system given first, or the first in sort order if systems
            come from a column.
        lower_is_better: metrics of columns of your own, or the columns, of which lower values are
            better: ``"latency_ms"``.
        where: a SQL condition on the rows to read, of rollups over key columns.
        test: ``"t"`` (Student), ``"wilcoxon"``, ``"sign"`` or ``"randomization"`` (Fisher).
        correction: correction for multiple comparisons: ``"holm"``, ``"bh"`` (Benjamini &
            Hochberg), ``"max_t"`` (Westfall & Young) or ``"none"``.
        confidence: confidence level of intervals; a system is better if its corrected p-value is
            below ``1 - confidence``. For rollups, whose intervals need buckets, None is for certain
            bounds alone.
        interval: ``"fixed"`` is valid for one look, at the planned end; ``"sequential"`` for values
            of queries is valid at every look, and wider (the asymptotic confidence sequence of
            Waudby-Smith et al. 2021). The test is then its always-valid p-value.
        expected_units: number of queries at which sequential intervals are the narrowest, 1,000 by
            default; the same at each look.
        target_effect: effect size to detect, such as 0.01 or ``"1%"`` of the baseline;
            ``required_units`` is the number of queries required.
        power: statistical power behind ``mde`` and ``required_units``.
        replicates: number of sign flips of the randomization test, which takes all of up to 20
            differences, and of ``max_t``; the default is 9999.
        seed: seed of the random signs; the default is 0.
        per_query: return the paired differences: a row per group, metric, pair and query, the
            largest loss first.
        compat: as for :func:`sqlrank.evaluate`.
        names: ``"plain"`` for metrics by identifiers, such as ``ndcg_at_10``.
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
        The columns of ``by``, with ``slice`` if there are several groupings; ``metric``,
        ``baseline``, ``system`` (string); ``value_baseline``, ``value`` and ``difference``
        (float64, means over the queries of both systems). ``ci_low`` and ``ci_high`` are the t
        interval of the difference at ``ci_level``, the corrected confidence level; it excludes 0
        exactly where there is a ``winner``. ``relative_difference`` is the difference over the
        baseline's absolute value, ``se`` the standard error. ``n_units`` and ``unpaired`` count
        queries compared and left out (int64). ``wins``, ``ties``, ``losses`` are int64, NULL for
        influence-function values, as is ``cohens_d``, Cohen's d. ``statistic``, ``p_value``,
        ``p_adjusted`` are float64, p-values two-sided. ``winner`` (string) is the better system if
        test and interval agree. ``mde`` (float64), the minimum detectable effect, and
        ``required_units`` (int64) are at the corrected level. ``test``, ``correction`` are strings;
        ``reason`` says why there is no interval. Rollups have no units, so that the columns from
        ``n_units`` to ``cohens_d`` and ``required_units`` are NULL. They have the certain bounds of
        the difference, ``bound_low`` and ``bound_high`` (float64), ``n_buckets``, and the numbers
        of merged days and rows of both sides, ``num_days_baseline``, ``num_days`` (if there is a
        column ``day``), ``num_rows_baseline``, ``num_rows`` (int64). Every group, metric and pair
        has a row. Undefined values are NULL: there is no test of fewer than two queries. There is
        none without variance either, except that p is 1 for equal systems.

    Raises:
        MetricError: a metric, system, test or policy that does not exist or cannot be compared.
        InputError: data that cannot be evaluated, or rollups with different buckets.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> import pyarrow as pa, sqlrank
    >>> bm25 = {"q1": {"a": 1.0, "b": 0.5}, "q2": {"a": 0.1, "b": 0.4}, "q3": {"b": 0.2}}
    >>> dense = {"q1": {"a": 1.0}, "q2": {"a": 0.1}, "q3": {"a": 0.2}}
    >>> qrels = {query: {"a": 1} for query in bm25}
    >>> row = compare("RR", run={"bm25": bm25, "dense": dense}, qrels=qrels).to_pylist()[0]
    >>> row["difference"], row["wins"], row["ties"], row["losses"], row["winner"]
    (0.5, 2, 1, 0, None)
    >>> predictions = pa.table(
    ...     {
    ...         "user_id": [1, 2, 3, 4],
    ...         "label": [1, 0, 1, 0],
    ...         "old": [0.5, 0.25, 0.25, 0.5],
    ...         "new": [0.75, 0.25, 0.5, 0.5],
    ...     }
    ... )
    >>> options = {
    ...     "predictions": predictions,
    ...     "unit": "user_id",
    ...     "n_buckets": 4,
    ...     "binning": "exact",
    ... }
    >>> rollups = {
    ...     name: sqlrank.rollup("AUC", columns={"score": name}, **options)
    ...     for name in ("old", "new")
    ... }
    >>> compare("AUC", rollups=rollups).select(
    ...     ["value_baseline", "value", "difference"]
    ... ).to_pylist()
    [{'value_baseline': 0.5, 'value': 0.875, 'difference': 0.375}]
    """
    arguments = locals()
    options = ExecutionOptions.from_arguments(arguments)
    if rollups is None:
        check_confidence_level(confidence)
        call = Request.from_arguments(
            arguments,
            leave_out=("system", "by", "per_query", "confidence", "interval", "replicates", "seed"),
        )
        tests = select_arguments(TestOptions, arguments, confidence=float(confidence or 0))
        return compare_systems(
            call, tests, options, system=system, by=by, baseline=baseline, per_query=per_query
        )
    # As for evaluate
    from sqlrank.rollups.contrasts import compare_rolled_up

    call = Request.from_arguments(arguments, leave_out=["system"])
    return compare_rolled_up(call, rollups, baseline, correction, power, options)
