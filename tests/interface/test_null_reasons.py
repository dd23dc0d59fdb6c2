"""Reasons for NULL values and intervals, one line each, from the annotations of metric files."""

import json

import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank.output.display import null_reasons
from tests.interface.command_line import app
from tests.tables import build_table

METRICS = ["AUC", "Positives", "KS", "MAE"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("labels", "options", "reasons"),
    [
        ([1, 1, 0], {}, []),
        ([1, 1], {}, ["AUC, KS are NULL (undefined: predictions of one class only)"]),
        (
            [1, 0, 1],
            {"by": "day"},
            ["AUC, KS are NULL in 1 of 2 rows (undefined: predictions of one class only)"],
        ),
        (
            [1],
            {"confidence": 0.95},
            [
                "AUC, KS are NULL (undefined: predictions of one class only)",
                "Positives is without an interval (it describes the data)",
                "MAE is without an interval (fewer than 2 units)",
            ],
        ),
        (
            [1, 1, 0, 0],
            {"confidence": 0.95, "by": "day"},
            [
                "AUC, KS are NULL in 2 of 2 rows (undefined: predictions of one class only)",
                "Positives is without an interval in 2 of 2 rows (it describes the data)",
                "MAE is without an interval in 1 of 2 rows (units that are all equal)",
            ],
        ),
    ],
)
def test_reasons(labels, options, reasons):
    scores = [0.5, 0.5, 0.2, 0.3][: len(labels)]
    data = pa.table({"label": labels, "score": scores, "day": [1, 1, 2, 2][: len(labels)]})
    assert null_reasons(sqlrank.evaluate(METRICS, predictions=data, **options)) == reasons


@pytest.mark.parametrize("metric", ["nDCG@10", "Judged@10"])
def test_judgments_that_are_all_0(metric):
    reason = (
        "no judgment is above 0, so that no document is relevant. Check the column that is read as"
        " relevance"
    )
    run = {"a": {"d": 1.0}, "b": {"e": 1.0}}
    assert null_reasons(
        sqlrank.evaluate(metric, run=run, qrels={"a": {"d": 0}, "b": {"e": 0}})
    ) == [reason]
    assert (
        null_reasons(sqlrank.evaluate(metric, run=run, qrels={"a": {"d": 0}, "b": {"e": 1}})) == []
    )


def test_reasons_of_rankings_count_queries():
    run = {"a": {"d": 1.0}, "b": {"d": 1.0}, "c": {"d": 1.0}}
    qrels = {"a": {"d": 1}, "b": {"d": 0}, "c": {"d": 0}}
    result = sqlrank.evaluate(
        ["RR", "num_rel"], run=run, qrels=qrels, per_query=True, if_undefined="skip"
    )
    assert null_reasons(result) == [
        "RR is NULL in 2 of 3 rows (undefined: a query without relevant documents)"
    ]


def test_reasons_are_in_the_metadata_and_on_the_command_line(tmp_path):
    data = build_table(label="1 1", score="0.5 0.25")
    measures = json.loads(
        sqlrank.evaluate(["AUC", "Positives"], predictions=data).schema.metadata[
            b"sqlrank.measures"
        ]
    )
    assert measures["AUC"]["undefined"] == "predictions of one class only"
    assert measures["Positives"]["no_interval"] == "it describes the data"
    pyarrow.csv.write_csv(data, tmp_path / "one.csv")
    done = CliRunner().invoke(
        app, f"evaluate AUC MAE --predictions {tmp_path}/one.csv --format json"
    )
    assert (done.exit_code, json.loads(done.stdout)) == (0, [{"AUC": None, "MAE": 0.625}])
    assert done.stderr == "note: AUC is NULL (undefined: predictions of one class only)\n"
