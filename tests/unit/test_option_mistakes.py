"""Mistakes in options of the command line, each with the message that says what to write instead."""

from __future__ import annotations

import pytest

from tests.unit.command_line import ROOT, TREC, run_refused_command

SMALL = ROOT / "examples" / "data" / "small"
RUNS = ["--run", f"a={TREC}/results.test", "--run", f"b={TREC}/results.trunc", "--qrels", TREC / "qrels.test"]
RUN = ["--run", SMALL / "run.csv", "--qrels", SMALL / "qrels.csv"]
PREDICTIONS = ["--predictions", SMALL / "predictions.csv"]
SCORES = [*PREDICTIONS, "--column", "score=score", "--column", "score=label"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "AP", *RUNS], "--system: no input has a column 'nope'. Each run is a system: a, b. Leave --system out"),
        (["gate", "AP", *RUNS], "--system: no input has a column 'nope'. Each run is a system: a, b. Leave --system out"),
        (["compare", "AP", *RUN], "--system: no input has a column 'nope'. The run has: query_id, doc_id, score"),
        (["compare", "AUC", *PREDICTIONS], "--system: predictions have no column 'nope'. There are: query_id, doc_id, label, score"),
        (["compare", "AUC", *SCORES], "--system nope is not possible with several scores. Each score is a system: score, label. Leave"),
        (["report", "AP", *RUNS], "--system nope is not possible with several runs. Each run is a system: a, b. Leave --system out"),
        (["report", "AUC", *SCORES], "--system nope is not possible with several scores. Each score is a system: score, label. Leave"),
        (["report", "AP", *RUN], "--system: no input has a column 'nope'. The run has: query_id, doc_id, score"),
        (["report", "AUC", *PREDICTIONS], "--system: predictions have no column 'nope'. There are: query_id, doc_id, label, score"),
    ],
)
def test_a_column_of_systems_that_is_not_there(arguments: list[object], message: str) -> None:
    output = ["-o", "unwritten.html"] if arguments[0] == "report" else []
    assert run_refused_command(*arguments, "--system", "nope", *output).startswith(f"sqlrank: {message}")


def test_a_column_of_systems_that_identifies_documents() -> None:
    assert "--system cannot name 'doc_id', which is a column of the run" in run_refused_command("compare", "AP", *RUN, "--system", "doc_id")
