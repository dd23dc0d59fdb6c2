"""Hash units by MD5 to numbers that are equal on every engine, by expressions of
``sql/analyses/bootstrap``.
"""

from __future__ import annotations

from sqlglot import exp

from sqlrank.registry.query_templates import load_select
from sqlrank.sql_ast import find_nodes, sql_literal


def unit_digest(salt: str, unit: exp.Expr) -> exp.Expr:
    """Return the MD5 digest of a salt and a unit's name: 32 hexadecimal digits."""
    return exp.MD5(
        this=exp.DPipe(this=sql_literal(salt), expression=exp.cast(unit, "TEXT"), safe=True)
    )


def digest_number(digest: str, start: int = 1) -> exp.Expr:
    """Convert eight hexadecimal digits of a digest to a number below 2^31 - 1.

    The digits begin at position ``start``.
    """
    return load_expression(
        "hash_integer.sql",
        exp.func("SUBSTR", exp.column(digest), sql_literal(start), sql_literal(8)),
    )


def load_expression(file: str, replacement: exp.Expr) -> exp.Expr:
    """Load the expression of a file in ``sql/analyses/bootstrap``, with its column replaced by an
    expression.
    """
    expression = load_select("analyses/bootstrap", file).selects[0].unalias()
    for column in find_nodes(expression, exp.Column):
        column.replace(replacement.copy())
    return expression
