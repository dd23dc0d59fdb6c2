"""Gates of differences between groups: verdicts from the intervals of differences and ratios, cases
without a verdict, errors, texts.
"""

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank.output.ci_reports import format_junit, github_annotations
from tests.interface.command_line import app


def make_people(*selected: int, rows: int = 200, name: str = "sex") -> pa.Table:
    """Return predictions of groups 0, 1, ... of so many rows, of which so many have a score above
    the threshold.
    """
    scores = [0.9 if row < count else 0.1 for count in selected for row in range(rows)]
    groups = [group for group, _ in enumerate(selected) for _ in range(rows)]
    return pa.table(
        {"label": [row % 2 for row in range(len(scores))], "score": scores, name: groups}
    )


def find_verdict(
    table: pa.Table, tolerance: Any, metrics: str = "DemographicParity", **options: Any
) -> tuple[str, str, str]:
    (row,) = sqlrank.gate(
        metrics, predictions=table, across="sex", tolerance=tolerance, **options
    ).to_pylist()
    return row["tolerance"], row["verdict"], row["reason"]


@pytest.mark.slow
def test_verdicts_follow_from_the_interval_of_the_difference_or_the_ratio():
    table = make_people(120, 80)
    (row,) = sqlrank.evaluate(
        "SelectionRate", predictions=table, across="sex", confidence=0.95
    ).to_pylist()
    assert row["difference"] == pytest.approx(0.2)
    assert row["ratio"] == pytest.approx(2 / 3)
    assert find_verdict(table, row["ci_high"]) == (
        f"{row['ci_high']:g}",
        "pass",
        "the difference is within the tolerance",
    )
    assert find_verdict(table, 0.2) == (
        "0.2",
        "inconclusive",
        "the interval extends beyond the tolerance",
    )
    assert find_verdict(table, row["ci_low"] - 1e-6)[1:] == (
        "fail",
        "the difference is beyond the tolerance",
    )
    gap = (1 - row["ratio_ci_high"], 1 - row["ratio_ci_low"])
    assert find_verdict(table, f"{100 * gap[1] + 1e-6:.9f}%")[1:] == (
        "pass",
        "the ratio is within the tolerance",
    )
    assert find_verdict(table, f"{100 * gap[0] - 1e-6:.9f}%")[1:] == (
        "fail",
        "the ratio is beyond the tolerance",
    )


def test_limits_at_the_tolerance_exactly_are_within_it():
    table = make_people(12, 4, rows=20)
    (row,) = sqlrank.evaluate(
        "SelectionRate", predictions=table, across="sex", confidence=0.95
    ).to_pylist()
    assert find_verdict(table, row["ci_high"])[1] == "pass"
    assert find_verdict(table, row["ci_low"])[1] == "inconclusive"


def test_a_difference_fails_by_the_interval_that_allows_for_all_rows():
    """Of ten days, one differs: significantly at the level of one test, and not at that of ten."""
    days = [
        make_people(*((112, 88) if day == 0 else (100, 100))).append_column(
            "day", pa.array([day] * 400)
        )
        for day in range(10)
    ]
    table, call = pa.concat_tables(days), {"across": "sex", "tolerance": 0.01}
    first, *others = sqlrank.gate("SelectionRate", predictions=table, by="day", **call).to_pylist()
    wide = sqlrank.evaluate(
        "SelectionRate", predictions=table, by="day", across="sex", confidence=0.995
    ).to_pylist()[0]
    assert wide["ci_low"] < 0.01 < first["ci_low"]
    assert (first["verdict"], first["reason"]) == (
        "inconclusive",
        "the interval that allows for 10 rows extends beyond the tolerance",
    )
    assert {row["reason"] for row in others} == {"the interval extends beyond the tolerance"}
    alone = sqlrank.gate("SelectionRate", predictions=table, where="day = 0", **call)
    assert (alone["verdict"].to_pylist(), alone.schema.metadata[b"sqlrank.verdict"]) == (
        ["fail"],
        b"fail",
    )


@pytest.mark.slow
def test_units_and_metrics_have_their_own_verdicts():
    """Rows of the same user are no further information."""
    table = pa.concat_tables([make_people(120, 80)] * 3).append_column(
        "user", pa.array(list(range(400)) * 3)
    )
    assert find_verdict(table, 0.13)[1] == "fail"
    assert find_verdict(table, 0.13, unit="user")[1] == "inconclusive"
    names = ["EqualizedOdds", "demographic_parity_difference", "Recall"]
    result = sqlrank.gate(
        names,
        predictions=table,
        across="sex",
        tolerance={"EqualizedOdds": 0.4, "Recall": "99%", "*": 0.05},
    )
    found = [
        (row["metric"], row["component"] or "", row["tolerance"], row["verdict"])
        for row in result.to_pylist()
    ]
    assert found == [
        ("Recall", "Recall", "99%", "pass"),
        ("EqualizedOdds", "Recall", "0.4", "pass"),
        ("demographic_parity_difference", "SelectionRate", "0.05", "fail"),
    ]


@pytest.mark.parametrize(
    ("table", "metrics", "verdict", "reason"),
    [
        (make_people(5), "SelectionRate", "inconclusive", "fewer than two groups"),
        (make_people(1, 0, rows=1), "SelectionRate", "inconclusive", "the difference has no interval"),
        (make_people(0, 0, rows=1), "AUC", "inconclusive", "undefined for 2 of 2 groups"),
        (pa.concat_tables([make_people(100, 100), make_people(0, 0, 0, rows=1).slice(2)]), "Recall", "inconclusive", "undefined for 1 of 3 groups"),
        (make_people(200, 200), "SelectionRate", "pass", "the difference is within the tolerance"),
    ],
)  # fmt: skip
def test_groups_without_values_are_no_pass(table, metrics, verdict, reason):
    assert find_verdict(table, 0.9, metrics)[1:] == (verdict, reason)


@pytest.mark.slow
def test_two_systems_are_a_row_each():
    table = make_people(120, 80).rename_columns(["label", "old", "sex"])
    table = table.append_column("new", pa.array(make_people(180, 180)["score"].to_pylist()))
    call = {
        "predictions": table,
        "columns": {"score": ["old", "new"]},
        "across": "sex",
        "tolerance": 0.07,
    }
    rows = sqlrank.gate("SelectionRate", **call).to_pylist()
    assert [(row["score"], row["verdict"]) for row in rows] == [("new", "pass"), ("old", "fail")]
    with pytest.raises(AssertionError, match=r"\n\| SelectionRate \(score=old\) \|"):
        sqlrank.assert_not_worse("SelectionRate", **call)


@pytest.mark.slow
def test_rankings_and_classes_have_differences_to_gate():
    rng = np.random.default_rng(1)
    country = {f"q{query}": "a" if query % 2 else "b" for query in range(80)}
    run = {
        query: {"d": rng.random() + (place == "a"), "e": 0.5} for query, place in country.items()
    }
    queries = pa.table({"query_id": list(country), "country": list(country.values())})
    qrels = {query: {"d": 1} for query in country}
    (row,) = sqlrank.gate(
        "RR", run=run, qrels=qrels, queries=queries, across="country", tolerance=0.05
    ).to_pylist()
    assert (row["country_min"], row["country_max"], row["verdict"]) == ("b", "a", "fail")
    labels = rng.integers(0, 3, 600)
    columns = {
        "label": labels,
        "predicted": np.where(rng.random(600) < 0.8, labels, 0),
        "region": rng.integers(0, 2, 600),
    }
    result = sqlrank.gate(
        ["MulticlassAccuracy", "f1_macro"],
        inputs={"classified": pa.table(columns)},
        across="region",
        tolerance="20%",
    )
    assert result["verdict"].to_pylist() == ["pass", "pass"]


@pytest.mark.slow
def test_the_command_exits_with_the_verdict_and_writes_reports(tmp_path):
    pq.write_table(make_people(120, 80), tmp_path / "people.parquet")
    arguments = [
        "gate",
        "DemographicParity",
        "--across",
        "sex",
        "--predictions",
        str(tmp_path / "people.parquet"),
        "--tolerance",
    ]
    found = {
        tolerance: CliRunner().invoke(app, [*arguments, tolerance])
        for tolerance in ("0.1", "0.2", "0.4", "0")
    }
    assert {tolerance: result.exit_code for tolerance, result in found.items()} == {
        "0.1": 1,
        "0.2": 3,
        "0.4": 0,
        "0": 2,
    }
    assert found["0.1"].stdout.splitlines()[0] == "verdict: fail"
    assert found["0.1"].stdout.split()[2:6] == ["metric", "least", "greatest", "difference"]
    assert "give a tolerance above 0" in found["0"].stderr
    reports = [str(tmp_path / name) for name in ("summary.md", "junit.xml")]
    CliRunner().invoke(app, [*arguments, "10%", "--summary", reports[0], "--junit", reports[1]])
    assert (
        "| DemographicParity | 0.4000 (1) | 0.6000 (0) | 0.6667 |"
        in (tmp_path / "summary.md").read_text()
    )
    result = sqlrank.gate(
        "SelectionRate", predictions=make_people(120, 80), across="sex", tolerance="10%"
    )
    message = (
        "the ratio is beyond the tolerance: ratio 0.6667, ratio_ci_low 0.5414, ratio_ci_high"
        " 0.8166, tolerance 10%"
    )
    assert message in format_junit(result)
    assert [re.sub(r"\d\.\d+", "x", line) for line in github_annotations(result)] == [
        (
            "::error title=sqlrank gate::SelectionRate: the ratio is beyond the tolerance: ratio x,"
            " ratio_ci_low x, ratio_ci_high x, tolerance 10%25"
        )
    ]
