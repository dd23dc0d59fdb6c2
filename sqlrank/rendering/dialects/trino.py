"""Trino, and engines that read its SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlrank.rendering.dialect import Dialect, keep_nodes
from sqlrank.rendering.dialect_forms import join_slice, look_up_elements
from sqlrank.sql_ast import call_function, sql_literal

if TYPE_CHECKING:
    from sqlglot import exp


def _read_base(digits: exp.Expr) -> exp.Expr:
    return call_function("FROM_BASE", digits, sql_literal(16))


DIALECT = Dialect(
    label="Trino",
    sqlglot_name="trino",
    aliases=("athena", "presto"),
    drivers=("trino",),
    write_list_elements=look_up_elements("ELEMENT_AT"),
    write_series=keep_nodes,
    composing_function="NORMALIZE",
    write_hex_number=_read_base,
    join_words=join_slice,
    nan_function="IS_NAN",
    infinity="INFINITY()",
    searches_from_items=True,
    exponent_literals_are_double=True,
    is_distributed=True,
    supports_create_or_replace_table=False,
    dbt_deletes_and_inserts=True,
)
