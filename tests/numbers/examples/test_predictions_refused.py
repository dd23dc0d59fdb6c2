"""Invalid predictions raise errors, asserted by their message."""

from math import log

import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_dependencies
from tests.tables import build_table


def test_columns_that_are_not_read_may_hold_anything():
    data = build_table(label="0 1", score="0.1 0.9", rank="NULL 1", query_id="NULL a")
    assert sqlrank.evaluate("AUC", predictions=data).to_pylist() == [{"AUC": 1.0}]


def test_without_checks():
    data = build_table(label="0 1", score="0.1 0.9")
    assert sqlrank.evaluate("AUC", predictions=data, check="off").to_pylist() == [{"AUC": 1.0}]


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
