"""Charts: the contents of each kind, and results without a chart."""

import json
import re
import sys
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.charts import theme
from sqlrank.charts.chart_kinds import CHART_KINDS
from sqlrank.charts.export import svg_panels
from sqlrank.charts.theme import GREY, PALETTE
from tests.interface.charts import (
    CLICKS,
    QRELS,
    RESULTS,
    RUNS,
    SCORED,
    evaluate_clicks,
    iterate_parts,
    list_marks,
    list_rows,
    read_caption,
)
from tests.tables import build_table, read_columns


def draw_spec(result: pa.Table, kind: str | None = None) -> dict[str, Any]:
    return sqlrank.chart(result, kind).to_dict()  # type: ignore[no-any-return]


def test_every_kind_has_a_result_here():
    assert RESULTS.keys() == CHART_KINDS.keys()


def test_a_roc_has_its_points_and_the_diagonal():
    found = draw_spec(evaluate_clicks("ROC", by="country"))
    assert list_marks(found) == ["line", "line"]
    diagonal, line = found["layer"]
    assert line["encoding"]["x"] == {
        "field": "x",
        "scale": {"domain": [0, 1]},
        "title": "false positive rate (share of negatives)",
        "type": "quantitative",
    }
    assert line["encoding"]["order"] == {"field": "point", "type": "quantitative"}
    assert line["encoding"]["color"]["scale"] == {
        "domain": ["DE", "FR"],
        "range": list(PALETTE[:2]),
    }
    assert line["encoding"]["color"]["legend"]["title"] == "country"
    # By hand: FR ranks 1, 0, 1, 0 and DE 1, 0, 1, 0.
    points = [(0, 0), (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1)]
    assert list_rows(found, "colour", "x", "y") == [
        (country, *point) for country in ("DE", "FR") for point in points
    ]
    assert diagonal["mark"]["color"] == GREY
    assert [row for row in list_rows(found, "x", "y", "colour") if row[2] is None] == [
        (0, 0, None),
        (1, 1, None),
    ]
    assert (
        read_caption(found)
        == "The nearer to the upper left corner, the better. Dashed: random scores."
    )
    assert found["description"] == "At most 1,001 points per curve, the area within 1/998."


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("curve", "text"),
    [
        ("ROC(points=0)", "Every distinct score is a point: nothing is left out."),
        ("ROC(points=102)", "At most 103 points per curve, the area within 1/100."),
        ("Gain(points=5)", "At most 11 points per curve, the area within 1/8."),
        ("Lift(points=102)", "the true and the false positive rate within 4/100 together."),
        ("Threshold(points=102)", "the true and the false positive rate within 4/100 together."),
        (
            "ROC(points=104, curve_spacing=logarithmic)",
            "precision within a factor of n^(0.04), n being all weight over that of",
        ),
        # Eight predictions, of which the first positives are one: 8 ** (4 / 100) is 1.08673...
        ("PR(points=104)", "precision within a factor of 1.0868."),
    ],
)
def test_a_chart_is_described_by_what_its_points_miss(curve, text):
    assert text in draw_spec(evaluate_clicks(curve))["description"]


def test_points_say_how_many_rows_their_group_has():
    data = build_table(label="0 1 1 0 1", score="0.1 0.7 0.3 0.2 0.9", day="NULL NULL NULL 1 1")
    found = draw_spec(sqlrank.evaluate("ROC", predictions=data, by="day"))
    assert {row[:2] for row in list_rows(found, "colour", "n")} == {("NULL", 3), ("1", 2)}
    assert [item["title"] for item in found["layer"][1]["encoding"]["tooltip"]] == [
        "day", "fpr", "tpr", "threshold", "n",
    ]  # fmt: skip
    sliced = draw_spec(sqlrank.evaluate("Brier", predictions=data, by=[[], ["day"]]))
    assert set(list_rows(sliced, "colour", "count_0")) == {
        ("all", 5),
        ("day=1", 2),
        ("day=NULL", 3),
    }
    unchecked = draw_spec(sqlrank.evaluate("ROC", predictions=data, by="day", check="off"))
    assert [item["title"] for item in unchecked["layer"][1]["encoding"]["tooltip"]] == [
        "day",
        "fpr",
        "tpr",
        "threshold",
    ]


def test_pr_holds_its_precision_back_to_the_point_before():
    found = draw_spec(evaluate_clicks("PR"))
    assert [mark["interpolate"] for mark in iterate_parts(found, "mark")] == ["step-before"]
    assert list_rows(found, "x", "y")[:3] == [(0.25, 1), (0.5, 1), (0.5, 2 / 3)]


def test_pr_of_rare_positives_fills_its_height():
    # One of four predictions is positive, the one with the least score: precision 1/4 at most.
    rare = build_table(label="0 0 0 1", score="0.4 0.3 0.2 0.1")
    found = draw_spec(sqlrank.evaluate("PR", predictions=rare))
    assert [encoding["y"]["scale"]["domain"] for encoding in iterate_parts(found, "encoding")] == [
        [0, 0.25 * 1.05]
    ]
    assert [
        encoding["y"]["scale"]["domain"]
        for encoding in iterate_parts(draw_spec(evaluate_clicks("PR")), "encoding")
    ] == [[0, 1]]


def test_gain_by_two_columns_has_colours_and_facets():
    found = draw_spec(evaluate_clicks("Gain", by=["country", "device"]))
    assert found["facet"]["column"]["title"] == "device"
    assert found["facet"]["column"]["sort"] == ["a", "b"]
    assert {row[:2] for row in list_rows(found, "colour", "column")} == {
        ("DE", "a"),
        ("DE", "b"),
        ("FR", "a"),
        ("FR", "b"),
    }


def test_lift_has_a_line_at_one():
    found = draw_spec(evaluate_clicks("Lift"))
    assert [row for row in list_rows(found, "x", "y", "point") if row[2] is None] == [
        (0, 1, None),
        (1, 1, None),
    ]
    assert (
        found["layer"][1]["encoding"]["y"]["title"] == "lift (times as many positives as at random)"
    )


def test_rates_over_thresholds_are_colours_or_charts():
    found = draw_spec(evaluate_clicks("Threshold"))
    assert list_marks(found) == ["line"]
    # At .9 one of four positives is found, and one of eight predictions.
    assert [row for row in list_rows(found, "x", "colour", "y", "above", "n") if row[0] == 0.9] == [
        (0.9, "precision", 1, 1, 8),
        (0.9, "recall", 0.25, 1, 8),
        (0.9, "specificity", 1, 1, 8),
        (0.9, "f1", 0.4, 1, 8),
        (0.9, "accuracy", 0.625, 1, 8),
    ]
    several = draw_spec(evaluate_clicks("Threshold", by="country"))
    assert [item["layer"][0]["encoding"]["y"]["title"] for item in several["concat"]] == [
        "precision (share of predicted positives)", "recall (share of positives)",
        "specificity (share of negatives)", "F1 (0 to 1)", "accuracy (share of all)",
    ]  # fmt: skip


def test_cut_offs_are_an_axis_and_the_baseline_is_grey():
    found = draw_spec(sqlrank.evaluate("P@1..2", **SCORED))
    assert list_rows(found, "colour", "x", "y") == [
        ("baseline", 1, 1 / 3),
        ("baseline", 2, 1 / 3),
        ("dense", 1, 2 / 3),
        ("dense", 2, 1 / 2),
    ]
    encoding = found["layer"][0]["encoding"]
    assert encoding["color"]["scale"] == {
        "domain": ["baseline", "dense"],
        "range": [GREY, PALETTE[0]],
    }
    assert encoding["x"]["title"] == "cut-off k (rank)"
    assert encoding["y"]["title"] == "P@k (0 to 1, higher is better)"
    assert found["title"]["text"] == "P@k over cut-off k"


@pytest.mark.parametrize(("metric", "last"), [("nDCG@1..9", 3), ("P@1..9", 9), ("nDCG@7..9", 9)])
def test_cut_offs_beyond_all_lists_are_left_out_if_no_value_changes_there(metric, last):
    qrels = {"q1": {"c": 1, "b": 1}}
    found = draw_spec(
        sqlrank.evaluate(metric, run={"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}, qrels=qrels)
    )
    cutoffs = [x for (x,) in list_rows(found, "x")]
    assert cutoffs[-1] == last
    note = "Beyond 3, no value changes."
    assert (read_caption(found) == note) is (last == 3)


def test_the_baseline_that_the_metadata_name_is_grey():
    result = sqlrank.evaluate("P@1..2", **SCORED)
    metadata = {**result.schema.metadata, b"sqlrank.baseline": b"dense"}
    found = draw_spec(result.replace_schema_metadata(metadata))
    assert found["layer"][0]["encoding"]["color"]["scale"]["range"] == [PALETTE[0], GREY]


@pytest.mark.parametrize(
    ("curve", "metric", "of_b"),
    # By hand: of two pairs of b one is right and one tied, and its second positive has precision
    # 2/3.
    [("ROC", "AUC", 3 / 4), ("PR", "APS", (1 + 2 / 3) / 2)],
)
@pytest.mark.parametrize("points", [0, 1000])
def test_the_legend_of_a_curve_has_the_metric_that_is_its_area(curve, metric, of_b, points):
    rows = read_columns(label="0 1 1 0 1", score="0.1 0.2 0.3 0.3 0.4", arm=[*"aabbb"])
    found = draw_spec(sqlrank.evaluate(f"{curve}(points={points})", predictions=rows, by="arm"))
    (legend,) = [
        encoding["color"]["legend"]
        for encoding in iterate_parts(found, "encoding")
        if "legend" in encoding.get("color", {})
    ]
    values = {
        row["arm"]: row[metric]
        for row in sqlrank.evaluate(metric, predictions=rows, by="arm").to_pylist()
    }
    assert values == {"a": 1, "b": pytest.approx(of_b)}
    about = f"{metric} ≈" if points else metric
    # Steps between the points of PR lie below those of all points.
    form = ".2g" if points and curve == "PR" else ".3f"
    assert json.loads(legend["labelExpr"].partition("[datum")[0]) == {
        arm: f"{arm}, {about} {value:{form}}" for arm, value in values.items()
    }


def test_cells_of_a_heat_map_have_n_below_their_values_if_rows_are_counted():
    found = draw_spec(evaluate_clicks("Brier", by=["country", "device"]))
    texts = [part for part in iterate_parts(found, "text") if isinstance(part, dict)]
    assert [text["field"] for text in texts] == ["y", "y", "size", "size"]
    places = [mark.get("dy") for mark in iterate_parts(found, "mark") if mark["type"] == "text"]
    assert places == [-7, -7, 7, 7, None]
    assert {row[-1] for row in list_rows(found, "across", "count_0")} == {2}
    assert read_caption(found) == "n: the number of rows."
    measured = draw_spec(
        evaluate_clicks("Brier", by=["country", "device"], confidence=0.9, unit="day"), "heatmap"
    )
    assert read_caption(measured) == "n: the number of days."
    unchecked = draw_spec(evaluate_clicks("Brier", by=["country", "device"], check="off"))
    assert list_marks(unchecked) == ["rect", "text", "text", "text"]


def test_dots_have_their_intervals_and_n():
    result = sqlrank.evaluate(["RR", "num_q"], confidence=0.9, **SCORED)
    found = draw_spec(result)
    assert list_marks(found) == ["rule", "point", "text"]
    expected = [
        ("dense", pytest.approx(5 / 6), row["RR.ci_low"], row["RR.ci_high"], 3, 3)
        for row in result.to_pylist()
        if row["system"] == "dense"
    ]
    assert list_rows(found, "colour", "y", "low", "high", "n_units", "count_0")[1:] == expected
    titles = [item["title"] for item in found["layer"][0]["encoding"]["tooltip"]]
    assert titles == ["system", "RR", "ci_low", "ci_high", "n_units", "num_q"]
    assert read_caption(found) == "Lines: 90% confidence intervals."
    assert found["title"]["text"] == "RR by system"


def test_dots_are_on_an_axis_around_them_with_the_reference_of_their_metric():
    data = read_columns(
        label=[0, 1] * 4, score="0.1 0.2 0.4 0.3 0.1 0.3 0.2 0.4", g="a a a a b b b b"
    )
    near = draw_spec(sqlrank.evaluate("AUC", predictions=data, by="g"))
    (reference,) = [layer for layer in near["layer"] if layer["mark"].get("strokeDash")]
    assert near["datasets"][reference["data"]["name"]] == [{"reference": 0.5}]
    assert "Dashed line of AUC: 0.5, random scores." in read_caption(near)
    # By hand: 2 of 4 pairs in a, all in b.
    assert [row[0] for row in list_rows(near, "y")] == [0.5, 1]
    assert near["layer"][1]["encoding"]["x"]["scale"]["domain"] == [0.46, 1]
    assert "Dashed" not in read_caption(
        draw_spec(
            sqlrank.evaluate(
                "AUC", predictions=read_columns(label="0 0 1 1", score="0.1 0.2 0.3 0.4")
            )
        )
    )


def test_counts_are_drawn_where_there_is_nothing_else():
    found = draw_spec(sqlrank.evaluate("num_q", **SCORED))
    assert found["layer"][0]["encoding"]["x"]["title"] == "num_q (count)"


def test_several_metrics_are_a_chart_each_with_a_unit_each():
    found = draw_spec(evaluate_clicks(["AUC", "LogLoss"]))
    assert [item["layer"][0]["encoding"]["x"]["title"] for item in found["concat"]] == [
        "AUC (0 to 1, higher is better)",
        "LogLoss (nats, lower is better)",
    ]


def test_bars_of_several_groupings_say_what_they_are_of():
    found = draw_spec(evaluate_clicks("Brier", by=[[], ["country"], ["country", "device"]]))
    assert [row[0] for row in list_rows(found, "colour")] == [
        "all", "country=DE", "country=DE, device=a", "country=DE, device=b", "country=FR",
        "country=FR, device=a", "country=FR, device=b",
    ]  # fmt: skip


def test_several_scores_keep_a_dimension_of_their_own_among_groupings():
    data = CLICKS.append_column("other", CLICKS["score"])
    result = sqlrank.evaluate(
        "Brier", predictions=data, columns={"score": ["score", "other"]}, by=[[], ["country"]]
    )
    assert list_rows(draw_spec(result), "colour", "name") == [
        (score, slice_)
        for score in ("other", "score")
        for slice_ in ("all", "country=DE", "country=FR")
    ]


def test_days_are_an_axis_also_as_text():
    found = draw_spec(evaluate_clicks("Brier", by=["day", "country"]))
    x = found["layer"][0]["encoding"]["x"]
    assert (x["type"], x["title"], x["axis"]["format"]) == ("temporal", "day (2026)", "%-d %b")
    assert list_rows(found, "x", "colour")[:2] == [
        ("2026-01-01T00:00:00", "DE"),
        ("2026-01-01T00:00:00", "FR"),
    ]
    dates = CLICKS.set_column(4, "day", CLICKS["day"].cast(pa.date32()))
    assert list_rows(draw_spec(sqlrank.evaluate("Brier", predictions=dates, by="day")), "x") == [
        ("2026-01-01T00:00:00",),
        ("2026-01-02T00:00:00",),
    ]
    hours = CLICKS.set_column(4, "day", pa.array([3600, 7200] * 4, pa.timestamp("s")))
    assert list_rows(draw_spec(sqlrank.evaluate("Brier", predictions=hours, by="day")), "x") == [
        ("1970-01-01T01:00:00",),
        ("1970-01-01T02:00:00",),
    ]


def test_a_confusion_matrix_has_all_classes_on_both_axes():
    spec = draw_spec(RESULTS["confusion"]())
    assert [part["title"]["text"] for part in spec["concat"]] == [["a"], ["b"]]
    cells = list_rows(spec, "down", "across", "column", "y", "weight", "portion")
    assert [cell for cell in cells if cell[4] or cell[2] == "b"] == [
        ("it's", "it's", "a", 0.6, 1.5, 0.6),
        ("it's", "x", "a", 0.4, 1.0, 0.4),
        ("x", "z", "a", 1.0, 2.0, 1.0),
        ("x", "x", "b", 0.0, 0.0, None),
    ]
    assert len(cells) == 3 * 3 + 1
    axes = [axis for name in "xy" for axis in iterate_parts(spec, name)]
    assert {tuple(axis["sort"]) for axis in axes} == {("it's", "x", "z")}
    assert {tuple(axis["scale"]["domain"]) for axis in axes} == {("it's", "x", "z")}


def test_a_metric_by_two_columns_is_a_heat_map():
    found = draw_spec(evaluate_clicks("Brier", by=["country", "device"]))
    assert list_marks(found) == ["rect", *["text"] * 5]
    encoding = found["layer"][0]["encoding"]
    assert (encoding["x"]["title"], encoding["y"]["title"]) == ("country", "device")
    assert encoding["color"]["title"] == "Brier (0 to 1, lower is better)"
    values = [
        (a, d, round(y, 9), ink) for a, d, y, ink in list_rows(found, "across", "down", "y", "ink")
    ]
    # DE, a: scores .2 and .7 of negatives.
    assert values[0] == ("DE", "a", 0.265, "white")
    assert values[1] == ("DE", "b", 0.085, "black")


def test_a_forest_has_no_difference_in_grey():
    found = draw_spec(sqlrank.compare("RR", **SCORED))
    zero, interval, _, _, point = found["layer"]
    assert (zero["mark"]["color"], list_rows(found, "zero")) == (GREY, [(0,)])
    assert interval["encoding"]["x"]["title"] == "difference of RR (higher is better)"
    # Student's interval of three differences is wider than any difference of RR.
    assert interval["encoding"]["x"]["scale"]["domain"] == [-1, 1]
    assert "Arrows: the interval goes on beyond the axis." in read_caption(found)
    assert found["title"]["text"] == "RR of dense minus baseline"
    assert point["encoding"]["x"]["field"] == "difference"
    # By hand: 1, 1/2, 1/3 against 1/2, 1, 1.
    (row,) = list_rows(found, "difference", "name", "n_units", "wins", "losses", "verdict")
    assert row == (pytest.approx(2 / 9), "dense", 3, 2, 1, "not significant")
    assert read_caption(found).startswith(
        "Points: differences of means. Lines: 95% confidence intervals, corrected by"
        " Holm. Test: paired t-test."
    )


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, "97.5% confidence intervals, corrected by Holm"),
        ({"correction": "none"}, "95% confidence intervals"),
        ({"confidence": 0.9}, "95% confidence intervals, corrected by Holm"),
    ],
)
def test_the_caption_has_the_level_of_the_intervals_that_are_drawn(options, lines):
    found = draw_spec(sqlrank.compare(["RR", "P@2"], **SCORED, **options))
    assert f" Lines: {lines}. Test: paired t-test." in read_caption(found)


def test_a_title_is_of_the_chart_or_as_given():
    result = evaluate_clicks(["AUC", "Brier", "LogLoss", "KS"], by="country")
    assert draw_spec(result)["title"]["text"] == "AUC, Brier, LogLoss and 1 more by country"
    assert sqlrank.chart(result, title="Clicks <b>").to_dict()["title"]["text"] == "Clicks <b>"


def test_charts_of_a_forest_share_their_verdicts():
    result = sqlrank.compare(
        ["Brier", "CalibrationRatio"],
        predictions={
            "label": [0, 1] * 20,
            "a": [0.02 * x for x in range(1, 41)],
            "b": [0.02 * x + 0.1 for x in range(1, 41)],
        },
        columns={"score": ["a", "b"]},
    )
    found = draw_spec(result)
    labels = {verdict for (verdict,) in list_rows(found, "verdict")}
    assert "differs, none is better" in labels
    for part in found["concat"]:
        point = part["layer"][-1]["encoding"]
        assert (
            len({*point["color"]["scale"]["range"]})
            == len({*point["shape"]["scale"]["range"]})
            == 4
        )
        assert not {*point["color"]["scale"]["range"]} & {*PALETTE, GREY}


@pytest.mark.slow
def test_a_forest_says_who_is_better():
    queries = [f"q{place}" for place in range(20)]
    good = {query: {"a": 2.0, "b": 1.0} for query in queries}
    poor = {
        query: {"b": 3.0, "a": 2.0, "c": 1.0} if place else {"b": 3.0, "c": 2.0, "a": 1.0}
        for place, query in enumerate(queries)
    }
    result = sqlrank.compare(
        "RR", run={"good": good, "poor": poor}, qrels={query: {"a": 1} for query in queries}
    )
    assert list_rows(draw_spec(result), "verdict") == [("baseline is better",)]
    assert list_rows(
        draw_spec(
            sqlrank.compare(
                "RR", run={"poor": poor, "good": good}, qrels={query: {"a": 1} for query in queries}
            )
        ),
        "verdict",
    ) == [("system is better",)]


def test_differences_of_queries_are_in_order_with_wins_and_losses():
    found = draw_spec(sqlrank.compare("RR", per_query=True, **SCORED))
    assert [item["title"]["text"] for item in found["concat"]] == [
        ["dense minus baseline", "wins 2, ties 0, losses 1"]
    ]
    assert list_rows(found, "x", "query", "kind", "difference") == [
        (1, "q1", "losses", -0.5),
        (2, "q2", "wins", 0.5),
        (3, "q3", "wins", pytest.approx(2 / 3)),
    ]


def test_lower_is_a_win_where_lower_is_better():
    data = CLICKS.append_column("query_id", CLICKS["day"]).append_column(
        "worse", pa.array([0.9, 0.9, 0.1, 0.1] * 2)
    )
    scores = {"score": ["score", "worse"]}
    found = draw_spec(
        sqlrank.compare("Brier", predictions=data, columns=scores, level="query", per_query=True)
    )
    assert {(row[0] > 0, row[1]) for row in list_rows(found, "difference", "kind")} == {
        (True, "losses")
    }


@pytest.mark.slow
def test_many_queries_are_thinned_and_the_chart_says_so():
    queries = [f"q{place:05}" for place in range(2500)]
    data = pa.table(
        {"query_id": queries, "label": [1] * 2500, "one": [1.0] * 2500, "other": [0.0, 1.0] * 1250}
    )
    columns = {"score": ["one", "other"]}
    found = draw_spec(
        sqlrank.compare("MAE", predictions=data, columns=columns, level="query", per_query=True)
    )
    drawn = list_rows(found, "x", "kind")
    assert (len(drawn), drawn[0], drawn[-1]) == (1000, (1, "losses"), (2500, "ties"))
    assert "1,000 queries are drawn, evenly spaced in their order" in read_caption(found)
    lines = found["concat"][0]["title"]["text"]
    assert lines == ["other minus one", "wins 0, ties 1,250, losses 1,250"]


def test_undefined_is_shown_as_null_and_no_number():
    one_class = build_table(label="0 0 1 0", score="0.2 0.3 0.4 0.1", shop="x x NULL NULL")
    found = draw_spec(sqlrank.evaluate("AUC", predictions=one_class, by="shop"))
    assert list_rows(found, "colour", "y") == [("NULL", 1), ("x", None)]
    assert (
        next(item["mark"]["text"] for item in found["layer"] if item["mark"]["type"] == "text")
        == "NULL"
    )
    both = sqlrank.evaluate(
        "num_predictions",
        predictions=one_class.set_column(2, "shop", [["NULL", "NULL", None, None]]),
        by="shop",
    )
    assert [row[0] for row in list_rows(draw_spec(both), "colour")] == ["NULL (none)", "NULL"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", CHART_KINDS)
def test_no_rows_draw_an_empty_chart(kind):
    assert (
        sqlrank.chart(RESULTS[kind]().slice(0, 0), kind)
        .to_dict()["$schema"]
        .startswith("https://vega.github.io/schema/vega-lite/")
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", CHART_KINDS)
def test_one_row_is_drawn(kind):
    found = draw_spec(RESULTS[kind]().slice(0, 1), kind)
    assert any(found["datasets"].values())


@pytest.mark.one_in(15)
@pytest.mark.parametrize("kind", CHART_KINDS)
def test_each_result_is_drawn_as_its_kind_by_itself(kind):
    result = RESULTS[kind]()
    assert draw_spec(result) == draw_spec(result, kind) == draw_spec(result, kind.upper())


def test_another_kind_that_fits_can_be_chosen():
    result = evaluate_clicks("Brier", by=["country", "device"])
    assert list_marks(draw_spec(result, "dots")) == ["point", "text"]
    days = evaluate_clicks("Brier", by="day")
    assert list_marks(draw_spec(days, "dots")) == ["point", "text"]


@pytest.mark.slow
def test_too_many_charts_are_refused():
    data = {
        "label": [0, 1] * 101,
        "score": [0.1, 0.9] * 101,
        "user": [str(place // 2) for place in range(202)],
        "all": [1] * 202,
    }
    for curve in ("ROC", "Calibration"):
        with pytest.raises(
            sqlrank.InputError,
            match=(
                r"these are 101 charts side by side, and at most 100 are drawn. Keep fewer rows,"
                r" such as by where"
            ),
        ):
            sqlrank.chart(sqlrank.evaluate(curve, predictions=pa.table(data), by=["all", "user"]))


def test_more_groups_than_colours_have_dashes():
    ten = pa.table(
        {
            "label": [0, 1] * 10,
            "score": [0.1, 0.9] * 10,
            "shop": [f"s{place // 2}" for place in range(20)],
        }
    )
    encoding = draw_spec(sqlrank.evaluate("ROC", predictions=ten, by="shop"))["layer"][1][
        "encoding"
    ]
    looks = list(
        zip(
            encoding["color"]["scale"]["range"],
            map(str, encoding["strokeDash"]["scale"]["range"]),
            strict=True,
        )
    )
    assert len(set(looks)) == 10


def test_columns_after_the_third_share_a_facet():
    found = draw_spec(evaluate_clicks("ROC", by=["country", "device", "day", "half=score > 0.5"]))
    assert found["facet"]["row"]["header"]["labelExpr"].startswith('"day, half: "')
    assert "2026-01-01, 1" in found["facet"]["row"]["sort"]


def test_rows_of_facets_are_named_where_columns_have_a_title():
    import vl_convert

    by = ["country", "device", "half=score > 0.5"]
    found = draw_spec(evaluate_clicks("Brier", by=by, confidence=0.9), "dots")
    assert found["facet"]["column"]["title"] == "half"
    assert found["facet"]["row"]["header"]["title"] is None
    picture = vl_convert.vegalite_to_svg(found)
    assert picture.count(">device: a<") == 2
    assert ">device<" not in picture


def test_titles_that_mean_something_to_vega_or_are_taken_are_distinguished():
    data = CLICKS.rename_columns(["label", "score", "image", "n", "to"])
    found = draw_spec(
        sqlrank.evaluate(
            ["Brier", "Positives"], predictions=data, by=["image", "n", "to"], confidence=0.9
        ),
        "dots",
    )
    titles = [item["title"] for item in found["spec"]["layer"][0]["encoding"]["tooltip"]]
    assert titles == ["image ", "n", "to", "Brier", "ci_low", "ci_high", "n_units", "Positives"]


def test_altair_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(
        sqlrank.SqlrankError,
        match=r"^charts need altair. Run pip install 'altair<7' vl-convert-python$",
    ):
        sqlrank.chart(evaluate_clicks("Brier"))


def test_stored_results_are_drawn_as_they_were(tmp_path):
    import pyarrow.parquet as pq

    result = sqlrank.compare("RR", run=RUNS, qrels=QRELS)
    pq.write_table(result, tmp_path / "c.parquet")
    assert draw_spec(pq.read_table(tmp_path / "c.parquet")) == draw_spec(result)


def test_points_are_many_but_not_too_many():
    points = pa.table({"label": [place % 2 for place in range(8_000)], "score": list(range(8_000))})
    assert (
        len(list_rows(draw_spec(sqlrank.evaluate("ROC(points=0)", predictions=points)), "x"))
        > 8_000
    )


@pytest.mark.slow
def test_panels_have_legends_above_the_plot_and_verdicts_in_the_caption():
    rows = read_columns(label="0 1 1 0 1", score="0.1 0.2 0.3 0.3 0.4", arm=[*"aabbb"])
    (panel,), _ = svg_panels(sqlrank.chart(sqlrank.evaluate("ROC", predictions=rows, by="arm")))
    width = re.search(r'width="(\d+)"', panel)
    assert width is not None
    assert int(width[1]) < theme.SIDE_PIXELS  # beside the plot, a legend is wider than a phone
    panels, notes = svg_panels(sqlrank.chart(sqlrank.compare(["RR", "P@1"], run=RUNS, qrels=QRELS)))
    assert [panel.count(">system is better<") for panel in panels] == [0, 0]
    assert "\u25b2 system is better, \u25bc baseline is better, \u25cf not significant." in notes


def test_rows_of_a_forest_are_groups_if_one_system_is_compared():
    rows = {"label": [0, 1] * 8, "country": [*"abab"] * 4, "new": [*range(16)], "old": [1.0] * 16}
    result = sqlrank.compare(
        "MAE", predictions=rows, columns={"score": ["old", "new"]}, by="country"
    )
    spec = draw_spec(result)
    assert spec["title"]["text"] == "MAE of new minus old"
    rows_encoding = spec["layer"][1]["encoding"]["y"]
    assert (rows_encoding["title"], rows_encoding["sort"]) == ("country", ["a", "b"])
