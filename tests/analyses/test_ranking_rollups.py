"""Rollups of rankings: sums of per-query values by day and slice, every ranking metric from them,
and metrics without one.
"""

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_input_role
from tests.analyses.test_rollups import load_sqlite
from tests.interface.command_line import invoke_command, run_command
from tests.lanes import select_few
from tests.numbers.references.recommendations import draw_world
from tests.tables import build_table

FILES = [
    file
    for file in load_registry().metrics.values()
    if find_input_role(load_registry(), file) == "run" and not file.measures_column
]
CUTS = {
    file: (
        ""
        if file.cutoff_parameter is None
        else "@0.1"
        if file.cutoff_parameter.type == "number"
        else "@3"
    )
    for file in FILES
}
LIST_METRICS = [f"{file.display_name}{cut}" for file, cut in CUTS.items() if file.grain == "list"]
GROUP_METRICS = [f"{file.display_name}{cut}" for file, cut in CUTS.items() if file.grain != "list"]
AGGREGATES = ("mean", "gmean", "sum", "min", "max")
FEW = ["nDCG@5", "AP", "RR", "P(rel=2)@3", "num_q", "num_ret"]


def draw_lists(*, weighted: bool = False) -> dict[str, Any]:
    """Return lists, their judgments, and queries of three days and two countries, one of which is
    NULL.
    """
    drawn = draw_world(3, users=40)
    names = drawn.qrels["query_id"].unique().to_pylist()
    rng = np.random.default_rng(5)
    queries = pa.table(
        {
            "query_id": names,
            "day": rng.integers(1, 4, len(names)),
            "country": rng.choice(np.array(["NL", None], dtype=object), len(names)),
            "cutoff": rng.integers(1, 5, len(names)),
            "text": [f"which film has {name}" for name in names],
            **({"weight": rng.random(len(names))} if weighted else {}),
        }
    )
    grades = pa.array(rng.integers(0, 3, drawn.qrels.num_rows))
    subtopics = pa.array(rng.integers(0, 3, drawn.qrels.num_rows))
    qrels = drawn.qrels.set_column(2, "relevance", grades).append_column("subtopic", subtopics)
    inputs = {name: table for name, table in drawn.inputs.items() if name != "segments"}
    clicks = {
        "rank": [1] * drawn.qrels.num_rows,
        "clicked": rng.integers(0, 2, drawn.qrels.num_rows),
    }
    inputs["clicks"] = pa.table(
        {name: drawn.qrels[name] for name in ("query_id", "doc_id")} | clicks
    )
    texts = [
        f"the first film of {names[place % len(names)]}"
        for place in range(inputs["items"].num_rows)
    ]
    inputs["items"] = inputs["items"].append_column("text", pa.array(texts))
    return {
        "run": drawn.run,
        "qrels": qrels,
        "queries": queries,
        "inputs": inputs,
        "columns": {"features.value": "value"},
    }


def make_rollup(days: Iterable[Iterable[float]]) -> pa.Table:
    """Return a rollup of AP whose values on each day are these: one relevant document at the rank
    that gives the value, if any does.
    """
    runs, judged = [], []
    for day, values in enumerate(days, 1):
        for query, value in enumerate(values):
            key = {"day": day, "query_id": f"q{query}"}
            runs += [
                {**key, "doc_id": f"d{place}", "score": -float(place)} for place in range(1, 11)
            ]
            # A fraction of two: found first, of so many; or found at this rank.
            tens = round(value * 10)
            judged += [
                {**key, "doc_id": f"d{place}", "relevance": 1} for place in range(1, tens + 1)
            ]
            judged += [{**key, "doc_id": f"x{place}", "relevance": 1} for place in range(10 - tens)]
    table = {"run": pa.Table.from_pylist(runs), "qrels": pa.Table.from_pylist(judged)}
    return sqlrank.rollup(["R", "R(aggregate=gmean)"], **table, by="day")


def sum_aggregates(rollup: pa.Table, metric: str) -> dict[str, float]:
    """Return the sums over all days of a rollup of one metric, by statistic: n, total, squares,
    least and greatest.
    """
    start = metric.lower()
    names = [name for name in rollup.column_names if name.partition("_")[2].startswith(f"{start}_")]
    count, total, squares, least, greatest = (rollup[name].to_pylist() for name in names[:5])
    return {
        "n": sum(count),
        "total": sum(total),
        "squares": sum(squares),
        "least": min(least),
        "greatest": max(greatest),
    }


def test_two_days_by_hand():
    """The values .5, 1, 0 of one day and .9, .9 of another: a mean of 0.66, not that of daily
    means, and its standard error.
    """
    rollup = make_rollup([[0.5, 1, 0], [0.9, 0.9]])
    assert sqlrank.evaluate("R", rollup=rollup, by="day")["R"].to_pylist() == pytest.approx(
        [0.5, 0.9], abs=1e-15
    )
    asked = ["R", "R(aggregate=sum)", "R(aggregate=min)", "R(aggregate=max)", "R(aggregate=gmean)"]
    (row,) = sqlrank.evaluate(asked, rollup=rollup).to_pylist()
    values = [0.66, 3.3, 0, 1, math.exp((math.log(0.5 * 0.9 * 0.9) + math.log(1e-5)) / 5)]
    assert row == pytest.approx(
        {**dict(zip(asked, values, strict=True)), "num_days": 2, "num_rows": 5}, abs=1e-14
    )
    sums = sum_aggregates(rollup, "R")
    assert sums == pytest.approx(
        {"n": 5, "total": 3.3, "squares": 2.87, "least": 0, "greatest": 1}, abs=1e-14
    )
    (sure,) = sqlrank.evaluate("R", rollup=rollup, confidence=0.95).to_pylist()
    reach = float(stats.t.ppf(0.975, 4)) * 0.1860107524
    assert [sure[f"R.{name}"] for name in ("ci_low", "ci_high", "se", "n_units")] == pytest.approx(
        [0.66 - reach, 1.0, 0.1860107524, 5], abs=1e-9
    )
    one_each = sqlrank.evaluate("R", rollup=rollup, confidence=0.95, by="day").to_pylist()
    assert [row["R.se"] for row in one_each] == [
        pytest.approx(math.sqrt(0.25 / 3)),
        None,
    ]  # .9 and .9 do not differ
    assert [row["R.n_units"] for row in one_each] == [3, 2]


def test_intervals_are_those_of_the_values_of_lists():
    """Means have Student's interval, and other aggregates have none."""
    asked = ["AP", "nDCG@5", "AP(aggregate=max)", "num_q"]
    each = sqlrank.evaluate(["AP", "nDCG@5"], per_query=True, **draw_lists())
    rollup = sqlrank.rollup(asked, by="day", **draw_lists())
    (row,) = sqlrank.evaluate(asked, rollup=rollup, confidence=0.9).to_pylist()
    for name in ("AP", "nDCG@5"):
        values = each[name].drop_null().to_numpy()
        assert row[f"{name}.se"] == pytest.approx(stats.sem(values), rel=1e-11)
        low, high = stats.t.interval(0.9, len(values) - 1, values.mean(), stats.sem(values))
        assert [row[f"{name}.{end}"] for end in ("ci_low", "ci_high", "n_units")] == pytest.approx(
            [low, high, len(values)], rel=1e-9
        )
    assert {
        row[f"{name}.{end}"] for name in asked[2:] for end in ("ci_low", "ci_high", "se", "n_units")
    } == {None}
    windows = sqlrank.evaluate("AP", rollup=rollup, confidence=0.9, window_days=3).to_pylist()
    assert windows[-1]["AP.se"] == pytest.approx(row["AP.se"], rel=1e-12)


@cache
def build_rollup(*, weighted: bool = False) -> pa.Table:
    """Return the rollup of all metrics that have a value per list, per day and country."""
    return sqlrank.rollup(
        _list_variants(AGGREGATES if not weighted else ("mean", "wmean")),
        by=["day", "country"],
        **draw_lists(weighted=weighted),
    )


def _list_variants(aggregates: Iterable[str]) -> list[str]:
    """Return all metrics, as their files put lists together, and under each of these."""
    named = [
        item.replace("@", f"(aggregate={each})@") if "@" in item else f"{item}(aggregate={each})"
        for item in LIST_METRICS
        for each in aggregates
    ]
    return [*LIST_METRICS, *named]


@pytest.mark.slow
@pytest.mark.parametrize("by", [[], ["day", "country"]])
@pytest.mark.parametrize("weighted", [False, True])
def test_merged_is_direct(by, weighted):
    """Every metric of rankings that has a value per list, under every aggregate that sums give."""
    metrics = _list_variants(AGGREGATES if not weighted else ("mean", "wmean"))
    assert len(metrics) > 150
    found = sqlrank.evaluate(
        metrics, rollup=build_rollup(weighted=weighted), by=by, where="day < 3"
    ).to_pylist()
    direct = sqlrank.evaluate(
        metrics, by=by, where="queries.day < 3", **draw_lists(weighted=weighted)
    ).to_pylist()
    assert len(found) == len(direct) == 1 + 3 * (by != [])
    assert sum(value is None for value in direct[0].values()) < len(metrics) / 10
    for row, expected in zip(found, direct, strict=True):
        for name in [*by, *metrics]:
            assert row[name] == pytest.approx(expected[name], abs=1e-11, rel=1e-11), name


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_few_merged_are_direct(weighted):
    made = sqlrank.rollup(FEW, by=["day", "country"], **draw_lists(weighted=weighted))
    for by in ([], ["country"], ["day"]):
        found = sqlrank.evaluate(FEW, rollup=made, by=by).to_pylist()
        direct = sqlrank.evaluate(FEW, by=by, **draw_lists(weighted=weighted)).to_pylist()
        assert [{name: row[name] for name in [*by, *FEW]} for row in found] == [
            pytest.approx(row, abs=1e-11) for row in direct
        ]
    plain = sqlrank.evaluate("AP(aggregate=mean)", rollup=made)["AP(aggregate=mean)"][0].as_py()
    assert (plain == sqlrank.evaluate("AP", rollup=made)["AP"][0].as_py()) is not weighted


def test_weights_are_found_whatever_the_case_of_names_is():
    """Snowflake has names in capitals."""
    made = sqlrank.rollup("AP", by="day", **draw_lists(weighted=True))
    loud = made.rename_columns([name.upper() for name in made.column_names])
    assert (
        sqlrank.evaluate("AP", rollup=loud).to_pylist()
        == sqlrank.evaluate("AP", rollup=made).to_pylist()
    )


def test_a_metric_is_answered_or_refused_by_its_name():
    assert len(LIST_METRICS) >= 54
    assert len(GROUP_METRICS) >= 11
    for name in GROUP_METRICS:
        with pytest.raises(sqlrank.MetricError) as problem:
            sqlrank.rollup(name, by="day", **draw_lists())
        assert str(problem.value).startswith(f"{name} is computed over all lists together"), name


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    select_few(
        [{"if_undefined": "skip"}, {"if_undefined": "null"}, {"rel": 2}, {"gain": "exp2"}], 2
    ),
)
def test_a_policy_is_part_of_the_value(policy):
    """A rollup that was made under a policy answers under this one, and under no other."""
    metrics = ["nDCG@5", "R@5"]
    if "gain" in policy or "rel" in policy:
        metrics = ["nDCG@5"] if "gain" in policy else ["R@5"]
    made = sqlrank.rollup(metrics, by="day", **draw_lists(), **policy)
    found = sqlrank.evaluate(metrics, rollup=made, **policy).to_pylist()
    (direct,) = sqlrank.evaluate(metrics, **draw_lists(), **policy).to_pylist()
    assert {name: found[0][name] for name in metrics} == pytest.approx(direct, abs=1e-12)
    with pytest.raises(sqlrank.InputError, match="does not have the sums of"):
        sqlrank.evaluate(metrics, rollup=made)


def test_defaults_may_be_written_or_not():
    made = sqlrank.rollup("nDCG@5", by="day", **draw_lists())
    said = sqlrank.evaluate(
        "nDCG(gain=linear, if_undefined=zero, aggregate=mean)@5", rollup=made, ties="doc_desc"
    ).column(0)
    assert said.to_pylist() == sqlrank.evaluate("nDCG@5", rollup=made)["nDCG@5"].to_pylist()


@pytest.mark.slow
def test_the_cutoff_of_each_query():
    made = sqlrank.rollup(["P@cutoff", "P@3"], by="day", **draw_lists())
    (found,) = sqlrank.evaluate(["P@cutoff", "P@3"], rollup=made).to_pylist()
    (direct,) = sqlrank.evaluate(["P@cutoff", "P@3"], **draw_lists()).to_pylist()
    assert {name: found[name] for name in direct} == pytest.approx(direct, abs=1e-12)
    assert direct["P@cutoff"] != direct["P@3"]


def test_a_query_of_two_days_counts_twice():
    run = build_table(day="1 2", query_id="q q", doc_id="d e", score="1.0 1.0")
    made = sqlrank.rollup(
        ["num_q", "P@1"],
        run=run,
        qrels=build_table(query_id="q", doc_id="d", relevance="1"),
        by="day",
    )
    assert sqlrank.evaluate(["num_q", "P@1"], rollup=made).to_pylist() == [
        {"num_q": 2, "P@1": 0.5, "num_days": 2, "num_rows": 2}
    ]


@pytest.mark.slow
def test_several_systems_are_distinguished():
    runs = {"old": draw_lists()["run"], "new": draw_lists()["run"].slice(0, 60)}
    made = sqlrank.rollup("AP", **{**draw_lists(), "run": runs}, by="day")
    found = sqlrank.evaluate("AP", rollup=made, by="system").to_pylist()
    direct = sqlrank.evaluate("AP", **{**draw_lists(), "run": runs}).to_pylist()
    assert sorted((row["system"], row["AP"]) for row in found) == [
        (row["system"], pytest.approx(row["AP"], abs=1e-12))
        for row in sorted(direct, key=lambda row: row["system"])
    ]


def test_run_and_judgments_in_one_table():
    rows = build_table(
        day="1 1 2 2", query_id="a a b b", doc_id="x y x y", score="2 1 2 1", label="0 1 1 0"
    )
    made = sqlrank.rollup("RR", predictions=rows, by="day")
    assert sqlrank.evaluate("RR", rollup=made)["RR"].to_pylist() == [0.75]


@pytest.mark.slow
def test_windows_and_drift():
    """A rollup without bins drifts in its metrics alone: there are no scores of which PSI could
    be.
    """
    made = sqlrank.rollup(["nDCG@5", "num_q"], by="day", **draw_lists())
    rolled = sqlrank.evaluate(["nDCG@5", "num_q"], rollup=made, window_days=2).to_pylist()
    for row in rolled:
        (direct,) = sqlrank.evaluate(
            ["nDCG@5", "num_q"],
            where=f"queries.day BETWEEN {row['day'] - 1} AND {row['day']}",
            **_select_days(row["day"]),
        ).to_pylist()
        assert {name: row[name] for name in direct} == pytest.approx(direct, abs=1e-12)
    moved = sqlrank.drift(
        "nDCG@5", rollup=made, reference="day = 1", current="day = 2", tolerance={"nDCG@5": 1e-6}
    ).to_pylist()
    daily = [row["nDCG@5"] for row in sqlrank.evaluate("nDCG@5", rollup=made, by="day").to_pylist()]
    assert [(row["metric"], row["verdict"]) for row in moved] == [("nDCG@5", "fail")]
    assert (
        moved[0]["difference"]
        == moved[0]["bound_low"]
        == moved[0]["bound_high"]
        == pytest.approx(daily[1] - daily[0], abs=1e-15)
    )


def _select_days(day: int) -> dict[str, Any]:
    """Return the rows of the days of a window alone: a query without a row in the queries table has
    no day.
    """
    held = draw_lists()
    days = dict(
        zip(
            held["queries"]["query_id"].to_pylist(), held["queries"]["day"].to_pylist(), strict=True
        )
    )
    mine = pa.array(
        [days[name] in (day - 1, day) for name in held["qrels"]["query_id"].to_pylist()]
    )
    return {**held, "qrels": held["qrels"].filter(mine)}


@pytest.mark.slow
def test_a_batch_of_lists_is_taken_back():
    # Without clicks, which would decide the queries in place of the judgments
    held = draw_lists()
    held["inputs"] = {name: table for name, table in held["inputs"].items() if name != "clicks"}
    gone = held["qrels"]["query_id"].unique().slice(0, 9)
    mine = pa.compute.is_in(held["qrels"]["query_id"], gone)
    parts = [
        sqlrank.rollup(FEW, by="day", batch="all", **held),
        sqlrank.rollup(
            FEW,
            by="day",
            batch="back",
            retract=True,
            **{**held, "qrels": held["qrels"].filter(mine)},
        ),
    ]
    (left,) = sqlrank.evaluate(FEW, rollup=pa.concat_tables(parts)).to_pylist()
    (direct,) = sqlrank.evaluate(
        FEW, **{**held, "qrels": held["qrels"].filter(pa.compute.invert(mine))}
    ).to_pylist()
    assert {name: left[name] for name in FEW} == pytest.approx(direct, abs=1e-11)
    assert left["num_rows"] == direct["num_q"]


@pytest.mark.slow
def test_another_engine_adds_up():
    made = sqlrank.rollup(
        [*FEW, "AP(aggregate=gmean)"], by=["day", "country"], **draw_lists(weighted=True)
    )
    for by in ([], ["country"]):
        here = sqlrank.evaluate([*FEW, "AP(aggregate=gmean)"], rollup=made, by=by).to_pylist()
        there = sqlrank.evaluate(
            [*FEW, "AP(aggregate=gmean)"],
            rollup="s",
            connection=load_sqlite(made),
            dialect="sqlite",
            by=by,
        ).to_pylist()
        assert there == [pytest.approx(row, abs=1e-12) for row in here]


@pytest.mark.slow
def test_the_statement_makes_the_same_rows():
    held = {
        name: table
        for name, table in draw_lists(weighted=True).items()
        if name in {"run", "qrels", "queries"}
    }
    names = {name: name for name in held}
    duck = duckdb.connect()
    for name, table in held.items():
        duck.register(name, table)
    made = sqlrank.rollup(FEW, by="day", **names, connection=duck).drop_columns("definition_hash")
    text = sqlrank.rollup_sql(FEW, by="queries.day", **names, columns={"weight": "weight"})
    assert duck.sql(text).to_arrow_table().drop_columns("definition_hash").to_pylist() == [
        pytest.approx(row, abs=1e-14) for row in made.to_pylist()
    ]
    script = sqlrank.rollup_sql(
        "AP",
        run="run",
        qrels="qrels",
        by="day",
        dialect="snowflake",
        insert="daily_rollup",
        overwrite_by="day",
        batch="b",
    )
    assert [line for line in script.splitlines() if line.startswith(("DELETE", "INSERT"))] == [
        "DELETE FROM daily_rollup",
        "INSERT INTO daily_rollup (",
    ]


@pytest.mark.slow
def test_a_rollup_is_stored_and_evaluated_by_the_command(tmp_path):
    held = {
        name: table for name, table in draw_lists().items() if name in {"run", "qrels", "queries"}
    }
    for name, table in held.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    paths = [part for name in held for part in (f"--{name}", tmp_path / f"{name}.parquet")]
    stored = invoke_command(
        "rollup",
        "nDCG@5",
        "num_q",
        *paths,
        "--by",
        "day",
        "--db",
        tmp_path / "kept.duckdb",
        "--insert",
        "rollup",
        "--overwrite-by",
        "day",
    )
    assert (stored.exit_code, stored.stderr.splitlines()[0]) == (0, "inserted 3 rows into rollup")
    shown = run_command(
        f"evaluate nDCG@5 num_q --rollup rollup --db {tmp_path}/kept.duckdb --format csv"
    )
    assert shown.splitlines()[0] == "nDCG@5,num_q,num_days,num_rows"
    assert shown.rstrip().endswith(",35.0,3,35")
    model = [
        "--dbt", tmp_path / "daily_rollup.sql", "--begin", "2026-01-01", "--run", "run",
        "--qrels", "qrels", "--by", "day",
    ]  # fmt: skip
    assert invoke_command("rollup", "nDCG@5", *model).exit_code == 0
    text = (tmp_path / "daily_rollup.sql").read_text("utf-8")
    assert "{{ ref('run') }}" in text
    assert "event_time='day'" in text


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "of_buckets", [{}, {"unit": "query_id", "n_buckets": 4}], ids=["lists", "buckets"]
)
def test_weights_of_queries_are_part_of_the_definition(of_buckets):
    predictions = build_table(query_id="1 2", doc_id="x x", score="2.0 1.0", label="1 0")
    plain = build_table(query_id="1 2", day="1 1")
    weighted = plain.append_column("weight", pa.array([1.0, 2.0]))

    def definition(queries, **columns):
        made = sqlrank.rollup(
            "AP", by="day", predictions=predictions, queries=queries, columns=columns, **of_buckets
        )
        (found,) = set(made["definition_hash"].to_pylist())
        return str(found)

    assert definition(weighted) != definition(plain)
    assert definition(weighted, **{"queries.weight": "weight"}) == definition(weighted)
    assert definition(plain, doc_id="doc_id") == definition(plain)


@pytest.mark.slow
def test_which_lists_there_are_is_part_of_the_definition():
    plain = sqlrank.rollup("AP", by="day", **draw_lists())["definition_hash"][0].as_py()
    assert (
        sqlrank.rollup("AP", by="day", **draw_lists(), topics="judged_and_retrieved")[
            "definition_hash"
        ][0].as_py()
        != plain
    )
    assert (
        sqlrank.rollup("AP", by="day", **draw_lists(), topics="clicked", nulls="error")[
            "definition_hash"
        ][0].as_py()
        == plain
    )
    assert (
        sqlrank.rollup("AP(aggregate=mean)", by="day", **draw_lists())["definition_hash"][0].as_py()
        == plain
    )
