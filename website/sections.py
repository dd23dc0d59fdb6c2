"""Folders of the pages of metrics: one for each section of docs/metrics.md that has a table of
them.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.metric_info import format_example_name
from sqlrank.registry.sql_folder import read_toml, sql_root
from website.page_templates import render_template

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

SECTIONS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
"""Heading, description, usage and reading of each section, in the order of the navigation."""

PAGE = Path(__file__).parents[1] / "docs" / "metrics.md"
"""The page whose tables have all metrics."""

CHOICE = re.compile(r"`(\w+(?:@\d+)?)`")
"""A metric in the table of metrics to start with, as users write it."""


@cache
def _read_tables() -> dict[tuple[str, str], str]:
    """Return the section of each row of a table, by name and description: ``Gain`` is a metric and
    a curve.
    """
    names = {section["heading"]: name for name, section in SECTIONS.items()}
    return {
        row: names[heading]
        for heading, text in re.findall(
            r"^## (.+)\n((?:(?!## ).*\n)*)", PAGE.read_text("utf-8"), re.MULTILINE
        )
        if heading in names
        for row in re.findall(r"^\| `([^`]+)` \| (.+) \|$", text, re.MULTILINE)
    }


def find_section(file: SqlFile) -> str:
    """Return the section of a metric: that of its row."""
    return _read_tables()[format_example_name(file), file.description]


def group_by_section() -> dict[str, list[SqlFile]]:
    """Return the metrics of each section by the name that users write, counts last, in the order of
    the navigation.
    """
    files = sorted(
        [*load_registry().metrics.values(), *load_registry().curves.values()],
        key=lambda file: (file.full_name.startswith("num_"), find_common_name(file).lower()),
    )
    return {name: [file for file in files if find_section(file) == name] for name in SECTIONS}


def find_section_title(name: str) -> str:
    """Return the title of a section."""
    return SECTIONS[name]["heading"]


def locate_metric_page(file: SqlFile) -> str:
    """Return the page of a metric, below docs."""
    return f"metrics/{find_section(file)}/{file.name}.md"


def find_usage(file: SqlFile) -> str:
    """Return when to use a metric: from its file, or from its section."""
    declared = file.annotations.get("Use when", "")
    return f"Use it when {declared}." if declared else _find_section_text(file, "usage")


def find_reading(file: SqlFile) -> str:
    """Return how to read the values of a metric: from its file, then from its section."""
    declared = file.annotations.get("Reading", "")
    sentences = f"{declared}." if declared else ""
    return " ".join(filter(None, [sentences, _find_section_text(file, "reading")]))


def _find_section_text(file: SqlFile, name: str) -> str:
    return SECTIONS[find_section(file)].get(name, "")


def spell_name(file: SqlFile) -> str:
    """Return the name of a metric in words: that of its file, or its own with blanks.

    >>> from sqlrank.registry.loader import load_registry
    >>> [spell_name(load_registry().metrics[name]) for name in ("rr", "catalogcoverage", "num_q")]
    ['reciprocal rank', 'catalog coverage', 'num_q']
    """
    declared = file.annotations.get("Full name", "")
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", file.display_name)
    if declared or "".join(words) != file.display_name:
        return declared or file.display_name
    return " ".join(word if word.isupper() else word.lower() for word in words)


def resolve_alias(text: str) -> str:
    """Return the metric that a text asks for, which may have another name.

    >>> resolve_alias("MRR"), resolve_alias("Recall@5"), resolve_alias("Recall")
    ('RR', 'R', 'Recall')
    """
    name, at, _ = text.partition("@")
    aliases = load_registry().synonyms["aliases"]
    keys = (name.lower() + at, name.lower())
    return parse_metric_text(next((aliases[key] for key in keys if key in aliases), name)).name


@cache
def read_common_names() -> dict[str, str]:
    """Return the metrics to start with, each with the name that users write, such as ``Recall@k``
    for ``R``.
    """
    chooser = PAGE.read_text("utf-8").partition("\n## ")[0]
    names = {resolve_alias(text): text for text in CHOICE.findall(chooser)}
    return {
        name: name if text.partition("@")[0] == name else re.sub(r"@\d+", "@k", text)
        for name, text in names.items()
    }


def find_common_name(file: SqlFile) -> str:
    """Return the name of a metric that users write.

    >>> from sqlrank.registry.loader import load_registry
    >>> [find_common_name(load_registry().metrics[name]) for name in ("r", "rr", "recall")]
    ['Recall@k', 'MRR', 'Recall']
    """
    return read_common_names().get(file.full_name, file.full_name)


def format_menu_name(file: SqlFile) -> str:
    """Return the entry of a metric in the navigation: the name that users write, then another one
    of its file.

    >>> from sqlrank.registry.loader import load_registry
    >>> [format_menu_name(load_registry().metrics[name]) for name in ("r", "ndcg")]
    ['Recall@k (R)', 'nDCG']
    """
    name = find_common_name(file)
    return name if name == file.full_name else f"{name} ({file.full_name})"


@cache
def list_aliases() -> dict[str, str]:
    """Return the metric of each name that it has in other tools, in words."""
    aliases = read_toml(sql_root() / "settings" / "names.toml")["aliases"]
    return {words.rstrip("@"): str(text) for words, text in aliases.items()}


def build_section_page(name: str) -> str:
    """Return the page of a section: its metrics in a table."""
    section = SECTIONS[name]
    about = "\n\n".join(section[key] for key in ("about", "usage", "reading") if key in section)
    return render_template(
        "section_page.md",
        title=find_section_title(name),
        about=about.replace("DOCS", "../.."),
        files=group_by_section()[name],
        find_common_name=find_common_name,
    )
