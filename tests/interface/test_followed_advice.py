"""Whoever does what a message says, and nothing else, gets the right number: suggestions are read
from messages and applied to the same input.
"""

import json
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlrank
from tests.interface.advice import follow, follow_all, follow_command, paste_command
from tests.tables import read_columns

LABELS, SCORES = [1, 0, 0, 1], [0.9, 0.2, 0.4, 0.3]
FRAME = pd.DataFrame({"label": LABELS, "score": SCORES})
QRELS = {"q1": {"d2": 1}}

# Columns of predictions, a metric, and its number: what pandas or a person would compute of the
# values that were meant.
PREDICTIONS: dict[str, tuple[dict[str, list[Any]], str, float]] = {
    "percentages": (read_columns(label="1 0 0 1", score="90 20 40 60"), "LogLoss", 0.337539),
    "thousandths": ({"label": [1, 0], "score": [900, 200]}, "Brier", 0.025),
    "logits": ({"label": [1, 0], "score": [2.0, -1.0]}, "LogLoss", 0.220095),
    "rounding above 1": ({"label": [1, 0], "score": [1.0000001, 0.5]}, "Brier", 0.125),
    "rounding below 0": ({"label": [1, 0], "score": [1.0, -1e-8]}, "Brier", 0.0),
    "labels -1 and 1": ({"label": [1, -1, -1, 1], "score": SCORES}, "AUC", 0.75),
    "labels -1, 0 and 1": ({"label": [1, -1, 0, 1], "score": SCORES}, "AUC", 0.75),
    "labels 1 and 2": ({"label": [2, 1, 1, 2], "score": SCORES}, "AUC", 0.75),
    "counts of clicks": ({"label": [3, 0, 0, 1], "score": SCORES}, "AUC", 0.75),
    "ratings": ({"label": [5, 1, 2, 4], "score": SCORES}, "AUC", 0.75),
    "labels from 1 to 3": ({"label": [3, 1, 2, 3], "score": SCORES}, "AUC", 0.75),
    "ratings from 1 to 10": ({"label": [10, 1, 7, 8], "score": SCORES}, "AUC", 0.75),
    "ratings from 1 to 100": ({"label": [100, 1, 70, 80], "score": SCORES}, "AUC", 0.75),
    "counts from 1": ({"label": [101, 1, 1, 2], "score": SCORES}, "AUC", 0.75),
    "numbers from 0 to 255": (
        {"label": LABELS, "score": [255, 51, 102, 0]},
        "Brier",
        (0.2**2 + 0.4**2 + 1) / 4,
    ),
    "ten-thousandths": (
        {"label": LABELS, "score": [9000, 2000, 4000, 3000]},
        "Brier",
        (0.01 + 0.04 + 0.16 + 0.49) / 4,
    ),
    "decimal commas": ({"label": LABELS, "score": ["0,9", "0,2", "0,4", "0,3"]}, "AUC", 0.75),
    "german numbers": ({"label": LABELS, "score": ["1.234,5", "1,5", "7,5", "3,0"]}, "AUC", 0.75),
    "thousands": ({"label": [1500, 3000], "score": ["1,500.0", "2,000.0"]}, "MAE", 500.0),
    "texts of percent": (
        {"label": LABELS, "score": ["90 %", "20 %", "40%", "30%"]},
        "Brier",
        (0.01 + 0.04 + 0.16 + 0.49) / 4,
    ),
    "decimal commas in percent": (
        {"label": [1, 0], "score": ["12,5 %", "2,5 %"]},
        "Brier",
        (0.875**2 + 0.025**2) / 2,
    ),
    "numbers in brackets": (
        {"label": LABELS, "score": ["[0.9]", "[0.2]", "[0.4]", "[0.3]"]},
        "AUC",
        0.75,
    ),
    "dollars": ({"label": [10, 20], "score": ["$12", "$19"]}, "MAE", 1.5),
    "a dash for missing": (
        {"label": [*LABELS, 1], "score": ["0.9", "0.2", "0.4", "0.3", "-"]},
        "AUC",
        0.75,
    ),
    "N/A and a blank": (
        {"label": [*LABELS, 1, 0], "score": ["0.9", "0.2", "0.4", "0.3", "N/A", " "]},
        "AUC",
        0.75,
    ),
    "texts of NaN": (
        {"label": [*LABELS, 1], "score": ["0.9", "0.2", "0.4", "0.3", "nan"]},
        "AUC",
        0.75,
    ),
    "NaN": ({"label": [*LABELS, 1], "score": [*SCORES, float("nan")]}, "Brier", 0.175),
    "percent and a dash": (
        {"label": [*LABELS, 1], "score": ["90 %", "20 %", "40 %", "30 %", "-"]},
        "AUC",
        0.75,
    ),
    "percent and shares": (
        {"label": [1, 0, 0, 1], "score": ["90%", "0.2", "40%", "0.3"]},
        "Brier",
        (0.01 + 0.04 + 0.16 + 0.49) / 4,
    ),
    "percent with and without a sign": (
        {"label": [1, 0], "score": ["90%", "20"]},
        "Brier",
        (0.01 + 0.04) / 2,
    ),
    "words and numbers": ({"label": ["true", "0", "false", "1"], "score": SCORES}, "AUC", 0.75),
    "fractions": (
        {"label": LABELS, "score": ["9/10", "1/5", "2/5", "3/10"]},
        "Brier",
        (0.01 + 0.04 + 0.16 + 0.49) / 4,
    ),
    "fractions and numbers": ({"label": [1, 0], "score": ["9/10", "0.2"]}, "Brier", 0.025),
    "points, a number below 1": ({"label": [1000.5, 1], "score": ["1.000,5", "0.5"]}, "MAE", 0.25),
    "blanks between thousands": (
        {"label": [1500, 3000], "score": ["1 500", "2 000,5"]},
        "MAE",
        499.75,
    ),
    "apostrophes between thousands": (
        {"label": [1500, 3000], "score": ["1'500.5", "2'000"]},
        "MAE",
        500.25,
    ),
    "a minus and blanks of typesetting": (
        {"label": [1, 2], "score": ["\u22120.5", "\u00a02.0"]},
        "MAE",
        0.75,
    ),
    "days": ({"label": LABELS, "score": [date(2026, 1, day) for day in (9, 2, 4, 3)]}, "AUC", 0.75),
    "yes and no": ({"label": ["yes", "no", "no", "yes"], "score": SCORES}, "AUC", 0.75),
    "True and False": ({"label": ["True", "False", "False", "True"], "score": SCORES}, "AUC", 0.75),
    "Y and N": ({"label": ["Y", "N", "N", "Y"], "score": SCORES}, "AUC", 0.75),
    "t and f": ({"label": ["t", "f", "f", "t"], "score": SCORES}, "AUC", 0.75),
    "texts of numbers": ({"label": LABELS, "score": list(map(str, SCORES))}, "AUC", 0.75),
    "objects": (
        {"label": LABELS, "score": [{"name": "x", "p p": score} for score in SCORES]},
        "AUC",
        0.75,
    ),
    "texts of integers": ({"label": list(map(str, LABELS)), "score": SCORES}, "AUC", 0.75),
    "infinity": ({"label": LABELS, "score": ["inf", "0.2", "0.4", "0.3"]}, "AUC", 0.75),
    "a total": ({"label": ["1", "0", "0", "1", "Total"], "score": [*SCORES, 0.45]}, "AUC", 0.75),
    "classes in letters": ({"label": ["b", "a", "a", "b"], "score": SCORES}, "AUC", 0.75),
    "two words": (
        {"label": ["donated", "not donated", "not donated", "donated"], "score": SCORES},
        "AUC",
        0.25,
    ),
    "two words and missing ones": (
        {"label": ["ok", "fraud", "fraud", "ok", "nan", " "], "score": [*SCORES, 0.1, 0.1]},
        "AUC",
        0.75,
    ),
    "two words in other letters": (
        {"label": ["ok", "fraud", "Fraud ", "OK"], "score": SCORES},
        "AUC",
        0.75,
    ),
    "names of scikit-learn": ({"y_true": LABELS, "y_score": SCORES}, "AUC", 0.75),
    "names of BigQuery": ({"clicked": LABELS, "predicted_probability": SCORES}, "AUC", 0.75),
    "numbers with a unit": ({"label": [100, 200], "score": ["120 ms", "1.9e2ms"]}, "MAE", 15.0),
    "names with a word more": ({"is_fraud": LABELS, "fraud_probability": SCORES}, "AUC", 0.75),
    "names of R": ({"observed": LABELS, "prob": SCORES}, "AUC", 0.75),
    "a class beside its probability": (
        {"target": LABELS, "predicted": ["a", "b", "b", "a"], "probability": SCORES},
        "AUC",
        0.75,
    ),
    "a cut-off for a metric without": ({"label": LABELS, "score": SCORES}, "auc_roc", 0.75),
}


# Numbers of further alternatives of a message, which say another thing.
OTHER_READINGS = {
    "two words": 0.75,
    "two words and missing ones": 0.25,
    "two words in other letters": 0.25,
    "classes in letters": 0.25,
}

# What the quick tests try of the above and of what follows, one of each kind of advice; the rest is
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
    columns, metric, expected = PREDICTIONS[case]
    value, messages = follow(metric, predictions=columns)
    assert value == pytest.approx(expected, abs=1e-6)
    assert messages or metric == "auc_roc"
    numbers = [expected, *([OTHER_READINGS[case]] if case in OTHER_READINGS else [])]
    assert follow_all(metric, predictions=columns) == pytest.approx(numbers, abs=1e-6)
    assert not any(message.startswith(("duckdb:", "DuckDB", "sqlite:")) for message in messages)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", _mark_slow(PREDICTIONS))
def test_options_of_messages_are_pasted(case: str, tmp_path: Path) -> None:
    columns, metric, expected = PREDICTIONS[case]
    path = tmp_path / "it's a file.parquet"
    pd.DataFrame(columns).to_parquet(path)
    output, messages = paste_command("evaluate", metric, "--predictions", path, "--format", "csv")
    assert float(output.split()[1]) == pytest.approx(expected, abs=1e-6)
    assert len(messages) <= len(follow(metric, predictions=columns)[1])


# Text of a file, its name, the metric and arguments, the number, and a part that the first message
# has.
FILES: dict[str, tuple[str, str, float, str]] = {
    "dash.csv": (
        "label,score\n1,0.9\n0,0.2\n0,-\n1,0.3\n0,0.4\n",
        "AUC",
        0.75,
        "'-' in line 4 is none",
    ),
    "comma.csv": (
        "label;score\n1;0,9\n0;0,2\n0;0,4\n1;0,3\n",
        "AUC",
        0.75,
        "'0,2', '0,3', '0,4' and 1 more are none",
    ),
    "percent.csv": (
        "label,score\n1,90 %\n0,20 %\n0,40 %\n1,30 %\n",
        "AUC",
        0.75,
        "first in line 2",
    ),
    "header.csv": (
        "label,score\n1,0.9\n0,0.2\nlabel,score\n0,0.4\n1,0.3\n",
        "AUC",
        0.75,
        "'score' in line 4 is none, but the header again",
    ),
    "total.csv": (
        "label,score\n1,0.9\n0,0.2\n0,0.4\n1,0.3\nTotal,\n",
        "AUC",
        0.75,
        "'Total' in line 6",
    ),
    "nan.csv": ("label,score\n1,0.9\n0,0.2\n0,0.4\n1,0.3\n1,NaN\n", "AUC", 0.75, "NaN"),
    "semicolons.csv": (
        "y_true;y_pred\n1;0.9\n0;0.2\n0;0.4\n1;0.3\n",
        "AUC",
        0.75,
        "Did you mean 'y_true', 'y_pred'?",
    ),
    "rates.csv": (
        "label,score,weight,day\n0.25,0.2,100,a\n0.5,0.4,100,b\n",
        "LogLoss",
        0.6416377,
        "two rows with weights",
    ),
    "rates_alone.csv": (
        "label,score\n0.25,0.2\n0.5,0.4\n",
        "LogLoss",
        0.6416377,
        "two rows with weights",
    ),
    "columns.json": (FRAME.to_json(), "AUC", 0.75, "orient='records'"),
    "split.json": (FRAME.to_json(orient="split"), "AUC", 0.75, "orient='records'"),
    "index.json": (FRAME.to_json(orient="index"), "AUC", 0.75, "orient='records'"),
    "table.json": (FRAME.to_json(orient="table"), "AUC", 0.75, "its rows are in data"),
    "marker.jsonl": (
        '{"label": 1, "score": 0.9}\n{"label": 0, "score": "N/A"}\n{"label": 0, "score": 0.1}\n',
        "AUC",
        1.0,
        "line 2: score is 'N/A'",
    ),
    "share.jsonl": (
        '{"label": 1, "score": 0.9}\n{"label": 0, "score": "40 %"}\n',
        "Brier",
        0.085,
        "line 2: score is '40 %'",
    ),
    "numbers of another form.jsonl": (
        '{"label": 1, "score": 0.9}\n{"label": 0, "score": "0.4 "}\n{"label": 0, "score": "+.3"}\n',
        "Brier",
        (0.01 + 0.16 + 0.09) / 3,
        "line 2: score is '0.4 '",
    ),
    "flags and numbers.jsonl": (
        '{"label": 1, "score": 0.9}\n{"label": true, "score": 0.1}\n{"label": 0, "score": 0.2}\n',
        "AUC",
        0.5,
        "label is true or false in 1 of 3 rows",
    ),
    "separator.csv": ("sep=;\nlabel;score\n1;0.9\n0;0.1\n", "AUC", 1.0, "is for Excel"),
    "rows.json": (
        json.dumps({"results": FRAME.to_dict("records")}),
        "AUC",
        0.75,
        "its rows are in results",
    ),
}


@pytest.mark.parametrize("name", _mark_slow(FILES))
def test_files_of_predictions(name: str, tmp_path: Path) -> None:
    text, metric, expected, part = FILES[name]
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


RUNS = {
    "PyTerrier": "qid,docid,docno,rank,score,query\nq1,1,d1,0,3.2,what is\nq1,2,d2,1,2.1,what is\n",
    "sentence-transformers": "query,document,similarity\nq1,d1,.9\nq1,d2,.8\n",
    "RecBole": "user_id,item_id,prediction\nq1,d1,.9\nq1,d2,.8\n",
    "LlamaIndex": "query_id,chunk_id,sim\nq1,d1,.9\nq1,d2,.8\n",
    "search logs": "request_id,url,bm25\nq1,d1,9\nq1,d2,8\n",
    "German numbers": "query_id;doc_id;score\nq1;d1;0,9\nq1;d2;0,8\n",
}


@pytest.mark.parametrize("tool", _mark_slow(RUNS))
def test_runs_of_other_tools(tool: str, tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text(RUNS[tool])
    assert follow("RR", run=str(tmp_path / "run.csv"), qrels=QRELS)[0] == 0.5
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\nq1,d2,1\n")
    output, _ = follow_command(
        "evaluate", "RR", "--run", tmp_path / "run.csv", "--qrels", tmp_path / "qrels.csv",
        "--format", "csv",
    )  # fmt: skip
    assert output.split() == ["RR", "0.5"]


ANSWERS = {
    "NumPy texts": "q1,\"['x' 'y']\",\"['y']\"\nq2,\"['a' 'b']\",\"['a']\"\n",
    "NumPy numbers": "q1,[1  2],[2]\nq2,[14 15],[14]\n",
    "lists of Python": "q1,\"['x', 'y']\",\"['y']\"\nq2,\"['a', 'b']\",\"['a']\"\n",
    "JSON": 'q1,"[""x"", ""y""]","[""y""]"\nq2,"[""a"", ""b""]","[""a""]"\n',
    "commas": 'q1,"x, y",y\nq2,"a, b",a\n',
    "bars": "q1,x|y,y\nq2,a|b,a\n",
    "semicolons": "q1,x;y,y\nq2,a;b,a\n",
    "blanks": "q1,x y,y\nq2,a b,a\n",
    "arrays of PostgreSQL": 'q1,"{x,y}",{y}\nq2,"{""a"",b}",{a}\n',
    "sets": "q1,\"['x', 'y']\",{'y'}\nq2,\"['a', 'b']\",{'a'}\n",
    "tuples": "q1,\"('x', 'y')\",\"('y',)\"\nq2,\"('a', 'b')\",\"('a',)\"\n",
    "calls of array": (
        "q1,\"array(['x', 'y'], dtype=object)\",array(['y'])\n"
        "q2,\"array(['a', 'b'], dtype=object)\",array(['a'])\n"
    ),
    "scalars of NumPy": (
        "q1,\"[np.str_('x'), np.str_('y')]\",[np.str_('y')]\n"
        "q2,\"[np.str_('a'), np.str_('b')]\",[np.str_('a')]\n"
    ),
}


@pytest.mark.parametrize("form", _mark_slow(ANSWERS))
def test_texts_of_lists(form: str, tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text(f"query_id,retrieved,relevant\n{ANSWERS[form]}")
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


def _make_run(docs: list[Any], **columns: list[Any]) -> dict[str, list[Any]]:
    return {
        "query_id": ["q1"] * len(docs),
        "doc_id": docs,
        **(columns or {"score": [-float(index) for index in range(len(docs))]}),
    }


def _make_qrels(docs: list[Any]) -> dict[str, list[Any]]:
    return {"query_id": ["q1"] * len(docs), "doc_id": docs, "relevance": [1] * len(docs)}


TEXTS = {"score": [2.0, 1.0], "n": [1, 2], "code": ["1", "x"], "other": ["3", "4"]}
CODES = read_columns(query_id="q1 q1", doc_id="d1 d2", relevance="0 1", code="a y", day="1 1")

# A metric with what is given, and its number after every alternative of messages and notes.
CALLS: dict[str, tuple[str, dict[str, Any], list[float]]] = {
    "zeros and texts": (
        "R@10",
        {"run": _make_run(["007", "100"]), "qrels": _make_qrels(["7", "100"])},
        [1.0],
    ),
    "zeros and numbers": (
        "R@10",
        {"run": _make_run(["007", "100"]), "qrels": _make_qrels([7, 100])},
        [1.0],
    ),
    "numbers and zeros": (
        "R@10",
        {"run": _make_run([7, 100]), "qrels": _make_qrels(["007", "100"])},
        [1.0],
    ),
    "zeros alone": (
        "R@10",
        {"run": _make_run(["007", "0100"]), "qrels": _make_qrels([7, 100])},
        [1.0],
    ),
    "zeros in another column": (
        "R@10",
        {
            "run": {"query_id": ["q1"], "docno": ["007"], "score": [1.0]},
            "qrels": _make_qrels(["7"]),
            "columns": {"run.doc_id": "docno"},
        },
        [1.0],
    ),
    "zeros of queries": (
        "R@10",
        {"run": {"01": {"a": 1.0}, "2": {"a": 1.0}}, "qrels": {"1": {"a": 1}, "2": {"a": 1}}},
        [1.0],
    ),
    "a final .0": (
        "R@10",
        {"run": _make_run(["7.0", "8"]), "qrels": _make_qrels(["7", "8"])},
        [1.0],
    ),
    "a final .0 alone": (
        "R@10",
        {"run": _make_run(["7.0", "70.0"]), "qrels": _make_qrels([7, 70])},
        [1.0],
    ),
    "letters": (
        "R@10",
        {"run": _make_run(["D1", "d2"]), "qrels": _make_qrels(["d1", "d2"])},
        [1.0],
    ),
    "letters and zeros": (
        "R@10",
        {"run": _make_run(["D1", "007"]), "qrels": _make_qrels(["d1", "7"])},
        [1.0],
    ),
    "invisible characters": (
        "R@10",
        {"run": {"q1": ["a\t", "b\u200b", "c\u00a0d"]}, "qrels": {"q1": ["a", "b", "c d"]}},
        [1.0],
    ),
    "a mark of byte order": ("R@10", {"run": {"\ufeffq1": ["a"]}, "qrels": {"q1": ["a"]}}, [1.0]),
    "gaps from 0": (
        "RR",
        {
            "run": _make_run(list("abc"), position=[0, 4, 9]),
            "qrels": _make_qrels(["b"]),
            "columns": {"rank": "position"},
            "ties": "rank",
        },
        [0.2],
    ),
    "given gaps from 0": (
        "RR",
        {
            "run": _make_run(list("abc"), rank=[0, 4, 9]),
            "qrels": _make_qrels(["b"]),
            "ranks": "given",
        },
        [0.2],
    ),
    "given ranks from 0": (
        "RR",
        {
            "run": _make_run(list("abc"), rank=[0, 1, 2]),
            "qrels": _make_qrels(["b"]),
            "ranks": "given",
        },
        [0.5],
    ),
    "gaps from 1": (
        "RR",
        {
            "run": _make_run(list("abc"), rank=[1, 5, 10]),
            "qrels": _make_qrels(["b"]),
            "ties": "rank",
        },
        [0.2],
    ),
    "ranks from 0": (
        "RR",
        {
            "run": _make_run(list("abc"), rank=[0, 1, 2]),
            "qrels": _make_qrels(["b"]),
            "ties": "rank",
        },
        [0.5],
    ),
    "ranks of an expression": (
        "RR",
        {
            "run": _make_run(list("abc"), place=[0, 10, 20]),
            "qrels": _make_qrels(["b"]),
            "columns": {"rank": "place / 10"},
            "ties": "rank",
        },
        [0.5],
    ),
    "ranks in place of scores": (
        "RR",
        {"run": _make_run(list("abc"), rank=[1, 2, 3]), "qrels": _make_qrels(["b"])},
        [0.5],
    ),
    "relevant documents": (
        "RR",
        {"run": _make_run(["a", "b"]), "qrels": {"query_id": ["q1"], "doc_id": ["b"]}},
        [0.5],
    ),
    "a distance": (
        "RR",
        {"run": _make_run(list("abc"), distance=[0.1, 0.5, 0.9]), "qrels": _make_qrels(["b"])},
        [0.5],
    ),
    "a distance of two words": (
        "RR",
        {"run": _make_run(["a", "b"], **{"L2 Distance": [0.1, 0.5]}), "qrels": _make_qrels(["b"])},
        [0.5],
    ),
    "a mapped distance": (
        "RR",
        {
            "run": _make_run(["a", "b"], cosine_dist=[0.1, 0.5]),
            "qrels": _make_qrels(["b"]),
            "columns": {"score": "cosine_dist"},
        },
        [0.5],
    ),
    "a distance beside a similarity": (
        "RR",
        {
            "run": _make_run(["a", "b"], distance=[0.1, 0.5], similarity=[0.9, 0.5]),
            "qrels": _make_qrels(["b"]),
        },
        [0.5],
    ),
    "a score that rises with ranks": (
        "RR",
        {
            "run": _make_run(list("abc"), score=[0.1, 0.5, 0.9], rank=[1, 2, 3]),
            "qrels": _make_qrels(["b"]),
        },
        [0.5, 0.5],
    ),
    "another input": (
        "RR",
        {
            "run": {**_make_run(["d1", "d2"]), **TEXTS},
            "qrels": CODES,
            "where": "qrels.code = 'y' AND run.n <> run.code AND qrels.day = 1",
        },
        [1.0],
    ),
    "one of two comparisons": (
        "RR",
        {
            "run": {**_make_run(["d1", "d2"]), **TEXTS},
            "qrels": CODES,
            "where": "(run.other = 4 OR run.code = 1) AND qrels.day BETWEEN 1 AND 2",
        },
        [0.5],
    ),
    "a list of numbers": (
        "RR",
        {
            "run": {**_make_run(["d1", "d2"]), **TEXTS},
            "qrels": CODES,
            "where": "run.code NOT IN (-1, 1)",
        },
        [1.0],
    ),
    "a function of a text": (
        "RR",
        {
            "run": {**_make_run(["d1", "d2"]), **TEXTS},
            "qrels": CODES,
            "where": "LOWER(run.code) <> 1",
        },
        [1.0],
    ),
    "a text beside a number": (
        "RR",
        {
            "run": _make_run(["7", "x"]),
            "qrels": _make_qrels(["x"]),
            "where": "run.doc_id IN (7, 'x')",
        },
        [0.5],
    ),
    "a NULL score": (
        "RR",
        {"run": _make_run(["a", "b"], score=[None, 1.0]), "qrels": _make_qrels(["b"])},
        [1.0],
    ),
    "a NULL grade": (
        "RR",
        {
            "run": _make_run(["a", "b"]),
            "qrels": {**_make_qrels(["a", "b"]), "relevance": [None, 1]},
        },
        [0.5],
    ),
    "a NULL label": (
        "AUC",
        {"predictions": read_columns(label="1 0 NULL", score="0.9 0.1 0.5")},
        [1.0],
    ),
    "a document twice": (
        "RR",
        {"run": _make_run(["a", "b", "a"], score=[1.0, 2.0, 3.0]), "qrels": _make_qrels(["b"])},
        [0.5],
    ),
    "a document judged twice": (
        "RR",
        {"run": _make_run(["a", "b"]), "qrels": {**_make_qrels(["b", "b"]), "relevance": [0, 1]}},
        [0.5],
    ),
    "a name of another tool": (
        "map_cut_10",
        {"run": _make_run(["a", "b"]), "qrels": _make_qrels(["b"])},
        [0.5, 0.5],
    ),
    "an empty query": (
        "num_ret",
        {"run": {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, "qrels": {"q1": {"d1": 1}, "q2": {}}},
        [1.0],
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", _mark_slow(CALLS))
def test_every_alternative_of_messages_and_notes(name: str) -> None:
    metric, arguments, numbers = CALLS[name]
    assert follow_all(metric, **arguments) == pytest.approx(numbers)


OTHER_FILES = {
    "ratings.dat": ("1::10::5::978300760\n1::20::3::978302109\n", 1.0),
    "data.inter": ("user_id:token\titem_id:token\trating:float\n1\t20\t5\n1\t10\t4\n", 1.0),
    "qrels.json": (json.dumps({"1": {"10": 1}, "2": {}}), 1.0),
    "rows of queries.json": (
        json.dumps(
            {"1": [{"doc_id": "10", "relevance": 1}], "2": [{"doc_id": "20", "relevance": 1}]}
        ),
        0.5,
    ),
    "other names.json": (json.dumps({"1": [{"docno": "10", "rel": 1}]}), 1.0),
    "pairs.json": (json.dumps({"1": [["10", 0], ["20", 1]]}), 0.0),
    "within.json": (json.dumps({"data": {"1": {"10": 1}, "2": {"20": 1}}}), 0.5),
    "lists.json": (json.dumps({"1": ["10"], "2": ["20"]}), 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_FILES)
def test_queries_of_files_of_judgments(name: str, tmp_path: Path) -> None:
    text, expected = OTHER_FILES[name]
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


COMMANDS = {
    name: FILES[name]
    for name in (
        "dash.csv", "comma.csv", "percent.csv", "header.csv", "total.csv", "semicolons.csv",
    )
}  # fmt: skip


@pytest.mark.parametrize("name", _mark_slow(COMMANDS))
def test_options_of_the_command_line(name: str, tmp_path: Path) -> None:
    text, metric, expected, part = COMMANDS[name]
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
