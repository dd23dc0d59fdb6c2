"""CREATE and INSERT statements, run by the engines themselves, store DuckDB's rows under a
filter.
"""

from collections.abc import Iterator

import duckdb
import pytest

import sqlrank
from tests.engines.engines import ENGINES, Engine, ZetaSQL
from tests.engines.running import parametrize_engines, run_engine
from tests.engines.scenarios import make_tables

PREDICTIONS = {
    "predictions": "predictions",
    "columns": {"weight": "weight"},
    "by": '"shop"',
    "where": '"rank" < 100 AND NOT "shop" IN (3)',
}
RANKINGS = {
    "run": "run",
    "qrels": "qrels",
    "by": '"system"',
    "where": 'run."score" > 0.5 AND qrels."relevance" >= 0',
}


@pytest.fixture(
    scope="module",
    params=parametrize_engines(engine for engine in ENGINES if engine is not ZetaSQL),
)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """All engines but the one that keeps no tables."""
    with run_engine(
        request.param, {name: make_tables()[name] for name in ("run", "qrels", "predictions")}
    ) as engine:
        yield engine


@pytest.fixture(scope="module")
def expected() -> dict[str, list[tuple[object, ...]]]:
    with duckdb.connect() as connection:
        for name, table in make_tables().items():
            connection.from_arrow(table).create(f'"{name}"')
        results = {
            "predictions": sqlrank.evaluate(
                ["AUC", "LogLoss"], connection=connection, **{**PREDICTIONS, "by": "shop"}
            ),
            "rankings": sqlrank.evaluate(
                ["nDCG@3", "num_ret"], connection=connection, **{**RANKINGS, "by": "system"}
            ),
        }
    return {
        name: [tuple(row.values()) for row in result.to_pylist()]
        for name, result in results.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "metrics", "options"),
    [
        ("predictions", ["AUC", "LogLoss"], PREDICTIONS),
        ("rankings", ["nDCG@3", "num_ret"], RANKINGS),
    ],
)
def test_results_are_stored(engine, expected, kind, metrics, options):
    wanted = expected[kind]
    assert len(wanted) > 1
    (dialect, *_) = engine.dialects
    if dialect in {"spark", "clickhouse"}:
        options = {**options, "where": options["where"].replace('"', "`")}
    table, view = f"{kind}_metrics", f"{kind}_view"
    engine.execute(sqlrank.sql(metrics, dialect=dialect, create_table=table, **options))
    if (
        type(engine).__name__ != "Spark"
    ):  # a view of Spark outside a session does not read what is inside one
        engine.execute(sqlrank.sql(metrics, dialect=dialect, create_view=view, **options))
        assert_rows(engine, view, dialect, wanted)
    assert_rows(engine, table, dialect, wanted)
    engine.execute(sqlrank.sql(metrics, dialect=dialect, insert=table, **options))
    assert_rows(engine, table, dialect, [row for row in wanted for _ in range(2)])


def assert_rows(engine: Engine, table: str, dialect: str, wanted: list[tuple[object, ...]]) -> None:
    quote = "`" if dialect == "spark" else '"'
    key = {True: "shop", False: "system"}[table.startswith("predictions")]
    rows = engine.rows(f"SELECT * FROM {table} ORDER BY {quote}{key}{quote} NULLS FIRST")
    assert len(rows) == len(wanted)
    for got, row in zip(rows, wanted, strict=True):
        assert tuple(got) == tuple(
            pytest.approx(value, rel=1e-9) if isinstance(value, float) else value for value in row
        )
