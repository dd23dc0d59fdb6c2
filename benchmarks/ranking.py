"""Time sqlrank against a bare ROW_NUMBER and other tools; README.md describes the measurements."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from data import (
    FOLDER,
    LONG,
    STANDARD,
    SYSTEMS,
    THOUSAND,
    Dataset,
    Kind,
    Order,
    Shape,
    make_answers,
    make_dataset,
)
from peers import (
    AT_TEN,
    BARE,
    CUT_OFFS,
    FIVE,
    FORTY,
    TWO,
    open_connection,
    row_number,
    with_polars,
    with_polars_first,
    with_pytrec_eval,
    with_ranx,
)
from timing import (
    CORES,
    Sides,
    Target,
    Timing,
    Values,
    check_agreement,
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
    from collections.abc import Callable, Iterator, Mapping

KINDS: tuple[Kind, ...] = ("str", "int")
ORDERS: tuple[Order, ...] = ("clustered", "shuffled")
PLAIN, CHECKED = "checks off", "checks on"
SORTED, UNNESTED = f"{CHECKED}, rank_method=sort", "unnested by hand"
RANX_READER = "ranx, its own reader"
ONE = f"1 metric, {PLAIN}"


def evaluate_rankings(
    metrics: list[str], run: Any, qrels: Any, threads: int, **more: Any
) -> Values:
    """Evaluate with sqlrank; with ``by``, name each value after its group."""
    rows = sqlrank.evaluate(metrics, run=run, qrels=qrels, threads=threads, **more).to_pylist()
    by = more.get("by", ())
    return {
        " ".join([name, *(str(row[key]) for key in by)]): row[name]
        for row in rows
        for name in metrics
    }


def time_peers(options: Namespace) -> Iterator[Target]:
    """Time five metrics from the same Parquet files with each tool."""
    for order in ORDERS:
        data = make_dataset(options.rows, "str", order)
        sides: Sides = {
            "sqlrank": partial(evaluate_rankings, FIVE, data.run, data.qrels, options.threads),
            "sqlrank, checks off": partial(
                evaluate_rankings, FIVE, data.run, data.qrels, options.threads, check="off"
            ),
            "Polars, streaming": partial(with_polars, data, "streaming"),
            "Polars, in memory": partial(with_polars, data, "in-memory"),
            "Polars, one sort, streaming": partial(with_polars, data, "streaming", one_sort=True),
            "Polars, one sort, in memory": partial(with_polars, data, "in-memory", one_sort=True),
            "pytrec_eval": partial(with_pytrec_eval, data),
        }
        if order == "clustered":
            sides["ranx"] = partial(with_ranx, data, options.threads)
            sides[RANX_READER] = partial(with_ranx, data, options.threads, own_reader=True)
        timings = time_sides(
            f"peers: five metrics, {options.rows:,} rows, str {order}, Parquet",
            sides,
            options.repeat,
            once=("ranx", RANX_READER),
            tolerances={"ranx": 1e-6, RANX_READER: 1e-6},
        )
        for name in ("sqlrank", "sqlrank, checks off"):
            own = timings[name].median
            for polars in ("Polars", "Polars, one sort"):
                faster = min(
                    timings[f"{polars}, {engine}"].median for engine in ("streaming", "in memory")
                )
                yield Target(f"{name} of the faster {polars}, {order}", own / faster, at_most=0.7)
            yield Target(
                f"pytrec_eval over {name}, {order}",
                divide_medians(timings, "pytrec_eval", name),
                at_least=5,
            )
            if "ranx" in timings:
                ratio = divide_medians(timings, "ranx", name)
                yield Target(f"ranx over {name}, {order}", ratio, at_least=100)


def row_number_sides(
    options: Namespace, run: str, qrels: str, connection: Any, by: tuple[str, ...] = ()
) -> Sides:
    """Return the sides of the sections that compare with a bare ROW_NUMBER over the same source."""
    ours = partial(
        evaluate_rankings,
        run=run,
        qrels=qrels,
        threads=options.threads,
        connection=connection,
        by=by,
    )
    groups = {"5 metrics": FIVE} if by else {"40 cut-offs": CUT_OFFS, "40 metrics": FORTY}
    sides: Sides = {
        BARE: partial(
            row_number, run, options.threads, connection, "".join(f"{name}, " for name in by)
        )
    }
    if not by:
        sides[ONE] = partial(ours, ["nDCG@10"], check="off")
    for name, metrics in groups.items():
        sides |= {
            f"{name}, {PLAIN}": partial(ours, metrics, check="off"),
            f"{name}, {CHECKED}": partial(ours, metrics),
        }
    return sides


def compare_with_bare(
    title: str, timings: Mapping[str, Timing], at_most: float
) -> Iterator[Target]:
    print_timings(title, timings, BARE)
    for name in (name for name in timings if name not in {BARE, ONE}):
        yield Target(f"{title}; {name}", divide_medians(timings, name, BARE), at_most=at_most)


def time_many_metrics(options: Namespace) -> Iterator[Target]:
    """Time forty metrics and one, from tables and from Parquet."""
    for kind in KINDS:
        results = []
        for order in ORDERS:
            data = make_dataset(options.large, kind, order)
            with open_connection(options.threads, str(data.make_database())) as connection:
                for place, source in (
                    ("table", ("run", "qrels", connection)),
                    ("Parquet", (data.run, data.qrels, None)),
                ):
                    sides = row_number_sides(options, *source)
                    results.append(run_in_turn(sides, options.repeat))
                    yield from compare_with_bare(
                        f"many: {options.large:,} rows, {kind} {order}, {place}",
                        results[-1],
                        1.25 if kind == "str" else 1.5,
                    )
        check_agreement({}, *results)


def from_parquet(name: str, shape: Shape, at_most: float, options: Namespace) -> Iterator[Target]:
    """Time a shape of data, from Parquet, both kinds of ids in both orders."""
    by = ("system",) if shape.systems > 1 else ()
    for kind in KINDS:
        results = []
        for order in ORDERS:
            data = make_dataset(options.large, kind, order, shape)
            results.append(
                run_in_turn(
                    row_number_sides(options, data.run, data.qrels, None, by), options.repeat
                )
            )
            yield from compare_with_bare(
                f"{name}: {options.large:,} rows, {kind} {order}, Parquet", results[-1], at_most
            )
        check_agreement({}, *results, *([one_system(data, options)] if by else []))


def one_system(data: Dataset, options: Namespace) -> dict[str, Timing]:
    """Return the values of one system evaluated by itself, which are to be those it has among the
    others.
    """
    with open_connection(options.threads) as connection:
        run = connection.sql(
            f"SELECT query_id, doc_id, score FROM read_parquet('{data.run}') WHERE system = 7"
        )
        values = evaluate_rankings(FIVE, run, data.qrels, options.threads, connection=connection)
    return {"system 7 alone": Timing(values={f"{name} 7": value for name, value in values.items()})}


def time_first_documents(options: Namespace) -> Iterator[Target]:
    """Time metrics of the first ten documents, of lists of 100 and of 1,000, beside the plan that
    sorts whole lists.
    """
    for shape, at_most in ((STANDARD, 0.5), (THOUSAND, 0.25)):
        data = make_dataset(options.rows, "str", "shuffled", shape)
        ours = partial(evaluate_rankings, TWO, data.run, data.qrels, options.threads)
        polars = {
            f"Polars, {way}, {engine}": partial(
                with_polars_first, data, engine, by_score=way == "greatest scores"
            )
            for way in ("sorted", "greatest scores")
            for engine in ("streaming", "in-memory")
        }
        sides: Sides = {
            BARE: partial(row_number, data.run, options.threads),
            PLAIN: partial(ours, check="off"),
            CHECKED: ours,
            f"{PLAIN}, rank_method=sort": partial(ours, check="off", plan={"rank_method": "sort"}),
            SORTED: partial(ours, plan={"rank_method": "sort"}),
            **polars,
        }
        title = (
            f"first: {', '.join(TWO)}, {options.rows:,} rows, str shuffled, lists of {shape.docs:,}"
        )
        timings = time_sides(title, sides, options.repeat)
        fastest = min(polars, key=lambda name: timings[name].median)
        for text, name, reference, most in (
            (PLAIN, PLAIN, BARE, at_most),
            (f"{PLAIN}, of the fastest Polars", PLAIN, fastest, 1),
            (f"{CHECKED}, of rank_method=sort", CHECKED, SORTED, 1),
        ):
            yield Target(f"{title}; {text}", divide_medians(timings, name, reference), at_most=most)


def time_answers(options: Namespace) -> Iterator[Target]:
    """Time answers, a row per query, beside the same rows unnested by hand: metrics of the first
    ten documents, each and together, and five of all.
    """
    path = make_answers(options.rows)
    with open_connection(options.threads) as connection:
        connection.execute(f"CREATE TABLE answers AS FROM read_parquet('{path}')")
        for kind, source, table, place in (
            ("Parquet", path, f"read_parquet('{path}')", None),
            ("table", "answers", "answers", connection),
        ):
            rows = {
                "run": (
                    "SELECT query_id, UNNEST(retrieved) AS doc_id, GENERATE_SUBSCRIPTS(retrieved,"
                    f" 1) AS rank FROM {table}"
                ),
                "qrels": (
                    f"SELECT query_id, UNNEST(relevant) AS doc_id, 1 AS relevance FROM {table}"
                ),
                "queries": f"SELECT query_id FROM {table}",
            }
            policies = {"topics": "given", "ties": "rank", "duplicates": "max"}
            for metrics in (*([metric] for metric in AT_TEN), AT_TEN, FIVE):
                ours = partial(
                    evaluate_rankings,
                    metrics,
                    None,
                    None,
                    options.threads,
                    inputs={"answers": source},
                    connection=place,
                )
                sides: Sides = {
                    UNNESTED: partial(
                        evaluate_rankings,
                        metrics,
                        threads=options.threads,
                        **rows,
                        **policies,
                        connection=place,
                    ),
                    CHECKED: ours,
                    PLAIN: partial(ours, check="off"),
                    SORTED: partial(ours, plan={"rank_method": "sort"}),
                }
                title = f"lists: {', '.join(metrics)}, {options.rows:,} documents, str, {kind}"
                timings = time_sides(title, sides, options.repeat)
                ratio = divide_medians(timings, CHECKED, UNNESTED)
                yield Target(f"{title}; {CHECKED}, of {UNNESTED}", ratio, at_most=1 / 3)


def time_memory(options: Namespace) -> Iterator[Target]:
    """Time five metrics over more rows than the limit holds, each in a process of its own."""
    for kind in KINDS:
        make_dataset(options.huge, kind, "shuffled")
        yield from time_memory_limit(
            f"memory: {options.huge:,} rows, {kind} shuffled, Parquet",
            [__file__, "--huge", str(options.huge), "--child", kind],
            "2GB",
            options.repeat,
            most_time=1.3,
        )


SECTIONS: dict[str, Callable[[Namespace], Iterator[Target]]] = {
    "peers": time_peers,
    "many": time_many_metrics,
    "systems": partial(from_parquet, "systems", SYSTEMS, 1.3),
    "long": partial(from_parquet, "long", LONG, 0.6),
    "first": time_first_documents,
    "lists": time_answers,
    "memory": time_memory,
}


def main() -> None:
    options = parse_options(
        __doc__,
        SECTIONS,
        [name for name in SECTIONS if name != "memory"],
        rows=(2_000_000, "rows of peers, first and lists"),
        large=(20_000_000, "rows of many, systems and long"),
        huge=(100_000_000, "rows of memory"),
        threads=(CORES, "threads of each side (memory: 2)"),
        child=([], "ids and limit of a process of memory"),
    )
    if options.child:
        kind, limit = options.child
        data = make_dataset(options.huge, kind, "shuffled")
        evaluate = partial(evaluate_rankings, FIVE, data.run, data.qrels)
        run_child(evaluate, limit, FOLDER / "spill")
        return
    tools = ("pytrec_eval-terrier", "ranx") if "peers" in options.only else ()
    print_introduction(options.threads, ("duckdb", "polars", *tools, "pyarrow", "numpy"))
    print_targets(target for name in options.only for target in SECTIONS[name](options))


if __name__ == "__main__":
    main()
