"""How a statement is laid out: short clauses on one line, long arithmetic on several, comments above what they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect as Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlglot import Generator

    Write = Callable[[Any, Any], str]

WIDTH = 100
"""Characters of a line, if what stands in it can be broken."""

_OPERATORS = {exp.Add: "+", exp.Sub: "-", exp.Div: "/"}


def writer(dialect: str, pretty: bool, instead: Iterable[tuple[exp.Expr, exp.Expr]] = ()) -> Generator:
    """Return what writes a dialect, which refuses what that has not; ``instead`` of the first of each pair it writes the second.

    How a kind of node is laid out is looked up in its table, since the compiled sqlglot allows no class of ours below its own.
    """
    written = Writer.get_or_raise(dialect)
    made: Any = written.generator_class(dialect=written, pretty=pretty, unsupported_level=ErrorLevel.RAISE, max_text_width=WIDTH)
    if pretty:
        made._dispatch = made._dispatch | _layouts(made._dispatch)  # noqa: SLF001  there is no other way to it
    if others := dict(instead):
        made._dispatch = made._dispatch | _replacing(others, made._dispatch)  # noqa: SLF001
    generator: Generator = made
    return generator


def _flat(text: str) -> bool:
    return "\n" not in text and len(text) <= WIDTH


def _replacing(others: dict[exp.Expr, exp.Expr], base: dict[type[exp.Expr], Write]) -> dict[type[exp.Expr], Write]:
    """Return how nodes are written of which some have others written in their place."""

    def replaced(self: Any, node: exp.Expr) -> str:
        other = others.get(node)
        return base[type(node)](self, node) if other is None else base[type(other)](self, other)

    return dict.fromkeys(map(type, others), replaced)


def _layouts(base: dict[type[exp.Expr], Write]) -> dict[type[exp.Expr], Write]:
    """Return how nodes are written, by their kind, above how sqlglot writes them.

    None writes what is in it a second time: what is nested would be written twice as often with every level.
    """

    def paren(self: Any, node: exp.Paren) -> str:
        inner = self.sql(node, "this")
        return f"({inner})" if _flat(inner) else f"({self.seg(self.indent(inner), sep='')}{self.seg(')', sep='')}"

    def arithmetic(self: Any, node: exp.Binary) -> str:
        operands = []
        rest: exp.Expr = node
        while type(rest) is type(node):
            operands.append(self.sql(rest, "expression"))
            rest = rest.this
        operands = [self.sql(rest), *reversed(operands)]
        text = f" {_OPERATORS[type(node)]} ".join(operands)
        return text if _flat(text) else f"\n{_OPERATORS[type(node)]} ".join(operands)

    def clause(self: Any, node: exp.Group | exp.Order) -> str:
        """Write GROUP BY and ORDER BY on one line, if that is short."""
        is_plain = not any(value for key, value in node.args.items() if key != "expressions")
        text = f"{'GROUP' if isinstance(node, exp.Group) else 'ORDER'} BY {self.expressions(node, flat=True)}"
        return str(self.seg(text)) if is_plain and _flat(text) else base[type(node)](self, node)

    def where(self: Any, node: exp.Where) -> str:
        condition = self.sql(node, "this")
        text = f"WHERE {condition}"
        return str(self.seg(text) if _flat(text) else f"{self.seg('WHERE')}{self.sep()}{self.indent(condition)}")

    def join(self: Any, node: exp.Join) -> str:
        text = base[exp.Join](self, node)
        head, on, condition = text.rpartition("\n  ON ")
        line = f"{head.strip()} ON {condition}"
        return str(self.seg(line)) if on and isinstance(node.this, exp.Table) and _flat(line) else text

    def select(self: Any, node: exp.Select) -> str:
        """Write plain columns beside one another, computed ones each on a line under its comment."""
        items = node.expressions
        node.set("expressions", [exp.Var(this=",\n".join(_lines(self, node)))])
        text = base[exp.Select](self, node)
        node.set("expressions", items)
        return text

    written: dict[type[exp.Expr], Write] = {
        exp.Paren: paren,
        exp.Group: clause,
        exp.Order: clause,
        exp.Where: where,
        exp.Join: join,
        exp.Select: select,
    }
    return written | dict.fromkeys(_OPERATORS, arithmetic)


def _lines(self: Any, select: exp.Select) -> list[str]:
    lines: list[str] = []
    is_open = False
    for item in select.expressions:
        text = self.sql(item, comment=False)
        comments = [f"/* {self.sanitize_comment(comment).strip()} */" for comment in item.comments or ()]
        is_plain = isinstance(item, exp.Column) and not comments
        if is_plain and is_open and _flat(f"{lines[-1]}, {text}"):
            lines[-1] += f", {text}"
        else:
            lines.append("\n".join([*comments, text]))
        is_open = is_plain
    return lines
