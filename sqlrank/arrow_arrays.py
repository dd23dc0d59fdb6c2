"""Build Arrow arrays and tables of Python values from buffers, since ``pyarrow.array`` imports
pandas wherever it is installed.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_VALUES_COPIED = 50_000
"""Maximum number of values in a list that are copied in Python; for more, ``pyarrow.array`` saves
more time than importing pandas takes.
"""

_TYPE_CODES = {float: ("d", pa.float64()), int: ("q", pa.int64())}
"""Type code of ``array.array`` and Arrow type of numbers, by Python type."""

_MATRIX_DIMENSIONS = 2

_BUFFER_TYPES = {
    ("d", 8): pa.float64(),
    ("f", 4): pa.float32(),
    ("q", 8): pa.int64(),
    ("l", 8): pa.int64(),
    ("i", 4): pa.int32(),
}
"""Arrow type of the elements of a buffer, by format and bytes."""


def to_array(values: Iterable[Any], arrow_type: pa.DataType | None = None) -> pa.Array:
    """Convert Python values to an Arrow array, of the type that ``pyarrow.array`` infers unless one
    is given.

    A NumPy array of two dimensions has a list for each row.

    >>> to_array(["a", None, "bc"]).to_pylist(), str(to_array([1, 2]).type)
    (['a', None, 'bc'], 'int64')
    """
    if getattr(values, "ndim", 1) == _MATRIX_DIMENSIONS:
        values = list(values)
    dtype: Any = getattr(values, "dtype", None)
    if not getattr(dtype, "isnative", True):  # in the other byte order
        values = values.astype(dtype.newbyteorder("="))  # type: ignore[attr-defined]
    try:
        built = (
            _from_values(values)
            if isinstance(values, (list, tuple, range))
            else _from_buffer(values)
        )
    except (
        OverflowError,
        UnicodeEncodeError,
    ):  # integers beyond 64 bits, texts of 2 GB and more, half a surrogate pair
        built = None
    if built is None:
        return pa.array(values, arrow_type)
    if arrow_type is None or built.type == arrow_type:
        return built
    # The cast would import pyarrow.compute, which takes longer than a first evaluation.
    return (
        pa.nulls(len(built), arrow_type)
        if built.null_count == len(built)
        else built.cast(arrow_type)
    )


def table_from_rows(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Convert rows to an Arrow table; a column without a value in a row is NULL there."""
    return pa.table(
        [to_array([row.get(field.name) for row in rows], field.type) for field in schema],
        schema=schema,
    )


def _from_values(values: Sequence[Any]) -> pa.Array | None:
    """Convert values that are all texts, all integers or all floats, or None; None for others, and
    for many.
    """
    if len(values) > MAX_VALUES_COPIED:
        return None
    types = set(map(type, values))
    value_type = next(iter(types - {type(None)}), None)
    if value_type is None:
        return pa.nulls(len(values))
    if value_type not in {str, *_TYPE_CODES} or not types <= {value_type, type(None)}:
        return None
    validity = _build_bitmap(values) if len(types) > 1 else None
    values = [value_type() if value is None else value for value in values] if validity else values
    if value_type is str:
        text = "".join(values)
        lengths = map(len, values if text.isascii() else map(str.encode, values))
        offsets = array("i", accumulate(lengths, initial=0))
        return pa.Array.from_buffers(
            pa.string(), len(values), [validity, pa.py_buffer(offsets), pa.py_buffer(text.encode())]
        )
    code, number_type = _TYPE_CODES[value_type]
    return pa.Array.from_buffers(
        number_type, len(values), [validity, pa.py_buffer(array(code, values))]
    )


def _from_buffer(values: Any) -> pa.Array | None:
    """Wrap the memory of a NumPy array of one dimension, None for other objects, and for masked
    arrays, whose memory has the values under the mask.
    """
    if type(values).__name__ == "MaskedArray":
        return None
    try:
        view = memoryview(values)
    except (TypeError, ValueError, BufferError):
        return None
    arrow_type = _BUFFER_TYPES.get((view.format, view.itemsize))
    if arrow_type is None or view.ndim != 1 or not view.c_contiguous:
        return None
    return pa.Array.from_buffers(arrow_type, len(view), [None, pa.py_buffer(view)])


def _build_bitmap(values: Sequence[Any]) -> pa.Buffer:
    """Return the bitmap of the values that are not None, the least bit of a byte first."""
    bits = "".join("0" if value is None else "1" for value in reversed(values))
    return pa.py_buffer(int(bits, 2).to_bytes(-(-len(bits) // 8), "little"))
