"""Metrics of other tools: the name and settings of a metric in each compatibility mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.registry.loader import load_registry
from sqlrank.registry.settings_checks import list_settings
from sqlrank.registry.sql_folder import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.registry.sql_file import SqlFile


def compare_tools(file: SqlFile) -> dict[str, tuple[dict[str, str], dict[str, Any]]]:
    """Return the names and settings of a metric in each mode that names it, or sets something for
    it alone.
    """
    rows = {
        mode: _describe_tool(read_toml(path), file)
        for mode, path in sorted(load_registry().compat_files.items())
    }
    return {mode: row for mode, row in rows.items() if row}


def _describe_tool(
    bundle: Mapping[str, Any], file: SqlFile
) -> tuple[dict[str, str], dict[str, Any]] | None:
    names = {
        theirs: ours
        for theirs, ours in bundle.get("names", {}).items()
        if _strip_parameters(ours) == file.display_name
    }
    own = {
        name: value
        for key, values in bundle.get("metrics", {}).items()
        if _strip_parameters(key) == file.display_name
        for name, value in values.items()
    }
    used = list_settings(file, load_registry())
    shared = {name: value for name, value in bundle.get("defaults", {}).items() if name in used}
    return (names, shared | own) if names or own else None


def _strip_parameters(text: str) -> str:
    return text.partition("@")[0].partition("(")[0]
