"""Invalid predictions raise errors, asserted by their message."""

from math import log

import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_dependencies
from tests.numbers.examples.predictions import evaluate_predictions
from tests.tables import build_table


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
