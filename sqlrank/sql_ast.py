"""Search, build and name sqlglot nodes, and hold queries and expressions of users in them as text,
which no pass and no dialect changes.
"""

from __future__ import annotations

from functools import cache, reduce
from itertools import chain, count, zip_longest
from typing import TYPE_CHECKING, Any, Self, TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlglot.expressions import Expr

    Node = TypeVar("Node", bound=Expr)
    from collections.abc import Callable, Collection, Sequence


DOUBLE = exp.DataType.Type.DOUBLE
BIGINT = exp.DataType.Type.BIGINT
INT = exp.DataType.Type.INT

MAX_EXACT = 2**53
"""Integers below it are doubles without rounding."""

NEVER_NULL = "never_null"
"""Key that marks an equality in its ``meta``: neither of the compared columns is ever NULL."""


OPERATORS = (exp.Binary, exp.Neg, exp.Not, exp.Between, exp.In)
"""Nodes that may need parentheses as operands of one another."""


class LeadingComment(str):
    """A comment that is written above its column, never behind it."""

    __slots__ = ()


def source_names(tree: exp.Expr) -> set[str]:
    """Return the names and aliases of the CTEs and tables of a tree."""
    return {
        name for node in find_nodes(tree, exp.CTE, exp.Table) for name in (node.name, node.alias)
    }


def unique_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number appended if it is taken in any case.

    >>> unique_name("run", {"qrels"}), unique_name("run", {"RUN", "run_2"})
    ('run', 'run_3')
    """
    lowered = {other.lower() for other in taken}
    candidates = (f"{name}_{number}" if number > 1 else name for number in count(1))
    return next(candidate for candidate in candidates if candidate.lower() not in lowered)


def find_nodes(tree: exp.Expr, *node_types: type[Node]) -> list[Node]:
    """Return the nodes of some types in breadth-first order.

    It takes a sixth of the time of ``tree.find_all``: names and literals, which are half of the
    nodes, are passed over unless they are asked for. Callers may modify the nodes that they get
    without affecting the others.
    """
    skipped_types, pruned_type = _choose_skipped_types(node_types)
    nodes: list[Any] = [tree]
    append = nodes.append
    for node in nodes:
        if type(node) is pruned_type:
            continue
        for value in node.args.values():
            kind = type(value)
            if kind in skipped_types:
                continue
            if kind is list:
                for child in value:
                    if type(child) not in skipped_types and isinstance(child, exp.Expr):
                        append(child)
            elif isinstance(value, exp.Expr):
                append(value)
    return [node for node in nodes if isinstance(node, node_types)]


@cache
def _choose_skipped_types(
    node_types: tuple[type[exp.Expr], ...],
) -> tuple[frozenset[type], type[exp.Expr] | None]:
    """Return the types of values that a search for nodes passes over, and the type of nodes whose
    parts it does not search.

    The latter is None if parts of all nodes are searched.
    """
    leaves = {
        leaf
        for leaf in (exp.Identifier, exp.Literal, exp.Boolean, exp.Null)
        if not issubclass(leaf, node_types)
    }
    has_leaf_columns = not any(issubclass(part, node_types) for part in (exp.Identifier, exp.Star))
    return frozenset({*leaves, str, bool, type(None)}), exp.Column if has_leaf_columns else None


def replace_columns(tree: Expr, choose: Callable[[str], Expr | None]) -> Expr:
    """Return a copy of a tree with expressions in the place of columns, by their names; columns
    without one stay.
    """
    holder = exp.Paren(this=tree.copy())
    for column in find_nodes(holder, exp.Column):
        if (value := choose(column.name)) is not None:
            column.replace(value.copy())
    replaced: Expr = holder.this
    return replaced


def first_select(query: exp.Query) -> exp.Query:
    """Return the first SELECT of a query, to which its comment is attached."""
    while isinstance(query, exp.Union):
        query = query.left
    return query


def quoted_column(name: str, table: str | None = None) -> exp.Column:
    """Return a quoted column, whose name may contain any characters."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True), table=exp.to_identifier(table))


def is_null(value: Expr) -> exp.Is:
    """Return the condition that a value is NULL."""
    return exp.Is(this=value, expression=exp.Null())


def is_not_null(value: Expr) -> exp.Not:
    """Return the condition that a value is not NULL."""
    return exp.Not(this=is_null(value))


def case_when(condition: Expr, value: Expr | int, default: Expr | int | None = None) -> exp.Case:
    """Return a CASE of one branch."""
    chosen, other = (
        sql_literal(each) if isinstance(each, int) else each for each in (value, default)
    )
    return exp.Case(ifs=[exp.If(this=condition, true=chosen)], default=other)


def count_rows() -> exp.Count:
    """Return ``COUNT(*)``."""
    return exp.Count(this=exp.Star())


def add_terms(terms: Iterable[exp.Expr]) -> exp.Expr:
    """Return the sum of terms."""
    return reduce(lambda left, right: exp.Add(this=left, expression=right), terms)


def call_function(name: str, *arguments: Expr) -> exp.Anonymous:
    """Return the call of a function that sqlglot doesn't rewrite."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def sql_literal(value: str | float) -> exp.Expr:
    """Convert a value to a SQL literal, integers without a decimal point."""
    if isinstance(value, str):
        return exp.Literal.string(value)
    is_whole = float(value).is_integer() and abs(value) < MAX_EXACT
    return number_literal(int(value) if is_whole else float(value))


def is_exact_integer(number: exp.Expr) -> exp.Expr:
    """Return the condition that a double is whole, and not so great that it may be rounded.

    >>> is_exact_integer(exp.column("x")).sql("duckdb")
    'x = FLOOR(x) AND ABS(x) < 9007199254740992'
    """
    return exp.and_(
        number.eq(exp.Floor(this=number.copy())),
        exp.LT(this=exp.Abs(this=number.copy()), expression=exp.Literal.number(MAX_EXACT)),
        copy=False,
    )


def number_literal(number: float) -> exp.Expr:
    """Return the literal of a number, with a decimal point if it is a float."""
    literal = exp.Literal.number(repr(abs(number)))
    return exp.Neg(this=literal) if number < 0 else literal


def output_identifier(item: Expr) -> exp.Identifier:
    """Return the name of a column of a result."""
    identifier: exp.Identifier = item.args["alias"] if isinstance(item, exp.Alias) else item.this
    return identifier


def double_literal(number: float) -> exp.Cast:
    """Return a number as a SQL double."""
    return exp.cast(sql_literal(number), DOUBLE)


def bind_placeholders(tree: Node, **values: Any) -> Node:
    """Replace ``$name`` in a tree by copies of values or expressions, in place; names without a
    value stay.

    >>> import sqlglot
    >>> bind_placeholders(
    ...     sqlglot.parse_one("SELECT 2 * $a + $b", read="duckdb"),
    ...     a=exp.column("x") + 1,
    ... ).sql("duckdb")
    'SELECT 2 * (x + 1) + $b'
    """
    for node in find_nodes(tree, exp.Placeholder):
        if node.name in values:
            value = exp.convert(values[node.name], copy=True)
            is_operand = isinstance(value, OPERATORS) and isinstance(node.parent, OPERATORS)
            node.replace(exp.paren(value, copy=False) if is_operand else value)
    return tree


def union_all(branches: Iterable[exp.Select]) -> exp.Query:
    """Combine SELECTs by UNION ALL."""
    first, *others = branches
    union: exp.Query = first
    for branch in others:
        union = exp.union(union, branch, distinct=False, copy=False)
    return union


class QueryText(str):
    """The text of a query of the user, which is written as it is: no pass rewrites it, and no
    dialect translates it.

    Attributes:
        tables: The parts of the names of the tables that it reads, in lower case.
        layout: The text with a NUL behind each line break that is not in a literal or a name. A
            statement replaces it by the indentation of the place where the query is written, which
            in a literal would change the value.
        comment: The comment above its step.
        is_selection: It is nothing but a choice of columns and rows of one table, which an engine
            reads as the table itself.
        has_arbitrary_rows: It takes some rows of several, of which no order says which, as by LIMIT
            without ORDER BY.
    """

    __slots__ = ("comment", "has_arbitrary_rows", "is_selection", "layout", "tables")

    tables: tuple[tuple[str, ...], ...]
    layout: str
    comment: str
    is_selection: bool
    has_arbitrary_rows: bool

    def __new__(
        cls,
        text: str,
        tables: tuple[tuple[str, ...], ...] = (),
        layout: str = "",
        comment: str = "",
        is_selection: bool = False,
        has_arbitrary_rows: bool = False,
    ) -> Self:
        """Return a text with the facts that statements use."""
        query = super().__new__(cls, text)
        query.tables, query.layout, query.comment = tables, layout or text, comment
        query.is_selection, query.has_arbitrary_rows = is_selection, has_arbitrary_rows
        return query


def query_text(node: exp.Expr | None) -> QueryText | None:
    """Return the text of a user's query in FROM, None for other nodes."""
    inner = node.this if isinstance(node, exp.Subquery) else node
    return inner.this if isinstance(inner, exp.Var) and isinstance(inner.this, QueryText) else None


def unqualified_tables(tree: exp.Expr) -> set[str]:
    """Return the names of tables without a schema that a tree reads, in lower case, also in queries
    of the user.
    """
    nodes = find_nodes(tree, exp.Table, exp.Var)
    names = {node.name.lower() for node in nodes if isinstance(node, exp.Table) and not node.db}
    texts = [text for node in nodes if (text := query_text(node)) is not None]
    return names | {table[0] for text in texts for table in text.tables if len(table) == 1}


COLUMN_MARK = "\0"
"""Mark of the place of a column in the text of an expression, where no other NUL is accepted."""


TextNode = exp.SessionParameter
"""The class of a text of a caller in a tree: a condition that no pass knows and no statement of
ours has. Compiled versions of sqlglot allow no subclass, and only conditions in WHERE.
"""


class ExpressionText(str):
    """The text of an expression of the user, with a mark in the place of each column.

    Attributes:
        source: The text with its columns.
        tree: The expression as it was parsed, to find what it reads. It is never written.
        columns: The columns of the tree, in the order of the text.
    """

    __slots__ = ("columns", "source", "tree")

    source: str
    tree: exp.Expr
    columns: tuple[exp.Column, ...]

    def __new__(cls, source: str, tree: exp.Expr, columns: Sequence[exp.Column]) -> Self:
        """Return a text whose columns, in the order of the text, know their positions."""
        pieces, end = [], 0
        for column in columns:
            pieces.append(source[end : column.parts[0].meta["start"]])
            end = column.parts[-1].meta["end"] + 1
        text = super().__new__(cls, COLUMN_MARK.join([*pieces, source[end:]]))
        text.source, text.tree, text.columns = source, tree, tuple(columns)
        return text

    def as_node(self) -> exp.Condition:
        """Return a node that is written as this text; its parts are columns, which passes may
        rename and qualify.
        """
        return TextNode(this=self, expressions=[column.copy() for column in self.columns])

    def needs_parentheses(self, parent: exp.Expr | None) -> bool:
        """Return True if the text would be read otherwise as an operand of this node."""
        tree = self.tree
        if (
            not isinstance(parent, _OPERATORS)
            or isinstance(parent, exp.Paren)
            or isinstance(tree, (exp.Column, exp.Literal, exp.Paren))
        ):
            return False
        is_call = (
            isinstance(tree, exp.Func)
            and not isinstance(tree, exp.Binary)
            and self.source.endswith((")", "END"))
        )
        binds_closer = (
            isinstance(tree, (exp.Predicate, exp.Not))
            if isinstance(parent, exp.Connector)
            else is_call
        )
        return not binds_closer or isinstance(parent, exp.Bracket)


_OPERATORS = (exp.Binary, exp.Unary, exp.Between, exp.In, exp.Bracket)
"""Nodes whose operands may need parentheses."""


def expression_text(node: exp.Expr | None) -> ExpressionText | None:
    """Return the text of a user's expression, None for other nodes."""
    return node.this if type(node) is TextNode and isinstance(node.this, ExpressionText) else None


def write_expression(generator: Any, node: exp.Expr) -> str:
    """Write the text of a user's expression, with its columns in their places."""
    columns = [
        generator.sql(
            column if isinstance(column, (exp.Column, exp.Dot, exp.Literal)) else exp.paren(column)
        )
        for column in node.expressions
    ]
    text = "".join(
        chain.from_iterable(zip_longest(node.this.split(COLUMN_MARK), columns, fillvalue=""))
    )
    return f"({text})" if node.this.needs_parentheses(node.parent) else text


def load_dialect(name: str) -> Dialect:
    """Return a dialect of sqlglot itself: ibis registers one of its own as ``clickhouse``, whose
    class of Python the compiled sqlglot does not make a writer.
    """
    classes: tuple[Any, ...] = type(Dialect.get_or_raise(name)).__mro__
    dialect: Dialect = next(each for each in classes if each.__module__.startswith("sqlglot."))()
    return dialect


def build_writer(dialect: str, **options: Any) -> Any:
    """Return a generator of sqlglot that writes expressions of users, too.

    They are registered in its dispatch table, because the compiled sqlglot does not allow
    subclasses.
    """
    sqlglot_dialect = load_dialect(dialect)
    writer: Any = sqlglot_dialect.generator_class(dialect=sqlglot_dialect, **options)
    # Sqlglot has no public access to it
    dispatch: dict[type[exp.Expr], Callable[[Any, Any], str]] = writer._dispatch  # noqa: SLF001
    writer._dispatch = dispatch | {TextNode: write_expression}  # noqa: SLF001
    if "'" in sqlglot_dialect.tokenizer_class.STRING_ESCAPES:  # not \', which fewer engines take
        writer._escaped_quote_end = "''"  # noqa: SLF001
    return writer


def take_first(query: exp.Select, num_rows: int = 1, unordered: Collection[str] = ()) -> exp.Select:
    """Return a query of the first rows in the order of all its columns, the same whatever the
    threads, but for columns of types without an order.

    Columns are ordered by their names: Spark finds no expressions of a query with HAVING.
    """
    items = query.args["from_"].this.this.selects if query.is_star else query.selects
    keys: list[exp.Expr] = [
        exp.Column(this=item.args["alias"].copy()) if isinstance(item, exp.Alias) else item.copy()
        for item in items
        if not {item.alias_or_name, item.unalias().name} & {*unordered}
        and not isinstance(item.unalias(), exp.Literal)
    ]
    if query.is_star:  # the columns of the subquery are read from outside of it
        for key in keys:
            key.set("table", None)
    return (query.order_by(*keys) if keys else query).limit(num_rows)


def write_tree(tree: exp.Expr, dialect: str = "duckdb") -> str:
    """Return a tree as text in a dialect of sqlglot, without rewrites; it may hold expressions of
    users.
    """
    text: str = build_writer(dialect).generate(tree)
    return text
