"""Prevent or refuse calls of user-defined functions that shadow built-in ones of the same name: ``ln``, ``sum``, ``md5``."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import TokenType

from sqlrank.engines.duckdb_settings import restore_setting, set_setting
from sqlrank.engines.identifiers import split_path
from sqlrank.errors import InputError
from sqlrank.registry.query_templates import load_select
from sqlrank.rendering.dialects import get_dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import duckdb

BUILTIN_SCHEMA = "system.main"
"""Schema of DuckDB's built-in functions."""

SHADOWING_QUERIES = {"postgres": "shadowing_functions_postgres.sql", "sqlite": "shadowing_functions_sqlite.sql"}
"""Queries for user-defined functions that shadow built-in ones, by dialect."""


class NameResolution(NamedTuple):
    """Name resolution of a DuckDB connection during a call.

    Attributes:
        default_schema: Database and schema of unqualified table names.
        search_path: Setting to restore, None if it was not changed.
        shadowed: User-defined functions that shadow built-in ones, with their full names.
    """

    default_schema: tuple[str, str]
    search_path: str | None
    shadowed: Mapping[str, str]


def prefer_builtins(connection: duckdb.DuckDBPyConnection) -> NameResolution:
    """Put the schema of built-in functions first in the search path of a connection.

    Inside a transaction the path is unchanged, because an error would prevent its restoration. Shadowing functions are queried instead,
    which takes about 40 ms.
    """
    query = "SELECT CURRENT_DATABASE(), CURRENT_SCHEMA(), CURRENT_SETTING('search_path'), TXID_CURRENT()"
    database, schema, path, transaction = connection.execute(query).fetchall()[0]
    if connection.execute("SELECT TXID_CURRENT()").fetchall()[0][0] == transaction:
        functions = connection.execute(load_select("inputs", "shadowing_functions_duckdb.sql").sql("duckdb")).fetchall()
        builtin = {name.lower() for name, *_, is_builtin in functions if is_builtin}
        user = {name.lower(): ".".join([*path, name]) for name, *path, is_builtin in functions if not is_builtin}
        return NameResolution((database, schema), None, {name: user[name] for name in user.keys() & builtin})
    # A schema without database refers to the first database of the path, which changes.
    names = [[database, *name_parts][-2:] for name_parts in split_path(path)] or [[database, schema]]
    tables = [".".join(exp.to_identifier(part, quoted=True).sql("duckdb") for part in name_parts) for name_parts in names]
    set_setting(connection, "search_path", ",".join([BUILTIN_SCHEMA, *tables]))
    return NameResolution((database, schema), path, {})


def put_back_search_path(connection: duckdb.DuckDBPyConnection, resolution: NameResolution) -> None:
    """Restore the search path of a connection."""
    if resolution.search_path is not None:
        restore_setting(connection, "search_path", resolution.search_path)


def find_shadowed(dialect: str, fetch: Callable[[str], list[tuple[str, ...]]]) -> dict[str, str]:
    """Find functions that shadow built-in ones: full names by name in lower case."""
    if dialect not in SHADOWING_QUERIES:
        return {}
    return {name.lower(): full_name for name, full_name in fetch(_shadowing_query(dialect))}


@lru_cache
def _shadowing_query(dialect: str) -> str:
    return load_select("inputs", SHADOWING_QUERIES[dialect]).sql(get_dialect(dialect).sqlglot_name)


def refuse_shadowed(text: str, dialect: str, shadowed: Mapping[str, str]) -> None:
    """Raise ``InputError`` if a statement calls a shadowed function."""
    tokens = Dialect.get_or_raise(get_dialect(dialect).sqlglot_name).tokenize(text)
    for token, following in pairwise(tokens):
        name = token.text.lower()
        if following.token_type == TokenType.L_PAREN and name in shadowed:
            raise InputError(
                f"this statement calls {token.text.upper()}, and {shadowed[name]} of this database would be called instead of the engine's. "
                "Drop or rename it, or use a connection that does not see it"
            )
