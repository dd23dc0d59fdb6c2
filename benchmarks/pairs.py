"""Time metrics of pairs beside scipy a list at a time, RecTools, and the SQL that joins every list
with itself.

python benchmarks/pairs.py --rows 1000000
"""

from __future__ import annotations

from functools import partial

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
from rectools import Columns
from rectools.metrics import PAP
from scipy import stats
from timing import (
    Sides,
    Target,
    Values,
    divide_medians,
    parse_options,
    print_introduction,
    print_targets,
    time_sides,
)

import sqlrank

LENGTHS = (10, 30, 100, 1_000, 10_000, 100_000, 1_000_000)
LONGEST_JOIN = 1_000
"""The join of lists of 10,000 takes minutes for a million rows."""

JOIN = """
SELECT AVG((c - d) / SQRT((c + d + t) * (c + d + u))) FROM (
    SELECT a.list_id,
        SUM(CASE WHEN a.score < b.score AND a.label < b.label THEN 1 ELSE 0 END)::DOUBLE AS c,
        SUM(CASE WHEN a.score < b.score AND a.label > b.label THEN 1 ELSE 0 END)::DOUBLE AS d,
        SUM(CASE WHEN a.score = b.score AND a.label < b.label THEN 1 ELSE 0 END)::DOUBLE AS t,
        SUM(CASE WHEN a.score < b.score AND a.label = b.label THEN 1 ELSE 0 END)::DOUBLE AS u
    FROM predictions AS a JOIN predictions AS b ON b.list_id = a.list_id GROUP BY a.list_id
)
"""


def draw_predictions(rows: int, length: int) -> pa.Table:
    """Return lists of one length in random order.

    Scores and labels have a million distinct values, so some are tied.
    """
    rng = np.random.default_rng(length)
    lists = max(1, rows // length)
    list_id = rng.permutation(np.repeat(np.arange(lists), length))
    label = rng.integers(0, 1_000_000, lists * length) / 1_000_000
    score = np.round(label + rng.random(lists * length) / 2, 6)
    return pa.table({"list_id": list_id, "query_id": list_id, "label": label, "score": score})


def store_predictions(source: pa.Table, threads: int) -> duckdb.DuckDBPyConnection:
    """Return a connection to a database with a table of predictions."""
    connection = duckdb.connect(config={"threads": threads})
    connection.register("given", source)
    connection.execute("CREATE TABLE predictions AS SELECT * FROM given")
    return connection


def average_metric(metric: str, connection: duckdb.DuckDBPyConnection, **arguments: str) -> Values:
    (row,) = sqlrank.evaluate(
        metric, predictions="predictions", connection=connection, level="query", **arguments
    ).to_pylist()
    return {"mean": next(iter(row.values()))}


def join_pairs(connection: duckdb.DuckDBPyConnection) -> Values:
    ((value,),) = connection.execute(JOIN).fetchall()
    return {"mean": value}


def evaluate_by_scipy(connection: duckdb.DuckDBPyConnection, length: int) -> Values:
    """Fetch and sort the rows into lists, then call scipy for each."""
    columns = connection.execute(
        "SELECT label, score FROM predictions ORDER BY list_id"
    ).fetchnumpy()
    lists = zip(
        columns["label"].reshape(-1, length), columns["score"].reshape(-1, length), strict=True
    )
    return {
        "mean": float(np.mean([stats.kendalltau(label, score).statistic for label, score in lists]))
    }


def time_correlation(rows: int, threads: int, repeat: int) -> list[Target]:
    """Kendall's tau-b of lists of 10 to a million, as many lists as make up the rows."""
    targets = []
    for length in LENGTHS:
        connection = store_predictions(draw_predictions(rows, length), threads)
        sides: Sides = {
            "sqlrank": partial(average_metric, "KendallTau", connection),
            "sqlrank, bits": partial(
                average_metric, "KendallTau", connection, plan={"pair_counting": "bits"}
            ),
            "scipy, a list at a time": partial(evaluate_by_scipy, connection, length),
        }
        if length <= LONGEST_JOIN:
            sides["join of each list with itself"] = partial(join_pairs, connection)
        once = {
            "scipy, a list at a time": length < LONGEST_JOIN,
            "sqlrank, bits": length > LONGEST_JOIN,
            "join of each list with itself": length >= LONGEST_JOIN // 10,
        }
        timings = time_sides(
            f"KendallTau, {max(1, rows // length):,} lists of {length:,}",
            sides,
            repeat,
            once=tuple(name for name, is_slow in once.items() if is_slow),
        )
        join = "join of each list with itself"
        if join in timings:
            ratio = divide_medians(timings, "sqlrank", join)
            targets.append(Target(f"lists of {length:,} / {join}", ratio, at_most=1))
    return targets


def time_growth(rows: int, threads: int, repeat: int) -> list[Target]:
    """One list of all rows and one of a tenth of them."""
    seconds = {}
    for weighted in (False, True):
        for length in (rows // 10, rows):
            source = draw_predictions(length, length)
            if weighted:
                source = source.append_column("weight", pa.array(np.full(length, 0.5)))
            connection = store_predictions(source, threads)
            timings = time_sides(
                f"KendallTau, one list of {length:,}{', weighted' if weighted else ''}",
                {"sqlrank": partial(average_metric, "KendallTau", connection)},
                1 if weighted else repeat,
            )
            seconds[weighted, length] = timings["sqlrank"].median
    return [
        Target(
            f"{rows:,} / a tenth of them{', weighted' if weighted else ''}",
            seconds[weighted, rows] / seconds[weighted, rows // 10],
            at_most=15,
        )
        for weighted in (False, True)
    ]


def evaluate_by_rectools(reco: pd.DataFrame, interactions: pd.DataFrame) -> Values:
    return {"mean": float(PAP(k=10).calc(reco, interactions))}


def time_positives(rows: int, threads: int, repeat: int) -> list[Target]:
    """pAp@10 of users with 100 recommendations each, of which one in ten is right."""
    rng = np.random.default_rng(1)
    users = rows // 100
    reco = pd.DataFrame(
        {
            Columns.User: np.repeat(np.arange(users), 100),
            Columns.Item: np.tile(np.arange(100), users),
        }
    )
    reco[Columns.Rank] = np.concatenate([rng.permutation(100) + 1 for _ in range(users)])
    label = (rng.random(len(reco)) < 0.1).astype(int)
    interactions = reco[label == 1][[Columns.User, Columns.Item]]
    source = {"query_id": reco[Columns.User], "score": -reco[Columns.Rank], "label": label}
    connection = store_predictions(pa.table(source), threads)
    sides: Sides = {
        "sqlrank": partial(average_metric, "pAp@10", connection, few_negatives="pad"),
        "RecTools": partial(evaluate_by_rectools, reco, interactions),
    }
    timings = time_sides(f"pAp@10, {users:,} users of 100", sides, repeat)
    ratio = divide_medians(timings, "RecTools", "sqlrank")
    return [Target("RecTools / sqlrank, pAp@10", ratio, at_least=1)]


SECTIONS = {"lists": time_correlation, "growth": time_growth, "positives": time_positives}


def main() -> None:
    options = parse_options(__doc__, SECTIONS, rows=1_000_000, threads=2)
    print_introduction(options.threads, ["duckdb", "scipy", "rectools", "numpy"])
    print_targets(
        target
        for name in options.only
        for target in SECTIONS[name](options.rows, options.threads, options.repeat)
    )


if __name__ == "__main__":
    main()
