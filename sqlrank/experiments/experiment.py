"""The public functions of experiments: what each variant did, as a table or as a statement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank._version import __version__
from sqlrank.arguments import public
from sqlrank.call import Several, leaves
from sqlrank.engines import remote
from sqlrank.engines.connections import as_from_duckdb
from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.duckdb import Limits, session, supervise
from sqlrank.engines.files import is_meant
from sqlrank.engines.looking import done_on, looked_at
from sqlrank.engines.render import render
from sqlrank.errors import InputError
from sqlrank.experiments.asked import Experiment
from sqlrank.experiments.observed import CONTROL, DATA, check_arms, check_rows, control_of, crossed_units, find_data
from sqlrank.experiments.shown import notes_of, table_of
from sqlrank.experiments.sums import MISSING, chained, steps_of_sums, tables_of
from sqlrank.experiments.written import effects, statement
from sqlrank.results.store import store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.engines.database import Database


@public
def experiment(
    metrics: str | Sequence[str] | Mapping[str, str],
    *,
    data: Any,
    variant: str = "variant",
    unit: str = "unit_id",
    control: str | None = None,
    covariates: str | Mapping[str, str] | None = None,
    shares: Mapping[str, float] | None = None,
    lower: str | Sequence[str] = (),
    where: str | None = None,
    confidence: float = 0.95,
    correction: str = "holm",
    interval: str = "fixed",
    lift: str = "log",
    crossed: str = "error",
    power: float = 0.8,
    connection: Any = None,
    dialect: str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | Path | None = None,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> pa.Table:
    """Say what each variant of an online experiment did: differences with intervals and tests, as an Arrow table.

    A unit is what was put into a variant, such as a user; its rows are added up first. Sums are computed where the data are, what follows
    from those of variants here.

    Args:
        metrics: ``"Mean(revenue)"``, of units, or ``"Ratio(clicks, views)"``, of their sums, with the variance of the delta method; several
            as a list, or a dict with names. What is named is a column, or an expression in the SQL of the engine.
        data: a row per exposure, session or unit: a table, file or data as for :func:`sqlrank.evaluate`.
        variant: the column of variants.
        unit: the column of units.
        control: the variant that others are compared with; ``"control"`` if there is one of that name.
        covariates: what was known of units before (CUPED): by metric a column, ``Mean`` or ``Ratio``. A unit of which it is NULL has
            what is usual.
        shares: the share of units that each variant should have; equal ones unless given.
        lower: metrics of which lower values are better.
        where: a condition in SQL on the rows that are read.
        confidence: of intervals; a variant is better if its corrected p is below ``1 - confidence``.
        correction: for how many comparisons the call has: ``"holm"``, ``"bh"`` (Benjamini & Hochberg) or ``"none"``.
        interval: ``"fixed"`` holds for one look, at the planned end; ``"always"`` at every look (Waudby-Smith et al.), and is wider.
        lift: whether intervals of lifts are of their logarithm, ``"log"``, or ``"linear"``.
        crossed: of units in several variants: ``"error"``, or ``"drop"`` to leave them out.
        power: the chance with which ``detectable`` finds what is there.
        connection: where the data are, as for :func:`sqlrank.evaluate`.
        dialect: the SQL that ``connection`` speaks, if its class does not tell.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`sqlrank.evaluate`.
        temp_directory: as for :func:`sqlrank.evaluate`.
        timeout: as for :func:`sqlrank.evaluate`.
        progress: as for :func:`sqlrank.evaluate`.

    Returns:
        A row per metric and variant beside the control: ``metric``, ``control``, ``variant`` (string); ``value_control``, ``value``,
        ``difference``, ``low``, ``high`` (of the difference, by Welch's t at ``level``, which allows for the correction); ``relative``
        (the lift), ``relative_low``, ``relative_high``, ``se`` (float64); ``units_control``, ``units`` (int64); ``statistic``, ``freedom``,
        ``p``, ``p_adjusted`` (float64, two-sided); ``better`` (string, the variant that is, if one is); ``detectable`` (the least
        difference that is found) and ``theta`` (of the covariate; 0 without one). The last row, ``sample_ratio``, tests whether
        variants have their shares of the units, by chi-square; where its ``p`` is below 0.001 something is wrong with how units came into
        variants, and ``better`` is NULL everywhere. The schema's metadata: ``sqlrank.notes``, a line each, and ``sqlrank.sql``.
        Undefined is NULL: intervals where units do not differ, lifts on the log scale of what is not above 0.

    Raises:
        MetricError: a formula, name or option that is not possible.
        InputError: data that cannot be evaluated, with all problems found; a unit in several variants.
        ExecutionError: time or memory ran out, or a database refused a statement.

    >>> import pyarrow as pa
    >>> visits = pa.table({"unit_id": [1, 2, 3, 4, 5, 6], "variant": list("AAABBB"), "spend": [1.0, 2.0, 3.0, 3.0, 5.0, 4.0]})
    >>> row = experiment("Mean(spend)", data=visits, control="A").to_pylist()[0]
    >>> row["value_control"], row["value"], row["difference"], row["relative"], round(row["p"], 4), row["better"]
    (2.0, 4.0, 2.0, 1.0, 0.0705, None)
    """
    asked = Experiment.of(locals())
    source = Several.of(DATA, data)
    limits = Limits(memory_limit, threads, temp_directory, timeout)
    spoken = remote.spoken_by(connection, dialect)
    arms, text = done_on(connection, spoken, limits, lambda database: _arms(asked, database, source, unit, variant, where), progress)
    rows = arms.to_pylist()
    control = control_of(asked, [row["variant"] for row in rows if row["metric"] == asked.estimates[0].name])
    check_arms(rows)
    result = table_of(asked, _effects(asked, arms, control, limits))
    options = {name: str(getattr(asked, name)) for name in ("confidence", "correction", "interval", "lift")}
    said = {"notes": "\n".join(notes_of(asked, rows, result)), "control": control, **options, "version": __version__, "sql": text}
    return result.replace_schema_metadata({f"sqlrank.{name}": value for name, value in said.items()})


@public
def experiment_sql(
    metrics: str | Sequence[str] | Mapping[str, str],
    *,
    data: Any,
    variant: str = "variant",
    unit: str = "unit_id",
    control: str | None = None,
    covariates: str | Mapping[str, str] | None = None,
    shares: Mapping[str, float] | None = None,
    lower: str | Sequence[str] = (),
    where: str | None = None,
    confidence: float = 0.95,
    correction: str = "holm",
    interval: str = "fixed",
    lift: str = "log",
    power: float = 0.8,
    connection: Any = None,
    dialect: str | None = None,
    create_table: str | None = None,
    create_view: str | None = None,
) -> str:
    """Return a statement in the SQL of an engine that says what each variant did; ``create_table`` and ``create_view`` store its rows.

    It has the columns of :func:`experiment`, with the same numbers: quantiles and p-values of Student's t and chi-square are integrals that
    the statement computes. Units in several variants are left out, and counted in one more column, ``crossed``.

    Raises:
        MetricError: as :func:`experiment`, and for what the dialect cannot express.
        InputError: a name or a condition that is none.

    >>> print(experiment_sql("Mean(spend)", data="visits", dialect="bigquery").splitlines()[1])
    WITH observations AS (
    """
    asked = Experiment.of(locals())
    source = Several.of(DATA, data)
    spoken = remote.spoken_by(connection, dialect) if connection is not None else dialect or "duckdb"
    dialect_of(spoken)
    with looked_at(connection, spoken, any(map(is_meant, leaves(source)))) as database:
        item = find_data(asked, database, source, unit, variant, where)
        found = statement(asked, item, asked.control or CONTROL)
        stored = store(found, spoken, create_table, create_view, None, [item.table.written])
        return render(stored.tree, stored.stamp, spoken, database.keeps)


def _arms(asked: Experiment, database: Database, source: Any, unit: str, variant: str, where: str | None) -> tuple[pa.Table, str]:
    """Return the sums of every metric and variant, and the statement that they are of."""
    item = find_data(asked, database, source, unit, variant, where)
    check_rows(asked, database, item)
    tree = chained(steps_of_sums(asked, item), tables_of(item))
    text = render(tree, f"sqlrank {__version__}: sums of variants", database.dialect, database.keeps)
    table = database.table(text)
    kinds = dict.fromkeys(table.column_names, pa.float64()) | {"metric": pa.string(), "variant": pa.string()}
    arms = as_from_duckdb(table, kinds | dict.fromkeys(("units", "crossed", MISSING), pa.int64()))
    if not arms.num_rows:
        raise InputError(f"{item.shown}: every unit is in more than one variant; name what was put into variants with unit= (--unit)")
    count = max(arms["crossed"].to_pylist())
    if count and asked.crossed == "error":
        raise crossed_units(asked, database, item, count)
    return arms, text


def _effects(asked: Experiment, arms: pa.Table, control: str, limits: Limits) -> list[dict[str, Any]]:
    """Return what follows from the sums of variants: a row per metric and variant beside the control, and that of their units."""
    with session(None, replace(limits, timeout=None)) as duck:
        duck.register("arms", arms)
        text = render(effects(asked, control), "sqlrank: effects")

        def work() -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = duck.sql(text).to_arrow_table().to_pylist()
            return rows

        return supervise(duck, work, None)
