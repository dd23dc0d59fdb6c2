"""Make a report: what was asked, and what was found, in one page."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.arguments import public
from sqlrank.reports.page import Report, need, page
from sqlrank.reports.parts import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlrank.inputs.checks import Check
    from sqlrank.library.metric import Metric
    from sqlrank.reports.asked import Asked

CALLS = 20
"""About how many calls a report makes, for its progress."""


@public
def report(
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    connection: Any = None,
    dialect: str | None = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    system: str | None = None,
    baseline: str | None = None,
    where: str | None = None,
    confidence: float = 0.95,
    unit: str | None = None,
    title: str = "sqlrank report",
    when: datetime | str | None = None,
    rows: int = 50,
    examples: int = 3,
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
) -> Report:
    """Make one page to hand over: metrics with intervals, systems compared, curves, slices, queries, and an account of the data.

    Args:
        metrics: what to compute; unless said, five common ones of rankings or of predictions.
        run: as for :func:`sqlrank.evaluate`; several, ``{"bm25": ..., "dense": ...}``, are compared, the first being the baseline.
        qrels: judgments.
        predictions: predictions; several scores (``columns={"score": ["old", "new"]}``) are compared.
        queries: as for :func:`sqlrank.evaluate`.
        inputs: as for :func:`sqlrank.evaluate`.
        connection: where the data are.
        dialect: the SQL that ``connection`` speaks, if its class does not tell.
        columns: canonical column names to yours.
        by: columns to look into, the worst slice first; a list of lists is several groupings, each a table.
        system: the column that tells systems apart where they are in one table.
        baseline: the system that all others are compared with; without one all pairs are.
        where: a condition in SQL on the rows that are read.
        confidence: of intervals.
        unit: for metrics of predictions the column that says what was drawn on its own.
        title: the heading of the page.
        when: what the page says of when it was made, a date or a text; now unless given.
        rows: rows of a table that are shown at most.
        examples: of how many queries that lost most, and that gained most, the lists are shown side by side, if there are several runs.
        compat: as for :func:`sqlrank.evaluate`.
        check: as for :func:`sqlrank.evaluate`.
        sql_dir: as for :func:`sqlrank.evaluate`.
        plan: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: seconds after which the report is given up.
        progress: as for :func:`sqlrank.evaluate`.
        **policies: as for :func:`sqlrank.evaluate`.

    Returns:
        A :class:`sqlrank.reports.page.Report`; its ``save(path)`` writes the page, and a notebook shows it. The same data and ``when``
        give the same bytes.

    Raises:
        MetricError: a metric, parameter or policy that does not exist or does not fit.
        InputError: data that cannot be evaluated.
        ExecutionError: time or memory ran out, or a database refused a statement.
        SqlrankError: jinja2 or what draws charts is not installed.

    >>> runs = {"old": {"q1": {"a": 2.0, "b": 1.0}}, "new": {"q1": {"b": 2.0, "a": 1.0}}}
    >>> report("RR", run=runs, qrels={"q1": {"b": 1}}, when="today").title
    'sqlrank report'
    """
    given = locals()
    need()
    from sqlrank.reports.asked import LIMITS, Asked  # noqa: PLC0415  engines take half a second that help does not need

    names = ("inputs", "connection", "dialect", "columns", "where", "compat", "check", "sql_dir", "plan", *LIMITS)
    asked = Asked.of(metrics, given, {name: given[name] for name in names}).telling(progress, CALLS)
    found = page(title, _told(asked, given), _sections(asked))
    if progress is not None:
        progress(100.0)
    return found


def _sections(asked: Asked) -> list[Any]:
    from sqlrank.reports import compared as comparing  # noqa: PLC0415  see report
    from sqlrank.reports import sections  # noqa: PLC0415  see report
    from sqlrank.reports.queries import queries  # noqa: PLC0415

    made = [sections.summary(asked)]
    compared = None
    if asked.system is not None:
        metrics, reasons = asked.comparable()
        part, compared = comparing.comparison(asked, metrics, reasons)
        made += [part, *([comparing.within_slices(asked, metrics)] if compared is not None and asked.groups else [])]
    made += [sections.curves(asked), *([sections.slices(asked)] if asked.groups else [])]
    if asked.is_ranking and asked.system is not None:
        made.append(queries(asked, compared))
    return [*made, sections.account(asked, compared)]


def _told(asked: Asked, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was asked, of which data, when and by which version."""
    when = datetime.now(UTC).replace(microsecond=0) if given["when"] is None else given["when"]
    said = [("made", when.isoformat(sep=" ") if isinstance(when, datetime) else str(when)), ("made with", f"sqlrank {__version__}")]
    said += [("metrics", ", ".join(asked.names))]
    for role, source in asked.sources.items():
        parts = source.items() if role == "run" and asked.runs else [("", source)]
        said += [(f"{role} {shortened(name)}".strip(), _source(item)) for name, item in parts]
    said += [(name, _text(given[name])) for name in OPTIONS if given[name]]
    return [(name, shortened(text)) for name, text in [*said, *((name, _text(value)) for name, value in asked.policies.items())]]


OPTIONS = ("columns", "inputs", "by", "system", "baseline", "where", "confidence", "unit", "compat", "sql_dir", "plan")


def _text(value: Any) -> str:
    """Return what was given for an option as a page says it."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={_text(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(item) if isinstance(item, str) else f"[{_text(item)}]" for item in value)
    return str(value) if isinstance(value, (str, int, float, Path)) else _source(value)


def _source(source: Any) -> str:
    """Return what a source is: a file with its size, the name of a table, or a table in memory with its rows."""
    if isinstance(source, (str, Path)):
        path = Path(source)
        try:
            return f"{source} ({path.stat().st_size:,} bytes)" if path.is_file() else str(source)
        except OSError:
            return str(source)
    if hasattr(source, "num_rows"):
        return f"a table in memory of {source.num_rows:,} rows"
    if isinstance(source, dict):
        return f"a dict of {len(source):,} queries"
    if isinstance(source, list):
        return "; ".join(map(_source, source))
    return f"a {type(source).__name__}"
