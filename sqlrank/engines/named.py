"""A database that cannot be looked at: its tables are taken as they are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from sqlrank.engines.database import Database, Table
from sqlrank.engines.names import table_named
from sqlrank.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot import exp


def named_database(dialect: str, locate: Callable[[str, Any], exp.Expr] | None = None) -> Database:
    """Return a database that knows names only; ``locate`` gives the FROM item where a name is not that of a table."""

    def find(role: str, source: Any) -> Table:
        node = table_named(role, source if locate is None else locate(role, source), dialect)
        return Table(str(source), node, None, dialect)

    return Database(dialect, find, _blind, _blind, _blind, looks=False)


def _blind(*_: Any) -> NoReturn:
    raise InputError("these tables are known by their names only; give connection= to look at them")
