"""Evaluate metrics per unit and per system, load unit values into temporary DuckDB tables, and
summarize paired differences by group, metric and pair of systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from sqlglot import exp

from sqlrank.arrow_arrays import to_array
from sqlrank.call.resolve import resolve_request
from sqlrank.call.sources import count_rows_in_memory
from sqlrank.cancellation import run_cancellable
from sqlrank.compiler.intervals.pseudo_values import (
    CLASS_SIZES,
    EQUAL_ROW_COUNT,
    FLIP_LABEL,
    FLIP_SUFFIX,
    SMALLER_CLASS_SIZE,
)
from sqlrank.compiler.layout import score_column_name
from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.compiler.select_builders import bind_parameters
from sqlrank.engines.duckdb_session import duckdb_session, fetch_tuples
from sqlrank.engines.open_database import share_queries
from sqlrank.errors import InputError, SqlrankError, count_things
from sqlrank.inputs.column_binding import bind_inputs
from sqlrank.registry.loader import load_registry
from sqlrank.registry.query_templates import load_select, repeat_columns
from sqlrank.registry.roles import UNIT_COLUMN
from sqlrank.result_metadata import (
    ROW_UNIT,
    UNIT_KEY,
    left_out_metadata,
    name_unit,
    read_left_out,
    read_texts,
)
from sqlrank.run.execution import (
    ZERO_WEIGHTS_KEY,
    execute_request,
    execute_resolved,
    run_resolved,
)
from sqlrank.sql_ast import bind_placeholders, sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import duckdb

    from sqlrank.call.request import ResourceLimits
    from sqlrank.comparison.comparison_plan import ComparedMetric, ComparisonPlan
    from sqlrank.engines.database import Database
    from sqlrank.engines.open_database import ExecutionOptions
    from sqlrank.inputs.bound_input import BoundInputs


DIFFERENCE_STEPS = {
    "unit_differences": "VIEW",
    "mean_differences": "TABLE",
    "unit_influence": "VIEW",
}
"""Steps of a comparison that its tests read, with the kind of each in the scratch database."""

SUMMARY_STEPS = (
    *DIFFERENCE_STEPS,
    "rare_changes",
    "difference_sums",
    "compared_areas",
    "area_variances",
    "difference_errors",
)
"""Steps of the summary of differences, in one statement."""

FLIP_STEPS, AREA_STEPS = ("rare_changes",), ("compared_areas", "area_variances")
"""Steps without rows if no unit with flips has a label, and if none is an area."""

COMPARISON_FUNCTIONS = {"degrees_of_freedom": "excess"}
"""Functions of slots in the files of ``sql/analyses/comparison`` that are not the only ones of
their slot.
"""

FLIP, FLIP_LABEL_NAME = f".{FLIP_SUFFIX}", f".{FLIP_LABEL}"
"""End of the names of columns of unit values with flips, and the column with the label of their
rows.
"""

FLIP_COLUMNS = ("baseline_flip", "system_flip")

EQUAL_ROW_COUNT_NAME = f".{EQUAL_ROW_COUNT}"
"""Column of unit values with the number of rows that have them, if equal rows are counted."""

MAX_CELLS_PER_GROUPING = 10**9
ContrastKey = tuple[int, int, int]
"""The numbers of cell, metric and pair of a comparison."""


@dataclass(frozen=True)
class DifferenceSummary:
    """Summary of a metric's paired differences in a cell, a row of
    ``comparison/comparison_statistics.sql``.
    """

    cell: int
    metric: int
    pair: int
    cell_units: int = 0
    baseline_units: int = 0
    system_units: int = 0
    lone_units: int = 0
    units: int = 0
    unpaired: int = 0
    value_baseline: float | None = None
    value: float | None = None
    difference: float | None = None
    decrease: float | None = None
    scale: float | None = None
    se: float | None = None
    df: float = 0.0
    class_size: float | None = None
    row_effect: float | None = None
    squares: float | None = None
    total: float | None = None
    n_positive: int | None = None
    n_zero: int | None = None
    n_negative: int | None = None
    n_changed: int | None = None

    @property
    def key(self) -> ContrastKey:
        """The identifier of the comparison."""
        return self.cell, self.metric, self.pair


class PairedUnits:
    """Unit values in a scratch DuckDB: temporary tables that the files of
    ``sql/analyses/comparison`` read.

    Each input table has the columns of systems, groups and units, ``weight`` if units are weighted,
    and one of doubles per metric. If rows with several scores are units (``by_rows``), it has the
    group columns and one column of doubles per metric and score. ``cells`` are the groups by
    number, sorted by grouping and values.
    """

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        tables: UnitTables,
        comparison: ComparisonPlan,
        by_rows: bool,
        system_values: UnitTables = (),
    ) -> None:
        self.database = database
        self.tables = tables
        self.system_values = _by_cell(system_values, comparison)
        unit = name_unit(find_unit_column(tables, comparison))
        self.measures = [replace(measure, unit=unit) for measure in comparison.measures]
        columns = tables[0][1].column_names
        self.class_sizes = [
            name for name in (*CLASS_SIZES, SMALLER_CLASS_SIZE) if f".{name}" in columns
        ]
        self.has_flip_labels = FLIP_LABEL_NAME in columns
        self.scores = comparison.declared_order if by_rows else []
        self.has_row_counts = EQUAL_ROW_COUNT_NAME in columns
        self.num_pairs = 1
        self.created_steps: set[str] = set()
        self.flip_metrics = [
            index
            for index, measure in enumerate(self.measures)
            if {f"{name}{FLIP}" for name in self._value_columns(measure)} <= {*columns}
        ]
        self.cells: dict[int, dict[str, Any]] = {}
        for grouping_number, (group, table) in enumerate(tables):
            database.register(f"given_{grouping_number}", table)
            select_items = self._score_items() if by_rows else self._unit_items(table, comparison)
            sliced = exp.select(*_select_cell_columns(group, grouping_number), *select_items).from_(
                f"given_{grouping_number}"
            )
            self.create_temp(f"sliced_{grouping_number}", sliced, "TABLE" if group else "VIEW")
            values = system_values[grouping_number][1] if system_values else None
            self.cells |= {
                cell: dict(zip(group, row, strict=True))
                for cell, row in self._group_cells(group, grouping_number, table, values)
            }
        names = ["cell", *(select_item.alias_or_name for select_item in select_items)]
        self.create_temp(
            "unit_values",
            union_all(
                [
                    exp.select(*names).from_(f"sliced_{grouping_number}")
                    for grouping_number, _ in enumerate(tables)
                ]
            ),
            "VIEW",
        )

    def _group_cells(
        self, group: Sequence[str], grouping_number: int, table: pa.Table, values: pa.Table | None
    ) -> list[tuple[int, tuple[Any, ...]]]:
        """Return the cells of a grouping with their values of the group columns, in order; groups
        that have ``values`` and no units, too.
        """
        if not group and table.num_rows:
            return [(grouping_number * MAX_CELLS_PER_GROUPING, ())]
        names = [f"slice_{index}" for index, _ in enumerate(group)]
        rows = exp.select("cell", *names).distinct().from_(f"sliced_{grouping_number}")
        if values is None:
            return [(row[0], row[1:]) for row in self.fetch_rows(rows.order_by("cell"))]
        self.database.register(f"groups_{grouping_number}", values)
        without_units = exp.select(
            exp.null(), *(exp.column(name, quoted=True) for name in group)
        ).from_(f"groups_{grouping_number}")
        order = [exp.Ordered(this=exp.column(name), nulls_first=True) for name in names]
        groups = exp.select(exp.Max(this=exp.column("cell")), *names).from_(
            union_all([rows, without_units]).subquery("groups")
        )
        cell_rows = self.fetch_rows(groups.group_by(*names).order_by(*order) if names else groups)
        unused = (grouping_number + 1) * MAX_CELLS_PER_GROUPING - len(cell_rows)
        return [
            (unused + place if row[0] is None else row[0], row[1:])
            for place, row in enumerate(cell_rows)
        ]

    def _unit_items(self, table: pa.Table, comparison: ComparisonPlan) -> list[exp.Expr]:
        """Return the columns to read of a row per unit and system, with internal names."""
        weight = exp.column("weight") if "weight" in table.column_names else sql_literal(1.0)
        return [
            exp.cast(exp.column(comparison.system_column, quoted=True), "TEXT").as_("system"),
            exp.column(comparison.unit).as_("unit"),
            exp.cast(weight, "DOUBLE").as_("weight"),
            *self._class_size_items(),
            *(
                _select_unit_value(measure, measure.name).as_(f"value_{index}")
                for index, measure in enumerate(self.measures)
            ),
            *(
                exp.column(f"{self.measures[index].name}{FLIP}", quoted=True).as_(f"flip_{index}")
                for index in self.flip_metrics
            ),
            *self._flip_label(),
        ]

    def _value_columns(self, measure: ComparedMetric) -> list[str]:
        """Return the columns of a metric in the table of unit values: one, or one for each
        score.
        """
        return [score_column_name(measure.name, score) for score in self.scores] or [measure.name]

    def _flip_label(self) -> list[exp.Expr]:
        """Return the column of the label of units with flips."""
        return (
            [exp.column(FLIP_LABEL_NAME, quoted=True).as_("flip_label")]
            if self.has_flip_labels
            else []
        )

    def _class_size_items(self) -> list[exp.Expr]:
        """Return the columns of the sizes of classes."""
        return [exp.column(f".{name}", quoted=True).as_(name) for name in self.class_sizes]

    def _score_items(self) -> list[exp.Expr]:
        """Return the columns to read of a row with values for every score."""
        values = [
            _select_unit_value(measure, name).as_(f"value_{index}_{side}")
            for index, measure in enumerate(self.measures)
            for side, name in enumerate(self._value_columns(measure))
        ]
        flips = [
            exp.column(f"{name}{FLIP}", quoted=True).as_(f"flip_{index}_{side}")
            for index in self.flip_metrics
            for side, name in enumerate(self._value_columns(self.measures[index]))
        ]
        counts = (
            [exp.column(EQUAL_ROW_COUNT_NAME, quoted=True).as_(EQUAL_ROW_COUNT)]
            if self.has_row_counts
            else []
        )
        return [*self._class_size_items(), *counts, *values, *flips, *self._flip_label()]

    def list_systems(self) -> list[str]:
        """Return the names of the systems; raise ``InputError`` for a missing name."""
        if self.scores:
            return self.scores
        names = {
            row[0] for row in self.fetch_rows(exp.select("system").distinct().from_("unit_values"))
        }
        names |= {system for _, system, *_ in self.system_values}
        if None in names:
            raise InputError("a system is NULL. Give every system a name to compare it")
        return sorted(names)

    def summarize_differences(self, pairs: Sequence[tuple[str, str]]) -> list[DifferenceSummary]:
        """Return a comparison for every cell, metric and pair of systems, in that order."""
        numbered = list(enumerate(self.measures))
        self.num_pairs = len(pairs)
        if self.scores:
            sides = [
                (self.scores.index(baseline), self.scores.index(system))
                for baseline, system in pairs
            ]
            paired = [
                self._select_scored_row(metric, measure, pair, both)
                for metric, measure in numbered
                for pair, both in enumerate(sides)
            ]
        else:
            self._join_pairs(pairs)
            paired = [self._select_pair(metric, measure) for metric, measure in numbered]
        self.create_temp("paired_values", union_all(paired), "VIEW")
        has_areas = any(measure.area_width is not None for measure in self.measures)
        empty = {*(() if self.has_flip_labels else FLIP_STEPS), *(() if has_areas else AREA_STEPS)}
        summaries = {
            row[:3]: DifferenceSummary(*row)
            for row in fetch_tuples(self.database, _write_summary(frozenset(empty)))
        }
        keys = product(self.cells, range(len(self.measures)), range(len(pairs)))
        return [
            self._with_values(summaries.get(key, DifferenceSummary(*key)), pairs) for key in keys
        ]

    def _with_values(
        self, summary: DifferenceSummary, pairs: Sequence[tuple[str, str]]
    ) -> DifferenceSummary:
        """Return a comparison; without paired units it gets the metrics of both systems over all
        rows.
        """
        measure = self.measures[summary.metric]
        if summary.units:
            return summary
        cell = self.cells[summary.cell]
        rows = [
            self.system_values.get(
                (summary.cell // MAX_CELLS_PER_GROUPING, system, *map(_to_hashable, cell.values())),
                {},
            )
            for system in pairs[summary.pair]
        ]
        baseline_value, system_value = (row.get(measure.name) for row in rows)
        difference = (
            None
            if baseline_value is None or system_value is None
            else system_value - baseline_value
        )
        unpaired = summary.unpaired
        if measure.uses_influence and not (summary.baseline_units and summary.system_units):
            unpaired = 0 if difference is None else summary.lone_units
        return replace(
            summary,
            unpaired=unpaired,
            value_baseline=baseline_value,
            value=system_value,
            difference=difference,
        )

    def _join_pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Create a table that joins the values of both systems of each pair by unit."""
        members = {
            "pair": to_array(
                [pair_number for pair_number, _ in enumerate(pairs) for _ in range(2)]
            ),
            "system": to_array([name for pair in pairs for name in pair]),
            "is_baseline": to_array([1, 0] * len(pairs), pa.bool_()),
        }
        self.database.register("pair_systems", pa.table(members))
        names = [*self.class_sizes, *(["flip_label"] if self.has_flip_labels else [])]
        joined = repeat_columns(
            load_select("analyses/comparison", "paired_unit_values.sql"),
            {
                ("size",): [(name,) for name in names],
                ("metric",): [(str(number),) for number, _ in enumerate(self.measures)],
                ("flip",): [(f"flip_{number}",) for number in self.flip_metrics],
            },
        )
        self.create_temp("paired_unit_values", joined)

    def _select_pair(self, metric: int, measure: ComparedMetric) -> exp.Select:
        """Return the query for the values of both systems of a metric."""
        values = [
            exp.column(f"{name}_{metric}").as_(f"{name}_value") for name in ("baseline", "system")
        ]
        flips = [f"{name}_flip_{metric}" for name in ("baseline", "system")]
        columns = [
            *values,
            *self._constant_columns(metric, measure, exp.column("pair")),
            sql_literal(1).as_(EQUAL_ROW_COUNT),
            *self._flip_columns(metric, flips),
        ]
        return exp.select("cell", "pair", "unit", "weight", "num_systems", *columns).from_(
            "paired_unit_values"
        )

    def _select_scored_row(
        self, metric: int, measure: ComparedMetric, pair: int, sides: tuple[int, int]
    ) -> exp.Select:
        """Return the query for the values under two scores of a row.

        Rows have no ids; their weights, all 1, are already part of the values.
        """
        constants = [
            sql_literal(value).as_(name)
            for name, value in {"pair": pair, "unit": 0, "weight": 1.0, "num_systems": 2}.items()
        ]
        names = zip(("baseline", "system"), sides, strict=True)
        values = [exp.column(f"value_{metric}_{side}").as_(f"{name}_value") for name, side in names]
        flips = self._flip_columns(metric, [f"flip_{metric}_{side}" for side in sides])
        count = exp.column(EQUAL_ROW_COUNT) if self.has_row_counts else sql_literal(1)
        return exp.select(
            "cell",
            *constants,
            *values,
            *self._constant_columns(metric, measure, sql_literal(pair)),
            count.as_(EQUAL_ROW_COUNT),
            *flips,
        ).from_("unit_values")

    def _flip_columns(self, metric: int, names: Sequence[str]) -> list[exp.Expr]:
        """Return the columns of flips under both systems and of the label, NULL for a metric
        without flips.
        """
        has_flips = metric in self.flip_metrics
        flips = [
            exp.column(name) if has_flips else exp.cast(exp.null(), "DOUBLE") for name in names
        ]
        label = exp.column("flip_label") if has_flips and self.has_flip_labels else exp.null()
        return [
            value.as_(name)
            for name, value in zip((*FLIP_COLUMNS, "flip_label"), (*flips, label), strict=True)
        ]

    def _constant_columns(
        self, metric: int, measure: ComparedMetric, pair: exp.Expr
    ) -> list[exp.Expr]:
        """Return the columns with the number of the metric, that of the contrast of a group, pair
        and metric, properties of the metric, and the sizes of classes.
        """
        contrast = exp.column("cell") * (len(self.measures) * self.num_pairs) + (
            pair * len(self.measures) + metric
        )
        constants = {
            "metric": metric,
            "is_share": measure.is_proportion,
            "is_pooled": measure.uses_influence,
        }
        width = exp.null() if measure.area_width is None else sql_literal(measure.area_width)
        names = (self.class_sizes * 2)[:2]  # the smaller size stands for both classes
        sizes = (
            [*map(exp.column, names)]
            if names and measure.has_classes
            else [exp.cast(exp.null(), "DOUBLE") for _ in CLASS_SIZES]
        )
        return [
            *(sql_literal(value).as_(name) for name, value in constants.items()),
            contrast.as_("contrast"),
            exp.cast(width, "DOUBLE").as_("area_width"),
            *(size.as_(name) for size, name in zip(sizes, CLASS_SIZES, strict=True)),
        ]

    def signed_ranks(self) -> dict[ContrastKey, tuple[int, float, float]]:
        """Return the inputs of Wilcoxon's signed-rank test by comparison.

        They are the number of nonzero differences, the rank sum of positive ones, and the tie
        correction of the variance.
        """
        self.create_temp(
            "absolute_difference_ranks",
            load_select("analyses/comparison", "absolute_difference_ranks.sql"),
        )
        return {
            row[:3]: row[3:]
            for row in self.fetch_rows(load_select("analyses/comparison", "signed_rank_sums.sql"))
        }

    def exact_p_values(self) -> dict[ContrastKey, float]:
        """Return the p-values of the randomization test over all signs by comparison, of those that
        differ in 1 to 20 units.
        """
        self.create_temp(
            "signed_half_sums", load_select("analyses/comparison", "signed_half_sums.sql")
        )
        return {
            row[:3]: row[3]
            for row in self.fetch_rows(load_select("analyses/comparison", "exact_sign_flips.sql"))
        }

    def fetch_rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        self._create_steps(query)
        return fetch_tuples(self.database, query.sql("duckdb"))

    def fetch_arrow(self, query: exp.Query) -> pa.Table:
        """Return the result of a query as an Arrow table."""
        self._create_steps(query)
        return self.database.sql(query.sql("duckdb")).to_arrow_table()

    def _create_steps(self, query: exp.Query) -> None:
        """Create the steps that a query reads."""
        for name in {table.name for table in query.find_all(exp.Table)} & {*DIFFERENCE_STEPS}:
            if name not in self.created_steps:
                self.created_steps.add(name)
                self._create_steps(_load_step(name))
                self.database.execute(_write_difference_step(name))

    def create_temp(self, name: str, query: exp.Query, kind: str = "TABLE", **values: Any) -> None:
        """Create a temporary table or view; ``values`` are bound to ``$name`` placeholders."""
        bind_placeholders(query, **values)
        self._create_steps(query)
        self.database.execute(_create_temp(name, query, kind).sql("duckdb"))


_TEMPORARY = exp.Properties(expressions=[exp.TemporaryProperty()])


def _create_temp(name: str, query: exp.Expr, kind: str) -> exp.Create:
    return exp.Create(
        this=exp.to_table(name),
        kind=kind,
        replace=True,
        expression=query,
        properties=_TEMPORARY.copy(),
    )


def _load_step(name: str) -> Any:
    """Return the query of a file of ``sql/analyses/comparison``."""
    return bind_parameters(
        load_registry(), load_select("analyses/comparison", f"{name}.sql"), COMPARISON_FUNCTIONS, {}
    )


@cache
def _write_difference_step(name: str) -> str:
    """Return the statement that creates a step as a table or view.

    To write all steps takes as long as to run them on 10,000 rows, so it is done once.
    """
    return _create_temp(name, _load_step(name), DIFFERENCE_STEPS[name]).sql("duckdb")


@cache
def _write_summary(empty: frozenset[str]) -> str:
    """Return the query of the summary of differences, of which some steps have no rows."""
    query = _load_step("comparison_statistics")
    for name in SUMMARY_STEPS:
        step = _load_step(name)
        if name in empty:
            step = exp.select(*(exp.null().as_(column) for column in step.named_selects)).where(
                exp.false()
            )
        is_aggregated = DIFFERENCE_STEPS.get(name) != "VIEW" and name not in empty
        query = query.with_(name, as_=step, materialized=is_aggregated)
    return str(query.sql("duckdb"))


def _select_cell_columns(group: Sequence[str], grouping_number: int) -> list[exp.Expr]:
    """Return the expressions for a grouping's cell number and group columns, with internal
    names.
    """
    order = [
        exp.Ordered(this=exp.column(column, quoted=True), nulls_first=True) for column in group
    ]
    cell_number: exp.Expr = sql_literal(grouping_number * MAX_CELLS_PER_GROUPING)
    if order:
        rank = exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=exp.Order(expressions=order))
        cell_number = cell_number + rank
    group_columns = [
        exp.column(column, quoted=True).as_(f"slice_{index}") for index, column in enumerate(group)
    ]
    return [exp.cast(cell_number, "BIGINT").as_("cell"), *group_columns]


def _select_unit_value(measure: ComparedMetric, name: str) -> exp.Expr:
    """Return the unit value column of a metric, NULL if it has none."""
    return (
        exp.cast(exp.Null(), "DOUBLE")
        if measure.no_interval is not None
        else exp.column(name, quoted=True)
    )


def _to_hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, (list, dict)) else value


def _by_cell(
    tables: UnitTables, comparison: ComparisonPlan
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the metrics by grouping, system and group."""
    values_by_cell = {}
    for grouping_number, (group, table) in enumerate(tables):
        for row in table.to_pylist():
            system = row.get(comparison.system_column)
            values_by_cell[
                (
                    grouping_number,
                    None if system is None else str(system),
                    *(_to_hashable(row[name]) for name in group),
                )
            ] = row
    return values_by_cell


WorkResult = TypeVar("WorkResult")

UnitTables = Sequence[tuple[list[str], pa.Table]]
"""A table for each grouping."""


def evaluate_systems(
    comparison: ComparisonPlan, options: ExecutionOptions, *, has_values: bool
) -> tuple[UnitTables, UnitTables]:
    """Evaluate unit values, and with ``has_values`` the metrics of systems beside them.

    Raises:
        InputError: Groups divide the queries: empty lists would hide most of each difference.
    """
    tables = evaluate_unit_values(comparison, options)
    for _, table in tables:
        for entry in read_left_out(table.schema.metadata):
            # Systems that answer different queries are compared by policy.
            if entry.divided_by not in {"", comparison.system_column}:
                raise InputError(f"by: {entry.note}")
    return tables, system_values(comparison, options, tables) if has_values else []


@contextmanager
def share_sources(
    comparison: ComparisonPlan, options: ExecutionOptions
) -> Iterator[tuple[ComparisonPlan, ExecutionOptions]]:
    """Yield a comparison and options whose evaluations read each source, and run each query that
    is one, once for all.
    """
    sources = comparison.call.sources
    with share_queries(sources, options.connection, options.dialect, options.limits) as (
        shared,
        connection,
    ):
        counts = [*map(count_rows_in_memory, shared.values())]
        options = replace(options, connection=connection).with_threads_for(
            None if None in counts else sum(filter(None, counts))
        )
        with options.keep_open() as open_options:
            yield replace(comparison, call=replace(comparison.call, sources=shared)), open_options


def evaluate_unit_values(comparison: ComparisonPlan, options: ExecutionOptions) -> UnitTables:
    """Evaluate unit values where the data are: per grouping a table by cell, system and unit."""
    if (shared := _evaluate_shared_values(comparison, options)) is not None:
        return _select_groupings(shared, comparison, options.limits)
    tables = []
    # All are resolved before the first reads a source.
    resolved_requests = [
        (group, resolve_request(call)) for group, call in comparison.calls_by_grouping()
    ]
    for index, (group, resolved_request) in enumerate(resolved_requests):
        progress = options.progress and _scale_progress(
            options.progress, index, len(resolved_requests)
        )
        tables.append((group, run_resolved(resolved_request, replace(options, progress=progress))))
    return tables


def _evaluate_shared_values(
    comparison: ComparisonPlan, options: ExecutionOptions
) -> pa.Table | None:
    """Evaluate the values of queries once for all groupings, None if they may depend on the
    grouping.
    """
    if (
        len(comparison.groupings) == 1
        or comparison.uses_influence
        or "queries" not in comparison.call.sources
    ):
        return None
    resolved_request = resolve_request(comparison.call_by(comparison.group_names))

    def evaluate_once(database: Database) -> pa.Table | None:
        inputs = None
        with suppress(SqlrankError):  # the evaluation by grouping raises the same, in its order
            inputs = bind_inputs(resolved_request, database)
        if inputs is None or not _is_independent_of_grouping(inputs, comparison):
            return None
        return execute_resolved(resolved_request, database, options.check, inputs=inputs)

    return options.run(evaluate_once)


def _is_independent_of_grouping(inputs: BoundInputs, comparison: ComparisonPlan) -> bool:
    """Return True if all group columns are of the queries table, and no metric reads other lists of
    a group.

    Columns of the run split its lists.
    """
    attributes = {group.label for group in inputs.group_columns if group.is_query_attribute}
    return (
        not inputs.request.group_expressions
        and attributes >= set(comparison.group_names)
        and not inputs.roles_read_across_lists
    )


def _select_groupings(
    table: pa.Table, comparison: ComparisonPlan, limits: ResourceLimits
) -> UnitTables:
    """Select the columns of each grouping, with rows in the order of an evaluation by it.

    Sums of floating-point numbers depend on the order of rows.
    """
    group_names = comparison.group_names
    row_keys = table.column_names[: table.column_names.index(QUERY_ID)]
    left_out = read_left_out(table.schema.metadata)

    def select_tables(duck: duckdb.DuckDBPyConnection) -> UnitTables:
        selected = []
        for group in comparison.groupings:
            names = [*(name for name in row_keys if name not in group_names), *group, QUERY_ID]
            keys = {f"key_{index}": table[name] for index, name in enumerate(names)}
            duck.register(
                "row_keys",
                pa.table({**keys, "position": to_array(range(table.num_rows), pa.int64())}),
            )
            order = [exp.Ordered(this=exp.column(key), nulls_first=True) for key in keys]
            positions = duck.sql(
                exp.select("position").from_("row_keys").order_by(*order).sql("duckdb")
            ).to_arrow_table()["position"]
            columns = [
                *names,
                *(name for name in table.column_names if name not in {*row_keys, QUERY_ID}),
            ]
            part = table.select(columns).take(positions)
            metadata = read_texts(table.schema.metadata) | left_out_metadata(
                [entry.merge_groups(names) for entry in left_out]
            )
            selected.append((group, part.replace_schema_metadata(metadata)))
        return selected

    with duckdb_session(None, limits) as duck:
        return run_cancellable(duck, lambda: select_tables(duck), None)


def system_values(
    comparison: ComparisonPlan,
    options: ExecutionOptions,
    tables: UnitTables,
) -> UnitTables:
    """Return metrics by system and cell, for comparisons without unit values.

    They separate undefined metrics from metrics that have a value and no interval, and have a row
    also for groups without units, whose weights are all 0. Nothing is evaluated if all units of all
    groups have values.
    """
    names = {measure.name for measure in comparison.measures if measure.no_interval is not None}
    if not names and not (
        comparison.uses_influence
        and any(_lacks_values(group, table, comparison) for group, table in tables)
    ):
        return []
    options = replace(options, progress=None)
    return [(group, execute_request(call, options)) for group, call in comparison.value_calls()]


def _lacks_values(group: Sequence[str], table: pa.Table, comparison: ComparisonPlan) -> bool:
    """Return True if a unit value is NULL, or a group may be missing: rows of weight 0 are no
    units.
    """
    if table.num_rows == 0 or (
        group and ZERO_WEIGHTS_KEY.encode() in (table.schema.metadata or {})
    ):
        return True
    keys = {*comparison.group_names, comparison.system_column, comparison.unit}
    return any(
        column.null_count
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name not in keys and not name.endswith(FLIP)
    )


def _scale_progress(
    progress: Callable[[float], None], index: int, count: int
) -> Callable[[float], None]:
    """Return a progress callback for one of several equal parts of the work."""
    return lambda percentage: progress((100 * index + percentage) / count)


def find_unit_column(tables: UnitTables, comparison: ComparisonPlan) -> str:
    """Return the column of the compared units, ``ROW_UNIT`` if each row is one."""
    if not comparison.uses_influence:
        return QUERY_ID
    return read_texts(tables[0][1].schema.metadata).get(UNIT_KEY, UNIT_COLUMN)


def with_unit_tables(
    tables: UnitTables,
    comparison: ComparisonPlan,
    limits: ResourceLimits,
    work: Callable[[PairedUnits], WorkResult],
    values_of_systems: UnitTables,
) -> WorkResult:
    """Load unit values into a scratch DuckDB under the call's limits, and run ``work``.

    Returns the result of ``work``.
    """
    by_rows = find_unit_column(tables, comparison) == ROW_UNIT
    with duckdb_session(None, limits) as duck:
        return run_cancellable(
            duck,
            lambda: work(PairedUnits(duck, tables, comparison, by_rows, values_of_systems)),
            None,
        )


def check_fully_paired(
    compared: Sequence[DifferenceSummary], measures: Sequence[ComparedMetric]
) -> None:
    """Raise ``InputError`` if pooled metrics of two systems are over different units.

    A metric that is undefined for a system has no units, and one without an interval has values
    alone.
    """
    worst = max(
        (
            summary
            for summary in compared
            if (summary.baseline_units and summary.system_units)
            or (summary.value_baseline is not None and summary.value is not None)
        ),
        key=lambda summary: summary.unpaired,
        default=None,
    )
    if worst is not None and worst.unpaired and measures[worst.metric].uses_influence:
        units = worst.units + worst.unpaired if worst.units else worst.cell_units
        raise InputError(
            f"{worst.unpaired:,} of {count_things(units, measures[worst.metric].unit)} have rows of"
            " one of two systems only, and"
            " metrics of predictions are compared over the same rows. Leave the others out with"
            " where="
        )
