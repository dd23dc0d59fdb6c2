"""Assert in a test that a candidate is not worse than a baseline, by ``gate``: the public function
``assert_not_worse``.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from sqlrank.call.argument_checks import entry_point
from sqlrank.comparison.gate import gate
from sqlrank.inference.tolerance import INCONCLUSIVE, PASS
from sqlrank.output.ci_reports import is_all_skipped, markdown_summary
from sqlrank.output.display import DEFAULT_DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.call.request import ColumnNames
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.registry.metric import Metric


@entry_point
def assert_not_worse(
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
    names: ColumnNames = "requested",
    system: str = "system",
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    across: str | Sequence[str] = (),
    unit: str | None = None,
    baseline: Any = None,
    tolerance: float | str | Mapping[str, float | str] = 0.0,
    treat_inconclusive_as: str | None = None,
    min_units: int = 20,
    lower_is_better: str | Sequence[str] = (),
    confidence: float = 0.95,
    interval: str = "fixed",
    expected_units: int | None = None,
    where: str | None = None,
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
    """Assert that a candidate is non-inferior to the baseline, for tests.

    The arguments are those of :func:`sqlrank.gate`. An inconclusive gate is no pass: nothing says
    that the candidate is not worse.

    Args:
        metrics: as for :func:`sqlrank.gate`.
        run: as for :func:`sqlrank.gate`.
        qrels: as for :func:`sqlrank.gate`.
        predictions: as for :func:`sqlrank.gate`.
        queries: as for :func:`sqlrank.gate`.
        inputs: as for :func:`sqlrank.gate`.
        connection: as for :func:`sqlrank.gate`.
        dialect: as for :func:`sqlrank.gate`.
        columns: as for :func:`sqlrank.gate`.
        names: as for :func:`sqlrank.gate`.
        system: as for :func:`sqlrank.gate`.
        by: as for :func:`sqlrank.gate`.
        across: as for :func:`sqlrank.gate`.
        unit: as for :func:`sqlrank.gate`.
        baseline: as for :func:`sqlrank.gate`.
        tolerance: as for :func:`sqlrank.gate`.
        treat_inconclusive_as: ``"pass"`` warns of an inconclusive gate instead of raising, unless
            all rows are skipped; ``"fail"`` and None raise.
        min_units: as for :func:`sqlrank.gate`.
        lower_is_better: as for :func:`sqlrank.gate`.
        confidence: as for :func:`sqlrank.gate`.
        interval: as for :func:`sqlrank.gate`.
        expected_units: as for :func:`sqlrank.gate`.
        where: as for :func:`sqlrank.gate`.
        compat: as for :func:`sqlrank.gate`.
        check: as for :func:`sqlrank.gate`.
        sql_dir: as for :func:`sqlrank.gate`.
        plan: as for :func:`sqlrank.gate`.
        memory_limit: as for :func:`sqlrank.gate`.
        threads: as for :func:`sqlrank.gate`.
        temp_directory: as for :func:`sqlrank.gate`.
        timeout: as for :func:`sqlrank.gate`.
        progress: as for :func:`sqlrank.gate`.
        **policies: as for :func:`sqlrank.gate`.

    Returns:
        The table of :func:`sqlrank.gate`.

    Raises:
        AssertionError: the verdict is ``fail`` or ``inconclusive``; the message is the table in
            Markdown, the worst rows first.
        MetricError: an invalid metric, system or tolerance.
        InputError: data that cannot be evaluated, or a stored baseline of other definitions,
            policies or queries.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> run = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(30)}
    >>> table = assert_not_worse(
    ...     "RR", run={"baseline": run, "candidate": run}, qrels={query: {"a": 1} for query in run}
    ... )
    >>> table["verdict"].to_pylist()
    ['pass']
    """
    arguments = locals()
    result = gate(
        **{
            name: value
            for name, value in arguments.items()
            if name not in {"treat_inconclusive_as", "policies"}
        },
        **policies,
    )
    verdict = (result.schema.metadata or {})[b"sqlrank.verdict"].decode()
    summary = markdown_summary(result, DEFAULT_DIGITS)
    if verdict == INCONCLUSIVE and treat_inconclusive_as == PASS and not is_all_skipped(result):
        warnings.warn(summary, stacklevel=3)
    elif verdict != PASS:
        raise AssertionError(summary)
    return result
