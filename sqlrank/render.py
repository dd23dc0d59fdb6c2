"""Write a statement in the SQL of an engine: the rewrites that would drown the files in casts are done here, on the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import ErrorLevel, UnsupportedError, exp
from sqlglot.dialects.dialect import Dialect as Writer

from sqlrank.dialects import dialect_of
from sqlrank.errors import MetricError
from sqlrank.statement import WIDTH

if TYPE_CHECKING:
    from sqlglot import Generator

    from sqlrank.dialects import Dialect
    from sqlrank.statement import Statement

ONCE = "RAND makes Spark compute this once for all that read it: it repeats what is deterministic"
_OF_DOUBLES = (exp.Cast, exp.Div, exp.Ln, exp.Exp, exp.Sqrt)
"""Nodes that are doubles already."""


def render(statement: Statement, dialect: str = "duckdb", keeps: bool = False) -> str:
    """Return the statement as text, under a comment that says what it is; ``keeps`` says that the engine can be made to keep steps.

    Raises:
        MetricError: a construct that the dialect cannot express; the message names metrics, construct and dialect.
    """
    title = statement.stamp.splitlines()[0].partition(": ")[2]
    stamp = "".join(f"-- {line}\n" for line in statement.stamp.splitlines())
    return stamp + write(statement.tree, dialect, title, pretty=True, keeps=keeps)


def write(tree: exp.Expr, dialect: str, title: str = "this", pretty: bool = False, keeps: bool = False) -> str:
    """Return a tree as text; raise ``MetricError`` for a construct in what has this title that the dialect cannot express."""
    target = dialect_of(dialect)
    tree = tree.copy()
    for construct, advice in target.unsupported:
        if node := tree.find(construct):
            raise MetricError(f"{title} cannot be written for {dialect}, which has no {node.sql('duckdb')}: {advice}")
    _compute_once(tree, target, keeps)
    if dialect == "duckdb":
        _write_finite(tree)
        _write_doubles(tree)
    else:
        _make_portable(tree, target)
    try:
        text: str = _writer(target.writer, pretty).generate(tree, copy=False)
    except UnsupportedError as error:
        raise MetricError(f"{title} cannot be written for {dialect}: {error}") from None
    return text


def _writer(dialect: str, pretty: bool) -> Generator:
    """Return what writes a dialect, with short parentheses on one line and long arithmetic on several."""
    written = Writer.get_or_raise(dialect)
    base: Any = written.generator_class

    def paren_sql(self: Any, node: exp.Paren) -> str:
        inner = self.sql(node, "this")
        return f"({inner})" if "\n" not in inner and len(inner) <= WIDTH else base.paren_sql(self, node)

    def binary(self: Any, node: exp.Binary, operator: str) -> str:
        text: str = base.binary(self, node, operator)
        if operator not in {"+", "-", "/"} or "\n" in text or len(text) <= WIDTH:
            return text
        operands = []
        rest: exp.Expr = node
        while type(rest) is type(node):
            operands.append(self.sql(rest, "expression"))
            rest = rest.this
        return f"\n{operator} ".join([self.sql(rest), *reversed(operands)])

    legible = type("Legible", (base,), {"paren_sql": paren_sql, "binary": binary})
    writer: Generator = legible(dialect=written, pretty=pretty, unsupported_level=ErrorLevel.RAISE, max_text_width=WIDTH)
    return writer


def _compute_once(tree: exp.Expr, target: Dialect, keeps: bool) -> None:
    """Make the costly steps that several others read such that an engine which repeats steps computes them once."""
    steps = tree.find(exp.With)
    for step in steps.expressions if steps else ():
        is_costly = step.args.pop("materialized", None) and (keeps or target.repeats)
        if not is_costly or sum(table.name == step.alias for table in tree.find_all(exp.Table)) == 1:
            continue
        if keeps:
            step.set("materialized", True)  # noqa: FBT003  sqlglot's flag
        else:
            kept = exp.select("*").from_(step.this.subquery("once", copy=False)).where("RAND() >= 0")
            kept.comments = [ONCE]
            step.set("this", kept)


def _write_finite(tree: exp.Expr) -> None:
    """Write the tests for NaN with ISFINITE: DuckDB answers ISNAN from the extremes that a Parquet file states, which leave NaN out."""
    for test in list(tree.find_all(exp.IsNan)):
        broken: exp.Expr = exp.not_(exp.func("ISFINITE", test.this))
        either = test.parent
        if isinstance(either, exp.Or) and either.expression == exp.IsInf(this=test.this):
            either.replace(broken)
        else:
            test.replace(exp.paren(exp.and_(broken, exp.not_(exp.IsInf(this=test.this.copy())))))


def _write_doubles(tree: exp.Expr) -> None:
    """Write decimal literals with an exponent, which makes doubles of them in DuckDB."""
    for literal in _decimals(tree):
        if "e" not in literal.this.lower():
            literal.set("this", f"{literal.this}e0")


def _make_portable(tree: exp.Expr, target: Dialect) -> None:
    _write_not_numbers(tree, target)
    for literal in _decimals(tree):
        # As a text where there is an exponent: 1e250 may be taken for a decimal number, which has fewer digits.
        literal.replace(exp.cast(exp.Literal.string(literal.this) if "e" in literal.this.lower() else literal.copy(), "DOUBLE"))
    for division in list(tree.find_all(exp.Div)):
        _cast(division, "this", "expression")
        division.set("typed", True)  # noqa: FBT003  sqlglot's flag: both sides are doubles, so nothing is to be added
        division.set("safe", False)  # noqa: FBT003  a zero denominator is NULL already, through NULLIF
    for function in list(tree.find_all(exp.Ln, exp.Exp, exp.Avg)):
        _cast(function, "this")
    _drop_casts(tree)
    if not target.compares_null:
        _compare_nulls(tree)
    for window in tree.find_all(exp.Window):
        if order := window.args.get("order"):
            for item in order.expressions:
                # No file sorts by what may be NULL, and not every engine takes NULLS FIRST there.
                item.set("nulls_first", target.puts_null_first[bool(item.args.get("desc"))])
    if target.settings:
        _suit_clickhouse(tree)
        query = tree.expression if isinstance(tree, exp.DDL) else tree
        kept = any(step.args.get("materialized") for step in tree.find_all(exp.CTE))
        settings = [*target.settings, *([target.keeping] if kept and target.keeping else [])]
        query.set("settings", [exp.EQ(this=exp.var(name), expression=exp.Literal.number(1)) for name in settings])


def _drop_casts(tree: exp.Expr) -> None:
    """Leave columns that are means or ratios of doubles as they are: they are doubles."""
    for alias in tree.find_all(exp.Alias):
        value = alias.this.this.unnest() if isinstance(alias.this, exp.Cast) and alias.this.is_type("DOUBLE") else None
        if isinstance(value, (exp.Avg, exp.Div)):
            alias.set("this", value)


def _compare_nulls(tree: exp.Expr) -> None:
    """Write ``a IS NOT DISTINCT FROM b`` in words that every engine has."""
    for same in list(tree.find_all(exp.NullSafeEQ)):
        both = exp.and_(*(exp.Is(this=side.copy(), expression=exp.Null()) for side in (same.this, same.expression)))
        same.replace(exp.paren(exp.or_(exp.EQ(this=same.this, expression=same.expression), both), copy=False))


def _decimals(tree: exp.Expr) -> list[exp.Literal]:
    return [literal for literal in tree.find_all(exp.Literal) if literal.is_number and not literal.is_int]


def _write_not_numbers(tree: exp.Expr, target: Dialect) -> None:
    """Write infinity, and the tests for it and for NaN, as the engine has them."""
    for infinite in list(tree.find_all(exp.IsInf)):
        infinite.replace(exp.EQ(this=exp.Abs(this=infinite.this), expression=exp.cast(exp.Literal.string("inf"), "DOUBLE")))
    for test in list(tree.find_all(exp.IsNan)):
        if not target.has_nan:
            test.replace(exp.false())
        elif target.nan_function:
            test.replace(exp.Anonymous(this=target.nan_function, expressions=[test.this]))
        else:
            test.replace(exp.EQ(this=test.this, expression=exp.cast(exp.Literal.string("NaN"), "DOUBLE")))
    for cast in list(tree.find_all(exp.Cast)):
        if target.infinity and cast.this.is_string and cast.this.name in {"inf", "-inf"}:
            infinity = exp.var(target.infinity)
            cast.replace(exp.Neg(this=infinity) if cast.this.name == "-inf" else infinity)


def _cast(node: exp.Expr, *arguments: str) -> None:
    for name in arguments:
        operand = node.args[name]
        if not isinstance(operand.unnest(), _OF_DOUBLES):
            # Not a copy: there may be divisions in it that are still to be written.
            node.set(name, exp.cast(operand.unnest(), "DOUBLE", copy=False))


def _suit_clickhouse(tree: exp.Expr) -> None:
    """Name the columns that a join selects (``l.query_id`` otherwise), and make doubles of whole numbers, which mix with no double there."""
    for select in tree.find_all(exp.Select):
        if select.args.get("joins"):
            for column in [item for item in select.expressions if isinstance(item, exp.Column)]:
                column.replace(exp.alias_(column.copy(), column.name, quoted=column.this.quoted))
    for kind in tree.find_all(exp.DataType):
        if kind.is_type("BIGINT") and kind.find_ancestor(exp.CTE):
            kind.replace(exp.DataType.build("DOUBLE"))
    for count in list(tree.find_all(exp.Count, exp.RowNumber, exp.Rank)):
        whole = count.parent if isinstance(count.parent, exp.Window) else count
        whole.replace(exp.cast(whole.copy(), "DOUBLE"))
    for function in list(tree.find_all(exp.CumeDist)):
        function.replace(exp.Anonymous(this="cume_dist"))
