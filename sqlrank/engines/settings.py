"""Settings of a DuckDB database."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import duckdb

from sqlrank.errors import InputError


def put(database: duckdb.DuckDBPyConnection, name: str, value: Any) -> None:
    """Give a setting a value. Raises ``InputError`` for one that is not possible."""
    try:
        database.execute(f"SET {name} = ?", [value])
    except duckdb.Error as error:
        raise InputError(f"{name}={value!r} is not possible: {str(error).splitlines()[0]}") from None


def put_back(database: duckdb.DuckDBPyConnection, name: str, value: Any) -> None:
    """Give a setting the value it had. DuckDB shows sizes cut to one decimal: a default is reset, another gets half a digit more."""
    # What cannot be put back, such as a spill folder in use, must not hide the result or the real error.
    with suppress(duckdb.Error, InputError):
        database.execute(f"RESET {name}")
        if database.execute("SELECT current_setting(?)", [name]).fetchall()[0][0] != value:
            put(database, name, re.sub(r"\.\d(?= [KMGT]iB$)", r"\g<0>5", value) if isinstance(value, str) else value)
