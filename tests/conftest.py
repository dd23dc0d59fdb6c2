"""Small data that several test modules share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run() -> pa.Table:
    """Two lists; with ``qrels``, RR is 1/2 and 1, so 0.75 on the mean, and P@1 is 0.5."""
    return pa.table({"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "score": [0.9, 0.5, 1.0]})


@pytest.fixture
def qrels() -> pa.Table:
    return pa.table({"query_id": ["q1", "q2"], "doc_id": ["b", "a"], "relevance": [1, 2]})


@pytest.fixture
def files(tmp_path: Path, run: pa.Table, qrels: pa.Table) -> Path:
    """A folder with the run and the qrels as Parquet, CSV and TREC files."""
    for name, table in (("run", run), ("qrels", qrels)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
        pa.csv.write_csv(table, tmp_path / f"{name}.csv")
    (tmp_path / "run.trec").write_text("q1 Q0 a 1 0.9 tag\nq1 Q0 b 2 0.5 tag\nq2 Q0 a 1 1.0 tag\n")
    (tmp_path / "qrels.trec").write_text("q1 0 b 1\nq2 0 a 2\n")
    return tmp_path
