"""Parse names of tables and columns, and queries of users as sources, of which writes and random
numbers are refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from sqlrank.call.sources import QuerySource, reader_function, source_kind, wrap_source
from sqlrank.engines.file_sources import is_unambiguous_file, names_files
from sqlrank.errors import InputError, quote_excerpt
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import QueryText

if TYPE_CHECKING:
    from collections.abc import Sequence


_PART = r'[\w$-]+|"(?:[^"]|"")+"|`(?:[^`]|``)+`'
_BARE = re.compile(r"[A-Za-z_][\w$]*", re.ASCII)
_BRACKETS = re.compile(r"\[((?:[^\]]|\]\])+)\]")
_NAME = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")


QUOTES = ('"', "`")
"""First characters of quoted identifiers."""


def split_table_name(text: str) -> list[str] | None:
    """Split a table name into unquoted parts, None if it is not one.

    >>> split_table_name('"my schema".runs')
    ['my schema', 'runs']
    """
    if not _NAME.fullmatch(text):
        return None
    return [
        part if part[0] not in '"`' else part[1:-1].replace(part[0] * 2, part[0])
        for part in re.findall(_PART, text)
    ]


def _quote_brackets(text: str, dialect: str) -> str:
    """Return a name with double quotes in place of brackets, in a dialect that has both.

    >>> _quote_brackets("[my schema].runs", "tsql"), _quote_brackets("[my schema].runs", "duckdb")
    ('"my schema".runs', '[my schema].runs')
    """
    if (
        "[" not in text
        or ("[", "]") not in get_dialect(dialect).sqlglot.tokenizer_class.IDENTIFIERS
    ):
        return text
    return _BRACKETS.sub(
        lambda name: exp.to_identifier(name[1].replace("]]", "]"), quoted=True).sql(), text
    )


def split_path(text: str) -> list[list[str]]:
    """Split a search path into names, and each into its parts.

    >>> split_path('eval,"my ""db".main')
    [['eval'], ['my "db', 'main']]
    """
    return [split_table_name(match[0]) or [] for match in _NAME.finditer(text)]


def fold_column_name(text: str, dialect: str) -> str:
    """Return the column of a text: bare names folded to the engine's case, others unchanged.

    >>> fold_column_name("campaign", "snowflake"), fold_column_name(
    ...     '"campaign"', "snowflake"
    ... ), fold_column_name("my column", "snowflake")
    ('CAMPAIGN', 'campaign', 'my column')
    """
    if _BARE.fullmatch(text):
        return get_dialect(dialect).fold_identifier(text)
    identifiers = split_table_name(_quote_brackets(text, dialect))
    return identifiers[0] if identifiers is not None and len(identifiers) == 1 else text


def require_table_name(role: str, source: Any, dialect: str) -> exp.Table:
    """Parse the name of a table that cannot be inspected.

    An unquoted name with the suffix of a data file is treated as a missing file.

    Raises:
        InputError: The source is not the name of a table.
    """
    if isinstance(source, exp.Table):
        return source.copy()
    if not isinstance(source, (str, Path)):
        raise InputError(f"{role}: give the name of a table or a file, not a {source_kind(source)}")
    text = _quote_brackets(str(source), dialect)
    if split_table_name(text) is None:
        if names_files(text):
            raise InputError(
                f"{role}: {text!r} is a file, which only a statement for DuckDB reads. Make a table"
                f" of it on {dialect}, and name that"
            )
        readable = f"nor a file that a statement for {dialect} can read here"
        raise InputError(
            f"{role}: {quote_excerpt(text, is_name=True)} is not the name of a table, {readable}."
            " Put odd parts of a name in quotes"
        )
    table = parse_table_name(role, text, dialect)
    if reader_function(text):
        in_quotes = table.sql(get_dialect(dialect).sqlglot, identify=True)
        problem = (
            f"{text!r} is a file, which only a statement for DuckDB reads"
            if names_files(text)
            else f"there is no file {text!r}"
        )
        raise InputError(f"{role}: {problem}. If a table is meant, write {in_quotes}")
    return table


def parse_table_name(role: str, text: str, dialect: str) -> exp.Table:
    """Parse a table name such as ``project.dataset.table``, with SQL keywords quoted."""
    text = _quote_brackets(text, dialect)
    identifiers = split_table_name(text)
    if identifiers is None:
        raise InputError(
            f"{role}: {quote_excerpt(text, is_name=True)} is not the name of a table. Put odd parts"
            " of a name in quotes"
        )
    writer = get_dialect(dialect).sqlglot
    try:
        table = exp.to_table(text, dialect=writer)
    except SqlglotError:
        table = exp.Table()
    if ".".join(part.name for part in table.parts) != ".".join(identifiers):
        raise InputError(f"{role}: {text!r} has not the quotes of {dialect}")
    words = {
        word for keyword in writer.tokenizer_class.KEYWORDS for word in keyword.upper().split()
    }
    for part in table.find_all(exp.Identifier):
        if not part.quoted and part.name.upper() in words:
            part.replace(exp.to_identifier(fold_column_name(part.name, dialect), quoted=True))
    return table


def quote_columns(tree: exp.Expr, dialect: str) -> None:
    """Quote the columns of an expression in place, each folded to the engine's case."""
    for identifier in tree.find_all(exp.Identifier):
        if not identifier.quoted:
            identifier.set("this", fold_column_name(identifier.name, dialect))
            identifier.set("quoted", True)  # noqa: FBT003  sqlglot's argument


_WRITES = (exp.DDL, exp.DML, exp.Into, exp.Command, exp.Lock)
"""Nodes of queries that write rows or lock them."""

_JINJA = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_JINJA_BLOCK = re.compile(r"\{[%#]")

_RANDOM_FUNCTIONS = {
    "canonicalrand", "gen_random_uuid", "generate_uuid", "generateuuidv4", "generateuuidv7",
    "newid", "nextval", "normal", "rand", "rand32", "rand64", "randcanonical", "randn", "random",
    "random_string", "randomblob", "randomstring", "randstr", "seq8", "shuffle", "uniform", "uuid",
    "uuid_string", "uuidv4", "uuidv7", "zipf",
}  # fmt: skip

_SELECTION = (
    exp.Alias, exp.And, exp.Between, exp.Boolean, exp.Column, exp.EQ, exp.From, exp.GT, exp.GTE,
    exp.Identifier, exp.In, exp.Is, exp.Literal, exp.LT, exp.LTE, exp.NEQ, exp.Not, exp.Null,
    exp.Or, exp.Paren, exp.ReadParquet, exp.Select, exp.Star, exp.Table, exp.TableAlias, exp.Where,
)  # fmt: skip
"""Nodes of queries that choose columns and rows of one table by comparisons."""


def parse_query(
    role: str, source: QuerySource, dialect: str, allows_jinja: bool = False
) -> exp.Subquery:
    """Return a query of a user as an item of FROM.

    Args:
        role: The role whose source it is.
        source: The query.
        dialect: The SQL dialect that it is written in.
        allows_jinja: It may hold expressions of Jinja, such as ``{{ ref('runs') }}``.

    Raises:
        InputError: The text is not one SELECT, or writes something.
    """
    plain_text = _validate_query(role, source.text, dialect, allows_jinja)
    tree, tokens = _parse_query(role, plain_text, dialect, allows_jinja)
    text = QueryText(
        plain_text,
        tables=tuple(
            sorted(
                {
                    tuple(part.name.lower() for part in table.parts)
                    for table in tree.find_all(exp.Table)
                }
            )
        ),
        layout=_strip_indentation(plain_text, tokens, dialect),
        comment=f"the query given as {role}",
        is_selection=_is_selection(tree),
        has_arbitrary_rows=any(
            query.args.get("limit") and not query.args.get("order")
            for query in tree.find_all(exp.Query)
        ),
    )
    return exp.Subquery(
        this=exp.Var(this=text), alias=exp.TableAlias(this=exp.to_identifier(f"{role}_query"))
    )


def refuse_random_numbers(role: str, query: exp.Subquery, dialect: str) -> None:
    """Raise ``InputError`` for a query that gives other rows each time, on an engine where it may
    be computed several times.
    """
    capabilities = get_dialect(dialect)
    if capabilities.computes_sources_once:
        return
    tokens = capabilities.sqlglot.tokenize(query.this.name)
    calls = {
        token.text.lower()
        for token, following in pairwise(tokens)
        if following.token_type == TokenType.L_PAREN
    }
    random_calls = sorted(calls & _RANDOM_FUNCTIONS) + [
        token.text for token in tokens if token.token_type == TokenType.TABLE_SAMPLE
    ]
    problem = (
        f"calls {random_calls[0]}"
        if random_calls
        else "has LIMIT without ORDER BY"
        if query.this.this.has_arbitrary_rows
        else ""
    )
    if problem:
        raise InputError(
            f"{role}: the query {problem}, which gives other rows each time that {dialect} computes"
            " it. Make a table of it, and name that"
        )


def find_jinja(text: str) -> list[str]:
    """Return the expressions of Jinja in a text."""
    return _JINJA.findall(text)


def reads_files(source: Any) -> bool:
    """Return True if a source can only be a file, or is a query that reads nothing but files."""
    source = wrap_source(source)
    if not isinstance(source, QuerySource):
        return is_unambiguous_file(source)
    tables = _find_tables(source)
    return tables is not None and all(
        not isinstance(table.this, exp.Identifier) or names_files(table.name) for table in tables
    )


def list_query_files(source: Any) -> list[Any]:
    """Return the files that a query reads, and the one that holds it; other sources unchanged."""
    source = wrap_source(source)
    if not isinstance(source, QuerySource):
        return [source]
    literals = [
        literal.name
        for table in _find_tables(source) or []
        for literal in table.find_all(exp.Literal, exp.Identifier)
    ]
    return [text for text in literals if names_files(text)] + (
        [] if source.option is None else [source.option[1:]]
    )


def _find_tables(source: QuerySource) -> list[exp.Table] | None:
    """Return the tables and functions of files that a query for DuckDB reads, None if it cannot be
    read.
    """
    try:
        tree, _ = _parse_query("", source.text, "duckdb", allows_jinja=False)
    except InputError:
        return None
    ctes = {cte.alias for cte in tree.find_all(exp.CTE)}
    return [table for table in tree.find_all(exp.Table) if table.name not in ctes or table.db]


def _validate_query(role: str, text: str, dialect: str, allows_jinja: bool) -> str:
    """Return the text of a query without what surrounds it: comments, parentheses, and a semicolon
    at its end.

    Raises:
        InputError: The text is not one SELECT, or writes something.
    """
    tree, tokens = _parse_query(role, text, dialect, allows_jinja)
    if not isinstance(tree.unnest(), exp.Query) or isinstance(tree, exp.Values):
        raise InputError(
            f"{role}: a query is one SELECT, not {type(tree).__name__.upper()}. Make a table of it,"
            " and name that"
        )
    if write_node := tree.find(*_WRITES):
        raise InputError(
            f"{role}: the query holds {type(write_node).__name__.upper()}, and a source is only"
            " read. Leave that out"
        )
    while tokens[-1].token_type == TokenType.SEMICOLON:
        tokens = tokens[:-1]
    while isinstance(tree, exp.Subquery) and not tree.alias and _is_enclosed(tokens):
        tree, tokens = tree.this, tokens[1:-1]
    if tokens[0].token_type == TokenType.FROM and not get_dialect(dialect).supports_from_first:
        raise InputError(
            f"{role}: a query for {dialect} begins with SELECT or WITH. Write SELECT * FROM ..."
        )
    return text[tokens[0].start : tokens[-1].end + 1]


@lru_cache(maxsize=64)
def _parse_query(
    role: str, text: str, dialect: str, allows_jinja: bool
) -> tuple[exp.Expr, list[Token]]:
    """Parse a query; its tree and tokens may not be changed.

    Raises:
        InputError: It is not one statement.
    """
    if allows_jinja:
        if _JINJA_BLOCK.search(text):
            raise InputError(
                f"{role}: a query may hold Jinja as {{{{ ref('runs') }}}} or {{{{ source('shop',"
                " 'runs') }}, but no blocks or comments"
            )
        text = _JINJA.sub(lambda match: "j".ljust(len(match[0]), "_"), text)
    sqlglot_dialect = get_dialect(dialect).sqlglot
    try:
        tokens = sqlglot_dialect.tokenize(text)
        trees: list[Any] = [
            tree
            for tree in sqlglot_dialect.parse(text)
            if tree is not None and not isinstance(tree, exp.Semicolon)
        ]
    except SqlglotError as error:
        problem: dict[str, Any] = next(iter(getattr(error, "errors", [])), {})
        near = f" near line {problem['line']}, column {problem['col']}" if problem else ""
        raise InputError(
            f"{role}: the query cannot be read as SQL of {dialect}{near}. Make a view of it, and"
            " name that"
        ) from None
    if len(trees) != 1:
        raise InputError(
            f"{role}: a query is one SELECT, and this text holds {len(trees)} statements. Give one"
            " of them"
        )
    return trees[0], tokens


def _is_enclosed(tokens: Sequence[Token]) -> bool:
    """Return True if the first token is a parenthesis that the last one closes."""
    depth = 0
    for position, token in enumerate(tokens):
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 0:
            return position == len(tokens) - 1 and position > 0
    return False


def _strip_indentation(text: str, tokens: Sequence[Token], dialect: str) -> str:
    """Return a query without its common indentation, and with NUL behind line breaks outside of
    literals and names.
    """
    covered = {
        place
        for token in tokens
        for place in range(token.start, token.end + 1)
        if "\n" in token.text
    }
    breaks = [place for place, letter in enumerate(text) if letter == "\n" and place not in covered]
    lines = [
        text[first + 1 : last]
        for first, last in zip([-1, *breaks], [*breaks, len(text)], strict=True)
    ]
    indents = [len(line) - len(line.lstrip(" ")) for line in lines[1:] if line.strip()]
    indent = min(indents, default=0)
    layout = "\n\0".join([lines[0], *(line[indent:] for line in lines[1:])])
    reader = get_dialect(dialect).sqlglot
    plain = layout.replace("\n\0", "\n  ")
    return layout if _token_texts(reader, plain) == _token_texts(reader, text) else str(text)


def _token_texts(reader: Dialect, text: str) -> list[str] | None:
    try:
        return [token.text for token in reader.tokenize(text)]
    except SqlglotError:
        return None


def _is_selection(tree: exp.Expr) -> bool:
    """Return True if a query chooses columns and rows of one table that an engine reads without
    parsing text.
    """
    if not isinstance(tree, exp.Select) or not all(
        type(node) in _SELECTION for node in tree.walk()
    ):
        return False
    return all(
        reader_function(table.name) in {None, "READ_PARQUET"} for table in tree.find_all(exp.Table)
    )
