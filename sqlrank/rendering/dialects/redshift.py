"""Redshift, of which PostgreSQL executes what it has in common with it."""

from __future__ import annotations

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect
from sqlrank.rendering.dialect_forms import order_within_group
from sqlrank.sql_ast import find_nodes, is_null


def _finish_tree(tree: exp.Expr) -> None:
    """Rewrite ``a IS NOT DISTINCT FROM b``, which Redshift does not have, and cast to texts as long
    as they are, not to the longest.
    """
    for cast in find_nodes(tree, exp.Cast):
        if cast.is_type("TEXT"):
            cast.set("to", exp.DataType.build("VARCHAR"))
    for equality in find_nodes(tree, exp.NullSafeEQ):
        both_null = exp.and_(
            *(is_null(operand.copy()) for operand in (equality.this, equality.expression))
        )
        equality.replace(
            exp.paren(
                exp.or_(exp.EQ(this=equality.this, expression=equality.expression), both_null),
                copy=False,
            )
        )


DIALECT = Dialect(
    label="Redshift",
    sqlglot_name="redshift",
    drivers=("redshift_connector",),
    write_list_elements=None,
    write_quantile=order_within_group,
    finish=_finish_tree,
    fold_identifier=str.lower,
    calls_functions_by_fields=True,
    supports_window_clause=False,
    supports_create_or_replace_table=False,
    supports_transactions=True,
    has_dbt_macros=True,
    dbt_deletes_and_inserts=True,
    dbt_microbatch="",
)
