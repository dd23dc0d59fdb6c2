"""Statements of many metrics are planned in little time, and their plans do not grow faster than
their text.
"""

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import sqlrank
from sqlrank.errors import SqlrankError
from sqlrank.registry.loader import load_registry
from tests.engines.engines import PostgreSQL
from tests.tables import build_table
from website.examples import OPTIONS, ROOT, TABLES, choose_table, format_metric, list_roles

MOST_SECONDS, MOST_GROWTH, BASE_SIZE = 0.5, 20, 20_000
"""Processor time for planning, and characters of a plan in JSON: so many times those of the
statement, beside what every plan has.
"""

JIT_COST = 100_000
"""Cost from which PostgreSQL compiles a statement, by its default of ``jit_above_cost``."""

RANKINGS = ["DCG@10", "nDCG@10", "AP", "RR", "P@5", "P@10", "R@5", "P@3"]
RUN = build_table(query_id="a a b", doc_id="x y x", score="2.0 1.0 1.0")
QRELS = build_table(query_id="a b", doc_id="x x", relevance="1 1")
PREDICTIONS = build_table(label="1 0 1 0", score="0.9 0.2 0.4 0.5")


def plan(connection: duckdb.DuckDBPyConnection, text: str) -> tuple[int, float]:
    """Return the size of DuckDB's plan, and the processor time that planning takes."""
    start = time.process_time()
    plans = connection.execute(f"EXPLAIN (FORMAT JSON) {text}").fetchall()
    return len(json.dumps(json.loads(plans[0][1]))), time.process_time() - start


def assert_planned(connection: duckdb.DuckDBPyConnection, text: str, name: str = "") -> None:
    size, seconds = plan(connection, text)
    assert size <= BASE_SIZE + MOST_GROWTH * len(text), name
    assert seconds < MOST_SECONDS or plan(connection, text)[1] < MOST_SECONDS, (
        name
    )  # the second time is without noise


@pytest.mark.parametrize("count", [6, 8])
def test_intervals_of_several_ranking_metrics_are_planned_at_once(count):
    connection = duckdb.connect()
    connection.register("run", RUN)
    connection.register("qrels", QRELS)
    assert_planned(
        connection,
        sqlrank.sql(
            RANKINGS[:count], run="run", qrels="qrels", connection=connection, confidence=0.95
        ),
    )


def test_only_steps_that_grow_are_materialized():
    sources = {"run": "run", "qrels": "qrels"}
    assert " AS MATERIALIZED" not in sqlrank.sql(RANKINGS, dialect="duckdb", **sources)
    assert (
        sqlrank.sql(RANKINGS, dialect="duckdb", confidence=0.95, **sources).count(
            " AS MATERIALIZED"
        )
        == 3
    )
    assert " AS MATERIALIZED" not in sqlrank.sql(
        RANKINGS, dialect="snowflake", confidence=0.95, **sources
    )


def test_rows_of_replicates_are_not_stored():
    """There are 199 times as many as rows; their readers compute them again."""
    text = sqlrank.sql(
        ["LogLoss", "CalibrationSlope"],
        predictions="predictions",
        dialect="duckdb",
        confidence=0.95,
        interval="bootstrap",
        unit="user_id",
    )
    for step in ("replicate_positions", "predictions_rows_resampled", "prediction_logits"):
        assert f" {step} AS NOT MATERIALIZED (" in text


def list_families() -> dict[tuple[tuple[str, str], ...], list[str]]:
    """Return all metrics by the example tables that they read."""
    families = defaultdict(list)
    for file in load_registry().metrics.values():
        families[tuple((role, choose_table(role, file)) for role in list_roles(file))].append(
            format_metric(file)
        )
    return families


def has_interval(metric: str, sources: dict[str, Any]) -> bool:
    try:
        sqlrank.sql(metric, confidence=0.95, **sources)
    except SqlrankError:
        return False
    return True


def list_requests(
    connection: duckdb.DuckDBPyConnection,
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield 1, 6 and 20 metrics of each family, with and without intervals."""
    for tables, metrics in list_families().items():
        further = {role: table for role, table in tables if role not in OPTIONS}
        sources = {
            "connection": connection,
            "inputs": further or None,
            **{role: table for role, table in tables if role in OPTIONS},
        }
        with_intervals = [metric for metric in metrics if has_interval(metric, sources)]
        for names, options in ((metrics, {}), (with_intervals, {"confidence": 0.95})):
            yield from (
                (names[:count], {**sources, **options})
                for count in sorted({min(count, len(names)) for count in (1, 6, 20)} - {0})
            )


@pytest.mark.slow
def test_statements_of_every_family_are_planned_at_once():
    connection = duckdb.connect()
    for path in (ROOT / TABLES).glob("*.csv"):
        connection.execute(f'CREATE TABLE "{path.stem}" AS FROM read_csv(?)', [str(path)])
    sizes = []
    for metrics, call in list_requests(connection):
        assert_planned(
            connection, sqlrank.sql(metrics, **call), f"{metrics} {call.get('confidence')}"
        )
        sizes.append(len(metrics))
    assert len(sizes) > 100
    assert max(sizes) == 20


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    engine = PostgreSQL()
    try:
        for name, table in {"run": RUN, "qrels": QRELS, "predictions": PREDICTIONS}.items():
            engine.load(name, table)
        yield engine
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialect", "most_growth"),
    [
        ("postgres", MOST_GROWTH),
        ("redshift", 3 * MOST_GROWTH),  # EXPLAIN repeats the expressions of steps without a node
    ],
)
def test_plans_of_intervals_do_not_grow_on_postgresql(server, dialect, most_growth):
    """PostgreSQL puts the expressions of each step into the next, and compiles what becomes of
    it.
    """
    server.execute("SET jit_above_cost = 0")
    rankings = {"run": "run", "qrels": "qrels"}
    areas = {"predictions": "predictions"}
    for metrics, sources in ((RANKINGS, rankings), (["AUC", "LogLoss", "KS", "APS"], areas)):
        text = sqlrank.sql(metrics, dialect=dialect, confidence=0.95, **sources)
        (rows,) = server.rows(f"EXPLAIN (VERBOSE, FORMAT JSON) {text}")
        assert len(json.dumps(rows[0])) <= BASE_SIZE + most_growth * len(text)
        assert len(server.rows(text)) == 1


@pytest.mark.slow
def test_overlap_of_many_lists_is_planned_below_the_cost_of_jit(server):
    """A join with all 10,000 depths was planned as one of each list with each."""
    for name, order in (("next", "i % 7"), ("previous", "i % 5")):
        server.execute(f"DROP TABLE IF EXISTS {name}_run")
        server.execute(
            f"CREATE TABLE {name}_run AS SELECT i / 10 AS query_id, i % 10 AS doc_id, {order} AS"
            " score FROM GENERATE_SERIES(0, 19999) AS numbers (i)"
        )
        server.execute(f"ANALYZE {name}_run")
    text = sqlrank.sql(
        ["RBO", "RBOmin"],
        dialect="postgres",
        run="next_run",
        inputs={"baseline": "previous_run"},
    )
    (rows,) = server.rows(f"EXPLAIN (FORMAT JSON) {text}")
    assert rows[0][0]["Plan"]["Total Cost"] < JIT_COST
    (values,) = server.rows(text)
    assert 0 < values[-1] < values[-2] < 1


def list_plan_nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for part in plan.get("Plans", []) for node in list_plan_nodes(part))]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["postgres", "redshift"])
def test_no_join_compares_each_group_with_each_on_postgresql(server, dialect):
    """Joins by IS NOT DISTINCT FROM do: 1,000 groups took 40 times as long as without. Beside a
    comparison of arrays it keeps the cost below that from which the server compiles statements.
    """
    server.execute("DROP TABLE IF EXISTS grouped")
    server.execute(
        "CREATE TABLE grouped AS SELECT NULLIF('c' || i % 2000, 'c7') AS campaign, i % 3 % 2 AS"
        " label, ABS(SIN(i)) AS score FROM GENERATE_SERIES(1, 20000) AS numbers (i)"
    )
    server.execute("ANALYZE grouped")
    call = {"predictions": "grouped", "by": "campaign", "confidence": 0.95}
    text = sqlrank.sql(["AUC", "LogLoss"], dialect=dialect, **call)
    if dialect == "redshift":  # whose text PostgreSQL plans by other estimates
        assert "IS NOT DISTINCT FROM" not in text
        assert text.count("IS NULL AND") * 2 == text.count("COALESCE(CAST(") >= 12
    else:
        (rows,) = server.rows(f"EXPLAIN (FORMAT JSON) {text}")
        assert rows[0][0]["Plan"]["Total Cost"] < JIT_COST
        nodes = list_plan_nodes(rows[0][0]["Plan"])
        assert sum("Hash Cond" in node or "Merge Cond" in node for node in nodes) >= 6
        assert [
            node["Join Filter"]
            for node in nodes
            if node["Node Type"] == "Nested Loop" and "campaign" in node.get("Join Filter", "")
        ] == []
    data = {
        name: [row[place] for row in server.rows("SELECT campaign, label, score FROM grouped")]
        for place, name in enumerate(("campaign", "label", "score"))
    }
    expected = sqlrank.evaluate(["AUC", "LogLoss"], **{**call, "predictions": data})
    given = {row[0]: row[1:] for row in server.rows(text)}
    assert len(given) == 2000
    assert None in given
    for campaign, *values in zip(*expected.to_pydict().values(), strict=True):
        assert given[campaign] == pytest.approx(values, rel=1e-9, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("has_statistics", [False, True])
def test_runs_are_as_many_as_are_named_on_postgresql(server, has_statistics):
    """PostgreSQL takes the names of runs for 200, each with all queries: two runs took ten times as
    long as without jit.
    """
    server.execute("DROP TABLE IF EXISTS old, new, judged")
    server.execute(
        "CREATE TABLE old AS SELECT 'q' || i / 10 AS query_id, 'd' || i * 7 % 50 AS doc_id,"
        " ABS(SIN(i)) AS score FROM GENERATE_SERIES(0, 19999) AS numbers (i)"
    )
    server.execute("CREATE TABLE new AS SELECT query_id, doc_id, COS(score) AS score FROM old")
    server.execute(
        "CREATE TABLE judged AS SELECT 'q' || i / 5 AS query_id, 'd' || i * 3 % 50 AS doc_id, i % 3"
        " AS relevance FROM GENERATE_SERIES(0, 9999) AS numbers (i)"
    )
    if has_statistics:
        server.execute("ANALYZE")
    call = {"run": {"a": "old", "b": "new"}, "qrels": "judged", "confidence": 0.95}
    text = sqlrank.sql(RANKINGS, dialect="postgres", **call)
    assert 'GROUP BY "system" LIMIT 2' in text
    (rows,) = server.rows(f"EXPLAIN (FORMAT JSON) {text}")
    assert rows[0][0]["Plan"]["Total Cost"] < JIT_COST
    assert [row[0] for row in server.rows(text)] == ["a", "b"]
    assert "LIMIT" not in sqlrank.sql(RANKINGS, dialect="postgres", **{**call, "by": "day"})


def test_rows_are_stored_where_postgresql_would_compute_them_again():
    """Each of twelve sums computed the odds of each row, which took four times as long; and where
    rows that are only filtered are stored, the planner no longer knows how many match.
    """
    text = sqlrank.sql("CalibrationSlope", predictions="p", dialect="postgres")
    assert text.count("odds AS MATERIALIZED (") == 1
    assert all(f"odds_{step} AS MATERIALIZED (" in text for step in range(2, 10))
    pairs = {"records": "records", "candidate_pairs": "pairs"}
    for dialect, is_named in (("postgres", True), ("duckdb", False)):
        text = sqlrank.sql("PairsQuality", inputs=pairs, dialect=dialect)
        assert ("labeled_records AS NOT MATERIALIZED (" in text) == is_named


@pytest.mark.slow
@pytest.mark.parametrize("autocommit", [False, True])
def test_a_call_is_not_compiled_on_postgresql(server, autocommit):
    """It took eight times as long with intervals of 8,000 groups."""
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg")
    server.execute(
        "CREATE OR REPLACE VIEW settings AS SELECT 1 AS label,"
        " CASE CURRENT_SETTING('jit') WHEN 'off' THEN 0.25 ELSE 0.75 END AS score"
    )
    with psycopg.connect(server.uri, autocommit=autocommit) as connection:
        for setting in ("on", "off"):
            connection.execute(f"SET jit = {setting}")
            result = sqlrank.evaluate("MAE", predictions="settings", connection=connection)
            assert result.to_pylist() == [{"MAE": 0.75}]
            assert connection.execute("SHOW jit").fetchone() == (setting,)
