"""Learning to rank at the top on MovieLens-100K, as Hiranandani et al. (ICML 2020) did. It needs NumPy.

The ratings are not part of this repository. The wheel of recbole carries them:

    pip download recbole==1.2.1 --no-deps
    python examples/learning/movielens.py recbole-1.2.1-py3-none-any.whl

The first 20 ratings of each user are factorised into 30 factors that are not negative; the features of the other ratings are the
factors of the user, those of the item and their products, and 5 stars make a positive. A scorer is trained on 60 % of them by each
method, with the paper's steps and penalties, and pAp@k is given on 20 %: the mean over users with k negatives there.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import csv

import sqlrank
from sqlrank.learn import fit

INSIDE = "recbole/dataset_example/ml-100k/ml-100k.inter"
METHODS = {
    "GD-pAp@k-avg": ("avg", 0.2, 0.1, 201),
    "GD-pAp@k-max": ("max", 0.2, 0.01, 121),
    "GD-pAp@k-TS": ("ts", 0.1, 0.01, 121),
    "GD-pAp@k-TS, code": ("ts_reference", 0.1, 0.01, 121),
    "SVM-pAUC": ("pauc", 0.2, 0.1, 201),
    "SGD@k-avg": ("precision", 0.1, 0.1, 121),
}
"""Surrogate, learning rate, penalty and number of steps. SGD@k-avg is a sum over k in the paper and a mean here, so that both scale with k."""

RATINGS = """
    SELECT user_id, item_id, rating, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY timestamp, item_id) AS place
    FROM ratings
"""
EXAMPLES = """
    SELECT
      p.user_id,
      CASE WHEN p.rating >= 5 THEN 1 ELSE 0 END AS label,
      LIST_CONCAT(u.factors, i.factors, [a * i.factors[n] FOR a, n IN u.factors]) AS features,
      HASH(p.user_id, p.item_id, $seed) % 10 AS part
    FROM placed AS p
    JOIN users AS u ON u.user_id = p.user_id
    JOIN items AS i ON i.item_id = p.item_id
    WHERE p.place > 20
    QUALIFY COUNT(*) OVER (PARTITION BY p.user_id) >= 20
"""
SCALED = """
    SELECT e.user_id, e.label, e.part, [(x - (r.low[n] + r.high[n]) / 2) / (r.high[n] - r.low[n]) FOR x, n IN e.features] AS features
    FROM examples AS e
    CROSS JOIN (
      SELECT LIST(low ORDER BY n) AS low, LIST(high ORDER BY n) AS high
      FROM (
        SELECT n, MIN(x) AS low, MAX(x) AS high
        FROM (SELECT UNNEST(features) AS x, GENERATE_SUBSCRIPTS(features, 1) AS n FROM examples WHERE part < 6) AS numbers
        GROUP BY n
      ) AS ranges
    ) AS r
"""


def ratings(path: Path) -> pa.Table:
    """Read the ratings from the wheel of recbole, or from ml-100k.inter."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel, wheel.open(INSIDE) as file:
            table = csv.read_csv(file, parse_options=csv.ParseOptions(delimiter="\t"))
    else:
        table = csv.read_csv(path, parse_options=csv.ParseOptions(delimiter="\t"))
    return table.rename_columns(["user_id", "item_id", "rating", "timestamp"])


def factors(known: pa.Table, rank: int, rounds: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """Factorise the known ratings by multiplicative updates (Lee and Seung 2001) of what is known."""
    users, row = np.unique(np.array(known["user_id"]), return_inverse=True)
    items, column = np.unique(np.array(known["item_id"]), return_inverse=True)
    rated = np.zeros((len(users), len(items)))
    rated[row, column] = np.array(known["rating"])
    is_known = rated > 0
    rng = np.random.default_rng(seed)
    left, right = rng.random((len(users), rank)), rng.random((rank, len(items)))
    for _ in range(rounds):
        left *= (rated @ right.T) / (np.where(is_known, left @ right, 0) @ right.T + 1e-9)
        right *= (left.T @ rated) / (left.T @ np.where(is_known, left @ right, 0) + 1e-9)
    return pa.table({"user_id": users, "factors": left.tolist()}), pa.table({"item_id": items, "factors": right.T.tolist()})


def prepare(database: duckdb.DuckDBPyConnection, options: argparse.Namespace) -> None:
    """Make the tables ``training`` and ``test``: user_id, label, features."""
    database.register("ratings", ratings(options.path))
    database.execute(f"CREATE TABLE placed AS {RATINGS}")
    known = database.sql("SELECT * FROM placed WHERE place <= 20 ORDER BY user_id, item_id").to_arrow_table()
    for name, table in zip(("users", "items"), factors(known, options.factors, options.rounds, options.seed), strict=True):
        database.register(name, table)
    database.execute(f"CREATE TABLE examples AS {EXAMPLES}", {"seed": options.seed})
    database.execute(f"CREATE TABLE scaled AS {SCALED}")
    database.execute("CREATE TABLE training AS SELECT * FROM scaled WHERE part < 6")
    database.execute("CREATE TABLE test AS SELECT * FROM scaled WHERE part >= 8")


def evaluate(database: duckdb.DuckDBPyConnection, k: int, method: str, options: argparse.Namespace) -> float:
    """Train by a method and return pAp@k on the test ratings."""
    surrogate, learning_rate, l2, max_iter = METHODS[method]
    scale = k if surrogate == "precision" else 1
    weights = fit(
        "training",
        k=k,
        surrogate=surrogate,
        learning_rate=learning_rate * scale,
        l2=l2 / scale,
        max_iter=options.max_iter or max_iter,
        few_negatives="skip",
        seed=options.seed,
        columns={"query_id": "user_id"},
        connection=database,
    )
    database.execute("CREATE OR REPLACE TABLE learned AS SELECT ? AS weights", [weights["weight"].to_pylist()])
    scored = database.sql("SELECT user_id AS query_id, label, LIST_DOT_PRODUCT(features, weights) AS score FROM test CROSS JOIN learned")
    found = sqlrank.evaluate(f"pAp(level=query, few_negatives=skip)@{k}", predictions=scored, connection=database)
    return float(found.column(0)[0].as_py())


def main(arguments: list[str]) -> None:
    """Print pAp@k of every method for every k."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path, help="the wheel of recbole 1.2.1, or ml-100k.inter out of it")
    parser.add_argument("-k", type=int, nargs="+", default=[8, 12, 16, 20, 24], metavar="K")
    parser.add_argument("--factors", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=300, help="of the factorisation")
    parser.add_argument("--max-iter", type=int, help="steps, instead of those of the paper")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with duckdb.connect() as database:
        prepare(database, options)
        sizes = [
            database.sql(f"SELECT COUNT(*), COUNT(DISTINCT user_id), AVG(label) FROM {name}").fetchall()[0] for name in ("training", "test")
        ]
        for name, (rows, users, share) in zip(("training", "test"), sizes, strict=True):
            print(f"{name}: {rows} ratings of {users} users, {share:.1%} positive")
        print(f"{'pAp@k':18}" + "".join(f"{f'k={k}':>9}" for k in options.k))
        for method in METHODS:
            print(f"{method:18}" + "".join(f"{evaluate(database, k, method, options):9.4f}" for k in options.k), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
