"""SQL formatter: short clauses on one line, long arithmetic on several, comments above their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect as Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlglot import Generator

    Write = Callable[[Any, Any], str]

LINE_WIDTH = 100
"""Line width in characters for text that can be wrapped."""

_OPERATORS = {exp.Add: "+", exp.Sub: "-", exp.Div: "/"}


def make_generator(dialect: str, pretty: bool, instead: Iterable[tuple[exp.Expr, exp.Expr]] = ()) -> Generator:
    """Return a sqlglot generator for a dialect, which raises for unsupported constructs.

    Layouts are registered in its dispatch table, because the compiled sqlglot does not allow subclasses. In each pair of ``instead``, the
    second expression is written in place of the first.
    """
    sqlglot_dialect = Writer.get_or_raise(dialect)
    writer: Any = sqlglot_dialect.generator_class(
        dialect=sqlglot_dialect, pretty=pretty, unsupported_level=ErrorLevel.RAISE, max_text_width=LINE_WIDTH
    )
    if pretty:
        writer._dispatch = writer._dispatch | _layouts(writer._dispatch)  # noqa: SLF001  sqlglot has no public access to it
    if replacements := dict(instead):
        writer._dispatch = writer._dispatch | _substitutions(replacements, writer._dispatch)  # noqa: SLF001
    generator: Generator = writer
    return generator


def _fits_one_line(text: str) -> bool:
    return "\n" not in text and len(text) <= LINE_WIDTH


def _substitutions(replacements: dict[exp.Expr, exp.Expr], dispatch: dict[type[exp.Expr], Write]) -> dict[type[exp.Expr], Write]:
    """Return writers that substitute expressions by others."""

    def write_replacement(self: Any, node: exp.Expr) -> str:
        replacement = replacements.get(node)
        return dispatch[type(node)](self, node) if replacement is None else dispatch[type(replacement)](self, replacement)

    return dict.fromkeys(map(type, replacements), write_replacement)


def _layouts(dispatch: dict[type[exp.Expr], Write]) -> dict[type[exp.Expr], Write]:
    """Return layout functions by node type, on top of sqlglot's.

    Each writes its operands once; a second time would double the cost with every level of nesting.
    """

    def paren(self: Any, node: exp.Paren) -> str:
        inner = self.sql(node, "this")
        return f"({inner})" if _fits_one_line(inner) else f"({self.seg(self.indent(inner), sep='')}{self.seg(')', sep='')}"

    def arithmetic(self: Any, node: exp.Binary) -> str:
        operands = []
        rest: exp.Expr = node
        while type(rest) is type(node):
            operands.append(self.sql(rest, "expression"))
            rest = rest.this
        operands = [self.sql(rest), *reversed(operands)]
        text = f" {_OPERATORS[type(node)]} ".join(operands)
        return text if _fits_one_line(text) else f"\n{_OPERATORS[type(node)]} ".join(operands)

    def clause(self: Any, node: exp.Group | exp.Order) -> str:
        """Write GROUP BY and ORDER BY on one line, if that is short."""
        is_plain = not any(value for key, value in node.args.items() if key != "expressions")
        text = f"{'GROUP' if isinstance(node, exp.Group) else 'ORDER'} BY {self.expressions(node, flat=True)}"
        return str(self.seg(text)) if is_plain and _fits_one_line(text) else dispatch[type(node)](self, node)

    def where(self: Any, node: exp.Where) -> str:
        condition = self.sql(node, "this")
        text = f"WHERE {condition}"
        return str(self.seg(text) if _fits_one_line(text) else f"{self.seg('WHERE')}{self.sep()}{self.indent(condition)}")

    def join(self: Any, node: exp.Join) -> str:
        text = dispatch[exp.Join](self, node)
        head, on, condition = text.rpartition("\n  ON ")
        line = f"{head.strip()} ON {condition}"
        return str(self.seg(line)) if on and isinstance(node.this, exp.Table) and _fits_one_line(line) else text

    def select(self: Any, node: exp.Select) -> str:
        """Write plain columns on shared lines, and computed ones under their comment."""
        select_items = node.expressions
        node.set("expressions", [exp.Var(this=",\n".join(_lines(self, node)))])
        text = dispatch[exp.Select](self, node)
        node.set("expressions", select_items)
        return text

    layouts: dict[type[exp.Expr], Write] = {
        exp.Paren: paren,
        exp.Group: clause,
        exp.Order: clause,
        exp.Where: where,
        exp.Join: join,
        exp.Select: select,
    }
    return layouts | dict.fromkeys(_OPERATORS, arithmetic)


def _lines(self: Any, select: exp.Select) -> list[str]:
    lines: list[str] = []
    is_open = False
    for select_item in select.expressions:
        text = self.sql(select_item, comment=False)
        comments = [f"/* {self.sanitize_comment(comment).strip()} */" for comment in select_item.comments or ()]
        is_plain = isinstance(select_item, exp.Column) and not comments
        if is_plain and is_open and _fits_one_line(f"{lines[-1]}, {text}"):
            lines[-1] += f", {text}"
        else:
            lines.append("\n".join([*comments, text]))
        is_open = is_plain
    return lines
