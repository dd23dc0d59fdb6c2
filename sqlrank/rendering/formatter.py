"""Format SQL twice, as shown and as executed over other tables: short columns share lines, and
clauses and arithmetic are wrapped.
"""

from __future__ import annotations

import re
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from sqlglot import ErrorLevel, Generator, exp

from sqlrank.errors import CONTROLS, InputError, escape_controls, short_repr
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import LeadingComment, build_writer, query_text, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlrank.rendering.dialect import Dialect

    Write = Callable[[Any, Any], str]
    Layouts = dict[type[exp.Expr], Write]

LINE_WIDTH = 100
"""Line width in characters for text that can be wrapped."""

_SHORT_ITEM = 48
"""Longest computed column in characters that shares its line with others."""

_LINES_BEFORE_COMMENT = 4
"""Number of lines of the longest column whose comment is behind it and not above it."""


def fits_line(text: str, indent: int) -> bool:
    """Return True if all lines of a text fit behind an indentation."""
    return all(len(line) + indent <= LINE_WIDTH for line in text.split("\n"))


def list_column_comments(select: exp.Select) -> list[list[str]]:
    """Return the comments of columns; of a UNION, only the first SELECT has those of its file."""
    comments = [
        select_item.comments or select_item.unalias().comments or []
        for select_item in select.expressions
    ]
    is_first = not isinstance(select.parent, exp.SetOperation) or select.arg_key == "this"
    return comments if is_first else [[] for _ in comments]


def format_columns(
    select: exp.Select, texts: Sequence[str], comments: Sequence[Sequence[str]], indent: int
) -> list[str]:
    """Return the columns of a SELECT as lines: a comment is behind its column if it fits there,
    else above it.
    """
    lines: list[str] = []
    last_kind = ""
    for position, select_item in enumerate(select.expressions):
        text = texts[position] + ("," if position + 1 < len(texts) else "")
        comment = _one_line(comments[position])
        kind = "" if comment else _find_item_kind(select, select_item, texts[position])
        is_behind = (
            comment
            and select.args.get("from_")
            and not isinstance(comments[position][0], LeadingComment)
        )
        if kind and kind == last_kind and fits_line(f"{lines[-1]} {text}", indent):
            lines[-1] += f" {text}"
        elif (
            is_behind
            and text.count("\n") < _LINES_BEFORE_COMMENT
            and fits_line(f"{text}  -- {comment}", indent)
        ):
            lines.append(f"{text}  -- {comment}")
        else:
            lines += [*format_comment(comments[position], indent), text]
        last_kind = kind
    return lines


def _find_item_kind(select: exp.Select, item: exp.Expr, text: str) -> str:
    """Return the kind of items that share lines: ``plain`` or ``computed``, empty for an item with
    a line of its own.

    Columns and literals under their own names are plain; in the later SELECTs of a UNION, under any
    name and type. Short expressions of CTEs are computed.
    """
    is_later = isinstance(select.parent, exp.SetOperation) and select.arg_key == "expression"
    value = item.unalias() if is_later else item
    value = value.this if is_later and isinstance(value, exp.Cast) else value
    if isinstance(value, (exp.Column, exp.Literal, exp.Null)):
        return "plain"
    is_short = len(text) <= _SHORT_ITEM and "\n" not in text
    return "computed" if is_short and select.find_ancestor(exp.CTE) else ""


def _one_line(comments: Sequence[str]) -> str:
    """Return comments as one line: a line break in a name must not end the comment."""
    return escape_controls(" ".join(" ".join(comments).split()))


def format_comment(comments: Sequence[str] | None, indent: int) -> list[str]:
    """Return each comment as lines, wrapped."""
    width = LINE_WIDTH - indent - len("-- ")
    return [
        f"-- {line}"
        for comment in comments or ()
        for line in wrap(_one_line([comment]), width, break_on_hyphens=False)
    ]


INDENT = 2
"""Indentation of a CTE, and of columns below SELECT."""

SHORT_QUERY = 88
"""Longest query in characters whose clauses are on one line."""

_WIDTH_STEP = 4
"""Difference of the widths that are tried for an expression that is too deep in others for lines of
the greatest width.
"""

_OPERATORS = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}

_ASSOCIATIVE = (exp.Add, exp.Mul)
"""Operations whose right operand needs no parentheses if it is one of them."""

_CLOSING = re.compile(r"[)\s]*\)|END\b")
"""Start of the last line of a term after which the next one may follow."""

_COMPARISONS = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}

_FUNCTIONS = (exp.Sum, exp.Floor, exp.Avg, exp.Min, exp.Max, exp.Sqrt, exp.Ln, exp.Exp)
"""Functions of one argument, which are written as such in every dialect."""

_CALLS = {
    exp.Coalesce: "COALESCE",
    exp.Nullif: "NULLIF",
    exp.Greatest: "GREATEST",
    exp.Least: "LEAST",
    exp.Pow: "POWER",
}
"""Functions of several arguments, with their names. ibis, where it is imported, changes that of the
power in sqlglot's writer for PostgreSQL.
"""

_COLUMNS = "\0columns\0"
"""Mark of the columns of a SELECT that are on its line."""

_MARK = re.compile("\0(\\d+)\0+")
"""Placeholder of a line that differs between the two texts, as wide as the shown line; no engine
accepts NUL in a statement.
"""


def format_tree(
    tree: exp.Expr, dialect: str, pretty: bool, tables: Iterable[tuple[exp.Expr, exp.Expr]] = ()
) -> tuple[str, str]:
    """Return a tree as text, and the same text over other tables: the second of each pair instead
    of the first.
    """
    table_texts: list[tuple[str, str]] = []
    generator = _build_generator(dialect, pretty, dict(tables), table_texts)
    text: str = generator.generate(tree, copy=False)
    if not table_texts:
        return text, text
    return _fill_marks(text, [display for display, _ in table_texts]), _fill_marks(
        text, [executable for _, executable in table_texts]
    )


def _fill_marks(text: str, mark_texts: Sequence[str]) -> str:
    """Replace marks by their texts; lines of a query of the user are indented as its first one."""

    def fill_mark(mark: re.Match[str]) -> str:
        line = text[text.rfind("\n", 0, mark.start()) + 1 : mark.start()]
        return mark_texts[int(mark[1])].replace(
            "\n\0", f"\n{' ' * (len(line) - len(line.lstrip()))}"
        )

    return _MARK.sub(fill_mark, text)


def _build_generator(
    dialect: str, pretty: bool, tables: dict[exp.Expr, exp.Expr], table_texts: list[tuple[str, str]]
) -> Generator:
    """Return a sqlglot generator for a dialect, which raises for unsupported constructs.

    Layouts are registered in its dispatch table, because the compiled sqlglot does not allow
    subclasses. Tables with two texts are marked.
    """
    target = get_dialect(dialect)
    writer = build_writer(
        target.sqlglot_name,
        pretty=pretty,
        comments=False,
        unsupported_level=ErrorLevel.RAISE,
        max_text_width=LINE_WIDTH,
    )
    # T-SQL's writer repeats the name of each column as its alias, and asks for those of queries of
    # callers, which are texts, before sqlglot 30.17 with an error.
    plain = {
        exp.CTE: lambda self, node: self.cte_sql(node),
        exp.Subquery: lambda self, node: self.subquery_sql(node),
    }
    controls = _control_writers(writer._dispatch, target)  # noqa: SLF001
    writer._dispatch = writer._dispatch | plain | controls  # noqa: SLF001
    if pretty:
        layouts = _build_layouts(writer._dispatch)  # noqa: SLF001
        layouts |= {
            function: _call_layout(name) for function, name in target.function_names.items()
        }
        writer._dispatch = writer._dispatch | layouts  # noqa: SLF001
    if pretty:
        writer._dispatch = writer._dispatch | {  # noqa: SLF001
            exp.Var: _query_marks(tables, writer._dispatch[exp.Var], table_texts)  # noqa: SLF001
        }
    if tables:
        writer._dispatch = writer._dispatch | _table_marks(tables, writer._dispatch, table_texts)  # noqa: SLF001
    generator: Generator = writer
    return generator


def _control_writers(dispatch: Layouts, target: Dialect) -> Layouts:
    """Return writers of literals and names that let no control or bidirectional character into a
    statement.
    """
    default = dispatch[exp.Literal]

    def write_literal(self: Any, node: exp.Literal) -> str:
        """Write the control characters of a text as calls, joined to the rest."""
        if node.this.isprintable() or not node.is_string or not re.search(CONTROLS, node.this):
            return default(self, node)
        pieces = filter(None, re.split(f"({CONTROLS})", node.this))
        texts = [
            (
                target.write_character(piece)
                if re.fullmatch(CONTROLS, piece)
                else default(self, sql_literal(piece))
            )
            for piece in pieces
        ]
        return f"({target.join_texts(texts)})" if len(texts) > 1 else texts[0]

    def write_identifier(self: Any, node: exp.Identifier) -> str:
        name = node.this.replace("\n", "")  # line breaks are in every statement
        if not name.isprintable() and re.search(CONTROLS, name):
            raise InputError(
                f"the name {short_repr(node.this)} holds a control character, which no statement"
                " may. Rename it in a view or query"
            )
        return dispatch[exp.Identifier](self, node)

    return {exp.Literal: write_literal, exp.Identifier: write_identifier}


def _fits_one_line(self: Any, text: str) -> bool:
    return "\n" not in text and len(text) <= self.max_text_width


def _fit_lines(self: Any, indent: int, write: Callable[[], str]) -> str:
    """Return an expression with lines that fit in its place, else with those that exceed the width
    least.
    """
    widths = range(self.max_text_width, _WIDTH_STEP, -_WIDTH_STEP)
    best, least = "", -1
    for self.max_text_width in widths:
        text = write()
        excess = max(0, *(len(line) + indent - LINE_WIDTH for line in text.split("\n")))
        if least < 0 or excess < least:
            best, least = text, excess
        if not excess:
            break
    self.max_text_width = widths[0]
    return best


def _fill_lines(self: Any, terms: Sequence[str], opens_lines: bool) -> list[str]:
    """Return lines of as many terms as each holds.

    A term of several lines begins on the line before if ``opens_lines``, and the next one is behind
    its closing parenthesis or END.
    """
    lines = [terms[0]]
    for term in terms[1:]:
        first = term.partition("\n")[0]
        head, _, last = lines[-1].rpartition("\n")
        is_opened = (
            opens_lines and first.endswith("(") and _fits_one_line(self, f"{lines[-1]} {first}")
        )
        is_behind = (not head or _CLOSING.match(last)) and _fits_one_line(self, f"{last} {term}")
        if is_opened or is_behind:
            lines[-1] = f"{lines[-1]} {term}"
        else:
            lines.append(term)
    return lines


def _list_operations(
    node: exp.Expr, operations: tuple[type[exp.Binary], ...]
) -> tuple[exp.Expr, list[tuple[str, exp.Expr]]]:
    """Return the first operand of operations of one precedence, and the operators with the others,
    as they are read without parentheses.
    """
    others: list[tuple[str, exp.Expr]] = []
    while isinstance(node, operations):
        right, others_of_right = (
            _list_operations(node.expression, operations)
            if type(node) in _ASSOCIATIVE
            else (node.expression, [])
        )
        others = [(_OPERATORS[type(node)], right), *others_of_right, *others]
        node = node.this
    return node, others


def _has_case_argument(node: exp.Expr) -> bool:
    """Return True if the argument of a function, or that of the last of several in one another, is
    a CASE.
    """
    while isinstance(node, _FUNCTIONS):
        node = node.this
    return isinstance(node, exp.Case)


def _find_indent(node: exp.Expr) -> int:
    """Return the indentation of the clauses of a SELECT."""
    depth = 0
    parent = node.parent
    while parent is not None:
        depth += isinstance(parent, (exp.CTE, exp.Subquery))
        parent = parent.parent
    return INDENT * depth


def _table_marks(
    tables: dict[exp.Expr, exp.Expr],
    dispatch: Layouts,
    table_texts: list[tuple[str, str]],
) -> Layouts:
    """Return writers that mark the lines of given tables, and append both texts of each mark to
    ``table_texts``.
    """

    def mark_table(self: Any, node: exp.Expr) -> str:
        text = dispatch[type(node)](self, node)
        if (other := tables.get(node)) is None:
            return text
        marks = []
        for line in text.split("\n"):  # one mark per line, each of which is indented on its own
            marks.append(f"\0{len(table_texts)}\0".ljust(len(line), "\0"))
            table_texts.append((line, "" if len(marks) > 1 else dispatch[type(other)](self, other)))
        return "\n".join(marks)

    return dict.fromkeys({type(table) for table in tables} - {exp.Var}, mark_table)


def _query_marks(
    tables: dict[exp.Expr, exp.Expr], write_var: Write, table_texts: list[tuple[str, str]]
) -> Write:
    """Return a writer that marks queries of the user, and appends their text as it is shown and
    executed to ``table_texts``.
    """

    def mark_query(self: Any, node: exp.Expr) -> str:
        text = query_text(node)
        if text is None:
            return write_var(self, node)
        lines = [
            *(f"-- {line}" for line in wrap(escape_controls(text.comment), LINE_WIDTH)),
            text.layout,
        ]
        display = "\n\0".join(lines)
        other = tables.get(node)
        table_texts.append((display, display if other is None else other.sql(self.dialect)))
        return f"\0{len(table_texts) - 1}\0"

    return mark_query


def _build_layouts(dispatch: Layouts) -> Layouts:
    """Return layout functions by node type, on top of sqlglot's.

    Each writes its operands once; a second time would double the cost with every level of nesting.
    """
    return (
        _operator_layouts(dispatch)
        | _call_layouts(dispatch)
        | _clause_layouts(dispatch)
        | _query_layouts(dispatch)
    )


def _operator_layouts(dispatch: Layouts) -> Layouts:
    """Return layout functions of operators and parentheses."""

    def format_parentheses(self: Any, node: exp.Paren) -> str:
        inner = self.sql(node, "this")
        return (
            f"({inner})"
            if _fits_one_line(self, inner)
            else f"({self.seg(self.indent(inner), sep='')}{self.seg(')', sep='')}"
        )

    def format_arithmetic(self: Any, node: exp.Binary) -> str:
        """Write operands of one precedence on one line, else as many on each line as it holds."""
        operations = (
            (exp.Add, exp.Sub) if isinstance(node, (exp.Add, exp.Sub)) else (exp.Mul, exp.Div)
        )
        first, others = _list_operations(node, operations)
        terms = [
            self.sql(first),
            *(f"{operator} {self.sql(operand)}" for operator, operand in others),
        ]
        return "\n".join(_fill_lines(self, terms, opens_lines=exp.Mul in operations))

    def format_comparison(self: Any, node: exp.Binary) -> str:
        sides = [
            self.sql(node, "this"),
            f"{_COMPARISONS[type(node)]} {self.sql(node, 'expression')}",
        ]
        return " ".join(sides) if _fits_one_line(self, " ".join(sides)) else "\n".join(sides)

    def format_negation(self: Any, node: exp.Not) -> str:
        is_null = isinstance(node.this, exp.Is) and isinstance(node.this.expression, exp.Null)
        return (
            f"{self.sql(node.this, 'this')} IS NOT NULL"
            if is_null
            else dispatch[exp.Not](self, node)
        )

    layouts: Layouts = {exp.Paren: format_parentheses, exp.Not: format_negation}
    return (
        layouts
        | dict.fromkeys(_OPERATORS, format_arithmetic)
        | dict.fromkeys(_COMPARISONS, format_comparison)
    )


def _call_layouts(dispatch: Layouts) -> Layouts:
    """Return layout functions of CASE, windows and functions of one argument."""
    layouts: Layouts = {
        exp.Case: _format_case,
        exp.Window: _window_layout(dispatch),
        exp.WithinGroup: _format_within_group,
    }
    return (
        layouts
        | dict.fromkeys(_FUNCTIONS, _function_layout(dispatch))
        | {call: _call_layout(name) for call, name in _CALLS.items()}
    )


def _format_case(self: Any, node: exp.Case) -> str:
    """Write a condition and its value on one line, and all of CASE, if they fit."""
    branches = [
        (f"WHEN {self.sql(branch, 'this')}", f"THEN {self.sql(branch, 'true')}")
        for branch in node.args["ifs"]
    ]
    statements = [
        " ".join(pair) if _fits_one_line(self, " ".join(pair)) else "\n".join(pair)
        for pair in branches
    ]
    operand, default = self.sql(node, "this"), self.sql(node, "default")
    lines = [
        f"CASE {operand}" if operand else "CASE",
        *statements,
        *([f"ELSE {default}"] if default else []),
        "END",
    ]
    text = " ".join(lines)
    return (
        text
        if _fits_one_line(self, text)
        else str(self.indent("\n".join(lines), skip_first=True, skip_last=True))
    )


def _format_within_group(self: Any, node: exp.WithinGroup) -> str:
    """Write the order of a quantile on a line of its own where the call is too long."""
    aggregate, order = self.sql(node, "this"), self.sql(node, "expression").strip()
    text = f"{aggregate} WITHIN GROUP ({order})"
    return (
        text
        if _fits_one_line(self, text)
        else f"{aggregate} WITHIN GROUP (\n{' ' * INDENT}{order}\n)"
    )


def _window_layout(dispatch: Layouts) -> Write:
    """Return a layout function of windows."""

    def format_window(self: Any, node: exp.Window) -> str:
        """Write a window on one line, or what is in its parentheses on one or on several."""
        width, self.max_text_width = self.max_text_width, LINE_WIDTH
        text = dispatch[exp.Window](self, node)
        self.max_text_width = width
        if _fits_one_line(self, text):
            return text
        terms = text.rpartition(" OVER (")[2][:-1]
        if node.args.get("alias") is not None or not _fits_one_line(self, terms):
            return dispatch[exp.Window](self, node)
        function = self.sql(node, "this")
        line = f"{function} OVER ({terms})"
        return (
            line
            if _fits_one_line(self, line.rpartition("\n")[2])
            else f"{function} OVER (\n{' ' * INDENT}{terms}\n)"
        )

    return format_window


def _function_layout(dispatch: Layouts) -> Write:
    """Return a layout function of functions of one argument."""

    def format_function(self: Any, node: exp.Func) -> str:
        """Write the argument of a function on a line of its own where the call is too long, but
        CASE from the line of the call on.
        """
        if _has_case_argument(node):
            argument = self.sql(node, "this")
            text = f"{node.sql_name()}({argument})"
            return (
                text
                if "\n" in argument or _fits_one_line(self, text)
                else f"{node.sql_name()}(\n{' ' * INDENT}{argument}\n)"
            )
        text = (
            dispatch[type(node)](self, node)
            if type(node) in dispatch
            else self.function_fallback_sql(node)
        )
        if "\n" in text or _fits_one_line(self, text):
            return text
        name, _, argument = text.partition("(")
        return f"{name}(\n{' ' * INDENT}{argument[:-1]}\n)"

    return format_function


def _call_layout(name: str) -> Write:
    """Return a layout function of calls of a function."""

    def format_call(self: Any, node: exp.Func) -> str:
        """Write a call on one line, or its arguments on one or several lines of their own."""
        arguments = [self.sql(argument) for argument in node.iter_expressions()]
        line = ", ".join(arguments)
        if _fits_one_line(self, f"{name}({line})"):
            return f"{name}({line})"
        lines = line if _fits_one_line(self, line) else ",\n".join(arguments)
        return f"{name}({self.seg(self.indent(lines), sep='')}{self.seg(')', sep='')}"

    return format_call


def _clause_layouts(dispatch: Layouts) -> Layouts:
    """Return layout functions of clauses."""

    def format_clause(self: Any, node: exp.Group | exp.Order) -> str:
        """Write GROUP BY and ORDER BY on one line, if that is short."""
        is_plain = not any(value for key, value in node.args.items() if key != "expressions")
        text = (
            f"{'GROUP' if isinstance(node, exp.Group) else 'ORDER'} BY"
            f" {self.expressions(node, flat=True)}"
        )
        if isinstance(node.parent, exp.Rank):
            return text
        return (
            str(self.seg(text))
            if is_plain and fits_line(text, _find_indent(node))
            else _fit_lines(self, _find_indent(node), lambda: dispatch[type(node)](self, node))
        )

    def format_condition(self: Any, node: exp.Where | exp.Having) -> str:
        """Write WHERE and HAVING on one line, if that is short."""
        indent, keyword = _find_indent(node), "WHERE" if isinstance(node, exp.Where) else "HAVING"
        condition = _fit_lines(self, indent + INDENT, lambda: self.sql(node, "this"))
        text = f"{keyword} {condition}"
        is_short = "\n" not in text and fits_line(text, indent)
        return str(
            self.seg(text)
            if is_short
            else f"{self.seg(keyword)}{self.sep()}{self.indent(condition)}"
        )

    def format_join(self: Any, node: exp.Join) -> str:
        indent = _find_indent(node)
        text = dispatch[exp.Join](self, node)
        if isinstance(node.this, exp.Table) and not fits_line(text.strip("\n"), indent):
            text = _fit_lines(self, indent, lambda: dispatch[exp.Join](self, node))
        head, on, condition = text.rpartition("\n  ON ")
        line = f"{head.strip()} ON {condition}"
        is_short = (
            on and isinstance(node.this, exp.Table) and "\n" not in line and fits_line(line, indent)
        )
        return str(self.seg(line)) if is_short else text

    return {
        exp.Group: format_clause,
        exp.Order: format_clause,
        exp.Where: format_condition,
        exp.Having: format_condition,
        exp.Join: format_join,
    }


def _query_layouts(dispatch: Layouts) -> Layouts:
    """Return layout functions of queries and of the columns of INSERT, on top of sqlglot's."""

    def format_schema(self: Any, node: exp.Schema) -> str:
        """Write the columns of INSERT on one line, if that is short."""
        text = f"{self.sql(node, 'this')} ({self.expressions(node, flat=True)})"
        return text if fits_line(text, len("INSERT INTO ")) else dispatch[exp.Schema](self, node)

    def format_select(self: Any, node: exp.Select) -> str:
        """Write comments, plain columns on shared lines, and computed ones with their comment."""
        select_items = node.expressions
        indent = _find_indent(node)
        texts = [
            _fit_lines(self, indent + INDENT + 1, partial(self.sql, item, comment=False))
            for item in select_items
        ]
        comments = list_column_comments(node)
        line = "" if any(comments) else ", ".join(texts)
        is_short = (
            bool(line)
            and "\n" not in line
            and fits_line(f"SELECT{self.sql(node, 'hint')} {line}", indent)
        )
        node.set(
            "expressions",
            [
                exp.Var(
                    this=(
                        _COLUMNS
                        if is_short
                        else "\n".join(format_columns(node, texts, comments, indent + INDENT))
                    )
                )
            ],
        )
        if windows := node.args.get("windows") or []:
            node.set(
                "windows",
                [
                    exp.Var(
                        this=",\n".join(_named_window(self, window, indent) for window in windows)
                    )
                ],
            )
        text = dispatch[exp.Select](self, node)
        node.set("expressions", select_items)
        node.set("windows", windows)
        if is_short:
            text = re.sub(rf"\s+{_COLUMNS}", lambda _: f" {line}", text, count=1)
            one_line = re.sub(r"\n\s*", " ", text)
            text = (
                one_line if len(one_line) <= SHORT_QUERY and node.find_ancestor(exp.CTE) else text
            )
        return "\n".join([*format_comment(node.comments, indent), text])

    def format_union(self: Any, node: exp.Union) -> str:
        return _constant_rows(self, node) or dispatch[exp.Union](self, node)

    return {exp.Schema: format_schema, exp.Select: format_select, exp.Union: format_union}


def _named_window(self: Any, window: exp.Window, indent: int) -> str:
    """Return a window of the WINDOW clause on one line, or with its terms on one or several lines
    of their own.
    """
    partition, order = (
        self.expressions(window, key="partition_by", flat=True),
        window.args.get("order"),
    )
    terms = [f"PARTITION BY {partition}"] if partition else []
    terms += [] if order is None else [f"ORDER BY {self.expressions(order, flat=True)}"]
    terms.append(self.sql(window, "spec"))
    name, line = self.sql(window, "this"), " ".join(terms)
    if fits_line(f"WINDOW {name} AS ({line})", indent):
        return f"{name} AS ({line})"
    lines = [line] if fits_line(line, indent + INDENT) else terms
    return "\n".join([f"{name} AS (", *(f"{' ' * INDENT}{line}" for line in lines), ")"])


def _constant_rows(self: Any, union: exp.Union) -> str:
    """Return the text of a UNION ALL of constants with several members on a line, empty for
    others.
    """
    members: list[exp.Expr] = []
    first: exp.Expr = union
    while isinstance(first, exp.Union) and not any(
        first.args.get(clause) for clause in ("distinct", "with_", "order", "limit")
    ):
        members.append(first.expression)
        first = first.this
    if not all(map(_is_constant, [first, *members])):
        return ""
    lines = format_comment(first.comments, _find_indent(union))
    lines.append(f"SELECT {', '.join(map(self.sql, first.expressions))}")
    for member in reversed(members):
        words = f"UNION ALL SELECT {', '.join(map(self.sql, member.expressions))}"
        if _fits_one_line(self, f"{lines[-1]} {words}"):
            lines[-1] += f" {words}"
        else:
            lines.append(words)
    return "\n".join(lines)


def _is_constant(query: exp.Expr) -> bool:
    """Return True for a SELECT of nothing but literals."""
    is_plain = isinstance(query, exp.Select) and {
        key for key, value in query.args.items() if value
    } == {"expressions"}
    return is_plain and all(
        isinstance(item.unalias(), (exp.Literal, exp.Null)) for item in query.expressions
    )
