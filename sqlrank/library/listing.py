"""What can be asked for, as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.errors import MetricError
from sqlrank.library.known import called
from sqlrank.library.metric import read

if TYPE_CHECKING:
    from sqlrank.library.file import SqlFile
    from sqlrank.library.library import Library

COLUMNS = ("name", "family", "parameters", "relation", "source", "description")
"""What is said of each metric."""


def listed(library: Library, word: str | None) -> list[dict[str, str]]:
    """Return what is said of every metric, or of those of which a word is said in any case or that are of the family, by family and name."""
    files = [*library.metrics.values(), *library.curves.values()]
    found = [_row(file) for file in files if word is None or _is_said(word.lower(), file, library)]
    return sorted(found, key=lambda row: (row["family"], row["name"].lower()))


def _is_said(word: str, file: SqlFile, library: Library) -> bool:
    texts = (file.title_name, file.about, *called(file.display_name, library))
    return word == _family(file) or any(word in text.lower() for text in texts)


def _family(file: SqlFile) -> str:
    return "curve" if file.kind == "curves" else file.path.parent.name


def _row(file: SqlFile) -> dict[str, str]:
    declared = [f"{param.name}={param.default_text}" if param.default is not None else param.name for param in file.params.values()]
    values = (
        file.title_name,
        _family(file),
        ", ".join([*declared, *(f"{choice.name}={choice.default}" for choice in file.choices.values())]),
        file.source_of_rows,
        file.source,
        file.about,
    )
    return dict(zip(COLUMNS, values, strict=True))


def better(column: str, library: Library) -> str:
    """Return whether ``higher`` or ``lower`` values of a column of a result are better, or ``neither``, as its metric's file says."""
    file = _file(column, library)
    if file is None or file.kind != "metrics" or file.is_total:
        return "neither"
    return file.facts.get("Better", "higher")


def is_count(column: str, library: Library) -> bool:
    """Whether a column of a result holds counts, or weights that are counts where each row weighs 1."""
    file = _file(column, library)
    return file is not None and file.kind == "metrics" and file.is_total


def _file(column: str, library: Library) -> SqlFile | None:
    try:
        return library.asked(read(column))
    except MetricError:
        return None
