"""Expand paths, globs and directories to files, find the reader and extension of each format, and
explain unreadable paths.
"""

from __future__ import annotations

import fnmatch
import glob
import itertools
import json
import os
import re
import shlex
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from sqlrank.call.sources import READER_FUNCTIONS, data_suffix
from sqlrank.errors import enumerate_names, quote_excerpt
from sqlrank.registry.sql_folder import read_toml, sql_root

_EXTENSIONS = {
    "httpfs": (
        "http://",
        "https://",
        "s3://",
        "s3a://",
        "s3n://",
        "gs://",
        "gcs://",
        "r2://",
        "hf://",
    ),
    "azure": ("az://", "azure://", "abfs://", "abfss://"),
}
"""DuckDB extensions that read remote addresses."""

MAX_NEIGHBORS = 1000
_EMPTY = "is empty. Check what should have written it"

_STATEMENT = re.compile(
    r"\s*(VALUES|TABLE|PIVOT|SHOW|DESCRIBE|SUMMARIZE|CALL|INSERT|UPDATE|DELETE|CREATE|COPY)[\s(]",
    re.IGNORECASE,
)
"""The beginning of a statement that is no query as a source."""

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_NAMED_FILE = re.compile(r"(?P<name>\w+):(?!//)(?P<path>.+)")
"""Pattern of a file after a name with a colon in place of the equals sign."""


def names_files(source: Any) -> bool:
    """Return True if a source names a file, or several by pattern or directory."""
    return isinstance(source, (str, Path)) and bool(expand_globs(source))


def is_unambiguous_file(source: Any) -> bool:
    """Return True if a source can only be a file.

    A bare name is a table, even if there is a directory of that name, unless that has tables.
    """
    return names_files(source) and (
        not str(source).isidentifier()
        or not Path(source).is_dir()
        or any(map(data_suffix, expand_globs(source)))
    )


def expand_globs(source: str | Path) -> list[str]:
    """Return the paths and globs that a text names, empty if it names no file.

    A directory expands to its files in all levels, except those whose name, or directory's name,
    begins with a dot or ``_``. In a pattern such as ``{a,b}/*.parquet`` every alternative must
    match.
    """
    text = str(source)
    if not text:
        return []
    try:
        path = Path(text)
        if path.is_file():
            return [text]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
            return [str(file) for file in files if not _is_hidden(file.relative_to(path))]
        # A glob may be absolute
        patterns = [
            pattern
            for pattern in _expand_braces(text)
            if glob.glob(pattern, recursive=True)  # noqa: PTH207
        ]
    except (OSError, ValueError):  # such as a text that is too long for a path, or contains NUL
        return []
    return patterns if len(patterns) == len(_expand_braces(text)) else []


def list_paths(source: str | Path) -> list[Path]:
    """Return every file that a text names."""
    matches = (
        [pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
        for pattern in expand_globs(source)
    )
    return [Path(path) for path in itertools.chain.from_iterable(matches)]


def includes_file(source: str | Path, path: Path) -> bool:
    """Return True if a directory or pattern includes a file, which need not exist."""
    try:
        if not str(source) or Path(source).is_file():
            return False
        if Path(source).is_dir():
            folder = Path(source).resolve()
            return path.is_relative_to(folder) and not _is_hidden(path.relative_to(folder))
        return any(
            _would_match(pattern, path)
            for pattern in _expand_braces(str(source))
            if glob.has_magic(pattern)
        )
    except (OSError, ValueError):
        return False


def _is_hidden(path: Path) -> bool:
    """Return True if readers of a directory skip a file of this relative path."""
    return any(part[0] in "._" for part in path.parts)


def _would_match(pattern: str, path: Path) -> bool:
    """Return True if a path would match a pattern, in its directory and name."""
    head, _, name = (pattern if Path(pattern).is_absolute() else f"./{pattern}").rpartition("/")
    if not fnmatch.fnmatchcase(path.name, name) or path.name[0] == "." != name[:1]:
        return False
    # A glob may be absolute
    folders = glob.glob(f"{head}/{name if name == '**' else ''}", recursive=True)  # noqa: PTH207
    return any(Path(folder).is_dir() and Path(folder).samefile(path.parent) for folder in folders)


def _expand_braces(text: str) -> list[str]:
    """Expand braces to one pattern per alternative: ``a{1,2}`` gives ``a1`` and ``a2``."""
    match = _BRACES.search(text)
    if match is None:
        return [text]
    expanded = (
        f"{text[: match.start()]}{alternative}{text[match.end() :]}"
        for alternative in match[1].split(",")
    )
    return [
        pattern for expanded_pattern in expanded for pattern in _expand_braces(expanded_pattern)
    ]


def required_extension(text: str) -> str | None:
    """Return the DuckDB extension that an address needs, None if it needs none."""
    return next(
        (name for name, schemes in _EXTENSIONS.items() if text.lower().startswith(schemes)), None
    )


def explain_extension(text: str, extension: str, is_loaded: bool) -> str:
    """Return the advice on a file that needs an extension of DuckDB, which the connection of the
    caller may have loaded.
    """
    path = text.replace("'", "''")  # without sqlglot, which the help of commands does not import
    query = f"SELECT * FROM '{path}'"
    if is_loaded:
        return (
            f"is read by a query on this connection, which has the extension {extension} of DuckDB:"
            f" {query}"
        )
    stem = PurePosixPath(urlsplit(text).path).stem
    name = "table" if not stem or glob.has_magic(stem) else stem
    reader = READER_FUNCTIONS.get(data_suffix(Path(text)), READER_FUNCTIONS[".parquet"]).lower()
    code = str(read_formats()["address"]["command"]).replace("{reader}", reader)
    return (
        f"needs the extension {extension} of DuckDB, and sqlrank loads none. Load it on a"
        f" connection of your own (INSTALL {extension}; LOAD {extension}), and give that with"
        f" connection=, and the query {query}. {make_parquet(code, text, name)}"
    )


def make_parquet(code: str, path: str, name: str) -> str:
    """Return the advice to make a Parquet file by a command of Python."""
    for key, value in {"{path}": path, "{file}": f"{name}.parquet"}.items():
        code = code.replace(key, json.dumps(value, ensure_ascii=False))
    return f"On the command line, make a Parquet file of it: python -c {shlex.quote(code)}"


@cache
def read_formats() -> dict[str, Any]:
    """Return the formats of files, with the advice for those that are not read."""
    return read_toml(sql_root() / "inputs" / "readers" / "formats.toml")


def explain_unreadable_path(text: str) -> str | None:
    """Return the reason that a path is not a readable file.

    None if it is one, or does not exist.
    """
    path = Path(text)
    try:
        if text and path.is_dir() and not names_files(text):
            return _unreadable_folder(path)
        if path.is_symlink() and not path.exists():
            return f"is a link to {str(path.readlink())!r}, which leads to no file. Check it"
        if path.exists() and not path.is_file() and not path.is_dir():
            return "is a pipe or a device, which can be read only once. Write it to a file first"
        if path.is_file() and path.stat().st_size == 0:
            with path.open("rb") as file:
                is_generated = file.read(1) != b""
            return (
                "has no size, since the system makes it as it is read. Copy it to a file first"
                if is_generated
                else _EMPTY
            )
        if path.is_file() and path.suffix.lower() == ".sql":
            return (
                "is a file of SQL. For the rows of its query, give sqlrank.query(Path(...)), or @"
                " and the path on the command line"
            )
    except (OSError, ValueError):
        pass
    return None


def _unreadable_folder(path: Path) -> str:
    try:
        next(path.rglob("*"), None)
        has_files = any(entry.is_file() for entry in path.iterdir())
    except OSError as error:
        return f"is a folder that cannot be read: {error.strerror}"
    if has_files:
        return (
            "is a folder of which not all files can be listed. Give a pattern of some, such as"
            " '*.parquet' in it"
        )
    return f"is a folder without files. Give a file, or a glob such as '{path / '*.parquet'}'"


def _explain_address(text: str) -> str:
    scheme, _, name = text.partition(":")
    if scheme in {"md", "motherduck"}:
        return (
            "An address of MotherDuck is no source. In Python, open duckdb.connect('md:'), give it"
            f" as the connection, and name the table {name!r}, or pipe the statement to it: sqlrank"
            f" sql ... {shlex.quote(name)} | duckdb md:"
        )
    if data_suffix(Path(text)) in READER_FUNCTIONS:
        return "An address is no source. Get the file, and give its path"
    return (
        "An address is no source. In Python, name its tables, and give an open connection to the"
        " database"
    )


def explain_path_notation(text: str) -> str:
    """Return a sentence on path notations of shells and other tools, empty for other paths."""
    if text == "-":
        return "Standard input can be read only once: write it to a file first"
    if text.startswith("file:"):
        return f"Give the path, {urlsplit(text).path!r}"
    if _STATEMENT.match(text):
        return "A query as a source begins with SELECT, WITH or FROM"
    if "://" in text or text.startswith(("md:", "motherduck:")):
        return _explain_address(text)
    if text.startswith("@"):
        return f"The query in a file is sqlrank.query(Path({text[1:]!r}))"
    if text.lstrip()[:1] in {"[", "{"}:
        return "Read a text of JSON with json.loads, or give the path of its file"
    # The same text for unknown users
    if text.startswith("~") and (expanded := os.path.expanduser(text)) != text:  # noqa: PTH111
        return f"'~' is no folder here: give {expanded!r}"
    # False for texts that are no path
    if (named := _NAMED_FILE.fullmatch(text)) is not None and os.path.exists(named["path"]):  # noqa: PTH110
        return f"The name of a system is written run={{{named['name']!r}: {named['path']!r}}}"
    if re.search(r"\sfrom\s", text, re.IGNORECASE):
        return "A query begins with SELECT, WITH or FROM"
    folder = Path(text).parent
    return (
        f"The folder {quote_excerpt(str(folder), is_name=True)} is not there"
        if _is_missing(folder)
        else ""
    )


def describe_folder(pattern: str) -> str:
    """Return a sentence on the paths in the folder of a pattern, empty for other paths."""
    neighbors = sorted(list_neighbors(pattern)) if glob.has_magic(pattern) else []
    return f"In its folder are {enumerate_names(neighbors)}" if neighbors else ""


def list_neighbors(text: str) -> list[str]:
    """List the paths in the same directory, in the same notation.

    Of large directories, only the first paths are listed.
    """
    folder = text[: text.rfind("/") + 1]
    try:
        with os.scandir(folder or ".") as entries:
            return [f"{folder}{entry.name}" for entry in itertools.islice(entries, MAX_NEIGHBORS)]
    except (OSError, ValueError):
        return []


def _is_missing(folder: Path) -> bool:
    try:
        return not folder.is_dir() and not any(letter in str(folder) for letter in "*?[")
    except (OSError, ValueError):
        return False
