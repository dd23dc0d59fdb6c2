"""Invalid predictions raise errors, asserted by their message."""

from math import log, nan

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_dependencies
from tests.numbers.examples.databases import get_database
from tests.numbers.examples.predictions import INF, evaluate_predictions
from tests.tables import build_table

BROKEN = [
    (
        {"label": [0, None]},
        "AUC",
        r"1 row: label is NULL. Leave the row out, or give nulls='drop'\n +label=None, score=0.9",
    ),
    (
        {"label": [0.0, nan]},
        "AUC",
        r"1 row: label is NaN or infinite. Leave the row out with .*\n +label=nan, score=0.9",
    ),
    (
        {"label": [0.0, INF]},
        "MSE",
        r"1 row: label is NaN or infinite. Leave the row out\n +label=inf, score=0.9",
    ),
    (
        {"label": [0, 2]},
        "AUC",
        (
            r"1 row: label is neither 0 nor 1. Map a condition to it, such as columns={'label':"
            r" 'label >= 1'} .*\n +label=2, score=0.9"
        ),
    ),
    (
        {"label": [-1, 1]},
        "KS",
        (
            r"1 row: label is neither 0 nor 1. Map a condition to it, such as columns={'label':"
            r" 'label > 0'} .*\n +label=-1, score=0.1"
        ),
    ),
    (
        {"label": [0.0, 0.5]},
        "LogLoss",
        r"1 row: label is neither 0 nor 1. Give a rate two rows: .*\n +label=0.5, score=0.9",
    ),
    ({"label": [-1, 1]}, "PoissonDeviance", r"1 row: label is negative\n +label=-1, score=0.1"),
    (
        {"score": [0.1, None]},
        "AUC",
        (
            r"1 row: score is NULL. Give it a value, leave the row out, or give nulls='drop'\n"
            r" +label=1, score=None"
        ),
    ),
    (
        {"score": [0.1, nan]},
        "MAE",
        r"1 row: score is NaN, which would be ranked first. .*\n +label=1, score=nan",
    ),
    (
        {"score": [0.1, 1.5]},
        "LogLoss",
        r"1 row: score is not a probability, from 0 to 1. Map one to it, .*\n +label=1, score=1.5",
    ),
    (
        {"score": [-0.1, 0.5]},
        "ECE",
        r"1 row: score is not a probability, from 0 to 1. Map one to it, .*\n +label=0, score=-0.1",
    ),
    (
        {"score": [0.1, INF]},
        "Brier",
        r"1 row: score is not a probability, from 0 to 1. Map one to it, .*\n +label=1, score=inf",
    ),
    ({"score": [0.1, -INF]}, "MSE", r"1 row: score is infinite\n +label=1, score=-inf"),
    (
        {"score": [0.0, 1.5]},
        "TweedieDeviance",
        r"1 row: score is not above 0\n +label=0, score=0.0",
    ),
    (
        {"weight": [1.0, -1.0]},
        "AUC",
        (
            r"1 row: weight is negative. Give one from 0, or leave the row out\n +label=1,"
            r" score=0.9, weight=-1.0"
        ),
    ),
    (
        {"weight": [1.0, nan]},
        "AUC",
        (
            r"1 row: weight is NaN or infinite. Leave such rows out with .*\n +label=1, score=0.9,"
            r" weight=nan"
        ),
    ),
    (
        {"weight": [INF, 1.0]},
        "MAE",
        r"1 row: weight is NaN or infinite. Leave such rows out\n +label=0, score=0.1, weight=inf",
    ),
    (
        {"weight": [1.0, 1e91]},
        "KendallTau",
        (
            r"1 row: weight is above 1e90, or below 1e-90 and not 0, whose products no double"
            r" holds. Divide all weights by one number\n +label=1,"
        ),
    ),
    ({"weight": [0.0, 9e-91]}, "AUC", r"1 row: weight is above 1e90, or below 1e-90 and not 0"),
    (
        {"weight": [1.0, None]},
        "num_predictions",
        (
            r"1 row: weight is NULL. Give the row one, or leave it out\n +label=1, score=0.9,"
            r" weight=None"
        ),
    ),
    (
        {"query_id": [1, None]},
        "GAUC",
        (
            r"1 row: query_id is NULL. Give the row one, or leave it out\n +label=1, score=0.9,"
            r" query_id=None"
        ),
    ),
    (
        {"rank": [1, None]},
        "AUC(ties=row_order)",
        r"1 row: rank is NULL. Give the row one, or leave it out\n +label=1, score=0.9, rank=None",
    ),
    (
        {"label": ["a", "b"]},
        "AUC",
        r"label is VARCHAR, not a number. 'a' and 'b' are none. .*, or map another column to label",
    ),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("columns", "metric", "message"), BROKEN)
def test_rows_that_cannot_be_evaluated(columns, metric, message):
    data = pa.table({"label": [0, 1], "score": [0.1, 0.9], **columns})
    with pytest.raises(sqlrank.InputError, match=message):
        sqlrank.evaluate(metric, predictions=data, connection=get_database())


def test_a_broken_row_in_any_group_is_found():
    data = build_table(label="0 1 2", score="0.1 0.9 0.5", day="NULL x NULL")
    with pytest.raises(sqlrank.InputError, match="label is neither 0 nor 1"):
        sqlrank.evaluate("AUC", predictions=data, by=[["day"], []])


def test_columns_that_are_not_read_may_hold_anything():
    data = build_table(label="0 1", score="0.1 0.9", rank="NULL 1", query_id="NULL a")
    assert sqlrank.evaluate("AUC", predictions=data).to_pylist() == [{"AUC": 1.0}]


def test_without_checks():
    data = build_table(label="0 1", score="0.1 0.9")
    assert sqlrank.evaluate("AUC", predictions=data, check="off").to_pylist() == [{"AUC": 1.0}]
    with pytest.raises(
        sqlrank.InputError, match=r"unknown check 'some'\. Choose from: auto, full, off"
    ):
        sqlrank.evaluate("AUC", predictions=data, check="some")  # type: ignore[arg-type]


MISSING = [
    ({"label": [0, 1]}, "AUC", {}, "no column 'score'"),
    ({"label": [0, 1], "score": [0.1, 0.9]}, "GAUC", {}, "no column 'query_id'"),
    ({"label": [0, 1], "score": [0.1, 0.9]}, "AUC", {"ties": "row_order"}, "no column 'rank'"),
    ({"label": [0, 1], "score": [0.1, 0.9]}, "AUC", {"per_query": True}, "no column 'query_id'"),
    (
        {"label": [0, 1], "score": [0.1, 0.9]},
        "AUC",
        {"by": "day"},
        "by: predictions have no column 'day'",
    ),
    (
        {"label": [0, 1], "score": [0.1, 0.9]},
        "AUC",
        {"columns": {"lable": "x"}},
        "columns maps 'lable', which predictions do not have. Did you mean 'label'",
    ),
]


@pytest.mark.parametrize(("columns", "metric", "arguments", "message"), MISSING)
def test_columns_that_are_missing(columns, metric, arguments, message):
    with pytest.raises(sqlrank.InputError, match=message):
        sqlrank.evaluate(metric, predictions=pa.table(columns), **arguments)


REFUSED = [
    ("pAUC", {}, "pAUC needs a cut-off: the false positive rate up to which"),
    ("pAUC@0", {}, "max_fpr is 0. It must be a number above 0 to 1"),
    ("pAUC@2", {}, "max_fpr is 2. It must be a number above 0 to 1"),
    ("Gain@0", {}, "fraction is 0. It must be a number above 0 to 1"),
    ("pAUC", {}, "pAUC needs a cut-off: the false positive rate"),
    ("APS@3", {}, "APS takes no cut-off. Write APS"),
    ("AUC(tie_credit=2)", {}, "tie_credit is 2. It must be a number from 0 to 1"),
    ("FBeta(beta=-1)", {}, "beta is -1. It must be a number from 0"),
    ("ECE(bins=0)", {}, "bins is 0. It must be an integer from 1"),
    ("ECE(bins=1.5)", {}, "bins is 1.5. It must be an integer from 1"),
    ("ECE(binning=deciles)", {}, "unknown binning 'deciles'. Choose from: equal_width, equal_mass"),
    ("MCC(threshold_from=worst)", {}, r"unknown threshold_from 'worst'.* Choose from: given, best"),
    ("MCC(threshold_from=best, criterion=j)", {}, "unknown criterion 'j'"),
    ("MCC(criterion=youden)", {}, "MCC has no parameter 'criterion'"),
    ("MCC(threshold_from=best, threshold=0.3)", {}, "MCC has no parameter 'threshold'"),
    ("AUC(bins=3)", {}, "AUC has no parameter 'bins'"),
    ("GAUC(query_weight=clicks)", {}, "unknown query_weight 'clicks'"),
    ("LogLoss(eps=0.6)", {}, "eps is 0.6. It must be a number above 0 to 0.5"),
    ("TweedieDeviance(power=1)", {}, "power is 1. It must be a number above 1"),
    (
        "AUC",
        {"plan": {"score_order": "sort"}},
        (
            "unknown score_order 'sort'. Choose from: auto, window, rank, integer_sort, distinct,"
            " buckets"
        ),
    ),
    (
        "AUC",
        {"plan": {"score_order": "rank"}},
        (
            "score_order='rank' is for predictions that all weigh 1. Choose window, buckets or"
            " distinct"
        ),
    ),
    (
        "AUC",
        {"plan": {"score_order": "integer_sort"}, "confidence": 0.9},
        (
            "score_order='integer_sort' is for predictions that all weigh 1 where there are"
            " intervals. Choose window, buckets or distinct"
        ),
    ),
    (
        ["AUC(score_order=window)", "APS"],
        {},
        "AUC has no parameter 'score_order'. score_order is a plan: plan=",
    ),
    (["AUC", "nDCG"], {}, "no column 'doc_id'. Say which it is with columns="),
    ("AUC", {"by": "label"}, "by cannot name 'label'"),
    ("AUC", {"by": "AUC"}, "by cannot name 'AUC'"),
]


@pytest.mark.parametrize(("metric", "arguments", "message"), REFUSED)
def test_what_is_refused(metric, arguments, message):
    data = build_table(label="0 1", score="0.1 0.9", weight="1.0 1.0", query_id="1 1", AUC="1 1")
    with pytest.raises(sqlrank.SqlrankError, match=message):
        sqlrank.evaluate(metric, predictions=data, **arguments)


@pytest.mark.parametrize("ties", ["expected", "doc_asc", "error"])
def test_ties_of_rankings_are_refused(ties):
    with pytest.raises(sqlrank.MetricError, match=f"ties={ties!r} orders documents"):
        evaluate_predictions(f"AUC(ties={ties})", [1, 0], [0.5, 0.5])


def test_log_loss_without_clipping_is_refused():
    with pytest.raises(sqlrank.MetricError, match=r"eps is 0. It must be a number above 0 to 0\.5"):
        evaluate_predictions("LogLoss(eps=0)", [1, 0], [0.0, 0.5])


THRESHOLD_METRICS = sorted(
    file.display_name
    for file in load_registry().metrics.values()
    if file.grain == "group"
    and "threshold" in find_dependencies(load_registry(), file, {}).settings
)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("metric", THRESHOLD_METRICS)
def test_the_default_threshold_is_for_scores_from_0_to_1(metric):
    """Log odds and percentages have another threshold, by which the metric is what that of their
    probabilities is.
    """
    labels, probabilities = [1, 0, 1, 0, 1], [0.9, 0.4, 0.55, 0.05, 0.2]
    expected = sqlrank.evaluate(metric, predictions={"label": labels, "score": probabilities})[0][0]
    log_odds = {"label": labels, "score": [log(p / (1 - p)) for p in probabilities]}
    percentages = {"label": labels, "score": [round(100 * p) for p in probabilities]}
    for predictions, threshold in ((log_odds, 0), (percentages, 50)):
        with pytest.raises(
            sqlrank.InputError,
            match=(
                r"score is not from 0 to 1, for which the default threshold of 0.5 is. Give the"
                r" threshold"
            ),
        ):
            sqlrank.evaluate(metric, predictions=predictions)
        value = sqlrank.evaluate(f"{metric}(threshold={threshold})", predictions=predictions)[0][0]
        assert value.as_py() == threshold if metric == "ThresholdUsed" else value == expected
