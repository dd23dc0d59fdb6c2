"""Sixty-two requests, from usual to rare, whose statements are read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sqlrank

DIALECTS = ("bigquery", "duckdb")

RANKINGS: dict[str, Any] = {"run": "eval.run", "qrels": "eval.qrels"}
PREDICTIONS: dict[str, Any] = {"predictions": "ads.impressions"}
SPLITS: dict[str, Any] = {
    "source": "rec.ratings",
    "key": "user_id",
    "user": "user_id",
    "item": "item_id",
    "time": "rated_at",
}
VISITS: dict[str, Any] = {
    "data": "shop.visits",
    "unit": "user_id",
    "variant": "arm",
    "control": "A",
}


@dataclass(frozen=True)
class PrintRequest:
    """One call of a function that prints a statement.

    Attributes:
        print_sql: The function.
        arguments: Its arguments but the dialect.
        dialects: The dialects that have the plan of the request.
    """

    print_sql: Callable[..., str]
    arguments: dict[str, Any] = field(default_factory=dict)
    dialects: tuple[str, ...] = DIALECTS

    @property
    def title(self) -> str:
        """Return the call in short."""
        arguments = {
            name: value
            for name, value in self.arguments.items()
            if name not in {"run", "qrels", "predictions"}
        }
        metrics = arguments.pop("metrics", [])
        words = [
            self.print_sql.__name__,
            *(metrics if isinstance(metrics, list) else [str(metrics)]),
        ]
        return " ".join([*words, *(f"{name}={value}" for name, value in arguments.items())])

    def text(self, dialect: str) -> str:
        """Return the statement in a dialect."""
        return self.print_sql(dialect=dialect, **self.arguments)


def _request_rankings(metrics: str, **options: Any) -> PrintRequest:
    return PrintRequest(sqlrank.sql, {"metrics": metrics.split(), **RANKINGS, **options})


def _request_predictions(
    metrics: str, dialects: tuple[str, ...] = DIALECTS, **options: Any
) -> PrintRequest:
    return PrintRequest(
        sqlrank.sql, {"metrics": metrics.split(), **PREDICTIONS, **options}, dialects
    )


def _request_inputs(metrics: str, **options: Any) -> PrintRequest:
    return PrintRequest(sqlrank.sql, {"metrics": metrics.split(), **options})


def _request_experiment(metrics: Any, **options: Any) -> PrintRequest:
    return PrintRequest(sqlrank.experiment_sql, {"metrics": metrics, **VISITS, **options})


REQUESTS: dict[str, PrintRequest] = {
    "01": _request_rankings("RR"),
    "02": _request_rankings("nDCG@10 P@10", by="system"),
    "03": _request_rankings("nDCG AP", compat="trec10"),
    "04": _request_rankings("nDCG@10", ties="expected"),
    "05": _request_rankings("ERR PFound"),
    "06": _request_rankings("G Rndcg nDCGrel"),
    "07": _request_rankings("bpref infAP"),
    "08": _request_rankings("SetP SetR num_ret num_unjudged"),
    "09": _request_rankings("P@1..20"),
    "10": _request_rankings("nDCG@10", per_query=True),
    "11": _request_rankings("nDCG@10 AP", by="system", confidence=0.95),
    "12": _request_rankings("AP", by="system", confidence=0.95, interval="bootstrap"),
    "13": _request_predictions("AUC", by="day"),
    "14": _request_predictions(
        "AUC LogLoss", by=["campaign", "day"], columns={"label": "click", "score": "p_click"}
    ),
    "15": _request_predictions("AUC APS KS"),
    "16": _request_predictions("AUC APS", by="day", confidence=0.95),
    "17": _request_predictions("AUC Gain(fraction=0.1)", columns={"weight": "w"}),
    "18": _request_predictions("GAUC", columns={"query_id": "user_id"}),
    "19": _request_predictions("FBeta(threshold_from=best) ThresholdUsed(threshold_from=best) MCC"),
    "20": _request_predictions("ROC"),
    "21": _request_predictions("PR"),
    "22": _request_predictions("Calibration(binning=equal_mass)"),
    "23": _request_predictions("ECE Brier", by="day"),
    "24": _request_predictions("KendallTau SpearmanRho"),
    "25": _request_predictions("FCP", columns={"query_id": "user_id"}),
    "26": _request_predictions("pAp@10 pApSurrogate(surrogate=ts)@10"),
    "27": _request_predictions("pApGradient(surrogate=avg)@10"),
    "28": _request_rankings(
        "MeanPopularity@10 SelfInformation@10 Unseen@10 PopularityLift@10",
        inputs={"history": "eval.history"},
    ),
    "29": _request_rankings(
        "CatalogCoverage@10 ExposureGini@10 ExposureEntropy@10 Personalization@10",
        qrels=None,
        inputs={"items": "eval.items"},
    ),
    "30": _request_rankings("ProviderExposure@10", qrels=None, inputs={"items": "eval.items"}),
    "31": _request_rankings(
        "IntraListDiversity@10 CategoryEntropy@10 Miscalibration@10",
        qrels=None,
        inputs={"features": "eval.features", "history": "eval.history"},
    ),
    "32": _request_rankings(
        "Serendipity@10 Unexpectedness@10",
        inputs={"history": "eval.history", "items": "eval.items", "baseline": "eval.baseline"},
    ),
    "33": _request_rankings(
        "Lost@10 SearchReduction Elbow@20", inputs={"baseline": "eval.baseline"}
    ),
    "34": _request_inputs(
        "PairwiseF BCubedF VMeasure AdjustedRand", inputs={"records": "er.records"}
    ),
    "35": _request_inputs("AdjustedMutualInformation", inputs={"records": "er.records"}),
    "36": _request_inputs(
        "ClusterErrors",
        inputs={"predicted_clusters": "er.prediction", "true_clusters": "er.reference"},
    ),
    "37": _request_inputs(
        "SampledPairwiseF SampledBCubedPrecision", inputs={"records": "er.records"}, confidence=0.95
    ),
    "38": _request_inputs(
        "PairsCompleteness PairsQuality PairsReduction",
        inputs={"records": "er.records", "candidate_pairs": "er.candidates"},
    ),
    "39": _request_inputs("IPS SNIPS DR ESS", inputs={"logs": "ads.logs"}, confidence=0.95),
    "40": _request_inputs(
        "Preference num_won_by_a", inputs={"interleaved": "ab.clicks"}, confidence=0.95
    ),
    "41": _request_inputs(
        "num_train num_cold_users num_repeated num_future_rows", inputs={"splits": "rec.splits"}
    ),
    "42": _request_predictions("AUC(level=query)", columns={"query_id": "user_id"}),
    "43": _request_predictions("PartialAUC@100 pAUC(max_fpr=0.1) AUC@100"),
    "44": _request_predictions("AUC", ("duckdb",), plan={"score_order": "integer_sort"}),
    "46": _request_predictions("AUC", columns={"weight": "w"}, plan={"score_order": "buckets"}),
    "47": _request_rankings("nDCG@10", plan={"rank_method": "array"}),
    "48": PrintRequest(
        sqlrank.sql,
        {"metrics": ["nDCG@10"], **RANKINGS, "plan": {"rank_method": "top_k"}},
        ("duckdb",),
    ),
    "49": _request_predictions("RMSE R2 MAE", by="day"),
    "50": _request_experiment({"ctr": "Ratio(clicks, views)", "revenue": "Mean(revenue)"}),
    "51": _request_experiment("Mean(revenue)", covariates="revenue_before"),
    "52": _request_experiment("Mean(revenue)", interval="sequential"),
    "53": _request_predictions(
        "AUC LogLoss", by="day", confidence=0.95, columns={"score": ["old", "new"]}
    ),
    "54": _request_rankings("nDCG@10", queries="eval.queries", by=[["country"], ["device"], []]),
    "55": _request_rankings("nDCG@cutoff P@cutoff", queries="eval.queries"),
    "56": _request_rankings("num_dropped num_duplicates nDCG", nulls="drop", duplicates="max"),
    "57": _request_rankings("AR@10 Judged@10 num_tied@10 RBPresid binG 11pt"),
    "58": _request_predictions("AUC LogLoss", by="day", unit="user_id", confidence=0.95),
    "59": _request_rankings(
        "UserCoverage num_shown@10 num_lists", by="system", inputs={"history": "eval.history"}
    ),
    "60": PrintRequest(
        sqlrank.split_sql,
        {
            "source": "rec.ratings",
            "key": "user_id",
            "salt": "checkout",
            "shares": {"train": 0.8, "test": 0.2},
        },
    ),
    "61": PrintRequest(
        sqlrank.split_sql, {**SPLITS, "leave_last": 1, "seen_pairs": "drop", "cold_start": "drop"}
    ),
    "62": PrintRequest(
        sqlrank.rollup_sql,
        {"metrics": ["AUC", "LogLoss"], **PREDICTIONS, "by": ["day"], "unit": "user_id"},
    ),
}
"""The requests by number."""
