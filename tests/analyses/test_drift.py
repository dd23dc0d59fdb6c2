"""Drift: metrics of some days of a rollup beside those of others, by hand, with bounds, verdicts
and exit status.
"""

from collections.abc import Mapping
from math import log
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.inference import Tolerance
from sqlrank.rollups.contrasts import DriftTolerances, order_by_verdict
from tests.analyses.test_rollups import draw_clicks
from tests.interface.command_line import invoke_command

DAYS = {"reference": "day = 1", "current": "day = 2"}


def make_two_days(
    then: list[tuple[float, float]],
    now: list[tuple[float, float]],
    is_open: bool = True,
    **columns: Any,
) -> pa.Table:
    """Return a rollup of two days from weights of positives and negatives in bins, the highest
    first.
    """
    rows = [
        (day, -float(place), *pair)
        for day, bins in ((1, then), (2, now))
        for place, pair in enumerate(bins)
    ]
    day, bins, positives, negatives = (list(each) for each in zip(*rows, strict=True))
    ends = {"score_min": bins, "score_max": [each + 0.5 * is_open for each in bins]}
    counts = {
        "num_rows": [one + other for one, other in zip(positives, negatives, strict=True)],
        "definition_hash": ["0"] * len(rows),
    }
    return pa.table(
        {
            "day": day,
            "bin": bins,
            "positives": positives,
            "negatives": negatives,
            **ends,
            **counts,
            **columns,
        }
    )


def test_by_hand():
    """Of bins (2, 1), (1, 3), (1, 6) AUC is 0.7375 in [0.6, 0.875], of one bin 0.5 in [0, 1]; all
    of its weight is in the first tenths.
    """
    rollup = make_two_days([(2, 1), (1, 3), (1, 6)], [(3, 3)])
    auc, psi = sorted(
        sqlrank.drift("AUC", rollup=rollup, **DAYS).to_pylist(), key=lambda row: row["metric"]
    )
    assert auc == {
        "metric": "AUC",
        "value_reference": pytest.approx(0.7375),
        "value_current": 0.5,
        "difference": pytest.approx(-0.2375),
        "bound_low": pytest.approx(0 - 0.875),
        "bound_high": pytest.approx(1 - 0.6),
        "num_days_reference": 1,
        "num_days_current": 1,
        "num_rows_reference": 14,
        "num_rows_current": 6,
    }
    # Shares of 7, 4 and 3 in 14, of which the last has all now: the others count as 0.0001.
    expected = sum((0.0001 - share) * log(0.0001 / share) for share in (7 / 14, 4 / 14)) + (
        1 - 3 / 14
    ) * log(14 / 3)
    assert (
        psi["value_current"]
        == psi["difference"]
        == psi["bound_low"]
        == psi["bound_high"]
        == pytest.approx(expected, abs=1e-12)
    )


def test_psi_by_hand():
    """Halves that become 80 and 20 of 100; days that are alike have 0; a day is at 0 from itself
    however its weight changes.
    """
    rollup = make_two_days([(5, 45), (10, 40)], [(10, 70), (15, 5)])
    psi = next(
        row
        for row in sqlrank.drift("AUC", rollup=rollup, **DAYS).to_pylist()
        if row["metric"] == "PSI"
    )
    assert psi["value_current"] == pytest.approx(
        0.3 * log(0.8 / 0.5) - 0.3 * log(0.2 / 0.5), abs=1e-14
    )
    alike = make_two_days([(5, 45), (10, 40)], [(15, 135), (120, 30)])
    assert (
        next(
            row
            for row in sqlrank.drift("AUC", rollup=alike, **DAYS).to_pylist()
            if row["metric"] == "PSI"
        )["value_current"]
        == 0
    )


def find_psi(rollup: pa.Table) -> float:
    rows = sqlrank.drift("AUC", rollup=rollup, **DAYS).to_pylist()
    return next(row["value_current"] for row in rows if row["metric"] == "PSI")


def test_psi_is_of_deciles_of_the_middles_of_bins():
    """Bins of 6, 6 and 88 of 100 have their middles at 3, 9 and 56: the first two are one tenth,
    which grows from 12 to 20.
    """
    rollup = make_two_days([(0, 88), (1, 5), (5, 1)], [(0, 80), (1, 7), (9, 3)])
    assert find_psi(rollup) == pytest.approx(0.08 * log(0.2 / 0.12) - 0.08 * log(0.8 / 0.88))


def test_psi_of_a_tenth_that_is_gone():
    """It counts as a ten-thousandth."""
    rollup = make_two_days([(5, 45), (10, 40)], [(20, 80), (0, 0)])
    assert find_psi(rollup) == pytest.approx(0.5 * log(2) - 0.4999 * log(0.0001 / 0.5))


@pytest.mark.slow
def test_metrics_are_those_of_evaluate():
    made = sqlrank.rollup(["AUC", "LogLoss"], predictions=draw_clicks(), by=["day", "campaign"])
    found = sqlrank.drift(
        ["AUC", "LogLoss"], rollup=made, reference="day < 4", current="day >= 4", by="campaign"
    ).to_pylist()
    then, now = (
        {
            row["campaign"]: row
            for row in sqlrank.evaluate(
                ["AUC", "LogLoss"], rollup=made, where=where, by="campaign"
            ).to_pylist()
        }
        for where in ("day < 4", "day >= 4")
    )
    assert len(found) == 6
    for row in (row for row in found if row["metric"] != "PSI"):
        before, after, name = then[row["campaign"]], now[row["campaign"]], row["metric"]
        assert (row["value_reference"], row["value_current"]) == pytest.approx(
            (before[name], after[name])
        )
        assert (
            row["num_days_reference"],
            row["num_days_current"],
            row["num_rows_reference"],
            row["num_rows_current"],
        ) == (3, 2, before["num_rows"], after["num_rows"])
        least, greatest = (
            (f"{name}.bound_low", f"{name}.bound_high") if name == "AUC" else (name, name)
        )
        assert row["bound_low"] == pytest.approx(after[least] - before[greatest], abs=1e-12)
        assert row["bound_high"] == pytest.approx(after[greatest] - before[least], abs=1e-12)
    moved = [abs(row["difference"]) / (row["value_reference"] or 1) for row in found]
    assert moved == sorted(moved, reverse=True)


# Verdicts


@pytest.mark.parametrize(
    ("tolerance", "is_open", "verdict"),
    [(0.9, True, "pass"), (0.3, True, "inconclusive"), (0.23, False, "fail"), (0.24, False, "pass"), ("40%", False, "pass"), ("30%", False, "fail")],
)  # fmt: skip
def test_verdicts_are_certain(tolerance, is_open, verdict):
    """AUC falls by 0.2375, 32 % of the reference; of open bins by -0.4 to 0.875."""
    rollup = make_two_days([(2, 1), (1, 3), (1, 6)], [(3, 3)], is_open)
    result = sqlrank.drift("AUC", rollup=rollup, tolerance=tolerance, **DAYS)
    assert [(row["metric"], row["verdict"]) for row in result.to_pylist()] == [
        ("AUC", verdict),
        ("PSI", None),
    ]
    assert result.schema.metadata[b"sqlrank.verdict"].decode() == verdict


@pytest.mark.parametrize(("tolerance", "verdict"), [(0.25, "pass"), (0.2499, "fail")])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_change_of_the_tolerance_is_within_it(tolerance, is_reversed, verdict):
    """AUC 3/4 and 1/2, or the other way round."""
    days = [[(1.0, 0.0), (1.0, 2.0)], [(2.0, 2.0)]]
    then, now = reversed(days) if is_reversed else days
    rollup = make_two_days(then, now, is_open=False)
    row = sqlrank.drift("AUC", rollup=rollup, tolerance=tolerance, **DAYS).to_pylist()[0]
    assert (row["difference"], row["verdict"]) == (0.25 if is_reversed else -0.25, verdict)


def test_the_worst_comes_first_and_what_is_not_there_is_skipped():
    """Campaign c has gone and d has come; the AUC of b moved more than that of a, as a share of the
    tolerance.
    """
    rows = [
        (1, "a", 0.75),
        (2, "a", 0.8),
        (1, "b", 0.75),
        (2, "b", 0.25),
        (1, "c", 0.5),
        (2, "d", 0.5),
    ]
    table = {"day": [], "campaign": [], "label": [], "score": []}
    for day, campaign, share in rows:
        for number in range(20):
            table["day"].append(day)
            table["campaign"].append(campaign)
            table["label"].append(number % 2)
            table["score"].append(0.5 if number % 2 == 0 else 0.75 if number < 20 * share else 0.25)
    rollup = sqlrank.rollup(
        "AUC", predictions=pa.table(table), by=["day", "campaign"], binning="exact"
    )
    result = sqlrank.drift("AUC", rollup=rollup, by="campaign", tolerance=0.15, **DAYS).to_pylist()
    found = [
        (row["campaign"], row["verdict"], row["reason"]) for row in result if row["metric"] == "AUC"
    ]
    assert found == [
        ("b", "fail", "moved by more than the tolerance"),
        ("d", "skipped", "no rows in the reference"),
        ("c", "skipped", "no rows in the days that are compared"),
        ("a", "pass", "within the tolerance"),
    ]


def test_a_metric_that_became_undefined_does_not_pass():
    """On the second day all labels are positive, so that AUC is undefined; LogLoss is not."""
    table = pa.table(
        {"day": [1] * 8 + [2] * 8, "label": [0, 1] * 4 + [1] * 8, "score": [0.25, 0.75] * 8}
    )
    rollup = sqlrank.rollup(["AUC", "LogLoss"], predictions=table, by="day", binning="exact")
    result = sqlrank.drift(
        ["AUC", "LogLoss"], rollup=rollup, tolerance={"AUC": 0.5, "LogLoss": 9}, **DAYS
    )
    found = {row["metric"]: (row["verdict"], row["reason"]) for row in result.to_pylist()}
    assert found["AUC"] == ("inconclusive", "undefined for the days that are compared")
    assert found["LogLoss"][0] == "pass"
    assert result.schema.metadata[b"sqlrank.verdict"] == b"inconclusive"


@pytest.mark.slow
def test_the_command_and_its_exit_status(tmp_path, monkeypatch):
    path, summary = tmp_path / "rollup.parquet", tmp_path / "summary.md"
    pq.write_table(make_two_days([(2, 1), (1, 3), (1, 6)], [(3, 3)]), path)
    asked = ["drift", "AUC", "--rollup", path, "--reference", "day = 1", "--current", "day = 2"]
    found = {
        tolerance: invoke_command(*asked, "--tolerance", tolerance)
        for tolerance in ("0.9", "AUC=0.2", "PSI=0.2")
    }
    assert {name: result.exit_code for name, result in found.items()} == {
        "0.9": 0,
        "AUC=0.2": 3,
        "PSI=0.2": 1,
    }
    assert found["PSI=0.2"].stdout.startswith("verdict: fail\n")
    assert (
        invoke_command(
            *asked, "--tolerance", "0.2", "--treat-inconclusive-as", "pass", "--summary", summary
        ).exit_code
        == 0
    )
    assert summary.read_text("utf-8").startswith(
        "## sqlrank drift: inconclusive\n\n| metric | reference | current | difference | bounds |"
        " verdict |"
    )
    plain = invoke_command(*asked, "--format", "csv")
    assert (plain.exit_code, plain.stdout.splitlines()[0]) == (
        0,
        "metric,value_reference,value_current,difference,bound_low,bound_high,num_days_reference,num_days_current,num_rows_reference,num_rows_current",
    )
    assert (
        invoke_command(*asked, "--treat-inconclusive-as", "pass").stderr
        == "sqlrank: --treat-inconclusive-as, --summary and --junit are for verdicts, which need"
        " --tolerance\n"
    )
    assert (
        "--tolerance 0.2: given twice for all metrics"
        in invoke_command(*asked, "--tolerance", "0.1", "--tolerance", "0.2").stderr
    )
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    written = invoke_command(
        *asked, "--tolerance", "PSI=0.2", "--junit", tmp_path / "drift.xml", "--format", "json"
    )
    assert written.stderr.splitlines()[0].startswith(
        "::error title=sqlrank drift::PSI: moved by more than the tolerance: difference "
    )
    suite = ET.parse(tmp_path / "drift.xml").getroot()  # noqa: S314  it was written here
    assert (suite.get("tests"), suite.get("failures")) == (
        "1",
        "1",
    )  # AUC has no verdict, and is no test
    assert [case.attrib for case in suite] == [{"classname": "sqlrank.drift", "name": "PSI"}]


def test_rows_without_a_margin_are_ordered():
    """2 % of a reference of 0 is no margin: changed metrics come first then, and undefined ones
    last.
    """

    class Passing(DriftTolerances):
        def decide_row(self, row: Mapping[str, Any]) -> dict[str, str | None]:  # noqa: ARG002
            return {"verdict": "pass"}

    changes = [0.0, None, 0.0, -0.3]
    rows = [
        {"metric": "Positives", "value_reference": 0.0, "difference": change} for change in changes
    ]
    rows.insert(2, {"metric": "AUC", "value_reference": 1.0, "difference": 0.5})
    share = Tolerance(0.02, is_share=True)
    ordered = order_by_verdict(rows, Passing({"Positives": share, "AUC": share}))
    assert [row["difference"] for row in ordered] == [-0.3, 0.5, 0.0, 0.0, None]
