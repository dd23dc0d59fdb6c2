"""Parse expressions and conditions of users in the SQL of the engine, and refuse all syntax that is
not listed.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from sqlrank.engines.query_sources import quote_columns
from sqlrank.errors import CONTROLS, InputError, quote_excerpt
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import ExpressionText, write_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.expressions import Expr

    from sqlrank.engines.source_tables import SourceTable


_OPERATORS = (
    "Add Adjacent And Any ArrayContainedBy ArrayContainsAll ArrayOverlaps AtTimeZone Between"
    " BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor Bracket Case"
    " Cast Collate Comprehension DPipe Distance Div Dot EQ Escape ExtendsLeft ExtendsRight GT GTE"
    " Glob ILike If In IntDiv Is JSONArrayContains JSONBContains JSONBContainsAllTopKeys"
    " JSONBContainsAnyTopKeys JSONBContainsTopKey JSONBDeleteAtPath JSONBExtract JSONBExtractScalar"
    " JSONBPathExists JSONCast JSONExtract JSONExtractScalar Kwarg LT LTE Like Mod Mul NEQ Neg"
    " NestedJSONSelect Not NullSafeEQ NullSafeNEQ Or Overlaps Paren Pow RegexpFullMatch RegexpILike"
    " RegexpLike SimilarTo Slice Sub TryCast Tuple Xor"
)
_VALUES = (
    "Array Boolean ByteString Column DataType DataTypeParam HexString Identifier Interval"
    " IntervalSpan JSONPath JSONPathKey JSONPathRoot JSONPathSubscript JSONPathWildcard Literal"
    " National Null Parameter Placeholder Pseudocolumn RawString UnicodeString Var"
)
_FUNCTIONS = (
    "Abs ArrayContains ArrayPosition CaseSpecificColumnConstraint Ceil Chr Coalesce Concat"
    " ConcatWs Contains CurrentDate CurrentDatetime CurrentTime CurrentTimestamp Date DateAdd"
    " DateBin DateDiff DateFromParts DateStrToDate DateSub DateToDateStr DateTrunc Datetime"
    " DatetimeAdd DatetimeDiff DatetimeSub DatetimeTrunc Day DayOfMonth DayOfWeek DayOfWeekIso"
    " DayOfYear Decode EndsWith Exp Extract FarmFingerprint Floor Greatest Hex Hour Initcap Int64"
    " IsInf IsNan LastDay Least Left Length Ln Log Lower LowerHex MakeInterval MD5 Minute Month"
    " Normalize Nullif ParseJSON Quarter RegexpExtract RegexpReplace RegexpSplit Replace Right"
    " Round SafeDivide Second SHA SHA2 Sign Split Sqrt StartsWith StrPosition StrToDate StrToTime"
    " StrToUnix StructExtract Substring Time TimeStrToDate TimeStrToTime TimeToStr TimeToUnix"
    " Timestamp TimestampAdd TimestampDiff TimestampFromParts TimestampSub TimestampTrunc ToChar"
    " ToNumber Trim Trunc Unhex TsOrDsAdd TsOrDsDiff TsOrDsToDate TsOrDsToDateStr TsOrDsToTimestamp"
    " Unicode UnixToTime Upper Week WeekOfYear Year"
)
_ALLOWED_NODES = frozenset(
    getattr(exp, name)
    for names in (_OPERATORS, _VALUES, _FUNCTIONS)
    for name in names.split()
    if hasattr(exp, name)
)
"""Allowed classes of nodes. A class that is derived from one of them is another."""

_NESTED = (exp.Struct, exp.Map, exp.VarMap, exp.ToMap)
"""Classes that make several values of one row, which messages name by what they are."""

_ALLOWED_CALLS = {
    "cityhash64", "crc32", "date", "date_part", "datepart", "dayname", "epoch", "epoch_ms",
    "farm_fingerprint", "getdate", "greatest", "hash", "instr", "intdiv", "intdivorzero",
    "isfinite", "isinf", "isnan", "julianday", "least", "len", "list_contains", "make_date",
    "make_timestamp", "mod", "monthname", "murmur_hash", "nfc_normalize", "normalizeutf8nfc", "now",
    "prefix", "siphash64", "strftime", "strpos", "strptime", "substr", "suffix", "sysdate",
    "to_char", "to_date", "to_hex", "to_timestamp", "today", "todate", "todatetime", "todayofweek",
    "tohour", "tomonday", "tomonth", "tostartofday", "tostartofmonth", "tostartofweek", "tostring",
    "toyear", "toyyyymm", "toyyyymmdd", "unixepoch", "weekday", "xxhash64", "yesterday",
}  # fmt: skip
"""Allowed functions that have no class in sqlglot."""

_ALLOWED_TYPES = {
    "ARRAY", "BIGDECIMAL", "BIGINT", "BIGNUM", "BINARY", "BIT", "BLOB", "BOOLEAN", "BPCHAR", "CHAR",
    "DATE", "DATE32", "DATETIME", "DATETIME2", "DATETIME64", "DECFLOAT", "DECIMAL", "DECIMAL128",
    "DECIMAL256", "DECIMAL32", "DECIMAL64", "DOUBLE", "ENUM", "ENUM16", "ENUM8", "FIXEDSTRING",
    "FLOAT", "INET", "INT", "INT128", "INT256", "INTERVAL", "IPV4", "IPV6", "JSON", "JSONB", "LIST",
    "LONGTEXT", "LOWCARDINALITY", "MAP", "MEDIUMINT", "MONEY", "NAME", "NCHAR", "NULL", "NULLABLE",
    "NVARCHAR", "OBJECT", "SMALLDATETIME", "SMALLINT", "STRUCT", "SUPER", "TEXT", "TIME",
    "TIMESTAMP", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "TIMESTAMPTZ", "TIMESTAMP_MS", "TIMESTAMP_NS",
    "TIMESTAMP_S", "TIMETZ", "TIME_NS", "TINYINT", "UBIGINT", "UDECIMAL", "UDOUBLE", "UINT",
    "UINT128", "UINT256", "UMEDIUMINT", "USMALLINT", "UTINYINT", "UUID", "VARBINARY", "VARCHAR",
    "VARIANT", "YEAR",
}  # fmt: skip
"""Types to which a value may be cast. Those that users or a catalog define run code or look names
up.
"""


_ADVICE = "Give a query or a view with a column of it, and name that"


class DisallowedSqlError(InputError):
    """Error for disallowed syntax in a condition or expression."""


def check_syntax(tree: Expr, source: str, dialect: str) -> None:
    """Check that a condition or expression consists of allowed syntax.

    Args:
        tree: The condition or expression.
        source: The argument that contains it, for the message.
        dialect: The engine that will run it.

    Raises:
        DisallowedSqlError: The first disallowed function or construct.
    """
    for node in tree.walk(bfs=False, prune=lambda node: isinstance(node, exp.DataType)):
        if isinstance(node, exp.Anonymous):
            if node.name.lower() not in _ALLOWED_CALLS:
                _refuse_function(node.name, source)
        elif isinstance(node, _NESTED):
            advice = "Write an expression for each, of a text, number, date, boolean or list"
            raise DisallowedSqlError(f"{source}: a struct or a map has several values. {advice}")
        elif isinstance(node, exp.Func) and type(node) not in _ALLOWED_NODES:
            _refuse_function(_function_name(node), source)
        elif type(node) not in _ALLOWED_NODES:
            _refuse_function(type(node).__name__, source)
        elif isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
            check_syntax(node.expression, source, dialect)
            raise DisallowedSqlError(
                f"{source}: {_write_excerpt(node, dialect)} calls a function by its schema."
                f" {_ADVICE}"
            )
        elif problem := _find_disallowed_argument(node, dialect):
            raise DisallowedSqlError(f"{source}: {_write_excerpt(node, dialect)} {problem}")


def _find_disallowed_argument(node: Expr, dialect: str) -> str:
    """Return the problem of an allowed node with its arguments, empty if there is none."""
    if isinstance(node, exp.In):
        meaning = get_dialect(dialect).name_after_in
        is_bracketed_name = len(node.expressions) == 1 and isinstance(
            node.expressions[0].unnest(), exp.Column
        )
        reads_table = (node.args.get("field") and meaning != "list") or (
            is_bracketed_name and meaning == "bracketed_table"
        )
        if reads_table or node.args.get("is_global") or node.args.get("unnest"):
            return "may read a table. Write the values as a list, such as x IN (1, 2)"
    elif (
        isinstance(node, exp.Dot)
        and not isinstance(node.this, exp.Column)
        and get_dialect(dialect).calls_functions_by_fields
    ):
        return "may call a function of that name. Give a query that reads the field as the source"
    elif isinstance(node, exp.Collate) and not isinstance(
        node.expression, (exp.Identifier, exp.Var)
    ):
        return "names a collation by its schema. Name one of the engine"
    elif isinstance(node, exp.Any) and not (
        isinstance(node.parent, exp.Predicate) and node.parent.expression is node
    ):
        return "is no value. Write it behind a comparison, such as x = ANY([1, 2])"
    elif isinstance(node, exp.DataType) and any(
        inner.this.name not in _ALLOWED_TYPES for inner in node.find_all(exp.DataType)
    ):
        return f"is not among the types that a value may be cast to here. {_ADVICE}"
    return ""


def _refuse_function(name: str, source: str) -> None:
    advice = _ADVICE
    if name == "UNNEST":
        advice = (
            "Give a row per query with lists as the input answers, or a query that calls it as the"
            " source"
        )
    raise DisallowedSqlError(
        f"{source}: {name} is not among the functions that may be called here. {advice}"
    )


def _write_excerpt(node: Expr, dialect: str) -> str:
    return quote_excerpt(write_tree(node, get_dialect(dialect).sqlglot_name))


def _function_name(node: exp.Func) -> str:
    text = write_tree(node)
    return text.partition("(")[0] if "(" in text else type(node).__name__


_REFUSED_IN_CONDITIONS = (exp.Alias, exp.AggFunc, exp.Query, exp.Star, exp.Window)
_REFUSED_IN_EXPRESSIONS = (*_REFUSED_IN_CONDITIONS, exp.Placeholder, exp.Parameter)

_EXPRESSIONS = (exp.Condition, exp.Paren, exp.AtTimeZone)
"""Classes of expressions, of which sqlglot counts the last among no others."""

ELEMENT = "element"
"""Name of an element of a list of structs, of which a field is read."""

MAX_TERMS, MAX_DEPTH = 10_000, 900
"""Maximum number of nodes of an expression, which takes about a second to parse, and of nodes in
one another: engines stop at 1,000.
"""


def _join_tokens(text: str, dialect: str, argument: str) -> str:
    """Return a text without comments, a semicolon at its end, and line breaks, of which each
    becomes a blank.

    Raises:
        DisallowedSqlError: A literal or a name holds a control character, or a text stands behind a
            text.
    """
    language = get_dialect(dialect).sqlglot
    tokens = language.tokenize(text)
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    for first, second in pairwise(tokens):
        if first.token_type == second.token_type == TokenType.STRING:
            texts = quote_excerpt(text[first.start : second.end + 1])
            quote = "''" if "'" in language.tokenizer_class.STRING_ESCAPES else r"\'"
            raise DisallowedSqlError(
                f"{argument}: {texts} are two texts. Join them with ||, or write {quote} for a"
                " quote within a text"
            )
    pieces: list[str] = []
    end = 0
    for token in tokens:
        between = text[end : token.start]
        pieces.append(" " if pieces and between.strip(" ") else between if pieces else "")
        piece = text[token.start : token.end + 1]
        if control := re.search(
            CONTROLS, piece.replace("\n", "") if token.token_type == TokenType.IDENTIFIER else piece
        ):
            call = get_dialect(dialect).write_character(control[0])
            raise DisallowedSqlError(
                f"{argument}: {quote_excerpt(piece)} holds a control character. Write {call} in a"
                " text, or rename the column"
            )
        pieces.append(piece)
        end = token.end + 1
    return "".join(pieces)


def _parse_tree(text: str, dialect: str) -> exp.Expr | None:
    """Parse a text that is one expression; return None for others."""
    try:
        trees: list[Any] = sqlglot.parse(text, read=get_dialect(dialect).sqlglot_name)
    except SqlglotError:
        return None
    return trees[0] if len(trees) == 1 else None


def _read_expression(text: str, dialect: str, argument: str) -> tuple[str, exp.Expr | None]:
    """Return a text without comments, and the expression that it is, None if it is none."""
    try:
        text = _join_tokens(text, dialect, argument)
    except SqlglotError:
        return text, None
    tree = _parse_tree(text, dialect)
    return text, tree if isinstance(tree, _EXPRESSIONS) else None


def _read_without_brackets(text: str, dialect: str, argument: str) -> tuple[str, exp.Expr | None]:
    """Return the same without the brackets around the whole of it."""
    text, tree = _read_expression(text, dialect, argument)
    while isinstance(tree, exp.Paren) and not isinstance(tree.this, exp.Query):
        text, tree = _read_expression(text[1:-1], dialect, argument)
    return text, tree


def _as_text(source: str, tree: exp.Expr) -> ExpressionText:
    """Return an expression as the text that is written, with the columns that it reads."""
    columns = {
        column.parts[0].meta.get("start", -1): column
        for column in tree.find_all(exp.Column)
        if not _is_local(column)
    }
    if -1 in columns:
        raise DisallowedSqlError(
            f"{quote_excerpt(source)} names a column in a way that is not read here. Make a view"
            " with it"
        )
    return ExpressionText(
        source, tree, [columns[start] for start in sorted(columns)]
    )  # of a part that sqlglot copies, one


def _is_local(column: exp.Column) -> bool:
    """Return True for a variable of a list comprehension: ``x`` of ``[x.id FOR x IN
    retrieved]``.
    """
    comprehension = column.find_ancestor(exp.Comprehension)
    while comprehension is not None:
        if comprehension.expression.name == column.parts[0].name and not _is_within(
            column, comprehension.args["iterator"]
        ):
            return True
        comprehension = comprehension.find_ancestor(exp.Comprehension)
    return False


def _is_within(node: exp.Expr | None, tree: exp.Expr) -> bool:
    while node is not None and node is not tree:
        node = node.parent
    return node is not None


def _check_size(tree: exp.Expr, argument: str) -> None:
    """Check that an engine can read an expression in time. Literals of a list are not counted, and
    chains of AND or OR are one level.
    """
    num_terms, rest = 0, [(tree, 1)]
    while rest:
        node, depth = rest.pop()
        num_terms += 1
        if depth > MAX_DEPTH:
            raise DisallowedSqlError(
                f"{argument}: an expression of more than {MAX_DEPTH} operations in one another is"
                " too deep for engines. Make a view with it"
            )
        rest += [
            (child, depth + (type(child) is not type(node) or not isinstance(node, exp.Connector)))
            for child in node.iter_expressions()
            if not (
                isinstance(node, exp.In)
                and isinstance(child.this if isinstance(child, exp.Neg) else child, exp.Literal)
            )
        ]
    if num_terms > MAX_TERMS:
        raise DisallowedSqlError(
            f"{argument}: a condition of {num_terms:,} terms takes too long. At most {MAX_TERMS:,}"
            " are possible, where a list x IN (1, 2, ...) is one. Put the values into a table: the"
            " ids of queries into queries=, others into a view that joins them"
        )


def parse_expression(text: str, dialect: str) -> exp.Expr:
    """Parse an expression over columns, such as ``1 / propensity``; its columns are quoted.

    It is written in the SQL of the engine and runs as it is: ``DATE(ts)``. The node that is
    returned holds the text, unless that is the name of a column.

    Raises:
        InputError: The text is not an expression over the columns of one row.
    """
    source, tree = _read_expression(text, dialect, quote_excerpt(text))
    # Braces within braces, such as {{ x }}, are a name, of which parsers make a struct or a map.
    if tree is None or tree.find(*_REFUSED_IN_EXPRESSIONS) or text.startswith("{{"):
        if tree is not None and tree.find(exp.AggFunc, exp.Window):
            raise DisallowedSqlError(
                f"{quote_excerpt(text)} is no expression over the columns of one row, but an"
                f" aggregate of several. {_ADVICE}"
            )
        raise InputError(
            f"{text!r} is neither a column nor an expression over columns, such as 1 / propensity"
        )
    check_syntax(tree, repr(text), dialect)
    _check_size(tree, quote_excerpt(text))
    node = tree if isinstance(tree, exp.Column) else _as_text(source, tree).as_node()
    quote_columns(node, dialect)
    return node


def _find_unquoted_date(node: exp.Expr) -> str | None:
    """Return the date that a difference of three numbers was meant to be, None for other nodes."""
    if not isinstance(node, exp.Sub) or not isinstance(node.this, exp.Sub):
        return None
    parts = [
        number.name
        for number in (node.this.this, node.this.expression, node.expression)
        if number.is_int
    ]
    return "-".join(parts) if [len(part) for part in parts] == [4, 2, 2] else None


def parse_condition(where: str, dialect: str, argument: str = "where") -> exp.Expr:
    """Parse and validate a condition, which was passed as an argument of this name; the node holds
    its text.
    """
    source, tree = (
        _read_without_brackets(where, dialect, argument) if isinstance(where, str) else ("", None)
    )
    if tree is None or tree.find(*_REFUSED_IN_CONDITIONS):
        raise InputError(
            f"{argument}={where!r} is not one condition over columns in the SQL of {dialect}, such"
            " as day = '2026-01-01'"
        )
    for node in tree.walk():
        if date := _find_unquoted_date(node):
            raise InputError(
                f"{argument}: {date} is a difference of numbers. Write a date in single quotes,"
                f" '{date}'"
            )
    check_syntax(tree, argument, dialect)
    _check_size(tree, argument)
    return _as_text(source, tree).as_node()


def read_fields(
    column: exp.Column, fields: Sequence[exp.Expr], table: SourceTable
) -> exp.Expr | None:
    """Return a field of a struct in a column, such as ``result.ids``, None if the column has no
    such field.

    A field of a list of structs is the list of the fields of its elements.
    """
    duckdb_type = table.types.get(str(table.find_column(column.name))) or "UNKNOWN"
    kind = (
        exp.DataType.build(duckdb_type, dialect="duckdb")
        if "STRUCT(" in duckdb_type
        else exp.DataType.build("UNKNOWN")
    )
    source: exp.Expr = column
    value, elements = source, None
    for field in fields:
        if kind.this == exp.DType.ARRAY and elements is None:
            elements, value, kind = value, exp.to_identifier(ELEMENT), kind.expressions[0]
        kinds = (
            {item.name.lower(): item.args["kind"] for item in kind.expressions}
            if kind.this == exp.DType.STRUCT
            else {}
        )
        if field.name.lower() not in kinds:
            return None
        value, kind = (
            exp.Dot(
                this=exp.paren(value, copy=False) if value is source else value,
                expression=field.copy(),
            ),
            kinds[field.name.lower()],
        )
    if elements is not None:
        value = exp.Array(
            expressions=[
                exp.Comprehension(
                    this=value, expression=exp.to_identifier(ELEMENT), iterator=elements
                )
            ]
        )
    return value


def split_conjuncts(condition: exp.Expr, dialect: str) -> list[exp.Expr]:
    """Return the conditions that AND joins in a condition, each with its own text."""
    text: ExpressionText = condition.this
    if not isinstance(text.tree, exp.And):
        return [condition]
    pieces, start, depth, is_range = [], 0, 0, False
    for token in sqlglot.tokenize(text.source, read=get_dialect(dialect).sqlglot_name):
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth == 0 and token.token_type == TokenType.AND and not is_range:
            pieces.append(text.source[start : token.start])
            start = token.end + 1
        elif depth == 0 and token.token_type in {TokenType.AND, TokenType.BETWEEN}:
            is_range = token.token_type == TokenType.BETWEEN
    parsed = [
        _read_without_brackets(piece, dialect, "where") for piece in [*pieces, text.source[start:]]
    ]
    if [tree for _, tree in parsed] != [conjunct.unnest() for conjunct in text.tree.flatten()]:
        return [condition]
    return [_as_text(source, tree).as_node() for source, tree in parsed if tree is not None]


_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END)
