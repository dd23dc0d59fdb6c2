"""Read the SQL files of experiments as SELECTs with comments, and chain them into one query by CTEs under free names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.select_builders import aliased_table
from sqlrank.optimizer.optimizer import prune_query
from sqlrank.query_text import unqualified_tables
from sqlrank.registry.query_templates import describe_rows, file_comment, load_select
from sqlrank.sql_ast import find_nodes, first_select
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.bound_input import BoundInput

FOLDER = "experiments"
OBSERVATIONS = "observations"
MATERIALIZED_STEPS = ("experiment_units", "metric_moments", "effects", "quadrature_nodes", "sample_ratio_test")
"""CTEs to materialize where the engine supports it, because several others read them."""


def read_step(*path: str) -> exp.Select:
    """Return the SELECT of an experiment file, with its first comment sentence as title."""
    query: exp.Select = load_select(FOLDER, *path)
    for subquery in find_nodes(query, exp.Select):
        if subquery.comments:
            subquery.comments = [describe_rows(" ".join(subquery.comments))]
    return with_comment(query, file_comment(FOLDER, *path))  # type: ignore[no-any-return]


def with_comment(query: Any, title: str) -> Any:
    """Set the comment of a query, a sentence on its rows."""
    first_select(query).comments = [title]
    return query


def with_ctes(ctes: Mapping[str, exp.Query], reserved_names: set[str]) -> Any:
    """Return the last query with the CTEs it reads, renamed to avoid ``reserved_names``."""
    *before, last = ctes
    names: dict[str, str] = {}
    for cte in before:
        names[cte] = unique_name(cte, {*reserved_names, *names.values()})
    body: Any = rename_ctes(ctes[last].copy(), names)
    for cte in before:
        query = rename_ctes(ctes[cte].copy(), names) if cte != OBSERVATIONS else ctes[cte].copy()
        body = body.with_(names[cte], as_=query, materialized=True if cte in MATERIALIZED_STEPS else None, copy=False)
    prune_query(body)
    return body


def rename_ctes(tree: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """Rename the tables that a query reads, in place; they keep their aliases."""
    for table in find_nodes(tree, exp.Table):
        if names.get(table.name, table.name) != table.name:
            table.replace(aliased_table(names[table.name], table.alias_or_name))
    return tree


def source_table_names(observations: BoundInput) -> set[str]:
    """Return the names of the source tables, which no CTE may have."""
    return unqualified_tables(observations.table.from_clause())
