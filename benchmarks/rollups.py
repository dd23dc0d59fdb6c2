"""Benchmark rollups: build time against plain sums; a year by campaign and thirteen windows against
handwritten SQL; and buckets.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from data import IMPRESSIONS, store_rows
from timing import (
    Sides,
    Target,
    Values,
    check_agreement,
    console,
    divide_medians,
    parse_options,
    print_introduction,
    print_targets,
    print_timings,
    run_in_turn,
    time_sides,
)

import sqlrank

CELLS = 70
"""Bins of a day and campaign that are drawn, of which some 55 differ."""

METRICS = ["AUC", "LogLoss", "CalibrationRatio"]
RANKED = ["AUC", "APS", "KS"]
"""Metrics of the statement: each has bounds, and all are of one ranking."""


def make_impressions(rows: int, campaigns: int) -> Path:
    """Return a Parquet file of calibrated click rates of thirty days, at a base rate of 0.3 %, from
    hashes; a user has some twenty.
    """
    drawn = "(hash(i, 1) % 1000 + hash(i, 2) % 1000 + hash(i, 3) % 1000) / 3000.0"
    score = f"1 / (1 + EXP(6.2 - 4 * ({drawn} - 0.5)))"
    source = f"SELECT i, {score} AS score FROM range({rows}) AS t(i)"
    columns = (
        f"DATE '2025-01-01' + (hash(i, 4) % 30)::INT AS day, hash(i, 5) % {campaigns} AS campaign,"
        f" score, (hash(i, 7) % {max(1, rows // 20)})::BIGINT AS user_id"
    )
    click = "CAST((hash(i, 6) % 1000000) / 1e6 < score AS INT) AS label"
    return Path(
        store_rows(
            f"clicks_of_users_{rows}_{campaigns}", f"SELECT {columns}, {click} FROM ({source})"
        )
    )


def make_year(campaigns: int, days: int) -> Path:
    """Return a rollup of so many days and campaigns, as rows of 0.3 % positives in bins of a
    bell.
    """
    drawn = " + ".join(f"hash(d, c, i, {seed}) % 1000" for seed in (1, 2, 3))
    cells = (
        f"SELECT d, c, i, FLOOR(700 + ({drawn}) / 10.0 - 150) AS bin FROM range({days}) AS"
        f" a(d), range({campaigns}) AS b(c), range({CELLS}) AS e(i)"
    )
    sums = (
        "SUM(CAST(hash(d, c, i, 5) % 8 = 0 AS INT))::DOUBLE AS positives, SUM(1 + hash(d, c, i,"
        " 7) % 80)::DOUBLE AS negatives"
    )
    keyed = (
        f"SELECT DATE '2025-01-01' + d::INT AS day, c AS campaign, bin, {sums} FROM ({cells})"
        " GROUP BY d, c, bin"
    )
    rest = (
        "POWER(bin / 1024, 16) AS score_min, POWER((bin + 0.9) / 1024, 16) AS score_max,"
        " positives + negatives AS num_rows, 'x' AS definition_hash"
    )
    query = f"SELECT *, {rest} FROM ({keyed}) ORDER BY day, campaign, bin"
    return Path(store_rows(f"rollup_{campaigns}_{days}", query))


def plain_sums(path: Path, threads: int) -> Values:
    """Add up what the metrics need by day and campaign, without bins: the least that anybody
    keeps.
    """
    likelihood = "SUM(LN(CASE WHEN label = 1 THEN score ELSE 1 - score END))"
    sums = (
        "COUNT(*) AS n, SUM(label) AS clicks, SUM(score) AS expected, SUM(label * score) AS hits,"
        f" MIN(score), MAX(score), {likelihood} AS l"
    )
    text = (
        f"SELECT SUM(n), -SUM(l) / SUM(n) FROM (SELECT day, campaign, {sums} FROM '{path}' GROUP BY"
        " day, campaign)"
    )
    with duckdb.connect(config={"threads": threads}) as duck:
        count, loss = duck.sql(text).fetchall()[0]
    return {"rows": float(count), "LogLoss": float(loss)}


def build_and_evaluate(path: Path, threads: int, check: str) -> Values:
    """Make a rollup, and ask it for the log loss."""
    rollup = sqlrank.rollup(
        METRICS, predictions=str(path), by=["day", "campaign"], threads=threads, check=check
    )  # type: ignore[arg-type]
    row = sqlrank.evaluate("LogLoss", rollup=rollup).to_pylist()[0]
    return {"rows": float(row["num_rows"]), "LogLoss": row["LogLoss"]}


def by_hand(path: Path, threads: int) -> Values:
    """Merge the bins of campaigns and take AUC, and its least and greatest, by the formula: windows
    over bins only.
    """
    bins = (
        f"SELECT campaign, bin, SUM(positives) AS p, SUM(negatives) AS n FROM '{path}' GROUP BY"
        " campaign, bin"
    )
    below = (
        "SELECT campaign, p, n, SUM(n) OVER (PARTITION BY campaign ORDER BY bin) - n AS b FROM"
        f" ({bins})"
    )
    bounds = ", ".join(
        f"SUM(p * (b + {share} * n)) / (SUM(p) * SUM(n)) AS {name}"
        for name, share in (("l", 0), ("v", 0.5), ("g", 1))
    )
    with duckdb.connect(config={"threads": threads}) as duck:
        row = duck.sql(
            f"SELECT SUM(l), SUM(v), SUM(g) FROM (SELECT campaign, {bounds} FROM ({below}) GROUP BY"
            " campaign)"
        ).fetchall()[0]
    return dict(zip(("least", "AUC", "greatest"), map(float, row), strict=True))


def make_buckets(path: Path) -> tuple[Path, Path]:
    """Return a rollup of impressions by day and campaign, and one in 32 buckets of their users."""
    paths = tuple(path.with_name(f"{path.stem}_{name}.parquet") for name in ("rollup", "buckets"))
    for place, options in zip(paths, ({}, {"unit": "user_id"}), strict=True):
        if not place.exists():
            pq.write_table(
                sqlrank.rollup(METRICS, predictions=str(path), by=["day", "campaign"], **options),
                place,
            )
    return paths


def sum_of_bounds(path: Path, threads: int, **options: Any) -> Values:
    """Return the sums of AUC and its bounds over the rows of an answer."""
    result = sqlrank.evaluate("AUC", rollup=str(path), threads=threads, **options)
    return {
        name: float(sum(result[column].to_pylist()))
        for name, column in (
            ("least", "AUC.bound_low"),
            ("AUC", "AUC"),
            ("greatest", "AUC.bound_high"),
        )
    }


def run_statement(path: Path, by: list[str], threads: int, *, runs: bool = True) -> Values:
    """Print the statement of ``sql(rollup=)`` and run it; return the sums of three metrics and of
    their bounds over its rows.
    """
    text = sqlrank.sql(RANKED, rollup=str(path), by=by)
    if not runs:
        return {}
    with duckdb.connect(config={"threads": threads}) as duck:
        return sum_columns(duck.sql(text).to_arrow_table())


def evaluate_by(path: Path, by: list[str], threads: int) -> Values:
    """Evaluate the same metrics; return the same sums."""
    return sum_columns(sqlrank.evaluate(RANKED, rollup=str(path), by=by, threads=threads))


def sum_columns(table: pa.Table) -> Values:
    """Return the sums of the doubles of a result, by their positions."""
    columns = [column for column in table.columns if pa.types.is_floating(column.type)]
    return {
        f"column {position}": float(sum(column.to_pylist()))
        for position, column in enumerate(columns)
    }


def time_statements(threads: int, repeat: int) -> None:
    """Print the times of ``evaluate(rollup=)``, of the statement of ``sql(rollup=)``, and of its
    text alone, by number of groups.
    """
    path = make_year(20, 90)
    for num_groups, by in ((1, []), (20, ["campaign"]), (90, ["day"]), (1800, ["day", "campaign"])):
        time_sides(
            f"AUC, APS and KS of {num_groups:,} groups",
            {
                "evaluate(rollup=)": partial(evaluate_by, path, by, threads),
                "sql(rollup=), run": partial(run_statement, path, by, threads),
                "sql(rollup=), printed": partial(run_statement, path, by, threads, runs=False),
            },
            repeat,
        )


def print_widths() -> None:
    """Print the width of the bounds on real data, by n_bins, and the error of the value."""
    sources = {
        "predictions": str(IMPRESSIONS),
        "columns": {"label": "click", "score": "score_logistic"},
    }
    metrics = ["AUC", "APS", "KS", "Gain@0.1"]
    (truth,) = sqlrank.evaluate(metrics, **sources).to_pylist()
    console.print(
        "Open Bandit, 40,000 impressions: value - truth, and half of what is between the bounds"
    )
    for n_bins in (256, 1024, 4096):
        rollup = sqlrank.rollup(metrics, n_bins=n_bins, **sources)
        (row,) = sqlrank.evaluate(metrics, rollup=rollup).to_pylist()
        texts = [
            f"{name} {row[name] - truth[name]:+.5f} ±"
            f" {(row[f'{name}.bound_high'] - row[f'{name}.bound_low']) / 2:.5f}"
            for name in metrics
        ]
        console.print(
            f"n_bins {n_bins}, {rollup.num_rows} rows: {', '.join(texts)}", highlight=False
        )


def main() -> None:
    options = parse_options(
        __doc__,
        threads=2,
        rows=(4_000_000, "impressions that a rollup is made of"),
        campaigns=200,
        days=365,
    )
    print_introduction(options.threads, ["duckdb"])
    sqlrank.rollup(
        METRICS, predictions=pa.table({"label": [0, 1], "score": [0.25, 0.5]})
    )  # imports take half a second once
    raw, year, threads = (
        make_impressions(options.rows, options.campaigns),
        make_year(options.campaigns, options.days),
        options.threads,
    )

    build_timings = time_sides(
        f"A rollup of {options.rows:,} impressions of 30 days and {options.campaigns} campaigns",
        {
            "plain sums": partial(plain_sums, raw, threads),
            "sqlrank.rollup, checks on": partial(build_and_evaluate, raw, threads, "auto"),
            "sqlrank.rollup, checks off": partial(build_and_evaluate, raw, threads, "off"),
        },
        options.repeat,
    )

    count = duckdb.sql(f"SELECT COUNT(*) FROM '{year}'").fetchall()[0][0]
    windows = {
        "window_days": 90,
        "window_ends": "(DATE '2025-12-31' - day) % 7 = 0 AND day > DATE '2025-12-31' - 91",
    }
    sides: Sides = {
        "by hand": partial(by_hand, year, threads),
        "by campaign": partial(sum_of_bounds, year, threads, by="campaign"),
        "in total": partial(sum_of_bounds, year, threads),
        "365 windows, in total": partial(sum_of_bounds, year, threads, window_days=90),
        "13 windows, by campaign": partial(sum_of_bounds, year, threads, by="campaign", **windows),
    }
    timings = run_in_turn(sides, options.repeat)
    check_agreement({}, {name: timings[name] for name in ("by hand", "by campaign")})
    print_timings(
        f"AUC with bounds from {count:,} rows: {options.days} days of {options.campaigns}"
        " campaigns; windows of 90 days",
        timings,
        "by hand",
    )
    plain, buckets = make_buckets(raw)
    sides = {
        "a rollup without buckets, by campaign": partial(
            sum_of_bounds, plain, threads, by="campaign"
        ),
        "with buckets": partial(sum_of_bounds, buckets, threads, by="campaign"),
        "with buckets and confidence": partial(
            sum_of_bounds, buckets, threads, by="campaign", confidence=0.95
        ),
    }
    sizes = " and ".join(f"{pq.read_metadata(path).num_rows:,}" for path in (plain, buckets))
    title = f"AUC with bounds, and with standard errors, from {sizes} rows"
    time_sides(title, sides, options.repeat)
    time_statements(threads, options.repeat)
    print_widths()
    ratio = divide_medians(build_timings, "sqlrank.rollup, checks on", "plain sums")
    print_targets([Target("a rollup beside plain sums", ratio, at_most=4)])


if __name__ == "__main__":
    main()
