"""Functions of tables have the numbers of ``evaluate`` on every engine for which they are
written.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import sqlglot

import sqlrank
from sqlrank.errors import SqlrankError
from sqlrank.registry.sql_folder import read_toml, sql_root
from sqlrank.routines.function_script import FunctionScript
from sqlrank.routines.function_statements import Routine, qualify_function, quote_schema
from tests.engines.engines import ClickHouse, Engine, PostgreSQL, Spark, ZetaSQL
from tests.engines.running import parametrize_engines, run_engine
from tests.numbers.examples.test_functions import GROUPS, TABLES, assert_equal
from tests.tables import build_table

ANSWERS = build_table(
    site="n s n s",
    query_id=["1", "2", "3", "4"],
    retrieved=[["a", "b", "c"], ["c", "d"], ["e"], ["a", "e"]],
    relevant=[["b"], ["c", "d"], ["f"], ["a", "b"]],
)
CLUSTERS = {
    name: pa.table(
        {column: TABLES["records"][column] for column in ("site", "record_id")}
        | {"cluster_id": TABLES["records"][f"{kind}_cluster"]}
    )
    for name, kind in (("predicted_clusters", "predicted"), ("true_clusters", "true"))
}
INPUTS = {**TABLES, "answers": ANSWERS, **CLUSTERS}
AGGREGATES = ("LogLoss", "Brier", "MAE", "RMSE", "CalibrationRatio", "IPS")
EVALUATED = {**GROUPS, "answers": "site", "predicted_clusters": "site"}


@cache
def script(dialect: str) -> FunctionScript:
    """Return the script of the functions of inputs."""
    return sqlrank.functions(dialect=dialect)


def text_table(table: pa.Table) -> pa.Table:
    """Return a table whose ids are texts, as functions of BigQuery take them."""
    ids = (
        "query_id", "doc_id", "record_id", "predicted_cluster", "true_cluster", "cluster_id",
        "left_id", "right_id", "session_id", "site",
    )  # fmt: skip
    return pa.table(
        {
            name: table[name].cast(pa.string()) if name in ids else table[name]
            for name in table.column_names
        }
    )


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(
        request.param, {name: text_table(table) for name, table in INPUTS.items()}
    ) as engine:
        dialect = engine.dialects[0]
        if dialect in {"postgres", "clickhouse"}:
            setup = ["CREATE SCHEMA IF NOT EXISTS sqlrank"] if dialect == "postgres" else []
            for statement in [
                *setup,
                *(
                    statement
                    for function in script(dialect).functions
                    for statement in function.create
                ),
            ]:
                engine.execute(statement)
        yield engine


def table_functions(dialect: str) -> list[Routine]:
    return [function for function in script(dialect).functions if function.facts.kind == "table"]


def find_table_functions(metric: str, dialect: str, **options: Any) -> list[Routine]:
    return [
        function
        for function in sqlrank.functions(metric, dialect=dialect, **options).functions
        if function.facts.kind == "table"
    ]


def takes_number(function: Routine, name: str) -> bool:
    return re.search(rf"[(,] ?\"?{name}\b| AS {name}\b", function.signature) is not None


def find_rows(
    engine: Engine,
    function: Routine,
    group: str,
    numbers: Mapping[str, float],
    others: Mapping[str, str] | None = None,
) -> Sequence[Sequence[Any]]:
    """Return the rows of a function by a column, with the numbers that it takes, on the tables that
    are named after its inputs or on others.
    """
    dialect, tables = (
        engine.dialects[0],
        {role: role for role in function.facts.inputs} | dict(others or {}),
    )
    given = {name: number for name, number in numbers.items() if takes_number(function, name)}
    if dialect == "postgres":
        arguments = [
            *(f"'{table}'" for table in tables.values()),
            # quoted, since precision is a word of types
            *(f'"{name}" => {number}' for name, number in given.items()),
        ]
        return engine.rows(
            f"SELECT * FROM {function.signature.partition('(')[0]}({', '.join(arguments)}, by =>"
            f" '{group}')"
        )
    if dialect == "clickhouse":
        values = {
            **{role: f"'{table}'" for role, table in tables.items()},
            **given,
            "by": f"'{group}'",
        }
        call = re.sub(
            r"(\w+) = ('[^']*'|[^,)]+)",
            lambda match: f"{match[1]} = {values.get(match[1], match[2])}",
            function.signature,
        )
        return engine.rows(f"SELECT * FROM {call}")
    if dialect == "spark":
        engine.execute(function.create[0])
        arguments = [
            *(f"'{table}' AS {role}" for role, table in tables.items()),
            *(f"{number} AS {name}" for name, number in given.items()),
            f"'{group}' AS by",
        ]
        return engine.rows(
            f"EXECUTE IMMEDIATE sqlrank_{function.facts.name} USING {', '.join(arguments)}"
        )
    return engine.rows(write_call(function, group, list(given.values()), tables))


def write_call(
    function: Routine, group: str, cutoffs: Sequence[float], tables: Mapping[str, str]
) -> str:
    """Return the query of a function of BigQuery with its tables in it, since the reference
    implementation keeps no functions.
    """
    declared = re.findall(r"(\w+) TABLE<((?:ARRAY<\w+>|[^<>])+)>", function.create[0])
    assert [role for role, _ in declared] == list(function.facts.inputs)
    match = re.search(r"\nAS \(\n(.*)\n\)$", function.create[0], re.DOTALL)
    assert match is not None
    query = match[1]
    for role, fields in declared:
        names = [field.split()[0] for field in fields.split(", ")]
        columns = ", ".join(
            f"{group} AS group_key" if name == "group_key" else name for name in names
        )
        query = re.sub(rf"FROM {role}\b", f"FROM (SELECT {columns} FROM {tables[role]})", query)
    return (
        re.sub(r"(?<!')\bk\b", str(cutoffs[0]), query) if cutoffs else query
    )  # but in the text of a message


@pytest.mark.parametrize(
    "engine", parametrize_engines([PostgreSQL, ClickHouse, ZetaSQL, Spark]), indirect=True
)
def test_numbers_are_those_of_evaluate(engine):
    functions = table_functions(engine.dialects[0])
    assert len(functions) == len(read_toml(sql_root() / "install" / "table_functions.toml"))
    for function in functions:
        facts = function.facts
        group = EVALUATED[facts.inputs[0]]
        metrics = [metric.replace("@10", "@3") for metric in facts.metrics]
        tables = {role: text_table(INPUTS[role]) for role in facts.inputs}
        arguments = {
            role: tables.pop(role) for role in ("run", "qrels", "predictions") if role in tables
        }
        expected = sqlrank.evaluate(
            metrics,
            **arguments,
            inputs=tables,
            by=group,
            per_query=facts.name.endswith("_by_query"),
        )
        found = find_rows(engine, function, group, {"k": 3})
        assert_equal(found, [tuple(row.values()) for row in expected.to_pylist()])


WRONG_ROWS = {
    "a document twice": (
        "SELECT * FROM run UNION ALL SELECT * FROM run",
        r"run: \(query_id, doc_id\) occurs more than once.*\(keys: ",
    ),
    "no score": (
        "SELECT system, query_id, doc_id, CASE WHEN score > 0.5 THEN score END AS score FROM run",
        r"run: score is NULL, or a text",
    ),
    "a score of NaN": (
        (
            "SELECT system, query_id, doc_id, CASE WHEN score > 0.5 THEN CAST('NaN' AS DOUBLE) ELSE"
            " score END AS score FROM run"
        ),
        r"run: score is NaN, which would be ranked first.*\(rows: ",
    ),
}
"""Runs that a function of rankings refuses, each with the message."""


@pytest.mark.parametrize(("query", "message"), WRONG_ROWS.values(), ids=WRONG_ROWS)
@pytest.mark.parametrize(
    "engine", parametrize_engines([PostgreSQL, ClickHouse, ZetaSQL, Spark]), indirect=True
)
def test_wrong_rows_end_a_call_with_their_message(engine, query, message):
    """Functions that are installed without checks have the rows that they are given."""
    engine.load(
        "wrong_run",
        text_table(duckdb.from_arrow(INPUTS["run"]).query("run", query).to_arrow_table()),
    )
    for check in ("auto", "off"):
        (function,) = find_table_functions("RR", engine.dialects[0], check=check)
        if engine.dialects[0] in {"postgres", "clickhouse"}:
            for statement in function.create:
                engine.execute(statement)
        if check == "off":
            assert len(find_rows(engine, function, "system", {"k": 3}, {"run": "wrong_run"})) == 2
            continue
        with pytest.raises(Exception, match=message):
            find_rows(engine, function, "system", {"k": 3}, {"run": "wrong_run"})
        if engine.dialects[0] == "postgres":
            with pytest.raises(Exception, match=message) as raised:
                engine.rows("SELECT * FROM sqlrank.rr('wrong_run', 'qrels', by => 'system')")
            first, hint, *context = str(raised.value).splitlines()
            assert re.search(message, first)
            assert re.match(r"HINT:  (Give|Keep|Leave) ", hint)
            assert len(context) == 1
            with pytest.raises(
                Exception, match=r"^qrels is NULL\nHINT:  Name a table\nCONTEXT: .*$"
            ):
                engine.rows("SELECT * FROM sqlrank.rr('run', NULL, by => 'system')")
            for call in ("'run', 'qrels', by => 'nowhere'", "'qrels', 'run'"):
                with pytest.raises(
                    Exception, match=r"^column .* does not exist\nCONTEXT: "
                ) as raised:
                    engine.rows(f"SELECT * FROM sqlrank.rr({call})")
                assert len(str(raised.value).splitlines()) == 2
            assert "checks => TRUE)" in function.signature
            assert (
                len(
                    engine.rows(
                        "SELECT * FROM sqlrank.rr('wrong_run', 'qrels', by => 'system', checks =>"
                        " FALSE)"
                    )
                )
                == 2
            )


@pytest.mark.parametrize(
    "engine", parametrize_engines([PostgreSQL, ClickHouse, ZetaSQL, Spark]), indirect=True
)
def test_values_out_of_range_end_a_call_with_their_message(engine):
    (function,) = find_table_functions("P", engine.dialects[0])
    if engine.dialects[0] in {"postgres", "clickhouse"}:
        for statement in function.create:
            engine.execute(statement)
    for value in (0, -3, 2.5, 3_000_000_000):
        with pytest.raises(
            Exception,
            match=rf"(?s)k is {str(value)[:2]}.*It must be an integer from 1 to 2147483647",
        ):
            find_rows(engine, function, "system", {"k": value})
    assert len(find_rows(engine, function, "system", {"k": 2147483647})) == 2


@pytest.mark.slow
@pytest.mark.parametrize("engine", parametrize_engines([PostgreSQL, ClickHouse]), indirect=True)
def test_every_metric_has_the_numbers_of_evaluate(engine):
    dialect, numbers = engine.dialects[0], {"max_fpr": 0.5, "recall": 0.5, "precision": 0.5}
    compared = []
    for name in dict.fromkeys(sqlrank.metrics()["name"].to_pylist()):
        try:
            functions = find_table_functions(name, dialect)
        except SqlrankError:  # rows of its own, or a column of the user
            continue
        for function in functions:
            for statement in function.create:
                engine.execute(statement)
            facts, inputs = function.facts, function.facts.inputs
            group, given = (
                EVALUATED[inputs[0]],
                [number for number in numbers if takes_number(function, number)],
            )
            metrics = [
                f"{metric.partition('@')[0]}@{numbers[given[0]]}" if given else metric
                for metric in facts.metrics
            ]
            tables = {role: text_table(INPUTS[role]) for role in inputs}
            options = {
                role: tables.pop(role) for role in ("run", "qrels", "predictions") if role in tables
            }
            expected = sqlrank.evaluate(metrics, **options, inputs=tables, by=group)
            assert_equal(
                find_rows(engine, function, group, numbers),
                [tuple(row.values()) for row in expected.to_pylist()],
            )
            compared.append(name)
    assert len(compared) > 240


@pytest.mark.slow
@pytest.mark.parametrize("schema", ["select", "two words", "a 'b' \"c\" `d`; --%"])
@pytest.mark.parametrize("engine", parametrize_engines([PostgreSQL, ClickHouse]), indirect=True)
def test_schemas_are_quoted(engine, schema):
    dialect = engine.dialects[0]
    script = sqlrank.functions("LogLoss", dialect=dialect, schema=schema)
    (function,) = (function for function in script.functions if function.facts.kind == "table")
    name = qualify_function(schema, function.facts.name, dialect).sql(dialect)
    if dialect == "postgres":
        engine.execute(f"CREATE SCHEMA {quote_schema(schema, dialect).sql(dialect)}")
    for statement in function.create:
        engine.execute(statement)
    argument = (
        "'predictions'" if dialect == "postgres" else "predictions = 'predictions', by = '_table'"
    )
    ((_, found),) = engine.rows(f"SELECT * FROM {name}({argument})")
    assert found == pytest.approx(
        sqlrank.evaluate("LogLoss", predictions=INPUTS["predictions"]).to_pylist()[0]["LogLoss"],
        rel=1e-9,
    )
    engine.execute(function.drop[0])


@pytest.mark.slow
@pytest.mark.parametrize("engine", parametrize_engines([ZetaSQL]), indirect=True)
def test_declarations_for_bigquery_are_analyzed(engine):
    """ZetaSQL types the bodies of functions of tables and of aggregates; those of lists have
    templates, whose bodies it types in calls.
    """
    assert isinstance(engine, ZetaSQL)
    functions = [
        *script("bigquery").functions,
        *sqlrank.functions(AGGREGATES, dialect="bigquery").functions,
    ]
    kinds = [function.facts.kind for function in functions]
    assert kinds.count("aggregate") == len(AGGREGATES)
    assert kinds.count("list") == 7
    for function in functions:
        (statement,) = function.create
        tree = (
            "ResolvedCreateTableFunctionStmt"
            if function.facts.kind == "table"
            else "ResolvedCreateFunctionStmt"
        )
        assert engine.analyze(statement) == tree, function.facts.name
    predictions = next(
        function for function in functions if function.facts.name == "predictions"
    ).create[0]
    with pytest.raises(Exception, match="Unrecognized name: label"):
        engine.analyze(predictions.replace("label FLOAT64", "labels FLOAT64"))
    aggregate = next(
        function for function in functions if function.facts.kind == "aggregate"
    ).create[0]
    with pytest.raises(Exception, match="Unrecognized name: score"):
        engine.analyze(aggregate.replace("score FLOAT64", "scores FLOAT64"))


@pytest.mark.slow
@pytest.mark.xdist_group("PostgreSQL")
@pytest.mark.parametrize("dialect", ["snowflake", "databricks"])
def test_functions_of_engines_that_are_not_here_parse(dialect):
    functions = table_functions(dialect)
    assert len(functions) == len(read_toml(sql_root() / "install" / "table_functions.toml"))
    for function in functions:
        text = function.create[-1]
        if dialect == "snowflake":
            assert ", checks BOOLEAN DEFAULT TRUE)" in text
            # "Selecting from a stored procedure" of Snowflake: its columns are declared
            assert re.search(
                r'RETURNS TABLE \((?:"[A-Z0-9_]+" (?:VARCHAR|FLOAT)(?:, )?)+\)\n', text
            )
            assert "WHERE :checks" in " ".join(text.split())
            # "Object identifiers", Literals and variables as identifiers: a variable in IDENTIFIER
            # names a column; OBJECT_CONSTRUCT(*) would read them all
            assert "OBJECT_CONSTRUCT" not in text
            # "Writing stored procedures in Snowflake Scripting" recommends at most 100 KB
            assert len(text.encode()) < 100_000
            for role in re.findall(r"IDENTIFIER\(:(\w+)_group\)", text):
                assert f"  {role}_group VARCHAR DEFAULT COALESCE(by, '" in text
            match = re.search(r"RESULTSET DEFAULT \(\n(.*)\n\);\nBEGIN", text, re.DOTALL)
            assert match is not None
            query = match[1]
        else:
            query = (
                sqlglot.parse_one(f"SELECT {text.partition(' DEFAULT ')[2]}", dialect=dialect)
                .selects[0]
                .name
            )
        (tree,) = sqlglot.parse(query, dialect=dialect)
        assert isinstance(tree, sqlglot.exp.Select)
        assert all(f"IDENTIFIER(:{role})" in query for role in function.facts.inputs)
