"""A statement or file never replaces its own inputs, or a file that sqlrank did not write."""

import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import InputError
from tests.interface.command_line import invoke_command, run_command, run_refused_command
from tests.tables import build_table


@pytest.mark.one_in(5)
@pytest.mark.parametrize("place", ["create_table", "create_view", "insert"])
@pytest.mark.parametrize(
    ("target", "source"),
    [
        ("clicks", "clicks"),
        ("CLICKS", "clicks"),
        ("main.clicks", "clicks"),
        ("clicks", '"a"."clicks"'),
    ],
)
@pytest.mark.parametrize("dialect", ["duckdb", "bigquery", "snowflake", "postgres"])
def test_a_target_that_is_an_input(place, target, source, dialect):
    source = source.replace('"', "`") if dialect == "bigquery" else source
    with pytest.raises(InputError) as caught:
        sqlrank.sql("AUC", predictions=source, dialect=dialect, **{place: target})
    assert (
        str(caught.value)
        == f"{place}: {target} is an input, which its own result cannot replace or add to. Name"
        " another table"
    )


def test_a_table_of_that_name_elsewhere():
    assert (
        sqlrank.sql("AUC", predictions="a.clicks", create_table="b.clicks")
        .partition("CREATE")[2]
        .startswith(" OR REPLACE TABLE b.clicks")
    )


def test_an_output_that_is_an_input(files, monkeypatch):
    monkeypatch.chdir(files)
    before = (files / "run.parquet").read_bytes()
    for source in ("run.parquet", "r*.parquet", files / "run.parquet"):
        message = run_refused_command(
            "evaluate", "RR", "--run", source, "--qrels", "qrels.parquet", "-o",
            "./run.parquet", "--force",
        )  # fmt: skip
        assert (
            message == "sqlrank: -o run.parquet: this file is an input, which its own result cannot"
            " replace. Name another file\n"
        )
    assert (files / "run.parquet").read_bytes() == before


def test_files_that_are_there(files, monkeypatch):
    monkeypatch.chdir(files)
    call = ("evaluate", "RR", "--run", "run.parquet", "--qrels", "qrels.parquet", "-o")
    (files / "notes.csv").write_text("mine")
    assert (
        run_refused_command(*call, "notes.csv")
        == "sqlrank: -o notes.csv: nothing in this file says that sqlrank wrote it. Replace it with"
        " --force, or name another file\n"
    )
    assert (files / "notes.csv").read_text() == "mine"
    run_command(*call, "notes.csv", "--force")
    assert (files / "notes.csv").read_text() == "RR\n0.75\n"
    pq.write_table(build_table(a="1"), "mine.parquet")
    assert "--force" in run_refused_command(*call, "mine.parquet")
    for _ in range(2):
        run_command(*call, "ours.parquet")
    assert pq.read_table("ours.parquet").to_pylist() == [{"RR": 0.75}]
    run_command(*call, "/dev/null", "--format", "csv")


def test_dbt_models_that_are_there(tmp_path):
    call = ("sql", "AUC", "--predictions", "clicks", "--dbt")
    for _ in range(2):
        assert "wrote" in _run_for_errors(*call, tmp_path / "ours.sql")
    (tmp_path / "mine.sql").write_text("SELECT 1")
    assert f"--dbt {tmp_path / 'mine.sql'}: nothing in this file" in run_refused_command(
        *call, tmp_path / "mine.sql"
    )
    (tmp_path / "other.yml").write_text("version: 2")
    assert f"--dbt {tmp_path / 'other.yml'}: nothing in this file" in run_refused_command(
        *call, tmp_path / "other.sql"
    )
    assert not (tmp_path / "other.sql").exists()
    assert "wrote" in _run_for_errors(*call, tmp_path / "other.sql", "--force")


CLICKS = {"metrics": "AUC", "name": "daily", "predictions": "clicks"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "snowflake"])
@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"by": '"{{ x }}"'}, "by"),
        ({"by": [['"{% x %}"']]}, "by"),
        ({"by": ["day", 'g="{# x #}"']}, "by"),
        ({"by": "g='{{ this }}'"}, "by"),
        ({"by": "g='{{ ref(1) }}'"}, "by"),
        ({"columns": {"score": '"{{ x }}"'}}, "columns"),
        ({"columns": {"label": "'{% if is_incremental() %}'"}}, "columns"),
        ({"unit": '"{{ x }}"', "confidence": 0.9}, "unit"),
        ({"where": "\"{{ x }}\" = 'a'"}, "where"),
        ({"where": "day = '{{ x }}' AND \"{{ x }}\" > 1"}, "where"),
        ({"by": "day='{{ this }}'", "materialized": "incremental", "overwrite_by": "day"}, "by"),
    ],
)
def test_jinja_that_was_not_requested_is_refused(options, option, dialect):
    with pytest.raises(
        InputError,
        match=rf"^{option}: .* holds Jinja, which dbt would run. Only a text in where= may hold it",
    ):
        sqlrank.dbt_model(**CLICKS, **options, dialect=dialect)


def test_jinja_behind_an_escape_stays_an_escape():
    model = sqlrank.dbt_model(**CLICKS, by="g=E'\\x7b\\x7b x }}'")
    assert "E'\\x7b\\x7b x }}'" in model.sql
    assert "{{ x" not in model.sql


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dialect", ["duckdb", "bigquery", "snowflake", "spark", "postgres"])
def test_jinja_in_a_text_of_a_condition_is_preserved(dialect):
    where = "day >= '{{ var(\"since\") }}' AND shop IN ('{{ var(\"x\") }}', 'b')"
    for model in (
        sqlrank.dbt_model(
            **CLICKS,
            by="day",
            where=where,
            dialect=dialect,
            materialized="incremental",
            overwrite_by="day",
        ),
        sqlrank.dbt_model(
            "RR",
            "daily",
            run="shop.runs",
            qrels="judgments",
            where=f"run.{where}".replace("shop", "run.shop"),
            dialect=dialect,
        ),
    ):
        assert model.sql.count('{{ var("since") }}') == 1
        assert model.sql.count('{{ var("x") }}') == 1


def _run_for_errors(*arguments: object) -> str:
    result = invoke_command(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stderr
