"""Reports of clusters of records and of predicted classes: verdicts, wrong clusters side by side,
and the confusion matrix.
"""

import re
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.interface.command_line import run_command
from tests.interface.test_reports import Page
from tests.interface.test_rollup_reports import read_verdicts
from tests.tables import build_table, read_columns

ANN, BOB = "<b>Ann</b>", "Bob's"


def link_records() -> pa.Table:
    """Return six records of two persons and one unknown, which the old system mixes and the new one
    splits once.
    """
    true = [ANN, ANN, ANN, BOB, BOB, None]
    predicted = read_columns(old="a a b b NULL c", new="a a a b d c")
    rows = [
        {
            "record_id": index + 1,
            "true_cluster": true[index],
            "predicted_cluster": name,
            "system": system,
        }
        for system, names in predicted.items()
        for index, name in enumerate(names)
    ]
    return pa.Table.from_pylist(rows)


def classify() -> pa.Table:
    """Return 40 tickets of three classes, of which the new system mistakes fewer."""
    labels = [("bill", "login", "<i>spam</i>")[index % 3] for index in range(40)]
    predicted = {
        "old": ["login" if index % 2 else label for index, label in enumerate(labels)],
        "new": labels,
    }
    rows = [
        {"ticket": index, "label": labels[index], "predicted": names[index], "system": system}
        for system, names in predicted.items()
        for index in range(40)
    ]
    return pa.Table.from_pylist(rows)


@pytest.fixture(scope="module")
def clusters() -> Page:
    return Page(
        sqlrank.report(inputs={"records": link_records()}, system="system", baseline="old").html
    )


@pytest.mark.slow
def test_a_report_of_clusters_begins_with_the_better_system_and_wrong_clusters(clusters):
    html = sqlrank.report(
        ["PairwiseF", "ClusterF"],
        inputs={"records": link_records()},
        system="system",
        baseline="old",
    ).html
    assert read_verdicts(html) == [
        ("better", "new has better values than old in 2 of 2 metrics: PairwiseF and ClusterF."),
        (
            "even",
            "These differences are not tested, because records of one cluster are not independent.",
        ),
        (
            "even",
            (
                "Split true clusters: 2 of 2 by old and 1 of 2 by new. Predicted clusters with"
                " records of several true ones: 1 of 3 by old and 0 of 3 by new."
            ),
        ),
        (
            "warning",
            ("old: 1 of 6 records have no predicted cluster, and count as clusters of their own."),
        ),
        (
            "warning",
            (
                "new and old: 1 of 6 records have no true cluster, and are left out. Metrics such as"
                " SampledPairwisePrecision estimate for all records from a sample of true clusters."
            ),
        ),
    ]
    assert re.findall(r'<li class="(\w+) minor">', html) == ["even", "even"]
    assert "<title>new against old: PairwiseF and ClusterF</title>" in html
    assert "5 records · " in html
    titles = re.findall(r'<h2 id="[\w-]+">(.*?)</h2>', html)
    assert titles == ["Summary", "Worst clusters", "Data quality", "Inputs and settings"]
    assert clusters.tables["pivot-rows"][3] == ["PairwiseF", "0.3333", "0.8571", "higher"]


@pytest.mark.slow
def test_the_worst_clusters_are_side_by_side(clusters):
    errors = clusters.tables["clusters-table-rows"][1:]
    assert errors == [
        [ANN, "3", "split in 2 (2 links missing), 1 false link", "✓"],
        [BOB, "2", "split in 2 (1 link missing), 1 false link", "split in 2 (1 link missing)"],
    ]
    sizes = [row[:6] for row in clusters.tables["cluster-sizes-rows"][1:]]
    assert sizes == [
        [name, size, size, size, "1", size] for name in ("old", "new") for size in ("2", "3")
    ]
    records = {row[0]: row[1:] for row in clusters.tables["cluster-1-rows"][1:]}
    assert records == {
        "1": [ANN, "a", "a"],
        "2": [ANN, "a", "a"],
        "3": [ANN, "b (split off)", "a"],
        "4": [BOB, "b (wrongly linked)", "apart"],
    }
    assert "Records of the true cluster <b>Ann</b>" in clusters.text
    assert {row[0]: row[2:] for row in clusters.tables["cluster-2-rows"][1:]} == {
        "4": ["b", "b"],
        "5": ["no cluster (split off)", "d (split off)"],
        "3": ["b (wrongly linked)", "apart"],
    }


@pytest.mark.slow
def test_clusters_of_two_tables_and_without_errors_are_reported(tmp_path):
    pq.write_table(build_table(record_id="1 2 3", cluster_id="a a b"), tmp_path / "true.parquet")
    pq.write_table(build_table(record_id="1 2 3", entity="7 7 8"), tmp_path / "found.parquet")
    given = (
        "--input",
        f"predicted_clusters={tmp_path / 'found.parquet'}",
        "--input",
        f"true_clusters={tmp_path / 'true.parquet'}",
    )
    run_command(
        "report",
        *given,
        "--column",
        "predicted_clusters.cluster_id=entity",
        "-o",
        tmp_path / "a.html",
    )
    html = (tmp_path / "a.html").read_text("utf-8")
    assert read_verdicts(html) == [
        (
            "pass",
            (
                "Split true clusters: 0 of 2. Predicted clusters with records of several true ones:"
                " 0 of 2."
            ),
        )
    ]
    assert "No true cluster is predicted wrongly." in html
    assert 'id="cluster-1"' not in html


@pytest.mark.slow
def test_predicted_classes_have_a_confusion_matrix():
    arguments: dict[str, Any] = {
        "inputs": {"classified": classify()},
        "system": "system",
        "baseline": "old",
        "unit": "ticket",
    }
    html = sqlrank.report(**arguments).html
    assert read_verdicts(html)[0][0] == "better"
    assert read_verdicts(html)[0][1].startswith(
        "new beats old on 4 of 4 metrics: MulticlassAccuracy 0."
    )
    page = Page(html)
    assert page.tables["classes-table-rows"][0] == [
        "system", "label", "precision", "recall", "f_beta", "label_weight", "predicted_weight",
    ]  # fmt: skip
    assert len(page.tables["classes-table-rows"]) == 1 + 6
    confusion = html[html.index('id="curve-confusion"') : html.index('id="classes-table"')]
    assert "weight: 13" in confusion
    assert "observed class" in confusion
    assert "<i>spam</i>" not in html


@pytest.mark.slow
def test_the_example_of_classes_is_reported_on_the_command_line(tmp_path):
    run_command(
        f"report --input classified=examples/data/small/classified.csv -o {tmp_path}/a.html"
    )
    assert 'id="curve-confusion"' in (tmp_path / "a.html").read_text("utf-8")
