"""Bounds of metrics: values stay within those of their files under every setting, and intervals are
clipped only where bounds hold.
"""

import math
from itertools import combinations
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError, MetricError
from sqlrank.call.resolve import resolve_request
from sqlrank.charts.result_view import ResultView
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_input_role, value_bounds
from sqlrank.registry.sql_file import Bounds, SqlFile
from tests.engines.data import TABLES
from tests.engines.metric_settings import list_metric_settings
from tests.engines.scenarios import RANKINGS, build_call, scenarios
from tests.tables import build_table
from website.sections import find_section

ROUNDING = 1e-9
GRADES = {
    "binary": [0, 1],
    "graded": [-1, 0, 0, 1, 2, 3, 4],
    "extreme": [-5, 0, 0, 1, 30],
    "all relevant": [1, 2, 3],
}
MAPS = {
    "discount": ["{1: 0.1, 2: 1, 3: 5}", "{1: 1, 2: 0.5, 3: 0.1}"],
    "gain": ["{1: 3, 2: 1.5, 3: 7}", "{1: 5, 2: 1}"],
}
"""Maps of numbers that stand for functions: rising, falling, and neither."""


def draw_graded_lists(grades: list[int], queries: int = 60, seed: int = 4) -> dict[str, pa.Table]:
    """Return short lists with many ties, and judgments of documents in and out of them."""
    rng = np.random.default_rng(seed)
    run = {"query_id": [], "doc_id": [], "score": []}
    qrels = {"query_id": [], "doc_id": [], "relevance": []}
    for query in range(queries):
        for table, last in (
            (run, lambda: float(rng.integers(0, 6))),
            (qrels, lambda: int(rng.choice(grades))),
        ):
            for document in rng.permutation(12)[: rng.integers(1, 10)]:
                for name, value in zip(table, (f"q{query}", f"d{document}", last()), strict=True):
                    table[name].append(value)
    queries_before = [run["query_id"][:place] for place in range(len(run["query_id"]))]
    ranks = [
        before.count(query) + 1
        for before, query in zip(queries_before, run["query_id"], strict=True)
    ]
    return {"run": pa.table({**run, "rank": ranks}), "qrels": pa.table(qrels)}


def evaluate_limits(metric: str, **options: Any) -> tuple[float, float | None, float | None]:
    """Return the value of a metric, and the limits of its interval."""
    (row,) = sqlrank.evaluate(metric, **{"confidence": 0.95, **options}).to_pylist()
    name = next(iter(row))
    return row[name], row[f"{name}.ci_low"], row[f"{name}.ci_high"]


def find_leaving(metrics: list[str], options: dict[str, Any], table: pa.Table) -> list[str]:
    """Return the metrics of which a value leaves the bounds that their files name under their
    settings.
    """
    items = resolve_request(build_call(metrics, options)).metrics
    found = []
    for item in [item for item in items if str(item.metric) in table.column_names]:
        values, bounds = table[str(item.metric)].drop_null().to_numpy(), value_bounds(item)
        if (
            bounds is not None
            and len(values)
            and (values.min() < bounds[0] - ROUNDING or values.max() > bounds[1] + ROUNDING)
        ):
            found.append(str(item.metric))
    return found


# Intervals of settings that leave the bounds


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("AP(precision_at=all_ranks)@10", {}),
        ("nDCG(gain=exp2, ideal=binary_k)@5", {}),
        ("nDCG@5", {"compat": "habr"}),
        ("AR(denominator=min_rk)@10", {}),
        ("AR@10", {"compat": "evalframeworks"}),
        ("nDCG(discount={1: 0.1, 2: 1, 3: 5})@3", {}),
    ],
)
def test_settings_that_leave_the_bounds(metric, options):
    """The interval is as far to either side as Student's at least, and that of the bootstrap is not
    cut at 1.
    """
    data = draw_graded_lists(GRADES["all relevant"])
    value, low, high = evaluate_limits(metric, **data, **options)
    by_t = evaluate_limits(metric, **data, **options, interval="t")
    assert low is not None
    assert high is not None
    assert high - value == pytest.approx(value - low)
    assert low - ROUNDING <= by_t[1] < value < by_t[2] <= high + ROUNDING  # type: ignore[operator]
    drawn = evaluate_limits(metric, **data, **options, interval="bootstrap", replicates=199)
    assert drawn[1] < value < drawn[2]  # type: ignore[operator]
    assert drawn[2] > 1 or by_t[2] < 1  # type: ignore[operator]
    with pytest.raises(
        MetricError,
        match=(
            r"Wilson's interval is for shares, and .* is not always between 0 and 1. Choose"
            r" interval='t'"
        ),
    ):
        evaluate_limits(metric, **data, **options, interval="wilson")


@pytest.mark.slow
def test_the_same_metrics_within_their_bounds():
    """Other values of the same settings are shares as before."""
    data = draw_graded_lists(GRADES["graded"])
    for metric in (
        "AP@10",
        "nDCG(gain=exp2)@5",
        "AR@10",
        "AP(denominator=min_rk)@10",
        "nDCG(discount=zipf)@3",
    ):
        assert evaluate_limits(metric, **data, interval="wilson")[1] > 0


def test_a_metric_says_where_its_bounds_do_not_hold():
    texts = {
        name: load_registry().metrics[name].annotations["Range"]
        for name in ("ap", "ar", "ndcg", "liftquality")
    }
    assert texts == {
        "ap": "0 to 1, but not under precision_at=all_ranks",
        "ar": (
            "0 to 1, but not under denominator=relevant, denominator=min_rk, denominator=hits,"
            " denominator=retrieved"
        ),
        "ndcg": "0 to 1, but not under ideal=binary_k, discount=map",
        "liftquality": "-1 to 1, but not under lift_variant=magnetic_spark",
    }


def test_every_metric_says_its_bounds():
    assert not [
        file.display_name for file in load_registry().metrics.values() if file.bounds is None
    ]


def test_limits_of_a_metric_with_one_bound():
    """Few predictions, of which one is bad: the normal interval of the log loss would begin below
    0, and its chart with it.
    """
    data = build_table(label="1 1 1 0 1", score="0.99 0.98 0.99 0.02 0.001", id=range(5))
    results = {
        interval: evaluate_limits("LogLoss", predictions=data, interval=interval)
        for interval in ("auto", "t")
    }
    assert results["t"][1] < 0 == results["auto"][1] < results["auto"][0]  # type: ignore[operator]
    result = sqlrank.evaluate(["LogLoss", "MAE", "Bias", "R2", "Positives"], predictions=data)
    view = ResultView.from_result(result)
    assert [view.find_range(name) for name in result.column_names] == [
        (0, math.inf),
        (0, math.inf),
        None,
        (-math.inf, 1),
        (0, math.inf),
    ]


# Limits of the bootstrap


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "metric",
    [
        "pAp@5", "PartialAUC@5", "AUC@30", "pAUC@0.2", "PnDCG", "KS", "PRAUC", "AUC", "MCC",
        "FCP(level=group)", "SomersD",
    ],
)  # fmt: skip
def test_bootstrap_limits_are_within_the_bounds(metric):
    """Of a good model of few positives, of which a normal interval would leave them."""
    rng = np.random.default_rng(7)
    positives, rows = (50, 110) if metric == "KS" else (9, 60)  # it has no interval with fewer
    label = (np.arange(rows) < positives).astype(int)
    score = np.clip(rng.normal(0.3 + 0.3 * label, 0.12), 0.001, 0.999)
    data = pa.table({"label": label, "score": score, "id": range(rows)})
    value, low, high = evaluate_limits(
        metric, predictions=data, unit="id", confidence=0.99, interval="bootstrap", replicates=199
    )
    assert low is not None
    assert high is not None
    assert (-1 if metric in {"MCC", "SomersD"} else 0) <= low <= value <= high <= 1


def test_limits_stay_within_what_is_estimated():
    """Estimates of shares may be above 1 by their correction, and their limits are not, unless the
    value is.
    """
    found = Bounds.read(load_registry().metrics["sampledclusterrecall"].annotations["Range"])
    assert found == Bounds(0, 1, (("ratio_estimate", "corrected"),), holds_for_estimand=True)
    records = pa.table(
        {
            "record_id": range(24),
            "predicted_cluster": [f"p{i // 2 if i < 22 else i}" for i in range(24)],
            "true_cluster": [f"t{i // 2}" for i in range(24)],
        }
    )
    value, low, high = evaluate_limits("SampledClusterRecall", inputs={"records": records})
    assert low is not None
    assert low < value < high == 1  # type: ignore[operator]
    by_t = evaluate_limits("SampledClusterRecall", inputs={"records": records}, interval="t")
    assert by_t[2] > 1  # type: ignore[operator]


# Every metric under every setting


def _choose_numbers(file: SqlFile) -> dict[str, list[str]]:
    """Return values of the parameters of a metric: its limits, and some between."""
    found = {}
    for param in file.params.values():
        if param is not file.cutoff_parameter and param.type != "numbers":
            chosen = {
                value
                for value in (param.low, param.high, param.default, 0.5, 1, 3, 10)
                if isinstance(value, (int, float))
            }
            in_range = [
                value
                for value in chosen
                if abs(value) < 1e6
                and (param.low < value or not param.excludes_low)
                and param.low <= value <= param.high
            ]
            found[param.name] = [f"{value:g}" for value in sorted(in_range)]
    return found


def _write_variants(file: SqlFile, settings: dict[str, str]) -> list[str]:
    """Return a metric with settings, at cut-offs if it has one."""
    text = ", ".join(f"{name}={value}" for name, value in settings.items())
    cutoffs = (
        [""]
        if file.cutoff_parameter is None
        else (
            ["@0.3"]
            if file.cutoff_parameter.name != "k"
            else ["@1", "@3", *([""] if file.cutoff_parameter.default is not None else [])]
        )
    )
    return [
        f"{file.display_name}({text}){cutoff}" if text else f"{file.display_name}{cutoff}"
        for cutoff in cutoffs
    ]


def _is_accepted(metric: str) -> bool:
    try:
        resolve_request(build_call(metric, {**RANKINGS, "per_query": True}))
    except MetricError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("kind", GRADES)
def test_rankings_under_every_pair_of_settings(kind):
    files = [
        file
        for file in load_registry().metrics.values()
        if find_input_role(load_registry(), file) == "run"
        and "Range" in file.annotations
        and file.grain == "list"
    ]
    files = [file for file in files if find_section(file) == "ranking"]
    data, checked, left = draw_graded_lists(GRADES[kind]), 0, list[str]()
    for file in files:
        options = {**list_metric_settings(file), **_choose_numbers(file)}
        options = {name: [*values, *MAPS.get(name, [])] for name, values in options.items()}
        single = [{name: value} for name, values in options.items() for value in values]
        pairs = [
            {a: x, b: y}
            for a, b in combinations(options, 2)
            for x in options[a]
            for y in options[b]
        ]
        pairs = pairs[list(GRADES).index(kind) :: len(GRADES)]  # each kind of grades has others
        metrics = [
            metric
            for settings in [{}, *single, *pairs]
            for metric in _write_variants(file, settings)
            if _is_accepted(metric)
        ]
        size = 1 if "stop_probability" in options else 60
        for start in range(0, len(metrics), size):
            some = metrics[start : start + size]
            try:
                table = sqlrank.evaluate(some, per_query=True, **data)
            except InputError as error:
                # Such grades are refused, instead of a value above 1
                assert "probability above 1" in str(error)  # noqa: PT017
                continue
            left += find_leaving(some, {**RANKINGS, "per_query": True}, table)
            checked += len(some)
    assert not left
    assert checked > 200


def _draw_tables(seed: int) -> dict[str, str]:
    """Return the tables of the scenarios with other values, as queries."""

    def drawn(place: int, count: int) -> str:
        return f"CAST(hash(i, {seed}, {place}) % {count} AS BIGINT)"

    grade = [f"{drawn(2, 4)} - 1", f"CASE WHEN {drawn(2, 5)} = 0 THEN 4 ELSE {drawn(3, 2)} END"][
        seed % 2
    ]
    weight = ["1.0::DOUBLE", f"power(10, {drawn(5, 5)})"][seed % 2]
    return {
        **TABLES,
        "run": (
            f"SELECT 'q' || (i // 8) AS query_id, 'd' || (i * 7 % 11) AS doc_id, {drawn(1, 5)} /"
            " 2.0::DOUBLE AS score, i % 8 + 1 AS rank, 's' || (i // 40) AS system FROM range(80)"
            " AS t(i)"
        ),
        "qrels": (
            f"SELECT 'q' || (i // 6) AS query_id, 'd' || (i * 5 % 11) AS doc_id, {grade} AS"
            " relevance FROM range(66) AS t(i)"
        ),
        "probabilities": (
            "SELECT query_id, doc_id, greatest(relevance, 0) / 4 AS relevance FROM qrels"
        ),
        "predictions": (
            "SELECT i % 8 AS shop, 'u' || (i % 7) AS query_id, 'd' || i AS doc_id, i AS rank, CASE"
            f" WHEN {drawn(4, 4)} = 0 THEN 1 ELSE 0 END AS label, {drawn(6, 17)} / 16.0::DOUBLE AS"
            f" score, {weight} AS weight FROM range(140) AS t(i)"
        ),
        "records": (
            "SELECT i AS record_id, i % 3 AS shop, CASE WHEN i % 11 <> 5 THEN 'p' ||"
            f" {drawn(7, 13)} END AS predicted_cluster, CASE WHEN i % 7 <> 3 THEN 't' ||"
            f" {drawn(8, 9)} END AS true_cluster, i % 2 AS source, 'n' || (i % 9) AS name FROM"
            " range(60) AS t(i)"
        ),
        "candidates": (
            f"SELECT i AS left_id, {drawn(9, 60)} AS right_id FROM range(60) AS t(i) WHERE i <>"
            f" {drawn(9, 60)}"
        ),
        "interleaved": (
            "SELECT i // 2 % 4 AS shop, 's' || (i // 2) AS session_id, CASE WHEN i % 2 = 0 THEN"
            f" 'A' ELSE 'B' END AS team, {drawn(10, 3)} AS clicks FROM range(50) AS t(i)"
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_all_families_under_every_setting(seed):
    """The scenarios that every engine is given: each metric under each value of each of its
    settings.
    """
    checked = 0
    with duckdb.connect() as connection:
        for name, query in _draw_tables(seed).items():
            connection.execute(f'CREATE TABLE "{name}" AS {query}')
        for scenario in scenarios():
            if (
                scenario.name == "odd names"
                or "across" in scenario.options
                or not scenario.metrics
                or any(".." in metric for metric in scenario.metrics)
            ):
                continue
            table = scenario.expected(connection)
            assert not find_leaving(
                scenario.metrics, {**scenario.options, "connection": connection}, table
            ), scenario.name
            checked += len(scenario.metrics)
    assert checked > 200
