"""Format verdicts for code review: Markdown summary, JUnit report and GitHub Actions annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from sqlrank.errors import escape_controls
from sqlrank.output.display import Format, format_number, format_value, gate_display_columns, group_column_names, select_display_columns
from sqlrank.output.result_formats import TableStyle, format_result
from sqlrank.result_columns import BOUNDS, CI_HIGH, CI_LOW, N_BUCKETS, N_UNITS, NOTES_KEY, RATIO_LIMITS, SLICE_COLUMN, SYSTEM_LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

WORST_FIRST = ("fail", "inconclusive", "skipped", "pass")

JUNIT_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}
"""Elements of test cases by the attribute of a JUnit suite that counts them."""

SHARED_COLUMNS = (*SYSTEM_LABELS[1:], N_UNITS, "tolerance", "required_units", "reason")
"""Columns that a summary names in a sentence instead, if all rows have one value."""

VERDICT_SIGNS = {"pass": "✓ pass", "fail": "✗ fail", "inconclusive": "? inconclusive", "skipped": "- skipped"}
TOTAL = "total"
"""Name of the group of all rows, as ``--by total`` has it."""

ALL_SKIPPED = "all rows are skipped, so nothing was compared"


def markdown_summary(result: pa.Table, digits: int, command: str = "gate", names: Sequence[str] | None = None) -> str:
    """Return a Markdown summary: the overall verdict, a table with the worst rows first, and a sentence on the values that all share.

    Rows without a verdict keep their order. ``names`` are the columns to show, by default those of a gate.
    """
    import pyarrow as pa  # noqa: PLC0415  a third of a second that help does not need

    verdict = (result.schema.metadata or {})[b"sqlrank.verdict"].decode()
    severities = [
        len(WORST_FIRST) if row_verdict is None else WORST_FIRST.index(row_verdict) for row_verdict in result["verdict"].to_pylist()
    ]
    order = sorted(range(result.num_rows), key=lambda row: severities[row])
    displayed = select_display_columns(result, gate_display_columns(result) if names is None else names)
    displayed, constants = _without_constants(_join_group_columns(displayed, result).take(order))
    signs = pa.array([VERDICT_SIGNS.get(row_verdict, row_verdict) for row_verdict in displayed["verdict"].to_pylist()], pa.string())
    displayed = displayed.set_column(displayed.column_names.index("verdict"), "verdict", signs)
    table = format_result(displayed, Format.markdown, TableStyle(digits, is_signed=True))
    texts = [f"{name} {format_value(value, Format.markdown, digits, name=name)}" for name, value in constants.items()]
    note = f"\n{'In every row: ' if result.num_rows > 1 else ''}{', '.join(texts)}\n" if texts else ""
    return f"## sqlrank {command}: {verdict}\n\n{table}{note}\n"


def _join_group_columns(displayed: pa.Table, result: pa.Table) -> pa.Table:
    """Return a table of several groupings with one column that names the group of each row."""
    import pyarrow as pa  # noqa: PLC0415  a third of a second that help does not need

    if SLICE_COLUMN not in result.column_names:
        return displayed
    groups = [_name_group(row, result) or TOTAL for row in result.to_pylist()]
    return displayed.drop_columns(group_column_names(result)).add_column(0, "group", pa.array(groups, pa.string()))


def _without_constants(displayed: pa.Table) -> tuple[pa.Table, dict[str, Any]]:
    """Return a table without the columns that have one value in all rows, and these values but NULL."""
    constants = {
        name: displayed[name][0].as_py()
        for name in SHARED_COLUMNS
        if name in displayed.column_names and displayed.num_rows and len(displayed[name].unique()) == 1
    }
    return displayed.drop_columns(list(constants)), {name: value for name, value in constants.items() if value is not None}


def format_junit(result: pa.Table, command: str = "gate", inconclusive: str | None = None) -> str:
    """Return a JUnit report: one test case per metric and group with a verdict.

    An inconclusive row is an ``error``, the outcome of a test that reached no verdict, since readers of JUnit accept a suite with skipped tests. If all rows are
    skipped, a case of the whole suite is an error. ``inconclusive`` is the verdict that an inconclusive row is treated as: a ``failure`` for ``fail``, and
    ``skipped`` for ``pass``.
    """
    outcomes = {
        "fail": "failure",
        "inconclusive": {"fail": "failure", "pass": "skipped"}.get(inconclusive or "", "error"),
        "skipped": "skipped",
    }
    rows = [row for row in result.to_pylist() if row["verdict"] is not None]
    cases = [(_name_row(row, result), outcomes.get(row["verdict"]), _describe_row(row)) for row in rows]
    if is_all_skipped(result):
        cases.append(("all rows", "failure" if inconclusive == "fail" else "error", ALL_SKIPPED))
    systems = {name: sorted({row[name] for row in rows if row.get(name) is not None}) for name in SYSTEM_LABELS[1:]}
    notes = (result.schema.metadata or {}).get(NOTES_KEY.encode(), b"").decode()
    return _write_suite(command, cases, [(name, escape_controls(value)) for name, values in systems.items() for value in values], notes)


def format_junit_error(message: str, command: str) -> str:
    """Return a JUnit report of a command that ended without verdicts: one test case with an error."""
    return _write_suite(command, [(command, "error", escape_controls(message, allowed="\n"))])


def is_all_skipped(result: pa.Table) -> bool:
    """Return True if no row has a verdict but ``skipped``: nothing was compared, which is no pass even where an inconclusive result is."""
    return all(verdict in {"skipped", None} for verdict in result["verdict"].to_pylist())


def github_annotations(result: pa.Table, command: str = "gate", inconclusive: str | None = None) -> list[str]:
    """Return GitHub Actions annotations: an error per failure, a warning per inconclusive verdict, and one if all is skipped.

    Inconclusive verdicts that are treated as ``fail`` are errors.
    """
    kinds = {"fail": "error", "inconclusive": "error" if inconclusive == "fail" else "warning"}
    undecided = [f"::{kinds['inconclusive']} title=sqlrank {command}::{ALL_SKIPPED}"] if is_all_skipped(result) else []
    return undecided + [
        f"::{kinds[row['verdict']]} title=sqlrank {command}::{_escape_command(f'{_name_row(row, result)}: {_describe_row(row)}')}"
        for row in result.to_pylist()
        if row["verdict"] in kinds
    ]


def _write_suite(
    command: str, cases: Sequence[tuple[str, str | None, str]], properties: Sequence[tuple[str, str]] = (), notes: str = ""
) -> str:
    """Return a JUnit suite of test cases: the name of each, its outcome, None if it passed, and the message of the outcome; ``notes`` are its output."""
    counts = {name: sum(outcome == kind for _, outcome, _ in cases) for name, kind in JUNIT_COUNTS.items()}
    attributes = {"tests": len(cases), **counts}
    suite = ET.Element("testsuite", {"name": f"sqlrank {command}", **{name: str(count) for name, count in attributes.items()}})
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
    where = ", ".join(filter(None, [_name_group(row, result), f"system={row['system']}" if len(systems) > 1 else ""]))
    return escape_controls(f"{row['metric']} ({where})" if where else str(row["metric"]))


def _name_group(row: dict[str, Any], result: pa.Table) -> str:
    """Return the group of a row by its columns, an empty text for all rows; a column of its grouping may be NULL."""
    names = [name for name in group_column_names(result) if name != SLICE_COLUMN]
    grouping = str(row[SLICE_COLUMN]).split(", ") if SLICE_COLUMN in row else []
    return ", ".join(f"{name}={format_value(row[name], Format.table)}" for name in names if row[name] is not None or name in grouping)


def _describe_row(row: dict[str, Any]) -> str:
    columns: tuple[str, ...] = ("value_baseline", "value") if row["difference"] is None else ("difference", *BOUNDS, CI_LOW, CI_HIGH)
    columns = ("ratio", *RATIO_LIMITS) if "ratio" in row and str(row["tolerance"]).endswith("%") else columns
    values = [f"{name} {format_number(row[name], name, is_signed=True)}" for name in columns if row.get(name) is not None]
    systems = [escape_controls(f"{row['system']} against {row['baseline']}")] if row.get("baseline") is not None else []
    units = [f"{row[name]:,} {what}" for name, what in ((N_UNITS, "units"), (N_BUCKETS, "buckets")) if row.get(name)]
    return f"{escape_controls(row['reason'])}: " + ", ".join([*values, *systems, f"tolerance {row['tolerance']}", *units])


def _escape_command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
