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
KEPT = ("units", "arms", "lifts", "places", "mismatch")
"""The steps that are computed once where an engine can be made to: several others read them."""

MISSING = "missing"
KNOWN = "known"
USUAL = "usual"


def steps_of_sums(asked: Experiment, item: Input) -> dict[str, exp.Query]:
    """Return the steps from the rows of an experiment to ``arms``, a row per metric and variant, by name and in order."""
    amounts = list(asked.amounts.values())
    before = [name for (_, is_covariate), name in asked.amounts.items() if is_covariate]
    others = [name for name in amounts if name not in before]
    steps: dict[str, exp.Query] = {OBSERVATIONS: titled(item.select([*KEYS, *amounts]), f"{OBSERVATIONS}: {item.role.about}")}
    steps["units"] = _with(_read("units"), {name: exp.Sum(this=exp.column(name)) for name in amounts})
    steps["means"] = _with(_read("means"), _means(amounts, before))
    known = [f"{name}_{KNOWN}" for name in before]
    steps["usual"] = _with(_read("usual"), {name: exp.column(name) for name in [*amounts, *known]} | _usual(before))
    if before:
        same = [*others, *known, *(f"{name}_{USUAL}" for name in before)]
        steps["filled"] = _with(_read("filled"), {name: exp.column(name) for name in same} | _filled(before))
    steps["sums"] = _renamed(_sums(asked, before), {"usual": "filled"} if before else {})
    steps["arms"] = _arms(asked)
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


def _renamed(tree: exp.Query, names: Mapping[str, str]) -> exp.Query:
    for table in nodes(tree, exp.Table):
        if names.get(table.name, table.name) != table.name:
            table.replace(renamed(names[table.name], table.alias_or_name))
    return tree


def _means(amounts: list[str], before: list[str]) -> dict[str, exp.Expr]:
    """Return what units of a variant have on average, and how many have a covariate."""
    found: dict[str, exp.Expr] = {name: exp.Avg(this=exp.column(name, table="u")) for name in amounts}
    return found | {f"{name}_{KNOWN}": exp.Count(this=exp.column(name, table="u")) for name in before}


def _usual(before: list[str]) -> dict[str, exp.Expr]:
    """Return what those of all variants that have a covariate have on average, 0 if none has."""
    is_one = exp.Not(this=exp.Is(this=exp.column("variant"), expression=exp.Null()))

    def everywhere(value: exp.Expr) -> exp.Window:
        return exp.Window(this=exp.Sum(this=exp.Case(ifs=[exp.If(this=is_one.copy(), true=value)])))

    found: dict[str, exp.Expr] = {}
    for name in before:
        known = exp.column(f"{name}_{KNOWN}")
        total = everywhere(exp.Mul(this=known, expression=exp.column(name)))
        mean = exp.Div(this=total, expression=exp.func("NULLIF", everywhere(known.copy()), literal(0)))
        found[f"{name}_{USUAL}"] = exp.func("COALESCE", mean, double(0))
    return found


def _filled(before: list[str]) -> dict[str, exp.Expr]:
    """Return the means of covariates over all units of a variant: those without one have what is usual."""
    found: dict[str, exp.Expr] = {}
    for name in before:
        known, usual = exp.column(f"{name}_{KNOWN}"), exp.column(f"{name}_{USUAL}")
        apart = exp.paren(exp.Sub(this=exp.column(name), expression=usual.copy()))
        moved = exp.Div(this=exp.Mul(this=apart, expression=known), expression=exp.column("units"))
        found[name] = exp.Add(this=usual, expression=exp.func("COALESCE", moved, double(0)))
    return found


def _sums(asked: Experiment, before: list[str]) -> exp.Select:
    columns: dict[str, exp.Expr] = {name: exp.Max(this=exp.column(name, table="m")) for name in asked.amounts.values()}

    def apart(name: str) -> exp.Expr:
        own: exp.Expr = exp.column(name, table="u")
        if name in before:
            own = exp.func("COALESCE", own, exp.column(f"{name}_{USUAL}", table="m"))
        return exp.paren(exp.Sub(this=own, expression=exp.column(name, table="m")))

    for estimate in asked.estimates:
        for one, other in _products(asked.columns_of(estimate)).values():
            columns[f"{one}_by_{other}"] = exp.Sum(this=exp.Mul(this=apart(one), expression=apart(other)))
    for name in before:
        is_missing = exp.Is(this=exp.column(name, table="u"), expression=exp.Null())
        one_each = exp.Case(ifs=[exp.If(this=is_missing, true=literal(1))], default=literal(0))
        columns[f"{name}_{MISSING}"] = exp.Sum(this=one_each)
    return _with(_read("sums"), columns)


def _products(columns: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return which products are added up for a metric: names of two columns by that of the sum."""
    by_letter = {SHORT[role]: name for role, name in columns.items()}
    found = {product: (by_letter.get(product[1]), by_letter.get(product[2])) for product in PRODUCTS}
    return {product: (min(one, other), max(one, other)) for product, (one, other) in found.items() if one and other}


def _arms(asked: Experiment) -> exp.Select:
    """Return the sums of each metric under the same names, from one reading of those of variants."""
    query = _read("arms")
    names = [exp.select(exp.alias_(exp.Literal.string(estimate.name), "metric")) for estimate in asked.estimates]
    next(table for table in nodes(query, exp.Table) if table.name == "metrics").replace(stacked(names).subquery("n"))
    each = {estimate.name: _of(asked, estimate) for estimate in asked.estimates}
    columns = next(iter(each.values()))
    return _with(query, {column: _chosen({name: found[column] for name, found in each.items()}) for column in columns})


def _of(asked: Experiment, estimate: Estimate) -> dict[str, exp.Expr]:
    """Return the columns of ``arms`` from those of ``sums`` for a metric."""
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
    return found | {MISSING: missing[0] if missing else literal(0)}


def _chosen(values: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return the value of each metric, by its name; that of all if it is one."""
    first, *others = values.values()
    if all(other == first for other in others):
        return first
    ifs = [
        exp.If(this=exp.EQ(this=exp.column("metric", table="n"), expression=exp.Literal.string(name)), true=value)
        for name, value in values.items()
    ]
    return exp.Case(ifs=ifs)
