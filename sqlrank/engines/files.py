"""Files: which a text names, by its path, a pattern or a folder, and how each is read."""

from __future__ import annotations

import glob
import itertools
import re
from pathlib import Path
from typing import Any

READERS = {
    ".parquet": "READ_PARQUET",
    ".csv": "READ_CSV",
    ".tsv": "READ_CSV",
    ".json": "READ_JSON",
    ".jsonl": "READ_JSON",
    ".ndjson": "READ_JSON",
}
"""The function that reads a file, by its ending."""

_EXTENSIONS = {
    "httpfs": ("http://", "https://", "s3://", "s3a://", "s3n://", "gs://", "gcs://", "r2://", "hf://"),
    "azure": ("az://", "azure://", "abfs://", "abfss://"),
    "excel": (".xlsx",),
    "avro": (".avro",),
    "sqlite": (".sqlite", ".sqlite3"),
}
"""Extensions of DuckDB that read what is not a file here, or not of these endings."""

COMPRESSIONS = (".gz", ".zst")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def is_file(source: Any) -> bool:
    """Whether a source is the path of a file, a pattern that matches one, or a folder that holds one."""
    return isinstance(source, (str, Path)) and bool(patterns(source))


def is_meant(source: Any) -> bool:
    """Whether a source can be but a file: a bare name is that of a table, even if there is a folder of that name."""
    return is_file(source) and not (str(source).isidentifier() and Path(source).is_dir())


def patterns(source: str | Path) -> list[str]:
    """Return the paths and globs of what a text names, an empty list if it names no file.

    A folder is its files but those whose names begin with a dot or ``_``, and those in its folders; of a pattern such as
    ``{a,b}/*.parquet`` each alternative has to match.
    """
    text = str(source)
    if not text:
        return []
    try:
        path = Path(text)
        if path.is_file():
            return [text]
        if path.is_dir():
            there = sorted(found for found in path.rglob("*") if found.is_file())
            return [str(found) for found in there if not any(part[0] in "._" for part in found.relative_to(path).parts)]
        found = [each for each in _alternatives(text) if glob.glob(each, recursive=True)]  # noqa: PTH207  a glob may be absolute
    except (OSError, ValueError):  # such as a text that is too long for a path, or has a NUL in it
        return []
    return found if len(found) == len(_alternatives(text)) else []


def paths(source: str | Path) -> list[Path]:
    """Return every file that a text names."""
    each = ([pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True)) for pattern in patterns(source))  # noqa: PTH207
    return [Path(found) for found in itertools.chain.from_iterable(each)]


def _alternatives(text: str) -> list[str]:
    """Return a pattern for each choice of what stands in braces: ``a{1,2}`` is ``a1`` and ``a2``."""
    match = _BRACES.search(text)
    if match is None:
        return [text]
    parts = (f"{text[: match.start()]}{part}{text[match.end() :]}" for part in match[1].split(","))
    return [each for part in parts for each in _alternatives(part)]


def ending(text: str | Path) -> str:
    """Return the ending that says how a file is read, without that of a compression; empty if it has none that is known."""
    path = Path(text)
    suffix = Path(path.stem).suffix if path.suffix in COMPRESSIONS else path.suffix
    return suffix.lower() if suffix.lower() in READERS else ""


def reader(text: str | Path) -> str | None:
    """Return the function that reads a file of this name, or None if it has no ending that is known."""
    return READERS.get(ending(text))


def extension_of(text: str) -> str | None:
    """Return the extension of DuckDB that a path or address needs, None if it needs none."""
    lowered = text.lower()
    return next((name for name, said in _EXTENSIONS.items() if lowered.startswith(said) or lowered.endswith(said)), None)
