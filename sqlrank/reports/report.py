"""Render the HTML page of a report from sections, saved to a checked file and shown in notebooks,
and make it of metrics, comparisons, curves, groups, queries, a rollup or an experiment: the public
function ``report``.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlrank._version import __version__
from sqlrank.call.argument_checks import check_arguments, entry_point
from sqlrank.call.request import describe_source
from sqlrank.call.sources import SourceGroup
from sqlrank.charts.export import require_modules as need_charts
from sqlrank.errors import SqlrankError, count_things
from sqlrank.output.contrast_tables import DIFFERS_LABEL
from sqlrank.output.output_file import FileKind, OutputFile
from sqlrank.registry.roles import INPUTS_BY_KEYWORD
from sqlrank.reports.blocks import truncate_text
from sqlrank.reports.verdict_sentences import (
    compose_report_title,
    compose_title,
    describe_data,
)
from sqlrank.result_columns import N_UNITS
from sqlrank.result_metadata import ROW_UNIT, name_unit, read_left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Unpack

    from jinja2 import Template

    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.option_types import DialectName, Policies
    from sqlrank.registry.metric import Metric
    from sqlrank.reports.blocks import Section
    from sqlrank.reports.report_request import ReportRequest
    from sqlrank.reports.rollup_report import RollupReportRequest

TEMPLATE_FOLDER = Path(__file__).parent
PAGE_SUFFIXES = (".html", ".htm")

MARK_TITLES = {
    "better": "significantly better",
    "worse": "significantly worse",
    "differs": DIFFERS_LABEL,
}
"""Titles of the marks of cells by verdict."""


@dataclass(frozen=True, repr=False)
class Report:
    """A report as one self-contained HTML page."""

    title: str
    html: str

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Save the page to a file with suffix ``.html``, and return its path.

        Raises:
            SqlrankError: another suffix, a missing folder, or an existing file that is not a report
                of sqlrank's (without ``force``).
        """
        check_arguments({"path": path}, ["path"])
        page_file(Path(path), "path", force).write(self.html)
        return Path(path)

    def __repr__(self) -> str:
        return (
            f"<sqlrank report {self.title!r}, {len(self.html.encode()):,} bytes of HTML, for"
            " save(path)>"
        )

    def _repr_html_(self) -> str:
        """Return a sandboxed frame that isolates the page's style and script from the notebook."""
        allowed = 'sandbox="allow-scripts allow-downloads" allow="clipboard-write"'
        style = "width:100%;height:80vh;border:1px solid #8888"
        return (
            f'<iframe title="{escape(self.title)}" {allowed} style="{style}"'
            f' srcdoc="{escape(self.html)}"></iframe>'
        )


def page_file(path: Path, option: str, force: bool, sources: tuple[Any, ...] = ()) -> OutputFile:
    """Return the output file of a report, checked before any work.

    Raises ``SqlrankError`` for a file that must not be written.
    """
    file = OutputFile(path, FileKind.REPORT, option, force, sources=sources)
    if path.suffix.lower() not in PAGE_SUFFIXES:
        raise SqlrankError(
            f"{file.label}: a report is a page of HTML. Name a file that ends in .html"
        )
    return file


def require_report_modules() -> None:
    """Raise ``SqlrankError`` if an optional dependency of reports is not installed."""
    try:
        need_charts("altair", "vl_convert", "jinja2")
    except SqlrankError as error:
        raise SqlrankError(
            str(error)
            .replace("charts need", "a report needs")
            .replace("vl-convert-python", "vl-convert-python jinja2")
        ) from None


def render_page(
    title: str,
    arguments: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    subject: str,
    head: str,
) -> Report:
    """Render sections as a page; ``arguments`` lists the arguments of the report as text,
    ``subject`` stands in the title of the window, and ``head`` below the heading.
    """
    from markupsafe import Markup  # of jinja2, an optional dependency

    script = (TEMPLATE_FOLDER / "report.js").read_text("utf-8")
    # The content security policy allows only this script, and no requests.
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = _load_template().render(
        title=title,
        subject=subject,
        head=head,
        arguments=arguments,
        sections=sections,
        labels=MARK_TITLES,
        version=__version__,
        script=Markup(script),  # noqa: S704  our own file
        # Our own file
        style=Markup((TEMPLATE_FOLDER / "report.css").read_text("utf-8")),  # noqa: S704
        script_hash=script_hash,
    )
    return Report(title, html)


@cache
def _load_template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # an optional dependency
    from markupsafe import Markup, escape

    def mark_breaks(text: str) -> Markup:
        """Let a name of several words break between these on a phone, such as CalibrationRatio."""
        words = re.split(r"(?<=[a-z]{2})(?=[A-Z])|(?<=_)(?=.)", text)
        return Markup("<wbr>").join(map(escape, words))

    def mark_claim(text: str) -> Markup:
        """Emphasize the claim of a sentence, before the numbers that support it."""
        claim, colon, numbers = text.partition(": ")
        return Markup("<strong>{}:</strong> {}").format(claim, numbers) if colon else escape(text)

    environment = Environment(
        loader=FileSystemLoader(TEMPLATE_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Vega escapes the texts of its SVG.
    environment.filters["drawn"] = Markup
    environment.filters["breakable"] = mark_breaks
    environment.filters["claimed"] = mark_claim
    environment.globals["has_chart"] = _has_chart
    return environment.get_template("report.html.j2")


def _has_chart(block: Any, following: Any) -> bool:
    """Return True for a table with the chart of it, which stand side by side on a wide screen."""
    kinds = [getattr(each, "kind", None) for each in (block, following)]
    return kinds == ["table", "picture"] and not block.is_folded and bool(block.rows)


DEFAULT_CONFIDENCE = 0.95

TYPICAL_CALLS = 20
"""Approximate number of calls of a report, for its progress."""


@entry_point
def report(
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    rollup: Any = None,
    experiment: Any = None,
    inputs: Mapping[str, Any] | None = None,
    connection: Any = None,
    dialect: DialectName | None = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    system: str | None = None,
    baseline: str | None = None,
    lower_is_better: str | Sequence[str] = (),
    where: str | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    interval: str = "fixed",
    expected_units: int | None = None,
    unit: str | None = None,
    window_days: int | None = None,
    reference: str | None = None,
    current: str | None = None,
    tolerance: float | str | Mapping[str, float | str] | None = None,
    title: str | None = None,
    created_at: datetime | str | None = None,
    max_rows: int = 50,
    query_examples: int = 3,
    compat: str | None = None,
    check: CheckMode = "auto",
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Unpack[Policies],
) -> Report:
    """Make an HTML page of metrics, comparisons, curves, groups, queries and data counts, or of a
    rollup or an experiment.

    Args:
        metrics: metrics to evaluate; by default five common ones of rankings or of predictions.
        run: as for :func:`sqlrank.evaluate`; several runs, ``{"bm25": ..., "dense": ...}``, are
            compared, and the first is the baseline.
        qrels: judgments.
        predictions: predictions; several scores (``columns={"score": ["old", "new"]}``) are
            compared.
        queries: as for :func:`sqlrank.evaluate`.
        rollup: partial aggregates from :func:`sqlrank.rollup`, instead of rows: the report is of
            its metrics over days, and of their drift.
        experiment: a result of :func:`sqlrank.experiment`, or the Parquet file of one, instead of
            rows: the report is of its effects.
        inputs: as for :func:`sqlrank.evaluate`; with ``classified`` the report is of predicted
            classes, with ``records`` or ``predicted_clusters`` of clusters of records.
        connection: where the data are.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        columns: mapping from canonical column names to those of the source.
        by: columns to group by, the worst group first; a list of lists gives several groupings,
            each a table.
        system: the column that identifies systems, if they are in one table.
        baseline: the system that all others are compared with; by default all pairs are compared,
            and of two systems in one table, the better one is compared with the other.
        lower_is_better: metrics of columns of your own, or the columns, of which lower values are
            better: ``"latency_ms"``.
        where: a SQL condition on the rows to read.
        confidence: confidence level of intervals.
        interval: interval method of comparisons of systems, as for :func:`sqlrank.compare`.
        expected_units: as for :func:`sqlrank.compare`.
        unit: for metrics of predictions the randomization unit column.
        window_days: for a rollup the window length in days, as for :func:`sqlrank.evaluate`; by
            default each day has its own values.
        reference: for a rollup a condition on the rows compared with, as for :func:`sqlrank.drift`;
            by default all days before the last window.
        current: for a rollup a condition on the rows to compare; by default all rows, or without
            ``reference`` the last window, of 7 days if ``window_days`` is not given.
        tolerance: for a rollup the tolerated changes, as for :func:`sqlrank.drift`; for an
            experiment the tolerated losses of guardrails, the metrics that must not become worse:
            ``{"latency": "2%"}``.
        title: the heading of the page; by default it names what is compared, such as ``new against
            old: nDCG@10 and AP``.
        created_at: creation time shown on the page, a date or a text; now by default.
        max_rows: maximum number of rows shown per table.
        query_examples: number of queries with the largest losses, and with the largest gains, whose
            ranked lists are shown, if there are several runs; number of the worst clusters whose
            records are shown.
        compat: as for :func:`sqlrank.evaluate`.
        check: as for :func:`sqlrank.evaluate`.
        sql_dir: as for :func:`sqlrank.evaluate`.
        plan: as for :func:`sqlrank.evaluate`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: seconds after which the report is cancelled.
        progress: as for :func:`sqlrank.evaluate`.
        **policies: as for :func:`sqlrank.evaluate`.

    Returns:
        A :class:`sqlrank.reports.report.Report`; its ``save(path)`` writes the page, and a
        notebook displays it. The same data and ``created_at`` give the same bytes.

    Raises:
        MetricError: a metric, parameter or policy that does not exist or does not fit.
        InputError: data that cannot be evaluated.
        ExecutionError: time or memory ran out, or a database refused a statement.
        SqlrankError: jinja2 or an optional dependency of charts is not installed.

    >>> import sqlrank
    >>> runs = {"old": {"q1": {"a": 2.0, "b": 1.0}}, "new": {"q1": {"b": 2.0, "a": 1.0}}}
    >>> sqlrank.report("MRR", run=runs, qrels={"q1": {"b": 1}}, created_at="today").title
    'new against old: MRR'
    """
    arguments = locals()
    # Engines take half a second that help does not need
    from sqlrank.cancellation import run_in_time

    run_in_time(_import_modules)
    from sqlrank.reports.report_request import ReportRequest  # loaded by now
    from sqlrank.reports.rollup_report import RollupReportRequest

    if experiment is not None:
        content = _report_experiment(experiment, tolerance, max_rows)
    elif rollup is not None:
        content = _report_rollup(RollupReportRequest.from_arguments(arguments), rollup)
    else:
        request = ReportRequest.from_arguments(arguments).with_progress(progress, TYPICAL_CALLS)
        content = _report_rows(request, arguments)
    created_at = datetime.now(UTC).replace(microsecond=0) if created_at is None else created_at
    created_text = (
        created_at.isoformat(sep=" ") if isinstance(created_at, datetime) else str(created_at)
    )
    day = f"{created_at:%-d %B %Y}" if isinstance(created_at, datetime) else created_text
    data = describe_data(content.sources, content.systems if title else ())
    settings = [
        ("created at", created_text),
        ("created with", f"sqlrank {__version__}"),
        *content.settings,
    ]
    return render_page(
        title or content.heading,
        [(name, truncate_text(text)) for name, text in settings],
        content.sections,
        data,
        " · ".join(filter(None, [content.size, day, f"sqlrank {__version__}", data])),
    )


class PageContent(NamedTuple):
    """The heading of a page, its sections, its settings as text, its sources, the systems that the
    line below another heading names, and the number of units in words.
    """

    heading: str
    sections: Sequence[Any]
    settings: Sequence[tuple[str, str]]
    sources: Sequence[Any]
    systems: Sequence[str] = ()
    size: str = ""


def _import_modules() -> None:
    """Import the modules of reports, which takes seconds the first time."""
    require_report_modules()
    for name in (
        "report_request",
        "sections",
        "detail_sections",
        "rollup_report",
        "experiment_report",
    ):
        import_module(f"sqlrank.reports.{name}")


def _report_experiment(experiment: Any, tolerance: Any, max_rows: int) -> PageContent:
    from sqlrank.reports.experiment_report import Effects, experiment_sections  # loaded by now

    effects = Effects.from_result(experiment, tolerance, max_rows)
    heading = compose_title(
        [effects.control, *effects.variants], effects.control, effects.names, "metric"
    )
    settings = [("experiment", _describe_source(experiment)), *effects.settings]
    size = count_things(effects.num_units, effects.unit)
    return PageContent(heading, experiment_sections(effects), settings, [experiment], size=size)


def _report_rollup(request: RollupReportRequest, rollup: Any) -> PageContent:
    from sqlrank.reports.rollup_report import DAY, rollup_sections  # loaded by now

    heading = compose_title([], None, request.names, "metric", [DAY, *request.by])
    options = {name: getattr(request, name) for name in ROLLUP_OPTIONS}
    settings = [
        ("metrics", ", ".join(request.names)),
        ("rollup", _describe_source(rollup)),
        *_format_arguments(options),
        *_format_arguments(request.policies),
    ]
    sections, size, reason = rollup_sections(request)
    settings += [("no confidence intervals", reason)] if reason else []
    return PageContent(heading, sections, settings, [rollup], size=size)


def _report_rows(request: ReportRequest, arguments: Mapping[str, Any]) -> PageContent:
    settings = [("metrics", ", ".join(request.names))]
    for role in [role for role in INPUTS_BY_KEYWORD if role in request.sources]:
        source = request.sources[role]
        members = source.items() if role == "run" and request.runs else [("", source)]
        settings += [
            (f"{role} {truncate_text(name)}".strip(), _describe_source(member))
            for name, member in members
        ]
    settings += _format_arguments({name: arguments[name] for name in OPTIONS})
    settings += [(name, _format_argument(value)) for name, value in request.policies.items()]
    sources = [
        member
        for source in request.sources.values()
        for member in (source.values() if source is request.runs else [source])
    ]
    with request.sharing_queries() as shared_request:
        heading, sections, size = _build_sections(shared_request)
    return PageContent(heading, sections, settings, sources, request.declared_order, size)


def _build_sections(request: ReportRequest) -> tuple[str, list[Any], str]:
    """Return a heading that names what is compared, the sections of the page, and the number of
    units in words, empty if no metric has an interval.
    """
    from sqlrank.reports import detail_sections, sections  # loaded by now
    from sqlrank.reports.verdict_sentences import left_out_warnings, verdict_list

    page_sections = []
    overall = request.with_intervals()
    if (oriented := request.with_better_against_worse(overall)) is not request:
        request, overall = oriented, oriented.sort_systems(overall)
    comparisons = group_comparisons = None
    is_clustering = request.role == sections.CLUSTER_ROLE
    if request.system is not None and not is_clustering:
        metrics, reasons = request.split_comparable()
        section, comparisons = sections.build_comparison_section(request, metrics, reasons)
        page_sections.append(section)
        if comparisons is not None and request.groups:
            section, group_comparisons = sections.comparison_by_group(request, metrics)
            page_sections.append(section)
    page_sections += [
        *([sections.group_section(overall, request)] if request.groups else []),
        detail_sections.cluster_section(request)
        if is_clustering
        else sections.curve_section(request, overall),
    ]
    if request.is_ranking and request.system is not None:
        page_sections.append(detail_sections.query_section(request, comparisons))
    warnings: list[str] = []
    if request.role != sections.CLASS_ROLE:
        account, warnings = sections.data_account(request, comparisons)
        page_sections.append(account)
    warnings = left_out_warnings(read_left_out(overall.schema.metadata)) + warnings
    verdicts = (
        detail_sections.cluster_verdicts(overall, request, warnings)
        if is_clustering
        else verdict_list(request, comparisons, group_comparisons, warnings)
    )
    summary = sections.summary_section(overall, request, verdicts, comparisons)
    heading = compose_report_title(request, overall, comparisons)
    if is_clustering:
        thing, sizes = "record", request.evaluate("num_records")
        columns = ["num_records"]
    else:
        thing = "query" if request.is_ranking else name_unit(request.unit or ROW_UNIT)
        sizes = overall
        columns = [name for name in overall.column_names if name.endswith(f".{N_UNITS}")]
    counts = [count for name in columns for count in sizes[name].to_pylist()]
    num_units = int(max(filter(None, counts), default=0))
    return heading, [summary, *page_sections], count_things(num_units, thing) if num_units else ""


ROLLUP_OPTIONS = ("by", "where", "window_days", "reference", "current", "tolerance", "confidence")
OPTIONS = (
    "columns",
    "inputs",
    "by",
    "system",
    "baseline",
    "lower_is_better",
    "where",
    "confidence",
    "unit",
    "compat",
    "sql_dir",
    "plan",
)


def _format_arguments(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the arguments that were given as texts for the page."""
    return [(name, _format_argument(value)) for name, value in arguments.items() if value]


def _format_argument(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_format_argument(element)}" for name, element in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(
            _format_argument(element)
            if isinstance(element, str)
            else f"[{_format_argument(element)}]"
            for element in value
        )
    return str(value) if isinstance(value, (str, int, float, Path)) else _describe_source(value)


def _describe_source(source: Any) -> str:
    """Describe a source: a file with its size, a table name, or an in-memory table with its
    rows.
    """
    if isinstance(source, (str, Path)):
        path = Path(source)
        try:
            return f"{source} ({path.stat().st_size:,} bytes)" if path.is_file() else str(source)
        except OSError:
            return str(source)
    if isinstance(getattr(source, "num_rows", None), int):  # which may be a column
        return f"a table in memory of {count_things(source.num_rows, 'row')}"
    if isinstance(source, dict):
        return f"a dict of {count_things(len(source), 'query')}"
    if isinstance(source, list):
        return "; ".join(map(_describe_source, source))
    if isinstance(source, SourceGroup):
        return ", ".join(
            f"{name}={_describe_source(member)}" if name else _describe_source(member)
            for name, member in source.members
        )
    return describe_source(source)
