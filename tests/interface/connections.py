"""Small tables, and an evaluation of them over a connection."""

from typing import Any

import pyarrow as pa

import sqlrank

RUN = pa.table(
    {
        "Query ID": [f"q{i // 6}" for i in range(48)],
        "doc_id": [f"d{i * 7 % 11}" for i in range(48)],
        "score": [(i * 13 % 5) / 2 for i in range(48)],
        "rank": [i % 6 + 1 for i in range(48)],
        "select": [f"s{i // 24}" for i in range(48)],
    }
)
QRELS = pa.table(
    {
        "Query ID": [f"q{i // 5}" for i in range(45)],
        "DOC_ID": [f"d{i * 5 % 11}" for i in range(45)],
        "relevance": [0 if i // 5 == 3 else i * 3 % 4 for i in range(45)],
    }
)


def evaluate_small(connection: Any, **call: Any) -> pa.Table:
    return sqlrank.evaluate(
        "AP", **({"run": "run", "qrels": "qrels", "connection": connection} | call)
    )


ONE_RUN = "SELECT 'q' AS query_id, 'd' AS doc_id, 0.5 AS score"
ONE_QRELS = "SELECT 'q' AS query_id, 'd' AS doc_id, 1 AS relevance"
