"""Scripts that overwrite the rows of groups, run twice by the engines themselves."""

from collections.abc import Iterator

import pytest

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.engines import ENGINES, Engine, Spark, SQLite, ZetaSQL
from tests.engines.running import parametrize_engines, run_engine
from tests.engines.scenarios import make_tables

PREDICTIONS = {"predictions": "predictions", "columns": {"weight": "weight"}, "by": '"shop"'}


@pytest.fixture(
    scope="module",
    params=parametrize_engines(
        engine
        for engine in ENGINES
        if engine not in {ZetaSQL, Spark} and DIALECTS[engine.dialects[0]].supports_delete
    ),
)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """All engines that keep tables and delete rows; those of Spark need a format which is not
    installed here.
    """
    with run_engine(request.param, {"predictions": make_tables()["predictions"]}) as engine:
        yield engine


def test_a_rerun_doubles_nothing(engine):
    (dialect, *_) = engine.dialects
    quote = "`" if dialect == "clickhouse" else '"'
    engine.execute(
        sqlrank.sql(
            ["Brier", "num_predictions"], dialect=dialect, create_table="replaced", **PREDICTIONS
        )
    )
    before = engine.rows(f"SELECT * FROM replaced ORDER BY {quote}shop{quote} NULLS FIRST")
    where = f"NOT {quote}shop{quote} IN (3) OR {quote}shop{quote} IS NULL"
    script = sqlrank.sql(
        ["Brier", "num_predictions"],
        dialect=dialect,
        insert="replaced",
        overwrite_by='"shop"',
        where=where,
        **PREDICTIONS,
    )
    if isinstance(engine, SQLite):
        engine.connection.commit()  # Python has begun a transaction to load the rows
    for _ in range(2):
        for part in script.split(";\n"):
            engine.execute(part)
        assert (
            engine.rows(f"SELECT * FROM replaced ORDER BY {quote}shop{quote} NULLS FIRST") == before
        )
