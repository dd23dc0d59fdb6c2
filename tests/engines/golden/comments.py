"""Find comments of a printed statement that are not true of it, from its text alone."""

import re
from collections.abc import Iterator

from sqlrank.registry.loader import load_registry
from tests.engines.golden.header import read_header

WIDTH = 100
"""Longest line of a comment in a statement."""

_BLOCK_COMMENT = re.compile(r"/\*(?!\+)")
_STEP = re.compile(
    r"(?m)^(?:WITH |\), )(?P<name>\S.*?) AS (?:NOT MATERIALIZED |MATERIALIZED )?\(\n(?P<comment>(?:"
    r"  -- .*\n)*)(?P<query>(?:(?!\)).*\n)*)"
)
_COLUMN_COMMENT = re.compile(r"-- .*")
_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_SOURCE = re.compile(r" ?\([^()]*\)$")
_HEADER_LINE = re.compile(
    r"-- (sqlrank \S+( for \w+( \w+)?)?|reads|settings|plan|made by|[a-z_]+): \S|-- (Rows of"
    r" several definitions|Means of lists|of two statements)"
    r"|-- \S+ is read from the run, and all judgments count in each "
)
_LOGICAL_KEY = re.compile(r"\bper (?:list|group)\b")


def find_comment_faults(text: str) -> Iterator[str]:
    """Yield a sentence for each comment that is too long, names no rows, or names a column that its
    step does not have.
    """
    columns = set(load_registry().relation_columns)
    yield from (
        f"the header has no such line: {line}"
        for line in read_header(text)
        if not _HEADER_LINE.match(line)
    )
    header, _, body = text.partition("\nWITH ")
    if _BLOCK_COMMENT.search(body):
        yield "a block comment"
    yield from (
        f"a comment is longer than {WIDTH} characters: {line}"
        for line in body.splitlines()
        if _is_long(line)
    )
    for step in _STEP.finditer(text[len(header) :]):
        comment = " ".join(
            line.strip().removeprefix("-- ") for line in step["comment"].splitlines()
        )
        sentence = _SOURCE.sub("", comment)
        if not comment:
            continue
        if not (sentence[0].isupper() and sentence.endswith(".")):
            yield f"CTE {step['name']}: no sentence says what its rows are: {comment}"
        if _LOGICAL_KEY.search(sentence):
            yield f"CTE {step['name']}: the comment names no columns of this statement: {comment}"
        missing = [
            name
            for name in _NAME.findall(sentence)
            if name in columns and name not in step["query"]
        ]
        yield from (
            f"CTE {step['name']}: the comment names {name}, which the step does not have"
            for name in missing
        )
    yield from _find_untrue_column_comments(text, columns)
    if "df, 11)" in body and "quantile of Student's t" not in body:
        yield "a polynomial in 1 / df: no comment says that it is the quantile of Student's t"


def _find_untrue_column_comments(text: str, columns: set[str]) -> Iterator[str]:
    """Yield a sentence for each comment of a column that names a column which its step does not
    have.
    """
    for step in _STEP.finditer(text):
        code = _COLUMN_COMMENT.sub("", step["query"])
        for comment in _COLUMN_COMMENT.findall(step["query"]):
            missing = [
                name for name in _NAME.findall(comment) if name in columns and name not in code
            ]
            yield from (
                f"CTE {step['name']}: a comment of a column names {name}, which the step does not"
                " have"
                for name in missing
            )


def _is_long(line: str) -> bool:
    return "-- " in line and len(line) > WIDTH and line.lstrip().startswith("-- ")
