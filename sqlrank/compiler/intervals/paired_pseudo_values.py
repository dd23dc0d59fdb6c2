"""Build the CTEs of paired pseudo-values: one row per input row, with the pseudo-values of metrics
under each of several scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlrank.compiler.input_variants import InputKey, InputVariant
from sqlrank.compiler.intervals.outcome_flips import FLIP_LABEL, find_flip, flip_name
from sqlrank.compiler.intervals.t_quantiles import UNIT_COUNT
from sqlrank.compiler.layout import KeyedCte, MetricColumn
from sqlrank.compiler.row_keys import (
    GROUP_ID,
    SCORE_NAME,
    UNIT_ID,
    KeyColumns,
    key_column,
    key_equalities,
)
from sqlrank.compiler.select_builders import cast_double, group_by_key, join_source
from sqlrank.registry.interval_annotation import INFLUENCE_KEY
from sqlrank.sql_ast import case_when, count_rows, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.compiler.intervals.influence_functions import InfluenceRows
    from sqlrank.compiler.relation_ctes import RelationCtes

InfluencedMetrics = tuple["KeyedCte", "InfluenceRows", "Sequence[tuple[MetricColumn, exp.Expr]]"]
"""Metrics with influence from the same rows, and the influence of each row."""

ROW_ALIAS, SIZES_ALIAS = "p", "n"
"""Aliases of the input rows and of the row counts of their group."""

CLASS_SIZE_COLUMNS = ("total_positives", "total_negatives")


class PairedPseudoValues:
    """Pseudo-values of rows with several scores; one instance per statement.

    The influence is computed in the row itself: expressions over predictions use each score in
    turn, and influence by score and label is looked up. ``values`` adds pseudo-values by unit for
    all other metrics.
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
        if direct_influences:
            query = self._join_cte(query, self._count_rows(input_cte), SIZES_ALIAS)
        pseudo_values: dict[str, exp.Expr] = {}
        flips: dict[str, exp.Expr] = {}
        for number, (cte, rows, influences) in enumerate(grouped_influences, start=1):
            is_direct = (cte, rows, influences) in direct_influences
            values_cte = cte if is_direct else self.values(cte, rows, influences)
            for score_number, score in enumerate(self.scores, start=1):
                metrics_alias, rows_alias = f"m{number}_{score_number}", f"r{number}_{score_number}"
                query = self._join_cte(query, values_cte, metrics_alias, score)
                if is_direct and rows.kind == "equal_units":
                    query = self._join_cte(
                        query, KeyedCte(rows.step, cte.keys), rows_alias, score, score_number
                    )
                for column, influence in influences:
                    if is_direct and (flip := find_flip(self.relations, column, rows)) is not None:
                        alias = flip_name(column.alias_for_score(score_number))
                        flips[alias] = _influence_for_score(
                            flip, metrics_alias, rows_alias, score_number, rows
                        )
                    value = exp.column(column.alias, table=metrics_alias)
                    pseudo_values[column.alias_for_score(score_number)] = (
                        self._build_pseudo_value(
                            column,
                            value,
                            _influence_for_score(
                                influence, metrics_alias, rows_alias, score_number, rows
                            ),
                            rows,
                        )
                        if is_direct
                        else value
                    )
        values = (
            exp.alias_(
                cast_double(pseudo_values.get(column.alias_for_score(score_number), exp.Null())),
                column.alias_for_score(score_number),
            )
            for column in columns
            for score_number, _ in enumerate(self.scores, start=1)
        )
        query = query.select(*values)
        for cte, names in audits.items():
            maxima = (exp.alias_(exp.Max(this=exp.column(name)), name) for name in names)
            counted = group_by_key(
                exp.select(*map(key_column, self.group.columns), *maxima).from_(cte.step),
                self.group,
            )
            checks_cte = self.relations.ctes.add_aggregate(
                f"{cte.step.removesuffix('_metrics')}_checks",
                counted,
                "one row per group, whatever the score",
            )
            query = self._join_cte(query, KeyedCte(checks_cte, self.group), checks_cte).select(
                *(exp.column(name, table=checks_cte) for name in names)
            )
        ordered = [
            flip_name(column.alias_for_score(number))
            for column in columns
            for number, _ in enumerate(self.scores, start=1)
        ]
        labels = [exp.alias_(exp.column("label", table=ROW_ALIAS), FLIP_LABEL)] if flips else []
        return query.select(
            *(exp.alias_(flips[name], name) for name in ordered if name in flips),
            *labels,
            copy=False,
        )

    def _is_direct(self, rows: InfluenceRows, base_role: str) -> bool:
        """Return True if the influence follows from an input row or a lookup."""
        return (
            rows.step == self.relations.add_input(InputKey(base_role)) or rows.kind == "equal_units"
        )

    def _count_rows(self, cte: str) -> KeyedCte:
        """Add a CTE with the rows of positive weight per group and class."""
        label = exp.column("label").eq(1)
        classes = (_one_if(label), 1 - _one_if(label))
        counts: dict[str, exp.Expr] = {UNIT_COUNT: count_rows()}
        counts |= {
            name: exp.Sum(this=count)
            for name, count in zip(CLASS_SIZE_COLUMNS, classes, strict=True)
        }
        query = exp.select(
            *map(key_column, self.group.columns),
            *(exp.alias_(count, name) for name, count in counts.items()),
        ).from_(cte)
        query = query.where(exp.column("weight") > 0)
        return KeyedCte(
            self.relations.ctes.add_aggregate(
                "group_row_counts",
                group_by_key(query, self.group),
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


def _one_if(condition: exp.Expr) -> exp.Case:
    """Return 1 if a condition holds, else 0."""
    return case_when(condition.copy(), sql_literal(1), sql_literal(0))


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
