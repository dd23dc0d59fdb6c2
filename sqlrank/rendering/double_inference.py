"""Infer the expressions of a statement that are DOUBLE, so that casts are only written if an engine needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.query_text import expression_text
from sqlrank.sql_ast import DOUBLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.rendering.dialects import Dialect

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
