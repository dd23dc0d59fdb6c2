"""Make a source of a SELECT or of a file with one: the public function ``query``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sqlrank.argument_checks import entry_point
from sqlrank.errors import InputError
from sqlrank.request import QuerySource

if TYPE_CHECKING:
    from pathlib import Path


@entry_point
def query(statement: str | Path) -> QuerySource:
    """Return a source whose rows are those of a query, in the SQL of the engine; the path of a file
    stands for the query in it.

    A text that begins with SELECT, WITH or FROM is a query in any case; this says so of every text.
    It is one SELECT, and is trusted as a view is: it may call any function that its connection may.
    It is computed once where it is evaluated on DuckDB.

    Args:
        statement: the text of the query, or the path of its file.

    Returns:
        A source for ``run``, ``qrels``, ``predictions``, ``queries`` and ``inputs``.

    Raises:
        InputError: the file cannot be read.

    >>> import sqlrank
    >>> run = query(
    ...     "SELECT 'q1' AS query_id, 'd' || i AS doc_id, -i AS score FROM range(5) AS t(i)"
    ... )
    >>> sqlrank.evaluate("RR", run=run, qrels={"q1": {"d2": 1}}).to_pylist()
    [{'RR': 0.3333333333333333}]
    """
    # Returns False for texts that are too long for a path
    if isinstance(statement, str) and not os.path.isfile(statement):  # noqa: PTH113
        return QuerySource(statement)
    try:
        return QuerySource.from_file(statement)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"statement={str(statement)!r} cannot be read: {error}") from None
