"""Build the CTEs of pseudo-values, one row per unit, whose mean is the metric and whose standard
error is that of the metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.input_variants import InputKey
from sqlrank.compiler.intervals.influence_functions import (
    CLASS_TOTALS,
    InfluenceRows,
    influence_name,
    influences_by_rows,
)
from sqlrank.compiler.intervals.influence_sums import count_units_with
from sqlrank.compiler.intervals.outcome_flips import FLIP_LABEL, find_flip, flip_name
from sqlrank.compiler.intervals.paired_pseudo_values import PairedPseudoValues
from sqlrank.compiler.intervals.t_quantiles import UNIT_COUNT
from sqlrank.compiler.layout import KeyedCte, MetricColumn
from sqlrank.compiler.row_keys import GROUP_ID, KeyColumns, key_column
from sqlrank.compiler.select_builders import cast_double, group_by_key, join_on_key
from sqlrank.errors import MetricError
from sqlrank.sql_ast import case_when, count_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.compiler.intervals.analytic_intervals import AnalyticIntervals
    from sqlrank.compiler.relation_ctes import RelationCtes

CLASS_SIZES_BY_NAME = {"total_positives": CLASS_TOTALS[2], "total_negatives": CLASS_TOTALS[5]}


class PseudoValues:
    """Pseudo-value CTEs, which give one row per unit; one instance per statement."""

    def __init__(self, relations: RelationCtes, spread: AnalyticIntervals) -> None:
        self.relations = relations
        self.spread = spread

    def select_rows(
        self,
        base_role: str,
        ctes: Sequence[KeyedCte],
        columns: Sequence[MetricColumn],
        audits: Mapping[KeyedCte, Sequence[str]],
    ) -> exp.Select:
        """Return one row per group and unit of the input ``base_role``.

        Each metric has a pseudo-value. Values are NULL if no row carries influence on the metric.

        Raises:
            MetricError: No metric has pseudo-values.
        """
        grouped_influences = [
            (cte, rows, influences)
            for cte in ctes
            for rows, influences in influences_by_rows(
                self.relations,
                cte.step,
                [column for column in columns if column.cte == cte.step],
                rows_are_values=False,
            ).items()
        ]
        aliases = {
            column.alias for _, _, influences in grouped_influences for column, _ in influences
        }
        if not aliases:
            raise MetricError(
                f"{columns[0].metric.metric} cannot be compared by units: it has no influence"
                " values"
            )
        if self.spread.scores:
            return PairedPseudoValues(
                self.relations, self.spread.scores, self._add_pseudo_values
            ).select_rows(base_role, grouped_influences, columns, audits)
        ctes_by_alias: dict[str, KeyedCte] = {}
        for cte, rows, influences in grouped_influences:
            ctes_by_alias |= dict.fromkeys(
                (column.alias for column, _ in influences),
                self._add_pseudo_values(cte, rows, influences),
            )
        flips = self._list_flips(columns, ctes_by_alias)
        first_cte, *other_ctes = dict.fromkeys(ctes_by_alias.values())
        if other_ctes:
            first_cte, other_ctes = self._add_units(base_role), [first_cte, *other_ctes]
        key_columns = [key_column(name, first_cte.step) for name in first_cte.keys.columns]
        values = [
            exp.alias_(
                cast_double(
                    exp.column(column.alias, table=ctes_by_alias[column.alias].step)
                    if column.alias in aliases
                    else exp.Null()
                ),
                column.alias,
            )
            for column in columns
        ]
        query = exp.select(*key_columns, *values).from_(first_cte.step)
        for cte in [*other_ctes, *audits]:
            query = join_on_key(query, first_cte.step, cte)
        return query.select(
            *(exp.column(name, table=cte.step) for cte, names in audits.items() for name in names),
            *flips,
            copy=False,
        )

    def _list_flips(
        self, columns: Sequence[MetricColumn], ctes_by_alias: Mapping[str, KeyedCte]
    ) -> list[exp.Expr]:
        """Return the columns of flips in the order of metrics, and of the label of the unit."""
        names = {
            flip_name(column.alias): cte.step
            for column in columns
            if (cte := ctes_by_alias.get(column.alias))
            and flip_name(column.alias) in self.relations.ctes[cte.step].query.named_selects
        }
        labels = {FLIP_LABEL: next(iter(names.values()))} if names else {}
        return [exp.column(name, table=step) for name, step in {**names, **labels}.items()]

    def _add_units(self, base_role: str) -> KeyedCte:
        """Add the units of an input, to which metrics with different influence rows are joined."""
        input_cte = self.relations.add_input(InputKey(base_role))
        group = self.relations.find_keys(input_cte)[GROUP_ID]
        keys = KeyColumns((*group.columns, *self.relations.unit_columns(input_cte)), group.nullable)
        query = exp.select(*map(key_column, keys.columns)).from_(input_cte)
        return KeyedCte(
            self.relations.ctes.add_aggregate(
                "group_units",
                query if self.spread.rows_are_units else group_by_key(query, keys),
                "one row per unit of a group",
            ),
            keys,
        )

    def _add_pseudo_values(
        self,
        cte: KeyedCte,
        rows: InfluenceRows,
        influences: Sequence[tuple[MetricColumn, exp.Expr]],
    ) -> KeyedCte:
        """Add the pseudo-values of metrics whose influence the same rows carry."""
        keys, has_classes = cte.keys, self.spread.has_classes(rows)
        flips = {
            flip_name(column.alias): flip
            for column, _ in influences
            if (flip := find_flip(self.relations, column, rows)) is not None
        }
        if flips:
            flips[FLIP_LABEL] = exp.column("label", table="r")
        influence_cte = self.relations.ctes.add_aggregate(
            f"{cte.step.removesuffix('_metrics')}_influence",
            _only_of_one_row(
                self.spread.select_influence(
                    cte.step, keys, rows, influences, has_classes, carried=flips
                ),
                list(flips),
            ),
            "one row per unit: its influence on each metric",
        )
        counts: dict[str, exp.Expr] = {UNIT_COUNT: count_rows()}
        counts |= (
            {name: count_units_with(total) for name, total in CLASS_SIZES_BY_NAME.items()}
            if has_classes
            else {}
        )
        counted = exp.select(
            *map(key_column, keys.columns),
            *(exp.alias_(count, name) for name, count in counts.items()),
        ).from_(influence_cte)
        sizes_cte = self.relations.ctes.add_aggregate(
            f"{cte.step.removesuffix('_metrics')}_sizes",
            group_by_key(counted, keys),
            "one row per group: its units",
        )
        unit_keys = KeyColumns(
            (*keys.columns, *(name for name in rows.units if name not in keys.columns)),
            keys.nullable,
        )
        key_columns = [key_column(name, influence_cte) for name in unit_keys.columns]
        query = exp.select(
            *key_columns,
            *(
                self._build_pseudo_value(column, cte.step, influence_cte, sizes_cte, has_classes)
                for column, _ in influences
            ),
            *(exp.column(name, table=influence_cte) for name in flips),
        ).from_(influence_cte)
        for joined_cte in (cte.step, sizes_cte):
            query = join_on_key(query, influence_cte, KeyedCte(joined_cte, keys))
        return KeyedCte(
            self.relations.ctes.add_aggregate(
                f"{cte.step.removesuffix('_metrics')}_unit_values",
                query,
                "one row per unit: the values whose mean a metric is",
            ),
            unit_keys,
        )

    def _build_pseudo_value(
        self,
        column: MetricColumn,
        metrics_cte: str,
        influence_cte: str,
        sizes_cte: str,
        has_classes: bool,
    ) -> exp.Expr:
        method = (
            column.metric.file.interval.standard_error or "influence"
            if has_classes
            else "influence"
        )
        if method == "delong" and not self.spread.rows_are_units:
            method = "delong_of_units"
        arguments = [
            exp.column(name, table=table)
            for name, table in (
                (column.alias, metrics_cte),
                (influence_name(column), influence_cte),
                (UNIT_COUNT, sizes_cte),
            )
        ]
        arguments += [
            exp.column(CLASS_TOTALS[2], table=influence_cte),
            *(exp.column(name, table=sizes_cte) for name in CLASS_SIZES_BY_NAME),
        ]
        return exp.alias_(
            self.relations.apply_function("pseudo_value", {"pseudo_value": method}, *arguments),
            column.alias,
        )


def _only_of_one_row(query: exp.Select, names: Sequence[str]) -> exp.Select:
    """Make columns NULL for units of several rows, in place: only a row has an outcome."""
    for item in query.selects:
        if item.alias in names and isinstance(item.this, exp.Max):
            item.set("this", case_when(count_rows().eq(1), item.this))
    return query
