"""Whoever makes the call that a message names gets the right number: forms of inputs, units, dates
without an end, and metrics of other inputs.
"""

import re
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.metrics import hamming_loss, zero_one_loss

import sqlrank
from sqlrank import SqlrankError
from tests.interface.advice import follow, follow_all, follow_command
from tests.tables import build_table, read_columns

SCORED = {"q1": {"d1": 0.5, "d2": 0.9, "d3": 0.5}}
ROWS = [{"query_id": "q1", "retrieved": ["a", "b"], "relevant": ["b"]}]
OTHER_ROWS = [{"query_id": "q1", "retrieved": ["b", "a"], "relevant": ["b"]}]


def evaluate_text(text: str, **names: Any) -> Any:
    """Return the value of an expression of Python in a message."""
    return eval(text, names)  # noqa: S307  messages of this package


def read_message(call: Any) -> str:
    with pytest.raises(SqlrankError) as caught:
        call()
    return str(caught.value)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("columns", "right"),
    [
        ({"retrieved": [[7, 8], [9, 5]], "relevant": [8, 9]}, 0.75),
        ({"retrieved": [7, 8], "relevant": [[8], [8]]}, 0.5),
        ({"retrieved": [7.0, 8.0], "relevant": [8, 8]}, 0.5),
        ({"retrieved": ["x", "y"], "relevant": ["x", "z"]}, 0.5),
        ({"retrieved": ["x, z", "y"], "relevant": ["z", "y"]}, 0.75),
    ],
)
def test_one_id_becomes_a_list(columns, right, tmp_path):
    answers = {"query_id": ["a", "b"], **columns}
    value, messages = follow("RR", inputs={"answers": answers})
    assert (value, len(messages)) == (right, 1)
    if not any(isinstance(value, list) for values in columns.values() for value in values):
        pd.DataFrame(answers).to_csv(tmp_path / "answers.csv", index=False)
        source = f"answers={tmp_path / 'answers.csv'}"
        output, _ = follow_command("evaluate", "RR", "--input", source, "--format", "csv")
        assert float(output.split()[1]) == right


@pytest.mark.one_in(2)
@pytest.mark.parametrize("table", [list, pa.Table.from_pylist], ids=["rows", "tables"])
def test_several_answers_are_named(table):
    systems = [table(ROWS), table(OTHER_ROWS)]
    message = read_message(lambda: sqlrank.evaluate("RR", inputs={"answers": systems}))
    argument = re.search(r"inputs=(\{.*\})$", message)
    assert argument is not None
    inputs = evaluate_text(argument[1], table=systems[0], other_table=systems[1])
    assert sqlrank.evaluate("RR", inputs=inputs).to_pylist() == [
        {"system": "name", "RR": 0.5},
        {"system": "other", "RR": 1.0},
    ]
    assert sqlrank.compare("RR", inputs=inputs)["difference"].to_pylist() == [0.5]


def test_two_systems_of_one_name_are_named(tmp_path):
    for folder, rows in (("a", ROWS), ("b", OTHER_ROWS)):
        (tmp_path / folder).mkdir()
        parquet.write_table(pa.Table.from_pylist(rows), tmp_path / folder / "x.parquet")
    files = [str(tmp_path / folder / "x.parquet") for folder in "ab"]
    message = read_message(lambda: sqlrank.evaluate("RR", inputs={"answers": files}))
    assert (
        "two systems are called 'x.parquet'. Give each a name: inputs={'answers': {'name': source}}"
        in message
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("compat", ["ranx", None])
def test_a_dict_of_scores_has_lists_in_order(compat):
    """The tool sorts by score, and keeps equal scores in the order written: d2, d1, d3."""
    policies = {} if compat else {"ties": "rank"}
    message = read_message(
        lambda: sqlrank.evaluate(
            "RR", run=SCORED, qrels={"q1": {"d3": 1}}, compat=compat, **policies
        )
    )
    lists = re.search(r"run=(\{query: .*?\.items\(\)\})", message)
    assert lists is not None
    run = evaluate_text(lists[1], run=SCORED)
    assert sqlrank.evaluate("RR", run=run, qrels={"q1": {"d3": 1}}, compat=compat, **policies)[
        "RR"
    ][0].as_py() == pytest.approx(1 / 3)
    assert (
        follow("RR", run=SCORED, qrels={"q1": {"d3": 1}}, compat=compat, **policies)[0] == 0.5
    )  # the greatest id first


@pytest.mark.parametrize(
    "scores", [{"score": [0.5, 0.9]}, {"bm25": [0.5, 0.9]}], ids=["score", "another name"]
)
def test_a_table_without_ranks_is_ordered_by_scores(scores):
    run = {"query_id": ["q1"] * 2, "doc_id": ["d1", "d2"], **scores}
    columns = {} if "score" in scores else {"columns": {"score": "bm25"}}
    assert (
        follow("RR", run=pa.table(run), qrels={"q1": {"d1": 1}}, compat="ranx", **columns)[0] == 0.5
    )


CLASSIFIED = read_columns(label="1 2 3 3", predicted="1 2 1 2")


@pytest.mark.parametrize(
    ("metric", "theirs"), [("zero_one_loss", zero_one_loss), ("hamming_loss", hamming_loss)]
)
def test_losses_of_classes(metric, theirs):
    expected = theirs(CLASSIFIED["label"], CLASSIFIED["predicted"])
    assert sqlrank.evaluate(
        metric, inputs={"classified": CLASSIFIED}, compat="sklearn"
    ).to_pylist() == [{metric: pytest.approx(expected)}]
    message = read_message(lambda: sqlrank.evaluate(metric, inputs={"classified": CLASSIFIED}))
    asked = message.partition("Ask for ")[2].partition(",")[0]
    assert sqlrank.evaluate(asked, inputs={"classified": CLASSIFIED}).to_pylist() == [
        {asked: pytest.approx(expected)}
    ]


def test_the_hamming_loss_of_one_label_is_its_error_rate():
    predictions = read_columns(label="0 1 1", score="0.1 0.2 0.7")
    expected = pytest.approx(hamming_loss(predictions["label"], [0, 0, 1]))
    assert sqlrank.evaluate(
        "hamming_loss", predictions=predictions, compat="sklearn"
    ).to_pylist() == [{"hamming_loss": expected}]
    message = read_message(lambda: sqlrank.evaluate("hamming_loss", predictions=predictions))
    asked = message.partition("Ask for ")[2].partition(",")[0]
    assert sqlrank.evaluate(asked, predictions=predictions).to_pylist() == [{asked: expected}]


ENDLESS = (
    "SELECT n % 2 AS label, 0.5 AS score, n % 7 AS user_id, CASE WHEN n < 20 THEN DATE 'infinity'"
    " ELSE DATE '2026-01-01' END AS ends FROM RANGE(60) AS t(n)"
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "options",
    [
        {"by": "ends"},
        {"by": "day=ends + 1"},
        {"by": "month=DATE_TRUNC('month', ends)"},
        {"by": "day=ends + 1", "confidence": 0.95},
    ],
    ids=str,
)
def test_dates_without_an_end(options):
    assert follow_all("Brier", predictions=ENDLESS, **options)
    result = sqlrank.evaluate("Brier", predictions=ENDLESS, **{**options, "by": read_by(options)})
    assert {*result.column(0).to_pylist()} > {"infinity"}


def read_by(options: dict[str, Any]) -> str:
    message = read_message(lambda: sqlrank.evaluate("Brier", predictions=ENDLESS, **options))
    found = re.search(r"by=(['\"])(.*)\1", message)
    assert found is not None
    return found[2]


@pytest.mark.slow
def test_dates_without_an_end_in_other_calls():
    both = f"SELECT *, 0.4 AS old FROM ({ENDLESS})"
    message = read_message(
        lambda: sqlrank.compare(
            "Brier", predictions=both, columns={"score": ["old", "score"]}, by="day=ends + 1"
        )
    )
    assert "by='day=CAST(ends + 1 AS VARCHAR)'" in message
    units = {"predictions": both, "columns": {"score": ["old", "score"]}}
    message = read_message(lambda: sqlrank.compare("Brier", **units, unit="ends"))
    assert message.endswith("Read it as a text with unit='CAST(ends AS VARCHAR)'")
    assert sqlrank.compare("Brier", **units, unit="CAST(ends AS VARCHAR)")[
        "n_units"
    ].to_pylist() == [2]
    message = read_message(
        lambda: sqlrank.evaluate(
            "Brier", predictions=ENDLESS, across="day=ends - 1", where="ends > DATE '2027-01-01'"
        )
    )
    assert message.endswith("Read it as a text with across='day=CAST(ends - 1 AS VARCHAR)'")
    run = "SELECT DATE 'infinity' AS query_id, 'a' AS doc_id, 1.0 AS score, 1 AS relevance"
    assert sqlrank.evaluate("RR", run=run, qrels=run).to_pylist() == [{"RR": 1.0}]
    message = read_message(lambda: sqlrank.evaluate("RR", run=run, qrels=run, per_query=True))
    assert message.endswith(
        "Read it as a text with columns={'query_id': 'CAST(query_id AS VARCHAR)'}"
    )


def make_users() -> tuple[
    dict[str, list[dict[str, Any]]], list[dict[str, Any]], list[dict[str, Any]]
]:
    """Return the runs of two systems, judgments, and queries of twelve users of one to five queries
    each.
    """
    rng = np.random.default_rng(5)
    queries = [
        {"query_id": f"{user}-{number}", "user": user}
        for user in range(12)
        for number in range(user % 5 + 1)
    ]
    rows = [{"query_id": query["query_id"], "doc_id": doc} for query in queries for doc in range(5)]
    runs = {name: [{**row, "score": rng.random()} for row in rows] for name in ("a", "b")}
    return runs, [{**row, "relevance": int(rng.random() < 0.5)} for row in rows], queries


def test_users_are_units_of_rankings():
    """The standard error is that of a ratio of sums of users."""
    runs, qrels, queries = make_users()
    inputs = {"run": runs["a"], "qrels": qrels, "queries": queries}
    message = read_message(
        lambda: sqlrank.evaluate("nDCG@3", **inputs, unit="user", confidence=0.95)
    )
    assert message.endswith(
        "evaluate its values of queries with by='user' and per_query=True, and give these as"
        " predictions to Mean(\"nDCG@3\") with unit='user'"
    )
    values = sqlrank.evaluate("nDCG@3", **inputs, by="user", per_query=True)
    (row,) = sqlrank.evaluate(
        'Mean("nDCG@3")', predictions=values, unit="user", confidence=0.95
    ).to_pylist()
    frame = values.to_pandas().groupby("user")["nDCG@3"].agg(["sum", "count"])
    mean = frame["sum"].sum() / frame["count"].sum()
    residuals = frame["sum"] - mean * frame["count"]
    assert row['Mean("nDCG@3")'] == pytest.approx(mean)
    assert row['Mean("nDCG@3").se'] == pytest.approx(
        np.sqrt(12 / 11 * (residuals**2).sum()) / frame["count"].sum()
    )


@pytest.mark.parametrize("call", [sqlrank.compare, sqlrank.gate])
def test_users_are_units_of_compared_rankings(call):
    runs, qrels, queries = make_users()
    inputs = {"run": runs, "qrels": qrels, "queries": queries}
    options = {"tolerance": 0.05, "baseline": "a"} if call is sqlrank.gate else {}
    message = read_message(lambda: call("RR", **inputs, unit="user", **options))
    assert (
        "with by=['system', 'user'] and per_query=True, and give these as predictions to Mean(RR)"
        " with unit='user'" in message
    )
    values = sqlrank.evaluate("RR", **inputs, by=["system", "user"], per_query=True)
    (row,) = call("Mean(RR)", predictions=values, unit="user", **options).to_pylist()
    assert row["n_units"] == 12
    by_system = dict(
        zip(
            ("a", "b"),
            values.group_by("system")
            .aggregate([("RR", "mean")])
            .sort_by("system")["RR_mean"]
            .to_pylist(),
            strict=True,
        )
    )
    assert row["difference"] == pytest.approx(by_system["b"] - by_system["a"])


def test_texts_of_digits_have_no_order_of_letters():
    """Hexadecimal numbers in the order of letters would be a wrong number."""
    scores = [float(score).hex() for score in (0.9, 0.2, 0.4)]
    message = read_message(
        lambda: sqlrank.evaluate("AUC", predictions={"label": [1, 0, 1], "score": scores})
    )
    assert (
        "are none. Give an expression that reads them as numbers, or map another column to score"
        in message
    )
    assert "CASE" not in message


@pytest.mark.parametrize(
    ("first", "second"),
    [([True, False], [1, 0]), (["1", "0"], [1, 0]), ([1, 0], ["1", "0"])],
    ids=str,
)
def test_tables_of_other_types_are_cast_to_numbers(first, second):
    """The query with the cast of each table has the number."""
    tables = [build_table(label=label, score="0.9 0.2") for label in (first, second)]
    message = read_message(lambda: sqlrank.evaluate("AUC", predictions=tables))
    cast = re.search(r"a query with (CAST\(label AS DOUBLE\))$", message)
    assert cast is not None
    connection = duckdb.connect()
    queries = []
    for number, table in enumerate(tables):
        connection.register(f"t{number}", table)
        queries.append(f"SELECT {cast[1]} AS label, score FROM t{number}")
    assert (
        sqlrank.evaluate(
            "AUC", predictions=sqlrank.query(" UNION ALL ".join(queries)), connection=connection
        )["AUC"][0].as_py()
        == 1.0
    )


CASTS = {
    "INT": [1.0, 2.0, float("inf"), float("-inf")],
    "TINYINT": [1, 2, 1000, 2000],
    "DECIMAL(5, 2)": [1.0, 2.0, float("nan"), 1e9],
    "DATE": ["2026-01-01", "2026-01-02", "today", "-"],
    "TIMESTAMP": ["2026-01-01", "2026-01-02", "today", "-"],
    "TIME": ["10:00", "11:00", "noon", "-"],
    "DOUBLE": ["1", "2", "x", "-"],
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", CASTS)
def test_values_of_no_such_type_are_named_with_the_cast_that_reads_null(target):
    predictions = {"label": [1, 0, 1, 0], "score": [0.9, 0.2, 0.1, 0.3], "x": CASTS[target]}
    cast = f"CAST(x AS {target})"
    value, (message,) = follow("AUC", predictions=predictions, where=f"{cast} IS NOT NULL")
    assert value == 1.0
    assert re.match(r"where: '[\w.+-]+' is no [A-Z]+\d*\. Leave its rows out with", message)
    message = read_message(lambda: sqlrank.evaluate("AUC", predictions=predictions, by=f"g={cast}"))
    lenient = re.search(r"(TRY_CAST.*) reads NULL in its place$", message)
    assert lenient is not None
    result = sqlrank.evaluate("Positives", predictions=predictions, by=f"g={lenient[1]}")
    assert result["Positives"].to_pylist()[result["g"].to_pylist().index(None)] == 1.0
