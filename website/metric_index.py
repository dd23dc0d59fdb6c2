"""The tables of docs/metrics.md on the site: with links, better directions, metrics to start with
first under the names that guides use, counts in tables of their own, and a box that filters the
rows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.metric_info import better_direction, format_example_name
from website import sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.registry.sql_file import SqlFile

PLACE = "metrics.md"
FILTER = """
<div class="metric-filter" hidden>
<label>Find a metric: <input type="search" placeholder="recall, calibration, MRR, ..."></label>
<span role="status"></span>
<small>★ to start with</small>
</div>
<script src="assets/metrics.js" defer></script>

"""
HEAD = "| name | definition | better |\n|---|---|---|\n"
COUNTS_HEAD = "| name | definition |\n|---|---|\n"
_TABLE = re.compile(r"\| name \| definition \|\n\|---\|---\|\n((?:\|.+\|\n?)+)")
_ROW = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<about>.+) \|$", re.MULTILINE)
_UNLINKED = re.compile(r"(?<!\[)`(\w+(?:@\d+)?)`(?![^[]*\])")


def extend_tables(markdown: str) -> str:
    """Return the page of metrics with complete tables and the box that filters them."""
    chooser, heading, rest = markdown.partition("\n## ")
    rest = _TABLE.sub(lambda table: _build_tables(table[1]), rest)
    title, _, text = _UNLINKED.sub(lambda name: _link_metric(name[1]), chooser).partition("\n")
    return f"{title}\n{FILTER}{text}{heading}{rest}"


def _link_metric(name: str) -> str:
    """Return a name as code that leads to the page of its metric, if it has one."""
    files = load_registry().metrics | load_registry().curves
    canonical = sections.resolve_alias(name)
    file = next((item for item in files.values() if item.full_name == canonical), None)
    return f"`{name}`" if file is None else f"[`{name}`]({sections.locate_metric_page(file)})"


def _build_tables(rows: str) -> str:
    files = [_find_file(row["name"], row["about"]) for row in _ROW.finditer(rows)]
    order = [*sections.read_common_names()]
    files.sort(key=lambda file: order.index(file.full_name) if file.full_name in order else 999)
    counts = [file for file in files if file.full_name.startswith("num_")]
    metrics = [file for file in files if file not in counts]
    texts = []
    if metrics:
        cells = [(*_build_cells(file), _find_better(file)) for file in metrics]
        texts.append(HEAD + _format_rows(cells))
    if counts:
        texts.append(COUNTS_HEAD + _format_rows([_build_cells(file) for file in counts]))
    return "\nCounts:\n\n".join(texts)


def _format_rows(rows: Sequence[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _find_file(name: str, about: str) -> SqlFile:
    files = [*load_registry().metrics.values(), *load_registry().curves.values()]
    return next(
        file for file in files if (format_example_name(file), file.description) == (name, about)
    )


def _find_better(file: SqlFile) -> str:
    direction = better_direction(file.display_name, load_registry())
    return "" if file.kind == "curves" or direction == "neither" else direction


def _build_cells(file: SqlFile) -> tuple[str, str]:
    """Return the name of a metric that users write, then that of its file and others, which the box
    finds, and its description.
    """
    common_name, name = sections.find_common_name(file), format_example_name(file)
    is_alias = common_name != file.full_name
    link = f"[`{common_name if is_alias else name}`]({sections.locate_metric_page(file)})"
    mark = f" `{name}`" * is_alias + " ★" * (file.full_name in sections.read_common_names())
    words = [sections.spell_name(file)]
    words += [
        alias
        for alias, text in sections.list_aliases().items()
        if parse_metric_text(text).name == file.display_name
    ]
    hidden = f"<span hidden data-search-exclude>{', '.join(dict.fromkeys(words))}</span>"
    return f"{link}{mark}{hidden}", file.description
