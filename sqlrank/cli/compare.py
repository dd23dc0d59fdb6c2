"""The commands ``sqlrank compare`` and ``sqlrank gate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import sqlrank
from sqlrank.call import leaves
from sqlrank.cli.console import pairs, problems, progress_bar
from sqlrank.cli.given import asked, groupings, policies, runs, tolerances
from sqlrank.cli.options import (
    Check,
    ColumnOf,
    Compat,
    Database,
    Digits,
    Force,
    Inputs,
    Memory,
    Metrics,
    Output,
    Plan,
    Policy,
    Predictions,
    Qrels,
    Queries,
    Run,
    Seed,
    SqlDir,
    Threads,
    Timeout,
    Unit,
    Where,
    Written,
)  # fmt: skip
from sqlrank.cli.verdict import Ending, Inconclusive, Junit, Summary
from sqlrank.errors import SqlrankError
from sqlrank.results.formats import DIGITS, FOR_PEOPLE, Looks, form_of, write
from sqlrank.results.targets import check_target
from sqlrank.results.verdicts import COMPARED, OF_STATES, SHOWN, for_people

Systems = Annotated[str, typer.Option("--by", help="The column that tells systems apart; several --run are systems of their own.")]
Slices = Annotated[
    list[str] | None, typer.Option("--slice", help="Column to look within; a,b for both; 'total' for all rows. Repeat for more.")
]
Level = Annotated[float, typer.Option("--confidence", help="Of intervals, such as 0.95.")]


def compare(
    metrics: Metrics,
    run: Run = None,
    qrels: Qrels = None,
    predictions: Predictions = None,
    queries: Queries = None,
    state: Annotated[
        list[str] | None,
        typer.Option(help="Sums that 'sqlrank state' made of a model, instead of rows: name=state. Repeat for each model."),
    ] = None,
    db: Database = None,
    by: Systems = "system",
    unit: Unit = None,
    slice_: Slices = None,
    baseline: Annotated[
        str | None, typer.Option(help="The system to compare with; without one, all pairs, or of states the first.")
    ] = None,
    test: Annotated[str, typer.Option(help="t, wilcoxon, sign or randomization.")] = "t",
    correction: Annotated[str, typer.Option(help="For many comparisons: holm, bh, max_t or none.")] = "holm",
    confidence: Level = 0.95,
    effect: Annotated[str | None, typer.Option(help="A difference to find, 0.01 or 1%: how many queries does it take?")] = None,
    power: Annotated[float, typer.Option(help="The chance to find what is there.")] = 0.8,
    replicates: Annotated[int, typer.Option(help="How often signs are drawn, for randomization and max_t.")] = 9999,
    seed: Seed = 0,
    per_query: Annotated[bool, typer.Option("--per-query", help="The differences of queries, the greatest loss first.")] = False,
    where: Where = None,
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    format: Written = None,  # noqa: A002  the option's public name
    output: Output = None,
    digits: Digits = None,
    check: Check = "auto",
    memory_limit: Memory = None,
    threads: Threads = None,
    timeout: Timeout = None,
    force: Force = False,
) -> None:
    """Say which of several systems is better, by how much, and how sure that is."""
    given = dict(locals())
    with problems():
        form = form_of(format, output, digits)
        states = pairs("--state", state)
        check_target(output, force, [*_sources(run, qrels, predictions, queries, db, input), *states.values()])
    with problems(), progress_bar("comparing") as progress:
        result = (
            _of_states(given, states) if states else sqlrank.compare(**asked(given, "state"), slices=groupings(slice_), progress=progress)
        )
    with problems():
        names = OF_STATES if states else COMPARED if effect is None else (*COMPARED, "needed")
        shown = for_people(result, names) if form in FOR_PEOPLE and not per_query else result
        write(shown, form, output, Looks(DIGITS if digits is None else digits, is_upright=True))


def gate(
    metrics: Metrics,
    run: Run = None,
    qrels: Qrels = None,
    predictions: Predictions = None,
    queries: Queries = None,
    db: Database = None,
    by: Systems = "system",
    unit: Unit = None,
    slice_: Slices = None,
    baseline: Annotated[
        str | None, typer.Option(help="The system that is the baseline (the first given), or a Parquet file of evaluate --per-query.")
    ] = None,
    tolerance: Annotated[
        list[str] | None, typer.Option(help="By how much a metric may be worse: 0.01, 2%, or of one metric AP=2%. Repeat for more.")
    ] = None,
    min_units: Annotated[int, typer.Option(help="Queries below which a slice is skipped.")] = 20,
    confidence: Level = 0.95,
    inconclusive: Inconclusive = None,
    summary_file: Summary = None,
    junit_file: Junit = None,
    where: Where = None,
    column: ColumnOf = None,
    compat: Compat = None,
    policy: Policy = None,
    plan: Plan = None,
    input: Inputs = None,  # noqa: A002  the option's public name
    sql_dir: SqlDir = None,
    format: Written = None,  # noqa: A002  the option's public name
    output: Output = None,
    digits: Digits = None,
    check: Check = "auto",
    memory_limit: Memory = None,
    threads: Threads = None,
    timeout: Timeout = None,
    force: Force = False,
) -> None:
    """Say whether a candidate may ship: exit status 0 for pass, 1 for fail, 3 for inconclusive, 2 for a wrong call."""
    given = locals()
    with problems():
        form = form_of(format, output, digits)
        ending = Ending("gate", inconclusive, summary_file, junit_file)
        sources = [*_sources(run, qrels, predictions, queries, db, input), baseline]
        for path in (output, summary_file, junit_file):
            check_target(path, force or path is not output, sources)
    with problems(), progress_bar("gating") as progress:
        arguments = asked(given, "inconclusive", "summary_file", "junit_file", "tolerance")
        result = sqlrank.gate(
            **arguments, slices=_gated(slice_), tolerance=tolerances("--tolerance", tolerance) or {"*": "0"}, progress=progress
        )
    decimals = DIGITS if digits is None else digits
    with problems():
        write(for_people(result, SHOWN) if form in FOR_PEOPLE else result, form, output, Looks(decimals, is_upright=True))
    ending.tell(result, SHOWN, form, output, decimals)


def _of_states(given: dict[str, Any], states: dict[str, str]) -> Any:
    """Return the comparison of models by their states; raise ``SqlrankError`` for an option that is for rows."""
    defaults = {"by": "system", "test": "t", "correction": "holm", "power": 0.8, "replicates": 9999, "seed": 0, "check": "auto"}
    own = {"metrics", "state", "db", "slice_", "baseline", "confidence", "where", "policy", "sql_dir", "memory_limit", "threads", "timeout"}
    others = (
        {name for name, value in given.items() if value and value != defaults.get(name)} - own - {"format", "output", "digits", "force"}
    )
    if others:
        raise SqlrankError(f"--{min(others).replace('_', '-')} is for rows, which states do not have; leave it out, or --state")
    names = ("baseline", "where", "confidence", "sql_dir", "memory_limit", "threads", "timeout")
    held = {name: given[name] for name in names}
    return sqlrank.compare_states(
        given["metrics"], states=states, by=groupings(given["slice_"]), connection=given["db"], **held, **policies(given["policy"])
    )


def _sources(
    run: list[str] | None, qrels: str | None, predictions: str | None, queries: str | None, db: Path | None, inputs: list[str] | None
) -> list[Any]:
    return [*leaves(runs(run)), qrels, predictions, queries, db, *pairs("--input", inputs).values()]


def _gated(slices: list[str] | None) -> Any:
    """Return the groupings of a gate: all rows, and within what is named; each column of its own."""
    given = groupings(slices)
    return [[], *([item] for item in given)] if given and isinstance(given[0], str) else given and [[], *(item for item in given if item)]
