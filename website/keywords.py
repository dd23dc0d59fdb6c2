"""Words that lead the site's search to a page, which the search compares before titles and text."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.sql_folder import read_toml, sql_root
from website.linked_pages import ROOT
from website.sections import group_by_section, list_aliases, locate_metric_page, spell_name

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

GUIDE, NAMED_METRIC, METRIC, OTHER = 4, 5, 2, 1
"""Weights of pages in the search: of guides, of metrics that users look for by words of their own,
of other metrics, and of the rest.
"""

REFERENCE = {"engines.md", "glossary.md", "plans.md", "speed.md", "troubleshooting.md"}
"""Pages of docs that are found after those that explain a term."""

FAMILY_SIZE = 4
"""Number of metrics from which on a word that they share is that of their family."""

_SEPARATORS = re.compile(r"[\s\-@(),!=\[\]]+")


@cache
def topic_words() -> dict[str, Any]:
    """Return the words of sql/settings/search.toml."""
    return read_toml(sql_root() / "settings" / "search.toml")


@cache
def read_keywords() -> dict[str, list[str]]:
    """Return the words of each page that has some, by its place."""
    topics = {name: topic["words"] for name, topic in topic_words()["topics"].items()}
    listed = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    keywords = {
        page: list(
            dict.fromkeys(phrase for word in words for phrase in (word, *topics.get(word, ())))
        )
        for page, words in listed.items()
    }
    return keywords | {
        locate_metric_page(file): _metric_keywords(file)
        for members in group_by_section().values()
        for file in members
    }


def join_phrase(phrase: str) -> str:
    """Return a phrase as the one word by which docs/assets/search.js finds it as a whole."""
    words = [word for word in _SEPARATORS.split(phrase.lower()) if word]
    return "_" + "_".join([word for word in words if word not in _stop_words()] or words)


@cache
def _stop_words() -> frozenset[str]:
    script = (ROOT / "docs" / "assets" / "search.js").read_text("utf-8")
    (listed,) = re.findall(r'STOP_WORDS = new Set\("([^"]+)"', script)
    return frozenset(listed.split())


def find_boost(page: str, *, is_written: bool) -> float:
    """Return the weight of a page in the search, by its place, and whether it is written by
    hand.
    """
    if page in _metric_boosts():
        return _metric_boosts()[page]
    return GUIDE if page not in REFERENCE and (is_written or page in read_keywords()) else OTHER


@cache
def _metric_boosts() -> dict[str, float]:
    return {
        locate_metric_page(file): NAMED_METRIC if _user_words(file) else METRIC
        for members in group_by_section().values()
        for file in members
    }


def _metric_keywords(file: SqlFile) -> list[str]:
    """Return the name of a metric, what other tools call it, and the words of users that lead to
    it.
    """
    name = file.display_name
    if name != file.full_name and _has_file(name):
        return [file.full_name]
    aliases = list_aliases().items()
    called = [words for words, text in aliases if parse_metric_text(text).name == name]
    words = [file.full_name, spell_name(file), *called, *_user_words(file)]
    return list({word.lower(): word for word in reversed(words)}.values())[::-1]


def _user_words(file: SqlFile) -> list[str]:
    """Return the words of users for a metric, without those of a whole family, such as blocking,
    which lead to its guide.
    """
    name, words = file.display_name, topic_words()["metrics"]
    if name != file.full_name and _has_file(name):
        return []
    uses = Counter(word for phrases in words.values() for word in phrases)
    return [word for word in words.get(name, []) if uses[word] < FAMILY_SIZE]


@cache
def _has_file(name: str) -> bool:
    """Return True if a file is called so, and others, such as AUC@k, are of a special case."""
    return any(
        file.full_name == name for members in group_by_section().values() for file in members
    )
