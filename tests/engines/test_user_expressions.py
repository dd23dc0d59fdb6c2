"""Expressions of users mean what the engine alone says that they mean: in measured columns, groups
and conditions.
"""

import math
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.engines import ENGINES, Engine, PostgreSQL, SQLite
from tests.engines.running import parametrize_engines, run_engine
from tests.tables import build_table

TABLE = build_table(
    label=pa.array([1, 1, 1, 1, 1], pa.int64()),
    score="0.1 0.2 0.3 0.4 0.5",
    i=pa.array([14, 15, 20, 22, -9], pa.int64()),
    j=pa.array([3, 2, 7, 1, 4], pa.int64()),
    f="0.1 2.5 -3.5 1e-7 7.0",
    s=["45", "10", "20", "30", "7"],
    d="2026-01-05 2026-01-11 2026-02-28 2025-12-31 2026-01-05",
    c="a B b A it's",
)
SHARED = [
    "i / 7", "i / j", "(i + 1) / 7 * 7", "-i / j", "i % 4", "i / 7.0", "1 / j", "i * 1.1", "i * 0.1 + 0.2", "f * 1.1", "f / 3", "0.1 + 0.2", "1 + 1",
    "i * 1", "i - 0", "i + 0.0", "1 * f", "i / 1", "CAST(s AS DOUBLE PRECISION) / 50", "CAST(i AS DOUBLE PRECISION) / 7", "i / CAST(j AS DOUBLE PRECISION)",
    "CAST(f AS INTEGER)", "CAST(f AS DECIMAL(10, 2))", "CAST(i AS DECIMAL(10, 3)) / 7", "CAST(f AS DECIMAL(10, 2)) * 1.1", "ROUND(f)", "ROUND(2.5)",
    "ROUND(i / 7)", "FLOOR(f)", "ABS(-f)", "COALESCE(NULLIF(i, 14), 0)", "NULLIF(0, 1)", "COALESCE(f, 0)", "CASE WHEN i > 14 THEN 1 ELSE 0 END",
    "CASE WHEN i > 14 THEN i ELSE 14 END", "CASE i WHEN 14 THEN 7.5 ELSE j END", "CASE WHEN c = 'a' THEN 1 WHEN c = 'A' THEN 2 ELSE 3 END",
    "CASE WHEN c = 'B' THEN 1 WHEN c = 'b' THEN 2 ELSE 3 END", "CASE WHEN c = 'it''s' THEN 1 ELSE 0 END", "CASE WHEN 1 = 1 THEN f ELSE 0 END",
    "CASE WHEN NOT i = 14 AND j < 3 OR f > 1 THEN 1 ELSE 0 END", "CASE WHEN i BETWEEN 14 AND 20 AND j IN (2, 3) THEN 1 ELSE 0 END",
    "CASE WHEN c LIKE 'i%' THEN 1 ELSE 0 END", "CASE WHEN f <> 2.5 THEN 1 ELSE 0 END", "LENGTH(c)", "LENGTH(LOWER(c) || 'x')", "LENGTH(TRIM(' a '))",
    "i - j - 1", "i - (j - 1)", "i / (j / 2.0)", "i / j / 2", "i * j / 7", "2 * (i + j)", "- - i", "1e2 * f", "f * 1e-3", "i / 2 * 2.0", "(i)", "((i) / (j))",
    "CAST(i / 7 AS DOUBLE PRECISION)",
]  # fmt: skip
"""Sixty expressions that most engines read, and of which they say different things."""

TWO_TEXTS = ("spark", "databricks", "bigquery")
"""Dialects in which a doubled quote ends a text and begins another. Spark joined both before
version 4, and reads a quote since.
"""

OWN = {
    "duckdb": ["i // 7", "i ** 2", "i::DOUBLE / 9", "s::INT // 3", "len([x + 1 for x in [i, j]])", "CAST(d AS DATE) - DATE '2025-01-01'",
               "EXTRACT(dow FROM CAST(d AS DATE))", "DATE_PART('week', d::DATE)", "1 = ANY([i, j])::INT + 1", "TRY_CAST(c AS INT) IS NULL", "len(s[1:1])"],
    "sqlite": ["CAST(d AS DATE)", "CAST(s AS NUMERIC) / 4", "max(i, j)", "s / 4", "s + 1", "i = '14'", "LENGTH(date(d, '+1 month'))", "strftime('%W', d) + 0",
               "julianday(d)", "i == 14", "i IS 14", "ROUND(2.675, 2)", "c GLOB 'i*'", "f || ''", "i << 1", "~i", "c = 'A' COLLATE NOCASE"],
    "postgres": ["7 = ANY(ARRAY[i, j])", "LENGTH(to_hex(CAST(ABS(i) AS INTEGER)))", "i::numeric / 7", "EXTRACT(epoch FROM date_bin('7 days', d::timestamp, TIMESTAMP '2001-01-01'))",
                 "round(2.5::float8)", "div(i, 4)", "i # j", "d::date - '2025-01-01'", "EXTRACT(dow FROM d::date)", "c ~ '^[a-b]$'", "(i::numeric * 1.1)::text::float8", "s::int / 4"],
    "clickhouse": ["intDiv(i, 7)", "toDate(d) - toDate('2025-01-01')", "CAST(f AS Decimal(10, 2)) / 7", "toInt64(s) / 4", "positiveModulo(i, 4)", "i IN (14, 15)"],
    "datafusion": ["CAST(s AS INT) / 4", "date_part('doy', CAST(d AS DATE))", "i IN (14, 15)", "CAST(i AS DECIMAL(10, 3)) / 7"],
    "bigquery": ["DIV(i, 7)", "CAST(i AS NUMERIC) / 7", "DATE_DIFF(DATE(d), DATE '2025-01-01', DAY)", "MOD(i, 4)", "SAFE_DIVIDE(i, j)", "EXTRACT(DAYOFWEEK FROM DATE(d))"],
    "spark": ["i div 7", "CAST(s AS INT) / 4", "datediff(d, '2025-01-01')", "i % 4", "dayofweek(CAST(d AS DATE))", "CAST(i AS DECIMAL(10, 3)) / 7"],
}  # fmt: skip
"""Expressions in the SQL of one engine."""

MEASURED = 12
"""Number of expressions of one statement."""


@pytest.fixture(
    scope="module",
    params=parametrize_engines([engine for engine in ENGINES if engine.__name__ != "Databend"]),
)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(request.param, {"t": TABLE}) as engine:
        yield engine


class Agreement:
    """Compares expressions by an engine alone with those of statements, and collects the
    differences.
    """

    def __init__(self, rows: Callable[[str], list[tuple[Any, ...]]], dialect: str) -> None:
        self.rows, self.dialect = rows, dialect
        self.double = {
            "clickhouse": "Nullable(Float64)",
            "bigquery": "FLOAT64",
            "sqlite": "REAL",
            "spark": "DOUBLE",
        }.get(dialect, "DOUBLE PRECISION")
        self.differences: list[tuple[Any, ...]] = []

    def find_readable(self, texts: Sequence[str]) -> list[str]:
        """Return the expressions that the engine reads, and of which the values are finite."""
        return [text for text in texts if self._is_number(text)]

    def _is_number(self, text: str) -> bool:
        try:
            values = [
                value for (value,) in self.rows(f"SELECT CAST(({text}) AS {self.double}) FROM t")
            ]
        except Exception:  # noqa: BLE001  each driver has its own
            return False
        return all(isinstance(value, (int, float)) and math.isfinite(value) for value in values)

    def compare_means(self, texts: Sequence[str]) -> None:
        for start in range(0, len(texts), MEASURED):
            part = texts[start : start + MEASURED]
            columns = {f"x{position}": text for position, text in enumerate(part)}
            statement = sqlrank.sql(
                [f"Mean(predictions.{name})" for name in columns],
                predictions="t",
                columns=columns,
                dialect=self.dialect,
            )
            # One statement each, since DataFusion takes means that it simplifies to the same one
            # for one column, and fails.
            alone = [
                self.rows(f"SELECT AVG(CAST(({text}) AS {self.double})) FROM t")[0][0]
                for text in part
            ]
            for text, value, expected in zip(part, *self.rows(statement), alone, strict=True):
                if value != pytest.approx(expected, rel=1e-12, abs=1e-12):
                    self.differences.append(("mean", text, value, expected))

    def compare_groups(self, texts: Sequence[str]) -> None:
        for text in texts:
            statement = sqlrank.sql(
                "Positives", predictions="t", by=f"g={text}", dialect=self.dialect
            )
            found: Counter[Any] = Counter()
            for value, count in self.rows(statement):
                found[_plain(value)] += float(
                    count
                )  # several values may be NULL to a driver, as decimals are to that of ZetaSQL
            expected = Counter(_plain(value) for (value,) in self.rows(f"SELECT {text} FROM t"))
            if found != expected:
                self.differences.append(("by", text, found, expected))

    def compare_conditions(self, texts: Sequence[str]) -> None:
        for text in texts:
            statement = sqlrank.sql(
                "Positives",
                predictions="t",
                where=f"(({text}) > 1.5 or i is null) and i <> 22",
                dialect=self.dialect,
            )
            alone = f"SELECT SUM(label) FROM t WHERE (({text}) > 1.5 or i is null) and i <> 22"
            ((value,),), ((expected,),) = self._count(statement), self._count(alone)
            if (value or 0) != (expected or 0):
                self.differences.append(("where", text, value, expected))

    def _count(self, statement: str) -> list[tuple[Any, ...]]:
        try:
            return self.rows(statement)
        # A comparison that the engine refuses, it refuses in a statement, too
        except Exception as error:  # noqa: BLE001
            return [(type(error).__name__,)]


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, (int, float, Decimal)) else str(value)


def find_refused(texts: Sequence[str], dialect: str) -> list[str]:
    """Return the expressions that no statement takes."""
    refused = []
    for text in texts:
        try:
            sqlrank.sql(
                "Mean(predictions.x)", predictions="t", columns={"x": text}, dialect=dialect
            )
        except sqlrank.InputError:
            refused.append(text)
    return refused


def test_expressions_mean_what_the_engine_says(engine):
    for dialect in engine.dialects[:1]:
        agreement = Agreement(engine.rows, dialect)
        readable = agreement.find_readable([*SHARED, *OWN[dialect]])
        assert len(readable) >= 50 or dialect == "clickhouse"  # whose decimals and text differ
        refused = [text for text in readable if "''" in text and dialect in TWO_TEXTS]
        assert find_refused(readable, dialect) == refused
        readable = [text for text in readable if text not in refused]
        agreement.compare_means(readable)
        is_slow = not isinstance(engine, (SQLite, PostgreSQL))
        agreement.compare_groups(readable[:: 6 if is_slow else 4 if dialect == "sqlite" else 1])
        agreement.compare_conditions(readable[:: 6 if is_slow else 4 if dialect == "sqlite" else 1])
        assert agreement.differences == []


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_all_expressions_in_groups_and_conditions(dialect):
    agreement = connect(dialect)
    readable = agreement.find_readable([*SHARED, *OWN[dialect]])
    agreement.compare_means(readable)
    agreement.compare_groups(readable)
    agreement.compare_conditions(readable)
    assert agreement.differences == []


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_generated_expressions(dialect):
    agreement, generator = connect(dialect), random.Random(20260101)  # noqa: S311
    readable = agreement.find_readable(
        list(dict.fromkeys(generate_expression(generator, 3, dialect) for _ in range(500)))
    )
    assert len(readable) > 300
    assert find_refused(readable, dialect) == []
    agreement.compare_means(readable)
    agreement.compare_groups(readable[::12])
    agreement.compare_conditions(readable[::12])
    assert agreement.differences == []


def connect(dialect: str) -> Agreement:
    """Return the comparison with an engine that needs no server."""
    if dialect == "duckdb":
        connection = duckdb.connect()
        connection.register("given", TABLE)
        connection.execute("CREATE TABLE t AS FROM given")
        return Agreement(lambda text: connection.execute(text).fetchall(), dialect)
    database = SQLite()
    database.load("t", TABLE)
    return Agreement(database.rows, dialect)


def generate_expression(generator: random.Random, depth: int, dialect: str) -> str:
    """Return an expression of operators, casts, CASE and functions, nested up to a depth."""
    if depth == 0 or generator.random() < 0.15:
        return generator.choice(
            [
                "i", "j", "f", "i", "CAST(s AS INTEGER)", "1", "2", "7", "0.5", "1.10", "2.5e0",
                "-3", "0",
            ]
        )  # fmt: skip
    first, second, third = (generate_expression(generator, depth - 1, dialect) for _ in range(3))
    double = "REAL" if dialect == "sqlite" else "DOUBLE"
    forms = [
        f"{first} / NULLIF({second}, 0)", f"{first} + {second}", f"{first} - {second}", f"{first} * {second}", f"({first})", f"-({first})",
        f"({first} - {second}) / 7", f"({first} + {second}) * {third}", f"CAST({first} AS {double}) / 3", f"CAST({first} AS {double})",
        f"CAST({first} AS INTEGER) % 5", f"ROUND({first}, 1)", f"ROUND({first})", f"COALESCE({first}, {second})", f"ABS({first})",
        f"CASE WHEN {first} > {second} THEN {first} ELSE {second} END", f"CASE WHEN {first} < {second} THEN {third} ELSE 0 END",
        f"CAST({first} AS DECIMAL(12, 3)) * 1.1", f"COALESCE(NULLIF({first}, {second}), 1)",
        *([f"CAST({first} AS INTEGER) // 3"] if dialect == "duckdb" else []),
    ]  # fmt: skip
    return generator.choice(forms)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_the_text_of_an_expression_is_written_as_it_is(dialect):
    text = "CAST(i as DECIMAL(10, 3))/7*1 - 0 + Round(2.5)"
    statement = sqlrank.sql(
        "Positives", predictions="t", by=f"g={text}", where=f"{text} > 1.10", dialect=dialect
    )
    name = DIALECTS[dialect].fold_identifier("i")
    written = text.replace(
        "(i ", f"({exp.to_identifier(name, quoted=True).sql(DIALECTS[dialect].sqlglot_name)} "
    )
    body = statement.partition("\nWITH ")[2] or statement
    assert body.count(written) >= 2
    assert f"{written} > 1.10" in body


def test_texts_that_differ_in_case_are_two_columns():
    columns = {
        "x": "CASE WHEN c = 'a' THEN 1 ELSE 0 END",
        "y": "CASE WHEN c = 'A' THEN 10 ELSE 0 END",
        "z": "CASE WHEN c = 'A' THEN 1 ELSE 0 END",
    }
    result = sqlrank.evaluate(
        [f"Mean(predictions.{name})" for name in columns],
        predictions=TABLE,
        columns=columns,
        where="c <> 'b'",
    )
    assert list(result.to_pylist()[0].values()) == [0.25, 2.5, 0.25]


def test_casts_of_texts_stay_in_divisions():
    rows = build_table(label="1 0 1 0", prob=["45", "10", "20", "30"])
    assert sqlrank.evaluate(
        "AUC", predictions=rows, columns={"score": "CAST(prob AS DOUBLE) / 50"}
    ).to_pylist() == [{"AUC": 0.75}]


def test_groups_by_whole_numbers():
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE t (label, score, size); INSERT INTO t VALUES (1, 1, 14), (0, 1, 15), (1, 1,"
        " 20), (0, 1, 22)"
    )
    result = sqlrank.evaluate(
        "Positives", predictions="t", by="band=size / 7", connection=connection
    ).to_pylist()
    assert result == [{"band": 2, "Positives": 2.0}, {"band": 3, "Positives": 0.0}]


def test_fields_and_lists_in_conditions_on_duckdb():
    rows = [
        {"label": 1, "score": 0.5, "st": {"a": 1, "b": {"c": 2}}, "tags": ["x"]},
        {"label": 1, "score": 0.5, "st": {"a": 2, "b": {"c": 2}}, "tags": []},
    ]
    for where in (
        "st.a = 1",
        "predictions.st.a = 1",
        "st.b.c = 2 AND 'x' IN tags",
        "len([t FOR t IN tags IF t = 'x']) = 1",
    ):
        assert sqlrank.evaluate("Positives", predictions=rows, where=where).to_pylist() == [
            {"Positives": 1.0}
        ]


def test_list_comprehensions_map_lists():
    answers = [
        {
            "query_id": "q",
            "retrieved": [{"id": "a", "x": 1}, {"id": "b", "x": 2}],
            "relevant": ["b"],
        }
    ]
    columns = {"answers.retrieved": "[x.id FOR x IN retrieved]"}
    assert sqlrank.evaluate("RR", inputs={"answers": answers}, columns=columns).to_pylist() == [
        {"RR": 0.5}
    ]
