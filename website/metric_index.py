"""The tables of docs/metrics.md on the site: with links, better directions, metrics to start with
first, counts in tables of their own, and a box that filters the rows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.metric_info import better_direction, format_example_name, list_aliases
from website import families
from website.spelling import separate_words

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

PLACE = "metrics.md"
FILTER = """
<div class="metric-filter" hidden>
<label>Find a metric: <input type="search" placeholder="recall, calibration, MRR, ..."></label>
<span role="status"></span>
</div>
<script src="assets/metrics.js" defer></script>

"""
HEAD = "| name | definition | better |\n|---|---|---|\n"
_TABLE = re.compile(r"\| name \| definition \|\n\|---\|---\|\n((?:\|.+\|\n?)+)")
_ROW = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<about>.+) \|$", re.MULTILINE)
_CHOICE = re.compile(r"`(\w+(?:@\d+)?)`")


def extend_tables(markdown: str) -> str:
    """Return the page of metrics with complete tables and the box that filters them."""
    chooser = markdown.partition("\n## ")[0]
    common = {resolve_alias(name) for name in _CHOICE.findall(chooser)}
    text = _TABLE.sub(lambda table: _build_tables(table[1], common), markdown)
    title, _, rest = text.partition("\n")
    return f"{title}\n{FILTER}{rest}"


def resolve_alias(text: str) -> str:
    """Return the metric that a text asks for, which may have another name.

    >>> resolve_alias("MRR"), resolve_alias("Recall@5"), resolve_alias("Recall")
    ('RR', 'R', 'Recall')
    """
    name, at, _ = text.partition("@")
    aliases = load_registry().synonyms["aliases"]
    keys = (name.lower() + at, name.lower())
    return parse_metric_text(next((aliases[key] for key in keys if key in aliases), name)).name


def _build_tables(rows: str, common: set[str]) -> str:
    files = [_find_file(row["name"], row["about"]) for row in _ROW.finditer(rows)]
    files.sort(key=lambda file: file.full_name not in common)
    counts = [file for file in files if file.full_name.startswith("num_")]
    metrics = [file for file in files if file not in counts]
    tables = ["\n".join(_build_row(file, common) for file in part) for part in (metrics, counts)]
    texts = [HEAD + table + "\n" for table in tables if table]
    return "\nCounts:\n\n".join(texts)


def _find_file(name: str, about: str) -> SqlFile:
    files = [*load_registry().metrics.values(), *load_registry().curves.values()]
    return next(
        file for file in files if (format_example_name(file), file.description) == (name, about)
    )


def _build_row(file: SqlFile, common: set[str]) -> str:
    name = f"[`{format_example_name(file)}`]({families.locate_metric_page(file)})"
    mark = " ★" if file.full_name in common else ""
    direction = better_direction(file.display_name, load_registry())
    better = "" if file.kind == "curves" or direction == "neither" else direction
    aliases = list_aliases(file.display_name, load_registry())
    words = [families.spell_name(file), *(separate_words(alias.rstrip("@")) for alias in aliases)]
    hidden = f"<span hidden data-search-exclude>{', '.join(dict.fromkeys(words))}</span>"
    return f"| {name}{mark}{hidden} | {file.description} | {better} |"
