"""How far the rows of a step move a metric: by the derivative of its expression, or as the relation says that its file names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import sqlglot
from sqlglot import exp

from sqlrank.library.nodes import nodes
from sqlrank.statement.bind import bind, literal
from sqlrank.statement.influence import added, terms
from sqlrank.statement.rows import double

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlrank.library.asked import Asked
    from sqlrank.statement.relations import Relations
    from sqlrank.statement.rows import Column

PER_ROW = {"predictions", "queries", "clusters"}
"""What each row of a relation may be, under which its rows are units, or parts of them: ``-- Units: predictions``."""


@dataclass(frozen=True)
class Rows:
    """The rows that move metrics: their step, the columns that tell units apart among them, and what a row is.

    Rows are ``values`` of metrics, of which a NULL is no unit; ``parts`` of units, or each of them one; or ``alike``: units that move a
    metric as far, taken together.
    """

    step: str
    units: tuple[str, ...]
    kind: Literal["values", "parts", "alike"]


def find(relations: Relations, query: exp.Select, column: Column, of_values: bool) -> tuple[Rows, exp.Expr] | None:
    """Return the rows that move a metric, and how far each does, an expression over ``r``, the rows, and ``m``, the metrics of its group.

    Derivatives are added to the query of the metrics. Return None for what has none.
    """
    if "No interval" in column.asked.file.facts:
        return None
    base = query.args["from_"].this.name
    if of_values and isinstance(_value(relations, query, column), exp.Avg):
        return Rows(base, (), "values"), deviation(column)
    if of_values:
        move = _derived(relations, query, column, None)
        return None if move is None else (Rows(base, (), "values"), _of_values(move, column))
    if "Influence" in column.asked.file.facts:
        return _named(relations, column.asked)
    below = _units_of(relations, column.asked, base)
    if below is None:
        return None
    move = _derived(relations, query, column, None if below == base else relations.ctes[base])
    return None if move is None else (Rows(below, tuple(relations.units(below)), "parts"), move)


def deviation(column: Column) -> exp.Expr:
    """Return how far a value is from the mean that a metric is, for which no derivative is needed."""
    return exp.Sub(this=exp.column(column.alias, table="r"), expression=exp.column(column.alias, table="m"))


def by_rows(
    relations: Relations, query: exp.Select, columns: Sequence[Column], of_values: bool
) -> dict[Rows, list[tuple[Column, exp.Expr]]]:
    """Return the metrics of a step by the rows that move them, each with how far; without those that nothing is known to move."""
    found: dict[Rows, list[tuple[Column, exp.Expr]]] = {}
    for column in columns:
        if (item := find(relations, query, column, of_values)) is not None:
            found.setdefault(item[0], []).append((column, item[1]))
    return found


def _named(relations: Relations, asked: Asked) -> tuple[Rows, exp.Expr] | None:
    """Read ``-- Influence: 2 * auc_move FROM movements``, which is for scores without an order of rows, and for functions by default."""
    others = [choice.name for choice in asked.file.choices.values() if asked.settings.get(choice.name) != choice.default]
    if others or asked.settings.get("ties") is not None:
        return None
    said: Any = sqlglot.parse_one(f"SELECT {asked.file.facts['Influence']}", read="duckdb")
    move = bind(relations.library, said.selects[0], asked.settings, asked.file.params)
    step = relations.read(said.args["from_"].this.name, asked.settings)
    units = tuple(relations.units(step))
    factor = exp.paren(move) if isinstance(move, exp.Binary) else move
    return Rows(step, units, "parts" if units else "alike"), _over_rows(exp.Mul(this=exp.column("force"), expression=factor))


def _units_of(relations: Relations, asked: Asked, step: str) -> str | None:
    """Return the step whose rows make up the units of another: itself, or the input that it adds up; None if that is not known."""
    name = asked.file.reads
    inputs = set(relations.inputs.values())
    if name in relations.library.roles:
        return step
    said = {file.facts.get("Units") for file in relations.library.variants(name)}
    if len(said) == 1 and said <= PER_ROW:
        missing = said == {"predictions"} and any(map(relations.units, inputs)) and not relations.units(step)
        return None if missing else step
    below: str = relations.ctes[step].args["from_"].this.name if _is_one_sum(relations.ctes[step]) else ""
    return below if below in inputs else None


def _is_one_sum(query: exp.Query) -> bool:
    """Whether a step only adds up the rows of another, so that it has one row per group."""
    if not isinstance(query, exp.Select) or any(query.args.get(clause) for clause in ("joins", "where", "having", "distinct")):
        return False
    group = query.args.get("group", exp.Group()).expressions
    shown = [item.unalias() for item in query.selects]
    return all(item in group or item.find(exp.AggFunc) or not item.find(exp.Column) for item in shown)


def _derived(relations: Relations, query: exp.Select, column: Column, adding: exp.Query | None) -> exp.Expr | None:
    """Select the derivatives of a metric beside it; return how far a row moves it. ``adding`` is the step that adds up the rows, if any."""
    held = terms(_value(relations, query, column))
    if held is None:
        return None
    totals = [total for summed in held if (total := summed if adding is None else _below(summed, adding)) is not None]
    if len(totals) < len(held):
        return None
    moves: list[exp.Expr] = []
    for number, (total, derivative) in enumerate(zip(totals, held.values(), strict=True), start=1):
        name = f"{column.alias}_by_{number}"
        query.select(exp.alias_(double(derivative), name), copy=False)
        adds = _over_rows(added(total))
        factor = exp.column(name, table="m")
        closed = exp.paren(adds) if isinstance(adds, exp.Binary) else adds
        moves.append(factor if adds == literal(1) else exp.Mul(this=factor, expression=closed))
    return reduce(lambda one, two: exp.Add(this=one, expression=two), moves)


def _below(total: exp.Expr, adding: exp.Query) -> exp.Expr | None:
    """Return the sum that a column is of which the only row of a group is added up."""
    if not isinstance(total, exp.Sum) or not isinstance(total.this, exp.Column):
        return None
    found: exp.Expr = next(item for item in adding.selects if item.alias_or_name == total.this.name).unalias()
    return found if isinstance(found, exp.Sum) else None


def _over_rows(node: exp.Expr) -> exp.Expr:
    node = node.copy()
    for column in node.find_all(exp.Column):
        column.set("table", exp.to_identifier("r"))
    return node


def _of_values(move: exp.Expr, column: Column) -> exp.Expr:
    """Return how far a value moves its mean: NULL, which is none, where there is no value, or it weighs nothing."""
    is_unit: list[exp.Expr] = []
    if can_be_null(column):
        is_unit.append(exp.Not(this=exp.Is(this=exp.column(column.alias, table="r"), expression=exp.Null())))
    if any(read.name == "weight" for read in nodes(move, exp.Column)):
        is_unit.append(exp.GT(this=exp.column("weight", table="r"), expression=literal(0)))
    return exp.Case(ifs=[exp.If(this=exp.and_(*is_unit, wrap=False), true=move)]) if is_unit else move


def can_be_null(column: Column) -> bool:
    """Whether a query may have no value: not where the policy gives those without relevant documents one."""
    is_filled = column.unit == "list" and column.asked.settings.get("no_relevant", "zero") not in {"skip", "null"}
    return not (is_filled or column.asked.file.is_total)


def _value(relations: Relations, query: exp.Select, column: Column) -> exp.Expr:
    """Return the expression of a metric in the step that has it, or the one that a function of it names for intervals."""
    asked = column.asked
    instead = (
        {slot: said["Interval of"] for slot, said in _slots(relations, asked) if "Interval of" in said} if column.unit == "group" else {}
    )
    if instead:
        return relations.value(replace(asked, settings={**asked.settings, **instead}))
    value: exp.Expr = next(item for item in query.selects if item.alias_or_name == column.alias).unalias()
    return value.this if isinstance(value, exp.Cast) else value


def _slots(relations: Relations, asked: Asked) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Return the slots of a metric, and what the functions that fill them declare."""
    for choice in asked.file.choices.values():
        chosen = asked.settings.get(choice.name, choice.default)
        if choice.is_slot and isinstance(chosen, str):
            yield choice.name, relations.library.function(choice.name, chosen).facts
