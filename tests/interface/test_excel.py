"""Results as a sheet of Excel, read back by another library."""

import datetime as dt
import io
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.output import result_formats
from tests.interface.command_line import invoke_command, run_command, run_refused_command
from tests.tables import build_table

CALL = ["evaluate", "RR", "P@1", "num_ret", "--run", "run.parquet", "--qrels", "qrels.parquet"]


@pytest.fixture(autouse=True)
def _here(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)


def read_sheet(data: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(data)).active


def test_a_result_as_a_sheet(tmp_path):
    assert run_command(*CALL, "--per-query", "-o", tmp_path / "out.xlsx") == ""
    cells = list(read_sheet((tmp_path / "out.xlsx").read_bytes()).iter_rows())
    assert [[cell.value for cell in row] for row in cells] == [
        ["query_id", "RR", "P@1", "num_ret"],
        ["q1", 0.5, 0, 2],
        ["q2", 1, 1, 1],
    ]
    assert [cell.data_type for cell in cells[1]] == ["s", "n", "n", "n"]
    assert [cell.number_format for cell in cells[1]] == ["General", "General", "General", "0"]
    assert (
        invoke_command(*CALL, "--per-query", "--format", "xlsx").stdout_bytes
        == (tmp_path / "out.xlsx").read_bytes()
    )


def test_each_type_is_what_it_is():
    values = {
        "formula": "=1+1",
        "number in a text": "007",
        "address": "https://example.com",
        "lines": 'a\n"b"\t ü',
        "day": dt.date(2026, 2, 28),
        "time": dt.datetime(2026, 2, 28, 13, 5, 7),  # noqa: DTZ001  without a zone
        "whole": 10**15 - 1,
        "third": 1 / 3,
        "tiny": -1e-300,
        "true": True,
        "none": None,
    }
    table = pa.table({name: [value] for name, value in values.items()})
    names, cells = read_sheet(result_formats.as_excel(table)).iter_rows()
    got = {name.value: cell.value for name, cell in zip(names, cells, strict=True)}
    # A day is read as its first moment
    assert got == values | {"day": dt.datetime(2026, 2, 28)}  # noqa: DTZ001
    assert "".join(cell.data_type for cell in cells) == "ssssddnnnbn"
    assert [cell.number_format for cell in cells[4:6]] == ["yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"]
    assert all(cell.hyperlink is None for cell in cells)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10**15, "1000000000000000"),
        (-(2**63), "-9223372036854775808"),
        (float("inf"), "inf"),
        (dt.date(1899, 12, 31), "1899-12-31"),
        (dt.datetime(2026, 2, 28, tzinfo=dt.UTC), "2026-02-28 00:00:00+00:00"),
        (Decimal("0.10"), "0.10"),
        ([1, 2], "[1, 2]"),
    ],
)
def test_what_a_number_or_date_of_excel_would_change_is_a_text(value, text):
    cell = read_sheet(result_formats.as_excel(pa.table({"x": [value]})))["A2"]
    assert (cell.value, cell.data_type) == (text, "s")


def test_counts_are_integers():
    table = build_table(num_q="2.0 2.5 NULL", AP="2.0 2.5 NULL")
    read = read_sheet(result_formats.as_excel(table))
    assert [[cell.value for cell in row] for row in read.iter_rows(min_row=2)] == [
        [2, 2],
        [2.5, 2.5],
    ]
    assert [read[place].number_format for place in ("A2", "A3", "B2")] == [
        "0",
        "General",
        "General",
    ]


def test_what_no_sheet_holds_is_refused(monkeypatch):
    assert (
        read_sheet(result_formats.as_excel(pa.table({"x": ["x" * 32_767]})))["A2"].value
        == "x" * 32_767
    )
    monkeypatch.setattr(result_formats, "MAX_SHEET_ROWS", 3)
    assert read_sheet(result_formats.as_excel(build_table(x="1 2"))).max_row == 3


def test_a_file_of_ours_is_replaced_and_another_is_not(tmp_path):
    path = tmp_path / "out.xlsx"
    assert run_command(*CALL, "-o", path) == run_command(*CALL, "-o", path) == ""
    before = path.read_bytes()
    book = openpyxl.Workbook()
    book.save(path)
    assert (
        "nothing in this file says that sqlrank wrote it. Replace it with --force, or name another"
        " file" in run_refused_command(*CALL, "-o", path)
    )
    path.write_bytes(b"PK and no more")
    assert "nothing in this file says that sqlrank wrote it" in run_refused_command(
        *CALL, "-o", path
    )
    assert run_command(*CALL, "-o", path, "--force") == ""
    assert path.read_bytes() == before


def test_a_missing_extra_is_reported_before_anything_is_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    message = run_refused_command("evaluate RR --run none --qrels none -o out.xlsx")
    assert (
        "an .xlsx file needs XlsxWriter. Run pip install xlsxwriter, or name a .csv file, which"
        " Excel opens, too" in message
    )


@pytest.mark.slow
def test_rows_in_parts_as_a_sheet(tmp_path):
    pq.write_table(pa.table({"user_id": range(4)}), "rows.parquet")
    assert (
        run_command(
            f"split rows.parquet --key user_id --salt s --folds 2 -o {tmp_path}/parts.xlsx")
        == ""
    )  # fmt: skip
    names, *rows = read_sheet((tmp_path / "parts.xlsx").read_bytes()).iter_rows(values_only=True)
    expected = sqlrank.split("rows.parquet", key="user_id", salt="s", folds=2)
    assert names == tuple(expected.column_names)
    assert rows == [tuple(row.values()) for row in expected.to_pylist()]
