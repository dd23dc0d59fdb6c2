"""Samples in which a cell is small: inputs of every kind, drawn as a row of designs.toml says, with
few positives, few rows of a class, few units or uneven weights.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from website.sections import find_section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlrank.registry.sql_file import SqlFile

LARGE = 300_000
"""Rows of the sample that the truth is taken from, about."""

MOST_ROWS = 3_000_000
"""Most rows of a call, a twentieth where the bootstrap draws each anew: more samples are evaluated
in parts.
"""

Sources = dict[str, pa.Table]
Generator = np.random.Generator


@dataclass(frozen=True)
class Design:
    """A way to draw samples.

    Attributes:
        name: What is small.
        kind: Inputs, a key of ``KINDS``.
        units: Independent units of a sample.
        rows: Rows of a unit.
        sigma: Standard deviation of the logarithm of weights.
        level: Log-odds of positives, or rows of the rarest class of 300.
        skill: How much higher what is right or relevant scores.
        options: Arguments of ``evaluate``.
        is_uneven: Numbers of rows of units are geometric, ``rows`` on the mean.
    """

    name: str
    kind: str
    units: int
    rows: int = 1
    sigma: float = 0.0
    level: float = 0.0
    skill: float = 1.8
    options: Mapping[str, Any] = field(default_factory=dict)
    is_uneven: bool = False

    @property
    def is_bootstrap(self) -> bool:
        """True if intervals are those of the bootstrap, of metrics that have no other and of those
        with an influence of their own.
        """
        return "interval" in self.options

    @property
    def unit_rows(self) -> int:
        """Rows of a unit in the largest input."""
        return KINDS[self.kind].size * self.rows

    def draw_samples(self, seed: int, samples: int, part: int = 0) -> Sources:
        """Return the inputs of so many samples, with a column ``sample``."""
        key = [seed, *self.name.encode(), *self.kind.encode(), *([part] if part else [])]
        return KINDS[self.kind].draw(self, np.random.default_rng(key), samples)

    def draw_parts(self, seed: int, samples: int) -> Iterator[Sources]:
        """Yield the inputs of so many samples, at most ``MOST_ROWS`` rows at a time."""
        most = MOST_ROWS // (20 if self.is_bootstrap else 1) // (self.units * self.unit_rows)
        for part, start in enumerate(range(0, samples, most)):
            yield self.draw_samples(seed, min(most, samples - start), part)

    def draw_large(self) -> Sources:
        """Return one sample of many units."""
        units = LARGE // self.unit_rows // self.units * self.units
        return replace(self, units=units).draw_samples(-1 % 2**32, 1)


class Kind(NamedTuple):
    """A set of inputs: how they are drawn, the rows of a unit, and the metrics that read them."""

    draw: Callable[[Design, Generator, int], Sources]
    roles: tuple[str, ...]
    size: int
    reads: Callable[[SqlFile], bool] = lambda _: True


def number_units(design: Design, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sample and the unit of each row."""
    units = np.arange(samples * design.units)
    sizes = (
        np.random.default_rng(samples).geometric(1 / design.rows, len(units))
        if design.is_uneven
        else design.rows
    )
    return np.repeat(units // design.units, sizes), np.repeat(units, sizes)


def draw_weights(design: Design, rng: Generator, rows: int) -> dict[str, np.ndarray]:
    return {"weight": np.exp(rng.normal(0, design.sigma, rows))} if design.sigma else {}


def draw_effects(design: Design, rng: Generator, unit: np.ndarray, spread: float) -> np.ndarray:
    """Return an effect for each row that the rows of a unit have in common, 0 if each row is a
    unit.
    """
    return rng.normal(0, spread, unit[-1] + 1)[unit] if design.rows > 1 else np.zeros(len(unit))


def compute_sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def draw_binary(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw labels by a logistic model, at least two of each class in a sample, and scores with
    noise; mirrored if positives are frequent.
    """
    sample, unit = number_units(design, samples)
    columns: dict[str, np.ndarray] = {}
    intercept = -abs(design.level)
    missing = np.ones(len(sample), bool)
    while missing.any():
        feature = 1.5 * rng.normal(size=len(sample)) + draw_effects(design, rng, unit, 0.6)
        label = (rng.random(len(sample)) < compute_sigmoid(intercept + feature)).astype(float)
        noise = rng.normal(size=(2, len(sample)))
        score, other = np.clip(
            compute_sigmoid(intercept + 0.1 + 0.9 * feature + 0.5 * noise), 1e-9, 1 - 1e-9
        )
        drawn = {"label": label, "score": score, "other": other}
        columns = {
            name: np.where(missing, values, columns.get(name, values))
            for name, values in drawn.items()
        }
        positives = np.bincount(sample, columns["label"], samples)
        rows = np.bincount(sample, minlength=samples)
        missing = (np.minimum(positives, rows - positives) < 2)[sample]
    if design.level > 0:
        columns = {name: 1 - values for name, values in columns.items()}
    return {
        "predictions": pa.table(
            {"sample": sample, "unit": unit, **columns, **draw_weights(design, rng, len(sample))}
        )
    }


def draw_areas(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw scores of which positives are higher by an area of ``skill``; one of 51 rows is one.
    With a ``level``, tails are long.
    """
    sample, unit = number_units(design, samples)
    is_positive = unit % 51 == 0
    if design.level:
        score = rng.exponential(size=len(unit)) * np.where(
            is_positive, design.skill / (1 - design.skill), 1
        )
    else:
        score = (
            rng.normal(size=len(unit)) + is_positive * NormalDist().inv_cdf(design.skill) * 2**0.5
        )
    return {
        "predictions": pa.table(
            {"sample": sample, "label": is_positive.astype(float), "score": score}
        )
    }


def draw_queries_of_predictions(design: Design, rng: Generator, samples: int) -> Sources:
    (table,) = draw_binary(design, rng, samples).values()
    return {"predictions": table.rename_columns({"unit": "query_id"})}


def draw_numbers(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw positive labels without a tail, and two predictions with normal errors."""
    sample, unit = number_units(design, samples)
    label = rng.uniform(5, 12, len(unit))

    def draw_scores() -> np.ndarray:
        errors = rng.normal(0, 1, len(unit)) + draw_effects(design, rng, unit, 0.4)
        return np.clip(0.5 + 0.9 * label + errors, 0.5, None)

    columns = {"sample": sample, "unit": unit, "label": label, "score": draw_scores()}
    weights = draw_weights(design, rng, len(unit))
    return {"predictions": pa.table({**columns, **weights, "other": draw_scores()})}


def draw_forecasts(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw three quantiles of the label of each unit, and the interval between the outer ones."""
    sample, unit = number_units(design, samples)
    level = np.tile([0.1, 0.5, 0.9], len(unit) // 3)
    mean, label = (rng.normal(0, scale, unit[-1] + 1)[unit] for scale in (1, 1))
    quantile = mean + 1.1 * np.tile([-1.2816, 0, 1.2816], len(unit) // 3)
    width = (0.9 + 0.4 * rng.random(unit[-1] + 1))[unit]
    columns = {
        "label": mean + label,
        "score": quantile,
        "quantile_level": level,
        "interval_low": mean - width,
        "interval_high": mean + width,
        **draw_weights(design, rng, len(unit)),
        "seasonal_error": (0.5 + rng.random(unit[-1] + 1))[unit],
    }
    return {"predictions": pa.table({"sample": sample, "unit": unit, **columns})}


CLASS_SHARES = (120, 80, 57, 40)
"""Rows of the more frequent classes where one has few."""


def draw_classes(
    design: Design, rng: Generator, samples: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the sample, unit, class and skill of each row; with ``level``, so many rows are of the
    rarest class in each sample.
    """
    sample, unit = number_units(design, samples)
    if design.level:
        counts = np.array([*CLASS_SHARES, int(design.level)]) * (
            design.units // (sum(CLASS_SHARES) + int(design.level))
        )
        label = np.tile(np.repeat(np.arange(len(counts)), counts), samples)
    else:
        label = rng.integers(0, 4, len(unit))
    return sample, unit, label, design.skill + draw_effects(design, rng, unit, 0.8)


def draw_class_scores(
    design: Design, rng: Generator, samples: int
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Return the columns of each prediction, its scores of all classes, and what these are on the
    mean: the skill of the unit for the right class.
    """
    sample, unit, label, skill = draw_classes(design, rng, samples)
    classes = len(CLASS_SHARES) + bool(design.level)
    means = (label[:, None] == np.arange(classes)) * skill[:, None]
    scores = rng.normal(size=(len(label), classes)) + means
    return (
        {
            "sample": sample,
            "unit": unit,
            "label": label,
            **draw_weights(design, rng, len(label)),
        },
        scores,
        means,
    )


def draw_classified(design: Design, rng: Generator, samples: int) -> Sources:
    columns, scores, _ = draw_class_scores(design, rng, samples)
    predicted, other = ((scores + 0.5 * rng.normal(size=scores.shape)).argmax(1) for _ in range(2))
    return {"classified": pa.table({**columns, "predicted": predicted, "other": other})}


def draw_scored_classes(design: Design, rng: Generator, samples: int) -> Sources:
    columns, scores, means = draw_class_scores(design, rng, samples)
    score, other = (
        (np.exp(each) / np.exp(each).sum(1, keepdims=True)).ravel()
        for each in (scores, rng.normal(size=scores.shape) + means)
    )
    classes = scores.shape[1]
    long = {name: np.repeat(values, classes) for name, values in columns.items()}
    ids = {
        "prediction_id": np.repeat(np.arange(len(scores)), classes),
        "class_id": np.tile(np.arange(classes), len(scores)),
    }
    return {"class_scores": pa.table({**long, **ids, "score": score, "other": other})}


def draw_class_labels(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw sets of four classes, with ``level`` one that is observed in so many predictions of each
    sample, and predict them with errors.
    """
    sample, unit = number_units(design, samples)
    label = rng.random((len(unit), 4)) < [0.5, 0.35, 0.25, 0.3]
    if design.level:
        # So many of each run of rows, wherever they are in it.
        size = 300
        place = np.argsort(rng.random((len(unit) // size, size)), 1).ravel()
        label[:, 3] = place < design.level
    skill = design.skill / 1.5 + draw_effects(design, rng, unit, 0.6)
    shift = np.where(label, skill[:, None], -skill[:, None])
    predicted = rng.normal(size=label.shape) + shift > 0
    columns = {
        "sample": sample,
        "unit": unit,
        "prediction_id": np.arange(len(unit)),
        **draw_weights(design, rng, len(unit)),
    }
    long = {name: np.repeat(values, 4) for name, values in columns.items()}
    other = rng.normal(size=label.shape) + shift > 0
    flags = {
        name: flag.ravel().astype(int)
        for name, flag in (("label", label), ("predicted", predicted), ("other", other))
    }
    return {
        "class_labels": pa.table({**long, "class_id": np.tile(np.arange(4), len(unit)), **flags})
    }


def draw_ratings(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw ratings from 1 to 4 of items by three judges."""
    sample, unit = number_units(design, samples)
    true = rng.normal(2.5, 1, len(unit)) + draw_effects(design, rng, unit, 0.6)
    rating, other = (
        np.clip(np.rint(true[:, None] + rng.normal(0, 0.6, (len(unit), 3))), 1, 4).astype(int)
        for _ in range(2)
    )
    columns = {"sample": sample, "unit": unit, "item_id": np.arange(len(unit))}
    long = {name: np.repeat(values, 3) for name, values in columns.items()}
    ids = {"judge_id": np.tile(np.arange(3), len(unit))}
    return {"ratings": pa.table({**long, **ids, "rating": rating.ravel(), "other": other.ravel()})}


def draw_logs(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw logged actions with two propensities, and clicks as rewards."""
    sample, unit = number_units(design, samples)
    propensity, target = (
        np.clip(rng.beta(a, b, len(unit)), 0.05, 0.95) for a, b in ((4, 4), (3, 3))
    )
    predicted = compute_sigmoid(
        rng.normal(-0.5, 0.7, len(unit)) + draw_effects(design, rng, unit, 0.4)
    )
    reward = (rng.random(len(unit)) < predicted).astype(float)
    columns = {
        "reward": reward,
        "propensity": propensity,
        "target_propensity": target,
        "predicted_reward": predicted,
    }
    expected = {"expected_reward": 0.9 * predicted}
    other = np.clip(rng.beta(3, 3, len(unit)), 0.05, 0.95)
    return {
        "logs": pa.table({"sample": sample, "unit": unit, **columns, **expected, "other": other})
    }


def draw_treated(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw units of a randomized experiment, of which the rarer arm has ``level`` rows of 300, and
    predict their uplifts with errors.
    """
    sample, unit = number_units(design, samples)
    effect = rng.normal(size=len(unit)) + draw_effects(design, rng, unit, 0.4)
    treatment = (rng.random(len(unit)) < (design.level / 300 or 0.5)).astype(float)
    label = (
        rng.random(len(unit)) < np.clip(0.25 + treatment * (0.08 + 0.12 * effect), 0.01, 0.99)
    ).astype(float)
    columns = {
        "sample": sample,
        "unit": unit,
        "label": label,
        "treatment": treatment,
        **draw_weights(design, rng, len(unit)),
    }
    score, other = (effect + 0.7 * rng.normal(size=len(unit)) for _ in range(2))
    return {"uplift": pa.table({**columns, "score": score, "other": other})}


def draw_judged_items(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw labels of which ``level`` of each 300 are known, and scores of a judge that differ from
    them by noise, less for a high skill.
    """
    sample, unit = number_units(design, samples)
    label = (rng.random(len(unit)) < compute_sigmoid(draw_effects(design, rng, unit, 0.6))).astype(
        float
    )
    labelled = np.argsort(rng.random((len(unit) // 300, 300)), 1).ravel() < design.level
    score = label + rng.normal(0, 1 / design.skill, len(unit))
    return {
        "judged": pa.table(
            {
                "sample": sample,
                "unit": unit,
                "label": pa.array(label, mask=~labelled),
                "score": score,
            }
        )
    }


def draw_sessions(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw clicks on the documents of two interleaved rankers, of which B gets more."""
    sample, unit = number_units(design, samples)
    clicks = rng.poisson(np.tile([0.5, 0.9], len(unit)), 2 * len(unit))
    columns = {
        "sample": np.repeat(sample, 2),
        "session_id": np.repeat(unit, 2),
        "team": np.tile(["A", "B"], len(unit)),
    }
    return {"interleaved": pa.table({**columns, "clicks": clicks})}


def draw_records(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw sampled true clusters and for each an unknown one that it is confused with."""
    sample, unit = number_units(design, samples)
    sizes = 1 + rng.poisson(2, 2 * len(unit))
    cluster = np.repeat(np.arange(2 * len(unit)), sizes)
    error = rng.beta(0.5, 2, len(unit))[cluster // 2]
    is_moved, is_split = (rng.random(len(cluster)) < error for _ in range(2))
    predicted = np.where(is_moved, cluster ^ 1, cluster) * 2 + is_split
    true = pa.array(cluster, mask=cluster % 2 == 1)
    columns = {
        "sample": sample[cluster // 2],
        "record_id": np.arange(len(cluster)),
        "predicted_cluster": predicted,
    }
    return {"records": pa.table({**columns, "true_cluster": true})}


DOCUMENTS = 30


def draw_rankings(design: Design, rng: Generator, samples: int) -> dict[str, np.ndarray]:
    """Return sample, query, document, grade and score of 30 documents of each query; ``skill`` is
    how much higher relevant ones score.
    """
    sample, query = (np.repeat(values, DOCUMENTS) for values in number_units(design, samples))
    document = np.tile(np.arange(DOCUMENTS), len(query) // DOCUMENTS)
    relevant = np.repeat(rng.integers(1, 6, len(query) // DOCUMENTS), DOCUMENTS)
    grade = np.where(document < relevant, rng.integers(1, 4, len(query)), 0)
    shift = np.repeat(design.skill + 0.7 * rng.normal(size=len(query) // DOCUMENTS), DOCUMENTS)
    score, other = rng.normal(size=(2, len(query))) + (grade > 0) * shift
    return {
        "sample": sample,
        "query_id": query,
        "doc_id": document,
        "relevance": grade,
        "score": score,
        "other": other,
    }


def select_columns(
    columns: Mapping[str, np.ndarray], *names: str, where: np.ndarray | None = None
) -> pa.Table:
    return pa.table(
        {
            name: columns[name] if where is None else columns[name][where]
            for name in ("sample", "query_id", *names)
        }
    )


def draw_judged(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw rankings that lack some documents; two of three irrelevant ones are judged."""
    columns = draw_rankings(design, rng, samples)
    is_judged = (columns["relevance"] > 0) | (columns["doc_id"] % 3 > 0)
    return {
        "run": select_columns(
            columns, "doc_id", "score", "other", where=rng.random(len(is_judged)) < 0.85
        ),
        "qrels": select_columns(columns, "doc_id", "relevance", where=is_judged),
    }


def draw_subtopics(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw judgments of two subtopics."""
    columns = draw_rankings(design, rng, samples)
    twice = {name: np.repeat(values, 2) for name, values in columns.items()}
    twice["subtopic"] = np.tile([1, 2], len(columns["query_id"]))
    twice["relevance"] = (twice["relevance"] > 0) * (rng.random(len(twice["relevance"])) < 0.7)
    return {
        "run": select_columns(columns, "doc_id", "score", "other"),
        "qrels": select_columns(twice, "doc_id", "subtopic", "relevance"),
    }


def draw_popularity(document: np.ndarray) -> np.ndarray:
    """Return the probability that an item is in the history of a user."""
    return 0.5 / (1 + document / 5)


def draw_clicks(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw the ranks at which documents were shown, and clicks on relevant ones, examined with the
    probability 1 / rank. With a ``level``, so many times fewer are clicked.
    """
    columns = draw_rankings(design, rng, samples)
    columns["rank"] = rng.permuted(1 + columns["doc_id"].reshape(-1, DOCUMENTS), axis=1).ravel()
    columns["clicked"] = (columns["relevance"] > 0) & (
        rng.random(len(columns["rank"])) * max(design.level, 1) < 1 / columns["rank"]
    )
    return {
        "run": select_columns(columns, "doc_id", "score", "other"),
        "clicks": select_columns(columns, "doc_id", "rank", "clicked"),
    }


def draw_others() -> pa.Table:
    """Return the history of 500 other users, the same for all samples: popularity is that of a
    given catalog.
    """
    user, document = (values.ravel() for values in np.indices((500, DOCUMENTS)))
    is_read = np.random.default_rng(7).random(len(user)) < draw_popularity(document)
    return pa.table({"query_id": -1 - user[is_read], "doc_id": document[is_read]})


def draw_recommendations(*extra: str) -> Callable[[Design, Generator, int], Sources]:
    """Return a function that draws rankings of items of one catalog, with further inputs."""

    def draw_ranked(design: Design, rng: Generator, samples: int) -> Sources:
        columns = draw_rankings(design, rng, samples)
        noise = rng.normal(size=len(columns["score"]))
        tables = {
            "run": select_columns(columns, "doc_id", "score", "other"),
            "qrels": select_columns(columns, "doc_id", "relevance"),
            "baseline": select_columns(
                {**columns, "score": columns["score"] + 0.4 * noise},
                "doc_id",
                "score",
                where=noise > -1,
            ),
            "history": select_columns(
                columns, "doc_id", where=rng.random(len(noise)) < draw_popularity(columns["doc_id"])
            ),
            "others": draw_others(),
            "items": pa.table({"doc_id": np.arange(DOCUMENTS)}),
            "corpus": pa.table({"doc_id": np.flatnonzero(np.arange(DOCUMENTS) % 4 != 1)}),
            "features": pa.table(
                {"doc_id": np.arange(DOCUMENTS), "category": np.arange(DOCUMENTS) % 5}
            ),
        }
        roles = {"others": "history", "corpus": "items"}
        return {roles.get(name, name): tables[name] for name in ("run", *extra)}

    return draw_ranked


def draw_measured_queries(design: Design, rng: Generator, samples: int) -> Sources:
    sample, query = number_units(design, samples)
    columns = {
        "sample": sample,
        "query_id": query,
        "latency_ms": np.exp(rng.normal(5, 0.5, len(query))),
        "passed": rng.random(len(query)) < 0.8,
    }
    run = {name: columns[name] for name in ("sample", "query_id")} | {
        "doc_id": query,
        "score": np.ones(len(query)),
    }
    return {"run": pa.table(run), "queries": pa.table(columns)}


def draw_texts(design: Design, rng: Generator, samples: int) -> Sources:
    """Draw texts of queries, of which the only item contains three in ten."""
    sample, query = number_units(design, samples)
    texts = np.where(rng.random(len(query)) < 0.3, "one two three", "four five six")
    return {
        "queries": pa.table({"sample": sample, "query_id": query, "text": texts}),
        "items": pa.table({"doc_id": [0], "text": ["one two three four"]}),
    }


def in_section(*sections: str) -> Callable[[SqlFile], bool]:
    return lambda file: find_section(file) in sections


def is_binary(file: SqlFile) -> bool:
    is_of_classes = in_section("classification")(file) or file.display_name == "WRanking"
    return (is_of_classes or file.measures_flag) and file.value_name != "gauc"


WITHOUT_TRUTH = {"AUC@k", "pAp", "pApSurrogate", "PartialAUC"}
"""Metrics of the k highest negatives, which are others in a large sample."""


KINDS = {
    "binary": Kind(draw_binary, ("predictions",), 1, is_binary),
    "areas": Kind(draw_areas, ("predictions",), 1, lambda file: file.full_name == "AUC"),
    "queries of predictions": Kind(
        draw_queries_of_predictions,
        ("predictions",),
        1,
        lambda file: file.value_name in {"gauc", "auc", "log_loss"},
    ),
    "numbers": Kind(
        draw_numbers,
        ("predictions",),
        1,
        lambda file: (
            not (
                is_binary(file)
                or in_section("forecasts", "classification")(file)
                or file.full_name in WITHOUT_TRUTH
            )
        ),
    ),
    "forecasts": Kind(draw_forecasts, ("predictions",), 1, in_section("forecasts")),
    "classified": Kind(draw_classified, ("classified",), 1),
    "class_scores": Kind(draw_scored_classes, ("class_scores",), 3),
    "class_labels": Kind(draw_class_labels, ("class_labels",), 4),
    "ratings": Kind(draw_ratings, ("ratings",), 3),
    "logs": Kind(draw_logs, ("logs",), 1),
    "uplift": Kind(draw_treated, ("uplift",), 1),
    "judged": Kind(draw_judged_items, ("judged",), 1),
    "interleaved": Kind(draw_sessions, ("interleaved",), 2),
    "records": Kind(draw_records, ("records",), 6),
    "rankings": Kind(draw_judged, ("run", "qrels"), DOCUMENTS, in_section("ranking")),
    "subtopics": Kind(draw_subtopics, ("run", "qrels"), DOCUMENTS, in_section("subtopics")),
    "clicks": Kind(draw_clicks, ("run", "clicks"), DOCUMENTS),
    "baseline": Kind(draw_recommendations("baseline"), ("run", "baseline"), DOCUMENTS),
    "features": Kind(draw_recommendations("features"), ("run", "features"), DOCUMENTS),
    "history": Kind(
        draw_recommendations("history"),
        ("run", "history"),
        DOCUMENTS,
        lambda file: file.value_name == "unseen",
    ),
    "popularity": Kind(
        draw_recommendations("others"),
        ("run", "history"),
        DOCUMENTS,
        lambda file: file.value_name != "unseen",
    ),
    "history and features": Kind(
        draw_recommendations("history", "features"), ("run", "history", "features"), DOCUMENTS
    ),
    "history and items": Kind(
        draw_recommendations("qrels", "others", "items"),
        ("run", "qrels", "history", "items"),
        DOCUMENTS,
    ),
    "corpus": Kind(draw_recommendations("qrels", "corpus"), ("run", "qrels", "items"), DOCUMENTS),
    "queries": Kind(draw_measured_queries, ("run", "queries"), 1),
    "texts": Kind(draw_texts, ("run", "queries", "items"), 1),
}

DESIGNS = [
    Design(kind=kind, **row)
    for kind, rows in tomllib.loads(
        Path(__file__).with_name("designs.toml").read_text("utf-8")
    ).items()
    for row in rows
]
