"""Abstract domain of the top-k analysis.

It compares expressions on each list's top k with those on the full list.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LIST_KEYS = {"list_id", "group_id", "query_id"}
"""Keys that do not distinguish documents of the same list."""

MISSING_RANK = 2_147_483_646
"""Smallest number that files substitute for a NULL rank, greater than any list length."""


class TopKInvariance(Enum):
    """Invariance classes: how a column compares with itself when lists are truncated to k documents.

    *Kept* rows are those of documents whose score is among the k greatest or tied with the last of these.

    - ALWAYS: unchanged in every row
    - SCORE: unchanged, and the column whose greatest values are kept
    - PLACE: unchanged in kept rows; in all other rows greater than k and than all kept values; never NULL
    - RANK: like PLACE, or NULL in rows that are not kept
    - KEPT: unchanged in kept rows
    - LENGTH: number of documents of a list, unchanged up to k
    - LOST: not proven to be unchanged
    """

    ALL_ROWS = "the same in every row"
    SCORE = "the same, and what documents are kept by, greatest first"
    DENSE_RANK = "the same in kept rows; in others above K and above what all kept ones have; never NULL"
    RANK = "as PLACE, or NULL in rows that are not kept"
    TOP_K_ROWS = "the same in kept rows"
    LIST_LENGTH = "how many documents a list has: the same up to K"
    UNKNOWN = "not known to be the same"


TOP_K_ONLY = {TopKInvariance.DENSE_RANK, TopKInvariance.RANK, TopKInvariance.TOP_K_ROWS}


@dataclass(frozen=True)
class RowFacts:
    """Facts about the rows of a source.

    Attributes:
        is_complete: No row is missing.
        lists_are_nonempty: Every list that has rows has kept ones.
        columns: Classes of columns by name, None if all are unchanged.
        numbers: Columns that are constant numbers.
    """

    is_complete: bool = True
    lists_are_nonempty: bool = True
    columns: Mapping[str, TopKInvariance] | None = None
    numbers: Mapping[str, exp.Expr] = field(default_factory=dict)

    @property
    def separates_rows(self) -> bool:
        """True if rows differ between truncated and full lists."""
        return not self.is_complete or bool(TOP_K_ONLY & set((self.columns or {}).values()))

    def with_invariances(self, changes: Mapping[TopKInvariance, TopKInvariance]) -> RowFacts:
        """Return a copy with the classes of columns replaced."""
        columns = None if self.columns is None else {name: changes.get(invariance, invariance) for name, invariance in self.columns.items()}
        return replace(self, columns=columns)

    def column_invariance(self, name: str) -> TopKInvariance:
        """Return the class of a column."""
        return TopKInvariance.ALL_ROWS if self.columns is None else self.columns.get(name, TopKInvariance.UNKNOWN)


def weakest(classes: Iterable[TopKInvariance]) -> TopKInvariance:
    """Return the class of a row-wise expression over columns of these classes."""
    distinct_classes = set(classes)
    if distinct_classes & {TopKInvariance.UNKNOWN, TopKInvariance.LIST_LENGTH}:
        return TopKInvariance.UNKNOWN
    return TopKInvariance.TOP_K_ROWS if distinct_classes & TOP_K_ONLY else TopKInvariance.ALL_ROWS


class ExpressionFacts:
    """Classes of expressions over the sources of one SELECT, for lists truncated to ``first`` documents.

    Numbers that ranks and lengths are compared with are added to ``compared_numbers``.
    """

    def __init__(self, sources: Mapping[str, RowFacts], first: int, compared_numbers: set[int]) -> None:
        self.sources = sources
        self.first = first
        self.compared_numbers = compared_numbers

    def column(self, node: exp.Column) -> TopKInvariance:
        """Return the class of a column of one of the sources."""
        if node.table:
            return self.sources[node.table].column_invariance(node.name) if node.table in self.sources else TopKInvariance.UNKNOWN
        matching_sources = [rows for rows in self.sources.values() if rows.columns is None or node.name in rows.columns]
        return matching_sources[0].column_invariance(node.name) if len(matching_sources) == 1 else TopKInvariance.UNKNOWN

    @property
    def has_scores(self) -> bool:
        """True if a source has the score column by which documents are kept."""
        return any(TopKInvariance.SCORE in (rows.columns or {}).values() for rows in self.sources.values())

    def invariance(self, node: exp.Expr, within_top_k: bool = False) -> TopKInvariance:
        """Return the class of an expression; ``within_top_k`` restricts the analysis to kept rows."""
        if isinstance(node, exp.Column):
            column_invariance = self.column(node)
            return TopKInvariance.ALL_ROWS if within_top_k and column_invariance in TOP_K_ONLY else column_invariance
        if isinstance(node, exp.Paren):
            return self.invariance(node.this, within_top_k)
        if isinstance(node, exp.Case):
            return self._case(node, within_top_k)
        if isinstance(node, exp.Window):
            return self._window(node)
        if isinstance(node, exp.Query):
            return TopKInvariance.UNKNOWN
        return weakest(self.invariance(operand, within_top_k) for operand in _operands(node))

    def implies_top_k(self, node: exp.Expr) -> bool:
        """Return True if a condition implies a rank of at most k."""
        node = node.unnest()
        if isinstance(node, exp.And):
            return self.implies_top_k(node.this) or self.implies_top_k(node.expression)
        return isinstance(node, (exp.LTE, exp.LT, exp.EQ)) and self._is_rank(node.this) and self._is_read(node.expression)

    def has_rank(self, node: exp.Expr) -> bool:
        """Return True if a condition holds for all ranked rows.

        It also accepts conditions that a rank is at most a number.
        """
        if isinstance(node, exp.Not) and is_null(node.this.unnest()):
            return self._is_rank(node.this.unnest().this)
        return isinstance(node, exp.LTE) and self._is_rank(node.this) and _integer_literal(node.expression) is not None

    def implies_below_top_k(self, node: exp.Expr) -> bool:
        """Return True if a condition holds for all rows that are not kept.

        For kept rows it must hold as on the full list. Such a condition requires a rank greater than a number up to k, or a NULL rank.
        """
        node = node.unnest()
        if isinstance(node, exp.Or):
            operands = [node.this.unnest(), node.expression.unnest()]
            comparison = next((operand for operand in operands if isinstance(operand, exp.GT)), None)
            null_test = next((operand for operand in operands if is_null(operand)), None)
            has_same_operand = comparison is not None and null_test is not None and comparison.this == null_test.this
            return has_same_operand and self._is_rank(comparison.this) and self._is_read(comparison.expression)  # type: ignore[union-attr]
        return isinstance(node, exp.GT) and self.invariance(node.this) is TopKInvariance.DENSE_RANK and self._is_read(node.expression)

    def is_invariant(self, node: exp.Expr, within_top_k: bool = False) -> bool:
        """Return True if a condition holds for the same rows on truncated lists."""
        node = node.unnest()
        if isinstance(node, exp.And):
            operands_within = within_top_k or self.implies_top_k(node)
            return all(
                self.implies_top_k(operand) or self.is_invariant(operand, operands_within) for operand in (node.this, node.expression)
            )
        if self.implies_top_k(node) or self.implies_below_top_k(node):
            return True
        if isinstance(node, exp.Or):
            return self.is_invariant(node.this, within_top_k) and self.is_invariant(node.expression, within_top_k)
        return weakest([self.invariance(node, within_top_k)]) is TopKInvariance.ALL_ROWS

    def value_below_top_k(self, node: exp.Expr) -> exp.Expr | None:
        """Return the constant value in all rows that are not kept, if known."""
        node = node.unnest()
        if not isinstance(node, exp.Case) or not all(self.implies_top_k(branch.this) for branch in node.args["ifs"]):
            return None
        default_value = node.args.get("default") or exp.Null()
        return default_value if isinstance(default_value, (exp.Null, exp.Literal)) else None

    def _is_rank(self, node: exp.Expr) -> bool:
        return self.invariance(node) in {TopKInvariance.RANK, TopKInvariance.DENSE_RANK}

    def _is_read(self, node: exp.Expr) -> bool:
        """Return True if a literal is at most k.

        The literal is recorded as a candidate for k.
        """
        number = _integer_literal(node)
        if number is None:
            return False
        self.compared_numbers.add(number)
        return number <= self.first

    def _case(self, node: exp.Case, within_top_k: bool) -> TopKInvariance:
        branches = node.args["ifs"]
        default = node.args.get("default") or exp.Null()
        if node.this is not None:
            return weakest(self.invariance(operand, within_top_k) for operand in _operands(node))
        if len(branches) == 1 and (idiom_class := self._guarded_invariance(branches[0], default)):
            return idiom_class
        classes = []
        for branch in branches:
            if self.is_invariant(branch.this, within_top_k):
                classes.append(self.invariance(branch.args["true"], within_top_k or self.implies_top_k(branch.this)))
                within_top_k = within_top_k or self.implies_below_top_k(branch.this)
            else:
                classes += [self.invariance(branch.this, within_top_k), self.invariance(branch.args["true"], within_top_k)]
        return weakest([*classes, self.invariance(default, within_top_k)])

    def _guarded_invariance(self, branch: exp.If, default: exp.Expr) -> TopKInvariance | None:
        """Return the class of two idioms.

        These are a rank with a number for NULL, and a capped list length.
        """
        condition, value = branch.this.unnest(), branch.args["true"]
        if is_null(condition) and condition.this == default and self._is_rank(default):
            return TopKInvariance.DENSE_RANK if (_integer_literal(value) or 0) >= MISSING_RANK else None
        if isinstance(condition, (exp.GT, exp.LT)) and self.invariance(condition.this) is TopKInvariance.LIST_LENGTH:
            capped_length = (
                (condition.expression, condition.this) if isinstance(condition, exp.GT) else (condition.this, condition.expression)
            )
            return (
                TopKInvariance.ALL_ROWS
                if capped_length == (value, default) and self._is_read(condition.expression)
                else TopKInvariance.UNKNOWN
            )
        return None

    def _window(self, node: exp.Window) -> TopKInvariance:
        function, frame = node.this, node.args.get("spec")
        partition = node.args.get("partition_by") or []
        terms = node.args["order"].expressions if node.args.get("order") else []
        order = [term.this for term in terms]
        is_downward = bool(terms and terms[0].args.get("desc"))
        if any(weakest([self.invariance(expression)]) is not TopKInvariance.ALL_ROWS for expression in [*partition, *order[1:]]):
            return TopKInvariance.UNKNOWN
        names = {expression.name for expression in partition if isinstance(expression, exp.Column)}
        counts_documents = isinstance(function, (exp.RowNumber, exp.Rank, exp.Count)) and (
            isinstance(function.this, exp.Star) or function.this is None
        )
        if counts_documents and frame is None and names == {"list_id"} and len(partition) == 1 and self.has_scores:
            if not order:
                return TopKInvariance.LIST_LENGTH
            if self.invariance(order[0]) is TopKInvariance.SCORE and is_downward:
                return TopKInvariance.DENSE_RANK
        operand_class = weakest(self.invariance(operand) for operand in _operands(function))
        if (
            order
            and self.invariance(order[0]) is TopKInvariance.DENSE_RANK
            and not is_downward
            and "list_id" in names
            and _reads_preceding_rows(function, frame)
        ):
            return TopKInvariance.UNKNOWN if operand_class is TopKInvariance.UNKNOWN else TopKInvariance.TOP_K_ROWS
        is_complete = all(rows.is_complete for rows in self.sources.values())
        has_same_order = not order or weakest([self.invariance(order[0])]) is TopKInvariance.ALL_ROWS
        return (
            TopKInvariance.ALL_ROWS
            if is_complete and has_same_order and operand_class is TopKInvariance.ALL_ROWS
            else TopKInvariance.UNKNOWN
        )


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """Return the operands of an expression, without types and names."""
    operands = (operand for value in node.args.values() for operand in (value if isinstance(value, list) else [value]))
    return [operand for operand in operands if isinstance(operand, exp.Expr) and not isinstance(operand, (exp.DataType, exp.Identifier))]


def is_null(node: exp.Expr) -> bool:
    """Return True if an expression tests for NULL."""
    return isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)


def _integer_literal(node: exp.Expr) -> int | None:
    node = node.unnest()
    return int(node.this) if isinstance(node, exp.Literal) and node.is_number and str(node.this).isdigit() else None


def _reads_preceding_rows(function: exp.Expr, frame: exp.Expr | None) -> bool:
    """Return True if a window function reads no rows after the current one."""
    if not isinstance(function, (exp.RowNumber, exp.Rank, exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)):
        return False
    if frame is None:
        return True
    start, end, end_side = (frame.args.get(name) for name in ("start", "end", "end_side"))
    return start == "UNBOUNDED" and (end == "CURRENT ROW" or end_side == "PRECEDING")
