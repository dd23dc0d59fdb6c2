"""Catalogues of messages: calls of Python after ``>>>`` and commands after ``$``, below each the
messages that it gives, which are written anew and read like the statements of ``engines/golden``.
"""

import json
import math
import re
import shlex
import warnings
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import sqlrank
from sqlrank.errors import SqlrankError
from tests.freeze.describing import normalize
from tests.interface.command_line import invoke_command

_PROMPT = re.compile(r"(?:>>>|\$) .*(?:\n\.\.\. ?.*)*")
_ENTRY = re.compile(rf"^({_PROMPT.pattern})\n(?:(?!>>> |\$ |# |\n).*\n)*", re.MULTILINE)
_NAMES: dict[str, Any] = {
    **{name: getattr(sqlrank, name) for name in sqlrank.__all__},
    **{module.__name__: module for module in (duckdb, json, math, re, sqlrank)},
    "np": np,
    "pa": pa,
    "pd": pd,
    "pl": pl,
    "pq": pq,
    **{kind.__name__: kind for kind in (Decimal, Path, date, datetime, timedelta)},
}
"""What every catalogue may name; the rest is made or imported in its first lines."""

_REFUSED = 2
"""The status of a command that was refused, and so writes nothing to standard output."""


def rewrite_catalogue(text: str, names: dict[str, Any]) -> str:
    """Return a catalogue with the messages that its calls give now, in the current folder."""
    scope = {**_NAMES, **names}
    return _ENTRY.sub(lambda entry: "".join(f"{line}\n" for line in _list(entry[1], scope)), text)


def _list(source: str, scope: dict[str, Any]) -> Iterator[str]:
    """Yield a call and its messages, line by line."""
    yield source
    run = _run_command if source.startswith("$") else _run_python
    for line in normalize("\n".join(run(source, scope))).splitlines():
        if line.strip():
            text = line.rstrip().encode("utf-8", "backslashreplace").decode()
            yield f"  {text}" if re.match(r"#|\$|>>>|\.\.\.", text) else text


def _run_python(source: str, scope: dict[str, Any]) -> Iterator[str]:
    code = re.sub(r"^(>>>|\.\.\.) ?", "", source, flags=re.MULTILINE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(code, scope)  # noqa: S102  a catalogue is a test
        except (AttributeError, SqlrankError, TypeError, ValueError) as error:
            yield f"{type(error).__name__}: {error}"
    for warning in caught:
        yield f"{warning.category.__name__}: {warning.message}"


def _run_command(source: str, _: dict[str, Any]) -> Iterator[str]:
    """Yield what a command writes to standard error, and a status that this does not imply."""
    result = invoke_command(*shlex.split(source)[2:])
    yield from result.stderr.splitlines()
    if result.exit_code != (_REFUSED if "sqlrank: " in result.stderr else 0):
        yield f"exit status {result.exit_code}"
    if result.exit_code == _REFUSED:
        assert not result.stdout
