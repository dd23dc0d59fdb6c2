"""Fold constants, and propagate columns of CTEs that are constants, copies or NULL to where they
are read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.statement_graph import (
    OPERATORS,
    Scope,
    StatementGraph,
    StatementStep,
    is_constant,
    needs_parentheses,
)
from sqlrank.sql_ast import DOUBLE, find_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot.expressions import Expr

    Replacements = dict[str, Expr]

COMPARISONS: dict[type[exp.Expr], Callable[[float, float], bool]] = {
    exp.EQ: lambda left, right: left == right,
    exp.NEQ: lambda left, right: left != right,
    exp.LT: lambda left, right: left < right,
    exp.LTE: lambda left, right: left <= right,
    exp.GT: lambda left, right: left > right,
    exp.GTE: lambda left, right: left >= right,
}
"""Comparisons of numbers by operator."""

_ARITHMETIC: dict[type[exp.Expr], Callable[[float, float], float]] = {
    exp.Add: lambda left, right: left + right,
    exp.Sub: lambda left, right: left - right,
    exp.Mul: lambda left, right: left * right,
}
_DOUBLE_TYPES = (exp.Div, exp.Ln, exp.Exp, exp.Sqrt, exp.Avg)
_FOLDED_TYPES = (
    *COMPARISONS,
    *_ARITHMETIC,
    exp.Div,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Is,
    exp.Case,
    exp.Where,
    exp.Nullif,
    exp.Ln,
    exp.Sum,
)
MAX_EXACT = 2**53
"""Integers up to this size are doubles without rounding."""

MAX_DOUBLE_LENGTH = 6
"""Maximum length of a double that is computed: ``1 - 0.95`` is easier to read than its value."""


def fold_constants(tree: exp.Expr) -> None:
    """Fold constants of a tree in place, where every engine computes the same number.

    sqlglot's ``simplify`` takes 13 times as long, drops parentheses, and computes decimals where
    engines have doubles.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one(
    ...     "SELECT (1 + 1 * 1) * x / NULLIF(10, 0) AS y, CASE WHEN TRUE THEN 1 * x END AS z"
    ... )
    >>> fold_constants(tree)
    >>> print(tree.sql())
    SELECT 2 * x / 10 AS y, x AS z
    """
    nodes: list[Any] = find_nodes(tree, *_FOLDED_TYPES)
    for node in reversed(nodes):
        if type(node) in COMPARISONS:
            left_number, right_number = literal_value(node.this), literal_value(node.expression)
            if left_number is not None and right_number is not None:
                node.replace(exp.Boolean(this=COMPARISONS[type(node)](left_number, right_number)))
        elif isinstance(node, (exp.And, exp.Or)):
            _fold_and_or(node)
        elif isinstance(node, exp.Not) and isinstance(node.this.unnest(), exp.Boolean):
            node.replace(exp.Boolean(this=not node.this.unnest().this))
        elif isinstance(node, exp.Case):
            _fold_case(node)
        elif isinstance(node, exp.Where) and _is_boolean(node.this, value=True):
            node.pop()
        elif isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
            _fold_arithmetic(node)
        elif isinstance(node, (exp.Is, exp.Nullif, exp.Ln, exp.Sum)):
            _fold_function(node)


def as_literal(value: exp.Expr) -> exp.Expr:
    """Return a constant as a literal; a double has a decimal point."""
    if isinstance(value, exp.Cast):
        inner = value.this.this if isinstance(value.this, exp.Neg) else value.this
        literal = exp.Literal.number(repr(float(inner.this)))
        return exp.Neg(this=literal) if isinstance(value.this, exp.Neg) else literal
    return value.copy()


def _fold_arithmetic(node: exp.Binary) -> None:
    """Fold arithmetic of literals, and with a neutral operand."""
    left, right = literal_value(node.this), literal_value(node.expression)
    if left is not None and right is not None and not isinstance(node, exp.Div):
        number = _ARITHMETIC[type(node)](left, right)
        is_integer = _is_integer(node.this) and _is_integer(node.expression)
        if (abs(number) < MAX_EXACT) if is_integer else len(repr(number)) <= MAX_DOUBLE_LENGTH:
            replace_expression(node, _build_literal(int(number) if is_integer else number))
    elif isinstance(node, exp.Mul) and left == 1:
        replace_expression(node, keep_double_type(node.expression, node.this))
    elif isinstance(node, (exp.Mul, exp.Div)) and right == 1:
        replace_expression(
            node,
            keep_double_type(
                node.this,
                exp.Literal.number("1.0") if isinstance(node, exp.Div) else node.expression,
            ),
        )
    elif isinstance(node, (exp.Add, exp.Sub)) and right == 0:
        replace_expression(node, keep_double_type(node.this, node.expression))
    elif isinstance(node, exp.Add) and left == 0:
        replace_expression(node, keep_double_type(node.expression, node.this))


def _fold_function(node: exp.Is | exp.Nullif | exp.Ln | exp.Sum) -> None:
    """Fold tests for NULL, ``NULLIF(10, 0)``, logarithms of 1 and e, and sums of ones."""
    number = literal_value(node.this)
    if number is None:
        return
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        node.replace(exp.false())
    elif isinstance(node, exp.Nullif) and literal_value(node.expression) == 0 and number != 0:
        replace_expression(node, node.this.unnest())
    elif isinstance(node, exp.Ln) and number in {1, math.e}:
        replace_expression(node, exp.Literal.number("0.0" if number == 1 else "1.0"))
    elif isinstance(node, exp.Sum) and number == 1 and _can_be_count(node):
        count = exp.Count(
            this=exp.Star(), big_int=True
        )  # as sqlglot parses it, so that equal columns are found equal
        node.replace(count if _is_integer(node.this) else exp.cast(count, DOUBLE))


def _can_be_count(aggregate: exp.Sum) -> bool:
    """Return True if a sum of ones may be written as a count, although the sum over no rows is
    NULL, and a count of them is 0.
    """
    parent: exp.Expr | None = aggregate.parent
    if isinstance(parent, exp.Window):
        return parent.args.get("spec") is None and _is_integer(
            aggregate.this
        )  # a cast would come between the count and OVER
    if isinstance(parent, exp.Filter):
        return False
    if isinstance(parent, exp.Nullif) and literal_value(parent.expression) == 0:
        return True
    select = aggregate.parent_select
    return isinstance(select, exp.Select) and bool(select.args.get("group"))


def replace_expression(node: exp.Expr, value: exp.Expr) -> None:
    """Replace an expression by a part of it or a literal, with the parentheses that it needs
    there.
    """
    inner = (
        value.unnest()
        if isinstance(value, exp.Paren) and not isinstance(value.this, exp.Query)
        else value
    )
    place: exp.Expr = node
    while (
        isinstance(place.parent, exp.Paren)
        and place.parent.parent is not None
        and not isinstance(inner, OPERATORS)
    ):
        place = place.parent
    place.replace(exp.paren(inner, copy=False) if needs_parentheses(inner, place) else inner)


def keep_double_type(value: exp.Expr, neutral_operand: exp.Expr) -> exp.Expr:
    """Return a value without its neutral operand, such as 1 of a product; cast to a double if that
    operand is one and the value is not.
    """
    if (
        _is_integer(neutral_operand)
        or isinstance(value.unnest(), _DOUBLE_TYPES)
        or (isinstance(value, exp.Cast) and value.is_type(DOUBLE))
    ):
        return value
    return exp.cast(value.unnest(), DOUBLE, copy=False)


def _is_integer(node: exp.Expr) -> bool:
    """Return True if a literal is an integer and no double."""
    inner = node.unnest()
    inner = inner.this.unnest() if isinstance(inner, exp.Neg) else inner
    return isinstance(inner, exp.Literal) and inner.is_int


def _build_literal(number: float) -> exp.Expr:
    literal = exp.Literal.number(repr(abs(number)))
    return exp.Neg(this=literal) if number < 0 else literal


def _is_boolean(node: exp.Expr, value: bool) -> bool:
    inner = node.unnest()
    return isinstance(inner, exp.Boolean) and bool(inner.this) == value


def literal_value(node: exp.Expr) -> float | None:
    """Return the number that a literal is, also with a sign or a cast to double."""
    inner = node.unnest()
    if isinstance(inner, exp.Cast) and inner.is_type(DOUBLE):
        return (
            None
            if isinstance(inner.this, exp.Literal) and inner.this.is_string
            else literal_value(inner.this)
        )
    if isinstance(inner, exp.Neg):
        operand = literal_value(inner.this)
        return None if operand is None else -operand
    if (
        not isinstance(inner, exp.Literal)
        or not inner.is_number
        or (inner.is_int and int(inner.this) > MAX_EXACT)
    ):
        return None
    return float(inner.this)


def _fold_and_or(node: exp.And | exp.Or) -> None:
    """Fold an AND or OR with a constant operand."""
    neutral = isinstance(node, exp.And)
    if any(_is_boolean(operand, value=not neutral) for operand in (node.this, node.expression)):
        node.replace(exp.Boolean(this=not neutral))
    elif _is_boolean(node.this, value=neutral):
        node.replace(node.expression)
    elif _is_boolean(node.expression, value=neutral):
        node.replace(node.this)


def _fold_case(node: exp.Case) -> None:
    if node.this is not None:
        return
    branches: list[exp.Expr] = []
    for branch in node.args["ifs"]:
        if _is_boolean(branch.this, value=True):
            node.set("default", branch.args["true"])
            break
        if not _is_boolean(branch.this, value=False):
            branches.append(branch)
    node.set("ifs", branches)
    default = node.args.get("default")
    if not branches:
        replace_expression(node, default or exp.Null())
    elif (
        len(branches) == 1
        and default is None
        and _is_not_null(branches[0].this, branches[0].args["true"])
    ):
        replace_expression(node, branches[0].args["true"])


def _is_not_null(condition: exp.Expr, value: exp.Expr) -> bool:
    """Return True if a condition says that a value is not NULL."""
    test = condition.this.unnest() if isinstance(condition, exp.Not) else None
    return (
        isinstance(test, exp.Is)
        and isinstance(test.expression, exp.Null)
        and bool(test.this == value)
    )


def propagate_constants(graph: StatementGraph) -> None:
    """Replace columns of CTEs that are constants, or copies of other columns, where they are read,
    and fold what follows.

    The columns themselves are left to projection pruning. sqlglot's ``simplify`` propagates
    constants within one condition only.

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     propagate_constants,
    ...     "WITH a AS (SELECT x, x AS y, 1 AS z FROM t) SELECT x * y * z AS n FROM a",
    ... )
    'WITH a AS (SELECT x, x AS y, 1 AS z FROM t) SELECT x * x AS n FROM a'
    """
    replacements: dict[str, Replacements] = {}
    for step in graph.steps:
        for scope in step.scopes:
            if (
                any(replacements.get(source.name) for source in scope.sources.values())
                and scope.is_plain
            ):
                _replace_columns(scope, replacements)
        if step.cte is not None:
            replacements[step.name] = _find_replacements(step)


def _find_replacements(step: StatementStep) -> Replacements:
    """Return the constants among the columns of a CTE, and the first of several equal columns, by
    column.
    """
    branches = [[item.unalias() for item in scope.select.expressions] for scope in step.scopes]
    names = step.column_names
    if any(len(branch) != len(names) for branch in branches) or any(
        item.is_star for item in branches[0]
    ):
        return {}
    replacements: Replacements = {}
    first_by_value: dict[object, int] = {}
    for index, name in enumerate(names):
        values = [branch[index] for branch in branches]
        if is_constant(values[0]) and all(value == values[0] for value in values[1:]):
            replacements[name] = values[0]
            continue
        if values[0].find(exp.Rand) is not None:
            continue
        first = first_by_value.setdefault(_build_key(values[0]), index)
        if first != index and all(branch[first] == branch[index] for branch in branches):
            identifier = _find_identifier(step.scopes[0].select.expressions[first])
            replacements[name] = exp.Column(this=identifier)
    return replacements


def _build_key(value: Expr) -> object:
    """Return a key that equal expressions share; that of a column needs no walk through its
    tree.
    """
    return (value.table, value.name) if isinstance(value, exp.Column) else value


def _find_identifier(item: Expr) -> exp.Identifier:
    identifier: exp.Identifier = item.args["alias"] if isinstance(item, exp.Alias) else item.this
    return identifier


def _replace_columns(scope: Scope, replacements: dict[str, Replacements]) -> None:
    """Replace the columns of a SELECT, unless a constant would become a key."""
    columns: list[tuple[exp.Column, str, Expr]] = []
    for column in scope.columns:
        alias = scope.find_owner(column)
        value = (
            None
            if alias is None
            else replacements.get(scope.sources[alias].name, {}).get(column.name)
        )
        if alias is not None and value is not None:
            columns.append((column, alias, value))
    keys = {(alias, column.name) for column, alias, _ in columns if _is_key(column)}
    changed = False
    for column, alias, value in columns:
        if isinstance(value, exp.Column):
            copy = value.copy()
            if (
                column.table or len(scope.sources) > 1
            ):  # another source may have a column of the first one's name
                copy.set("table", exp.to_identifier(alias))
            scope.substitute(column, copy)
        elif (alias, column.name) not in keys and not scope.is_nullable(alias):
            scope.substitute(column, as_literal(value))
            changed = True
    if changed:
        fold_constants(scope.select)
        scope.mark_changed()
    if columns:
        _drop_repeated_keys(scope)


def _is_key(column: exp.Column) -> bool:
    """Return True if a column is in GROUP BY or the condition of a join, or a term of ORDER BY or
    PARTITION BY.

    Arithmetic of constants in GROUP BY would be folded to an integer, which is a position there.
    """
    if isinstance(column.parent, exp.Ordered) or column.arg_key == "partition_by":
        return True
    return column.find_ancestor(exp.Join, exp.Group) is not None


def _drop_repeated_keys(scope: Scope) -> None:
    """Drop repeated terms of GROUP BY, PARTITION BY and ORDER BY."""
    for node in find_nodes(scope.select, exp.Group, exp.Window, exp.Order):
        key = "partition_by" if isinstance(node, exp.Window) else "expressions"
        terms = node.args.get(key) or []
        if len(terms) > 1 and len(unique := list(dict.fromkeys(terms))) < len(terms):
            node.set(key, unique)
