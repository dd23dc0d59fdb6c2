"""The database that a statement is written for: looked at where it can be."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from sqlrank.engines import remote
from sqlrank.engines.duckdb import Limits, session
from sqlrank.engines.named import named_database
from sqlrank.engines.sources import Catalog, database_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlrank.engines.database import Database


@contextmanager
def looked_at(connection: Any, dialect: str, has_files: bool) -> Iterator[Database]:
    """Yield the database of a connection, or of files that DuckDB can read; else one that knows names only."""
    if connection is not None and not remote.is_duckdb(connection):
        with remote.session(connection, dialect) as database:
            yield database
    elif dialect == "duckdb" and (connection is not None or has_files):
        with session(connection, Limits()) as duck, closing(Catalog(duck, keeps_text=False)) as catalog:
            yield database_on(catalog)
    else:
        yield named_database(dialect)
