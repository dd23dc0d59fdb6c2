"""Names of metrics in words: aliases are stored without blanks, and readers search for words."""

from __future__ import annotations

import re
from functools import cache

from sqlrank.registry.loader import load_registry

_FURTHER = (
    "adjusted aggregate at author average balanced basic catalogue closest cluster completeness"
    " coverage covered cross distance diversity entropy explained f1 fowlkes frequency index"
    " inverse invariant k likelihood mallows merge miss normalized of popularity purity quality r2"
    " rate recommendation score skill talburt users variance wang"
)
"""Words of names that no comment of a metric has."""


@cache
def _load_vocabulary() -> frozenset[str]:
    files = [*load_registry().metrics.values(), *load_registry().curves.values()]
    return frozenset(
        word.lower() for file in files for word in re.findall("[A-Za-z]{3,}", file.doc)
    ) | frozenset(_FURTHER.split())


def separate_words(name: str) -> str:
    """Return a name with blanks between the fewest words that it is made of, or as it is.

    >>> separate_words("meanreciprocalrank"), separate_words("auroc")
    ('mean reciprocal rank', 'auroc')
    """

    @cache
    def split_words(start: int) -> tuple[str, ...] | None:
        if start == len(name):
            return ()
        stops = (
            end for end in range(start + 1, len(name) + 1) if name[start:end] in _load_vocabulary()
        )
        splits = [
            (name[start:end], *rest) for end in stops if (rest := split_words(end)) is not None
        ]
        return min(splits, key=len, default=None)

    return " ".join(split_words(0) or (name,))
