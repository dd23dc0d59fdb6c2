"""What can be wrong with a row of an input: the rules of its file that hold for the columns which are read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.library.selects import Rule, edited, read_select

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

NEVER_NULL = (exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Not, exp.Connector, exp.Predicate, exp.IsNan, exp.IsInf, exp.Abs)
"""What is not NULL if no column in it is, so that NOT turns it round."""


@dataclass(frozen=True, eq=False)
class Rules:
    """The query that counts what breaks the rules of a role, the condition that each counts, and what breaking it means.

    They are kept for the next call: whoever changes a tree copies it before.
    """

    query: exp.Select
    conditions: dict[str, exp.Expr]
    meanings: dict[str, str]


def rules(path: Path | None, columns: Sequence[str], required: Sequence[str] = (), type_of: Callable[[str], str] = lambda _: "") -> Rules:
    """Return the rules for these columns; without a file only rows are counted.

    ``required`` is what metrics require, such as ``binary labels``; ``type_of`` tells which columns cannot be NaN.
    """
    fractional = frozenset(name for name in columns if _can_be_nan(type_of(name)))
    return _rules(path, 0 if path is None else edited(path), tuple(columns), tuple(required), fractional)


@lru_cache(maxsize=256)
def _rules(path: Path | None, edit: int, columns: tuple[str, ...], required: tuple[str, ...], fractional: frozenset[str]) -> Rules:  # noqa: ARG001  the edit is part of the key
    tree = exp.select("COUNT(*) AS all_rows") if path is None else read_select(path)
    tree.set("from_", None)
    conditions: dict[str, exp.Expr] = {}
    meanings: dict[str, str] = {}
    for column in list(tree.selects):
        rule = Rule(column)
        named_here = {
            found.name for found in column.find_all(exp.Column) if not found.find_ancestor(exp.Comprehension) or found.name in columns
        }
        condition = None if not rule.meaning else _broken(column)
        keep = named_here <= set(columns) and (not rule.requirement or rule.requirement in required)
        if condition is not None:
            keep = keep and not ("NAN" in condition.sql() and not named_here & fractional)
        if not keep:
            column.pop()
        elif condition is not None:
            conditions[rule.name], meanings[rule.name] = condition, rule.meaning
        column.comments = None
    return Rules(tree, conditions, meanings)


def sound(conditions: Sequence[exp.Expr]) -> exp.Expr | None:
    """Return the condition that a row breaks none of these rules, cheaper than that it breaks one; None if it may be unknown of a sound row.

    Whatever is one of several numbers, or between two, is neither NULL nor NaN nor infinite: that need not be asked beside it.
    """
    known = {condition.this for condition in conditions if isinstance(condition, exp.Is)}
    others = [condition for condition in conditions if not isinstance(condition, exp.Is)]
    if not all(
        known.issuperset(rule.find_all(exp.Column)) and all(isinstance(node, NEVER_NULL) for node in rule.walk()) for rule in others
    ):
        return None
    bounds = [_bound(condition) for condition in conditions]
    bounded = {bound.this for bound in bounds if bound is not None}
    asked = [
        bound or exp.not_(condition.copy())
        for condition, bound in zip(conditions, bounds, strict=True)
        if bound is not None or not _is_implied(condition, bounded)
    ]
    return exp.and_(*asked, copy=False) if asked else None


def _bound(condition: exp.Expr) -> exp.Expr | None:
    """Return what holds of a column of which a condition says that it is none of some numbers, or not between two; None of others."""
    if isinstance(condition, exp.Not) and isinstance(condition.this, exp.In) and isinstance(condition.this.this, exp.Column):
        return condition.this.copy()
    if isinstance(condition, exp.Or) and isinstance(condition.left, exp.LT) and isinstance(condition.right, exp.GT):
        (column, low), (other, high) = (side.unnest_operands() for side in (condition.left, condition.right))
        if column == other and isinstance(column, exp.Column) and isinstance(low, exp.Literal) and isinstance(high, exp.Literal):
            return exp.Between(this=column.copy(), low=low.copy(), high=high.copy())
    return None


def _is_implied(condition: exp.Expr, bounded: set[exp.Expr]) -> bool:
    """Whether a condition only says that a column is NULL, NaN or infinite which is known to be between numbers."""
    parts = condition.flatten() if isinstance(condition, exp.Or) else [condition]
    return all(isinstance(part, exp.Is | exp.IsNan | exp.IsInf) and part.this in bounded for part in parts)


def _broken(column: exp.Expr) -> exp.Expr:
    """Return the condition that a column counts: that of its CASE, or that what ``COUNT(*) - COUNT(x)`` counts is NULL."""
    case = column.find(exp.If)
    return case.this if case is not None else exp.Is(this=next(column.find_all(exp.Column)).copy(), expression=exp.Null())


def _can_be_nan(kind: str) -> bool:
    return kind in {"FLOAT", "DOUBLE", ""} or kind.startswith("DECIMAL")
