"""Scores packed into integers, of which several may share a cell, give the numbers of sorted
scores.
"""

import time
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.lanes import select_few
from tests.numbers.properties.predictions import RANKS, assert_equal, evaluate

ROWS = 600
SCORES = {
    "distinct": lambda rng: rng.random(ROWS),
    "tied in pairs": lambda rng: rng.integers(0, ROWS // 2, ROWS) / ROWS,
    "nearer than a cell": lambda rng: 0.9 + 1e-16 * rng.integers(0, 8, ROWS),
    "1e-12 apart": lambda rng: 0.5 + 1e-12 * rng.integers(0, 99, ROWS),
    "in one cell": lambda rng: np.where(np.arange(ROWS) < 1, 1e300, rng.random(ROWS)),
    "smallest": lambda rng: 5e-324 * rng.integers(0, 99, ROWS),
    "greatest": lambda rng: 1.7e308 * rng.choice([-1, 1], ROWS) * rng.random(ROWS),
    "of both signs": lambda rng: rng.normal(0, 5, ROWS),
    "zeros of both signs": lambda rng: rng.choice([-0.0, 0.0, 0.5], ROWS),
    "one value": lambda rng: rng.choice([0.3], ROWS),
    "infinite": lambda rng: np.where(
        rng.random(ROWS) < 0.1, rng.choice([-np.inf, np.inf], ROWS), rng.random(ROWS)
    ),
    "not numbers": lambda rng: np.where(rng.random(ROWS) < 0.1, np.nan, rng.random(ROWS)),
    "long integers": lambda rng: 2**62 + rng.integers(0, 99, ROWS),
    "decimals": lambda rng: np.array(
        [Decimal(int(one)).scaleb(-9) for one in rng.integers(-(10**12), 10**12, ROWS)]
    ),
    "floats": lambda rng: rng.random(ROWS).astype(np.float32),
}


@pytest.mark.slow
@pytest.mark.parametrize("share", select_few([0.5, 0.01, 0.99], (0.5,)))
@pytest.mark.parametrize(
    "scores", select_few(SCORES, ("tied in pairs", "nearer than a cell", "not numbers"))
)
def test_integer_sort_is_as_rank(scores, share):
    """Of all rows and of groups, one of which is of one class, with scores that are NULL."""
    rng = np.random.default_rng(9)
    group = rng.choice(["a", "b", None, "positives"], ROWS)
    label = np.where(group == "positives", 1, (rng.random(ROWS) < share).astype(int))
    score = pa.array(SCORES[scores](rng), mask=rng.random(ROWS) < 0.02)
    table = pa.table(
        {"label": label, "score": score, "query_id": rng.integers(0, 5, ROWS), "group": group}
    )
    packed, ranked = (
        evaluate(RANKS, table, by=[["group"], []], check="off", plan={"score_order": order})
        for order in ("integer_sort", "rank")
    )
    assert_equal(packed, ranked)


@pytest.mark.slow
@pytest.mark.parametrize("scores", select_few(SCORES, ("tied in pairs", "of both signs")))
def test_integer_sort_is_as_distinct_where_rows_have_weights(scores):
    """Weights of 0, and light ones beside heavy ones at either end, of all rows and of groups."""
    rng = np.random.default_rng(12)
    score = pa.array(SCORES[scores](rng), mask=rng.random(ROWS) < 0.02)
    group = rng.choice(["a", "b", None, "positives"], ROWS)
    label = np.where(group == "positives", 1, rng.integers(0, 2, ROWS))
    weight = rng.choice([0.0, 1e-3, 0.3, 1.0, 7.5, 1e9], ROWS)
    table = pa.table(
        {
            "label": label,
            "score": score,
            "weight": weight,
            "query_id": rng.integers(0, 5, ROWS),
            "group": group,
        }
    )
    packed, usual = (
        evaluate(RANKS, table, by=[["group"], []], check="off", plan={"score_order": order})
        for order in ("integer_sort", "distinct")
    )
    assert_equal(packed, usual)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_order_is_preserved_whatever_the_threads_and_the_order_of_rows(weighted):
    """Running counts see sorted rows for any threads and row order; KS, a maximum, is bitwise
    equal.
    """
    rng = np.random.default_rng(13)
    rows = 400_000
    columns = {
        "label": rng.integers(0, 2, rows),
        "score": rng.random(rows),
        **({"weight": rng.random(rows)} if weighted else {}),
    }
    found = set()
    for threads in (1, 4):
        for is_kept in (True, False):
            with duckdb.connect(
                config={"threads": threads, "preserve_insertion_order": is_kept}
            ) as connection:
                place = rng.permutation(rows)
                table = pa.table({name: column[place] for name, column in columns.items()})
                result = sqlrank.evaluate(
                    ["AUC", "KS"],
                    predictions=table,
                    connection=connection,
                    plan={"score_order": "integer_sort"},
                )
                found.add(result["KS"][0].as_py())
                usual = sqlrank.evaluate(
                    "AUC", predictions=table, connection=connection, plan={"score_order": "window"}
                )
                assert result["AUC"][0].as_py() == pytest.approx(usual["AUC"][0].as_py(), rel=1e-12)
    assert len(found) == 1


@pytest.mark.slow
def test_it_is_taken_for_many_scores_that_are_hardly_tied():
    rng = np.random.default_rng(10)
    label = rng.integers(0, 2, 100_000)
    scores = {
        "integer_sort": rng.random(100_000),
        "rank": rng.integers(0, 10**7, 100_000),
        "distinct": rng.integers(0, 9, 100_000),
    }
    for order, score in scores.items():
        table = pa.table({"label": label, "score": score})
        assert (
            sqlrank.evaluate("AUC", predictions=table)
            .schema.metadata[b"sqlrank.score_order"]
            .decode()
            == order
        )
        for least, sorted_by in ((1e-9, "integer_sort"), (1e-11, "window")):
            weighted = table.append_column("weight", pa.array(least + rng.integers(0, 9, 100_000)))
            taken = (
                sqlrank.evaluate("AUC", predictions=weighted)
                .schema.metadata[b"sqlrank.score_order"]
                .decode()
            )
            assert taken == (
                "distinct"
                if order == "distinct"
                else sorted_by
                if order == "integer_sort"
                else "window"
            )
    weighted = table.append_column("weight", pa.array(rng.random(100_000))).set_column(
        1, "score", pa.array(scores["integer_sort"])
    )
    for number, order in ((1_000, "integer_sort"), (50_000, "window")):
        grouped = weighted.append_column("shop", pa.array(rng.integers(0, number, 100_000)))
        assert (
            sqlrank.evaluate("AUC", predictions=grouped, by="shop")
            .schema.metadata[b"sqlrank.score_order"]
            .decode()
            == order
        )
    bounded = sqlrank.evaluate("AUC", predictions=weighted, confidence=0.9)
    assert bounded.schema.metadata[b"sqlrank.score_order"].decode() == "window"


def test_scores_are_grouped_where_they_repeat():
    """In all rows, though few of a sample are equal; by group; and in the replicates of few rows."""
    rng = np.random.default_rng(14)

    def find_order(rows, num_scores, num_groups=1, **options):
        columns = {
            "label": rng.integers(0, 2, rows),
            "score": rng.integers(0, num_scores, rows) / num_scores,
            "shop": rng.integers(0, num_groups, rows),
            "row": np.arange(rows),
        }
        found = sqlrank.evaluate("AUC", predictions=pa.table(columns), check="off", **options)
        return found.schema.metadata[b"sqlrank.score_order"].decode()

    assert find_order(300_000, 30_000) == "distinct"  # 29 % of a sample
    assert find_order(300_000, 200_000) == "rank"
    assert find_order(120_000, 60, 1_000, by="shop") == "rank"
    assert find_order(300_000, 20, 1_000, by="shop") == "distinct"
    bootstrap = {"confidence": 0.9, "interval": "bootstrap", "unit": "row", "replicates": 99}
    assert find_order(500, 100, **bootstrap) == "distinct"
    assert find_order(500, 10**9, **bootstrap) == "window"


@pytest.mark.slow
def test_scores_that_repeat_are_looked_up_by_units():
    """Units of several rows look up the influence of a row on an area by its score: for few scores
    faster than by another sort.
    """
    rng, size = np.random.default_rng(11), 30_000  # smaller inputs are not looked at
    label, user = rng.integers(0, 2, size), rng.integers(0, 99, size)
    for order, scores in {
        "distinct": rng.integers(0, 500, size),
        "window": np.arange(size),
    }.items():
        table = pa.table(
            {"label": label, "score": scores, "other": scores[::-1].copy(), "user": user}
        )
        found = sqlrank.evaluate("AUC", predictions=table, confidence=0.9, unit="user")
        assert found.schema.metadata[b"sqlrank.score_order"].decode() == order
        compared = sqlrank.compare("AUC", predictions=table, columns={"score": ["score", "other"]})
        assert f"order={order}" in compared.schema.metadata[b"sqlrank.sql"].decode()


@pytest.mark.parametrize("weights", [{}, {"weight": [0.5, 2.0] * 300}])
def test_rows_that_leave_their_order_are_an_error(weights):
    """Running sums rely on DuckDB, which must not reorder sorted rows."""
    rng = np.random.default_rng(3)
    predictions = pa.table(
        {"label": rng.integers(0, 2, ROWS), "score": rng.random(ROWS), **weights}
    )
    with duckdb.connect() as connection:
        connection.register("predictions", predictions)
        found = sqlrank.evaluate(
            "AUC",
            predictions="predictions",
            connection=connection,
            plan={"score_order": "integer_sort"},
        )
        text = found.schema.metadata[b"sqlrank.sql"].decode()
        assert connection.execute(text).fetchall()[0][0] == found["AUC"][0].as_py()
        with pytest.raises(
            duckdb.ConversionException,
            match="DuckDB did not keep the order that rows were sorted in",
        ):
            connection.execute(
                text.replace("ORDER BY key_high, key_low", "ORDER BY HASH(key_high), key_low")
            ).fetchall()


@pytest.mark.parametrize("weight", [1e12, 1e-14])
def test_weights_that_no_integer_holds_are_refused(weight):
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "label": rng.integers(0, 2, ROWS),
            "score": rng.random(ROWS),
            "weight": np.full(ROWS, weight),
        }
    )
    message = (
        "score_order='integer_sort' is for weights of 0, or of 1e-10 and more, and 1e\\+13 in all."
        " Choose window or distinct"
    )
    with pytest.raises(sqlrank.MetricError, match=message):
        sqlrank.evaluate("AUC", predictions=table, plan={"score_order": "integer_sort"})
    found = sqlrank.evaluate("AUC", predictions=table)["AUC"][0].as_py()
    assert found == pytest.approx(
        sqlrank.evaluate("AUC", predictions=table.drop_columns("weight"))["AUC"][0].as_py(),
        rel=1e-12,
    )


@pytest.mark.parametrize(("share", "kind"), [(0.1, bool), (0.005, int)])
def test_weighted_predictions_are_sorted_as_integers(share, kind):
    rng = np.random.default_rng(8)
    rows = 100_000
    table = pa.table(
        {
            "label": (rng.random(rows) < share).astype(kind),
            "score": rng.random(rows),
            "weight": rng.random(rows) + 0.5,
        }
    )
    found = sqlrank.evaluate("AUC", predictions=table)
    assert found.schema.metadata[b"sqlrank.score_order"] == b"integer_sort"
    assert found["AUC"][0].as_py() == pytest.approx(
        sqlrank.evaluate("AUC", predictions=table, plan={"score_order": "distinct"})["AUC"][
            0
        ].as_py(),
        rel=1e-12,
    )


@pytest.mark.slow
@pytest.mark.parametrize("order", ["window", "integer_sort"])
def test_a_long_tail_without_positives_takes_no_longer(order):
    """A window that looks back for the last positive, row by row, took seventy times as long."""
    rng = np.random.default_rng(15)
    rows = 600_000
    score, weight = rng.random(rows), rng.random(rows)
    seconds = {}
    for name, label in {"spread": rng.random(rows) < 0.001, "on top": score > 0.999}.items():
        table = pa.table({"label": label, "score": score, "weight": weight})
        started = time.process_time()
        sqlrank.evaluate("AUC", predictions=table, check="off", plan={"score_order": order})
        seconds[name] = time.process_time() - started
    assert seconds["on top"] < 3 * seconds["spread"]
