"""MLflow's client with a file store, in an environment of its own: the contents of a run after
results were logged to it.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.environments import make_environment

REQUIREMENTS = ["mlflow==3.17.2", "duckdb>=2.0", "sqlglot>=30.30,<31"]
PROGRAM = """
import json, sys
import mlflow, pyarrow as pa, sqlrank
from mlflow.exceptions import MlflowException
from sqlrank.integrations.mlflow import log

mlflow.set_tracking_uri(f"file:{sys.argv[1]}")
run = {"q1": {"a": 0.9, "b": 0.5}, "q2": {"a": 0.1, "b": 0.4}}
sources = {"run": run, "qrels": {"q1": {"a": 1}, "q2": {"a": 1}}}
systems = {**sources, "run": {"old/x": run, "new": {query: {"a": 1.0} for query in run}}}
clicks = pa.table({"label": [0, 1, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4, 0.5], "site": ["a/b", "a/b", "a", "a", "a_b"]})
results = {
    "sqlrank": sqlrank.evaluate(["nDCG@10", "MRR", "11pt"], confidence=0.9, **sources),
    "plain": sqlrank.evaluate(["nDCG(gain=exp2)@10"], names="plain", **sources),
    "cutoffs": sqlrank.evaluate("P@1..3", **sources),
    "queries": sqlrank.evaluate("R@1", per_query=True, **sources),
    "compared": sqlrank.compare(["nDCG@10"], **systems),
    "pairs": sqlrank.compare(["nDCG@10"], per_query=True, **systems),
    "gated": sqlrank.gate(["AP"], min_units=2, **systems),
    "groups": sqlrank.evaluate(["AUC", "num_predictions_dropped"], predictions=clicks, by=[[], ["site"]], nulls="drop"),
    "curve": sqlrank.evaluate("ROC", predictions=clicks),
}
found = {}
with mlflow.start_run() as active:
    try:
        mlflow.log_metrics({"nDCG@10": 1.0})
    except MlflowException as error:
        found["refused"] = str(error)
    for folder, result in results.items():
        log(result, folder=folder)
    found["tables"] = {folder: len(mlflow.load_table(f"{folder}/result.json")) for folder in results}
    found["canonical"] = {folder: mlflow.artifacts.load_dict(f"{active.info.artifact_uri}/{folder}/metrics.json") for folder in results}
    found["statement"] = mlflow.artifacts.load_text(f"{active.info.artifact_uri}/sqlrank/statement.sql")
    found["expected_statement"] = results["sqlrank"].schema.metadata[b"sqlrank.sql"].decode()
    try:
        log(clicks)
    except sqlrank.InputError as error:
        found["not_a_result"] = str(error)
client = mlflow.MlflowClient()
data = client.get_run(active.info.run_id).data
found |= {"metrics": data.metrics, "tags": data.tags}
found["steps"] = {metric.step: metric.value for metric in client.get_metric_history(active.info.run_id, "p_at_1_to_3")}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the contents of a run; the program has sqlrank from here."""
    folder = tmp_path_factory.mktemp("mlflow")
    (folder / "program.py").write_text(PROGRAM)
    programs = make_environment(pytestconfig, "mlflow", REQUIREMENTS)
    variables = {
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "PATH": "/usr/bin:/bin",
    }
    command = [str(programs / "python"), str(folder / "program.py"), str(folder / "store")]
    done = subprocess.run(
        command, env=variables, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_metrics_have_plain_names(found):
    assert "nDCG@10" in found["refused"]
    metrics = found["metrics"]
    for name in ("ndcg_at_10", "mrr", "eleven_pt"):
        assert {
            f"{name}{end}" for end in ("", ".ci_low", ".ci_high", ".se", ".n_units")
        } <= metrics.keys()
    assert metrics["mrr"] == 0.75
    assert (
        metrics["ndcg_gain_exp2_at_10"]
        == metrics["ndcg_at_10"]
        == pytest.approx((1 + 1 / 1.584962500721156) / 2)
    )
    assert found["canonical"]["sqlrank"] == {
        "ndcg_at_10": "nDCG@10",
        "mrr": "RR",
        "eleven_pt": "11pt",
    }
    assert found["canonical"]["plain"] == {"ndcg_gain_exp2_at_10": "nDCG(gain=exp2)@10"}
    assert found["steps"] == {"1": 0.5, "2": 0.5, "3": pytest.approx(1 / 3)}


@pytest.mark.slow
def test_groups_and_systems_come_before_them(found):
    """The AUC of the site a_b, which has one class, is undefined, and not logged."""
    metrics = found["metrics"]
    assert {name: value for name, value in metrics.items() if name.endswith("auc")} == {
        "auc": pytest.approx(2 / 3),
        "site.a_b/auc": 1.0,
        "site.a/auc": 0.0,
    }
    assert {name for name in metrics if "num_predictions_dropped" in name} == {
        f"{group}num_predictions_dropped" for group in ("", "site.a/", "site.a_b/", "site.a_b_2/")
    }
    pair = "baseline.old_x/system.new/ndcg_at_10"
    assert metrics[f"{pair}.value"] == 1
    assert metrics[f"{pair}.difference"] == pytest.approx(1 - metrics["ndcg_at_10"])
    assert "r_at_1" not in metrics
    assert "baseline.old_x/system.new/ap.ci_low" in metrics


@pytest.mark.slow
def test_rows_and_the_statement_are_artifacts(found):
    assert found["tables"] == {
        "sqlrank": 1,
        "plain": 1,
        "cutoffs": 3,
        "queries": 2,
        "compared": 1,
        "pairs": 2,
        "gated": 1,
        "groups": 4,
        "curve": found["tables"]["curve"],
    }
    assert found["tables"]["curve"] > 2
    assert found["statement"] == found["expected_statement"]
    assert found["tags"]["sqlrank.verdict"] in {"pass", "inconclusive"}
    assert (
        found["not_a_result"]
        == "this table is no result of sqlrank. Give one as evaluate, compare or gate returned it"
    )
