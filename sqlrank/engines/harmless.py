"""What a condition or an expression of the caller's may call.

That is what computes with the values of a row, and nothing that reads files, looks at the machine, waits, or makes many values of one.
"""

from __future__ import annotations

from sqlglot import exp

from sqlrank.errors import InputError
from sqlrank.library.contract import ALLOWED

_OF_TREES = (
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
_NODES = tuple({*ALLOWED, *(getattr(exp, name) for name in _OF_TREES.split() if hasattr(exp, name))} - {exp.CountIf})

_NAMED = {
    "cityhash64", "crc32", "date", "date_part", "datepart", "dayname", "epoch", "epoch_ms", "farm_fingerprint", "greatest", "hash", "instr",
    "intdiv", "intdivorzero", "isfinite", "isinf", "isnan", "julianday", "least", "len", "list_contains", "make_date", "make_timestamp",
    "getdate", "mod", "monthname", "murmur_hash", "now", "prefix", "siphash64", "strftime", "strpos", "strptime", "substr", "suffix", "sysdate", "to_char", "to_date",
    "to_timestamp", "todate", "todatetime", "todayofweek", "tohour", "tomonday", "tomonth", "tostartofday", "tostartofmonth",
    "tostartofweek", "tostring", "toyear", "toyyyymm", "toyyyymmdd", "today", "unixepoch", "weekday", "xxhash64", "yesterday",
}  # fmt: skip
"""Functions that sqlglot has no class for."""


class RefusedError(InputError):
    """A condition or an expression that calls what it may not."""


def refuse_others(tree: exp.Expr, what: str) -> None:
    """Raise ``RefusedError`` for the first thing in a condition or expression that is not known to do no harm; ``what`` is its place."""
    for node in tree.walk():
        if isinstance(node, exp.Anonymous):
            if node.name.lower() not in _NAMED:
                _refuse(node.name, what)
        elif isinstance(node, exp.Func) and not isinstance(node, _NODES):
            _refuse(_name_of(node), what)
        elif not isinstance(node, _NODES):
            _refuse(type(node).__name__, what)


def _refuse(name: str, what: str) -> None:
    raise RefusedError(f"{what}: {name} is not among the functions that may be called here; make a view with a column of it, and name that")


def _name_of(node: exp.Func) -> str:
    text = node.sql("duckdb")
    return text.partition("(")[0] if "(" in text else type(node).__name__
