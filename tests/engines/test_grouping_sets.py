"""Groups whose column is NULL, groupings, some queries, rows that policies leave out, and
intervals, on every engine with DuckDB's rows.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank import MetricError
from tests.engines.engines import ENGINES, Engine
from tests.engines.running import parametrize_engines, run_engine
from tests.tables import build_table

ROWS = [
    (
        system,
        f"q{query}",
        f"d{doc}",
        (query * 7 + doc * 5 + number) % 11 / 16,
        (query + doc * doc) % 3 // 2,
    )
    for number, system in enumerate(["x", None, "y"])
    for query in range(5)
    for doc in range(4)
]
RANKED = pa.table(
    dict(
        zip(
            ["system", "query_id", "doc_id", "score", "label"],
            map(list, zip(*ROWS, strict=True)),
            strict=True,
        )
    )
)
RUN = RANKED.drop_columns(["label"])
QRELS = (
    RANKED.slice(0, 20)
    .select(["query_id", "doc_id", "label"])
    .rename_columns(["query_id", "doc_id", "relevance"])
)
QUERIES = build_table(query_id=[f"q{query}" for query in range(5)], country="de NULL fr NULL de")
UNTIDY_RUN = build_table(
    query_id=["q1"] * 4 + ["q2"] * 3, doc_id="a a b c b d d", score="0.2 0.9 0.5 NULL 0.4 0.8 0.8"
)
UNTIDY_QRELS = build_table(query_id="q1 q1 q2 q2 q2", doc_id="a c b b d", relevance="1 1 0 2 NULL")
UNTIDY = build_table(shop="x x x y", label="1 0 NULL 1", score="0.9 0.4 0.5 NULL")
SPLIT_ROWS = build_table(
    user_id="1 1 2 2 3 4 4",
    item_id="10 11 10 12 13 11 10",
    happened_at="1 5 2 6 3 7 9",
    split="train test train test train train test",
    shop="x y x x y y y",
)
TABLES = {
    "parts": SPLIT_ROWS,
    "shown": RANKED,
    "scored": RANKED.drop_columns(["query_id", "doc_id"]),
    "run": RUN,
    "qrels": QRELS,
    "queries": QUERIES,
    "few_queries": QUERIES.slice(0, 3),
    "untidy_run": UNTIDY_RUN,
    "untidy_qrels": UNTIDY_QRELS,
    "untidy": UNTIDY,
}
RANKINGS = {"run": "run", "qrels": "qrels"}
CALLS = {
    "systems": (["nDCG@3", "AP", "num_ret"], {**RANKINGS, "by": "system"}),
    "systems in slices": (["nDCG@3", "AP", "num_shown@2"], {**RANKINGS, "by": [["system"], []]}),
    "what is known of queries": (
        ["AP", "num_lists"],
        {**RANKINGS, "queries": "queries", "by": [["system", "queries.country"], []]},
    ),
    "per query": (["AP"], {**RANKINGS, "by": "system", "per_query": True}),
    "labels": (["AP"], {"predictions": "shown", "by": [["system"], []]}),
    "predictions": (
        ["AUC", "LogLoss", "AUC(level=query)"],
        {"predictions": "shown", "by": [["system"], []]},
    ),
    "cut-offs": (["P@1..3"], {**RANKINGS, "by": [["system"], []]}),
    "some queries": (["AP", "num_q"], {**RANKINGS, "queries": "few_queries", "by": "system"}),
    "some queries of labels": (
        ["AP", "AUC"],
        {"predictions": "shown", "queries": "few_queries", "by": "system"},
    ),
    "duplicates and NULLs": (
        ["AP", "num_ret", "num_duplicates", "num_dropped"],
        {
            "run": "untidy_run",
            "qrels": "untidy_qrels",
            "duplicates": "max",
            "nulls": "drop",
            "per_query": True,
        },
    ),
    "NULLs of predictions": (
        ["AUC", "num_predictions", "num_predictions_dropped"],
        {"predictions": "untidy", "nulls": "drop", "by": "shop"},
    ),
    "what leaks": (
        [
            "num_train",
            "num_shared_users",
            "num_cold_items",
            "num_repeated",
            "num_future_users",
            "num_future_rows",
        ],
        {"inputs": {"splits": "parts"}, "by": "shop"},
    ),
    "intervals of rankings": (
        ["nDCG@3", "DCG@3", "num_ret"],
        {**RANKINGS, "by": "system", "confidence": 0.95},
    ),
    "intervals of queries without a value": (
        ["AP", "RR"],
        {**RANKINGS, "by": "system", "if_undefined": "skip", "confidence": 0.99},
    ),
    "intervals of rows": (
        ["LogLoss", "Brier", "R2", "AUC"],
        {"predictions": "scored", "by": "system", "confidence": 0.9},
    ),
    "intervals of users": (
        ["LogLoss", "Brier", "GAUC", "RMSE"],
        {
            "predictions": "shown",
            "columns": {"query_id": '"query_id"'},
            "by": "system",
            "confidence": 0.9,
        },
    ),
    "intervals of an order": (
        ["AUC", "Gini", "APS", "Precision", "MCC"],
        {
            "predictions": "scored",
            "by": "system",
            "confidence": 0.95,
            "plan": {"score_order": "window"},
        },
    ),
    "intervals of an order in buckets": (
        ["AUC", "APS"],
        {
            "predictions": "scored",
            "by": "system",
            "confidence": 0.95,
            "plan": {"score_order": "buckets"},
        },
    ),
    "intervals of an order by users": (
        ["AUC", "LiftQuality", "APS", "FBeta", "Brier"],
        {"predictions": "shown", "by": "system", "confidence": 0.95, "unit": "query_id"},
    ),
    "intervals of a mean over queries": (
        ["Brier", "LogLoss"],
        {"predictions": "shown", "by": "system", "level": "query", "confidence": 0.95},
    ),
    "intervals of queries drawn anew": (
        ["nDCG@3", "RR", "num_ret"],
        {**RANKINGS, "by": "system", "confidence": 0.95, "interval": "bootstrap", "replicates": 99},
    ),
    "intervals of groupings": (
        ["LogLoss", "AUC"],
        {"predictions": "scored", "by": [["system"], []], "confidence": 0.9},
    ),
    "intervals of groupings drawn anew": (
        ["RR"],
        {
            **RANKINGS,
            "by": [["system"], []],
            "confidence": 0.9,
            "interval": "bootstrap",
            "replicates": 99,
        },
    ),
    "intervals of rows drawn anew": (
        ["KS", "AUC", "LogLoss"],
        {
            "predictions": "shown",
            "by": "system",
            "confidence": 0.9,
            "interval": "bootstrap",
            "replicates": 99,
            "unit": "query_id",
        },
    ),
}


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(request.param, TABLES) as engine:
        yield engine


@pytest.mark.one_in(3)
@pytest.mark.parametrize("engine", parametrize_engines(ENGINES), indirect=True)
@pytest.mark.parametrize("name", CALLS)
def test_rows_are_those_of_duckdb(name, engine):
    metrics, options = CALLS[name]
    given = {
        role: TABLES[source] if isinstance(source, str) and source in TABLES else source
        for role, source in options.items()
    }
    if "inputs" in given:
        given["inputs"] = {role: TABLES[source] for role, source in given["inputs"].items()}
    if "by" in given:
        given["by"] = strip_prefixes(given["by"])
    expected = [list(row.values()) for row in sqlrank.evaluate(metrics, **given).to_pylist()]
    names = {name: quote_columns(options[name]) for name in ("by", "unit") if name in options}
    if options.get("interval") == "bootstrap" and engine.dialects[0] == "sqlite":
        with pytest.raises(MetricError, match="sqlite has no MD5"):
            sqlrank.sql(metrics, dialect="sqlite", **options)
        return
    rows = engine.rows(sqlrank.sql(metrics, dialect=engine.dialects[0], **{**options, **names}))
    assert len(rows) == len(expected) > 1
    for found, row in zip(rows, expected, strict=True):
        assert [
            float(value) if isinstance(wanted, float) else value
            for value, wanted in zip(found, row, strict=True)
        ] == pytest.approx(row, rel=1e-9, abs=1e-9)


def quote_columns(by: Any) -> Any:
    """Put names in quotes, since Databend has them in small letters."""
    if not isinstance(by, str):
        return [quote_columns(name) for name in by]
    role, dot, column = by.rpartition(".")
    return f'{role}{dot}"{column}"'


def strip_prefixes(by: Any) -> Any:
    return by.rpartition(".")[2] if isinstance(by, str) else [strip_prefixes(name) for name in by]
