"""Find values that are the same in every row, among them tests, COALESCE and NULLIF, and replace
them, and write CASE as LEAST or GREATEST.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.rendering.optimizer.statement_graph import (
    Scope,
    StatementGraph,
    StatementStep,
    is_constant,
    iterate_conjuncts,
    needs_parentheses,
)
from sqlrank.sql_ast import (
    DOUBLE,
    MAX_EXACT,
    OPERATORS,
    find_nodes,
    number_literal,
    output_identifier,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot.expressions import Expr

    Replacements = dict[str, Expr]
    from collections.abc import Iterator

    Predicates = tuple[tuple[type[Expr], float], ...]

COMPARISONS: dict[type[exp.Expr], Callable[[float, float], bool]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
"""Comparisons of numbers by operator."""

_ARITHMETIC: dict[type[exp.Expr], Callable[[float, float], float]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
}
_DOUBLE_TYPES = (exp.Div, exp.Ln, exp.Exp, exp.Sqrt, exp.Avg)
_FOLDED_TYPES = (
    *COMPARISONS,
    *_ARITHMETIC,
    exp.Div,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Is,
    exp.Case,
    exp.Where,
    exp.Nullif,
    exp.Ln,
    exp.Sum,
)
MAX_DOUBLE_LENGTH = 6
"""Maximum length of a double that is computed: ``1 - 0.95`` is easier to read than its value."""


def fold_constants(tree: exp.Expr) -> None:
    """Fold constants of a tree in place, where every engine computes the same number.

    sqlglot's ``simplify`` takes 13 times as long, drops parentheses, and computes decimals where
    engines have doubles.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one(
    ...     "SELECT (1 + 1 * 1) * x / NULLIF(10, 0) AS y, CASE WHEN TRUE THEN 1 * x END AS z,"
    ...     " CASE WHEN x > 1 THEN 1 ELSE CASE WHEN x > 0 THEN x END END AS v"
    ... )
    >>> fold_constants(tree)
    >>> print(tree.sql())
    SELECT 2 * x / 10 AS y, x AS z, CASE WHEN x > 1 THEN 1 WHEN x > 0 THEN x END AS v
    """
    nodes: list[Any] = find_nodes(tree, *_FOLDED_TYPES)
    for node in reversed(nodes):
        if type(node) in COMPARISONS:
            left_number, right_number = literal_value(node.this), literal_value(node.expression)
            if left_number is not None and right_number is not None:
                node.replace(exp.Boolean(this=COMPARISONS[type(node)](left_number, right_number)))
        elif isinstance(node, (exp.And, exp.Or)):
            _fold_and_or(node)
        elif isinstance(node, exp.Not) and isinstance(node.this.unnest(), exp.Boolean):
            node.replace(exp.Boolean(this=not node.this.unnest().this))
        elif isinstance(node, exp.Case):
            _fold_case(node)
        elif isinstance(node, exp.Where) and _is_boolean(node.this, value=True):
            node.pop()
        elif isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
            _fold_arithmetic(node)
        elif isinstance(node, (exp.Is, exp.Nullif, exp.Ln, exp.Sum)):
            _fold_function(node)


def as_literal(value: exp.Expr) -> exp.Expr:
    """Return a constant as a literal; a double has a decimal point."""
    if isinstance(value, exp.Cast):
        inner = value.this.this if isinstance(value.this, exp.Neg) else value.this
        literal = exp.Literal.number(repr(float(inner.this)))
        return exp.Neg(this=literal) if isinstance(value.this, exp.Neg) else literal
    return value.copy()


def _fold_arithmetic(node: exp.Binary) -> None:
    """Fold arithmetic of literals, and with a neutral operand."""
    left, right = literal_value(node.this), literal_value(node.expression)
    if left is not None and right is not None and not isinstance(node, exp.Div):
        number = _ARITHMETIC[type(node)](left, right)
        is_integer = _is_integer(node.this) and _is_integer(node.expression)
        if (abs(number) < MAX_EXACT) if is_integer else len(repr(number)) <= MAX_DOUBLE_LENGTH:
            replace_expression(node, number_literal(int(number) if is_integer else number))
    elif isinstance(node, exp.Mul) and left == 1:
        replace_expression(node, keep_double_type(node.expression, node.this))
    elif isinstance(node, (exp.Mul, exp.Div)) and right == 1:
        replace_expression(
            node,
            keep_double_type(
                node.this,
                exp.Literal.number("1.0") if isinstance(node, exp.Div) else node.expression,
            ),
        )
    elif isinstance(node, (exp.Add, exp.Sub)) and right == 0:
        replace_expression(node, keep_double_type(node.this, node.expression))
    elif isinstance(node, exp.Add) and left == 0:
        replace_expression(node, keep_double_type(node.expression, node.this))


def _fold_function(node: exp.Is | exp.Nullif | exp.Ln | exp.Sum) -> None:
    """Fold tests for NULL, ``NULLIF(10, 0)``, logarithms of 1 and e, and sums of ones."""
    number = literal_value(node.this)
    if number is None:
        return
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        node.replace(exp.false())
    elif isinstance(node, exp.Nullif) and literal_value(node.expression) == 0 and number != 0:
        replace_expression(node, node.this.unnest())
    elif isinstance(node, exp.Ln) and number in {1, math.e}:
        replace_expression(node, exp.Literal.number("0.0" if number == 1 else "1.0"))
    elif isinstance(node, exp.Sum) and number == 1 and _can_be_count(node):
        count = exp.Count(
            this=exp.Star(), big_int=True
        )  # as sqlglot parses it, so that equal columns are found equal
        node.replace(count if _is_integer(node.this) else exp.cast(count, DOUBLE))


def _can_be_count(aggregate: exp.Sum) -> bool:
    """Return True if a sum of ones may be written as a count, although the sum over no rows is
    NULL, and a count of them is 0.
    """
    parent: exp.Expr | None = aggregate.parent
    if isinstance(parent, exp.Window):
        return parent.args.get("spec") is None and _is_integer(
            aggregate.this
        )  # a cast would come between the count and OVER
    if isinstance(parent, exp.Filter):
        return False
    if isinstance(parent, exp.Nullif) and literal_value(parent.expression) == 0:
        return True
    select = aggregate.parent_select
    return isinstance(select, exp.Select) and bool(select.args.get("group"))


def replace_expression(node: exp.Expr, value: exp.Expr) -> None:
    """Replace an expression by a part of it or a literal, with the parentheses that it needs
    there.
    """
    inner = (
        value.unnest()
        if isinstance(value, exp.Paren) and not isinstance(value.this, exp.Query)
        else value
    )
    place: exp.Expr = node
    while (
        isinstance(place.parent, exp.Paren)
        and place.parent.parent is not None
        and not isinstance(inner, OPERATORS)
    ):
        place = place.parent
    place.replace(exp.paren(inner, copy=False) if needs_parentheses(inner, place) else inner)


def keep_double_type(value: exp.Expr, neutral_operand: exp.Expr) -> exp.Expr:
    """Return a value without its neutral operand, such as 1 of a product; cast to a double if that
    operand is one and the value is not.
    """
    if (
        _is_integer(neutral_operand)
        or isinstance(value.unnest(), _DOUBLE_TYPES)
        or (isinstance(value, exp.Cast) and value.is_type(DOUBLE))
    ):
        return value
    return exp.cast(value.unnest(), DOUBLE, copy=False)


def _is_integer(node: exp.Expr) -> bool:
    """Return True if a literal is an integer and no double."""
    inner = node.unnest()
    inner = inner.this.unnest() if isinstance(inner, exp.Neg) else inner
    return isinstance(inner, exp.Literal) and inner.is_int


def _is_boolean(node: exp.Expr, value: bool) -> bool:
    inner = node.unnest()
    return isinstance(inner, exp.Boolean) and bool(inner.this) == value


def literal_value(node: exp.Expr) -> float | None:
    """Return the number that a literal is, also with a sign or a cast to double."""
    inner = node.unnest()
    if isinstance(inner, exp.Cast) and inner.is_type(DOUBLE):
        return (
            None
            if isinstance(inner.this, exp.Literal) and inner.this.is_string
            else literal_value(inner.this)
        )
    if isinstance(inner, exp.Neg):
        operand = literal_value(inner.this)
        return None if operand is None else -operand
    if (
        not isinstance(inner, exp.Literal)
        or not inner.is_number
        or (inner.is_int and int(inner.this) > MAX_EXACT)
    ):
        return None
    return float(inner.this)


def _fold_and_or(node: exp.And | exp.Or) -> None:
    """Fold an AND or OR with a constant operand."""
    neutral = isinstance(node, exp.And)
    if any(_is_boolean(operand, value=not neutral) for operand in (node.this, node.expression)):
        node.replace(exp.Boolean(this=not neutral))
    elif _is_boolean(node.this, value=neutral):
        node.replace(node.expression)
    elif _is_boolean(node.expression, value=neutral):
        node.replace(node.this)


def _fold_case(node: exp.Case) -> None:
    if node.this is not None:
        return
    branches: list[exp.Expr] = []
    for branch in node.args["ifs"]:
        if _is_boolean(branch.this, value=True):
            node.set("default", branch.args["true"])
            break
        if not _is_boolean(branch.this, value=False):
            branches.append(branch)
    default = node.args.get("default")
    if isinstance(default, exp.Case) and default.this is None:
        branches += default.args["ifs"]
        default = default.args.get("default")
        node.set("default", default)
    node.set("ifs", branches)
    if not branches:
        replace_expression(node, default or exp.Null())
    elif (
        len(branches) == 1
        and default is None
        and _is_not_null(branches[0].this, branches[0].args["true"])
    ):
        replace_expression(node, branches[0].args["true"])


def _is_not_null(condition: exp.Expr, value: exp.Expr) -> bool:
    """Return True if a condition says that a value is not NULL."""
    test = condition.this.unnest() if isinstance(condition, exp.Not) else None
    return (
        isinstance(test, exp.Is)
        and isinstance(test.expression, exp.Null)
        and bool(test.this == value)
    )


def propagate_constants(graph: StatementGraph) -> None:
    """Replace columns of CTEs that are constants, or copies of other columns, where they are read,
    and fold what follows.

    The columns themselves are left to projection pruning. sqlglot's ``simplify`` propagates
    constants within one condition only.

    >>> from sqlrank.rendering.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     propagate_constants,
    ...     "WITH a AS (SELECT x, x AS y, 1 AS z FROM t) SELECT x * y * z AS n FROM a",
    ... )
    'WITH a AS (SELECT x, x AS y, 1 AS z FROM t) SELECT x * x AS n FROM a'
    """
    replacements: dict[str, Replacements] = {}
    for step in graph.steps:
        for scope in step.scopes:
            if (
                any(replacements.get(source.name) for source in scope.sources.values())
                and scope.is_plain
            ):
                _replace_columns(scope, replacements)
        if step.cte is not None:
            replacements[step.name] = _find_replacements(step)


def _find_replacements(step: StatementStep) -> Replacements:
    """Return the constants among the columns of a CTE, and the first of several equal columns, by
    column.
    """
    branches = [[item.unalias() for item in scope.select.expressions] for scope in step.scopes]
    names = step.column_names
    if any(len(branch) != len(names) for branch in branches) or any(
        item.is_star for item in branches[0]
    ):
        return {}
    replacements: Replacements = {}
    first_by_value: dict[object, int] = {}
    for index, name in enumerate(names):
        values = [branch[index] for branch in branches]
        if is_constant(values[0]) and all(value == values[0] for value in values[1:]):
            replacements[name] = values[0]
            continue
        if values[0].find(exp.Rand) is not None:
            continue
        first = first_by_value.setdefault(_build_key(values[0]), index)
        if first != index and all(branch[first] == branch[index] for branch in branches):
            identifier = output_identifier(step.scopes[0].select.expressions[first])
            replacements[name] = exp.Column(this=identifier)
    return replacements


def _build_key(value: Expr) -> object:
    """Return a key that equal expressions share; that of a column needs no walk through its
    tree.
    """
    return (value.table, value.name) if isinstance(value, exp.Column) else value


def _replace_columns(scope: Scope, replacements: dict[str, Replacements]) -> None:
    """Replace the columns of a SELECT, unless a constant would become a key."""
    columns: list[tuple[exp.Column, str, Expr]] = []
    for column in scope.columns:
        alias = scope.find_owner(column)
        value = (
            None
            if alias is None
            else replacements.get(scope.sources[alias].name, {}).get(column.name)
        )
        if alias is not None and value is not None:
            columns.append((column, alias, value))
    keys = {(alias, column.name) for column, alias, _ in columns if _is_key(column)}
    changed = False
    for column, alias, value in columns:
        if isinstance(value, exp.Column):
            copy = value.copy()
            if (
                column.table or len(scope.sources) > 1
            ):  # another source may have a column of the first one's name
                copy.set("table", exp.to_identifier(alias))
            scope.substitute(column, copy)
        elif (alias, column.name) not in keys and not scope.is_nullable(alias):
            scope.substitute(column, as_literal(value))
            changed = True
    if changed:
        fold_constants(scope.select)
        scope.mark_changed()
    if columns:
        _drop_repeated_keys(scope)


def _is_key(column: exp.Column) -> bool:
    """Return True if a column is in GROUP BY or the condition of a join, or a term of ORDER BY or
    PARTITION BY.

    Arithmetic of constants in GROUP BY would be folded to an integer, which is a position there.
    """
    if isinstance(column.parent, exp.Ordered) or column.arg_key == "partition_by":
        return True
    return column.find_ancestor(exp.Join, exp.Group) is not None


def _drop_repeated_keys(scope: Scope) -> None:
    """Drop repeated terms of GROUP BY, PARTITION BY and ORDER BY."""
    for node in find_nodes(scope.select, exp.Group, exp.Window, exp.Order):
        key = "partition_by" if isinstance(node, exp.Window) else "expressions"
        terms = node.args.get(key) or []
        if len(terms) > 1 and len(unique := list(dict.fromkeys(terms))) < len(terms):
            node.set(key, unique)


_NOT_NULL: Predicates = ((exp.GTE, -math.inf),)
"""The predicate of values of which nothing is known but that they are not NULL, as are all that
have a predicate.
"""

_TESTS = (*COMPARISONS, exp.Is, exp.Coalesce, exp.Nullif)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_NEVER_NULL_OF_VALUES = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs, exp.Floor)
"""Expressions that are NULL only where one of their operands is."""


def propagate_predicates(graph: StatementGraph) -> bool:
    """Fold tests that have one value for all rows, COALESCE and NULLIF among them, in place; return
    True if there are any.

    A CASE that chooses the smaller or greater of two values becomes LEAST or GREATEST, where these
    are NULL together or never.

    >>> from sqlrank.rendering.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     propagate_predicates,
    ...     '''WITH a AS (SELECT x, y FROM t WHERE x >= 1)
    ... SELECT y, SUM(CASE WHEN x > 0 THEN x END) / NULLIF(COUNT(*), 0) AS n FROM a GROUP BY y''',
    ... )
    'WITH a AS (SELECT x, y FROM t WHERE x >= 1) SELECT y, SUM(x) / COUNT(*) AS n FROM a GROUP BY y'
    >>> rewrite_graph(
    ...     propagate_predicates,
    ...     '''WITH a AS (SELECT COUNT(*) AS n, MAX(y) AS y FROM t GROUP BY x)
    ... SELECT CASE WHEN n < 10 THEN n ELSE 10 END AS m, CASE WHEN y > n THEN y ELSE n END AS z FROM a''',
    ... )
    'WITH a AS (SELECT COUNT(*) AS n, MAX(y) AS y FROM t GROUP BY x) SELECT CASE WHEN n IS NULL OR 10 IS NULL THEN NULL ELSE LEAST(n, 10) END AS m, CASE WHEN y > n THEN y ELSE n END AS z FROM a'
    """  # noqa: E501
    row_predicates = _RowPredicates()
    scopes = [scope for step in graph.steps for scope in step.scopes if scope.is_plain]
    folded = [_fold_tests(scope, row_predicates) for scope in scopes]
    for scope in scopes:
        _write_extremes(scope, row_predicates)
    return any(folded)


def _fold_tests(scope: Scope, row_predicates: _RowPredicates) -> bool:
    """Fold the tests of a SELECT that its rows always pass or fail; return True if there are
    any.
    """
    is_changed = False
    tests: list[Any] = find_nodes(scope.select, *_TESTS)
    for node in reversed(tests):
        if (value := _fold_test(node, scope, row_predicates)) is not None:
            replace_expression(node, value)
            is_changed = True
    if is_changed:
        fold_constants(scope.select)
        scope.mark_changed()
        _fold_tests(scope, row_predicates)  # a sum of 1 is a count now, which is above 0 in a group
    return is_changed


def _write_extremes(scope: Scope, row_predicates: _RowPredicates) -> None:
    """Write a CASE that chooses the smaller or greater of two values as LEAST or GREATEST, which
    differ between engines for a NULL.
    """
    cases: list[exp.Case] = find_nodes(scope.select, exp.Case)
    for case in reversed(cases):
        branches, default = case.args["ifs"], case.args.get("default")
        test = branches[0].this.unnest() if len(branches) == 1 and case.this is None else None
        if not isinstance(test, (exp.LT, exp.LTE, exp.GT, exp.GTE)) or default is None:
            continue
        values, results = (
            (test.this.unnest(), test.expression.unnest()),
            (branches[0].args["true"].unnest(), default.unnest()),
        )
        if results not in {values, values[::-1]} or values[0] == values[1]:
            continue
        causes = [set(row_predicates.null_causes(value, scope)) for value in values]
        if causes[0] == causes[1]:
            is_least = isinstance(test, (exp.LT, exp.LTE)) == (results == values)
            case.replace(
                (exp.Least if is_least else exp.Greatest)(this=values[0], expressions=[values[1]])
            )
            scope.mark_changed()


def _fold_test(node: Any, scope: Scope, row_predicates: _RowPredicates) -> Expr | None:
    """Return the value of a test for every row of a SELECT, None if it differs between rows."""
    if isinstance(node, exp.Is):
        return (
            exp.false()
            if isinstance(node.expression, exp.Null)
            and row_predicates.value_predicates(node.this, scope)
            else None
        )
    if isinstance(node, exp.Coalesce):
        is_replaced = (
            len(node.expressions) == 1
            and literal_value(node.expressions[0]) is not None
            and row_predicates.value_predicates(node.this, scope)
        )
        return keep_double_type(node.this, node.expressions[0]) if is_replaced else None
    number = literal_value(node.expression)
    if number is None:
        return None
    if isinstance(node, exp.Nullif):
        return (
            node.this.unnest()
            if _decide_comparison(
                row_predicates.value_predicates(node.this, scope), exp.NEQ, number
            )
            else None
        )
    decision = _decide_comparison(
        row_predicates.value_predicates(node.this, scope), type(node), number
    )
    return None if decision is None else exp.Boolean(this=decision)


def _decide_comparison(
    predicates: Predicates, comparison: type[Expr], number: float
) -> bool | None:
    """Return the value of a comparison with a number for values of which some predicates hold, None
    if these do not decide it.
    """
    for predicate, bound in predicates:
        if predicate is exp.EQ:
            return COMPARISONS[comparison](bound, number)
        is_low, is_strict = predicate in {exp.GT, exp.GTE}, predicate in {exp.GT, exp.LT}
        distance = bound - number if is_low else number - bound
        is_beyond = distance > 0 or (distance == 0 and is_strict)
        if is_beyond and comparison in {
            exp.NEQ,
            *((exp.GT, exp.GTE) if is_low else (exp.LT, exp.LTE)),
        }:
            return True
        if distance == 0 and comparison is predicate:
            return True
        if is_beyond and comparison is exp.EQ:
            return False
    return None


class _RowPredicates:
    """Comparisons with numbers that hold of every row, by column of a CTE."""

    def __init__(self) -> None:
        self._predicates_by_column: dict[tuple[str, str], tuple[Predicates, bool]] = {}

    def value_predicates(self, value: Expr, scope: Scope) -> Predicates:
        """Return the predicates of an expression in a SELECT; none if it may be NULL."""
        value = value.unnest()
        if isinstance(value, exp.Column):
            predicates, may_be_null = self._column_predicates(value, scope)
            return () if may_be_null else predicates
        if (number := literal_value(value)) is not None:
            return ((exp.EQ, number),)
        if isinstance(value, exp.Cast):
            predicates = self.value_predicates(value.this, scope)
            return predicates if value.is_type(DOUBLE) or not predicates else _NOT_NULL
        if isinstance(value, exp.Window):
            return self._window_predicates(value, scope)
        if isinstance(value, exp.AggFunc):
            return (
                self._aggregate_predicates(value, scope) if scope.select.args.get("group") else ()
            )
        return _NOT_NULL if self._is_never_null(value, scope) else ()

    def null_causes(self, value: Expr, scope: Scope) -> Iterator[Expr]:
        """Yield the smallest parts of an expression that may be NULL, and make it NULL wherever one
        of them is.
        """
        value = value.unnest()
        if self.value_predicates(value, scope):
            return
        if isinstance(value, (*_NEVER_NULL_OF_VALUES, exp.Div)):
            for operand in value.iter_expressions():
                yield from self.null_causes(operand, scope)
        else:
            yield value

    def _column_predicates(self, column: exp.Column, scope: Scope) -> tuple[Predicates, bool]:
        """Return the predicates of a column where it is not NULL, and True if it may be NULL.

        They come from conditions on its row, and from the CTE that it is read from.
        """
        alias = scope.find_owner(column)
        if alias is None:
            return (), True
        predicates = tuple(
            predicate
            for condition in _iterate_conditions(column, scope.select)
            for predicate in _predicates_of_test(condition.unnest(), column.name, alias, scope)
        )
        source = scope.source_steps[alias]
        if source is None or source.is_union:
            return predicates, not predicates
        key = (source.name, column.name)
        if key not in self._predicates_by_column:
            self._predicates_by_column[key] = self._item_predicates(column.name, source.scopes[0])
        source_predicates, may_be_null = self._predicates_by_column[key]
        return (
            predicates + source_predicates,
            (may_be_null or scope.is_nullable(alias)) and not predicates,
        )

    def _item_predicates(self, name: str, scope: Scope) -> tuple[Predicates, bool]:
        """Return the predicates of a column that a SELECT computes where it is not NULL, and True
        if it may be NULL.
        """
        item = scope.items.get(name, exp.null()).unalias()
        if isinstance(item, exp.Column):
            return self._column_predicates(item, scope)
        predicates = self.value_predicates(item, scope)
        return predicates, not predicates

    def _window_predicates(self, window: exp.Window, scope: Scope) -> Predicates:
        if isinstance(window.this, _RANKS):
            return ((exp.GTE, 1),)
        frame = window.args.get("spec")
        has_own_row = frame is None or (frame.args.get("start"), frame.args.get("end")) == (
            "UNBOUNDED",
            "CURRENT ROW",
        )
        return (
            self._aggregate_predicates(window.this, scope)
            if has_own_row and isinstance(window.this, exp.AggFunc)
            else ()
        )

    def _aggregate_predicates(self, aggregate: exp.AggFunc, scope: Scope) -> Predicates:
        """Return the predicates of an aggregate of at least one row."""
        if isinstance(aggregate, exp.Count):
            return ((exp.GTE, 1 if isinstance(aggregate.this, exp.Star) else 0),)
        predicates = (
            self.value_predicates(aggregate.this, scope)
            if isinstance(aggregate, (exp.Sum, exp.Min, exp.Max, exp.Avg))
            else ()
        )
        if predicates and isinstance(aggregate, exp.Sum):
            bounds = ((exp.GTE if test is exp.EQ else test, number) for test, number in predicates)
            return (
                tuple(
                    (test, number)
                    for test, number in bounds
                    if test in {exp.GT, exp.GTE} and number >= 0
                )
                or _NOT_NULL
            )
        return predicates

    def _is_never_null(self, value: Expr, scope: Scope) -> bool:
        """Return True if an expression of operators, CASE or COALESCE is not NULL."""
        if isinstance(value, _NEVER_NULL_OF_VALUES):
            return all(
                self.value_predicates(operand, scope) for operand in value.iter_expressions()
            )
        if isinstance(value, exp.Div):
            divisor = self.value_predicates(value.expression, scope)
            return bool(
                _decide_comparison(divisor, exp.NEQ, 0) and self.value_predicates(value.this, scope)
            )
        if isinstance(value, exp.Case):
            default = value.args.get("default")
            values = [branch.args["true"] for branch in value.args["ifs"]]
            return default is not None and all(
                self.value_predicates(result, scope) for result in [*values, default]
            )
        return isinstance(value, exp.Coalesce) and any(
            self.value_predicates(operand, scope) for operand in [value.this, *value.expressions]
        )


def _iterate_conditions(column: exp.Column, select: exp.Select) -> Iterator[Expr]:
    """Yield the conditions that hold where a column is computed: those of branches of CASE around
    it, and the WHERE behind it.

    Those around a window or an aggregate are conditions of another row.
    """
    node: Expr = column
    is_filtered = is_same_row = True
    while node is not select and node.parent is not None:
        parent = node.parent
        if (
            is_same_row
            and isinstance(parent, exp.If)
            and node.arg_key == "true"
            and parent.parent is not None
            and parent.parent.this is None
        ):
            yield from iterate_conjuncts(parent.this)
        is_same_row &= not isinstance(parent, (exp.Window, exp.AggFunc))
        is_filtered &= not isinstance(parent, (exp.Where, exp.Join))
        node = parent
    where = select.args.get("where")
    if is_filtered and where is not None:
        yield from iterate_conjuncts(where.this)


def _predicates_of_test(test: Any, name: str, alias: str, scope: Scope) -> Predicates:
    """Return the predicates that a condition says of a column."""
    is_null_test = (
        isinstance(test, exp.Not)
        and isinstance(test.this, exp.Is)
        and isinstance(test.this.expression, exp.Null)
    )
    if not (is_null_test or type(test) in COMPARISONS):
        return ()
    value = test.this.this if is_null_test else test.this
    if not isinstance(value, exp.Column) or value.name != name or scope.find_owner(value) != alias:
        return ()
    number = None if is_null_test else literal_value(test.expression)
    return _NOT_NULL if number is None or type(test) is exp.NEQ else ((type(test), number),)
