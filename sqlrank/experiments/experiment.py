"""Check the observations of an experiment, estimate effects per metric and variant (public
``experiment``), with warnings, or print the statement (``experiment_sql``).
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.call.argument_checks import entry_point
from sqlrank.call.sources import SourceGroup
from sqlrank.cancellation import run_cancellable
from sqlrank.engines.database import Database, normalize_result, resolve_source
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.engines.open_database import ExecutionOptions, open_for_inspection
from sqlrank.engines.remote_database import printed_dialect
from sqlrank.engines.source_tables import DeclaredColumns
from sqlrank.errors import (
    ExecutionError,
    InputError,
    count_things,
    did_you_mean,
    enumerate_names,
    join_sentences,
    join_words,
    short_repr,
)
from sqlrank.experiments.design import (
    DEFAULTS,
    SAMPLE_RATIO,
    AmountAdvice,
    ExperimentDesign,
    KeyAdvice,
)
from sqlrank.experiments.effects import (
    KEYS,
    OBSERVATIONS,
    experiment_statement,
    source_table_names,
    variant_sum_ctes,
    with_ctes,
    write_effects,
)
from sqlrank.inputs.bound_input import BoundInput
from sqlrank.inputs.column_mapping import bind_column_or_expression
from sqlrank.inputs.filters import apply_filter, explain_failed_mapping
from sqlrank.inputs.missing_columns import may_mean
from sqlrank.inputs.row_checks import (
    NUMERIC_TYPES,
    advise_on_texts,
    format_problem,
    problem_with_examples,
    raise_problems,
    select_over_input,
)
from sqlrank.inputs.row_rules import row_rules
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.output.table_writes import wrap_for_storage
from sqlrank.registry.metric_info import load_small_samples
from sqlrank.registry.roles import ColumnSpec, Role
from sqlrank.registry.sql_folder import sql_root
from sqlrank.rendering.renderer import StatementHeader, render_statement
from sqlrank.result_columns import EXPERIMENT_SCHEMA, SE, SRM_ALPHA, side_columns
from sqlrank.result_metadata import EXPERIMENT, ResultMetadata, name_unit
from sqlrank.sql_ast import case_when, count_rows, find_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.call.request import ResourceLimits
    from sqlrank.option_types import DialectName
    from sqlrank.registry.metric_info import SmallSample


DATA = "data"

CONTROL = "control"
"""Default name of the control."""

MIN_UNITS_AND_VARIANTS = 2
"""Minimum number of units for a variance, and of variants for an experiment."""

DATA_DESCRIPTION = "one row per row of the data, of which a unit may have several."


def _check_default_columns(observations: BoundInput, columns: Mapping[str, str]) -> None:
    """Raise ``InputError`` if the data lack columns that the caller did not name."""
    available = observations.table.column_types
    if available is None:
        return
    missing = {
        keyword: repr(name)
        for keyword, name in columns.items()
        if name == DEFAULTS[keyword] and observations.table.find_column(name) is None
    }
    if missing:
        noun, pronoun = ("column", "it is") if len(missing) == 1 else ("columns", "they are")
        options = [
            f"{keyword}="
            + next((repr(name) for name in available if may_mean(name, (keyword,))), "")
            for keyword in missing
        ]
        raise InputError(
            f"{observations.label} has no {noun} {join_words(missing.values())}. Say which"
            f" {pronoun} with {join_words(options)}. There are: {enumerate_names(available)}"
        )


def map_observations(
    design: ExperimentDesign,
    database: Database,
    source: Any,
    unit: str,
    variant: str,
    where: str | None,
) -> BoundInput:
    """Map the columns of the observations; raise ``InputError`` for missing or non-numeric ones."""
    amounts = {
        name: ColumnSpec(name, "double", text)
        for (text, _), name in design.unit_sum_columns.items()
    }
    keys = {name: ColumnSpec(name, "key", "") for name in KEYS}
    condition = None if where is None else parse_condition(where, database.dialect)
    texts = dict(zip(KEYS, (unit, variant), strict=True)) | {
        name: column.description for name, column in amounts.items()
    }
    columns = DeclaredColumns.declare_columns({**keys, **amounts}, texts, [where])
    observations = BoundInput(
        Role(DATA, DATA_DESCRIPTION, {**keys, **amounts}),
        resolve_source(database, DATA, source, columns),
        database,
    )
    _check_default_columns(observations, {"unit": unit, "variant": variant})
    for name, text in texts.items():
        observations = bind_column_or_expression(observations, name, text)
    if observations.column_type("variant") != "VARCHAR":
        observations = observations.with_text(["variant"])
    for name, column in amounts.items():
        duckdb_type = observations.column_type(name)
        if (
            duckdb_type
            and not observations.table.is_empty
            and (not duckdb_type.startswith(NUMERIC_TYPES) or duckdb_type.endswith("]"))
        ):
            advice = advise_on_texts(
                observations, name, AmountAdvice(design, name, where, database.dialect)
            )
            raise InputError(
                f"{observations.label}: {column.description} is {duckdb_type}, not a number."
                f" {advice}, or name another column"
            )
    return apply_filter(
        condition,
        {DATA: observations},
        rankings_from_predictions=False,
        dialect=observations.table.dialect,
    )[DATA]


def check_rows(design: ExperimentDesign, database: Database, observations: BoundInput) -> int:
    """Return the number of rows; raise ``InputError`` with all problems of single ones."""
    conditions, meanings = _list_invalid_conditions(design, observations)
    columns = tuple(observations.role.columns)
    titles = {
        name: observations.columns[name] if name in KEYS else column.description
        for name, column in observations.role.columns.items()
    }
    counts = [
        exp.Sum(this=case_when(condition, 1, 0)).as_(name) for name, condition in conditions.items()
    ]
    ((rows, *counted),) = database.query_rows(
        select_over_input(exp.select(count_rows().as_("all_rows"), *counts), observations, columns)
    )
    if not rows:
        where = observations.where
        filter_text = "" if where is None else f" where {database.render(where)}"
        raise InputError(f"{observations.label} has no rows{filter_text}")
    problems = []
    for (name, condition), count in zip(conditions.items(), counted, strict=True):
        if count:
            broken = case_when(condition, 1, 0)
            query = exp.select("*").where(broken.eq(1))
            description = f"{int(count):,} {'row' if count == 1 else 'rows'}: {meanings[name]}"
            problems.append(
                problem_with_examples(observations, description, query, columns, titles)
            )
    raise_problems(problems)
    return int(rows)


def _list_invalid_conditions(
    design: ExperimentDesign, observations: BoundInput
) -> tuple[dict[str, exp.Expr], dict[str, str]]:
    """Return the conditions that invalid rows satisfy, and their messages, for every column
    read.
    """
    texts_by_column = {(name, name): observations.columns[name] for name in KEYS}
    for estimate in design.estimates:
        for role, name in design.sum_columns(estimate).items():
            texts_by_column[name, "covariate" if role.startswith("covariate") else role] = (
                observations.role.columns[name].description
            )
    conditions: dict[str, exp.Expr] = {}
    meanings: dict[str, str] = {}
    path = sql_root() / "inputs" / "checks" / "observations.sql"
    for (name, column_kind), text in texts_by_column.items():
        column_type = observations.column_type(name)
        rules = row_rules(None, path, (column_kind,), find_type=lambda _, text=column_type: text)  # type: ignore[misc]
        for rule, condition in rules.conditions.items():
            for column in find_nodes(condition, exp.Column):
                column.set("this", exp.to_identifier(name))
            conditions[f"{rule}_{name}"] = condition
            meanings[f"{rule}_{name}"] = f"{text}{rules.meanings[rule].removeprefix(column_kind)}"
    return conditions, meanings


def multi_variant_error(
    design: ExperimentDesign, observations: BoundInput, count: int, unit: str
) -> InputError:
    """Return the error for units in several variants, with examples; ``unit`` is their column."""
    units = variant_sum_ctes(design, observations)["experiment_units"]
    query: Any = exp.select("unit_id", "variant", "last_variant").where("variant <> last_variant")
    plain: Any = units.copy()
    plain.set("expressions", plain.expressions[:3])

    def select_units(is_shown: bool) -> exp.Select:
        rows = observations.select_columns(KEYS, for_display=is_shown).subquery(OBSERVATIONS)
        inner = plain.copy()
        inner.args["from_"].set("this", rows)
        select: exp.Select = query.from_(inner.subquery("experiment_units"))
        return select

    what = (
        f"{_count_units(count, unit, 'is', 'are')} in more than one variant. Leave"
        f" {'it' if count == 1 else 'them'} out with multi_variant_units='drop'"
    )
    return InputError(
        format_problem(
            observations,
            what,
            select_units(is_shown=False),
            select_units(is_shown=True),
        )
    )


def resolve_control(design: ExperimentDesign, variants: list[str]) -> str:
    """Return the control; raise ``InputError`` if it has no units, or is the only variant."""
    control = CONTROL if design.control is None else design.control
    available = join_words(sorted(variants))
    if design.control is None and control not in variants:
        raise InputError(f"name the control variant with control=. There are {available}")
    if control not in variants:
        raise InputError(
            join_sentences(
                f"no unit is in the control {short_repr(control)}",
                did_you_mean(control, variants),
                f"There are {available}",
            )
        )
    if len(variants) < MIN_UNITS_AND_VARIANTS:
        raise InputError(
            f"all units are in the control {short_repr(control)}. An experiment needs units in"
            " another variant"
        )
    without_share = [
        name
        for name in sorted(variants)
        if design.expected_shares and name not in design.expected_shares
    ]
    if without_share:
        raise InputError(
            f"variant {short_repr(without_share[0])} has no expected share. expected_shares names"
            f" {join_words(list(design.expected_shares))}"
        )
    return control


def check_variant_sizes(rows: list[dict[str, Any]]) -> None:
    """Raise ``InputError`` for a variant of one unit."""
    small_variant = next((row for row in rows if row["units"] < MIN_UNITS_AND_VARIANTS), None)
    if small_variant is not None:
        raise InputError(
            f"variant {small_variant['variant']} has {small_variant['units']} unit. A variance"
            f" needs {MIN_UNITS_AND_VARIANTS}"
        )


def result_table(design: ExperimentDesign, rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Return a row per metric and variant, sorted by metric, then the sample ratio."""
    positions = {
        name: position
        for position, name in enumerate(
            [*(estimate.name for estimate in design.estimates), SAMPLE_RATIO]
        )
    }
    finite_rows = (
        {name: _none_if_not_finite(value) for name, value in row.items()} for row in rows
    )
    return pa.Table.from_pylist(
        sorted(finite_rows, key=lambda row: (positions[row["metric"]], row["variant"])),
        pa.schema(list(EXPERIMENT_SCHEMA.items())),
    )


def has_sample_ratio_mismatch(table: pa.Table) -> bool:
    """Return True if the sample ratio test finds a mismatch."""
    return bool(table.to_pylist()[-1]["p_value"] < SRM_ALPHA)


def _none_if_not_finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def warnings_for(
    design: ExperimentDesign, rows: list[dict[str, Any]], result: pa.Table, num_rows: int, unit: str
) -> list[str]:
    """Return the warnings of a result; ``num_rows`` is the number of rows of its data, ``unit`` the
    column of units.
    """
    notes = []
    if has_sample_ratio_mismatch(result):
        ratio = result.to_pylist()[-1]
        notes.append(
            "sample ratio mismatch: the numbers of units do not fit the expected shares (p"
            f" {ratio['p_value']:.3g}). Find the cause before you use any effect"
        )
    if count := max(row["multi_variant_units"] for row in rows):
        notes.append(
            f"{_count_units(count, unit, 'was', 'were')} in more than one variant, and left out"
        )
    missing = {
        estimate.name: sum(row["missing"] for row in rows if row["metric"] == estimate.name)
        for estimate in design.estimates
    }
    notes += [
        f"{name}: {_count_units(count, unit, 'has', 'have')} no covariate. The overall mean is"
        " imputed"
        for name, count in missing.items()
        if count
    ]
    means = [
        str(estimate.formula)
        for estimate in design.estimates
        if estimate.formula.denominator is None
    ]
    if means and num_rows > sum(
        row["units"] for row in rows if row["metric"] == design.estimates[0].name
    ):
        value = means[0].removeprefix("Mean(").removesuffix(")")
        notes.append(
            f"{means[0]} is the mean of units, whose rows are added up. For the mean of rows write"
            f" Ratio({value}, 1)"
        )
    effects = result.to_pylist()[:-1]
    undefined = {
        (effect["metric"], effect[side]): None
        for effect in effects
        for side in ("control", "variant")
        if effect[_VALUES[side]] is None
    }
    ratios = {
        estimate.name for estimate in design.estimates if estimate.formula.denominator is not None
    }
    notes += [
        f"{name} is NULL for {variant} (undefined:"
        f" {'denominators that add up to 0' if name in ratios else 'no value'})"
        for name, variant in undefined
    ]
    notes += [
        f"{effect['metric']} is without an interval for {effect['variant']} "
        f"(units that are all equal in {effect['variant']} or {effect['control']})"
        for effect in effects
        if effect["difference"] is not None and effect[SE] is None
    ]
    return notes + _list_small_lifts(design, effects)


def _list_small_lifts(design: ExperimentDesign, effects: list[dict[str, Any]]) -> list[str]:
    """Return notes on intervals of lifts that arms of few units make too narrow."""
    lifts: dict[SmallSample, list[str]] = {}
    for effect in effects:
        fewer, more = sorted(effect[units] for units in side_columns("n_units", "control"))
        sizes = {"arm_units": fewer, "smaller_arm_units": fewer if more > 2 * fewer else None}
        for row in load_small_samples("lifts"):
            if (
                row.interval == design.lift_scale
                and row.has_size([sizes[row.size]])
                and effect["relative_ci_low"] is not None
            ):
                lifts.setdefault(row, []).append(
                    f"the lift of {effect['metric']} in {effect['variant']}"
                )
                break
    return [row.describe(tuple(names)) for row, names in lifts.items()]


_VALUES = dict(zip(("control", "variant"), side_columns("value", "control"), strict=True))
"""Columns of the values of control and variant."""


def _count_units(count: int, unit: str, singular: str, plural: str) -> str:
    return f"{count_things(count, name_unit(unit))} {singular if count == 1 else plural}"


@entry_point
def experiment(
    metrics: str | Sequence[str] | Mapping[str, str],
    *,
    data: Any,
    variant: str = "variant",
    unit: str = "unit_id",
    control: str | None = None,
    covariates: str | Mapping[str, str] | None = None,
    expected_shares: Mapping[str, float] | None = None,
    lower_is_better: str | Sequence[str] = (),
    where: str | None = None,
    confidence: float = 0.95,
    correction: str = "holm",
    interval: str = "fixed",
    expected_units: int | None = None,
    lift_scale: str = "log",
    multi_variant_units: str = "error",
    power: float = 0.8,
    connection: Any = None,
    dialect: DialectName | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> pa.Table:
    """Estimate the effects of an online experiment's variants, with confidence intervals and tests.

    Returns an Arrow table. A unit is what was randomized, such as a user; its rows are summed
    first. Sums are computed where the data are, effects locally from the sums of variants.

    Args:
        metrics: ``"Mean(revenue)"``, the mean over units, or ``"Ratio(clicks, views)"``, the ratio
            of sums, with its variance by the delta method. Several as a list, or a dict with names.
            Arguments are columns, or expressions in the SQL of the engine.
        data: a row per exposure, session or unit: a table, file or data as for
            :func:`sqlrank.evaluate`.
        variant: the variant column.
        unit: the randomization unit column.
        control: the variant that others are compared with; ``"control"`` by default.
        covariates: pre-experiment covariates of units (CUPED): by metric a column, ``Mean`` or
            ``Ratio``. NULL is imputed with the mean of all units.
        expected_shares: the expected share of units in each variant; equal by default.
        lower_is_better: metrics of which lower values are better.
        where: a SQL condition on the rows to read.
        confidence: confidence level of intervals; a variant is better if its corrected p-value is
            below ``1 - confidence``.
        correction: correction for multiple comparisons: ``"holm"``, ``"bh"`` (Benjamini & Hochberg)
            or ``"none"``.
        interval: ``"fixed"`` is valid for one look at the planned end; ``"sequential"`` is valid at
            every look (Waudby-Smith et al.), and wider.
        expected_units: number of units at which sequential intervals are the narrowest, 5,000 by
            default; the same at each look.
        lift_scale: scale of intervals of lifts: ``"log"`` or ``"linear"``.
        multi_variant_units: units in several variants: ``"error"``, or ``"drop"`` to leave them
            out.
        power: statistical power behind ``mde``.
        connection: where the data are, as for :func:`sqlrank.evaluate`.
        dialect: SQL dialect of ``connection``, if its class does not identify it.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        progress: as for :func:`sqlrank.evaluate`.

    Returns:
        A row per metric and variant other than the control: ``metric``, ``control``, ``variant``
        (string); ``value_control``, ``value``, ``difference``. ``ci_low`` and ``ci_high`` are
        Welch's t interval of the difference at ``ci_level``, the corrected confidence level.
        ``relative_difference`` is the lift, with limits ``relative_ci_low`` and
        ``relative_ci_high``; ``se`` is the standard error (float64). ``n_units_control``,
        ``n_units`` are int64; ``statistic``, ``df``, ``p_value``, ``p_adjusted`` are float64,
        p-values two-sided. ``winner`` (string) is the better variant, if one is significant.
        ``mde`` is the minimum detectable effect, ``cuped_theta`` the CUPED coefficient, 0 without a
        covariate. The last row, ``sample_ratio``, tests the shares of units by chi-square. If its
        ``p_value`` is below 0.001 the assignment of units is broken, and ``winner`` is NULL
        everywhere. The schema's metadata: ``sqlrank.notes``, a line each, and ``sqlrank.sql``.
        Undefined values are NULL, such as interval, p-value and winner if the units of a variant
        are all equal, and log-scale lifts of values not above 0.

    Raises:
        MetricError: an invalid formula, name or option.
        InputError: data that cannot be evaluated, with all problems found; a unit in several
            variants.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> import pyarrow as pa, sqlrank
    >>> visits = pa.table(
    ...     {
    ...         "unit_id": [1, 2, 3, 4, 5, 6],
    ...         "variant": list("AAABBB"),
    ...         "spend": [1.0, 2.0, 3.0, 3.0, 5.0, 4.0],
    ...     }
    ... )
    >>> result = sqlrank.experiment("Mean(spend)", data=visits, control="A")
    >>> sqlrank.show(result)
    metric       A  B      lift             interval       p  winner
    Mean(spend)  2  4  +100.00%  -29.23% to +465.19%  0.0705  none
    Welch's t-test, intervals at 95%.
    Sample ratio as planned: 6 units, p 1.0000.
    """
    arguments = locals()
    design = ExperimentDesign.from_arguments(arguments)
    source = SourceGroup.wrap(DATA, data)
    options = ExecutionOptions.from_arguments(arguments)
    arms, text, num_rows = options.run(
        lambda database: _evaluate_variant_sums(design, database, source, unit, variant, where)
    )
    rows = arms.to_pylist()
    control = resolve_control(
        design, [row["variant"] for row in rows if row["metric"] == design.estimates[0].name]
    )
    check_variant_sizes(rows)
    result = result_table(design, _compute_effects(design, arms, control, options.limits))
    settings = {
        name: str(getattr(design, name))
        for name in ("confidence", "correction", "interval", "lift_scale")
    }
    settings["expected_shares"] = json.dumps(
        {name: float(share) for name, share in design.expected_shares.items()}
    )
    metadata = {
        "notes": "\n".join(warnings_for(design, rows, result, num_rows, unit)),
        "unit": unit,
        "control": control,
        **settings,
        "version": __version__,
        "sql": text,
    }
    described = {f"sqlrank.{name}": value for name, value in metadata.items()}
    return result.replace_schema_metadata(
        {**described, **_result_metadata(design).to_schema_metadata()}
    )


@entry_point
def experiment_sql(  # noqa: D417  experiment describes the other arguments
    metrics: str | Sequence[str] | Mapping[str, str],
    *,
    data: Any,
    variant: str = "variant",
    unit: str = "unit_id",
    control: str | None = None,
    covariates: str | Mapping[str, str] | None = None,
    expected_shares: Mapping[str, float] | None = None,
    lower_is_better: str | Sequence[str] = (),
    where: str | None = None,
    confidence: float = 0.95,
    correction: str = "holm",
    interval: str = "fixed",
    expected_units: int | None = None,
    lift_scale: str = "log",
    power: float = 0.8,
    connection: Any = None,
    dialect: DialectName | None = None,
    create_table: str | None = None,
    create_view: str | None = None,
) -> str:
    """Return a SQL statement that analyzes an experiment; ``create_table`` and ``create_view``
    store its rows.

    It has the columns of :func:`experiment`, with the same numbers. The statement computes
    quantiles and p-values of Student's t and chi-square by numerical integration. Units in several
    variants are left out, and counted in the extra column ``multi_variant_units``.

    Arguments that are not listed are those of :func:`experiment`.

    Args:
        metrics: metrics of units, such as ``"Mean(spend)"``.
        data: name of the table of observations.
        dialect: the SQL dialect, such as ``"bigquery"``; by default that of ``connection``, else
            DuckDB's.
        create_table: name of a table to create from the result.
        create_view: name of a view to create instead.

    Returns:
        The statement.

    Raises:
        MetricError: as for :func:`experiment`, or a construct that the dialect cannot express.
        InputError: an invalid name or condition.

    >>> import sqlrank
    >>> statement = sqlrank.experiment_sql("Mean(spend)", data="visits", dialect="bigquery")
    >>> print(statement.splitlines()[2])
    -- reads: visits (data)
    """
    arguments = locals()
    design = ExperimentDesign.from_arguments(arguments)
    source = SourceGroup.wrap(DATA, data)
    dialect_name = printed_dialect(connection, dialect)
    options = {"connection": connection, "create_table": create_table, "create_view": create_view}
    with open_for_inspection(connection, dialect_name, [source]) as database:
        observations = map_observations(design, database, source, unit, variant, where)
        header = design.build_header(variant, unit, where, source, options, dialect_name)
        statement = experiment_statement(design, observations, design.control or CONTROL, header)
        stored = wrap_for_storage(
            statement,
            dialect_name,
            create_table,
            create_view,
            None,
            [observations.table.display_from_item],
        )
        return render_statement(
            stored.tree, stored.header, dialect_name, database.can_materialize_ctes
        )


def _result_metadata(design: ExperimentDesign) -> ResultMetadata:
    """Return the metadata of a result, from which charts and reports read the better direction of
    each metric.
    """
    measures = {
        metric.name: {"unit": "", "better": "lower" if metric.lower_is_better else "higher"}
        for metric in design.estimates
    }
    return ResultMetadata(EXPERIMENT, {name: name for name in EXPERIMENT_SCHEMA}, measures)


def _evaluate_variant_sums(
    design: ExperimentDesign,
    database: Database,
    source: Any,
    unit: str,
    variant: str,
    where: str | None,
) -> tuple[pa.Table, str, int]:
    """Return the sums of every metric and variant, the statement that computed them, and the number
    of rows that it read.
    """
    observations = map_observations(design, database, source, unit, variant, where)
    try:
        num_rows = check_rows(design, database, observations)
    except ExecutionError as error:
        explain_failed_mapping(
            [observations],
            error,
            lambda name: (
                KeyAdvice("unit" if name == KEYS[0] else name, where, database.dialect)
                if name in KEYS
                else AmountAdvice(design, name, where, database.dialect)
            ),
        )
        raise
    tree = with_ctes(variant_sum_ctes(design, observations), source_table_names(observations))
    text = render_statement(
        tree, StatementHeader("sums of variants"), database.dialect, database.can_materialize_ctes
    )
    table = database.fetch_arrow(text)
    data_types = dict.fromkeys(table.column_names, pa.float64()) | {
        "metric": pa.string(),
        "variant": pa.string(),
    }
    arms = normalize_result(
        table,
        data_types | dict.fromkeys(("units", "multi_variant_units", "missing"), pa.int64()),
    )
    if not arms.num_rows:
        raise InputError(
            f"{observations.label}: every unit is in more than one variant. Name the randomization"
            " unit column with unit="
        )
    count = max(arms["multi_variant_units"].to_pylist())
    if count and design.multi_variant_units == "error":
        raise multi_variant_error(design, observations, count, unit)
    return arms, text, num_rows


def _compute_effects(
    design: ExperimentDesign, arms: pa.Table, control: str, limits: ResourceLimits
) -> list[dict[str, Any]]:
    """Return the result rows computed from the sums of variants."""
    with duckdb_session(None, replace(limits, timeout=None)) as duck:
        duck.register("metric_moments", arms)
        text = write_effects(design, control)

        def fetch_effects() -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = duck.sql(text).to_arrow_table().to_pylist()
            return rows

        return run_cancellable(duck, fetch_effects, None)
