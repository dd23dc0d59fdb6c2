"""Learning to rank at the top on simulated data: two studies of Hiranandani et al. (ICML 2020). It needs NumPy.

The first has one user, whose positives and negatives are normally distributed about means that are one apart. A linear scorer
is trained by GD-pAp@k-avg, by SGD@k-avg (Kar et al. 2015) and by SVM-pAUC, in 300 trials, all in the same statements: a trial is
a model, ``by="trial"``. Precision at k is given on the data of the training and on new ones. The slides do not say how many
features there are, nor on which data they measure.

The second trains by each surrogate under four margin conditions, from the strongest to the weakest, and shows which of them
goes to 0.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pyarrow as pa

import sqlrank
from sqlrank.learn import fit

SETTINGS = ((10, 160, 20), (20, 160, 10))
METHODS = {"GD-pAp@k-avg": "avg", "SGD@k-avg": "precision", "SVM-pAUC": "pauc"}
CONDITIONS = ("strong", "moderate", "beta", "weak")
TRAINED = ("max", "ts", "avg")
TOP = 30
"""k of the study of margins."""


def drawn(rng: np.random.Generator, positives: int, negatives: int, trials: int, features: int) -> pa.Table:
    """Draw the examples of all trials; the means of the classes are one apart in the direction of the diagonal."""
    label = np.tile(np.repeat([1, 0], [positives, negatives]), trials)
    values = rng.normal(size=(len(label), features)) + label[:, None] / np.sqrt(features)
    trial = np.repeat(np.arange(trials), positives + negatives)
    return pa.table({"trial": trial, "row": np.arange(len(label)), "label": label, "features": values.tolist()})


def precisions(examples: pa.Table, weights: pa.Table, k: int) -> np.ndarray:
    """Return precision at k of each trial."""
    by_trial = np.array(weights["weight"]).reshape(-1, len(examples["features"][0]))
    values = np.array(examples["features"].combine_chunks().flatten()).reshape(examples.num_rows, -1)
    score = (values * by_trial[np.array(examples["trial"])]).sum(axis=1)
    columns = {"query_id": "trial", "doc_id": "row"}
    found = sqlrank.evaluate(f"P@{k}", predictions=examples.append_column("score", pa.array(score)), columns=columns, per_query=True)
    return np.array(found.sort_by("query_id")[f"P@{k}"])


def compare(options: argparse.Namespace) -> None:
    """Print precision at k of every method, and how often the first one is better or worse than the others."""
    print(f"precision at k, {options.trials} trials, means of the classes one apart, {options.features} features")
    print(f" n+  n-   k  {'method':14}{'training':>9}{'new':>9}    GD-pAp@k-avg on training / new data")
    for positives, negatives, k in SETTINGS:
        rng = np.random.default_rng(options.seed)
        data = [drawn(rng, positives, negatives, options.trials, options.features) for _ in range(2)]
        found = {}
        for method, kind in METHODS.items():
            weights = fit(
                data[0],
                k=k,
                surrogate=kind,
                by="trial",
                learning_rate=options.learning_rate,
                l2=options.l2,
                max_iter=options.max_iter,
                seed=options.seed,
            )
            found[method] = [precisions(examples, weights, k) for examples in data]
        first = found["GD-pAp@k-avg"]
        for method, values in found.items():
            means = "".join(f"{value.mean():9.4f}" for value in values)
            against = "" if method == "GD-pAp@k-avg" else " / ".join(map(record, first, values))
            print(f"{positives:3}{negatives:4}{k:4}  {method:14}{means}    {against}".rstrip())


def record(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Return wins, ties and losses."""
    return f"wins {(ours > theirs).sum()}, ties {(ours == theirs).sum()}, losses {(ours < theirs).sum()}"


def separated(condition: str, seed: int, features: int = 5, size: int = 250) -> pa.Table:
    """Draw two classes and keep what fulfils a condition along the line through their means, with a margin of 1."""
    rng = np.random.default_rng(seed)
    means = rng.normal([[0.0], [0.4]], np.sqrt(0.2), (2, features))
    positives, negatives = (rng.normal(size=(n, features)) + mean for n, mean in zip((size, 8 * size), means, strict=True))
    line = (means[0] - means[1]) / np.linalg.norm(means[0] - means[1])
    high, low = positives @ line, negatives @ line
    best = np.sort(high)[-TOP]
    if condition == "strong":
        middle = means.mean(axis=0) @ line
        positives, negatives = positives[high >= middle + 0.5], negatives[low <= middle - 0.5]
    elif condition == "beta":
        negatives = negatives[low <= high.mean() - 1]
    else:
        negatives = negatives[low <= best - 1]
        positives = positives[high >= low[low <= best - 1].max()] if condition == "moderate" else positives
    label = np.repeat([1, 0], [len(positives), len(negatives)])
    return pa.table({"label": label, "features": np.concatenate([positives, negatives]).tolist()})


def margins(options: argparse.Namespace) -> None:
    """Print what each surrogate comes down to under each condition; ramp is not trained by, but is looked at on the way."""
    print(f"\nleast value under four margin conditions, k = {TOP}")
    print("condition    n+    n-" + "".join(f"{kind:>8}" for kind in (*TRAINED, "ramp", "error")))
    for condition in CONDITIONS:
        examples = separated(condition, options.seed)
        label, values = np.array(examples["label"]), np.array(examples["features"].to_pylist())
        least = dict.fromkeys((*TRAINED, "ramp", "error"), np.inf)
        for kind in TRAINED:
            weights = fit(examples, k=TOP, surrogate=kind, learning_rate=3, l2=0.001, max_iter=options.max_iter)
            scored = pa.table({"label": label, "score": values @ np.array(weights["weight"])})
            metrics = {
                kind: f"pApSurrogate(surrogate={kind})@{TOP}",
                "ramp": f"pApSurrogate(surrogate=ramp)@{TOP}",
                "error": f"pAp(tie_credit=0)@{TOP}",
            }
            got = dict(zip(metrics, sqlrank.evaluate(list(metrics.values()), predictions=scored).to_pylist()[0].values(), strict=True))
            got["error"] = 1 - got["error"]
            least |= {name: min(least[name], value) for name, value in got.items()}
        print(f"{condition:9}{label.sum():6}{(1 - label).sum():6}" + "".join(f"{value:8.4f}" for value in least.values()))


def main(arguments: list[str]) -> None:
    """Print both studies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--features", type=int, default=5)
    parser.add_argument("--max-iter", type=int, default=150)
    parser.add_argument("--learning-rate", type=float, default=0.5)
    parser.add_argument("--l2", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1, help="of the data, and of the weights to start from")
    options = parser.parse_args(arguments)
    compare(options)
    margins(options)


if __name__ == "__main__":
    main(sys.argv[1:])
