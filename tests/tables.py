"""Small tables of tests, whose columns are words."""

from typing import Any

import pyarrow as pa


def build_table(**columns: Any) -> pa.Table:
    """Return a table of columns that are given as words, such as ``label="1 0 NULL"``, or as values
    of any other form.
    """
    return pa.table(read_columns(**columns))


def read_columns(**columns: Any) -> dict[str, Any]:
    """Return columns as lists of values, of which those given as words are read."""
    return {
        name: [_read_word(word) for word in values.split()] if isinstance(values, str) else values
        for name, values in columns.items()
    }


def _read_word(word: str) -> str | float | None:
    """Return the number of a word that is one, None for NULL, and other words as they are."""
    if word == "NULL":
        return None
    for read in (int, float):
        try:
            return read(word)
        except ValueError:
            continue
    return word
