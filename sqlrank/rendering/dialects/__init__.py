"""SQL dialects: one file for each, with all that is special to it, which is loaded when it is asked
for.
"""

from __future__ import annotations

import logging
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from sqlrank.errors import check_choice

if TYPE_CHECKING:
    from sqlrank.rendering.dialect import Dialect

DEFAULT_DIALECT = "duckdb"
"""The dialect of statements, of the SQL files, and of all work on this machine."""

# sqlglot warns about text that it cannot parse, such as LOAD httpfs; without a handler the warning
# goes to standard error.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def _find_names() -> tuple[str, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(names, key=lambda name: name != DEFAULT_DIALECT))


DIALECT_NAMES = _find_names()
"""Names of the supported dialects, available without the slow import of sqlglot; docs/engines.md
lists those that were executed.
"""


class _Dialects(Mapping[str, "Dialect"]):
    """The dialects by name."""

    def __getitem__(self, name: str) -> Dialect:
        return _load_dialect(name)

    def __iter__(self) -> Iterator[str]:
        return iter(DIALECT_NAMES)

    def __len__(self) -> int:
        return len(DIALECT_NAMES)


DIALECTS = _Dialects()


@cache
def _load_dialect(name: str) -> Dialect:
    if name not in DIALECT_NAMES:
        raise KeyError(name)
    dialect: Dialect = import_module(f"{__name__}.{name}").DIALECT
    return dialect


@cache
def get_dialect(name: str) -> Dialect:
    """Return a dialect.

    Raises:
        MetricError: There is none of that name.
    """
    check_choice("dialect", name, DIALECT_NAMES)
    return _load_dialect(name)


def normalize_dialect(name: str) -> str:
    """Return the name of a dialect for one in other letters, or for that of an engine that reads
    it; others as they are.

    >>> normalize_dialect("Snowflake"), normalize_dialect("PostgreSQL"), normalize_dialect("oracle")
    ('snowflake', 'postgres', 'oracle')
    """
    lowered = name.lower()
    if lowered in DIALECT_NAMES:
        return lowered
    return next((other for other, dialect in DIALECTS.items() if lowered in dialect.aliases), name)


def list_function_dialects() -> tuple[str, ...]:
    """Return the dialects in which metrics can be functions, from the text of their files: help
    imports no sqlglot.
    """
    files = {name: pkgutil.get_data(__name__, f"{name}.py") or b"" for name in DIALECT_NAMES}
    return tuple(name for name, text in files.items() if b"functions=" in text)
