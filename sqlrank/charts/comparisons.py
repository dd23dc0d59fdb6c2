"""Charts of comparisons: forest plots, and the differences of queries in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from sqlrank.charts import looks
from sqlrank.charts.given import labels_of, placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

    from sqlrank.charts.given import Dimension, Given

ROW = 26
MOST_QUERIES = 1000
"""How many queries of a pair are drawn: more are narrower than a pixel."""

BETTER, WORSE, OPEN = "system is better", "baseline is better", "not decided"
DIFFERS = "differs, none is better"
"""What is said of a difference beyond chance of a metric of which no value is better, such as CalibrationRatio."""

WIN, TIE, LOSS = "wins", "ties", "losses"

TESTED = {"t": "Student's t", "wilcoxon": "Wilcoxon's", "sign": "signs", "randomization": "randomisation"}
CORRECTED = {"holm": "Holm", "bh": "Benjamini and Hochberg", "max_t": "Westfall and Young", "none": "nothing"}

NUMBERS = {
    "value_baseline": "baseline",
    "value": "system",
    "difference": "difference",
    "low": "from",
    "high": "to",
    "p_adjusted": "p, adjusted",
    "units": "n",
    "wins": "wins",
    "ties": "ties",
    "losses": "losses",
}
"""What is shown of a comparison, and under which title."""


def forest(given: Given) -> ChartType:
    """Return the difference of each comparison with its interval, beside no difference at all, a chart per metric."""
    charts = []
    for metric, part in _by_metric(given).items():
        found = _compared(given, part)
        baselines = dict.fromkeys(row["baseline"] for row in part)
        names = [row["system"] if len(baselines) == 1 else f"{row['system']} - {row['baseline']}" for row in part]
        dimensions, keys = placed([("system", names), *found], ("name", "row"), len(part))
        verdicts = [_verdict(row, given) for row in part]
        numbers = [{field: row[field] for field in NUMBERS} | {"verdict": said} for row, said in zip(part, verdicts, strict=True)]
        rows = [key | row for key, row in zip(keys, numbers, strict=True)]
        of = f"difference of {given.title(metric, of_difference=True)}" + (f" from {next(iter(baselines))}" if len(baselines) == 1 else "")
        charts.append(looks.facets(alt.layer(*_forest(dimensions, of, DIFFERS in verdicts), data=looks.data(rows)), dimensions))
    test, correction, confidence = (given.said.get(name, "?") for name in ("test", "correction", "confidence"))
    by = CORRECTED.get(correction, correction)
    notes = [
        f"Points: differences of means. Lines: intervals at {confidence}, corrected by {by}. Test: {TESTED.get(test, test)}.",
        "Grey: no difference from the baseline.",
    ]
    return looks.finished(looks.concatenated(charts or [_nothing()], 1), notes)


def differences(given: Given) -> ChartType:
    """Return the differences of queries from the greatest loss to the greatest win, a chart per metric and pair."""
    charts, notes = [], []
    for metric, rows in _by_metric(given).items():
        cells: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        within = _compared(given, rows)
        for place, row in enumerate(rows):
            key = (row["system"], row["baseline"], *(f"{title}={labels[place]}" for title, labels in within))
            cells.setdefault(key, []).append(row)
        for (system, baseline, *slices), part in cells.items():
            chart, note = _queries(given, metric, part, ", ".join([f"{system} less {baseline}", *slices]))
            charts.append(chart)
            notes += [note] if note else []
    return looks.finished(looks.concatenated(charts or [_nothing()], titled=True), list(dict.fromkeys(notes)))


def _by_metric(given: Given) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in given.rows:
        found.setdefault(row["metric"], []).append(row)
    return found


def _compared(given: Given, rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """Return the slices of some of the rows, titled."""
    part = type(given)(given.told, [dict(row) for row in rows], given.said)
    dimensions, keys = part.dimensions(places=[f"slice_{place}" for place in range(len(given.told.columns))])
    return [(item.title, [key[item.field] for key in keys]) for item in dimensions]


def differs(row: Mapping[str, Any], direction: str, confidence: float) -> bool:
    """Whether a difference is beyond chance, and the metric one of which no value is better."""
    p = row["p_adjusted"]
    return direction == "neither" and p is not None and p < 1 - confidence and bool(row["difference"])


def _verdict(row: Mapping[str, Any], given: Given) -> str:
    if row["better"] is None:
        direction = given.told.measures[row["metric"]]["better"]
        return DIFFERS if differs(row, direction, float(given.said["confidence"])) else OPEN
    return BETTER if row["better"] == row["system"] else WORSE


def _nothing() -> Any:
    return alt.layer(alt.Chart(looks.data([])).mark_point().encode(x="x:Q"))


def _forest(dimensions: Sequence[Dimension], title: str, some_differ: bool) -> list[Any]:
    names = dimensions[0]
    shown = {BETTER: looks.PALETTE[0], WORSE: looks.PALETTE[1], OPEN: looks.INK} | ({DIFFERS: looks.PALETTE[3]} if some_differ else {})
    colours = alt.Scale(domain=list(shown), range=list(shown.values()))
    base = alt.Chart(width=looks.SIZE, height=alt.Step(ROW)).encode(
        y=alt.Y("name:N", sort=list(names.labels), title=names.title),
        color=alt.Color("verdict:N", title=None, scale=colours, legend=alt.Legend(orient="top", symbolType="circle")),
        tooltip=looks.tooltips([*dimensions], {**NUMBERS, "verdict:N": "verdict"}),
    )
    zero = alt.Chart(looks.data([{"zero": 0}])).mark_rule(color=looks.GREY, strokeWidth=1.5).encode(x="zero:Q")
    limits = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    point = base.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X("difference:Q", title=title))
    return [zero, limits.transform_filter("isValid(datum.low) && isValid(datum.high)"), point]


def _queries(given: Given, metric: str, part: Sequence[Mapping[str, Any]], title: str) -> tuple[alt.Chart, str]:
    """Return the differences of one pair, and what is said where not all are drawn."""
    sign = -1 if given.told.measures[metric]["better"] == "lower" else 1
    kinds = [WIN if row["difference"] * sign > 0 else LOSS if row["difference"] else TIE for row in part]
    title += f": wins {kinds.count(WIN):,}, ties {kinds.count(TIE):,}, losses {kinds.count(LOSS):,}"
    ids = labels_of([row["query_id"] for row in part])
    rows = [
        {"x": place + 1, "query": ids[place], "kind": kinds[place]}
        | {field: row[field] for field in ("value_baseline", "value", "difference")}
        for place, row in enumerate(part)
    ]
    note = ""
    if len(rows) > MOST_QUERIES:
        last = len(rows) - 1
        rows = [rows[round(place * last / (MOST_QUERIES - 1))] for place in range(MOST_QUERIES)]
        note = f"Of more than {MOST_QUERIES:,} queries as many are drawn, evenly spaced in their order; wins, ties and losses are of all."
    colours = alt.Scale(domain=[WIN, TIE, LOSS], range=[looks.PALETTE[0], looks.GREY, looks.PALETTE[1]])
    numbers = {"value_baseline": "baseline", "value": "system", "difference": "difference", "x": "place", "query:N": "query"}
    chart = (
        alt.Chart(looks.data(rows), width=looks.SIZE, height=looks.SMALL, title=title)
        .mark_bar()
        .encode(
            x=alt.X(
                "x:Q",
                title="queries, in order of their difference",
                axis=alt.Axis(tickMinStep=1, grid=False),
                scale=alt.Scale(domain=[0, len(part) + 1], nice=False),
            ),
            y=alt.Y("difference:Q", title=f"difference of {given.title(metric, of_difference=True)}"),
            color=alt.Color("kind:N", title=None, scale=colours, legend=alt.Legend(orient="top")),
            tooltip=looks.tooltips([], numbers),
        )
    )
    return chart, note
