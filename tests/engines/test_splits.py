"""Splits with cold-start and leakage filters, and by exact shares of keys, on every engine, as
printed, with DuckDB's rows.
"""

from collections.abc import Iterator

import pytest

import sqlrank
from tests.analyses.test_split_filters import draw_events
from tests.engines.engines import ENGINES, Engine, SQLite
from tests.engines.running import parametrize_engines, run_engine

CALLS = {
    "time": {
        "time": "happened_at",
        "time_bounds": [100],
        "user": "user_id",
        "item": "item_id",
        "cold_start": "drop",
        "seen_pairs": "drop",
    },
    "time_share": {"time": "happened_at", "shares": {"train": 0.6, "test": 0.3, "rest": 0.1}},
    "exact": {
        "key": "user_id",
        "salt": "ab",
        "shares": {"train": 0.5, "test": 0.3, "rest": 0.2},
        "exact": True,
    },
    "expanding": {
        "time": "happened_at",
        "time_bounds": [60, 120],
        "expanding": True,
        "user": "user_id",
        "cold_start": "drop_users",
    },
}


@pytest.fixture(scope="module", params=parametrize_engines(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(request.param, {"ratings": draw_events(1)}) as engine:
        yield engine


@pytest.mark.parametrize("name", CALLS)
def test_rows_are_those_of_duckdb(name, engine):
    expected = sorted(
        tuple(row.values()) for row in sqlrank.split(draw_events(1), **CALLS[name]).to_pylist()
    )
    # In quotes, since Databend makes names capitals that have none.
    asked = {
        option: f'"{value}"' if option in {"key", "time", "user", "item"} else value
        for option, value in CALLS[name].items()
    }
    if isinstance(engine, SQLite):
        # It has no MD5, which a connection is given, and a text is not.
        rows = [
            tuple(row.values())
            for row in sqlrank.split(
                "ratings", connection=engine.connection, **CALLS[name]
            ).to_pylist()
        ]
    else:
        rows = engine.rows(sqlrank.split_sql("ratings", dialect=engine.dialects[0], **asked))
    assert sorted(rows) == expected
