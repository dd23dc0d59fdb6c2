"""The sections of a report: what each asks, and what it shows of the result."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank.library.listing import better, is_count, listed
from sqlrank.reports.parts import Cell, Section, Table, shortened, shown, statement, table
from sqlrank.reports.pictures import picture
from sqlrank.results.arrange import arranged
from sqlrank.results.formats import a_row_per_metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.reports.asked import Asked

CURVES = {
    "ROC": "true over false positives",
    "PR": "precision over recall",
    "Calibration": "observed over predicted probability",
    "Gain": "positives found among the highest scores",
}
"""The curves of predictions, with what each shows."""

POINTS = 200
"""How many points a curve has at most: more are narrower than a pixel."""

DRAWN = 20
"""About how many rows of slices are drawn: each slice has axes of its own."""

OF_RANKINGS = (
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "num_unjudged",
    "num_tied@{}",
    "num_unanswered",
    "num_no_rel",
    "num_dropped",
    "num_duplicates",
)
OF_LISTS = ("num_lists", "num_shown")
OF_PREDICTIONS = ("num_predictions", "num_predictions_dropped", "Observations", "Positives", "Negatives")
"""The counts that say which data the numbers are of."""

DEEP, DEEPEST = 20, 100
"""Up to which cut-off metrics are drawn at least, and at most."""

TITLES = {"low": "from", "high": "to", "units": "n"}


def summary(asked: Asked) -> Section:
    """Return every metric of every system with its interval."""
    result = asked.with_intervals()
    drawn = picture(lambda: result, "summary-chart", "Metrics of each system, with their intervals", "bars")
    text = f"Between from and to is the {100 * asked.confidence:g}% interval of a value; n is how many {_units(asked)} it is of."
    return Section("summary", "Summary", [_rows(result, asked, "summary-table", "Metrics"), drawn, _meanings(asked)], [text])


def _meanings(asked: Asked) -> Table:
    """Return what the metrics are, for those who do not know them by name."""
    files = [asked.library.asked(metric) for metric in asked.metrics]
    rows = [
        [name, file.about, file.facts.get("Bounds", ""), better(name, asked.library)] for name, file in zip(asked.names, files, strict=True)
    ]
    cells = [[Cell(shortened(re.sub(r"[`*]", "", text))) for text in row] for row in rows]
    return Table("meanings-table", "What the metrics are", ["metric", "what it is", "range", "better"], cells)


def _units(asked: Asked) -> str:
    return "queries" if asked.is_ranking else "predictions or units"


def _rows(result: pa.Table, asked: Asked, ident: str, title: str) -> Table:
    """Return a result with intervals as a row for each metric."""
    rows = a_row_per_metric(result)
    places = sorted(range(rows.num_rows), key=lambda row: asked.names.index(rows["metric"][row].as_py()))
    return table(rows.take(places).replace_schema_metadata(result.schema.metadata), ident, title, asked.rows, titles=TITLES)


def curves(asked: Asked) -> Section:
    """Return curves of predictions, or metrics of rankings over cut-offs."""
    if not asked.is_ranking:
        names = {name: f"{name}(points={POINTS})" for name in CURVES} | {"Calibration": "Calibration(binning=equal_mass)"}
        drawn = [picture(partial(asked.evaluate, text), f"curve-{name.lower()}", f"{name}: {CURVES[name]}") for name, text in names.items()]
        return Section("curves", "Curves", drawn)
    if not asked.cutoffs:
        return Section("curves", "Over cut-offs", (), ["No metric has a cut-off, such as nDCG@10, over which it could be drawn."])
    last = min(DEEPEST, max(DEEP, *asked.cutoffs.values()))
    swept = list(dict.fromkeys(replace(metric, cutoff=(1, last)) for metric in asked.cutoffs))
    return Section(
        "curves", "Over cut-offs", [picture(partial(asked.evaluate, swept), "curve-cutoffs", "Metrics over cut-offs", "cutoffs")]
    )


def slices(asked: Asked) -> Section:
    """Return the metrics within columns, of each grouping a table with the worst of the first metric first."""
    blocks: list[Any] = []
    for place, group in enumerate(asked.groups):
        result = asked.with_intervals(group)
        name = asked.names[0]
        worst = arranged(result, asked.library, f"-{name}", None)
        by = f"y {', '.join(shortened(item) for item in group)}, the worst {name} first"
        blocks.append(_with_intervals(worst, asked, f"slice-{place}", f"B{by}"))
        first, left = _first_slices(result, worst, asked)
        drawn = f"Metrics b{by}" + (f"; {left:,} more are not drawn" if left else "")
        blocks.append(picture(partial(first.slice, 0), f"slice-{place}-chart", drawn))
    return Section("slices", "Slices", blocks)


def _first_slices(result: pa.Table, worst: pa.Table, asked: Asked) -> tuple[pa.Table, int]:
    """Return the rows of the slices that come first in ``worst``, in each the systems as given, whose colours follow; and how many slices are left."""
    names = [name for name in result.column_names[: result.column_names.index(asked.names[0])] if name != asked.system]
    keys, order = (list(zip(*(rows[name].to_pylist() for name in names), strict=True)) for rows in (result, worst))
    places = {key: place for place, key in enumerate(dict.fromkeys(order))}
    most = max(1, DRAWN * len(places) // max(1, len(keys)))
    kept = [row for row in sorted(range(len(keys)), key=lambda row: places[keys[row]]) if places[keys[row]] < most]
    return result.take(pa.array(kept, pa.int64())), max(0, len(places) - most)


def _with_intervals(result: pa.Table, asked: Asked, ident: str, title: str) -> Table:
    """Return a result with intervals as it is: a column for each metric, with the interval beside the value."""
    limits = {f"{name}.{end}" for name in asked.names for end in ("low", "high", "se", "units")}
    keys = [name for name in result.column_names if name not in {*asked.names, *limits}]
    rows = [
        [*(shown(key, row[key]) for key in keys), *(_interval(row, name) for name in asked.names)]
        for row in result.slice(0, asked.rows).to_pylist()
    ]
    left = max(0, result.num_rows - asked.rows)
    return Table(ident, title, [shortened(name) for name in [*keys, *asked.names]], rows, left, statement(result))


def _interval(row: Mapping[str, Any], name: str) -> Cell:
    """Return a value with its interval, by which it is not sorted."""
    value, low, high = (shown(name, row[column]) for column in (name, f"{name}.low", f"{name}.high"))
    return value if low.number is None or high.number is None else replace(value, text=f"{value.text} [{low.text}, {high.text}]")


def account(asked: Asked, compared: pa.Table | None) -> Section:
    """Return the counts of the data: what the numbers are of, what is missing, and what was left out and why."""
    k = next(iter(asked.cutoffs.values()), 10)
    counts = OF_PREDICTIONS if not asked.is_ranking else OF_RANKINGS if {"qrels", "predictions"} & set(asked.sources) else OF_LISTS
    names = [name.format(k) for name in counts]
    result = asked.evaluate(names)
    about = {row["name"]: row["description"] for row in listed(asked.library, None)}
    systems = [column for column in result.column_names if column not in names]
    rows = result.to_pylist()
    titles = [
        "count",
        *([", ".join(shortened(row[key]) for key in systems) for row in rows[: asked.rows]] if systems else ["value"]),
        "what it counts",
    ]
    cells = [
        [
            Cell(name),
            *(shown(name, row[name], is_count(name, asked.library)) for row in rows[: asked.rows]),
            Cell(about[name.partition("@")[0]]),
        ]
        for name in names
    ]
    blocks: list[Any] = [Table("account-table", "Counts", titles, cells, 0, statement(result))]
    texts = []
    if compared is not None and (unpaired := max(compared["unpaired"].to_pylist(), default=0)):
        texts.append(f"Up to {unpaired:,} units have a value of one of two systems only; comparisons leave them out.")
    if not asked.is_ranking:
        blocks += [_one_class(asked, group, place) for place, group in enumerate(asked.groups)]
    return Section("account", "Account of the data", blocks, texts)


def _one_class(asked: Asked, group: list[str], place: int) -> Table:
    """Return the slices without positives or without negatives, of which metrics of both classes are undefined."""
    result = asked.evaluate(["Positives", "Negatives"], group)
    keep = pa.array([not (row["Positives"] and row["Negatives"]) for row in result.to_pylist()], pa.bool_())
    title = f"Slices by {', '.join(map(shortened, group))} with one class"
    found = result.filter(keep)
    note = "Metrics of both classes, such as AUC, are undefined (NULL) there." if found.num_rows else "Every slice has both classes."
    return table(found, f"account-slice-{place}", title, asked.rows, counts=frozenset({"Positives", "Negatives"}), note=note)
