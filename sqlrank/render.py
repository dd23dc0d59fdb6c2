"""Write a statement in the SQL of an engine: the rewrites that would drown the files in casts are done here, on the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import ErrorLevel, UnsupportedError, exp

from sqlrank.errors import MetricError

if TYPE_CHECKING:
    from sqlrank.statement import Statement

DIALECTS = ("duckdb", "bigquery", "snowflake", "spark", "databricks", "postgres", "redshift", "trino", "clickhouse", "datafusion", "sqlite")
"""Dialects that statements are written in; DuckDB and SQLite are executed by the tests."""

_WRITER = {"datafusion": "postgres"}
_DUCKDB_ONLY = (exp.PercentileCont,)


def check_dialect(dialect: str) -> None:
    """Raise ``MetricError`` for a dialect that statements are not written in."""
    if dialect not in DIALECTS:
        raise MetricError(f"unknown dialect {dialect!r}; choose from: {', '.join(DIALECTS)}")


def render(statement: Statement, dialect: str = "duckdb") -> str:
    """Return the statement as text, under a comment that says what it is; raise ``MetricError`` for a construct that the dialect cannot express."""
    check_dialect(dialect)
    portable = _doubles(statement.tree.copy(), dialect)
    if dialect != "duckdb" and (node := portable.find(*_DUCKDB_ONLY)):
        raise MetricError(
            f"{node.sql('duckdb')} cannot be written for {dialect}: only DuckDB computes aggregate='quantile'; choose another aggregate"
        )
    if dialect == "sqlite" and portable.find(exp.GroupingSets):
        raise MetricError("sqlite has no GROUPING SETS; ask for one grouping at a time in by")
    try:
        text = portable.sql(_WRITER.get(dialect, dialect), pretty=True, unsupported_level=ErrorLevel.RAISE, max_text_width=100)
    except UnsupportedError as error:
        raise MetricError(f"this statement cannot be written for {dialect}: {error}") from None
    stamp = "".join(f"-- {line}\n" for line in statement.stamp.splitlines())
    return stamp + text


def _doubles(tree: exp.Expr, dialect: str) -> exp.Expr:
    """Make every decimal literal and both operands of every division a double: engines differ in what they are otherwise."""
    for literal in list(tree.find_all(exp.Literal)):
        if literal.is_number and not literal.is_int:
            if dialect == "duckdb":
                literal.set("this", literal.this if "e" in literal.this.lower() else f"{literal.this}e0")
            else:
                literal.replace(exp.cast(literal.copy(), "DOUBLE"))
    if dialect == "duckdb":
        return tree
    for division in list(tree.find_all(exp.Div)):
        _cast(division, "this", "expression")
        division.set("typed", True)  # noqa: FBT003  sqlglot's flag: both sides are doubles, so nothing is to be added
        division.set("safe", False)  # noqa: FBT003  a zero denominator is NULL already, through NULLIF
    for function in list(tree.find_all(exp.Ln, exp.Exp, exp.Avg)):
        _cast(function, "this")
    return tree


def _cast(node: exp.Expr, *arguments: str) -> None:
    for name in arguments:
        operand = node.args[name]
        if not isinstance(operand, exp.Cast):
            node.set(name, exp.cast(operand.unnest(), "DOUBLE"))
