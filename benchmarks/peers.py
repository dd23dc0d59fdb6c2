"""Peers of ranking metrics: other tools with the same five metrics, and a bare ROW_NUMBER.

Each tool reads the same Parquet files and returns five means over the judged queries; it is
imported when it is measured.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import duckdb
import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from data import Dataset

Means = dict[str, float]

FIVE = ["nDCG@10", "AP", "RR", "P@10", "R@100"]
TWO = ["nDCG@10", "P@10"]
AT_TEN = ["nDCG@10", "P@10", "R@10", "AP@10", "RR@10"]
FORTY = [
    *(
        "nDCG",
        "nDCG@5",
        "nDCG@10",
        "nDCG@20",
        "nDCG@100",
        "nDCG(discount=zipf)@10",
        "DCG@10",
        "CG@10",
        "MDCG@10",
        "RBP",
        "RBP(p=0.95)",
    ),
    *(
        "AP",
        "AP@10",
        "AP@100",
        "AP(denominator=min_rk)@10",
        "AR@10",
        "RR",
        "RR@10",
        "P@1",
        "P@5",
        "P@10",
        "P@20",
        "P@100",
        "Rprec",
    ),
    *(
        "R@5",
        "R@10",
        "R@20",
        "R@100",
        "Success@1",
        "Success@5",
        "Success@10",
        "F@10",
        "RHR@10",
        "binG",
        "11pt",
        "IPrec@0.1",
        "IPrec@0.5",
    ),
    *("ERR@10", "ERR@20", "PFound@10"),
]
CUT_OFFS = [
    *(
        f"{metric}@{k}"
        for metric in ("nDCG", "AP", "P", "R", "RR", "Success")
        for k in (1, 3, 5, 10, 20, 100)
    ),
    "nDCG",
    "AP",
    "RR",
    "Rprec",
]
BARE = "row_number"
_PYTREC_EVAL = ["ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100"]
_RANX = ["ndcg@10", "map", "mrr", "precision@10", "recall@100"]


def row_number(
    source: str, threads: int, connection: duckdb.DuckDBPyConnection | None = None, by: str = ""
) -> Means:
    """Rank all rows of a table, or of Parquet files if there is no connection, and nothing else;
    return the greatest rank.
    """
    if connection is None:
        with open_connection(threads) as own:
            return row_number(f"read_parquet('{source}')", threads, own, by)
    query = (
        f"SELECT ROW_NUMBER() OVER (PARTITION BY {by}query_id ORDER BY score DESC, doc_id DESC) AS"
        f" rank FROM {source}"
    )
    return {BARE: float(connection.execute(f"SELECT MAX(rank) FROM ({query})").fetchall()[0][0])}


@contextmanager
def open_connection(
    threads: int, database: str = ":memory:"
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection with the settings of sqlrank's own."""
    with duckdb.connect(database, read_only=database != ":memory:") as connection:
        connection.execute(
            f"SET threads = {threads}; SET preserve_insertion_order = false; SET"
            " enable_progress_bar = false"
        )
        yield connection


def with_pytrec_eval(dataset: Dataset) -> Means:
    """Read into dictionaries, evaluate; a judged query that was not answered counts as 0."""
    import pytrec_eval  # noqa: PLC0415

    with _no_garbage_collection():
        qrels = _build_dictionaries(dataset.qrels, "relevance")
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(_PYTREC_EVAL))
        values = evaluator.evaluate(_build_dictionaries(dataset.run, "score"))
        return {
            name: sum(query[theirs] for query in values.values()) / len(qrels)
            for name, theirs in zip(FIVE, _PYTREC_EVAL, strict=True)
        }


def with_ranx(dataset: Dataset, threads: int, own_reader: bool = False) -> Means:
    """Read into dictionaries and from those into ranx's own, or with its own reader, which takes
    data frames; evaluate.
    """
    import pandas as pd  # noqa: PLC0415
    import ranx  # noqa: PLC0415

    if own_reader:
        ids = ("query_id", "doc_id")
        judged = pd.read_parquet(_find_folder(dataset.qrels)).astype({"relevance": "int64"})
        qrels = ranx.Qrels.from_df(judged, *ids, "relevance")
        run = ranx.Run.from_df(pd.read_parquet(_find_folder(dataset.run)), *ids, "score")
    else:
        with _no_garbage_collection():
            qrels = ranx.Qrels(_build_dictionaries(dataset.qrels, "relevance"))
            run = ranx.Run(_build_dictionaries(dataset.run, "score"))
    values = ranx.evaluate(qrels, run, _RANX, threads=threads, make_comparable=True)
    return {name: float(values[theirs]) for name, theirs in zip(FIVE, _RANX, strict=True)}


def with_polars(
    dataset: Dataset, engine: Literal["streaming", "in-memory"], one_sort: bool = False
) -> Means:
    """Sort all rows or each list, join the relevant documents with their ranks, one aggregation for
    all metrics.
    """
    import polars as pl  # noqa: PLC0415

    run, qrels = pl.scan_parquet(dataset.run), pl.scan_parquet(dataset.qrels)
    ranks = pl.int_range(1, pl.len() + 1)
    if one_sort:
        ranked = run.sort(
            "query_id", "score", "doc_id", descending=[False, True, True]
        ).with_columns(rank=ranks.over("query_id"))
    else:
        ordered = pl.col("doc_id").sort_by("score", "doc_id", descending=True)
        ranked = run.group_by("query_id").agg(ordered, rank=ranks).explode("doc_id", "rank")
    relevant = qrels.filter(pl.col("relevance") > 0).join(
        ranked, on=["query_id", "doc_id"], how="left"
    )
    sums = relevant.group_by("query_id").agg(**_polars_metrics()).select(pl.col(FIVE).sum())
    judged = qrels.select(queries=pl.col("query_id").n_unique())
    means = sums.join(judged, how="cross").select(pl.col(FIVE) / pl.col("queries"))
    return dict(means.collect(engine=engine).row(0, named=True))


def with_polars_first(
    dataset: Dataset, engine: Literal["streaming", "in-memory"], by_score: bool = False
) -> Means:
    """Keep the first ten documents of each list: of those sorted, or of those whose score is among
    the ten greatest; two metrics.
    """
    import polars as pl  # noqa: PLC0415

    run, qrels = pl.scan_parquet(dataset.run), pl.scan_parquet(dataset.qrels)
    if by_score:
        least = run.group_by("query_id").agg(least=pl.col("score").top_k(10).min())
        run = run.join(least, on="query_id").filter(pl.col("score") >= pl.col("least"))
    ordered = pl.col("doc_id").sort_by("score", "doc_id", descending=True).head(10)
    ranked = (
        run.group_by("query_id")
        .agg(ordered, rank=pl.int_range(1, pl.len() + 1).head(10))
        .explode("doc_id", "rank")
    )
    relevant = qrels.filter(pl.col("relevance") > 0).join(
        ranked, on=["query_id", "doc_id"], how="left"
    )
    metrics = {name: expression for name, expression in _polars_metrics().items() if name in TWO}
    sums = relevant.group_by("query_id").agg(**metrics).select(pl.col(TWO).sum())
    judged = qrels.select(queries=pl.col("query_id").n_unique())
    return dict(
        sums.join(judged, how="cross")
        .select(pl.col(TWO) / pl.col("queries"))
        .collect(engine=engine)
        .row(0, named=True)
    )


def _polars_metrics() -> dict[str, pl.Expr]:
    """Return the metrics of one query over its relevant documents; rank is NULL for those not
    retrieved.
    """
    import polars as pl  # noqa: PLC0415

    rank, grade, relevant_ranks = pl.col("rank"), pl.col("relevance"), pl.col("rank").drop_nulls()
    ideal = grade.sort(descending=True).head(10)
    ranks = pl.int_range(1, pl.len() + 1).head(10)
    return {
        "nDCG@10": (
            (grade / (rank + 1).log(2)).filter(rank <= 10).sum()
            / (ideal / (ranks + 1).log(2)).sum()
        ),
        "AP": (relevant_ranks.rank("ordinal") / relevant_ranks).sum() / pl.len(),
        "RR": (1 / rank.min()).fill_null(0),
        "P@10": (rank <= 10).sum() / 10,
        "R@100": (rank <= 100).sum() / pl.len(),
    }


def _find_folder(files: str) -> str:
    """Return the folder of a glob, which is what pandas and pyarrow read."""
    return files.removesuffix("/*.parquet")


def _build_dictionaries(files: str, value: str) -> dict[str, dict[str, Any]]:
    """Return ``{query: {document: value}}``; whole lists at a time are twice as fast as row by
    row.
    """
    table = pq.read_table(_find_folder(files))
    queries = pc.dictionary_encode(table["query_id"]).combine_chunks()
    codes = queries.indices.to_numpy()
    if (np.diff(codes) < 0).any():
        order = np.argsort(codes, kind="stable")
        table, codes = table.take(order), codes[order]
    docs, values = table["doc_id"].to_pylist(), table[value].to_numpy().tolist()
    starts = np.flatnonzero(np.diff(codes, prepend=-1)).tolist()
    stops = [*starts[1:], len(docs)]
    names = queries.dictionary.to_pylist()
    return {
        name: dict(zip(docs[start:end], values[start:end], strict=True))
        for name, start, end in zip(names, starts, stops, strict=True)
    }


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Millions of objects that all stay alive are looked through in vain."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
