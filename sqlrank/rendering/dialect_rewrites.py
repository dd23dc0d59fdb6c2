"""Rewrite trees for a dialect: casts and divisions of doubles, series, hexadecimal numbers, quantiles and window frames."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.constants import literal_value
from sqlrank.optimizer.merging import lift_user_queries
from sqlrank.optimizer.optimizer import optimize_statement
from sqlrank.optimizer.statement_graph import outermost_query, union_members
from sqlrank.query_text import expression_text
from sqlrank.rendering.cte_rewrites import materialize_shared_ctes, write_grouping_sets
from sqlrank.rendering.dialects import Dialect, get_dialect
from sqlrank.rendering.list_rewrites import rewrite_list_elements
from sqlrank.sql_ast import BIGINT, DOUBLE, call_function, case_when, find_nodes, is_null, source_names, sql_literal
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


ColumnTypes = dict[str, bool]
"""Columns of a CTE by name, True for doubles."""

_TYPE_PRESERVING = (
    exp.Sum,
    exp.Min,
    exp.Max,
    exp.Neg,
    exp.Abs,
    exp.Paren,
    exp.Nullif,
    exp.Window,
    exp.Lead,
    exp.LastValue,
    exp.IgnoreNulls,
    exp.Alias,
)
"""Expressions that are doubles if their first argument is one."""

_ALWAYS_DOUBLE = (
    exp.Div,
    exp.Ln,
    exp.Exp,
    exp.Sqrt,
    exp.Avg,
    exp.CumeDist,
    exp.PercentileCont,
    exp.WithinGroup,
    exp.Quantile,
    exp.ParameterizedAgg,
)
"""Expressions that are always doubles; divisions are rewritten accordingly."""


class DoubleInference:
    """Inferred doubles of a statement; ``annotate`` processes its CTEs in order.

    sqlglot's ``annotate_types`` takes 6 to 21 times as long, and knows no types of columns that are doubles by the contract of files.

    >>> import sqlglot
    >>> from sqlrank.rendering.dialects import get_dialect
    >>> inference = DoubleInference(get_dialect("bigquery"))
    >>> inference.annotate(sqlglot.parse_one("WITH a AS (SELECT 1 / n AS share, COUNT(*) AS num FROM t) SELECT SUM(share) FROM a"))
    >>> inference.cte_types
    {'a': {'share': True, 'num': False}}
    """

    def __init__(self, target: Dialect) -> None:
        self.target = target
        self.cte_types: dict[str, ColumnTypes] = {}
        self._scopes: dict[int, Mapping[str, ColumnTypes]] = {}

    def annotate(self, tree: exp.Expr) -> None:
        """Infer the doubles of every CTE and subquery."""
        with_ = tree.find(exp.With)
        for cte in with_.expressions if with_ else ():
            self.cte_types[cte.alias] = self._infer_query(cte.this)
        body = tree.expression if isinstance(tree, (exp.DDL, exp.Insert)) else tree
        if isinstance(body, exp.Query):
            self._infer_query(body)

    def _infer_query(self, query: exp.Expr) -> ColumnTypes:
        if isinstance(query, exp.Union):
            branches: list[list[bool]] = []
            while isinstance(query, exp.Union):
                columns = self._infer_query(query.right)
                # Later branches of a UNION are matched by position, so that names of their columns may repeat.
                branches.append(list(columns.values()) if query.right.is_star else [self.is_double(item) for item in query.right.selects])
                query = query.left
            columns = self._infer_query(query)
            return dict(zip(columns, map(any, zip(columns.values(), *branches, strict=True)), strict=True))
        if not isinstance(query, exp.Select):
            return {}
        scope: dict[str, ColumnTypes] = {}
        for clause in (query.args.get("from_"), *(query.args.get("joins") or [])):
            if clause is not None:
                source = clause.this
                source_columns = self._infer_query(source.this) if isinstance(source, exp.Subquery) else self.cte_types.get(source.name, {})
                scope[source.alias_or_name] = source_columns
        self._scopes[id(query)] = scope
        if query.is_star:
            return {name: is_double for columns in scope.values() for name, is_double in columns.items()}
        return {select_item.alias_or_name: self.is_double(select_item) for select_item in query.expressions}

    def is_double(self, node: exp.Expr | None) -> bool:
        """Return True if an expression is a double in this dialect."""
        if node is None:
            return False
        if isinstance(node, exp.Column):
            return node.is_type(DOUBLE) or self._is_double_column(node)
        if isinstance(node, exp.Cast) or expression_text(node) is not None:
            return node.is_type(DOUBLE)
        if isinstance(node, _ALWAYS_DOUBLE):
            return True
        if isinstance(node, exp.Literal):
            return self._is_double_literal(node)
        if isinstance(node, _TYPE_PRESERVING):
            return self.is_double(node.this)
        if isinstance(node, (exp.Add, exp.Sub, exp.Mul)):
            return self.is_double(node.this) or self.is_double(node.expression)
        if isinstance(node, (exp.Coalesce, exp.Greatest, exp.Least)):
            return self._has_double_branch([node.this, *node.expressions])
        if isinstance(node, exp.Case):
            return self._has_double_branch([*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")])
        return isinstance(node, exp.Floor) and self.target.floor_returns_double and self.is_double(node.this)

    def _has_double_branch(self, nodes: list[exp.Expr | None]) -> bool:
        """Return True if a CASE, COALESCE, GREATEST or LEAST is a double: if any branch is.

        In dynamically typed SQLite all branches must be doubles.
        """
        are_double = [self.is_double(node) for node in nodes if node is not None and not isinstance(node, exp.Null)]
        return bool(are_double) and (all(are_double) if self.target.is_dynamically_typed else any(are_double))

    def _is_double_literal(self, node: exp.Literal) -> bool:
        if node.is_string or node.is_int:
            return False
        return self.target.decimal_literals_are_double or (self.target.exponent_literals_are_double and "e" in node.this.lower())

    def _is_double_column(self, node: exp.Column) -> bool:
        scope = self._scopes.get(id(node.parent_select), {})
        if node.table:
            return scope.get(node.table, {}).get(node.name, False)
        return any(columns.get(node.name, False) for columns in scope.values())


SERIES, NUMBER = "series", "number"
"""Alias and column of a series of integers, ``UNNEST(GENERATE_SERIES(1, 20)) AS series(number)``."""

HEX_PREFIX = "0x"
"""Text before hexadecimal digits in ``CAST('0x' || digits AS BIGINT)``."""

_POWERS_OF_TEN = ("ones", "tens", "hundreds", "thousands")
_HEX_DIGITS = "0123456789abcdef"
_NUM_HEX_DIGITS = 8


def rewrite_number_series(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite series of integers in place."""
    for series in find_nodes(tree, exp.Unnest):
        if series.alias == SERIES and isinstance(series.expressions[0], exp.GenerateSeries):
            if target.number_series == "function":
                series.replace(exp.Table(this=series.expressions[0], alias=series.args["alias"]))
            elif target.number_series == "numbers":
                _read_numbers(series)
            elif target.number_series is None:
                _combine_digits(tree, series)


def _read_bounds(series: exp.Unnest) -> tuple[int, int]:
    """Return the first and last number of a series."""
    generated = series.expressions[0]
    return int(generated.args["start"].name), int(generated.args["end"].name)


def _read_numbers(series: exp.Unnest) -> None:
    """Read the function ``numbers`` of ClickHouse, whose unsigned integers have no common type with others."""
    first, last = _read_bounds(series)
    select: Any = series.parent_select
    for column in [column for column in find_nodes(select, exp.Column) if column.name == NUMBER]:
        number: exp.Expr = exp.cast(column.copy(), "INT")
        column.replace(exp.alias_(number, NUMBER) if column.parent is select else number)
    function = call_function("numbers", exp.Literal.number(first), exp.Literal.number(last - first + 1))
    series.replace(exp.Table(this=function, alias=exp.TableAlias(this=exp.to_identifier(SERIES))))


def _combine_digits(tree: exp.Expr, series: exp.Unnest) -> None:
    """Cross join a step of the ten digits, once per decimal place."""
    first, last = _read_bounds(series)
    select: Any = series.parent_select
    aliases = _POWERS_OF_TEN[: len(str(last - first))]
    terms: list[exp.Expr] = [exp.Literal.number(first)] if first else []
    for power, alias in enumerate(aliases):
        digit: exp.Expr = exp.column("digit", table=alias)
        terms.append(exp.Mul(this=exp.Literal.number(10**power), expression=digit) if power else digit)
    number = reduce(lambda left, right: exp.Add(this=left, expression=right), terms)
    for column in [column for column in find_nodes(select, exp.Column) if column.name == NUMBER]:
        if column.parent is select:
            column.replace(exp.alias_(number.copy(), NUMBER))
        else:
            column.replace(exp.paren(number.copy()) if isinstance(column.parent, exp.Binary) else number.copy())
    digits = _digits_cte(tree)
    series.replace(exp.to_table(digits).as_(aliases[0]))
    for alias in aliases[1:]:
        select.join(exp.to_table(digits).as_(alias), join_type="cross", copy=False)
    if last - first + 1 < 10 ** len(aliases):
        select.where(exp.LTE(this=number, expression=exp.Literal.number(last)), copy=False)


def _digits_cte(tree: exp.Expr) -> str:
    """Return the name of the step of the ten digits, added before all others if there is none."""
    query: Any = tree.expression if isinstance(tree, (exp.DDL, exp.Insert)) else tree
    with_clause = query.args["with_"]
    first = exp.select(exp.alias_(sql_literal(0), "digit"))
    first.comments = ["One row per digit."]
    union: exp.Query = first
    for digit in range(1, 10):
        union = exp.union(union, exp.select(exp.Literal.number(digit)), distinct=False, copy=False)
    if (same := next((cte.alias for cte in with_clause.expressions if cte.this == union), None)) is not None:
        return str(same)
    name = unique_name("digits", source_names(tree))
    with_clause.expressions.insert(0, exp.CTE(this=union, alias=exp.TableAlias(this=exp.to_identifier(name))))
    return name


def rewrite_hex_numbers(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite ``CAST('0x' || digits AS BIGINT)`` in place, the number of eight hexadecimal digits in lower case."""
    write = _HEX_NUMBERS[target.hex_number]
    for cast in find_nodes(tree, exp.Cast) if write else ():
        text = cast.this
        if isinstance(text, exp.DPipe) and text.this.is_string and text.this.name == HEX_PREFIX and cast.is_type(BIGINT):
            cast.replace(write(text.expression))  # type: ignore[misc]


def _hex_by_base(digits: exp.Expr) -> exp.Expr:
    return exp.cast(call_function("CONV", digits, sql_literal(16), sql_literal(10)), BIGINT)


def _hex_from_base(digits: exp.Expr) -> exp.Expr:
    return call_function("FROM_BASE", digits, sql_literal(16))


def _hex_by_bits(digits: exp.Expr) -> exp.Expr:
    text = exp.DPipe(this=sql_literal("x"), expression=digits, safe=True)
    return exp.cast(exp.cast(text, exp.DataType.build("BIT(32)", dialect="postgres")), BIGINT)


def _hex_by_bytes(digits: exp.Expr) -> exp.Expr:
    """Return the number as an integer of the reversed bytes, since the first byte is the lowest to ClickHouse."""
    number = digits
    for function in ("unhex", "reverse", "reinterpretAsUInt32"):
        number = call_function(function, number)
    return exp.cast(number, BIGINT)


def _hex_by_digits(digits: exp.Expr) -> exp.Expr:
    """Return the sum over eight digits of their position in the list of all, times a power of 16."""
    terms: list[exp.Expr] = []
    for index in range(_NUM_HEX_DIGITS):
        position = exp.StrPosition(this=sql_literal(_HEX_DIGITS), substr=_digit_at(digits, index))
        digit: exp.Expr = exp.Sub(this=position, expression=sql_literal(1))
        power = 16 ** (_NUM_HEX_DIGITS - 1 - index)
        digit = exp.paren(digit) if index else exp.cast(digit, BIGINT)
        terms.append(exp.Mul(this=digit, expression=exp.Literal.number(power)) if power > 1 else digit)
    return exp.paren(reduce(lambda left, right: exp.Add(this=left, expression=right), terms))


def _digit_at(digits: exp.Expr, index: int) -> exp.Expr:
    """Return one digit, from the text that the digits are cut out of if its position is known."""
    is_cut = isinstance(digits, exp.Substring) and isinstance(digits.args.get("start"), exp.Literal)
    source, first = (digits.this, int(digits.args["start"].name)) if is_cut else (digits, 1)
    return exp.func("SUBSTR", source.copy(), exp.Literal.number(first + index), sql_literal(1))


_HEX_NUMBERS: Mapping[str | None, Callable[[exp.Expr], exp.Expr] | None] = {
    "prefix": None,
    "base": _hex_by_base,
    "from_base": _hex_from_base,
    "bits": _hex_by_bits,
    "bytes": _hex_by_bytes,
    None: _hex_by_digits,
}
"""Conversions of hexadecimal digits, by the value of ``Dialect.hex_number``."""


NUMBERED_ROWS = "numbered_rows"
"""Name of a step of rows with their positions by value."""


def rewrite_quantiles(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite quantiles of groups in place."""
    if target.quantile == "arguments":
        return
    quantiles = find_nodes(tree, exp.PercentileCont)
    if target.quantile == "row_numbers":
        for select in {id(quantile.parent_select): quantile.parent_select for quantile in quantiles}.values():
            _number_rows(tree, select, [quantile for quantile in quantiles if quantile.parent_select is select])
        return
    for quantile in quantiles:
        value, share = quantile.this, exp.var(quantile.expression.name)  # engines demand a literal, without the cast of one
        if target.quantile == "within_group":
            order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=target.default_nulls_first[False])])
            rewritten: exp.Expr = exp.WithinGroup(this=exp.PercentileCont(this=share), expression=order)
        elif target.quantile == "percentile":
            rewritten = exp.Quantile(this=value, quantile=share)
        else:
            rewritten = exp.ParameterizedAgg(this="quantileExactInclusive", expressions=[share], params=[value])
        quantile.replace(rewritten)


def _number_rows(tree: exp.Expr, select: Any, quantiles: list[exp.PercentileCont]) -> None:
    """Move the sources of a SELECT into a step before it, which numbers the rows of each group by value.

    A quantile is then the sum of the values on both sides of its position, each weighted by its closeness.

    >>> import sqlglot
    >>> text = "WITH a AS (SELECT 1 AS g, 2 AS x) SELECT a.g, QUANTILE_CONT(a.x, 0.5) AS m FROM a GROUP BY a.g"
    >>> tree = sqlglot.parse_one(text, read="duckdb")
    >>> _number_rows(tree, tree, list(tree.find_all(exp.PercentileCont)))
    >>> print(tree.sql(comments=False))  # doctest: +NORMALIZE_WHITESPACE
    WITH a AS (SELECT 1 AS g, 2 AS x), numbered_rows AS (SELECT a.g, a.x,
    ROW_NUMBER() OVER (PARTITION BY a.g, CASE WHEN a.x IS NULL THEN 1 ELSE 0 END ORDER BY a.x NULLS LAST) AS x_position,
    COUNT(a.x) OVER (PARTITION BY a.g) AS x_count FROM a)
    SELECT g, SUM(CASE WHEN ABS(x_position - 1 - CAST(0.5 AS DOUBLE) * (x_count - 1)) < 1
    THEN x * (1 - ABS(x_position - 1 - CAST(0.5 AS DOUBLE) * (x_count - 1))) END) AS m FROM numbered_rows GROUP BY g
    """
    group = select.args.get("group")
    keys = group.expressions if group is not None else []
    numbered = exp.Select()
    names: dict[tuple[str, str], exp.Identifier] = {}

    def add_column(item: exp.Expr, name: exp.Identifier) -> exp.Identifier:
        taken = {selected.lower() for selected in numbered.named_selects}
        alias = exp.to_identifier(unique_name(name.name, taken), quoted=name.args.get("quoted"))
        is_same = isinstance(item, exp.Column) and item.this == alias
        numbered.select(item if is_same else exp.alias_(item, alias), copy=False)
        return alias

    columns = _columns_read(select)
    for column in columns:
        key = (column.table, column.name)
        if key not in names:
            names[key] = add_column(column.copy(), column.this)
    positions: dict[exp.Expr, tuple[exp.Identifier, exp.Identifier]] = {}
    for quantile in quantiles:
        value = quantile.this
        if value not in positions:
            name = value.name if isinstance(value, exp.Column) else "value"
            row_number, count = _number_values(value, keys), _count_values(value, keys)
            key = value.copy()
            positions[key] = (
                add_column(row_number, exp.to_identifier(f"{name}_position")),
                add_column(count, exp.to_identifier(f"{name}_count")),
            )
        position, size = (exp.column(name.copy()) for name in positions[value])
        quantile.replace(_weighted_sum(value, position, size, quantile.expression))
    for column in columns:
        alias = names[column.table, column.name]
        is_renamed = column.parent is select and alias.name != column.name
        column.replace(exp.alias_(exp.column(alias.copy()), column.this) if is_renamed else exp.column(alias.copy()))
    for clause in ("from_", "joins", "where"):
        numbered.set(clause, select.args.get(clause))
        select.set(clause, None)
    select.set("from_", exp.From(this=exp.to_table(_add_step(tree, select, numbered))))


def _number_values(value: exp.Expr, keys: Iterable[exp.Expr]) -> exp.Expr:
    """Return the number of a row by a value in its group; rows without a value are numbered apart."""
    is_missing = case_when(is_null(value.copy()), sql_literal(1), sql_literal(0))
    order = exp.Order(expressions=[exp.Ordered(this=value.copy())])
    return exp.Window(this=exp.RowNumber(), partition_by=[*(key.copy() for key in keys), is_missing], order=order)


def _count_values(value: exp.Expr, keys: Iterable[exp.Expr]) -> exp.Expr:
    """Return the number of values in the group of a row."""
    return exp.Window(this=exp.Count(this=value.copy()), partition_by=[key.copy() for key in keys])


def _columns_read(select: Any) -> list[exp.Column]:
    """Return the columns outside of FROM and WHERE, without those of ORDER BY that are in the result."""
    clauses = [part for part in (*select.expressions, select.args.get("group"), select.args.get("having")) if part is not None]
    columns = [column for part in clauses for column in find_nodes(part, exp.Column)]
    order = find_nodes(select.args["order"], exp.Column) if select.args.get("order") else []
    columns += [column for column in order if column.table or column.name not in select.named_selects]
    return [column for column in columns if column.parent_select is select]


def _weighted_sum(value: exp.Expr, position: exp.Expr, size: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return the sum of the values on both sides of the position of a quantile, each weighted by its closeness."""
    one = sql_literal(1)
    last = exp.paren(exp.Sub(this=size, expression=one.copy()), copy=False)
    quantile_position = exp.Mul(this=exp.cast(share.unnest().copy(), DOUBLE), expression=last)
    distance = exp.Abs(this=exp.Sub(this=exp.Sub(this=position, expression=one.copy()), expression=quantile_position))
    closeness = exp.paren(exp.Sub(this=one.copy(), expression=distance), copy=False)
    term = exp.Mul(this=value, expression=closeness)
    return exp.Sum(this=case_when(exp.LT(this=distance.copy(), expression=one.copy()), term))


def _add_step(tree: exp.Expr, select: exp.Expr, step: exp.Select) -> str:
    """Add a step before the one that a SELECT is in, and return its name."""
    query: Any = outermost_query(tree)
    if query.args.get("with_") is None:
        query.set("with_", exp.With(expressions=[]))
    steps = query.args["with_"].expressions
    name = unique_name(NUMBERED_ROWS, source_names(tree))
    step.comments = ["Rows with the position of their value in the group, from the lowest."]
    reader = select.find_ancestor(exp.CTE)
    place = next((place for place, other in enumerate(steps) if other is reader), len(steps))
    steps.insert(place, exp.CTE(this=step, alias=exp.TableAlias(this=exp.to_identifier(name))))
    query.args["with_"].set("expressions", steps)
    return name


_FRAME_NAMES: Mapping[tuple[str, str], str] = {
    ("UNBOUNDED PRECEDING", "1 PRECEDING"): "preceding_rows",
    ("UNBOUNDED PRECEDING", "CURRENT ROW"): "rows_so_far",
    ("1 FOLLOWING", "UNBOUNDED FOLLOWING"): "following_rows",
}
"""Names of frames by their bounds."""

_OTHER_FRAME = "frame_rows"


def name_frames(tree: exp.Expr) -> None:
    """Name the frames that occur several times in a SELECT, or within another expression, in place.

    >>> import sqlglot
    >>> frame = "(ORDER BY y ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    >>> tree = sqlglot.parse_one(f"SELECT SUM(x) OVER {frame} AS a, COUNT(*) OVER {frame} AS b FROM t", read="duckdb")
    >>> name_frames(tree)
    >>> print(tree.sql("duckdb"))  # doctest: +NORMALIZE_WHITESPACE
    SELECT SUM(x) OVER preceding_rows AS a, COUNT(*) OVER preceding_rows AS b FROM t
    WINDOW preceding_rows AS (ORDER BY y ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    """
    windows_by_select: dict[int, list[exp.Window]] = {}
    for window in find_nodes(tree, exp.Window):
        if window.args.get("spec") is not None:
            windows_by_select.setdefault(id(window.parent_select), []).append(window)
    for windows in windows_by_select.values():
        _name_frames(windows)


def _name_frames(windows: list[exp.Window]) -> None:
    """Name frames of one SELECT."""
    select: Any = windows[0].parent_select
    windows_by_frame: dict[exp.Window, list[exp.Window]] = {}
    for window in windows:
        frame = window.copy()
        frame.set("this", None)
        frame.set("over", None)
        windows_by_frame.setdefault(frame, []).append(window)
    named = [frame for frame, equal in windows_by_frame.items() if len(equal) > 1 or not isinstance(equal[0].parent, exp.Alias)]
    counts = Counter(map(_bounds_name, named))
    taken: set[str] = set()
    for frame in named:
        name = _bounds_name(frame)
        name = unique_name(f"{name}_by_{_order_name(frame)}" if counts[name] > 1 else name, taken)
        taken.add(name)
        for window in windows_by_frame[frame]:
            window.replace(exp.Window(this=window.this, alias=exp.to_identifier(name), over="OVER"))
        frame.set("this", exp.to_identifier(name))
        select.append("windows", frame)


def _bounds_name(window: exp.Expr) -> str:
    """Return the name of a frame by its bounds."""
    spec = window.args["spec"].args
    start, end = (
        " ".join(str(part.name if isinstance(part, exp.Expr) else part) for part in (spec[side], spec.get(f"{side}_side")) if part)
        for side in ("start", "end")
    )
    return _FRAME_NAMES.get((start, end), _OTHER_FRAME)


def _order_name(window: exp.Expr) -> str:
    """Return the name of the first column that a window sorts by, and of its direction."""
    term = window.args["order"].expressions[0]
    column = term.find(exp.Column)
    return f"{'rows' if column is None else column.name}{'_desc' if term.args.get('desc') else ''}"


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
    ordered = call_function("SORT_ARRAY", pairs, exp.false())  # sqlglot 30.8 writes ARRAY_SORT, which ascends
    aggregate.replace(exp.Dot(this=ordered, expression=order.this.this.copy()))


def _search_array(array: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Return the 1-based position of a value in an array as a subquery."""
    rows = exp.Unnest(
        expressions=[array], alias=exp.TableAlias(columns=[exp.to_identifier(ELEMENT_COLUMN)]), offset=exp.to_identifier(OFFSET_COLUMN)
    )
    position = exp.Add(this=exp.Min(this=exp.column(OFFSET_COLUMN)), expression=sql_literal(1))
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
            literal.replace(exp.cast(sql_literal(literal.this) if "e" in literal.this.lower() else literal.copy(), "DOUBLE"))
    _cast_divisions(tree, target)
    if not target.supports_is_not_distinct_from:
        _compare_nulls(tree)
    for search in find_nodes(tree, exp.StrPosition) if target.uses_position_function else ():
        argument = exp.In(this=search.args["substr"], field=search.this)
        search.replace(call_function("POSITION", argument))
    _rewrite_window_order(tree, target)
    if target.required_settings:
        query = tree.expression if isinstance(tree, exp.DDL) else tree
        has_materialized = any(cte.args.get("materialized") for cte in find_nodes(tree, exp.CTE))
        settings = [*target.required_settings, *([target.materialize_setting] if has_materialized and target.materialize_setting else [])]
        query.set("settings", [exp.EQ(this=exp.var(name), expression=sql_literal(1)) for name in settings])


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
        infinite.replace(exp.EQ(this=exp.Abs(this=infinite.this), expression=exp.cast(sql_literal("inf"), "DOUBLE")))
    for test in find_nodes(tree, exp.IsNan):
        if not target.supports_nan:
            test.replace(exp.false())
        elif target.nan_function:
            test.replace(call_function(target.nan_function, test.this))
        else:
            test.replace(exp.EQ(this=test.this, expression=exp.cast(sql_literal("NaN"), "DOUBLE")))
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
