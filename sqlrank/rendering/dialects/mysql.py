"""MySQL 8; MariaDB executes its statements in the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect
from sqlrank.sql_ast import BIGINT, call_function, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence


def _finish_tree(tree: exp.Expr) -> None:
    """Join texts by CONCAT, since || is OR."""
    for text in reversed(find_nodes(tree, exp.DPipe)):
        text.replace(call_function("CONCAT", text.this, text.expression))


def _convert_base(digits: exp.Expr) -> exp.Expr:
    return exp.cast(call_function("CONV", digits, sql_literal(16), sql_literal(10)), BIGINT)


def _concatenate_texts(texts: Sequence[str]) -> str:
    return f"CONCAT({', '.join(texts)})"


DIALECT = Dialect(
    label="MySQL",
    sqlglot_name="mysql",
    aliases=("mariadb",),
    drivers=("pymysql",),
    write_list_elements=None,
    write_hex_number=_convert_base,
    has_nan=False,
    finish=_finish_tree,
    character="CONVERT(X'{bytes}' USING utf8mb4)",
    join_texts=_concatenate_texts,
    infinity="1.7976931348623157e308",
    reserved_words=frozenset({"portion"}),  # in MariaDB
    exponent_literals_are_double=True,
    floor_returns_double=False,  # MariaDB makes integers of them, and divides these as decimals
    supports_float32=False,
    supports_create_or_replace_table=False,
    supports_transactions=True,
)
