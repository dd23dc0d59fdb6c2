"""Write the first sentences and the headings of a report: systems against their baselines,
verdicts, and the largest regression.
"""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank.call.request import describe_source
from sqlrank.call.sources import QuerySource, leaf_sources
from sqlrank.errors import count_things, join_words
from sqlrank.output.contrast_tables import (
    BASELINE_BETTER,
    DIFFERS_LABEL,
    NOT_SIGNIFICANT,
    SYSTEM_BETTER,
    label_comparison,
)
from sqlrank.output.display import NO_BREAK, group_column_names, group_items
from sqlrank.reports.blocks import VerdictList, VerdictSentence, format_cell, truncate_text
from sqlrank.result_columns import SLICE_COLUMN
from sqlrank.result_metadata import read_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from sqlrank.reports.report_request import ReportRequest
    from sqlrank.result_columns import ResultRow
    from sqlrank.result_metadata import LeftOut


MIN_UNITS_WITHOUT_NOTE = 25
"""Number of units below which a caveat is added."""

MAX_PAIRS_NAMED = 10
"""Maximum number of system pairs, or of reasons, that sentences name."""

MIN_COVERAGE = 0.95
"""Share of judged documents at the top of lists below which a report warns."""


def verdict_list(
    request: ReportRequest,
    comparisons: pa.Table | None,
    group_comparisons: pa.Table | None,
    warnings: Sequence[str],
) -> VerdictList:
    """Return the sentences on compared systems, the largest regression of a group, and the data."""
    verdicts = (
        []
        if comparisons is None
        else [*_pair_verdicts(comparisons, request), *_few_units(comparisons)]
    )
    verdicts += (
        []
        if group_comparisons is None
        else [
            _largest_regression(group_comparisons, request),
            *_group_differences(group_comparisons, request),
        ]
    )
    return VerdictList([*verdicts, *(VerdictSentence("warning", text) for text in warnings)])


def label_rows(comparisons: pa.Table, request: ReportRequest) -> list[str]:
    """Return the verdict of each row, such as ``system is better``."""
    confidence = float(comparisons.schema.metadata[b"sqlrank.confidence"])
    return [
        label_comparison(row, request.find_direction(row["metric"]), confidence)
        for row in comparisons.to_pylist()
    ]


def _pair_verdicts(comparisons: pa.Table, request: ReportRequest) -> list[VerdictSentence]:
    """Return a sentence per pair of systems, and one on rows that cannot be compared."""
    rows = comparisons.to_pylist()
    labeled_rows = [
        (row, label)
        for row, label in zip(rows, label_rows(comparisons, request), strict=True)
        if row["n_units"] != 0
    ]
    if not request.declared_order:
        labeled_rows = _put_better_first(labeled_rows)
    pairs = group_items(labeled_rows, lambda entry: (entry[0]["system"], entry[0]["baseline"]))
    verdicts = [
        pair_verdict(
            system,
            baseline,
            list(_name_differences(pairs[system, baseline])),
        )
        for system, baseline in list(pairs)[:MAX_PAIRS_NAMED]
    ]
    if (num_omitted := len(pairs) - MAX_PAIRS_NAMED) > 0:
        verdicts.append(
            VerdictSentence(
                "even",
                f"{num_omitted:,} more pairs are in the table of differences.",
                is_minor=True,
            )
        )
    missing = [row for row in rows if row["n_units"] == 0]
    if missing:
        reasons = list(dict.fromkeys(f"{row['metric']} ({row['reason']})" for row in missing))
        more = (
            f", and {len(reasons) - MAX_PAIRS_NAMED:,} more"
            if len(reasons) > MAX_PAIRS_NAMED
            else ""
        )
        text = (
            f"{len(missing):,} of {len(rows):,} cannot be compared:"
            f" {', '.join(reasons[:MAX_PAIRS_NAMED])}{more}."
        )
        verdicts.append(VerdictSentence("warning", text))
    return verdicts


def _put_better_first(
    labeled_rows: Sequence[tuple[ResultRow, str]],
) -> list[tuple[ResultRow, str]]:
    """Return rows in which a system that is worse, and in no metric better, is the baseline of the
    other one: of systems without an order, a sentence is of the better one.
    """
    pairs = group_items(labeled_rows, lambda entry: (entry[0]["system"], entry[0]["baseline"]))
    labels = {pair: {label for _, label in entries} for pair, entries in pairs.items()}
    return [
        (_swap_systems(row), SYSTEM_BETTER if label == BASELINE_BETTER else label)
        if BASELINE_BETTER in pair_labels and SYSTEM_BETTER not in pair_labels
        else (row, label)
        for row, label in labeled_rows
        for pair_labels in [labels[row["system"], row["baseline"]]]
    ]


def _swap_systems(row: ResultRow) -> ResultRow:
    """Return a comparison of the baseline with the system."""
    negated = {
        name: None if row[other] is None else -row[other]
        for name, other in (
            ("difference", "difference"),
            ("ci_low", "ci_high"),
            ("ci_high", "ci_low"),
        )
    }
    swapped = {
        name: row[other]
        for one, two in (("system", "baseline"), ("value", "value_baseline"))
        for name, other in ((one, two), (two, one))
    }
    return {**row, **swapped, **negated}


def _name_differences(
    labeled_rows: Sequence[tuple[ResultRow, str]],
) -> Iterator[tuple[str, str]]:
    """Yield the verdict on each metric and the metric, which if it differs significantly has both
    values and the interval of the difference, with the level that is not that of the one before:
    ``AP 0.2000 → 0.3200 (+0.1200, 95% interval 0.0500 to 0.1900)``.
    """
    level = None
    for row, label in labeled_rows:
        is_named = label != NOT_SIGNIFICANT
        yield label, _name_difference(row, level) if is_named else str(row["metric"])
        level = row["ci_level"] if is_named else level


def _name_difference(row: ResultRow, level: float | None) -> str:
    """Return a metric with both values and the interval of their difference; ``level`` is that of
    the interval that stands before.
    """
    before, after, difference, low, high = (
        format_cell(name, row[name]).text
        for name in ("value_baseline", "value", "difference", "ci_low", "ci_high")
    )
    named = "" if row["ci_level"] in {None, level} else f"{100 * row['ci_level']:.4g}% interval "
    interval = "" if row["ci_low"] is None else f", {named}{low} to {high}"
    change = NO_BREAK.join([before, "→", after])
    return f"{row['metric']} {change} ({difference}{interval})"


def pair_verdict(
    system: str, baseline: str, labeled_metrics: Sequence[tuple[str, str]]
) -> VerdictSentence:
    """Return the sentence of a system against a baseline from the verdict on each metric.

    >>> better, even = "system is better", "not significant"
    >>> pair_verdict("new", "old", [(better, "AP"), (even, "P@5"), (better, "RR")]).text
    'new beats old on 2 of 3 metrics: AP and RR. The difference in P@5 is not significant.'
    """
    system, baseline = truncate_text(system), truncate_text(baseline)
    wins, losses, even, differing = (
        [metric for label, metric in labeled_metrics if label == selected]
        for selected in (SYSTEM_BETTER, BASELINE_BETTER, NOT_SIGNIFICANT, DIFFERS_LABEL)
    )
    num_metrics = len(labeled_metrics)
    metric_count = f"of {count_things(num_metrics, 'metric')}"
    sentences = []
    if wins:
        sentences.append(
            f"{system} beats {baseline} on {len(wins)} {metric_count}: {join_words(wins)}."
        )
    if losses:
        sentences.append(
            f"{system} is worse than {baseline} on {len(losses)} {metric_count}:"
            f" {join_words(losses)}."
        )
    if even and len(even) == num_metrics:
        sentences.append(
            f"{system} and {baseline} do not differ significantly on"
            f" {count_things(num_metrics, 'metric')}: {join_words(even)}."
        )
    elif even:
        sentences.append(
            f"The difference{'s' * (len(even) > 1)} in {join_words(even)}"
            f" {'are' if len(even) > 1 else 'is'} not significant."
        )
    if differing:
        verb = "differ" if len(differing) > 1 else "differs"
        pair = "" if wins or losses else f" between {baseline} and {system}"
        sentences.append(
            f"{join_words(differing)} {verb} significantly{pair}: neither higher nor lower is"
            " better."
        )
    state = (
        "mixed"
        if wins and losses
        else "better"
        if wins
        else "worse"
        if losses
        else "differs"
        if differing
        else "even"
    )
    return VerdictSentence(state, " ".join(sentences))


def _few_units(comparisons: pa.Table) -> list[VerdictSentence]:
    min_units = min(
        (units for units in comparisons["n_units"].to_pylist() if units),
        default=MIN_UNITS_WITHOUT_NOTE,
    )
    if min_units >= MIN_UNITS_WITHOUT_NOTE:
        return []
    units = count_things(min_units, read_unit(comparisons.schema.metadata))
    text = (
        f"Only {units} {'is' if min_units == 1 else 'are'} compared, so that only large differences"
        " are significant."
    )
    return [VerdictSentence("warning", text)]


def _largest_regression(comparisons: pa.Table, request: ReportRequest) -> VerdictSentence:
    """Return the sentence on groups in which the baseline is significantly better, with the largest
    relative difference.
    """
    rows = [row for row in comparisons.to_pylist() if row["winner"] == row["baseline"]]
    if not rows:
        return VerdictSentence(
            "even", "In no group is the baseline significantly better.", is_minor=True
        )
    row = max(rows, key=_measure_change)
    text = (
        f"Largest regression of a group: {_describe_group_row(row, comparisons, request)}. The"
        f" baseline is better in {len(rows):,} of"
        f" {count_things(comparisons.num_rows, 'comparison')} within groups."
    )
    return VerdictSentence("worse", text, is_minor=True)


def _measure_change(row: ResultRow) -> tuple[float, float]:
    """Return the relative and the absolute size of a difference, by which rows are ordered."""
    return abs(row["relative_difference"] or 0), abs(row["difference"])


def _describe_group_row(row: ResultRow, comparisons: pa.Table, request: ReportRequest) -> str:
    """Return a comparison within a group in words: both values, the interval of their difference
    and the number of units.
    """
    names = [
        name
        for name in group_column_names(comparisons)
        if name != SLICE_COLUMN and row[name] is not None
    ]
    group = ", ".join(f"{truncate_text(name)}={truncate_text(row[name])}" for name in names)
    numbers = {
        name: format_cell(name, row[name]).text
        for name in ("value_baseline", "value", "ci_low", "ci_high")
    }
    level = row["ci_level"] or request.confidence  # a correction widens intervals
    confidence = f"{100 * level:.4g}% interval of the difference"
    interval = (
        ""
        if row["ci_low"] is None
        else f", {confidence} {numbers['ci_low']} to {numbers['ci_high']}"
    )
    units = (
        ""
        if row["n_units"] is None
        else f", {count_things(row['n_units'], read_unit(comparisons.schema.metadata))}"
    )
    return (
        f"{row['metric']} of {truncate_text(row['system'])} in {group}, {numbers['value']} against"
        f" {numbers['value_baseline']} of {truncate_text(row['baseline'])}{interval}{units}"
    )


def _group_differences(comparisons: pa.Table, request: ReportRequest) -> list[VerdictSentence]:
    """Return a sentence per metric without a better direction that differs in groups."""
    pairs = zip(comparisons.to_pylist(), label_rows(comparisons, request), strict=True)
    verdicts = []
    for metric, labeled_rows in group_items(pairs, lambda pair: pair[0]["metric"]).items():
        rows = [row for row, label in labeled_rows if label == DIFFERS_LABEL]
        if rows:
            largest = _describe_group_row(max(rows, key=_measure_change), comparisons, request)
            text = (
                f"{truncate_text(metric)} differs significantly in {len(rows):,} of"
                f" {count_things(len(labeled_rows), 'comparison')} within groups, and neither"
                f" higher nor lower is better. The largest difference: {largest}."
            )
            verdicts.append(VerdictSentence("differs", text, is_minor=True))
    return verdicts


def data_warnings(rows: Sequence[ResultRow], systems: Sequence[str], cutoff: int) -> list[str]:
    """Return warnings from counts and shares of the data, one row per system.

    ``systems`` are the columns that name a row, and ``cutoff`` is that of ``Judged`` and
    ``num_tied``.
    """
    judged = f"Judged@{cutoff}"
    warnings = _merge_warnings(
        (name, f"{1 - row[judged]:.0%} of the first {cutoff} documents are unjudged")
        for name, row in _name_groups(rows, systems)
        if row.get(judged) is not None and row[judged] < MIN_COVERAGE
    )
    tied = f"num_tied@{cutoff}"
    warnings += _merge_warnings(
        (
            name,
            (
                f"{count_things(row[tied], 'document')} whose place among the first {cutoff}"
                f" depends on the order of equal scores ({tied})"
            ),
        )
        for name, row in _name_groups(rows, systems)
        if row.get(tied)
    )
    return warnings


def left_out_warnings(entries: Iterable[LeftOut]) -> list[str]:
    """Return warnings on units that policies left out or filled, with the systems whose numbers
    they are.
    """
    return _merge_warnings(
        (", ".join(str(value) for value in group.values() if value is not None), text)
        for entry in entries
        for group, text in (
            [(group, entry.in_group(group)) for group, _, _ in entry.groups] or [({}, str(entry))]
        )
        if text
    )


def _name_groups(
    rows: Sequence[ResultRow], systems: Sequence[str]
) -> list[tuple[str, Mapping[str, Any]]]:
    return [(", ".join(truncate_text(row[name]) for name in systems), row) for row in rows]


def _merge_warnings(named_texts: Iterable[tuple[str, str]]) -> list[str]:
    """Return one warning per text, with the first systems that it holds for."""
    names_by_text = {
        text: [name for name, _ in entries]
        for text, entries in group_items(named_texts, itemgetter(1)).items()
    }
    return [
        f"{_name_first(names, 'system')}: {text}."
        if any(names)
        else f"{text[0].upper()}{text[1:]}."
        for text, names in names_by_text.items()
    ]


MAX_TITLE_NAMES = 5
"""Maximum number of systems, files or columns that are named; of more only the number."""

MAX_TITLE_METRICS = 3
"""Maximum number of metrics that a heading names; of more it gives the number."""

METRIC_KINDS = {
    "predictions": "prediction metric",
    "classified": "classification metric",
    "records": "clustering metric",
}
"""Kinds of metrics by role; those without a role are of rankings."""


def compose_report_title(
    request: ReportRequest, overall: pa.Table, comparisons: pa.Table | None
) -> str:
    """Return the heading of a report: its systems, as they are compared, its metrics and groups.

    ``overall`` has the metrics by system, and ``comparisons`` the pairs, if systems are compared.
    """
    systems = (
        []
        if request.system is None
        else list(dict.fromkeys(map(str, overall[request.system].to_pylist())))
    )
    systems = systems or list(request.declared_order)
    baselines = (
        [] if comparisons is None else list(dict.fromkeys(comparisons["baseline"].to_pylist()))
    )
    # Clusters are compared with those of the first system, without a test.
    baselines = systems[:1] if request.role == "records" else baselines
    baseline = request.baseline or (baselines[0] if len(baselines) == 1 else None)
    kind = METRIC_KINDS.get(request.role or "", "ranking metric")
    groups = list(dict.fromkeys(name for group in request.groups for name in group))
    return compose_title(systems, baseline, request.names, kind, groups)


def compose_title(
    systems: Sequence[str],
    baseline: str | None,
    metrics: Sequence[str],
    kind: str,
    groups: Sequence[str] = (),
) -> str:
    """Return the heading of systems or variants, metrics of a kind, and columns that rows are
    grouped by.

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
    measured = (
        join_words(list(map(truncate_text, metrics)))
        if len(metrics) <= MAX_TITLE_METRICS
        else count_things(len(metrics), kind)
    )
    grouped = f" by {_name_first(groups, 'column')}" if groups else ""
    return f"{compared}: {measured}{grouped}" if compared else f"{measured}{grouped}"


def _name_first(names: Sequence[str], thing: str) -> str:
    """Return names in words, of many the first ones and the number of the others; an empty text for
    none.

    >>> _name_first(list("abcdefg"), "system"), _name_first(["a"], "system"), _name_first(
    ...     [], "system"
    ... )
    ('a, b, c, d, e and 2 more systems', 'a', '')
    """
    first_names = list(map(truncate_text, names))
    if len(names) > MAX_TITLE_NAMES + 1:
        first_names = [
            *first_names[:MAX_TITLE_NAMES],
            f"{len(names) - MAX_TITLE_NAMES:,} more {thing}s",
        ]
    return join_words(first_names)


def name_baseline(name: object) -> str:
    """Return the name of a baseline, which says that it is one.

    >>> name_baseline("bm25"), name_baseline("baseline")
    ('bm25 (baseline)', 'baseline')
    """
    return truncate_text(name) if name == "baseline" else f"{truncate_text(name)} (baseline)"


def _is_query(source: Any) -> bool:
    """Return True for the text of a query, which the settings show."""
    return isinstance(source, QuerySource) and source.option is None


def describe_data(sources: Sequence[Any], systems: Sequence[str] = ()) -> str:
    """Return the names of systems, if the heading has none, and of files and tables.

    >>> describe_data(["data/qrels.parquet", "data/bm25.run"], ["bm25"])
    'bm25 on qrels.parquet and bm25.run'
    """
    leaves = [leaf for source in sources for leaf in leaf_sources(source)]
    names = [Path(leaf).name if isinstance(leaf, str) else describe_source(leaf) for leaf in leaves]
    names = [
        name
        for name, leaf in zip(names, leaves, strict=True)
        if (isinstance(leaf, str) or not name.startswith("a ")) and not _is_query(leaf)
    ]
    parts = _name_first(systems, "system"), _name_first(list(dict.fromkeys(names)), "source")
    return truncate_text(" on ".join(filter(None, parts)))
