"""The format of a file is that of its first bytes, whatever its name is; others than those that are
read are named, with the next step.
"""

import gzip
import pickle
import shlex
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, orc

import sqlrank
from sqlrank import InputError
from sqlrank.errors import quote_excerpt
from tests.interface.command_line import invoke_command
from tests.tables import build_table, read_columns

PREDICTIONS = build_table(label="1 0 1", score="0.9 0.1 0.05")
CSV = b"label,score\n1,0.9\n0,0.1\n1,0.05\n"
JSON_LINES = b"".join(
    b'{"label": %d, "score": %s}\n' % row for row in [(1, b"0.9"), (0, b"0.1"), (1, b"0.05")]
)
RUN = b"q Q0 a 1 0.9 tag\nq Q0 b 2 0.5 tag\n"
QRELS = {"q": {"b": 1}}
COLUMNS = ["--column", "label=clicked", "--column", "score=predicted_ctr"]


def write_stream(table: pa.Table) -> bytes:
    buffer = BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def write_bytes(write: Callable[[Any, BytesIO], Any], value: Any) -> bytes:
    buffer = BytesIO()
    write(value, buffer)
    return buffer.getvalue()


def write_tar(name: str, content: bytes) -> bytes:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, BytesIO(content))
    return buffer.getvalue()


PARQUET = write_bytes(pq.write_table, PREDICTIONS)
FEATHER = write_bytes(feather.write_feather, PREDICTIONS)
ZSTD = pa.compress(CSV, "zstd", asbytes=True)


def reverse_bit(content: bytes) -> bytes:
    """Return compressed bytes with one wrong bit in their checksum."""
    return content[:-6] + bytes([content[-6] ^ 1]) + content[-5:]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.parquet", PARQUET),
        ("x.csv", PARQUET),
        ("x", PARQUET),
        ("x.feather", FEATHER),
        ("x.arrow", FEATHER),
        ("x.csv", FEATHER),
        ("x.arrows", write_stream(PREDICTIONS)),
        (
            "x.feather",
            write_bytes(
                lambda table, buffer: feather.write_feather(table, buffer, version=1), PREDICTIONS
            ),
        ),
        ("x.csv", CSV),
        ("x.parquet", CSV),
        ("x.txt", CSV),
        ("x.txt", CSV.replace(b",", b"\t").replace(b"\n", b"\r\n")),
        ("x.csv", b"\xef\xbb\xbf" + CSV),
        ("x.txt", b"\xef\xbb\xbf" + CSV),
        ("x.csv", gzip.compress(CSV, mtime=0)),
        ("x.csv.gz", CSV),
        ("x", gzip.compress(CSV, mtime=0)),
        ("x.csv", ZSTD),
        ("x.jsonl", JSON_LINES),
        ("x.txt", JSON_LINES),
        ("x.parquet", b"\xef\xbb\xbf" + JSON_LINES),
        ("x", gzip.compress(JSON_LINES, mtime=0)),
    ],
)
def test_what_is_read(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    assert sqlrank.evaluate("AUC", predictions=tmp_path / name).to_pylist() == [{"AUC": 0.5}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x", gzip.compress(RUN, mtime=0)),
        ("x.gz", RUN),
        ("x.run", b"\xef\xbb\xbf" + RUN.replace(b"\n", b"\r\n")),
        ("x.run", pa.compress(RUN, "zstd", asbytes=True)),
    ],
)
def test_lines_of_a_run(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    assert sqlrank.evaluate("RR", run=tmp_path / name, qrels=QRELS).to_pylist() == [{"RR": 0.5}]


REFUSED = {
    "x.pkl": (
        pickle.dumps({"label": [1]}),
        "is a pickle of Python. Load it, such as with pandas.read_pickle(",
    ),
    "x.npy": (
        write_bytes(lambda array, buffer: np.save(buffer, array), np.zeros(3)),
        "is an array of NumPy. Load it with numpy.load(",
    ),
    "x.npz": (
        write_bytes(lambda array, buffer: np.savez(buffer, array), np.zeros(3)),
        "is an archive of NumPy arrays",
    ),
    "x.xls": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "is a workbook of Excel. Save the sheet as CSV, or give pandas.read_excel(",
    ),
    "x.tar.gz": (
        gzip.compress(write_tar("x.csv", CSV), mtime=0),
        "is an archive of tar. Unpack it, and give the files in it",
    ),
    "x.tar": (write_tar("x.csv", CSV), "is an archive of tar. Unpack it"),
    "x.avro": (b"Obj\x01\x04\x14avro.codec", "is an Avro file. Make a Parquet file of it"),
    "x.orc": (b"ORC\n\x0b\x0a\x03\x00\x00\x00", "is an ORC file. Give pyarrow.orc.read_table("),
    "x.h5": (b"\x89HDF\r\n\x1a\n\x00", "is an HDF5 file. Load it"),
    "x.bz2": (b"BZh91AY&SY\x00", "is compressed in a way that is not read. Unpack it"),
    "x.utf16": (
        "q Q0 a 1 0.9 tag\n".encode("utf-16"),
        "is text in UTF-16. Convert it to UTF-8, such as with iconv",
    ),
    "x.csv": ("label,score\n1,0.5\n".encode("utf-16-le"), "is text in UTF-16. Convert it"),
    "x.json": (
        b"version https://git-lfs.github.com/spec/v1\n",
        "is the pointer of Git LFS to a file. Fetch the file",
    ),
    "x.html": (
        b"<!DOCTYPE html><html>",
        "is a page of HTML, perhaps in place of a download that failed. Get the file again",
    ),
    "x.inter": (
        b"user_id:token\titem_id:token\trating:float\n1\t2\t3\n",
        'is an atomic file of RecBole. Give a query: SELECT "user_id:token"',
    ),
    "x.dat": (
        b"1::1193::5::978300760\n",
        "is a file with :: between its fields, as of MovieLens. Give a query: SELECT column0",
    ),
    "x.qrels": (
        b"2 qid:10 1:0.03 2:0.5\n",
        "is lines of labels and features, as of LETOR and SVMlight",
    ),
    "x.svm": (b"-1 3:0.03 7:0.5\n", "is lines of labels and features, as of LETOR and SVMlight"),
    "x.probabilities": (
        b"1:0.2 2:0.8\n",
        "is class probabilities of Vowpal Wabbit. Make a row of each prediction",
    ),
    "psql.csv": (
        b" label | score\n-------+-------\n     1 |   0.9\n(1 row)\n",
        "is a table as psql or mysql prints it. Export it as CSV, such as with psql --csv",
    ),
    "x.md": (b"| label | score |\n|---|---:|\n| 1 | 0.9 |\n", "is a table of Markdown. Write it"),
    "x.bin": (bytes(range(256)), "is no text, and of no format that is read"),
    "x.parquet": (
        b"hello",
        "is no Parquet file. It begins with 'hello'. Make a Parquet or CSV file",
    ),
    "x.csv.gz": (
        gzip.compress(gzip.compress(CSV, mtime=0), mtime=0),
        "is compressed twice. Unpack it once",
    ),
    "x.tsv": (
        gzip.compress(pa.compress(CSV, "zstd", asbytes=True), mtime=0),
        "is compressed twice. Unpack it once",
    ),
    "x.json.gz": (
        gzip.compress(gzip.compress(JSON_LINES, mtime=0), mtime=0),
        "is compressed twice. Unpack it once",
    ),
    "x.parquet.gz": (gzip.compress(PARQUET, mtime=0), "is Parquet in a file of gzip. Unpack it"),
    "y.parquet": (gzip.compress(PARQUET, mtime=0), "is Parquet in a file of gzip. Unpack it"),
    "x.feather.gz": (gzip.compress(FEATHER, mtime=0), "is Arrow in a file of gzip. Unpack it"),
    "x.jsonl.gz": (
        reverse_bit(gzip.compress(JSON_LINES, mtime=0)),
        "is damaged: it does not unpack to what was compressed",
    ),
    "x.gz": (
        gzip.compress(CSV * 9, mtime=0)[:-12],
        "is damaged: it does not unpack to what was compressed",
    ),
}


@pytest.mark.parametrize("role", ["predictions", "run"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_named(name, role, tmp_path):
    content, message = REFUSED[name]
    (tmp_path / name).write_bytes(content)
    sources = {role: tmp_path / name} | ({"qrels": QRELS} if role == "run" else {})
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AUC" if role == "predictions" else "RR", **sources)
    assert f"{role}: {quote_excerpt(str(tmp_path / name), is_name=True)} {message}" in str(
        caught.value
    )
    assert str(caught.value).isprintable()


def test_databases_are_no_tables(tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE TABLE a (b)")
    duckdb.connect(str(tmp_path / "y.db")).close()
    for name, kind in {"x.db": "SQLite", "y.db": "DuckDB"}.items():
        with pytest.raises(
            InputError,
            match=f"is a database of {kind}. In Python give .* as the connection|Give connection=",
        ):
            sqlrank.evaluate("AUC", predictions=tmp_path / name)


def test_tables_of_a_database_given_as_a_file_are_named(tmp_path):
    with duckdb.connect(str(tmp_path / "ads.duckdb")) as connection:
        connection.execute("CREATE TABLE clicks AS SELECT 1 AS clicked, 0.5 AS predicted_ctr")
        connection.execute("CREATE VIEW shown AS FROM clicks")
        connection.execute("CREATE TABLE a AS SELECT 1 AS label")
    call = (
        r"ads\.duckdb', predictions='clicks',"
        r" columns=\{'label': 'clicked', 'score': 'predicted_ctr'\}\. Its tables: a \(.*shown \("
    )
    with pytest.raises(InputError, match=call):
        sqlrank.evaluate("AUC", predictions=tmp_path / "ads.duckdb")
    with (
        duckdb.connect(str(tmp_path / "ads.duckdb")) as connection,
        pytest.raises(InputError, match=r"columns=\{'label': 'clicked', 'score': 'predicted_ctr'"),
    ):
        sqlrank.evaluate("AUC", predictions="clicks", connection=connection)


def write_database(path: Path, frame: pd.DataFrame) -> None:
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("frame", frame)
            connection.execute('CREATE TABLE "click log" AS FROM frame')
    else:
        with closing(sqlite3.connect(path)) as connection:
            frame.to_sql("click log", connection, index=False)


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "x.pkl": lambda frame, path: frame.to_pickle(path),
    "x y's.pkl": lambda frame, path: frame.to_pickle(path),
    "x.npy": lambda frame, path: np.save(path, frame.to_records(index=False)),
    "x.npz": lambda frame, path: np.savez(path, **{name: frame[name] for name in frame}),
    "x.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "x.orc": lambda frame, path: orc.write_table(pa.Table.from_pandas(frame), path),
    "x.db": lambda frame, path: write_database(path, frame),
    "x.duckdb": lambda frame, path: write_database(path, frame),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", WRITERS)
def test_advice_on_the_command_line_can_be_pasted(name, tmp_path, monkeypatch):
    """Paste what the message says to the shell, or to the end of the command."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(read_columns(clicked="1 0 1", predicted_ctr="0.9 0.1 0.05"))
    WRITERS[name](frame, tmp_path / name)
    message = invoke_command("evaluate", "AUC", "--predictions", name).stderr
    _, _, command = message.rstrip().partition("make a Parquet file of it: python ")
    if command:
        subprocess.run([sys.executable, *shlex.split(command)], check=True)
        words = ["--predictions", f"{name}.parquet", *COLUMNS]
    else:
        words = shlex.split(message.partition("Give ")[2].partition(". Its tables")[0])
    result = invoke_command("evaluate", "AUC", *words, "--format", "csv")
    assert result.stdout == "AUC\n0.5\n", (message, result.stderr)


@pytest.mark.parametrize(
    ("address", "reader"),
    [
        ("https://example.org/it's.csv.gz", "read_csv"),
        ("s3://bucket/a/x.parquet", "read_parquet"),
        ("hf://datasets/x/y.jsonl", "read_json"),
    ],
)
def test_the_command_for_an_address(address, reader):
    message = invoke_command("evaluate", "AUC", "--predictions", address).stderr
    *_, code = shlex.split(message.rstrip().partition("file of it: ")[2])
    calls: list[tuple[str, str]] = []
    relation = SimpleNamespace(write_parquet=lambda path: calls.append(("write", path)))
    module = SimpleNamespace(
        **{reader: lambda path: calls.append((reader, path)) or relation}  # type: ignore[func-returns-value]
    )
    statement = code.removeprefix("import duckdb; ")
    eval(statement, {"duckdb": module})  # noqa: S307  what the message says
    assert calls[0] == (reader, address)
    assert calls[1][1].endswith(".parquet")


def test_queries_that_messages_offer(tmp_path):
    """Follow the advice for files that a query reads."""
    for name in ("x.inter", "x.dat"):
        (tmp_path / name).write_bytes(REFUSED[name][0])
        with pytest.raises(InputError) as caught:
            sqlrank.evaluate(
                "RR", run={"1": {"7": 2.0, "2": 1.0, "1193": 1.0}}, qrels=tmp_path / name
            )
        query = str(caught.value).partition("Give a query: ")[2]
        columns = {
            "qrels.query_id": "CAST(query_id AS VARCHAR)",
            "qrels.doc_id": "CAST(doc_id AS VARCHAR)",
        }
        run = {"1": {"7": 3.0, "2" if name == "x.inter" else "1193": 2.0}}
        assert sqlrank.evaluate("RR", run=run, qrels=query, columns=columns).to_pylist() == [
            {"RR": 0.5}
        ]


LAKES = {
    "_delta_log/0.json": r"is a Delta table, .* sqlrank.query\(.FROM delta_scan\(",
    "metadata/v10.metadata.json": (
        r"is an Iceberg table, .* sqlrank.query\(.FROM iceberg_scan\('.*/metadata/v10.metadata.json'"
    ),
    ".hoodie/hoodie.properties": "is a Hudi table, .*Write its current rows to Parquet",
    "_temporary/0/task/part-0.parquet": (
        "is the output of a Spark job that has not ended. Wait until"
    ),
}


@pytest.mark.parametrize("marker", LAKES)
def test_folders_whose_files_are_not_their_rows(marker, tmp_path):
    """Refuse the folder, its files, a pattern and a folder below it, and one above it."""
    table = tmp_path / "all" / "table"
    (table / marker).parent.mkdir(parents=True)
    (table / marker).write_text("{}")
    (table / marker).with_name("v9.metadata.json").write_text("{}")
    (table / "data" / "day=1").mkdir(parents=True)
    pq.write_table(PREDICTIONS, table / "data" / "day=1" / "part.parquet")
    file = table / "data" / "day=1" / "part.parquet"
    for source in (
        table,
        table / "data",
        tmp_path / "all",
        file,
        str(table / "data" / "*" / "*.parquet"),
        [file, file],
    ):
        with pytest.raises(InputError, match=LAKES[marker]):
            sqlrank.evaluate("AUC", predictions=source)
    pq.write_table(PREDICTIONS, tmp_path / "all" / "beside.parquet")
    assert sqlrank.evaluate("AUC", predictions=tmp_path / "all" / "beside.parquet").to_pylist() == [
        {"AUC": 0.5}
    ]
