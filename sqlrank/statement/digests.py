"""Units by the digests of their names: numbers that are the same on every engine."""

from __future__ import annotations

from sqlglot import exp

from sqlrank.library.nodes import nodes
from sqlrank.library.selects import read_select
from sqlrank.statement.bind import literal


def digest_of(salt: str, unit: exp.Expr) -> exp.Expr:
    """Return the digest of a salt and the name of a unit: 32 hexadecimal digits, the same on every engine."""
    return exp.MD5(this=exp.DPipe(this=literal(salt), expression=exp.cast(unit, "TEXT"), safe=True))


def number_of(digest: str, start: int = 1) -> exp.Expr:
    """Return a number below 2^31 - 1 from eight digits of a column that holds a digest, those from ``start`` on."""
    return said("hashed.sql", exp.func("SUBSTR", exp.column(digest), literal(start), literal(8)))


def said(file: str, given: exp.Expr) -> exp.Expr:
    """Return the expression of a file, of one column that stands for what is given."""
    said = read_select("bootstrap", file).selects[0].unalias()
    for column in nodes(said, exp.Column):
        column.replace(given.copy())
    return said
