"""Metrics of predictions under level=query: a value per query of a group, then their mean or
another aggregate.
"""

from statistics import fmean
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from sqlrank.errors import MetricError
from sqlrank.rendering.dialects import DIALECTS
from tests.lanes import select_few
from tests.numbers.references import predictions_reference as reference
from tests.numbers.references.predictions import Predictions
from tests.tables import build_table

METRICS = [
    "AUC", "AUC(tie_credit=0)", "APS", "KS", "LogLoss", "FBeta(threshold_from=best)", "Recall",
    "ECE(binning=equal_mass)", "PnDCG@2", "R2",
]  # fmt: skip
STRATEGIES = ("window", "distinct", "buckets")


def draw_groups(n: int = 300) -> dict[str, Predictions]:
    """Draw two groups of queries of all sizes; some have one class only."""
    rng = np.random.default_rng(5)
    found = {}
    for name in ("left", "right"):
        query = rng.integers(0, 40, n) * rng.integers(0, 2, n)
        label = (rng.random(n) < np.where(query % 5 == 0, 0.05, 0.5)).astype(float)
        found[name] = Predictions(
            label, rng.integers(0, 9, n) / 8, rng.integers(1, 9, n) / 4, query, rng.permutation(n)
        )
    return found


def make_table() -> pa.Table:
    rows = pa.concat_tables(
        [
            part.table.append_column("shop", pa.array([name] * len(part)))
            for name, part in draw_groups().items()
        ]
    )
    return rows.take(np.random.default_rng(1).permutation(rows.num_rows))


def evaluate_queries(metric: str, data: Predictions) -> list[float]:
    """Return the value of each query for which the metric is defined."""
    values = [reference.evaluate(metric, part) for part in data.queries()]
    return [value for value in values if value is not None]


def evaluate(
    metrics: str | list[str], predictions: pa.Table, **arguments: Any
) -> list[dict[str, Any]]:
    return sqlrank.evaluate(metrics, predictions=predictions, **arguments).to_pylist()


def make_three_queries(**columns: list[Any]) -> pa.Table:
    """Three queries with areas of 1, 1/2 (a tie) and none (one class)."""
    return pa.table(
        {
            "query_id": ["a", "a", "b", "b", "c"],
            "label": [1, 0, 1, 0, 0],
            "score": [0.9, 0.1, 0.5, 0.5, 0.3],
            **columns,
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("strategy", select_few(STRATEGIES, 1))
def test_mean_over_queries_is_that_of_the_reference(strategy):
    for row in evaluate(
        METRICS, make_table(), by="shop", level="query", plan={"score_order": strategy}
    ):
        data = draw_groups()[row.pop("shop")]
        expected = {metric: fmean(evaluate_queries(metric, data)) for metric in row}
        assert row == pytest.approx(expected, abs=1e-12)


def test_with_pooled_metrics_and_in_several_groupings():
    """The queries of a grouping are those of its rows: the total has one query 0 where each shop
    has its own.
    """
    metrics = ["AUC", "AUC(level=query)", "GAUC(query_weight=equal)"]
    found = evaluate(metrics, make_table(), by=[["shop"], []])
    assert [(row["shop"], row.pop("slice")) for row in found] == [
        (None, "all"),
        *((name, "shop") for name in draw_groups()),
    ]
    rows = {row.pop("shop"): row for row in found}
    parts = draw_groups()
    both = Predictions(
        *(
            np.concatenate([getattr(part, name) for part in parts.values()])
            for name in Predictions.__dataclass_fields__
        )
    )
    for name, data in {**parts, None: both}.items():
        mean = fmean(evaluate_queries("AUC", data))
        assert rows[name] == pytest.approx(
            {"AUC": reference.evaluate("AUC", data), **dict.fromkeys(metrics[1:], mean)}, abs=1e-12
        )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", 3 / 4),
        ("if_undefined=skip", 3 / 4),
        ("if_undefined=zero", 1.5 / 3),
        ("if_undefined=half", 2 / 3),
        ("if_undefined=one", 2.5 / 3),
        ("if_undefined=null", None),
        ("aggregate=min", 1 / 2),
        ("aggregate=max", 1),
        ("aggregate=sum", 3 / 2),
        ("aggregate=gmean", 0.5**0.5),
        ("aggregate=quantile, q=0.25", 5 / 8),
        ("tie_credit=0", 1 / 2),
    ],
)
def test_what_becomes_of_the_values(options, expected):
    (row,) = evaluate(
        f"AUC({', '.join(filter(None, ['level=query', options]))})", make_three_queries()
    )
    assert list(row.values()) == [pytest.approx(expected, abs=1e-15)]


def test_metrics_that_are_always_defined():
    (row,) = evaluate(
        ["num_predictions(level=query)", "Positives(level=query)", "Brier(level=query)"],
        make_three_queries(weight=[1.0, 1, 3, 1, 0]),
    )
    assert list(row.values()) == pytest.approx([5 / 3, 4 / 3, (0.01 + 0.25) / 2], abs=1e-15)


def test_nothing_defined():
    assert evaluate("AUC(level=query)", make_three_queries().slice(4)) == [
        {"AUC(level=query)": None}
    ]
    assert evaluate(
        ["AUC", "num_predictions"], make_three_queries().slice(5), level="query", check="off"
    ) == [{"AUC": None, "num_predictions": None}]


def test_per_query_shows_the_values_themselves():
    rows = evaluate("AUC", make_three_queries(), level="query", aggregate="gmean", per_query=True)
    assert [row["AUC"] for row in rows] == [1, 0.5, None]


@pytest.mark.parametrize(
    "name",
    select_few(
        [
            "positive_thresholds", "positive_thresholds_metrics",
            "positive_thresholds_by_query", "predictions_by_query", "query_values",
            "group_query_values",
        ],
        1,
    ),
)  # fmt: skip
def test_tables_named_like_steps(name):
    metrics = ["AUC(level=query)", "AUC", "Brier(level=query)", "Brier"]
    with duckdb.connect() as connection:
        connection.register("given", make_three_queries())
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        (row,) = evaluate(metrics, name, connection=connection)
        text = sqlrank.sql(metrics, predictions=name, connection=connection)
        assert [connection.execute(text).fetchone()] == [tuple(row.values())]
    assert row == evaluate(metrics, make_three_queries())[0]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_statements_without_groups_have_no_empty_select(dialect):
    text = sqlrank.sql("AUC(level=query)", dialect=dialect, predictions="p")
    assert "SELECT\n  FROM" not in text
    assert "SELECT AVG(positive_thresholds_by_query.auc_level_query) AS auc_level_query\n" in text


def test_what_has_no_level_refuses_the_policy():
    run = build_table(query_id="1 1", doc_id="a b", score="0.9 0.5")
    qrels = build_table(query_id="1", doc_id="b", relevance="1")
    with pytest.raises(MetricError, match="no metric of this call reads level"):
        sqlrank.evaluate("RR", run=run, qrels=qrels, level="query")
    with pytest.raises(MetricError, match="RR has no parameter 'level'"):
        sqlrank.evaluate("RR(level=query)", run=run, qrels=qrels)
