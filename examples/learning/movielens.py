"""Learning to rank at the top on MovieLens-100K, as Hiranandani et al. (ICML 2020) did. It needs
NumPy.

The ratings are not part of this repository. The wheel of recbole carries them:

    pip download recbole==1.2.1 --no-deps
    python examples/learning/movielens.py recbole-1.2.1-py3-none-any.whl

The first 20 ratings of each user are factorised into 30 factors that are not negative; the features
of the other ratings are the factors of the user, those of the item and their products,
standardised, and 5 stars make a positive. A scorer is trained on 60 % of them by each method, with
equal steps and penalties, and micro-pAp@k is given on 20 %: the mean over users with k negatives
there, and its gain over random scorers. greedy-pAp@k merges logistic regressions on fifths of the
training ratings by their pAp@k on the other 20 %.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import csv

import sqlrank
from sqlrank.learn import fit, merge_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

INSIDE = "recbole/dataset_example/ml-100k/ml-100k.inter"
METHODS = {
    "GD-pAp@k-avg": "avg",
    "GD-pAp@k-max": "max",
    "GD-pAp@k-TS": "ts",
    "GD-pAp@k-TS, code": "ts_reference",
    "SVM-pAUC": "pauc",
    "SGD@k-avg": "precision",
    "SGD@k-avg, code": "precision_reference",
}
BASES = {"logistic regression": (), "greedy-pAp@k": "fold"}
"""Columns that identify the logistic regressions of a method, which merges several."""
RANDOM_SCORERS = 10
FOLDS = 5

RATINGS = """
    SELECT user_id, item_id, rating, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY timestamp, item_id) AS place
    FROM ratings
"""  # noqa: E501
EXAMPLES = """
    SELECT
      p.user_id,
      CASE WHEN p.rating >= 5 THEN 1 ELSE 0 END AS label,
      LIST_CONCAT(u.factors, i.factors, [a * i.factors[n] FOR a, n IN u.factors]) AS features,
      HASH(p.user_id, p.item_id, $seed) % 10 AS part,
      HASH(p.item_id, p.user_id, $seed) % $folds AS fold
    FROM placed AS p
    JOIN users AS u ON u.user_id = p.user_id
    JOIN items AS i ON i.item_id = p.item_id
    WHERE p.place > 20
    QUALIFY COUNT(*) OVER (PARTITION BY p.user_id) >= 20
"""
SCALED = """
    SELECT
      e.user_id, e.label, e.part, e.fold,
      LIST_APPEND([(x - r.mean[n]) / r.deviation[n] FOR x, n IN e.features], 1) AS features
    FROM examples AS e
    CROSS JOIN (
      SELECT LIST(mean ORDER BY n) AS mean, LIST(CASE WHEN deviation > 0 THEN deviation ELSE 1 END ORDER BY n) AS deviation
      FROM (
        SELECT n, AVG(x) AS mean, STDDEV_POP(x) AS deviation
        FROM (SELECT UNNEST(features) AS x, GENERATE_SUBSCRIPTS(features, 1) AS n FROM examples WHERE part < 6) AS numbers
        GROUP BY n
      ) AS moments
    ) AS r
"""  # noqa: E501


def read_ratings(path: Path) -> pa.Table:
    """Read the ratings from the wheel of recbole, or from ml-100k.inter."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel, wheel.open(INSIDE) as file:
            table = csv.read_csv(file, parse_options=csv.ParseOptions(delimiter="\t"))
    else:
        table = csv.read_csv(path, parse_options=csv.ParseOptions(delimiter="\t"))
    return table.rename_columns(["user_id", "item_id", "rating", "timestamp"])


def factorize_ratings(
    training_ratings: pa.Table, options: argparse.Namespace
) -> tuple[pa.Table, pa.Table]:
    """Factorise the known ratings by multiplicative updates (Lee and Seung 2001), of these alone or
    with 0 for all others.
    """
    users, row = np.unique(np.array(training_ratings["user_id"]), return_inverse=True)
    items, column = np.unique(np.array(training_ratings["item_id"]), return_inverse=True)
    rated = np.zeros((len(users), len(items)))
    rated[row, column] = np.array(training_ratings["rating"])
    counts = (rated > 0) | options.zeros
    rng = np.random.default_rng(options.seed)
    left, right = (
        rng.random((len(users), options.factors)),
        rng.random((options.factors, len(items))),
    )
    for _ in range(options.rounds):
        left *= (rated @ right.T) / (np.where(counts, left @ right, 0) @ right.T + 1e-9)
        right *= (left.T @ rated) / (left.T @ np.where(counts, left @ right, 0) + 1e-9)
    return pa.table({"user_id": users, "factors": left.tolist()}), pa.table(
        {"item_id": items, "factors": right.T.tolist()}
    )


def create_tables(database: duckdb.DuckDBPyConnection, options: argparse.Namespace) -> None:
    """Make the tables ``training``, ``held_out`` and ``test``: user_id, label, features, fold."""
    database.register("ratings", read_ratings(options.path))
    database.execute(f"CREATE TABLE placed AS {RATINGS}")
    training_ratings = database.sql(
        "SELECT * FROM placed WHERE place <= 20 ORDER BY user_id, item_id"
    ).to_arrow_table()
    for name, table in zip(
        ("users", "items"), factorize_ratings(training_ratings, options), strict=True
    ):
        database.register(name, table)
    database.execute(f"CREATE TABLE examples AS {EXAMPLES}", {"seed": options.seed, "folds": FOLDS})
    database.execute(f"CREATE TABLE scaled AS {SCALED}")
    database.execute("CREATE TABLE training AS SELECT * FROM scaled WHERE part < 6")
    database.execute("CREATE TABLE held_out AS SELECT * FROM scaled WHERE part IN (6, 7)")
    database.execute("CREATE TABLE test AS SELECT * FROM scaled WHERE part >= 8")


def train_models(
    database: duckdb.DuckDBPyConnection, method: str, options: argparse.Namespace
) -> Iterator[pa.Table]:
    """Yield the weights of a method for each k; logistic regression has no k, and is trained
    once.
    """
    steps = {"learning_rate": options.learning_rate, "l2": options.l2, "max_iter": options.max_iter}
    common: dict[str, Any] = {"columns": {"query_id": "user_id"}, "connection": database}
    if method in METHODS:
        for k in options.k:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a star shows these models
                yield fit(
                    "training",
                    k=k,
                    surrogate=METHODS[method],
                    few_negatives="skip",
                    **steps,
                    **common,
                )
        return
    bases = fit("training", surrogate="logistic", by=BASES[method], **steps, **common)
    for k in options.k:
        yield merge_weights(bases, "held_out", k=k, **common) if BASES[method] else bases


def is_better_than_zero(weights: pa.Table) -> bool:
    """Return True if the least loss of a model is below that of zero weights, or it is merged of
    others and has no loss.
    """
    losses = json.loads(weights.schema.metadata.get(b"sqlrank.losses", b"[]"))
    return all(loss["loss"] < loss["loss_of_zero_weights"] for loss in losses)


def evaluate_weights(database: duckdb.DuckDBPyConnection, k: int, weights: list[float]) -> float:
    """Return micro-pAp@k on the test ratings."""
    database.execute("CREATE OR REPLACE TABLE learned AS SELECT ? AS weights", [weights])
    scored = database.sql(
        "SELECT user_id AS query_id, label, LIST_DOT_PRODUCT(features, weights) AS score FROM test"
        " CROSS JOIN learned"
    )
    return float(
        sqlrank.evaluate(f"micro-pAp@{k}", predictions=scored, connection=database)
        .column(0)[0]
        .as_py()
    )


def print_methods(
    database: duckdb.DuckDBPyConnection, options: argparse.Namespace
) -> dict[str, list[float]]:
    """Print micro-pAp@k of every method for every k, and the gain over random scorers; return the
    gains in percent.
    """
    rng = np.random.default_rng(options.seed)
    drawn = rng.normal(size=(RANDOM_SCORERS, 3 * options.factors + 1)).tolist()
    baseline = {
        k: float(np.mean([evaluate_weights(database, k, weights) for weights in drawn]))
        for k in options.k
    }
    print(f"{'micro-pAp@k':20}" + "".join(f"{f'k={k}':>9}{'gain':>9}" for k in options.k))
    print(
        f"{'random scorers':20}" + "".join(f"{baseline[k]:9.4f}{'':9}" for k in options.k).rstrip(),
        flush=True,
    )
    gains: dict[str, list[float]] = {}
    for method in (*METHODS, *BASES):
        print(f"{method:20}", end="", flush=True)
        gains[method] = []
        for k, weights in zip(options.k, train_models(database, method, options), strict=True):
            value = evaluate_weights(database, k, weights["weight"].to_pylist())
            gains[method].append(100 * (value / baseline[k] - 1))
            print(
                f"{value:9.4f}{'' if is_better_than_zero(weights) else '*':1}{gains[method][-1]:+7.1f}%",  # noqa: E501
                end="",
                flush=True,
            )
        print()
    print("* zero weights have less loss: k is too small for these features")
    return gains


def main(arguments: list[str]) -> None:
    """Print the sizes of the data, and micro-pAp@k of every method."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "path", type=Path, help="the wheel of recbole 1.2.1, or ml-100k.inter out of it"
    )
    parser.add_argument("-k", type=int, nargs="+", default=[8, 12, 16, 20, 24], metavar="K")
    parser.add_argument("--factors", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=300, help="of the factorisation")
    parser.add_argument(
        "--zeros",
        action="store_true",
        help="factorise with 0 for ratings that are not known, so that popular items show",
    )
    parser.add_argument("--max-iter", type=int, default=60, help="steps of the descent")
    parser.add_argument("--learning-rate", type=float, default=0.5)
    parser.add_argument("--l2", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with duckdb.connect() as database:
        create_tables(database, options)
        sizes = [
            database.sql(
                f"SELECT COUNT(*), COUNT(DISTINCT user_id), AVG(label) FROM {name}"
            ).fetchall()[0]
            for name in ("training", "test")
        ]
        for name, (rows, users, share) in zip(("training", "test"), sizes, strict=True):
            print(f"{name}: {rows} ratings of {users} users, {share:.1%} positive")
        print_methods(database, options)


if __name__ == "__main__":
    main(sys.argv[1:])
