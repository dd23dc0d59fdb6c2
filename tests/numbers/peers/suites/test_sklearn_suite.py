"""scikit-learn's own tests of its metrics, which its package has, with sqlrank in the place of its
functions.
"""

import importlib
import warnings

import pytest

from tests.numbers.peers.suites.sklearn_adapters import ADAPTERS, COMPUTED

SUITE = {
    "classification": [
        "test_precision_recall_f1_score_multiclass", "test_precision_recall_f_extra_labels",
        "test_precision_recall_f_ignored_labels", "test_confusion_matrix_binary",
        "test_zero_precision_recall", "test_brier_score_loss_binary", "test_d2_brier_score",
    ],
    "ranking": [
        "test_roc_curve_toydata", "test_average_precision_constant_values",
        "test_score_scale_invariance", "test_partial_roc_auc_score",
        "test_metric_at_thresholds_y_score_order",
        "test_metric_at_thresholds_y_score_order_duplicate_y_score",
    ],
    "regression": ["test_regression_metrics", "test_regression_metrics_at_limits"],
}  # fmt: skip
"""Tests that call functions that sqlrank has, by module. Others call further functions, or want
warnings.
"""


@pytest.mark.one_in(99)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in SUITE.items() for name in names]
)
def test_a_test_of_sklearn_holds_of_sqlrank(module, name, monkeypatch):
    try:
        suite = importlib.import_module(f"sklearn.metrics.tests.test_{module}")
    except ImportError as error:
        pytest.skip(f"this build of scikit-learn has no tests in its package: {error}")
    test = getattr(suite, name, None)
    if test is None:
        pytest.skip(
            f"sklearn.metrics.tests.test_{module} of this version of scikit-learn has no {name}"
        )
    for function, replacement in ADAPTERS.items():
        if hasattr(suite, function):
            monkeypatch.setattr(suite, function, replacement)
    COMPUTED.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test()
    assert sum(COMPUTED.values()) > 0, "sqlrank computed no value of the test"
