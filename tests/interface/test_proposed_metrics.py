"""Metrics and tables that a message proposes in the place of those given: each is one that the call
takes.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

import sqlrank
from sqlrank.call.request import Request
from sqlrank.call.resolve import resolve_request
from sqlrank.errors import InputError, SqlrankError
from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_folder import read_toml
from tests.interface.advice import follow, follow_all, follow_command
from tests.tables import read_columns

ROLES = ("predictions", "classified", "class_scores", "class_labels", "records")
THREE_CLASSES = read_columns(target="0 1 2 2 0", preds="0 1 1 2 1")
MCC = (5 * 3 - (2 * 1 + 1 * 3 + 2 * 1)) / ((25 - (1 + 9 + 1)) * (25 - (4 + 1 + 4))) ** 0.5
"""Of the counts of the classes (Gorodkin 2004): 3 of 5 are right, observed are 2, 1, 2 of them,
predicted 1, 3, 1.
"""
MACRO_F1 = (2 / 3 + 1 / 2 + 2 / 3) / 3
"""F1 of the classes of THREE_CLASSES by hand: of 0 it is 2 * 1 / (2 + 1), of 1 2 * 1 / (1 + 3), of
2 2 * 1 / (2 + 1).
"""


def _list_calls() -> Iterator[tuple[str, str | None]]:
    """Yield the names of other tools, each with the mode that has it."""
    for name in load_registry().synonyms["aliases"]:
        yield (f"{name}5" if name.endswith("@") else name), None
    for mode, path in load_registry().compat_files.items():
        for name in read_toml(path).get("names", {}):
            yield name.replace("*", "5") + "5" * name.endswith("@"), mode


def _find_message(metric: str, **arguments: Any) -> str:
    try:
        resolve_request(Request(metric, **arguments))
    except SqlrankError as error:
        return str(error)
    return ""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("role", ROLES)
def test_every_metric_that_is_proposed_takes_the_call(role):
    proposed = set()
    for name, mode in _list_calls():
        message = _find_message(name, sources={role: "t"}, compat=mode)
        for metric in (
            re.split(r", | or ", message.partition("Ask for ")[2].partition(", or give ")[0])
            if "is not given" in message
            else ()
        ):
            assert not _find_message(metric, sources={role: "t"}, compat=mode), (name, mode, metric)
            proposed.add(metric)
        if table := re.search(
            r"Give the table as (?:inputs=\{'(\w+)': 't'\}|(predictions)='t')$", message
        ):
            assert not _find_message(name, sources={table[1] or table[2]: "t"}, compat=mode), (
                name,
                mode,
                message,
            )
            proposed.add(message)
    assert len(proposed) >= 3, role


@pytest.mark.one_in(3)
@pytest.mark.parametrize("metric", ["f1_macro", "f1_score", "MulticlassFBeta", "mcc"])
@pytest.mark.parametrize("columns", [("target", "preds"), ("label", "score")])
def test_a_table_of_classes_is_given_as_one(metric, columns, tmp_path):
    """Whatever the metric and the columns are called, the advice leads to the metric of several
    classes.
    """
    path = tmp_path / "classes.csv"
    rows = zip(*THREE_CLASSES.values(), strict=True)
    path.write_text(
        "\n".join([",".join(columns), *(f"{label},{predicted}" for label, predicted in rows)])
    )
    mapping = {} if "label" in columns else dict(zip(("label", "score"), columns, strict=True))
    expected = {"f1_macro": MACRO_F1, "mcc": MCC}.get(metric, MACRO_F1)
    assert follow(metric, predictions=str(path), columns=mapping)[0] == pytest.approx(expected)
    options = [
        word for name, column in mapping.items() for word in ("--column", f"{name}={column}")
    ]
    output, _ = follow_command(
        "evaluate", metric, "--predictions", path, *options, "--format", "csv"
    )
    assert float(output.split()[1]) == pytest.approx(expected)


@pytest.mark.slow
def test_texts_of_both_columns_have_one_coding():
    """In the order of letters high is 0, low 1 and medium 2, in labels that lack high as well."""
    words = read_columns(label="low medium low medium", score="low high medium medium")
    assert follow_all("MAE", predictions=words) == pytest.approx([(0 + 2 + 1 + 0) / 4, 2 / 4])


@pytest.mark.parametrize("metric", ["accuracy", "zero_one_loss"])
def test_texts_have_one_coding_where_a_column_is_named_first(metric):
    """Codes of one column alone, before the other is named, made b and c of it 0 and 1."""
    words = read_columns(label="a b c b", predicted="b c b b")
    right = 0.25 if metric == "accuracy" else 0.75
    assert follow(metric, predictions=words)[0] == right


def test_the_only_text_of_a_column_is_not_left_out():
    with pytest.raises(InputError, match="no row has another value") as caught:
        sqlrank.evaluate("AUC", predictions={"label": [1, 0], "score": ["cat", "cat"]})
    assert "drop" not in str(caught.value)
    assert follow("AUC", predictions={"label": [1, 0], "score": ["cat", "cat"]})[0] == 0.5
