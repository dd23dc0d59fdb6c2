"""Time the metrics of predictions against a bare RANK, a bare scan and other tools; README.md
describes the measurements.
"""

from __future__ import annotations

from functools import partial
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
    CORES,
    Sides,
    Target,
    Timing,
    Values,
    check_agreement,
    console,
    divide_medians,
    parse_options,
    print_introduction,
    print_targets,
    print_timings,
    run_child,
    run_in_turn,
    time_memory_limit,
    time_sides,
)

import sqlrank

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    import duckdb
    from data import Scores

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


def agree_on_few(options: Namespace) -> None:
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


def time_peers(options: Namespace) -> Iterator[Target]:
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
                ratio = divide_medians(timings, SKLEARN, name)
                yield Target(f"{title}; {SKLEARN} over {name}", ratio, at_least=8)
                ratio = divide_medians(timings, name, BARE)
                yield Target(
                    f"{title}; {name} of a {BARE}", ratio, at_most=at_most, stretch=stretch
                )
    if not isinstance(spark, str):
        spark.stop()


def time_groups(options: Namespace) -> Iterator[Target]:
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


def time_probability_metrics(options: Namespace) -> Iterator[Target]:
    """Time metrics for which nothing has to be ordered."""
    with open_connection(options.threads, str(make_predictions(options.rows))) as connection:
        ours = partial(
            evaluate_predictions,
            PROBABILITY,
            TABLES["weighted"],
            connection,
            threads=options.threads,
        )
        sides: Sides = {
            SCAN: partial(scan_predictions, connection),
            PLAIN: partial(ours, check="off"),
            OURS: ours,
        }
        title = f"probability: three metrics, {options.rows:,} rows, weighted"
        timings = time_sides(title, sides, options.repeat or 3)
    for name in (PLAIN, OURS):
        yield Target(f"{title}; {name} of a {SCAN}", divide_medians(timings, name, SCAN), at_most=2)


def time_skewed_scores(options: Namespace) -> Iterator[Target]:
    """Time each way to order the predictions, for scores that are more or less alike."""
    yield from by_strategy(options, "skew", (UNIFORM, BETA, SPIKE), STRATEGIES)


def time_class_shares(options: Namespace) -> Iterator[Target]:
    """Time the default strategy and that of one sort of scores, for few positives and many."""
    yield from by_strategy(options, "shares", (RARE, UNIFORM, HALF), ("window",))


def by_strategy(
    options: Namespace,
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


def time_memory(options: Namespace) -> Iterator[Target]:
    """Time six metrics over more rows than the limit holds, each in a process of its own."""
    make_predictions(options.huge)
    for kind in TABLES:
        yield from time_memory_limit(
            f"memory: six metrics, {options.huge:,} rows, {kind}",
            [__file__, "--huge", str(options.huge), "--child", kind],
            "4GB",
            options.repeat or 1,
        )


SECTIONS: dict[str, Callable[[Namespace], Iterator[Target]]] = {
    "peers": time_peers,
    "groups": time_groups,
    "probability": time_probability_metrics,
    "skew": time_skewed_scores,
    "shares": time_class_shares,
    "memory": time_memory,
}


def main() -> None:
    options = parse_options(
        __doc__,
        SECTIONS,
        [name for name in SECTIONS if name != "memory"],
        rows=(20_000_000, "rows of all but memory"),
        huge=(200_000_000, "rows of memory"),
        repeat=(0, "runs of each side, by default 3, of memory 1"),
        repeat_peers=(False, "repeat scikit-learn and Spark too"),
        threads=(CORES, "threads of each side (memory: 2)"),
        child=([], "table and limit of a process of memory"),
    )
    if options.child:
        kind, limit = options.child
        path = str(make_predictions(options.huge))
        evaluate = partial(evaluate_predictions, SIX, TABLES[kind], path)
        run_child(evaluate, limit, FOLDER / "spill")
        return
    print_introduction(options.threads, ("duckdb", "polars", "scikit-learn", "pyarrow", "numpy"))
    agree_on_few(options)
    print_targets(target for name in options.only for target in SECTIONS[name](options))


if __name__ == "__main__":
    main()
