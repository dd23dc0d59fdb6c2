"""Differences between groups against the printed numbers of fairlearn 0.15.0 with scikit-learn
1.9.1.

fairlearn needs an environment of its own. There, with the columns of ``make_rows`` as arrays and
``predicted = score >= 0.5``, the numbers are ``demographic_parity_difference(label, predicted,
sensitive_features=group, sample_weight=weight)`` and its siblings, and ``group_min``,
``group_max``, ``difference`` and ``ratio`` of ``MetricFrame(metrics=..., sensitive_features=group,
control_features=day)``.
"""

import pytest

import sqlrank

EXACT = 1e-12

UNWEIGHTED = {
    "demographic_parity_difference": 0.11764705882352944,
    "demographic_parity_ratio": 0.7999999999999999,
    "equalized_odds_difference": 0.125,
    "equalized_odds_ratio": 0.7999999999999999,
    "equal_opportunity_difference": 0.125,
    "equal_opportunity_ratio": 0.8,
}
WEIGHTED = {
    "demographic_parity_difference": 0.11904761904761907,
    "demographic_parity_ratio": 0.8076923076923077,
    "equalized_odds_difference": 0.1555023923444976,
    "equalized_odds_ratio": 0.7719298245614036,
    "equal_opportunity_difference": 0.1555023923444976,
    "equal_opportunity_ratio": 0.7719298245614036,
}
FRAME = {
    "Accuracy": [(0.5227272727272727, 0.5714285714285714, 0.04870129870129869, 0.9147727272727273)],
    "AUC": [
        (0.517948717948718, 0.90625, 0.388301282051282, 0.5715296198054819),
        (0.21818181818181817, 0.65625, 0.43806818181818186, 0.33246753246753247),
    ],
    "LogLoss(eps=0.01)": [
        (0.5667094654153797, 1.1610962359040307, 0.594386770488651, 0.4880813905783952),
        (0.9290285242109406, 1.4766251466724938, 0.5475966224615532, 0.6291566456825304),
    ],
}
"""Least, greatest, difference and ratio of weighted metrics: of all rows, or of day 0 and day 1."""


def make_rows(*, weighted: bool) -> dict[str, list[float | str]]:
    columns = {
        "label": [int(i * 7 % 11 < 5) for i in range(60)],
        "score": [i * 13 % 17 / 16 for i in range(60)],
        "group": ["abc"[i * 5 % 7 % 3] for i in range(60)],
        "day": [i // 7 % 2 for i in range(60)],
    }
    return columns | ({"weight": [1.0 + i % 4 for i in range(60)]} if weighted else {})


@pytest.mark.parametrize(("weighted", "printed"), [(False, UNWEIGHTED), (True, WEIGHTED)])
def test_named_differences_are_those_of_fairlearn(weighted, printed):
    rows = sqlrank.evaluate(
        list(printed), predictions=make_rows(weighted=weighted), across="group"
    ).to_pylist()
    found = {row["metric"]: row[row["metric"].rpartition("_")[2]] for row in rows}
    assert found == pytest.approx(printed, abs=EXACT)


@pytest.mark.slow
def test_frames_of_metrics_are_those_of_fairlearn():
    for metric, printed in FRAME.items():
        by = ["day"] if len(printed) > 1 else []
        rows = sqlrank.evaluate(
            metric, predictions=make_rows(weighted=True), across="group", by=by
        ).to_pylist()
        found = [
            tuple(row[name] for name in ("value_min", "value_max", "difference", "ratio"))
            for row in rows
        ]
        assert found == [pytest.approx(values, abs=EXACT) for values in printed], metric
