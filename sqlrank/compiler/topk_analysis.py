"""Top-k analysis: the number of top documents that a metric depends on.

It is derived from the syntax trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.constant_folding import fold_constants
from sqlrank.compiler.parameter_binding import bind_parameters
from sqlrank.compiler.topk_lattice import LIST_KEYS, TOP_K_ONLY, ExpressionFacts, RowFacts, TopKInvariance, weakest
from sqlrank.registry.dependencies import find_dependencies
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.registry.metric import ParameterValue
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.registry.sql_file import SqlFile

TRUNCATED_RELATION = "retrieved_documents"
"""Relation that the ``rank_method=top_k`` plan truncates to each list's top k."""

MAX_DEPTH = 100_000
"""Largest k that the analysis tries."""

_UNKNOWN_ROWS = RowFacts(is_complete=False, lists_are_nonempty=False, columns={})
_IN_ANY_ORDER = {TopKInvariance.SCORE: TopKInvariance.ALL_ROWS}
_WHERE_MISSING = {
    TopKInvariance.DENSE_RANK: TopKInvariance.RANK,
    TopKInvariance.ALL_ROWS: TopKInvariance.TOP_K_ROWS,
    TopKInvariance.SCORE: TopKInvariance.TOP_K_ROWS,
    TopKInvariance.LIST_LENGTH: TopKInvariance.UNKNOWN,
}
"""Classes of columns after a left join, which gives NULL for missing rows."""


def required_depth(library: Registry, metric: ResolvedMetric, plan: Mapping[str, ParameterValue]) -> int | None:
    """Return the number of top documents per list that determine a metric under a plan.

    Returns 0 if it reads no ranked documents, and None if it depends on whole lists. ``plan`` is the plan that truncates lists.
    """
    settings = {name: value[0] if isinstance(value, tuple) and _is_many(metric, name) else value for name, value in metric.settings.items()}
    return _first(library, metric.file, tuple(sorted({**settings, **plan}.items())))


def _is_many(metric: ResolvedMetric, name: str) -> bool:
    return name in metric.file.params and metric.file.params[name].type == "numbers"


@lru_cache(maxsize=1024)
def _first(library: Registry, file: SqlFile, settings: tuple[tuple[str, ParameterValue], ...]) -> int | None:
    if TRUNCATED_RELATION not in find_dependencies(library, file, dict(settings)).relations:
        return 0
    if file.kind == "curves":
        return None
    compared_numbers: set[int] = set()
    tried = 0
    while (
        depth := min((number for number in compared_numbers if number > tried), default=None if tried else 1)
    ) is not None and depth <= MAX_DEPTH:
        tried = depth
        rows = _RelationAnalyzer(library, dict(settings), depth, compared_numbers).rows(file)
        if rows.is_complete and rows.columns is not None and list(rows.columns.values())[-1] is TopKInvariance.ALL_ROWS:
            return depth
    return None


@lru_cache(maxsize=4096)
def _rows(
    library: Registry, file: SqlFile, settings: tuple[tuple[str, ParameterValue], ...], first: int
) -> tuple[RowFacts, frozenset[int]]:
    """Analyze a relation, shared by metrics; also return the numbers that ranks are compared with."""
    compared_numbers: set[int] = set()
    rows = _RelationAnalyzer(library, dict(settings), first, compared_numbers).rows(file)
    return rows, frozenset(compared_numbers)


class _RelationAnalyzer:
    """Analyzer of relations when each list is truncated to its top k documents."""

    def __init__(self, library: Registry, settings: Mapping[str, ParameterValue], first: int, compared_numbers: set[int]) -> None:
        self.library = library
        self.settings = settings
        self.first = first
        self.compared_numbers = compared_numbers

    def rows(self, file: SqlFile) -> RowFacts:
        """Analyze the rows of a file."""
        return self._query(bind_parameters(self.library, file.tree, self.settings, file.params))

    def _relation(self, name: str) -> RowFacts:
        if name in self.library.roles:
            return RowFacts()
        file = self.library.relation(name, self.settings)
        if name == TRUNCATED_RELATION:
            columns = {column: TopKInvariance.SCORE if column == "score" else TopKInvariance.ALL_ROWS for column in file.tree.named_selects}
            return RowFacts(is_complete=False, columns=columns)
        dependencies = find_dependencies(self.library, file, self.settings)
        if TRUNCATED_RELATION not in dependencies.relations:
            return RowFacts()
        settings = tuple((name, self.settings[name]) for name in sorted(dependencies.settings & self.settings.keys()))
        rows, compared_numbers = _rows(self.library, file, settings, self.first)
        self.compared_numbers |= compared_numbers
        return rows

    def _query(self, query: Any) -> RowFacts:
        if isinstance(query, exp.Union):
            return _both(self._query(query.left), self._query(query.right), query.named_selects)
        return self._select(query) if isinstance(query, exp.Select) else _UNKNOWN_ROWS

    def _source(self, node: exp.Expr) -> RowFacts:
        return self._query(node.this) if isinstance(node, exp.Subquery) else self._relation(node.name)

    def _select(self, select: exp.Select) -> RowFacts:
        base_source = select.args["from_"].this
        base_rows = self._source(base_source)
        scope = _AnalyzedScope({base_source.alias_or_name: base_rows}, base_rows.is_complete, base_rows.lists_are_nonempty)
        joins = [(join, self._source(join.this)) for join in select.args.get("joins") or []]
        if not all(scope.join(join, rows) for join, rows in joins):
            return _UNKNOWN_ROWS
        names = select.named_selects
        scope.put_numbers(select)
        where = select.args.get("where")
        for condition in [] if where is None else list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]:
            if not scope.keep(condition.unnest(), self._values(scope)):
                return _UNKNOWN_ROWS
        is_grouped = select.args.get("group") is not None or any(
            not isinstance(aggregate.parent, exp.Window)
            for select_item in select.expressions
            for aggregate in find_nodes(select_item, exp.AggFunc)
        )
        expressions = dict(zip(names, (select_item.unalias() for select_item in select.expressions), strict=True))
        return self._aggregate_facts(select, expressions, scope) if is_grouped else self._row_facts(expressions, scope)

    def _values(self, scope: _AnalyzedScope) -> ExpressionFacts:
        return ExpressionFacts(scope.sources, self.first, self.compared_numbers)

    def _row_facts(self, expressions: Mapping[str, exp.Expr], scope: _AnalyzedScope) -> RowFacts:
        """Analyze a SELECT without aggregation: one row per row of the sources."""
        values = self._values(scope)
        numbers = {name: literal for name, expression in expressions.items() if (literal := _number(expression)) is not None}
        return RowFacts(
            scope.is_complete,
            scope.lists_are_nonempty,
            {name: values.invariance(expression) for name, expression in expressions.items()},
            numbers,
        )

    def _aggregate_facts(self, select: exp.Select, expressions: Mapping[str, exp.Expr], scope: _AnalyzedScope) -> RowFacts:
        """Analyze a SELECT with aggregation: one row per group.

        Truncation never removes the group of a list with top-k rows.
        """
        values = self._values(scope)
        keys = select.args["group"].expressions if select.args.get("group") else []
        if any(weakest([values.invariance(key)]) is not TopKInvariance.ALL_ROWS for key in keys):
            return _UNKNOWN_ROWS
        names = {key.name for key in keys}
        grouped = _AggregateFacts(scope, names, self.first, self.compared_numbers)
        columns = {name: grouped.invariance(expression) for name, expression in expressions.items()}
        return RowFacts(scope.is_complete or (scope.lists_are_nonempty and names <= LIST_KEYS), scope.lists_are_nonempty, columns)


class _AggregateFacts(ExpressionFacts):
    """Classes of expressions over groups."""

    def __init__(self, scope: _AnalyzedScope, keys: set[str], first: int, compared_numbers: set[int]) -> None:
        super().__init__(scope.sources, first, compared_numbers)
        self.rows = ExpressionFacts(scope.sources, first, compared_numbers)
        self.scope = scope
        self.keys = keys

    def invariance(self, node: exp.Expr, within_top_k: bool = False) -> TopKInvariance:
        """Return the class of an expression over a group."""
        return self._aggregate(node) if isinstance(node, exp.AggFunc) else super().invariance(node, within_top_k)

    def _aggregate(self, node: exp.AggFunc) -> TopKInvariance:
        if isinstance(node.this, exp.Star):
            is_length = self.keys == {"list_id"} and self.rows.has_scores
            return (
                TopKInvariance.ALL_ROWS if self.scope.is_complete else TopKInvariance.LIST_LENGTH if is_length else TopKInvariance.UNKNOWN
            )
        operand_invariance = self.rows.invariance(node.this)
        if isinstance(node, exp.Min) and operand_invariance in {TopKInvariance.DENSE_RANK, TopKInvariance.RANK}:
            return operand_invariance
        if self.scope.is_complete:
            is_length = operand_invariance is TopKInvariance.LIST_LENGTH and isinstance(node, (exp.Min, exp.Max))
            return operand_invariance if is_length or operand_invariance is TopKInvariance.ALL_ROWS else TopKInvariance.UNKNOWN
        value_below = self.rows.value_below_top_k(node.this)
        adds_nothing = isinstance(value_below, exp.Null) or (isinstance(node, exp.Sum) and value_below == exp.Literal.number(0))
        has_every_list = self.scope.lists_are_nonempty and self.keys <= LIST_KEYS
        return (
            TopKInvariance.ALL_ROWS
            if has_every_list and adds_nothing and operand_invariance is TopKInvariance.ALL_ROWS
            else TopKInvariance.UNKNOWN
        )


@dataclass
class _AnalyzedScope:
    """The sources of a SELECT, with proven facts about its rows."""

    sources: dict[str, RowFacts]
    is_complete: bool
    lists_are_nonempty: bool

    def join(self, join: exp.Join, rows: RowFacts) -> bool:
        """Add a joined source; return False if the analysis cannot cover the join."""
        if rows.separates_rows and any(source.separates_rows for source in self.sources.values()):
            return False
        alias = join.this.alias_or_name
        condition = join.args.get("on") or exp.null()
        if (
            join.side not in {"", "LEFT"}
            or weakest([ExpressionFacts({**self.sources, alias: rows}, 0, set()).invariance(condition)]) is not TopKInvariance.ALL_ROWS
        ):
            return False
        if join.side == "LEFT":
            rows = RowFacts(columns=(rows if rows.is_complete else rows.with_invariances(_WHERE_MISSING)).columns)
        else:
            joins_lists = {key.name for key in find_nodes(condition, exp.Column)} <= LIST_KEYS
            self.is_complete, self.lists_are_nonempty = (
                self.is_complete and rows.is_complete,
                self.lists_are_nonempty and rows.lists_are_nonempty,
            )
            self.lists_are_nonempty = self.is_complete or (self.lists_are_nonempty and joins_lists)
        self.sources = {name: facts.with_invariances(_IN_ANY_ORDER) for name, facts in {**self.sources, alias: rows}.items()}
        return True

    def put_numbers(self, select: exp.Select) -> None:
        """Replace columns that are constant numbers by these numbers, and fold constants."""
        for column in find_nodes(select, exp.Column):
            for alias, rows in self.sources.items():
                if column.name in rows.numbers and column.table in {"", alias} and column.parent_select is select:
                    column.replace(rows.numbers[column.name].copy())
        fold_constants(select)

    def keep(self, condition: exp.Expr, values: ExpressionFacts) -> bool:
        """Apply a WHERE condition; return False if the analysis cannot cover it."""
        if values.implies_top_k(condition):
            self.is_complete = self.lists_are_nonempty = True
            changes = dict.fromkeys(TOP_K_ONLY, TopKInvariance.ALL_ROWS)
        elif values.has_rank(condition):
            self.lists_are_nonempty = self.lists_are_nonempty and not self.is_complete
            self.is_complete = False
            changes = {TopKInvariance.RANK: TopKInvariance.DENSE_RANK}
        elif values.is_invariant(condition):
            self.lists_are_nonempty = self.is_complete
            changes = {}
        else:
            return False
        self.sources = {alias: rows.with_invariances({**changes, **_IN_ANY_ORDER}) for alias, rows in self.sources.items()}
        return True


def _both(left_rows: RowFacts, right_rows: RowFacts, names: list[str]) -> RowFacts:
    """Combine the rows of both sides of a UNION ALL."""
    columns = {}
    for name, left_class, right_class in zip(names, (left_rows.columns or {}).values(), (right_rows.columns or {}).values(), strict=False):
        classes = {left_class, right_class}
        if classes == {TopKInvariance.LIST_LENGTH}:
            columns[name] = left_class
        elif classes <= {TopKInvariance.ALL_ROWS, TopKInvariance.RANK, TopKInvariance.DENSE_RANK} and classes & {
            TopKInvariance.RANK,
            TopKInvariance.DENSE_RANK,
        }:
            columns[name] = TopKInvariance.RANK  # top-k rows are then those with a rank up to k
        else:
            columns[name] = weakest(classes)
    return RowFacts(
        left_rows.is_complete and right_rows.is_complete, left_rows.lists_are_nonempty and right_rows.lists_are_nonempty, columns
    )


def _number(node: exp.Expr) -> exp.Expr | None:
    inner = node.this if isinstance(node, exp.Cast) else node
    return inner if isinstance(inner, exp.Literal) and inner.is_number else None
