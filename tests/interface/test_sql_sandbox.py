"""Sessions load no extensions, and conditions and expressions call no function that reads files,
waits or makes many values.
"""

import duckdb
import pytest

import sqlrank
from sqlrank import InputError
from sqlrank.call.request import ResourceLimits
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.inputs.user_sql import parse_condition, parse_expression
from sqlrank.rendering.dialects import DIALECTS
from tests.tables import build_table

PREDICTIONS = build_table(
    label="0 1 1", score="0.1 0.7 0.4", day="2026-01-01 2026-01-01 2026-01-02"
)


@pytest.mark.parametrize("limits", [ResourceLimits(), ResourceLimits(threads=1)])
@pytest.mark.parametrize("is_file", [False, True])
def test_sessions_load_no_extensions(is_file, limits, tmp_path):
    path = tmp_path / "x.duckdb"
    duckdb.connect(str(path)).close()
    with duckdb_session(path if is_file else None, limits) as opened:
        settings = (
            "current_setting('autoinstall_known_extensions'),"
            " current_setting('autoload_known_extensions')"
        )
        assert opened.execute(f"SELECT {settings}").fetchall() == [(False, False)]


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
def test_harmful_functions_are_refused_by_name(text, function):
    message = (
        f"{function} is not among the functions that may be called here. Give a query or a view"
        " with a column of it"
    )
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AUC", predictions=PREDICTIONS, where=text)
    assert str(caught.value).startswith(f"where: {message}")
    for call in (sqlrank.evaluate, sqlrank.sql):
        sources = {"predictions": PREDICTIONS if call is sqlrank.evaluate else "clicks"}
        with pytest.raises(InputError) as caught:
            call("AUC", **sources, columns={"score": text})
        assert message in str(caught.value)


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
def test_what_conditions_are_written_with_is_allowed(text):
    assert sqlrank.evaluate("AUC", predictions=PREDICTIONS, where=text).to_pylist() == [
        {"AUC": 1.0}
    ]


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
def test_conditions_in_the_sql_of_other_engines(dialect, text):
    assert "day" in sqlrank.sql("AUC", predictions="clicks", dialect=dialect, where=text).lower()


def test_a_file_that_the_caller_has_open_already(tmp_path):
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", PREDICTIONS)
        connection.execute("CREATE TABLE clicks AS FROM given")
    with duckdb.connect(str(path), read_only=True):
        assert sqlrank.evaluate("AUC", predictions="clicks", connection=path).to_pylist() == [
            {"AUC": 1.0}
        ]


FORBIDDEN = {
    "function": "evil(i) = 1",
    "function of a schema": "evil.date(i) = 1",
    "function of a database": "d.evil.length(i) = 1",
    "operator of a schema": "i OPERATOR(evil.+) i = 1",
    "user's type": "CAST(s AS evil) = 1",
    "type of a schema": "CAST(s AS evil.mood) = 1",
    "name of a table": "CAST('secret' AS regclass) = i",
    "type in a list": "CAST(s AS evil[]) = s",
    "subquery in IN": "i IN (SELECT 1)",
    "subquery": "(SELECT MAX(i) FROM secret) = 1",
    "EXISTS": "EXISTS (SELECT 1 FROM secret)",
    "VALUES": "i IN (VALUES (1))",
    "star": "COUNT(*) = 1",
    "columns": "t.* = 1",
    "aggregate": "SUM(i) = 1",
    "window": "ROW_NUMBER() OVER () = 1",
    "second statement": "i = 1; DROP TABLE secret",
    "session": "CURRENT_USER = s",
    "file": "read_text('/etc/passwd') = s",
    "environment": "getenv('HOME') = s",
    "setting": "current_setting('x') = s",
    "sequence": "nextval('x') = i",
    "wait": "pg_sleep(1) = i",
}
"""Conditions that reach beyond the rows of an input."""


@pytest.mark.parametrize("text", ["(s).evil = 1", "(clicks).evil = 1", "((i)).evil = 1"])
def test_a_field_in_postgresql_may_be_a_function(text):
    for dialect in ("postgres", "redshift"):
        with pytest.raises(
            InputError,
            match=(
                r"may call a function of that name. Give a query that reads the field as the source"
            ),
        ):
            sqlrank.sql("AUC", predictions="clicks", dialect=dialect, where=text)
    assert "evil" in sqlrank.sql("AUC", predictions="clicks", dialect="duckdb", where=text)


READ_TABLES = {
    "sqlite": ("i IN secret", "i NOT IN main.secret"),
    "clickhouse": ("i IN secret", "i IN (secret)", "i GLOBAL IN secret", "i NOT IN ((secret))"),
}
PLACES = {
    "where": lambda text, dialect: sqlrank.sql(
        "AUC", predictions="clicks", dialect=dialect, where=text
    ),
    "by": lambda text, dialect: sqlrank.sql(
        "AUC", predictions="clicks", dialect=dialect, by=f"g={text}"
    ),
    "columns": lambda text, dialect: sqlrank.sql(
        "AUC", predictions="clicks", dialect=dialect, columns={"score": text}
    ),
    "unit": lambda text, dialect: sqlrank.sql(
        "AUC", predictions="clicks", dialect=dialect, confidence=0.9, unit=text
    ),
    "measured": lambda text, dialect: sqlrank.sql(
        "Mean(predictions.x)", predictions="clicks", dialect=dialect, columns={"x": text}
    ),
    "amount": lambda text, dialect: sqlrank.experiment_sql(
        f"Mean({text})", data="visits", dialect=dialect
    ),
    "batch_where": lambda text, dialect: sqlrank.rollup_sql(
        "LogLoss",
        predictions="clicks",
        by="day",
        dialect=dialect,
        insert="t",
        batch="b",
        batch_where=text,
    ),
    "splits": lambda text, dialect: sqlrank.experiment_sql(
        "Mean(x)", data="visits", dialect=dialect, where=text
    ),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_reaches_beyond_rows_is_refused(dialect):
    accepted = []
    for text in (*FORBIDDEN.values(), *READ_TABLES.get(dialect, ())):
        for parse in (parse_condition, parse_expression):
            try:
                accepted.append((text, parse(text, dialect)))
            except InputError:
                continue
    assert accepted == []


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_every_place_refuses_what_reaches_beyond_rows(place):
    accepted = []
    for dialect in DIALECTS:
        for text in (*FORBIDDEN.values(), *READ_TABLES.get(dialect, ())):
            try:
                accepted.append((dialect, text, PLACES[place](text, dialect)))
            except sqlrank.SqlrankError:
                continue
    # A text that is not read as an expression is the name of a column, which is quoted, and
    # repeated in comments.
    assert [
        (dialect, text)
        for dialect, text, statement in accepted
        if text in _drop_names(statement, text)
    ] == []


def _drop_names(statement: str, text: str) -> str:
    lines = [line.partition("-- ")[0] for line in statement.splitlines()]
    names = (f'"{text}"', f"`{text}`", f"[{text}]", f"'Mean({text})'")
    body = "\n".join(lines)
    for name in names:
        body = body.replace(name, "")
    return body


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("duckdb", "[x.id FOR x IN retrieved] = ids"),
        ("duckdb", "'a' IN tags AND s[1:2] = 'ab' AND st.a.b = 1"),
        (
            "duckdb",
            "i::DECIMAL(10, 2) > 1 AND CAST(s AS STRUCT(a INTEGER, b VARCHAR[])) IS NOT NULL",
        ),
        (
            "postgres",
            "2 = ANY(l) AND to_hex(i) = 'a' AND s COLLATE \"C\" > 'a' AND s SIMILAR TO 'a|b'",
        ),
        (
            "postgres",
            "date_bin('1 day', ts, TIMESTAMP '2001-01-01') > now() - make_interval(days => 3)",
        ),
        ("postgres", "j #>> '{a,b}' = 'x' AND j @> '{}' AND E'a\\'b' = s"),
        (
            "bigquery",
            (
                "REGEXP_CONTAINS(s, r'^\\d+$') AND DATE(ts) BETWEEN DATE '2026-01-01' AND"
                " CURRENT_DATE()"
            ),
        ),
        ("snowflake", "s:a.b::INT = 1 AND DATEADD(day, -1, ts) < CURRENT_TIMESTAMP"),
        ("clickhouse", "i IN (1, 2) AND (i, j) IN ((1, 2)) AND toYYYYMM(d) = 202601"),
        ("sqlite", "s GLOB 'a*' AND json_extract(j, '$.a') = 1 AND i IN (j, 2)"),
        ("spark", "i div 7 = 2 AND date_trunc('week', ts) = d AND s RLIKE '^a'"),
    ],
)
def test_what_engines_write_is_allowed(dialect, text):
    assert text in parse_condition(text, dialect).this.source


@pytest.mark.slow
def test_depth_and_length_are_refused_at_once():
    number = 1_200
    texts = [
        " + ".join(["label"] * number),
        f"{'(' * number}label{')' * number}",
        "NOT " * number + "label",
        f"label{' || label' * number}",
    ]
    for text in texts:
        for arguments in (
            {"by": f"g={text}"},
            {"where": f"{text} > 1"},
            {"columns": {"score": text}},
        ):
            with pytest.raises(InputError, match=r"operations in one another|nested too deeply"):
                sqlrank.evaluate("Positives", predictions=PREDICTIONS, **arguments)
    chains = [
        " OR ".join(f"label = {value}" for value in range(number)),
        f"label IN ({', '.join(map(str, range(number)))})",
    ]
    for text in chains:
        assert sqlrank.evaluate("Positives", predictions=PREDICTIONS, where=text).to_pylist() == [
            {"Positives": 2.0}
        ]
        assert (
            len(sqlrank.evaluate("Positives", predictions=PREDICTIONS, by=f"g={text}").to_pylist())
            == 1
        )
