"""SQL formatter: short clauses on one line, long arithmetic on several, comments above their columns."""

from __future__ import annotations

import re
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

_MARK = re.compile("\0(\\d+)\0+")
"""Mark of a line that has two texts, as long as the first; no engine accepts NUL in a statement."""


def format_tree(tree: exp.Expr, dialect: str, pretty: bool, tables: Iterable[tuple[exp.Expr, exp.Expr]] = ()) -> tuple[str, str]:
    """Return a tree as text, and the same text over other tables: the second of each pair instead of the first."""
    table_texts: list[tuple[str, str]] = []
    generator = _generator(dialect, pretty, dict(tables), table_texts)
    text: str = generator.generate(tree, copy=False)
    if not table_texts:
        return text, text
    display = _MARK.sub(lambda mark: table_texts[int(mark[1])][0], text)
    executable = _MARK.sub(lambda mark: table_texts[int(mark[1])][1], text)
    return display, executable


def _generator(dialect: str, pretty: bool, tables: dict[exp.Expr, exp.Expr], table_texts: list[tuple[str, str]]) -> Generator:
    """Return a sqlglot generator for a dialect, which raises for unsupported constructs.

    Layouts are registered in its dispatch table, because the compiled sqlglot does not allow subclasses. Tables with two texts are marked.
    """
    sqlglot_dialect = Writer.get_or_raise(dialect)
    writer: Any = sqlglot_dialect.generator_class(
        dialect=sqlglot_dialect, pretty=pretty, unsupported_level=ErrorLevel.RAISE, max_text_width=LINE_WIDTH
    )
    if pretty:
        writer._dispatch = writer._dispatch | _layouts(writer._dispatch)  # noqa: SLF001  sqlglot has no public access to it
    if tables:
        writer._dispatch = writer._dispatch | _table_marks(tables, writer._dispatch, table_texts)  # noqa: SLF001
    generator: Generator = writer
    return generator


def _fits_one_line(text: str) -> bool:
    return "\n" not in text and len(text) <= LINE_WIDTH


def _table_marks(
    tables: dict[exp.Expr, exp.Expr], dispatch: dict[type[exp.Expr], Write], table_texts: list[tuple[str, str]]
) -> dict[type[exp.Expr], Write]:
    """Return writers that mark the lines of given tables, and append both texts of each mark to ``table_texts``."""

    def write(self: Any, node: exp.Expr) -> str:
        text = dispatch[type(node)](self, node)
        if (other := tables.get(node)) is None:
            return text
        marks = []
        for line in text.split("\n"):  # one mark per line, each of which is indented on its own
            marks.append(f"\0{len(table_texts)}\0".ljust(len(line), "\0"))
            table_texts.append((line, "" if len(marks) > 1 else dispatch[type(other)](self, other)))
        return "\n".join(marks)

    return dict.fromkeys(map(type, tables), write)


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

    def union(self: Any, node: exp.Union) -> str:
        return _constant_rows(self, node) or dispatch[exp.Union](self, node)

    layouts: dict[type[exp.Expr], Write] = {
        exp.Union: union,
        exp.Paren: paren,
        exp.Group: clause,
        exp.Order: clause,
        exp.Where: where,
        exp.Join: join,
        exp.Select: select,
    }
    return layouts | dict.fromkeys(_OPERATORS, arithmetic)


def _constant_rows(self: Any, union: exp.Union) -> str:
    """Return the text of a UNION ALL of constants with several members on a line, empty for others."""
    members: list[exp.Expr] = []
    first: exp.Expr = union
    while isinstance(first, exp.Union) and not any(first.args.get(clause) for clause in ("distinct", "with_", "order", "limit")):
        members.append(first.expression)
        first = first.this
    if not all(map(_is_constant, [first, *members])):
        return ""
    lines = [f"/* {self.sanitize_comment(comment).strip()} */" for comment in first.comments or ()]
    lines.append(f"SELECT {', '.join(map(self.sql, first.expressions))}")
    for member in reversed(members):
        words = f"UNION ALL SELECT {', '.join(map(self.sql, member.expressions))}"
        if _fits_one_line(f"{lines[-1]} {words}"):
            lines[-1] += f" {words}"
        else:
            lines.append(words)
    return "\n".join(lines)


def _is_constant(query: exp.Expr) -> bool:
    """Return True for a SELECT of nothing but literals."""
    is_plain = isinstance(query, exp.Select) and {key for key, value in query.args.items() if value} == {"expressions"}
    return is_plain and all(isinstance(item.unalias(), (exp.Literal, exp.Null)) for item in query.expressions)


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
