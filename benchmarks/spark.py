"""Time the statements for Spark against Spark's own MLlib, in one session; README.md describes the
measurements.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from data import (
    FOLDER,
    SPIKE,
    UNIFORM,
    Dataset,
    Scores,
    make_dataset,
    make_predictions,
    predictions_as_parquet,
)
from pyspark import StorageLevel
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.mllib.common import callMLlibFunc
from pyspark.sql import SparkSession
from timing import (
    CORES,
    Sides,
    Target,
    Values,
    check_agreement,
    divide_medians,
    parse_options,
    peak_bytes,
    print_introduction,
    print_targets,
    print_timings,
    reset_peak,
    run_in_turn,
    time_sides,
)

import sqlrank

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame

OURS, EXACT, BINNED, MLLIB = "sqlrank", "MLlib, exact (numBins=0)", "MLlib, 1,000 bins", "MLlib"
CLASSIFIERS = ["AUC", "PRAUC"]
RANKERS = ["AP", "nDCG(gain=binary)@10", "P@10"]
BINS_MAY_MISS = 1e-2
"""Maximum error of areas under curves of 1,000 points; the table shows the actual errors."""


def open_session(threads: int) -> SparkSession:
    """Return a session in this process, with as many partitions of a shuffle as suit so few
    threads.
    """
    options = {
        "spark.driver.memory": "8g",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(FOLDER / "spill"),
        "spark.sql.shuffle.partitions": str(4 * threads),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    session = SparkSession.builder.master(f"local[{threads}]").config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _time_side(spark: SparkSession, side: Callable[[], Values]) -> Callable[[], Values]:
    """Return a side that also says how long Spark, which is a process of its own, was on a
    processor, and its peak memory.
    """
    process = spark._jvm.java.lang.ProcessHandle.current()  # noqa: SLF001

    def read_processor_seconds() -> float:
        return float(process.info().totalCpuDuration().get().toMillis()) / 1000

    def run_side() -> Values:
        reset_peak(process.pid())
        before = read_processor_seconds()
        values = side()
        processor = read_processor_seconds() - before
        return {**values, "processor": processor, "peak": peak_bytes(process.pid())}

    return run_side


def evaluate_on_spark(spark: SparkSession, metrics: list[str], **options: Any) -> Values:
    """Run the statement that sqlrank writes for Spark."""
    (row,) = spark.sql(sqlrank.sql(metrics, dialect="spark", **options)).collect()
    return {name: float(value) for name, value in zip(metrics, row, strict=True)}


def with_binary_metrics(table: DataFrame, bins: int, kind: str) -> Values:
    """Take both areas from one object of MLlib, which keeps the counts per score that they
    share.
    """
    columns = {
        "labelCol": "label",
        "rawPredictionCol": "score",
        **({"weightCol": "weight"} if kind == "weighted" else {}),
    }
    evaluator = BinaryClassificationEvaluator(numBins=bins, **columns)
    evaluator._transfer_params_to_java()  # noqa: SLF001  the metrics can be had from Java only
    metrics = evaluator._java_obj.getMetrics(table._jdf)  # noqa: SLF001
    try:
        return {"AUC": float(metrics.areaUnderROC()), "PRAUC": float(metrics.areaUnderPR())}
    finally:
        metrics.unpersist()


def with_ranking_metrics(spark: SparkSession) -> Values:
    """Make an array of documents and one of relevant documents for each query, as MLlib wants them,
    and take three means.
    """
    lists = spark.sql("""
        SELECT ranked.documents, relevant.documents AS judged
        FROM (
            SELECT query_id, SORT_ARRAY(COLLECT_LIST(STRUCT(score, doc_id)), FALSE).doc_id AS documents
            FROM run
            GROUP BY query_id
        ) AS ranked
        JOIN (SELECT query_id, COLLECT_LIST(doc_id) AS documents FROM qrels WHERE relevance > 0 GROUP BY query_id) AS relevant
            ON relevant.query_id = ranked.query_id""").persist(StorageLevel.MEMORY_AND_DISK)  # noqa: E501
    try:
        metrics = callMLlibFunc("newRankingMetrics", lists._jdf)  # noqa: SLF001
        return {
            "AP": float(metrics.meanAveragePrecision()),
            "nDCG(gain=binary)@10": float(metrics.ndcgAt(10)),
            "P@10": float(metrics.precisionAt(10)),
        }
    finally:
        lists.unpersist()


def time_classification(spark: SparkSession, options: Namespace) -> Iterator[Target]:
    """Time two areas of the same predictions."""
    for scores in (UNIFORM, SPIKE):
        yield from _time_scores(spark, scores, options)


def _time_scores(spark: SparkSession, scores: Scores, options: Namespace) -> Iterator[Target]:
    table = spark.read.parquet(predictions_as_parquet(make_predictions(options.rows, scores)))
    table.createOrReplaceTempView("predictions")
    for kind in options.kinds:
        columns = {"weight": "weight"} if kind == "weighted" else {}
        sides: Sides = {
            OURS: _time_side(
                spark,
                partial(
                    evaluate_on_spark,
                    spark,
                    CLASSIFIERS,
                    predictions="predictions",
                    columns=columns,
                ),
            ),
            EXACT: _time_side(spark, partial(with_binary_metrics, table, 0, kind)),
            BINNED: _time_side(spark, partial(with_binary_metrics, table, 1000, kind)),
        }
        timings = run_in_turn(
            sides,
            options.repeat,
            () if options.repeat_peers or scores is SPIKE else (EXACT, BINNED),
        )
        check_agreement({BINNED: BINS_MAY_MISS}, timings)
        exact = timings[OURS].values
        off = {
            name: max(abs(timing.values[metric] - exact[metric]) for metric in CLASSIFIERS)
            for name, timing in timings.items()
        }
        title = f"AUC and AUPR, {options.rows:,} rows, {scores.name}, {kind}"
        print_timings(
            title, timings, OURS, {name: f"{value:.1e}" for name, value in off.items()}, "off by"
        )
        for name in (EXACT, BINNED):
            ratio = divide_medians(timings, name, OURS)
            yield Target(f"{title}; {name} over {OURS}", ratio, at_least=1)


def time_ranking(spark: SparkSession, options: Namespace) -> Iterator[Target]:
    """Time three metrics of the same lists."""
    files: Dataset = make_dataset(options.rows, "int", "clustered")
    spark.read.parquet(files.run).createOrReplaceTempView("run")
    spark.read.parquet(files.qrels).createOrReplaceTempView("qrels")
    sides: Sides = {
        OURS: _time_side(
            spark,
            partial(
                evaluate_on_spark,
                spark,
                RANKERS,
                run="run",
                qrels="qrels",
                topics="judged_and_retrieved",
                if_undefined="skip",
            ),
        ),
        MLLIB: _time_side(spark, partial(with_ranking_metrics, spark)),
    }
    title = f"MAP, nDCG@10 and P@10, {options.rows:,} rows"
    timings = time_sides(title, sides, options.repeat)
    yield Target(f"{title}; {MLLIB} over {OURS}", divide_medians(timings, MLLIB, OURS), at_least=1)


SECTIONS: dict[str, Callable[[SparkSession, Namespace], Iterator[Target]]] = {
    "classification": time_classification,
    "ranking": time_ranking,
}


def main() -> None:
    options = parse_options(
        __doc__,
        SECTIONS,
        rows=(20_000_000, "rows of predictions, and of the run"),
        repeat_peers=(
            False,
            "run MLlib on distinct scores as often, too, which takes minutes each time",
        ),
        threads=(CORES, "threads of the session"),
        kinds=(["unweighted", "weighted"], "weights or none"),
    )
    print_introduction(options.threads, ("pyspark", "duckdb"))
    spark = open_session(options.threads)
    try:
        print_targets(target for name in options.only for target in SECTIONS[name](spark, options))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
