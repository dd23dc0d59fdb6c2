"""A baseline that was stored: values per query of one system, with what they are values of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from sqlrank.errors import InputError
from sqlrank.statement.keys import QUERY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.comparison.asked import Asking, Measure

BASELINE, CANDIDATE = "baseline", "candidate"
DEFINED = b"sqlrank.metrics"
UNPAIRED = 0.01
"""The share of units that may be in one of baseline and candidate only."""


def read_stored(source: Any) -> pa.Table:
    """Return a stored baseline; raise ``InputError`` for what is none."""
    if isinstance(source, pa.Table):
        table, name = source, "the baseline"
    else:
        name = repr(str(source))
        if not Path(source).is_file():
            raise InputError(f"there is no baseline {name}; store one: sqlrank evaluate ... --per-query -o {Path(source).name}")
        try:
            table = pq.read_table(source)
        except pa.ArrowInvalid:
            raise InputError(f"{name} is no Parquet file; store a baseline: sqlrank evaluate ... --per-query -o baseline.parquet") from None
    if DEFINED not in (table.schema.metadata or {}) or QUERY not in table.column_names:
        raise InputError(f"{name} does not hold the values of queries; store them: sqlrank evaluate ... --per-query -o baseline.parquet")
    return table


def together(candidate: pa.Table, stored: pa.Table, group: Sequence[str], measures: Sequence[Measure]) -> pa.Table:
    """Return the values of a candidate and of a stored baseline as those of two systems; raise ``InputError`` where they do not go together."""
    wanted = [*group, QUERY, *(measure.name for measure in measures)]
    if missing := [name for name in wanted if name not in stored.column_names]:
        raise InputError(
            f"the baseline has no column {missing[0]!r}; there are: {', '.join(stored.column_names)}. Store it anew with what is asked"
        )
    _check_definitions(candidate, stored, measures)
    chosen = [*wanted, *(["weight"] if "weight" in candidate.column_names else [])]
    mine = candidate.select(chosen).append_column("system", pa.array([CANDIDATE] * candidate.num_rows, pa.string()))
    theirs = stored.select(wanted)
    if "weight" in chosen:
        theirs = theirs.append_column("weight", pa.nulls(theirs.num_rows, pa.float64()))
    theirs = theirs.append_column("system", pa.array([BASELINE] * theirs.num_rows, pa.string()))
    try:
        found = pa.concat_tables([theirs.cast(mine.schema.remove_metadata()), mine.replace_schema_metadata(None)])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"the baseline's columns are of other types than the candidate's: {error}") from None
    if (rows := theirs.group_by([*group, QUERY]).aggregate([]).num_rows) < theirs.num_rows:
        raise InputError(f"the baseline has {theirs.num_rows:,} rows for {rows:,} queries; store one system, by the same slices")
    return found


def _check_definitions(candidate: pa.Table, stored: pa.Table, measures: Sequence[Measure]) -> None:
    ours, theirs = (json.loads((table.schema.metadata or {})[DEFINED]) for table in (candidate, stored))
    for measure in measures:
        mine, other = ours[measure.name], theirs.get(measure.name, {})
        if mine["policies"] != other.get("policies"):
            names = [
                name
                for name in {**mine["policies"], **other.get("policies", {})}
                if mine["policies"].get(name) != other.get("policies", {}).get(name)
            ]
            raise InputError(
                f"{measure.name}: the baseline was stored with {_said(other.get('policies', {}), names)}, and this is evaluated with "
                f"{_said(mine['policies'], names)}; use the same, or store it anew"
            )
        if mine["definition"] != other.get("definition"):
            versions = [(table.schema.metadata or {}).get(b"sqlrank.version", b"?").decode() for table in (stored, candidate)]
            raise InputError(
                f"{measure.name}: the SQL of the baseline, by sqlrank {versions[0]}, is not that of sqlrank {versions[1]} here; store it anew"
            )


def _said(policies: dict[str, str], names: Sequence[str]) -> str:
    return ", ".join(f"{name}={policies.get(name)}" for name in names)


def check_units(units: int, unpaired: int, asking: Asking) -> None:
    """Refuse a baseline of which more than one in a hundred queries are not those of the candidate."""
    if unpaired > UNPAIRED * (units + unpaired):
        what = next(iter(asking.call.sources))
        raise InputError(
            f"{unpaired:,} of {units + unpaired:,} queries have a value in the baseline or in the candidate only; give the same {what} and "
            "judgments, or store the baseline anew"
        )
