"""Sessions load no extensions, and conditions and expressions call no function that reads files, waits or makes many values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.engines.resource_limits import ResourceLimits

if TYPE_CHECKING:
    from pathlib import Path

PREDICTIONS = pa.table({"label": [0, 1, 1], "score": [0.1, 0.7, 0.4], "day": ["2026-01-01", "2026-01-01", "2026-01-02"]})


@pytest.mark.parametrize("limits", [ResourceLimits(), ResourceLimits(threads=1)])
@pytest.mark.parametrize("is_file", [False, True])
def test_sessions_load_no_extensions(is_file: bool, limits: ResourceLimits, tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    duckdb.connect(str(path)).close()
    with duckdb_session(path if is_file else None, limits) as opened:
        settings = "current_setting('autoinstall_known_extensions'), current_setting('autoload_known_extensions')"
        assert opened.execute(f"SELECT {settings}").fetchall() == [(False, False)]


@pytest.mark.parametrize(
    ("source", "extension"),
    [
        ("s3://bucket/x.parquet", "httpfs"),
        ("HTTPS://example.com/x.csv", "httpfs"),
        ("gs://b/*.parquet", "httpfs"),
        ("abfss://x/y.parquet", "azure"),
    ],
)
def test_what_needs_an_extension_says_which(source: str, extension: str) -> None:
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AUC", predictions=source)
    assert str(caught.value) == (
        f"predictions: {source!r} needs the extension {extension} of DuckDB, and sqlrank loads none. Load it on a connection of your own "
        f"(INSTALL {extension}; LOAD {extension}), make a view or a relation there, and give that with connection="
    )


REFUSED = [
    ("length(read_text('/etc/passwd')) > label", "read_text"),
    ("getenv('HOME') = label", "getenv"),
    ("current_setting('threads') > label", "current_setting"),
    ("len(range(100000000)) > label", "RANGE"),
    ("len(generate_series(1, 100000000)) > label", "GENERATE_SERIES"),
    ("length(repeat('x', 1000000000)) > label", "REPEAT"),
    ("lpad('x', 1000000000, 'x') > label", "LPAD"),
    ("random() > label", "RANDOM"),
    ("glob('/*') IS NULL OR label = 1", "glob"),
    ("system.getenv('HOME') = label", "getenv"),
]


@pytest.mark.parametrize(("text", "function"), REFUSED)
def test_harmful_functions_are_refused_by_name(text: str, function: str) -> None:
    message = f"{function} is not among the functions that may be called here. Make a view with a column of it"
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AUC", predictions=PREDICTIONS, where=text)
    assert str(caught.value).startswith(f"where: {message}")
    for call in (sqlrank.evaluate, sqlrank.sql):
        sources: dict[str, Any] = {"predictions": PREDICTIONS if call is sqlrank.evaluate else "clicks"}
        with pytest.raises(InputError) as caught:
            call("AUC", **sources, columns={"score": text})
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("dialect", "text"), [("clickhouse", "sleep(3) = label"), ("postgres", "pg_sleep(3) = label"), ("snowflake", "SYSTEM$WAIT(5) = label")]
)
def test_functions_that_wait_are_refused_for_every_engine(dialect: str, text: str) -> None:
    with pytest.raises(InputError, match="is not among the functions that may be called here"):
        sqlrank.sql("AUC", predictions="clicks", dialect=dialect, where=text)


@pytest.mark.parametrize(
    "text",
    [
        "day IN ('2026-01-01', '2026-01-02')",
        "day BETWEEN '2026-01-01' AND '2026-12-31'",
        "day::DATE >= DATE '2026-01-01' AND NOT (label > 5 OR score IS NULL)",
        "date_trunc('month', day::DATE) = DATE '2026-01-01'",
        "year(day::DATE) = 2026 AND day LIKE '2026%' AND regexp_matches(day, '^2')",
        "lower(day) ILIKE '2026%' AND hash(day) % 2 IN (0, 1)",
        "CASE WHEN label = 1 THEN score ELSE -score END > -1 AND label & 1 IN (0, 1)",
        "day::DATE < now()::DATE + INTERVAL 100000 DAY",
    ],
)
def test_what_conditions_are_written_with_is_allowed(text: str) -> None:
    assert sqlrank.evaluate("AUC", predictions=PREDICTIONS, where=text).to_pylist() == [{"AUC": 1.0}]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("bigquery", "day = @run_date AND MOD(ABS(FARM_FINGERPRINT(day)), 10) < 1"),
        ("bigquery", "DATE(day) = DATE_SUB(CURRENT_DATE(), INTERVAL 1 DAY)"),
        ("snowflake", "day = DATEADD(day, -1, CURRENT_DATE)"),
        ("clickhouse", "toYYYYMM(day) = 202601 AND toDate(day) < today()"),
        ("postgres", "day::date > now()::date - INTERVAL '7 days'"),
        ("sqlite", "date(day, '-1 day') = '2026-01-01'"),
    ],
)
def test_conditions_in_the_sql_of_other_engines(dialect: str, text: str) -> None:
    assert "day" in sqlrank.sql("AUC", predictions="clicks", dialect=dialect, where=text).lower()


def test_a_file_that_the_caller_has_open_already(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", PREDICTIONS)
        connection.execute("CREATE TABLE clicks AS FROM given")
    with duckdb.connect(str(path), read_only=True):
        assert sqlrank.evaluate("AUC", predictions="clicks", connection=path).to_pylist() == [{"AUC": 1.0}]


def test_a_list_in_an_expression_leads_to_answers() -> None:
    with pytest.raises(InputError, match=r"UNNEST is not among .*. Give a row per query with lists as the input answers, or a query"):
        sqlrank.evaluate("RR", run=[{"query_id": "q", "ids": ["d"]}], qrels={"q": {"d": 1}}, columns={"run.doc_id": "unnest(ids)"})
