"""dbt models of metrics: their files, and ``dbt build`` with their tests."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from typer.testing import CliRunner

import sqlrank
from sqlrank import InputError
from sqlrank.rendering.dialects import DIALECTS
from tests.environments import make_environment
from tests.interface.command_line import app

PROJECT = "name: shop\nversion: 1.0.0\nprofile: shop\nmodel-paths: [models]\n"
PROFILE = (
    "shop:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: shop.duckdb, threads: 1}\n"
)
SOURCES = (
    "version: 2\nsources:\n  - name: logs\n    schema: main\n    tables: [{name: impressions}]\n"
)
TABLES = """
    CREATE TABLE impressions AS
        SELECT i % 3 AS campaign, DATE '2026-01-01' + i::INTEGER % 2 AS "Day", i % 5 // 4 AS click, i * 7 % 11 / 11 AS p FROM range(90) AS t(i);
"""
RUN = (
    "SELECT i % 2 AS \"system\", 'q' || i // 10 AS query_id, 'd' || i % 10 AS doc_id, i * 3 % 7 AS"
    " score FROM {{ ref('ids') }}"
)
QRELS = (
    "SELECT DISTINCT 'q' || i // 10 AS query_id, 'd' || i % 7 AS doc_id, 1 AS relevance FROM {{"
    " ref('ids') }}"
)
EVALS = (
    "SELECT 'q' || i AS query_id, ['d' || i, 'd1'] AS retrieved, ['d1'] AS relevant, i * 10 AS"
    " latency_ms, i % 2 AS intent FROM {{ ref('ids') }}"
)
CLICKS = ["--predictions", "logs.impressions", "--column", "label=click", "--column", "score=p"]


def write_model(folder: Path, name: str, *arguments: str) -> tuple[str, dict[str, Any]]:
    result = CliRunner().invoke(app, ["sql", *arguments, "--dbt", str(folder / f"{name}.sql")])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"wrote {folder / name}.sql\nwrote {folder / name}.yml\n"
    schema = yaml.safe_load((folder / f"{name}.yml").read_text("utf-8"))
    (model,) = schema["models"]
    assert model["name"] == name
    return (folder / f"{name}.sql").read_text("utf-8"), model


def edit_properties(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the properties of a model as people do, below the comments of the file."""
    head = "".join(
        line for line in path.read_text("utf-8").splitlines(keepends=True) if line.startswith("#")
    )
    schema = yaml.safe_load(path.read_text("utf-8"))
    change(schema)
    path.write_text(head + yaml.safe_dump(schema, sort_keys=False), "utf-8")


def test_what_people_add_to_properties_stays(tmp_path):
    call = ("AUC", *CLICKS, "--by", "campaign,Day")
    text, _ = write_model(tmp_path, "daily", *call)
    assert f" --dbt {tmp_path / 'daily.sql'}\n" in text
    path = tmp_path / "daily.yml"

    def edit(schema):
        (model,) = schema["models"]
        schema["models"].insert(0, {"name": "mine", "description": "# no comment"})
        schema["exposures"] = [{"name": "board"}]
        model["config"] = {"tags": ["hourly"]}
        model["data_tests"].append({"dbt_utils.recency": {"field": "Day"}})
        campaign, day, auc = model["columns"]
        campaign["data_tests"].append("accepted")
        campaign["description"] = "It's the campaign"
        del day["data_tests"]
        auc["data_tests"] = [{"sqlrank.metric_at_least": {"minimum": 0.6}}]
        model["columns"].append(
            {"name": "margin", "data_tests": ["not_null"], "meta": {"owner": "Ann"}}
        )

    edit_properties(path, edit)
    result = CliRunner().invoke(
        app,
        [
            "sql",
            "AUC",
            "Positives",
            *CLICKS,
            "--by",
            "campaign",
            "--by",
            "Day",
            "--dbt",
            str(path.with_suffix(".sql")),
        ],
    )
    assert result.exit_code == 0, result.output
    schema = yaml.safe_load(path.read_text("utf-8"))
    mine, model = schema["models"]
    assert (mine, schema["exposures"], model["config"]) == (
        {"name": "mine", "description": "# no comment"}, [{"name": "board"}], {"tags": ["hourly"]}
    )  # fmt: skip
    assert "Positives" in model["description"]
    unique, recency = model["data_tests"]
    assert unique["unique"]["column_name"].count("CAST") == 2
    assert recency == {"dbt_utils.recency": {"field": "Day"}}
    columns = {column.pop("name"): column for column in model["columns"]}
    assert list(columns) == ["campaign", "Day", "auc", "positives", "margin"]
    assert columns["campaign"] == {
        "quote": True,
        "data_tests": ["not_null", "accepted"],
        "description": "It's the campaign",
    }
    assert "data_tests" not in columns["Day"], "a test that was removed stays away"
    assert columns["auc"]["data_tests"] == [{"sqlrank.metric_at_least": {"minimum": 0.6}}]
    assert columns["positives"]["data_tests"] == ["not_null"]
    assert columns["margin"]["meta"] == {"owner": "Ann"}
    before = path.read_text("utf-8")
    result = CliRunner().invoke(
        app, ["sql", "AUC", *CLICKS, "--by", "Day", "--dbt", str(path.with_suffix(".sql"))]
    )
    names = [
        column["name"] for column in yaml.safe_load(path.read_text("utf-8"))["models"][1]["columns"]
    ]
    assert result.exit_code == 0, result.output
    assert names[:2] == ["Day", "auc"]
    assert {"campaign", "margin"} <= {*names}, "columns with tests of people stay"
    assert before != path.read_text("utf-8")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("ending", "addition", "message"),
    [
        (
            ".sql",
            "WHERE TRUE\n",
            (
                "this file was edited after sqlrank wrote it. Replace it with --force, or name"
                " another file"
            ),
        ),
        (
            ".yml",
            "# mine\n",
            (
                "this file has comments, which would be lost. Write them into descriptions, or"
                " replace the file with --force"
            ),
        ),
        (
            ".yml",
            "  x: [\n",
            "this file is no list of models. Fix it, or replace the file with --force",
        ),
    ],
)
def test_edits_that_would_be_lost_need_force(ending, addition, message, tmp_path):
    call = ["sql", "AUC", *CLICKS, "--dbt", str(tmp_path / "daily.sql")]
    write_model(tmp_path, "daily", "AUC", *CLICKS)
    path = tmp_path / f"daily{ending}"
    path.write_text(path.read_text("utf-8") + addition, "utf-8")
    before = {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()}
    result = CliRunner().invoke(app, call)
    assert (result.exit_code, result.stderr) == (2, f"sqlrank: --dbt {path}: {message}\n")
    assert {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()} == before
    assert CliRunner().invoke(app, [*call, "--force"]).exit_code == 0
    assert addition not in path.read_text("utf-8")
    assert CliRunner().invoke(app, call).exit_code == 0, "what nobody edited is written again"


def run_refused_model(folder: Path, *arguments: str) -> str:
    result = CliRunner().invoke(app, ["sql", *arguments, "--dbt", str(folder / "daily.sql")])
    assert result.exit_code == 2
    assert not list(folder.iterdir())
    return result.stderr.strip()


def test_a_model_reads_what_dbt_knows(tmp_path):
    text, model = write_model(
        tmp_path,
        "daily",
        "AUC",
        "Positives",
        *CLICKS,
        "--by",
        "campaign",
        "--where",
        '"Day" = \'{{ var("day") }}\'',
    )
    assert text.startswith("{{ config(materialized='table') }}\n-- sqlrank")
    assert "FROM {{ source('logs', 'impressions') }}" in text
    assert '"Day" = \'{{ var("day") }}\'' in text
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    assert "impressions" not in "\n".join(lines).replace("{{ source('logs', 'impressions') }}", "")
    assert "-- reads: logs.impressions (predictions)" in text
    assert not text.rstrip().endswith(";")
    assert "ORDER BY\n  by_" not in text
    assert model["columns"] == [
        {"name": "campaign", "quote": True, "data_tests": ["not_null"]},
        {"name": "auc", "description": "AUC: " + read_description("AUC")},
        {
            "name": "positives",
            "description": "Positives: " + read_description("Positives"),
            "data_tests": ["not_null"],
        },
    ]
    assert model["data_tests"] == [{"unique": {"column_name": 'CAST("campaign" AS TEXT)'}}]


def test_different_keys_are_unique_together(tmp_path):
    _, model = write_model(tmp_path, "daily", "AUC", *CLICKS, "--by", "campaign,Day")
    text = model["data_tests"][0]["unique"]["column_name"]
    keys = [("a|", "b"), ("a", "|b"), ("a", "b"), ("a|0", "b"), ("a|1", "b"), ("a", "1|b")]
    rows = ", ".join(map(str, keys))
    with duckdb.connect() as connection:
        texts = connection.sql(f'SELECT {text} FROM (VALUES {rows}) AS t(campaign, "Day")')
        assert len({*texts.fetchall()}) == len(keys)


def read_description(name: str) -> str:
    listed = {row["name"]: row["description"] for row in sqlrank.metrics().to_pylist()}
    return listed[name]


def test_keys_are_the_columns_before_the_metrics(tmp_path):
    rankings = ["--run", "run", "--qrels", "qrels", "--by", "system"]
    names = {
        "per_query": (["RR", *rankings, "--per-query"], ["system", "query_id"], ["rr"]),
        "sweep": (
            ["P@1..3", "nDCG@1..3", *rankings],
            ["system", "k"],
            ["p_at_1_to_3", "ndcg_at_1_to_3"],
        ),
        "roc": (
            ["ROC", *CLICKS, "--by", "campaign"],
            ["campaign", "point"],
            ["threshold", "fpr", "tpr"],
        ),
        "models": (["Brier", *CLICKS, "--column", "score=q"], ["score"], ["brier"]),
        "total": (["Brier", *CLICKS], [], ["brier"]),
    }
    for name, (arguments, keys, values) in names.items():
        _, model = write_model(tmp_path, name, *arguments)
        assert [column["name"] for column in model["columns"]] == keys + values
        assert [column["name"] for column in model["columns"] if column.get("data_tests")] == keys
        assert ("data_tests" in model) == bool(keys)


def test_groupings_may_be_null(tmp_path):
    _, model = write_model(
        tmp_path, "groupings", "Brier", *CLICKS, "--by", "campaign", "--by", "total"
    )
    assert model["columns"][0] == {"name": "campaign", "quote": True}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_have_the_case_of_the_engine(dialect):
    model = sqlrank.dbt_model(
        "Brier", "daily", dialect=dialect, predictions="clicks", by=["Day", '"Week"']
    )
    day = {"snowflake": "DAY", "postgres": "day", "redshift": "day", "datafusion": "day"}.get(
        dialect, "Day"
    )
    assert [column["name"] for column in model.schema["models"][0]["columns"]] == [
        day,
        "Week",
        "brier",
    ]


def test_a_model_that_replaces_days(tmp_path):
    replacing = [
        *CLICKS,
        "--by",
        "Day,campaign",
        "--materialized",
        "incremental",
        "--overwrite-by",
        "Day",
    ]
    text, _ = write_model(tmp_path, "duckdb", "Brier", *replacing, "--where", "campaign > 0")
    assert (
        text.splitlines()[0] == "{{ config(materialized='incremental', unique_key=['Day'],"
        " incremental_strategy='delete+insert', on_schema_change='append_new_columns') }}"
    )
    condition = """{% if is_incremental() %}"Day" >= COALESCE((SELECT MAX("Day") FROM {{ this }}), "Day"){% else %}TRUE{% endif %}"""
    assert text.count(condition) == 1
    assert '"campaign" > 0 AND ' + condition in " ".join(text.split())
    merged, _ = write_model(tmp_path, "merged", "Brier", *replacing, "--dialect", "bigquery")
    assert (
        merged.splitlines()[0]
        == "{{ config(materialized='incremental', unique_key=['Day', 'campaign'],"
        " on_schema_change='append_new_columns') }}"
    )
    assert "`Day` >= COALESCE((SELECT MAX(`Day`) FROM {{ this }}), `Day`)" in merged
    shared = [
        "RR", "--run", "runs", "--qrels", "truth", "--by", "qrels.day", "--materialized",
        "incremental", "--overwrite-by", "day",
    ]  # fmt: skip
    assert write_model(tmp_path, "shared", *shared)[0].count("is_incremental()") == 2
    assert (
        "is_incremental"
        not in write_model(tmp_path, "daily", "Brier", *replacing[:-2], "--where", "campaign > 0")[
            0
        ]
    )
    computed = [
        "Brier",
        *CLICKS,
        "--by",
        "week=DATE_TRUNC('week', day)",
        "--materialized",
        "incremental",
        "--overwrite-by",
        "week",
    ]
    assert (
        """DATE_TRUNC('week', "day") >= COALESCE((SELECT MAX("week") FROM {{ this }})"""
        in write_model(tmp_path, "weeks", *computed)[0]
    )


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"predictions: 'clicks\.parquet' is neither a dbt model"):
        sqlrank.dbt_model("AUC", "m", predictions="clicks.parquet")
    three = "a.b.c"
    assert (
        run_refused_model(tmp_path, "AUC", "--predictions", three)
        == "sqlrank: predictions: 'a.b.c' is neither a dbt model, such as predictions, nor a"
        " source, such as shop.predictions"
    )
    assert "neither a dbt model" in run_refused_model(
        tmp_path, "AUC", "--predictions", "\"x') }} {{ run_query('\""
    )
    assert (
        run_refused_model(tmp_path, "AUC", *CLICKS, "--insert", "t")
        == "sqlrank: --insert is not for --dbt, which writes a model over models and sources"
    )
    assert (
        run_refused_model(tmp_path, "AUC", *CLICKS, "--materialized", "cube")
        == "sqlrank: unknown materialized 'cube'. Choose from: table, view, incremental"
    )
    assert "needs by or per_query" in run_refused_model(
        tmp_path, "AUC", *CLICKS, "--materialized", "incremental"
    )
    groupings = ["--by", "campaign", "--by", "total", "--materialized", "incremental"]
    assert "which an incremental model cannot match" in run_refused_model(
        tmp_path, "AUC", *CLICKS, *groupings
    )
    assert (
        run_refused_model(tmp_path, "AUC", *CLICKS, "--by", "day", "--overwrite-by", "day")
        == "sqlrank: --overwrite-by day is for --materialized incremental. Choose that, or leave"
        " out --overwrite-by"
    )
    result = CliRunner().invoke(app, ["sql", "AUC", *CLICKS, "--dbt", str(tmp_path / "models")])
    assert (
        result.stderr
        == f"sqlrank: --dbt {tmp_path / 'models'}: name the file of the model, such as"
        " models/daily_metrics.sql\n"
    )
    result = CliRunner().invoke(app, ["sql", "AUC", *CLICKS, "--dbt", str(tmp_path / "a-b.sql")])
    assert (
        result.stderr
        == "sqlrank: 'a-b' is not the name of a dbt model. Use letters, digits and _\n"
    )
    result = CliRunner().invoke(app, ["sql", "AUC", *CLICKS, "--materialized", "view"])
    assert result.stderr == "sqlrank: --materialized is for --dbt\n"


@pytest.mark.slow
def test_dbt_builds_the_models_and_passes_their_tests(tmp_path, pytestconfig):
    programs = make_environment(
        pytestconfig, "dbt", ["dbt-core>=1.10,<1.12", "dbt-duckdb>=1.10,<1.12"]
    )
    models = tmp_path / "models"
    models.mkdir()
    for name, text in {
        "dbt_project.yml": PROJECT,
        "profiles.yml": PROFILE,
        "models/sources.yml": SOURCES,
    }.items():
        (tmp_path / name).write_text(text)
    (models / "runs.sql").write_text(RUN)
    (models / "truth.sql").write_text(QRELS)
    (models / "ids.sql").write_text("SELECT i FROM range(100) AS t(i)")
    write_model(models, "daily", "AUC", "LogLoss", "Positives", *CLICKS, "--by", "campaign,Day", "--materialized", "incremental",
            "--where", "\"Day\" >= '{{ var(\"since\", \"2026-01-01\") }}'")  # fmt: skip
    write_model(
        models,
        "replaced",
        "Brier",
        *CLICKS,
        "--by",
        "campaign,Day",
        "--materialized",
        "incremental",
        "--overwrite-by",
        "Day",
    )
    write_model(models, "overall", "AUC", "Brier", *CLICKS, "--by", "campaign", "--by", "total")
    write_model(models, "roc", "ROC", *CLICKS, "--by", "campaign", "--materialized", "view")
    write_model(
        models, "rankings", "nDCG@10", "AP", "num_q", "--run", "runs", "--qrels", "truth",
        "--by", "system",
    )  # fmt: skip
    write_model(
        models, "queries", "RR", "--run", "runs", "--qrels", "truth", "--by", "system",
        "--per-query",
    )  # fmt: skip
    (models / "evals.sql").write_text(EVALS)
    write_model(
        models, "questions", "nDCG@10", "Mean(latency_ms)", "num_q", "--input", "answers=evals",
        "--by", "intent",
    )  # fmt: skip
    write_audit(tmp_path / "tests" / "ranking_rows.sql")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(TABLES)
    build = [str(programs / "dbt"), "build", "--project-dir", ".", "--profiles-dir", "."]

    def run_build(*options):
        command = [*build, "--no-use-colors", *options]
        return subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)

    for variables in ("{}", "{since: '2026-01-02'}"):
        done = run_build("--vars", variables)
        assert done.returncode == 0, done.stdout
        assert "PASS=32 WARN=0 ERROR=0 SKIP=0" in done.stdout
        assert "deprecat" not in done.stdout.lower()
    check_built_models(tmp_path / "shop.duckdb")
    (models / "truth.sql").write_text(QRELS.replace("1 AS relevance", "NULL::INT AS relevance"))
    done = run_build("--select", "truth")
    assert done.returncode == 1
    assert "FAIL 1 ranking_rows" in done.stdout, done.stdout


def write_audit(path: Path) -> None:
    """Write a test of the rows of both inputs of rankings, twice, as a scheduled job does."""
    path.parent.mkdir()
    arguments = ["sql", "AP", "--run", "runs", "--qrels", "truth", "--audit", "--dbt", str(path)]
    for _ in range(2):
        result = CliRunner().invoke(app, arguments)
        assert (result.exit_code, result.stderr) == (0, f"wrote {path}\n")
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    text = path.read_text("utf-8")
    assert "FROM {{ ref('runs') }}" in text
    assert text.endswith("WHERE num_rows > 0\n")


def check_built_models(file: Path) -> None:
    """Compare the tables of the models with the results of evaluate."""
    with duckdb.connect(str(file), read_only=True) as connection:
        clicks = {
            "predictions": "impressions",
            "connection": connection,
            "columns": {"label": "click", "score": "p"},
        }
        rankings = {"run": "runs", "qrels": "truth", "connection": connection, "by": "system"}
        expected = {
            "daily": sqlrank.evaluate(
                ["AUC", "LogLoss", "Positives"], by=["campaign", "Day"], **clicks
            ),
            "replaced": sqlrank.evaluate("Brier", by=["campaign", "Day"], **clicks),
            "overall": sqlrank.evaluate(["AUC", "Brier"], by=[["campaign"], []], **clicks),
            "roc": sqlrank.evaluate("ROC", by="campaign", **clicks),
            "rankings": sqlrank.evaluate(["nDCG@10", "AP", "num_q"], **rankings),
            "queries": sqlrank.evaluate("RR", per_query=True, **rankings),
            "questions": sqlrank.evaluate(
                ["nDCG@10", "Mean(latency_ms)", "num_q"],
                inputs={"answers": "evals"},
                connection=connection,
                by="intent",
            ),
        }
        for name, result in expected.items():
            built = connection.execute(f"FROM {name} ORDER BY ALL NULLS FIRST").fetchall()
            assert len(built) == result.num_rows > 1
            for row, values in zip(built, result.to_pylist(), strict=True):
                assert row == tuple(
                    pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
                    for value in values.values()
                )


@pytest.mark.parametrize(
    "jinja",
    [
        "{% do run_query('x') %}",
        "{{ run_query('x') }}",
        '{{ var("a") ~ run_query("x") }}',
        '{{ var(run_query("x")) }}',
        "{{ env_var('A') }}",
        "{# x #}",
        '{{ var("a") }}{% x %}',
    ],
)
@pytest.mark.parametrize("place", ["where", "by"])
def test_no_other_jinja_than_variables_reaches_a_model(jinja, place):
    text = jinja.replace("'", "''")
    argument = {"where": f"g = '{text}'"} if place == "where" else {"by": f"g='{text}'"}
    with pytest.raises(InputError, match="which dbt would run"):
        sqlrank.dbt_model("AUC", "daily", predictions="clicks", **argument)


@pytest.mark.parametrize(
    "jinja", ['{{ var("since") }}', "{{var('since', 3)}}", '{{ var("since", "2026-01-01") }}']
)
def test_variables_reach_a_model_as_they_are_written(jinja):
    quotes = "$$" if "'" in jinja else "'"
    where = f"g >= {quotes}{jinja}{quotes}"
    assert jinja in sqlrank.dbt_model("AUC", "daily", predictions="clicks", where=where).sql
