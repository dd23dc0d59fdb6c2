"""Invalid names, paths and expressions: the error names the argument, and suggests a correction."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import SqlrankError
from tests.interface.command_line import ROOT, invoke_command, run_command
from tests.tables import build_table

TABLE = pa.table(
    {
        "label": [0, 1, 1, 0],
        "score": [0.1, 0.7, 0.4, 0.5],
        "a,b": [1, 1, 2, 2],
        "paid": [True, True, False, False],
    }
)
SHORT = 1000
"""Maximum length of a message about one long text."""


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    pq.write_table(TABLE, tmp_path / "pred.parquet")
    (tmp_path / "empty").mkdir()


def find_refusal(metrics: Any = "AUC", **arguments: Any) -> str:
    with pytest.raises(SqlrankError) as caught:
        sqlrank.evaluate(metrics, **{"predictions": TABLE, **arguments})
    return str(caught.value)


WIDE = pa.table({f"c{number}": [1] for number in range(10_000)})


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "arguments",
    [
        {"metrics": "A" * 5000},
        {"metrics": "A(" * 5000},
        {"metrics": "P@" + "1" * 5000},
        {"metrics": "FBeta(beta=1e308)"},
        {"metrics": f"FBeta(beta={10**300})"},
        {"metrics": f"FBeta(beta={10**400})"},
        {"by": "x" * 5000},
        {"by": "x=" + "y" * 5000},
        {"columns": {"label": "d" * 5000}},
        {"predictions": WIDE},
        {"predictions": WIDE, "by": "zz"},
        {"predictions": "p" * 5000},
        {
            "predictions": WIDE.rename_columns(["label", "score", *WIDE.column_names[2:]]),
            "where": "zz > 1",
        },
        {"rel": TABLE.to_pandas()},
    ],
)
def test_messages_are_short_whatever_they_are_about(arguments):
    message = find_refusal(**arguments)
    assert all(len(line) < SHORT for line in message.splitlines())
    assert len(message.splitlines()) <= 2  # label and score are each missing


@pytest.mark.slow
def test_many_columns_are_counted():
    assert find_refusal(predictions=WIDE).endswith(" and 9,950 more")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "~/pred.parquet",
            "no file named '~/pred.parquet'. '~' is no folder here: give '{home}/pred.parquet'",
        ),
        (
            "file:///tmp/pred.parquet",
            "no file named 'file:///tmp/pred.parquet'. Give the path, '/tmp/pred.parquet'",
        ),
        ("-", "no file named '-'. Standard input can be read only once: write it to a file first"),
        ("preds.parquet", "no file named 'preds.parquet'. Did you mean 'pred.parquet'?"),
        ("{home}/pred.parqet", "Did you mean '{home}/pred.parquet'?"),
        (
            "nodir/pred.parquet",
            "no file named 'nodir/pred.parquet'. The folder 'nodir' is not there",
        ),
        (
            "empty",
            "'empty' is a folder without files. Give a file, or a glob such as 'empty/*.parquet'",
        ),
        (
            "dangling.parquet",
            "'dangling.parquet' is a link to 'nowhere.parquet', which leads to no file. Check it",
        ),
        ("loop", "'loop' is a link to 'loop', which leads to no file. Check it"),
        ("", "there is no table and no file named ''"),
        ("*.trec", "predictions: no file matches '*.trec'. In its folder are dangling.parquet, "),
    ],
)
def test_a_path_that_is_misread_says_why(path, message, tmp_path):
    os.symlink("nowhere.parquet", "dangling.parquet")  # noqa: PTH211
    os.symlink("loop", "loop")  # noqa: PTH211
    assert message.format(home=tmp_path) in find_refusal(predictions=path.format(home=tmp_path))


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="the system has no such files")  # noqa: PTH110
def test_a_file_that_the_system_makes_is_not_called_empty():
    assert (
        "'/proc/self/environ' has no size, since the system makes it as it is read"
        in find_refusal(predictions="/proc/self/environ")
    )


def test_a_folder_that_is_not_listed_is_not_called_empty(monkeypatch, tmp_path):
    def denied(folder, pattern):
        raise PermissionError(13, "Permission denied", str(folder), None, pattern)

    monkeypatch.setattr(Path, "rglob", denied)
    assert f"'{tmp_path}' is a folder that cannot be read: Permission denied" in find_refusal(
        predictions=str(tmp_path)
    )


def test_what_is_empty_is_refused_everywhere():
    assert find_refusal(dialect="").startswith(
        "dialect='' is not possible: give the name of a dialect"
    )
    for option in (
        "--temp-directory",
        "--db",
        "--by",
        "--compat",
        "--sql-dir",
        "--unit",
        "--where",
    ):
        result = invoke_command("evaluate", "AUC", "--predictions", "pred.parquet", option, "")
        assert (
            result.exit_code,
            f"{option} is empty. Give a value, or leave it out" in result.stderr,
        ) == (2, True)
    assert (
        "--by is empty" in invoke_command("compare AUC --predictions pred.parquet --by ''").stderr
    )
    assert "--dialect is empty" in invoke_command("sql AUC --predictions p --dialect ''").stderr


def test_an_address_of_a_database_is_repeated_as_it_was_given():
    assert (
        "'https://x' is the address of a database"
        in invoke_command("evaluate AUC --predictions pred.parquet --db https://x").stderr
    )


def test_an_address_of_motherduck_leads_to_its_shell_and_to_python():
    call = ("evaluate", "AUC", "--predictions")
    assert (
        "--db: 'md:' is an address of MotherDuck. Open it in Python with duckdb.connect('md:') and"
        " give that, or pipe the statement to it: sqlrank sql ... | duckdb md:"
        in " ".join(invoke_command(*call, "p", "--db", "md:").stderr.split())
    )
    assert (
        "name the table 'main.p', or pipe the statement to it: sqlrank sql ... main.p | duckdb md:"
        in " ".join(invoke_command(*call, "md:main.p").stderr.split())
    )


def test_a_name_in_quotes_is_the_column_without_them():
    assert sqlrank.evaluate("Positives", predictions=TABLE, by='"a,b"').to_pylist() == [
        {"a,b": 1, "Positives": 1.0},
        {"a,b": 2, "Positives": 1.0},
    ]
    lines = run_command(
        "evaluate", "Positives", "--predictions", "pred.parquet", "--by", '"a,b",paid',
        "--format", "csv",
    ).splitlines()  # fmt: skip
    assert lines == ['"a,b",paid,Positives', "1,1,1.0", "2,0,1.0"]


def test_booleans_of_by_are_numbers_as_the_documentation_says():
    assert (
        sqlrank.evaluate("Positives", predictions=TABLE, by="paid").schema.field("paid").type
        == pa.int32()
    )
    answers = build_table(
        query_id="a b",
        retrieved=[["x", "y"], ["y", "x"]],
        relevant=[["x"], ["x"]],
        paid=[True, False],
    )
    assert sqlrank.evaluate("RR", inputs={"answers": answers}, by="paid").to_pylist() == [
        {"paid": 0, "RR": 0.5},
        {"paid": 1, "RR": 1.0},
    ]
    assert "Booleans become 0 and 1 (int32)" in (ROOT / "docs" / "results.md").read_text("utf-8")


FILE = (
    "-- Mine: a metric.\n-- Undefined: never.\n-- Source: here.\nSELECT\n  group_id,\n  {} AS"
    " mine\nFROM predictions\nGROUP BY group_id\n"
)


def test_the_traceback_of_a_mistake_ends_at_the_call():
    with pytest.raises(SqlrankError, match="no column 'score'") as caught:
        sqlrank.evaluate("AUC", predictions={"label": [0, 1]})
    assert [frame.name for frame in caught.traceback][1:] == ["call_with_short_traceback"]
