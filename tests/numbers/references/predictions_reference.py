"""The reference of every metric of predictions, in NumPy, from the formulas.

Written from the definitions, not from the SQL: pairs are compared one by one, curves are walked
point by point, and the best threshold is looked for in exact arithmetic. A metric that is not
defined is None.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import sqlrank
from tests.numbers.references.predictions import Options, Predictions, ratio, sum_classes
from tests.numbers.references.predictions_order import (
    aps,
    auc,
    gain,
    gauc,
    gini,
    ks,
    lift,
    lift_quality,
    pauc,
    pndcg,
    prauc,
    precision_at_recall,
    recall_at_precision,
)  # fmt: skip
from tests.numbers.references.predictions_thresholds import CONFUSION, list_matrices
from tests.numbers.references.predictions_values import (
    base_rate,
    brier_reliability,
    brier_resolution,
    brier_skill,
    calibration_intercept,
    calibration_slope,
    ece,
    explained_variance,
    log_likelihood,
    log_loss,
    mape,
    mce,
    mean,
    normalized_entropy,
    normalized_log_loss,
    poisson_deviance,
    r2,
    rmse,
    smape,
    squared,
    squared_log,
    tweedie_deviance,
)


def evaluate(metric: str, data: Predictions, **policies: Any) -> float | None:
    """Return the value of a metric; of several best thresholds it is that of the highest."""
    return list_candidates(metric, data, **policies)[0]


def list_candidates(metric: str, data: Predictions, **policies: Any) -> list[float | None]:
    """Return the value of a metric at each of the best thresholds, the highest threshold first;
    otherwise one value.
    """
    parsed = sqlrank.parse(metric)
    options = Options(**{**policies, **dict(parsed.params), "at": parsed.cutoff})  # type: ignore[arg-type]
    if parsed.name in CONFUSION:
        return [
            CONFUSION[parsed.name](matrix, options)
            for matrix in list_matrices(data, replace(options, at=None, eps=None))
        ]
    return [METRICS[parsed.name](data, options)]


METRICS: dict[str, Callable[[Predictions, Options], float | None]] = {
    "APS": aps,
    "AUC": auc,
    "BaseRate": base_rate,
    "Bias": lambda data, _: mean(data, data.score - data.label),
    "Brier": squared,
    "BrierReliability": brier_reliability,
    "BrierResolution": brier_resolution,
    "BrierSkill": brier_skill,
    "BrierUncertainty": lambda data, _: (
        None if (rate := base_rate(data, _)) is None else rate * (1 - rate)
    ),
    "CalibrationIntercept": calibration_intercept,
    "CalibrationRatio": lambda data, _: ratio(
        (data.weight * data.score).sum(), sum_classes(data)[0]
    ),
    "CalibrationSlope": calibration_slope,
    "ECE": ece,
    "ExplainedVariance": explained_variance,
    "Gain": gain,
    "GAUC": gauc,
    "Gini": gini,
    "KS": ks,
    "Lift": lift,
    "LiftQuality": lift_quality,
    "LogLikelihood": log_likelihood,
    "LogLoss": log_loss,
    "MAE": lambda data, _: mean(data, np.abs(data.score - data.label)),
    "MAPE": mape,
    "MaxError": lambda data, _: max(
        (abs(error) for error in (data.score - data.label)[data.weight > 0]), default=None
    ),
    "MCE": mce,
    "MedianAbsoluteError": lambda data, _: (
        float(np.median(np.abs(data.score - data.label))) if len(data) else None
    ),
    "MSE": squared,
    "MSLE": squared_log,
    "Negatives": lambda data, _: sum_classes(data)[1],
    "NormalizedEntropy": normalized_entropy,
    "NormalizedLogLoss": normalized_log_loss,
    "num_predictions": lambda data, _: float(len(data)),
    "num_predictions_dropped": lambda *_: 0.0,
    "Observations": lambda data, _: float(data.weight.sum()),
    "pAUC": pauc,
    "PnDCG": pndcg,
    "PoissonDeviance": poisson_deviance,
    "PrecisionAtRecall": precision_at_recall,
    "RecallAtPrecision": recall_at_precision,
    "Positives": lambda data, _: sum_classes(data)[0],
    "PRAUC": prauc,
    "R2": r2,
    "RMSE": rmse,
    "RMSLE": lambda data, _: None if (value := squared_log(data, _)) is None else value**0.5,
    "SelectionRate": lambda data, options: mean(data, data.score >= options.threshold),
    "sMAPE": smape,
    "TweedieDeviance": tweedie_deviance,
    "WAPE": lambda data, _: ratio(
        (data.weight * np.abs(data.score - data.label)).sum(),
        (data.weight * np.abs(data.label)).sum(),
    ),
}
NAMES = {*METRICS, *CONFUSION}
