"""Distribution of rows over the buckets of a bucketed order."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from tests.lanes import select_few
from tests.numbers.properties.predictions import evaluate

pytestmark = pytest.mark.slow


ROWS = 200_000
SPREADS = {
    "beta": lambda rng: rng.beta(0.1, 20, ROWS),
    "uniform": lambda rng: rng.random(ROWS),
    "one value": lambda rng: np.where(rng.random(ROWS) < 0.99, 0.37, rng.random(ROWS)),
    "near 1": lambda rng: 1 - rng.beta(0.1, 20, ROWS),
    "logits": lambda rng: rng.normal(0, 5, ROWS),
    "times": lambda rng: 1.7e9 + rng.integers(0, 10**6, ROWS),
    "a pile": lambda rng: np.where(
        rng.random(ROWS) < 0.999, 0.5 + 1e-9 * rng.random(ROWS), rng.random(ROWS)
    ),
    "a pile among near ones": lambda rng: (
        0.5 + np.where(rng.random(ROWS) < 0.999, 1e-9, 1e-5) * rng.random(ROWS)
    ),
    "outliers": lambda rng: np.where(
        rng.random(ROWS) < 0.999, rng.random(ROWS), 1e30 * rng.normal(0, 1, ROWS)
    ),
}


@pytest.mark.parametrize("merging", select_few(["after_bucketing", "before_bucketing"], 1))
@pytest.mark.parametrize("spread", select_few(SPREADS, ("beta", "a pile")))
def test_no_bucket_is_large(spread, merging):
    """No bucket in which there is something to order holds 1 % of the rows, unless they all have
    one score.
    """
    rng = np.random.default_rng(8)
    table = pa.table({"label": (rng.random(ROWS) < 0.1).astype(int), "score": SPREADS[spread](rng)})
    with duckdb.connect() as connection:
        connection.register("p", table)
        metrics = [
            "AUC",
            "ECE(binning=equal_mass)",
        ]  # which reads the number of rows of a bucket, too
        text = sqlrank.sql(
            metrics,
            predictions="p",
            connection=connection,
            plan={"score_order": "buckets", "bucket_aggregation": merging},
        )
        statement = sqlglot.parse_one(text, read="duckdb")
        (bucketed,) = (cte.this for cte in statement.ctes if cte.alias == "bucketed_scores")
        # A row each, before they are added up
        is_merged = "positive_rows" in bucketed.named_selects
        num_rows = "SUM(positive_rows + negative_rows)" if is_merged else "COUNT(*)"
        counted = (
            exp.select(
                "bucket",
                f"{num_rows} AS bucket_rows",
                "COUNT(DISTINCT score) AS scores",
                "SUM(positives) AS positives",
            )
            .from_("bucketed_scores")
            .group_by("bucket")
        )
        for cte in statement.ctes:
            counted = counted.with_(cte.alias, as_=cte.this)
        found = connection.sql(counted.sql("duckdb")).fetchall()
        expected_auc = evaluate(["AUC"], table, plan={"score_order": "distinct"})[0]["AUC"]
        assert connection.sql(text).fetchall()[0][0] == pytest.approx(expected_auc, abs=1e-12)
    assert sum(row[1] for row in found) == ROWS
    assert max(scores for _, _, scores, positives in found if positives) <= ROWS / 100
    assert all(
        rows < ROWS / 100 or scores == 1 for _, rows, scores, positives in found if positives
    )
