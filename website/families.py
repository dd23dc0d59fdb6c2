"""Folders of the pages of metrics: families are the folders of sql/metrics, and curves are one of
their own.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_folder import read_toml, sql_root
from website.page_templates import render_template

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

FAMILIES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
"""Title, description, usage and reading of each family, in the order of the navigation."""


def find_family(file: SqlFile) -> str:
    """Return the family of a metric."""
    return "curves" if file.kind == "curves" else file.path.parent.name


def group_by_family() -> dict[str, list[SqlFile]]:
    """Return the metrics of each family by name, counts last, in the order of the navigation."""
    files = sorted(
        [*load_registry().metrics.values(), *load_registry().curves.values()],
        key=lambda file: (file.full_name.startswith("num_"), file.full_name.lower()),
    )
    families = dict.fromkeys([*FAMILIES, *sorted({find_family(file) for file in files})])
    return {
        name: members
        for name in families
        if (members := [file for file in files if find_family(file) == name])
    }


def find_family_title(name: str) -> str:
    """Return the title of a family."""
    return FAMILIES[name]["title"] if name in FAMILIES else name.capitalize()


def locate_metric_page(file: SqlFile) -> str:
    """Return the page of a metric, below docs."""
    return f"metrics/{find_family(file)}/{file.path.stem}.md"


def find_usage(file: SqlFile) -> str:
    """Return when to use a metric: from its file, or from its family."""
    declared = file.annotations.get("Use when", "")
    return f"Use it when {declared}." if declared else _find_family_text(file, "usage")


def find_reading(file: SqlFile) -> str:
    """Return how to read the values of a metric: from its file, then from its family."""
    declared = file.annotations.get("Reading", "")
    sentences = f"{declared}." if declared else ""
    return " ".join(filter(None, [sentences, _find_family_text(file, "reading")]))


def _find_family_text(file: SqlFile, name: str) -> str:
    return FAMILIES.get(find_family(file), {}).get(name, "")


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


@cache
def list_aliases() -> dict[str, str]:
    """Return the metric of each name that it has in other tools, in words."""
    aliases = read_toml(sql_root() / "settings" / "names.toml")["aliases"]
    return {words.rstrip("@"): str(text) for words, text in aliases.items()}


def build_family_page(name: str) -> str:
    """Return the page of a family: its metrics in a table."""
    family = FAMILIES.get(name, {})
    about = "\n\n".join(family[key] for key in ("about", "usage", "reading") if key in family)
    return render_template(
        "family_page.md",
        title=find_family_title(name),
        about=about.replace("DOCS", "../.."),
        files=group_by_family()[name],
    )
