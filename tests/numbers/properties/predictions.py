"""Prediction metrics, random predictions, and comparison of values, for tests of invariances."""

import math
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import sqlrank

RANKS = [
    *(
        "AUC", "AUC(tie_credit=0)", "Gini", "LiftQuality", "APS", "PRAUC",
        "PRAUC(interpolation=from_one)", "PRAUC(interpolation=davis_goadrich)",
    ),
    *(
        "KS", "pAUC@0.3", "pAUC(area_scaling=raw)@0.05", "Gain@0.2", "Lift@0.7", "GAUC",
        "GAUC(query_weight=equal)", "FBeta(threshold_from=best)",
    ),
    *(
        "MCC(threshold_from=best, criterion=mcc)",
        "YoudenJ(threshold_from=best, criterion=youden)",
        "Accuracy(threshold_from=best, criterion=accuracy)",
        "TP(threshold_from=best)",
    ),
]  # fmt: skip
"""Metrics of the order of the scores alone."""

VALUES = [
    *(
        "LogLoss", "LogLikelihood", "NormalizedLogLoss", "NormalizedEntropy", "Brier",
        "BrierSkill", "BaseRate", "CalibrationRatio", "CalibrationIntercept", "CalibrationSlope",
    ),
    *(
        "ECE", "MCE", "ECE(binning=equal_mass)", "MCE(binning=equal_mass, bins=3)", "PnDCG",
        "PnDCG@3", "Positives", "Negatives", "Observations",
    ),
    *(
        "num_predictions", "num_predictions_dropped", "SelectionRate", "Precision", "Recall",
        "FBeta(beta=2, threshold=0.3)", "MCC", "LogOdds", "ThresholdUsed", "TN", "FN", "FP",
        "FPR", "FNR",
    ),
    *(
        "Specificity", "NPV", "BalancedAccuracy", "Bias", "MAE", "MSE", "RMSE", "R2",
        "ExplainedVariance", "sMAPE", "MAPE(eps=1)",
    ),
    *(
        "BrierReliability", "BrierResolution", "BrierUncertainty",
        "PrecisionAtRecall(recall=0.8)", "RecallAtPrecision(precision=0.8)", "WAPE", "Jaccard",
        "ZeroOneLoss", "MaxError",
    ),
]  # fmt: skip
DEVIANCES = ["PoissonDeviance", "TweedieDeviance", "MSLE", "RMSLE", "MedianAbsoluteError"]
METRICS = [*RANKS, *VALUES]
STRATEGIES = ("window", "distinct", "buckets")
ON_DUCKDB = (*STRATEGIES, "integer_sort")
SUMS = (
    "LogLikelihood", "Positives", "Negatives", "Observations", "TP(threshold_from=best)", "TN",
    "FN", "FP",
)  # fmt: skip
UNWEIGHTED = ("num_predictions", "GAUC", "binning=equal_mass")
"""Metrics and settings that count rows, regardless of their weights."""


@cache
def open_database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def draw_predictions(seed: int, n: int = 400) -> pa.Table:
    """Draw predictions with many ties in groups of very different sizes, some of one class; weights
    are sums of eighths.
    """
    rng = np.random.default_rng(seed)
    score = np.where(rng.random(n) < 0.5, rng.integers(0, 9, n) / 8, rng.random(n))
    group = np.where(rng.random(n) < 0.05, "small", np.where(rng.random(n) < 0.5, "left", "right"))
    label = (rng.random(n) < 0.2 + 0.5 * score).astype(int)
    label[group == "small"] = 0
    return pa.table(
        {
            "label": label,
            "score": score,
            "weight": rng.integers(1, 25, n) / 8,
            "query_id": rng.integers(0, 30, n),
            "group": group,
        }
    )


@cache
def get_predictions() -> pa.Table:
    return draw_predictions(11)


def evaluate(metrics: list[str], table: pa.Table, **arguments: Any) -> list[dict[str, Any]]:
    """Return the rows, without the name of their grouping."""
    rows: list[dict[str, Any]] = sqlrank.evaluate(
        metrics, predictions=table, **({"connection": open_database()} | arguments)
    ).to_pylist()
    return [{name: value for name, value in row.items() if name != "slice"} for row in rows]


@cache
def compute_expected(strategy: str) -> list[dict[str, Any]]:
    return evaluate(METRICS, get_predictions(), by=[["group"], []], plan={"score_order": strategy})


def assert_equal(
    got: list[dict[str, Any]],
    wanted: list[dict[str, Any]],
    but: tuple[str, ...] = (),
    tolerance: float = 1e-12,
) -> None:
    """Compare row by row, but not what contains one of these names."""
    assert len(got) == len(wanted)
    wrong = []
    for one, other in zip(got, wanted, strict=True):
        assert one.keys() == other.keys()
        for name, value in other.items():
            if any(part in name for part in but):
                continue
            have = one[name]
            is_same = (
                have == value
                if not isinstance(value, float) or have is None
                else math.isclose(have, value, rel_tol=tolerance, abs_tol=tolerance)
            )
            if not is_same:
                wrong.append((name, have, value))
    assert not wrong, wrong[:5]


def choose_metrics(strategy: str) -> list[str]:
    """Return the metrics that a strategy affects; all for one of them."""
    return METRICS if strategy == "window" else RANKS


def select_metrics(metrics: list[str], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = {"group", *metrics}
    return [{name: value for name, value in row.items() if name in names} for row in rows]


def change_columns(table: pa.Table, **columns: Any) -> pa.Table:
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return table
