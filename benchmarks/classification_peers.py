"""Peers of prediction metrics: other tools, and the minimum work of an engine.

Each tool starts from the same DuckDB file, fetching included; it is imported when it is measured.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    from pyspark.sql import SparkSession

Values = dict[str, float]

SIX = ["AUC", "APS", "LogLoss", "LiftQuality", "KS", "Brier"]
PROBABILITY = ["LogLoss", "Brier", "CalibrationRatio"]
TABLES = {"unweighted": "unweighted", "weighted": "predictions"}
"""Tables of the DuckDB file by whether the predictions have weights."""

BARE, SCAN = "bare rank", "bare scan"
_COLUMNS = {"unweighted": "label, score", "weighted": "label, score, weight"}
_EPS = float(np.finfo(np.float64).eps)


def rank_predictions(connection: duckdb.DuckDBPyConnection, by: str = "") -> Values:
    """Rank all predictions, or those of each group, and nothing else; return the sum of the
    ranks.
    """
    partition = f"PARTITION BY {by} " if by else ""
    query = (
        f"SELECT SUM(r) FROM (SELECT RANK() OVER ({partition}ORDER BY score) AS r FROM predictions)"
    )
    return {BARE: float(connection.execute(query).fetchall()[0][0])}


def scan_predictions(connection: duckdb.DuckDBPyConnection) -> Values:
    """Read all predictions once and add them up, and nothing else."""
    return {
        "positives": float(
            connection.execute(
                "SELECT SUM(label), SUM(score), SUM(weight) FROM predictions"
            ).fetchall()[0][0]
        )
    }


def fetch_scores(connection: duckdb.DuckDBPyConnection) -> Any:
    """Return the scores as a NumPy array."""
    return connection.execute("SELECT score FROM predictions").fetchnumpy()["score"]


def sort_scores(scores: Any) -> Values:
    """Order scores that are in memory already, on one thread, and nothing else."""
    np.argsort(scores)
    return {}


def with_sklearn(connection: duckdb.DuckDBPyConnection, kind: str, at_hand: list[float]) -> Values:
    """Fetch arrays and call three functions; put the seconds of these alone into ``at_hand``."""
    from sklearn.metrics import average_precision_score, log_loss, roc_auc_score  # noqa: PLC0415

    arrays = connection.execute(f"SELECT {_COLUMNS[kind]} FROM predictions").fetchnumpy()
    label, score, weight = arrays["label"], arrays["score"], arrays.get("weight")
    start = time.perf_counter()
    functions = {"AUC": roc_auc_score, "APS": average_precision_score, "LogLoss": log_loss}
    values = {
        name: float(function(label, score, sample_weight=weight))
        for name, function in functions.items()
    }
    at_hand.append(time.perf_counter() - start)
    return values


def with_polars_sorted(connection: duckdb.DuckDBPyConnection, kind: str) -> Values:
    """Sort all predictions, keep the last of each tie, and take the areas step by step."""
    import polars as pl  # noqa: PLC0415

    frame = _fetch_frame(connection, kind).lazy()
    weight = _select_weight(kind)
    steps = (
        frame.select("score", weight=weight, positive=weight * pl.col("label"))
        .sort("score", descending=True)
        .select("score", positives=pl.col("positive").cum_sum(), rows=pl.col("weight").cum_sum())
        .filter((pl.col("score") != pl.col("score").shift(-1)).fill_null(value=True))
    )
    upto, rows = pl.col("positives"), pl.col("rows")
    negatives = rows - upto
    above, negatives_above = upto.shift(1, fill_value=0.0), negatives.shift(1, fill_value=0.0)
    auc = ((negatives - negatives_above) * (upto + above) / 2).sum() / (
        upto.last() * negatives.last()
    )
    areas = steps.select(
        AUC=auc,
        APS=((upto - above) * upto / rows).sum() / upto.last(),
        LiftQuality=2 * auc - 1,
        KS=(upto / upto.last() - negatives / negatives.last()).abs().max(),
    )
    return dict(
        pl.concat([areas, frame.select(**_list_probability_metrics(kind))], how="horizontal")
        .collect()
        .row(0, named=True)
    )


def with_polars_searched(connection: duckdb.DuckDBPyConnection, kind: str) -> Values:
    """Sort the scores and nothing with them, unless they have weights, and search the few of
    positives among them.
    """
    import polars as pl  # noqa: PLC0415

    frame = _fetch_frame(connection, kind)
    columns = ["score"] if kind == "unweighted" else ["score", "weight"]
    everything = frame.select(columns).sort("score")
    positives = frame.filter(pl.col("label") == 1).select(columns).sort("score")
    expressions = {
        f"{name}_{side}": _weight_below(ordered, positives["score"], side)
        for name, ordered in (("all", everything), ("positives", positives))
        for side in ("left", "right")
    }
    total, relevant = _sum_weights(everything), _sum_weights(positives)
    others = total - relevant
    weight = _select_weight(kind)
    negatives_below = pl.col("all_left") - pl.col("positives_left")
    negatives_upto = pl.col("all_right") - pl.col("positives_right")
    at_least = relevant - pl.col("positives_left")
    auc = (weight * (negatives_below + negatives_upto) / 2).sum() / (relevant * others)
    ahead = at_least / relevant - (others - negatives_below) / others
    behind = (others - negatives_upto) / others - (relevant - pl.col("positives_right")) / relevant
    areas = positives.with_columns(**expressions).select(
        AUC=auc,
        APS=(weight * at_least / (total - pl.col("all_left"))).sum() / relevant,
        LiftQuality=2 * auc - 1,
        KS=pl.max_horizontal(ahead, behind).max(),
    )
    return dict(areas.hstack(frame.select(**_list_probability_metrics(kind))).row(0, named=True))


def _fetch_frame(connection: duckdb.DuckDBPyConnection, kind: str) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415

    return pl.DataFrame(
        connection.sql(f"SELECT {_COLUMNS[kind]} FROM predictions").to_arrow_table()
    )


def _select_weight(kind: str) -> pl.Expr:
    import polars as pl  # noqa: PLC0415

    return pl.lit(1.0) if kind == "unweighted" else pl.col("weight")


def _sum_weights(frame: pl.DataFrame) -> float:
    return float(frame["weight"].sum() if "weight" in frame.columns else frame.height)


def _weight_below(ordered: pl.DataFrame, points: pl.Series, side: Any) -> pl.Series:
    """Return the weight of the rows below each point, or up to it if ``side`` is right."""
    import polars as pl  # noqa: PLC0415

    positions = ordered["score"].search_sorted(points, side=side)
    if "weight" not in ordered.columns:
        return positions.cast(pl.Float64)
    return pl.concat([pl.Series([0.0]), ordered["weight"].cum_sum()]).gather(positions)


def _list_probability_metrics(kind: str) -> dict[str, pl.Expr]:
    """Return the metrics for which the order does not matter."""
    import polars as pl  # noqa: PLC0415

    label, score = pl.col("label"), pl.col("score")
    expressions = {
        "LogLoss": -(score + (label - 1)).abs().clip(_EPS, 1 - _EPS).log(),
        "Brier": (score - label) ** 2,
    }
    if kind == "unweighted":
        return {name: value.mean() for name, value in expressions.items()}
    return {
        name: (pl.col("weight") * value).sum() / pl.col("weight").sum()
        for name, value in expressions.items()
    }


def spark_session(threads: int) -> SparkSession | str:
    """Return a session of Spark in this process, or why there is none."""
    try:
        from spark import open_session  # noqa: PLC0415

        return open_session(threads)
    except (ImportError, RuntimeError) as error:
        return str(error).splitlines()[0]


def with_spark(session: SparkSession, files: str, kind: str) -> Values:
    """Read Parquet, since Spark does not read DuckDB files, and take the one area that has the same
    definition, without bins.
    """
    from pyspark.ml.evaluation import BinaryClassificationEvaluator  # noqa: PLC0415

    columns = {
        "labelCol": "label",
        "rawPredictionCol": "score",
        **({} if kind == "unweighted" else {"weightCol": "weight"}),
    }
    evaluator = BinaryClassificationEvaluator(metricName="areaUnderROC", numBins=0, **columns)
    return {"AUC": float(evaluator.evaluate(session.read.parquet(files)))}
