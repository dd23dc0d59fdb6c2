"""Rewrite trees for a dialect: casts and literals of doubles, divisions, NaN and infinity, arrays, NULLs in comparisons and sort orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.constant_folding import literal_value
from sqlrank.optimizer.optimizer import optimize_statement
from sqlrank.optimizer.statement_graph import outermost_query, union_members
from sqlrank.optimizer.subquery_elimination import lift_user_queries
from sqlrank.rendering.dialect_idioms import rewrite_hex_numbers, rewrite_number_series
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.double_inference import DoubleInference
from sqlrank.rendering.grouping_sets import write_grouping_sets
from sqlrank.rendering.list_elements import rewrite_list_elements
from sqlrank.rendering.materialization import materialize_shared_ctes
from sqlrank.rendering.named_windows import name_frames
from sqlrank.rendering.quantiles import rewrite_quantiles
from sqlrank.sql_ast import BIGINT, DOUBLE, find_nodes, is_null

if TYPE_CHECKING:
    from sqlrank.rendering.dialects import Dialect


_WIDENING = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.NEQ)
"""Operators that make a decimal number a double where the other operand is one."""

_SEARCHED_SELECTS = ("bigquery", "snowflake", "trino")
"""Dialects in which sqlglot searches the items of FROM for arrays, which it cannot in the text of a user's query."""

MAX_DECIMAL_LENGTH = 15
"""Length of decimal literals up to which all their digits are exact in a double."""

ELEMENT_COLUMN, OFFSET_COLUMN = "entry", "entry_place"


def rewrite_arrays(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite ordered array aggregation and array search in place for a dialect."""
    for aggregate in find_nodes(tree, exp.ArrayAgg) if not target.supports_ordered_array_agg else ():
        _sort_array(aggregate)
    for search in find_nodes(tree, exp.ArrayPosition) if not target.supports_array_position else ():
        search.replace(_search_array(search.this, search.expression))


def _sort_array(aggregate: exp.ArrayAgg) -> None:
    """Sort an array of structs in descending order and extract the aggregated field.

    The field is accessed by name instead of a lambda: Spark does not compile expressions over lambdas, including their sort.
    """
    order = aggregate.this
    columns = [term.this for term in order.expressions]
    fields = [exp.PropertyEQ(this=column.this.copy(), expression=column) for column in columns]
    pairs = exp.ArrayAgg(this=exp.Struct(expressions=fields), nulls_excluded=True)
    ordered = exp.Anonymous(this="SORT_ARRAY", expressions=[pairs, exp.false()])  # sqlglot 30.8 writes ARRAY_SORT, which ascends
    aggregate.replace(exp.Dot(this=ordered, expression=order.this.this.copy()))


def _search_array(array: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Return the 1-based position of a value in an array as a subquery."""
    rows = exp.Unnest(
        expressions=[array], alias=exp.TableAlias(columns=[exp.to_identifier(ELEMENT_COLUMN)]), offset=exp.to_identifier(OFFSET_COLUMN)
    )
    position = exp.Add(this=exp.Min(this=exp.column(OFFSET_COLUMN)), expression=exp.Literal.number(1))
    return exp.select(position).from_(rows).where(exp.EQ(this=exp.column(ELEMENT_COLUMN), expression=value)).subquery()


def rewrite_for_dialect(tree: exp.Expr, dialect: str, statement_title: str = "this", can_materialize: bool = False) -> exp.Expr:
    """Return a copy of a tree, rewritten for a dialect."""
    target = get_dialect(dialect)
    tree = tree.copy()
    optimize_statement(tree)
    if target.sqlglot_name in _SEARCHED_SELECTS and (query := outermost_query(tree)) is not None:
        lift_user_queries(query)
    rewrite_quantiles(tree, target)
    if target.supports_grouping_sets:
        write_grouping_sets(tree)
    rewrite_number_series(tree, target)
    rewrite_hex_numbers(tree, target)
    rewrite_list_elements(tree, target, statement_title)
    materialize_shared_ctes(tree, target, can_materialize)
    if target.is_file_dialect:
        _mark_extremes(tree)
        _rewrite_is_nan(tree)
        _write_double_literals(tree)
    else:
        _rewrite_portably(tree, target)
    if target.supports_window_clause:
        name_frames(tree)
    return tree


def _mark_extremes(tree: exp.Expr) -> None:
    """Let sqlglot write LEAST and GREATEST as such: they ignore NULLs in DuckDB, which values that they choose from are not."""
    for extreme in find_nodes(tree, exp.Greatest, exp.Least):
        extreme.set("ignore_nulls", True)  # noqa: FBT003  sqlglot's flag


def _rewrite_is_nan(tree: exp.Expr) -> None:
    """Rewrite tests for NaN with ISFINITE.

    DuckDB answers ISNAN from the minimum and maximum in Parquet metadata, which ignore NaN.
    """
    for test in find_nodes(tree, exp.IsNan):
        is_not_finite: exp.Expr = exp.not_(exp.func("ISFINITE", test.this))
        parent = test.parent
        if isinstance(parent, exp.Or) and parent.expression == exp.IsInf(this=test.this):
            parent.replace(is_not_finite)
        else:
            test.replace(exp.paren(exp.and_(is_not_finite, exp.not_(exp.IsInf(this=test.this.copy())))))


def _write_double_literals(tree: exp.Expr) -> None:
    """Write decimal literals with an exponent, and drop casts of doubles.

    The exponent makes them doubles in DuckDB.
    """
    for literal in _find_decimals(tree):
        literal.set("this", _with_exponent(literal.this))
    for division in find_nodes(tree, exp.Div):
        _drop_operand_casts(division)
    doubles = DoubleInference(get_dialect("duckdb"))
    doubles.annotate(tree)
    _drop_casts(tree, doubles)
    _shorten_literals(tree, doubles)
    _drop_parentheses(tree, get_dialect("duckdb"))


def _with_exponent(number: str) -> str:
    return number if "e" in number.lower() else f"{number.removesuffix('.0')}e0"


def _rewrite_portably(tree: exp.Expr, target: Dialect) -> None:
    _rewrite_nan_and_infinity(tree, target)
    rewrite_arrays(tree, target)
    if target.required_settings:
        _rewrite_for_clickhouse(tree)
    for literal in _find_decimals(tree) if not target.decimal_literals_are_double else ():
        if target.exponent_literals_are_double:
            literal.set("this", _with_exponent(literal.this))
        else:
            # As text if there is an exponent: 1e250 may be read as a decimal number with too few digits.
            literal.replace(exp.cast(exp.Literal.string(literal.this) if "e" in literal.this.lower() else literal.copy(), "DOUBLE"))
    _cast_divisions(tree, target)
    if not target.supports_is_not_distinct_from:
        _compare_nulls(tree)
    for search in find_nodes(tree, exp.StrPosition) if target.uses_position_function else ():
        argument = exp.In(this=search.args["substr"], field=search.this)
        search.replace(exp.Anonymous(this="POSITION", expressions=[argument]))
    _rewrite_window_order(tree, target)
    if target.required_settings:
        query = tree.expression if isinstance(tree, exp.DDL) else tree
        has_materialized = any(cte.args.get("materialized") for cte in find_nodes(tree, exp.CTE))
        settings = [*target.required_settings, *([target.materialize_setting] if has_materialized and target.materialize_setting else [])]
        query.set("settings", [exp.EQ(this=exp.var(name), expression=exp.Literal.number(1)) for name in settings])


def _rewrite_window_order(tree: exp.Expr, target: Dialect) -> None:
    """Write the terms that windows sort by as the engine sorts them."""
    for window in find_nodes(tree, exp.Window):
        for term in window.args["order"].expressions if window.args.get("order") else ():
            # No file sorts by nullable expressions, and not every engine supports NULLS FIRST there.
            term.set("nulls_first", target.default_nulls_first[bool(term.args.get("desc"))])
            if not target.sorts_by_monotone_functions and term.find(exp.Exp, exp.Ln):
                term.set("this", exp.Coalesce(this=term.this, expressions=[exp.null()]))


def _cast_divisions(tree: exp.Expr, target: Dialect) -> None:
    """Cast the operands of divisions and logarithms to double where the engine needs it."""
    doubles = DoubleInference(target)
    doubles.annotate(tree)
    for division in find_nodes(tree, exp.Div):
        if target.int_division_is_double:
            _drop_operand_casts(division)
        elif not (doubles.is_double(division.this) or doubles.is_double(division.expression)):
            _cast_argument(division, "expression" if isinstance(division.expression, exp.Literal) else "this")
        division.set("typed", True)  # noqa: FBT003  sqlglot's flag: one side is a double, so no cast is added
        division.set("safe", False)  # noqa: FBT003  a zero denominator is NULL already, through NULLIF
    for function in find_nodes(tree, exp.Ln, exp.Exp, exp.Sqrt, exp.Avg):
        if not (target.int_division_is_double or doubles.is_double(function.this)):
            _cast_argument(function, "this")
    _drop_casts(tree, doubles)
    _shorten_literals(tree, doubles)
    _drop_parentheses(tree, target)


def _drop_operand_casts(division: exp.Div) -> None:
    """Drop the casts of a division's operands, where the engine casts them."""
    is_guarded = isinstance(division.expression, exp.Nullif)
    for node, argument in ((division, "this"), (division.expression if is_guarded else division, "this" if is_guarded else "expression")):
        while isinstance(cast := node.args[argument], exp.Cast) and cast.is_type(DOUBLE) and not isinstance(cast.this, exp.Literal):
            node.set(argument, exp.paren(cast.this, copy=False) if isinstance(cast.this, exp.Binary) else cast.this)


def _drop_casts(tree: exp.Expr, doubles: DoubleInference) -> None:
    """Drop casts of doubles to double."""
    for cast in find_nodes(tree, exp.Cast):
        if cast.is_type(DOUBLE) and doubles.is_double(cast.this.unnest()):
            inner = cast.this.unnest()
            is_operand = isinstance(cast.parent, (exp.Binary, exp.Neg)) and isinstance(inner, (exp.Binary, exp.Neg))
            place: exp.Expr = cast
            if isinstance(inner, exp.Column) and isinstance(cast.parent, exp.Alias) and cast.parent.args["alias"] == inner.this:
                place = cast.parent  # the alias says nothing without the cast
                inner.comments = place.comments
            place.replace(exp.paren(inner, copy=False) if is_operand else inner)


def _shorten_literals(tree: exp.Expr, doubles: DoubleInference) -> None:
    """Write literals beside a double without exponent and cast: every engine makes them the same double there.

    A decimal number of few digits is an integer divided by a power of ten, which is rounded as its text is.
    """
    for literal in find_nodes(tree, exp.Literal):
        number = literal.this.removesuffix("e0")
        if literal.is_string or "e" in number.lower() or len(number) > MAX_DECIMAL_LENGTH:
            continue
        is_cast = isinstance(literal.parent, exp.Cast) and literal.parent.is_type(DOUBLE)
        if not is_cast and number == literal.this:
            continue
        operand: Any = literal.parent if is_cast else literal
        if any(doubles.is_double(other) and literal_value(other) is None for other in _find_alternatives(operand, doubles)):
            operand.replace(exp.Literal.number(number))


def _find_alternatives(operand: exp.Expr, doubles: DoubleInference) -> list[exp.Expr]:
    """Return the other operands of an operator or choice, whose type an operand has, too; SQLite leaves each choice its own."""
    user: Any = operand.parent
    if isinstance(user, _WIDENING):
        return [user.expression if user.this is operand else user.this]
    user, operand = (user.parent, user) if isinstance(user, exp.If) and operand.arg_key == "true" else (user, operand)
    if doubles.target.is_dynamically_typed or (isinstance(user, exp.Case) and operand.arg_key == "this"):
        return []
    if isinstance(user, exp.Case):
        values = [branch.args["true"] for branch in user.args["ifs"] if branch is not operand]
        return values if operand.arg_key == "default" else [value for value in (*values, user.args.get("default")) if value is not None]
    if isinstance(user, (exp.Coalesce, exp.Greatest, exp.Least)):
        return [value for value in (user.this, *user.expressions) if value is not operand]
    return _find_union_values(operand)


def _find_union_values(value: exp.Expr) -> list[exp.Expr]:
    """Return the values of a column in the other SELECTs of a UNION."""
    item: Any = value.parent if isinstance(value.parent, exp.Alias) else value
    select: Any = item.parent
    if not (isinstance(select, exp.Select) and item.arg_key == "expressions" and isinstance(select.parent, exp.Union)):
        return []
    union = select.parent
    while isinstance(union.parent, exp.Union):
        union = union.parent
    others = [member for member in union_members(union) if member is not select]
    return [member.expressions[item.index].unalias() for member in others if len(member.expressions) == len(select.expressions)]


_NEEDS_NO_PARENS = (
    exp.Alias,
    exp.AggFunc,
    exp.Abs,
    exp.Coalesce,
    exp.Nullif,
    exp.Ln,
    exp.Exp,
    exp.Sqrt,
    exp.If,
    exp.Cast,
    exp.Join,
    exp.Paren,
)
"""Parents whose operands need no parentheses."""


def _drop_parentheses(tree: exp.Expr, target: Dialect) -> None:
    """Drop parentheses that operator precedence makes unnecessary."""
    for paren in find_nodes(tree, exp.Paren):
        inner = paren.this
        is_atom = isinstance(inner, (exp.Column, exp.Literal, exp.Paren)) or (
            isinstance(inner, exp.Func) and not isinstance(inner, exp.Binary)
        )
        is_null_safe = isinstance(inner, exp.NullSafeEQ) and isinstance(paren.parent, exp.And) and not target.and_binds_before_is_distinct
        if is_atom or is_null_safe or isinstance(paren.parent, _NEEDS_NO_PARENS):
            paren.replace(inner)


def _compare_nulls(tree: exp.Expr) -> None:
    """Rewrite ``a IS NOT DISTINCT FROM b`` portably."""
    for equality in find_nodes(tree, exp.NullSafeEQ):
        both_null = exp.and_(*(is_null(operand.copy()) for operand in (equality.this, equality.expression)))
        equality.replace(exp.paren(exp.or_(exp.EQ(this=equality.this, expression=equality.expression), both_null), copy=False))


def _find_decimals(tree: exp.Expr) -> list[exp.Literal]:
    return [literal for literal in find_nodes(tree, exp.Literal) if literal.is_number and not literal.is_int]


def _rewrite_nan_and_infinity(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite infinity, and the tests for infinity and NaN, for an engine."""
    for infinite in find_nodes(tree, exp.IsInf):
        infinite.replace(exp.EQ(this=exp.Abs(this=infinite.this), expression=exp.cast(exp.Literal.string("inf"), "DOUBLE")))
    for test in find_nodes(tree, exp.IsNan):
        if not target.supports_nan:
            test.replace(exp.false())
        elif target.nan_function:
            test.replace(exp.Anonymous(this=target.nan_function, expressions=[test.this]))
        else:
            test.replace(exp.EQ(this=test.this, expression=exp.cast(exp.Literal.string("NaN"), "DOUBLE")))
    for cast in find_nodes(tree, exp.Cast):
        if target.infinity and cast.this.is_string and cast.this.name in {"inf", "-inf"}:
            infinity = exp.var(target.infinity)
            cast.replace(exp.Neg(this=infinity) if cast.this.name == "-inf" else infinity)


def _cast_argument(node: exp.Expr, argument: str) -> None:
    # Not a copy, because nested divisions are rewritten later.
    node.set(argument, exp.cast(node.args[argument].unnest(), DOUBLE, copy=False))


def _rewrite_for_clickhouse(tree: exp.Expr) -> None:
    """Name the columns of joins (else ``l.query_id``) and cast integers to double for ClickHouse.

    ClickHouse has no common type of integers and doubles.
    """
    for select in find_nodes(tree, exp.Select):
        if select.args.get("joins"):
            for column in [column for column in select.expressions if isinstance(column, exp.Column) and not column.is_star]:
                column.replace(exp.alias_(column.copy(), column.name, quoted=column.this.quoted))
    for data_type in find_nodes(tree, exp.DataType):
        if data_type.is_type(BIGINT) and data_type.find_ancestor(exp.CTE):
            data_type.replace(exp.DataType.build(DOUBLE))
    for count in find_nodes(tree, exp.Count, exp.RowNumber, exp.Rank, exp.DenseRank):
        expression = count.parent if isinstance(count.parent, exp.Window) else count
        expression.replace(exp.cast(expression.copy(), DOUBLE))
    for function in find_nodes(tree, exp.CumeDist):
        function.replace(exp.Anonymous(this="cume_dist"))
