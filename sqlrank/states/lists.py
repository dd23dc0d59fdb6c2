"""States of rankings: sums of the values that lists have of each metric, from which means, extremes and their spread follow."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.library.file import ALL
from sqlrank.library.metric import Metric
from sqlrank.library.refusals import takes
from sqlrank.statement.bind import literal
from sqlrank.statement.rows import double
from sqlrank.statement.statement import Output, Statement
from sqlrank.statement.values import aggregated
from sqlrank.states.split import column_of, split

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlrank.library.asked import Asked
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value

HOME = "run"
"""The input that metrics of rankings are of."""

ROLES = (HOME, "qrels", "predictions")
"""The inputs that a state may be made of, on which defaults depend."""

OF_CALLS = ("queries", "score_type", "nulls", "duplicates")
"""Policies that say which lists and rows there are: of a state once, and of none of its metrics."""

Parts = tuple[dict[str, exp.Expr], exp.Expr]
"""Aggregates by the names of their columns, and the formula over these."""


def parts_of(item: Asked, library: Library, *, weighted: bool) -> Parts:
    """Return the sums of the values of lists that a metric is made of, and the formula that puts them together.

    Raises:
        MetricError: a metric without a value per list, or an aggregate that sums do not give.
    """
    name = str(item.metric)
    if item.file.grain != "list":
        raise MetricError(
            f"{name} is one number of all lists together, such as which documents they show, and not made of a value for each: no sums of days "
            "give it; evaluate it from the run"
        )
    if isinstance(item.metric.cutoff, tuple):
        raise MetricError(
            f"{name} has a row for each cut-off; name those that the state is to have, such as {item.file.display_name}@[5,10]"
        )
    value = exp.column(value_of(item, library))
    is_weighted = weighted or item.settings.get("aggregate") == "wmean"
    found = split(aggregated(library, item, value, "list", weighted=is_weighted))
    if found is None or any(column.name == value.name for column in found[1].find_all(exp.Column)):
        raise MetricError(
            f"{name}: aggregate={item.settings.get('aggregate')} over all lists does not follow from that of each day; mean, wmean, gmean, sum, min "
            "and max do. Ask for it of a table with the value of each list, which evaluate(per_query=True) makes"
        )
    return found


def sums_of(item: Asked, library: Library, *, weighted: bool) -> dict[str, exp.Expr]:
    """Return all that a state keeps of a metric: what it is made of, and how many values there are, their sum, that of squares, and extremes.

    Where lists have weights these are kept of values as they weigh, too, and what the weights themselves add up to.
    """
    value = exp.column(value_of(item, library))
    kept: list[exp.Expr] = [*_moments(value).values(), exp.Min(this=value), exp.Max(this=value)]
    kept += _moments(value, weighted=True).values() if weighted else []
    found = {column_of(each): each.copy() for each in kept}
    for is_weighted in (False, *([True] if weighted else [])):
        plain = replace(item, settings={name: value for name, value in item.settings.items() if name != "aggregate"})
        found |= parts_of(plain, library, weighted=is_weighted)[0]
    return found | parts_of(item, library, weighted=weighted)[0]


def moments_of(item: Asked, library: Library, *, weighted: bool) -> dict[str, Parts]:
    """Return how many values a mean over lists is of, their sum and that of squares; nothing of what is no mean, or has no interval."""
    chosen = item.settings.get("aggregate", "wmean" if weighted else "mean")
    if chosen not in {"mean", "wmean"} or "No interval" in item.file.facts:
        return {}
    kept = _moments(exp.column(value_of(item, library)), weighted=chosen == "wmean")
    return {name: ({column_of(each): each.copy()}, exp.Sum(this=exp.column(column_of(each)))) for name, each in kept.items()}


def _moments(value: exp.Column, *, weighted: bool = False) -> dict[str, exp.Expr]:
    """Return the aggregates by which the spread of values is told: how many there are, and sums of them, by the power to which each stands there."""
    if not weighted:
        return {"count": exp.Count(this=value), "total": exp.Sum(this=value), "squares": exp.Sum(this=_product(value, value))}
    weight = exp.column("weight")
    is_null = exp.Is(this=value, expression=exp.Null())
    weights, squares = (
        exp.Sum(this=exp.Case(ifs=[exp.If(this=is_null, true=literal(0))], default=each)) for each in (weight, _product(weight, weight))
    )
    return {
        "count": exp.Count(this=exp.Case(ifs=[exp.If(this=exp.GT(this=weight, expression=literal(0)), true=value)])),
        "weights": weights,
        "total": exp.Sum(this=_product(weight, value)),
        "squared_weights": squares,
        "products": exp.Sum(this=_product(weight, weight, value)),
        "squares": exp.Sum(this=_product(weight, weight, value, value)),
    }


def _product(*factors: exp.Expr) -> exp.Expr:
    return reduce(lambda one, two: exp.Mul(this=one.copy(), expression=two.copy()), factors)


def value_of(item: Asked, library: Library) -> str:
    """Return the name of the value per list of a metric: its own, and eight digits of all that it depends on but which lists there are."""
    given = dict(item.metric.params)
    later = {"aggregate", *(name for file in library.functions["aggregate"].values() for name in file.params)}
    read = {name for name in takes(item, library) - later if name not in OF_CALLS and (name in given or not _is_implied(name, library))}
    said = {
        "metric": item.file.display_name,
        "cutoff": str(item.metric.cutoff),
        "value": item.file.tree.sql("duckdb"),
        "settings": {name: _setting(name, item, library) for name in sorted(read)},
    }
    digits = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:8]
    return f"{Metric(item.metric.name, (), item.metric.cutoff).slug}_{digits}"


def refuse_rows(policies: Mapping[str, Any], asked: Iterable[Asked], library: Library) -> None:
    """Refuse policies that say which lists there are, which a state of rankings was made by."""
    name = next((name for name in policies if name in OF_CALLS or (name in library.policies and _is_implied(name, library))), None)
    ranking = next((item for item in asked if item.home == HOME), None)
    if name is not None and ranking is not None:
        raise MetricError(
            f"{name} says which rows there are, as the state of {ranking.metric} was made; make one with {name}, and leave it out here"
        )


def said_of(asked: Iterable[Asked], library: Library) -> dict[str, Any]:
    """Return what the rows of a state of rankings are, beside their columns: their values, and which lists there are."""
    items = list(asked)
    names = [*OF_CALLS, *(name for name in library.policies if _is_implied(name, library) and name not in OF_CALLS)]
    return {
        "aggregates": sorted({name for item in items for name in sums_of(item, library, weighted=False)}),
        "lists": {
            name: next((item.settings[name] for item in items if name in item.settings), library.values_of(name)[0]) for name in names
        },
    }


def summed(statement: Statement, asked: Iterable[Asked], library: Library, rows: str) -> Statement:
    """Return the statement with sums of the values of lists in the place of metrics, and the number of lists as a column named ``rows``."""
    tree: Any = statement.tree.copy()
    step = tree.args["from_"].this.name
    (lists,) = (cte.this for cte in tree.ctes if cte.alias == step)
    weighted = "weight" in lists.named_selects
    keys: list[Any] = []
    audits: list[Any] = []
    sums: dict[str, exp.Expr] = {rows: exp.Count(this=exp.Star())}
    metrics = {str(item.metric): item for item in asked}
    for item, output in zip(tree.selects, statement.outputs, strict=True):
        if output.kind != "metric":
            (audits if output.kind == "audit" else keys).append((item, output))
            continue
        of_metric = metrics[output.name]
        name = value_of(of_metric, library)
        for column, each in sums_of(of_metric, library, weighted=weighted).items():
            sums.setdefault(column, _over(each, name, output.alias))
    columns = [(exp.alias_(double(each), name), Output(name, name, "value")) for name, each in sums.items()]
    found = [*keys, *columns, *audits]
    tree.set("expressions", [item for item, _ in found])
    return Statement(tree, [output for _, output in found], statement.stamp)


def _over(each: exp.Expr, name: str, alias: str) -> Any:
    """Return an aggregate of the value of a metric over the column that has it."""
    return each.transform(lambda node: exp.column(alias) if isinstance(node, exp.Column) and node.name == name else node)


def _is_implied(policy: str, library: Library) -> bool:
    """Whether the default of a policy depends on which inputs are given."""
    return any("needs" in value for value in library.policies.get(policy, {"values": {}})["values"].values())


def _setting(name: str, item: Asked, library: Library) -> Value | None:
    """Return the value of a setting that a metric has, its default where nothing is said."""
    if item.settings.get(name) is not None:
        return item.settings[name]
    if name in library.policies:
        return library.values_of(name)[0]
    if name in library.functions:
        return library.default_of(name)
    return next((file.params[name].default for file in [item.file, *item.uses.files] if name in file.params), ALL)
