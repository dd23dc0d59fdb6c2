"""Compile differences between groups: the least and greatest value of a metric, their difference
and ratio, with simultaneous intervals.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.interval_options import METRIC_COLUMN
from sqlrank.compiler.layout import OutputColumn, ResultLayout
from sqlrank.compiler.row_keys import (
    COMPARED_ID,
    COMPONENT_ID,
    GROUP_ID,
    ExpansionContext,
    KeyColumns,
    KeysByName,
    UnquotedName,
    expand_keys,
    key_column,
    key_equalities,
)
from sqlrank.compiler.select_builders import (
    aggregate_by_key,
    cast_double,
    inline_functions,
    join_source,
    order_rows,
    rename_ctes,
)
from sqlrank.inference import normal_quantile
from sqlrank.registry.query_templates import file_rows, load_select
from sqlrank.registry.resolved_metric import limit_bounds
from sqlrank.result_columns import (
    CI_HIGH,
    CI_LOW,
    COMPONENT_COLUMN,
    EXTREME_VALUES,
    GROUP_COUNTS,
    N_UNITS,
    PAIR_STATISTICS,
    RATIO_LIMITS,
    extreme_column,
)
from sqlrank.sql_ast import (
    BIGINT,
    bind_placeholders,
    case_when,
    is_not_null,
    sql_literal,
    union_all,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlrank.compiler.intervals.analytic_intervals import AnalyticIntervals
    from sqlrank.compiler.relation_ctes import RelationCtes

DIFFERENCES_FOLDER = "analyses/group_differences"

LIMIT_STEPS = (
    "comparison_counts", "tail_bounds", "critical_values", "widening_factors", "widened_limits",
    "simultaneous_limits", "extreme_intervals", "limit_margins", "squared_margins", "pair_margins",
    "pair_limits", "group_intervals",
)  # fmt: skip
UNIT_STEPS = ("ranked_influences", "pair_correlations")
"""Steps from values of groups to limits of pairs, and from influences of units to correlations of
pairs.
"""

SHARED_STEPS = {"ordered_groups", "ranked_influences", "limit_margins"}
"""Steps with several readers, which are computed once: Spark would plan everything below them anew
for each.
"""

METRIC_POSITION = "position"
"""Column of the position of a metric in the request."""


@dataclass(frozen=True)
class _Component:
    """A metric of a row of differences: the row's name and position, and the columns of the metric
    in the values of groups.
    """

    metric: str
    position: int
    value: OutputColumn
    name: str


def difference_rows(
    relations: RelationCtes,
    spread: AnalyticIntervals | None,
    body: exp.Select,
    outputs: Sequence[OutputColumn],
    layout: ResultLayout,
) -> tuple[exp.Select, list[OutputColumn]]:
    """Return the rows of differences between groups, and their columns.

    ``body`` has a row per group of ``by`` and ``across`` with the values and limits of metrics, and
    ``outputs`` are its columns.
    """
    body.set("order", None)
    values_cte = relations.ctes.add_aggregate("values_by_group", body, "one row per group")
    return _GroupDifferences(relations, spread, values_cte, outputs, layout).select_rows()


class _GroupDifferences:
    """The steps from values of groups to differences; one instance per statement."""

    def __init__(
        self,
        relations: RelationCtes,
        spread: AnalyticIntervals | None,
        values_cte: str,
        outputs: Sequence[OutputColumn],
        layout: ResultLayout,
    ) -> None:
        self.relations = relations
        self.spread = spread
        self.values_cte = values_cte
        self.layout = layout
        self.labels = {output.alias: output for output in outputs if output.kind == "by"}
        self.audits = [output for output in outputs if output.kind == "audit"]
        by_name = {output.name: output for output in outputs if output.kind == "metric"}
        named = [(label, name) for label, names in self.layout.differences for name in names]
        self.components = [
            _Component(label, position, by_name[name], name)
            for position, (label, name) in enumerate(named, start=1)
        ]
        self.has_components = any(len(names) > 1 for _, names in layout.differences)
        by = [name for name in relations.shape.group_names if name not in layout.across]
        self.keys: KeysByName = {
            GROUP_ID: KeyColumns(tuple(by), nullable=True),
            COMPARED_ID: KeyColumns(layout.across, nullable=True),
            COMPONENT_ID: KeyColumns(
                (UnquotedName(COMPONENT_COLUMN),) if self.has_components else ()
            ),
        }
        self.ctes: dict[str, str] = {}
        self.step_keys: dict[str, KeysByName] = {}

    def select_rows(self) -> tuple[exp.Select, list[OutputColumn]]:
        """Return the rows, and their columns."""
        self._add_cte(
            "group_values",
            self._group_values(),
            "one row per group, metric and compared group: its value",
            self.keys,
        )
        for step in (
            "ordered_groups",
            "extreme_groups",
            *(["largest_differences"] if self.has_components else []),
        ):
            self._add_file_step(step)
        if (confidence := self.layout.confidence) is not None:
            self._add_influences()
            bindings = {
                "tail": confidence.tail_probability,
                "quantile": normal_quantile((1 + confidence.level) / 2),
            }
            for step in LIMIT_STEPS:
                self._add_file_step(step, **bindings)
        return self._select_differences()

    def _add_cte(self, name: str, query: exp.Query, rows: str, keys: KeysByName) -> None:
        shared = True if name in SHARED_STEPS else None
        self.ctes[name] = self.relations.ctes.add_aggregate(
            name, query, rows, keys[GROUP_ID], shared
        )
        self.step_keys[self.ctes[name]] = keys

    def _add_file_step(self, step: str, **bindings: float) -> None:
        """Add the step of a file."""
        path = (DIFFERENCES_FOLDER, f"{step}.sql")
        shares_units = "pair_correlations" in self.ctes
        functions = {"correlated_squares": "shared_units" if shares_units else "independent"}
        query = inline_functions(
            self.relations.library, bind_placeholders(load_select(*path), **bindings), functions
        )
        if step == "squared_margins" and not shares_units:
            query.args["joins"].pop()
        rename_ctes(query, self.ctes)
        if step == "extreme_groups":
            self._name_extremes(query)
        keys = expand_keys(query, ExpansionContext(lambda table: self.step_keys[table]))
        rows = file_rows(*path).removesuffix(".")
        if not self.has_components:
            rows = rows.replace(", metric and component", " and metric").replace(
                ", metric, component", ", metric"
            )
        self._add_cte(step, query, f"{rows} ({'/'.join(path)})", keys)

    def _name_extremes(self, query: exp.Select) -> None:
        """Select the columns of the compared groups of the least and the greatest value."""
        for side, table in zip(EXTREME_VALUES, ("least", "greatest"), strict=True):
            for name in self.layout.across:
                has_value = is_not_null(exp.column("value", table=table))
                value = case_when(has_value, key_column(name, table))
                query.select(value.as_(_extreme_identifier(name, side)), copy=False)

    def _group_values(self) -> exp.Query:
        """Return the values of groups in long form: a row per metric."""
        columns: dict[str, list[exp.Expr]] = {
            "value": [exp.column(component.value.alias) for component in self.components]
        }
        if self.layout.confidence is not None:
            aliases = [component.value.alias for component in self.components]
            bounds = [_find_bounds(component) for component in self.components]
            columns |= {
                name: [exp.column(f"{alias}_{name}") for alias in aliases]
                for name in (CI_LOW, CI_HIGH)
            }
            columns[N_UNITS] = [cast_double(exp.column(f"{alias}_{N_UNITS}")) for alias in aliases]
            columns |= {
                name: [cast_double(limits[end]) for limits in bounds]
                for end, name in enumerate(("bound_low", "bound_high"))
            }
        return self._select_long(self.values_cte, self.components, columns, [METRIC_POSITION])

    def _select_long(
        self,
        source: str,
        components: Sequence[_Component],
        columns: Mapping[str, Sequence[exp.Expr]],
        labels: Sequence[str] = (),
    ) -> exp.Select:
        """Return a row per metric of these and row of a CTE, which is read once: each reader of it
        would cost Spark a plan of its own.

        ``columns`` have a value per metric. ``labels`` are further columns of the names of metrics.
        """
        keys = [
            key_column(name)
            for name in (*self.keys[GROUP_ID].columns, *self.keys[COMPARED_ID].columns)
        ]
        names = [METRIC_COLUMN, *([COMPONENT_COLUMN] if self.has_components else []), *labels]
        if len(components) == 1:
            constants = [
                value.as_(name)
                for name, value in self._name_metric(components[0]).items()
                if name in names
            ]
            values = [value.as_(name) for name, (value,) in columns.items()]
            return exp.select(*keys, *constants, *values).from_(source)
        if "compared_metrics" not in self.ctes:
            rows = [
                exp.select(*(value.as_(name) for name, value in self._name_metric(each).items()))
                for each in self.components
            ]
            self._add_cte(
                "compared_metrics", union_all(rows), "one row per metric", {GROUP_ID: KeyColumns()}
            )
        items = [
            _choose_by_position(components, values).as_(name) for name, values in columns.items()
        ]
        return (
            exp.select(*keys, *map(exp.column, names), *items)
            .from_(source)
            .join(self.ctes["compared_metrics"], join_type="cross")
        )

    def _name_metric(self, component: _Component) -> dict[str, exp.Expr]:
        return {
            METRIC_COLUMN: sql_literal(component.metric),
            **({COMPONENT_COLUMN: sql_literal(component.name)} if self.has_components else {}),
            METRIC_POSITION: sql_literal(component.position),
        }

    def _add_influences(self) -> None:
        """Add the influences of units on metrics, if compared groups may share units."""
        spread: Any = self.spread
        attributes = set(self.relations.shape.query_attributes)
        components = [
            component
            for component in self.components
            if component.value.alias in spread.influence_ctes
        ]
        if not components or set(self.layout.across) & attributes:
            return
        branches = []
        for cte, unit in dict.fromkeys(
            spread.influence_ctes[component.value.alias] for component in components
        ):
            inside = [
                component
                for component in components
                if spread.influence_ctes[component.value.alias] == (cte, unit)
            ]
            influences = [exp.column(f"{component.value.alias}_influence") for component in inside]
            columns = {"unit": [key_column(unit) for _ in inside], "influence": influences}
            branches.append(self._select_long(cte, inside, columns))
        self._add_cte(
            "unit_influences",
            union_all(branches),
            "one row per group, metric, compared group and unit: its influence",
            self.keys,
        )
        for step in UNIT_STEPS:
            self._add_file_step(step)

    def _select_differences(self) -> tuple[exp.Select, list[OutputColumn]]:
        """Return the rows of differences, in the order of groups and of the request."""
        extremes, keys = self.ctes["extreme_groups"], self.keys[GROUP_ID]
        by = [key_column(name, extremes) for name in keys.columns]
        names = [METRIC_COLUMN, *([COMPONENT_COLUMN] if self.has_components else [])]
        items: list[exp.Expr] = [*by, *(exp.column(name, table=extremes) for name in names)]
        outputs = [self.labels[name] for name in keys.columns]
        outputs += [
            OutputColumn(name, name, kind)
            for name, kind in zip(names, ("name", "label"), strict=False)
        ]
        items += [
            exp.cast(exp.column(name, table=extremes), BIGINT).as_(name) for name in GROUP_COUNTS
        ]
        outputs += [OutputColumn(name, name, "count") for name in GROUP_COUNTS]
        for value, table, column, limits in self._list_value_columns():
            for name in self.layout.across if value in EXTREME_VALUES else ():
                identifier = _extreme_identifier(name, value)
                label = extreme_column(self.labels[name].name, value)
                items.append(exp.column(identifier, table=extremes))
                outputs.append(
                    OutputColumn(identifier.name, label, "label", quoted=bool(identifier.quoted))
                )
            sources = [
                (value, table, column),
                *((name, step, name) for name, step in limits.items()),
            ]
            items += [
                cast_double(exp.column(source, table=self.ctes[step])).as_(name)
                for name, step, source in sources
            ]
            outputs += [OutputColumn(name, name, "value") for name, _, _ in sources]
        query = exp.select(*items).from_(extremes)
        for step in ("largest_differences", "extreme_intervals", "group_intervals"):
            query = (
                self._join_extremes(query, extremes, self.ctes[step])
                if step in self.ctes
                else query
            )
        if self.has_components:
            query = query.where(
                exp.column("difference_rank", table=self.ctes["largest_differences"]).eq(1)
            )
        query = self._with_audits(query, extremes) if self.audits else query
        query = order_rows(query, by)
        query = (
            query.order_by(exp.column(METRIC_POSITION, table=extremes))
            if len(self.components) > 1
            else query
        )
        return query, [*outputs, *self.audits]

    def _list_value_columns(self) -> Iterator[tuple[str, str, str, dict[str, str]]]:
        """Yield the columns of values, each with the step and the column that it is, and its limits
        with their step.
        """
        has_limits = self.layout.confidence is not None
        for value in EXTREME_VALUES:
            limits = (f"{value}_{CI_LOW}", f"{value}_{CI_HIGH}") if has_limits else ()
            yield value, "extreme_groups", value, dict.fromkeys(limits, "extreme_intervals")
        difference, ratio = PAIR_STATISTICS
        yield (
            difference,
            "extreme_groups",
            difference,
            dict.fromkeys((CI_LOW, CI_HIGH) if has_limits else (), "group_intervals"),
        )
        source = (
            ("largest_differences", "least_ratio")
            if self.has_components
            else ("extreme_groups", ratio)
        )
        yield ratio, *source, dict.fromkeys(RATIO_LIMITS if has_limits else (), "group_intervals")

    def _with_audits(self, query: exp.Select, extremes: str) -> exp.Select:
        """Add the audit columns, summed over compared groups, to the row of the first metric."""
        keys = self.keys[GROUP_ID]
        totals = {audit.alias: exp.Sum(this=exp.column(audit.alias)) for audit in self.audits}
        summed = aggregate_by_key(self.values_cte, keys, totals)
        cte = self.relations.ctes.add_aggregate(
            "audit_totals", summed, "one row per group: counts of input rows", keys
        )
        on = key_equalities(keys.columns, cte, extremes, nullable=True)
        joined = join_source(query, cte, on)
        is_first = exp.column(METRIC_POSITION, table=extremes).eq(1)
        for audit in self.audits:
            value = case_when(is_first.copy(), exp.column(audit.alias, table=cte))
            joined.select(value.as_(audit.alias), copy=False)
        return joined

    def _join_extremes(self, query: exp.Select, extremes: str, cte: str) -> exp.Select:
        """Join the row of a step for the same group and metric, and component if it has one for
        each.
        """
        on = key_equalities(self.keys[GROUP_ID].columns, cte, extremes, nullable=True)
        names = [METRIC_COLUMN, *self.step_keys[cte].get(COMPONENT_ID, KeyColumns()).columns]
        on += [exp.column(name, table=cte).eq(exp.column(name, table=extremes)) for name in names]
        return join_source(query, cte, on)


def _find_bounds(component: _Component) -> Sequence[exp.Expr]:
    """Return the least and the greatest possible value of a metric, NULL where it has none."""
    metric: Any = component.value.metric
    return [
        exp.Null() if bound is None or math.isinf(bound) else sql_literal(bound)
        for bound in limit_bounds(metric) or (None, None)
    ]


def _choose_by_position(components: Sequence[_Component], values: Sequence[exp.Expr]) -> exp.Expr:
    """Return the value of the metric at the position of a row; one that all have needs no
    choice.
    """
    if all(value == values[0] for value in values):
        return values[0]
    chosen = [
        exp.If(this=sql_literal(each.position), true=value)
        for each, value in zip(components, values, strict=True)
    ]
    return exp.Case(this=exp.column(METRIC_POSITION), ifs=chosen)


def _extreme_identifier(name: str, side: str) -> exp.Identifier:
    """Return the name of the column of a group with an extreme value, quoted if the group's column
    needs it.
    """
    return exp.to_identifier(
        extreme_column(name, side), quoted=re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is None
    )
