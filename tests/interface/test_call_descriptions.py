"""The command in the header of a statement, which is left out where a call has none."""

import shlex

import duckdb
import pytest

import sqlrank
from tests.interface.command_line import run_command
from tests.tables import build_table

RUNS = {"run": "eval.run", "qrels": "eval.qrels"}


def read_command(text: str) -> str | None:
    """Return the command in the header of a statement, None if it has none."""
    commands = [
        line.removeprefix("-- made by: ")
        for line in text.splitlines()
        if line.startswith("-- made by: ")
    ]
    return commands[0] if commands else None


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "options",
    [
        {"where": "run.day = 'it''s; -- $HOME' AND qrels.day > 1"},
        {"by": "day=SUBSTR(ts, 1, 10)"},
        {"by": [["system", "run.day"], ["system"], []]},
        {"by": [["system", "run.day"]]},
        {"columns": {"query_id": "user id", "run.score": "-score"}},
        {"run": {"old": "eval.a", "new one": "eval.b"}},
        {"run": ["eval.a", "eval.b"]},
        {"queries": "judged_and_retrieved", "ties": "rank", "depth": 10},
        {"gain": {1: 3, 2.5: 9}},
        {"confidence": 0.9, "interval": "bootstrap", "replicates": 199, "seed": 3},
        {"create_table": "s.t", "compat": "trec10"},
        {"insert": "s.t", "by": "system", "overwrite_by": "system"},
    ],
)
def test_the_command_prints_the_same_statement(options):
    text = sqlrank.sql("nDCG@10", **{**RUNS, **options})
    words = shlex.split(str(read_command(text)))
    assert words[0] == "sqlrank"
    assert run_command(*words[1:]) == f"{text};\n"


def test_the_command_names_files_and_databases(tmp_path):
    path = tmp_path / "data base.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE p AS SELECT 1 AS label, 0.5 AS score UNION ALL SELECT 0, 0.25"
        )
    text = sqlrank.sql("AUC", predictions="p", connection=path)
    assert run_command(*shlex.split(str(read_command(text)))[1:]) == f"{text};\n"
    result = sqlrank.evaluate("AUC", predictions="p", connection=str(path))
    assert read_command(result.schema.metadata[b"sqlrank.sql"].decode()) == read_command(text)


@pytest.mark.parametrize(
    "options", [{"by": [["system"], ["run.day"]]}, {"by": "total"}, {"run": {"a=b": "eval.run"}}]
)
def test_calls_without_a_form_on_the_command_line_have_no_command(options):
    assert read_command(sqlrank.sql("nDCG@10", **{**RUNS, **options})) is None


def test_sources_in_memory_have_no_command():
    run = build_table(query_id="1 1", doc_id="a b", score="0.9 0.5")
    qrels = {1: {"b": 1}}
    text = sqlrank.evaluate("RR", run=run, qrels=qrels).schema.metadata[b"sqlrank.sql"].decode()
    assert read_command(text) is None
    assert "\n-- reads: a Table (run), a dict (qrels)\n" in text
    connection = duckdb.connect()
    connection.execute("CREATE TABLE p AS SELECT 1 AS label, 0.5 AS score")
    assert read_command(sqlrank.sql("Brier", predictions="p", connection=connection)) is None


def test_a_model_has_a_command_unless_it_holds_jinja():
    model = sqlrank.dbt_model(
        "AUC",
        "daily",
        predictions="shop.clicks",
        by="day",
        materialized="incremental",
        overwrite_by="day",
    )
    assert (
        "\n-- made by: sqlrank sql AUC --predictions shop.clicks --by day --dbt daily.sql"
        " --materialized incremental " in model.sql
    )
    model = sqlrank.dbt_model(
        "AUC", "daily", predictions="clicks", where="day >= '{{ var(\"since\") }}'"
    )
    assert "made by" not in model.sql
    assert model.sql.count("{{ var") == 1
