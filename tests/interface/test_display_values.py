"""The same value reads alike on every surface: terminal, Markdown, LaTeX, HTML report, sheet, JUnit
report and CI summary.
"""

import io
import re
from html import unescape
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

from sqlrank.output.ci_reports import format_junit, github_annotations, markdown_summary
from sqlrank.output.result_formats import Format, TableStyle, as_excel, format_result
from sqlrank.reports.blocks import result_block

NUMBERS = {
    0.25: "0.2500",
    3e-5: "0.00003",
    3.97e-05: "0.00004",
    -4.2e-07: "-4.2e-07",
    0.00006: "0.0001",
    0.99996: "1.0000",
    1e-17: "0.0000",
    -0.0: "0.0000",
    12345.678: "12,345.6780",
    -1234567.5: "-1,234,567.5000",
    float("inf"): "inf",
    float("-inf"): "-inf",
    None: "NULL",
}
SIGNED = {
    value: f"+{text}" if value is not None and value > 1e-12 else text
    for value, text in NUMBERS.items()
}
P_VALUES = {
    3e-5: "<0.0001",
    1e-17: "<0.0001",
    0.0: "<0.0001",
    0.0001: "0.0001",
    0.99996: "1.0000",
    1.0: "1.0000",
    None: "NULL",
}
COUNTS = {0: "0", 20: "20", 1234567: "1,234,567", None: "NULL"}
NAMES = [
    "a|b",
    "R&D <b>",
    "50 % off_now",
    "two\nlines",
    "a" * 40,
    "名前の長い系",
    "$x$ #1 {~^}",
    "-",
    "=1+1",
]
LATEX = {
    "\\textless{}": "<", "\\textgreater{}": ">", "\\textbar{}": "|", "\\textasciitilde{}": "~", "\\textasciicircum{}": "^",
    "\\&": "&", "\\%": "%", "\\_": "_", "\\$": "$", "\\#": "#", "\\{": "{", "\\}": "}", "--": "NULL",
}  # fmt: skip


def read_cells(table: pa.Table) -> dict[str, list[str]]:
    """Return the cells of the second column of a table, as a reader of each surface sees them."""
    name = table.column_names[1]
    lines = format_result(table, Format.table, TableStyle()).splitlines()[1:]
    markdown = [
        re.split(r"(?<!\\)\|", line)[2].strip()
        for line in format_result(table, Format.markdown, TableStyle()).splitlines()[2:]
    ]
    latex = [
        line.removesuffix(" \\\\").partition(" & ")[2]
        for line in format_result(table, Format.latex, TableStyle()).splitlines()[4:-2]
    ]
    block = result_block(table, "x", "x", 99)
    assert block.columns[1] == name
    return {
        "terminal": [line.split("  ", 1)[1].strip() for line in lines],
        "markdown": [
            cell.removeprefix("`").removesuffix("`").replace(r"\|", "|").replace("<br>", r"\n")
            for cell in markdown
        ],
        "latex": [
            re.sub("|".join(map(re.escape, LATEX)), lambda found: LATEX[found[0]], cell)
            for cell in latex
        ],
        "report": [unescape(row[1].text).replace("\n", r"\n") for row in block.rows],
    }


@pytest.mark.parametrize(
    ("name", "values", "arrow_type"),
    [("value", NUMBERS, pa.float64()), ("difference", SIGNED, pa.float64()), ("p_value", P_VALUES, pa.float64()),
     ("p_adjusted", P_VALUES, pa.float64()), ("n_units", COUNTS, pa.int64()), ("num_days", COUNTS, pa.int64())],
)  # fmt: skip
def test_numbers_have_one_text_on_every_surface(name, values, arrow_type):
    table = pa.table({"metric": ["x"] * len(values), name: pa.array(list(values), arrow_type)})
    for surface, cells in read_cells(table).items():
        assert cells == list(values.values()), surface


def test_names_have_one_text_on_every_surface():
    table = pa.table({"metric": ["x"] * len(NAMES), "system": NAMES})
    cells = read_cells(table)
    shown = [name.replace("\n", r"\n") for name in NAMES]
    assert cells["terminal"] == cells["markdown"] == cells["report"] == shown
    assert cells["latex"] == [name.replace("\n", " ") for name in NAMES], (
        "a line break is a blank in a cell"
    )


def test_a_sheet_has_the_values():
    openpyxl = pytest.importorskip("openpyxl", reason="reads sheets")
    values = [value for value in NUMBERS if value is not None and abs(value) != float("inf")]
    sheet = openpyxl.load_workbook(
        io.BytesIO(as_excel(pa.table({"value": values, "system": (NAMES * 2)[: len(values)]})))
    )["result"]
    assert [cell.value for cell in sheet["A"][1:]] == values
    assert [cell.value for cell in sheet["B"][1:]] == (NAMES * 2)[: len(values)]


@pytest.mark.parametrize(
    ("value", "text"), [(value, text) for value, text in NUMBERS.items() if value is not None]
)
def test_files_of_gates_have_the_text_of_the_terminal(value, text):
    row = {
        "metric": "AP",
        "baseline": "a|b",
        "system": "R&D <b>",
        "value_baseline": 0.5,
        "value": 0.4,
        "difference": value,
        "n_units": 1234,
    }
    row |= {
        "ci_low": None,
        "ci_high": None,
        "tolerance": "0.01",
        "verdict": "fail",
        "required_units": None,
        "reason": "worse",
    }
    result = pa.Table.from_pylist([row]).replace_schema_metadata({"sqlrank.verdict": "fail"})
    signed = text if value <= 0 or text == "0.0000" else f"+{text}"
    suite = ET.fromstring(format_junit(result))  # noqa: S314  it was written here
    message = next(suite.iter("failure")).get("message") or ""
    assert (
        message == f"worse: difference {signed}, R&D <b> against a|b, tolerance 0.01, 1,234 units"
    )
    assert [(entry.get("name"), entry.get("value")) for entry in suite.iter("property")] == [
        ("baseline", "a|b"),
        ("system", "R&D <b>"),
    ]
    (line,) = github_annotations(result)
    assert line == f"::error title=sqlrank gate::AP: {message}"
    page = markdown_summary(result, 4).splitlines()
    assert page[2] == r"| metric | a\|b | `R&D <b>` | difference | verdict |"
    assert page[4] == f"| AP | 0.5000 | 0.4000 | {signed} | ✗ fail |"
    assert page[6:] == ["AP: worse.", "", "1,234 units, absolute tolerance 0.01.", ""]


def test_a_summary_names_groups_and_what_rows_share():
    rows = [
        {"slice": grouping, "g": group, "metric": "AP", "baseline": "old", "system": "new", "value_baseline": 0.5, "value": 0.4,
         "difference": -0.1, "n_units": units, "tolerance": "0", "verdict": verdict, "reason": "worse"}
        for grouping, group, units, verdict in (("all", None, 60, "pass"), ("g", "x", 40, "fail"), ("g", None, 20, "skipped"))
    ]  # fmt: skip
    result = pa.Table.from_pylist(rows).replace_schema_metadata({"sqlrank.verdict": "fail"})
    assert markdown_summary(result, 4).rstrip().splitlines()[2:] == [
        "| metric | old | new | difference | verdict |",
        "| :--- | ---: | ---: | ---: | :--- |",
        "| AP (g=x) | 0.5000 | 0.4000 | -0.1000 | ✗ fail |",
        "| AP (g=NULL) | 0.5000 | 0.4000 | -0.1000 | - skipped |",
        "| AP (total) | 0.5000 | 0.4000 | -0.1000 | ✓ pass |", "", "Every row: worse.", "",
        "20 to 60 units, tolerance 0.",
    ]  # fmt: skip
