"""Metrics under the names that other tools give them, lists of cut-offs, and the search for a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import sqlrank
from sqlrank import MetricError
from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_folder import read_toml, sql_root
from tests.unit.calls import GOOD_QRELS, GOOD_RUN
from tests.unit.command_line import printed, refused

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

NAMES: dict[str, Any] = read_toml(sql_root() / "names.toml")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("MAP", "AP"),
        ("map@10", "AP@10"),
        ("MAP(rel=2)@10", "AP(rel=2)@10"),
        ("MRR", "RR"),
        ("HR@10", "Success@10"),
        ("HitRate@5", "Success@5"),
        ("hit_rate@5", "Success@5"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_burges@3", "nDCG(gain=exp2)@3"),
        ("Precision@10", "P@10"),
        ("Recall@10", "R@10"),
        ("Precision", "Precision"),
        ("Recall", "Recall"),
        ("F1@5", "F@5"),
        ("F1", "FBeta"),
        ("ROC-AUC", "AUC"),
        ("roc_auc", "AUC"),
        ("AUROC", "AUC"),
        ("logloss", "LogLoss"),
        ("log-loss", "LogLoss"),
        ("log_loss", "LogLoss"),
        ("nll", "LogLoss"),
        ("num-q", "num_q"),
        ("AUC@5", "AUC@5"),
        ("Lift@0.1", "Lift@0.1"),
    ],
)
def test_names_of_other_tools(theirs: str, ours: str) -> None:
    assert str(sqlrank.parse(theirs)) == ours


def test_every_known_name_is_of_a_metric_and_of_none_of_ours() -> None:
    assert NAMES.keys() == {"same", "several", "words", "spellings", "functions", "examples", "arguments"}
    for theirs, ours in NAMES["same"].items():
        assert theirs == theirs.lower().replace("-", "").replace("_", "")
        cutoff = "@5" if theirs.endswith("@") else ""
        found = sqlrank.parse(theirs.removesuffix("@") + cutoff)
        assert str(found) == ours + cutoff
        own = load_registry().metrics.get(theirs.removesuffix("@"))
        assert own is None or (cutoff and own.cutoff_parameter is None)
        assert theirs not in NAMES["several"]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("CTR", "'Ratio(clicks, views)' of 'sqlrank experiment'"),
        ("hold-out", "'sqlrank split' puts rows into train and test"),
        ("assignment", "puts units into arms"),
        ("Viewport", "nDCG@cutoff is at the cut-off of each query"),
        ("off-policy", "'sqlrank metrics policies' lists what logged actions say"),
        ("Entity resolution", "'sqlrank metrics clusters' lists those of clusters of records"),
        ("budget", "Elbow@k says where more brings little"),
    ],
)
def test_words_of_no_metric_lead_to_what_is_meant(word: str, told: str) -> None:
    assert told in refused("metrics", word)


@pytest.mark.slow
def test_words_of_a_metric_lead_to_it() -> None:
    assert {"Lost", "SearchReduction"} <= {line.split()[0] for line in printed("metrics", "stage").splitlines()}
    assert printed("metrics", "elbow").startswith("-- Elbow: ")
    for family in ("interleaving", "policies", "ranking"):
        rows = sqlrank.metrics(search=family).to_pylist()
        assert {row["name"] for row in sqlrank.metrics().to_pylist() if row["family"] == family} <= {row["name"] for row in rows}
    assert {line.split()[0] for line in printed("metrics", "interleaving").splitlines()} == {
        "name",
        "num_won_by_a",
        "num_won_by_b",
        "Preference",
    }
    assert not NAMES["words"].keys() & {name.lower() for name in load_registry().metric_names}


def test_names_that_mean_different_things_are_refused_with_the_choices() -> None:
    for name in NAMES["several"]:
        with pytest.raises(MetricError, match="means different things in different tools; say which: "):
            sqlrank.parse(name.replace("@", "@5"))
    assert "hits means different things in different tools; say which: Success is" in refused(
        "evaluate", "hits", "--run", "r", "--qrels", "q"
    )


def test_names_of_a_tool_are_told_with_its_mode() -> None:
    with pytest.raises(
        MetricError,
        match=r"unknown metric 'ndcg_cut_10'; trec10 calls nDCG@10 so: write nDCG@10, or give compat='trec10' \(--compat trec10\)",
    ):
        sqlrank.parse("ndcg_cut_10")
    assert str(sqlrank.parse("roc_auc_score")) == "AUC"


def test_the_result_has_our_names(run: pa.Table, qrels: pa.Table) -> None:
    assert sqlrank.evaluate(["MRR", "hr@1", "RR"], run=run, qrels=qrels).to_pylist() == [{"RR": 0.75, "Success@1": 0.5}]


def test_names_of_your_own(tmp_path: Path) -> None:
    (tmp_path / "names.toml").write_text('[same]\nmyndcg = "nDCG(gain=exp2)@10"\nmap = "AP(denominator=k)"\n')
    assert str(sqlrank.parse("my-ndcg@3", sql_dir=tmp_path)) == "nDCG(gain=exp2)@3"
    assert str(sqlrank.parse("MAP@3", sql_dir=tmp_path)) == "AP(denominator=k)@3"
    assert str(sqlrank.parse("MAP@3")) == "AP@3"


def test_a_list_of_cutoffs_is_a_column_each() -> None:
    asked = ["P@[1, 2]", "RR", "nDCG(gain=exp2)@[2]", "P@1"]
    got = sqlrank.evaluate(asked, run=GOOD_RUN, qrels=GOOD_QRELS).to_pylist()
    assert got == [{"P@1": 1.0, "P@2": 0.5, "RR": 1.0, "nDCG(gain=exp2)@2": 1.0}]
    assert sqlrank.evaluate("MAP@[1,2]", run=GOOD_RUN, qrels=GOOD_QRELS).column_names == ["AP@1", "AP@2"]
    for wrong in ("P@[]", "P@[1,x]", "P@[1..3]", "P@[1,,2]"):
        with pytest.raises(MetricError, match=r"write numbers with commas between them, as in P@\[1,5,10\]"):
            sqlrank.evaluate(wrong, run=GOOD_RUN, qrels=GOOD_QRELS)
    with pytest.raises(MetricError, match="must be an integer from 1"):
        sqlrank.evaluate("P@[0,1]", run=GOOD_RUN, qrels=GOOD_QRELS)


@pytest.mark.slow
def test_a_word_is_searched_for() -> None:
    names = [line.split()[0] for line in printed("metrics", "reciprocal").splitlines()[1:]]
    assert names == ["ERR", "RHR", "RR"]
    assert sqlrank.metrics(search="RECIPROCAL")["name"].to_pylist() == names
    assert "Success" in sqlrank.metrics(search="hitrate")["name"].to_pylist(), "a name known elsewhere"
    assert sqlrank.metrics(search="no such word").num_rows == 0
    assert printed("metrics", "MAP").startswith("-- AP: ")
    assert "unknown metric 'foo'" in refused("metrics", "foo")
