"""Write a statement in the SQL of an engine: the rewrites that would drown the files in casts are done here, on the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import UnsupportedError, exp

from sqlrank.engines.arrays import write_arrays
from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.doubles import Doubles
from sqlrank.engines.kept import compute_once
from sqlrank.engines.legible import writer
from sqlrank.errors import MetricError
from sqlrank.library.nodes import BIGINT, DOUBLE, nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlrank.engines.dialects import Dialect


def render(tree: exp.Expr, stamp: str, dialect: str = "duckdb", keeps: bool = False) -> str:
    """Return a statement as text, under a comment that says what it is; ``keeps`` says that the engine can be made to keep steps.

    Raises:
        MetricError: a construct that the dialect cannot express; the message names metrics, construct and dialect.
    """
    return print_out(rewrite(tree, dialect, _title(stamp), keeps), stamp, dialect)


def print_out(tree: exp.Expr, stamp: str, dialect: str, instead: Iterable[tuple[exp.Expr, exp.Expr]] = ()) -> str:
    """Return as text what :func:`rewrite` made of a statement, under a comment that says what it is.

    ``instead`` of the first of each pair the second is written, wherever it stands.
    """
    header = "".join(f"-- {line}\n" for line in stamp.splitlines())
    return header + _text(tree, dialect, _title(stamp), pretty=True, instead=instead)


def _title(stamp: str) -> str:
    return stamp.partition("\n")[0].partition(": ")[2]


def write(tree: exp.Expr, dialect: str, title: str = "this", pretty: bool = False, keeps: bool = False) -> str:
    """Return a tree as text; raise ``MetricError`` for a construct in what has this title that the dialect cannot express."""
    return _text(rewrite(tree, dialect, title, keeps), dialect, title, pretty)


def rewrite(tree: exp.Expr, dialect: str, title: str = "this", keeps: bool = False) -> exp.Expr:
    """Return a copy of a tree that says what it means in this dialect, too; its text is still to be generated."""
    target = dialect_of(dialect)
    tree = tree.copy()
    for construct, advice in target.unsupported:
        if node := tree.find(construct):
            raise MetricError(f"{title} cannot be written for {dialect}, which has no {node.sql('duckdb')}: {advice}")
    compute_once(tree, target, keeps)
    if dialect == "duckdb":
        _write_finite(tree)
        _write_doubles(tree)
    else:
        _make_portable(tree, target)
    return tree


def _text(tree: exp.Expr, dialect: str, title: str, pretty: bool, instead: Iterable[tuple[exp.Expr, exp.Expr]] = ()) -> str:
    try:
        text: str = writer(dialect_of(dialect).writer, pretty, instead).generate(tree, copy=False)
    except UnsupportedError as error:
        raise MetricError(f"{title} cannot be written for {dialect}: {error}") from None
    return text


def _write_finite(tree: exp.Expr) -> None:
    """Write the tests for NaN with ISFINITE: DuckDB answers ISNAN from the extremes that a Parquet file states, which leave NaN out."""
    for test in nodes(tree, exp.IsNan):
        broken: exp.Expr = exp.not_(exp.func("ISFINITE", test.this))
        either = test.parent
        if isinstance(either, exp.Or) and either.expression == exp.IsInf(this=test.this):
            either.replace(broken)
        else:
            test.replace(exp.paren(exp.and_(broken, exp.not_(exp.IsInf(this=test.this.copy())))))


def _write_doubles(tree: exp.Expr) -> None:
    """Write decimal literals with an exponent, which makes doubles of them in DuckDB, and no cast of what is one."""
    for literal in _decimals(tree):
        if "e" not in literal.this.lower():
            literal.set("this", f"{literal.this}e0")
    doubles = Doubles(dialect_of("duckdb"))
    doubles.note(tree)
    _drop_casts(tree, doubles)
    _drop_parentheses(tree, dialect_of("duckdb"))


def _make_portable(tree: exp.Expr, target: Dialect) -> None:
    _write_not_numbers(tree, target)
    write_arrays(tree, target)
    if target.settings:
        _suit_clickhouse(tree)
    for literal in _decimals(tree) if not target.decimals_are_doubles else ():
        if target.exponents_are_doubles:
            literal.set("this", literal.this if "e" in literal.this.lower() else f"{literal.this}e0")
        else:
            # As a text where there is an exponent: 1e250 may be taken for a decimal number, which has fewer digits.
            literal.replace(exp.cast(exp.Literal.string(literal.this) if "e" in literal.this.lower() else literal.copy(), "DOUBLE"))
    _cast_divisions(tree, target)
    if not target.compares_null:
        _compare_nulls(tree)
    for found in nodes(tree, exp.StrPosition) if target.finds_by_position else ():
        sought = exp.In(this=found.args["substr"], field=found.this)
        found.replace(exp.Anonymous(this="POSITION", expressions=[sought]))
    for window in nodes(tree, exp.Window):
        if order := window.args.get("order"):
            for item in order.expressions:
                # No file sorts by what may be NULL, and not every engine takes NULLS FIRST there.
                item.set("nulls_first", target.puts_null_first[bool(item.args.get("desc"))])
    if target.settings:
        query = tree.expression if isinstance(tree, exp.DDL) else tree
        kept = any(step.args.get("materialized") for step in nodes(tree, exp.CTE))
        settings = [*target.settings, *([target.keeping] if kept and target.keeping else [])]
        query.set("settings", [exp.EQ(this=exp.var(name), expression=exp.Literal.number(1)) for name in settings])


def _cast_divisions(tree: exp.Expr, target: Dialect) -> None:
    """Make doubles of what is divided, or has a logarithm, where the engine does not and it is none."""
    doubles = Doubles(target)
    doubles.note(tree)
    for division in nodes(tree, exp.Div):
        if target.divides_whole:
            _uncast(division)
        elif not (doubles.is_double(division.this) or doubles.is_double(division.expression)):
            _cast(division, "expression" if isinstance(division.expression, exp.Literal) else "this")
        division.set("typed", True)  # noqa: FBT003  sqlglot's flag: one side is a double, so nothing is to be added
        division.set("safe", False)  # noqa: FBT003  a zero denominator is NULL already, through NULLIF
    for function in nodes(tree, exp.Ln, exp.Exp, exp.Sqrt, exp.Avg):
        if not (target.divides_whole or doubles.is_double(function.this)):
            _cast(function, "this")
    _drop_casts(tree, doubles)
    _drop_parentheses(tree, target)


def _uncast(division: exp.Div) -> None:
    """Leave the operands of a division as they are, where it makes doubles of them."""
    for side in ("this", "expression"):
        cast = division.args[side]
        if isinstance(cast, exp.Cast) and cast.is_type(DOUBLE) and not isinstance(cast.this, exp.Literal):
            division.set(side, exp.paren(cast.this, copy=False) if isinstance(cast.this, exp.Binary) else cast.this)


def _drop_casts(tree: exp.Expr, doubles: Doubles) -> None:
    """Leave doubles as they are."""
    for cast in nodes(tree, exp.Cast):
        if cast.is_type(DOUBLE) and doubles.is_double(cast.this.unnest()):
            inner = cast.this.unnest()
            is_operand = isinstance(cast.parent, (exp.Binary, exp.Neg)) and isinstance(inner, (exp.Binary, exp.Neg))
            cast.replace(exp.paren(inner, copy=False) if is_operand else inner)


_ALONE = (exp.Alias, exp.AggFunc, exp.Abs, exp.Coalesce, exp.Nullif, exp.Ln, exp.Exp, exp.Sqrt, exp.If, exp.Cast, exp.Join, exp.Paren)
"""What parentheses are not needed in, since there is nothing beside them."""


def _drop_parentheses(tree: exp.Expr, target: Dialect) -> None:
    """Leave out parentheses round what stands alone, or binds more than what is beside it."""
    for paren in nodes(tree, exp.Paren):
        inner = paren.this
        is_one = isinstance(inner, (exp.Column, exp.Literal, exp.Paren)) or (
            isinstance(inner, exp.Func) and not isinstance(inner, exp.Binary)
        )
        is_same = isinstance(inner, exp.NullSafeEQ) and isinstance(paren.parent, exp.And) and not target.binds_and_first
        if is_one or is_same or isinstance(paren.parent, _ALONE):
            paren.replace(inner)


def _compare_nulls(tree: exp.Expr) -> None:
    """Write ``a IS NOT DISTINCT FROM b`` in words that every engine has."""
    for same in nodes(tree, exp.NullSafeEQ):
        both = exp.and_(*(exp.Is(this=side.copy(), expression=exp.Null()) for side in (same.this, same.expression)))
        same.replace(exp.paren(exp.or_(exp.EQ(this=same.this, expression=same.expression), both), copy=False))


def _decimals(tree: exp.Expr) -> list[exp.Literal]:
    return [literal for literal in nodes(tree, exp.Literal) if literal.is_number and not literal.is_int]


def _write_not_numbers(tree: exp.Expr, target: Dialect) -> None:
    """Write infinity, and the tests for it and for NaN, as the engine has them."""
    for infinite in nodes(tree, exp.IsInf):
        infinite.replace(exp.EQ(this=exp.Abs(this=infinite.this), expression=exp.cast(exp.Literal.string("inf"), "DOUBLE")))
    for test in nodes(tree, exp.IsNan):
        if not target.has_nan:
            test.replace(exp.false())
        elif target.nan_function:
            test.replace(exp.Anonymous(this=target.nan_function, expressions=[test.this]))
        else:
            test.replace(exp.EQ(this=test.this, expression=exp.cast(exp.Literal.string("NaN"), "DOUBLE")))
    for cast in nodes(tree, exp.Cast):
        if target.infinity and cast.this.is_string and cast.this.name in {"inf", "-inf"}:
            infinity = exp.var(target.infinity)
            cast.replace(exp.Neg(this=infinity) if cast.this.name == "-inf" else infinity)


def _cast(node: exp.Expr, argument: str) -> None:
    # Not a copy: there may be divisions in it that are still to be written.
    node.set(argument, exp.cast(node.args[argument].unnest(), DOUBLE, copy=False))


def _suit_clickhouse(tree: exp.Expr) -> None:
    """Name the columns that a join selects (``l.query_id`` otherwise), and make doubles of whole numbers, which mix with no double there."""
    for select in nodes(tree, exp.Select):
        if select.args.get("joins"):
            for column in [item for item in select.expressions if isinstance(item, exp.Column) and not item.is_star]:
                column.replace(exp.alias_(column.copy(), column.name, quoted=column.this.quoted))
    for kind in nodes(tree, exp.DataType):
        if kind.is_type(BIGINT) and kind.find_ancestor(exp.CTE):
            kind.replace(exp.DataType.build(DOUBLE))
    for count in nodes(tree, exp.Count, exp.RowNumber, exp.Rank, exp.DenseRank):
        whole = count.parent if isinstance(count.parent, exp.Window) else count
        whole.replace(exp.cast(whole.copy(), DOUBLE))
    for function in nodes(tree, exp.CumeDist):
        function.replace(exp.Anonymous(this="cume_dist"))
