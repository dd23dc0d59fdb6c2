"""Find lines that the header of a printed statement lacks, or has in another order, from its text
alone.
"""

import re
from collections.abc import Iterator
from itertools import takewhile

ORDER = ("sqlrank", "reads", "settings", "plan", "definition", "made by")
"""Lines of a header by their first words."""

_FIRST = re.compile(
    r"-- sqlrank \d\S* for [A-Z][\w ]*: \S.*, (one row\b|two statements\b|of two statements\b)"
)
_KEYWORD = re.compile(r"-- (sqlrank|[a-z]+(?: by)?)\b")
_NOT_CALLED = "scores of a linear model"
"""Statements of a trained model, which no command prints again."""


def read_header(text: str) -> list[str]:
    """Return the lines of the header of a statement, those that were wrapped as one."""
    lines = text.replace("\n--   ", " ").splitlines()
    return list(takewhile(lambda line: line.startswith("-- "), lines))


def find_header_faults(text: str) -> Iterator[str]:
    """Yield a sentence for each thing that a header does not say: dialect, rows, inputs, command,
    and another plan than buckets.
    """
    lines = read_header(text)
    first = lines[0] if lines else ""
    if not _FIRST.match(first):
        yield f"the header does not say dialect and rows: {first}"
    keywords = [match[1] for line in lines if (match := _KEYWORD.match(line)) and match[1] in ORDER]
    if keywords != sorted(keywords, key=ORDER.index):
        yield f"the header has another order: {', '.join(keywords)}"
    needed = ["reads"] if _NOT_CALLED in first else ["reads", "made by"]
    yield from (
        f"the header has no line '{keyword}'" for keyword in needed if keyword not in keywords
    )
    plan = next((line for line in lines if line.startswith("-- plan: ")), "")
    if (
        "score_order=buckets" in plan.partition(";")[0]
        and "alternative: " not in plan
        and "--plan " not in text
    ):
        yield f"the header names no alternative: {plan}"
