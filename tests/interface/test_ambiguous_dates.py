"""Dates of CSV files of which day and month can be exchanged are refused with the queries that read
them, in calls that name the column.
"""

import re
from pathlib import Path

import pytest

import sqlrank

AMBIGUOUS = [
    ("03/01/2026", "3/12/2026"), ("03.01.2026", "03.03.2026"), ("03-01-26", "03-12-26"),
    ("01/03/2026 09:30:00", "02/03/2026 23:59:59"), ("03/03/2026", "03/01/2026"),
]  # fmt: skip
CLEAR = {
    ("2026-01-03", "2026-01-04"): "2026-01-03", ("03/01/2026", "03/31/2026"): "2026-03-01", ("03.01.2026", "31.01.2026"): "2026-01-03",
    ("03/03/2026", "03/03/2026"): "2026-03-03", ("2026-01-03 10:00:00", "2026-01-04 10:00:00"): "2026-01-03 10:00:00",
}  # fmt: skip


def write_csv(path: Path, dates: tuple[str, ...]) -> str:
    path.write_text("label,score,ts\n" + "".join(f"1,0.5,{date}\n" for date in dates), "utf-8")
    return str(path)


@pytest.mark.parametrize("dates", AMBIGUOUS, ids=str)
def test_both_readings_are_suggested(tmp_path, dates):
    file = write_csv(tmp_path / "p.csv", dates)
    with pytest.raises(
        sqlrank.InputError,
        match=r"^predictions: ts has dates such as .*, and no row tells the day from the month",
    ) as refusal:
        sqlrank.evaluate("Observations", predictions=file, by="ts")
    queries = re.findall(r"SELECT .*?FROM READ_CSV\(.*?\}\)", str(refusal.value))
    months = [
        [
            row["m"]
            for row in sqlrank.evaluate(
                "Observations", predictions=sqlrank.query(query), by="m=MONTH(ts)"
            ).to_pylist()
        ]
        for query in queries
    ]
    first, second = (
        sorted({int(re.split(r"\D", date)[place]) for date in dates}) for place in (0, 1)
    )
    assert months == [first, second]


@pytest.mark.parametrize(("dates", "first"), CLEAR.items(), ids=str)
def test_dates_with_one_reading_are_read(tmp_path, dates, first):
    file = write_csv(tmp_path / "p.csv", dates)
    assert str(sqlrank.evaluate("Observations", predictions=file, by="ts")["ts"][0]) == first


def test_dates_of_several_files(tmp_path):
    """DuckDB takes the format from the first file. A date of another file that does not fit is
    shown, with the query that reads all.
    """
    write_csv(tmp_path / "a.csv", ("03/01/2026",))
    with pytest.raises(sqlrank.InputError, match="no row tells the day"):
        sqlrank.evaluate("Observations", predictions=str(tmp_path), where="ts >= DATE '2026-01-01'")
    assert (
        sqlrank.evaluate("Observations", predictions=str(tmp_path)).num_rows == 1
    )  # no call names the column
    write_csv(tmp_path / "b.csv", ("03/31/2026",))
    with pytest.raises(
        sqlrank.InputError,
        match=r"b\.csv, line 2: ts is '03/31/2026', which is not a date\. If the month comes first",
    ) as refusal:
        sqlrank.evaluate("Observations", predictions=str(tmp_path), by="ts")
    (query,) = re.findall(r"SELECT .*?FROM READ_CSV\(.*?\}\)", str(refusal.value))
    found = sqlrank.evaluate("Observations", predictions=sqlrank.query(query), by="ts")
    assert [str(day) for day in found["ts"]] == ["2026-03-01", "2026-03-31"]
