"""Find the format of a file by its first bytes and its suffix, the table of a lake or unfinished
job that a file is part of, and booleans and texts in a JSON file.
"""

from __future__ import annotations

import glob
import os
import re
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlrank.call.sources import COMPRESSION_SUFFIXES, JSON_READER, READER_FUNCTIONS, data_suffix
from sqlrank.engines.file_sources import make_parquet, read_formats
from sqlrank.errors import InputError, enumerate_names, quote_excerpt
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import normalize_name
from sqlrank.registry.settings_checks import describe_argument
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

ARROW_READER = "ARROW"
"""Name of the reader of Arrow and Feather files, which Arrow reads and not DuckDB."""

PARQUET_READER = READER_FUNCTIONS[".parquet"]
_HEAD_BYTES = 4096
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")


@dataclass(frozen=True)
class FileFormat:
    """The format of a file.

    Attributes:
        reader: Function that reads it, None for text without a header, as of TREC.
        compression: Compression that its suffix does not name, or ``none`` for one that it names
            wrongly; empty for others.
    """

    reader: str | None
    compression: str = ""

    def read_option(self) -> list[exp.Expr]:
        """Return the argument of the reader that names the compression, none if the suffix does."""
        return (
            [exp.column("compression").eq(sql_literal(self.compression))]
            if self.compression
            else []
        )


def find_format(role: str, path: Path) -> FileFormat:
    """Return the format of a file.

    Raises:
        InputError: It cannot be read, or is of another format than those that are read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise InputError(
            f"{role}: {_quote_path(path)} cannot be read: {error.strerror}. Change its permissions,"
            " or give a copy"
        ) from None
    compression = next(
        (name for magic, name in _COMPRESSIONS.items() if head.startswith(magic)), None
    )
    if compression is not None:
        with _open_compressed(role, path) as stream:
            head = stream.read(_HEAD_BYTES)
    is_named = path.suffix in COMPRESSION_SUFFIXES
    option = (compression or "none") if is_named != (compression is not None) else ""
    text, named_reader = head.decode("latin-1"), READER_FUNCTIONS.get(data_suffix(path))
    is_text = named_reader == "READ_CSV" or (
        named_reader == JSON_READER and text.lstrip("\xef\xbb\xbf \t\r\n")[:1] in {"{", "["}
    )
    for pattern, entry in _compile_formats():
        if (entry.get("text") and is_text) or not pattern.match(text):
            continue
        if reader := entry.get("reader"):
            if compression is not None and reader in {PARQUET_READER, ARROW_READER}:
                name = reader.removeprefix("READ_").capitalize()
                raise InputError(
                    f"{role}: {_quote_path(path)} is {name} in a file of {compression}. Unpack it:"
                    f" {name} compresses its columns"
                )
            return FileFormat(
                reader if reader != JSON_READER or named_reader != "READ_CSV" else named_reader,
                option,
            )
        raise InputError(
            f"{role}: {_quote_path(path)} is {entry['name']}. {_next_step(entry, str(path), role)}"
        )
    if named_reader == PARQUET_READER or (named_reader is None and _CONTROL.search(text)):
        what = (
            f"is no Parquet file. It begins with {quote_excerpt(text[:20])}"
            if named_reader
            else "is no text, and of no format that is read"
        )
        raise InputError(
            f"{role}: {_quote_path(path)} {what}. Make a Parquet or CSV file of its rows, and name"
            " it by its format"
        )
    return FileFormat(named_reader, option)


def open_text(path: Path) -> pa.NativeFile:
    """Open a file of text, unpacked by its first bytes."""
    with path.open("rb") as file:
        magic = file.read(4)
    return pa.input_stream(
        str(path),
        compression=next(
            (name for start, name in _COMPRESSIONS.items() if magic.startswith(start)), None
        ),
    )


@contextmanager
def _open_compressed(role: str, path: Path) -> Iterator[pa.NativeFile]:
    """Open a compressed file; raise ``InputError`` if what is read of it is damaged."""
    try:
        with open_text(path) as stream:
            yield stream
    except (OSError, pa.ArrowException):
        raise InputError(
            f"{role}: {_quote_path(path)} is damaged: it does not unpack to what was compressed."
            " Get or write it again"
        ) from None


def check_compressed(role: str, files: Iterable[Path]) -> None:
    """Raise ``InputError`` for a compressed file that is damaged, whose checksum DuckDB does not
    compare.
    """
    for path in files:
        with path.open("rb") as file:
            is_compressed = file.read(2) == b"\x1f\x8b"
        if is_compressed:
            with _open_compressed(role, path) as stream:
                while stream.read(1 << 20):
                    pass


_NUMBER = re.compile(r"\d+")


def check_lake_tables(role: str, paths: Iterable[Path]) -> None:
    """Raise ``InputError`` for files of a table whose current rows are not those of all its
    files.
    """
    folders = dict.fromkeys(folder for path in paths for folder in (path, *path.absolute().parents))
    for folder in folders:
        for entry in read_formats()["folders"].values():
            first, _, rest = entry["marker"].partition("/")
            marker = os.path.join(folder, first)  # noqa: PTH118  thousands of folders
            if not os.path.lexists(marker):
                continue
            versions = glob.glob(rest, root_dir=marker) if rest else [""]  # noqa: PTH207
            if versions:
                # Extensions take a folder of several only by a setting.
                newest = max(
                    versions, key=lambda name: (int((_NUMBER.search(name) or [0])[0]), name)
                )
                path = Path(marker, newest) if rest else folder
                raise InputError(
                    f"{role}: {_quote_path(folder)} is {entry['name']}."
                    f" {_next_step(entry, str(path))}"
                )


def _quote_path(path: Path) -> str:
    return quote_excerpt(str(path), is_name=True)


def _next_step(entry: dict[str, Any], path: str, role: str = "") -> str:
    advice = str(entry["next"]).replace("{path}", sql_literal(path).sql("duckdb"))
    advice = advice.replace("{path!r}", repr(path))
    if entry.get("has_tables"):
        return advice + _name_tables(path, role)
    return advice + _write_command(entry["command"], path) if "command" in entry else advice


def _write_command(code: str, path: str) -> str:
    """Return the sentence with the command that makes a Parquet file of another."""
    name = next(iter(_list_sqlite_tables(path)), "...") if "{table}" in code else ""
    code = code.replace("{table}", name if name.isidentifier() else f"[{name}]")
    return f". {make_parquet(code, path, Path(path).name)}"


def _list_sqlite_tables(path: str) -> list[str]:
    """Return the names of the tables of a SQLite file, none if it cannot be read."""
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as db:
            return [name for (name,) in db.execute(query)]
    except sqlite3.Error:
        return []


def _name_tables(path: str, role: str) -> str:
    """Return the arguments that read a table of a DuckDB file, and the tables and views that it
    has; empty if it has none or cannot be opened.
    """
    try:
        with duckdb.connect(path, read_only=True) as connection:
            tables = connection.execute(
                "SELECT name, column_names FROM (SHOW ALL TABLES) WHERE schema = 'main'"
                " ORDER BY name"
            ).fetchall()
    except duckdb.Error:
        return ""
    if not tables:
        return ""
    mappings = [(name, _map_columns(role, columns)) for name, columns in tables]
    name, columns = max(mappings, key=lambda mapping: len(mapping[1]))
    # Columns of the names that are read need no mapping.
    columns = {own: column for own, column in columns.items() if column != own}
    mapping = f", columns={columns}" if columns else ""
    tables_there = enumerate_names([f"{name} ({enumerate_names(names)})" for name, names in tables])
    return f", {describe_argument(role, repr(name))}{mapping}. Its tables: {tables_there}"


def _map_columns(role: str, columns: Iterable[str]) -> dict[str, str]:
    """Return the columns of a table that may be those that every table of a role has."""
    library = load_registry()
    names = {normalize_name(column): column for column in columns}
    required = library.roles[role].columns.values() if role in library.roles else ()
    synonyms = library.synonyms["columns"]
    return {
        spec.name: names[other]
        for spec in required
        if spec.is_required
        for other in map(normalize_name, [spec.name, *synonyms.get(spec.name, [])][::-1])
        if other in names
    }


@cache
def _compile_formats() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """Return patterns with the formats of files that have them."""
    return [(re.compile(entry["pattern"]), entry) for entry in read_formats()["files"].values()]


_BLOCK_BYTES, _WORD_HEAD_BYTES = 1 << 20, 1 << 12


def has_only_numbers(files: Iterable[Path], num_values: int, unread: Collection[str]) -> bool:
    """Return True if no value of JSON files is a text, by the number of quotes, or a boolean.

    Each key has two, and so has a text. If there are no more than the keys have, there is no text.

    Args:
        files: the files.
        num_values: number of values that were read, each of which has a key.
        unread: keys whose values were not read. They are identifiers.
    """
    num_keys, num_quotes = num_values, 0
    keys = [f'"{name}":'.encode() for name in unread]
    for path in files:
        end = b""
        for block in _read_blocks(path):
            if _has_boolean(end, block):
                return False
            num_quotes += block.count(b'"')
            num_keys += sum(
                block.count(key) + _join_boundary(end, block, key).count(key) for key in keys
            )
            end = block
    return num_quotes == 2 * num_keys


def mentions_booleans(files: Iterable[Path]) -> bool:
    """Return False if no file has a text of a boolean anywhere, which takes less time than to read
    its columns as texts.
    """
    for path in files:
        end = b""
        for block in _read_blocks(path):
            if _has_boolean(end, block):
                return True
            end = block
    return False


def _read_blocks(path: Path) -> Iterator[bytes]:
    with open_text(path) as file:
        while block := file.read(_BLOCK_BYTES):
            yield block


def _join_boundary(before: bytes, block: bytes, word: bytes) -> bytes:
    """Return the bytes in which a word is that begins in one block and ends in the next."""
    return before[1 - len(word) :] + block[: len(word) - 1]


def _has_boolean(before: bytes, block: bytes) -> bool:
    """Return True if a boolean ends in a block, or began in the one before."""
    words = (b"true", b"false")
    return any(
        _has_word(block, word) or word in _join_boundary(before, block, word) for word in words
    )


def _has_word(text: bytes, word: bytes) -> bool:
    """Return True if a word is in a text.

    One letter is found ten times as fast, and the rows of most files lack one of the word's: their
    first ones show which.
    """
    head = text[:_WORD_HEAD_BYTES]
    letter = min((word[i : i + 1] for i in range(len(word))), key=head.count)
    return letter in text and word in text
