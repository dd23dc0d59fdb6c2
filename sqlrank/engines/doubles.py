"""Which expressions are doubles already: so that a cast is written where an engine needs one, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.library.nodes import DOUBLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.engines.dialects import Dialect

Columns = dict[str, bool]
"""The columns of a step, and whether each is a double."""

_SAME = (
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
"""What is a double if its first argument is one."""

_ALWAYS = (exp.Div, exp.Ln, exp.Exp, exp.Sqrt, exp.Avg, exp.CumeDist, exp.PercentileCont)
"""What is a double whatever it is of; divisions are written so that they are."""


class Doubles:
    """The doubles of a statement, found from its inputs on; ``note`` reads its steps in order."""

    def __init__(self, target: Dialect) -> None:
        self.target = target
        self.steps: dict[str, Columns] = {}
        self._scopes: dict[int, Mapping[str, Columns]] = {}

    def note(self, tree: exp.Expr) -> None:
        """Find the doubles of every step and subquery."""
        with_ = tree.find(exp.With)
        for step in with_.expressions if with_ else ():
            self.steps[step.alias] = self._query(step.this)
        body = tree.expression if isinstance(tree, (exp.DDL, exp.Insert)) else tree
        if isinstance(body, exp.Query):
            self._query(body)

    def _query(self, query: exp.Expr) -> Columns:
        if isinstance(query, exp.Union):
            parts: list[Columns] = []
            while isinstance(query, exp.Union):
                parts.append(self._query(query.right))
                query = query.left
            found = self._query(query)
            return dict(zip(found, map(any, zip(found.values(), *(part.values() for part in parts), strict=True)), strict=True))
        if not isinstance(query, exp.Select):
            return {}
        scope: dict[str, Columns] = {}
        for clause in (query.args.get("from_"), *(query.args.get("joins") or [])):
            if clause is not None:
                source = clause.this
                inner = self._query(source.this) if isinstance(source, exp.Subquery) else self.steps.get(source.name, {})
                scope[source.alias_or_name] = inner
        self._scopes[id(query)] = scope
        if query.is_star:
            return {name: is_double for columns in scope.values() for name, is_double in columns.items()}
        return {item.alias_or_name: self.is_double(item) for item in query.expressions}

    def is_double(self, node: exp.Expr | None) -> bool:
        """Whether an expression is a double in this dialect."""
        if node is None:
            return False
        if isinstance(node, exp.Column):
            return node.is_type(DOUBLE) or self._column(node)
        if isinstance(node, exp.Cast):
            return node.is_type(DOUBLE)
        if isinstance(node, _ALWAYS):
            return True
        if isinstance(node, exp.Literal):
            return self._literal(node)
        if isinstance(node, _SAME):
            return self.is_double(node.this)
        if isinstance(node, (exp.Add, exp.Sub, exp.Mul)):
            return self.is_double(node.this) or self.is_double(node.expression)
        if isinstance(node, exp.Coalesce):
            return self._any([node.this, *node.expressions])
        if isinstance(node, exp.Case):
            return self._any([*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")])
        return isinstance(node, exp.Floor) and self.target.floors_to_double and self.is_double(node.this)

    def _any(self, nodes: list[exp.Expr | None]) -> bool:
        """Whether a choice between expressions is a double: if one is, but where values keep the types that they have."""
        there = [self.is_double(node) for node in nodes if node is not None and not isinstance(node, exp.Null)]
        return bool(there) and (all(there) if self.target.types_are_of_values else any(there))

    def _literal(self, node: exp.Literal) -> bool:
        if node.is_string or node.is_int:
            return False
        return self.target.decimals_are_doubles or (self.target.exponents_are_doubles and "e" in node.this.lower())

    def _column(self, node: exp.Column) -> bool:
        scope = self._scopes.get(id(node.parent_select), {})
        if node.table:
            return scope.get(node.table, {}).get(node.name, False)
        return any(columns.get(node.name, False) for columns in scope.values())
