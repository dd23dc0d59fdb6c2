"""Where the SQL files are, and how files of settings are read."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from sqlrank.errors import ContractError


@cache
def sql_root() -> Path:
    """Return the folder of the SQL files: in the wheel beside this package, in a checkout at the root."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "sql"
    return packaged if packaged.is_dir() else package.parent / "sql"


FOLDERS = ("metrics", "curves", "relations", "functions", "checks", "compat")
"""The folders that are read, of those with SQL files."""


def files_in(folder: Path) -> list[Path]:
    """Return the files that are read of a folder, in order; none if it is not there."""
    try:
        return sorted([*folder.glob("*.toml"), *(path for name in FOLDERS for path in (folder / name).rglob("*.*") if path.is_file())])
    except OSError:  # such as a name that is too long for one
        return []


def code_of(text: str) -> str:
    """Return a SQL file without the comment that it begins with, in as many lines: it is longer than the SQL, and parsed as slowly."""
    return re.sub(r"\A(?:--.*\n)+", lambda comment: "\n" * comment[0].count("\n"), text)


def read_toml(path: Path) -> dict[str, Any]:
    """Return a file of policies, plans, roles or compatibility settings."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ContractError(f"{path}:1: not TOML: {error}") from None
