"""Reports of experiments: verdicts on variants, guardrails and the sample ratio, effects, units,
and refusals.
"""

import re
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.errors import InputError, MetricError
from tests.interface.command_line import run_command
from tests.interface.test_rollup_reports import read_verdicts
from tests.tables import build_table

CONTROL, FAST, SLOW = "control", "<b>fast</b>", "it's slow"


def observe(sizes: dict[str, int]) -> pa.Table:
    """Return a row per unit: revenue 10 and latency 100 in the control, with the same deviations in
    each variant.
    """
    shifts = {CONTROL: (0.0, 0.0), FAST: (2.0, -5.0), SLOW: (-2.0, 30.0)}
    rows = [
        {
            "unit_id": f"{name}-{index}",
            "variant": name,
            "revenue": 10 + shifts[name][0] + index % 5 - 2,
            "latency": 100 + shifts[name][1] + index % 7 - 3,
        }
        for name, size in sizes.items()
        for index in range(size)
    ]
    return pa.Table.from_pylist(rows)


def analyze(sizes: dict[str, int], **options: Any) -> pa.Table:
    metrics = {"revenue": "Mean(revenue)", "latency": "Mean(latency)"}
    return sqlrank.experiment(metrics, data=observe(sizes), lower_is_better="latency", **options)


@pytest.fixture(scope="module")
def effects() -> pa.Table:
    return analyze({CONTROL: 140, FAST: 140, SLOW: 140})


@pytest.fixture(scope="module")
def html(effects: pa.Table) -> str:
    return str(
        sqlrank.report(experiment=effects, tolerance={"latency": "10%"}, created_at="today").html
    )


@pytest.mark.slow
def test_a_report_of_an_experiment_begins_with_variants_guardrails_and_the_sample_ratio(html):
    found = [
        (state, re.sub(r", [+-][\d.]+% to [+-][\d.]+%", "", text))
        for state, text in read_verdicts(html)
    ]
    fast, slow = "&lt;b&gt;fast&lt;/b&gt;", "it&#39;s slow"
    assert found == [
        (
            "better",
            f"{fast} beats control on 2 of 2 metrics: revenue (+20.0%) and latency (-5.0%).",
        ),
        (
            "worse",
            (
                f"{slow} is worse than control on 2 of 2 metrics: revenue (-20.0%) and latency"
                " (+30.0%)."
            ),
        ),
        (
            "worse",
            (
                f"Guardrail latency: {slow} is worse than control by more than the tolerance of 10%"
                " (+30.0%)."
            ),
        ),
        (
            "pass",
            (
                f"Guardrail latency: {fast} is not worse than control by more than the tolerance of"
                " 10% (-5.0%)."
            ),
        ),
        ("even", "The numbers of units fit the expected shares (sample ratio test, p 1.0000)."),
    ]
    assert "Sample ratio as planned" not in html
    assert "chi-square 0.0000, degrees of freedom 2, p 1.0000. A p below 0.001 means" in html
    assert re.findall(r'<h2 id="[\w-]+">(.*?)</h2>', html) == [
        "Summary",
        "Units",
        "Inputs and settings",
    ]
    assert FAST not in html
    assert "<dt><bdi>tolerance</bdi></dt><dd><bdi>latency=10%</bdi></dd>" in html


@pytest.mark.slow
def test_effects_are_drawn_by_metric_and_the_units_are_counted(html, effects):
    assert html.count("<svg ") == 2
    assert html.count("variant is better") >= 2
    assert "system is better" not in html
    rows = re.findall(r"<tr>(.*?)</tr>", html[html.index('id="units-table-rows"') :], re.DOTALL)
    cells = [
        re.sub(r"<[^>]+>", "", " ".join(re.findall(r"<td.*?</td>", row, re.DOTALL))).split()
        for row in rows[1:]
    ]
    assert [row[-3:] for row in cells] == [["140", "33.33%", "33.33%"]] * 3
    chart = sqlrank.chart(effects).to_dict()
    assert chart["title"]["text"] == "Lifts of revenue and latency over control"
    assert "Test: Welch's t-test." in " ".join(chart["title"]["subtitle"])


@pytest.mark.slow
def test_nothing_is_judged_after_a_sample_ratio_mismatch():
    effects = analyze(
        {CONTROL: 140, FAST: 30, SLOW: 20}, expected_shares={CONTROL: 0.25, FAST: 0.25, SLOW: 0.5}
    )
    page = sqlrank.report(experiment=effects, tolerance="1%").html
    (state, text), few = read_verdicts(page)
    assert (state, text[:22]) == ("worse", "Sample ratio mismatch ")
    assert text.endswith("so no effect below can be trusted. Find the cause first.")
    assert few == ("warning", "A variant has only 20 units: only large effects are significant.")
    assert "73.68%" in page
    assert page.count("50.00%") == 1
    assert 'class="mark better"' not in page


@pytest.mark.parametrize(
    ("low", "high", "direction", "verdict"),
    [
        (-1.0, 1.0, "higher", "pass"),
        (-3.0, 1.0, "higher", "inconclusive"),
        (-5.0, -3.0, "higher", "fail"),
        (-5.0, -3.0, "lower", "pass"),
        (3.0, 5.0, "lower", "fail"),
        (1.0, 3.0, "lower", "inconclusive"),
        (None, None, "lower", "inconclusive"),
    ],
)
def test_a_guardrail_fails_beyond_the_tolerance(low, high, direction, verdict):
    from sqlrank.inference import Tolerance
    from sqlrank.reports.experiment_report import judge_guardrail

    row = {"ci_low": low, "ci_high": high, "value_control": 100.0}
    for tolerance in (Tolerance(2.0), Tolerance(0.02, is_share=True)):
        assert judge_guardrail(row, tolerance, direction) == verdict


@pytest.mark.slow
def test_the_command_reports_and_draws_a_stored_result(tmp_path):
    pq.write_table(observe({CONTROL: 300, SLOW: 300}), tmp_path / "visits.parquet")
    run_command(
        f"experiment 'revenue=Mean(revenue)' --data {tmp_path}/visits.parquet --interval "
        f"sequential -o {tmp_path}/e.parquet"
    )
    run_command(
        f"report --experiment {tmp_path}/e.parquet --tolerance revenue=50% -o {tmp_path}/a.html"
    )
    page = (tmp_path / "a.html").read_text("utf-8")
    assert read_verdicts(page)[0][0] == "worse"
    assert "Intervals are valid at every look." in page
    run_command(f"chart --result {tmp_path}/e.parquet -o {tmp_path}/a.svg")
    assert "Test: confidence sequences" in (tmp_path / "a.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (
            "effects",
            {"metrics": "AUC"},
            "metrics= is not for an experiment: leave it out, or experiment=",
        ),
        (
            "effects",
            {"by": "country"},
            "by= is not for an experiment: leave it out, or experiment=",
        ),
        (
            "effects",
            {"reference": "day < 1"},
            "reference= is not for an experiment: leave it out, or experiment=",
        ),
        (
            "effects",
            {"confidence": 0.9},
            "confidence= is not for an experiment: leave it out, or experiment=",
        ),
        (
            "effects",
            {"tolerance": {"clicks": 1}},
            (
                "tolerance names 'clicks', which is no metric of this experiment. There are:"
                " revenue, latency"
            ),
        ),
        ("effects", {"tolerance": "x"}, "tolerance='x' is not possible: give a number from 0"),
        (
            build_table(metric="x"),
            {},
            (
                "experiment: this table is no result of an experiment. Give a result of"
                " sqlrank.experiment"
            ),
        ),
        (
            [{"metric": "x"}],
            {},
            "experiment: a list is no table of effects. Give a result of sqlrank.experiment",
        ),
    ],
)
def test_what_a_report_of_an_experiment_does_not_take(given, options, message, effects):
    with pytest.raises((MetricError, InputError), match=f"^{re.escape(message)}"):
        sqlrank.report(experiment=effects if isinstance(given, str) else given, **options)


def test_a_damaged_or_missing_file_of_effects_is_named(tmp_path, effects):
    (tmp_path / "no.parquet").write_text("no")
    pq.write_table(effects.slice(0, 1), tmp_path / "cut.parquet")
    for name, message in {
        "no": "is no Parquet file. Give a result",
        "cut": ": this table has not the rows of an experiment",
    }.items():
        with pytest.raises(InputError, match=message):
            sqlrank.report(experiment=tmp_path / f"{name}.parquet")
