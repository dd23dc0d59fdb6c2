"""Values that are no tables yet are refused with the next step, and arrays of two dimensions are
columns of lists.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import dataset

import sqlrank
from sqlrank import InputError
from tests.interface.inputs import refused


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        (
            {"q1": [("a", 0.9)]},
            [
                "run: cannot read ('a', 0.9) as a document. Write {query: {document: score}}",
                ". Pairs become such a dict by dict(pairs)",
            ],
        ),
        (
            {"q1": ["a", "b"], "q2": "c"},
            [
                "named 'a'",
                ". If 'q1' is a query, and no system, give a list of documents for every query",
            ],
        ),
        (
            {"q1": [{"id": "a", "score": 0.9}]},
            [
                (
                    "Names of several runs are systems. If yours are queries, give inputs={'answers':"
                    " ...}"
                )
            ],
        ),
        (
            [["a", "b"], ["c"]],
            [
                "run: a list of lists has no queries. Write {query: ",
                "inputs={'answers': ...} with a row per query",
            ],
        ),
        (
            {"query_id": {0: "q1"}, "doc_id": {0: "a"}, "score": {0: 1.0}},
            ["a dict of columns that are dicts", "as to_dict('list') has"],
        ),
        (
            {0: {"query_id": "q1", "doc_id": "a", "score": 1.0}},
            ["a dict whose values are rows. Give a list of them"],
        ),
        (
            {"query_id": ["q1"], "doc_id": ["a", "b"]},
            ["the columns differ in length: query_id has 1, doc_id has 2"],
        ),
        (
            [{"query_id": "q1", "doc_id": ["a", 1]}],
            ["column 'doc_id' cannot be read: ", "of one type, or leave it out"],
        ),
    ],
)
def test_dicts_and_lists_of_other_forms_are_refused(
    source: Any, parts: list[str], qrels: pa.Table
) -> None:
    refused(*parts, run=source, qrels=qrels)


@pytest.mark.parametrize(
    ("make", "step"),
    [
        (lambda: (row for row in [{"query_id": "q1"}]), "Make a list of its rows"),
        (
            lambda: duckdb.connect().execute("SELECT 1"),
            "Give the query itself, with connection= of its connection",
        ),
        (lambda: dataset.dataset(pa.table({"query_id": ["q1"]})), "Call its to_table() first"),
        (
            lambda: list(pd.DataFrame({"query_id": ["q1"]}).itertuples()),
            "Make a dict of each row with _asdict()",
        ),
    ],
    ids=["generator", "connection", "dataset", "named tuples"],
)
def test_what_leads_to_a_table_is_named(
    make: Callable[[], Any], step: str, qrels: pa.Table
) -> None:
    refused(f". {step}, or give a table name", run=make(), qrels=qrels)


def test_rows_may_be_a_tuple() -> None:
    run = (
        {"query_id": "q1", "doc_id": "a", "score": 0.5},
        {"query_id": "q1", "doc_id": "b", "score": 0.7},
    )
    assert sqlrank.evaluate(
        "RR", run=run, qrels=({"query_id": "q1", "doc_id": "a", "relevance": 1},)
    ).to_pylist() == [{"RR": 0.5}]


def test_arrays_of_two_dimensions_have_a_list_for_each_row() -> None:
    """As approximate indexes return neighbours, and classifiers probabilities."""
    neighbours = {
        "query_id": [1, 2],
        "retrieved": np.array([[7, 8], [9, 7]]),
        "relevant": [[8], [9, 5]],
    }
    assert sqlrank.evaluate(["RR", "R@2"], inputs={"answers": neighbours}).to_pylist() == [
        {"RR": 0.75, "R@2": 0.75}
    ]
    probabilities = {"label": [1, 0], "scores": np.array([[0.25, 0.75], [0.5, 0.5]])}
    brier = sqlrank.evaluate("MulticlassBrier", inputs={"multiclass_predictions": probabilities})
    assert brier.to_pylist() == [{"MulticlassBrier": 0.3125}]
    refused(
        "score is DOUBLE[], not a number. Of scores of classes give one column, or"
        " inputs={'multiclass_predictions': ...}. Make rows of a list by a query",
        metrics="AUC",
        predictions={"label": [1, 0], "score": probabilities["scores"]},
    )


def test_a_list_of_queries_is_a_column(run: pa.Table, qrels: pa.Table) -> None:
    refused(
        "A list of queries is a column, {'query_id': [...]}",
        run=run,
        qrels=qrels,
        queries=["q1", "q2"],
        topics="given",
    )


def test_rows_of_learning_to_rank_are_numbered_for_ids(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("query_id,score,label\n1,.5,0\n1,.4,2\n2,.3,1\n2,.9,0\n")
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("nDCG@5", predictions=str(file))
    (query,) = re.findall(r'predictions="(.+?)"', str(caught.value))
    # by hand: the relevant document is second in both lists
    assert sqlrank.evaluate("nDCG@5", predictions=query)["nDCG@5"].to_pylist() == [
        pytest.approx(1 / np.log2(3))
    ]


def test_seconds_are_no_dates() -> None:
    rows = pa.table({"ts": [1767225600] * 2, "label": [1, 0], "score": [0.9, 0.1]})
    with pytest.raises(InputError, match=r"a number \(BIGINT\) is cast to DATE") as caught:
        sqlrank.evaluate("AUC", predictions=rows, by="day=CAST(ts AS DATE)")
    (expression,) = re.findall(r"as in (CAST\(.+ AS DATE\)),", str(caught.value))
    result = sqlrank.evaluate(
        "AUC", predictions=rows, by=f"day={expression.replace('column', 'ts')}"
    )
    assert [str(row["day"]) for row in result.to_pylist()] == ["2026-01-01"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("orient", ["columns", "index", "table"])
def test_answers_that_pandas_wrote_by_columns(orient: Any, tmp_path: Path) -> None:
    lists = {"retrieved": [["c1", "c2"], ["c7"]], "relevant": [["c2"], ["c7", "c8"]]}
    file = tmp_path / "answers.json"
    pd.DataFrame({"query_id": ["q1", "q2"], **lists}).to_json(file, orient=orient)
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("RR", inputs={"answers": str(file)})
    query = re.split(r"give the query ", str(caught.value))[1]
    assert sqlrank.evaluate("RR", inputs={"answers": query})["RR"].to_pylist() == [0.75]
