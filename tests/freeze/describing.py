"""Texts of results, in which every bit counts and nothing depends on the folder or the time of a
run.
"""

import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sqlrank.errors import SqlrankError

ROOT = Path(__file__).parents[2]
_VARYING = {
    re.escape(str(ROOT)): "<root>",
    rf"{re.escape(tempfile.gettempdir())}/[\w.+-]+(/(popen-)?[\w-]+\d+)*": "<tmp>",
    r"\b0x[0-9a-f]{6,}\b": "<address>",
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\+00:00": "<time>",
    r"(?<=\bsqlrank_)(\w+)_[0-9a-f]{8}\b": r"\1_<number>",
    r"\b(?:localhost|127\.0\.0\.1):\d+": "<port>",
}
"""What differs between two runs of one tree."""


def normalize(text: str) -> str:
    """Replace folders, addresses and times of a run."""
    for pattern, name in _VARYING.items():
        text = re.sub(pattern, name, text)
    return text


def describe(value: Any) -> str:
    """Return all that a result says, numbers in hexadecimal."""
    return normalize("\n".join(_list_lines(value)))


def describe_call(call: Callable[[], Any]) -> str:
    """Return the result of a call with its warnings, or its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            text = describe(call())
        except (SqlrankError, AttributeError, TypeError) as error:
            text = normalize(f"{type(error).__name__}: {error}")
    return "\n".join(
        [text, *(normalize(f"{item.category.__name__}: {item.message}") for item in caught)]
    )


def describe_file(path: Path) -> str:
    """Return a file: a table of Parquet, a text, or the size of anything else."""
    if path.suffix == ".parquet":
        return describe(pq.read_table(path))
    try:
        return normalize(path.read_text("utf-8"))
    except UnicodeDecodeError:
        return f"{path.stat().st_size} bytes"


def _list_lines(value: Any) -> Iterator[str]:
    if isinstance(value, pa.Table):
        yield from (f"column {field.name}: {field.type}" for field in value.schema)
        yield from (
            f"metadata {key.decode()}: {text.decode()}"
            for key, text in sorted((value.schema.metadata or {}).items())
        )
        yield from (" | ".join(map(_format_value, row.values())) for row in value.to_pylist())
    elif hasattr(value, "html"):
        yield value.html
    else:
        yield _format_value(value) if isinstance(value, float) else str(value)


def _format_value(value: Any) -> str:
    return value.hex() if isinstance(value, float) else repr(value)
