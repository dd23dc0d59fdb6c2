"""How a statement is laid out: short clauses on one line, long arithmetic on several, comments above what they are of."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect as Writer

if TYPE_CHECKING:
    from sqlglot import Generator

WIDTH = 100
"""Characters of a line, if what stands in it can be broken."""


def writer(dialect: str, pretty: bool) -> Generator:
    """Return what writes a dialect, which refuses what that has not."""
    written = Writer.get_or_raise(dialect)
    made: Generator = _legible(dialect)(dialect=written, pretty=pretty, unsupported_level=ErrorLevel.RAISE, max_text_width=WIDTH)
    return made


def _flat(text: str) -> bool:
    return "\n" not in text and len(text) <= WIDTH


@cache
def _legible(dialect: str) -> Any:  # noqa: C901  one method after another
    base: Any = Writer.get_or_raise(dialect).generator_class

    def paren_sql(self: Any, node: exp.Paren) -> str:
        inner = self.sql(node, "this")
        return f"({inner})" if _flat(inner) else str(base.paren_sql(self, node))

    def binary(self: Any, node: exp.Binary, operator: str) -> str:
        text: str = base.binary(self, node, operator)
        if operator not in {"+", "-", "/"} or _flat(text):
            return text
        operands = []
        rest: exp.Expr = node
        while type(rest) is type(node):
            operands.append(self.sql(rest, "expression"))
            rest = rest.this
        return f"\n{operator} ".join([self.sql(rest), *reversed(operands)])

    def op_expressions(self: Any, op: str, node: exp.Expr, flat: bool = False) -> str:
        """Write a clause such as GROUP BY on one line, if it is short."""
        text = f"{op} {self.expressions(node, flat=True)}"
        if self.pretty and not flat and node.expressions and _flat(text):
            return str(self.seg(text))
        return str(base.op_expressions(self, op, node, flat))

    def where_sql(self: Any, node: exp.Where) -> str:
        text = f"WHERE {self.sql(node, 'this')}"
        return str(self.seg(text) if self.pretty and _flat(text) else base.where_sql(self, node))

    def join_sql(self: Any, node: exp.Join, *arguments: Any) -> str:
        text: str = base.join_sql(self, node, *arguments)
        head, on, condition = text.rpartition("\n  ON ")
        line = f"{head.strip()} ON {condition}"
        return str(self.seg(line)) if self.pretty and on and isinstance(node.this, exp.Table) and _flat(line) else text

    def expressions(self: Any, node: exp.Expr | None = None, *arguments: Any, **options: Any) -> str:
        """Write what a SELECT lists: plain columns beside one another, computed ones each on a line under its comment."""
        if not (self.pretty and isinstance(node, exp.Select) and not arguments and not options):
            return str(base.expressions(self, node, *arguments, **options))
        return str(self.indent(",\n".join(_lines(self, node))))

    names = {"paren_sql": paren_sql, "binary": binary, "op_expressions": op_expressions, "where_sql": where_sql}
    return type("Legible", (base,), {**names, "join_sql": join_sql, "expressions": expressions})


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
