"""Columns of weights that nobody named are noted in every command, and groups such as tasks are
averaged as a caller writes it.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.metrics import roc_auc_score

import sqlrank
from sqlrank import MetricError
from tests.interface.advice import follow, list_ways, read_notes
from tests.interface.command_line import invoke_command
from tests.tables import read_columns

ROWS = {
    "query_id": [1, 1, 1, 2, 2, 2] * 5,
    "doc_id": [*range(30)],
    "label": [1, 0, 1, 1, 0, 0] * 5,
    "score": [0.9, 0.1, 0.8, 0.2, 0.3, 0.4] * 5,
    "old": [0.4, 0.2, 0.1, 0.9, 0.3, 0.5] * 5,
    "day": [*"abcde"] * 6,
    "weight": [1, 2, 3, 1, 1, 1] * 5,
}
NOTE = (
    "rows of predictions count by the column weight. Give columns={'weight': '1'} to count all the"
    " same"
)
SCORES = {"columns": {"score": ["old", "score"]}}

COMMANDS = {
    "evaluate": lambda **options: sqlrank.evaluate("AUC", predictions=ROWS, **options),
    "intervals": lambda **options: sqlrank.evaluate(
        ["AUC", "LogLoss"], predictions=ROWS, confidence=0.9, **options
    ),
    "by": lambda **options: sqlrank.evaluate("Brier", predictions=ROWS, by="day", **options),
    "curve": lambda **options: sqlrank.evaluate("ROC", predictions=ROWS, **options),
    "compare": lambda columns=None: sqlrank.compare(
        "AUC", predictions=ROWS, columns={**SCORES["columns"], **(columns or {})}
    ),
    "gate": lambda columns=None: sqlrank.gate(
        "AUC", predictions=ROWS, tolerance=0.1, columns={**SCORES["columns"], **(columns or {})}
    ),
    "rollup": lambda **options: sqlrank.rollup("AUC", predictions=ROWS, by="day", **options),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_column_of_weights_is_noted(command):
    assert NOTE in read_notes(COMMANDS[command]())
    assert NOTE not in read_notes(COMMANDS[command](columns={"weight": "1"}))
    assert NOTE not in read_notes(COMMANDS[command](columns={"weight": "weight"}))
    assert NOTE not in read_notes(COMMANDS[command](columns={"predictions.weight": "weight"}))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "metric", ["MedianAbsoluteError", "Quantile(predictions.score, 0.9)", "pApSurrogate@2"]
)
@pytest.mark.parametrize("weight", ["weight", "weight * 2", "1", None])
def test_metrics_that_leave_weights_out_are_noted(metric, weight):
    columns = {} if weight is None else {"weight": weight}
    notes = read_notes(sqlrank.evaluate(metric, predictions=ROWS, columns=columns))
    note = f"rows of predictions count the same in {metric}, whatever their {weight or 'weight'}"
    assert notes == ([] if weight in {"1", None} else [note])
    # Next to a metric that reads the weights, nobody has to name them.
    both = sqlrank.evaluate(["Brier", metric, "num_predictions"], predictions=ROWS, columns=columns)
    assert (note in read_notes(both)) == (weight != "1")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("score", ["weight", "weight / 10", "predictions.weight", '"weight"'])
def test_a_column_that_is_mapped_to_something_else_is_no_weight(score):
    result = sqlrank.evaluate("AUC", predictions=ROWS, columns={"score": score})
    assert read_notes(result) == []
    assert result["AUC"][0].as_py() == pytest.approx(roc_auc_score(ROWS["label"], ROWS["weight"]))
    compared = sqlrank.compare("AUC", predictions=ROWS, columns={"score": [score, "old"]})
    assert compared["value_baseline"][0].as_py() == result["AUC"][0].as_py()
    both = sqlrank.evaluate(
        "AUC", predictions=ROWS, columns={"score": score, "weight": "weight"}
    ).to_pylist()
    assert both != result.to_pylist()


def test_the_note_of_weights_leads_to_the_number_without_them():
    ((metric, call),) = list_ways(NOTE, "AUC", {"predictions": ROWS})
    assert sqlrank.evaluate(metric, **call)["AUC"][0].as_py() == pytest.approx(
        roc_auc_score(ROWS["label"], ROWS["score"])
    )
    weighted = roc_auc_score(ROWS["label"], ROWS["score"], sample_weight=ROWS["weight"])
    assert sqlrank.evaluate("AUC", predictions=ROWS)["AUC"][0].as_py() == pytest.approx(weighted)


@pytest.mark.parametrize("metric", ["MedianAbsoluteError", "num_predictions"])
def test_metrics_without_weights_have_no_note(metric):
    assert not read_notes(sqlrank.evaluate(metric, predictions=ROWS))


INPUTS = {
    "queries": (
        "RR",
        {
            "run": {1: ["a"], 2: ["b"]},
            "qrels": {1: ["a"], 2: ["a"]},
            "queries": {"query_id": [1, 2], "weight": [1, 3]},
        },
    ),
    "classified": (
        "MulticlassAccuracy",
        {"inputs": {"classified": read_columns(label="1 2", predicted="1 1", weight="1 3")}},
    ),
    "multiclass_predictions": (
        "MulticlassBrier",
        {
            "inputs": {
                "multiclass_predictions": {
                    "label": ["a", "b"],
                    "scores": [{"a": 0.5, "b": 0.5}, {"a": 0.2, "b": 0.8}],
                    "weight": [1, 3],
                }
            }
        },
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("role", INPUTS)
def test_weights_of_other_inputs_are_noted(role):
    metric, inputs = INPUTS[role]
    result = sqlrank.evaluate(metric, **inputs)
    assert read_notes(result) == [NOTE.replace("predictions", role)]
    plain = sqlrank.evaluate(metric, **inputs, columns={"weight": "1"})
    assert read_notes(plain) == []
    assert plain.to_pylist() != result.to_pylist()


def test_the_command_notes_weights_and_the_statement_names_them(tmp_path):
    parquet.write_table(pa.table(ROWS), tmp_path / "rows.parquet")
    call = ("AUC", "--predictions", str(tmp_path / "rows.parquet"))
    assert (
        "rows of predictions count by the column weight. Give --column weight=1 to count all the"
        " same" in " ".join(invoke_command("evaluate", *call).stderr.split())
    )
    assert "\n-- settings: weight=weight\n" in invoke_command("sql", *call).stdout
    assert (
        "count by the column"
        not in invoke_command("evaluate", *call, "--column", "weight=1").stderr
    )


TASKS = {"nq": 4, "hotpot": 8, "fever": 2}
LISTS = [
    {
        "task": task,
        "query_id": f"q{number}",
        "retrieved": list(np.roll([*"abcd"], number * number + len(task))),
        "relevant": ["a"],
    }
    for task, size in TASKS.items()
    for number in range(size)
]
SAMPLES = [
    {
        "task": task,
        "label": number % 2,
        "score": (number * 7 % 5 + len(task)) / 20,
        "acc": number % 3 / 2,
    }
    for task, size in TASKS.items()
    for number in range(size)
]


def reciprocal_ranks() -> pd.Series:
    rows = pd.DataFrame(LISTS)
    return (1 / (1 + rows.retrieved.map(lambda docs: docs.index("a")))).groupby(rows.task).mean()


@pytest.mark.parametrize("policy", [{"level": "query"}, {"average": "macro"}])
def test_the_mean_of_tasks_of_a_ranking_is_one_of_two_calls(policy):
    with pytest.raises(MetricError) as caught:
        sqlrank.evaluate("RR", inputs={"answers": LISTS}, by="task", **policy)  # type: ignore[arg-type]
    assert str(caught.value).endswith(
        "RR is a mean of queries. For that of groups such as tasks evaluate it by them, and give"
        " the result as predictions to Mean(RR)"
    )
    by_task = sqlrank.evaluate("RR", inputs={"answers": LISTS}, by="task")
    assert sqlrank.evaluate("Mean(RR)", predictions=by_task)["Mean(RR)"][
        0
    ].as_py() == pytest.approx(reciprocal_ranks().mean())


@pytest.mark.parametrize("metric", ["Mean(acc)", "Accuracy"])
def test_the_mean_of_tasks_of_samples_is_one_call(metric):
    rows = pd.DataFrame(SAMPLES)
    values = rows.acc if metric == "Mean(acc)" else (rows.score >= 0.5) == (rows.label == 1)
    found = sqlrank.evaluate(
        metric, predictions=SAMPLES, level="query", columns={"query_id": "task"}
    )
    assert found[metric][0].as_py() == pytest.approx(values.groupby(rows.task).mean().mean())


RUN = [
    {**row, "doc_id": doc, "score": -place}
    for row in LISTS
    for place, doc in enumerate(row["retrieved"])
]
RUN = [
    {name: value for name, value in row.items() if name not in {"retrieved", "relevant"}}
    for row in RUN
]
JUDGED = [
    {"task": row["task"], "query_id": row["query_id"], "doc_id": "a", "relevance": 1}
    for row in LISTS
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("form", ["answers", "run"])
def test_ids_that_repeat_in_tasks_are_made_queries_of_their_own(form):
    """The total over tasks has the interval of all lists, each a query."""
    inputs = {"inputs": {"answers": LISTS}} if form == "answers" else {"run": RUN, "qrels": JUDGED}
    value, (message,) = follow("RR", **inputs, by=[["task"], []], confidence=0.95)
    assert "or, if they are different queries, give them ids of their own" in message
    ((_, call),) = [way for way in list_ways(message, "RR", inputs) if "columns" in way[1]]
    rows = sqlrank.evaluate("RR", **{**call, "by": [["task"], []], "confidence": 0.95}).to_pylist()
    numbered = [{**row, "query_id": number} for number, row in enumerate(LISTS)]
    (total,) = sqlrank.evaluate("RR", inputs={"answers": numbered}, confidence=0.95).to_pylist()
    assert {name: rows[0][name] for name in total} == pytest.approx(total)
    assert value is None or rows[0]["RR.n_units"] == sum(TASKS.values())
