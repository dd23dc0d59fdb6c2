"""Stages as named runs: each is compared with its predecessor."""

from typing import Any

import pytest

import sqlrank
from tests.interface.command_line import run_command
from tests.tables import build_table

STAGES = {"search": "abcdefgh", "ranked": "hbcg", "shown": "gh"}
QRELS = {"q1": {"b": 1, "d": 1, "g": 1, "z": 1}}
METRICS = ["SearchReduction", "Lost", "Lost@2"]


def make_runs(*names: str) -> dict[str, Any]:
    return {name: {"q1": {doc: -place for place, doc in enumerate(STAGES[name])}} for name in names}


def evaluate_rows(**options: Any) -> dict[str, list[Any]]:
    found = sqlrank.evaluate(METRICS, qrels=QRELS, **options).to_pylist()
    return {row["system"]: [row[name] for name in METRICS] for row in found}


@pytest.mark.slow
def test_each_is_compared_with_the_one_given_before():
    """Ranked loses d of b, d, g, and shown b of b and g; b is the only relevant one of the first
    two of a stage before.
    """
    assert evaluate_rows(run=make_runs("search", "ranked", "shown")) == {
        "search": [None, 0, 0],
        "ranked": [0.5, 1, 0],
        "shown": [0.5, 1, 1],
    }
    assert evaluate_rows(run=make_runs("shown", "ranked", "search")) == {
        "shown": [None, 0, 0],
        "ranked": [-1.0, 0, 1],
        "search": [-1.0, 0, 0],
    }


def test_a_baseline_that_is_given_is_what_all_are_compared_with():
    before = build_table(system="ranked shown", query_id="q1 q1", doc_id="z z", score="1.0 1.0")
    assert evaluate_rows(
        run=make_runs("search", "ranked", "shown"), inputs={"baseline": before}
    ) == {"search": [None, 0, 0], "ranked": [-3.0, 1, 1], "shown": [-1.0, 1, 1]}


@pytest.mark.slow
def test_on_the_command_line(tmp_path):
    given = []
    for name, docs in STAGES.items():
        lines = [f"q1 Q0 {doc} {place} {-place} tag\n" for place, doc in enumerate(docs, 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines), "utf-8")
        given += ["--run", f"{name}={tmp_path / name}.run"]
    (tmp_path / "some.qrels").write_text("".join(f"q1 0 {doc} 1\n" for doc in QRELS["q1"]), "utf-8")
    text = run_command(
        "evaluate", *METRICS, *given, "--qrels", str(tmp_path / "some.qrels"), "--format", "csv"
    )
    assert text.splitlines()[1:] == ["ranked,0.5,1.0,0.0", "search,,0.0,0.0", "shown,0.5,1.0,1.0"]
