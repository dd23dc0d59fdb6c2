"""Build the CTEs of pseudo-values, in a row per unit or per row with several scores: their mean is
the metric, and their standard error that of the metric. Flips are the gain by the other outcome of
a row.

A row of a label is right or wrong, and the sign of its flip is its outcome. If few rows of a label
change their outcome, they say little of the number of others that would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlrank.compiler.intervals.influence_functions import (
    CLASS_TOTALS,
    InfluenceRows,
    contribution_of_rows,
    find_underlying_sum,
    influence_name,
    influences_by_rows,
    named_derivatives,
)
from sqlrank.compiler.intervals.influence_sums import count_units_with
from sqlrank.compiler.intervals.interval_formulas import UNIT_COUNT
from sqlrank.compiler.layout import InputKey, InputVariant, KeyedCte, MetricColumn
from sqlrank.compiler.row_keys import (
    GROUP_ID,
    SCORE_NAME,
    UNIT_ID,
    KeyColumns,
    key_column,
    key_equalities,
)
from sqlrank.compiler.select_builders import (
    aggregate_by_key,
    cast_double,
    group_by_key,
    have_weights,
    join_on_key,
    join_source,
)
from sqlrank.errors import MetricError
from sqlrank.registry.sql_file import INFLUENCE_KEY
from sqlrank.sql_ast import add_terms, case_when, count_rows, find_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.compiler.intervals.analytic_intervals import AnalyticIntervals
    from sqlrank.compiler.intervals.influence_functions import InfluenceRows
    from sqlrank.compiler.layout import MetricColumn
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
            cast_double(
                exp.column(column.alias, table=ctes_by_alias[column.alias].step)
                if column.alias in aliases
                else exp.Null()
            ).as_(
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
        labels = [
            step
            for step in dict.fromkeys(names.values())
            if FLIP_LABEL in self.relations.ctes[step].query.named_selects
        ]
        steps = [*names.items(), *((FLIP_LABEL, step) for step in labels[:1])]
        return [exp.column(name, table=step) for name, step in steps]

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
        # Rows of several labels of a unit have none; a unit has the greatest of their flips.
        has_label = "label" in self.relations.ctes[rows.step].query.named_selects
        if flips and has_label:
            flips[FLIP_LABEL] = exp.column("label", table="r")
        influence_cte = self.relations.ctes.add_aggregate(
            f"{cte.step.removesuffix('_metrics')}_influence",
            _only_of_one_row(
                self.spread.select_influence(cte.step, keys, rows, influences, flips),
                list(flips) if has_label else [],
            ),
            "one row per unit: its influence on each metric",
        )
        counts: dict[str, exp.Expr] = {UNIT_COUNT: count_rows()}
        counts |= (
            {name: count_units_with(total) for name, total in CLASS_SIZES_BY_NAME.items()}
            if has_classes
            else {}
        )
        sizes_cte = self.relations.ctes.add_aggregate(
            f"{cte.step.removesuffix('_metrics')}_sizes",
            aggregate_by_key(influence_cte, keys, counts),
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
        return self.relations.apply_function(
            "pseudo_value", {"pseudo_value": method}, *arguments
        ).as_(
            column.alias,
        )


def _only_of_one_row(query: exp.Select, names: Sequence[str]) -> exp.Select:
    """Make columns NULL for units of several rows, in place: only a row has an outcome."""
    for item in query.selects:
        if item.alias in names and isinstance(item.this, exp.Max):
            item.set("this", case_when(count_rows().eq(1), item.this))
    return query


InfluencedMetrics = tuple["KeyedCte", "InfluenceRows", "Sequence[tuple[MetricColumn, exp.Expr]]"]
"""Metrics with influence from the same rows, and the influence of each row."""

ROW_ALIAS, SIZES_ALIAS = "p", "n"
"""Aliases of the input rows and of the row counts of their group."""

CLASS_SIZE_COLUMNS = ("total_positives", "total_negatives")

CLASS_SIZES = ("positive_size", "negative_size")
"""Columns of unit values with the effective number of positives and of negatives, if a metric needs
them.
"""

SMALLER_CLASS_SIZE = "smaller_class_size"
"""Column of the smaller of both sizes, where no metric needs both."""


class PairedPseudoValues:
    """Pseudo-values of rows with several scores; one instance per statement.

    The influence is computed in the row itself: expressions over predictions use each score in
    turn, and influence by score and label is looked up. ``values`` adds pseudo-values by unit for
    all other metrics. Metrics of outcomes alone have few different rows, which are counted if they
    have no weights.
    """

    def __init__(
        self,
        relations: RelationCtes,
        scores: Sequence[str],
        values: Callable[..., KeyedCte],
    ) -> None:
        self.relations = relations
        self.scores = scores
        self.values = values
        self.group = KeyColumns()
        self.step = ""

    def select_rows(
        self,
        base_role: str,
        grouped_influences: Sequence[InfluencedMetrics],
        columns: Sequence[MetricColumn],
        audits: Mapping[KeyedCte, Sequence[str]],
    ) -> exp.Select:
        """Return one row per row of the input ``base_role``, with pseudo-values under all scores.

        Values are NULL where the row is excluded under a score.
        """
        input_cte = self.relations.add_input(InputKey(base_role, InputVariant.NUMBERED))
        self.group, self.step = (
            self.relations.find_keys(input_cte)[GROUP_ID],
            self.relations.wide_score_ctes.get(input_cte, input_cte),
        )
        query = exp.select(*(key_column(name, ROW_ALIAS) for name in self.group.columns)).from_(
            exp.to_table(self.step).as_(ROW_ALIAS)
        )
        query = query.where(exp.column("weight", table=ROW_ALIAS) > 0)
        direct_influences = [
            influenced
            for influenced in grouped_influences
            if InputKey(base_role, InputVariant.UNFILTERED) not in self.relations.sources
            and self._is_direct(influenced[1], base_role)
        ]
        sizes: dict[str, exp.Expr] = {}
        if direct_influences:
            sizes, audits = self._split_class_sizes(audits)
            query = self._join_cte(query, self._count_rows(input_cte, sizes), SIZES_ALIAS)
        values: dict[str, exp.Expr] = {}
        flips: dict[str, exp.Expr] = {}
        for number, influenced in enumerate(grouped_influences, start=1):
            cte, rows, influences = influenced
            is_direct = influenced in direct_influences
            values_cte = cte if is_direct else self.values(cte, rows, influences)
            for score_number, score in enumerate(self.scores, start=1):
                aliases = f"m{number}_{score_number}", f"r{number}_{score_number}"
                query = self._join_cte(query, values_cte, aliases[0], score)
                if is_direct and rows.kind == "equal_units":
                    lookup = KeyedCte(rows.step, cte.keys)
                    query = self._join_cte(query, lookup, aliases[1], score, score_number)
                for column, influence in influences:
                    name = column.alias_for_score(score_number)
                    values[name] = exp.column(column.alias, table=aliases[0])
                    if is_direct:
                        value_influence = _influence_for_score(
                            influence, *aliases, score_number, rows
                        )
                        flip = find_flip(self.relations, column, rows)
                        values[name] = self._build_pseudo_value(
                            column, values[name], value_influence, rows
                        )
                        if flip is not None:
                            flips[flip_name(name)] = _influence_for_score(
                                flip, *aliases, score_number, rows
                            )
        names = [
            column.alias_for_score(score_number)
            for column in columns
            for score_number, _ in enumerate(self.scores, start=1)
        ]
        query = query.select(
            *(cast_double(values.get(name, exp.Null())).as_(name) for name in names)
        )
        query = _select_class_sizes(query, sizes, columns)
        query = self._with_flips(self._join_audits(query, audits), names, flips)
        has_outcomes_alone = bool(flips) and flips.keys() == {*map(flip_name, values)}
        if has_outcomes_alone and not self._is_weighted():
            return self._count_equal_rows(query)
        return query

    def _with_flips(
        self, query: exp.Select, names: Sequence[str], flips: Mapping[str, exp.Expr]
    ) -> exp.Select:
        """Add the columns of flips in the order of metrics, and the label of their rows."""
        labels = [exp.column("label", table=ROW_ALIAS).as_(FLIP_LABEL)] if flips else []
        ordered = [name for name in map(flip_name, names) if name in flips]
        return query.select(*(flips[name].as_(name) for name in ordered), *labels, copy=False)

    def _is_weighted(self) -> bool:
        """Return True if rows have weights other than 1."""
        queries = [
            self.relations.ctes[name].query
            for key, name in self.relations.inputs.items()
            if self.relations.sources[key].reads_input is None
        ]
        return have_weights(queries)

    def _count_equal_rows(self, query: exp.Select) -> exp.Select:
        """Return a row for all equal rows of a query, with their number."""
        names = [
            exp.Column(this=item.args["alias"].copy() if item.alias else item.this.copy())
            for item in query.selects
        ]
        step = self.relations.ctes.add_aggregate(
            "outcome_values", query, "one row per row: the values whose mean a metric is"
        )
        counted = exp.select(*names, count_rows().as_(EQUAL_ROW_COUNT)).from_(step)
        return counted.group_by(*(name.copy() for name in names))

    def _split_class_sizes(
        self, audits: Mapping[KeyedCte, Sequence[str]]
    ) -> tuple[dict[str, exp.Expr], dict[KeyedCte, Sequence[str]]]:
        """Return the expressions of the sizes of classes, which are those of the input rows under
        every score, and the other audits.
        """
        sizes: dict[str, exp.Expr] = {}
        others = {}
        for cte, names in audits.items():
            others[cte] = [name for name in names if name not in CLASS_SIZES]
            sizes |= {
                item.alias: item.this.copy()
                for item in self.relations.ctes[cte.step].query.selects
                if item.alias in names and item.alias in CLASS_SIZES
            }
        return sizes, {cte: names for cte, names in others.items() if names}

    def _join_audits(
        self, query: exp.Select, audits: Mapping[KeyedCte, Sequence[str]]
    ) -> exp.Select:
        """Join the columns for input checks, which are equal under all scores."""
        for cte, names in audits.items():
            maxima = {name: exp.Max(this=exp.column(name)) for name in names}
            checks_cte = self.relations.ctes.add_aggregate(
                f"{cte.step.removesuffix('_metrics')}_checks",
                aggregate_by_key(cte.step, self.group, maxima),
                "one row per group, whatever the score",
            )
            query = self._join_cte(query, KeyedCte(checks_cte, self.group), checks_cte).select(
                *(exp.column(name, table=checks_cte) for name in names)
            )
        return query

    def _is_direct(self, rows: InfluenceRows, base_role: str) -> bool:
        """Return True if the influence follows from an input row or a lookup."""
        return (
            rows.step == self.relations.add_input(InputKey(base_role)) or rows.kind == "equal_units"
        )

    def _count_rows(self, cte: str, class_sizes: Mapping[str, exp.Expr]) -> KeyedCte:
        """Add a CTE with the rows of positive weight per group and class, and the sizes of
        classes.
        """
        label = exp.column("label").eq(1)
        classes = (_one_if(label), 1 - _one_if(label))
        counts: dict[str, exp.Expr] = {UNIT_COUNT: count_rows()}
        counts |= {
            name: exp.Sum(this=count)
            for name, count in zip(CLASS_SIZE_COLUMNS, classes, strict=True)
        }
        counts |= class_sizes
        query = aggregate_by_key(cte, self.group, counts).where(exp.column("weight") > 0)
        return KeyedCte(
            self.relations.ctes.add_aggregate(
                "group_row_counts",
                query,
                "one row per group: how many rows it has",
            ),
            self.group,
        )

    def _join_cte(
        self,
        query: exp.Select,
        cte: KeyedCte,
        alias: str,
        score: str | None = None,
        score_number: int | None = None,
    ) -> exp.Select:
        """Join a CTE by group, score name, score value and unit.

        Only the columns that identify its rows are used.
        """
        on = key_equalities(self.group.columns, alias, ROW_ALIAS, self.group.nullable)
        on += [] if score is None else [key_column(SCORE_NAME, alias).eq(score)]
        on += key_equalities(
            [name for name in cte.keys.columns if name == UNIT_ID], alias, ROW_ALIAS, nullable=False
        )
        on += [] if score_number is None else self._lookup_conditions(cte.step, alias, score_number)
        return join_source(query, exp.to_table(cte.step).as_(alias), on)

    def _lookup_conditions(self, cte: str, alias: str, score_number: int) -> list[exp.Expr]:
        """Return the join conditions of a lookup under one score.

        The CTE's file declares them.
        """
        names = self.relations.ctes[self.step].query.named_selects
        file: Any = self.relations.ctes[cte].file
        condition: exp.Expr = sqlglot.parse_one(file.annotations[INFLUENCE_KEY], read="duckdb")
        for column in find_nodes(condition, exp.Column):
            column_name = (
                f"{column.name}_{score_number}"
                if f"{column.name}_{score_number}" in names
                else column.name
            )
            column.replace(
                exp.column(column_name, table=ROW_ALIAS)
                if column.table == ROW_ALIAS
                else exp.column(column.name, table=alias)
            )
        return list(condition.flatten())

    def _build_pseudo_value(
        self, column: MetricColumn, value: exp.Expr, influence: exp.Expr, rows: InfluenceRows
    ) -> exp.Expr:
        """Return the pseudo-value of a row; the mean over all rows is the metric."""
        method = (
            column.metric.file.interval.standard_error or "influence"
            if rows.kind == "equal_units"
            else "influence"
        )
        is_positive = _one_if(exp.column("label", table=ROW_ALIAS).eq(1))
        sizes = [exp.column(name, table=SIZES_ALIAS) for name in (UNIT_COUNT, *CLASS_SIZE_COLUMNS)]
        return self.relations.apply_function(
            "pseudo_value",
            {"pseudo_value": method},
            value,
            influence,
            sizes[0],
            is_positive,
            *sizes[1:],
        )


def _select_class_sizes(
    query: exp.Select, sizes: Mapping[str, exp.Expr], columns: Sequence[MetricColumn]
) -> exp.Select:
    """Add the sizes of classes to each row: both for areas, otherwise the smaller one, since each
    column of a million rows takes a tenth of the time.
    """
    names = [exp.column(name, table=SIZES_ALIAS) for name in sizes]
    if names and not any(column.metric.file.interval.limits for column in columns):
        positives, negatives = names
        smaller = case_when(positives < negatives, positives.copy(), negatives.copy())
        return query.select(smaller.as_(SMALLER_CLASS_SIZE), copy=False)
    return query.select(*names, copy=False)


def _one_if(condition: exp.Expr) -> exp.Case:
    """Return 1 if a condition holds, else 0."""
    return case_when(condition.copy(), 1, 0)


def _influence_for_score(
    influence: exp.Expr, metrics_alias: str, rows_alias: str, score_number: int, rows: InfluenceRows
) -> exp.Expr:
    """Rewrite an influence expression over ``r`` (rows) and ``m`` (metrics) for one score."""
    influence = exp.paren(influence.copy())
    for column in find_nodes(influence, exp.Column):
        name = column.name
        if column.table == "m":
            table = metrics_alias
        elif rows.kind == "equal_units" and name != "influence_weight":
            table = rows_alias
        else:
            table, name = (
                ROW_ALIAS,
                {"influence_weight": "weight", "score": f"score_{score_number}"}.get(name, name),
            )
        column.replace(exp.column(name, table=table))
    return influence.this if isinstance(influence.this, (exp.Column, exp.Mul)) else influence


OUTCOMES = "Outcomes"
"""Annotation of the sums of a relation to one of which each row of a label adds: ``tp or fn, fp or
tn``.
"""

FLIP_LABEL = "flip_label"
"""Column of the label of rows with flips; its name in results is not that of a column of the
caller.
"""

EQUAL_ROW_COUNT = "num_rows"
"""Column of the number of rows that have the same values."""

FLIP_SUFFIX = "flip"
"""End of the names of columns of flips."""


def flip_name(alias: str) -> str:
    """Return the column of the flips of a metric."""
    return f"{alias}_{FLIP_SUFFIX}"


def find_flip(
    relations: RelationCtes, column: MetricColumn, rows: InfluenceRows
) -> exp.Expr | None:
    """Return the flip of a row for a metric, over ``r`` and ``m``, None if its rows have no
    outcomes.

    The query of the metrics has their derivatives.
    """
    if rows.kind != "contributions":
        return None
    if declared := column.metric.file.interval.influence:
        name = f"{declared.partition(' FROM ')[0].removesuffix('influence')}{FLIP_SUFFIX}"
        has_flips = name in relations.ctes[rows.step].query.named_selects
        return (
            exp.column("influence_weight", table="r") * exp.column(name, table="r")
            if has_flips
            else None
        )
    query: Any = relations.ctes[column.cte].query
    counts = relations.ctes[query.args["from_"].this.name]
    if counts.file is None or OUTCOMES not in counts.file.annotations:
        return None
    derivatives = {
        total.this.name: name for total, name in named_derivatives(relations, query, column).items()
    }
    flips = []
    for pair in counts.file.annotations[OUTCOMES].split(", "):
        outcomes = pair.split(" or ")
        if not derivatives.keys().isdisjoint(outcomes):
            flips.append(_flip_outcome(outcomes, derivatives, counts.query))
    return add_terms(flips) if flips else None


def _flip_outcome(outcomes: Sequence[str], derivatives: dict[str, str], counts: Any) -> exp.Expr:
    """Return the gain of a metric by the other of two outcomes of a row, 0 for a row of neither."""
    first, second = (
        exp.column(derivatives[name], table="m") if name in derivatives else exp.Literal.number(0)
        for name in reversed(outcomes)
    )
    adds, other_adds = (
        contribution_of_rows(find_underlying_sum(exp.Sum(this=exp.column(name)), counts))
        for name in outcomes
    )
    gain = exp.paren(exp.Sub(this=first, expression=second))
    return exp.Mul(this=exp.paren(exp.Sub(this=adds, expression=other_adds)), expression=gain)
