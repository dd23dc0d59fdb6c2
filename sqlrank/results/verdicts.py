"""What a gate or a drift found, for those who review a change: a summary in Markdown, JUnit, and the annotations of GitHub Actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from sqlrank.results.formats import Format, Looks, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

WORST_FIRST = ("fail", "inconclusive", "skipped", "pass")
SHOWN = ("metric", "value_baseline", "value", "difference", "low", "high", "units", "tolerance", "verdict", "needed", "reason")
"""The columns that people are shown after those of slices."""

COMPARED = (
    "metric",
    "baseline",
    "system",
    "value_baseline",
    "value",
    "difference",
    "low",
    "high",
    "p_adjusted",
    "wins",
    "ties",
    "losses",
    "better",
)

OF_STATES = ("metric", "baseline", "system", "value_baseline", "value", "difference", "least", "greatest", "low", "high", "p")
"""The columns of a comparison of states that people are shown."""

EXPERIMENTED = (
    "metric",
    "control",
    "variant",
    "value_control",
    "value",
    "difference",
    "low",
    "high",
    "relative",
    "relative_low",
    "relative_high",
    "p_adjusted",
    "better",
)


DRIFTED = ("metric", "value_reference", "value", "difference", "least", "greatest", "tolerance", "verdict", "reason")
"""The columns of a drift that a summary has."""

SURELY_DRIFTED = (*DRIFTED[:6], "low", "high", *DRIFTED[6:])
"""Those of a drift with intervals."""


def for_people(result: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the columns that people are shown of a comparison or a gate, those of slices first."""
    return result.select([*slices(result), *names])


def slices(result: pa.Table) -> list[str]:
    """Return the columns that tell slices apart: those before the metric's."""
    return list(result.column_names[: result.column_names.index("metric")])


def summary(result: pa.Table, digits: int, command: str = "gate", names: Sequence[str] = SHOWN) -> str:
    """Return a summary in Markdown: the verdict, and a table of some columns with the worst first; the order of rows without a verdict is kept."""
    verdict = (result.schema.metadata or {})[b"sqlrank.verdict"].decode()
    places = [len(WORST_FIRST) if found is None else WORST_FIRST.index(found) for found in result["verdict"].to_pylist()]
    order = sorted(range(result.num_rows), key=lambda row: places[row])
    table = text_of(for_people(result, names).take(order), Format.markdown, Looks(digits, is_upright=True))
    return f"## sqlrank {command}: {verdict}\n\n{table}\n"


def append(path: Path, text: str) -> None:
    """Add a text to a file, as the summary of a job is written that other steps write to as well."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def junit(result: pa.Table, command: str = "gate") -> str:
    """Return a JUnit report: a test case for each metric and slice that has a verdict; what is inconclusive or was skipped is skipped."""
    rows = [row for row in result.to_pylist() if row["verdict"] is not None]
    counts = {"tests": len(rows), "failures": _count(rows, "fail"), "errors": 0, "skipped": _count(rows, "inconclusive", "skipped")}
    suite = ET.Element("testsuite", {"name": f"sqlrank {command}", **{name: str(count) for name, count in counts.items()}})
    for row in rows:
        case = ET.SubElement(suite, "testcase", {"classname": f"sqlrank.{command}", "name": _named(row, result)})
        if row["verdict"] == "fail":
            ET.SubElement(case, "failure", {"message": _said(row)})
        elif row["verdict"] != "pass":
            ET.SubElement(case, "skipped", {"message": _said(row)})
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def workflow_lines(result: pa.Table, command: str = "gate") -> list[str]:
    """Return the lines that GitHub Actions shows beside a change: an error for each failure, a warning for what is inconclusive."""
    kinds = {"fail": "error", "inconclusive": "warning"}
    return [
        f"::{kinds[row['verdict']]} title=sqlrank {command}::{_escaped(f'{_named(row, result)}: {_said(row)}')}"
        for row in result.to_pylist()
        if row["verdict"] in kinds
    ]


def _count(rows: Sequence[dict[str, Any]], *verdicts: str) -> int:
    return sum(row["verdict"] in verdicts for row in rows)


def _named(row: dict[str, Any], result: pa.Table) -> str:
    where = ", ".join(f"{name}={row[name]}" for name in slices(result) if name != "slice" and row[name] is not None)
    return f"{row['metric']} ({where})" if where else str(row["metric"])


def _said(row: dict[str, Any]) -> str:
    known = [name for name in ("difference", "least", "greatest", "low", "high") if row.get(name) is not None]
    numbers = ", ".join(f"{name} {row[name]:.4f}" for name in known)
    units = "" if row.get("units") is None else f", {row['units']} units"
    return f"{row['reason']}: {numbers}, tolerance {row['tolerance']}{units}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
