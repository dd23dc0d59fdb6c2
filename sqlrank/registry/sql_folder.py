"""Find the folder of SQL files, list its files, strip their header comments, and read its TOML
files.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from sqlrank.errors import ContractError, short_repr


@cache
def sql_root() -> Path:
    """Return the folder of SQL files.

    It is inside the package in a wheel, and at the root of a checkout.
    """
    package = Path(__file__).resolve().parents[1]
    packaged = package / "sql"
    return packaged if packaged.is_dir() else package.parent / "sql"


FOLDERS = ("metrics", "curves", "relations", "functions", "checks", "compat", "inputs", "settings")
"""The subfolders that are read."""


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a pattern such as ``compat/*.toml``, at the top, where users have them,
    or in ``settings/`` or ``inputs/``, where the package has them.
    """
    return [
        path
        for place in (folder, folder / "inputs", folder / "settings")
        for path in sorted(place.glob(pattern))
    ]


FUNCTION_DEFAULTS = "functions"
"""Table of ``policies.toml`` with the default function of each slot."""


def list_sql_files(folder: Path) -> list[Path]:
    """List the files of a folder that are read, in order.

    Empty if the folder does not exist.
    """
    try:
        return sorted(
            [
                *folder.glob("*.toml"),
                *[
                    path
                    for name in FOLDERS
                    for path in (folder / name).rglob("*.*")
                    if path.is_file()
                ],
            ]
        )
    except OSError:  # such as a path that is too long
        return []


def strip_header_comment(text: str) -> str:
    """Blank the leading comment of a SQL file, keeping its line numbers.

    This speeds up parsing.
    """
    return re.sub(r"\A(?:--.*\n)+", lambda comment: "\n" * comment[0].count("\n"), text)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file of policies, plans, roles or compatibility settings."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ContractError(f"{path}:1: not TOML: {error}") from None


def read_tables(path: Path) -> dict[str, dict[str, Any]]:
    """Read a TOML file that consists of tables only.

    Raises:
        ContractError: A value is not in a table.
    """
    tables = read_toml(path)
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ContractError(
                f"{path}:1: {name} = {short_repr(table)} is in no table. Write a table [{name}]"
            )
    return tables


def read_choices(path: Path) -> dict[str, dict[str, Any]]:
    """Read the policies or plans of a file, and its default functions of slots.

    Raises:
        ContractError: A policy or plan has no table for each of its values.
    """
    choices = read_tables(path)
    for name, choice in choices.items():
        values = choice.get("values")
        if name == FUNCTION_DEFAULTS:
            continue
        if not isinstance(values, dict) or {*map(type, values.values())} != {dict}:
            raise ContractError(
                f"{path}:1: {name} needs a table for each of its values, such as"
                f" [{name}.values.none]"
            )
    return choices


def read_names(path: Path) -> dict[str, dict[str, Any]]:
    """Read the metric and argument names of other tools.

    Raises:
        ContractError: A name does not map to a text, or a spelling is not a valid pattern.
    """
    tables = read_tables(path)
    for section, names in tables.items():
        for name, value in names.items():
            may_be_list = section in {"arguments", "options", "differences", "columns", "siblings"}
            values = value if may_be_list and isinstance(value, list) else [value]
            if not {*map(type, values)} <= {str}:
                raise ContractError(
                    f"{path}:1: {name} of [{section}] is {short_repr(value)}. It must be a text"
                )
    for pattern, replacement in tables.get("spellings", {}).items():
        try:
            re.sub(pattern, replacement, "")
        except re.error as error:
            raise ContractError(
                f"{path}:1: {pattern!r} of [spellings] is no regular expression with what to write:"
                f" {error}"
            ) from None
    return tables
