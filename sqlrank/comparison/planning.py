"""Plan comparisons from stored values of queries: the difference that so many queries detect, and
the queries that a difference needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.arrow_arrays import table_from_rows
from sqlrank.call.argument_checks import entry_point
from sqlrank.call.request import ResourceLimits
from sqlrank.comparison import paired_tests
from sqlrank.comparison.gate import read_baseline, read_definitions
from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.engines.duckdb_session import duckdb_session, fetch_tuples
from sqlrank.errors import InputError, MetricError, suggest_choice
from sqlrank.inference.corrected_tests import HypothesisFamily
from sqlrank.inference.significance import minimum_detectable_effect, required_units
from sqlrank.registry.query_templates import load_select
from sqlrank.registry.registry import SYSTEM_COLUMN
from sqlrank.result_columns import POWER_SCHEMA
from sqlrank.result_metadata import read_canonical_names
from sqlrank.sql_ast import sql_literal, union_all

if TYPE_CHECKING:
    Plan = tuple[str | None, str | None, str | None, int, float | None, float | None, float | None]


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

    >>> power(sd=0.12, num_units=50, target_effect=0.02).select(
    ...     ["mde", "required_units"]
    ... ).to_pylist()
    [{'mde': 0.048511942666489574, 'required_units': 285}]
    """
    if (values is None) is (sd is None):
        raise InputError(
            "give values of queries, or the standard deviation of their differences, such as"
            " sd=0.12: one of the two"
        )
    tests = paired_tests.TestOptions("t", correction, confidence, target_effect, power)
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
    level = HypothesisFamily(confidence, correction, len(plans)).level
    return table_from_rows(
        [_plan_row(plan, num_units, level, tests) for plan in plans],
        pa.schema([*POWER_SCHEMA.items()]),
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
        exp.select(*(exp.alias_(value, name) for name, value in items.items())).from_("given")
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
        query: Any = exp.replace_placeholders(
            load_select("analyses/comparison", "planned_deviations.sql"), correlation=correlation
        )
        for name, step in steps.items():
            query = query.with_(name, step)
        return [
            (requested.get(names[row[0]], names[row[0]]), *row[1:])
            for row in fetch_tuples(duck, query.sql("duckdb"))
        ]


def _plan_row(
    plan: Plan, num_units: int | None, level: float, tests: paired_tests.TestOptions
) -> dict[str, Any]:
    """Return a row of the result."""
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
            "reason": "fewer than two units" if deviation is None else "equal in every unit"
        }
    effect = tests.effect_on(value_baseline)
    return row | {
        "mde": (
            minimum_detectable_effect(deviation, units, level, tests.power) if units > 1 else None
        ),
        "required_units": (
            None if effect is None else required_units(deviation, effect, level, tests.power)
        ),
    }
