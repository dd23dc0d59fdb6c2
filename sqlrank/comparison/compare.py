"""Compare systems: which is better, by how much, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.arguments import public
from sqlrank.call import Call
from sqlrank.comparison.asked import Asking, pairs_of
from sqlrank.comparison.judged import Tests, judged
from sqlrank.comparison.road import Place, check_paired, over_units, values
from sqlrank.comparison.shown import shown, unit_rows
from sqlrank.engines.duckdb import Limits
from sqlrank.errors import MetricError
from sqlrank.library.told import told_of_comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.comparison.units import Units
    from sqlrank.inputs.checks import Check
    from sqlrank.library.metric import Metric


@public
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
    by: str = "system",
    unit: str | None = None,
    slices: str | Sequence[str] | Sequence[Sequence[str]] = (),
    baseline: str | None = None,
    where: str | None = None,
    test: str = "t",
    correction: str = "holm",
    confidence: float = 0.95,
    effect: float | str | None = None,
    power: float = 0.8,
    replicates: int = 9999,
    seed: int = 0,
    per_query: bool = False,
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
    """Compare systems query by query: differences with intervals and tests, as an Arrow table with a row per slice, metric and pair.

    The values of queries are computed where the data are, as :func:`sqlrank.evaluate` does with ``per_query``; what is compared are these.
    A query counts where both systems have a value; with weights of queries differences are weighted. Metrics of all rows of predictions are
    compared by how far each unit moves them: the difference of two AUC is that of DeLong, DeLong & Clarke-Pearson 1988.

    Args:
        metrics: what to compare: metrics of rankings, of predictions under ``level="query"``, or those of all rows, such as AUC and LogLoss.
        run: as for :func:`sqlrank.evaluate`: one table with a column ``by``, or ``{"bm25": ..., "dense": ...}``.
        qrels: judgments.
        predictions: predictions, of which several scores (``columns={"score": ["old", "new"]}``) are the systems.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        connection: where the data are; what follows from the values of queries is computed here.
        dialect: the SQL that ``connection`` speaks, if its class does not tell.
        columns: canonical column names to yours.
        by: the column that tells systems apart.
        unit: for metrics of all rows the column that says what was drawn on its own, as for :func:`sqlrank.evaluate`; rows of several scores
            are units of their own, unless they have a query.
        slices: columns to compare within, such as ``"country"``; a list of lists gives several groupings, ``[]`` among them all rows.
        baseline: the system that the others are compared with; without one all pairs are, the baseline of each being
            the one that was given first, or of a column the first in order.
        where: a condition in SQL on the rows that are read.
        test: ``"t"`` (Student), ``"wilcoxon"``, ``"sign"`` or ``"randomization"`` (Fisher).
        correction: for how many comparisons the call has: ``"holm"``, ``"bh"`` (Benjamini & Hochberg), ``"max_t"`` (Westfall & Young) or ``"none"``.
        confidence: of intervals; a system is better if its corrected p is below ``1 - confidence``.
        effect: a difference to find, such as 0.01 or ``"1%"`` of the baseline: ``needed`` is the number of queries that it takes.
        power: the chance with which ``detectable`` and ``needed`` find what is there.
        replicates: how often signs are drawn for randomisation and ``max_t``.
        seed: of what is drawn; the same seed draws the same.
        per_query: return the differences behind the comparison, a row per slice, metric, pair and query, the greatest loss first.
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
        The columns of ``slices``, with ``slice`` if there are several groupings; ``metric``, ``baseline``, ``system`` (string);
        ``value_baseline``, ``value`` and ``difference`` (float64, means over the queries that both have); ``low``, ``high`` (of the
        difference, by Student's t at ``level``, which allows for the correction); ``relative`` (the difference over the baseline),
        ``se``; ``units`` and ``unpaired`` (int64: queries compared, and left out); ``wins``, ``ties``, ``losses`` (int64, NULL where units have no value of their own);
        ``effect_size`` (the difference in standard deviations), ``statistic``, ``p``, ``p_adjusted`` (float64, two-sided); ``better``
        (string, the system that is, if one is); ``detectable`` (float64), ``needed`` (int64); ``test``, ``correction`` (string).
        Undefined is NULL: no test of fewer than two queries, and none without spread but for equal systems, whose p is 1.

    Raises:
        MetricError: a metric, system, test or policy that does not exist or cannot be compared.
        InputError: data that cannot be evaluated.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> import pyarrow as pa
    >>> bm25 = {"q1": {"a": 1.0, "b": 0.5}, "q2": {"a": 0.1, "b": 0.4}, "q3": {"b": 0.2}}
    >>> dense = {"q1": {"a": 1.0}, "q2": {"a": 0.1}, "q3": {"a": 0.2}}
    >>> qrels = {query: {"a": 1} for query in bm25}
    >>> row = compare("RR", run={"bm25": bm25, "dense": dense}, qrels=qrels).to_pylist()[0]
    >>> row["difference"], row["wins"], row["ties"], row["losses"], row["better"]
    (0.5, 2, 1, 0, None)
    """
    tests = Tests(test, correction, confidence, effect, power, replicates, seed)
    asking = Asking.of(Call.of(metrics, locals(), policies), by, slices)
    if asking.is_moved and (per_query or test != "t" or correction == "max_t"):
        what = "has no values of queries to show; leave out per_query" if per_query else "is compared by test='t', and not under max_t"
        raise MetricError(f"{asking.measures[0].name} {what}, unless level='query' (-p level=query) asks for values of queries")
    limits = Limits(memory_limit, threads, temp_directory, timeout)
    tables = values(asking, Place(connection, dialect, limits, check, progress))

    if (test != "t" or correction == "max_t") and any("weight" in table.column_names for _, table in tables):
        raise MetricError("queries have weights, which only t-tests heed, and not under max_t; choose test='t', or leave the weights out")

    def work(units: Units) -> pa.Table:
        pairs = pairs_of(asking.ordered(units.systems()), baseline)
        rows = units.compare(pairs, range(len(units.measures)), units.measures)
        check_paired(rows, asking)
        if per_query:
            return unit_rows(units, asking, pairs, tables)
        return shown(judged(units, rows, tests), units, asking, pairs, tables, tests)

    result = over_units(tables, asking, limits, work)
    said = {"test": test, "correction": correction, "confidence": f"{confidence:g}", "seed": str(seed), "replicates": str(replicates)}
    metadata = {"sqlrank.version": __version__, **{f"sqlrank.{name}": value for name, value in said.items()}}
    found = tables[0][1].schema.metadata
    within = [name for group in asking.groups for name in group]
    metadata |= told_of_comparison("differences" if per_query else "comparison", result.schema, within, found).metadata()
    return result.replace_schema_metadata(metadata | {"sqlrank.sql": found[b"sqlrank.sql"].decode()})
