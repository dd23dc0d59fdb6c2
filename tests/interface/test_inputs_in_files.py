"""Files of every format and name, above all those of TREC: the same numbers, or an error that names
the problem.
"""

import gzip
import warnings
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import InputError
from tests.interface.inputs import EXPECTED, evaluate, refused
from tests.tables import build_table

TREC_RUN = "q1 Q0 a 1 0.9 tag\nq1 Q0 b 2 0.5 tag\nq2 Q0 a 1 1.0 tag\n"


@pytest.mark.slow
def test_a_path_of_each_kind(files):
    for ending in ("parquet", "csv", "trec"):
        for make in (str, Path):
            assert (
                evaluate(make(files / f"run.{ending}"), make(files / f"qrels.{ending}")) == EXPECTED
            )


def test_a_json_file(tmp_path, qrels):
    path = tmp_path / "run.jsonl"
    path.write_text(
        "".join(
            f'{{"query_id": "{q}", "doc_id": "{d}", "score": {s}}}\n'
            for q, d, s in [("q1", "a", 0.9), ("q1", "b", 0.5), ("q2", "a", 1)]
        )
    )
    assert evaluate(path, qrels) == EXPECTED


def test_globs(tmp_path, run, qrels):
    pq.write_table(run.slice(0, 1), tmp_path / "1.parquet")
    pq.write_table(run.slice(1), tmp_path / "2.parquet")
    (tmp_path / "a.run").write_text(TREC_RUN[:18])
    (tmp_path / "b.run").write_text(TREC_RUN[18:])
    assert evaluate(tmp_path / "*.parquet", qrels) == EXPECTED
    assert evaluate(str(tmp_path / "?.run"), qrels) == EXPECTED


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "name",
    [
            "a b.trec", "it's.trec", "ü.trec", "we[1]rd.trec", 'say "hi".trec', "no_ending",
            "x;y.trec",
        ],
)  # fmt: skip
def test_names_of_files(name, tmp_path, qrels):
    path = tmp_path / name
    path.write_text(TREC_RUN)
    assert evaluate(path, qrels) == EXPECTED
    assert evaluate(str(path), qrels) == EXPECTED


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["run.gz", "run.trec.gz", "run.txt.gz"])
def test_compressed_files(name, tmp_path, qrels):
    path = tmp_path / name
    path.write_bytes(gzip.compress(TREC_RUN.encode()))
    assert evaluate(path, qrels) == EXPECTED


def test_a_folder_is_its_files(tmp_path, qrels):
    (tmp_path / "a.trec").write_text(TREC_RUN[:18])
    (tmp_path / "b.trec").write_text(TREC_RUN[18:])
    assert evaluate(tmp_path, qrels) == EXPECTED


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_the_statement_reads_a_folder_of_tables_too(suffix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("parts").mkdir()
    for number in range(2):
        rows = f"SELECT {number} AS label, {number} / 2 AS score"
        duckdb.sql(f"COPY ({rows}) TO 'parts/{number}.{suffix}'")
    result = sqlrank.evaluate("AUC", predictions="parts")
    assert result["AUC"].to_pylist() == [1.0]
    text = sqlrank.sql("AUC", predictions="parts")
    assert duckdb.sql(text).fetchall() == [(1.0,)]
    Path("notes").mkdir()
    Path("notes/read me.txt").write_text("no table")
    assert "FROM notes" in sqlrank.sql("AUC", predictions="notes")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.parquet", b"hello"),
        ("bad.gz", b"\x1f\x8b" + TREC_RUN.encode()),
        ("latin1.trec", "q1 Q0 é 1 0.9 tag\n".encode("latin-1")),
        ("long.trec", b"q1 Q0 a 1 0.9 " + b"t" * 3_000_000),
        ("empty.csv", b""),
        ("empty.trec", b""),
        ("comments.trec", b"# nothing\n# here\n"),
        ("header.csv", b"query_id,doc_id,score\n"),
    ],
)
def test_files_that_cannot_be_evaluated(name, content, tmp_path, qrels):
    (tmp_path / name).write_bytes(content)
    message = refused(name, run=tmp_path / name, qrels=qrels)
    assert len(message) < 2000
    if name.startswith(("empty.t", "comments", "header")):
        assert "no rows" in message or "empty" in message


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "text",
    [
        TREC_RUN[:-1],
        TREC_RUN.replace("\n", "\r\n"),
        TREC_RUN.replace("\n", "\r\n", 1),
        "# comment\n" + TREC_RUN + "#another\n",
        "\n" + TREC_RUN.replace("\n", "\n\n"),
        "   \n" + TREC_RUN + " \t \n",
        "  " + TREC_RUN,
        TREC_RUN.replace(" ", "\t"),
        TREC_RUN.replace(" ", "  \t "),
        TREC_RUN.replace("tag", "tag more \"junk' 1 2 3"),
        TREC_RUN.replace("tag", '"tag'),
        "\ufeff" + TREC_RUN,
        TREC_RUN.replace("0.9", "9E-1").replace("0.5", "+.5"),
        TREC_RUN.replace("1.0", "inf").replace("0.5", "-inf"),
    ],
    ids=[
        "no last newline", "crlf", "mixed newlines", "comments", "empty lines", "blank lines", "indented", "tabs", "many blanks",
        "junk after the tag", "quote in the tag", "byte order mark", "exponents", "infinities",
    ],
)  # fmt: skip
def test_trec_files(text, tmp_path, qrels):
    (tmp_path / "run").write_bytes(text.encode())
    assert evaluate(tmp_path / "run", qrels) == EXPECTED


def test_run_and_qrels_exchanged(files):
    refused(
        "run.trec, line 1 has 6 fields",
        "That is a line of a run, not of qrels",
        run=files / "run.trec",
        qrels=files / "run.trec",
    )
    refused(
        "qrels.trec, line 1 has 4 fields",
        "That is a line of qrels, not of a run",
        run=files / "qrels.trec",
        qrels=files / "run.trec",
    )


def test_malformed_lines_in_compressed_files_and_patterns(tmp_path, qrels):
    (tmp_path / "1.gz").write_bytes(gzip.compress(TREC_RUN.encode()))
    (tmp_path / "2.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + TREC_RUN.encode() + b"q3 Q0\n"))
    refused("2.gz, line 4 has 2 fields: 'q3 Q0'", run=str(tmp_path / "*.gz"), qrels=qrels)


def test_what_is_not_text_is_not_quoted_at_length(tmp_path, qrels):
    (tmp_path / "page.html").write_text("<body>" + "many words " * 10_000)
    message = refused(
        "page.html, line 1 has 20000 fields: '<body>many words",
        run=tmp_path / "page.html",
        qrels=qrels,
    )
    assert len(message) < 400


def test_a_text_that_names_nothing_is_not_quoted_at_length(qrels):
    for text in ("x" * 5000, "TABLE " * 5000):
        message = refused(
            f"there is no table and no file named '{text[:40]}...{text[-40:]}'",
            run=text,
            qrels=qrels,
        )
        assert len(message) < 300


def test_a_printed_statement_reads_no_malformed_line(tmp_path):
    (tmp_path / "run").write_text(TREC_RUN + "q2 Q0 my doc 1 0.5\n")
    (tmp_path / "qrels").write_text("q1 0 b 1\n")
    text = sqlrank.sql("RR", run=tmp_path / "run", qrels=tmp_path / "qrels")
    with (
        duckdb.connect() as connection,
        pytest.raises(duckdb.InvalidInputException, match="not a line of a TREC run: q2 Q0 my doc"),
    ):
        connection.execute(text).fetchall()


@pytest.mark.slow
def test_fractional_relevance_in_trec_qrels_is_not_rounded(tmp_path, run):
    (tmp_path / "qrels").write_text("q1 0 b 0.5\nq2 0 a 1.0\n")
    try:
        got = sqlrank.evaluate(["RR", "CG"], run=run, qrels=tmp_path / "qrels").to_pylist()
    except InputError as error:
        # Either is fine: refused, or read as it stands
        assert "relevance" in str(error)  # noqa: PT017
    else:
        assert got == [{"RR": 0.5, "CG": 0.75}]


def test_a_trec_query_id_may_begin_with_a_hash_sign(tmp_path):
    (tmp_path / "run").write_text("#1 Q0 a 1 0.9 tag\n# a comment\n")
    (tmp_path / "qrels").write_text("#1 0 a 1\n")
    assert sqlrank.evaluate(
        "num_q", run=tmp_path / "run", qrels=tmp_path / "qrels"
    ).to_pylist() == [{"num_q": 1.0}]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("num_lines", [2, 2_050, 5_000])
def test_rows_with_a_hash_sign_first_are_no_comments(num_lines, delimiter, tmp_path):
    """DuckDB takes lines with ``#`` for comments where the other lines begin with numbers."""
    rows = [["tag", "label", "score", "text"], ["#1", "1", "0.5", '"a, # b; c"']]
    rows += [[str(number), "1", "0.5", ""] for number in range(num_lines)]
    rows += [[" #2", "0", "0.5", ""]]
    text = "\n".join(map(delimiter.join, rows)) + "\n"
    for name, content in {"a.csv": text.encode(), "b.csv.gz": gzip.compress(text.encode())}.items():
        (tmp_path / name).write_bytes(content)
        result = sqlrank.evaluate("num_predictions", predictions=tmp_path / name)
        assert result.to_pylist() == [{"num_predictions": num_lines + 2}]


def test_comments_between_rows_are_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("label,score\n1,0.5\n# half\n0,0.2\n#\n")
    result = sqlrank.evaluate("AUC", predictions=tmp_path / "a.csv")
    assert result.to_pylist() == [{"AUC": 1.0}]
    (tmp_path / "b.csv").write_text("label,score\n1,0.5\n# half\n#0,0.2\n0,0.1\n")
    with pytest.raises(InputError, match=r"line 3 has 1 field: '# half'"):
        sqlrank.evaluate("AUC", predictions=tmp_path / "b.csv")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("num_lines", [2, 2_000, 20_600])
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_quotes_that_a_file_has_late_are_quotes(num_lines, suffix, tmp_path):
    """DuckDB reads them as a part of the text where the first 20,480 rows have none."""
    text = "query_id,doc_id,score\n" + "".join(f"{row},a,1\n" for row in range(num_lines))
    text += '"5"" disk","x,\ny",2\n"q",it\'s,1\n'
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    result = sqlrank.evaluate(
        "num_rel_ret", run=path, qrels={'5" disk': {"x,\ny": 1}, "q": {"it's": 1}}
    )
    assert result.to_pylist() == [{"num_rel_ret": 2}]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("label,score", "label,score,day"),  # files that were appended to one another
        ("", ""),  # without a header
        ("label;score", "label,score"),
        ("a report", "label,score,day"),
    ],
)
@pytest.mark.parametrize("num_lines", [1, 2_000])
def test_rows_before_others_with_more_fields_are_not_left_out(first, second, num_lines, tmp_path):
    delimiter = ";" if ";" in first else ","
    rows = [first, *[f"1{delimiter}0.5"] * num_lines]
    rest = [second, *["0,0.2" if second == "label,score" else "0,0.2,1"] * 3_000]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([*filter(None, rows), *filter(None, rest)]) + "\n")
    columns = {} if second else {"label": "column0", "score": "column1"}
    with pytest.raises(InputError, match=r"has other fields than the lines before") as caught:
        sqlrank.evaluate("num_predictions", predictions=path, columns=columns)
    query = str(caught.value).partition("give the query ")[2]
    assert sqlrank.evaluate("num_predictions", predictions=query, columns=columns).to_pylist() == [
        {"num_predictions": 3_000}
    ]


def test_titles_before_a_table_are_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("# of a,b\n\nClicks, by day\nlabel,score,day\n1,0.5,1\n0,0.2,1\n")
    assert sqlrank.evaluate("AUC", predictions=path).to_pylist() == [{"AUC": 1.0}]


def test_other_roles_are_not_trec_files(files, run, qrels):
    refused(
        "queries:",
        "has no suffix of a known format",
        run=run,
        qrels=qrels,
        queries=files / "run.trec",
    )


def test_ids_of_csv_files_keep_their_zeros(tmp_path):
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\n001,1,0.5\n01,1,0.5\n")
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\n001,1,1\n")
    got = sqlrank.evaluate(
        "RR", run=tmp_path / "run.csv", qrels=tmp_path / "qrels.csv", per_query=True
    ).to_pylist()
    assert got == [{"query_id": "001", "RR": 1.0}]


def test_nothing_warns(files):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(files / "run.trec", files / "qrels.csv") == EXPECTED


@pytest.mark.slow
def test_predictions_of_vowpal_wabbit(tmp_path):
    """A score and a tag, of which the label is a part; lines without a tag, empty ones, and texts
    that are no number.
    """
    path = tmp_path / "scores.pred"
    path.write_text("0.9 1-a\r\n-0.5\t0-b\n\n1e-1 0-#c\n0.05 1-d\n", encoding="utf-8", newline="")
    columns = {"label": "CASE WHEN tag LIKE '1-%' THEN 1 ELSE 0 END"}
    assert sqlrank.evaluate("AUC", predictions=str(path), columns=columns).to_pylist() == [
        {"AUC": 0.75}
    ]
    joined = {"label": "CASE WHEN tag IS NULL THEN 1 ELSE 0 END"}
    path.write_text("1\n2\n0.5 x\n", encoding="utf-8")
    assert sqlrank.evaluate("AUC", predictions=path, columns=joined).to_pylist() == [{"AUC": 1}]
    for text, fault in (
        ("0.5 a b", "line 2 is '0.5 a b'"),
        ("1:0.3 a", "line 2 is '1:0.3 a'"),
        ("a 0.5", "line 2 is 'a 0.5'"),
    ):
        path.write_text(f"1 x\n{text}\n", encoding="utf-8")
        with pytest.raises(InputError) as raised:
            sqlrank.evaluate("AUC", predictions=path, columns=columns)
        assert (
            f"scores.pred, {fault}. A line of predictions of Vowpal Wabbit is a score and, perhaps,"
            " a tag" in str(raised.value)
        )
    path.write_text("nan 1\n0 0\n", encoding="utf-8")
    with pytest.raises(InputError, match="score is NaN"):
        sqlrank.evaluate("AUC", predictions=path, columns={"label": "CAST(tag AS INT)"})
    with pytest.raises(InputError, match="no column 'label'"):
        sqlrank.evaluate("AUC", predictions=path)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl", ".run"])
def test_a_file_whose_name_is_a_pattern_of_another_is_itself(suffix, tmp_path, monkeypatch):
    for folder in ("[x]", "x"):
        (tmp_path / folder).mkdir()
    lines = {
        ".csv": "query_id,doc_id,score\n{0}\n",
        ".jsonl": '{{"query_id": "q", "doc_id": "{0}", "score": 1}}\n',
        ".run": "q Q0 {0} 1 1.5 tag\n",
    }
    named, others = (
        [f"run[1]{suffix}", f"[x]/f{suffix}", f"a*b{suffix}"],
        [f"run1{suffix}", f"x/f{suffix}", f"axb{suffix}"],
    )
    tilde = f"~run{suffix}"  # which is no home folder
    for name, doc in [
        *((name, "a") for name in [*named, tilde]),
        *((name, "b") for name in others),
    ]:
        if suffix == ".parquet":
            pq.write_table(build_table(query_id="q", doc_id=[doc], score="1.0"), tmp_path / name)
        else:
            (tmp_path / name).write_text(
                lines[suffix].format(f"q,{doc},1" if suffix == ".csv" else doc)
            )
    qrels = {"q": {"a": 1}}
    monkeypatch.chdir(tmp_path)
    for source in [*(tmp_path / name for name in named), str(tmp_path / "[x]"), tilde]:
        assert sqlrank.evaluate(["RR", "num_ret"], run=source, qrels=qrels).to_pylist() == [
            {"RR": 1.0, "num_ret": 1.0}
        ], source
