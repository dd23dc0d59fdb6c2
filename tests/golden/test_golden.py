"""Printed statements as whole texts, to be read: ``pytest tests/golden --rewrite-golden`` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlrank

GOLDEN = Path(__file__).parent
DIALECTS = ("duckdb", "bigquery", "snowflake", "spark", "postgres")
SCENARIOS = {
    "rankings": (
        ["nDCG@10", "AP", "RR"],
        {
            "run": "shop.eval.recommended",
            "qrels": "shop.eval.bought",
            "queries": "shop.eval.users",
            "columns": {"query_id": "user_id", "doc_id": "item_id", "score": "predicted", "relevance": "stars", "weight": "revenue"},
            "by": "model",
            "where": "run.day = '2026-01-01' AND qrels.day = '2026-01-01'",
            "aggregate": "wmean",
        },
    ),
    "predictions": (
        ["AUC", "APS", "LogLoss"],
        {
            "predictions": "shop.ads.impressions",
            "columns": {"label": "click", "score": "p_click", "weight": "1 / propensity"},
            "by": "campaign",
            "where": "day = '2026-01-01'",
            "create_table": "shop.ads.daily_metrics",
        },
    ),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_statements_are_as_they_were_read(dialect: str, scenario: str, pytestconfig: pytest.Config) -> None:
    metrics, options = SCENARIOS[scenario]
    text = sqlrank.sql(metrics, dialect=dialect, **options) + ";\n"
    path = GOLDEN / f"{scenario}_{dialect}.sql"
    if pytestconfig.getoption("--rewrite-golden"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text, "if the change is meant, read what --rewrite-golden writes"
