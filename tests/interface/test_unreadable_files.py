"""Unreadable files: the error names their content and the remedy."""

import os
import re
from pathlib import Path

import duckdb
import pytest

import sqlrank
from sqlrank import ContractError, InputError


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
def test_other_encodings(encoding, problem):
    Path("x.csv").write_bytes("label,score,name\n1,0.5,é\n0,0.2,ü\n".encode(encoding))
    assert problem in find_refusal("x.csv")


@pytest.mark.slow
def test_a_line_of_three_megabytes():
    Path("x.csv").write_text("label,score,name\n1,0.5," + "x" * 3_000_000 + "\n0,0.2,y\n")
    assert (
        "a line of it is longer than the 2 MB that DuckDB reads at once. Make a Parquet file of it"
        in find_refusal("x.csv")
    )


def test_lines_that_end_in_two_ways():
    Path("x.csv").write_bytes(b"label,score\r\n" + b"1,0.5\r\n0,0.2\r\n" * 300 + b"1,0.7\n0,0.4\n")
    assert (
        "end all lines the same way (dos2unix does), separate fields by one delimiter"
        in find_refusal("x.csv")
    )


def test_fields_separated_by_blanks():
    Path("x.csv").write_text("label score\n1 0.9\n0 0.1\n")
    _, _, query = find_refusal("x.csv").partition("give the query ")
    assert sqlrank.evaluate("AUC", predictions=query)["AUC"].to_pylist() == [1.0]
    assert sqlrank.evaluate("Sum(score)", predictions=query)["Sum(score)"].to_pylist() == [1.0]
    Path("names.csv").write_text("full name\nAnna B\nAnna C\n")
    result = sqlrank.evaluate("Missing(x)", predictions="names.csv", columns={"x": '"full name"'})
    assert result.num_rows == 1


@pytest.mark.parametrize("content", [b"hello", b"hello,day\n" * 20])
def test_text_under_the_name_of_a_parquet_file(content):
    Path("x.parquet").write_bytes(content)
    assert "'x.parquet' is no Parquet file. It begins with 'hello" in find_refusal("x.parquet")


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[: len(content) // 2] + b"PAR1",
        lambda content: content[:-8] + bytes(4) + b"PAR1",
        lambda content: content[:-8] + b"\xff\xff\xff\x7fPAR1",
        lambda content: content[:-9],
    ],
)
def test_the_end_of_a_parquet_file_is_damaged(change):
    duckdb.sql("COPY (SELECT 1 AS label, 0.5 AS score) TO 'x.parquet'")
    Path("x.parquet").write_bytes(change(Path("x.parquet").read_bytes()))
    assert find_refusal("x.parquet").endswith(
        ": write it again: it is damaged, or was not written to its end"
    )


def test_an_encrypted_parquet_file():
    duckdb.sql("COPY (SELECT 1 AS label, 0.5 AS score) TO 'x.parquet'")
    Path("x.parquet").write_bytes(Path("x.parquet").read_bytes()[:-4] + b"PARE")
    assert "read it by a query on a connection of your own that has its key" in find_refusal(
        "x.parquet"
    )


EVEN = "label,score,name\n1,0.5,a\n0,0.25,b\n"
MEND = "Fix the line: put what holds a delimiter in quotes, and leave no field out"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rows", [1, 15_000], ids=["few", "many"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    ("line", "fields"), [("1,0.5", "2 fields"), ("1,0.5,a,b", "4 fields"), ("1", "1 field")]
)
def test_lines_of_more_or_fewer_fields(rows, delimiter, line, fields):
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


def test_json_after_a_byte_order_mark():
    text = '[{"label": 1, "score": 0.5}, {"label": 0, "score": 0.25}]'
    Path("x.json").write_text(text, "utf-8-sig")
    assert "is JSON after a byte order mark. Write it again without" in find_refusal("x.json")
    Path("x.json").write_text(text, "utf-8")
    assert sqlrank.evaluate("AUC", predictions="x.json")["AUC"].to_pylist() == [1.0]


def test_a_folder_of_several_kinds_names_their_endings():
    Path("parts").mkdir()
    Path("parts/a.csv").write_text(EVEN)
    Path("parts/README.md").write_text("notes")
    assert "files of several kinds (.csv, .md). Give a pattern" in find_refusal("parts")


def test_a_quote_that_nothing_closes():
    Path("x.csv").write_text('label,name,score\n0,"a,b",30\n1,"a, b,25\n0,"c",35\n1,"d","45"\n')
    assert find_refusal("x.csv") == (
        "predictions: x.csv, line 3 has a quote that nothing closes: '1,\"a, b,25'. Close it, or"
        " write one in a text twice"
    )


def test_an_uneven_line_of_one_file_of_several():
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
def test_files_of_different_columns(text, said):
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


def test_a_column_whose_name_holds_a_comma():
    Path("x.csv").write_text('"a,b"\n1\n0\n')
    assert "1 field: '1'. 2 are expected" in find_refusal("x.csv")
    Path("x.csv").write_text("'label,score'\n'1,0.5'\n'0,0.25'\n")
    assert "no columns 'label', 'score'" in find_refusal("x.csv")


def test_what_is_no_file():
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
def test_lists_in_the_place_of_numbers(rows, name):
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


def test_a_member_of_a_folder_that_is_empty():
    for name, text in {"a.csv": EVEN, "b.csv": ""}.items():
        Path(name).write_text(text)
    assert find_refusal("?.csv").startswith("predictions: 'b.csv' is empty, and has not even a")


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
            ":1: the name nDCG is taken by rankings/ndcg.sql. Choose another",
        ),
    ],
)
def test_files_of_a_users_folder(path, text, message):
    file = Path("mine") / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(ContractError) as caught:
        sqlrank.metrics(Path("mine"))
    assert f"{file}{message}" in str(caught.value)
    assert "Propert" not in str(caught.value)


@pytest.mark.parametrize("infinite", ["inf", "-Infinity"])
def test_a_column_of_numbers_that_begins_with_an_infinite_one(infinite):
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
