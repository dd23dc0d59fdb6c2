"""Find superfluous parts of a printed expression: bounds without effect, parentheses, and numbers
longer than their alternatives.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import sqlglot
from sqlglot import exp

_LIMITS = frozenset({2147483647.0, 9223372036854775807.0, 1.7976931348623157e308})
_BOUNDS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.And, exp.Or, exp.Not)
_ATOMS = (exp.Column, exp.Literal, exp.Boolean, exp.Null)


@lru_cache(maxsize=4)
def parse_statements(text: str, dialect: str) -> list[exp.Expr]:
    """Return the trees of a text, which its readers share and do not change."""
    return [statement for statement in sqlglot.parse(text, read=dialect) if statement is not None]


def find_constant_conditions(query: exp.Expr, dialect: str) -> Iterator[str]:
    """Yield a sentence for each condition that is the same for every row."""
    for node in query.find_all(
        exp.Between, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Boolean
    ):
        user, sides = find_enclosing(node), [_get_literal(part) for part in node.iter_expressions()]
        # That a size, or a sum of two, is at most the greatest double leaves out what is infinite,
        # and NaN.
        sizes = (
            [node.this.this, node.this.expression]
            if isinstance(node.this, exp.Add)
            else [node.this]
        )
        is_finite = isinstance(node, exp.LTE) and all(isinstance(size, exp.Abs) for size in sizes)
        if (
            isinstance(node, _BOUNDS)
            and not is_finite
            and any(_get_number(side) in _LIMITS for side in sides if side)
        ):
            yield (
                f"{describe_place(node)}: the bound {shorten_text(node, dialect)} leaves"
                " nothing out"
            )
        elif sides and all(sides):
            yield f"{describe_place(node)}: {shorten_text(node, dialect)} compares literals"
        elif isinstance(node, exp.Boolean) and (
            isinstance(user, _CONDITIONS) or _is_condition(node)
        ):
            yield (
                f"{describe_place(node)}: the condition {shorten_text(node, dialect)} is a literal"
            )


def _is_condition(node: exp.Expr) -> bool:
    """Return True if an expression is the condition of an IF, or of a CASE that has no operand to
    compare with it.
    """
    user = find_enclosing(node)
    of_case = user.parent if user and isinstance(user.parent, exp.Case) else None
    return (
        isinstance(user, exp.If) and user.this.unnest() is node and not (of_case and of_case.this)
    )


def _get_literal(node: exp.Expr) -> exp.Literal | None:
    """Return the literal that an expression is, with or without a cast and a sign."""
    while isinstance(node, (exp.Paren, exp.Cast, exp.Neg)):
        node = node.this
    return node if isinstance(node, exp.Literal) else None


def _get_number(literal: exp.Literal) -> float:
    try:
        return float(literal.name)
    except ValueError:
        return math.nan


def find_needless_parentheses(query: exp.Expr, dialect: str) -> Iterator[str]:
    """Yield a sentence for each pair of parentheses without which the text means the same."""
    for node in query.find_all(exp.Paren, exp.Subquery):
        inner, user = node.this, node.parent
        if isinstance(node, exp.Subquery):
            where = "within others" if isinstance(inner, exp.Subquery) and not inner.alias else ""
        elif (isinstance(user, exp.Alias) and isinstance(user.parent, exp.Select)) or isinstance(
            user, exp.Select
        ):
            where = "round a whole column"
        elif isinstance(inner, _ATOMS) and not isinstance(user, (exp.Dot, exp.GroupingSets)):
            where = "round a name or a literal"
        else:
            alone = (
                isinstance(user, exp.Func)
                and not isinstance(user, exp.Connector)
                and [*user.iter_expressions()] == [node]
            )
            where = "within others" if alone or isinstance(user, (exp.Paren, exp.Subquery)) else ""
        if where:
            yield f"{describe_place(node)}: parentheses {where}, {shorten_text(node, dialect)}"


def is_lengthened(node: exp.Expr) -> bool:
    """Return True for a number with an exponent of 0, and for a number cast to double."""
    inner = node.this if isinstance(node, exp.Cast) and node.is_type(exp.DType.DOUBLE) else node
    is_number = isinstance(inner, exp.Literal) and inner.is_number
    return is_number and (
        inner.name.lower().endswith("e0") if inner is node else "e" not in inner.name.lower()
    )


def is_literal(node: exp.Expr) -> bool:
    """Return True for a number or NULL, with or without a cast and a sign."""
    while isinstance(node, (exp.Paren, exp.Cast, exp.Neg)):
        node = node.this
    return isinstance(node, (exp.Literal, exp.Null))


def find_alternatives(node: exp.Expr, dialect: str) -> list[exp.Expr]:
    """Return what has the type of an expression: the other operand, the other values of a choice,
    the column in other SELECTs of a UNION.
    """
    user = find_enclosing(node)
    if isinstance(user, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
        found = [user.this.unnest(), user.expression.unnest()]
    elif dialect == "sqlite":
        found = []
    elif isinstance(user, (exp.Coalesce, exp.Greatest, exp.Least)):
        found = [user.this, *user.expressions]
    elif isinstance(user, (exp.If, exp.Case)) and node.arg_key != "this":
        case = user if isinstance(user, exp.Case) else user.parent
        found = (
            [branch.args["true"] for branch in case.args["ifs"]] + [case.args.get("default")]
            if isinstance(case, exp.Case)
            else []
        )
    else:
        found = _find_members(node if isinstance(node.parent, exp.Select) else node.parent)
    return [other for other in found if other is not None and other is not node]


def _find_members(item: exp.Expr | None) -> list[exp.Expr]:
    """Return the column at the place of a column in each SELECT of a UNION."""
    select, place = (
        (item.parent, item.index)
        if item is not None and item.arg_key == "expressions"
        else (None, None)
    )
    if (
        place is None
        or not isinstance(select, exp.Select)
        or not isinstance(select.parent, exp.Union)
    ):
        return []
    union = select.parent
    while isinstance(union.parent, exp.Union):
        union = union.parent
    selects = [found for found in union.find_all(exp.Select) if isinstance(found.parent, exp.Union)]
    return [
        found.expressions[place].unalias()
        for found in selects
        if len(found.expressions) == len(select.expressions)
    ]


def find_enclosing(node: exp.Expr) -> exp.Expr | None:
    """Return the parent of an expression, parentheses left out."""
    user = node.parent
    while isinstance(user, exp.Paren):
        user = user.parent
    return user


def describe_place(node: exp.Expr) -> str:
    """Say in which CTE a part of a statement stands, and in which column."""
    item: exp.Expr | None = node
    while item and not (isinstance(item.parent, exp.Select) and item.arg_key == "expressions"):
        item = item.parent if not isinstance(item, exp.CTE) else None
    cte = node.find_ancestor(exp.CTE)
    return (f"CTE {cte.alias}" if cte else "the outermost SELECT") + (
        f", column {item.alias_or_name}" if item and item.alias_or_name else ""
    )


def shorten_text(node: exp.Expr, dialect: str) -> str:
    text = node.sql(dialect)
    return text if len(text) <= 60 else f"{text[:57]}..."
