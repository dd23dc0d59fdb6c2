"""Names of variables that users of other tools have, for the catalogue of their first attempts."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sqlrank
from tests.tables import build_table

Y_TRUE, Y_SCORE = np.array([0, 1, 1, 0]), np.array([0.1, 0.7, 0.4, 0.5])
TABLE = build_table(label=Y_TRUE, score=Y_SCORE, campaign="a a b b", w="1.0 2.0 1.0 1.0")
DAILY = TABLE.append_column("day", pa.array(["2026-01-01", "2026-01-02"] * 2))
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d3": 1}}
RUN = {"q1": {"d1": 0.5, "d2": 0.7}, "q2": {"d1": 0.2, "d3": 0.1}}
HALF_NDCG = 1 / math.log2(3)

NAMES = {
    "sqlrank": sqlrank,
    **{name: getattr(sqlrank, name) for name in sqlrank.__all__},
    **dict.fromkeys(("predictions", "data", "df", "prediction", "table"), TABLE),
    **dict.fromkeys(("y_true", "target", "label"), Y_TRUE),
    **dict.fromkeys(("y_score", "y_pred", "y_prob", "preds", "score"), Y_SCORE),
    "daily": DAILY,
    "frame": pd.DataFrame({"y_true": Y_TRUE, "y_score": Y_SCORE}),
    "sample_weight": TABLE["w"].to_numpy(),
    "np": np,
    "pa": pa,
    "rows": TABLE.to_pylist(),
    "indexes": np.array([0, 0, 1, 1]),
    "qrels": QRELS,
    "qrel": QRELS,
    "run": RUN,
    "runs": {
        "one": RUN,
        "two": {query: {doc: -value for doc, value in docs.items()} for query, docs in RUN.items()},
    },
    "reco": RUN,
    "interactions": QRELS,
    "history": build_table(query_id="q1", doc_id="d1"),
}


def expect_value(result: pa.Table, expected: float) -> None:
    """Assert that the first value of a result is a number."""
    column = next(column for column in result.columns if pa.types.is_floating(column.type))
    assert column[0].as_py() == pytest.approx(expected)
