"""Run statements on a Spark cluster, in a process of its own: a session belongs to its process, and its log to its stderr.

Reads ``{"master": ..., "tables": {name: path}, "statements": [...]}`` from stdin; prints the rows of each statement, and
how many executors there were, as JSON.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession

OPTIONS = {
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
}


def main() -> None:
    given = json.load(sys.stdin)
    session = SparkSession.builder.master(given["master"]).config(map=OPTIONS).getOrCreate()
    try:
        for name, path in given["tables"].items():
            session.read.parquet(path).createOrReplaceTempView(name)
        rows = [[list(row) for row in session.sql(statement).collect()] for statement in given["statements"]]
        executors = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1  # noqa: SLF001  one is the driver
    finally:
        session.stop()
    sys.stdout.write(json.dumps({"rows": rows, "executors": executors}))


if __name__ == "__main__":
    main()
