"""List the syntax that expressions of users may have, class by class with its arguments, and refuse any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import InputError, quote_excerpt
from sqlrank.query_text import write_tree
from sqlrank.rendering.dialects import get_dialect

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

_OPERATORS = (
    "Add Adjacent And Any ArrayContainedBy ArrayContainsAll ArrayOverlaps AtTimeZone Between BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr "
    "BitwiseRightShift BitwiseXor Bracket Case Cast Collate Comprehension DPipe Distance Div Dot EQ Escape ExtendsLeft ExtendsRight GT GTE Glob "
    "ILike If In IntDiv Is JSONArrayContains JSONBContains JSONBContainsAllTopKeys JSONBContainsAnyTopKeys JSONBContainsTopKey "
    "JSONBDeleteAtPath JSONBExtract JSONBExtractScalar JSONBPathExists JSONCast JSONExtract JSONExtractScalar Kwarg LT LTE Like Mod Mul NEQ Neg "
    "NestedJSONSelect Not NullSafeEQ NullSafeNEQ Or Overlaps Paren Pow RegexpFullMatch RegexpILike RegexpLike SimilarTo Slice Sub TryCast Tuple Xor"
)
_VALUES = (
    "Array Boolean ByteString Column DataType DataTypeParam HexString Identifier Interval IntervalSpan JSONPath JSONPathKey JSONPathRoot "
    "JSONPathSubscript JSONPathWildcard Literal National Null Parameter Placeholder Pseudocolumn RawString UnicodeString Var"
)
_FUNCTIONS = (
    "Abs ArrayContains ArrayPosition CaseSpecificColumnConstraint Ceil Chr Coalesce Concat ConcatWs Contains CurrentDate CurrentDatetime "
    "CurrentTime CurrentTimestamp Date DateAdd DateBin DateDiff DateFromParts DateStrToDate DateSub DateToDateStr DateTrunc Datetime DatetimeAdd "
    "DatetimeDiff DatetimeSub DatetimeTrunc Day DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Decode EndsWith Exp Extract FarmFingerprint Floor Greatest "
    "Hex Hour Initcap Int64 IsInf IsNan LastDay Least Left Length Ln Log Lower LowerHex MakeInterval MD5 Minute Month Nullif ParseJSON Quarter "
    "RegexpExtract RegexpReplace Replace Right Round SafeDivide Second SHA SHA2 Sign Split Sqrt StartsWith StrPosition StrToDate StrToTime "
    "StrToUnix StructExtract Substring Time TimeStrToDate TimeStrToTime TimeToStr TimeToUnix Timestamp TimestampAdd TimestampDiff "
    "TimestampFromParts TimestampSub TimestampTrunc ToChar ToNumber Trim Trunc Unhex TsOrDsAdd TsOrDsDiff TsOrDsToDate TsOrDsToDateStr "
    "TsOrDsToTimestamp Unicode UnixToTime Upper Week WeekOfYear Year"
)
_ALLOWED_NODES = frozenset(
    getattr(exp, name) for names in (_OPERATORS, _VALUES, _FUNCTIONS) for name in names.split() if hasattr(exp, name)
)
"""Allowed classes of nodes. A class that is derived from one of them is another."""

_NESTED = (exp.Struct, exp.Map, exp.VarMap, exp.ToMap)
"""Classes that make several values of one row, which messages name by what they are."""

_ALLOWED_CALLS = {
    "cityhash64", "crc32", "date", "date_part", "datepart", "dayname", "epoch", "epoch_ms", "farm_fingerprint", "getdate", "greatest", "hash",
    "instr", "intdiv", "intdivorzero", "isfinite", "isinf", "isnan", "julianday", "least", "len", "list_contains", "make_date",
    "make_timestamp", "mod", "monthname", "murmur_hash", "now", "prefix", "siphash64", "strftime", "strpos", "strptime", "substr", "suffix",
    "sysdate", "to_char", "to_date", "to_hex", "to_timestamp", "today", "todate", "todatetime", "todayofweek", "tohour", "tomonday", "tomonth",
    "tostartofday", "tostartofmonth", "tostartofweek", "tostring", "toyear", "toyyyymm", "toyyyymmdd", "unixepoch", "weekday", "xxhash64",
    "yesterday",
}  # fmt: skip
"""Allowed functions that have no class in sqlglot."""

_ALLOWED_TYPES = {
    "ARRAY", "BIGDECIMAL", "BIGINT", "BIGNUM", "BINARY", "BIT", "BLOB", "BOOLEAN", "BPCHAR", "CHAR", "DATE", "DATE32", "DATETIME",
    "DATETIME2", "DATETIME64", "DECFLOAT", "DECIMAL", "DECIMAL128", "DECIMAL256", "DECIMAL32", "DECIMAL64", "DOUBLE", "ENUM", "ENUM16",
    "ENUM8", "FIXEDSTRING", "FLOAT", "INET", "INT", "INT128", "INT256", "INTERVAL", "IPV4", "IPV6", "JSON", "JSONB", "LIST", "LONGTEXT",
    "LOWCARDINALITY", "MAP", "MEDIUMINT", "MONEY", "NAME", "NCHAR", "NULL", "NULLABLE", "NVARCHAR", "OBJECT", "SMALLDATETIME", "SMALLINT",
    "STRUCT", "SUPER", "TEXT", "TIME", "TIMESTAMP", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "TIMESTAMPTZ", "TIMESTAMP_MS", "TIMESTAMP_NS",
    "TIMESTAMP_S", "TIMETZ", "TIME_NS", "TINYINT", "UBIGINT", "UDECIMAL", "UDOUBLE", "UINT", "UINT128", "UINT256", "UMEDIUMINT",
    "USMALLINT", "UTINYINT", "UUID", "VARBINARY", "VARCHAR", "VARIANT", "YEAR",
}  # fmt: skip
"""Types to which a value may be cast. Those that users or a catalog define run code or look names up."""


_ADVICE = "Make a view with a column of it, and name that"


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
            raise DisallowedSqlError(f"{source}: {_write_excerpt(node, dialect)} calls a function by its schema. {_ADVICE}")
        elif problem := _find_disallowed_argument(node, dialect):
            raise DisallowedSqlError(f"{source}: {_write_excerpt(node, dialect)} {problem}")


def _find_disallowed_argument(node: Expr, dialect: str) -> str:
    """Return the problem of an allowed node with its arguments, empty if there is none."""
    if isinstance(node, exp.In):
        meaning = get_dialect(dialect).name_after_in
        is_bracketed_name = len(node.expressions) == 1 and isinstance(node.expressions[0].unnest(), exp.Column)
        reads_table = (node.args.get("field") and meaning != "list") or (is_bracketed_name and meaning == "bracketed_table")
        if reads_table or node.args.get("is_global") or node.args.get("unnest"):
            return "may read a table. Write the values as a list, such as x IN (1, 2)"
    elif isinstance(node, exp.Collate) and not isinstance(node.expression, (exp.Identifier, exp.Var)):
        return "names a collation by its schema. Name one of the engine"
    elif isinstance(node, exp.Any) and not (isinstance(node.parent, exp.Predicate) and node.parent.expression is node):
        return "is no value. Write it behind a comparison, such as x = ANY([1, 2])"
    elif isinstance(node, exp.DataType) and any(inner.this.name not in _ALLOWED_TYPES for inner in node.find_all(exp.DataType)):
        return f"is not among the types that a value may be cast to here. {_ADVICE}"
    return ""


def _refuse_function(name: str, source: str) -> None:
    advice = _ADVICE
    if name == "UNNEST":
        advice = "Give a row per query with lists as the input answers, or a query that calls it as the source"
    raise DisallowedSqlError(f"{source}: {name} is not among the functions that may be called here. {advice}")


def _write_excerpt(node: Expr, dialect: str) -> str:
    return quote_excerpt(write_tree(node, get_dialect(dialect).sqlglot_name))


def _function_name(node: exp.Func) -> str:
    text = write_tree(node)
    return text.partition("(")[0] if "(" in text else type(node).__name__
