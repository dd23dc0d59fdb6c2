"""What must not change a number of predictions, how a bucketed order is spread, and what a printed statement may not do."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Callable

RANKS = [
    *(
        "AUC",
        "AUC(tie_credit=0)",
        "Gini",
        "LiftQuality",
        "APS",
        "PRAUC",
        "PRAUC(interpolation=from_one)",
        "PRAUC(interpolation=davis_goadrich)",
    ),
    *("KS", "pAUC@0.3", "pAUC(scaling=raw)@0.05", "Gain@0.2", "Lift@0.7", "GAUC", "GAUC(importance=equal)", "FBeta(cut=best)"),
    *("MCC(cut=best, criterion=mcc)", "YoudenJ(cut=best, criterion=youden)", "Accuracy(cut=best, criterion=accuracy)", "TP(cut=best)"),
]
"""Metrics of the order of the scores alone."""

VALUES = [
    *("LogLoss", "LogLikelihood", "NormalizedLogLoss", "NormalizedEntropy", "Brier", "BrierSkill", "BaseRate", "CalibrationRatio"),
    *(
        "ECE",
        "MCE",
        "ECE(binning=equal_mass)",
        "MCE(binning=equal_mass, bins=3)",
        "PnDCG",
        "PnDCG@3",
        "Positives",
        "Negatives",
        "Observations",
    ),
    *(
        "num_predictions",
        "Precision",
        "Recall",
        "FBeta(beta=2, threshold=0.3)",
        "MCC",
        "LogOdds",
        "ThresholdUsed",
        "TN",
        "FN",
        "FP",
        "FPR",
        "FNR",
    ),
    *("Specificity", "NPV", "BalancedAccuracy", "Bias", "MAE", "MSE", "RMSE", "R2", "ExplainedVariance", "sMAPE", "MAPE(eps=1)"),
]
DEVIANCES = ["PoissonDeviance", "TweedieDeviance"]
METRICS = [*RANKS, *VALUES]
STRATEGIES = ("window", "grouped", "bucketed")
SUMS = ("LogLikelihood", "Positives", "Negatives", "Observations", "TP(cut=best)", "TN", "FN", "FP")
UNWEIGHTED = ("num_predictions", "GAUC", "binning=equal_mass")
"""What counts rows, whatever they weigh."""


@cache
def database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def drawn(seed: int, n: int = 400) -> pa.Table:
    """Draw predictions with many ties in groups of very different sizes, some of one class; weights are sums of eighths."""
    rng = np.random.default_rng(seed)
    score = np.where(rng.random(n) < 0.5, rng.integers(0, 9, n) / 8, rng.random(n))
    group = np.where(rng.random(n) < 0.05, "small", np.where(rng.random(n) < 0.5, "left", "right"))
    label = (rng.random(n) < 0.2 + 0.5 * score).astype(int)
    label[group == "small"] = 0
    return pa.table(
        {"label": label, "score": score, "weight": rng.integers(1, 25, n) / 8, "query_id": rng.integers(0, 30, n), "group": group}
    )


@cache
def data() -> pa.Table:
    return drawn(11)


def evaluate(metrics: list[str], table: pa.Table, **arguments: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = sqlrank.evaluate(metrics, predictions=table, **({"connection": database()} | arguments)).to_pylist()
    return rows


@cache
def expected(strategy: str) -> list[dict[str, Any]]:
    return evaluate(METRICS, data(), by=[["group"], []], strategy=strategy)


def assert_equal(got: list[dict[str, Any]], wanted: list[dict[str, Any]], but: tuple[str, ...] = (), tolerance: float = 1e-12) -> None:
    """Compare row by row, but not what contains one of these names."""
    assert len(got) == len(wanted)
    wrong = []
    for one, other in zip(got, wanted, strict=True):
        assert one.keys() == other.keys()
        for name, value in other.items():
            if any(part in name for part in but):
                continue
            have = one[name]
            is_same = (
                have == value
                if not isinstance(value, float) or have is None
                else math.isclose(have, value, rel_tol=tolerance, abs_tol=tolerance)
            )
            if not is_same:
                wrong.append((name, have, value))
    assert not wrong, wrong[:5]


def reading(strategy: str) -> list[str]:
    """Return what a strategy bears on; all metrics for one of them."""
    return METRICS if strategy == "window" else RANKS


def chosen(metrics: list[str], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = {"group", *(str(sqlrank.parse(metric)) for metric in metrics)}
    return [{name: value for name, value in row.items() if name in names} for row in rows]


def changed(table: pa.Table, **columns: Any) -> pa.Table:
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return table


def test_every_metric_is_among_them() -> None:
    named = {sqlrank.parse(metric).name for metric in [*METRICS, *DEVIANCES]}
    assert named == {row["name"] for row in sqlrank.metrics().to_pylist() if row["family"] in {"classification", "regression"}}


@pytest.mark.parametrize(("strategy", "threads"), [("window", 2), ("window", 4), ("grouped", 4), ("bucketed", 4)])
def test_order_of_rows_and_threads(strategy: str, threads: int) -> None:
    shuffled = data().take(np.random.default_rng(threads).permutation(data().num_rows))
    metrics = reading(strategy)
    got = evaluate(metrics, shuffled, by=[["group"], []], strategy=strategy, connection=None, threads=threads)
    assert_equal(got, chosen(metrics, expected(strategy)))


@pytest.mark.parametrize("strategy", ["grouped", "bucketed", "auto"])
def test_strategy(strategy: str) -> None:
    assert_equal(expected(strategy), expected("window"))


def test_when_equal_scores_are_added_up_does_not_matter() -> None:
    assert_equal(evaluate(METRICS, data(), by=[["group"], []], strategy="bucketed", merging="early"), expected("bucketed"))


@pytest.mark.parametrize(
    "scale",
    [
        math.exp,
        lambda s: s * 1e-300,
        lambda s: -math.exp(-s),
        lambda s: 1e300 + 1e299 * s,
        lambda s: math.log(s + 1e-9),
        lambda s: 3 * s - 1,
    ],
    ids=["exp", "tiny", "negative", "huge", "log", "across 0"],
)
@pytest.mark.parametrize("strategy", ["window", "bucketed"])
def test_scores_of_rank_metrics_matter_by_their_order_alone(strategy: str, scale: Callable[[float], float]) -> None:
    mapped = changed(data(), score=[scale(score) for score in data()["score"].to_pylist()])
    assert len(set(mapped["score"].to_pylist())) == len(set(data()["score"].to_pylist()))
    got = evaluate(RANKS, mapped, by=[["group"], []], strategy=strategy)
    assert_equal(got, chosen(RANKS, expected(strategy)))


def scaled(factor: float) -> pa.Table:
    return changed(data(), weight=[factor * weight for weight in data()["weight"].to_pylist()])


@pytest.mark.parametrize(
    ("strategy", "factor"), [("window", 0.125), ("window", 3.0), ("window", 1e9), ("window", 1e-9), ("grouped", 3.0), ("bucketed", 1e-9)]
)
def test_scale_of_weights(strategy: str, factor: float) -> None:
    """Great weights have a test of their own below; the best MCC of weights that sums round has one among the definitions."""
    metrics = reading(strategy)
    got = evaluate(metrics, scaled(factor), by=[["group"], []], strategy=strategy)
    but = ("PnDCG" if factor > 1e6 else "PnDCG@3", *(("MCC(criterion",) if factor in {1e9, 1e-9} else ()))
    assert_equal(got, chosen(metrics, expected(strategy)), but=(*SUMS, *but), tolerance=1e-9)
    for row, before in zip(got, expected(strategy), strict=True):
        sums = [name for name in SUMS if name in row]
        assert [row[name] for name in sums] == pytest.approx([factor * before[name] for name in sums], rel=1e-11)


def test_pndcg_of_great_weights() -> None:
    assert_equal(evaluate(["PnDCG"], scaled(1e9)), evaluate(["PnDCG"], data()))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_row_of_weight_2_is_two_rows(strategy: str) -> None:
    """GAUC counts rows; its other weights are of weights."""
    metrics = [metric for metric in METRICS if not any(name in metric for name in UNWEIGHTED)]
    metrics += ["GAUC(importance=weight)", "GAUC(importance=positives)", "ECE(bins=7)"]
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 4, data().num_rows)
    weighted = changed(data(), weight=counts.astype(float))
    repeated = data().take(np.repeat(np.arange(data().num_rows), counts)).drop_columns(["weight"])
    for plain in [strategy, "ranked"] if strategy == "window" else [strategy]:
        got = evaluate(metrics, repeated, by=[["group"], []], strategy=plain)
        assert_equal(got, evaluate(metrics, weighted, by=[["group"], []], strategy=strategy))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rows_of_no_weight(strategy: str) -> None:
    """They change nothing but what counts rows: they stand at scores of others, at their own, and at either end."""
    rng = np.random.default_rng(6)
    n = 150
    score = rng.choice([*data()["score"].to_pylist()[:40], 0.0, 1.0, 0.123, 0.987], n)
    added = pa.table(
        {"label": rng.integers(0, 2, n), "score": score, "weight": np.zeros(n), "query_id": rng.integers(0, 30, n), "group": ["left"] * n}
    )
    got = evaluate(METRICS, pa.concat_tables([data(), added]), by=[["group"], []], strategy=strategy)
    assert_equal(got, expected(strategy), but=("num_predictions", "binning=equal_mass", "GAUC"))
    equal = ["GAUC(importance=equal)", "GAUC(importance=weight)", "GAUC(importance=positives)"]
    assert_equal(evaluate(equal, pa.concat_tables([data(), added]), strategy=strategy), evaluate(equal, data(), strategy=strategy))


@pytest.mark.parametrize("metric", METRICS)
def test_company_does_not_matter(metric: str) -> None:
    (name,) = sqlrank.evaluate([metric], predictions=data().slice(0, 1), connection=database()).column_names
    got = evaluate([metric], data(), by=[["group"], []], strategy="window", check="off")
    assert_equal(got, [{key: row[key] for key in ("group", name)} for row in expected("window")])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_groups_and_slices_are_those_of_calls_of_their_own(strategy: str) -> None:
    groups = {name: data().filter(pa.compute.equal(data()["group"], name)) for name in ("left", "right", "small")}
    metrics = reading(strategy)
    alone = [{"group": None, **evaluate(metrics, data(), strategy=strategy)[0]}]
    alone += [{"group": name, **evaluate(metrics, table, strategy=strategy)[0]} for name, table in groups.items()]
    assert_equal(chosen(metrics, expected(strategy)), alone)
    assert_equal(evaluate(metrics, data(), by="group", strategy=strategy), alone[1:])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_query_is_that_of_a_call_of_its_own(strategy: str) -> None:
    metrics = reading(strategy)
    got = evaluate(metrics, data(), per_query=True, strategy=strategy)
    by_hand = evaluate(
        metrics,
        data().rename_columns(["label", "score", "weight", "q", "group"]).append_column("query_id", data()["query_id"]),
        by="q",
        strategy=strategy,
    )
    assert_equal(got, [{"query_id": row.pop("q"), **row} for row in by_hand])


@pytest.mark.parametrize("strategy", ["window", "bucketed"])
def test_slices_that_overlap(strategy: str) -> None:
    sets = [["group", "half"], ["half"], ["group"], []]
    table = data().append_column("half", pa.array([None if i % 3 == 0 else bool(i % 2) for i in range(data().num_rows)]))
    got = evaluate(RANKS, table, by=sets, strategy=strategy)
    found = []
    for group in sets:
        found += [{"group": None, "half": None} | row for row in evaluate(RANKS, table, by=group, strategy=strategy)]
    key = lambda row: tuple((value is not None, str(value)) for value in (row["group"], row["half"], row["AUC"], row["TP(cut=best)"]))  # noqa: E731
    assert_equal(sorted(got, key=key), sorted(found, key=key))


@pytest.mark.parametrize("strategy", [*STRATEGIES, "auto"])
def test_deviances_do_not_change_either(strategy: str) -> None:
    table = changed(data(), score=[score + 0.125 for score in data()["score"].to_pylist()])
    shuffled = table.take(np.random.default_rng(1).permutation(table.num_rows))
    assert_equal(evaluate(DEVIANCES, shuffled, by="group", strategy=strategy), evaluate(DEVIANCES, table, by="group"))


# Any predictions

ROW = st.tuples(
    st.integers(0, 1),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 5e-324, 1 - 2**-53]) | st.floats(0, 1),
    st.sampled_from([0.0, 0.5, 1.0, 2.0, 1024.0]),
    st.integers(0, 2),
)
ANY = settings(
    max_examples=8, deadline=None, derandomize=True, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck)
)


def of(rows: list[tuple[int, float, float, int]], **columns: list[Any]) -> pa.Table:
    label, score, weight, query = (list(column) for column in zip(*rows, strict=True))
    return pa.table({"label": label, "score": score, "weight": weight, "query_id": query, **columns})


QUICK = [
    "AUC",
    "APS",
    "PRAUC",
    "PRAUC(interpolation=davis_goadrich)",
    "KS",
    "pAUC@0.3",
    "Gain@0.4",
    "GAUC(importance=weight)",
    "FBeta(cut=best)",
]


@ANY
@given(st.lists(ROW, min_size=1, max_size=25))
def test_strategies_on_any_predictions(rows: list[tuple[int, float, float, int]]) -> None:
    wanted = evaluate(QUICK, of(rows), strategy="grouped")
    for strategy in ("window", "bucketed"):
        assert_equal(evaluate(QUICK, of(rows), strategy=strategy), wanted)


@ANY
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=25), st.randoms(use_true_random=False))
def test_strategies_on_scores_of_any_size(scores: list[float], rng: Any) -> None:
    table = of([(rng.randint(0, 1), score, 1.0, 0) for score in scores])
    wanted = evaluate(["AUC", "APS", "KS"], table, strategy="grouped")
    for strategy in ("window", "bucketed"):
        assert_equal(evaluate(["AUC", "APS", "KS"], table, strategy=strategy), wanted)


@ANY
@given(st.lists(ROW, min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_bounds(rows: list[tuple[int, float, float, int]], rng: Any) -> None:
    """The order of tied rows moves the area between no and full credit for ties, and what is a share stays one."""
    rank = list(range(len(rows)))
    rng.shuffle(rank)
    table = of(rows, rank=rank)
    metrics = ["AUC(tie_credit=0)", "AUC", "AUC(tie_credit=1)"]
    low, middle, high = evaluate(metrics, table)[0].values()
    (by_row,) = evaluate(["AUC"], table, ties="row_order")[0].values()
    if middle is None:
        assert (low, high, by_row) == (None, None, None)
        return
    assert middle == pytest.approx((low + high) / 2, abs=1e-12)
    assert -1e-12 <= low <= by_row + 1e-12 <= high + 2e-12 <= 1 + 3e-12
    shares = evaluate(["APS", "PRAUC", "KS", "Gain@0.3", "pAUC(scaling=ratio)@0.2", "PnDCG", "FBeta(cut=best)"], table)[0]
    assert all(value is None or -1e-12 <= value <= 1 + 1e-12 for value in shares.values())


@ANY
@given(st.lists(ROW, min_size=2, max_size=25))
def test_turning_the_scores_round(rows: list[tuple[int, float, float, int]]) -> None:
    """The area of the negated scores is what is missing to 1; so it is for swapped classes."""
    table = of(rows)
    (area,) = evaluate(["AUC"], table)[0].values()
    (turned,) = evaluate(["AUC"], changed(table, score=[-score for score in table["score"].to_pylist()]))[0].values()
    (swapped,) = evaluate(["AUC"], changed(table, label=[1 - label for label in table["label"].to_pylist()]))[0].values()
    if area is None:
        assert (turned, swapped) == (None, None)
    else:
        assert (turned, swapped) == pytest.approx((1 - area, 1 - area), abs=1e-12)


# How a bucketed order is spread

ROWS = 200_000
SPREADS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "beta": lambda rng: rng.beta(0.1, 20, ROWS),
    "uniform": lambda rng: rng.random(ROWS),
    "one value": lambda rng: np.where(rng.random(ROWS) < 0.99, 0.37, rng.random(ROWS)),
    "near 1": lambda rng: 1 - rng.beta(0.1, 20, ROWS),
    "logits": lambda rng: rng.normal(0, 5, ROWS),
    "times": lambda rng: 1.7e9 + rng.integers(0, 10**6, ROWS),
    "a pile": lambda rng: np.where(rng.random(ROWS) < 0.999, 0.5 + 1e-9 * rng.random(ROWS), rng.random(ROWS)),
    "a pile among near ones": lambda rng: 0.5 + np.where(rng.random(ROWS) < 0.999, 1e-9, 1e-5) * rng.random(ROWS),
    "outliers": lambda rng: np.where(rng.random(ROWS) < 0.999, rng.random(ROWS), 1e30 * rng.normal(0, 1, ROWS)),
}


@pytest.mark.parametrize("merging", ["late", "early"])
@pytest.mark.parametrize("spread", SPREADS)
def test_no_bucket_is_large(spread: str, merging: str) -> None:
    """No bucket in which there is something to order holds 1 % of the rows, unless they all have one score."""
    rng = np.random.default_rng(8)
    table = pa.table({"label": (rng.random(ROWS) < 0.1).astype(int), "score": SPREADS[spread](rng)})
    with duckdb.connect() as connection:
        connection.register("p", table)
        text = sqlrank.sql("AUC", predictions="p", connection=connection, strategy="bucketed", merging=merging)
        statement = sqlglot.parse_one(text, read="duckdb")
        counted = (
            exp.select("bucket", "SUM(tied_rows) AS bucket_rows", "COUNT(DISTINCT score) AS scores", "SUM(positives) AS positives")
            .from_("placed")
            .group_by("bucket")
        )
        for cte in statement.ctes:
            counted = counted.with_(cte.alias, as_=cte.this)
        found = connection.sql(counted.sql("duckdb")).fetchall()
        expected_auc = evaluate(["AUC"], table, strategy="grouped")[0]["AUC"]
        assert connection.sql(text).fetchall()[0][0] == pytest.approx(expected_auc, abs=1e-12)
    assert sum(row[1] for row in found) == ROWS
    assert max(scores for _, _, scores, positives in found if positives) <= ROWS / 100
    assert all(rows < ROWS / 100 or scores == 1 for _, rows, scores, positives in found if positives)


# What a printed statement may not do

ROW_LIKE = ("score", "threshold")
"""Columns of which there may be as many different values as rows, so that grouping by them makes few rows of many only by luck."""


def is_of_rows(query: exp.Expr, ctes: dict[str, exp.Expr]) -> bool:
    """Whether a query may return as many rows as there are predictions."""
    if isinstance(query, exp.Union):
        return is_of_rows(query.left, ctes) or is_of_rows(query.right, ctes)
    group = query.args.get("group")
    if group is not None and not any(column.name in ROW_LIKE for column in group.expressions):
        return False
    if group is None and query.selects and all(column.find(exp.AggFunc) and not column.find(exp.Window) for column in query.selects):
        return False
    return reads_rows(query, ctes)


def reads_rows(query: exp.Expr, ctes: dict[str, exp.Expr]) -> bool:
    clauses = [query.args.get("from_"), *(query.args.get("joins") or [])]
    for clause in clauses:
        source = clause.this if clause is not None else None
        if isinstance(source, exp.Subquery) and is_of_rows(source.this, ctes):
            return True
        if isinstance(source, exp.Table) and (source.name == "p" or (source.name in ctes and is_of_rows(ctes[source.name], ctes))):
            return True
    return False


def global_windows(metric: str, dialect: str = "bigquery", **arguments: Any) -> list[str]:
    """Return the windows over rows of the predictions that are the work of one machine."""
    text = sqlrank.sql(metric, dialect=dialect, predictions="p", **{"numbering": "numbered", **arguments})
    tree = sqlglot.parse_one(text, read=dialect)
    ctes = {cte.alias: cte.this for cte in tree.ctes}
    windows = [window for window in tree.find_all(exp.Window) if not window.args.get("partition_by")]
    return [window.sql(dialect) for window in windows if reads_rows(window.parent_select, ctes)]


@pytest.mark.parametrize("metric", [*METRICS, *DEVIANCES])
def test_no_window_over_rows_is_global(metric: str) -> None:
    for weighted in ({}, {"columns": {"weight": "w"}}):
        assert not global_windows(metric, **weighted)


WAREHOUSES = ("bigquery", "snowflake", "spark", "databricks", "trino", "clickhouse", "postgres", "redshift", "datafusion", "sqlite")


@pytest.mark.parametrize("dialect", WAREHOUSES)
def test_a_printed_statement_reads_no_column_that_was_not_named(dialect: str) -> None:
    text = sqlrank.sql(["AUC", "ECE", "PnDCG", "R2"], dialect=dialect, predictions="p", by="day")
    tree = sqlglot.parse_one(text, read=dialect if dialect != "datafusion" else "postgres")
    assert "query_id" not in {column.name for column in tree.find_all(exp.Column)}


def on_sqlite(metrics: list[str], **arguments: Any) -> list[dict[str, Any]]:
    """Run the statement for SQLite there."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE p (label, score, weight, query_id, kind)")
        connection.executemany("INSERT INTO p VALUES (?, ?, ?, ?, ?)", [tuple(row.values()) for row in data().to_pylist()])
        text = sqlrank.sql(metrics, dialect="sqlite", predictions="p", columns={"weight": "weight"}, by=[["kind"], []], **arguments)
        rows = connection.execute(text).fetchall()
    return [dict(zip(["group", *metrics], row, strict=True)) for row in rows]


CANONICAL = [str(sqlrank.parse(metric)) for metric in METRICS]


@pytest.mark.parametrize("numbering", ["numbered", "plain"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sqlite(strategy: str, numbering: str) -> None:
    assert_equal(on_sqlite(CANONICAL, strategy=strategy, numbering=numbering), expected(strategy), tolerance=1e-11)


def test_gauc_of_groups_on_sqlite() -> None:
    """Here the column is there, so that nothing says that the groups are taken for one another."""
    got = on_sqlite(["GAUC", "num_predictions"])
    assert_equal(got, [{name: row[name] for name in got[0]} for row in expected("window")])


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "databricks", "trino"])
def test_no_warehouse_is_given_a_window_over_all_rows(dialect: str) -> None:
    metric = "AUC"
    assert not global_windows(metric, dialect)
    assert global_windows(metric, dialect, strategy="window")
    assert global_windows(metric, dialect, strategy="grouped")


def test_the_statement_says_which_strategy_was_taken() -> None:
    assert "strategy: bucketed" in sqlrank.sql("AUC", dialect="bigquery", predictions="p")
    few = pa.table({"label": [0, 1] * 500, "score": [0.1, 0.9] * 500})
    many = pa.table({"label": [0, 1] * 500, "score": np.arange(1000) / 1000})
    taken = {}
    for name, table in (("few", few), ("many", many), ("weighted", many.append_column("weight", pa.array([2.0] * 1000)))):
        taken[name] = sqlrank.evaluate("AUC", predictions=table).schema.metadata[b"sqlrank.strategy"].decode()
    assert taken == {"few": "grouped", "many": "ranked", "weighted": "carried"}


def test_the_printed_statement_runs() -> None:
    with duckdb.connect() as connection:
        connection.register("p", data())
        for strategy in STRATEGIES:
            text = sqlrank.sql(METRICS, predictions="p", columns={"weight": "weight"}, by=[["group"], []], strategy=strategy)
            rows = connection.sql(text).fetchall()
            assert_equal([dict(zip(expected(strategy)[0], row, strict=True)) for row in rows], expected(strategy))
