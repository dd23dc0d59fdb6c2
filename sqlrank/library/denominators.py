"""What is divided by: never by what may be 0, which engines answer with NULL, with infinity, or with an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

FACT = "Never zero"
"""The line of a comment that names denominators of which its file knows that they are not 0: ``-- Never zero: hit, $k - 1.``"""

COUNTED_FROM_ONE = "rank"


def unguarded(tree: exp.Expr, above_zero: Collection[str], declared: str = "") -> Iterator[tuple[exp.Expr, str]]:
    """Yield each denominator that may be 0, with what to write instead, and each that is declared but divides nothing.

    ``above_zero`` are parameters that can be nothing else, ``declared`` is what the file says under ``FACT``: expressions as they stand in it, between commas.
    """
    try:
        parts = sqlglot.parse_one(f"SELECT {declared}", read="duckdb").expressions if declared else []
    except sqlglot.ParseError:
        yield tree, f"'-- {FACT}: {declared}.' cannot be read; write denominators as they stand in the file, between commas"
        return
    known = {_bare(part) for part in parts}
    used: set[str] = set()
    for division in tree.find_all(exp.Div):
        denominator = division.expression.unnest()
        used |= {_bare(node) for node in denominator.walk()} & known if known else set()
        if not is_guarded(denominator, above_zero, known):
            text = _bare(denominator)
            yield division.expression, f"{text} may be 0: write / NULLIF({text}, 0), or '-- {FACT}: {text}.' if it cannot be"
    for unused in sorted(known - used):
        yield tree, f"{unused} is declared to be never 0, but nothing is divided by it"


def is_guarded(node: exp.Expr, above_zero: Collection[str], known: Collection[str] = ()) -> bool:
    """Whether an expression is NULL where it would be 0, or is known to be no 0: from its form, its range or the file."""
    node = node.unnest()
    if known and _bare(node) in known:
        return True
    if isinstance(node, exp.Literal):
        return node.is_number and float(node.this) != 0
    if isinstance(node, exp.Nullif):
        return bool(node.expression == exp.Literal.number(0))
    if isinstance(node, exp.Placeholder):
        return node.name in above_zero
    if isinstance(node, exp.Column):
        return bool(node.name == COUNTED_FROM_ONE)
    if isinstance(node, exp.Mul):
        return is_guarded(node.this, above_zero, known) and is_guarded(node.expression, above_zero, known)
    if isinstance(node, exp.Ln):
        return isinstance(node.this, exp.Literal) and float(node.this.this) not in {0, 1}
    return isinstance(node, exp.Exp) or (isinstance(node, exp.Sqrt) and is_guarded(node.this, above_zero, known))


def _bare(node: Any) -> str:
    """Return an expression as text that does not depend on how it is written."""
    return str(node.unnest().sql("duckdb", normalize_functions=False, comments=False))
