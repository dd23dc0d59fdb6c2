"""Unusual names of tables, columns and groups: the same numbers, or an error that names the
problem.
"""

from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import SqlrankError
from tests.interface.inputs import EXPECTED, METRICS, evaluate, refused
from tests.tables import build_table

ODD_NAMES = [
    "select", "rank", "list_id", "a b", "a.b", "ü", "a;b", 'a"b', "a'b", "group", "doc_count",
    "k", "query_metrics", "rr", "weight", "cumulative_hits", "times", "1st",
]  # fmt: skip


@pytest.mark.one_in(20)
@pytest.mark.parametrize("name", ODD_NAMES)
def test_columns_with_odd_names(name, run, qrels):
    columns = {"query_id": name, "doc_id": f"{name} 2", "score": f"{name} 3"}
    renamed = run.rename_columns([columns.get(column, column) for column in run.column_names])
    judged = qrels.rename_columns([columns.get(column, column) for column in qrels.column_names])
    assert evaluate(renamed, judged, columns=columns) == EXPECTED


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "name",
    [
        *ODD_NAMES,
        "relevance",
        "number",
        "wide",
        "key_hash",
        "all_rows",
        "a",
        "l",
        "by_rank",
        "given_rank",
    ],
)
def test_by_columns_with_odd_names(name, run, qrels):
    systems = run.append_column(name, [["x", "x", "y"]])
    got = sqlrank.evaluate(METRICS, run=systems, qrels=qrels, by=name).to_pylist()
    assert got == [
        {name: "x", "RR": 0.25, "P@1": 0.0, "num_ret": 2.0},
        {name: "y", "RR": 0.5, "P@1": 0.5, "num_ret": 1.0},
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "names",
    [
        ("rank", "by_rank"),
        ("by_system", "system"),
        ("system", "by_system"),
        ("relevance", "by_relevance"),
    ],
)
def test_by_columns_of_similar_names(names, run, qrels):
    systems = run.append_column(names[0], [["x", "x", "y"]]).append_column(
        names[1], [["1", "1", "2"]]
    )
    got = sqlrank.evaluate("num_ret", run=systems, qrels=qrels, by=list(names)).to_pylist()
    assert got == [
        {names[0]: "x", names[1]: "1", "num_ret": 2.0},
        {names[0]: "y", names[1]: "2", "num_ret": 1.0},
    ]


@pytest.mark.parametrize("by", [None, 5, [1], "", [""]])
def test_by_of_a_wrong_kind(by, run, qrels):
    if by is None:
        assert sqlrank.evaluate(METRICS, run=run, qrels=qrels, by=by).to_pylist() == EXPECTED
    else:
        with pytest.raises(SqlrankError, match="by"):
            sqlrank.evaluate(METRICS, run=run, qrels=qrels, by=by)


def test_by_column_of_other_types_in_run_and_qrels(run, qrels):
    systems = run.append_column("day", [["x", "x", "y"]])
    refused("day", run=systems, qrels=qrels.append_column("day", [[1, 2]]), by="day")


@pytest.mark.slow
def test_by_an_attribute_of_the_queries(run, qrels):
    queries = build_table(query_id="q1 q2", country="de fr", Land="DE FR")
    got = sqlrank.evaluate("RR", run=run, qrels=qrels, queries=queries, by="country").to_pylist()
    assert got == [{"country": "de", "RR": 0.5}, {"country": "fr", "RR": 1.0}]
    got = sqlrank.evaluate(
        "RR", run=run, qrels=qrels, queries=queries, by=[["country"], []]
    ).to_pylist()
    assert [tuple(row.values()) for row in got] == [
        (None, "all", 0.75),
        ("de", "country", 0.5),
        ("fr", "country", 1.0),
    ]
    got = sqlrank.evaluate(
        "RR", run=run, qrels=qrels, queries=queries, by="nation", columns={"nation": "Land"}
    ).to_pylist()
    assert got == [{"nation": "DE", "RR": 0.5}, {"nation": "FR", "RR": 1.0}]
    systems = run.append_column("system", [["x", "x", "y"]])
    got = sqlrank.evaluate(
        "num_ret", run=systems, qrels=qrels, queries=queries, by=["system", "country"]
    ).to_pylist()
    assert {tuple(row.values()) for row in got} == {
        ("x", "de", 2.0),
        ("x", "fr", 0.0),
        ("y", "de", 0.0),
        ("y", "fr", 1.0),
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "name", ["rank", "weight_class", "relevance", "score", "select", "list_id", "l"]
)
def test_attributes_with_odd_names(name, run, qrels):
    queries = pa.table({"query_id": ["q1", "q2"], name: ["de", "fr"]})
    got = sqlrank.evaluate("RR", run=run, qrels=qrels, queries=queries, by=name)
    assert got.to_pylist() == [{name: "de", "RR": 0.5}, {name: "fr", "RR": 1.0}]


TABLE_NAMES = [
    "ranked_lists", "ranked_documents", "run", "qrels", "judged_documents", "query_metrics",
    "relevant_documents_metrics", "Ranked_Lists", "r", "l", "a", 'a"b', "a;b", "x.y", "select",
    "ü",
]  # fmt: skip


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", TABLE_NAMES)
def test_tables_with_names_of_steps(name, run, qrels):
    queries = build_table(query_id="q1 q2", country="de de")
    quoted = '"' + name.replace('"', '""') + '"'
    for role, table in (
        (("run", run), ("queries", queries)) if name != "qrels" else (("qrels", qrels),)
    ):
        connection = duckdb.connect()
        connection.register("arrow_table", table)
        connection.execute(f"CREATE TABLE {quoted} AS FROM arrow_table")
        sources = {"run": run, "qrels": qrels, "queries": queries} | {role: name}
        assert (
            sqlrank.evaluate(METRICS, **sources, connection=connection).to_pylist() == EXPECTED
        ), role


@pytest.mark.slow
def test_schemas_with_odd_names(run, qrels):
    connection = duckdb.connect()
    connection.register("arrow_run", run)
    connection.execute('CREATE SCHEMA "S 2"; CREATE TABLE "S 2"."a""b" AS FROM arrow_run')
    for name in ('S 2.a"b', 's 2.A"B', '"S 2"."a""b"', 'memory.S 2.a"b'):
        assert evaluate(name, qrels, connection=connection) == EXPECTED


def test_columns_are_found_in_any_case(run, qrels):
    assert evaluate(run.rename_columns(["QUERY_ID", "Doc_Id", "Score"]), qrels) == EXPECTED


@pytest.mark.parametrize(
    "columns", [{"score": "nope"}, {"query_id": "user_id"}, {"relevance": "stars"}]
)
def test_a_mapping_to_a_column_that_no_input_has(columns, run, qrels):
    refused(repr(next(iter(columns.values()))), run=run, qrels=qrels, columns=columns)


def test_a_mapping_of_a_name_that_is_not_one(run, qrels):
    refused(
        "'qury_id'", "Did you mean 'query_id'", run=run, qrels=qrels, columns={"qury_id": "user_id"}
    )


def test_a_mapping_wins_over_a_column_of_the_canonical_name(run, qrels):
    worse = run.append_column("other", [[0.1, 0.5, 1.0]])
    assert sqlrank.evaluate(
        "RR", run=worse, qrels=qrels, columns={"score": "other"}
    ).to_pylist() == [{"RR": 1.0}]


@pytest.mark.slow
def test_the_name_of_an_input_before_a_column_is_left_out():
    """In expressions of all arguments, as in conditions: several inputs may have a column of the
    name.
    """
    run = [
        {"query_id": "q", "doc_id": "a", "score": 1.0, "g": "x"},
        {"query_id": "r", "doc_id": "a", "score": 1.0, "g": "y"},
    ]
    qrels = [
        {"query_id": "q", "doc_id": "a", "relevance": 1},
        {"query_id": "r", "doc_id": "b", "relevance": 1},
    ]
    queries = [{"query_id": "q", "seg": "m", "w": 1}, {"query_id": "r", "seg": "n", "w": 3}]
    rankings = {"run": run, "qrels": qrels, "queries": queries}
    by_run, by_queries = (
        sqlrank.evaluate("RR", by=by, **rankings).to_pylist()
        for by in ("k=UPPER(run.g)", "k=queries.seg")
    )
    assert by_run == [{"k": "X", "RR": 0.5}, {"k": "Y", "RR": 0.0}]
    assert by_queries == [{"k": "m", "RR": 1.0}, {"k": "n", "RR": 0.0}]
    weighted = sqlrank.evaluate(
        "RR",
        columns={"weight": "queries.w", "run.score": "run.score + 1"},
        aggregate="wmean",
        **rankings,
    )
    assert weighted.to_pylist() == [{"RR": 0.25}]
    rows = [{"label": 1, "score": 0.5, "n": 1}, {"label": 0, "score": 0.2, "n": 2}]
    options = [
        {"by": "k={}n"},
        {"columns": {"weight": "{}n * 2"}},
        {"unit": "{}n", "confidence": 0.9},
    ]
    for option in options:
        found, expected = (
            sqlrank.evaluate("Brier", predictions=rows, **_with_prefix(option, prefix))
            for prefix in ("predictions.", "")
        )
        assert found.to_pylist() == expected.to_pylist()
    assert "UPPER(`g`) AS `by_k`" in sqlrank.sql(
        "RR", run="run", qrels="qrels", by="k=UPPER(run.g)", dialect="bigquery"
    )


def _with_prefix(option: Any, prefix: str) -> Any:
    if isinstance(option, dict):
        return {name: _with_prefix(value, prefix) for name, value in option.items()}
    return option.format(prefix) if isinstance(option, str) else option
