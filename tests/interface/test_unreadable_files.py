"""Unreadable files: the error names their content and the remedy."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import ContractError, InputError, SqlrankError


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def find_refusal(source: str) -> str:
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AUC", predictions=source)
    return str(caught.value)


@pytest.mark.parametrize(
    ("encoding", "problem"),
    [
        ("latin-1", "it is not UTF-8 text. Convert it, such as with iconv -f LATIN1 -t UTF-8"),
        ("utf-16", "is text in UTF-16. Convert it to UTF-8, such as with iconv -f UTF-16 -t UTF-8"),
    ],
)
def test_other_encodings(encoding: str, problem: str) -> None:
    Path("x.csv").write_bytes("label,score,name\n1,0.5,é\n0,0.2,ü\n".encode(encoding))
    assert problem in find_refusal("x.csv")


@pytest.mark.slow
def test_a_line_of_three_megabytes() -> None:
    Path("x.csv").write_text("label,score,name\n1,0.5," + "x" * 3_000_000 + "\n0,0.2,y\n")
    assert (
        "a line of it is longer than the 2 MB that DuckDB reads at once. Make a Parquet file of it"
        in find_refusal("x.csv")
    )


def test_lines_that_end_in_two_ways() -> None:
    Path("x.csv").write_bytes(b"label,score\r\n" + b"1,0.5\r\n0,0.2\r\n" * 300 + b"1,0.7\n0,0.4\n")
    assert (
        "end all lines the same way (dos2unix does), separate fields by one delimiter"
        in find_refusal("x.csv")
    )


@pytest.mark.parametrize("content", [b"hello", b"hello,day\n" * 20])
def test_text_under_the_name_of_a_parquet_file(content: bytes) -> None:
    Path("x.parquet").write_bytes(content)
    assert "'x.parquet' is no Parquet file. It begins with 'hello" in find_refusal("x.parquet")


EVEN = "label,score,name\n1,0.5,a\n0,0.25,b\n"
MEND = "Fix the line: put what holds a delimiter in quotes, and leave no field out"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rows", [1, 15_000], ids=["few", "many"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    ("line", "fields"), [("1,0.5", "2 fields"), ("1,0.5,a,b", "4 fields"), ("1", "1 field")]
)
def test_lines_of_more_or_fewer_fields(rows: int, delimiter: str, line: str, fields: str) -> None:
    """Among the first lines, of which DuckDB then makes one column, and after those that it looks
    at.
    """
    text = "label,score,name\n" + "1,0.5,a\n0,0.25,b\n" * rows
    Path("x.csv").write_text((text + line + "\n1,0.75,c\n").replace(",", delimiter))
    wanted = (
        f"predictions: x.csv, line {2 * rows + 2} has {fields}: {line.replace(',', delimiter)!r}. 3"
        f" are expected, as in the lines before. {MEND}"
    )
    assert find_refusal("x.csv") == wanted
    if rows == 1:
        with pytest.raises(InputError) as caught:
            sqlrank.sql("AUC", predictions="x.csv")
        assert str(caught.value) == wanted


def test_an_uneven_line_of_one_file_of_several() -> None:
    Path("a.csv").write_text(EVEN)
    Path("b.csv").write_text(EVEN * 9000 + "1,0.5,a,b\n")
    assert "b.csv, line 27001 has 4 fields: '1,0.5,a,b'. 3 are expected" in find_refusal("?.csv")
    relation = duckdb.read_csv("b.csv")
    with pytest.raises(InputError, match=r"^predictions: b.csv, line 27001 has 4 fields"):
        sqlrank.evaluate("AUC", predictions=relation, connection=duckdb.default_connection())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "label,rank,name\n1,2,a\n",
            "no column 'score', which a.csv has. It has 'label', 'rank', 'name'",
        ),
        ("score,more\n0.5,1\n", "no column 'label', which a.csv has. It has 'score', 'more'"),
        (
            "1,0.5,a\n0,0.25,b\n",
            "no column 'label', 'score', which a.csv has. It has 'column0', 'column1', 'column2'",
        ),
    ],
)
def test_files_of_different_columns(text: str, said: str) -> None:
    """The one that lacks a column which is read is named; one with further columns is read."""
    for name, rows in {"a.csv": EVEN, "b.csv": "label,score,name,more\n1,0.75,c,x\n"}.items():
        Path(name).write_text(rows)
    assert sqlrank.evaluate("num_predictions", predictions="?.csv").to_pylist() == [
        {"num_predictions": 3.0}
    ]
    Path("c.csv").write_text(text)
    advice = (
        "Give the columns the same names, with a header in each file, or give files of one kind"
        " only"
    )
    assert find_refusal("?.csv") == f"predictions: c.csv has {said}. {advice}"


def test_a_column_whose_name_holds_a_comma() -> None:
    Path("x.csv").write_text('"a,b"\n1\n0\n')
    assert "1 field: '1'. 2 are expected" in find_refusal("x.csv")
    Path("x.csv").write_text("'label,score'\n'1,0.5'\n'0,0.25'\n")
    assert "no columns 'label', 'score'" in find_refusal("x.csv")


def test_what_is_no_file() -> None:
    Path("x.csv").write_text("")
    assert (
        find_refusal("x.csv") == "predictions: 'x.csv' is empty. Check what should have written it"
    )
    Path("folder.csv").mkdir()
    assert (
        find_refusal("folder.csv")
        == "predictions: 'folder.csv' is a folder without files. Give a file, or a glob such as"
        " 'folder.csv/*.parquet'"
    )
    os.mkfifo("pipe.csv")
    assert (
        find_refusal("pipe.csv")
        == "predictions: 'pipe.csv' is a pipe or a device, which can be read only once. Write it to"
        " a file first"
    )


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ("SELECT [1, 0, 1, 0] AS label, [0.9, 0.1, 0.4, 0.5] AS score", "lists.parquet"),
        ("SELECT [1, 0, 1, 0] AS label, [0.9, 0.1, 0.4, 0.5] AS score", "lists.json"),
        ("SELECT 1 AS label, [0.9, 0.4] AS score UNION ALL SELECT 0, [0.1, 0.5]", "it's.parquet"),
    ],
)
def test_lists_in_the_place_of_numbers(rows: str, name: str) -> None:
    path = name.replace("'", "''")
    duckdb.sql(f"COPY ({rows}) TO '{path}'")
    problems = find_refusal(name).split("\n")
    queries = {
        re.sub(r", or map another column to \w+$", "", problem.partition("the query ")[2])
        for problem in problems
    }
    assert len(queries) == 1
    result = sqlrank.evaluate("AUC", predictions=queries.pop())
    assert result.to_pylist() == [{"AUC": 0.75}]


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        (lambda content: content[:-20], "write it again: it is damaged, or was not written to its"),
        (
            lambda content: content[:60] + b"\xff" * 40 + content[100:],
            "A file that it reads is damaged: write it again",
        ),
    ],
)
def test_a_damaged_parquet_file(change: Callable[[bytes], bytes], advice: str) -> None:
    table = {"label": [1, 0] * 50, "score": [0.25, 0.75] * 50}
    pq.write_table(pa.table(table), "x.parquet", compression="none", use_dictionary=False)
    Path("x.parquet").write_bytes(change(Path("x.parquet").read_bytes()))
    with pytest.raises(SqlrankError, match=re.escape(advice)):
        sqlrank.evaluate("AUC", predictions="x.parquet")


def test_a_member_of_a_folder_that_is_empty() -> None:
    for name, text in {"a.csv": EVEN, "b.csv": ""}.items():
        Path(name).write_text(text)
    assert find_refusal("?.csv").startswith("predictions: 'b.csv' is empty, and has not even a")


def test_a_parquet_file_as_a_database() -> None:
    duckdb.sql("COPY (SELECT 1 AS label, 0.5 AS score) TO 'x.parquet'")
    with pytest.raises(
        InputError,
        match=(
            r"^cannot open 'x.parquet' as a DuckDB file. It is a table: give it as an input"
            r" instead$"
        ),
    ):
        sqlrank.evaluate("AUC", predictions="x", connection="x.parquet")


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        (
            "functions/gain/mine.sql",
            "-- mine: x.\nCREATE MACRO gain(relevance) AS LOG(relevance)\n",
            ":2: Log is not allowed: bases differ",
        ),
        ("metric/x.sql", "-- X: x.\nSELECT 1\n", ":1: this file is not read. Move it to metrics/"),
        (
            "functions/x.sql",
            "-- x: x.\nSELECT 1\n",
            ":1: this file is not read. Move it to metrics/",
        ),
        (
            "metrics/other.sql",
            "-- nDCG: x.\nSELECT 1\n",
            ":1: the name nDCG is taken by ranking/ndcg.sql. Choose another",
        ),
    ],
)
def test_files_of_a_users_folder(path: str, text: str, message: str) -> None:
    file = Path("mine") / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(ContractError) as caught:
        sqlrank.metrics(Path("mine"))
    assert f"{file}{message}" in str(caught.value)
    assert "Propert" not in str(caught.value)


def test_a_score_of_a_run_that_is_no_number() -> None:
    Path("x.run").write_text("1 Q0 a 1 abc t\n1 Q0 b 2 0.5 t\n", "utf-8")
    Path("x.qrels").write_text("1 0 a 1\n", "utf-8")
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AP", run="x.run", qrels="x.qrels")
    first, example, *_ = str(caught.value).splitlines()
    assert (
        first
        == "run (x.run): 1 row: score is NULL, or a text that is no number. Give it a number, leave"
        " the row out, or give nulls='drop'"
    )
    assert example == "    query_id='1', doc_id='a', score=None"


@pytest.mark.parametrize("infinite", ["inf", "-Infinity"])
def test_a_column_of_numbers_that_begins_with_an_infinite_one(infinite: str) -> None:
    Path("x.csv").write_text(f"label,my score\n0,{infinite}\n1,0.5\n1,0.75\n")
    cast = 'CAST("my score" AS DOUBLE)'
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AUC", predictions="x.csv", columns={"score": "my score"})
    advice = (
        f"If its texts are numbers, such as inf, give columns={{'score': '{cast}'}}, or map another"
        " column to score"
    )
    assert str(caught.value) == f"predictions (x.csv): score is VARCHAR, not a number. {advice}"
    expected = 1.0 if infinite.startswith("-") else 0.0
    assert sqlrank.evaluate("AUC", predictions="x.csv", columns={"score": cast}).to_pylist() == [
        {"AUC": expected}
    ]
