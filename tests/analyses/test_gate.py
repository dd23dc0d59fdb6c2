"""Gates: verdicts by hand, error rates on noise, stored baselines, and texts for reviewers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank import InputError, MetricError
from sqlrank.comparison.comparison_plan import ComparedMetric
from sqlrank.comparison.paired_differences import DifferenceSummary
from sqlrank.comparison.system_comparison import GatedDifference
from sqlrank.inference import Tolerance
from sqlrank.output.ci_reports import format_junit, github_annotations, markdown_summary
from tests.interface.command_line import app

QRELS = {f"q{q}": {"a": 1} for q in range(40)}


def make_ranked_run(*ranks: int) -> dict[str, dict[str, float]]:
    """Return a run in which the relevant document has these ranks, over and over."""
    run = {}
    for q in range(40):
        rank = ranks[q % len(ranks)]
        run[f"q{q}"] = {
            "a": -float(rank),
            **{f"d{i}": -float(i) + (0.5 if i < rank else -0.5) for i in range(1, 5)},
        }
    return run


GOOD, MIXED, BAD = make_ranked_run(1, 2), make_ranked_run(2, 1, 2, 1, 2), make_ranked_run(4, 3)


def gate(old: Any, new: Any, metrics: Any = "RR", **options: Any) -> list[dict[str, Any]]:
    return sqlrank.gate(metrics, run={"old": old, "new": new}, qrels=QRELS, **options).to_pylist()


# Verdicts


def test_verdicts():
    (equal,) = gate(GOOD, GOOD)
    reason = "no change in 40 queries: at most 7.2% of queries change"  # (1 - 0.072) ** 40 is 0.05
    assert (equal["verdict"], equal["reason"], equal["difference"], equal["ci_low"]) == (
        "pass",
        reason,
        0,
        None,
    )
    (worse,) = gate(GOOD, BAD, tolerance=0.01)
    assert (worse["verdict"], worse["reason"], worse["n_units"]) == (
        "fail",
        "worse by more than the tolerance",
        40,
    )
    assert worse["ci_high"] < -0.01
    assert worse["baseline"] == "old"
    (better,) = gate(BAD, GOOD)
    assert better["verdict"] == "pass"
    (unsure,) = gate(GOOD, MIXED, tolerance=0.05)
    assert (unsure["verdict"], unsure["reason"]) == (
        "inconclusive",
        "the interval extends beyond the tolerance",
    )
    assert unsure["ci_low"] < -0.05 < unsure["ci_high"]
    assert (unsure["difference"], unsure["required_units"]) == (-0.05, None)
    (unsure,) = gate(GOOD, MIXED, tolerance=0.06)
    sd = unsure["se"] * 40**0.5
    assert unsure["required_units"] == int(
        np.ceil((1.959963984540054 * sd / 0.01) ** 2 + 1.959963984540054**2 / 2)
    )
    (tolerant,) = gate(GOOD, MIXED, tolerance=0.5)
    assert tolerant["verdict"] == "pass"


@pytest.mark.parametrize(("changed", "p"), [(4, "0.125"), (5, "0.0625"), (6, None)])
def test_a_pass_by_few_changes_says_so(changed, p):
    """4 queries that change, all for the better, have a probability of 0.125 under random signs."""
    better = make_ranked_run(1)
    new = {
        query: better[query] if place < changed else run
        for place, (query, run) in enumerate(MIXED.items())
    }
    (row,) = gate(
        {
            query: make_ranked_run(2)[query] if place < changed else run
            for place, (query, run) in enumerate(MIXED.items())
        },
        new,
    )
    few = (
        ""
        if p is None
        else (
            f". {changed} of 40 queries change, so a test of their signs has no p-value below {p}"
        )
    )
    assert (row["verdict"], row["reason"]) == (
        "pass",
        f"not worse by more than the tolerance. No query is worse, so at most 7.2% of all are{few}",
    )


@pytest.mark.slow
def test_a_share_of_the_baseline():
    """2 % of 0.75 is 0.015, by which the difference is judged."""
    (row,) = gate(GOOD, MIXED, tolerance="2%")
    assert (row["tolerance"], row["verdict"]) == ("2%", "inconclusive")
    assert gate(GOOD, MIXED, tolerance="80%")[0]["verdict"] == "pass"
    assert gate(GOOD, BAD, tolerance="80%")[0]["verdict"] == "pass"
    assert gate(GOOD, BAD, tolerance="30%")[0]["verdict"] == "fail"


@pytest.mark.slow
def test_tolerances_of_metrics():
    rows = gate(GOOD, BAD, ["RR", "nDCG@10"], tolerance={"nDCG@10": "99%", "*": 0.1})
    assert [(row["metric"], row["tolerance"], row["verdict"]) for row in rows] == [
        ("RR", "0.1", "fail"),
        ("nDCG@10", "99%", "pass"),
    ]
    assert [
        row["tolerance"] for row in gate(GOOD, BAD, ["RR", "nDCG@10"], tolerance={"RR": 0.5})
    ] == ["0.5", "0"]


def test_lower_is_better():
    rows = [
        (system, f"q{q}", 0.0, value + q % 3 / 100)
        for system, value in (("baseline", 0.1), ("new", 0.3))
        for q in range(30)
    ]
    table = pa.table(
        dict(
            zip(
                ["system", "query_id", "label", "score"],
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )
    table = table.set_column(
        3,
        "score",
        pa.array([score + (i % 7) / 50 for i, score in enumerate(table["score"].to_pylist())]),
    )
    (row,) = sqlrank.gate("MAE", predictions=table, level="query", tolerance="5%").to_pylist()
    assert (row["baseline"], row["verdict"]) == ("baseline", "fail")
    assert row["difference"] > 0
    (turned,) = sqlrank.gate(
        "MAE", predictions=table, level="query", tolerance="5%", baseline="new"
    ).to_pylist()
    assert turned["verdict"] == "pass"


@pytest.mark.slow
def test_groups():
    """One country that is worse fails, however good the rest is; a small one is skipped."""
    countries = ["de"] * 20 + ["fr"] * 17 + [None] * 3
    queries = pa.table({"query_id": list(QRELS), "country": countries})
    candidate = {
        query: (GOOD if countries[place] == "fr" else BAD)[query]
        for place, query in enumerate(QRELS)
    }
    result = sqlrank.gate(
        "RR",
        run={"baseline": MIXED, "candidate": candidate},
        qrels=QRELS,
        queries=queries,
        by="country",
        min_units=10,
    )
    found = [
        (row["country"], row["slice"], row["n_units"], row["verdict"]) for row in result.to_pylist()
    ]
    assert found == [
        (None, "all", 40, "fail"),
        (None, "country", 3, "skipped"),
        ("de", "country", 20, "fail"),
        ("fr", "country", 17, "inconclusive"),
    ]
    assert result.schema.metadata[b"sqlrank.verdict"] == b"fail"


def make_summary(difference: float, se: float, units: int, changed: int = 5) -> DifferenceSummary:
    numbers = {
        "value_baseline": 0.5,
        "value": 0.5 + difference,
        "difference": difference,
        "scale": 1,
        "se": se,
        "df": units - 1,
    }
    counts = {"cell_units": units, "baseline_units": units, "system_units": units, "units": units}
    signs = {"n_positive": changed, "n_zero": units - changed, "n_changed": changed}
    return DifferenceSummary(0, 0, 0, **counts, **numbers, **signs, n_negative=0)


RECIPROCAL_RANK = ComparedMetric("RR", "higher", is_proportion=True)


@pytest.mark.parametrize(
    ("item", "tolerance", "cells", "expected"),
    [
        (make_summary(-0.1, 0, 10), 0.01, 1, "inconclusive"),
        (make_summary(-0.1, 0, 30), 0.01, 1, "fail"),
        (make_summary(-0.1, 0, 30), 0.2, 1, "pass"),
        (make_summary(-0.1, 0, 30), 0.1, 1, "pass"),  # at the tolerance exactly
        (make_summary(-0.1, 0, 20), 0.01, 1, "fail"),  # 20 units decide, 19 do not
        (make_summary(-0.1, 0, 19), 0.01, 1, "inconclusive"),
        (make_summary(-0.05, 0.02, 100), 0.0, 1, "fail"),
        (make_summary(-0.05, 0.02, 100), 0.0, 10, "inconclusive"),
        (make_summary(-0.05, 0.005, 100), 0.0, 10, "fail"),
        (make_summary(0, 0, 2, 0), 0.0, 1, "pass"),
    ],
)
def test_rules(item, tolerance, cells, expected):
    assert (
        GatedDifference(item, RECIPROCAL_RANK, Tolerance(tolerance, is_share=False), 0.95, cells, 2)
        .decide_verdict()
        .verdict
        == expected
    )


@pytest.mark.parametrize(("unpaired", "expected"), [(1, "pass"), (2, "inconclusive")])
def test_one_unit_of_a_hundred_may_be_missing(unpaired, expected):
    summary = replace(make_summary(0, 0, 100 - unpaired, 0), unpaired=unpaired)
    verdict = GatedDifference(
        summary, RECIPROCAL_RANK, Tolerance(0.01), 0.95, 1, 2
    ).decide_verdict()
    assert verdict.verdict == expected


@pytest.mark.parametrize(
    ("difference", "num_tests", "required_units", "verdict"),
    [
        (
            -0.02,
            1,
            1069,
            "pass",
            # 0.03 above minus the tolerance: (1.959964 * 0.5 / 0.03)^2 + 1.959964^2 / 2 = 1067.07 +
            # 1.92
        ),
        (-0.02, 10, 1069, "pass"),  # the interval that passes does not allow for other rows
        (0.02, 1, 198, "pass"),  # 0.07 above: 195.99 + 1.92
        (-0.08, 1, 1069, "fail"),  # 0.03 below
        (
            -0.08,
            10,
            2193,
            "fail",
        ),  # at the level 0.995: (2.807034 * 0.5 / 0.03)^2 + 2.807034^2 / 2 = 2188.73 + 3.94
        (0.1562, 1, 26, "pass"),  # 22.59 + 1.92 units, but 25 do not decide
        (-0.05, 1, None, None),  # at the tolerance, which no number of units decides
    ],
)
def test_required_units_are_those_at_which_the_gate_decides(
    difference, num_tests, required_units, verdict
):
    def verdict_on(units):
        summary = make_summary(difference, 0.5 / units**0.5, units)
        return GatedDifference(
            summary, RECIPROCAL_RANK, Tolerance(0.05, is_share=False), 0.95, num_tests, 2
        ).decide_verdict()

    assert (verdict_on(25).verdict, verdict_on(25).required_units) == (
        "inconclusive",
        required_units,
    )
    if required_units is None:
        assert verdict_on(10**9).verdict == "inconclusive"
    else:
        assert verdict_on(required_units + 2).verdict == verdict, (
            "the formula takes the normal for Student's t: two units at most"
        )
        assert verdict_on(required_units * 9 // 10).verdict == "inconclusive"


def test_a_gate_of_sixty_units_requires_more_of_them():
    """Sixty differences of 0.1 and -0.2 by turns: mean -0.05 + 1/60, deviation 0.15."""
    label = [0.0] * 60
    old = [0.5] * 60
    new = [0.5 + (0.2 if unit % 2 else -0.1) - 1 / 60 for unit in range(60)]
    table = {"label": label, "old": old, "new": new}
    (row,) = sqlrank.gate(
        "MAE", predictions=table, columns={"score": ["old", "new"]}, tolerance=0.05
    ).to_pylist()
    assert (row["verdict"], row["n_units"]) == ("inconclusive", 60)
    deviation, distance = row["se"] * 60**0.5, 0.05 - row["difference"]
    assert row["difference"] == pytest.approx(0.05 - 1 / 60)
    assert (
        row["required_units"]
        == int(np.ceil((1.959963984540054 * deviation / distance) ** 2 + 1.959963984540054**2 / 2))
        == 319
    )


def draw_losses(mean: float, deviation: float, seed: int) -> pa.Table:
    """Return 400 predictions of error 0.5 by "old", and of more by "new", in ten parts."""
    rng = np.random.default_rng(seed)
    more = rng.normal(0, deviation, 400)
    more += mean - more.mean()
    return pa.table(
        {
            "label": np.zeros(400),
            "old": np.full(400, 0.5),
            "new": 0.5 + more,
            "part": np.arange(400) % 10,
        }
    )


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(0.117, "fail"), (0.106, "inconclusive"), (0.1, "inconclusive"), (0.08, "pass")],
)
def test_a_share_has_the_verdict_of_the_number_that_it_is(mean, verdict):
    """A fifth of 0.5 is 0.1, in each of eleven rows."""
    options = {
        "predictions": draw_losses(mean, 0.06, 1),
        "columns": {"score": ["old", "new"]},
        "by": "part",
    }
    number = sqlrank.gate("MAE", tolerance=0.1, **options).drop_columns(["tolerance"]).to_pylist()
    share = sqlrank.gate("MAE", tolerance="20%", **options).drop_columns(["tolerance"]).to_pylist()
    assert share == [
        {
            name: pytest.approx(value) if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in number
    ]
    assert number[0]["verdict"] == verdict


def test_a_share_of_a_baseline_that_varies():
    """It is a share of the mean as it was measured."""
    (number,) = gate(GOOD, BAD, tolerance=0.3 * 0.75, threads=1)
    (share,) = gate(GOOD, BAD, tolerance="30%", threads=1)
    assert share == {**number, "tolerance": "30%"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("tolerance", [0.0, 0.1, "20%"])
def test_a_reason_names_the_interval_that_decided(tolerance):
    """The interval of each row stands where its reason says."""
    reasons = set()
    for seed, mean in enumerate([0.09, 0.105, 0.11, 0.12]):
        options = {
            "predictions": draw_losses(mean, 0.03, seed),
            "columns": {"score": ["old", "new"]},
            "by": "part",
        }
        limit = 0.1 if tolerance == "20%" else float(tolerance)
        for row in sqlrank.gate("MAE", tolerance=tolerance, **options).to_pylist():
            reasons.add(row["reason"])
            if row["reason"] == "the interval extends beyond the tolerance":
                assert row["ci_low"] <= limit < row["ci_high"]
            elif (
                row["reason"] == "the interval that allows for 11 rows extends beyond the tolerance"
            ):
                assert row["ci_low"] > limit
                assert row["required_units"] > row["n_units"]
            else:
                assert (
                    row["ci_low"] > limit if row["verdict"] == "fail" else row["ci_high"] <= limit
                )
    assert tolerance == 0.0 or len(reasons) == 4


@pytest.mark.slow
def test_noise_does_not_fail():
    """A thousand gates between systems that differ by noise alone, with no tolerance at all."""
    draw = np.random.default_rng(7)
    failed = 0
    for _ in range(1000):
        differences = draw.normal(0, 0.12, 20)
        se = differences.std(ddof=1) / 20**0.5
        item = make_summary(float(differences.mean()), float(se), 20, 10)
        failed += (
            GatedDifference(item, RECIPROCAL_RANK, Tolerance(0.0, is_share=False), 0.95, 1, 20)
            .decide_verdict()
            .verdict
            == "fail"
        )
    assert failed <= 50


def test_a_candidate_that_lacks_queries_does_not_pass():
    """Queries of one system only are not compared, and might be those on which the candidate
    fails.
    """
    few = {query: docs for place, (query, docs) in enumerate(GOOD.items()) if place < 30}
    options = {"qrels": QRELS, "topics": "judged_and_retrieved"}
    (row,) = sqlrank.gate("RR", run={"baseline": GOOD, "candidate": few}, **options).to_pylist()
    assert (row["verdict"], row["reason"], row["unpaired"]) == (
        "inconclusive",
        (
            "10 of 40 queries have a value for one system only. candidate: 10 of 40 judged queries"
            " have no results, and are left out"
        ),
        10,
    )
    (worse,) = sqlrank.gate(
        "RR", run={"baseline": GOOD, "candidate": {query: BAD[query] for query in few}}, **options
    ).to_pylist()
    assert worse["verdict"] == "fail"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("baseline_scores", "candidate_scores", "verdict", "reason"),
    [
        (25, 25, "pass", "no change in 25 queries: at most 11% of queries change"),
        (25, 24, "inconclusive", "1 of 25 queries have a value for one system only"),
        (25, 20, "inconclusive", "5 of 25 queries have a value for one system only"),
        (25, 19, "inconclusive", "6 of 25 queries have a value for one system only"),
        (25, 1, "inconclusive", "24 of 25 queries have a value for one system only"),
        (1, 25, "inconclusive", "24 of 25 queries have a value for one system only"),
        (25, 0, "inconclusive", "undefined for the candidate"),
        (19, 19, "skipped", "19 queries, fewer than 20"),
        (19, 1, "skipped", "1 query, fewer than 20"),  # neither has 20
    ],
)
def test_units_that_one_system_lost(baseline_scores, candidate_scores, verdict, reason):
    """Missing scores of judges are left out by ``nulls=drop``: however many, no gate passes or
    skips without those of one system.
    """
    scores = {"baseline": baseline_scores, "candidate": candidate_scores}
    rows = [
        (system, f"q{q}", q % 5 / 4 if q < count else None)
        for system, count in scores.items()
        for q in range(25)
    ]
    table = pa.table(
        dict(
            zip(
                ["system", "query_id", "faithfulness"],
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )
    result = sqlrank.gate("Mean(faithfulness)", queries=table, nulls="drop")
    (row,) = result.to_pylist()
    assert (row["verdict"], row["reason"].split(". ")[0]) == (verdict, reason)
    assert (result.schema.metadata[b"sqlrank.verdict"] == b"pass") == (verdict == "pass")


# A stored baseline


@pytest.mark.slow
def test_a_stored_baseline(tmp_path):
    path = tmp_path / "baseline.parquet"
    pq.write_table(sqlrank.evaluate(["RR", "nDCG@10"], run=GOOD, qrels=QRELS, per_query=True), path)
    for baseline in (path, str(path), pq.read_table(path)):
        result = sqlrank.gate(
            ["RR", "nDCG@10"], run=BAD, qrels=QRELS, baseline=baseline, tolerance=0.01
        )
        beside = sqlrank.gate(
            ["RR", "nDCG@10"], run={"baseline": GOOD, "candidate": BAD}, qrels=QRELS, tolerance=0.01
        )
        for row, other in zip(result.to_pylist(), beside.to_pylist(), strict=True):
            assert row == {
                name: pytest.approx(value) if isinstance(value, float) else value
                for name, value in other.items()
            }
        assert result["verdict"].to_pylist() == ["fail", "fail"]


@pytest.mark.slow
def test_ids_of_a_baseline_in_another_form_are_named():
    stored = sqlrank.evaluate("RR", run=GOOD, qrels=QRELS, per_query=True)
    for write, form in (("00{}".format, "leading zeros"), (str.upper, "case")):
        run, qrels = ({write(query): source[query] for query in source} for source in (BAD, QRELS))
        with pytest.raises(InputError) as caught:
            sqlrank.gate("RR", run=run, qrels=qrels, baseline=stored)
        assert f"The ids differ in {form} only in 40 and 40 values" in str(caught.value)


@pytest.mark.slow
def test_a_baseline_that_does_not_fit(tmp_path):
    stored = sqlrank.evaluate(["RR", "P@5"], run=GOOD, qrels=QRELS, per_query=True)

    def refused(**options):
        with pytest.raises(InputError) as caught:
            sqlrank.gate(
                **{"metrics": "RR", "run": BAD, "qrels": QRELS, "baseline": stored, **options}
            )
        return str(caught.value)

    assert (
        "the baseline has no column 'AP'. There are: query_id, RR, P@5. Store it again with these"
        " metrics" in refused(metrics="AP")
    )
    queries = pa.table({"query_id": list(QRELS), "country": ["de"] * len(QRELS)})
    assert "There are: query_id, RR, P@5. Store it again with by='country'" in refused(
        queries=queries, by="country"
    )
    said = refused(metrics="P@5", rel=2)
    assert (
        "P@5: the baseline was stored with rel=1, and this is evaluated with rel=2. Use the same,"
        " or store it again" in said
    )
    few = {query: docs for place, (query, docs) in enumerate(QRELS.items()) if place < 30}
    assert (
        "10 of 40 queries have a value in the baseline or in the candidate only. Give the same run"
        " and judgments" in refused(qrels=few)
    )
    plain = stored.replace_schema_metadata(None)
    assert (
        "the baseline has no per-query values. Store those of sqlrank.evaluate (sqlrank evaluate"
        " ... --per-query -o baseline.parquet)" in refused(baseline=plain)
    )
    other = stored.schema.metadata[b"sqlrank.metrics"].replace(
        b'"definition": "', b'"definition": "0'
    )
    changed = stored.replace_schema_metadata(
        {b"sqlrank.metrics": other, b"sqlrank.version": b"0.1.0"}
    )
    assert (
        "RR: the definition of the baseline, by sqlrank 0.1.0, is not that of sqlrank"
        in refused(baseline=changed)
    )
    twice = pa.concat_tables([stored, stored])
    assert (
        "the baseline has 80 rows for 40 queries. Store one system, grouped by the same columns"
        in refused(baseline=twice)
    )
    for text in ("x", "", "label,score\n1,0.5\n"):
        (tmp_path / "no.parquet").write_text(text)
        assert "is no Parquet file. Store values of sqlrank.evaluate" in refused(
            baseline=tmp_path / "no.parquet"
        )
    assert "there is no baseline" in refused(baseline=tmp_path / "gone.parquet")


@pytest.mark.slow
def test_systems():
    rows = [
        (name, query, doc, score)
        for name, run in (("x", GOOD), ("y", BAD))
        for query, docs in run.items()
        for doc, score in docs.items()
    ]
    table = pa.table(
        dict(
            zip(
                ["system", "query_id", "doc_id", "score"],
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )
    with pytest.raises(
        MetricError, match=r"^which of x and y is the baseline\? Name it with baseline="
    ):
        sqlrank.gate("RR", run=table, qrels=QRELS)
    assert sqlrank.gate("RR", run=table, qrels=QRELS, baseline="y")["verdict"].to_pylist() == [
        "pass"
    ]


# What reviewers see


def test_reports():
    result = sqlrank.gate(["RR", "P@5"], run={"old": GOOD, "new": BAD}, qrels=QRELS, tolerance=0.01)
    assert result["verdict"].to_pylist() == ["fail", "pass"]
    suite = ET.fromstring(format_junit(result))  # noqa: S314  it was written here
    assert suite.attrib == {
        "name": "sqlrank gate",
        "tests": "2",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
    }
    assert [case.get("name") for case in suite.iter("testcase")] == ["RR", "P@5"]
    assert "worse by more than the tolerance: difference -0.4" in (suite[1][0].get("message") or "")
    page = markdown_summary(result, 4)
    assert page.startswith(
        "## sqlrank gate: fail\n\n| metric | old | new | difference | interval | verdict |"
    )
    assert page.index("| RR |") < page.index("| P@5 |")
    (line,) = github_annotations(result)
    assert line.startswith(
        "::error title=sqlrank gate::RR: worse by more than the tolerance: difference -0."
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("treated", "outcome", "when_skipped"),
    [(None, "error", "error"), ("fail", "failure", "failure"), ("pass", "skipped", "error")],
)
def test_a_reader_of_junit_sees_the_exit_status(treated, outcome, when_skipped):
    """A suite has a failure or an error exactly if the command exits with a status other than 0."""
    unsure = sqlrank.gate("RR", run={"old": GOOD, "new": MIXED}, qrels=QRELS, tolerance=0.05)
    skipped = sqlrank.gate("RR", run={"old": GOOD, "new": MIXED}, qrels=QRELS, min_units=999)
    # They were written here
    suites = [
        ET.fromstring(format_junit(result, inconclusive=treated))  # noqa: S314
        for result in (unsure, skipped)
    ]
    assert [
        [(case.get("name"), case[0].tag) for case in suite.iter("testcase")] for suite in suites
    ] == [[("RR", outcome)], [("RR", "skipped"), ("all rows", when_skipped)]]
    counts = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    assert [
        suite.get(counts[tag]) for suite, tag in zip(suites, (outcome, when_skipped), strict=True)
    ] == ["1", "1"]
    assert github_annotations(unsure, inconclusive=treated)[0].startswith(
        "::error" if treated == "fail" else "::warning"
    )


@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch):
    for name, run in (("good", GOOD), ("bad", BAD), ("mixed", MIXED)):
        lines = [
            f"{q} Q0 {doc} 0 {score} {name}"
            for q, docs in run.items()
            for doc, score in docs.items()
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels").write_text("".join(f"{q} 0 a 1\n" for q in QRELS))
    monkeypatch.chdir(tmp_path)

    def called(baseline, candidate, *more):
        return CliRunner().invoke(
            app,
            [
                "gate",
                "RR",
                "--run",
                f"baseline={baseline}.run",
                "--run",
                f"candidate={candidate}.run",
                "--qrels",
                "qrels",
                *more,
            ],
        )

    assert [called("good", other).exit_code for other in ("good", "bad", "mixed")] == [0, 1, 3]
    assert called("good", "mixed", "--treat-inconclusive-as", "pass").exit_code == 0
    assert called("good", "mixed", "--treat-inconclusive-as", "fail").exit_code == 1
    skipped = called("good", "bad", "--min-units", "999", "--treat-inconclusive-as", "pass")
    assert (skipped.exit_code, skipped.stdout.splitlines()[0]) == (3, "verdict: inconclusive")
    assert (
        skipped.stderr
        == "note: all rows are skipped, so nothing was compared, and --treat-inconclusive-as pass"
        " does not apply\n"
    )
    assert called("good", "bad", "--tolerance", "RR=99%").exit_code == 0
    assert called("good", "bad", "--tolerance", "x").exit_code == 2
    unnamed = CliRunner().invoke(
        app, "gate RR --run good.run --run bad.run --qrels qrels --baseline bad.run"
    )
    assert (
        unnamed.stderr
        == "sqlrank: no system is called 'bad.run'. Did you mean 'bad'? Choose from: bad, good\n"
    )
    assert called("good", "gone").exit_code == 2
    assert called("good", "bad").stdout.startswith("verdict: fail\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    written = called(
        "good", "bad", "--summary", "summary.md", "--junit", "gate.xml", "--format", "json"
    )
    assert written.exit_code == 1
    assert written.stderr.startswith("::error title=sqlrank gate::RR")
    assert (tmp_path / "summary.md").read_text().startswith("## sqlrank gate: fail")
    # It was written here
    assert ET.parse(tmp_path / "gate.xml").getroot().get("failures") == "1"  # noqa: S314
    stored = [
        "evaluate",
        "RR",
        "--run",
        "good.run",
        "--qrels",
        "qrels",
        "--per-query",
        "-o",
        "baseline.parquet",
    ]
    assert CliRunner().invoke(app, stored).exit_code == 0
    candidate = [
        "gate",
        "RR",
        "--run",
        "bad.run",
        "--qrels",
        "qrels",
        "--baseline",
        "baseline.parquet",
    ]
    assert CliRunner().invoke(app, candidate).exit_code == 1
    assert (
        CliRunner()
        .invoke(app, "compare RR --run good.run --run bad.run --qrels qrels --format csv")
        .stdout.startswith(
            "metric,baseline,system,value_baseline,value,difference,ci_low,ci_high,ci_level,relative_difference,se"
        )
    )
