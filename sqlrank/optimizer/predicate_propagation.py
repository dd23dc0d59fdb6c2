"""Propagate predicates: replace tests, COALESCE and NULLIF with the same result in every row, and
write CASE as LEAST or GREATEST.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.constants import (
    COMPARISONS,
    fold_constants,
    keep_double_type,
    literal_value,
    replace_expression,
)
from sqlrank.optimizer.statement_graph import Scope, StatementGraph, iterate_conjuncts
from sqlrank.sql_ast import DOUBLE, find_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot.expressions import Expr

    Predicates = tuple[tuple[type[Expr], float], ...]

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

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
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
        source = scope.source_step(alias)
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
