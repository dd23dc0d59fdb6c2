"""Forms that several dialects share: series of integers, hexadecimal numbers, and quantiles of
groups.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.statement_graph import outermost_query
from sqlrank.sql_ast import (
    BIGINT,
    DOUBLE,
    case_when,
    find_nodes,
    first_select,
    is_null,
    source_names,
    sql_literal,
)
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


SERIES, NUMBER = "series", "number"
"""Alias and column of a series of integers, ``UNNEST(GENERATE_SERIES(1, 20)) AS
series(number)``.
"""

HEX_PREFIX = "0x"
"""Text before hexadecimal digits in ``CAST('0x' || digits AS BIGINT)``."""

_POWERS_OF_TEN = ("ones", "tens", "hundreds", "thousands")
_HEX_DIGITS = "0123456789abcdef"
_NUM_HEX_DIGITS = 8


def read_series_function(_: exp.Expr, series: exp.Unnest) -> None:
    """Read GENERATE_SERIES in FROM."""
    series.replace(exp.Table(this=series.expressions[0], alias=series.args["alias"]))


def read_bounds(series: exp.Unnest) -> tuple[int, int]:
    """Return the first and last number of a series."""
    generated = series.expressions[0]
    return int(generated.args["start"].name), int(generated.args["end"].name)


def combine_digits(tree: exp.Expr, series: exp.Unnest) -> None:
    """Cross join a step of the ten digits, once per decimal place."""
    first, last = read_bounds(series)
    select: Any = series.parent_select
    aliases = _POWERS_OF_TEN[: len(str(last - first))]
    terms: list[exp.Expr] = [exp.Literal.number(first)] if first else []
    for power, alias in enumerate(aliases):
        digit: exp.Expr = exp.column("digit", table=alias)
        terms.append(
            exp.Mul(this=exp.Literal.number(10**power), expression=digit) if power else digit
        )
    number = reduce(lambda left, right: exp.Add(this=left, expression=right), terms)
    for column in [column for column in find_nodes(select, exp.Column) if column.name == NUMBER]:
        if column.parent is select:
            column.replace(exp.alias_(number.copy(), NUMBER))
        else:
            column.replace(
                exp.paren(number.copy()) if isinstance(column.parent, exp.Binary) else number.copy()
            )
    digits = _digits_cte(tree)
    series.replace(exp.to_table(digits).as_(aliases[0]))
    for alias in aliases[1:]:
        select.join(exp.to_table(digits).as_(alias), join_type="cross", copy=False)
    if last - first + 1 < 10 ** len(aliases):
        select.where(exp.LTE(this=number, expression=exp.Literal.number(last)), copy=False)


_DIGITS: Any = exp.maybe_parse(
    f"SELECT 0 AS digit {' '.join(f'UNION ALL SELECT {digit}' for digit in range(1, 10))}"
)


def _digits_cte(tree: exp.Expr) -> str:
    """Return the name of the step of the ten digits, added before all others if there is none."""
    query: Any = tree.expression if isinstance(tree, (exp.DDL, exp.Insert)) else tree
    with_clause = query.args["with_"]
    union = _DIGITS.copy()
    first_select(union).comments = ["One row per digit."]
    if (
        same := next((cte.alias for cte in with_clause.expressions if cte.this == union), None)
    ) is not None:
        return str(same)
    name = unique_name("digits", source_names(tree))
    with_clause.expressions.insert(
        0, exp.CTE(this=union, alias=exp.TableAlias(this=exp.to_identifier(name)))
    )
    return name


def sum_hex_digits(digits: exp.Expr) -> exp.Expr:
    """Return the sum over eight digits of their position in the list of all, times a power of
    16.
    """
    terms: list[exp.Expr] = []
    for index in range(_NUM_HEX_DIGITS):
        position = exp.StrPosition(this=sql_literal(_HEX_DIGITS), substr=_digit_at(digits, index))
        digit: exp.Expr = exp.Sub(this=position, expression=sql_literal(1))
        power = 16 ** (_NUM_HEX_DIGITS - 1 - index)
        digit = exp.paren(digit) if index else exp.cast(digit, BIGINT)
        terms.append(
            exp.Mul(this=digit, expression=exp.Literal.number(power)) if power > 1 else digit
        )
    return exp.paren(reduce(lambda left, right: exp.Add(this=left, expression=right), terms))


def _digit_at(digits: exp.Expr, index: int) -> exp.Expr:
    """Return one digit, from the text that the digits are cut out of if its position is known."""
    is_cut = isinstance(digits, exp.Substring) and isinstance(digits.args.get("start"), exp.Literal)
    source, first = (digits.this, int(digits.args["start"].name)) if is_cut else (digits, 1)
    return exp.func("SUBSTR", source.copy(), exp.Literal.number(first + index), sql_literal(1))


NUMBERED_ROWS = "numbered_rows"
"""Name of a step of rows with their positions by value."""


def order_within_group(value: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), in an order with the NULLs last."""
    order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=False)])
    return exp.WithinGroup(this=exp.PercentileCont(this=share), expression=order)


def sum_numbered_rows(tree: exp.Expr, quantiles: Sequence[exp.PercentileCont]) -> None:
    """Write quantiles as sums over rows that are numbered by value."""
    for select in {
        id(quantile.parent_select): quantile.parent_select for quantile in quantiles
    }.values():
        _number_rows(
            tree, select, [quantile for quantile in quantiles if quantile.parent_select is select]
        )


def _number_rows(tree: exp.Expr, select: Any, quantiles: list[exp.PercentileCont]) -> None:
    """Move the sources of a SELECT into a step before it, which numbers the rows of each group by
    value.

    A quantile is then the sum of the values on both sides of its position, each weighted by its
    closeness.

    >>> import sqlglot
    >>> text = "WITH a AS (SELECT 1 AS g, 2 AS x) SELECT a.g, QUANTILE_CONT(a.x, 0.5) AS m FROM a GROUP BY a.g"
    >>> tree = sqlglot.parse_one(text, read="duckdb")
    >>> _number_rows(tree, tree, list(tree.find_all(exp.PercentileCont)))
    >>> print(tree.sql(comments=False))  # doctest: +NORMALIZE_WHITESPACE
    WITH a AS (SELECT 1 AS g, 2 AS x), numbered_rows AS (SELECT a.g, a.x,
    ROW_NUMBER() OVER (PARTITION BY a.g, CASE WHEN a.x IS NULL THEN 1 ELSE 0 END ORDER BY a.x NULLS LAST) AS x_position,
    COUNT(a.x) OVER (PARTITION BY a.g) AS x_count FROM a)
    SELECT g, SUM(CASE WHEN ABS(x_position - 1 - CAST(0.5 AS DOUBLE) * (x_count - 1)) < 1
    THEN x * (1 - ABS(x_position - 1 - CAST(0.5 AS DOUBLE) * (x_count - 1))) END) AS m FROM numbered_rows GROUP BY g
    """  # noqa: E501
    group = select.args.get("group")
    keys = group.expressions if group is not None else []
    numbered = exp.Select()
    names: dict[tuple[str, str], exp.Identifier] = {}

    def add_column(item: exp.Expr, name: exp.Identifier) -> exp.Identifier:
        taken = {selected.lower() for selected in numbered.named_selects}
        alias = exp.to_identifier(unique_name(name.name, taken), quoted=name.args.get("quoted"))
        is_same = isinstance(item, exp.Column) and item.this == alias
        numbered.select(item if is_same else exp.alias_(item, alias), copy=False)
        return alias

    columns = _columns_read(select)
    for column in columns:
        key = (column.table, column.name)
        if key not in names:
            names[key] = add_column(column.copy(), column.this)
    positions: dict[exp.Expr, tuple[exp.Identifier, exp.Identifier]] = {}
    for quantile in quantiles:
        value = quantile.this
        if value not in positions:
            name = value.name if isinstance(value, exp.Column) else "value"
            row_number, count = _number_values(value, keys), _count_values(value, keys)
            key = value.copy()
            positions[key] = (
                add_column(row_number, exp.to_identifier(f"{name}_position")),
                add_column(count, exp.to_identifier(f"{name}_count")),
            )
        position, size = (exp.column(name.copy()) for name in positions[value])
        quantile.replace(_weighted_sum(value, position, size, quantile.expression))
    for column in columns:
        alias = names[column.table, column.name]
        is_renamed = column.parent is select and alias.name != column.name
        column.replace(
            exp.alias_(exp.column(alias.copy()), column.this)
            if is_renamed
            else exp.column(alias.copy())
        )
    for clause in ("from_", "joins", "where"):
        numbered.set(clause, select.args.get(clause))
        select.set(clause, None)
    select.set("from_", exp.From(this=exp.to_table(_add_step(tree, select, numbered))))


def _number_values(value: exp.Expr, keys: Iterable[exp.Expr]) -> exp.Expr:
    """Return the number of a row by a value in its group; rows without a value are numbered
    apart.
    """
    is_missing = case_when(is_null(value.copy()), sql_literal(1), sql_literal(0))
    order = exp.Order(expressions=[exp.Ordered(this=value.copy())])
    return exp.Window(
        this=exp.RowNumber(), partition_by=[*(key.copy() for key in keys), is_missing], order=order
    )


def _count_values(value: exp.Expr, keys: Iterable[exp.Expr]) -> exp.Expr:
    """Return the number of values in the group of a row."""
    return exp.Window(this=exp.Count(this=value.copy()), partition_by=[key.copy() for key in keys])


def _columns_read(select: Any) -> list[exp.Column]:
    """Return the columns outside of FROM and WHERE, without those of ORDER BY that are in the
    result.
    """
    clauses = [
        part
        for part in (*select.expressions, select.args.get("group"), select.args.get("having"))
        if part is not None
    ]
    columns = [column for part in clauses for column in find_nodes(part, exp.Column)]
    order = find_nodes(select.args["order"], exp.Column) if select.args.get("order") else []
    columns += [
        column for column in order if column.table or column.name not in select.named_selects
    ]
    return [column for column in columns if column.parent_select is select]


def _weighted_sum(value: exp.Expr, position: exp.Expr, size: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return the sum of the values on both sides of the position of a quantile, each weighted by
    its closeness.
    """
    one = sql_literal(1)
    last = exp.paren(exp.Sub(this=size, expression=one.copy()), copy=False)
    quantile_position = exp.Mul(this=exp.cast(share.unnest().copy(), DOUBLE), expression=last)
    distance = exp.Abs(
        this=exp.Sub(
            this=exp.Sub(this=position, expression=one.copy()), expression=quantile_position
        )
    )
    closeness = exp.paren(exp.Sub(this=one.copy(), expression=distance), copy=False)
    term = exp.Mul(this=value, expression=closeness)
    return exp.Sum(this=case_when(exp.LT(this=distance.copy(), expression=one.copy()), term))


def _add_step(tree: exp.Expr, select: exp.Expr, step: exp.Select) -> str:
    """Add a step before the one that a SELECT is in, and return its name."""
    query: Any = outermost_query(tree)
    if query.args.get("with_") is None:
        query.set("with_", exp.With(expressions=[]))
    steps = query.args["with_"].expressions
    name = unique_name(NUMBERED_ROWS, source_names(tree))
    step.comments = ["Rows with the position of their value in the group, from the lowest."]
    reader = select.find_ancestor(exp.CTE)
    place = next((place for place, other in enumerate(steps) if other is reader), len(steps))
    steps.insert(place, exp.CTE(this=step, alias=exp.TableAlias(this=exp.to_identifier(name))))
    query.args["with_"].set("expressions", steps)
    return name
