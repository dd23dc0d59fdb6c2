"""The formula of a metric as MathML, from the expression of its file: browsers set it by
themselves, without a script or a network.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from sqlglot import exp

from sqlrank.compiler.select_builders import parenthesize_operator
from sqlrank.registry.loader import load_registry
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlrank.registry.sql_file import SqlFile

MOST = 64
"""Maximum number of nodes of an expression that is set: longer ones are read more easily as SQL."""

TIMES, MINUS = "\u22c5", "\u2212"
RELATIONS: dict[type, str] = {
    exp.LT: "<",
    exp.LTE: "\u2264",
    exp.GT: ">",
    exp.GTE: "\u2265",
    exp.EQ: "=",
    exp.NEQ: "\u2260",
}
TOTALS: dict[type, str] = {exp.Sum: "\u2211", exp.Max: "max", exp.Min: "min", exp.Avg: "mean"}
TERMS = (exp.Add, exp.Sub, exp.Neg)


def typeset_formula(file: SqlFile) -> str:
    """Return the formula of a metric as an element ``math``, empty for a total of one column or of
    rows, and for what is too long or not known here.
    """
    if file.kind == "curves":
        return ""
    tree = _inline_totals(file.tree.expressions[-1].unalias())
    is_plain = type(tree) in {*TOTALS, exp.Count} and isinstance(
        tree.this, (exp.Column, exp.Literal, exp.Star)
    )
    if is_plain or sum(1 for _ in tree.walk()) > MOST:
        return ""
    try:
        row = build_row(
            build_identifier(file.full_name), build_operator("="), _typeset_expression(tree)
        )
    except KeyError:
        return ""
    math = ET.Element("math", {"display": "block"})
    math.append(row)
    return ET.tostring(math, encoding="unicode")


def _inline_totals(tree: exp.Expr) -> exp.Expr:
    """Return an expression with the functions that are quotients of sums written in full, or as it
    is if that is too long.
    """
    library, root = load_registry(), exp.Paren(this=tree.copy())
    for call in find_nodes(root, exp.Anonymous):
        files = list(library.functions.get(call.name.lower(), {}).values())
        if len(files) != 1:
            continue
        body = exp.Paren(this=_inline_totals(files[0].tree).copy())
        if not body.find(exp.AggFunc) or body.find(exp.Case):
            continue
        values = dict(zip(files[0].function_arguments, call.expressions, strict=True))
        for column in find_nodes(body, exp.Column):
            column.replace(parenthesize_operator(values[column.name].copy()))
        call.replace(body.this)
    return root.this if sum(1 for _ in root.this.walk()) <= MOST else tree


def _typeset_expression(node: exp.Expr) -> ET.Element:
    """Return an expression, set; raise ``KeyError`` for one of a kind that is not known."""
    if type(node) in RELATIONS:
        return build_row(
            _typeset_expression(node.this),
            build_operator(RELATIONS[type(node)]),
            _typeset_expression(node.expression),
        )
    if type(node) in TOTALS:
        return _typeset_total(node)
    return SETTERS[type(node)](node)


def _typeset_total(node: exp.Expr) -> ET.Element:
    """Return a sum, greatest, least or mean: rows that CASE leaves out, by NULL or as 0 in a sum,
    are a condition below the sign.
    """
    body, sign = node.this, build_operator(TOTALS[type(node)])
    if isinstance(body, exp.Case) and body.this is None and len(body.args["ifs"]) == 1:
        rest = body.args.get("default")
        if (
            rest is None
            or isinstance(rest, exp.Null)
            or (isinstance(node, exp.Sum) and rest == exp.Literal.number(0))
        ):
            (only,) = body.args["ifs"]
            under = ET.Element("munder")
            under.extend([sign, _typeset_expression(only.this)])
            sign, body = under, only.args["true"]
    return build_row(sign, _typeset_bracketed(body, TERMS))


def _typeset_bracketed(node: exp.Expr, kinds: tuple[type, ...]) -> ET.Element:
    """Return an expression, in brackets if it is of these kinds."""
    inner = node.unnest()
    return (
        build_row(build_operator("("), _typeset_expression(inner), build_operator(")"))
        if isinstance(inner, kinds)
        else _typeset_expression(inner)
    )


def _typeset_sum(node: exp.Expr) -> ET.Element:
    is_minus = isinstance(node, exp.Sub)
    right = (
        _typeset_bracketed(node.expression, TERMS)
        if is_minus
        else _typeset_expression(node.expression.unnest())
    )
    return build_row(
        _typeset_expression(node.this.unnest()), build_operator(MINUS if is_minus else "+"), right
    )


def _typeset_product(node: exp.Expr) -> ET.Element:
    """Return a product; a factor several times in a row is a power, and a total before other
    factors is in brackets.
    """
    factors = _list_factors(node)
    parts: list[ET.Element] = []
    several = [(factor, len(list(same))) for factor, same in groupby(factors)]
    for place, (factor, times) in enumerate(several):
        is_open = times > 1 or place < len(several) - 1
        kinds = (*TERMS, exp.Case, *(TOTALS if is_open else ()), *((exp.Div,) if times > 1 else ()))
        bracketed = _typeset_bracketed(factor, kinds)
        parts += [build_operator(TIMES)] if parts else []
        parts.append(
            bracketed if times == 1 else build_element("msup", bracketed, build_number(str(times)))
        )
    return build_row(*parts)


def _list_factors(node: exp.Expr) -> list[exp.Expr]:
    inner = node.unnest()
    return (
        [*_list_factors(inner.this), *_list_factors(inner.expression)]
        if isinstance(inner, exp.Mul)
        else [inner]
    )


def _typeset_cases(node: exp.Expr) -> ET.Element:
    rows = [
        (
            _typeset_expression(item.args["true"].unnest()),
            build_row(build_text("if "), _typeset_expression(item.this)),
        )
        for item in node.args["ifs"]
    ]
    rest = node.args.get("default")
    return _stack_rows(
        [
            *rows,
            (
                _typeset_expression(rest.unnest()) if rest else build_text("undefined"),
                build_text("otherwise"),
            ),
        ]
    )


def _typeset_coalesce(node: exp.Expr) -> ET.Element:
    (other,) = node.expressions
    return _stack_rows(
        [
            (_typeset_expression(node.this), build_text("")),
            (_typeset_expression(other), build_text("if that is undefined")),
        ]
    )


def _stack_rows(rows: Sequence[tuple[ET.Element, ET.Element]]) -> ET.Element:
    """Return cases below each other; the style of the site draws the line before them, which not
    every font has as a tall brace.
    """
    cells = [build_element("mtr", *(build_element("mtd", cell) for cell in row)) for row in rows]
    table = build_element("mtable", *cells)
    table.set("displaystyle", "true")
    return table


def _typeset_call(name: str, arguments: Sequence[exp.Expr]) -> ET.Element:
    parts = [
        part
        for argument in arguments
        for part in (build_operator(","), _typeset_expression(argument.unnest()))
    ][1:]
    return build_row(build_identifier(name), build_operator("("), *parts, build_operator(")"))


def _create_fence_rule(left: str, right: str) -> Callable[[exp.Expr], ET.Element]:
    return lambda node: build_row(
        build_operator(left), _typeset_expression(node.this.unnest()), build_operator(right)
    )


def _typeset_divisor(node: exp.Expr) -> ET.Element:
    """Return the divisor: a division by 0 is among the edge cases."""
    return (
        _typeset_expression(node.this.unnest())
        if node.expression == exp.Literal.number(0)
        else _typeset_call("nullif", [node.this, node.expression])
    )


def _create_infix_rule(word: str) -> Callable[[exp.Expr], ET.Element]:
    return lambda node: build_row(
        _typeset_expression(node.this),
        build_text(f" {word} "),
        _typeset_expression(node.expression),
    )


def _typeset_negation(node: exp.Expr) -> ET.Element:
    inner = node.this.unnest()
    return (
        build_row(_typeset_expression(inner.this), build_text(" is not NULL"))
        if isinstance(inner, exp.Is)
        else build_row(build_text("not "), _typeset_bracketed(inner, (exp.And, exp.Or)))
    )


def build_element(name: str, *parts: ET.Element, text: str | None = None) -> ET.Element:
    """Return an element with parts or a text."""
    element = ET.Element(name)
    element.text = text
    element.extend(parts)
    return element


def build_row(*parts: ET.Element) -> ET.Element:
    """Return parts beside each other."""
    return build_element("mrow", *parts)


def build_identifier(text: str) -> ET.Element:
    """Return a variable."""
    return build_element("mi", text=text)


def build_number(text: str) -> ET.Element:
    """Return a number."""
    return build_element("mn", text=text)


def build_operator(text: str) -> ET.Element:
    """Return an operator, sign or bracket."""
    return build_element("mo", text=text)


def build_text(text: str) -> ET.Element:
    """Return upright words, whose blanks remain."""
    return build_element("mtext", text=text.replace(" ", "\u00a0"))


SETTERS: dict[type, Callable[[exp.Expr], ET.Element]] = {
    exp.Column: lambda node: build_identifier(node.name),
    exp.Placeholder: lambda node: build_identifier(node.name),
    exp.Literal: lambda node: (
        build_number(node.name) if not node.is_string else build_text(node.name)
    ),
    exp.Null: lambda _: build_text("undefined"),
    exp.Paren: lambda node: _typeset_expression(node.unnest()),
    exp.Add: _typeset_sum,
    exp.Sub: _typeset_sum,
    exp.Mul: _typeset_product,
    exp.Div: lambda node: build_element(
        "mfrac",
        _typeset_expression(node.this.unnest()),
        _typeset_expression(node.expression.unnest()),
    ),
    exp.Neg: lambda node: build_row(build_operator(MINUS), _typeset_bracketed(node.this, TERMS)),
    exp.Nullif: _typeset_divisor,
    exp.Coalesce: _typeset_coalesce,
    exp.Case: _typeset_cases,
    exp.Sqrt: lambda node: build_element("msqrt", _typeset_expression(node.this.unnest())),
    exp.Exp: lambda node: build_element(
        "msup", build_identifier("e"), _typeset_expression(node.this.unnest())
    ),
    exp.Ln: lambda node: _typeset_call("ln", [node.this]),
    exp.PercentileCont: lambda node: _typeset_call("quantile", [node.this, node.expression]),
    exp.Abs: _create_fence_rule("|", "|"),
    exp.Floor: _create_fence_rule("\u230a", "\u230b"),
    exp.Count: lambda node: (
        build_text("number of rows")
        if isinstance(node.this, exp.Star)
        else _typeset_call("count", [node.this])
    ),
    exp.And: _create_infix_rule("and"),
    exp.Or: _create_infix_rule("or"),
    exp.Is: lambda node: build_row(_typeset_expression(node.this), build_text(" is NULL")),
    exp.Not: _typeset_negation,
    exp.Anonymous: lambda node: _typeset_call(
        {"smaller": "min", "greater": "max"}.get(node.name, node.name), node.expressions
    ),
}
"""Writers of MathML by kind of expression."""
