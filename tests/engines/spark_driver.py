"""Evaluate on a Spark cluster, in a process of its own: a session belongs to its process, and its
log to its stderr.

Reads ``{"master": ..., "tables": {name: path}, "calls": [[function, metrics, options], ...]}`` from stdin,
and the statement to run before the calls, if any; prints the rows of each call, and how many
executors there were, as JSON.
"""

import json
import sys

from pyspark.sql import SparkSession

import sqlrank
from tests.engines.engines import SHORT_LIVED

OPTIONS = {
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.executor.extraJavaOptions": SHORT_LIVED,
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
}


def main() -> None:
    given = json.load(sys.stdin)
    session = SparkSession.builder.master(given["master"]).config(map=OPTIONS).getOrCreate()
    try:
        for name, path in given["tables"].items():
            session.read.parquet(path).createOrReplaceTempView(name)
        if "statement" in given:
            session.sql(given["statement"]).collect()
        rows = [
            getattr(sqlrank, function)(metrics, connection=session, **options).to_pylist()
            for function, metrics, options in given["calls"]
        ]
        # One is the driver
        executors = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1  # noqa: SLF001
    finally:
        session.stop()
    sys.stdout.write(json.dumps({"rows": rows, "executors": executors}))


if __name__ == "__main__":
    main()
