"""The dbt package: its models have evaluate's numbers, and its generic tests pass and fail."""

import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import jinja2
import pytest
import sqlglot
import yaml
from typer.testing import CliRunner

import sqlrank
from sqlrank import MetricError
from sqlrank.routines.dbt_package import ADAPTERS, dbt_package
from tests.environments import make_environment
from tests.interface.command_line import app

GRADES, CLICKS = {"relevance": "grade"}, {"label": "click", "score": "p"}
TABLES = """
    CREATE TABLE runs AS
        SELECT system, 'q' || query AS query_id, 'd' || doc AS doc_id, query * 7 % 31 * doc % 13 + bonus * (doc % 3) AS score,
            CASE WHEN query % 2 = 0 THEN 'x' END AS market
        FROM (SELECT 'old' AS system, 0 AS bonus UNION ALL SELECT 'new', 9) AS s, range(60) AS q(query), range(12) AS d(doc);
    CREATE TABLE new_runs AS FROM runs WHERE system = 'new';
    CREATE TABLE old_runs AS FROM runs WHERE system = 'old';
    CREATE TABLE qrels AS SELECT 'q' || query AS query_id, 'd' || doc AS doc_id, doc % 3 AS grade FROM range(60) AS q(query), range(12) AS d(doc);
    CREATE TABLE impressions AS
        SELECT i % 3 AS campaign, i % 5 // 4 AS click, (i * 7 % 11 + i % 5) / 20 AS p, (i * 3 % 13) / 13 AS old_p FROM range(900) AS t(i);
    CREATE TABLE predicted AS SELECT i AS record_id, i // 3 AS cluster_id FROM range(60) AS t(i);
    CREATE TABLE truth AS SELECT i AS record_id, i // 4 AS cluster_id FROM range(60) AS t(i);
"""
COMPARED = {"metric": "ndcg_at_k", "qrels": "qrels", "columns": GRADES, "tolerance": 0.01}


class _Return(Exception):  # noqa: N818  dbt returns values by an exception, too
    """The value that a macro returns."""


class _Macros:
    """The macros of the package as dbt would call them for an adapter."""

    def __init__(self, adapter: str, files: Mapping[str, str]) -> None:
        # SQL is not HTML
        environment = jinja2.Environment(extensions=["jinja2.ext.do"])  # noqa: S701
        text = "\n".join(text for place, text in files.items() if place.endswith(".sql"))
        text = re.sub(r"{% test (\w+)", r"{% macro test_\1", text).replace(
            "{% endtest %}", "{% endmacro %}"
        )
        tools = {
            "return": _return,
            "sqlrank": self,
            "modules": SimpleNamespace(re=re),
            "target": SimpleNamespace(type=adapter),
            "exceptions": SimpleNamespace(raise_compiler_error=_refuse),
            "adapter": SimpleNamespace(dispatch=self.dispatch),
        }
        self.adapter = adapter
        self.module = environment.from_string(text, globals=tools).make_module()

    def dispatch(self, name: str, package: str) -> Any:
        assert package == "sqlrank"
        return getattr(
            self,
            f"{self.adapter if hasattr(self.module, f'{self.adapter}__{name}') else 'default'}__{name}",
        )

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            try:
                return str(getattr(self.module, name)(*arguments, **options))
            except _Return as returned:
                return returned.args[0]

        return call


def _return(value: Any) -> None:
    raise _Return(value)


def _refuse(message: str) -> None:
    raise ValueError(message)


@cache
def macros(adapter: str = "duckdb") -> _Macros:
    """Return the macros of the package."""
    return _Macros(adapter, dbt_package())


def statements(adapter: str) -> dict[str, str]:
    """Return statements of all macros and generic tests for an adapter, with and without groups."""
    package = macros(adapter)
    two = ["system", "market"]
    return {
        "total": package.rankings("new_runs", "qrels", columns=GRADES),
        "grouped": package.rankings("runs", "(SELECT * FROM qrels)", k=5, by=two, columns=GRADES),
        "queries": package.rankings_by_query(
            "runs", "qrels", by="system", columns={"qrels.relevance": "grade"}
        ),
        "clicks": package.predictions(
            "impressions", by={"is_last": "campaign > 1"}, columns=CLICKS
        ),
        "all_clicks": package.predictions("impressions", columns=CLICKS),
        "pairs": package.clusters("predicted", "truth"),
        "at_least": package.test_metric_at_least("grouped", 0.4, column_name="ap", by=two),
        "good": package.test_metric_not_worse_than("new_runs", "old_runs", by="market", **COMPARED),
        "bad": package.test_metric_not_worse_than("old_runs", "new_runs", by="market", **COMPARED),
        "good_interval": package.test_metric_not_worse_than(
            "new_runs", "old_runs", interval=True, by="market", **COMPARED
        ),
        "bad_interval": package.test_metric_not_worse_than(
            "old_runs", "new_runs", interval=True, **COMPARED
        ),
    }


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    """Return a database with the tables of the models, and views of the macros' statements."""
    connection = duckdb.connect()
    connection.execute(TABLES)
    for name, statement in statements("duckdb").items():
        connection.execute(f"CREATE VIEW {name} AS {statement}")
    return connection


def expected(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return the results of evaluate for each of the models."""
    rankings = ["nDCG@10", "AP", "RR", "P@10", "R@10", "Success@10", "Judged@10"]
    at_5 = [name.replace("@10", "@5") for name in rankings]
    predictions = [
        "AUC", "APS", "LogLoss", "Brier", "ECE", "CalibrationRatio", "BaseRate",
        "num_predictions",
    ]  # fmt: skip
    clusters = [
        "PairwisePrecision", "PairwiseRecall", "PairwiseF", "BCubedPrecision", "BCubedRecall",
        "BCubedF", "num_records",
    ]  # fmt: skip
    grades = {"qrels": "qrels", "columns": GRADES, "connection": connection}
    clicks = {"predictions": "impressions", "columns": CLICKS, "connection": connection}
    pairs = {"predicted_clusters": "predicted", "true_clusters": "truth"}
    return {
        "total": sqlrank.evaluate([*rankings, "num_q"], run="new_runs", **grades),
        "grouped": sqlrank.evaluate(
            [*at_5, "num_q"], run="runs", by=["system", "market"], **grades
        ),
        "queries": sqlrank.evaluate(rankings, run="runs", by="system", per_query=True, **grades),
        "clicks": sqlrank.evaluate(predictions, by="is_last=campaign > 1", **clicks),
        "all_clicks": sqlrank.evaluate(predictions, **clicks),
        "pairs": sqlrank.evaluate(clusters, inputs=pairs, connection=connection),
    }


def assert_equal_to_evaluate(connection: duckdb.DuckDBPyConnection) -> None:
    """Assert that tables called as the models have evaluate's numbers."""
    for name, result in expected(connection).items():
        built = connection.execute(f"FROM {name} ORDER BY ALL NULLS FIRST").fetchall()
        rows = sorted(
            (tuple(row.values()) for row in result.to_pylist()),
            key=lambda row: [(value is not None, value) for value in row],
        )
        assert len(built) == len(rows) > 0
        for row, values in zip(built, rows, strict=True):
            assert row == tuple(
                pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
                for value in values
            ), name


@pytest.mark.slow
def test_macros_have_the_numbers_of_evaluate(database):
    assert_equal_to_evaluate(database)


@pytest.mark.slow
def test_generic_tests_return_the_groups_that_fail(database):
    def failures(name):
        return database.execute(f"FROM {name} ORDER BY ALL NULLS FIRST").fetchall()

    low = database.execute(
        "SELECT system, market, ap FROM grouped WHERE ap < 0.4 ORDER BY ALL NULLS FIRST"
    ).fetchall()
    assert 0 < len(low) < 4
    assert failures("at_least") == low
    assert failures("good") == failures("good_interval") == []
    worse = failures("bad")
    assert [(row[0], row[-1]) for row in worse] == [(None, "fail"), ("x", "fail")]
    assert all(row[1] < row[2] for row in worse)
    ((gain, low_limit, high_limit, units, verdict),) = failures("bad_interval")
    assert (units, verdict) == (60, "fail")
    call = {"run": "runs", "qrels": "qrels", "columns": GRADES, "connection": database}
    (compared,) = sqlrank.compare("nDCG@10", baseline="new", **call).to_pylist()
    assert gain == pytest.approx(compared["difference"], rel=1e-9)
    assert [low_limit, high_limit] == pytest.approx(
        [compared["ci_low"], compared["ci_high"]], rel=1e-9
    )


@pytest.mark.slow
def test_undefined_empty_and_repeated_rows_fail(database):
    """Nothing passes because there is nothing."""
    package = macros()
    none = "(SELECT * FROM new_runs WHERE FALSE)"
    calls = {
        package.test_metric_at_least(none, 0.1, metric="ap", qrels="qrels", columns=GRADES): [
            (None,)
        ],
        package.test_metric_at_least("(SELECT NULL AS ap)", 0.1, column_name="ap"): [(None,)],
        package.test_metric_not_worse_than("total", "grouped", column_name="ap"): "undefined",
        package.test_metric_not_worse_than(
            "grouped", "(FROM grouped WHERE system = 'old')", column_name="ap", by="system"
        ): "undefined",
        package.test_metric_not_worse_than(
            none, "new_runs", interval=True, **COMPARED
        ): "undefined",
        package.test_metric_not_worse_than(
            "(FROM new_runs WHERE query_id = 'q1')",
            "new_runs",
            interval=True,
            min_units=61,
            **COMPARED,
        ): "inconclusive",
        package.test_metric_not_worse_than(
            "new_runs", "new_runs", interval=True, min_units=61, **COMPARED
        ): "inconclusive",
        package.test_metric_not_worse_than(
            "new_runs", "new_runs", interval=True, min_units=61, allow_inconclusive=True, **COMPARED
        ): [],
        package.test_metric_not_worse_than("new_runs", "new_runs", interval=True, **COMPARED): [],
    }
    for statement, wanted in calls.items():
        rows = database.execute(statement).fetchall()
        assert {row[-1] for row in rows} == {wanted} if isinstance(wanted, str) else rows == wanted


@pytest.mark.slow
def test_lower_values_of_losses_are_better(database):
    """Two scores of the same rows, of which one has the smaller loss."""
    package, options = (
        macros(),
        {
            "metric": "brier",
            "columns": CLICKS,
            "baseline_columns": {"label": "click", "score": "old_p"},
        },
    )
    losses = [
        database.execute(package.predictions("impressions", columns=options[name])).fetchone()
        for name in ("columns", "baseline_columns")
    ]
    new, old = (row[3] for row in losses if row is not None)
    assert new < old
    assert (
        database.execute(
            package.test_metric_not_worse_than("impressions", "impressions", **options)
        ).fetchall()
        == []
    )
    higher = package.test_metric_not_worse_than(
        "impressions", "impressions", direction="higher", **options
    )
    assert database.execute(higher).fetchall() == [(pytest.approx(new), pytest.approx(old), "fail")]


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_statements_of_adapters_are_parsed(adapter):
    """With no Jinja left in them."""
    for statement in statements(adapter).values():
        assert "{" not in statement
        sqlglot.parse_one(statement, read=adapter)


def test_databricks_has_the_statements_of_spark():
    """Its adapter uses the macros of that of Spark."""
    for arguments in (
        {"run": "r", "qrels": "q", "by": "system"},
        {"predictions": "p", "by": "day"},
    ):
        metrics = (
            ["nDCG", "AP", "Judged@10"] if "run" in arguments else ["AUC", "APS", "LogLoss", "ECE"]
        )
        texts = [
            sqlrank.sql(metrics, dialect=dialect, **arguments).partition("WITH")[2]
            for dialect in ("spark", "databricks")
        ]
        assert texts[0] == texts[1]


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m: m.rankings("r", "q", by="a + b"),
            (
                "sqlrank: by=a + b is no column. Give an expression with a name, as in by={'name':"
                " '...'}"
            ),
        ),
        *(
            (
                lambda m, k=k: m.rankings("r", "q", k=k),
                f"sqlrank: k is {text}. It must be an integer from 1 to 2147483647",
            )
            for k, text in (
                ("x", '"x"'),
                (0, "0"),
                (-3, "-3"),
                (2.5, "2.5"),
                (None, "null"),
                (True, "true"),
                (3e9, "3000000000.0"),
            )
        ),
        (
            lambda m: m.predictions("p", columns={"lable": "x"}),
            (
                "sqlrank: columns: 'lable' is not read. There are: label, predictions.label, score,"
                " predictions.score"
            ),
        ),
        (
            lambda m: m.test_metric_at_least("r", 1),
            "sqlrank: test a column of a model of metrics, or give the metric to compute",
        ),
        (
            lambda m: m.test_metric_not_worse_than("p", "p", metric="base_rate"),
            (
                "sqlrank: nothing says if higher values of base_rate are better. Give direction:"
                " higher or lower"
            ),
        ),
        (
            lambda m: m.test_metric_not_worse_than("p", "p", metric="auc", interval=True),
            (
                "sqlrank: an interval needs metric and qrels, of which the values of queries are"
                " compared"
            ),
        ),
    ],
)
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call(macros())


@pytest.mark.slow
def test_other_adapters_are_named():
    with pytest.raises(
        ValueError,
        match=(
            r"^sqlrank\.clusters has no SQL for oracle. It has for duckdb, bigquery, postgres,"
            r" redshift, snowflake, spark$"
        ),
    ):
        macros("oracle").clusters("a", "b")


@pytest.mark.slow
def test_packages_of_metrics_and_policies(tmp_path):
    done = CliRunner().invoke(app, f"functions 'P(rel=2)@k' -p ties=rank --dbt {tmp_path}/package")
    assert (done.exit_code, done.stdout) == (0, "")
    files = {path.name: path.read_text() for path in (tmp_path / "package" / "macros").iterdir()}
    assert (
        done.stderr == f"wrote {len(files) + 1} files of a dbt package in {tmp_path / 'package'}\n"
    )
    start = (
        "{# sqlrank 0.1.0: dbt package, ties=rank #}\n{% macro p_rel_2_at_k(run, qrels, k=10,"
        " by=none, columns={}) %}"
    )
    assert files["p_rel_2_at_k.sql"].startswith(start)
    assert "ORDER BY score" not in files["duckdb__p_rel_2_at_k.sql"]
    database = duckdb.connect()
    database.execute(TABLES)
    reason = "# no macro: predictions can be written for no adapter: ties='rank' orders documents"
    assert (tmp_path / "package" / "dbt_project.yml").read_text().splitlines()[1].startswith(reason)
    package = dbt_package("Lift@k")
    assert (
        "{% macro lift_at_k(predictions, fraction, by=none, columns={}) %}"
        in package["macros/lift_at_k.sql"]
    )
    lift = _Macros("duckdb", package).lift_at_k("impressions", 0.5, columns=CLICKS)
    wanted = sqlrank.evaluate(
        "Lift@0.5", predictions="impressions", columns=CLICKS, connection=database
    )
    assert database.execute(lift).fetchall() == [
        (pytest.approx(wanted["Lift@0.5"][0].as_py(), rel=1e-12),)
    ]
    (tmp_path / "package" / "dbt_project.yml").write_text("name: mine\n")
    again = CliRunner().invoke(app, f"functions --dbt {tmp_path}/package")
    assert again.exit_code == 2
    assert "dbt_project.yml: nothing in this file says that sqlrank wrote it" in again.stderr
    with pytest.raises(MetricError, match="tau is read by none of these metrics"):
        dbt_package(tau="a")


def write_project(folder: Path) -> None:
    """Write a project with models of all macros, whose last test fails."""
    models = {
        "total": (
            "sqlrank.rankings(source('main', 'new_runs'), source('main', 'qrels'),"
            " columns={'relevance': 'grade'})"
        ),
        "grouped": (
            "sqlrank.rankings(source('main', 'runs'), source('main', 'qrels'), k=5, by=['system',"
            " 'market'], columns={'relevance': 'grade'})"
        ),
        "queries": (
            "sqlrank.rankings_by_query(source('main', 'runs'), source('main', 'qrels'),"
            " by='system', columns={'relevance': 'grade'})"
        ),
        "clicks": (
            "sqlrank.predictions(source('main', 'impressions'), by={'is_last': 'campaign > 1'},"
            f" columns={CLICKS})"
        ),
        "all_clicks": f"sqlrank.predictions(source('main', 'impressions'), columns={CLICKS})",
        "pairs": "sqlrank.clusters(source('main', 'predicted'), source('main', 'truth'))",
    }
    texts = {name: f"{{{{ {call} }}}}" for name, call in models.items()}
    texts |= {
        "better": "FROM {{ source('main', 'new_runs') }}",
        "worse": "FROM {{ source('main', 'old_runs') }}",
    }
    texts["stopped"] = (
        "SELECT 1 AS one FROM {{ ref('worse') }}, {{ ref('better') }}, {{ source('main', 'qrels')"
        " }} LIMIT 1"
    )
    compared = {**COMPARED, "qrels": "source('main', 'qrels')", "interval": True}
    tests = {
        "grouped": {
            "metric_at_least": {
                "column_name": "ndcg_at_k",
                "minimum": 0.1,
                "by": ["system", "market"],
            }
        },
        "better": {
            "metric_not_worse_than": {**compared, "baseline": "ref('worse')", "by": "market"}
        },
        "worse": {"metric_not_worse_than": {**compared, "baseline": "ref('better')"}},
        "clicks": {"metric_at_least": {"column_name": "auc", "minimum": 0.1, "by": ["is_last"]}},
    }
    sources = [
        {
            "name": "main",
            "schema": "main",
            "tables": [{"name": name} for name in re.findall(r"CREATE TABLE (\w+)", TABLES)],
        }
    ]
    properties = [
        {
            "name": model,
            "data_tests": [
                {f"sqlrank.{name}": {"arguments": arguments}}
                for name, arguments in declared.items()
            ],
        }
        for model, declared in tests.items()
    ]
    files = {
        "dbt_project.yml": {
            "name": "shop",
            "version": "1.0.0",
            "profile": "shop",
            "model-paths": ["models"],
        },
        "profiles.yml": {
            "shop": {
                "target": "dev",
                "outputs": {"dev": {"type": "duckdb", "path": "shop.duckdb", "threads": 1}},
            }
        },
        "packages.yml": {"packages": [{"local": "packages/sqlrank"}]},
        "models/schema.yml": {"version": 2, "sources": sources, "models": properties},
    }
    for place, text in dbt_package().items():
        path = folder / "packages" / "sqlrank" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "models").mkdir()
    for place, content in files.items():
        (folder / place).write_text(yaml.safe_dump(content))
    for name, text in texts.items():
        (folder / "models" / f"{name}.sql").write_text(text)


@pytest.mark.slow
def test_dbt_builds_the_models_and_stops_at_a_failing_test(tmp_path, pytestconfig):
    programs = make_environment(
        pytestconfig, "dbt", ["dbt-core>=1.10,<1.12", "dbt-duckdb>=1.10,<1.12"]
    )
    write_project(tmp_path)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(TABLES)
    for command, status in (("deps", 0), ("build", 1)):
        call = [
            str(programs / "dbt"), command, "--project-dir", ".", "--profiles-dir", ".",
            "--no-use-colors",
        ]  # fmt: skip
        done = subprocess.run(call, check=False, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == status, done.stdout
        assert "deprecat" not in done.stdout.lower()
    assert "PASS=11 WARN=0 ERROR=1 SKIP=1" in done.stdout
    assert re.search(r"FAIL 1 sqlrank_metric_not_worse_than_worse_", done.stdout)
    assert re.search(r"SKIP relation main\.stopped", done.stdout)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        assert_equal_to_evaluate(connection)
