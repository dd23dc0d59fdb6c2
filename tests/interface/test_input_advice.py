"""Values that are no tables yet are refused with the next step, and arrays of two dimensions are
columns of lists.
"""

import re

import numpy as np
import pandas as pd
import pytest

import sqlrank
from sqlrank import InputError
from tests.interface.inputs import refused


def test_rows_may_be_a_tuple():
    run = (
        {"query_id": "q1", "doc_id": "a", "score": 0.5},
        {"query_id": "q1", "doc_id": "b", "score": 0.7},
    )
    assert sqlrank.evaluate(
        "RR", run=run, qrels=({"query_id": "q1", "doc_id": "a", "relevance": 1},)
    ).to_pylist() == [{"RR": 0.5}]


def test_arrays_of_two_dimensions_have_a_list_for_each_row():
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


def test_rows_of_learning_to_rank_are_numbered_for_ids(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("query_id,score,label\n1,.5,0\n1,.4,2\n2,.3,1\n2,.9,0\n")
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("nDCG@5", predictions=str(file))
    (query,) = re.findall(r'predictions="(.+?)"', str(caught.value))
    # by hand: the relevant document is second in both lists
    assert sqlrank.evaluate("nDCG@5", predictions=query)["nDCG@5"].to_pylist() == [
        pytest.approx(1 / np.log2(3))
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("orient", ["columns", "index", "table"])
def test_answers_that_pandas_wrote_by_columns(orient, tmp_path):
    lists = {"retrieved": [["c1", "c2"], ["c7"]], "relevant": [["c2"], ["c7", "c8"]]}
    file = tmp_path / "answers.json"
    pd.DataFrame({"query_id": ["q1", "q2"], **lists}).to_json(file, orient=orient)
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("RR", inputs={"answers": str(file)})
    query = re.split(r"give the query ", str(caught.value))[1]
    assert sqlrank.evaluate("RR", inputs={"answers": query})["RR"].to_pylist() == [0.75]


@pytest.mark.parametrize(("other", "meant"), [("question", "question"), ("query", "topic")])
def test_a_topic_is_the_query_unless_there_are_questions(other, meant):
    """Topics of TREC have texts, and exports of answers a topic for each question."""
    answers = pd.DataFrame({other: ["a", "b"], "topic": ["x", "x"], "hits": [["c"], ["d"]]})
    refused(f"Did you mean '{meant}'", metrics="MRR", inputs={"answers": answers})
