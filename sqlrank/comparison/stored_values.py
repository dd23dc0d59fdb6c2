"""Read stored values of queries: as the baseline of a gate, and to plan comparisons by them, with
the difference that so many queries detect, and the queries that a difference needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.arrow_arrays import table_from_rows
from sqlrank.call.argument_checks import entry_point
from sqlrank.call.request import ResourceLimits
from sqlrank.comparison.paired_tests import TestOptions
from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.engines.duckdb_session import duckdb_session, fetch_tuples
from sqlrank.errors import InputError, MetricError, suggest_choice
from sqlrank.inference import (
    HypothesisFamily,
    minimum_detectable_effect,
    required_units,
)
from sqlrank.registry.query_templates import load_select
from sqlrank.registry.roles import SYSTEM_COLUMN
from sqlrank.result_columns import POWER_SCHEMA
from sqlrank.result_metadata import (
    MEASURES_KEY,
    POWER_KEY,
    UNIT_KEY,
    is_text,
    make_mapping_check,
    read_canonical_names,
    read_json,
    read_parquet,
    read_texts,
)
from sqlrank.sql_ast import bind_placeholders, sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.comparison.comparison_plan import ComparedMetric

    Plan = tuple[str | None, str | None, str | None, int, float | None, float | None, float | None]


BASELINE_SYSTEM, CANDIDATE_SYSTEM = "baseline", "candidate"


DEFINITIONS_KEY = "sqlrank.metrics"


_IS_DEFINITIONS = make_mapping_check(
    lambda value: (
        isinstance(value, dict)
        and make_mapping_check(is_text)(value.get("policies", {}))
        and is_text(value.get("definition", ""))
    )
)


def read_baseline(source: Any, what: str = "baseline") -> pa.Table:
    """Read a stored baseline, or ``what`` is stored as it; raise ``InputError`` for any other table
    or file.
    """
    if isinstance(source, pa.Table):
        table, name = source, f"the {what}"
    elif not isinstance(source, (str, Path)):
        raise InputError(
            f"a {what} is an Arrow table of evaluate with per_query=True, or its Parquet file, and"
            f" a {type(source).__name__} is none. Give it as it was returned"
        )
    else:
        name = repr(str(source))
        if not Path(source).is_file():
            raise InputError(f"there is no {what} {name}. {_advise_to_store(Path(source).name)}")
        table = read_parquet(source, name, _advise_to_store())
    if len(set(table.column_names)) < table.num_columns:
        raise InputError(
            f"two columns of {name} have the same name: {', '.join(table.column_names)}"
        )
    if (
        DEFINITIONS_KEY.encode() not in (table.schema.metadata or {})
        or QUERY_ID not in table.column_names
    ):
        raise InputError(f"{name} has no per-query values. {_advise_to_store(values='those')}")
    return _with_canonical_columns(table)


def _advise_to_store(file: str = "baseline.parquet", values: str = "values") -> str:
    return f"Store {values} of sqlrank.evaluate (sqlrank evaluate ... --per-query -o {file})"


def read_definitions(
    metadata: Mapping[bytes, bytes] | None, label: str = "the baseline"
) -> Mapping[str, Any]:
    """Parse the definitions of the metrics of a stored result, by canonical name; raise
    ``InputError`` if damaged.
    """
    definitions: Mapping[str, Any] = read_json(metadata, DEFINITIONS_KEY, _IS_DEFINITIONS, label)
    return definitions


def _with_canonical_columns(table: pa.Table) -> pa.Table:
    """Rename the columns of metrics to their canonical names; a metric under two names keeps one
    column.
    """
    canonical = read_canonical_names(table.schema.metadata, "the baseline")
    columns: dict[str, str] = {}
    for name in table.column_names:
        columns.setdefault(canonical.get(name, name), name)
    return (
        table.select(list(columns.values()))
        .rename_columns(list(columns))
        .replace_schema_metadata(table.schema.metadata)
    )


def stack_with_baseline(
    candidate: pa.Table, stored: pa.Table, group: Sequence[str], measures: Sequence[ComparedMetric]
) -> pa.Table:
    """Stack the values of a candidate and a stored baseline as those of two systems.

    Raises ``InputError`` if their columns or definitions differ.
    """
    required_columns = [*group, QUERY_ID, *(measure.name for measure in measures)]
    if missing := [name for name in required_columns if name not in stored.column_names]:
        what = f"by={missing[0]!r}" if missing[0] in group else "these metrics"
        raise InputError(
            f"the baseline has no column {missing[0]!r}. There are:"
            f" {', '.join(stored.column_names)}. Store it again with {what}"
        )
    _check_definitions(candidate, stored, measures)
    candidate_columns = [
        *required_columns,
        *(["weight"] if "weight" in candidate.column_names else []),
    ]
    candidate_rows = candidate.select(candidate_columns).append_column(
        "system", pa.array([CANDIDATE_SYSTEM] * candidate.num_rows, pa.string())
    )
    baseline_rows = stored.select(required_columns)
    if "weight" in candidate_columns:
        baseline_rows = baseline_rows.append_column(
            "weight", pa.nulls(baseline_rows.num_rows, pa.float64())
        )
    baseline_rows = baseline_rows.append_column(
        "system", pa.array([BASELINE_SYSTEM] * baseline_rows.num_rows, pa.string())
    )
    try:
        stacked = pa.concat_tables(
            [
                baseline_rows.cast(candidate_rows.schema.remove_metadata()),
                candidate_rows.replace_schema_metadata(None),
            ]
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        differing = [
            f"{stored.name} is {stored.type}, not {field.type}"
            for stored, field in zip(baseline_rows.schema, candidate_rows.schema, strict=True)
            if stored.type != field.type
        ]
        raise InputError(
            "the baseline's columns are of other types than the candidate's:"
            f" {', '.join(differing)}. Store it again, from sources with the types of these"
        ) from None
    for measure in measures:
        if pc.all(pc.is_finite(stacked[measure.name][: baseline_rows.num_rows])).as_py() is False:
            raise InputError(
                f"{measure.name}: the baseline is damaged: it has values that are NaN or infinite."
                " Store it again"
            )
    if (
        rows := baseline_rows.group_by([*group, QUERY_ID]).aggregate([]).num_rows
    ) < baseline_rows.num_rows:
        raise InputError(
            f"the baseline has {baseline_rows.num_rows:,} rows for {rows:,} queries. Store one"
            " system, grouped by the same columns"
        )
    return stacked.replace_schema_metadata(
        {MEASURES_KEY: read_texts(candidate.schema.metadata)[MEASURES_KEY]}
    )


def _check_definitions(
    candidate: pa.Table, stored: pa.Table, measures: Sequence[ComparedMetric]
) -> None:
    candidate_definitions, baseline_definitions = (
        read_definitions(table.schema.metadata) for table in (candidate, stored)
    )
    for measure in measures:
        candidate_definition, baseline_definition = (
            candidate_definitions[measure.name],
            baseline_definitions.get(measure.name, {}),
        )
        if candidate_definition["policies"] != baseline_definition.get("policies"):
            names = [
                name
                for name in {
                    **candidate_definition["policies"],
                    **baseline_definition.get("policies", {}),
                }
                if candidate_definition["policies"].get(name)
                != baseline_definition.get("policies", {}).get(name)
            ]
            raise InputError(
                f"{measure.name}: the baseline was stored with"
                f" {_format_policies(baseline_definition.get('policies', {}), names)}, and this is"
                f" evaluated with {_format_policies(candidate_definition['policies'], names)}. Use"
                " the same, or store it again"
            )
        if candidate_definition["definition"] != baseline_definition.get("definition"):
            versions = [
                read_texts(table.schema.metadata).get("sqlrank.version", "?")
                for table in (stored, candidate)
            ]
            raise InputError(
                f"{measure.name}: the definition of the baseline, by sqlrank {versions[0]}, is not"
                f" that of sqlrank {versions[1]} here. Store it again"
            )


def _format_policies(policies: dict[str, str], names: Sequence[str]) -> str:
    return ", ".join(
        f"{name}={policies[name]}" if name in policies else f"the default of {name}"
        for name in names
    )


@entry_point
def power(
    values: Any = None,
    *,
    sd: float | None = None,
    system: str = "system",
    correlation: float = 0.0,
    num_units: int | None = None,
    target_effect: float | str | None = None,
    correction: str = "holm",
    confidence: float = 0.95,
    power: float = 0.8,
) -> pa.Table:
    """Compute the difference that a paired t-test of so many queries detects, and the queries that
    a difference needs, before any run.

    Args:
        values: a result of :func:`sqlrank.evaluate` with ``per_query``, or the Parquet file that
            stores it. Of two systems or more, the differences of each pair vary as stored. Of one,
            those from a system to come are taken to vary as ``correlation`` says.
        sd: instead of ``values``, the standard deviation of the differences, such as 0.12.
        system: the column that identifies systems.
        correlation: correlation of the values of one stored system with those of a system to come;
            0 is the worst case of unrelated ones.
        num_units: the planned number of queries; the default is that of ``values``.
        target_effect: effect size to detect, such as 0.01 or ``"1%"`` of the baseline.
        correction: correction for as many comparisons as the result has rows: ``"holm"``, ``"bh"``,
            ``"max_t"`` or ``"none"``.
        confidence: a difference is significant if its corrected p-value is below ``1 -
            confidence``.
        power: probability to detect the difference.

    Returns:
        A row per metric and pair of systems: ``metric``, ``baseline``, ``system`` (string),
        ``value_baseline``, ``value`` (float64, means over queries of both), ``n_units`` (int64, the
        planned number), ``sd`` (float64, standard deviation of the differences), ``ci_level``,
        ``mde`` (float64, the minimum detectable effect), ``required_units`` (int64, for
        ``target_effect``), and the ``reason`` why they are NULL.

    Raises:
        MetricError: an option that is not valid.
        InputError: values that are no result per query, or neither values nor ``sd``.

    >>> import sqlrank
    >>> sqlrank.show(sqlrank.power(sd=0.12, num_units=50, target_effect=0.02))
        sd  detectable difference  required queries
    0.1200                 0.0485               285
    50 queries, test at 95%, power 80%.
    """
    if (values is None) is (sd is None):
        raise InputError(
            "give values of queries, or the standard deviation of their differences, such as"
            " sd=0.12: one of the two"
        )
    tests = TestOptions("t", correction, confidence, target_effect, power)
    plans: list[Plan] = (
        [(None, None, None, 0, None, None, sd)]
        if values is None
        else _read_plans(values, system, correlation)
    )
    if values is None and num_units is None and target_effect is None:
        raise MetricError(
            "sd= alone plans nothing. Give num_units= for what they detect, or target_effect= for"
            " the units that it needs"
        )
    if values is None and target_effect is not None and tests.effect_on(None) is None:
        raise MetricError(
            f"target_effect={target_effect!r} is a share of a baseline, which sd= has not. Give the"
            " difference itself, such as 0.01, or values of queries"
        )
    level = HypothesisFamily(confidence, correction, len(plans)).level
    metadata = {"sqlrank.version": __version__, UNIT_KEY: QUERY_ID, POWER_KEY: f"{power:g}"}
    return table_from_rows(
        [_plan_row(plan, num_units, level, tests) for plan in plans],
        pa.schema([*POWER_SCHEMA.items()], metadata),
    )


def _read_plans(values: Any, system: str, correlation: float) -> list[Plan]:
    """Return for each metric and pair of stored systems the number of queries, the means, and the
    deviation of differences.
    """
    table = read_baseline(values, "result")
    metadata = table.schema.metadata
    requested = {
        metric: name for name, metric in read_canonical_names(metadata, "the result").items()
    }
    position = table.column_names.index(QUERY_ID)
    names = [
        name
        for name in table.column_names[position + 1 :]
        if name in read_definitions(metadata, "the result")
    ]
    keys = [
        exp.column(name, quoted=True) for name in table.column_names[:position] if name != system
    ]
    if (is_single := system not in table.column_names) and system != SYSTEM_COLUMN:
        raise InputError(
            suggest_choice(
                f"system: the result has no column {system!r}", system, table.column_names
            )
        )
    label = exp.null() if is_single else exp.cast(exp.column(system, quoted=True), "TEXT")
    unit = exp.func("ROW", *keys, exp.column(QUERY_ID))
    rows = [
        exp.select(*(value.as_(name) for name, value in items.items())).from_("given")
        for items in (
            {
                "metric": sql_literal(number),
                "system": label,
                "unit": unit,
                "value": exp.cast(exp.column(name, quoted=True), "DOUBLE"),
            }
            for number, name in enumerate(names)
        )
    ]
    with duckdb_session(None, ResourceLimits()) as duck:
        duck.register("given", table)
        steps = {
            "stored_values": union_all(rows),
            "stored_systems": load_select("analyses/comparison", "stored_systems.sql"),
        }
        query = bind_placeholders(
            load_select("analyses/comparison", "planned_deviations.sql"), correlation=correlation
        )
        for name, step in steps.items():
            query = query.with_(name, step)
        return [
            (requested.get(names[row[0]], names[row[0]]), *row[1:])
            for row in fetch_tuples(duck, query.sql("duckdb"))
        ]


def _plan_row(
    plan: Plan, num_units: int | None, level: float, tests: TestOptions
) -> dict[str, Any]:
    metric, baseline, system, stored, value_baseline, value, deviation = plan
    units = stored if num_units is None else num_units
    row = {
        "metric": metric,
        "baseline": baseline,
        "system": system,
        "value_baseline": value_baseline,
        "value": value,
    }
    row |= {"n_units": units or None, "sd": deviation, "ci_level": level}
    if not deviation:
        return row | {
            "reason": "fewer than two queries" if deviation is None else "equal in every query"
        }
    effect = tests.effect_on(value_baseline)
    return row | {
        "mde": (
            minimum_detectable_effect(deviation, units, level, tests.power) if units > 1 else None
        ),
        "required_units": (
            None if effect is None else required_units(deviation, effect, level, tests.power)
        ),
        "reason": "a share of a baseline of 0" if tests.target_effect and not effect else None,
    }
