"""Optimize a statement by all passes in order, so that it computes the same rows in fewer CTEs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.optimizer.column_pruning import prune_columns
from sqlrank.optimizer.constant_propagation import drop_null_keys, propagate_constants
from sqlrank.optimizer.cte_elimination import merge_equal_ctes, order_ctes
from sqlrank.optimizer.join_elimination import eliminate_joins
from sqlrank.optimizer.predicate_propagation import propagate_predicates
from sqlrank.optimizer.projection_merging import forward_projections, merge_projections
from sqlrank.optimizer.statement_graph import StatementGraph, outermost_query
from sqlrank.optimizer.subquery_elimination import eliminate_subqueries, lift_user_queries
from sqlrank.optimizer.table_qualification import qualify_tables

if TYPE_CHECKING:
    from sqlglot.expressions import Expr


def optimize_statement(tree: Expr) -> None:
    """Rewrite a statement in place to one that computes the same rows and columns in fewer, named steps.

    A statement without CTEs stays as it is, and so does one with recursive or nested ones.
    """
    query = outermost_query(tree)
    with_clause = None if query is None else query.args.get("with_")
    if query is None or with_clause is None or with_clause.recursive:
        return
    lifted = eliminate_subqueries(query)
    graph = StatementGraph(query)
    prune_columns(graph)
    forward_projections(graph, lifted)
    propagate_constants(graph)
    prune_columns(graph)
    eliminate_joins(graph)
    prune_columns(graph)
    merge_projections(graph)
    if propagate_predicates(graph):
        drop_null_keys(graph)
        prune_columns(graph)
    qualify_tables(graph)
    if merge_equal_ctes(graph):
        qualify_tables(graph)
    order_ctes(graph)
    graph.write_ctes()
    lift_user_queries(query)
