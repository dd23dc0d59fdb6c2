"""A sentence on the rows of steps of each form in one text, to be read: ``pytest
tests/engines/golden --rewrite-golden`` rewrites it.
"""

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from sqlrank.registry.query_templates import (
    append_source,
    describe_aggregate,
    describe_rows,
    name_keys_of_rows,
)
from sqlrank.registry.sql_folder import sql_root

SENTENCES = Path(__file__).with_name("row_sentences.txt")

KEYS = ({"group": [], "list": ["query"]}, {"group": ["campaign"], "list": ["system", "query"]})
"""The columns of groups and of lists: without a column, and with one."""

_FAULT = re.compile(
    r" per (?:and|or)\b| per,|\ba and\b|\ban? (?:with|even|one)\b| ,|\b(?:and|or|per)"
    r" (?:and|or)\b|\bper per\b|  |^One row (?!per|for)\w|\bper\W*$"
)
"""Words that a sentence has where a noun is missing."""

_FORM_WORDS = r"(?:one|row|per|and|or|several|(?:group|list|query|querie)s?)"
"""Words of a sentence that are replaced, or decide how it is divided."""


def list_sentences() -> Iterator[tuple[str, str]]:
    """Yield the sentences on rows of all files, with their file: that of its comment, and those
    within its statement.
    """
    for path in sorted(sql_root().rglob("*.sql")):
        # Comments have no folder of a family
        name = re.sub(r"^(relations/)\w+/", r"\1", str(path.relative_to(sql_root())))
        lines = path.read_text("utf-8").splitlines()
        comment = " ".join(
            line.removeprefix("--").strip()
            for line in takewhile(lambda line: line.startswith("--"), lines)
        )
        first = re.split(r"(?<=[.]) ", comment.partition(": ")[2], maxsplit=1)[0]
        inner = [
            line.strip().removeprefix("-- ")
            for line in lines
            if line.startswith(" ") and line.strip().startswith("-- one row")
        ]
        yield from (
            (name, sentence)
            for sentence in dict.fromkeys(
                [*([first] if first.startswith("one row") else []), *inner]
            )
        )


def describe(name: str, sentence: str) -> list[str]:
    """Return the different comments that a sentence becomes, and the sentence on its aggregate."""
    source = name if name.startswith("relations/") and ": " in sentence else ""
    comments = [
        append_source(name_keys_of_rows(sentence, source, keys), source).partition(" (relations/")[
            0
        ]
        for keys in KEYS
    ]
    aggregates = [describe_rows(describe_aggregate(sentence), keys) for keys in KEYS[:1]]
    return [*dict.fromkeys([*comments, *aggregates])]


def find_form(name: str, sentence: str) -> str:
    """Return a sentence without the words that are repeated as they are."""
    if not re.search(r"\b(group|list)s?\b", sentence):
        return f"{'file' if '/' in name else 'subquery'}, {': ' in sentence}"
    head = re.split("[:(]", sentence, maxsplit=1)[0]
    return re.sub(rf"(?!\b{_FORM_WORDS}\b)\b[\w'-]+\b( (?!{_FORM_WORDS}\b)[\w'-]+)*", "_", head)


def test_sentences_of_each_form(pytestconfig):
    forms = {}
    for name, sentence in sorted(list_sentences(), key=lambda pair: (len(pair[1]), pair[1])):
        forms.setdefault(find_form(name, sentence), (name, sentence))
    text = "\n".join(sorted({line for pair in forms.values() for line in describe(*pair)})) + "\n"
    if pytestconfig.getoption("--rewrite-golden"):
        SENTENCES.write_text(text, "utf-8")
    assert SENTENCES.read_text("utf-8") == text, (
        "if the change is meant, read what --rewrite-golden writes"
    )


def test_sentences_lack_no_noun():
    assert [
        line
        for name, sentence in list_sentences()
        for line in describe(name, sentence)
        if _FAULT.search(line)
    ] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "One row per or several to sum.",
        "One row per and one per prediction.",
        "One row per query with a and one per document.",
    ],
)
def test_a_missing_noun_is_noticed(sentence):
    assert _FAULT.search(sentence)


def test_a_long_name_takes_no_time():
    """A name of many letters is read once, and not from each of its letters."""
    name = "x" * 100_000
    assert describe_rows(
        f"one row per group and {name} and list", {"group": [name], "list": []}
    ).startswith("One row per x")
