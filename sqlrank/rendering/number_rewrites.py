"""Write numbers as doubles in a dialect: literals, casts, divisions, and tests for NaN and
infinity. Write series of integers, hexadecimal numbers and quantiles of groups where it has no
functions of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.rendering.optimizer.constants import literal_value
from sqlrank.rendering.optimizer.statement_graph import add_step, needs_parentheses, union_members
from sqlrank.sql_ast import (
    BIGINT,
    DOUBLE,
    OPERATORS,
    add_terms,
    call_function,
    case_when,
    expression_text,
    find_nodes,
    first_select,
    is_null,
    source_names,
    sql_literal,
    unique_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlrank.rendering.dialect import Dialect


SERIES, NUMBER = "series", "number"
"""Alias and column of a series of integers, ``UNNEST(GENERATE_SERIES(1, 20)) AS
series(number)``.
"""

HEX_PREFIX = "0x"
"""Text before hexadecimal digits in ``CAST('0x' || digits AS BIGINT)``."""

_POWERS_OF_TEN = ("ones", "tens", "hundreds", "thousands")
_HEX_DIGITS = "0123456789abcdef"
_NUM_HEX_DIGITS = 8


def read_series_function(_: exp.Expr, series: exp.Unnest) -> None:
    """Read GENERATE_SERIES in FROM."""
    series.replace(exp.Table(this=series.expressions[0], alias=series.args["alias"]))


def read_bounds(series: exp.Unnest) -> tuple[int, int]:
    """Return the first and last number of a series."""
    generated = series.expressions[0]
    return int(generated.args["start"].name), int(generated.args["end"].name)


def combine_digits(tree: exp.Expr, series: exp.Unnest) -> None:
    """Cross join a step of the ten digits, once per decimal place."""
    first, last = read_bounds(series)
    select: Any = series.parent_select
    aliases = _POWERS_OF_TEN[: len(str(last - first))]
    terms: list[exp.Expr] = [exp.Literal.number(first)] if first else []
    for power, alias in enumerate(aliases):
        digit: exp.Expr = exp.column("digit", table=alias)
        terms.append(
            exp.Mul(this=exp.Literal.number(10**power), expression=digit) if power else digit
        )
    number = add_terms(terms)
    for column in [column for column in find_nodes(select, exp.Column) if column.name == NUMBER]:
        if column.parent is select:
            column.replace(number.copy().as_(NUMBER))
        else:
            column.replace(
                exp.paren(number.copy()) if isinstance(column.parent, exp.Binary) else number.copy()
            )
    digits = _digits_cte(tree)
    series.replace(exp.to_table(digits).as_(aliases[0]))
    for alias in aliases[1:]:
        select.join(exp.to_table(digits).as_(alias), join_type="cross", copy=False)
    if last - first + 1 < 10 ** len(aliases):
        select.where(exp.LTE(this=number, expression=exp.Literal.number(last)), copy=False)


_DIGITS: Any = exp.maybe_parse(
    f"SELECT 0 AS digit {' '.join(f'UNION ALL SELECT {digit}' for digit in range(1, 10))}"
)


def _digits_cte(tree: exp.Expr) -> str:
    """Return the name of the step of the ten digits, added before all others if there is none."""
    query: Any = tree.expression if isinstance(tree, (exp.DDL, exp.Insert)) else tree
    with_clause = query.args["with_"]
    union = _DIGITS.copy()
    first_select(union).comments = ["One row per digit."]
    if (
        same := next((cte.alias for cte in with_clause.expressions if cte.this == union), None)
    ) is not None:
        return str(same)
    name = unique_name("digits", source_names(tree))
    with_clause.expressions.insert(
        0, exp.CTE(this=union, alias=exp.TableAlias(this=exp.to_identifier(name)))
    )
    return name


def sum_hex_digits(digits: exp.Expr) -> exp.Expr:
    """Return the sum over eight digits of their position in the list of all, times a power of
    16.
    """
    terms: list[exp.Expr] = []
    for index in range(_NUM_HEX_DIGITS):
        position = exp.StrPosition(this=sql_literal(_HEX_DIGITS), substr=_digit_at(digits, index))
        digit: exp.Expr = exp.Sub(this=position, expression=sql_literal(1))
        power = 16 ** (_NUM_HEX_DIGITS - 1 - index)
        digit = exp.paren(digit) if index else exp.cast(digit, BIGINT)
        terms.append(
            exp.Mul(this=digit, expression=exp.Literal.number(power)) if power > 1 else digit
        )
    return exp.paren(add_terms(terms))


def _digit_at(digits: exp.Expr, index: int) -> exp.Expr:
    """Return one digit, from the text that the digits are cut out of if its position is known."""
    is_cut = isinstance(digits, exp.Substring) and isinstance(digits.args.get("start"), exp.Literal)
    source, first = (digits.this, int(digits.args["start"].name)) if is_cut else (digits, 1)
    return exp.func("SUBSTR", source.copy(), exp.Literal.number(first + index), sql_literal(1))


NUMBERED_ROWS = "numbered_rows"
"""Name of a step of rows with their positions by value."""


def sum_numbered_rows(tree: exp.Expr, quantiles: Sequence[exp.PercentileCont]) -> None:
    """Write quantiles as sums over rows that are numbered by value."""
    for select in {
        id(quantile.parent_select): quantile.parent_select for quantile in quantiles
    }.values():
        _number_rows(
            tree, select, [quantile for quantile in quantiles if quantile.parent_select is select]
        )


def _number_rows(tree: exp.Expr, select: Any, quantiles: list[exp.PercentileCont]) -> None:
    """Move the sources of a SELECT into a step before it, which numbers the rows of each group by
    value.

    A quantile is then the sum of the values on both sides of its position, each weighted by its
    closeness.

    >>> import sqlglot
    >>> text = "WITH a AS (SELECT 1 AS g, 2 AS x) SELECT a.g, QUANTILE_CONT(a.x, 0.5) AS m FROM a GROUP BY a.g"
    >>> tree = sqlglot.parse_one(text, read="duckdb")
    >>> _number_rows(tree, tree, list(tree.find_all(exp.PercentileCont)))
    >>> print(tree.sql(comments=False))  # doctest: +NORMALIZE_WHITESPACE
    WITH a AS (SELECT 1 AS g, 2 AS x), numbered_rows AS (SELECT a.g, a.x,
    ROW_NUMBER() OVER (PARTITION BY a.g, CASE WHEN a.x IS NULL THEN 1 ELSE 0 END ORDER BY a.x NULLS LAST) AS x_position,
    COUNT(a.x) OVER (PARTITION BY a.g, CASE WHEN a.x IS NULL THEN 1 ELSE 0 END) AS x_count FROM a)
    SELECT g, SUM(CASE WHEN ABS(x_position - 1 - CAST(0.5 AS DOUBLE) * (x_count - 1)) < 1
    THEN x * (1 - ABS(x_position - 1 - CAST(0.5 AS DOUBLE) * (x_count - 1))) END) AS m FROM numbered_rows GROUP BY g
    """  # noqa: E501
    group = select.args.get("group")
    keys = group.expressions if group is not None else []
    numbered = exp.Select()
    names: dict[tuple[str, str], exp.Identifier] = {}

    def add_column(item: exp.Expr, name: exp.Identifier) -> exp.Identifier:
        taken = {selected.lower() for selected in numbered.named_selects}
        alias = exp.to_identifier(unique_name(name.name, taken), quoted=name.args.get("quoted"))
        is_same = isinstance(item, exp.Column) and item.this == alias
        numbered.select(item if is_same else item.as_(alias), copy=False)
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
            row_number, count = _number_values(value, keys)
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
        column.replace(
            exp.column(alias.copy()).as_(column.this) if is_renamed else exp.column(alias.copy())
        )
    for clause in ("from_", "joins", "where"):
        numbered.set(clause, select.args.get(clause))
        select.set(clause, None)
    numbered.comments = ["Rows with the position of their value in the group, from the lowest."]
    select.set(
        "from_", exp.From(this=exp.to_table(add_step(tree, select, numbered, NUMBERED_ROWS)))
    )


def _number_values(value: exp.Expr, keys: Iterable[exp.Expr]) -> tuple[exp.Expr, exp.Expr]:
    """Return the number of a row by a value in its group, and the number of values there; rows
    without a value are counted apart, so that both have the same partitions.
    """
    is_missing = case_when(is_null(value.copy()), 1, 0)
    parts = [*(key.copy() for key in keys), is_missing]
    order = exp.Order(expressions=[exp.Ordered(this=value.copy())])
    count = exp.Count(this=value.copy())
    return (
        exp.Window(this=exp.RowNumber(), partition_by=parts, order=order),
        exp.Window(this=count, partition_by=[part.copy() for part in parts]),
    )


def _columns_read(select: Any) -> list[exp.Column]:
    """Return the columns outside of FROM and WHERE, without those of ORDER BY that are in the
    result.
    """
    clauses = [
        part
        for part in (*select.expressions, select.args.get("group"), select.args.get("having"))
        if part is not None
    ]
    columns = [column for part in clauses for column in find_nodes(part, exp.Column)]
    order = find_nodes(select.args["order"], exp.Column) if select.args.get("order") else []
    columns += [
        column for column in order if column.table or column.name not in select.named_selects
    ]
    return [column for column in columns if column.parent_select is select]


def _weighted_sum(value: exp.Expr, position: exp.Expr, size: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return the sum of the values on both sides of the position of a quantile, each weighted by
    its closeness.
    """
    one = sql_literal(1)
    last = exp.paren(exp.Sub(this=size, expression=one.copy()), copy=False)
    quantile_position = exp.Mul(this=exp.cast(share.unnest().copy(), DOUBLE), expression=last)
    distance = exp.Abs(
        this=exp.Sub(
            this=exp.Sub(this=position, expression=one.copy()), expression=quantile_position
        )
    )
    closeness = exp.paren(exp.Sub(this=one.copy(), expression=distance), copy=False)
    term = exp.Mul(this=value, expression=closeness)
    return exp.Sum(this=case_when(exp.LT(this=distance.copy(), expression=one.copy()), term))


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

    sqlglot's ``annotate_types`` takes 6 to 21 times as long, and knows no types of columns that are
    doubles by the contract of files.

    >>> import sqlglot
    >>> from sqlrank.rendering.dialects import get_dialect
    >>> inference = DoubleInference(get_dialect("bigquery"))
    >>> inference.annotate(
    ...     sqlglot.parse_one(
    ...         "WITH a AS (SELECT 1 / n AS share, COUNT(*) AS num FROM t) SELECT SUM(share) FROM a"
    ...     )
    ... )
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
                # Later branches of a UNION are matched by position, so that names of their columns
                # may repeat.
                branches.append(
                    list(columns.values())
                    if query.right.is_star
                    else [self.is_double(item) for item in query.right.selects]
                )
                query = query.left
            columns = self._infer_query(query)
            return dict(
                zip(columns, map(any, zip(columns.values(), *branches, strict=True)), strict=True)
            )
        if not isinstance(query, exp.Select):
            return {}
        scope: dict[str, ColumnTypes] = {}
        for clause in (query.args.get("from_"), *(query.args.get("joins") or [])):
            if clause is not None:
                source = clause.this
                source_columns = (
                    self._infer_query(source.this)
                    if isinstance(source, exp.Subquery)
                    else self.cte_types.get(source.name, {})
                )
                scope[source.alias_or_name] = source_columns
        self._scopes[id(query)] = scope
        if query.is_star:
            return {
                name: is_double for columns in scope.values() for name, is_double in columns.items()
            }
        return {
            select_item.alias_or_name: self.is_double(select_item)
            for select_item in query.expressions
        }

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
            return self._has_double_branch(
                [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")]
            )
        return (
            isinstance(node, exp.Floor)
            and self.target.floor_returns_double
            and self.is_double(node.this)
        )

    def _has_double_branch(self, nodes: list[exp.Expr | None]) -> bool:
        """Return True if a CASE, COALESCE, GREATEST or LEAST is a double: if any branch is.

        In dynamically typed SQLite all branches must be doubles.
        """
        are_double = [
            self.is_double(node)
            for node in nodes
            if node is not None and not isinstance(node, exp.Null)
        ]
        return bool(are_double) and (
            all(are_double) if self.target.is_dynamically_typed else any(are_double)
        )

    def _is_double_literal(self, node: exp.Literal) -> bool:
        if node.is_string or node.is_int:
            return False
        return self.target.decimal_literals_are_double or (
            self.target.exponent_literals_are_double and "e" in node.this.lower()
        )

    def _is_double_column(self, node: exp.Column) -> bool:
        scope = self._scopes.get(id(node.parent_select), {})
        if node.table:
            return scope.get(node.table, {}).get(node.name, False)
        return any(columns.get(node.name, False) for columns in scope.values())


_WIDENING = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.NEQ)
"""Operators that make a decimal number a double where the other operand is one."""

MAX_DECIMAL_LENGTH = 15
"""Length of decimal literals up to which all their digits are exact in a double."""


def write_numbers(tree: exp.Expr, target: Dialect) -> None:
    """Write literals as doubles, divide doubles, and drop needless casts and parentheses, in
    place.
    """
    for literal in find_decimals(tree) if not target.decimal_literals_are_double else ():
        if target.exponent_literals_are_double:
            literal.set("this", with_exponent(literal.this))
        else:
            # As text if there is an exponent: 1e250 may be read as a decimal number with too few
            # digits.
            literal.replace(
                exp.cast(
                    sql_literal(literal.this) if "e" in literal.this.lower() else literal.copy(),
                    "DOUBLE",
                )
            )
    doubles = DoubleInference(target)
    doubles.annotate(tree)
    for division in find_nodes(tree, exp.Div):
        if target.int_division_is_double:
            drop_operand_casts(division)
        elif not (doubles.is_double(division.this) or doubles.is_double(division.expression)):
            _cast_argument(
                division, "expression" if isinstance(division.expression, exp.Literal) else "this"
            )
        # Sqlglot's flag: one side is a double, so no cast is added
        division.set("typed", True)  # noqa: FBT003
        # A zero denominator is NULL already, through NULLIF
        division.set("safe", False)  # noqa: FBT003
    for function in find_nodes(tree, exp.Ln, exp.Exp, exp.Sqrt, exp.Avg):
        if not (target.int_division_is_double or doubles.is_double(function.this)):
            _cast_argument(function, "this")
    shorten_numbers(tree, doubles)


def shorten_numbers(tree: exp.Expr, doubles: DoubleInference) -> None:
    """Drop casts and exponents beside doubles, and needless parentheses, in place."""
    _drop_casts(tree, doubles)
    _shorten_literals(tree, doubles)
    _drop_parentheses(tree)


def with_exponent(number: str) -> str:
    """Return a decimal number with an exponent, which makes it a double in several engines."""
    return number if "e" in number.lower() else f"{number.removesuffix('.0')}e0"


def drop_operand_casts(division: exp.Div) -> None:
    """Drop the casts of a division's operands, where the engine casts them."""
    is_guarded = isinstance(division.expression, exp.Nullif)
    for node, argument in (
        (division, "this"),
        (division.expression if is_guarded else division, "this" if is_guarded else "expression"),
    ):
        while (
            isinstance(cast := node.args[argument], exp.Cast)
            and cast.is_type(DOUBLE)
            and not isinstance(cast.this, exp.Literal | exp.Parameter)  # whose type is not known
        ):
            node.set(
                argument,
                exp.paren(cast.this, copy=False)
                if isinstance(cast.this, exp.Binary)
                else cast.this,
            )


def _drop_casts(tree: exp.Expr, doubles: DoubleInference) -> None:
    for cast in find_nodes(tree, exp.Cast):
        if cast.is_type(DOUBLE) and doubles.is_double(cast.this.unnest()):
            inner = cast.this.unnest()
            is_operand = isinstance(cast.parent, (exp.Binary, exp.Neg)) and isinstance(
                inner, (exp.Binary, exp.Neg)
            )
            place: exp.Expr = cast
            if (
                isinstance(inner, exp.Column)
                and isinstance(cast.parent, exp.Alias)
                and cast.parent.args["alias"] == inner.this
            ):
                place = cast.parent  # the alias says nothing without the cast
                inner.comments = place.comments
            place.replace(exp.paren(inner, copy=False) if is_operand else inner)


def _shorten_literals(tree: exp.Expr, doubles: DoubleInference) -> None:
    """Write literals beside a double without exponent and cast: every engine makes them the same
    double there.

    A decimal number of few digits is an integer divided by a power of ten, which is rounded as its
    text is.
    """
    for literal in find_nodes(tree, exp.Literal):
        number = literal.this.removesuffix("e0")
        if literal.is_string or "e" in number.lower() or len(number) > MAX_DECIMAL_LENGTH:
            continue
        is_cast = isinstance(literal.parent, exp.Cast) and literal.parent.is_type(DOUBLE)
        if not is_cast and number == literal.this:
            continue
        operand: Any = literal.parent if is_cast else literal
        if any(
            doubles.is_double(other) and literal_value(other) is None
            for other in _find_alternatives(operand, doubles)
        ):
            operand.replace(exp.Literal.number(number))


def _find_alternatives(operand: exp.Expr, doubles: DoubleInference) -> list[exp.Expr]:
    """Return the other operands of an operator or choice, whose type an operand has, too; SQLite
    leaves each choice its own.
    """
    user: Any = operand.parent
    if isinstance(user, _WIDENING):
        return [user.expression if user.this is operand else user.this]
    user, operand = (
        (user.parent, user)
        if isinstance(user, exp.If) and operand.arg_key == "true"
        else (user, operand)
    )
    if doubles.target.is_dynamically_typed or (
        isinstance(user, exp.Case) and operand.arg_key == "this"
    ):
        return []
    if isinstance(user, exp.Case):
        values = [branch.args["true"] for branch in user.args["ifs"] if branch is not operand]
        return (
            values
            if operand.arg_key == "default"
            else [value for value in (*values, user.args.get("default")) if value is not None]
        )
    if isinstance(user, (exp.Coalesce, exp.Greatest, exp.Least)):
        return [value for value in (user.this, *user.expressions) if value is not operand]
    return _find_union_values(operand)


def _find_union_values(value: exp.Expr) -> list[exp.Expr]:
    """Return the values of a column in the other SELECTs of a UNION."""
    item: Any = value.parent if isinstance(value.parent, exp.Alias) else value
    select: Any = item.parent
    if not (
        isinstance(select, exp.Select)
        and item.arg_key == "expressions"
        and isinstance(select.parent, exp.Union)
    ):
        return []
    union = select.parent
    while isinstance(union.parent, exp.Union):
        union = union.parent
    others = [member for member in union_members(union) if member is not select]
    return [
        member.expressions[item.index].unalias()
        for member in others
        if len(member.expressions) == len(select.expressions)
    ]


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
    exp.Case,
    exp.Cast,
    exp.Join,
    exp.Paren,
)
"""Parents whose operands need no parentheses."""


def _drop_parentheses(tree: exp.Expr) -> None:
    """Drop parentheses that operator precedence makes unnecessary."""
    for paren in find_nodes(tree, exp.Paren):
        inner = paren.this
        is_atom = isinstance(inner, (exp.Column, exp.Literal, exp.Paren)) or (
            isinstance(inner, exp.Func) and not isinstance(inner, exp.Binary)
        )
        is_null_safe = isinstance(inner, exp.NullSafeEQ) and isinstance(paren.parent, exp.And)
        is_arithmetic = isinstance(inner, OPERATORS) and isinstance(paren.parent, OPERATORS)
        if (
            is_atom
            or is_null_safe
            or isinstance(paren.parent, _NEEDS_NO_PARENS)
            or (is_arithmetic and not needs_parentheses(inner, paren))
        ):
            paren.replace(inner)


def find_decimals(tree: exp.Expr) -> list[exp.Literal]:
    """Return the literals that are decimal numbers."""
    return [
        literal
        for literal in find_nodes(tree, exp.Literal)
        if literal.is_number and not literal.is_int
    ]


def rewrite_nan_and_infinity(tree: exp.Expr, target: Dialect) -> None:
    """Rewrite infinity, and the tests for infinity and NaN, for an engine."""
    for infinite in find_nodes(tree, exp.IsInf):
        infinite.replace(
            exp.EQ(
                this=exp.Abs(this=infinite.this), expression=exp.cast(sql_literal("inf"), "DOUBLE")
            )
        )
    for test in find_nodes(tree, exp.IsNan):
        if not target.has_nan:
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
