"""Whoever does what a message says, and nothing else, gets the right number: suggestions are read
from messages and applied to the same input.
"""

import json
import tomllib
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlrank
from tests.interface.advice import follow, follow_all, follow_command, paste_command
from tests.tables import read_columns

LABELS, SCORES = [1, 0, 0, 1], [0.9, 0.2, 0.4, 0.3]
QRELS = {"q1": {"d2": 1}}
CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PREDICTIONS, FILES, CALLS = CASES["predictions"], CASES["files"], CASES["calls"]
SOURCES = {"run", "qrels", "predictions"}
"""What of a call has columns, which words may be."""


def _read_prediction(case: str) -> tuple[dict[str, list[Any]], str, float]:
    columns = dict(PREDICTIONS[case])
    metric, number = columns.pop("metric"), columns.pop("number")
    return read_columns(**columns), metric, number


# Numbers of further alternatives of a message, which say another thing.
OTHER_READINGS = {
    "two words": 0.75,
    "two words and missing ones": 0.25,
    "two words in other letters": 0.25,
    "classes in letters": 0.25,
}

# What the quick tests try of the cases, one of each kind of advice; the rest is
# slow.
QUICK = {
    "percentages", "labels -1 and 1", "decimal commas", "yes and no", "names of R", "comma.csv", "rates.csv", "NumPy texts",
    "two words", "zeros and numbers", "gaps from 0", "a distance", "another input", "a score that rises with ranks",
}  # fmt: skip


def _mark_slow(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in names]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", _mark_slow(PREDICTIONS))
def test_columns_of_predictions(case: str) -> None:
    columns, metric, expected = _read_prediction(case)
    value, messages = follow(metric, predictions=columns)
    assert value == pytest.approx(expected, abs=1e-6)
    assert messages or metric == "auc_roc"
    numbers = [expected, *([OTHER_READINGS[case]] if case in OTHER_READINGS else [])]
    assert follow_all(metric, predictions=columns) == pytest.approx(numbers, abs=1e-6)
    assert not any(message.startswith(("duckdb:", "DuckDB", "sqlite:")) for message in messages)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", _mark_slow(PREDICTIONS))
def test_options_of_messages_are_pasted(case: str, tmp_path: Path) -> None:
    columns, metric, expected = _read_prediction(case)
    path = tmp_path / "it's a file.parquet"
    pd.DataFrame(columns).to_parquet(path)
    output, messages = paste_command("evaluate", metric, "--predictions", path, "--format", "csv")
    assert float(output.split()[1]) == pytest.approx(expected, abs=1e-6)
    assert len(messages) <= len(follow(metric, predictions=columns)[1])


@pytest.mark.parametrize("name", _mark_slow(FILES))
def test_files_of_predictions(name: str, tmp_path: Path) -> None:
    text, metric, expected, part = FILES[name].values()
    (tmp_path / name).write_text(text)
    value, messages = follow(metric, predictions=str(tmp_path / name))
    assert value == pytest.approx(expected, abs=1e-6)
    assert any(part in message for message in messages)
    assert {*follow_all(metric, predictions=str(tmp_path / name))} == {value}


@pytest.mark.slow
@pytest.mark.parametrize("text", ["-", "0,5", "50 %"])
def test_a_text_far_down_a_column_of_numbers(text: str, tmp_path: Path) -> None:
    rows = "".join(f"{index % 2};0.5;n\n" for index in range(25_000))
    (tmp_path / "long.csv").write_text(f"label;score;note\n{rows}0;{text};n\n1;{text};n\n")
    value, messages = follow("AUC", predictions=str(tmp_path / "long.csv"))
    assert value == 0.5
    assert f"line 25002: score is {text!r}" in messages[0]


@pytest.mark.parametrize("tool", _mark_slow(CASES["runs"]))
def test_runs_of_other_tools(tool: str, tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text(CASES["runs"][tool])
    assert follow("RR", run=str(tmp_path / "run.csv"), qrels=QRELS)[0] == 0.5
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\nq1,d2,1\n")
    output, _ = follow_command(
        "evaluate", "RR", "--run", tmp_path / "run.csv", "--qrels", tmp_path / "qrels.csv",
        "--format", "csv",
    )  # fmt: skip
    assert output.split() == ["RR", "0.5"]


@pytest.mark.parametrize("form", _mark_slow(CASES["answers"]))
def test_texts_of_lists(form: str, tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text(f"query_id,retrieved,relevant\n{CASES['answers'][form]}")
    assert follow("RR", inputs={"answers": str(tmp_path / "answers.csv")})[0] == 0.75


@pytest.mark.slow
def test_columns_of_answers(tmp_path: Path) -> None:
    objects = {"query_id": "q1", "retrieved": [{"key": "a"}, {"key": "b"}], "relevant": ["b"]}
    (tmp_path / "objects.jsonl").write_text(json.dumps(objects))
    assert follow("RR", inputs={"answers": str(tmp_path / "objects.jsonl")})[0] == 0.5
    lists = {
        "query_id": "q1",
        "retrieved": ["a", "b"],
        "ground_truth": "Paris is the capital",
        "ground_truth_ids": ["b"],
    }
    (tmp_path / "lists.jsonl").write_text(json.dumps(lists))
    assert follow("RR", inputs={"answers": str(tmp_path / "lists.jsonl")})[0] == 0.5


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", _mark_slow(CALLS))
def test_every_alternative_of_messages_and_notes(name: str) -> None:
    arguments = {
        role: read_columns(**given) if role in SOURCES else given
        for role, given in CALLS[name].items()
    }
    metric, numbers = arguments.pop("metric"), arguments.pop("numbers")
    assert follow_all(metric, **arguments) == pytest.approx(numbers)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES["judgments"])
def test_queries_of_files_of_judgments(name: str, tmp_path: Path) -> None:
    text, expected = CASES["judgments"][name].values()
    (tmp_path / name).write_text(text)
    assert {*follow_all("RR", run={"1": ["10"]}, qrels=str(tmp_path / name))} == {expected}


def test_durations_are_seconds() -> None:
    columns = {"latency": [timedelta(seconds=1.5), timedelta(seconds=2)]}
    assert follow("Mean(latency)", predictions=columns)[0] == 1.75


@pytest.mark.slow
def test_other_calls(tmp_path: Path) -> None:
    run = read_columns(query_id="q1 q1", doc_id="d1 d2", score="2.0 1.0", n="1 2")
    assert follow("RR", run=run, qrels=QRELS, where="run.n <> run.doc_id")[0] == 0.5
    predictions = {"label": LABELS, "score": list(map(str, SCORES))}
    assert (
        follow(
            "AUC",
            predictions={**predictions, "score": [*map(str, SCORES[:3]), "x"]},
            columns={"score": "CAST(score AS DOUBLE)"},
        )[0]
        == 1.0
    )
    assert follow("AUC", predictions={"label": LABELS, "score": SCORES}, k=10)[0] == 0.75
    assert follow("nDCG", run={"q1": ["d1", "d2"]}, qrels=QRELS, k=1)[0] == 0.0
    assert follow("auc calibration", predictions={"label": LABELS, "score": SCORES})[0] == 0.75
    assert follow("AUC", predictions={"label": LABELS, "score": SCORES}, confidence=95)[0] == 0.75
    clusters = read_columns(source="a b a", record_id="1 1 2")
    inputs = {
        "predicted_clusters": {**clusters, "cluster_id": [1, 1, 1]},
        "true_clusters": {**clusters, "cluster_id": [1, 2, 1]},
    }
    assert follow("PairwisePrecision", inputs=inputs)[0] == pytest.approx(1 / 3)
    of_splink = {"source": "source_dataset", "record_id": "unique_id", "cluster_id": "cluster_id"}
    inputs = {
        role: {of_splink[name]: values for name, values in columns.items()}
        for role, columns in inputs.items()
    }
    assert follow("PairwisePrecision", inputs=inputs)[0] == pytest.approx(1 / 3)
    rows = pd.DataFrame(
        {
            "label": LABELS,
            "probs": [
                [{"label": 1, "prob": score}, {"label": 0, "prob": 1 - score}] for score in SCORES
            ],
        }
    )
    rows.to_parquet(tmp_path / "rows.parquet")
    subquery = "(SELECT u.prob FROM UNNEST(probs) AS t(u) WHERE u.label = 1)"
    assert (
        follow("AUC", predictions=str(tmp_path / "rows.parquet"), columns={"score": subquery})[0]
        == 0.75
    )


COMMANDS = (
    "dash.csv", "comma.csv", "percent.csv", "header.csv", "total.csv", "semicolons.csv",
)  # fmt: skip


@pytest.mark.parametrize("name", _mark_slow(COMMANDS))
def test_options_of_the_command_line(name: str, tmp_path: Path) -> None:
    text, metric, expected, part = FILES[name].values()
    (tmp_path / name).write_text(text)
    output, messages = follow_command(
        "evaluate", metric, "--predictions", tmp_path / name, "--format", "csv"
    )
    assert float(output.split()[1]) == pytest.approx(expected, abs=1e-6)
    assert any(part in message for message in messages)
    assert not any(
        "columns=" in message or "nulls=" in message.replace("--policy nulls=", "")
        for message in messages
    )


def test_a_long_value_is_shortened() -> None:
    for arguments in ({"ties": "x" * 5000}, {"gain": "x" * 5000}, {"compat": "x" * 5000}):
        with pytest.raises(sqlrank.SqlrankError) as caught:
            sqlrank.evaluate("nDCG", run={"q1": ["d1"]}, qrels={"q1": {"d1": 1}}, **arguments)
        assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("name", "title"), [("postgresql", "PostgreSQL"), ("Postgres", "PostgreSQL"), ("athena", "Trino"), ("presto", "Trino"),
                        ("motherduck", "DuckDB"), ("Snowflake", "Snowflake"), ("BigQuery", "BigQuery")],
)  # fmt: skip
def test_other_names_of_dialects(name: str, title: str) -> None:
    assert sqlrank.sql("AUC", predictions="clicks", dialect=name).startswith(
        f"-- sqlrank {sqlrank.__version__} for {title}"
    )


@pytest.mark.parametrize(
    ("condition", "cast"),
    [
        ("day >= DATE '2026-01-02'", "CAST(day AS DATE) >= CAST('2026-01-02' AS DATE)"),
        (
            "day BETWEEN DATE '2026-01-02' AND DATE '2026-01-09'",
            "CAST(day AS DATE) BETWEEN CAST('2026-01-02' AS DATE) AND CAST('2026-01-09' AS DATE)",
        ),
    ],
)
def test_texts_are_cast_where_they_are_compared_with_dates(condition: str, cast: str) -> None:
    rows = read_columns(label="0 1 1", score="0.5 0.5 0.5", day="2026-01-01 2026-01-03 x")

    def evaluate(where: str, num_rows: int) -> dict[str, float]:
        table = pd.DataFrame(rows)[:num_rows]
        return sqlrank.evaluate("Positives", predictions=table, where=where).to_pylist()[0]

    with pytest.raises(sqlrank.InputError) as caught:
        evaluate(condition, 2)
    assert str(caught.value) == f"where: texts are compared with a DATE. Cast them, where={cast!r}"
    assert evaluate(cast, 2) == {"Positives": 1.0}
    with pytest.raises(sqlrank.InputError, match="where: 'x' is no DATE") as caught:
        evaluate(cast, 3)
    assert evaluate(str(caught.value).partition("where=")[2].strip('"'), 3) == {"Positives": 1.0}
