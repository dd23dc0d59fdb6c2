"""The formula of a metric as MathML, from the expression of its file: browsers set it by themselves, without a script or a network."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlrank.registry.sql_file import SqlFile

MOST = 64
"""Maximum number of nodes of an expression that is set: longer ones are read more easily as SQL."""

TIMES, MINUS = "\u22c5", "\u2212"
RELATIONS: dict[type, str] = {exp.LT: "<", exp.LTE: "\u2264", exp.GT: ">", exp.GTE: "\u2265", exp.EQ: "=", exp.NEQ: "\u2260"}
TOTALS: dict[type, str] = {exp.Sum: "\u2211", exp.Max: "max", exp.Min: "min", exp.Avg: "mean"}
TERMS = (exp.Add, exp.Sub, exp.Neg)


def formula(file: SqlFile) -> str:
    """Return the formula of a metric as an element ``math``, empty for a total of one column or of rows, and for what is too long or not known here."""
    if file.kind == "curves":
        return ""
    tree = file.tree.expressions[-1].unalias()
    is_plain = type(tree) in {*TOTALS, exp.Count} and isinstance(tree.this, (exp.Column, exp.Literal, exp.Star))
    if is_plain or sum(1 for _ in tree.walk()) > MOST:
        return ""
    try:
        found = _row(_mi(file.full_name), _mo("="), _set(tree))
    except KeyError:
        return ""
    math = ET.Element("math", {"display": "block"})
    math.append(found)
    return ET.tostring(math, encoding="unicode")


def _set(node: exp.Expr) -> ET.Element:
    """Return an expression, set; raise ``KeyError`` for one of a kind that is not known."""
    if type(node) in RELATIONS:
        return _row(_set(node.this), _mo(RELATIONS[type(node)]), _set(node.expression))
    if type(node) in TOTALS:
        return _total(node)
    return SETTERS[type(node)](node)


def _total(node: exp.Expr) -> ET.Element:
    """Return a sum, greatest, least or mean: rows that CASE leaves out, by NULL or as 0 in a sum, are a condition below the sign."""
    body, sign = node.this, _mo(TOTALS[type(node)])
    if isinstance(body, exp.Case) and body.this is None and len(body.args["ifs"]) == 1:
        rest = body.args.get("default")
        if rest is None or isinstance(rest, exp.Null) or (isinstance(node, exp.Sum) and rest == exp.Literal.number(0)):
            (only,) = body.args["ifs"]
            under = ET.Element("munder")
            under.extend([sign, _set(only.this)])
            sign, body = under, only.args["true"]
    return _row(sign, _within(body, TERMS))


def _within(node: exp.Expr, kinds: tuple[type, ...]) -> ET.Element:
    """Return an expression, in brackets if it is of these kinds."""
    inner = node.unnest()
    return _row(_mo("("), _set(inner), _mo(")")) if isinstance(inner, kinds) else _set(inner)


def _sum(node: exp.Expr) -> ET.Element:
    is_minus = isinstance(node, exp.Sub)
    right = _within(node.expression, TERMS) if is_minus else _set(node.expression.unnest())
    return _row(_set(node.this.unnest()), _mo(MINUS if is_minus else "+"), right)


def _product(node: exp.Expr) -> ET.Element:
    """Return a product; a factor several times in a row is a power, and a total before other factors is in brackets."""
    factors = _factors(node)
    parts: list[ET.Element] = []
    several = [(factor, len(list(same))) for factor, same in groupby(factors)]
    for place, (factor, times) in enumerate(several):
        is_open = times > 1 or place < len(several) - 1
        kinds = (*TERMS, exp.Case, *(TOTALS if is_open else ()), *((exp.Div,) if times > 1 else ()))
        found = _within(factor, kinds)
        parts += [_mo(TIMES)] if parts else []
        parts.append(found if times == 1 else _tag("msup", found, _mn(str(times))))
    return _row(*parts)


def _factors(node: exp.Expr) -> list[exp.Expr]:
    inner = node.unnest()
    return [*_factors(inner.this), *_factors(inner.expression)] if isinstance(inner, exp.Mul) else [inner]


def _cases(node: exp.Expr) -> ET.Element:
    rows = [(_set(item.args["true"].unnest()), _row(_text("if "), _set(item.this))) for item in node.args["ifs"]]
    rest = node.args.get("default")
    return _listed([*rows, (_set(rest.unnest()) if rest else _text("undefined"), _text("otherwise"))])


def _first_known(node: exp.Expr) -> ET.Element:
    (other,) = node.expressions
    return _listed([(_set(node.this), _text("")), (_set(other), _text("if that is undefined"))])


def _listed(rows: Sequence[tuple[ET.Element, ET.Element]]) -> ET.Element:
    """Return cases below each other; the style of the site draws the line before them, which not every font has as a tall brace."""
    cells = [_tag("mtr", *(_tag("mtd", cell) for cell in row)) for row in rows]
    table = _tag("mtable", *cells)
    table.set("displaystyle", "true")
    return table


def _called(name: str, arguments: Sequence[exp.Expr]) -> ET.Element:
    parts = [part for argument in arguments for part in (_mo(","), _set(argument.unnest()))][1:]
    return _row(_mi(name), _mo("("), *parts, _mo(")"))


def _around(left: str, right: str) -> Callable[[exp.Expr], ET.Element]:
    return lambda node: _row(_mo(left), _set(node.this.unnest()), _mo(right))


def _nonzero(node: exp.Expr) -> ET.Element:
    """Return the divisor: a division by 0 is among the edge cases."""
    return _set(node.this.unnest()) if node.expression == exp.Literal.number(0) else _called("nullif", [node.this, node.expression])


def _joined(word: str) -> Callable[[exp.Expr], ET.Element]:
    return lambda node: _row(_set(node.this), _text(f" {word} "), _set(node.expression))


def _negated(node: exp.Expr) -> ET.Element:
    inner = node.this.unnest()
    return (
        _row(_set(inner.this), _text(" is not NULL"))
        if isinstance(inner, exp.Is)
        else _row(_text("not "), _within(inner, (exp.And, exp.Or)))
    )


def _tag(name: str, *parts: ET.Element, text: str | None = None) -> ET.Element:
    found = ET.Element(name)
    found.text = text
    found.extend(parts)
    return found


def _row(*parts: ET.Element) -> ET.Element:
    return _tag("mrow", *parts)


def _mi(text: str) -> ET.Element:
    return _tag("mi", text=text)


def _mn(text: str) -> ET.Element:
    return _tag("mn", text=text)


def _mo(text: str) -> ET.Element:
    return _tag("mo", text=text)


def _text(text: str) -> ET.Element:
    return _tag("mtext", text=text.replace(" ", "\u00a0"))


SETTERS: dict[type, Callable[[exp.Expr], ET.Element]] = {
    exp.Column: lambda node: _mi(node.name),
    exp.Placeholder: lambda node: _mi(node.name),
    exp.Literal: lambda node: _mn(node.name) if not node.is_string else _text(node.name),
    exp.Null: lambda _: _text("undefined"),
    exp.Paren: lambda node: _set(node.unnest()),
    exp.Add: _sum,
    exp.Sub: _sum,
    exp.Mul: _product,
    exp.Div: lambda node: _tag("mfrac", _set(node.this.unnest()), _set(node.expression.unnest())),
    exp.Neg: lambda node: _row(_mo(MINUS), _within(node.this, TERMS)),
    exp.Nullif: _nonzero,
    exp.Coalesce: _first_known,
    exp.Case: _cases,
    exp.Sqrt: lambda node: _tag("msqrt", _set(node.this.unnest())),
    exp.Exp: lambda node: _tag("msup", _mi("e"), _set(node.this.unnest())),
    exp.Ln: lambda node: _called("ln", [node.this]),
    exp.Abs: _around("|", "|"),
    exp.Floor: _around("\u230a", "\u230b"),
    exp.Count: lambda node: _text("number of rows") if isinstance(node.this, exp.Star) else _called("count", [node.this]),
    exp.And: _joined("and"),
    exp.Or: _joined("or"),
    exp.Is: lambda node: _row(_set(node.this), _text(" is NULL")),
    exp.Not: _negated,
    exp.Anonymous: lambda node: _called(node.name, node.expressions),
}
"""Writers of MathML by kind of expression."""
