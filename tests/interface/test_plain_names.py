"""Plain names of metrics, for tools that refuse ``@`` and parentheses in names."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric_resolver import resolve_metrics
from sqlrank.registry.resolved_metric import with_plain_names
from tests.interface.calls import GOOD_QRELS, GOOD_RUN, read_canonical
from tests.interface.command_line import run_command, run_refused_command
from tests.tables import build_table

CLICKS = build_table(label="0 1 1", score="0.25 0.75 0.5")


def test_columns_have_plain_names_and_metadata_the_canonical_ones():
    metrics = ["nDCG(gain=exp2)@10", "MRR", "RR", "11pt", "map"]
    plain = sqlrank.evaluate(metrics, run=GOOD_RUN, qrels=GOOD_QRELS, names="plain")
    assert plain.column_names == ["ndcg_gain_exp2_at_10", "mrr", "rr", "eleven_pt", "map"]
    assert read_canonical(plain) == dict(
        zip(plain.column_names, ["nDCG(gain=exp2)@10", "RR", "RR", "11pt", "AP"], strict=True)
    )
    assert json.loads(plain.schema.metadata[b"sqlrank.measures"]).keys() == set(plain.column_names)
    requested = sqlrank.evaluate(metrics, run=GOOD_RUN, qrels=GOOD_QRELS, names="requested")
    assert list(plain.to_pylist()[0].values()) == list(requested.to_pylist()[0].values())
    assert plain.schema.metadata[b"sqlrank.sql"] == requested.schema.metadata[b"sqlrank.sql"]


@pytest.mark.slow
def test_intervals_and_queries_have_them():
    limits = sqlrank.evaluate(
        ["AUC", "LogLoss"], predictions=CLICKS, confidence=0.9, names="plain"
    ).column_names
    assert limits == [
        f"{name}{end}"
        for name in ("auc", "log_loss")
        for end in ("", ".ci_low", ".ci_high", ".se", ".n_units")
    ]
    per_query = sqlrank.evaluate(
        "P@5", run=GOOD_RUN, qrels=GOOD_QRELS, per_query=True, names="plain"
    )
    assert per_query.column_names == ["query_id", "p_at_5"]


def test_names_are_unique():
    (metric,) = resolve_metrics("AP", load_registry(), None, {}, ["run", "qrels"])
    twins = [
        replace(metric, requested_names=names)
        for names in (("iprec_0.10", "iprec_0_10"), ("iprec-0.10",))
    ]
    assert [renamed.column_names for renamed in with_plain_names(twins)] == [
        ("iprec_0_10", "iprec_0_10_2"),
        ("iprec_0_10_3",),
    ]


def test_a_plain_name_is_not_that_of_a_group():
    clicks = CLICKS.append_column("auc", pa.array([1, 1, 1]))
    assert sqlrank.evaluate("AUC", predictions=clicks, by="auc").column_names == ["auc", "AUC"]


@pytest.mark.slow
def test_comparisons_and_gates_have_them_in_rows():
    qrels = {f"q{number}": {"a": 1} for number in range(30)}
    run = {query: {"a": 1.0, "b": 0.5} for query in qrels}
    sources = {"run": {"old": run, "new": run}, "qrels": qrels, "names": "plain"}
    compared = sqlrank.compare(["MRR", "nDCG@10"], **sources)
    assert compared["metric"].to_pylist() == ["mrr", "ndcg_at_10"]
    assert read_canonical(compared) == {"mrr": "RR", "ndcg_at_10": "nDCG@10"}
    for tolerance in ({"nDCG@10": 0.1, "*": 0.2}, {"ndcg_at_10": 0.1, "*": 0.2}):
        gated = sqlrank.gate(["MRR", "nDCG@10"], tolerance=tolerance, **sources).to_pylist()
        assert [(row["metric"], row["tolerance"], row["verdict"]) for row in gated] == [
            ("mrr", "0.2", "pass"),
            ("ndcg_at_10", "0.1", "pass"),
        ]
    baseline = sqlrank.evaluate("nDCG@10", run=run, qrels=qrels, per_query=True, names="plain")
    (row,) = sqlrank.gate("nDCG@10", run=run, qrels=qrels, baseline=baseline).to_pylist()
    assert (row["metric"], row["verdict"]) == ("nDCG@10", "pass")


def test_rollups_have_them():
    rollup = sqlrank.rollup(["AUC", "LogLoss"], predictions=CLICKS)
    result = sqlrank.evaluate(["AUC", "bce"], rollup=rollup, names="plain")
    assert result.column_names == ["auc", "auc.bound_low", "auc.bound_high", "bce", "num_rows"]
    compared = sqlrank.compare(
        "AUC", rollups={"old": rollup, "new": rollup}, confidence=None, names="plain"
    )
    assert (compared["metric"].to_pylist(), read_canonical(compared)) == (["auc"], {"auc": "AUC"})


def test_statements_have_no_others():
    call = {"run": "run", "qrels": "qrels", "confidence": 0.9}
    assert sqlrank.sql(["MRR", "11pt"], names="plain", **call) == sqlrank.sql(
        ["MRR", "11pt"], **call
    )


@pytest.mark.slow
def test_the_command_line_has_them(tmp_path):
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 1.0 r\nq1 Q0 b 2 0.5 r\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    sources = ["--run", tmp_path / "run.txt", "--qrels", tmp_path / "qrels.txt", "--names", "plain"]
    assert run_command("evaluate", "nDCG@10", "MRR", *sources, "--sort", "ndcg@10").split() == [
        "ndcg_at_10",
        "mrr",
        "1.0000",
        "1.0000",
    ]
    assert "AS ndcg_at_10" in run_command("sql", "nDCG@10", *sources)
    sources[1] = f"old={tmp_path / 'run.txt'}"
    assert "ndcg_at_10" in run_command(
        "compare", "nDCG@10", *sources, "--run", f"new={tmp_path / 'run.txt'}"
    )
    assert "unknown names 'short'. Choose from: requested, plain" in run_refused_command(
        "evaluate", "AP", *sources[:-1], "short"
    )
