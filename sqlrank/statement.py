"""The whole statement: the shared steps, a row per list with every metric, and the rows that are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.compose import Column, Composer, Source
from sqlrank.errors import MetricError
from sqlrank.keys import KEY, key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.library import Library
    from sqlrank.metric import Value
    from sqlrank.settings import Asked


_TITLES = {
    "per_query": "one row per query to evaluate, with the value of every metric",
    "over_queries": "one row per group: the metrics of its queries, aggregated",
}


WIDTH = 100
"""Characters of a line, if what stands in it can be broken."""


@dataclass(frozen=True)
class Plan:
    """What the rows of a result are.

    ``by`` lists the columns that tell rankings apart, ``sets`` their groupings (``[["system"], []]``), ``attributes``
    those of them that the queries table has, ``hidden`` columns that tell groups apart but are not shown.
    """

    by: list[str]
    sets: list[list[str]] | None
    attributes: list[str]
    per_query: bool
    weighted: bool
    settings: Mapping[str, Value]
    hidden: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Statement:
    """A statement, the comment it starts with, and the names its result columns have for the caller, in order.

    The first ``keys`` of them are columns of the inputs, the others are computed.
    """

    tree: exp.Expr
    stamp: str
    names: list[str]
    keys: int = 0


def build(
    asked: Sequence[Asked], library: Library, sources: Mapping[str, Source], plan: Plan, audit: exp.Select | None = None
) -> Statement:
    """Compose the metrics into one statement; ``audit`` names columns for the checks of the input, put last."""
    identifying = [name for name in plan.by if name not in plan.attributes]
    composer = Composer(library, sources, [*identifying, *plan.hidden])
    if asked[0].file.kind == "curves":
        return _curve(composer, asked[0], plan, audit)
    columns = {str(item.metric): [composer.add(step) for step in item.cutoffs] for item in asked}
    audited = [] if audit is None else audit.named_selects[1:]
    scan = None if audit is None else composer.add_audit(audit, asked[0].settings)
    if composer.is_grouped:
        steps = _over_queries(composer, plan)
        wide = _per_group(composer, plan, audited)
    else:
        steps = {"per_query": _per_query(composer, composer.lists(plan.settings), plan)}
        if scan is not None:
            steps["per_query"].select(*(exp.column(name, table=scan) for name in audited), copy=False)
        wide = _wide(composer, plan, audited)
    names = [*plan.by, *([KEY] if plan.per_query else [])]
    keys = len(names)
    sweeps = {item.metric.cutoff for item in asked if isinstance(item.metric.cutoff, tuple)}
    if sweeps:
        if len(sweeps) > 1 or any(not isinstance(item.metric.cutoff, tuple) for item in asked):
            raise MetricError("a range of cut-offs gives a row per cut-off: ask for metrics of one range in a call of their own")
        names.append("k")
    body = _long(wide, columns, plan, sweeps.pop(), audited) if sweeps else wide
    return Statement(_with_steps(body, composer, steps), _stamp(asked, composer), [*names, *columns, *audited], keys)


def _curve(composer: Composer, asked: Asked, plan: Plan, audit: exp.Select | None) -> Statement:
    """The rows of a curve, in the order of its points."""
    cte = composer.add_curve(asked)
    shown = [name for name in asked.file.tree.named_selects if name != "list_id"]
    # Under an alias, since engines differ in what a bare name in ORDER BY is where a join has two columns of it.
    keys = [exp.alias_(key(name, cte), key(name).this.copy()) for name in plan.by]
    order = [*map(key, plan.by), *(key(name, cte) for name in plan.hidden), exp.column("point")]
    tree = exp.select(*keys, *(exp.alias_(_shown(name, cte), name) for name in shown)).from_(cte)
    tree = tree.order_by(*(exp.Ordered(this=key.copy(), nulls_first=True) for key in order))
    audited = []
    if audit is not None:
        scan = composer.add_audit(audit, asked.settings)
        tree = _beside(tree, cte, scan, composer.by)
        audited = audit.named_selects[1:]
        tree.select(*(exp.column(name, table=scan) for name in audited), copy=False)
    return Statement(_with_steps(tree, composer, {}), _stamp([asked], composer), [*plan.by, *shown, *audited], len(plan.by))


def _shown(name: str, cte: str) -> exp.Expr:
    column = exp.column(name, table=cte)
    if name == "doc_id":
        return column
    return exp.cast(column, "BIGINT") if name == "point" else _double(column)


def _with_steps(tree: exp.Select, composer: Composer, more: Mapping[str, exp.Select]) -> exp.Select:
    """Put the steps before a SELECT, each under the first line of its file."""
    for name, cte in [*composer.ctes.items(), *composer.query_scans.items(), *composer.scans.items(), *more.items()]:
        title = composer.titles.get(name) or _TITLES[name]
        _first_select(cte).comments = [fill(title, WIDTH, subsequent_indent="   ")]
        tree = tree.with_(name, as_=cte, materialized=name in composer.costly or None, copy=False)
    return tree


def _stamp(asked: Sequence[Asked], composer: Composer) -> str:
    metrics = ", ".join(str(item.metric) for item in asked)
    return "\n".join([f"sqlrank {__version__}: {metrics}", *(f"  {path}" for path in sorted(composer.binder.files))])


def _first_select(query: exp.Query) -> exp.Query:
    while isinstance(query, exp.Union):
        query = query.left
    return query


def _per_query(composer: Composer, lists: str, plan: Plan) -> exp.Select:
    """One row per list: its ``by`` columns, its query, and each metric with undefined values filled as the policy says."""
    columns: list[exp.Expr] = [key(name, "a" if name in plan.attributes else "l") for name in plan.by]
    columns.append(exp.column(KEY, table="l"))
    if plan.weighted:
        columns.append(exp.column("weight", table="a"))
    columns += [exp.alias_(_filled(composer, column, column.asked.settings), column.alias) for column in composer.columns]
    query = exp.select(*columns).from_(exp.to_table(lists).as_("l"))
    keys = [KEY, *composer.by] if plan.settings.get("numbering") == "plain" else ["list_id"]
    for scan in composer.scans:
        same = [exp.EQ(this=key(name, scan), expression=key(name, "l")) for name in keys]
        query.join(scan, on=exp.and_(*same, copy=False), join_type="left", copy=False)
    if plan.attributes or plan.weighted:
        source = composer.sources["queries"].node.copy()
        source.set("alias", exp.TableAlias(this=exp.to_identifier("a")))
        query.join(source, copy=False, on=exp.EQ(this=exp.column(KEY, table="a"), expression=exp.column(KEY, table="l")), join_type="left")
    return query


def _filled(composer: Composer, column: Column, settings: Mapping[str, Value]) -> exp.Expr:
    """The value of a metric, where it is undefined what the policy says."""
    value = exp.column(column.alias, table=column.scan)
    if column.asked.file.is_total:
        return exp.func("COALESCE", value, exp.Literal.number(0))
    return composer.function("no_relevant", settings, value)


def _beside(query: exp.Select, base: str, scan: str, by: Sequence[str]) -> exp.Select:
    """Join the row that a scan has for the same group, whose columns may be NULL; without groups it has one row."""
    same = [exp.paren(exp.NullSafeEQ(this=key(name, scan), expression=key(name, base))) for name in by]
    how: dict[str, Any] = {"on": exp.and_(*same, copy=False), "join_type": "left"} if same else {"join_type": "cross"}
    return query.join(scan, copy=False, **how)


def _over_queries(composer: Composer, plan: Plan) -> dict[str, exp.Select]:
    """The metrics under ``level=query``: a row per query of a group, then one per group."""
    columns = [column for column in composer.columns if column.is_of_queries]
    if not columns:
        return {}
    base = composer.queries()
    keys = [*composer.by, KEY]
    values = [exp.alias_(_filled_if_asked(composer, column), column.alias) for column in columns]
    per_query = exp.select(*(key(name, base) for name in keys), *values).from_(base)
    for scan in composer.query_scans:
        if scan != base:
            per_query = _beside(per_query, base, scan, keys)
    groups = [key(name) for name in composer.by]
    over = exp.select(*groups, *(exp.alias_(_aggregate(composer, column, plan), column.alias) for column in columns)).from_("per_query")
    return {"per_query": per_query, "over_queries": over.group_by(*groups) if groups else over}


def _filled_if_asked(composer: Composer, column: Column) -> exp.Expr:
    """The value of a metric of predictions, which stays undefined unless the policy says what it is then."""
    return _filled(composer, column, {"no_relevant": "skip", **column.asked.settings})


def _per_group(composer: Composer, plan: Plan, audited: Sequence[str]) -> exp.Select:
    """One row per group of predictions, with a column per metric, in a stated order."""
    is_of_queries = any(column.is_of_queries for column in composer.columns)
    over = ["over_queries"] if is_of_queries else []
    base = composer.groups() if composer.by or audited else next(iter([*composer.scans, *over]))
    keys: list[exp.Expr] = [key(name, base) for name in plan.by]
    columns = list(keys)
    for column in composer.columns:
        value = exp.column(column.alias, table="over_queries") if column.is_of_queries else _filled_if_asked(composer, column)
        columns.append(exp.alias_(_double(value), column.alias))
    columns += [exp.column(name, table=base) for name in audited]
    query = exp.select(*columns).from_(base)
    for scan in [*composer.scans, *over]:
        if scan != base:
            query = _beside(query, base, scan, composer.by)
    order = [*keys, *(key(name, base) for name in plan.hidden)]
    return query.order_by(*(exp.Ordered(this=key.copy(), nulls_first=True) for key in order)) if order else query


def _wide(composer: Composer, plan: Plan, audited: Sequence[str]) -> exp.Select:
    """One row per group, or per query, with a column per metric, in a stated order."""
    query = _values(composer, plan)
    return query.select(*(exp.alias_(exp.column(name) if plan.per_query else exp.Sum(this=exp.column(name)), name) for name in audited))


def _values(composer: Composer, plan: Plan) -> exp.Select:
    """The columns that identify a row, and the metrics."""
    keys: list[exp.Expr] = [key(name) for name in plan.by]
    if plan.per_query:
        keys.append(exp.column(KEY))
        values = [exp.alias_(_double(exp.column(column.alias)), column.alias) for column in composer.columns]
        return exp.select(*keys, *values).from_("per_query").order_by(*keys)
    values = [exp.alias_(_double(_aggregate(composer, column, plan)), column.alias) for column in composer.columns]
    query = exp.select(*keys, *values).from_("per_query")
    if plan.sets is not None:
        groups = [exp.Tuple(expressions=[key(name) for name in group]) for group in plan.sets]
        query.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=groups)]))
    elif keys:
        query = query.group_by(*keys)
    return query.order_by(*(exp.Ordered(this=key.copy(), nulls_first=True) for key in keys)) if keys else query


def _aggregate(composer: Composer, column: Column, plan: Plan) -> exp.Expr:
    settings = column.asked.settings
    value = exp.column(column.alias)
    chosen = settings.get("aggregate", "wmean" if plan.weighted else "mean")
    if chosen == "wmean" and not plan.weighted:
        what = "is for metrics of rankings" if composer.is_grouped else "needs a queries table with a weight column"
        raise MetricError(f"aggregate='wmean' {what}")
    weight = exp.column("weight") if plan.weighted else exp.Literal.number(1)
    aggregate = composer.function("aggregate", {**settings, "aggregate": chosen}, value, weight)
    if settings.get("no_relevant") == "null":
        incomplete = exp.LT(this=exp.Count(this=value.copy()), expression=exp.Count(this=exp.Star()))
        return exp.Case(ifs=[exp.If(this=incomplete, true=exp.Null())], default=aggregate)
    return aggregate


def _double(node: exp.Expr) -> exp.Cast:
    return exp.cast(node, "DOUBLE")


def _if_k(k: int, column: str) -> exp.If:
    return exp.If(this=exp.EQ(this=exp.column("k"), expression=exp.Literal.number(k)), true=exp.column(column))


def _long(wide: exp.Select, columns: Mapping[str, list[Column]], plan: Plan, sweep: tuple[int, int], audited: Sequence[str]) -> exp.Select:
    """Turn a column per cut-off into a row per cut-off."""
    first, last = sweep
    keys = [*(key(name) for name in plan.by), *([exp.column(KEY)] if plan.per_query else [])]
    inner = wide.copy()
    inner.set("order", None)
    ranks = [exp.select(exp.alias_(exp.Literal.number(k), "k")) for k in range(first, last + 1)]
    cutoffs: exp.Query = ranks[0]
    for rank in ranks[1:]:
        cutoffs = exp.union(cutoffs, rank, distinct=False)
    values = []
    for steps in columns.values():
        case = exp.Case(ifs=[_if_k(first + i, step.alias) for i, step in enumerate(steps)])
        values.append(exp.alias_(case, steps[0].asked.metric.slug.rpartition("_at_")[0] + f"_at_{first}_to_{last}"))
    values += [exp.alias_(exp.Case(ifs=[_if_k(first, name)]), name) for name in audited]
    query = exp.select(*keys, exp.column("k"), *values).from_(inner.subquery("wide")).join(cutoffs.subquery("cutoffs"), join_type="cross")
    return query.order_by(*(exp.Ordered(this=key.copy(), nulls_first=True) for key in keys), exp.column("k"))
