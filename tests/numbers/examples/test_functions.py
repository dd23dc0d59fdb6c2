"""Functions of a database have the numbers of ``evaluate``, over all metrics and groups, whatever
the names of tables.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank import SqlrankError
from sqlrank.routines.function_script import FunctionScript
from sqlrank.routines.function_statements import Routine
from tests.interface.command_line import app

pytestmark = pytest.mark.xdist_group("functions")  # one worker makes all of them

GROUPS = {"run": "system", "predictions": "campaign", "logs": "campaign"} | dict.fromkeys(
    (
        "records", "interleaved", "splits", "classified", "class_scores", "class_labels",
        "ratings", "uplift", "judged",
    ),
    "site",
)  # fmt: skip
"""Column to group by of each evaluated input."""

SAMPLE = (
    "nDCG", "AP", "P", "AUC", "LogLoss", "Brier", "Lift", "PairwiseF", "PairsQuality",
    "CatalogCoverage", "Lost", "IPS", "ROC",
)  # fmt: skip


def make_tables() -> dict[str, pa.Table]:
    """Make tables for all inputs."""
    rng, queries, documents, rows = np.random.default_rng(7), 12, 20, 400
    lists = [
        (system, query, rng.permutation(documents)[: rng.integers(5, 15)])
        for system in ("a", "b")
        for query in range(queries)
    ]
    run = pa.table(
        {
            "system": [system for system, _, ids in lists for _ in ids],
            "query_id": [query for _, query, ids in lists for _ in ids],
            "doc_id": np.concatenate([ids for _, _, ids in lists]),
            "score": np.round(rng.random(sum(len(ids) for _, _, ids in lists)), 1),
        }
    )
    label, seen = rng.integers(0, 2, rows), [rng.permutation(documents)[:4] for _ in range(queries)]
    is_of_a = pa.array([system == "a" for system in run["system"].to_pylist()])
    return {
        "run": run,
        "run_of_a": run.filter(is_of_a),
        "qrels": pa.table(
            {
                "query_id": np.repeat(np.arange(queries), 8),
                "doc_id": np.concatenate([rng.permutation(documents)[:8] for _ in range(queries)]),
                "relevance": rng.integers(0, 4, 8 * queries),
                "subtopic": np.arange(8 * queries) % 3,
            }
        ),
        "baseline": run.filter(pc.invert(is_of_a)).drop_columns("system"),
        "clicks": pa.table(
            {
                "query_id": np.repeat(np.arange(queries), 4),
                "doc_id": np.concatenate(seen),
                "rank": np.arange(4 * queries) % 4 + 1,
            }
            | {
                "clicked": np.arange(4 * queries) % 5 // 3,
                "propensity": np.arange(4 * queries) % 3 / 4 + 0.25,
            }
        ),
        "history": pa.table(
            {"query_id": np.repeat(np.arange(queries), 4), "doc_id": np.concatenate(seen)}
        ),
        "items": pa.table(
            {
                "doc_id": np.arange(documents),
                "provider": rng.choice(["p", "q", "r"], documents),
                "text": ["a b c"] * 20,
            }
        ),
        "queries": pa.table(
            {"query_id": np.arange(queries), "text": ["a b c", "a b d e", "b c d"] * (queries // 3)}
        ),
        "features": pa.table(
            {"doc_id": np.arange(documents), "category": rng.choice(["c", "d", "e"], documents)}
        ),
        "predictions": pa.table(
            {
                "campaign": rng.choice(["x", "y"], rows),
                "query_id": rng.integers(0, 30, rows),
                "doc_id": np.arange(rows),
                "label": label,
                "score": np.clip(np.round(0.3 * label + 0.6 * rng.random(rows), 2), 0.01, 0.99),
                "quantile_level": np.arange(rows) % 9 / 10 + 0.1,
                "interval_low": np.arange(rows) % 3 / 4,
                "interval_high": np.arange(rows) % 5 / 4 + 1,
                "seasonal_error": np.arange(rows) % 4 / 4 + 0.5,
            }
        ),
        "classified": pa.table(
            {
                "site": np.where(np.arange(rows) % 7 < 3, "n", "s"),
                "label": [("ok", "bad", "odd")[number % 3] for number in range(rows)],
                "predicted": [("ok", "bad", "new")[number % 5 % 3] for number in range(rows)],
            }
        ),
        "class_scores": pa.table(
            {
                "site": np.repeat(["n", "s"], 180),
                "prediction_id": np.repeat(np.arange(120), 3),
                "class_id": ["ok", "bad", "odd"] * 120,
                "label": [("ok", "bad", "odd")[number // 3 % 7 % 3] for number in range(360)],
                "score": np.tile(
                    [0.5, 0.25, 0.25, 0.125, 0.625, 0.25, 0.25, 0.25, 0.5, 0.125, 0.125, 0.75], 30
                ),
            }
        ),
        "class_labels": pa.table(
            {
                "site": np.repeat(["n", "s"], 60),
                "prediction_id": np.repeat(np.arange(40), 3),
                "class_id": ["c", "d", "e"] * 40,
            }
            | {name: rng.integers(0, 2, 120) for name in ("label", "predicted")}
        ),
        "ratings": pa.table(
            {
                "site": np.repeat(["n", "s"], 60),
                "item_id": np.repeat(np.arange(40), 3),
                "judge_id": ["ann", "bob", "llm"] * 40,
                "rating": [number // 3 % 4 + number * 5 % 11 % 2 for number in range(120)],
            }
        ),
        "judged": pa.table(
            {
                "label": [*map(int, label[:99]), *[None] * 301],
                "score": np.arange(rows) % 7,
                "site": np.arange(rows) % 3,
            }
        ),
        "uplift": pa.table(
            {
                "label": label,
                "score": np.arange(rows) % 17,
                "treatment": np.arange(rows) % 2,
                "site": np.arange(rows) % 3,
            }
        ),
        "records": pa.table(
            {
                "site": rng.choice(["n", "s"], 120),
                "record_id": np.arange(120),
                "predicted_cluster": rng.integers(0, 40, 120),
                "true_cluster": rng.integers(0, 40, 120),
                "name": [f"n{number % 50}" for number in range(120)],
            }
        ),
        "candidate_pairs": pa.table(
            {"left_id": rng.permutation(60), "right_id": rng.permutation(60) + 60}
        ),
        "logs": pa.table(
            {
                "campaign": rng.choice(["x", "y"], 100),
                "propensity": rng.uniform(0.1, 1, 100),
                **{
                    name: rng.random(100)
                    for name in (
                        "reward",
                        "target_propensity",
                        "predicted_reward",
                        "expected_reward",
                    )
                },
            }
        ),
        "interleaved": pa.table(
            {
                "site": np.repeat(rng.choice(["n", "s"], 40), 2),
                "session_id": np.repeat(np.arange(40), 2),
                "team": ["A", "B"] * 40,
                "clicks": rng.integers(0, 3, 80),
            }
        ),
        "splits": pa.table(
            {
                **{
                    name: rng.choice(values, 200)
                    for name, values in {"site": ["n", "s"], "split": ["train", "test"]}.items()
                },
                **dict(
                    zip(
                        ("user_id", "item_id", "happened_at"),
                        rng.integers(0, 30, (3, 200)),
                        strict=True,
                    )
                ),
            }
        ),
    }


TABLES = make_tables()
LISTS = tuple(
    path.stem
    for path in sorted(
        (Path(__file__).parents[3] / "sql" / "install" / "list_functions").glob("*_at.sql")
    )
)


@cache
def script() -> FunctionScript:
    """Return the script of all functions."""
    return sqlrank.functions()


@cache
def functions(kind: str) -> dict[str, Routine]:
    """Return the functions of single metrics of a kind, by metric."""
    found = [
        function
        for function in script().functions
        if function.facts.kind == kind and len(function.facts.metrics) == 1
    ]
    return {function.facts.metrics[0]: function for function in found}


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    """Return a database with all functions, which takes many seconds, and the tables of all
    inputs.
    """
    return install(script())


@cache
def sample() -> FunctionScript:
    """Return the script of the functions of some metrics."""
    return sqlrank.functions(SAMPLE)


@pytest.fixture(scope="module")
def sample_database() -> duckdb.DuckDBPyConnection:
    """Return a database with the functions of some metrics, and the tables of all inputs."""
    return install(sample())


def install(script: FunctionScript) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(script.sql)
    for name, table in TABLES.items():
        connection.register(f"{name}_arrow", table)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_arrow")
    return connection


def call(function: Routine, tables: Iterable[str], group: str | None) -> str:
    """Return a call of a table function, with the cut-off of its metric where it needs one."""
    arguments = function.signature.partition("(")[2].removesuffix(")").split(", ")
    needed = [name for name in arguments[len(function.facts.inputs) :] if ":=" not in name]
    cutoff = sqlrank.parse(function.facts.metrics[0]).cutoff
    options = [
        *(f"{name} := {cutoff}" for name in needed),
        *([] if group is None else [f"by := {group}"]),
    ]
    return f"FROM {function.signature.partition('(')[0]}({', '.join([*tables, *options])})"


def sources(roles: Sequence[str], group: str | None = "system") -> dict[str, Any]:
    """Return the tables of roles as arguments of ``evaluate``, without groups with the run of one
    system.
    """
    tables = {
        role: TABLES["run_of_a" if role == "run" and group is None else role] for role in roles
    }
    arguments = {
        role: tables.pop(role) for role in ("run", "qrels", "predictions") if role in tables
    }
    return {**arguments, "inputs": tables}


def assert_equal(found: Sequence[Sequence[Any]], expected: Sequence[Sequence[Any]]) -> None:
    """Assert that rows have equal values in any order, numbers to 1e-9."""
    assert len(found) == len(expected)
    for row, expected_row in zip(
        *(sorted(rows, key=_sort_key) for rows in (found, expected)), strict=True
    ):
        for value, expected_value in zip(row, expected_row, strict=True):
            is_number = isinstance(expected_value, float) and value is not None
            is_equal = (
                math.isclose(value, expected_value, rel_tol=1e-9, abs_tol=1e-9)
                if is_number
                else value == expected_value
            )
            assert is_equal, (row, expected_row)


def _sort_key(row: Sequence[Any]) -> list[tuple[bool, str, float]]:
    """Return a key that sorts NULLs first, texts by themselves, and numbers that differ in their
    last digits alike.
    """
    return [
        (
            value is not None,
            *((value, 0.0) if isinstance(value, str) else ("", round(value or 0.0, 7))),
        )
        for value in row
    ]


def check_table_function(function: Routine, database: duckdb.DuckDBPyConnection) -> None:
    """Check a function with and without groups."""
    inputs = function.facts.inputs
    for group in (None, GROUPS[inputs[0]]):
        expected = sqlrank.evaluate(
            list(function.facts.metrics), **sources(inputs, group), by=group or ()
        )
        rows = [tuple(row.values()) for row in expected.to_pylist()]
        tables = ["run_of_a" if role == "run" and group is None else role for role in inputs]
        found = database.execute(call(function, tables, group)).fetchall()
        assert_equal(found, rows if group is not None else [(None, *row) for row in rows])


@pytest.mark.slow
def test_table_functions_are_as_evaluate(sample_database):
    found = [function for function in sample().functions if function.facts.kind == "table"]
    assert len(found) == len(SAMPLE)
    for function in found:
        check_table_function(function, sample_database)


@pytest.mark.slow
def test_all_table_functions_are_as_evaluate(database):
    assert len(functions("table")) > 200
    for function in functions("table").values():
        check_table_function(function, database)


@pytest.mark.slow
def test_aggregates_are_as_evaluate(database):
    assert len(functions("aggregate")) > 20
    for metric, function in functions("aggregate").items():
        (role,) = function.facts.inputs
        name, _, arguments = function.signature.removesuffix(")").partition("(")
        columns = [name for name in arguments.split(", ") if ":=" not in name]
        group = GROUPS[role]
        expected = sqlrank.evaluate(metric, **sources([role]), by=group)
        found = database.execute(
            f"SELECT {group}, {name}({', '.join(columns)}) FROM {role} GROUP BY {group}"
        ).fetchall()
        assert_equal(found, [tuple(row.values()) for row in expected.to_pylist()])


@pytest.mark.slow
def test_every_metric_is_a_function_or_has_a_reason():
    names = {name.partition("(")[0] for name in sqlrank.metrics()["name"].to_pylist()}
    tables = {metric.partition("@")[0] for metric in functions("table")}
    missing = {name for name in names if name.partition("@")[0] not in tables}
    assert (
        missing
        == {name.partition(" of ")[0] for name in script().omitted}
        == {"Mean", "Missing", "Quantile", "Share", "Sum"}
    )
    assert (
        "-- no function of Mean: it reads a column of yours, for which SQL has an aggregate\n"
        in script().sql
    )


@pytest.mark.slow
def test_the_script_is_small_and_quickly_installed(tmp_path):
    assert len(script().sql) < 1_900_000
    file = tmp_path / "functions.duckdb"
    script().run(file)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{file}' AS metrics (READ_ONLY)")
        assert connection.execute("SELECT metrics.sqlrank.sqlrank_version()").fetchall() == [
            (sqlrank.__version__,)
        ]


@pytest.mark.slow
def test_the_script_drops_what_it_creates():
    with duckdb.connect() as connection:
        connection.execute(sample().sql)
        connection.execute(sample().sql)  # functions are replaced
        connection.execute(sample().drop_sql)
        assert connection.execute(
            "SELECT COUNT(*) FROM duckdb_functions() WHERE schema_name = 'sqlrank'"
        ).fetchall() == [(0,)]


@pytest.mark.slow
def test_tables_are_called_as_they_like():
    """Names of steps of the statement, and of other inputs, are names of tables as any other."""
    function = sample().functions[0]
    expected = sqlrank.evaluate("nDCG", run=TABLES["run"], qrels=TABLES["qrels"], by="system")
    for names in (
        ("judged_documents", "queries"),
        ("qrels", "run"),
        ("ranked_lists", "run_source"),
        ("systems", "query_ids"),
    ):
        with duckdb.connect() as connection:
            connection.execute(sample().sql)
            for name, role in zip(names, ("run", "qrels"), strict=True):
                connection.register(f"{name}_arrow", TABLES[role])
                connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_arrow")
            found = connection.execute(call(function, names, "system")).fetchall()
        assert_equal(found, [tuple(row.values()) for row in expected.to_pylist()])


@pytest.mark.slow
def test_groups_are_expressions(sample_database):
    found = sample_database.execute(
        "SELECT group_key.s, p FROM sqlrank.p(run, qrels, k := 3, by := {'s': system, 'b': TRUE})"
    ).fetchall()
    expected = sqlrank.evaluate("P@3", run=TABLES["run"], qrels=TABLES["qrels"], by="system")
    assert_equal(found, [tuple(row.values()) for row in expected.to_pylist()])
    rows = sample_database.execute("FROM sqlrank.auc(predictions, by := query_id % 2)").fetchall()
    expected = sqlrank.evaluate("AUC", predictions=TABLES["predictions"], by="part=query_id % 2")
    assert_equal(rows, [tuple(row.values()) for row in expected.to_pylist()])


@pytest.mark.slow
def test_functions_of_inputs_have_several_metrics(database):
    found = database.execute("FROM sqlrank.rankings(run, qrels, k := 5, by := system)")
    assert [column[0] for column in found.description[:5]] == [
        "group_key", "ndcg_at_k", "ap", "rr", "p_at_k",
    ]  # fmt: skip
    metrics = ["nDCG@5", "AP", "RR", "P@5", "R@5", "Success@5", "Judged@5", "num_q"]
    expected = sqlrank.evaluate(metrics, run=TABLES["run"], qrels=TABLES["qrels"], by="system")
    assert_equal(found.fetchall(), [tuple(row.values()) for row in expected.to_pylist()])
    found = database.execute("FROM sqlrank.rankings_by_query(run, qrels, k := 5, by := system)")
    expected = sqlrank.evaluate(
        metrics[:-1], run=TABLES["run"], qrels=TABLES["qrels"], by="system", per_query=True
    )
    assert_equal(found.fetchall(), [tuple(row.values()) for row in expected.to_pylist()])


@pytest.mark.slow
@pytest.mark.parametrize("name", LISTS)
def test_list_functions_are_as_evaluate(name, database):
    rng = np.random.default_rng(3)
    ids = "abcdefghijkl"
    answers = pa.table(
        {
            "query_id": np.arange(200),
            "retrieved": (
                [list(rng.choice(list(ids), rng.integers(0, 15))) for _ in range(199)] + [None]
            ),
            "relevant": [
                ["a"],
                *(list(rng.choice(list(ids), rng.integers(1, 6))) for _ in range(199)),
            ],
        }
    )
    (metric,) = (
        metric for metric, function in functions("list").items() if function.facts.name == name
    )
    for k in (1, 3, 10):
        found = database.execute(
            f"SELECT query_id, sqlrank.{name}(retrieved, relevant, {k}) FROM answers"
        ).fetchall()
        expected = sqlrank.evaluate(
            sqlrank.parse(metric) @ k, inputs={"answers": answers}, per_query=True
        )
        assert_equal(found, [tuple(row.values()) for row in expected.to_pylist()])
    undefined = database.execute(
        f"SELECT sqlrank.{name}(['a'], [], 3), sqlrank.{name}(['a'], NULL, 3)"
    ).fetchall()
    assert undefined == [(None, None)]


def test_policies_are_fixed_and_documented():
    script = sqlrank.functions(["nDCG", "AP"], ties="doc_asc", gain="exp2", topics="retrieved")
    assert [function.signature for function in script.functions] == [
        "sqlrank.ndcg(run, qrels, k := 2147483647, by := NULL, checks := TRUE)",
        "sqlrank.ap(run, qrels, k := 2147483647, by := NULL, checks := TRUE)",
    ]
    assert (
        "Settings: queries=retrieved, ranks=consecutive, ties=doc_asc, "
        in script.functions[0].facts.comment
    )
    assert script.sql.splitlines()[1] == "-- settings: ties=doc_asc, gain=exp2, queries=retrieved"
    tables = {"run": TABLES["run_of_a"], "qrels": TABLES["qrels"]}
    expected = sqlrank.evaluate("nDCG", **tables, ties="doc_asc", gain="exp2", topics="retrieved")
    with duckdb.connect() as connection:
        connection.execute(script.sql)
        for name, table in tables.items():
            connection.register(name, table)
        assert_equal(
            connection.execute("SELECT ndcg FROM sqlrank.ndcg(run, qrels)").fetchall(),
            [tuple(expected.to_pylist()[0].values())],
        )


def test_functions_of_others_are_not_replaced(tmp_path):
    file = tmp_path / "metrics.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE SCHEMA sqlrank; CREATE MACRO sqlrank.ndcg(x) AS TABLE SELECT x")
    with pytest.raises(SqlrankError, match=r"sqlrank did not make the function sqlrank\.ndcg"):
        sqlrank.functions("nDCG").run(file)
    sqlrank.functions("nDCG").run(file, force=True)
    sqlrank.functions("nDCG").run(file)
    sqlrank.functions("nDCG").run(file, drop=True)


@pytest.mark.slow
def test_the_command_installs_and_drops_functions(tmp_path):
    """In a file of the name of the schema they are in main, so that they are called alike from
    both.
    """
    file = tmp_path / "sqlrank.duckdb"
    result = CliRunner().invoke(app, ["functions", "nDCG", "LogLoss", "--db", str(file)])
    assert (result.exit_code, result.stdout, result.stderr) == (
        0,
        "",
        f"installed 3 functions in {file}\n",
    )
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{file}' AS sqlrank (READ_ONLY)")
        connection.register("runs", TABLES["run"])
        connection.register("judgments", TABLES["qrels"])
        assert (
            len(connection.execute("FROM sqlrank.ndcg(runs, judgments, by := system)").fetchall())
            == 2
        )
    assert (
        CliRunner()
        .invoke(app, ["functions", "nDCG", "LogLoss", "--db", str(file), "--drop"])
        .stderr
        == f"dropped 3 functions in {file}\n"
    )
    with duckdb.connect(str(file)) as connection:
        assert connection.execute(
            "SELECT COUNT(*) FROM duckdb_functions() WHERE comment LIKE '%Function of sqlrank%'"
        ).fetchall() == [(0,)]
    assert (
        CliRunner().invoke(app, "functions RR --schema m").stdout
        == sqlrank.functions("RR", schema="m").sql
    )
    assert CliRunner().invoke(app, "functions RR --drop").stdout == sqlrank.functions("RR").drop_sql


@pytest.mark.parametrize(
    ("function", "rows", "message"),
    [
        (
            "ndcg(wrong, qrels)",
            "FROM run_of_a UNION ALL (FROM run_of_a LIMIT 2)",
            "run: (query_id, doc_id) occurs more than once. Keep one row of each (keys: 2)",
        ),
        (
            "ndcg(run_of_a, wrong)",
            "FROM qrels UNION ALL (FROM qrels LIMIT 1)",
            "qrels: (query_id, doc_id) occurs more than once. Keep one row of each (keys: 1)",
        ),
        (
            "ndcg(wrong, qrels, by := system)",
            (
                "SELECT * REPLACE (CASE WHEN doc_id < 5 THEN CAST('NaN' AS DOUBLE) ELSE score END"
                " AS score) FROM run WHERE doc_id IN (3, 4, 7)"
            ),
            (
                "run: score is NaN, which would be ranked first. Give it a value, or leave the row"
                " out (rows: "
            ),
        ),
        (
            "ap(run_of_a, wrong)",
            "SELECT query_id, doc_id, NULL AS relevance FROM qrels",
            "qrels: relevance is NULL, or no number. Leave the row out if",
        ),
        (
            "auc(wrong, by := campaign)",
            "SELECT * REPLACE (2 * label AS label) FROM predictions",
            (
                "predictions: label is neither 0 nor 1. Map a condition to it, such as rating >= 4"
                " (rows: "
            ),
        ),
        (
            "log_loss(wrong)",
            "SELECT label, score + 1 AS score FROM predictions",
            (
                "predictions: score is not a probability, from 0 to 1. Map one to it, such as 1 /"
                " (1 + EXP(-logit)) (rows: "
            ),
        ),
        (
            "brier(wrong)",
            "SELECT label, CASE WHEN doc_id > 1 THEN score END AS score FROM predictions",
            (
                "predictions: score is NULL. Give it a value, leave the row out, or give"
                " nulls='drop' (rows: 2)"
            ),
        ),
        ("pairwise_f(wrong)", "FROM records UNION ALL FROM records", "records: "),
    ],
)
def test_wrong_rows_end_a_query(sample_database, function, rows, message):
    """As they end a call of evaluate; ``checks := FALSE`` leaves the search for them out."""
    with pytest.raises(duckdb.InvalidInputException, match=re.escape(message)):
        sample_database.execute(f"WITH wrong AS ({rows}) FROM sqlrank.{function}")
    unchecked = f"{function.removesuffix(')')}, checks := FALSE)"
    assert sample_database.execute(f"WITH wrong AS ({rows}) FROM sqlrank.{unchecked}").fetchall()
