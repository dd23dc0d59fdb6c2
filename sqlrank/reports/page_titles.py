"""Compose headings of reports, which name what is compared, and the line below them, which names systems and data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank.call_descriptions import describe_source
from sqlrank.errors import join_words
from sqlrank.reports.blocks import truncate_text
from sqlrank.reports.verdict_sentences import count_things
from sqlrank.request import leaf_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sqlrank.reports.report_request import ReportRequest

MAX_TITLE_NAMES = 5
"""Maximum number of systems, files or columns that are named; of more only the number."""

MAX_TITLE_METRICS = 3
"""Maximum number of metrics that a heading names; of more it gives the number."""

METRIC_KINDS = {"predictions": "prediction metric", "classified": "classification metric", "records": "clustering metric"}
"""Kinds of metrics by role; those without a role are of rankings."""


def compose_report_title(request: ReportRequest, overall: pa.Table, comparisons: pa.Table | None) -> str:
    """Return the heading of a report: its systems, as they are compared, its metrics and groups.

    ``overall`` has the metrics by system, and ``comparisons`` the pairs, if systems are compared.
    """
    systems = [] if request.system is None else list(dict.fromkeys(map(str, overall[request.system].to_pylist())))
    systems = systems or list(request.declared_order)
    baselines = [] if comparisons is None else list(dict.fromkeys(comparisons["baseline"].to_pylist()))
    # Clusters are compared with those of the first system, without a test.
    baselines = systems[:1] if request.role == "records" else baselines
    baseline = request.baseline or (baselines[0] if len(baselines) == 1 else None)
    kind = METRIC_KINDS.get(request.role or "", "ranking metric")
    groups = list(dict.fromkeys(name for group in request.groups for name in group))
    return compose_title(systems, baseline, request.names, kind, groups)


def compose_title(systems: Sequence[str], baseline: str | None, metrics: Sequence[str], kind: str, groups: Sequence[str] = ()) -> str:
    """Return the heading of systems or variants, metrics of a kind, and columns that rows are grouped by.

    >>> compose_title(["old", "new"], "old", ["AP", "RR"], "ranking metric", ["country"])
    'new against old: AP and RR by country'
    >>> compose_title(["old", "new"], None, ["AUC", "Brier", "LogLoss", "KS"], "prediction metric")
    'old and new: 4 prediction metrics'
    >>> compose_title([], None, ["nDCG@10"], "ranking metric")
    'nDCG@10'
    """
    others = [name for name in systems if name != baseline]
    compared = _name_first(others, "system")
    if baseline is not None and others:
        compared = f"{compared} against {truncate_text(baseline)}"
    elif baseline is not None:
        compared = truncate_text(baseline)
    measured = join_words(list(map(truncate_text, metrics))) if len(metrics) <= MAX_TITLE_METRICS else count_things(len(metrics), kind)
    grouped = f" by {_name_first(groups, 'column')}" if groups else ""
    return f"{compared}: {measured}{grouped}" if compared else f"{measured}{grouped}"


def _name_first(names: Sequence[str], thing: str) -> str:
    """Return names in words, of many the first ones and the number of the others; an empty text for none.

    >>> _name_first(list("abcdefg"), "system"), _name_first(["a"], "system"), _name_first([], "system")
    ('a, b, c, d, e and 2 more systems', 'a', '')
    """
    first_names = list(map(truncate_text, names))
    if len(names) > MAX_TITLE_NAMES + 1:
        first_names = [*first_names[:MAX_TITLE_NAMES], f"{len(names) - MAX_TITLE_NAMES:,} more {thing}s"]
    return join_words(first_names)


def describe_data(sources: Sequence[Any], systems: Sequence[str] = ()) -> str:
    """Return the line below the heading: names of systems, if the heading has none, and of files and tables.

    >>> describe_data(["data/qrels.parquet", "data/bm25.run"], ["bm25"])
    'bm25 on qrels.parquet and bm25.run'
    """
    leaves = [leaf for source in sources for leaf in leaf_sources(source)]
    names = [Path(leaf).name if isinstance(leaf, str) else describe_source(leaf) for leaf in leaves]
    names = [name for name, leaf in zip(names, leaves, strict=True) if isinstance(leaf, str) or not name.startswith("a ")]
    parts = _name_first(systems, "system"), _name_first(list(dict.fromkeys(names)), "source")
    return truncate_text(" on ".join(filter(None, parts)))
