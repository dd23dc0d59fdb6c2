"""Find divisions in a SQL file whose denominator may be 0: no nonzero constant, NULLIF(x, 0), rank or positive parameter, nor declared '-- Nonzero'.

Engines answer a division by 0 with NULL, infinity or an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

NEVER_ZERO = "Nonzero"
"""Annotation of denominators that are never 0: ``-- Nonzero: hit, $k - 1.``"""

ONE_BASED_COLUMN = "rank"


def unguarded_divisors(tree: exp.Expr, above_zero: Collection[str], declared: str = "") -> Iterator[tuple[exp.Expr, str]]:
    """Yield each denominator that may be 0, with a fix, and each unused declaration.

    Args:
        tree: The SQL of the file.
        above_zero: Names of parameters that are always positive.
        declared: The expressions that the file declares under ``NEVER_ZERO``, separated by commas.
    """
    try:
        expressions = sqlglot.parse_one(f"SELECT {declared}", read="duckdb").expressions if declared else []
    except sqlglot.ParseError:
        yield tree, f"'-- {NEVER_ZERO}: {declared}.' cannot be read. Write denominators as they stand in the file, between commas"
        return
    never_zero = {_normalized_sql(expression) for expression in expressions}
    used: set[str] = set()
    for division in tree.find_all(exp.Div):
        denominator = division.expression.unnest()
        used |= {_normalized_sql(node) for node in denominator.walk()} & never_zero if never_zero else set()
        if not is_never_zero(denominator, above_zero, never_zero):
            text = _normalized_sql(denominator)
            yield division.expression, f"{text} may be 0: write / NULLIF({text}, 0), or '-- {NEVER_ZERO}: {text}.' if it cannot be"
    for unused in sorted(never_zero - used):
        yield tree, f"{unused} is declared to be never 0, but nothing is divided by it"


def is_never_zero(node: exp.Expr, above_zero: Collection[str], declared: Collection[str] = ()) -> bool:
    """Return True if an expression cannot be 0, by form, range or declaration.

    Expressions that are NULL instead of 0 count as well.
    """
    node = node.unnest()
    if declared and _normalized_sql(node) in declared:
        return True
    if isinstance(node, exp.Literal):
        return node.is_number and float(node.this) != 0
    if isinstance(node, exp.Nullif):
        return bool(node.expression == exp.Literal.number(0))
    if isinstance(node, exp.Placeholder):
        return node.name in above_zero
    if isinstance(node, exp.Column):
        return bool(node.name == ONE_BASED_COLUMN)
    if isinstance(node, exp.Mul):
        return is_never_zero(node.this, above_zero, declared) and is_never_zero(node.expression, above_zero, declared)
    if isinstance(node, exp.Ln):
        return isinstance(node.this, exp.Literal) and float(node.this.this) not in {0, 1}
    return isinstance(node, exp.Exp) or (isinstance(node, exp.Sqrt) and is_never_zero(node.this, above_zero, declared))


def _normalized_sql(node: Any) -> str:
    """Render an expression as text that does not depend on its layout."""
    return str(node.unnest().sql("duckdb", normalize_functions=False, comments=False))
