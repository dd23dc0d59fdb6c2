"""Comparisons and gates of metrics without value or interval: each has its row and its reason, next
to the rows of others.
"""

from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank.output.ci_reports import format_junit, github_annotations, markdown_summary
from tests.interface.command_line import app

SIZE = 400
UNDEFINED = "undefined for the candidate"
NO_CHANGE = (
    f"no change in {SIZE} rows: at most 0.75% of rows change, 1.5% of those of the smaller class"
)
COMMAND = ("--predictions", "p.parquet", "--column", "score=old", "--column")
"""Common arguments of the commands in this module, without the second score."""


def make_predictions() -> pa.Table:
    """Return scores of one order that differ in how many predictions are positive: many, few
    without a false one, and none.

    In ``country`` "b" the scores ``mixed`` predict no positive either; "c" is small and has no
    positive.
    """
    rng = np.random.default_rng(4)
    label = np.arange(SIZE) % 2
    old = np.clip(np.where(label == 1, 0.65, 0.4) + rng.normal(0, 0.1, SIZE), 0.02, 0.98)
    few = np.where(old > np.sort(old[label == 0])[-1], old, old / 4)
    country = np.where(np.arange(SIZE) < 200, "a", np.where(np.arange(SIZE) < 390, "b", "c"))
    label = np.where(country == "c", 0, label)
    columns = {
        "label": label,
        "old": old,
        "few": few,
        "none": old / 4,
        "mixed": np.where(country == "b", old / 4, old),
    }
    return pa.table({**columns, "country": country})


def gate(metrics: Any, new: str, **options: Any) -> list[tuple[Any, ...]]:
    """Return the metric, group, verdict and reason of every row of a gate."""
    found = sqlrank.gate(
        metrics, predictions=make_predictions(), columns={"score": ["old", new]}, **options
    )
    return [
        tuple(row[name] for name in ("metric", *options.get("by", ()), "verdict", "reason"))
        for row in found.to_pylist()
    ]


def compare(metrics: Any, new: str, **options: Any) -> list[dict[str, Any]]:
    return sqlrank.compare(
        metrics, predictions=make_predictions(), columns={"score": ["old", new]}, **options
    ).to_pylist()


def called(command: str, *arguments: str) -> Any:
    return CliRunner().invoke(app, [command, *arguments])


def test_a_metric_that_lost_its_false_positives_has_a_verdict():
    """MCC has an interval where a score has no false positive, so that a gate fails by it, whatever
    AUC says.
    """
    found = {row[0]: row[1] for row in gate(["AUC", "MCC"], "few")}
    assert found["MCC"] == "fail"


@pytest.mark.slow
def test_a_metric_undefined_for_one_system_hides_no_other():
    """All rows are there; only the metrics that need predicted positives are undefined for the
    candidate.
    """
    assert gate(["AUC", "MCC", "Precision", "Recall"], "none") == [
        ("AUC", "pass", NO_CHANGE),
        ("MCC", "inconclusive", UNDEFINED),
        ("Precision", "inconclusive", UNDEFINED),
        ("Recall", "fail", "worse by more than the tolerance"),
    ]
    rows = compare(["AUC", "MCC"], "none")
    assert [(row["metric"], row["reason"]) for row in rows] == [
        ("AUC", "equal in every row"),
        ("MCC", "undefined for the system"),
    ]
    assert rows[1]["value_baseline"] is not None
    numbers = (
        "value", "difference", "ci_low", "ci_high", "se", "p_value", "p_adjusted", "winner",
        "mde", "wins",
    )  # fmt: skip
    assert [rows[1][name] for name in numbers] == [None] * len(numbers)
    assert (rows[1]["n_units"], rows[1]["unpaired"]) == (0, 0)


def test_which_side_is_undefined():
    data = make_predictions()
    for scores, expected in (
        (["none", "old"], "undefined for the baseline"),
        (["none", "none2"], "undefined for both"),
    ):
        table = data.append_column("none2", data["none"])
        found = sqlrank.gate("MCC", predictions=table, columns={"score": scores})
        assert found.select(["verdict", "reason"]).to_pylist() == [
            {"verdict": "inconclusive", "reason": expected}
        ]
        assert found.schema.metadata[b"sqlrank.verdict"] == b"inconclusive"


@pytest.mark.slow
def test_a_group_without_a_value_is_a_row_of_its_own():
    """Rows stand in the order of groupings, of the values of groups, and of metrics as they were
    asked for.
    """
    found = gate(["MCC", "LogLoss", "AUC"], "mixed", by=["country"], tolerance=1)
    passed = "not worse by more than the tolerance"
    assert [row[:3] for row in found] == [
        (metric, country, verdict)
        for country, verdicts in ((None, "ppp"), ("a", "ppp"), ("b", "ipp"), ("c", "sss"))
        for metric, verdict in zip(
            ("MCC", "LogLoss", "AUC"),
            ({"p": "pass", "i": "inconclusive", "s": "skipped"}[letter] for letter in verdicts),
            strict=True,
        )
    ]
    reasons = {row[:2]: row[3] for row in found}
    assert reasons["MCC", "b"] == UNDEFINED
    assert reasons["MCC", None] == passed
    assert reasons["AUC", "c"] == "undefined for both, in 10 rows, fewer than 20"
    assert reasons["LogLoss", "c"] == "10 rows, fewer than 20"
    rows = compare(["MCC", "AUC"], "mixed", by=[["country"], []], correction="none")
    assert [(row["slice"], row["country"], row["metric"]) for row in rows] == [
        ("all" if country is None else "country", country, metric)
        for country in ("a", "b", "c", None)
        for metric in ("MCC", "AUC")
    ]


@pytest.mark.slow
def test_queries_without_a_value():
    """Groups of queries without relevant documents are listed, and one that only one system answers
    is no difference.
    """
    qrels = {f"q{number}": {"a": int(number < 30)} for number in range(60)}
    runs = {
        name: {query: {"a": 1.0, "b": float(name == "y")} for query in qrels} for name in ("x", "y")
    }
    country = ["has"] * 30 + ["none"] * 30
    queries = pa.table({"query_id": list(qrels), "country": country})
    call = {
        "run": runs,
        "qrels": qrels,
        "queries": queries,
        "by": ["country"],
        "if_undefined": "skip",
    }
    found = (
        sqlrank.gate(["RR", "P@1"], **call)
        .select(["country", "metric", "n_units", "verdict", "reason"])
        .to_pylist()
    )
    assert [tuple(row.values()) for row in found if row["country"] == "none"] == [
        ("none", "RR", 0, "inconclusive", "undefined for both"),
        ("none", "P@1", 0, "inconclusive", "undefined for both"),
    ]
    rows = sqlrank.compare(["RR", "num_rel"], **call).to_pylist()
    assert [(row["country"], row["metric"], row["value"], row["reason"]) for row in rows] == [
        ("has", "RR", 0.5, "no interval: the same change in every query"),
        ("has", "num_rel", 30, "no interval: it describes the data"),
        ("none", "RR", None, "undefined for both"),
        ("none", "num_rel", 0, "no interval: it describes the data"),
    ]


@pytest.mark.slow
def test_metrics_without_intervals_among_others():
    """They have their values, and no verdict; alone there is nothing to compare, and the call is
    refused before data are read.
    """
    rows = compare(["ECE", "AUC", "Precision(threshold_from=best)", "PRAUC"], "few")
    values = sqlrank.evaluate(
        ["ECE", "PRAUC"], predictions=make_predictions(), columns={"score": "few"}
    ).to_pylist()[0]
    assert [row["metric"] for row in rows] == [
        "ECE",
        "AUC",
        "Precision(threshold_from=best)",
        "PRAUC",
    ]
    assert (rows[0]["value"], rows[3]["value"]) == pytest.approx(
        (values["ECE"], values["PRAUC"]), rel=1e-12
    )
    assert rows[0]["difference"] == pytest.approx(
        rows[0]["value"] - rows[0]["value_baseline"], rel=1e-12
    )
    assert (
        rows[0]["reason"]
        == "no interval: noise alone makes it greater, and no known interval covers it"
    )
    assert rows[2]["reason"] == "no interval"
    assert all(
        row["ci_low"] is None and row["p_value"] is None and row["n_units"] == 0
        for row in rows
        if row["metric"] != "AUC"
    )
    assert [row[1] for row in gate(["AUC", "ECE"], "few", tolerance=0.5)] == [
        "pass",
        "inconclusive",
    ]


@pytest.mark.slow
def test_a_stream_is_read_once():
    """Slices and undefined metrics take more than one statement."""
    reader = make_predictions().to_reader()
    found = sqlrank.compare(
        ["AUC", "MCC"], predictions=reader, columns={"score": ["old", "none"]}, by=[[], ["country"]]
    )
    assert found.num_rows == 8


def test_undefined_rows_are_no_part_of_a_correction():
    """Intervals allow for as many comparisons as have a p-value."""
    alone, beside = compare("Recall", "none")[0], compare(["MCC", "Recall", "ECE"], "none")[1]
    assert beside == {
        name: pytest.approx(value) if isinstance(value, float) else value
        for name, value in alone.items()
    }


# What reviewers see


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("metrics", "new", "options", "status"),
    [
        (("AUC", "Brier"), "same", (), 0),
        (("AUC", "ECE"), "same", (), 3),
        (("AUC", "MCC"), "none", (), 3),
        (("MCC",), "none", (), 3),
        (("MCC", "Recall"), "none", (), 1),
        (("MCC", "Recall"), "none", ("--treat-inconclusive-as", "pass"), 1),
        (("AUC", "MCC"), "none", ("--treat-inconclusive-as", "fail"), 1),
        (("MCC", "AUC"), "mixed", ("--by", "country", "--tolerance", "0.9"), 3),
        (("ECE",), "same", (), 2),
    ],
)
def test_exit_statuses(metrics, new, options, status, tmp_path, monkeypatch):
    """A row without an interval makes a gate inconclusive, unless another row fails."""
    data = make_predictions()
    pq.write_table(data.append_column("same", data["old"]), tmp_path / "p.parquet")
    monkeypatch.chdir(tmp_path)
    done = called("gate", *metrics, *COMMAND, f"score={new}", *options)
    assert done.exit_code == status, done.output
    assert done.exit_code == 2 or all(
        sum(metric in line for line in done.stdout.splitlines()) >= 1 for metric in metrics
    )


def test_a_comparison_shows_its_reasons(tmp_path, monkeypatch):
    pq.write_table(make_predictions(), tmp_path / "p.parquet")
    monkeypatch.chdir(tmp_path)
    done = called("compare", "AUC", "MCC", *COMMAND, "score=none")
    assert done.exit_code == 0, done.output
    assert "\nMCC: undefined for the system.\n" in done.stdout
    plain = called("compare", "LogLoss", "Recall", *COMMAND, "score=none")
    assert "undefined" not in plain.stdout


def test_files_for_reviewers():
    """Rows without numbers are no failure and no pass, and say their reason."""
    found = sqlrank.gate(
        ["AUC", "MCC"], predictions=make_predictions(), columns={"score": ["old", "none"]}
    )
    suite = ET.fromstring(format_junit(found))  # noqa: S314  it was written here
    assert (
        suite.get("tests"),
        suite.get("failures"),
        suite.get("errors"),
        suite.get("skipped"),
    ) == ("2", "0", "1", "0")
    message = suite[2][0].get("message") or ""
    assert message.startswith("undefined for the candidate: value_baseline 0.")
    assert message.endswith(", tolerance 0")
    (line,) = github_annotations(found)
    assert line.startswith(
        "::warning title=sqlrank gate::MCC: undefined for the candidate: value_baseline 0."
    )
    page = markdown_summary(found, 4)
    assert page.startswith("## sqlrank gate: inconclusive\n")
    assert page.index("| MCC |") < page.index("| AUC |")
    (row,) = [line for line in page.splitlines() if line.startswith("| MCC |")]
    assert row.endswith("| ? inconclusive |")
    assert "\nMCC: undefined for the candidate.\n" in page


@pytest.mark.slow
def test_a_summary_shows_hostile_groups_as_text():
    """GitHub takes no HTML, image or column from the names of groups."""
    table = make_predictions()
    names = {"a": "<img src=x onerror=alert(1)>", "b": "a|b", "c": "![x](https://x)"}
    table = table.set_column(
        table.column_names.index("country"),
        "country",
        pa.array([names[name] for name in table["country"].to_pylist()]),
    )
    page = markdown_summary(
        sqlrank.gate("MCC", predictions=table, columns={"score": ["old", "none"]}, by="country"), 4
    )
    rows = page.splitlines()[2:]
    assert {len(row.replace(r"\|", "").split("|")) for row in rows if row.startswith("|")} == {
        len(rows[0].split("|"))
    }
    assert "| MCC (country=`<img src=x onerror=alert(1)>`) |" in page
    assert r"| MCC (country=a\|b) |" in page
    assert "\ncountry=`![x](https://x)`: undefined for both, in 10 rows, fewer than 20.\n" in page


@pytest.mark.slow
def test_a_report_says_what_cannot_be_compared():
    """The page counts undefined rows apart from differences that may be chance, and draws them
    without a point.
    """
    call = {
        "predictions": make_predictions().drop_columns(["few", "mixed"]),
        "columns": {"score": ["old", "none"]},
    }
    page = sqlrank.report(["LogLoss", "MCC"], **call).html
    assert "1 of 2 cannot be compared: MCC (undefined for the system)." in page
    assert "Paired t-test of 400 rows, p by Holm, intervals at 95%.</bdi></p>" in page
    assert ">MCC: undefined for the system.</bdi></p>" in page
    chart = sqlrank.chart(sqlrank.compare(["LogLoss", "MCC"], **call)).to_dict()
    assert (
        "A row without a point: the metric is undefined for one of both systems, or for both."
        in " ".join(chart["title"]["subtitle"])
    )


@pytest.mark.parametrize("drawn", [{"replicates": 999}, {"seed": 0}])
@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_tests_that_draw_nothing_refuse_what_is_drawn(test, drawn):
    ((name, number),) = drawn.items()
    message = (
        rf"^{name}={number} is for test='randomization' or correction='max_t', which draw signs$"
    )
    with pytest.raises(sqlrank.MetricError, match=message):
        sqlrank.compare(
            "RR",
            run={"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 2.0}}},
            qrels={"q": {"d": 1}},
            test=test,
            **drawn,
        )


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["AUC", "LogLoss", "MCC"])
@pytest.mark.parametrize("unit", [None, "id"])
def test_groups_whose_weights_are_all_0_have_rows(metric, unit):
    """Rows of weight 0 are no units: a group of nothing else is undefined for both systems, and
    still in the table, at its place.
    """
    group = ["b"] * 4 + ["a"] * 4 + [None] * 4
    data = pa.table(
        {
            "label": [0, 1] * 6,
            "old": [0.1, 0.8, 0.3, 0.4] * 3,
            "new": [0.4, 0.3, 0.7, 0.9] * 3,
            "weight": [1.0] * 4 + [0.0] * 4 + [0.0] * 4,
            "group": group,
            "id": list(range(4)) * 3,
        }
    )
    options = {"predictions": data, "columns": {"score": ["old", "new"]}, "unit": unit}
    rows = sqlrank.compare(metric, by="group", **options).to_pylist()
    assert [(row["group"], row["n_units"], row["value"] is None) for row in rows] == [
        (None, 0, True),
        ("a", 0, True),
        ("b", 4, False),
    ]
    assert [row["reason"] for row in rows[:2]] == ["undefined for both"] * 2
    verdicts = sqlrank.gate(metric, by="group", min_units=2, **options).to_pylist()
    assert [(row["group"], row["n_units"]) for row in verdicts] == [
        (None, 4),
        (None, 0),
        ("a", 0),
        ("b", 4),
    ]
    assert {row["reason"] for row in verdicts[1:3]} == {
        f"undefined for both, in 0 {'units' if unit else 'rows'}, fewer than 2"
    }
    nothing = {**options, "where": "\"group\" = 'a'"}
    (row,) = sqlrank.compare(metric, **nothing).to_pylist()
    assert (row["value_baseline"], row["value"], row["n_units"], row["reason"]) == (
        None,
        None,
        0,
        "undefined for both",
    )
    found = sqlrank.gate(metric, **nothing)
    assert found["verdict"].to_pylist() == ["skipped"]
    assert found.schema.metadata[b"sqlrank.verdict"] == b"inconclusive"
