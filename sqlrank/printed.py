"""The statement that is printed rather than run: its inputs are looked at if they can be, or else taken as they are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.catalog import on_catalog
from sqlrank.dialects import dialect_of
from sqlrank.engine import Limits, session
from sqlrank.filters import filters, keep
from sqlrank.mapping import map_columns, statement_by_name, statement_over
from sqlrank.names import is_file
from sqlrank.predictions import name_predictions, over_predictions, read_predictions
from sqlrank.ranking import with_ranking
from sqlrank.request import given_sources, look_up, numbering, split_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlrank.inputs import Inputs
    from sqlrank.request import Request
    from sqlrank.statement import Statement


def prepare(
    metrics: Any,
    *,
    dialect: str = "duckdb",
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    connection: Any = None,
    columns: Mapping[str, Any] | None = None,
    by: Any = (),
    where: str | None = None,
    per_query: bool = False,
    compat: str | None = None,
    sql_dir: Any = None,
    locate: Callable[[str, Any], Any] | None = None,
    **policies: Any,
) -> tuple[Request, Statement]:
    """Return what :func:`sqlrank.sql` is asked for, looked up, and its statement.

    ``locate`` gives the FROM item of each input where the name that the caller gave is not that of a table.
    """
    dialect_of(dialect)
    queries, policies = split_queries(queries, policies)
    request = look_up(metrics, by, compat, sql_dir, numbering(dialect) | policies)
    given = given_sources(request, run, qrels, predictions, queries)
    if locate is not None:
        given = {role: locate(role, source) for role, source in given.items()}
    elif dialect == "duckdb" and (connection is not None or any(is_file(source) for source in given.values())):
        return request, _over_seen(request, given, connection, columns or {}, where, per_query)
    conditions = filters(where, given, dialect)
    if request.is_of_predictions:
        named = name_predictions(request, given["predictions"], columns or {}, per_query, dialect, conditions.get("predictions"))
        return request, over_predictions(request, named, per_query, dialect)[0]
    return request, statement_by_name(request, given, columns or {}, per_query, dialect, conditions)


def _over_seen(
    request: Request, given: Mapping[str, Any], connection: Any, columns: Mapping[str, Any], where: str | None, per_query: bool
) -> Statement:
    def build(inputs: Inputs) -> Statement:
        for role, source in given.items():
            inputs.add(role, source)
        keep(inputs.found, filters(where, given, "duckdb", inputs.found))
        if request.is_of_predictions:
            found = read_predictions(inputs, request, columns, per_query)
            return over_predictions(request, found, per_query, database=inputs.database)[0]
        needed = map_columns(inputs, request, columns)
        return statement_over(with_ranking(request, inputs), inputs, needed, per_query)

    with session(connection, Limits()) as database:
        return on_catalog(database, build, is_read=False)
