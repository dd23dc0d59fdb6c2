"""The database that a call works on, or that a statement is written for and looked at where it can be."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from sqlrank.engines import remote
from sqlrank.engines.duckdb import Limits, session, supervise
from sqlrank.engines.named import named_database
from sqlrank.engines.sources import Catalog, database_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlrank.engines.database import Database

Done = TypeVar("Done")


def done_on(
    connection: Any, dialect: str, limits: Limits, work: Callable[[Database], Done], progress: Callable[[float], None] | None = None
) -> Done:
    """Return what ``work`` makes of a connection's database, under limits; ``progress`` is called with the percentage done."""
    if remote.is_duckdb(connection):
        with session(connection, limits, has_progress=progress is not None) as duck:

            def working() -> Done:
                with closing(Catalog(duck, is_own=connection is None)) as catalog:
                    return work(database_on(catalog))

            return supervise(duck, working, progress)
    remote.refuse_limits(limits, dialect)
    with remote.session(connection, dialect) as database:
        told = progress or (lambda _: None)
        told(0.0)
        result = work(database)
        told(100.0)
        return result


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
