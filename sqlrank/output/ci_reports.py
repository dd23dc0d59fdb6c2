"""Format verdicts for code review: Markdown summary, JUnit report and GitHub Actions
annotations.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from sqlrank.errors import count_things, escape_controls
from sqlrank.output.contrast_tables import name_group
from sqlrank.output.display import (
    escape_text,
    format_markdown,
    format_number,
    format_value,
    group_column_names,
)
from sqlrank.output.result_formats import Format, TableStyle, format_result
from sqlrank.result_columns import (
    BOUNDS,
    CI_HIGH,
    CI_LOW,
    N_BUCKETS,
    N_UNITS,
    NOTES_KEY,
    RATIO_LIMITS,
    REGRESSIONS_KEY,
    SYSTEM_LABELS,
    Kind,
    column_kind,
)
from sqlrank.result_metadata import read_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

WORST_FIRST = ("fail", "inconclusive", "skipped", "pass")

JUNIT_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}
"""Elements of test cases by the attribute of a JUnit suite that counts them."""

VERDICT_SIGNS = {
    "pass": "✓ pass",
    "fail": "✗ fail",
    "inconclusive": "? inconclusive",
    "skipped": "- skipped",
}
ALL_SKIPPED = "all rows are skipped, so nothing was compared"


def markdown_summary(result: pa.Table, digits: int | None = None, command: str = "gate") -> str:
    """Return a Markdown summary: the overall verdict, a table with the worst rows first, and
    sentences on rows and the method.

    Rows without a verdict keep their order.
    """
    verdict = (result.schema.metadata or {})[b"sqlrank.verdict"].decode()
    severities = [
        len(WORST_FIRST) if row_verdict is None else WORST_FIRST.index(row_verdict)
        for row_verdict in result["verdict"].to_pylist()
    ]
    ordered = result.take(sorted(range(result.num_rows), key=severities.__getitem__))
    table = format_result(ordered, Format.markdown, TableStyle(digits, verdicts=VERDICT_SIGNS))
    return f"## sqlrank {command}: {verdict}\n\n{table}\n{_format_regressions(result)}"


MAX_SHORT_ROWS = 20
"""Number of rows of a table in which readers see what lost most."""


def list_regressions(result: pa.Table, most: int | None = None) -> list[str]:
    """Return a line for each metric with the queries that lost most, and one with the groups, at
    most ``most`` of each; then no groups of a table that is short enough to see them.
    """
    named: dict[str, list[str]] = {}
    is_short = most is not None and result.num_rows <= MAX_SHORT_ROWS
    for row in _read_regressions(result):
        if row["kind"] == "groups" and is_short:
            continue
        first, second, _ = _format_values(row)
        named.setdefault(f"{row['metric']}, most regressed {row['kind']}", []).append(
            f"{row['name']} ({first} -> {second})"
        )
    return [
        escape_controls(f"{start}: {', '.join(names[:most])}") for start, names in named.items()
    ]


def _format_regressions(result: pa.Table) -> str:
    """Return a fold-out in Markdown with the queries and groups that lost most, empty if none
    did.
    """
    header = ["metric", "query or group", "baseline", "candidate", "difference"]
    rows = _read_regressions(result)
    systems = [
        place for place in (0, 1) if any(row.get("documents", [[], []])[place] for row in rows)
    ]
    names = [f"{('baseline', 'candidate')[place]}'s first documents" for place in systems]
    cells = [
        [escape_text(text, "markdown") for text in (row["metric"], row["name"])]
        + _format_values(row)
        + [
            escape_text(", ".join(row.get("documents", [[], []])[place]), "markdown")
            for place in systems
        ]
        for row in rows
    ]
    table = format_markdown(
        [*header, *names], ["left", "left", *["right"] * 3, *["left"] * len(names)], cells
    )
    return (
        "\n<details>\n<summary>Most regressed queries and"
        f" groups</summary>\n\n{table}\n</details>\n"
        if rows
        else ""
    )


def _read_regressions(result: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(
        (result.schema.metadata or {}).get(REGRESSIONS_KEY.encode(), b"[]")
    )
    return rows


def _format_values(row: Mapping[str, Any]) -> list[str]:
    """Return the values of both systems and their difference as texts."""
    values = [format_number(row[name], is_fraction=True) for name in ("baseline", "candidate")]
    return [*values, format_number(row["difference"], Kind.DIFFERENCE, is_fraction=True)]


def format_junit(result: pa.Table, command: str = "gate", inconclusive: str | None = None) -> str:
    """Return a JUnit report: one test case per metric and group with a verdict.

    An inconclusive row is an ``error``, the outcome of a test that reached no verdict, since
    readers of JUnit accept a suite with skipped tests. If all rows are skipped, a case of the whole
    suite is an error. ``inconclusive`` is the verdict that an inconclusive row is treated as: a
    ``failure`` for ``fail``, and ``skipped`` for ``pass``.
    """
    outcomes = {
        "fail": "failure",
        "inconclusive": {"fail": "failure", "pass": "skipped"}.get(inconclusive or "", "error"),
        "skipped": "skipped",
    }
    rows = [row for row in result.to_pylist() if row["verdict"] is not None]
    cases = [
        (_name_row(row, result), outcomes.get(row["verdict"]), _describe_row(row, result))
        for row in rows
    ]
    if is_all_skipped(result):
        cases.append(("all rows", "failure" if inconclusive == "fail" else "error", ALL_SKIPPED))
    systems = {
        name: sorted({row[name] for row in rows if row.get(name) is not None})
        for name in SYSTEM_LABELS[1:]
    }
    notes = "\n".join(
        filter(
            None,
            [
                (result.schema.metadata or {}).get(NOTES_KEY.encode(), b"").decode(),
                *list_regressions(result),
            ],
        )
    )
    return _write_suite(
        command,
        cases,
        [(name, escape_controls(value)) for name, values in systems.items() for value in values],
        notes,
    )


def format_junit_error(message: str, command: str) -> str:
    """Return a JUnit report of a command that ended without verdicts: one test case with an
    error.
    """
    return _write_suite(command, [(command, "error", escape_controls(message, allowed="\n"))])


def is_all_skipped(result: pa.Table) -> bool:
    """Return True if no row has a verdict but ``skipped``: nothing was compared, which is no pass
    even where an inconclusive result is.
    """
    return all(verdict in {"skipped", None} for verdict in result["verdict"].to_pylist())


def github_annotations(
    result: pa.Table, command: str = "gate", inconclusive: str | None = None
) -> list[str]:
    """Return GitHub Actions annotations: an error per failure, a warning per inconclusive verdict,
    and one if all is skipped.

    Inconclusive verdicts that are treated as ``fail`` are errors.
    """
    kinds = {"fail": "error", "inconclusive": "error" if inconclusive == "fail" else "warning"}
    undecided = (
        [f"::{kinds['inconclusive']} title=sqlrank {command}::{ALL_SKIPPED}"]
        if is_all_skipped(result)
        else []
    )
    return undecided + [
        f"::{kinds[row['verdict']]} title=sqlrank"
        f" {command}::{_escape_command(f'{_name_row(row, result)}: {_describe_row(row, result)}')}"
        for row in result.to_pylist()
        if row["verdict"] in kinds
    ]


def _write_suite(
    command: str,
    cases: Sequence[tuple[str, str | None, str]],
    properties: Sequence[tuple[str, str]] = (),
    notes: str = "",
) -> str:
    """Return a JUnit suite of test cases: the name of each, its outcome, None if it passed, and the
    message of the outcome; ``notes`` are its output.
    """
    counts = {
        name: sum(outcome == kind for _, outcome, _ in cases) for name, kind in JUNIT_COUNTS.items()
    }
    attributes = {"tests": len(cases), **counts}
    suite = ET.Element(
        "testsuite",
        {"name": f"sqlrank {command}", **{name: str(count) for name, count in attributes.items()}},
    )
    if properties:
        described = ET.SubElement(suite, "properties")
        for name, value in properties:
            ET.SubElement(described, "property", {"name": name, "value": value})
    for name, outcome, message in cases:
        case = ET.SubElement(suite, "testcase", {"classname": f"sqlrank.{command}", "name": name})
        if outcome is not None:
            ET.SubElement(case, outcome, {"message": message})
    if notes:
        ET.SubElement(suite, "system-out").text = escape_controls(notes, allowed="\n")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _name_row(row: dict[str, Any], result: pa.Table) -> str:
    """Return the metric of a row with its group, and its system if there are several."""
    systems = result["system"].unique() if "system" in result.column_names else ()
    where = ", ".join(
        filter(
            None,
            [
                name_group(
                    row,
                    group_column_names(result),
                    lambda _, value: format_value(value, "table"),
                ),
                f"system={row['system']}" if len(systems) > 1 else "",
            ],
        )
    )
    return escape_controls(f"{row['metric']} ({where})" if where else str(row["metric"]))


def _describe_row(row: dict[str, Any], result: pa.Table) -> str:
    columns: tuple[str, ...] = (
        ("value_baseline", "value")
        if row["difference"] is None
        else ("difference", *BOUNDS, CI_LOW, CI_HIGH)
    )
    columns = (
        ("ratio", *RATIO_LIMITS)
        if "ratio" in row and str(row["tolerance"]).endswith("%")
        else columns
    )
    values = [
        f"{name} {format_number(row[name], column_kind(name))}"
        for name in columns
        if row.get(name) is not None
    ]
    systems = (
        [escape_controls(f"{row['system']} against {row['baseline']}")]
        if row.get("baseline") is not None
        else []
    )
    units = [
        count_things(row[name], thing)
        for name, thing in ((N_UNITS, read_unit(result.schema.metadata)), (N_BUCKETS, "bucket"))
        if row.get(name)
    ]
    return f"{escape_controls(row['reason'])}: " + ", ".join(
        [*values, *systems, f"tolerance {row['tolerance']}", *units]
    )


def _escape_command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
