"""The section of systems compared: which is better, over all and within slices."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlrank.charts.comparisons import CORRECTED, DIFFERS, TESTED, differs
from sqlrank.errors import InputError
from sqlrank.library.listing import better
from sqlrank.reports.parts import Section, shortened, table
from sqlrank.reports.pictures import picture
from sqlrank.reports.sections import DRAWN
from sqlrank.results.verdicts import for_people, slices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.reports.asked import Asked

SHOWN = (
    "metric",
    "baseline",
    "system",
    "better",
    "value_baseline",
    "value",
    "difference",
    "low",
    "high",
    "p_adjusted",
    "units",
    "wins",
    "ties",
    "losses",
)
"""The columns that are shown of a comparison, those first that decide."""

TITLES = {"value_baseline": "baseline value", "p_adjusted": "corrected p", "low": "from", "high": "to", "units": "n"}

FEW = 25
"""Below how many units it is said that they are few."""

MOST = 10
"""How many pairs of systems are named in a sentence."""


def comparison(asked: Asked, metrics: list[Any], reasons: list[str]) -> tuple[Section, pa.Table | None]:
    """Return which system is better, and the comparison itself; ``metrics`` are those that can be compared, ``reasons`` why others are not."""
    title = "Systems compared"
    if not metrics:
        return Section("comparison", title, (), reasons), None
    try:
        found = asked.compare(metrics, asked.baseline, **_options(asked))
    except InputError as error:
        return Section("comparison", title, (), [*reasons, f"Systems are not compared: {error}"]), None
    blocks = [
        table(_for_people(found, asked), "comparison-table", "Differences", asked.rows, titles=TITLES),
        picture(lambda: found, "comparison-chart", "Differences with their intervals", "forest"),
    ]
    return Section("comparison", title, blocks, [*_verdicts(found, asked), _method(found), *_fewness(found, asked), *reasons]), found


def within_slices(asked: Asked, metrics: list[Any]) -> Section:
    """Return the comparison within each grouping: one call, so that p-values are corrected for all slices of all of them."""
    ident, title = "comparison-slices", "Systems compared within slices"
    try:
        found = asked.compare(metrics, asked.baseline, slices=asked.groups, **_options(asked))
    except InputError as error:
        return Section(ident, title, (), [f"Systems are not compared within slices: {error}"])
    blocks: list[Any] = []
    for place, group in enumerate(asked.groups):
        part = _worst_first(_of_group(found, group), asked)
        named = ", ".join(map(shortened, group))
        heading = f"Differences by {named}, where the baseline is better first"
        blocks.append(table(_for_people(part, asked), f"comparison-slice-{place}", heading, asked.rows, titles=TITLES))
        first = part.filter(pc.equal(part["metric"], str(metrics[0])))
        drawn = f"Differences of {metrics[0]} by {named}" + (f": the first {DRAWN} rows" if first.num_rows > DRAWN else "")
        blocks.append(picture(partial(first.slice, 0, DRAWN), f"comparison-slice-{place}-chart", drawn, "forest"))
    return Section(ident, title, blocks, [_method(found), _count_of_losses(found)])


def _options(asked: Asked) -> dict[str, Any]:
    return {} if asked.is_ranking else {"unit": asked.unit}


def _for_people(found: pa.Table, asked: Asked) -> pa.Table:
    """Return what is shown of a comparison: no column that is NULL throughout, and what differs though no value is better."""
    said = [DIFFERS if differing else row["better"] for row, differing in zip(found.to_pylist(), _differing(found, asked), strict=True)]
    found = found.set_column(found.column_names.index("better"), "better", pa.array(said, pa.string()))
    return for_people(found, [name for name in SHOWN if found[name].null_count < found.num_rows or name == "better"])


def _differing(found: pa.Table, asked: Asked) -> list[bool]:
    """Return of each row whether it differs beyond chance by a metric of which no value is better."""
    confidence = float(found.schema.metadata[b"sqlrank.confidence"])
    return [differs(row, better(row["metric"], asked.library), confidence) for row in found.to_pylist()]


def _of_group(found: pa.Table, group: list[str]) -> pa.Table:
    """Return the rows of one grouping, with its columns alone."""
    keys = slices(found)
    if "slice" not in keys:
        return found
    part = found.filter(pc.equal(found["slice"], ", ".join(group)))
    return part.drop_columns([name for name in keys if name != "slice" and name not in group])


def _worst_first(found: pa.Table, asked: Asked) -> pa.Table:
    """Return the rows where the baseline is better, those that are not decided, and the others; in each, by metric, the worst first."""
    order = asked.names

    def key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        decided = {row["baseline"]: 0, None: 1}.get(row["better"], 2)
        sign = -1 if better(row["metric"], asked.library) == "lower" else 1
        return decided, order.index(row["metric"]), row["difference"] is None, sign * (row["difference"] or 0)

    keys = [key(row) for row in found.to_pylist()]
    return found.take(pa.array(sorted(range(len(keys)), key=keys.__getitem__), pa.int64()))


def _verdicts(found: pa.Table, asked: Asked) -> list[str]:
    """Return in sentences which system is better than which, and by what."""
    decided: dict[tuple[str, str], list[str]] = {}
    rows = found.to_pylist()
    for row in rows:
        if row["better"] is not None:
            worse = row["baseline"] if row["better"] == row["system"] else row["system"]
            decided.setdefault((row["better"], worse), []).append(row["metric"])
    said = [f"{shortened(one)} is better than {shortened(other)} by {', '.join(by)}." for (one, other), by in list(decided.items())[:MOST]]
    said += [f"Of {len(decided) - MOST:,} more pairs one is better; the table names them."] if len(decided) > MOST else []
    differing = [row for row, is_one in zip(rows, _differing(found, asked), strict=True) if is_one]
    if differing:
        by = ", ".join(dict.fromkeys(row["metric"] for row in differing))
        said.append(
            f"{len(differing):,} of {len(rows):,} {'differs' if len(differing) == 1 else 'differ'} by {by}, of which no value is better."
        )
    undecided = sum(row["better"] is None for row in rows) - len(differing)
    if undecided:
        which = "No difference is decided" if undecided == len(rows) else f"{undecided:,} of {len(rows):,} differences are not decided"
        said.append(f"{which}: {'it' if undecided == 1 else 'each'} may be chance.")
    return [" ".join(said)]


def _method(found: pa.Table) -> str:
    test, correction, confidence = (
        found.schema.metadata[f"sqlrank.{name}".encode()].decode() for name in ("test", "correction", "confidence")
    )
    return (
        f"A difference is the system's value less the baseline's. From and to are its {100 * float(confidence):g}% interval by {TESTED[test]}; intervals and "
        f"p-values are corrected by {CORRECTED[correction]} for all {found.num_rows:,} comparisons here. A system is better if its corrected p is "
        f"below {1 - float(confidence):.3g}."
    )


def _fewness(found: pa.Table, asked: Asked) -> list[str]:
    least = min(found["units"].to_pylist(), default=0)
    if least >= FEW:
        return []
    what = "queries" if asked.is_ranking else "units"
    return [
        f"Only {least:,} {what} are compared: an interval may go beyond what the metric can be, and only large differences are decided."
    ]


def _count_of_losses(found: pa.Table) -> str:
    lost = sum(row["better"] == row["baseline"] for row in found.to_pylist())
    return (
        f"In {lost:,} of {found.num_rows:,} comparisons the baseline is better."
        if lost
        else "In no slice is the baseline better beyond chance."
    )
