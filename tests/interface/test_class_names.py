"""Names of classes: columns that share none, and the order of texts."""

from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import sqlrank
from sqlrank.errors import InputError
from tests.interface.advice import find_options, follow_all, read_notes
from tests.tables import build_table, read_columns

TRUTHS = {
    "integers": [1, 0, 1, 0],
    "booleans": [True, False, True, False],
    "doubles": [1.0, 0.0, 1.0, 0.0],
    "digits": ["1", "0", "1", "0"],
    "true": ["true", "false", "true", "false"],
    "True": ["True", "False ", "true", "FALSE"],
    "yes": ["yes", "no", "yes", "no"],
    "y": ["Y", "N", "Y", "N"],
    "positive": ["positive", "negative", "positive", "negative"],
}
WRONG_ROW = 2


QUICK = {("integers", "true"), ("yes", "integers"), ("True", "yes"), ("booleans", "digits")}
PAIRS = [
    pytest.param(*pair, marks=() if pair in QUICK else pytest.mark.slow)
    for pair in product(TRUTHS, TRUTHS)
]


@pytest.mark.parametrize(("label", "predicted"), PAIRS)
def test_words_and_numbers_for_yes_and_no(label, predicted):
    """Whatever columns say yes and no with: the advice leads to the same number, and none is needed
    where they agree.
    """
    values = TRUTHS[predicted].copy()
    values[WRONG_ROW] = values[WRONG_ROW + 1]
    classified = {"label": TRUTHS[label], "predicted": values}
    numbers = follow_all("MulticlassAccuracy", inputs={"classified": classified})
    assert numbers[-1] == 0.75
    assert len(numbers) == 1


# Labels, predicted classes, and the part of a message or note: refused where types differ, noted
# where a prediction may just be wrong.
OTHERS = {
    "numbers and words": ([0, 1, 2], ["cat", "dog", "cow"], "has 'cat', 'cow' and 'dog'. Give both the same names, such as by a mapping of label"),
    "numbers and digits": ([7, 8], ["7", "9"], ""),
    "a boolean and words": ([True, False], ["cat", "dog"], "has 'cat' and 'dog'. Give both the same names, such as by a mapping of label"),
    "words": (["a", "b"], ["x", "y"], "no class is both predicted and observed: classified.predicted has 'x' and 'y', and classified.label has 'a' and 'b'"),
    "numbers": ([1, 2], [3, 4], "no class is both predicted and observed: classified.predicted has 3 and 4"),
    "case": (["a", "b"], ["A", "B "], "differ in case or surrounding blanks only in 2 and 2 values"),
    "a shared one": (["a", "b"], ["b", "c"], ""),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("metric", ["MulticlassAccuracy", "MulticlassFBeta", "CohenKappa"])
@pytest.mark.parametrize("name", OTHERS)
def test_columns_without_a_shared_class(name, metric):
    labels, predicted, part = OTHERS[name]
    try:
        messages = read_notes(
            sqlrank.evaluate(
                metric, inputs={"classified": {"label": labels, "predicted": predicted}}
            )
        )
    except sqlrank.InputError as error:
        messages = [str(error)]
    assert any(part in message for message in messages) if part else messages == []


@pytest.mark.parametrize(
    ("label", "names"),
    [
        (["a", "b"], ["proba_a", "proba_b"]),
        ([0, 1], ["p0", "p1"]),
        (["cls-a", "cls-b"], ["a", "b"]),
        (["class a!", "class b!"], ["a", "b"]),
    ],
)
def test_names_of_classes_with_a_text_around_labels(label, names):
    rows = {"label": label, **dict(zip(names, [[0.9, 0.2], [0.1, 0.8]], strict=True))}
    numbers = follow_all(
        "TopKAccuracy@1", inputs={"multiclass_predictions": rows}, columns={"scores": names}
    )
    assert numbers == [1.0]
    classified = {"label": label, "predicted": names}
    assert follow_all("MulticlassAccuracy", inputs={"classified": classified}) == [1.0]


@pytest.mark.parametrize("label", [[1, 0, 0, 1], [True, False, False, True], [1.0, 0.0, 0.0, 1.0]])
def test_a_label_for_each_class_is_named(label, tmp_path):
    table = build_table(
        prediction_id="1 1 2 2", class_id="a b a b", score="0.9 0.1 0.4 0.6", label=label
    )
    path = tmp_path / "scores.parquet"
    pyarrow.parquet.write_table(table, path)
    numbers = follow_all("MulticlassLogLoss", inputs={"class_scores": str(path)})
    assert numbers == pytest.approx([0.308093], abs=1e-6)


@pytest.mark.parametrize(
    ("metric", "role", "columns"),
    [
        (
            "KrippendorffAlpha",
            "ratings",
            read_columns(item_id="1 1 2 2", judge_id="a b a b", rating=["yes", "Yes", "no", "No "]),
        ),
        ("MulticlassAccuracy", "classified", {"label": ["a", "A"], "predicted": ["A", "a"]}),
        ("CohenKappa", "classified", {"label": ["a", "b\u200b"], "predicted": ["a", "b"]}),
    ],
)
def test_classes_in_other_forms(metric, role, columns):
    assert follow_all(metric, inputs={role: columns}) == [1.0]


def test_classes_of_several_labels_in_one_form():
    rows = [(1, "Cat", 1, 0), (1, "cat", 0, 1), (2, "dog", 1, 1)]
    labels = dict(
        zip(
            ("prediction_id", "class_id", "label", "predicted"),
            zip(*rows, strict=True),
            strict=True,
        )
    )
    table = {"class_labels": pa.table({name: list(values) for name, values in labels.items()})}
    (note,) = read_notes(sqlrank.evaluate("MultilabelJaccard", inputs=table))
    assert (
        note
        == "class_labels.class_id and class_labels.class_id differ in case only in 1 and 1 values,"
        " such as 'cat' and 'Cat'. Write both in one form, in one row for each"
    )


@pytest.mark.parametrize(
    ("label", "predicted"),
    [
        ([1, 0, 2, 1], ["1.0", "0.0", "2.0", "0.0"]),
        ([1, 0, 1, 1], ["1.0", "0.00", "1.0", "0.0"]),
        (["1.50", "0.50", "1.50", "1.50"], ["1.5", "0.5", "1.5", "0.5"]),
    ],
)
def test_texts_of_numbers_become_the_same_classes(label, predicted, tmp_path):
    columns = {"label": label, "predicted": predicted}
    assert follow_all("MulticlassAccuracy", inputs={"classified": columns})[-1] == 0.75
    path = tmp_path / "classified.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    assert follow_all("MulticlassAccuracy", inputs={"classified": str(path)})[-1] == 0.75


LEVELS = ["low", "medium", "high", "low"]
ORDERED = {
    "WeightedKappa": {
        "classified": {"label": LEVELS, "predicted": ["low", "high", "high", "medium"]}
    },
    "KrippendorffAlpha(level_of_measurement=ordinal)": {
        "ratings": read_columns(
            item_id="1 1 2 2 3 3", judge_id=[1, 2] * 3, rating="low low medium high high low"
        )
    },
}
NUMBERED = {"low": 1, "medium": 2, "high": 3}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("metric", ORDERED)
def test_texts_of_ordered_classes_are_noted(metric):
    (role, columns), *_ = ORDERED[metric].items()
    names = [name for name in columns if name in {"label", "predicted", "rating"}]

    def evaluate(replaced):
        values = {
            **columns,
            **{name: [replaced[value] for value in columns[name]] for name in names},
        }
        result = sqlrank.evaluate(metric, inputs={role: values})
        return result[0][0].as_py(), read_notes(result)

    value, (note,) = evaluate({name: name for name in NUMBERED})
    assert (
        "have the order of letters: 'high' < 'low' < 'medium'. Number them in their own order, as"
        " columns={" in note
    )
    assert (
        evaluate({"low": "1", "medium": "2", "high": "3"})
        == evaluate(NUMBERED)
        == (evaluate(NUMBERED)[0], [])
    )
    assert value != pytest.approx(evaluate(NUMBERED)[0])
    assert (
        "Read them as numbers with columns={"
        in evaluate({"low": "9", "medium": "10", "high": "11"})[1][0]
    )
    mapping = {
        name: f"CASE {name} WHEN 'low' THEN 1 WHEN 'medium' THEN 2 WHEN 'high' THEN 3 END"
        for name in names
    }
    assert sqlrank.evaluate(metric, inputs={role: columns}, columns=mapping)[0][
        0
    ].as_py() == pytest.approx(evaluate(NUMBERED)[0])


LEVELS = ["low", "medium", "high"]


def _make_dictionaries(words: list[str], ordered: bool) -> pa.Array:
    indices = pa.array([LEVELS.index(word) for word in words])
    return pa.DictionaryArray.from_arrays(indices, pa.array(LEVELS), ordered=ordered)


DECLARED = {
    "pandas": lambda words: pa.array(pd.Categorical(words, categories=LEVELS, ordered=True)),
    "Polars": lambda words: pl.Series(words, dtype=pl.Enum(LEVELS)),
    "Arrow": lambda words: _make_dictionaries(words, ordered=True),
    "no order": lambda words: _make_dictionaries(words, ordered=False),
}


def _make_source(columns: dict[str, Any], form: str, folder: Path) -> Any:
    table = pa.table(columns) if isinstance(columns["label"], pa.Array) else pl.DataFrame(columns)
    if form != "Parquet":
        return columns if form == "dict" else table
    file = str(folder / "classes.parquet")
    if isinstance(table, pl.DataFrame):
        table.write_parquet(file)
    else:
        pyarrow.parquet.write_table(table, file)
    return file


@pytest.mark.one_in(8)
@pytest.mark.parametrize("form", ["table", "dict", "Parquet"])
@pytest.mark.parametrize("kind", DECLARED)
@pytest.mark.parametrize(
    ("metric", "role", "names"),
    [
        ("WeightedKappa", "classified", ("label", "predicted")),
        ("MAE", "predictions", ("label", "score")),
    ],
)
def test_a_mapping_has_the_order_that_types_declare(kind, metric, role, names, form, tmp_path):
    words = [["low", "medium", "high", "high", "low"], ["low", "high", "high", "medium", "medium"]]
    columns = dict(zip(names, words, strict=True))
    numbers = {name: list(map(LEVELS.index, values)) for name, values in columns.items()}
    declared = {name: DECLARED[kind](values) for name, values in columns.items()}
    source = _make_source(declared, form, tmp_path)
    try:
        (message,) = read_notes(sqlrank.evaluate(metric, inputs={role: source}))
    except InputError as error:
        message = str(error)
    mapping = find_options(message.partition("Of classes")[0])["columns"]
    advised = sqlrank.evaluate(metric, inputs={role: source}, columns=mapping)[0][0].as_py()
    right = sqlrank.evaluate(metric, inputs={role: numbers})[0][0].as_py()
    assert (advised == pytest.approx(right)) is (kind != "no order")
    assert ("type declares" in message) is (kind != "no order")


def test_metrics_without_an_order_have_no_note_on_it():
    classified = ORDERED["WeightedKappa"]
    assert (
        read_notes(
            sqlrank.evaluate(
                ["CohenKappa", "WeightedKappa(disagreement=nominal)"], inputs=classified
            )
        )
        == []
    )
    few = {"classified": {"label": ["low", "high"], "predicted": ["low", "low"]}}
    assert read_notes(sqlrank.evaluate("WeightedKappa", inputs=few)) == []
    frame = pd.DataFrame(classified["classified"]).astype(
        pd.CategoricalDtype(["low", "medium", "high"], ordered=True)
    )
    (note,) = read_notes(sqlrank.evaluate("WeightedKappa", inputs={"classified": frame}))
    assert "'high' < 'low' < 'medium'" in note
