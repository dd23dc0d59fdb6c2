"""Learning to rank at the top on simulated data: two studies of Hiranandani et al. (ICML 2020). It
needs NumPy.

The first has one user, with normally distributed features. Precision at k on the training data is
given for a linear scorer that is trained by GD-pAp@k-avg and by another method: SGD@k-avg where k
is above the number of positives, SVM-pAUC where it is below. All trials are trained in the same
statements: a trial is a model, ``by="trial"``, with random weights of its own to start from.

The slides do not give the number of features, the steps and the penalties. Here there are five
features, with means of the classes one apart in each, and scaled to their range. ``as published``
takes few steps, and penalties that differ between the methods: these are chosen so that the numbers
are near those of the slides. ``run to the end`` takes longer steps with equal penalties. The last
column counts the trials in which GD-pAp@k-avg has not found weights with less loss than zero
weights.

The second trains by each surrogate under four margin conditions, from the strongest to the weakest,
and shows which of them goes to 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import sqlrank
from sqlrank.learn import fit

FEATURES = 5
NEGATIVES = 160
OUTCOMES = ("better", "same", "worse")
CONDITIONS = ("strong", "moderate", "beta", "weak")
TRAINED = ("max", "ts", "avg")
TOP = 30
"""k of the study of margins."""


class Table(NamedTuple):
    """A table of the slides.

    Attributes:
        positives: Number of positives.
        further: How many of them are twice as far from the negatives.
        k: Number of predictions in the top.
        rival: The other method.
        published: Numbers of the slides: precision of the other method and of GD-pAp@k-avg, trials
            in which the latter is better, the same and worse, and AUC@k of both where it is the
            same.
    """

    positives: int
    further: int
    k: int
    rival: str
    published: str

    @property
    def title(self) -> str:
        """The data and the methods."""
        few = f", {self.further} of them twice as far" if self.further else ""
        return (
            f"{self.positives} positives{few}, {NEGATIVES} negatives, k = {self.k}: {self.rival}"
            " and GD-pAp@k-avg"
        )


TABLES = (
    Table(10, 0, 20, "SGD@k-avg", "0.20 0.14 0.27 0.13 207 88 5 0.59 0.34 0.68 0.34"),
    Table(20, 0, 10, "SVM-pAUC", "0.62 0.29 0.68 0.28 129 156 15 0.66 0.31 0.71 0.30"),
    Table(10, 10, 20, "SGD@k-avg", "0.45 0.10 0.49 0.02 108 192 0 0.93 0.07 0.98 0.02"),
    Table(20, 10, 10, "SVM-pAUC", "0.85 0.17 0.89 0.14 118 170 12 0.80 0.20 0.86 0.17"),
)
SURROGATES = {"GD-pAp@k-avg": "avg", "SGD@k-avg": "precision_reference", "SVM-pAUC": "pauc"}
SETTINGS = {
    "as published": {
        "GD-pAp@k-avg": (0.1, 0.1, 201),
        "SGD@k-avg": (0.008, 0.1, 121),
        "SVM-pAUC": (0.1, 0.01, 201),
    },
    "run to the end": {
        "GD-pAp@k-avg": (4, 0.01, 150),
        "SGD@k-avg": (0.2, 0.01, 150),
        "SVM-pAUC": (4, 0.01, 150),
    },
}
"""Learning rate, penalty and number of steps. SGD@k-avg is a sum over k in the paper and a mean
here, so that both scale with k.
"""


def draw_examples(rng: np.random.Generator, table: Table, trials: int, first: int) -> pa.Table:
    """Draw the examples of trials, numbered from the first; each feature is scaled to its range in
    the trial.
    """
    distance = np.repeat([2, 1, 0], [table.further, table.positives - table.further, NEGATIVES])
    values = rng.normal(size=(trials, len(distance), FEATURES)) + distance[:, None]
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    scaled = (values - (low + high) / 2) / (high - low)
    label = np.tile((distance > 0).astype(int), trials)
    columns = {
        "trial": np.repeat(first + np.arange(trials), len(distance)),
        "row": np.arange(len(label)),
        "label": label,
    }
    return pa.table(columns | {"features": scaled.reshape(-1, FEATURES).tolist()})


def draw_start(rng: np.random.Generator, trials: int) -> pa.Table:
    """Draw the weights that each trial starts from."""
    trial, feature = (
        np.repeat(np.arange(trials), FEATURES),
        np.tile(np.arange(1, FEATURES + 1), trials),
    )
    return pa.table({"trial": trial, "feature": feature, "weight": rng.normal(size=len(trial))})


def train_scorers(
    examples: pa.Table, start: pa.Table, k: int, method: str, options: tuple[float, float, int]
) -> pa.Table:
    """Return the weights of each trial."""
    learning_rate, l2, max_iter = options
    scale = k if method == "SGD@k-avg" else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last column of the table says it
        return fit(
            examples,
            k=k,
            surrogate=SURROGATES[method],
            by="trial",
            learning_rate=learning_rate * scale,
            l2=l2 / scale,
            max_iter=max_iter,
            start=start,
        )


def measure_scorers(examples: pa.Table, weights: pa.Table, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return precision at k and AUC@k of each trial; of one class alone, AUC@k is 1 or 0."""
    by_trial = np.array(weights["weight"]).reshape(-1, FEATURES)
    values = np.array(examples["features"].combine_chunks().flatten()).reshape(-1, FEATURES)
    score = (values * by_trial[np.array(examples["trial"])]).sum(axis=1)
    scored = examples.select(["trial", "row", "label"]).append_column("score", pa.array(score))
    columns = {"query_id": "trial", "doc_id": "row"}
    results = [
        sqlrank.evaluate(f"{name}@{k}", predictions=scored, columns=columns, per_query=True)
        for name in ("P", "AUC")
    ]
    precision, auc = (
        table.sort_by("query_id").column(f"{name}@{k}").to_numpy()
        for table, name in zip(results, ("P", "AUC"), strict=True)
    )
    return precision, np.where(np.isnan(auc.astype(float)), precision > 0, auc.astype(float))


def compare_tables(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Print the tables of the slides next to ours; return how many trials of 300 are better, the
    same and worse.
    """
    counts = []
    print(f"{options.trials} trials; counts are of 300")
    for rival in dict.fromkeys(table.rival for table in TABLES):
        tables = [table for table in TABLES if table.rival == rival]
        trials = {name: run_trials(tables, methods, options) for name, methods in SETTINGS.items()}
        for number, table in enumerate(tables):
            print(f"\n{table.title}")
            print(
                f"{'':16}{'precision@k of both':>30}{'better':>8}{'same':>6}{'worse':>6}{'AUC@k where the same':>32}{'0 is best':>11}"  # noqa: E501
            )
            rows: dict[str, tuple[list[float], int | None]] = {
                "slides": ([float(value) for value in table.published.split()], None)
            }
            for setting, row in (
                rows | {name: results[number] for name, results in trials.items()}
            ).items():
                print_row(setting, *row)
                own = {"table": table.title, "setting": setting}
                counts += [
                    own | {"outcome": name, "trials": value}
                    for name, value in zip(OUTCOMES, row[0][4:7], strict=True)
                ]
    return counts


def draw_picture(counts: list[dict[str, Any]], path: Path) -> None:
    """Draw in how many trials GD-pAp@k-avg is better, the same and worse."""
    import altair as alt  # noqa: PLC0415  of the extra charts

    from sqlrank.charts.export import save_chart  # noqa: PLC0415

    settings = ["slides", *SETTINGS]
    rows = [row | {"order": OUTCOMES.index(row["outcome"])} for row in counts]
    color = alt.Color("outcome:N", title="GD-pAp@k-avg is", sort=list(OUTCOMES)).legend(
        orient="top"
    )
    drawn = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            alt.X("trials:Q", title="trials of 300, by precision@k").scale(
                domain=[0, 300], nice=False
            ),
            alt.Y("setting:N", title=None, sort=settings),
            color.scale(domain=list(OUTCOMES), range=["#0072b2", "#d0d0d0", "#d55e00"]),
            alt.Order("order:Q"),
            alt.Facet(
                "table:N",
                title=None,
                columns=1,
                sort=[table.title for table in TABLES],
                header=alt.Header(labelAnchor="start", labelExpr="split(datum.label, ': ')"),
            ),
        )
        .properties(width=296, height=66)
    )
    save_chart(drawn, path, force=True)


def run_trials(
    tables: list[Table], methods: dict[str, tuple[float, float, int]], options: argparse.Namespace
) -> list[tuple[list[float], int]]:
    """Return the row of each table, and in how many of 300 trials zero weights have less loss;
    tables of one k are trained together.
    """
    rng = np.random.default_rng([options.seed, TABLES.index(tables[0])])
    examples = pa.concat_tables(
        [
            draw_examples(rng, table, options.trials, n * options.trials)
            for n, table in enumerate(tables)
        ]
    )
    start = draw_start(rng, len(tables) * options.trials)
    results = {}
    for method in (tables[0].rival, "GD-pAp@k-avg"):
        learning_rate, l2, max_iter = methods[method]
        weights = train_scorers(
            examples, start, tables[0].k, method, (learning_rate, l2, options.max_iter or max_iter)
        )
        results[method] = measure_scorers(examples, weights, tables[0].k)
    losses = json.loads(weights.schema.metadata[b"sqlrank.losses"])  # of GD-pAp@k-avg
    at_zero = np.array([loss["loss"] >= loss["loss_of_zero_weights"] for loss in losses])
    rows = []
    for n in range(len(tables)):
        own = slice(n * options.trials, (n + 1) * options.trials)
        theirs, ours = ((precision[own], auc[own]) for precision, auc in results.values())
        rows.append((summarize_trials(theirs, ours), round(300 * at_zero[own].mean())))
    return rows


def summarize_trials(
    theirs: tuple[np.ndarray, np.ndarray], ours: tuple[np.ndarray, np.ndarray]
) -> list[float]:
    """Return the numbers of a row in the order of the slides."""
    same = np.isclose(theirs[0], ours[0])
    scale = 300 / len(same)
    counts = [
        round(scale * int(chosen.sum()))
        for chosen in (~same & (ours[0] > theirs[0]), same, ~same & (ours[0] < theirs[0]))
    ]
    aucs = (
        [
            statistic
            for values in (theirs[1], ours[1])
            for statistic in (values[same].mean(), values[same].std())
        ]
        if same.any()
        else [np.nan] * 4
    )
    return (
        [
            statistic
            for values in (theirs[0], ours[0])
            for statistic in (values.mean(), values.std())
        ]
        + counts
        + aucs
    )


def print_row(name: str, numbers: list[float], at_zero: int | None) -> None:
    """Print means with standard deviations, and counts."""
    pairs = [f"{numbers[place]:.2f} +- {numbers[place + 1]:.2f}" for place in (0, 2, 7, 9)]
    counts = "".join(
        f"{round(count):{width}}" for count, width in zip(numbers[4:7], (8, 6, 6), strict=True)
    )
    last = "" if at_zero is None else f"{at_zero:11}"
    print(
        f"{name:16}{pairs[0]:>15}{pairs[1]:>15}{counts}{pairs[2]:>17}{pairs[3]:>15}{last}".rstrip(),
        flush=True,
    )


def draw_classes(condition: str, seed: int, features: int = 5, size: int = 250) -> pa.Table:
    """Draw two classes and keep what fulfils a condition along the line through their means, with a
    margin of 1.
    """
    rng = np.random.default_rng(seed)
    means = rng.normal([[0.0], [0.4]], np.sqrt(0.2), (2, features))
    positives, negatives = (
        rng.normal(size=(n, features)) + mean
        for n, mean in zip((size, 8 * size), means, strict=True)
    )
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
        positives = (
            positives[high >= low[low <= best - 1].max()] if condition == "moderate" else positives
        )
    label = np.repeat([1, 0], [len(positives), len(negatives)])
    return pa.table({"label": label, "features": np.concatenate([positives, negatives]).tolist()})


def print_margins(options: argparse.Namespace) -> None:
    """Print the least value of each surrogate under each condition; ramp is not trained by, but is
    computed on the way.
    """
    print(f"\nleast value under four margin conditions, k = {TOP}")
    print("condition    n+    n-" + "".join(f"{kind:>8}" for kind in (*TRAINED, "ramp", "error")))
    for condition in CONDITIONS:
        examples = draw_classes(condition, options.seed)
        label, values = np.array(examples["label"]), np.array(examples["features"].to_pylist())
        least = dict.fromkeys((*TRAINED, "ramp", "error"), np.inf)
        for kind in TRAINED:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the table says it
                weights = fit(
                    examples,
                    k=TOP,
                    surrogate=kind,
                    learning_rate=3,
                    l2=0.001,
                    max_iter=options.max_iter or 150,
                )
            scored = pa.table({"label": label, "score": values @ np.array(weights["weight"])})
            metrics = {
                kind: f"pApSurrogate(surrogate={kind})@{TOP}",
                "ramp": f"pApSurrogate(surrogate=ramp)@{TOP}",
                "error": f"pAp(tie_credit=0)@{TOP}",
            }
            got = dict(
                zip(
                    metrics,
                    sqlrank.evaluate(list(metrics.values()), predictions=scored)
                    .to_pylist()[0]
                    .values(),
                    strict=True,
                )
            )
            got["error"] = 1 - got["error"]
            least |= {name: min(least[name], value) for name, value in got.items()}
        print(
            f"{condition:9}{label.sum():6}{(1 - label).sum():6}"
            + "".join(f"{value:8.4f}" for value in least.values())
        )


def main(arguments: list[str]) -> None:
    """Print both studies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=20, help="of each table; the slides have 300")
    parser.add_argument("--max-iter", type=int, help="steps, instead of those of the settings")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the data, and of the weights to start from"
    )
    parser.add_argument(
        "--picture", type=Path, help="write a chart of the trials: .svg, .png, .pdf or .html"
    )
    options = parser.parse_args(arguments)
    counts = compare_tables(options)
    if options.picture:
        draw_picture(counts, options.picture)
    print_margins(options)


if __name__ == "__main__":
    main(sys.argv[1:])
