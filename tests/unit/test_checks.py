"""Data that cannot be evaluated are refused with all problems at once; data that are merely odd give the right numbers."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import InputError, SqlrankError, checks

if TYPE_CHECKING:
    from pathlib import Path

INF, NAN = math.inf, math.nan


def run_of(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(("query_id", "doc_id", "score"))})


def qrels_of(*rows: tuple[Any, ...]) -> pa.Table:
    return run_of(*rows).rename_columns(["query_id", "doc_id", "relevance"])


def weights_of(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.table({"query_id": [row[0] for row in rows], "weight": [row[1] for row in rows]})


def value(metric: str, run: pa.Table, qrels: pa.Table, **options: Any) -> Any:
    return sqlrank.evaluate(metric, run=run, qrels=qrels, **options)[str(sqlrank.parse(metric))][0].as_py()


def refused(*parts: str, metrics: str | list[str] = "RR", **call: Any) -> str:
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate(metrics, **call)
    for part in parts:
        assert part in str(caught.value)
    return str(caught.value)


GOOD_RUN = run_of(("q", "a", 2.0), ("q", "b", 1.0))
GOOD_QRELS = qrels_of(("q", "a", 1), ("q", "b", 0))

# Each check


@pytest.mark.parametrize(
    ("role", "table", "parts"),
    [
        ("run", run_of((None, "a", 1.0), ("q", "a", 1.0)), ["1 row", "query_id is NULL", "query_id=None, doc_id='a'"]),
        ("run", run_of(("q", None, 1.0), ("q", "a", 1.0)), ["1 row", "doc_id is NULL", "query_id='q', doc_id=None"]),
        ("run", run_of(("q", "a", None), ("q", "b", 1.0)), ["1 row", "score is NULL", "query_id='q', doc_id='a'"]),
        ("run", run_of(("q", "a", NAN), ("q", "b", 1.0)), ["1 row", "score is NaN, which would be ranked first", "score=nan"]),
        ("run", run_of(("q", "a", 1.0), ("q", "a", 2.0)), ["(query_id, doc_id)", "more than once", "query_id='q', doc_id='a', times=2"]),
        ("run", run_of(("q", "a", "high")), ["score is VARCHAR, not a number"]),
        ("run", run_of(("q", "a", None)), ["score"]),
        ("run", pa.table({"query_id": ["q"], "score": [1.0]}), ["no column 'doc_id'", "--column doc_id=...", "there are: query_id, score"]),
        ("run", pa.table({"qid": ["q"], "docid": ["a"], "sim": [1.0]}), ["'query_id'", "'doc_id'; did you mean 'docid'?", "'score'"]),
        ("qrels", qrels_of((None, "a", 1), ("q", "a", 1)), ["1 row", "query_id is NULL", "query_id=None"]),
        ("qrels", qrels_of(("q", None, 1), ("q", "a", 1)), ["1 row", "doc_id is NULL", "doc_id=None"]),
        ("qrels", qrels_of(("q", "a", None), ("q", "b", 1)), ["1 row", "relevance is NULL", "doc_id='a'"]),
        ("qrels", qrels_of(("q", "a", NAN), ("q", "b", 1.0)), ["1 row", "relevance is NaN", "relevance=nan"]),
        ("qrels", qrels_of(("q", "a", INF), ("q", "b", 1.0)), ["1 row", "relevance", "relevance=inf"]),
        ("qrels", qrels_of(("q", "a", -INF), ("q", "b", 1.0)), ["1 row", "relevance", "relevance=-inf"]),
        ("qrels", qrels_of(("q", "a", 1), ("q", "a", 2)), ["(query_id, doc_id)", "more than once", "times=2"]),
        ("qrels", qrels_of(("q", "a", "yes")), ["relevance is VARCHAR, not a number"]),
        ("queries", weights_of(("q", None), ("r", 1.0)), ["1 row", "weight is NULL", "query_id='q'"]),
        ("queries", weights_of(("q", -1.0)), ["1 row", "weight is negative", "weight=-1.0"]),
        ("queries", weights_of(("q", NAN)), ["1 row", "weight is NaN or infinite", "weight=nan"]),
        ("queries", weights_of(("q", INF)), ["1 row", "weight is NaN or infinite", "weight=inf"]),
        ("queries", weights_of((None, 1.0), ("q", 1.0)), ["1 row", "query_id is NULL"]),
        ("queries", weights_of(("q", 1.0), ("q", 2.0)), ["(query_id)", "more than once", "query_id='q', times=2"]),
        ("queries", weights_of(("q", "1")), ["weight is VARCHAR, not a number"]),
        ("queries", weights_of((1, 1.0)), ["queries.query_id is BIGINT", "a number and a text never match"]),
        ("queries", weights_of(("other", 1.0)), ["query", "'other'"]),
    ],
)  # fmt: skip
def test_a_problem_names_role_column_and_rows(role: str, table: pa.Table, parts: list[str], tmp_path: Path) -> None:
    sources: dict[str, Any] = {"run": GOOD_RUN, "qrels": GOOD_QRELS} | {role: table}
    refused(f"{role}", *parts, **sources)
    path = tmp_path / "table.parquet"
    pq.write_table(table, path)
    refused(f"{role}", *(["table.parquet"] if "is BIGINT" not in parts[0] else []), *parts, **(sources | {role: str(path)}))


def test_all_problems_of_all_inputs_in_one_report() -> None:
    message = refused(
        run=run_of((None, "a", 1.0), ("q", None, 1.0), ("q", "a", None), ("q", "b", NAN), ("q", "c", 1.0), ("q", "c", 1.0)),
        qrels=qrels_of((None, "a", 1), ("q", None, 1), ("q", "a", None), ("r", "d", 1), ("r", "d", 1)),
        queries=weights_of((None, 1.0), ("q", -1.0), ("r", None)),
    )
    for role, problem in [
        ("run", "query_id is NULL"), ("run", "doc_id is NULL"), ("run", "score is NULL"), ("run", "score is NaN"), ("run", "more than once"),
        ("qrels", "query_id is NULL"), ("qrels", "doc_id is NULL"), ("qrels", "relevance is NULL"), ("qrels", "more than once"),
        ("queries", "query_id is NULL"), ("queries", "weight is negative"), ("queries", "weight is NULL"),
    ]:  # fmt: skip
        assert re.search(rf"^{role} \(.*{problem}", message, re.MULTILINE), (role, problem)


def test_all_missing_columns_of_all_inputs_in_one_report() -> None:
    message = refused(run=pa.table({"x": [1]}), qrels=pa.table({"y": ["a"]}))
    for role, column in [
        ("run", "query_id"),
        ("run", "doc_id"),
        ("run", "score"),
        ("qrels", "query_id"),
        ("qrels", "doc_id"),
        ("qrels", "relevance"),
    ]:
        assert re.search(rf"^{role} .*no column '{column}'", message, re.MULTILINE)


def see_more(message: str) -> list[str]:
    """Return the queries that a report offers, without their limit if any."""
    return [line.partition("see more: ")[2] for line in message.splitlines() if "see more: " in line]


@pytest.mark.parametrize("kind", ["table", "parquet", "csv", "trec"])
def test_the_query_to_see_more_runs_and_shows_all(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{kind}"
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE runs AS SELECT 'q' || i % 2 AS query_id, 'd' || i // 2 AS doc_id, CASE WHEN i > 9 THEN 1.0 END AS score FROM range(20) t(i)"
    )
    connection.execute("CREATE TABLE twice AS SELECT 'q' AS query_id, 'd' || i % 5 AS doc_id, 1.0 AS score FROM range(10) t(i)")
    if kind == "trec":
        connection.execute(
            f"COPY (SELECT concat_ws(' ', query_id, 'Q0', doc_id, 1, coalesce(score::VARCHAR, 'x'), 'tag') FROM runs) TO '{path}' (HEADER false)"
        )
    elif kind != "table":
        connection.execute(f"COPY runs TO '{path}'")
    source = "runs" if kind == "table" else str(path)
    qrels = qrels_of(("q0", "d8", 1))
    message = refused("10 rows: score is NULL", run=source, qrels=qrels, connection=connection)
    (query,) = see_more(message)
    assert len(connection.execute(query).fetchall()) == 10
    if kind == "table":
        (query,) = see_more(refused("more than once", run="twice", qrels=qrels_of(("q", "d1", 1)), connection=connection))
        assert len(connection.execute(query).fetchall()) == 5


@pytest.mark.parametrize(
    ("role", "column", "metric"),
    [
        ("run", "score", "RR"),
        ("qrels", "relevance", "RR"),
        ("predictions", "label", "MSE"),
        ("predictions", "score", "AUC"),
        ("predictions", "weight", "AUC"),
    ],
)
def test_nan_is_found_in_parquet_files_whose_statistics_leave_it_out(role: str, column: str, metric: str, tmp_path: Path) -> None:
    """Arrow states the least and the greatest number of a column beside its NaN, from which DuckDB 2.0 takes ISNAN to be false."""
    rows = range(1000)
    sources = {
        "run": pa.table({"query_id": [i // 10 for i in rows], "doc_id": rows, "score": [float(i) for i in rows]}),
        "qrels": pa.table({"query_id": [i // 10 for i in rows], "doc_id": rows, "relevance": [float(i % 3) for i in rows]}),
        "predictions": pa.table({"label": [i % 2 / 1 for i in rows], "score": [i / 1000 for i in rows], "weight": [1.0] * 1000}),
    }
    broken = sources[role].column(column).to_pylist()
    broken[500] = NAN
    sources[role] = sources[role].set_column(sources[role].column_names.index(column), column, pa.array(broken))
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ([role] if role == "predictions" else ["run", "qrels"])}
    for name, path in paths.items():
        pq.write_table(sources[name], path)
    (query,) = see_more(refused(f"1 row: {column} is NaN", metrics=metric, **paths))
    assert len(duckdb.sql(query).fetchall()) == 1


@pytest.mark.parametrize("statistics", [True, False])
def test_null_is_counted_in_parquet_files_with_statistics_and_without(statistics: bool, tmp_path: Path) -> None:
    rows = range(3000)
    run = {"query_id": [i // 10 for i in rows], "doc_id": [None if i % 1000 == 7 else i for i in rows], "score": [float(i) for i in rows]}
    pq.write_table(pa.table(run), tmp_path / "run.parquet", row_group_size=1000, write_statistics=statistics)
    qrels = qrels_of((1, 11, 1))
    refused("3 rows: doc_id is NULL", "query_id=0, doc_id=None, score=7.0", run=str(tmp_path / "run.parquet"), qrels=qrels)


def test_the_query_to_see_more_of_an_arrow_table_names_it_by_its_role() -> None:
    (query,) = see_more(refused("more than once", run=run_of(("q", "a", 1.0), ("q", "a", 2.0)), qrels=GOOD_QRELS))
    assert "sqlrank_arrow" not in query
    run = run_of(("q", "a", 1.0), ("q", "a", 2.0))
    assert run.num_rows == 2
    assert duckdb.sql(query).fetchall() == [("q", "a", 2)]


def test_at_most_three_example_rows() -> None:
    message = refused("100 rows: score is NaN", run=run_of(*(("q", f"d{i}", NAN) for i in range(100))), qrels=GOOD_QRELS)
    assert message.count("query_id='q', doc_id=") == 3


def test_examples_of_long_ids_are_shortened() -> None:
    assert len(refused("score is NaN", run=run_of(("q", "d" * 100_000, NAN)), qrels=GOOD_QRELS)) < 5000


@pytest.mark.parametrize("empty", ["run", "qrels", "both"])
def test_no_rows(empty: str) -> None:
    run = GOOD_RUN.slice(0, 0) if empty in {"run", "both"} else GOOD_RUN
    qrels = GOOD_QRELS.slice(0, 0) if empty in {"qrels", "both"} else GOOD_QRELS
    message = refused(run=run, qrels=qrels)
    assert "no rows" in message or "empty" in message
    for role in ("run", "qrels"):
        assert (role in message) or empty not in {role, "both"}


def test_no_rows_unchecked() -> None:
    nothing = sqlrank.evaluate(["RR", "num_q"], run=GOOD_RUN.slice(0, 0), qrels=GOOD_QRELS, check="off")
    assert nothing.to_pylist() == [{"RR": 0.0, "num_q": 1.0}]
    nothing = sqlrank.evaluate(["RR", "num_q"], run=GOOD_RUN, qrels=GOOD_QRELS.slice(0, 0), check="off", per_query=True)
    assert nothing.to_pylist() == []


def test_nothing_in_common() -> None:
    refused("run and qrels have no query_id in common", "'q'", "'x'", run=GOOD_RUN, qrels=qrels_of(("x", "a", 1)))
    refused("run and qrels have no (query_id, doc_id) in common", "'zz'", run=GOOD_RUN, qrels=qrels_of(("q", "zz", 1)))
    assert value("RR", GOOD_RUN, qrels_of(("x", "a", 1)), check="off") == 0.0


def test_a_number_and_a_text_never_match() -> None:
    message = refused("run.query_id is VARCHAR, qrels.query_id is BIGINT", run=run_of(("1", 1, 1.0)), qrels=qrels_of((1, "1", 1)))
    assert "run.doc_id is BIGINT, qrels.doc_id is VARCHAR" in message


def test_null_in_a_by_column() -> None:
    systems = GOOD_RUN.append_column("system", pa.array([None, "x"]))
    refused("1 row", "system is NULL", "system=None", run=systems, qrels=GOOD_QRELS, by="system")


def test_duplicates_are_of_one_system() -> None:
    run = run_of(("q", "a", 1.0), ("q", "a", 2.0)).append_column("system", [["x", "y"]])
    assert sqlrank.evaluate("RR", run=run, qrels=GOOD_QRELS, by="system")["RR"].to_pylist() == [1.0, 1.0]
    refused("(query_id, doc_id)", "more than once", run=run, qrels=GOOD_QRELS)
    refused("(system, query_id, doc_id)", "more than once", run=pa.concat_tables([run, run.slice(0, 1)]), qrels=GOOD_QRELS, by="system")


@pytest.mark.parametrize("judged", [1, 0.5])
def test_beyond_the_limit_duplicates_of_documents_of_positive_relevance_are_found(judged: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "FULL_UP_TO", 2)
    run = run_of(("q", "a", 3.0), ("q", "b", 2.0), ("q", "b", 1.0))
    refused("run", "more than once", "doc_id='b'", run=run, qrels=qrels_of(("q", "a", 1), ("q", "b", judged)))


def test_beyond_the_limit_the_report_says_what_was_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "FULL_UP_TO", 2)
    unjudged_twice = run_of(("q", "a", 3.0), ("q", "z", 2.0), ("q", "z", 1.0))
    assert searched(unjudged_twice) == b"rows of documents of positive relevance"
    refused("more than once", "doc_id='z'", run=unjudged_twice, qrels=GOOD_QRELS, check="full")
    assert searched(unjudged_twice.slice(0, 2), check="full") == b"all rows"
    assert searched(GOOD_RUN) == b"all rows"
    assert searched(GOOD_RUN, check="off") == b"none"


def searched(run: pa.Table, check: checks.Check = "auto") -> bytes:
    metadata: dict[bytes, bytes] = sqlrank.evaluate("RR", run=run, qrels=GOOD_QRELS, check=check).schema.metadata
    return metadata[b"sqlrank.duplicates_searched"]


@pytest.mark.parametrize("check", ["bogus", False, None, "OFF"])
def test_a_check_that_does_not_exist(check: Any) -> None:
    with pytest.raises(SqlrankError, match="auto, full"):
        sqlrank.evaluate("RR", run=GOOD_RUN, qrels=GOOD_QRELS, check=check)


def test_a_stop_probability_above_one() -> None:
    qrels = qrels_of(("q", "a", 5))
    refused("ERR: a relevance of 5 gives a stop probability above 1", "max_grade", metrics="ERR", run=GOOD_RUN, qrels=qrels)
    refused("PFound", "stop probability above 1", metrics="PFound(stop=identity)", run=GOOD_RUN, qrels=qrels)
    refused("stop probability above 1", metrics="ERR", run=GOOD_RUN, qrels=qrels_of(("q", "a", 10**6)))
    assert value("ERR(max_grade=5)", GOOD_RUN, qrels) == pytest.approx(31 / 32)


def test_strict_queries() -> None:
    run = run_of(("q", "a", 1.0), ("x", "a", 1.0))
    message = refused(
        "judged, but not answered", "'r'", metrics="RR(queries=strict)", run=run, qrels=qrels_of(("q", "a", 1), ("r", "a", 1))
    )
    assert "answered, but not judged" in message
    assert "'x'" in message


def test_the_policy_queries_can_be_given_beside_a_queries_table() -> None:
    run = run_of(("q", "a", 1.0), ("x", "a", 1.0))
    qrels = qrels_of(("q", "a", 1), ("r", "a", 1))
    per_metric = {f"RR(queries={policy})": expected for policy, expected in (("truth", 0.5), ("intersect", 1.0), ("run", 0.5))}
    for metric, expected in per_metric.items():
        assert value(metric, run, qrels) == expected
        assert value(metric, run, qrels, queries=weights_of(("q", 1.0), ("r", 1.0), ("x", 1.0))) == expected


# Odd data


@pytest.mark.parametrize(
    "scores", [(1.0, 1.0, 1.0), (0.0, -0.0, 0.0), (INF, INF, INF), (-INF, -INF, -INF), (5e-324, 5e-324, 5e-324)], ids=str
)
def test_all_tied(scores: tuple[float, ...]) -> None:
    run = run_of(*(("q", doc, score) for doc, score in zip("abc", scores, strict=True)))
    qrels = qrels_of(("q", "a", 1))
    by_policy = {
        f"P(ties={ties})@1": expected
        for ties, expected in (("doc_desc", 0), ("doc_asc", 1), ("best", 1), ("worst", 0), ("expected", 1 / 3))
    }
    assert sqlrank.evaluate(by_policy, run=run, qrels=qrels).to_pylist()[0] == pytest.approx(by_policy, rel=1e-15)
    refused("equal scores in a list, and ties='error'", "docs=3", run=run, qrels=qrels, ties="error")


def test_infinite_scores_are_ranked() -> None:
    run = run_of(("q", "a", -INF), ("q", "b", INF), ("q", "c", 1e308), ("q", "d", -1e308))
    for place, doc in enumerate("bcda", start=1):
        assert value("RR", run, qrels_of(("q", doc, 1))) == 1 / place


def test_one_row() -> None:
    metrics = [name for name in (row["name"] for row in sqlrank.metrics().to_pylist() if row["family"] == "ranking") if name != "IPrec"]
    cut = [f"{name}@1" if name in {"AR", "F", "Judged", "MDCG", "P", "Unj", "num_tied"} else name for name in metrics]
    result = sqlrank.evaluate([*cut, "IPrec@0.5"], run=run_of(("q", "a", 1)), qrels=qrels_of(("q", "a", 1)))
    for name, column in zip(result.column_names, result.columns, strict=True):
        assert column.type == pa.float64(), name
        assert column[0].as_py() is not None, name
        assert math.isfinite(column[0].as_py()), name


@pytest.mark.parametrize(
    "kind",
    [pa.decimal128(10, 3), pa.float32(), pa.float64(), pa.int8(), pa.uint64(), pa.decimal128(38, 0)],
    ids=str,
)
def test_columns_of_many_types(kind: pa.DataType) -> None:
    run = GOOD_RUN.set_column(2, "score", pa.array([Decimal(1), Decimal(2)]).cast(kind))
    qrels = GOOD_QRELS.set_column(2, "relevance", pa.array([Decimal(1), Decimal(0)]).cast(kind))
    queries = pa.table({"query_id": ["q"], "weight": pa.array([Decimal(1)]).cast(kind)})
    got = sqlrank.evaluate(["RR", "nDCG@1", "CG", "ERR"], run=run, qrels=qrels, queries=queries).to_pylist()[0]
    assert got == pytest.approx({"RR": 0.5, "nDCG@1": 0.0, "CG": 1.0, "ERR": 0.03125}, rel=1e-14)


def test_booleans() -> None:
    run = GOOD_RUN.set_column(2, "score", [[False, True]])
    qrels = GOOD_QRELS.set_column(2, "relevance", [[True, False]])
    assert value("RR", run, qrels) == 0.5
    assert value("RR", run, qrels, queries=weights_of(("q", True))) == 0.5


def test_large_integers_keep_their_order() -> None:
    run = run_of(("q", "a", 2**62), ("q", "b", 2**62 + 1))
    assert value("RR", run, qrels_of(("q", "a", 1))) == 0.5
    ids = run_of((2**62, 2**62, 1), (2**62 + 1, 2**62 + 1, 1))
    assert value("num_q", ids, qrels_of((2**62, 2**62, 1), (2**62 + 1, 2**62 + 1, 1))) == 2


def test_negative_relevance_is_not_relevant() -> None:
    qrels = qrels_of(("q", "a", -1), ("q", "b", 1))
    got = sqlrank.evaluate(["RR", "nDCG@2", "num_rel", "CG", "Judged@2"], run=GOOD_RUN, qrels=qrels).to_pylist()[0]
    assert got == pytest.approx({"RR": 0.5, "nDCG@2": math.log(2) / math.log(3), "num_rel": 1.0, "CG": 1.0, "Judged@2": 0.5})


def test_nothing_relevant_anywhere() -> None:
    qrels = qrels_of(("q", "a", 0), ("q", "b", -2))
    metrics = ["RR", "nDCG", "AP", "ERR", "RBP", "R", "bpref", "P@1", "Rprec", "11pt", "G"]
    for policy, expected in (("zero", 0.0), ("one", 1.0), ("skip", None), ("null", None)):
        got = sqlrank.evaluate(metrics, run=GOOD_RUN, qrels=qrels, no_relevant=policy).to_pylist()[0]
        assert got == dict.fromkeys(metrics, expected)


@pytest.mark.parametrize(
    "metric", ["nDCG(gain=exp2)", "ERR(max_grade=2000)", "DCG(gain=exp2)", "G(gain=exp2)", "nDCG", "PFound(max_grade=2000)"]
)
def test_huge_relevance_never_gives_nan(metric: str) -> None:
    try:
        got = value(metric, GOOD_RUN, qrels_of(("q", "a", 2000), ("q", "b", 1)))
    except SqlrankError as error:
        assert "2000" in str(error)  # noqa: PT017  refusing is fine too
    else:
        assert got is None or math.isfinite(got)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ERR(stop=identity)", 1.0),
        ("RBP", 1.0),
        ("RBP(p=0.99)", 1 - 0.99**3000),
        ("ERR(max_grade=1)", math.log(2)),
        ("PFound(max_grade=1, p_break=0)", 1.0),
        ("nDCG", 1.0),
        ("nDCG(discount=geometric)", 1.0),
        ("AP", 1.0),
        ("bpref", 1.0),
    ],
)
def test_a_list_of_3000_relevant_documents(metric: str, expected: float) -> None:
    run = run_of(*(("q", f"d{i:04}", float(-i)) for i in range(3000)))
    qrels = qrels_of(*(("q", f"d{i:04}", 1) for i in range(3000)))
    assert value(metric, run, qrels) == pytest.approx(expected, rel=1e-9)


# Weights. RR is 1 for q1, 1/2 for q2, 0 for q3.

RUN3 = run_of(("q1", "a", 2.0), ("q1", "b", 1.0), ("q2", "a", 2.0), ("q2", "b", 1.0), ("q3", "a", 1.0))
QRELS3 = qrels_of(("q1", "a", 1), ("q2", "b", 1), ("q3", "zz", 1))


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ((1, 1, 1), 0.5),
        ((1, 2, 1), 0.5),
        ((0, 2, 0), 0.5),
        ((3.0, 0.0, 1.0), 0.75),
        ((Decimal("0.3"), Decimal("0.0"), Decimal("0.1")), 0.75),
        ((True, False, True), 0.5),
    ],
)
def test_weighted_means(weights: tuple[Any, ...], expected: float) -> None:
    queries = weights_of(*zip(("q1", "q2", "q3"), weights, strict=True))
    assert value("RR", RUN3, QRELS3, queries=queries) == pytest.approx(expected, rel=1e-15)
    assert value("RR(aggregate=mean)", RUN3, QRELS3, queries=queries) == 0.5
    extra = pa.concat_tables([queries, weights_of(("q4", weights[0]))])
    assert value("RR", RUN3, QRELS3, queries=extra) == pytest.approx(expected, rel=1e-15), "a query that is not evaluated has no weight"


def test_no_weight_at_all_is_undefined() -> None:
    assert value("RR", RUN3, QRELS3, queries=weights_of(("q1", 0), ("q2", 0), ("q3", 0))) is None


def test_queries_without_a_weight_column_only_slice() -> None:
    assert value("RR", RUN3, QRELS3, queries=pa.table({"query_id": ["q1"], "country": ["de"]})) == 0.5


@pytest.mark.parametrize("queries", [weights_of(("q1", 1), ("q2", 2)), weights_of(("x", 1)), weights_of(("q1", 1)).slice(0, 0)])
def test_queries_that_have_no_weight_are_named(queries: pa.Table) -> None:
    refused("weight", "'q3'", run=RUN3, qrels=QRELS3, queries=queries)


def test_unchecked_data_are_taken_as_they_are() -> None:
    assert value("RR", run_of(("q", "a", 1.0), ("q", "a", 2.0)), GOOD_QRELS, check="off") == 1.0
    refused("no column 'score'", run=GOOD_RUN.drop_columns("score"), qrels=GOOD_QRELS, check="off")
