"""Map the columns of an experiment's observations, check rows, units and sizes of variants, and
resolve the control.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.database import Database, resolve_source
from sqlrank.engines.source_tables import DeclaredColumns
from sqlrank.errors import (
    MAX_EXAMPLES,
    InputError,
    did_you_mean,
    enumerate_names,
    join_sentences,
    join_words,
    short_repr,
)
from sqlrank.experiments.design import DEFAULTS, ExperimentDesign
from sqlrank.experiments.effects import FOLDER, KEYS, OBSERVATIONS, variant_sum_ctes
from sqlrank.inputs.bound_input import BoundInput
from sqlrank.inputs.column_mapping import bind_column_or_expression
from sqlrank.inputs.filters import apply_filter
from sqlrank.inputs.row_checks import (
    NUMERIC_TYPES,
    format_problem,
    problem_with_examples,
    raise_problems,
    select_over_input,
)
from sqlrank.inputs.row_rules import row_rules
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.registry.registry import ColumnSpec, Role
from sqlrank.registry.sql_folder import sql_root
from sqlrank.sql_ast import case_when, count_rows, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping


DATA = "data"

CONTROL = "control"
"""Default name of the control."""

MIN_UNITS_AND_VARIANTS = 2
"""Minimum number of units for a variance, and of variants for an experiment."""

DATA_DESCRIPTION = "one row per row of the data, of which a unit may have several."


def _check_default_columns(observations: BoundInput, columns: Mapping[str, str]) -> None:
    """Raise ``InputError`` if the data lack a column that the caller did not name."""
    available = observations.table.column_types
    for keyword, name in columns.items():
        if (
            available is not None
            and name == DEFAULTS[keyword]
            and observations.table.find_column(name) is None
        ):
            raise InputError(
                f"{observations.label} has no column {name!r}. Say which it is with {keyword}=."
                f" There are: {enumerate_names(available)}"
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
            raise InputError(
                f"{observations.label}: {column.description} is {duckdb_type}, not a number. Cast"
                " it, or name another column"
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
        exp.alias_(exp.Sum(this=case_when(condition, sql_literal(1), sql_literal(0))), name)
        for name, condition in conditions.items()
    ]
    ((rows, *counted),) = database.query_rows(
        select_over_input(
            exp.select(exp.alias_(count_rows(), "all_rows"), *counts), observations, columns
        )
    )
    if not rows:
        where = observations.where
        filter_text = "" if where is None else f" where {database.render(where)}"
        raise InputError(f"{observations.label} has no rows{filter_text}")
    problems = []
    for (name, condition), count in zip(conditions.items(), counted, strict=True):
        if count:
            broken = case_when(condition, sql_literal(1), sql_literal(0))
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
    path = sql_root() / FOLDER / "input_checks.sql"
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
    design: ExperimentDesign, observations: BoundInput, count: int
) -> InputError:
    """Return the error for units in several variants, with examples."""
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

    is_single = count == 1
    what = (
        f"{count:,} {'unit is' if is_single else 'units are'} in more than one variant. Leave"
        f" {'it' if is_single else 'them'} out with multi_variant_units='drop'"
    )
    return InputError(
        format_problem(
            observations,
            what,
            select_units(is_shown=False).order_by("unit_id").limit(MAX_EXAMPLES),
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
