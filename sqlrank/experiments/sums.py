"""From observations to the sums of variants: the steps that are computed where the data are."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.experiments.asked import ROLES
from sqlrank.library.nodes import DOUBLE, nodes
from sqlrank.library.selects import read_select, title_of
from sqlrank.statement.bind import literal
from sqlrank.statement.prune import prune
from sqlrank.statement.relations import free, renamed
from sqlrank.statement.rows import stacked
from sqlrank.statement.statement import WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.experiments.asked import Estimate, Experiment
    from sqlrank.inputs.input import Input

FOLDER = "experiments"
OBSERVATIONS = "observations"
KEYS = ("unit_id", "variant")
SHORT = dict(zip(ROLES, "vdce", strict=True))
"""The letters that say what a sum of products is of."""

PRODUCTS = ("svv", "svd", "sdd", "scc", "sce", "see", "svc", "sve", "sdc", "sde")
KEPT = ("units", "filled", "sums", "strays", "arms", "adjusted", "lifts", "places", "scales", "nearer_1", "limits")
"""The steps that are computed once where an engine can be made to: several others read them."""

MISSING = "missing"


def steps_of_sums(asked: Experiment, item: Input) -> dict[str, exp.Query]:
    """Return the steps from the rows of an experiment to ``arms``, a row per metric and variant, by name and in order."""
    amounts = list(asked.amounts.values())
    before = [name for (_, is_covariate), name in asked.amounts.items() if is_covariate]
    steps: dict[str, exp.Query] = {OBSERVATIONS: titled(item.select([*KEYS, *amounts]), f"{OBSERVATIONS}: {item.role.about}")}
    steps["units"] = _with(_read("units"), {name: exp.Sum(this=exp.column(name)) for name in amounts})
    units = "units"
    if before:
        units = "filled"
        steps["usual"] = _with(_read("usual"), {name: _or_none(exp.Avg(this=exp.column(name))) for name in before})
        steps["filled"] = _filled(amounts, before)
    steps["means"] = _over(_with(_read("means"), {name: exp.Avg(this=exp.column(name)) for name in amounts}), units)
    steps["sums"] = _over(_sums(asked, before), units)
    steps["strays"] = _read("strays")
    steps["arms"] = stacked([_arms(asked, estimate) for estimate in asked.estimates])
    for other in nodes(steps["arms"], exp.Select)[1:]:
        other.comments = None
    return steps


def chained(steps: Mapping[str, exp.Query], taken: set[str]) -> Any:
    """Return the last of the steps after those that it reads, under names that no table of the caller's has."""
    *before, last = steps
    names: dict[str, str] = {}
    for step in before:
        names[step] = free(step, {*taken, *names.values()})
    body: Any = _renamed(steps[last].copy(), names)
    for step in before:
        query = _renamed(steps[step].copy(), names) if step != OBSERVATIONS else steps[step].copy()
        body = body.with_(names[step], as_=query, materialized=True if step in KEPT else None, copy=False)
    prune(body, keep={OBSERVATIONS})
    return body


def tables_of(item: Input) -> set[str]:
    """Return the names of the caller's tables, which no step may have."""
    return {table.name.lower() for table in nodes(item.table.item(), exp.Table)}


def read(*path: str) -> exp.Select:
    """Return the SELECT of a file of experiments, under the first sentence of its comment."""
    query: exp.Select = titled(read_select(FOLDER, *path), title_of(FOLDER, *path))
    return query


def titled(query: Any, title: str) -> Any:
    """Return a query under a comment that says what its rows are."""
    first: Any = query
    while isinstance(first, exp.Union):
        first = first.this
    first.comments = [fill(title, WIDTH, subsequent_indent="   ")]
    return query


def _read(name: str) -> exp.Select:
    return read(f"{name}.sql")


def double(number: float) -> exp.Cast:
    """Return a number as a double."""
    return exp.cast(literal(number), DOUBLE)


def _with(query: exp.Select, columns: Mapping[str, exp.Expr]) -> exp.Select:
    return query.select(*(exp.alias_(value, name) for name, value in columns.items()), copy=False)


def _over(query: exp.Select, units: str) -> exp.Select:
    _renamed(query, {"units": units})
    return query


def _renamed(tree: exp.Query, names: Mapping[str, str]) -> exp.Query:
    for table in nodes(tree, exp.Table):
        if names.get(table.name, table.name) != table.name:
            table.replace(renamed(names[table.name], table.alias_or_name))
    return tree


def _or_none(value: exp.Expr) -> exp.Expr:
    """Return a mean, or 0 where no unit has a value: all are then alike."""
    return exp.func("COALESCE", value, double(0))


def _filled(amounts: list[str], before: list[str]) -> exp.Select:
    columns: dict[str, exp.Expr] = {}
    for name in amounts:
        own = exp.column(name, table="u")
        columns[name] = exp.func("COALESCE", own, exp.column(name, table="o")) if name in before else own
    for name in before:
        is_missing = exp.Is(this=exp.column(name, table="u"), expression=exp.Null())
        columns[f"{name}_{MISSING}"] = exp.Case(ifs=[exp.If(this=is_missing, true=literal(1))], default=literal(0))
    return _with(_read("filled"), columns)


def _sums(asked: Experiment, before: list[str]) -> exp.Select:
    columns: dict[str, exp.Expr] = {name: exp.Max(this=exp.column(name, table="m")) for name in asked.amounts.values()}
    for estimate in asked.estimates:
        for one, other in _products(asked.columns_of(estimate)).values():
            sides = [exp.paren(exp.Sub(this=exp.column(name, table="u"), expression=exp.column(name, table="m"))) for name in (one, other)]
            columns[f"{one}_by_{other}"] = exp.Sum(this=exp.Mul(this=sides[0], expression=sides[1]))
    for name in before:
        columns[f"{name}_{MISSING}"] = exp.Sum(this=exp.column(f"{name}_{MISSING}", table="u"))
    return _with(_read("sums"), columns)


def _products(columns: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return which products are added up for a metric: names of two columns by that of the sum."""
    by_letter = {SHORT[role]: name for role, name in columns.items()}
    found = {product: (by_letter.get(product[1]), by_letter.get(product[2])) for product in PRODUCTS}
    return {product: (min(one, other), max(one, other)) for product, (one, other) in found.items() if one and other}


def _arms(asked: Experiment, estimate: Estimate) -> exp.Select:
    columns = asked.columns_of(estimate)
    products = _products(columns)
    found: dict[str, exp.Expr] = {}
    for role in ROLES:
        nothing = double(1 if role.endswith("denominator") else 0)
        found[role] = exp.column(columns[role], table="s") if role in columns else nothing
    for product in PRODUCTS:
        pair = products.get(product)
        found[product] = exp.column(f"{pair[0]}_by_{pair[1]}", table="s") if pair else double(0)
    missing = [exp.column(f"{name}_{MISSING}", table="s") for role, name in columns.items() if role.startswith("covariate")]
    found[MISSING] = missing[0] if missing else literal(0)
    bound: Any = exp.replace_placeholders(_read("arms"), metric=exp.Literal.string(estimate.name))
    return _with(bound, found)
