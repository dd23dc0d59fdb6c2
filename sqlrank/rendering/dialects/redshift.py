"""Redshift, of which PostgreSQL executes what it has in common with it."""

from __future__ import annotations

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect
from sqlrank.rendering.dialect_forms import find_comparisons_of_one_origin, order_within_group
from sqlrank.sql_ast import find_nodes, is_null, sql_literal


def _finish_tree(tree: exp.Expr) -> None:
    """Rewrite ``a IS NOT DISTINCT FROM b``, which Redshift does not have, and cast to texts as long
    as they are, not to the longest.

    Texts of keys of one type are compared first, since a join needs an equality to hash.
    """
    hashable = {id(comparison) for comparison in find_comparisons_of_one_origin(tree)}
    for cast in find_nodes(tree, exp.Cast):
        if cast.is_type("TEXT"):
            cast.set("to", exp.DataType.build("VARCHAR"))
    for equality in find_nodes(tree, exp.NullSafeEQ):
        both_null = exp.and_(
            *(is_null(operand.copy()) for operand in (equality.this, equality.expression))
        )
        comparison: exp.Expr = exp.paren(
            exp.or_(exp.EQ(this=equality.this, expression=equality.expression), both_null),
            copy=False,
        )
        if id(equality) in hashable:
            texts = [
                exp.Coalesce(
                    this=exp.cast(operand.copy(), "VARCHAR"), expressions=[sql_literal("")]
                )
                for operand in (equality.this, equality.expression)
            ]
            comparison = exp.and_(texts[0].eq(texts[1]), comparison, copy=False)
        equality.replace(comparison)


def _write_fence(query: exp.Expr) -> None:
    """Leave out no row, which keeps the planner from merging the query into its reader."""
    query.set("offset", exp.Offset(expression=sql_literal(0)))


DIALECT = Dialect(
    label="Redshift",
    sqlglot_name="redshift",
    drivers=("redshift_connector",),
    write_list_elements=None,
    write_quantile=order_within_group,
    finish=_finish_tree,
    write_fence=_write_fence,
    fold_identifier=str.lower,
    calls_functions_by_fields=True,
    supports_window_clause=False,
    supports_create_or_replace_table=False,
    supports_transactions=True,
    has_dbt_macros=True,
    dbt_deletes_and_inserts=True,
    dbt_microbatch="",
)
