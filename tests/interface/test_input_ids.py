"""Ids of queries and documents, of any type."""

import datetime as dt
import itertools
import json
import uuid
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import sqlrank
from tests.interface.inputs import EXPECTED, evaluate, refused
from tests.tables import build_table


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "ids",
    [
        ["qü日本", "q🙂"],
        ["", " "],
        ["a'b", 'a"b'],
        [1, 2],
        [-(2**62), 2**62],
        [1.5, 2.5],
        [True, False],
        [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
        # DuckDB's TIMESTAMP has no zone
        [dt.datetime(2024, 1, 1, 2), dt.datetime(2024, 1, 1, 3)],  # noqa: DTZ001
        [b"x", b"y"],
    ],
    ids=str,
)
def test_ids_of_many_types(ids, run, qrels):
    first, second = ids
    answered = run.set_column(0, "query_id", [[first, first, second]])
    judged = qrels.set_column(0, "query_id", [[first, second]])
    got = sqlrank.evaluate("RR", run=answered, qrels=judged, per_query=True).to_pylist()
    assert {row["query_id"]: row["RR"] for row in got} == {first: 0.5, second: 1.0}
    docs = pa.array([first, second])
    run_of_docs = build_table(query_id="q q", doc_id=docs, score="2 1")
    qrels_of_docs = build_table(query_id="q", doc_id=docs.slice(1, 1), relevance="1")
    assert sqlrank.evaluate("RR", run=run_of_docs, qrels=qrels_of_docs).to_pylist() == [{"RR": 0.5}]


def test_uuids():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE r AS SELECT uuid() AS query_id, uuid() AS doc_id, 1 AS score FROM range(2)"
    )
    connection.execute("CREATE TABLE q AS SELECT query_id, doc_id, 1 AS relevance FROM r")
    got = sqlrank.evaluate("RR", run="r", qrels="q", connection=connection, per_query=True)
    assert got["RR"].to_pylist() == [1.0, 1.0]
    assert all(uuid.UUID(str(item)) for item in got["query_id"].to_pylist())
    connection.execute(
        "CREATE TABLE t AS SELECT query_id::VARCHAR AS query_id, doc_id, 1 AS relevance FROM r"
    )
    assert sqlrank.evaluate("RR", run="r", qrels="t", connection=connection).to_pylist() == [
        {"RR": 1.0}
    ]


@pytest.mark.parametrize("kind", ["UUID", "DATE", "TIMESTAMP"])
def test_ids_of_types_that_do_not_fit_are_refused(kind):
    value = {
        "UUID": "uuid()",
        "DATE": "DATE '2024-01-01'",
        "TIMESTAMP": "TIMESTAMP '2024-01-01 00:00:00'",
    }[kind]
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE r AS SELECT {value} AS query_id, 'a' AS doc_id, 1 AS score")
    connection.execute(
        "CREATE TABLE q AS SELECT 'hello' AS query_id, 'a' AS doc_id, 1 AS relevance"
    )
    refused("query_id", kind, run="r", qrels="q", connection=connection)


def test_ids_of_different_integer_types(run, qrels):
    answered = run.set_column(0, "query_id", pa.array([1, 1, 2], pa.int8()))
    judged = qrels.set_column(0, "query_id", pa.array([1, 2], pa.uint64()))
    assert evaluate(answered, judged) == EXPECTED


def test_ties_of_categorical_ids_are_broken_by_their_text(qrels):
    docs = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["b", "a"]))
    tied = build_table(query_id="q1 q1", doc_id=docs, score="1.0 1.0")
    plain = tied.set_column(1, "doc_id", docs.cast(pa.string()))
    for ties in ("doc_desc", "doc_asc"):
        same = [
            sqlrank.evaluate("RR", run=table, qrels=qrels.slice(0, 1), ties=ties).to_pylist()
            for table in (tied, plain)
        ]
        assert same[0] == same[1]


def test_ties_of_enum_ids_are_broken_by_their_text():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE r AS SELECT 'q' AS query_id, unnest(['a', 'b'])::ENUM ('b', 'a') AS doc_id, 1"
        " AS score"
    )
    connection.execute("CREATE TABLE q AS SELECT 'q' AS query_id, 'b' AS doc_id, 1 AS relevance")
    for ties, expected in (("doc_desc", 1.0), ("doc_asc", 0.5)):
        assert sqlrank.evaluate(
            "RR", run="r", qrels="q", connection=connection, ties=ties
        ).to_pylist() == [{"RR": expected}]


def test_a_collation_of_the_database_does_not_merge_ids():
    connection = duckdb.connect()
    connection.execute("SET default_collation = 'nocase'")
    run = build_table(query_id="Q q q", doc_id="a B c", score="1 2 1")
    qrels = build_table(query_id="q Q", doc_id="c a", relevance="1 1")
    got = sqlrank.evaluate(
        ["RR", "num_ret"], run=run, qrels=qrels, connection=connection, per_query=True
    ).to_pylist()
    assert got == [
        {"query_id": "Q", "RR": 1.0, "num_ret": 1.0},
        {"query_id": "q", "RR": 0.5, "num_ret": 2.0},
    ]


TIED = build_table(query_id="1 1", doc_id="9 10", score="0.5 0.5")
FIRST = build_table(query_id="1", doc_id="9", relevance="1")
"""Of two tied documents that of the lesser number is relevant; as text it is the greater one."""


def cast_ids(table: pa.Table) -> pa.Table:
    return table.set_column(1, "doc_id", table["doc_id"].cast(pa.string()))


@pytest.mark.slow
@pytest.mark.parametrize("plan", ["sort", "count", "array", "top_k"])
@pytest.mark.parametrize(
    ("compat", "place"), [(None, 2), ("trec10", 1), ("trec9", 1), ("ir_measures", 1), ("replay", 2)]
)
def test_numbers_are_ordered_as_the_tool_orders_them(compat, place, plan):
    """By default as numbers; trec_eval and the tools that ask it know texts only."""
    metric = "P@1" if plan == "top_k" else "AP"
    (value,) = sqlrank.evaluate(
        metric, run=TIED, qrels=FIRST, compat=compat, plan={"rank_method": plan}
    )[metric].to_pylist()
    assert value == (1 if place == 1 else 0.0 if plan == "top_k" else 0.5)
    (value,) = sqlrank.evaluate(
        metric, run=cast_ids(TIED), qrels=cast_ids(FIRST), compat=compat, plan={"rank_method": plan}
    )[metric].to_pylist()
    assert value == 1


@pytest.mark.parametrize("kind", [pa.uint8(), pa.int16(), pa.int64(), pa.string()], ids=str)
def test_numbers_are_ordered_as_texts_where_one_input_has_texts(kind):
    judged = FIRST.set_column(1, "doc_id", FIRST["doc_id"].cast(kind))
    assert sqlrank.evaluate("RR", run=TIED, qrels=judged, id_type="text").to_pylist() == [
        {"RR": 1.0}
    ]


def test_numbers_are_ordered_as_texts_in_predictions_and_printed_statements():
    predictions = TIED.append_column("label", pa.array([1, 0]))
    assert sqlrank.evaluate(
        ["RR", "AUC"], predictions=predictions, compat="trec10"
    ).to_pylist() == [{"RR": 1.0, "AUC": 0.5}]
    with duckdb.connect() as connection:
        connection.from_arrow(TIED).create("run")
        connection.from_arrow(FIRST).create("qrels")
        for policies, value in (
            ({}, 0.5),
            ({"compat": "trec10"}, 1.0),
            ({"compat": "trec10", "id_type": "given"}, 0.5),
        ):
            assert connection.sql(
                sqlrank.sql("RR", run="run", qrels="qrels", **policies)
            ).fetchall() == [(value,)]


def test_fractions_are_refused_as_texts():
    run, qrels = (
        table.set_column(1, "doc_id", table["doc_id"].cast(pa.float64())) for table in (TIED, FIRST)
    )
    message = (
        "run (Table): doc_id is DOUBLE, which engines write differently as text, and id_type='text'"
        " orders equal scores by that. Cast it to text or integers, or give id_type='given'"
    )
    with pytest.raises(sqlrank.InputError) as raised:
        sqlrank.evaluate("RR", run=run, qrels=qrels, compat="trec10")
    assert str(raised.value) == message
    assert sqlrank.evaluate(
        "RR", run=run, qrels=qrels, compat="trec10", id_type="given"
    ).to_pylist() == [{"RR": 0.5}]


def ids(values: list[Any], column: str) -> pa.Table:
    return pa.table(
        {
            "query_id": ["q"] * len(values),
            "doc_id": values,
            column: [float(number) for number in range(len(values), 0, -1)],
        }
    )


WHOLE = {
    "BIGINT": ids([9, 10], "score"),
    "INTEGER": ids(pa.array([9, 10], pa.int32()), "score"),
    "UBIGINT": ids(pa.array([9, 10], pa.uint64()), "score"),
    "DOUBLE": ids([9.0, 10.0], "score"),
    "DECIMAL": ids(pa.array([9, 10]).cast(pa.decimal128(20, 0)), "score"),
    "VARCHAR": ids(["9", "10"], "score"),
}


@pytest.mark.one_in(15)
@pytest.mark.parametrize(("left", "right"), list(itertools.product(WHOLE, WHOLE)))
def test_whole_numbers_of_any_type_are_the_same_id(left, right):
    qrels = WHOLE[right].rename_columns(["query_id", "doc_id", "relevance"]).slice(1)
    assert sqlrank.evaluate("RR", run=WHOLE[left], qrels=qrels).to_pylist() == [{"RR": 0.5}]
    lists = build_table(
        query_id="q",
        retrieved=[WHOLE[left]["doc_id"].to_pylist()],
        relevant=[qrels["doc_id"].to_pylist()],
    )
    if not {left, right} & {"DECIMAL"}:
        assert sqlrank.evaluate("RR", inputs={"answers": lists}).to_pylist() == [{"RR": 0.5}]


def test_expressions_of_doubles_are_compared_with_integers():
    run = {"query_id": [1, 1], "item": ["8.0", "7.0"], "score": [2.0, 1.0]}
    qrels = {"query_id": [1], "doc_id": [7], "relevance": [1]}
    columns = {"run.doc_id": "CAST(item AS DOUBLE)"}
    result = sqlrank.evaluate("RR", run=run, qrels=qrels, columns=columns)
    assert result.to_pylist() == [{"RR": 0.5}]


def test_a_text_with_leading_zeros_is_no_integer():
    result = sqlrank.evaluate(
        "num_rel_ret", run=ids([7, 8], "score"), qrels=ids(["007", "8"], "relevance")
    )
    assert result.to_pylist() == [{"num_rel_ret": 1.0}]


def test_integers_that_duckdb_compares_as_doubles():
    great = 2**60  # as doubles, the ids below are one number
    rows = "SELECT {}::HUGEINT + i AS {}, 1 AS {}, -i AS score FROM range(4) t(i)"
    qrels = f"SELECT {great + 3}::UHUGEINT AS {{}}, 1 AS {{}}, 1 AS relevance"

    def evaluate(column: str, other: str, **columns: str) -> float:
        return sqlrank.evaluate(
            "AP",
            run=rows.format(great, column, other),
            qrels=qrels.format(column, other),
            columns=columns,
        )["AP"].to_pylist()[0]

    assert evaluate("query_id", "doc_id") == 1.0
    mapping = {"qrels.doc_id": "CAST(doc_id AS HUGEINT)"}
    with pytest.raises(sqlrank.InputError, match=r"^qrels\.doc_id is UHUGEINT") as caught:
        evaluate("doc_id", "query_id")
    assert f"columns={mapping}" in str(caught.value).replace('"', "'")
    assert evaluate("doc_id", "query_id", **mapping) == 0.25


NUMBERS, GRADES = [7, 9, 10, 11, 100], [2, 3, 1, 0, 0]
BY_NUMBER, BY_TEXT = 0.5388095312011184, 0.9762388637052952
"""nDCG of equal scores: the lists 100, 11, 10, 9, 7 and 9, 7, 11, 100, 10 (trec_eval's)."""

FORMS = [
    (form, kind)
    for form in ("csv", "jsonl", "parquet", "arrow")
    for kind in ("integers", "texts")
    if (form, kind) != ("csv", "texts")  # a CSV does not say it
]


def write_tied(folder: Path, column: str, form: str, kind: str) -> str:
    """Write five documents of one query, with equal scores or with grades, and return the file."""
    docs = pa.array(NUMBERS).cast(pa.string() if kind == "texts" else pa.int64())
    values = [1.0] * 5 if column == "score" else GRADES
    table = pa.table({"query_id": ["q"] * 5, "doc_id": docs, column: values})
    file = folder / f"{column}.{form}"
    if form == "arrow":
        pyarrow.feather.write_feather(table, file)
    elif form == "jsonl":
        file.write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    else:
        write = pyarrow.parquet.write_table if form == "parquet" else pyarrow.csv.write_csv
        write(table, file)
    return str(file)


@pytest.mark.one_in(15)
@pytest.mark.parametrize(("run", "qrels"), list(itertools.product(FORMS, FORMS)))
def test_ties_are_in_one_order_whatever_files_hold(run, qrels, tmp_path):
    sources = {
        "run": write_tied(tmp_path, "score", *run),
        "qrels": write_tied(tmp_path, "relevance", *qrels),
    }
    result = sqlrank.evaluate("nDCG", **sources)
    expected = BY_TEXT if "texts" in (run[1], qrels[1]) else BY_NUMBER
    assert result.to_pylist() == [{"nDCG": pytest.approx(expected)}]
    with duckdb.connect() as connection:
        for role, (form, _) in (("run", run), ("qrels", qrels)):
            if form == "arrow":
                connection.register(role, pyarrow.feather.read_table(sources[role]))
        text = sqlrank.sql("nDCG", **sources)
        assert connection.sql(text).fetchall() == [(result["nDCG"][0].as_py(),)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("run", ["integers", "texts"])
@pytest.mark.parametrize("qrels", ["integers", "texts"])
def test_statements_over_unseen_tables_say_how_integers_meet_texts(run, qrels, tmp_path):
    with duckdb.connect() as connection:
        for role, column, kind in (("run", "score", run), ("qrels", "relevance", qrels)):
            file = write_tied(tmp_path, column, "parquet", kind)
            connection.read_parquet(file).create(role)
        named = {"run": "run", "qrels": "qrels"}
        (value,) = sqlrank.evaluate("nDCG", connection=connection, **named)["nDCG"].to_pylist()
        columns = {} if run == qrels else {"doc_id": "CAST(doc_id AS TEXT)"}
        text = sqlrank.sql("nDCG", **named, columns=columns)
        assert connection.sql(text).fetchall() == [(value,)]
    text = text.replace("\n--   ", " ")
    advice = "(query_id, doc_id), since the tables cannot be looked at. Map integers to text"
    assert (advice in text) == (run == qrels)
    assert (advice.replace(", doc_id", "") in text) == (run != qrels)
