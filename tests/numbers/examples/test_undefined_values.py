"""A metric is NULL where the line Undefined of its file holds, and nowhere else, under every value
of every policy that it reads.

Each sentence of these lines has a condition here, over the rows of a case. Cases meet all of them:
classes and predictions that are not there, rows without weight, equal labels and scores, lists
without documents, clusters of one record.
"""

from collections import Counter
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric_resolver import resolve_metrics
from sqlrank.registry.resolved_metric import find_input_role
from sqlrank.registry.settings_checks import INTERNAL_PARAMETERS, accepted_settings
from sqlrank.registry.sql_file import SqlFile
from tests.lanes import select_few
from website.examples import format_metric
from website.sections import find_section

Rows = dict[str, list[Any]]
Settings = dict[str, Any]
LIBRARY = load_registry()

PREDICTIONS = {
    name: {
        "label": label,
        "score": score,
        "weight": weight or [1.0] * len(label),
        "query_id": ["q"] * len(label),
    }
    for name, label, score, weight in (
        ("usual", [1, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.3, 0.1], None),
        ("weighted", [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], [2.0, 0.5, 1.0, 3.0]),
        ("positives", [1, 1], [0.9, 0.3], None),
        ("negatives", [0, 0], [0.9, 0.3], None),
        ("one", [1], [0.25], None),
        ("none predicted", [1, 0, 0], [0.2, 0.1, 0.3], None),
        ("all predicted", [1, 0, 0], [0.9, 0.8, 0.7], None),
        ("negatives below", [0, 0], [0.2, 0.1], None),
        ("equal scores", [1, 0, 1], [0.5, 0.5, 0.5], None),
        ("no weight", [1, 0], [0.9, 0.1], [0.0, 0.0]),
        ("positives without weight", [1, 0, 0], [0.9, 0.8, 0.1], [0.0, 1.0, 1.0]),
        ("negatives without weight", [1, 1, 0], [0.9, 0.8, 0.1], [1.0, 1.0, 0.0]),
    )
}
CLASSIFIED = {
    name: {
        "label": list(label),
        "predicted": list(predicted),
        "weight": weight or [1.0] * len(label),
    }
    for name, label, predicted, weight in (
        ("usual", "aabbc", "abbbc", None),
        ("wrong", "aab", "bba", None),
        ("one class", "aa", "aa", None),
        ("one label", "aa", "ab", None),
        ("one predicted", "ab", "aa", None),
        ("apart", "aa", "bb", None),
        ("no weight", "ab", "ab", [0.0, 0.0]),
        ("a label without weight", "aab", "aba", [1.0, 1.0, 0.0]),
    )
}
CLASS_LABELS = {
    name: {
        "prediction_id": [number for number, _ in enumerate(observed) for _ in "ab"],
        "class_id": list("ab") * len(observed),
        "label": [int(letter in sets) for sets in observed for letter in "ab"],
        "predicted": [int(letter in sets) for sets in predicted for letter in "ab"],
        "weight": [weight for weight in weights or [1.0] * len(observed) for _ in "ab"],
    }
    for name, observed, predicted, weights in (
        ("usual", ["ab", "a"], ["a", "ab"], None),
        ("none predicted", ["ab", "ab"], ["", ""], None),
        ("none observed", ["", ""], ["ab", "a"], None),
        ("neither", ["", ""], ["", ""], None),
        ("apart", ["a", "a"], ["b", "b"], None),
        ("a class neither", ["a", "a"], ["a", ""], None),
        ("no weight", ["a", "b"], ["a", "a"], [0.0, 0.0]),
        ("predicted without weight", ["a", "a"], ["a", ""], [0.0, 1.0]),
    )
}
RECORDS = {
    name: {
        "record_id": list(range(len(true))),
        "predicted_cluster": list(predicted),
        "true_cluster": list(true),
    }
    for name, predicted, true in (
        ("usual", "aabbc", "xxyyy"),
        ("one record", "a", "x"),
        ("all apart", "abc", "xyz"),
        ("predicted apart", "abc", "xxy"),
        ("true apart", "aab", "xyz"),
        ("one cluster", "aaa", "xxx"),
        ("one true cluster", "aab", "xxx"),
    )
}


def total(rows: Rows, *conditions: Any) -> float:
    """Return the weight of the rows that meet all conditions, each a column and a value, or a
    function of the values of a row.
    """
    places = range(len(rows["weight"]))
    return float(
        sum(
            rows["weight"][place]
            for place in places
            if all(rows[column][place] == value for column, value in conditions)
        )
    )


def lacks_class(rows: Rows) -> bool:
    return not total(rows, ("label", 1)) or not total(rows, ("label", 0))


def predicted(rows: Rows, settings: Settings) -> float:
    threshold = settings.get("threshold", 0.5)
    return float(
        sum(
            weight
            for score, weight in zip(rows["score"], rows["weight"], strict=True)
            if score >= threshold
        )
    )


def has_equal(rows: Rows, column: str) -> bool:
    return (
        len({value for value, weight in zip(rows[column], rows["weight"], strict=True) if weight})
        < 2
    )


def lacks_cells(rows: Rows, settings: Settings) -> bool:
    """Return True if one of the cells of the confusion matrix is 0."""
    cells = Counter()
    for label, score, weight in zip(rows["label"], rows["score"], rows["weight"], strict=True):
        cells[label, score >= settings.get("threshold", 0.5)] += weight
    return sum(1 for weight in cells.values() if weight) < 4


def lacks_overlap(rows: Rows) -> bool:
    """Return True if no positive has a lower score than a negative, or none a higher one."""
    scores = {0: [], 1: []}
    for label, score, weight in zip(rows["label"], rows["score"], rows["weight"], strict=True):
        scores[label] += [score] if weight else []
    negatives, positives = scores[0], scores[1]
    return max(negatives) <= min(positives) or max(positives) <= min(negatives)


def is_best(settings: Settings) -> bool:
    return settings.get("threshold_from") == "best"


def skips_all(rows: Rows, settings: Settings, sides: tuple[str, ...]) -> bool:
    """Return True if classes are left out whose ratio is 0 / 0, and no class, or prediction, has a
    row on one of these sides.
    """
    weightless = not any(
        rows[side][place] and rows["weight"][place]
        for side in sides
        for place in range(len(rows["weight"]))
        if side in rows
    )
    return settings.get("zero_division") == "skip" and weightless


def sizes(rows: Rows, column: str) -> list[int]:
    return list(Counter(rows[column]).values())


SIDES = {
    "precision": ("predicted",),
    "recall": ("label",),
    "fbeta": ("label", "predicted"),
    "jaccard": ("label", "predicted"),
}
NO_WEIGHT = "no predictions, or all of weight 0"
UNDEFINED = {
    "never": lambda *_: False,
    NO_WEIGHT: lambda rows, *_: not total(rows),
    f"{NO_WEIGHT}; a value beyond the greatest double": lambda rows, *_: not total(rows),
    f"{NO_WEIGHT}; a value beyond the greatest double, as of scores like 1e160": lambda rows, *_: (
        not total(rows)
    ),
    "no label other than 0 of weight above 0": lambda rows, *_: not total(rows, ("label", 1)),
    "no predictions": lambda *_: False,
    "no predictions, all of weight 0, or no classes": lambda rows, *_: not total(rows),
    "predictions of one class only": lambda rows, *_: lacks_class(rows),
    "predictions of one class only, or no convergence": lambda rows, *_: lacks_class(rows),
    "predictions of one class only, classes whose scores do not overlap, or no convergence": (
        lambda rows, *_: lacks_class(rows) or lacks_overlap(rows)
    ),
    "predictions of one class only; by few_negatives=skip those with fewer than k negatives": (
        lambda rows, settings, _: lacks_class(rows) or settings.get("few_negatives") == "skip"
    ),
    "no predictions, or one class only": lambda rows, *_: lacks_class(rows),
    "labels of one class only": lambda rows, *_: lacks_class(rows),
    "the first k predictions are of one class": lambda rows, *_: lacks_class(rows),
    "predictions without a positive": lambda rows, *_: not total(rows, ("label", 1)),
    "predictions without a positive, where the best is searched": lambda rows, settings, _: (
        not total(rows, ("label", 1)) and is_best(settings)
    ),
    "predictions without a positive, or whose highest probabilities are all 0": lambda rows, *_: (
        not total(rows, ("label", 1)) or not any(rows["score"])
    ),
    "predictions without a negative": lambda rows, *_: not total(rows, ("label", 0)),
    "no predicted positive": lambda rows, settings, _: (
        is_best(settings) or not predicted(rows, settings)
    ),
    "no predicted negative": lambda rows, settings, _: (
        is_best(settings) or predicted(rows, settings) == total(rows)
    ),
    "neither a positive nor a predicted one": lambda rows, *_: not total(rows, ("label", 1)),
    "neither a positive nor a predicted one; at beta=0, no predicted one": (
        lambda rows, settings, _: (
            not total(rows, ("label", 1))
            or (settings.get("beta") == 0 and not predicted(rows, settings))
        )
    ),
    "one of the four is 0": lambda rows, settings, _: (
        is_best(settings) or lacks_cells(rows, settings)
    ),
    "one class only, or one predicted class only": lambda rows, settings, _: (
        is_best(settings)
        or has_equal(rows, "label")
        or (
            has_equal(rows, "predicted")
            if "predicted" in rows
            else predicted(rows, settings) in {0, total(rows)}
        )
    ),
    "labels that are all equal": lambda rows, *_: has_equal(rows, "label"),
    "labels or scores that are all the same": lambda rows, *_: (
        has_equal(rows, "label") or has_equal(rows, "score")
    ),
    "labels or scores that are all the same; for tau=a fewer than two predictions": (
        lambda rows, *_: has_equal(rows, "label") or has_equal(rows, "score")
    ),
    "labels (or scores, if these are given) that are all the same": lambda rows, *_: (
        has_equal(rows, "label") or has_equal(rows, "score")
    ),
    "no pair with different labels": lambda rows, *_: has_equal(rows, "label"),
    "no pair with different labels; by tie_rule=ignore none with different scores, either": (
        lambda rows, settings, _: (
            has_equal(rows, "label")
            or (settings.get("tie_rule") == "ignore" and has_equal(rows, "score"))
        )
    ),
    "no query with predictions of both classes; a query of one class does not count": (
        lambda rows, *_: lacks_class(rows)
    ),
    "no positives; under scale=best also a sum that would be 0 even if all positives were above the negatives": lambda rows, *_: (
        not total(rows, ("label", 1)) or lacks_class(rows)
    ),
    "predictions of one class only, but for positives alone under few_negatives=pad, which is 1; by few_negatives=skip those with fewer than k negatives": lambda rows, settings, _: (
        lacks_class(rows) or settings.get("few_negatives") == "skip"
    ),
    f"{NO_WEIGHT}; under skip also if every ratio is 0 / 0": lambda rows, settings, name: (
        not total(rows) or skips_all(rows, settings, SIDES[name.removeprefix("multiclass")])
    ),
    "no predictions or no classes, or all of weight 0; under skip also if every ratio is 0 / 0": (
        lambda rows, settings, name: (
            not total(rows) or skips_all(rows, settings, SIDES[name.removeprefix("multilabel")])
        )
    ),
    "no records": lambda *_: False,
    "no records; at beta=0, a completeness of 0 beside a homogeneity above 0": (
        lambda _, settings, __: settings.get("beta") == 0
    ),
    "no records; fewer than two true clusters if bias is corrected": lambda rows, settings, _: (
        len(sizes(rows, "true_cluster")) < 2 and settings.get("ratio_estimate") != "ratio"
    ),
    "fewer than two records": lambda rows, *_: len(rows["record_id"]) < 2,
    "one true cluster": lambda rows, *_: len(sizes(rows, "true_cluster")) < 2,
    **{
        f"no {side} cluster of two records{end}": lambda rows, settings, _, side=side: (
            max(sizes(rows, f"{side}_cluster")) < 2
            or (len(sizes(rows, "true_cluster")) < 2 and settings.get("ratio_estimate") != "ratio")
        )
        for side in ("true", "predicted")
        for end in ("", "; fewer than two true clusters if bias is corrected")
    },
    "no cluster of two records on one side (scikit-learn: 0)": lambda rows, *_: (
        max(sizes(rows, "true_cluster")) < 2 or max(sizes(rows, "predicted_cluster")) < 2
    ),
    **{
        f"no cluster of two records on either side{end}": lambda rows, settings, _: (
            (max(sizes(rows, "true_cluster")) < 2 and max(sizes(rows, "predicted_cluster")) < 2)
            or (settings.get("beta") == 0 and max(sizes(rows, "predicted_cluster")) < 2)
            or (len(sizes(rows, "true_cluster")) < 2 and settings.get("ratio_estimate") != "ratio")
        )
        for end in (
            "",
            "; at beta=0, no predicted one",
            "; fewer than two true clusters if bias is corrected",
        )
    },
}
"""The condition of each sentence, of the rows of a case, the settings of the metric and its
name.
"""

BEST = "; under threshold_from=best also where the criterion is undefined"


def is_undefined(file: SqlFile, rows: Rows, settings: Settings) -> bool:
    """Return True if the sentence of a file holds of rows."""
    sentence = file.annotations["Undefined"].rstrip(".")
    criterion_needs_both = settings.get("criterion", "f") in {"youden", "mcc"}
    lacks_criterion = (
        not total(rows, ("label", 1)) or (criterion_needs_both and lacks_class(rows))
        if is_best(settings)
        else False
    )
    return (sentence.endswith(BEST) and lacks_criterion) or UNDEFINED[sentence.removesuffix(BEST)](
        rows, settings, file.path.stem.replace("_", "")
    )


CASES = {
    "predictions": PREDICTIONS,
    "classified": CLASSIFIED,
    "class_labels": CLASS_LABELS,
    "records": RECORDS,
}
LEFT_OUT = {"forecasts", "measures", "names", "blocking"}
"""Sections of metrics that read further columns or inputs, which have tests of their own."""

NEEDS_MORE = {
    ("ties", "row_order"),
    ("level", "query"),
    ("few_negatives", "error"),
    ("missing_truth", "error"),
    ("missing_prediction", "error"),
}
"""Values of policies that need another column, or stop at a case."""

NUMBERS = {"beta": (0, 0.5, 2), "threshold": (0.25, 0.95), "zero_division": ()}


@cache
def list_metrics(role: str) -> dict[str, SqlFile]:
    """Return the metrics of a role, by the text of each."""
    files = [
        file
        for file in LIBRARY.metrics.values()
        if find_input_role(LIBRARY, file) == role and find_section(file) not in LEFT_OUT
    ]
    return {format_metric(file): file for file in files if not file.measures_column}


def list_settings(role: str) -> list[tuple[str, Any]]:
    """Return the values of all policies that a metric of a role reads, and of a few parameters."""
    read = {}
    for metric in list_metrics(role):
        (resolved,) = resolve_metrics([metric], LIBRARY, None, {}, [role])
        read |= dict.fromkeys(
            sorted(
                accepted_settings(resolved, LIBRARY)
                - {*LIBRARY.formulas, *INTERNAL_PARAMETERS, "aggregate", "if_undefined"}
            )
        )
    pairs = [
        (name, value)
        for name in read
        for value in (
            LIBRARY.allowed_values(name)
            if name in LIBRARY.policies
            else [*LIBRARY.functions[name]]
            if name in LIBRARY.functions
            else NUMBERS.get(name, ())
        )
    ]
    return [pair for pair in pairs if pair not in NEEDS_MORE]


def find_wrong_nulls(role: str, name: str, value: Any) -> list[tuple[str, str, Any]]:
    """Return the metrics and cases whose value is NULL though none of their sentences says so, or
    the other way.
    """
    chosen = []
    for metric in list_metrics(role):
        try:
            resolve_metrics([metric], LIBRARY, None, {name: value} if name else {}, [role])
        except sqlrank.MetricError:  # the metric does not read the policy, or has no such value
            continue
        chosen.append(metric)
    tables = [
        pa.table({**rows, "case": [case] * len(next(iter(rows.values())))})
        for case, rows in CASES[role].items()
    ]
    source = pa.concat_tables(tables, promote_options="permissive")
    sources = {"predictions": source} if role == "predictions" else {"inputs": {role: source}}
    options = {name: value} if name else {}
    wrong = []
    for row in (
        sqlrank.evaluate(chosen, **sources, by="case", **options).to_pylist() if chosen else []
    ):
        for metric in chosen:
            file = list_metrics(role)[metric]
            settings = {**dict(sqlrank.parse(metric).params), **options}
            if row[metric] is None and not is_undefined(file, CASES[role][row["case"]], settings):
                wrong.append((metric, row["case"], file.annotations["Undefined"]))
    return wrong


def test_every_sentence_has_a_condition():
    for role in CASES:
        for metric, file in list_metrics(role).items():
            assert file.annotations["Undefined"].rstrip(".").removesuffix(BEST) in UNDEFINED, (
                metric,
                file.annotations["Undefined"],
            )


@pytest.mark.slow
@pytest.mark.parametrize("role", select_few([*CASES], 1))
def test_null_is_what_a_file_calls_undefined(role):
    assert find_wrong_nulls(role, "", None) == []


@pytest.mark.slow
@pytest.mark.parametrize("role", CASES)
def test_null_is_what_a_file_calls_undefined_under_every_policy(role):
    wrong = {
        (name, value): found
        for name, value in list_settings(role)
        if (found := find_wrong_nulls(role, name, value))
    }
    assert wrong == {}


@pytest.mark.parametrize("average", select_few(["micro", "macro", "weighted", "samples"], 1))
@pytest.mark.parametrize("division", ["zero", "one", "skip"])
def test_null_of_averages_is_what_their_files_call_undefined(average, division):
    """Both policies at once: a class without a ratio counts as zero_division says, also if no class
    has one.
    """
    table = pa.concat_tables(
        [
            pa.table({**rows, "case": [case] * len(rows["label"])})
            for case, rows in CLASS_LABELS.items()
        ]
    )
    metrics = [metric for metric in list_metrics("class_labels") if metric.startswith("Multilabel")]
    settings = {"average": average, "zero_division": division}
    for row in sqlrank.evaluate(
        metrics, inputs={"class_labels": table}, by="case", **settings
    ).to_pylist():
        for metric in metrics:
            file = list_metrics("class_labels")[metric]
            assert (row[metric] is None) == is_undefined(
                file, CLASS_LABELS[row["case"]], settings
            ), (row["case"], metric)
