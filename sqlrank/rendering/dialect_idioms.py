"""Rewrite series of integers, and conversions of hexadecimal numbers, in the idiom of a dialect."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.sql_ast import BIGINT, find_nodes, source_names
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlrank.rendering.dialects import Dialect

SERIES, NUMBER = "series", "number"
"""Alias and column of a series of integers, ``UNNEST(GENERATE_SERIES(1, 20)) AS series(number)``."""

HEX_PREFIX = "0x"
"""Text before hexadecimal digits in ``CAST('0x' || digits AS BIGINT)``."""

_POWERS_OF_TEN = ("ones", "tens", "hundreds", "thousands")
_HEX_DIGITS = "0123456789abcdef"
_NUM_HEX_DIGITS = 8


def rewrite_number_series(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite series of integers in place."""
    for series in find_nodes(tree, exp.Unnest):
        if series.alias == SERIES and isinstance(series.expressions[0], exp.GenerateSeries):
            if target.number_series == "function":
                series.replace(exp.Table(this=series.expressions[0], alias=series.args["alias"]))
            elif target.number_series == "numbers":
                _read_numbers(series)
            elif target.number_series is None:
                _combine_digits(tree, series)


def _read_bounds(series: exp.Unnest) -> tuple[int, int]:
    """Return the first and last number of a series."""
    generated = series.expressions[0]
    return int(generated.args["start"].name), int(generated.args["end"].name)


def _read_numbers(series: exp.Unnest) -> None:
    """Read the function ``numbers`` of ClickHouse, whose unsigned integers have no common type with others."""
    first, last = _read_bounds(series)
    select: Any = series.parent_select
    for column in [column for column in find_nodes(select, exp.Column) if column.name == NUMBER]:
        number: exp.Expr = exp.cast(column.copy(), "INT")
        column.replace(exp.alias_(number, NUMBER) if column.parent is select else number)
    function = exp.Anonymous(this="numbers", expressions=[exp.Literal.number(first), exp.Literal.number(last - first + 1)])
    series.replace(exp.Table(this=function, alias=exp.TableAlias(this=exp.to_identifier(SERIES))))


def _combine_digits(tree: exp.Expr, series: exp.Unnest) -> None:
    """Cross join a step of the ten digits, once per decimal place."""
    first, last = _read_bounds(series)
    select: Any = series.parent_select
    aliases = _POWERS_OF_TEN[: len(str(last - first))]
    terms: list[exp.Expr] = [exp.Literal.number(first)] if first else []
    for power, alias in enumerate(aliases):
        digit: exp.Expr = exp.column("digit", table=alias)
        terms.append(exp.Mul(this=exp.Literal.number(10**power), expression=digit) if power else digit)
    number = reduce(lambda left, right: exp.Add(this=left, expression=right), terms)
    for column in [column for column in find_nodes(select, exp.Column) if column.name == NUMBER]:
        if column.parent is select:
            column.replace(exp.alias_(number.copy(), NUMBER))
        else:
            column.replace(exp.paren(number.copy()) if isinstance(column.parent, exp.Binary) else number.copy())
    digits = _digits_cte(tree)
    series.replace(exp.to_table(digits).as_(aliases[0]))
    for alias in aliases[1:]:
        select.join(exp.to_table(digits).as_(alias), join_type="cross", copy=False)
    if last - first + 1 < 10 ** len(aliases):
        select.where(exp.LTE(this=number, expression=exp.Literal.number(last)), copy=False)


def _digits_cte(tree: exp.Expr) -> str:
    """Return the name of the step of the ten digits, added before all others if there is none."""
    query: Any = tree.expression if isinstance(tree, (exp.DDL, exp.Insert)) else tree
    with_clause = query.args["with_"]
    first = exp.select(exp.alias_(exp.Literal.number(0), "digit"))
    first.comments = ["One row per digit."]
    union: exp.Query = first
    for digit in range(1, 10):
        union = exp.union(union, exp.select(exp.Literal.number(digit)), distinct=False, copy=False)
    if (same := next((cte.alias for cte in with_clause.expressions if cte.this == union), None)) is not None:
        return str(same)
    name = unique_name("digits", source_names(tree))
    with_clause.expressions.insert(0, exp.CTE(this=union, alias=exp.TableAlias(this=exp.to_identifier(name))))
    return name


def rewrite_hex_numbers(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite ``CAST('0x' || digits AS BIGINT)`` in place, the number of eight hexadecimal digits in lower case."""
    write = _HEX_NUMBERS[target.hex_number]
    for cast in find_nodes(tree, exp.Cast) if write else ():
        text = cast.this
        if isinstance(text, exp.DPipe) and text.this.is_string and text.this.name == HEX_PREFIX and cast.is_type(BIGINT):
            cast.replace(write(text.expression))  # type: ignore[misc]


def _hex_by_base(digits: exp.Expr) -> exp.Expr:
    return exp.cast(exp.Anonymous(this="CONV", expressions=[digits, exp.Literal.number(16), exp.Literal.number(10)]), BIGINT)


def _hex_from_base(digits: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="FROM_BASE", expressions=[digits, exp.Literal.number(16)])


def _hex_by_bits(digits: exp.Expr) -> exp.Expr:
    text = exp.DPipe(this=exp.Literal.string("x"), expression=digits, safe=True)
    return exp.cast(exp.cast(text, exp.DataType.build("BIT(32)", dialect="postgres")), BIGINT)


def _hex_by_bytes(digits: exp.Expr) -> exp.Expr:
    """Return the number as an integer of the reversed bytes, since the first byte is the lowest to ClickHouse."""
    number = digits
    for function in ("unhex", "reverse", "reinterpretAsUInt32"):
        number = exp.Anonymous(this=function, expressions=[number])
    return exp.cast(number, BIGINT)


def _hex_by_digits(digits: exp.Expr) -> exp.Expr:
    """Return the sum over eight digits of their position in the list of all, times a power of 16."""
    terms: list[exp.Expr] = []
    for index in range(_NUM_HEX_DIGITS):
        position = exp.StrPosition(this=exp.Literal.string(_HEX_DIGITS), substr=_digit_at(digits, index))
        digit: exp.Expr = exp.Sub(this=position, expression=exp.Literal.number(1))
        power = 16 ** (_NUM_HEX_DIGITS - 1 - index)
        digit = exp.paren(digit) if index else exp.cast(digit, BIGINT)
        terms.append(exp.Mul(this=digit, expression=exp.Literal.number(power)) if power > 1 else digit)
    return exp.paren(reduce(lambda left, right: exp.Add(this=left, expression=right), terms))


def _digit_at(digits: exp.Expr, index: int) -> exp.Expr:
    """Return one digit, from the text that the digits are cut out of if its position is known."""
    is_cut = isinstance(digits, exp.Substring) and isinstance(digits.args.get("start"), exp.Literal)
    source, first = (digits.this, int(digits.args["start"].name)) if is_cut else (digits, 1)
    return exp.func("SUBSTR", source.copy(), exp.Literal.number(first + index), exp.Literal.number(1))


_HEX_NUMBERS: Mapping[str | None, Callable[[exp.Expr], exp.Expr] | None] = {
    "prefix": None,
    "base": _hex_by_base,
    "from_base": _hex_from_base,
    "bits": _hex_by_bits,
    "bytes": _hex_by_bytes,
    None: _hex_by_digits,
}
"""Conversions of hexadecimal digits, by the value of ``Dialect.hex_number``."""
