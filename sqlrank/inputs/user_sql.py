"""Parse expressions and conditions of users, refuse functions that are not allowed, and compact long lists of literals to one node."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlrank.engines.identifiers import quote_columns
from sqlrank.errors import InputError
from sqlrank.registry.contract import PORTABLE_NODES
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import find_nodes

_ALLOWED_NODE_NAMES = (
    "Any Array ArrayContains Between Binary Bracket Boolean CaseSpecificColumnConstraint Ceil Collate Concat ConcatWs Contains CurrentDate "
    "CurrentDatetime CurrentTime CurrentTimestamp Date DateAdd DateDiff DateFromParts DateStrToDate DateSub DateToDateStr DateTrunc Datetime "
    "DatetimeAdd DatetimeDiff DatetimeSub DatetimeTrunc Day DayOfMonth DayOfWeek DayOfWeekIso DayOfYear EndsWith Extract Greatest Hex Hour "
    "ILike Initcap Int64 Interval IntervalSpan IsInf IsNan JSONExtract JSONExtractScalar JSONPath JSONPathKey JSONPathRoot JSONPathSubscript "
    "LastDay Least Left Length Like Ln Log Lower MD5 Minute Mod Month Parameter ParseJSON Pow Quarter RegexpExtract RegexpFullMatch RegexpILike "
    "RegexpLike RegexpReplace Replace Right Round SafeDivide Second SHA SHA2 Sign Split StartsWith StrPosition StrToDate StrToTime StrToUnix "
    "Substring Time TimeStrToDate TimeStrToTime TimeToStr TimeToUnix Timestamp TimestampAdd TimestampDiff TimestampFromParts TimestampSub "
    "TimestampTrunc ToChar ToNumber Trim Trunc TryCast TsOrDsAdd TsOrDsDiff TsOrDsToDate TsOrDsToDateStr TsOrDsToTimestamp Tuple Unary Unicode "
    "UnixToTime Upper Var Week WeekOfYear Xor Year FarmFingerprint DataTypeParam StructExtract CountIf AtTimeZone Escape DateBin MakeInterval"
)
_ALLOWED_NODES = tuple(
    {*PORTABLE_NODES, *(getattr(exp, name) for name in _ALLOWED_NODE_NAMES.split() if hasattr(exp, name))} - {exp.CountIf}
)

_ALLOWED_FUNCTIONS = {
    "cityhash64", "crc32", "date", "date_part", "datepart", "dayname", "epoch", "epoch_ms", "farm_fingerprint", "greatest", "hash", "instr",
    "intdiv", "intdivorzero", "isfinite", "isinf", "isnan", "julianday", "least", "len", "list_contains", "make_date", "make_timestamp",
    "getdate", "mod", "monthname", "murmur_hash", "now", "prefix", "siphash64", "strftime", "strpos", "strptime", "substr", "suffix", "sysdate", "to_char", "to_date",
    "to_timestamp", "todate", "todatetime", "todayofweek", "tohour", "tomonday", "tomonth", "tostartofday", "tostartofmonth",
    "tostartofweek", "tostring", "toyear", "toyyyymm", "toyyyymmdd", "today", "unixepoch", "weekday", "xxhash64", "yesterday",
}  # fmt: skip
"""Allowed functions that have no class in sqlglot."""

_REFUSED_IN_CONDITIONS = (exp.Alias, exp.AggFunc, exp.Query, exp.Star, exp.Window)
_REFUSED_IN_EXPRESSIONS = (*_REFUSED_IN_CONDITIONS, exp.Placeholder, exp.Parameter, exp.Struct, exp.Map, exp.VarMap, exp.ToMap)


class DisallowedSqlError(InputError):
    """Error for a disallowed function in a condition or expression."""


def check_allowed_functions(tree: exp.Expr, source: str) -> None:
    """Check that a condition or expression only calls allowed functions.

    Args:
        tree: The condition or expression.
        source: The argument that contains it, for the message.

    Raises:
        DisallowedSqlError: The first disallowed function or construct.
    """
    for node in tree.walk():
        if isinstance(node, exp.Anonymous):
            if node.name.lower() not in _ALLOWED_FUNCTIONS:
                _refuse_function(node.name, source)
        elif isinstance(node, exp.Func) and not isinstance(node, _ALLOWED_NODES):
            _refuse_function(_function_name(node), source)
        elif not isinstance(node, _ALLOWED_NODES):
            _refuse_function(type(node).__name__, source)


def _refuse_function(name: str, source: str) -> None:
    advice = "Make a view with a column of it, and name that"
    if name == "UNNEST":
        advice = "Give a row per query with lists as the input answers, or a query that calls it as the source"
    raise DisallowedSqlError(f"{source}: {name} is not among the functions that may be called here. {advice}")


def _function_name(node: exp.Func) -> str:
    text = node.sql("duckdb")
    return text.partition("(")[0] if "(" in text else type(node).__name__


MIN_LITERALS = 100
"""Number of literals from which a list becomes one node."""


def compact_literals(tree: exp.Expr, dialect: str) -> exp.Expr:
    """Return a condition in which each long list of literals is a single node.

    The tree is changed in place.

    >>> compact_literals(exp.column("x").isin(*range(200)), "duckdb").sql()[:18]
    'x IN (0, 1, 2, 3, '
    """
    for chain in find_nodes(tree, exp.Or):
        if not isinstance(chain.parent, exp.Or) and (merged := _merge_equalities(chain)) is not None:
            tree = merged if chain is tree else tree
            chain.replace(merged)
    for membership in find_nodes(tree, exp.In):
        literals = membership.expressions
        if len(literals) >= MIN_LITERALS and all(map(_is_literal, literals)):
            text = _to_text(literals, dialect)
            membership.set("expressions", literals if text is None else [exp.var(text)])
    return tree


def _merge_equalities(chain: exp.Or) -> exp.Expr | None:
    """Merge ``x = 1 OR x = 2 ...`` into ``x IN (1, 2, ...)``.

    Returns None for short chains. Each list contains either integers or texts only, because engines compare mixed lists as one type.
    """
    operands = list(chain.flatten())
    if len(operands) < MIN_LITERALS:
        return None
    groups: dict[tuple[exp.Expr, bool], list[exp.Expr]] = defaultdict(list)
    rest = []
    for operand in operands:
        left_operand, right_operand = (operand.this, operand.expression) if isinstance(operand, exp.EQ) else (None, None)
        if (
            isinstance(left_operand, exp.Column)
            and isinstance(right_operand, exp.Literal)
            and (right_operand.is_string or right_operand.is_int)
        ):
            groups[left_operand, right_operand.is_string].append(right_operand)
        else:
            rest.append(operand)
    return exp.or_(*(exp.In(this=column, expressions=literals) for (column, _), literals in groups.items()), *rest, copy=False)


def _is_literal(node: exp.Expr) -> bool:
    return isinstance(node.this if isinstance(node, exp.Neg) else node, exp.Literal)


def _to_text(literals: list[exp.Expr], dialect: str) -> str | None:
    """Render literals as text in a dialect, or None if its decimal numbers need casts."""
    target = get_dialect(dialect)
    for literal in literals:
        unsigned = literal.this if isinstance(literal, exp.Neg) else literal
        if unsigned.is_string or unsigned.is_int or target.decimal_literals_are_double:
            continue
        if not target.exponent_literals_are_double:
            return None
        unsigned.set("this", unsigned.this if "e" in unsigned.this.lower() else f"{unsigned.this}e0")
    return exp.Tuple(expressions=literals).sql(target.sqlglot_name, copy=False)[1:-1]


def parse_expression(text: str, dialect: str = "duckdb") -> exp.Expr:
    """Parse an expression over columns, such as ``1 / propensity``; its columns are quoted.

    It is written in the SQL of the engine and run unchanged: ``DATE(ts)``.

    Raises:
        InputError: The text is not an expression over the columns of one row.
    """
    try:
        trees: list[Any] = sqlglot.parse(text, read=get_dialect(dialect).sqlglot_name)
    except SqlglotError:
        trees = []
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, (exp.Condition, exp.Paren)) or tree.find(*_REFUSED_IN_EXPRESSIONS):
        raise InputError(f"{text!r} is neither a column nor an expression over columns, such as 1 / propensity")
    for call in tree.find_all(exp.Func):
        if not isinstance(call, exp.Connector):
            check_allowed_functions(exp.Tuple(expressions=[call.copy()]), repr(text))
    for node in tree.walk():
        node.pop_comments()
    quote_columns(tree, dialect)
    return exp.paren(tree) if isinstance(tree, exp.Binary) else tree


def _find_unquoted_date(node: exp.Expr) -> str | None:
    """Return the date that a difference of three numbers was meant to be, None for other nodes."""
    if not isinstance(node, exp.Sub) or not isinstance(node.this, exp.Sub):
        return None
    parts = [number.name for number in (node.this.this, node.this.expression, node.expression) if number.is_int]
    return "-".join(parts) if [len(part) for part in parts] == [4, 2, 2] else None


MAX_TERMS = 10_000
"""Maximum number of nodes of a condition, which takes about a second to write."""


def parse_condition(where: str, dialect: str, argument: str = "where") -> exp.Expr:
    """Parse and validate a condition, which was passed as an argument of this name."""
    try:
        trees: list[Any] = sqlglot.parse(where, read=get_dialect(dialect).sqlglot_name) if isinstance(where, str) else []
    except SqlglotError:
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], (exp.Condition, exp.Paren)) or trees[0].find(*_REFUSED_IN_CONDITIONS):
        raise InputError(f"{argument}={where!r} is not one condition over columns in the SQL of {dialect}, such as day = '2026-01-01'")
    for node in trees[0].walk():
        node.pop_comments()
        if date := _find_unquoted_date(node):
            raise InputError(f"{argument}: {date} is a difference of numbers. Write a date in single quotes, '{date}'")
    check_allowed_functions(trees[0], argument)
    tree = compact_literals(trees[0].unnest(), dialect)
    if (num_nodes := sum(1 for _ in tree.walk())) > MAX_TERMS:
        raise InputError(
            f"{argument}: a condition of {num_nodes:,} terms takes too long. At most {MAX_TERMS:,} are possible, where a list x IN (1, 2, ...) is one. "
            "Put the values into a table: the ids of queries into queries=, others into a view that joins them"
        )
    return tree
