"""Time the metrics of predictions against a bare RANK, a bare scan and other tools; README.md
describes the measurements.
"""

from __future__ import annotations

import argparse
import os
import time
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from classification_peers import (
    BARE,
    PROBABILITY,
    SCAN,
    SIX,
    TABLES,
    fetch_scores,
    rank_predictions,
    scan_predictions,
    sort_scores,
    spark_session,
    with_polars_searched,
    with_polars_sorted,
    with_sklearn,
    with_spark,
)
from data import BETA, FOLDER, HALF, RARE, SPIKE, UNIFORM, make_predictions, predictions_as_parquet
from peers import open_connection
from timing import (
    UNLIMITED,
    Sides,
    Target,
    Timing,
    Values,
    check_agreement,
    compare_with_limit,
    console,
    print_introduction,
    print_targets,
    print_timings,
    print_values,
    run_in_turn,
    show_memory,
)

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import duckdb
    from data import Scores

LIMIT, LIMIT_BYTES = "4GB", 4e9
CAMPAIGNS = (1, 1_000, 1_000_000)
STRATEGIES = ("window", "buckets", "distinct")
OURS, PLAIN = "sqlrank", "sqlrank, checks off"
SKLEARN, AT_HAND, SPARK = (
    "scikit-learn",
    "scikit-learn, arrays at hand",
    "Spark MLlib, AUC, Parquet",
)
RANK_TARGETS = {"unweighted": (2, 1.4), "weighted": (4, 3)}
"""The most, and the stretch, that six metrics may take of a bare rank."""


def evaluate_predictions(
    metrics: list[str],
    source: Any,
    connection: Any,
    chosen: dict[str, str] | None = None,
    **more: Any,
) -> Values:
    """Evaluate with sqlrank; note in ``chosen`` which strategy it took."""
    result = sqlrank.evaluate(metrics, predictions=source, connection=connection, **more)
    if chosen is not None:
        chosen["score_order"] = result.schema.metadata[b"sqlrank.score_order"].decode()
    return {
        name: value
        for name, value in result.select(metrics).to_pylist()[0].items()
        if value is not None
    }


def evaluate_groups(kind: str, connection: Any, **more: Any) -> Values:
    """Evaluate each campaign; return means and numbers of those for which a metric is defined, and
    the first one's value.
    """
    result = sqlrank.evaluate(
        SIX, predictions=TABLES[kind], connection=connection, by="campaign", **more
    )
    values: dict[str, float | None] = {}
    for name in SIX:
        values[f"{kind} {name}, groups"] = result.num_rows - result[name].null_count
        values[f"{kind} {name}, mean"] = pc.mean(result[name]).as_py()
        if result["campaign"][0].as_py() == 0:
            values[f"{kind} {name}, campaign 0"] = result[name][0].as_py()
    return {name: value for name, value in values.items() if value is not None}


def one_campaign(kind: str, connection: duckdb.DuckDBPyConnection) -> Timing:
    """Return the values of one campaign evaluated by itself, which are to be those it has among the
    others.
    """
    values = evaluate_predictions(
        SIX, connection.sql(f"FROM {TABLES[kind]} WHERE campaign = 0"), connection
    )
    return Timing(values={f"{kind} {name}, campaign 0": value for name, value in values.items()})


def other_tools(connection: duckdb.DuckDBPyConnection, kind: str, at_hand: list[float]) -> Sides:
    """Return the tools that read the connection; ``at_hand`` is for the seconds of scikit-learn
    without fetching.
    """
    return {
        "Polars, sorted": partial(with_polars_sorted, connection, kind),
        "Polars, searched": partial(with_polars_searched, connection, kind),
        SKLEARN: partial(with_sklearn, connection, kind, at_hand),
    }


def agree_on_few(options: argparse.Namespace) -> None:
    """Raise unless the tools agree on few rows, with ties and without; nothing is loaded for the
    first time after this.
    """
    for scores in (SPIKE, UNIFORM):
        with open_connection(options.threads, str(make_predictions(100_000, scores))) as connection:
            for kind in TABLES:
                check_agreement(
                    {},
                    run_in_turn(
                        {
                            OURS: partial(evaluate_predictions, SIX, TABLES[kind], connection),
                            **other_tools(connection, kind, []),
                        },
                        1,
                    ),
                )


def time_peers(options: argparse.Namespace) -> Iterator[Target]:
    """Time six metrics from the same DuckDB file with each tool."""
    path = make_predictions(options.rows)
    spark = spark_session(options.threads)
    if isinstance(spark, str):
        console.print(f"Spark MLlib is left out: {spark}", highlight=False)
    with open_connection(options.threads, str(path)) as connection:
        scores = fetch_scores(connection)
        for kind in TABLES:
            at_hand: list[float] = []
            sides: Sides = {
                BARE: partial(rank_predictions, connection),
                OURS: partial(
                    evaluate_predictions, SIX, TABLES[kind], connection, threads=options.threads
                ),
                PLAIN: partial(
                    evaluate_predictions,
                    SIX,
                    TABLES[kind],
                    connection,
                    threads=options.threads,
                    check="off",
                ),
                **other_tools(connection, kind, at_hand),
                "NumPy argsort, scores at hand": partial(sort_scores, scores),
            }
            if not isinstance(spark, str):
                sides[SPARK] = partial(with_spark, spark, predictions_as_parquet(path), kind)
            timings = run_in_turn(
                sides, options.repeat or 3, once=() if options.repeat_peers else (SKLEARN, SPARK)
            )
            check_agreement({}, timings)
            timings[AT_HAND] = Timing(at_hand)
            title = f"peers: six metrics, {options.rows:,} rows, {kind}"
            print_timings(title, timings, BARE)
            at_most, stretch = RANK_TARGETS[kind]
            for name in (OURS, PLAIN):
                own = timings[name].median
                yield Target(
                    f"{title}; {SKLEARN} over {name}", timings[SKLEARN].median / own, at_least=8
                )
                yield Target(
                    f"{title}; {name} of a {BARE}",
                    own / timings[BARE].median,
                    at_most=at_most,
                    stretch=stretch,
                )
    if not isinstance(spark, str):
        spark.stop()


def time_groups(options: argparse.Namespace) -> Iterator[Target]:
    """Time six metrics of each campaign, for few and many campaigns."""
    for campaigns in CAMPAIGNS:
        with open_connection(
            options.threads, str(make_predictions(options.rows, UNIFORM, campaigns))
        ) as connection:
            sides: Sides = {BARE: partial(rank_predictions, connection, "campaign")}
            for kind in TABLES:
                ours = partial(evaluate_groups, kind, connection, threads=options.threads)
                sides |= {f"{kind}, checks off": partial(ours, check="off"), kind: ours}
            timings = run_in_turn(sides, options.repeat or 3)
            check_agreement(
                {},
                timings,
                {f"{kind}, campaign 0 alone": one_campaign(kind, connection) for kind in TABLES},
            )
        print_timings(
            f"groups: six metrics, {options.rows:,} rows, number of groups {campaigns:,}",
            timings,
            BARE,
        )
    yield from ()


def time_probability_metrics(options: argparse.Namespace) -> Iterator[Target]:
    """Time metrics for which nothing has to be ordered."""
    with open_connection(options.threads, str(make_predictions(options.rows))) as connection:
        ours = partial(
            evaluate_predictions,
            PROBABILITY,
            TABLES["weighted"],
            connection,
            threads=options.threads,
        )
        timings = run_in_turn(
            {
                SCAN: partial(scan_predictions, connection),
                PLAIN: partial(ours, check="off"),
                OURS: ours,
            },
            options.repeat or 3,
        )
    check_agreement({}, timings)
    title = f"probability: three metrics, {options.rows:,} rows, weighted"
    print_timings(title, timings, SCAN)
    for name in (PLAIN, OURS):
        yield Target(
            f"{title}; {name} of a {SCAN}", timings[name].median / timings[SCAN].median, at_most=2
        )


def time_skewed_scores(options: argparse.Namespace) -> Iterator[Target]:
    """Time each way to order the predictions, for scores that are more or less alike."""
    yield from by_strategy(options, "skew", (UNIFORM, BETA, SPIKE), STRATEGIES)


def time_class_shares(options: argparse.Namespace) -> Iterator[Target]:
    """Time the default strategy and that of one sort of scores, for few positives and many."""
    yield from by_strategy(options, "shares", (RARE, UNIFORM, HALF), ("window",))


def by_strategy(
    options: argparse.Namespace,
    section: str,
    kinds: tuple[Scores, ...],
    strategies: tuple[str, ...],
) -> Iterator[Target]:
    """Time six metrics with the default strategy and others, for each distribution of scores."""
    for scores in kinds:
        with open_connection(
            options.threads, str(make_predictions(options.rows, scores))
        ) as connection:
            for kind in TABLES:
                chosen: dict[str, dict[str, str]] = {name: {} for name in ("default", *strategies)}
                sides: Sides = {BARE: partial(rank_predictions, connection)}
                for name, noted in chosen.items():
                    plan_option = {} if name == "default" else {"plan": {"score_order": name}}
                    sides[name] = partial(
                        evaluate_predictions,
                        SIX,
                        TABLES[kind],
                        connection,
                        noted,
                        threads=options.threads,
                        **plan_option,
                    )
                timings = run_in_turn(sides, options.repeat or 3)
                check_agreement({}, timings)
                notes = {name: noted["score_order"] for name, noted in chosen.items()}
                print_timings(
                    f"{section}: six metrics, {options.rows:,} rows, {scores.name}, {kind}",
                    timings,
                    BARE,
                    notes,
                    "score_order",
                )
    yield from ()


def time_growth(options: argparse.Namespace) -> Iterator[Target]:
    """Time six metrics over more and more rows, and a bare rank beside them."""
    for name in (BARE, *TABLES):
        timings: dict[str, Timing] = {}
        for rows in options.growth:
            with open_connection(options.threads, str(make_predictions(rows))) as connection:
                scan_predictions(
                    connection
                )  # so that the first run finds the file in memory as later ones do
                side = partial(rank_predictions, connection)
                if name in TABLES:
                    side = partial(
                        evaluate_predictions, SIX, TABLES[name], connection, threads=options.threads
                    )
                timings |= run_in_turn({f"{rows:,} rows": side}, options.repeat or 1)
        sizes = list(timings)
        notes = {
            size: f"{timings[size].median / timings[before].median:.2f}"
            for before, size in pairwise(sizes)
        }
        print_timings(
            f"growth: {'six metrics, ' * (name != BARE)}{name}",
            timings,
            sizes[0],
            notes,
            "to the size before",
        )
    yield from ()


def time_memory_limits(options: argparse.Namespace) -> Iterator[Target]:
    """Time six metrics over more rows than the limit holds, each in a process of its own."""
    make_predictions(options.huge)
    for kind in TABLES:
        command = [__file__, "--huge", str(options.huge), "--child", kind]
        timings, peaks = compare_with_limit(command, LIMIT, options.repeat or 1)
        title = f"memory: six metrics, {options.huge:,} rows, {kind}"
        show_memory(title, timings, peaks)
        yield Target(f"{title}; peak memory of {LIMIT}", peaks[LIMIT] / LIMIT_BYTES, at_most=1.1)


def run_child(options: argparse.Namespace) -> None:
    """Evaluate in this process, and print the values with the seconds and the peak memory in
    bytes.
    """
    kind, limit = options.child
    path = make_predictions(options.huge)
    limits = {
        "temp_directory": FOLDER / "spill",
        **({} if limit == UNLIMITED else {"memory_limit": limit}),
    }
    start = time.perf_counter()
    print_values(evaluate_predictions(SIX, TABLES[kind], str(path), threads=2, **limits), start)


SECTIONS: dict[str, Callable[[argparse.Namespace], Iterator[Target]]] = {
    "peers": time_peers,
    "groups": time_groups,
    "probability": time_probability_metrics,
    "skew": time_skewed_scores,
    "shares": time_class_shares,
    "growth": time_growth,
    "memory": time_memory_limits,
}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=20_000_000, help="rows of all but growth and memory"
    )
    parser.add_argument(
        "--growth",
        type=int,
        nargs="+",
        default=[2_000_000, 20_000_000, 200_000_000],
        help="rows of growth, ascending",
    )
    parser.add_argument("--huge", type=int, default=200_000_000, help="rows of memory")
    parser.add_argument("--repeat", type=int, help="runs of each side (3; growth and memory: 1)")
    parser.add_argument(
        "--repeat-peers", action="store_true", help="repeat scikit-learn and Spark too"
    )
    parser.add_argument(
        "--threads", type=int, default=os.cpu_count() or 1, help="threads of each side (memory: 2)"
    )
    usual = [name for name in SECTIONS if name not in {"growth", "memory"}]
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SECTIONS,
        default=usual,
        metavar="NAME",
        help=f"of {', '.join(SECTIONS)}",
    )
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    if options.child:
        run_child(options)
        return
    print_introduction(options.threads, ("duckdb", "polars", "scikit-learn", "pyarrow", "numpy"))
    agree_on_few(options)
    print_targets(target for name in options.only for target in SECTIONS[name](options))


if __name__ == "__main__":
    main()
