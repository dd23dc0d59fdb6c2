"""Write the comment of a CTE: a sentence on its rows, with the columns of this statement in place of groups, lists and the cut-off."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlrank.errors import join_words
from sqlrank.registry.sql_file import NO_CUTOFF

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RELATIONS_FOLDER = "relations/"
"""Folder of relations, which the name of a source is written without: it is that of its step."""

_CUTOFF_WORDS = [
    (re.compile(r" at ranks 1 to k\b| among (?:its|their) first k\b"), ""),
    (re.compile(r"\bfirst k documents\b"), "documents"),
    (re.compile(r"\b(?:in|among) the first k of\b"), "in"),
]
"""Patterns of words on a cut-off, and their replacements if all ranks count."""

_QUALIFIER = r"(?:with|whose|where|that|which|of|in|at|for|its|the|an?)\b"
"""Words after a comma that qualify the rows; others continue the enumeration of their keys."""


def describe_rows(sentence: str, source: str = "", keys: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the comment of a step: a sentence on its rows, then the source in brackets.

    Of the sentence of a relation, the columns after the colon are left out: those that a statement reads have comments of their own, and
    others are pruned. Each word of ``keys``, such as ``list``, is replaced by the names of the columns that identify it; without columns it is left out.

    >>> keys = {"group": ["campaign", "day"], "list": ["system", "query"]}
    >>> describe_rows("one row per group and distinct score", "relations/scores.sql", keys)
    'One row per campaign, day and distinct score. (scores.sql)'
    >>> describe_rows("one row per list: its length and ideal rank", "relations/lists.sql", keys)
    'One row per system and query. (lists.sql)'
    >>> describe_rows("one row per list", keys=keys), describe_rows("one row per group, with its sums.", keys={"group": []})
    ('One row per system and query.', 'One row, with its sums.')
    """
    return append_source(name_keys_of_rows(sentence, source, keys), source)


def describe_aggregate(rows: str) -> str:
    """Return the sentence on the rows of an aggregate by list or group: those that have a row in a relation, given the sentence on its rows.

    >>> describe_aggregate("one row per list and rank of a relevant document: no id"), describe_aggregate("one row per list: its length")
    ('one row per group with a relevant document', 'one row per group')
    >>> describe_aggregate("one row per group and distinct score of a positive"), describe_aggregate("one row per group and score")
    ('one row per group with a positive', 'one row per group')
    """
    _, *items = re.split(r", | and ", rows.partition(":")[0])
    if any(item.startswith("one ") for item in items):
        return "one row per group"
    counted = (re.sub(r"^.* of a (?=positive)|^rank of a ", "", item) for item in items if not re.search(r"\bk\b", item))
    kind = next((item for item in counted if "document" in item or item.startswith("positive")), None)
    return "one row per group" if kind is None else f"one row per group with a {kind}"


def name_keys_of_rows(sentence: str, source: str = "", keys: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the sentence of the comment of a step, see ``describe_rows``, without its full stop."""
    sentence = " ".join(sentence.split()).removesuffix(".")
    if source.startswith(RELATIONS_FOLDER):
        sentence = sentence.partition(": ")[0]
    named: list[str] = []
    for word, columns in (keys or {}).items():
        names = [name for name in columns if name not in named]
        first = rf" per (?P<word>{word})\b(?P<next>(?: and|,(?! {_QUALIFIER})) )?(?P<qualifier> (?=\w))?"
        replaced = re.sub(first, lambda match, names=names: _replace_first_word(match, names), sentence)  # type: ignore[misc]
        if replaced == sentence:
            replaced = re.sub(rf"(\S+) and {word}\b", lambda match, names=names: join_words([match[1], *names]), sentence)  # type: ignore[misc]
        named += [] if replaced == sentence else names
        sentence = replaced
    return f"{sentence[:1].upper()}{sentence[1:]}"


def append_source(sentence: str, source: str) -> str:
    """Return a sentence without a full stop as the comment of a step: with it, and with the source in brackets."""
    return f"{sentence}. ({format_source_name(source)})" if source else f"{sentence}."


def substitute_cutoff(sentence: str, cutoff: object) -> str:
    """Return a sentence with the cut-off in place of k, or without the words on k if all ranks count.

    A cut-off that only the statement's reader knows stays k.

    >>> sentence = "lists that have the document among their first k"
    >>> substitute_cutoff(sentence, 10), substitute_cutoff(sentence, NO_CUTOFF)
    ('lists that have the document among their first 10', 'lists that have the document')
    >>> substitute_cutoff("share of the first k documents", NO_CUTOFF), substitute_cutoff("in the first k of any of its lists", NO_CUTOFF)
    ('share of the documents', 'in any of its lists')
    """
    if cutoff == NO_CUTOFF:
        for words, remainder in _CUTOFF_WORDS:
            sentence = words.sub(remainder, sentence)
        return sentence
    return re.sub(r"\bk\b", str(cutoff), sentence) if isinstance(cutoff, int) else sentence


def format_source_name(source: str) -> str:
    """Return the name of a file or table as the comment of a step has it."""
    return " ".join(source.split()).removeprefix(RELATIONS_FOLDER)


def _replace_first_word(match: re.Match[str], names: Sequence[str]) -> str:
    """Return the columns in place of the first word of an enumeration, before what follows it."""
    if match["next"]:
        return f" per {', '.join(names)}{match['next']}" if names else " per "
    if names:
        return f" per {join_words(names)}{match['qualifier'] or ''}"
    return f", for a {match['word']} " if match["qualifier"] else ""
