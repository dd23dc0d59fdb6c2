"""Set and restore settings of DuckDB, and run a query with its perfect hash table, which groups dense integers."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import duckdb

from sqlrank.errors import InputError, first_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


def set_setting(connection: duckdb.DuckDBPyConnection, name: str, value: Any) -> None:
    """Set a setting that has another value.

    A notebook without widgets refuses every change of the progress bar, also to the value that it has.

    Raises:
        InputError: The value is invalid.
    """
    try:
        current = connection.execute("SELECT current_setting(?)", [name]).fetchall()[0][0]
        if str(current).lower() != str(value).lower():
            connection.execute(f"SET {name} = ?", [value])
    except duckdb.Error as error:
        raise InputError(
            f"{name}={value!r} is not possible: {first_line(error).removesuffix('.')}. Give another, or leave it out for the default of DuckDB"
        ) from None


def restore_setting(connection: duckdb.DuckDBPyConnection, name: str, value: Any) -> None:
    """Restore a setting.

    DuckDB shows sizes truncated to one decimal, so that a default is reset. To any other size the digit 5 is appended: 1.2 GiB is set
    as 1.25 GiB, the middle of the sizes that are shown as 1.2 GiB.
    """
    # A setting that cannot be restored, such as a spill directory in use, must not hide the result or the original error.
    with suppress(duckdb.Error, InputError):
        connection.execute(f"RESET {name}")
        if connection.execute("SELECT current_setting(?)", [name]).fetchall()[0][0] != value:
            set_setting(connection, name, re.sub(r"\.\d(?= [KMGT]iB$)", r"\g<0>5", value) if isinstance(value, str) else value)


PERFECT_HASH_SETTING, PERFECT_HASH_BITS = "perfect_ht_threshold", 20
"""Setting and size (a power of two, per thread) of DuckDB's perfect hash table.

A thousand groups of a thousand bins take about 80 MB.
"""


def fetch_with_perfect_hash(connection: duckdb.DuckDBPyConnection, text: str) -> pa.Table:
    """Run a query with the perfect hash table.

    It requires group keys in a small integer range.
    """
    with _enable_perfect_hash(connection):
        return connection.sql(text).to_arrow_table()


@contextmanager
def _enable_perfect_hash(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    previous = connection.execute("SELECT CURRENT_SETTING(?)", [PERFECT_HASH_SETTING]).fetchall()[0][0]
    set_setting(connection, PERFECT_HASH_SETTING, PERFECT_HASH_BITS)
    try:
        yield
    finally:
        restore_setting(connection, PERFECT_HASH_SETTING, previous)
