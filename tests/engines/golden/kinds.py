"""The kind of an expression (double, decimal, ...) in a dialect, as far as its text determines
it.
"""

from collections.abc import Iterable, Mapping

from sqlglot import exp

DOUBLE, INTEGER, DECIMAL, NULL, OTHER = "double", "integer", "decimal", "NULL", "other"
"""Kinds of expressions; None is an unknown kind, as of an input column."""

DIVIDES_TO_DOUBLE = frozenset({"bigquery", "clickhouse", "databricks", "duckdb", "spark"})
_AVERAGES_TO_DOUBLE = frozenset({"clickhouse", "duckdb", "sqlite"})
_AVERAGES_INTEGERS_TO_DOUBLE = _AVERAGES_TO_DOUBLE | {"bigquery", "databricks", "spark", "trino"}
_FLOORS_TO_INTEGER = frozenset({"databricks", "mysql", "spark"})
_RANDOM_INTEGERS = frozenset({"clickhouse", "snowflake", "sqlite"})
_KEEPS_DECIMAL = frozenset({"bigquery", "postgres", "redshift"})
_READS_DECIMAL_AS_DOUBLE = frozenset({"bigquery", "clickhouse", "sqlite"})
_READS_EXPONENT_AS_DOUBLE = _READS_DECIMAL_AS_DOUBLE | {
    "databricks", "duckdb", "mysql", "spark", "trino", "tsql",
}  # fmt: skip

_CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Greatest, exp.Least, exp.Min, exp.Max)
_COUNTS = (exp.Count, exp.CountIf, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)
_SPREADS = (exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Sum)
_LOGARITHMS = (exp.Ln, exp.Log, exp.Exp, exp.Sqrt, exp.Cbrt, exp.Pow)
_SHARES = (exp.Rand, exp.PercentRank, exp.CumeDist)
_SAME = (
    *(exp.Alias, exp.Paren, exp.Window, exp.Filter, exp.IgnoreNulls, exp.RespectNulls),
    *(exp.Neg, exp.Abs, exp.Round, exp.Nullif, exp.AnyValue, exp.ArgMax, exp.ArgMin),
    *(exp.FirstValue, exp.LastValue, exp.NthValue, exp.Lag, exp.Lead),
)
"""Expressions that have the kind of their first argument."""


def merge_kinds(kinds: Iterable[str | None], dialect: str) -> str | None:
    """Return the kind of an expression that takes one of several values: SQLite leaves each as it
    is, others convert them to one.
    """
    known = set(kinds) - {NULL}
    if DOUBLE in known and (dialect != "sqlite" or known == {DOUBLE}):
        return DOUBLE
    if len(known) < 2:
        return known.pop() if known else NULL
    return DECIMAL if DECIMAL in known and known <= {DECIMAL, INTEGER, None} else None


def infer_kind(node: exp.Expr, known: Mapping[int, str | None], dialect: str) -> str | None:
    """Return the kind of an expression, given those of the expressions in it by their ids."""
    parts = [known.get(id(part)) for part in node.iter_expressions()]
    if isinstance(node, exp.Cast):
        return _infer_type_kind(node.to)
    if isinstance(node, (exp.Literal, exp.Null)):
        return _infer_literal_kind(node, dialect)
    if isinstance(node, _SAME):
        return known.get(id(node.this))
    if isinstance(node, _CHOICES):
        return merge_kinds(
            (
                known.get(id(part))
                for part in node.iter_expressions()
                if part is not _get_condition(node)
            ),
            dialect,
        )
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Mod)):
        return DOUBLE if DOUBLE in parts else merge_kinds(parts, dialect)
    if isinstance(node, (exp.Div, exp.SafeDivide)):
        return DOUBLE if DOUBLE in parts or dialect in DIVIDES_TO_DOUBLE else None
    if isinstance(node, (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)):
        return OTHER
    return _infer_function_kind(node, parts, dialect)


def is_double(node: exp.Expr) -> bool:
    """Return True if an expression is a cast to double."""
    return isinstance(node, exp.Cast) and _infer_type_kind(node.to) == DOUBLE


def _get_condition(node: exp.Expr) -> exp.Expr | None:
    return node.this if isinstance(node, (exp.Case, exp.If)) else None


def _infer_type_kind(node: exp.DataType) -> str:
    if node.is_type(exp.DType.DOUBLE):
        return DOUBLE
    if node.this in exp.DataType.INTEGER_TYPES:
        return INTEGER
    return DECIMAL if node.is_type(exp.DType.DECIMAL, exp.DType.BIGDECIMAL) else OTHER


def _infer_literal_kind(node: exp.Expr, dialect: str) -> str:
    if isinstance(node, exp.Null):
        return NULL
    if node.is_string or node.name.isdigit():
        return OTHER if node.is_string else INTEGER
    is_double = dialect in (
        _READS_EXPONENT_AS_DOUBLE if "e" in node.name.lower() else _READS_DECIMAL_AS_DOUBLE
    )
    return DOUBLE if is_double else DECIMAL


def _infer_function_kind(node: exp.Expr, parts: list[str | None], dialect: str) -> str | None:
    if isinstance(node, _COUNTS):
        return INTEGER
    if isinstance(node, _SHARES):
        return (
            DOUBLE if not isinstance(node, exp.Rand) or dialect not in _RANDOM_INTEGERS else INTEGER
        )
    if isinstance(node, (exp.Floor, exp.Ceil)):
        return INTEGER if dialect in _FLOORS_TO_INTEGER else parts[0]
    if isinstance(node, exp.Avg):
        return (
            DOUBLE
            if parts == [DOUBLE]
            or dialect
            in (_AVERAGES_INTEGERS_TO_DOUBLE if parts == [INTEGER] else _AVERAGES_TO_DOUBLE)
            else None
        )
    if isinstance(node, _LOGARITHMS):
        # an input's column may be a decimal in any of them; of those of BigQuery it is taken to be
        # a double
        is_decimal = DECIMAL in parts or (None in parts and dialect != "bigquery")
        return None if dialect in _KEEPS_DECIMAL and is_decimal and DOUBLE not in parts else DOUBLE
    return DOUBLE if isinstance(node, _SPREADS) and parts == [DOUBLE] else None
