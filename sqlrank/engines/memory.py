"""Tables in memory: what speaks the Arrow stream protocol, Polars LazyFrames, and maps as ranx and pytrec_eval take them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import pyarrow as pa

from sqlrank.errors import InputError

VALUES = {"run": "score", "qrels": "relevance", "baseline": "score"}
"""What the numbers of a map are, by role."""


def in_memory(role: str, source: Any) -> pa.Table:
    """Return an Arrow table; raise ``InputError`` for what is none.

    A map holds a map from documents to numbers for each query: ``{"q1": {"d1": 1.2}}``.
    """
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    if isinstance(source, Mapping) and role in VALUES:
        return _of_map(role, source)
    kind = type(source)
    if kind.__name__ == "LazyFrame" and kind.__module__.partition(".")[0] == "polars":
        return pa.table(source.collect())
    lazily = "collect it into a table first, or " if hasattr(source, "collect") else ""
    raise InputError(
        f"{role}: cannot read a {kind.__name__}; {lazily}give a table name, a file, a DuckDB relation, "
        "or a table that speaks the Arrow stream protocol (pyarrow, Polars, pandas 2.2 or later)"
    )


def _of_map(role: str, source: Mapping[Any, Any]) -> pa.Table:
    """Return a row per document of each query; a query without documents has none."""
    rows = [(query, doc, value) for query, docs in source.items() for doc, value in _documents(role, query, docs).items()]
    columns: dict[str, Any] = {"query_id": [row[0] for row in rows], "doc_id": [row[1] for row in rows]}
    if not rows:
        columns = {name: pa.array([], pa.string()) for name in columns}
    columns[VALUES[role]] = pa.array([float(row[2]) for row in rows], pa.float64())
    try:
        return pa.table(columns)
    except pa.ArrowException:
        raise InputError(
            f"{role}: the queries or documents of this dict are of different types; make them all texts, or all numbers"
        ) from None


def _documents(role: str, query: Any, docs: Any) -> Mapping[Any, Any]:
    if not isinstance(docs, Mapping) or not all(isinstance(value, Real) and not math.isnan(value) for value in docs.values()):
        raise InputError(
            f"{role}: cannot read a dict whose query {str(query)[:80]!r} has not a number for each document; "
            f"write {{query: {{document: {VALUES[role]}}}}}"
        )
    return docs
