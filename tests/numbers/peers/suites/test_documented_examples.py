"""Examples that other tools document, with the numbers of the tool where it is installed.

They are of ranx, er-evaluation and tea-tasting, which tests do not install: ``pip install ranx
er-evaluation tea-tasting`` has them run.
"""

from typing import Any

import pyarrow as pa
import pytest

import sqlrank


def import_tool(name: str) -> Any:
    return pytest.importorskip(
        name,
        reason=(
            f"{name} is not installed, and no test installs it: pip install"
            f" {name.replace('_', '-')}"
        ),
    )


RANX_QRELS = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}
RANX_RUN = {
    "q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7, "d_36": 0.6, "d_32": 0.5, "d_35": 0.4},
    "q_2": {"d_12": 0.9, "d_11": 0.8, "d_25": 0.7, "d_36": 0.6, "d_22": 0.5, "d_35": 0.4},
}
RANX_METRICS = [
    *(
        "hits", "hits@3", "hit_rate@2", "precision", "precision@3", "recall", "recall@2", "f1",
        "f1@3", "r-precision", "mrr", "mrr@1",
    ),
    *("map", "map@3", "ndcg", "ndcg@3", "ndcg_burges@3", "rbp.95"),
]  # fmt: skip


def test_the_quick_start_of_ranx():
    ranx = import_tool("ranx")
    theirs = ranx.evaluate(ranx.Qrels(RANX_QRELS), ranx.Run(RANX_RUN), RANX_METRICS)
    lists = {query: [*scores] for query, scores in RANX_RUN.items()}
    ours = sqlrank.evaluate(RANX_METRICS, run=lists, qrels=RANX_QRELS, compat="ranx").to_pylist()[0]
    assert [*ours.values()] == pytest.approx([theirs[metric] for metric in RANX_METRICS])


PREDICTED = {1: "a", 2: "a", 3: "b", 4: "b", 5: "b", 6: "c", 7: "d", 8: "d"}
TRUE = {1: "x", 2: "x", 3: "x", 4: "y", 5: "y", 6: "y", 7: "z", 8: "z"}


def test_metrics_of_er_evaluation():
    """Its B-cubed averages over true clusters."""
    er = import_tool("er_evaluation")
    pandas = pytest.importorskip("pandas", reason="er-evaluation takes its series")
    prediction, reference = pandas.Series(PREDICTED), pandas.Series(TRUE)
    names = {
        "PairwisePrecision": er.metrics.pairwise_precision,
        "PairwiseRecall": er.metrics.pairwise_recall,
        "PairwiseF": er.metrics.pairwise_f,
        "ClusterPrecision": er.metrics.cluster_precision,
        "ClusterRecall": er.metrics.cluster_recall,
        "ClusterF": er.metrics.cluster_f,
        "BCubedPrecision(record_weight=true_cluster)": er.metrics.b_cubed_precision,
        "BCubedRecall(record_weight=true_cluster)": er.metrics.b_cubed_recall,
    }
    table = pa.table(
        {
            "record_id": [*PREDICTED],
            "predicted_cluster": [*PREDICTED.values()],
            "true_cluster": [*TRUE.values()],
        }
    )
    (ours,) = sqlrank.evaluate(list(names), inputs={"records": table}).to_pylist()
    assert ours == pytest.approx(
        {name: function(prediction, reference) for name, function in names.items()}
    )
    assert all(ours.values())


def test_the_sample_of_tea_tasting():
    tea = import_tool("tea_tasting")
    data = tea.make_users_data(seed=42, n_users=400)
    table = data if isinstance(data, pa.Table) else pa.table(data)
    theirs = tea.Experiment(
        orders=tea.Mean("orders"), ratio=tea.RatioOfMeans("orders", "sessions")
    ).analyze(table)
    ours = sqlrank.experiment(
        ["Mean(orders)", "Ratio(orders, sessions)"],
        data=table,
        variant="variant",
        control=0,
        unit="user",
    ).to_pylist()
    assert [row["metric"] for row in ours] == [
        "Mean(orders)",
        "Ratio(orders, sessions)",
        "sample_ratio",
    ]
    for row, name in zip(ours[:2], ("orders", "ratio"), strict=True):
        assert row["value"] == pytest.approx(theirs[name].treatment)
        assert row["value_control"] == pytest.approx(theirs[name].control)
