"""Metrics of other tools: the name and settings of a metric in each compatibility mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.registry.loader import load_registry
from sqlrank.registry.settings_checks import list_settings
from sqlrank.registry.sql_folder import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.registry.sql_file import SqlFile


def compare_tools(file: SqlFile, up: str) -> list[str]:
    """Return rows of a table of the modes that name a metric, or set something for it alone."""
    return [
        row
        for mode, path in sorted(load_registry().compat_files.items())
        if (row := _build_row(mode, read_toml(path), file, up))
    ]


def _build_row(mode: str, bundle: Mapping[str, Any], file: SqlFile, up: str) -> str:
    names = [
        f"`{theirs}`: `{ours}`"
        for theirs, ours in bundle.get("names", {}).items()
        if _strip_parameters(ours) == file.display_name
    ]
    own = {
        name: value
        for key, value in bundle.get("metrics", {}).items()
        if _strip_parameters(key) == file.display_name
        for name, value in value.items()
    }
    if not names and not own:
        return ""
    settings = {
        name: value
        for name, value in bundle.get("defaults", {}).items()
        if name in list_settings(file, load_registry())
    } | own
    setting_texts = ", ".join(f"`{name}={value}`" for name, value in settings.items())
    return f"| [{mode}]({up}/sql/compat.md#{mode}) | {', '.join(names)} | {setting_texts} |"


def _strip_parameters(text: str) -> str:
    return text.partition("@")[0].partition("(")[0]
