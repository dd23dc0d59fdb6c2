"""Functions with the signatures of scikit-learn's that sqlrank computes, where their arguments are
ones that it has.
"""

import inspect
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.metrics

import sqlrank

COMPUTED: Counter[str] = Counter()
"""Number of values that sqlrank computed, by function."""

UNDEFINED = {0: "zero", 1: "one", "warn": "zero"}


def _bind(name: str, args: Any, kwargs: Any) -> dict[str, Any] | None:
    """Return the arguments of a call that are not defaults, None for a call that scikit-learn
    refuses.
    """
    try:
        bound = inspect.signature(getattr(sklearn.metrics, name)).bind(*args, **kwargs)
    except TypeError:
        return None
    defaults = inspect.signature(getattr(sklearn.metrics, name)).parameters
    return {
        key: value for key, value in bound.arguments.items() if value is not defaults[key].default
    }


def _is_plain(values: Any) -> bool:
    array = np.asarray(values)
    return (
        array.ndim == 1
        and array.dtype.kind in "iufb"
        and len(array) > 0
        and bool(np.isfinite(array.astype(float)).all())
    )


def _make_weights(call: dict[str, Any], count: int) -> np.ndarray:
    return np.asarray(call.get("sample_weight", np.ones(count)), float)


def adapt(name: str, compute: Callable[[dict[str, Any]], float | None]) -> Callable[..., Any]:
    """Return a function in the place of one of scikit-learn, which computes what ``compute``
    refuses by None.
    """
    original = getattr(sklearn.metrics, name)

    def replacement(*args: Any, **kwargs: Any) -> Any:
        call = _bind(name, args, kwargs)
        value = None if call is None else compute(call)
        if value is None:
            return original(*args, **kwargs)
        COMPUTED[name] += 1
        return value

    return replacement


def _adapt_predictions(
    metric: str, *, binary: bool = False, probabilities: bool = False
) -> Callable[[dict[str, Any]], float | None]:
    def compute(call: dict[str, Any]) -> float | None:
        label, score = (
            call.get("y_true"),
            call.get("y_score", call.get("y_pred", call.get("y_proba"))),
        )
        if (
            {*call} - {"y_true", "y_score", "y_pred", "y_proba", "sample_weight"}
            or not _is_plain(label)
            or not _is_plain(score)
        ):
            return None
        label, score = np.asarray(label, float), np.asarray(score, float)
        if (
            len(label) != len(score)
            or (binary and {*label} != {0.0, 1.0})
            or (probabilities and (score.min() < 0 or score.max() > 1))
        ):
            return None
        data = {"label": label, "score": score, "weight": _make_weights(call, len(label))}
        if len(data["weight"]) != len(label) or data["weight"].min() < 0:
            return None
        return sqlrank.evaluate(metric, predictions=data).to_pylist()[0][metric]

    return compute


def _adapt_classes(metric: str) -> Callable[[dict[str, Any]], float | None]:
    def compute(call: dict[str, Any]) -> float | None:
        label, predicted = (np.asarray(call.get(side)) for side in ("y_true", "y_pred"))
        settings = _read_settings(metric, call)
        if (
            settings is None
            or label.ndim != 1
            or predicted.ndim != 1
            or len(label) != len(predicted)
            or not len(label)
        ):
            return None
        if (
            label.dtype.kind not in "iuU"
            or predicted.dtype.kind not in "iuU"
            or (label.dtype.kind == "U") != (predicted.dtype.kind == "U")
        ):
            return None
        weight = _make_weights(call, len(label))
        if len(weight) != len(label) or weight.min() < 0 or not weight.any():
            return None
        data = {"label": label.tolist(), "predicted": predicted.tolist(), "weight": weight}
        name = metric + (
            f"({', '.join(f'{key}={value}' for key, value in settings.items())})"
            if settings
            else ""
        )
        value = sqlrank.evaluate(name, inputs={"classified": data}, compat="sklearn").to_pylist()[
            0
        ][name]
        return None if value is None else float(value)

    return compute


def _read_settings(metric: str, call: dict[str, Any]) -> dict[str, Any] | None:
    """Return the settings of a metric of classes, None if it has not all that a call asks for."""
    rest = {
        key: value
        for key, value in call.items()
        if key not in {"y_true", "y_pred", "sample_weight"}
    }
    if metric not in {"MulticlassPrecision", "MulticlassRecall", "MulticlassFBeta"}:
        return {} if not rest else None
    division = rest.pop("zero_division", "warn")
    skips = isinstance(division, float) and math.isnan(division)
    settings = {
        "average": rest.pop("average", "binary"),
        "zero_division": "skip" if skips else UNDEFINED.get(division),
    }
    if "beta" in rest:
        settings["beta"] = rest.pop("beta")
    is_known = settings["average"] in {"macro", "micro", "weighted"} and settings["zero_division"]
    return settings if is_known and not rest else None


ADAPTERS: dict[str, Callable[..., Any]] = {
    **{
        name: adapt(name, _adapt_classes(metric))
        for name, metric in {
            "accuracy_score": "MulticlassAccuracy",
            "balanced_accuracy_score": "MulticlassBalancedAccuracy",
            "cohen_kappa_score": "CohenKappa",
            "matthews_corrcoef": "MulticlassMCC",
            "precision_score": "MulticlassPrecision",
            "recall_score": "MulticlassRecall",
            "f1_score": "MulticlassFBeta",
            "fbeta_score": "MulticlassFBeta",
        }.items()
    },
    **{
        name: adapt(name, _adapt_predictions(metric, binary=True))
        for name, metric in {"roc_auc_score": "AUC", "average_precision_score": "APS"}.items()
    },
    **{
        name: adapt(name, _adapt_predictions(metric, binary=True, probabilities=True))
        for name, metric in {"log_loss": "LogLoss", "brier_score_loss": "Brier"}.items()
    },
    **{
        name: adapt(name, _adapt_predictions(metric))
        for name, metric in {
            "mean_absolute_error": "MAE",
            "mean_squared_error": "MSE",
            "root_mean_squared_error": "RMSE",
            "r2_score": "R2",
            "explained_variance_score": "ExplainedVariance",
            "max_error": "MaxError",
        }.items()
    },
}
"""Replacements by the name of scikit-learn's function."""
