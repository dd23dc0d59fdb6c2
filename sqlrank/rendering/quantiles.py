"""Rewrite exact quantiles of groups in the form of a dialect: an aggregate, or a sum over rows that are numbered by value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.statement_graph import outermost_query
from sqlrank.sql_ast import DOUBLE, find_nodes, is_null, source_names
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlrank.rendering.dialects import Dialect

NUMBERED_ROWS = "numbered_rows"
"""Name of a step of rows with their positions by value."""


def rewrite_quantiles(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite quantiles of groups in place."""
    if target.quantile == "arguments":
        return
    quantiles = find_nodes(tree, exp.PercentileCont)
    if target.quantile == "row_numbers":
        for select in {id(quantile.parent_select): quantile.parent_select for quantile in quantiles}.values():
            _number_rows(tree, select, [quantile for quantile in quantiles if quantile.parent_select is select])
        return
    for quantile in quantiles:
        value, share = quantile.this, exp.var(quantile.expression.name)  # engines demand a literal, without the cast of one
        if target.quantile == "within_group":
            order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=target.default_nulls_first[False])])
            rewritten: exp.Expr = exp.WithinGroup(this=exp.PercentileCont(this=share), expression=order)
        elif target.quantile == "percentile":
            rewritten = exp.Quantile(this=value, quantile=share)
        else:
            rewritten = exp.ParameterizedAgg(this="quantileExactInclusive", expressions=[share], params=[value])
        quantile.replace(rewritten)


def _number_rows(tree: exp.Expr, select: Any, quantiles: list[exp.PercentileCont]) -> None:
    """Move the sources of a SELECT into a step before it, which numbers the rows of each group by value.

    A quantile is then the sum of the values on both sides of its position, each weighted by its closeness.

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
    """
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
        column.replace(exp.alias_(exp.column(alias.copy()), column.this) if is_renamed else exp.column(alias.copy()))
    for clause in ("from_", "joins", "where"):
        numbered.set(clause, select.args.get(clause))
        select.set(clause, None)
    select.set("from_", exp.From(this=exp.to_table(_add_step(tree, select, numbered))))


def _number_values(value: exp.Expr, keys: Iterable[exp.Expr]) -> exp.Expr:
    """Return the number of a row by a value in its group; rows without a value are numbered apart."""
    is_missing = exp.Case(ifs=[exp.If(this=is_null(value.copy()), true=exp.Literal.number(1))], default=exp.Literal.number(0))
    order = exp.Order(expressions=[exp.Ordered(this=value.copy())])
    return exp.Window(this=exp.RowNumber(), partition_by=[*(key.copy() for key in keys), is_missing], order=order)


def _count_values(value: exp.Expr, keys: Iterable[exp.Expr]) -> exp.Expr:
    """Return the number of values in the group of a row."""
    return exp.Window(this=exp.Count(this=value.copy()), partition_by=[key.copy() for key in keys])


def _columns_read(select: Any) -> list[exp.Column]:
    """Return the columns outside of FROM and WHERE, without those of ORDER BY that are in the result."""
    clauses = [part for part in (*select.expressions, select.args.get("group"), select.args.get("having")) if part is not None]
    columns = [column for part in clauses for column in find_nodes(part, exp.Column)]
    order = find_nodes(select.args["order"], exp.Column) if select.args.get("order") else []
    columns += [column for column in order if column.table or column.name not in select.named_selects]
    return [column for column in columns if column.parent_select is select]


def _weighted_sum(value: exp.Expr, position: exp.Expr, size: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return the sum of the values on both sides of the position of a quantile, each weighted by its closeness."""
    one = exp.Literal.number(1)
    last = exp.paren(exp.Sub(this=size, expression=one.copy()), copy=False)
    quantile_position = exp.Mul(this=exp.cast(share.unnest().copy(), DOUBLE), expression=last)
    distance = exp.Abs(this=exp.Sub(this=exp.Sub(this=position, expression=one.copy()), expression=quantile_position))
    closeness = exp.paren(exp.Sub(this=one.copy(), expression=distance), copy=False)
    term = exp.Mul(this=value, expression=closeness)
    return exp.Sum(this=exp.Case(ifs=[exp.If(this=exp.LT(this=distance.copy(), expression=one.copy()), true=term)]))


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
