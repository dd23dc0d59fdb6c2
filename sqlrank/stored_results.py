"""Read stored results as Parquet, and the JSON and text in their metadata, which may be damaged or
forged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sqlrank.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


def read_parquet(path: str | Path, label: str, advice: str) -> pa.Table:
    """Read a Parquet file.

    Raises:
        InputError: The file cannot be read; the message begins with ``label``.
    """
    import pyarrow as pa  # help does not need it
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        # Arrow's messages about other formats mention magic bytes or the footer; damage inside a
        # Parquet file raises other OSErrors.
        is_other = any(
            text in str(error) for text in ("magic bytes", "file footer", "file size is 0 bytes")
        )
        reason = (
            "no Parquet file"
            if is_other
            else f"not readable: {(str(error).splitlines() or [''])[0]}"
        )
        raise InputError(f"{label} is {reason}. {advice}") from None


def read_json(
    metadata: Mapping[bytes, bytes] | None, key: str, fits: Callable[[Any], bool], label: str
) -> Any:
    """Parse the JSON of a metadata key.

    Raises:
        InputError: The key is missing, or its value does not pass ``fits``.
    """
    try:
        value = json.loads((metadata or {})[key.encode()])
    except (KeyError, ValueError, RecursionError):
        value = None
    if value is None or not fits(value):
        raise InputError(
            f"{label} has damaged metadata ({key}). Give a result as sqlrank returned or stored it"
        )
    return value


def read_texts(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    """Return the sqlrank entries of schema metadata as text by key."""
    return {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in (metadata or {}).items()
        if key.startswith(b"sqlrank.")
    }


def make_mapping_check(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a predicate for maps from text to values that pass ``fits``."""
    return lambda value: (
        isinstance(value, Mapping)
        and all(isinstance(key, str) and fits(entry) for key, entry in value.items())
    )


def is_text(value: Any) -> bool:
    """Return True if a value is a string."""
    return isinstance(value, str)
