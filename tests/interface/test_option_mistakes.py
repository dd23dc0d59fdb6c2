"""Mistakes in calls, most of them on the command line, each with the message that says what to
write instead.
"""

import shlex
from xml.etree import ElementTree as ET

import pytest

from tests.interface.command_line import (
    ROOT,
    TREC,
    invoke_command,
    run_command,
    run_refused_command,
)

SMALL = ROOT / "examples" / "data" / "small"
RUNS = [
    "--run", f"a={TREC}/results.test", "--run", f"b={TREC}/results.trunc", "--qrels",
    TREC / "qrels.test",
]  # fmt: skip
RUN = ["--run", SMALL / "run.csv", "--qrels", SMALL / "qrels.csv"]
PREDICTIONS = ["--predictions", SMALL / "predictions.csv"]


def test_a_column_of_systems_that_identifies_documents():
    assert "--system cannot name 'doc_id', which is a column of the run" in run_refused_command(
        "compare", "AP", *RUN, "--system", "doc_id"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-k", "0"], "-k 0 is not possible: give an integer from 1 to 2147483647, such as 10"),
        (
            ["-k", "0", "--merge", "weights.csv"],
            "-k 0 is not possible: give an integer from 1 to 2147483647, such as 10",
        ),
        (
            [],
            (
                "-k is missing: --surrogate avg compares the k highest negatives. Give -k ..., or"
                " --surrogate logistic"
            ),
        ),
    ],
)
def test_a_number_of_negatives_that_is_none(options, message):
    assert run_refused_command("learn", SMALL / "numbers.csv", *options) == f"sqlrank: {message}\n"


def test_warnings_name_options(tmp_path):
    (tmp_path / "train.csv").write_text("label,age\n1,3\n0,2\n1,1\n0,0.5\n")
    options = ["--column", "features=age", "-k", "2", "--learning-rate", "1000", "--max-iter", "1"]
    result = invoke_command("learn", tmp_path / "train.csv", *options)
    assert (
        "train --surrogate logistic instead, raise -k, or change --learning-rate or --max-iter"
        in result.stderr
    )


@pytest.mark.slow
def test_after_an_error_a_junit_report_holds_it(tmp_path):
    """CI would publish the report of an earlier run."""
    report = tmp_path / "gate.xml"
    gate = ["gate", "AP", *RUNS, "--junit", report]
    assert invoke_command(*gate).exit_code == 3
    assert "3 queries, fewer than 20" in report.read_text()
    assert "no system is called 'nope'" in run_refused_command(*gate, "--baseline", "nope")
    (case,) = ET.parse(report).getroot()  # noqa: S314  it was written here
    (error,) = case
    assert (error.tag, error.get("message")) == (
        "error",
        "no system is called 'nope'. Choose from: a, b",
    )
    drift = [
        "drift", "AUC", "--rollup", "nope.parquet", "--reference", "day = 1", "--tolerance",
        "1%", "--junit", report,
    ]  # fmt: skip
    assert "no file named 'nope.parquet'" in run_refused_command(*drift)
    assert "no file named 'nope.parquet'" in report.read_text()
    other = tmp_path / "other.xml"
    other.write_text("<own/>")
    assert "other.xml" in run_refused_command(*gate[:-1], other, "--baseline", "nope")
    assert other.read_text() == "<own/>"


def test_a_run_and_judgments_that_are_exchanged():
    run, qrels = RUN[1], RUN[3]
    message = run_refused_command("evaluate", "AP", "--run", qrels, "--qrels", run)
    assert (
        message
        == f"sqlrank: run ({qrels}) has the column relevance and no score, and qrels ({run}) the"
        " column score and no relevance. Exchange the two\n"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (f"old:{SMALL}/run.csv", f"The name of a system is written --run old={SMALL}/run.csv"),
        ("SELEC * FROM run", "A query begins with SELECT, WITH or FROM"),
        (
            "@nope.sql",
            (
                "@nope.sql: the file of the query cannot be read: No such file or directory. Check"
                " its path"
            ),
        ),
    ],
)
def test_sources_that_are_misspelt(source, message):
    assert message in run_refused_command("evaluate", "AP", "--run", source, *RUN[2:])


def test_features_that_are_not_named():
    assert (
        run_refused_command("learn", SMALL / "numbers.csv", "-k", "1")
        == f"sqlrank: training ({SMALL}/numbers.csv): no column 'features'. Name each column of"
        " features, --column features=... A table in long form has row_id, feature and value."
        " There are: query_id, label, score\n"
    )


def test_a_query_that_no_row_has():
    message = run_refused_command("explain", "AP", *RUN, "--query", "nope")
    assert message.splitlines() == [
        (
            f"sqlrank: run ({RUN[1]}) has no rows where \"query_id\" = 'nope'. Values of query_id"
            " are 'q1', 'q2'"
        ),
        (
            f"qrels ({RUN[3]}) has no rows where \"query_id\" = 'nope'. Values of query_id are"
            " 'q1', 'q2'"
        ),
    ]
    message = run_refused_command(
        "evaluate", "MAE", "--predictions", SMALL / "numbers.csv", "--where", "score = 9"
    )
    assert "Values of score are 1.0, 2.5, 3.0, ..." in message


@pytest.mark.parametrize("command", ["evaluate", "compare", "rollup"])
def test_a_group_per_query(command):
    words = (command, "AP", *RUN)
    if command == "compare":
        words = (command, "AP", "--run", f"a={RUN[1]}", "--run", f"b={RUN[1]}", *RUN[2:])
    message = run_refused_command(*words, "--by", "query_id")
    reason, _, advice = message.rstrip().partition(". Give it another name, such as ")
    assert reason.endswith("cannot name 'query_id', which is a column of the run or of the result")
    assert "query" in run_command(*words, *shlex.split(advice), "--format", "csv")


def test_rankings_of_predictions_without_ids(tmp_path):
    (tmp_path / "clicks.csv").write_text("user_id,label,score\nu1,1,0.5\n")
    message = run_refused_command(f"evaluate nDCG@10 --predictions {tmp_path}/clicks.csv")
    assert (
        message
        == f"sqlrank: predictions ({tmp_path}/clicks.csv): no columns 'query_id', 'doc_id'. Did you"
        " mean 'user_id'? Say which they are with --column query_id=user_id --column doc_id=..."
        " There are: user_id, label, score\n"
    )
