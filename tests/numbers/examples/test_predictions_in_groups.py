"""Predictions with columns of any name, and in groups, also of a NULL key."""

from functools import cache

import pyarrow as pa
import pytest

import sqlrank
from tests.numbers.examples.databases import get_database
from tests.numbers.examples.predictions import STRATEGIES, evaluate_predictions
from tests.tables import build_table, read_columns


@pytest.mark.parametrize(
    "name", ["click", "select", "Größe", 'a "quoted" name', "score", "by", "list_id"]
)
def test_columns_of_any_name(name):
    columns = {"label": name, "score": "p"}
    data = pa.table({name: [0, 1, 1], "p": [0.1, 0.4, 0.05]})
    assert sqlrank.evaluate("AUC", predictions=data, columns=columns).to_pylist() == [{"AUC": 0.5}]


def test_weight_by_another_name_and_a_weight_that_is_there():
    data = build_table(y="0 1 0", p="0.1 0.4 0.9", w="3.0 1.0 1.0", weight="1.0 1.0 1.0")
    columns = {"label": "y", "score": "p"}
    assert sqlrank.evaluate("AUC", predictions=data, columns=columns).to_pylist() == [{"AUC": 0.5}]
    assert sqlrank.evaluate(
        "AUC", predictions=data, columns={**columns, "weight": "w"}
    ).to_pylist() == [{"AUC": 0.75}]


INNER = [
    "select", "score2", "positives", "cell", "slice_number", "bucket", "list_id", "auc",
    "predictions", "h", "k", "AuC",
]  # fmt: skip
GROUPED = read_columns(label="0 1 0 1 1 0 1", score="0.1 0.4 0.4 0.8 0.2 0.3 0.7", weight=[1.0] * 7)
GROUPS = ["x", "x", "x", "y", "y", None, None]
GROUP_METRICS = ["AUC(tie_credit=1)", "APS", "FBeta(threshold_from=best)", "ECE", "num_predictions"]


@cache
def evaluate_each_group() -> list[list[float]]:
    """Return the values of the groups NULL, x and y, and of all rows, by the number of rows."""
    rows = pa.table(GROUPED | {"day": GROUPS})
    parts = [rows.filter([group == one for group in GROUPS]) for one in (None, "x", "y")]
    found = [
        evaluate_predictions(GROUP_METRICS, part["label"], part["score"]) for part in [*parts, rows]
    ]
    return sorted(found, key=lambda row: row[-1])


@pytest.mark.one_in(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", INNER)
def test_by_columns_of_any_name(name):
    """Also that of a column, a table or a result inside the statement; and NULL is a group of its
    own.
    """
    for strategy in ("window", "buckets"):
        data = pa.table(GROUPED | {name: GROUPS})
        rows = sqlrank.evaluate(
            GROUP_METRICS,
            predictions=data,
            by=[[name], []],
            plan={"score_order": strategy},
            connection=get_database(),
        ).to_pylist()
        assert [row.pop(name) for row in rows] == [None, None, "x", "y"]
        assert [row.pop("slice") for row in rows] == [*sorted(["all", name]), name, name]
        got = sorted((list(row.values()) for row in rows), key=lambda row: row[-1])
        assert got == [pytest.approx(row, abs=1e-12) for row in evaluate_each_group()]


def test_two_by_columns_with_null_in_either():
    data = build_table(
        label="0 1 0 1 0 1",
        score="0.1 0.2 0.4 0.3 0.5 0.5",
        a="1 1 NULL NULL 1 1",
        b="x x x x NULL NULL",
    )
    for strategy in STRATEGIES:
        rows = sqlrank.evaluate(
            ["AUC", "KS"], predictions=data, by=["a", "b"], plan={"score_order": strategy}
        ).to_pylist()
        expected = [(None, "x", 0.0, 1.0), (1, None, 0.5, 0.0), (1, "x", 1.0, 1.0)]
        assert [tuple(row.values()) for row in rows] == expected
