"""Build the report of an experiment: verdicts on variants, guardrails and sample ratio, effects by
metric, and units by variant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlrank.errors import InputError, count_things, join_words
from sqlrank.inference import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    Tolerance,
    judge_limits,
    parse_tolerances,
)
from sqlrank.output.contrast_tables import (
    NOT_SIGNIFICANT,
    have_lifts,
    label_comparison,
)
from sqlrank.output.display import format_number
from sqlrank.reports.blocks import (
    Cell,
    Section,
    TableBlock,
    VerdictList,
    VerdictSentence,
    build_figure,
    format_cell,
    result_block,
    truncate_text,
)
from sqlrank.reports.verdict_sentences import (
    MAX_PAIRS_NAMED,
    MIN_UNITS_WITHOUT_NOTE,
    pair_verdict,
)
from sqlrank.result_columns import EXPERIMENT_SCHEMA, SRM_ALPHA, Kind, ResultRow
from sqlrank.result_metadata import (
    EXPERIMENT,
    ResultMetadata,
    make_mapping_check,
    read_json,
    read_parquet,
    read_result_metadata,
    read_texts,
    read_unit,
)

ADVICE = (
    "Give a result of sqlrank.experiment as it was returned, or the Parquet file that 'sqlrank"
    " experiment' wrote with -o"
)
MISMATCH = "sample ratio mismatch"
"""Beginning of the note of a result whose numbers of units do not fit the expected shares."""

SETTINGS = ("control", "confidence", "correction", "interval", "lift_scale")
"""Settings of an experiment in the metadata of its result."""

LIFT_DIGITS = 3
"""Decimals of lifts in sentences, which are percentages with one."""

GUARDRAIL_TEXTS = {
    FAIL: ("worse", "is worse than {control} by more than the tolerance of {tolerance}"),
    INCONCLUSIVE: (
        "inconclusive",
        "may be worse than {control} by more than the tolerance of {tolerance}",
    ),
    PASS: ("pass", "is not worse than {control} by more than the tolerance of {tolerance}"),
}
"""State and text of the sentence on a guardrail by its verdict."""

INTERVAL_NOTES = {
    "fixed": "Intervals are valid for one look, at the planned end of the experiment.",
    "sequential": "Intervals are valid at every look.",
}
"""Sentence on the validity of intervals by their method."""


@dataclass(frozen=True)
class Effects:
    """The result of an experiment: its table and metadata, a row per metric and variant, the row of
    the sample ratio, and tolerances of guardrails.
    """

    table: pa.Table
    metadata: ResultMetadata
    texts: Mapping[str, str]
    rows: list[dict[str, Any]]
    sample_ratio: dict[str, Any]
    expected_shares: Mapping[str, float]
    guardrails: Mapping[str, Tolerance]
    max_rows: int

    @classmethod
    def from_result(cls, result: Any, tolerance: Any, max_rows: int) -> Effects:
        """Read a result or its Parquet file; raise ``InputError`` for anything else, and
        ``MetricError`` for invalid tolerances.
        """
        label = f"experiment {str(result)!r}" if isinstance(result, (str, Path)) else "experiment"
        table = read_parquet(result, label, ADVICE) if isinstance(result, (str, Path)) else result
        if not isinstance(table, pa.Table):
            raise InputError(f"{label}: a {type(table).__name__} is no table of effects. {ADVICE}")
        metadata = read_result_metadata(table.schema.metadata, label)
        if (
            metadata is None
            or metadata.result != EXPERIMENT
            or not set(EXPERIMENT_SCHEMA) <= set(table.column_names)
        ):
            raise InputError(f"{label}: this table is no result of an experiment. {ADVICE}")
        all_rows = table.to_pylist()
        rows, ratios = (
            [row for row in all_rows if (row["variant"] is None) == is_ratio]
            for is_ratio in (False, True)
        )
        if (
            not rows
            or len(ratios) != 1
            or not {row["metric"] for row in rows} <= metadata.measures.keys()
        ):
            raise InputError(f"{label}: this table has not the rows of an experiment. {ADVICE}")
        shares_fit = make_mapping_check(lambda value: isinstance(value, (int, float)))
        shares = read_json(table.schema.metadata, "sqlrank.expected_shares", shares_fit, label)
        settings = {
            name.removeprefix("sqlrank."): text
            for name, text in read_texts(table.schema.metadata).items()
        }
        if missing := [name for name in SETTINGS if name not in settings]:
            raise InputError(f"{label} has damaged metadata (sqlrank.{missing[0]}). {ADVICE}")
        names = list(dict.fromkeys(row["metric"] for row in rows))
        guardrails = {} if tolerance is None else _parse_guardrails(tolerance, names)
        return cls(table, metadata, settings, rows, ratios[0], shares, guardrails, max_rows)

    @property
    def control(self) -> str:
        """Return the control variant."""
        return self.texts["control"]

    @property
    def names(self) -> list[str]:
        """Return the metrics in order."""
        return list(dict.fromkeys(row["metric"] for row in self.rows))

    @property
    def variants(self) -> list[str]:
        """Return the variants that are compared with the control, in order."""
        return list(dict.fromkeys(row["variant"] for row in self.rows))

    @property
    def unit(self) -> str:
        """Return the word for a unit."""
        return read_unit(self.table.schema.metadata)

    @property
    def num_units(self) -> int:
        """Return the number of units of all variants."""
        return int(self.sample_ratio["n_units"])

    @property
    def notes(self) -> list[str]:
        """Return the warnings of the result."""
        return [note for note in self.texts.get("notes", "").splitlines() if note]

    @property
    def has_mismatch(self) -> bool:
        """Return True if the numbers of units do not fit the expected shares, so that no effect can
        be trusted.
        """
        return any(note.startswith(MISMATCH) for note in self.notes)

    @property
    def settings(self) -> list[tuple[str, str]]:
        """Return the settings of the experiment and of its guardrails as text."""
        tolerances = ", ".join(f"{name}={tolerance}" for name, tolerance in self.guardrails.items())
        shares = ", ".join(f"{name}={share:g}" for name, share in self.expected_shares.items())
        settings = {name: self.texts[name] for name in SETTINGS} | {
            "expected_shares": shares,
            "tolerance": tolerances,
        }
        return [(name, text) for name, text in settings.items() if text]

    def find_direction(self, metric: str) -> str:
        """Return the better direction of a metric."""
        return self.metadata.measures[metric]["better"]

    def label_row(self, row: ResultRow) -> str:
        """Return the verdict of a row, such as ``system is better``."""
        compared = {**row, "system": row["variant"], "baseline": row["control"]}
        return label_comparison(
            compared, self.find_direction(row["metric"]), float(self.texts["confidence"])
        )


def _parse_guardrails(tolerance: Any, names: list[str]) -> dict[str, Tolerance]:
    """Return the tolerances of metrics; names of metrics of an experiment are texts of any form,
    which are looked up as they are.
    """
    if not isinstance(tolerance, Mapping):
        return parse_tolerances(tolerance, names, {})
    if unknown := [name for name in tolerance if name not in {*names, "*"}]:
        raise InputError(
            f"tolerance names {unknown[0]!r}, which is no metric of this experiment. There are:"
            f" {', '.join(names)}"
        )
    return parse_tolerances(tolerance, names, {})


def experiment_sections(effects: Effects) -> list[Section]:
    """Return the sections of the page."""
    note = INTERVAL_NOTES.get(effects.texts["interval"], "")
    # The sample ratio has a sentence above, and its test is in the section of units.
    variant_rows = effects.table.filter(pc.is_valid(effects.table["variant"]))
    table = result_block(
        variant_rows, "effects-table", "Metrics by variant", effects.max_rows, note=note
    )
    effect = (
        f"Lifts over {truncate_text(effects.control)}"
        if have_lifts(effects.rows)
        else f"Differences from {truncate_text(effects.control)}"
    )
    figures = build_figure(
        effects.table, "effects-chart", f"{effect}, with their intervals", "forest"
    )
    blocks = [_list_verdicts(effects), table, figures]
    return [Section("summary", "Summary", blocks), _units_section(effects)]


def _list_verdicts(effects: Effects) -> VerdictList:
    """Return the sentences that the page begins with: a mismatch of the sample ratio alone, or
    variants and guardrails, and then warnings.
    """
    notes = [
        VerdictSentence("warning", f"{note[0].upper()}{note[1:]}.")
        for note in effects.notes
        if not note.startswith(MISMATCH)
    ]
    least = min(min(row["n_units_control"], row["n_units"]) for row in effects.rows)
    if least < MIN_UNITS_WITHOUT_NOTE:
        notes.append(
            VerdictSentence(
                "warning",
                f"A variant has only {count_things(least, effects.unit)}: only large effects are"
                " significant.",
            )
        )
    p_value = format_cell("p_value", effects.sample_ratio["p_value"]).text
    if effects.has_mismatch:
        text = (
            f"Sample ratio mismatch (p {p_value}): the numbers of units do not fit the expected"
            " shares, so no effect below can be trusted. Find the cause first."
        )
        return VerdictList([VerdictSentence("worse", text), *notes])
    ratio = VerdictSentence(
        "even",
        f"The numbers of units fit the expected shares (sample ratio test, p {p_value}).",
        is_minor=True,
    )
    return VerdictList(
        [
            *_variant_verdicts(effects),
            *_guardrail_verdicts(effects),
            *_detectable_differences(effects),
            *notes,
            ratio,
        ]
    )


def _detectable_differences(effects: Effects) -> list[VerdictSentence]:
    """Return a sentence on the smallest differences that the experiment detects, if any difference
    is not significant.
    """
    names = [
        f"{format_cell('mde', row['mde']).text}{_write_share(row['mde'], row['value_control'])}"
        f" in {truncate_text(row['metric'])}"
        + f" ({truncate_text(row['variant'])})"
        * (len(effects.variants) > 1)
        for row in effects.rows
        if row["mde"] is not None and effects.label_row(row) == NOT_SIGNIFICANT
    ][: effects.max_rows]
    text = (
        f"These units suffice to detect differences of {join_words(names)}. Smaller ones need more"
        " units."
    )
    return [VerdictSentence("even", text, is_minor=True)] if names else []


def _write_share(difference: float, control: float | None) -> str:
    """Return a difference as a share of the value of the control, in parentheses.

    >>> _write_share(0.002, 0.0046), _write_share(0.002, 0.0)
    (' (43.5%)', '')
    """
    return f" ({difference / abs(control):.1%})" if control else ""


def _variant_verdicts(effects: Effects) -> list[VerdictSentence]:
    """Return a sentence per variant against the control."""
    verdicts = []
    for variant in effects.variants[:MAX_PAIRS_NAMED]:
        labeled_metrics = [
            (
                effects.label_row(row),
                f"{truncate_text(row['metric'])}{_format_lift(row)}",
            )
            for row in effects.rows
            if row["variant"] == variant
        ]
        verdicts.append(pair_verdict(variant, effects.control, labeled_metrics))
    if (num_omitted := len(effects.variants) - MAX_PAIRS_NAMED) > 0:
        verdicts.append(
            VerdictSentence("even", f"{num_omitted:,} more variants are in the table of effects.")
        )
    return verdicts


def _format_lift(row: ResultRow) -> str:
    """Return the lift of a row with its interval, as in ``(+25.0%, -4.9% to +64.3%)``, after a
    space; empty without a lift.
    """
    lift, low, high = row["relative_difference"], row["relative_ci_low"], row["relative_ci_high"]
    if lift is None:
        return ""
    interval = (
        ""
        if low is None or high is None
        else (
            f", {format_number(low, Kind.LIFT, LIFT_DIGITS)} to"
            f" {format_number(high, Kind.LIFT, LIFT_DIGITS)}"
        )
    )
    return f" ({format_number(lift, Kind.LIFT, LIFT_DIGITS)}{interval})"


def _guardrail_verdicts(effects: Effects) -> list[VerdictSentence]:
    """Return a sentence per guardrail and variant, the failures first."""
    verdicts: list[tuple[str, VerdictSentence]] = []
    for row in effects.rows:
        if (tolerance := effects.guardrails.get(row["metric"])) is not None:
            verdict = judge_guardrail(row, tolerance, effects.find_direction(row["metric"]))
            state, text = GUARDRAIL_TEXTS[verdict]
            sentence = text.format(control=truncate_text(effects.control), tolerance=tolerance)
            lift = _format_lift(row)
            verdicts.append(
                (
                    verdict,
                    VerdictSentence(
                        state,
                        f"Guardrail {truncate_text(row['metric'])}: {truncate_text(row['variant'])}"
                        f" {sentence}{lift}.",
                    ),
                )
            )
    order = list(GUARDRAIL_TEXTS)
    return [sentence for _, sentence in sorted(verdicts, key=lambda pair: order.index(pair[0]))]


def judge_guardrail(row: ResultRow, tolerance: Tolerance, direction: str) -> str:
    """Return the verdict of a guardrail: its interval on one side of the tolerance, or on both."""
    low, high = row["ci_low"], row["ci_high"]
    if low is None or high is None:
        return INCONCLUSIVE
    losses = (low, high) if direction == "lower" else (-high, -low)
    return judge_limits(losses, tolerance.compute_margin(row["value_control"]))


def _units_section(effects: Effects) -> Section:
    """Return the section of the numbers of units by variant, with their expected shares."""
    units = {effects.control: effects.rows[0]["n_units_control"]} | {
        row["variant"]: row["n_units"] for row in effects.rows
    }
    total = sum(units.values())
    expected = effects.expected_shares or dict.fromkeys(units, 1 / len(units))
    cells = [
        [
            Cell(truncate_text(name)),
            Cell(f"{count:,}", float(count)),
            Cell(f"{count / total:.2%}", count / total),
            Cell(f"{expected.get(name, 0.0):.2%}", expected.get(name, 0.0)),
        ]
        for name, count in units.items()
    ]
    ratio = effects.sample_ratio
    statistic, p_value = (format_cell(name, ratio[name]).text for name in ("statistic", "p_value"))
    note = (
        f"The sample ratio test compares both shares: chi-square {statistic}, degrees of freedom"
        f" {ratio['df']:g}, p {p_value}. A p below {SRM_ALPHA:g} means that units were lost or"
        " misassigned."
    )
    block = TableBlock(
        "units-table",
        "Units by variant",
        ["variant", "units", "share", "expected share"],
        cells,
        note=note,
    )
    return Section("units", "Units", [block])
