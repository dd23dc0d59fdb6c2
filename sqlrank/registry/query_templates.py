"""Load the SELECTs of SQL files with their comments, and write the sentence on the rows of a
CTE.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from sqlrank.errors import ContractError, join_words
from sqlrank.registry.sql_file import NO_CUTOFF, SqlFile
from sqlrank.registry.sql_folder import sql_root, strip_header_comment
from sqlrank.sql_ast import find_nodes

RELATIONS_FOLDER = "relations/"
_FOLDERS = re.compile(r"^(relations|analyses)/")
"""Folders that the name of a source is written without: it is that of its step."""

_CUTOFF_WORDS = [
    (re.compile(r" at ranks 1 to k\b| among (?:its|their) first k\b"), ""),
    (re.compile(r"\bfirst k documents\b"), "documents"),
    (re.compile(r"\b(?:in|among) the first k of\b"), "in"),
]
"""Patterns of words on a cut-off, and their replacements if all ranks count."""

_IN_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_NO_NOUN = re.compile(
    r"(?:or|and"
    r" (?:one|several|whether|how)|with|without|whose|where|that|which|of|in|at|for|by|its|the|an?|even|including|but|if) "  # noqa: E501
)
"""The beginning of a part that is no further noun of an enumeration, but says more about the
rows.
"""


@dataclass(frozen=True)
class RowSentence:
    """The sentence on the rows of a CTE, in parts: the nouns of which each combination has a row,
    and the words after them.

    Nouns are enumerated up to the first ``and``. In a sentence without one there is a single noun.

    >>> RowSentence.parse(
    ...     "one row per group, class and pair of an observed and a predicted label, without ids: its weight"
    ... )
    RowSentence(nouns=('group', 'class', 'pair of an observed and a predicted label'), rest=', without ids: its weight')
    """  # noqa: E501

    nouns: tuple[str, ...]
    rest: str

    @classmethod
    def parse(cls, sentence: str) -> RowSentence:
        """Return the parts of a sentence; of one that does not begin with ``one row per`` all is
        the rest.
        """
        if not sentence.startswith("one row per "):
            return cls((), sentence)
        text, colon, columns = sentence.removeprefix("one row per ").partition(": ")
        hidden = _IN_BRACKETS.sub(
            lambda match: "_" * len(match[0]), text
        )  # commas in brackets enumerate something else
        stops = [*(place.start() for place in re.finditer(", ", hidden)), len(text)]
        parts = [
            text[start:stop].removeprefix(", ")
            for start, stop in zip([0, *stops], stops, strict=False)
        ]
        count = next(
            (place for place, part in enumerate(parts) if _NO_NOUN.match(part)), len(parts)
        )
        last = next((place for place, part in enumerate(parts[:count]) if " and " in f" {part}"), 0)
        nouns = filter(None, (*parts[:last], *f" {parts[last]}".split(" and ", 1)))
        return cls(tuple(noun.strip() for noun in nouns), f"{text[stops[last] :]}{colon}{columns}")

    def name_keys(self, keys: Mapping[str, Sequence[str]]) -> str:
        """Return the sentence with the names of columns in place of nouns such as ``group``, and
        without those that have no columns.
        """
        named: list[str] = []
        nouns: list[str] = []
        rest = self.rest
        for noun in self.nouns:
            word, blank, qualifier = noun.partition(" ")
            if word not in keys:
                nouns.append(noun)
                continue
            names = [name for name in keys[word] if name not in named]
            named += names
            if names:
                nouns += [*names[:-1], f"{names[-1]}{blank}{qualifier}"]
            elif len(self.nouns) == 1 and qualifier:
                rest = (
                    f" {qualifier}{rest}"
                    if qualifier.startswith("for ")
                    else f", for a {noun}{rest}"
                )
        for word, columns in keys.items():
            rest = re.sub(rf" per {word}\b(?P<next> and\b)?", partial(_name_in_rest, columns), rest)
        return (
            f"One row{' per ' if nouns else ''}{join_words(nouns)}{rest}"
            if self.nouns
            else f"{rest[:1].upper()}{rest[1:]}"
        )


def describe_rows(sentence: str, keys: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the comment of a step: a sentence on its rows. Each word of ``keys``, such as
    ``list``, is replaced by the names of the columns that identify it; without columns it is left
    out.

    >>> describe_rows("one row per list", {"list": ["system", "query"]}), describe_rows(
    ...     "one row per group, with its sums.", {"group": []}
    ... )
    ('One row per system and query.', 'One row, with its sums.')
    """
    return f"{name_keys_of_rows(sentence, '', keys)}."


def describe_aggregate(rows: str) -> str:
    """Return the sentence on the rows of an aggregate by list or group: those that have a row in a
    relation, given the sentence on its rows.

    >>> describe_aggregate(
    ...     "one row per list and rank of a relevant document: no id"
    ... ), describe_aggregate("one row per list: its length")
    ('one row per group with a relevant document', 'one row per group')
    >>> describe_aggregate(
    ...     "one row per group and distinct score of a positive"
    ... ), describe_aggregate("one row per group and score")
    ('one row per group with a positive', 'one row per group')
    """
    parts = RowSentence.parse(rows.partition(":")[0])
    counted = [
        re.sub(r"^.* of a (?=positive)|^rank of a ", "", noun)
        for noun in parts.nouns[1:]
        if not re.search(r"\bk\b", noun)
    ]
    kind = next(
        (noun for noun in counted if "document" in noun or noun.startswith("positive")), None
    )
    has_others = re.match(r", or |, and one (?!per )", parts.rest) is not None
    return "one row per group" if kind is None or has_others else f"one row per group with a {kind}"


def name_keys_of_rows(sentence: str, source: str, keys: Mapping[str, Sequence[str]] | None) -> str:
    """Return the sentence of the comment of a step, see ``describe_rows``, without its full stop.

    Of the sentence of a relation, the columns after the colon are left out: those that a statement
    reads have comments of their own, and others are pruned.

    >>> keys = {"group": ["campaign", "day"], "list": ["system", "query"]}
    >>> name_keys_of_rows("one row per group and distinct score", "relations/scores.sql", keys)
    'One row per campaign, day and distinct score'
    >>> name_keys_of_rows("one row per list: its length and rank", "relations/lists.sql", keys)
    'One row per system and query'
    """
    sentence = " ".join(sentence.split()).removesuffix(".")
    if source.startswith(RELATIONS_FOLDER):
        sentence = sentence.partition(": ")[0]
    return RowSentence.parse(sentence).name_keys(keys or {})


def _name_in_rest(names: Sequence[str], match: re.Match[str]) -> str:
    """Return the columns in place of a noun after the enumeration, before what follows it."""
    following = match["next"] or ""
    return (
        f" per {', '.join(names) if following else join_words(names)}{following}"
        if names
        else " per" * bool(following)
    )


def append_source(sentence: str, source: str, note: str = "") -> str:
    """Return a sentence without a full stop as the comment of a step: with it, then the note of its
    file, and the source in brackets.
    """
    notes = f" {note}." if note else ""
    return f"{sentence}.{notes}{f' ({format_source_name(source)})' if source else ''}"


def substitute_cutoff(sentence: str, cutoff: object) -> str:
    """Return a sentence with the cut-off in place of k, or without the words on k if all ranks
    count.

    A cut-off that only the statement's reader knows stays k.

    >>> sentence = "lists that have the document among their first k"
    >>> substitute_cutoff(sentence, 10), substitute_cutoff(sentence, NO_CUTOFF)
    ('lists that have the document among their first 10', 'lists that have the document')
    >>> substitute_cutoff("share of the first k documents", NO_CUTOFF), substitute_cutoff(
    ...     "in the first k of any of its lists", NO_CUTOFF
    ... )
    ('share of the documents', 'in any of its lists')
    """
    if cutoff == NO_CUTOFF:
        for words, remainder in _CUTOFF_WORDS:
            sentence = words.sub(remainder, sentence)
        return sentence
    return re.sub(r"\bk\b", str(cutoff), sentence) if isinstance(cutoff, int) else sentence


def format_source_name(source: str) -> str:
    """Return the name of a file or table as the comment of a step has it."""
    return _FOLDERS.sub("", " ".join(source.split()))


class RowCheck:
    """A row check: a column of ``checks/<role>.sql`` that counts invalid rows.

    Its comment is the meaning of a violation.

    ``-- binary labels: label is neither 0 nor 1`` only applies to metrics that require binary
    labels.
    """

    def __init__(self, column: Any) -> None:
        self.column = column
        self.name: str = column.alias
        full_comment = " ".join(comment.strip() for comment in column.comments or ())
        requirement, colon, meaning = full_comment.partition(": ")
        self.requirement, self.meaning = (requirement, meaning) if colon else ("", full_comment)


def read_row_checks(path: Path) -> list[RowCheck]:
    """Read the row checks of a file."""
    return [RowCheck(column) for column in load_select(path).selects if column.comments]


def modified_ns(path: Path) -> int:
    """Return the modification time of a file in nanoseconds, which invalidates cached parses."""
    return path.stat().st_mtime_ns


def load_select(*path: str | Path) -> exp.Select:
    """Read the SELECT of a file, given by path or parts of it."""
    return share_select(*path).copy()


def share_select(*path: str | Path) -> exp.Select:
    """Return the SELECT that later calls get, too, so that callers must copy what they change."""
    query = _find_query(*path)
    if not isinstance(query, exp.Select):
        raise ContractError(f"{'/'.join(map(str, path))}:1: one SELECT is expected")
    return query


def load_query(*path: str | Path) -> exp.Query:
    """Read the query of a file, given by path or parts of it."""
    return _find_query(*path).copy()


def _find_query(*path: str | Path) -> exp.Query:
    file = path[0] if isinstance(path[0], Path) else sql_root().joinpath(*path)
    return _read_query(file, modified_ns(file))


def file_comment(*path: str) -> str:
    """Return the comment of a file's step in statements: the first sentence, its note, and the path
    in brackets.
    """
    source = "/".join(path)
    note = SqlFile("relations", "", sql_root().joinpath(*path)).annotations.get("Note", "")
    return append_source(name_keys_of_rows(file_rows(*path), source, {}), source, note)


@cache
def file_rows(*path: str) -> str:
    """Return the first sentence of a file's comment, which defines its rows."""
    lines = sql_root().joinpath(*path).read_text("utf-8").splitlines()
    comment = " ".join(
        line.removeprefix("--").strip()
        for line in takewhile(lambda line: line.startswith("--"), lines)
    )
    return re.split(r"(?<=[.]) ", comment.partition(": ")[2], maxsplit=1)[0]


@cache
# Edit is part of the cache key
def _read_query(path: Path, edit: int) -> exp.Query:  # noqa: ARG001
    tree = sqlglot.parse_one(strip_header_comment(path.read_text("utf-8")), read="duckdb")
    if not isinstance(tree, exp.Query):
        raise ContractError(f"{'/'.join(path.parts[-2:])}:1: one query is expected")
    tree.comments = None
    folder = path.parent if path.parents[1].name == "analyses" else path.parents[1]
    stars = [each for each in tree.selects if isinstance(each, exp.Column) and each.is_star]
    for star in stars:
        files = [*folder.glob(f"{star.table}.sql"), *sorted(folder.glob(f"{star.table}/*.sql"))]
        for step in files[:1]:
            star.replace([exp.column(name) for name in load_query(step).named_selects])
    for node in tree.walk():
        # Source positions; copying them, even if empty, doubles the cost
        node._meta = None  # noqa: SLF001
    return tree


RepeatedNames = Mapping[tuple[str, ...], Sequence[tuple[str, ...]]]
"""Words that stand for a name each, and the names of each element."""


def repeat_columns(query: exp.Select, elements: RepeatedNames) -> exp.Select:
    """Repeat the columns of a query that stand for several, in place: a column whose names have
    words of a key once for each of its elements, with the element's names; so do parameters.

    The file declares the words as ``-- For each: ...``.

    >>> query = sqlglot.parse_one("SELECT day, SUM(amount) AS total_amount, MAX(first * second)")
    >>> names = {("amount",): [("cost",), ("price",)], ("first", "second"): [("cost", "price")]}
    >>> repeat_columns(query, names).sql()
    'SELECT day, SUM(cost) AS total_cost, SUM(price) AS total_price, MAX(cost * price)'
    """
    words = sorted({word for key in elements for word in key}, key=len, reverse=True)
    pattern = re.compile(rf"(?<![^_])(?:{'|'.join(words)})(?![^_])")
    named = (exp.Identifier, exp.Placeholder)
    columns: list[exp.Expr] = []
    for column in query.selects:
        read = {word for node in find_nodes(column, *named) for word in pattern.findall(node.name)}
        key = next(key for key in elements if {*key} == read) if read else ()
        for element in elements[key] if read else [()]:
            renamed = dict(zip(key, element, strict=True))
            repeated = column.copy()
            for node in find_nodes(repeated, *named):
                node.set("this", pattern.sub(partial(_rename_word, renamed), node.name))
            columns.append(repeated)
    query.set("expressions", columns)
    return query


def replace_column(query: exp.Select, name: str, columns: Iterable[exp.Expr]) -> None:
    """Put columns in the place of the one that stands for them in the file, in place."""
    select_items = [
        item
        for column in query.selects
        for item in (columns if column.alias_or_name == name else [column])
    ]
    query.set("expressions", select_items)


def _rename_word(names: Mapping[str, str], match: re.Match[str]) -> str:
    return names[match[0]]
