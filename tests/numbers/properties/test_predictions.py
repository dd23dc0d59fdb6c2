"""Invariances of prediction metrics: row order, threads, strategies, scales, other metrics and
groups.
"""

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sqlrank
from tests.lanes import select_few
from tests.numbers.properties.predictions import (
    DEVIANCES,
    METRICS,
    ON_DUCKDB,
    RANKS,
    SUMS,
    UNWEIGHTED,
    assert_equal,
    change_columns,
    choose_metrics,
    compute_expected,
    evaluate,
    get_predictions,
    open_database,
    select_metrics,
)
from website.sections import group_by_section


def test_every_metric_is_among_them():
    named = {sqlrank.parse(metric).name for metric in [*METRICS, *DEVIANCES]}
    sections = group_by_section()
    assert named == {
        file.full_name for name in ("classification", "regression") for file in sections[name]
    }


@pytest.mark.one_in(4)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "threads"), [("window", 2), ("buckets", 4), ("window", 4), ("distinct", 4)]
)
def test_order_of_rows_and_threads(strategy, threads):
    shuffled = get_predictions().take(
        np.random.default_rng(threads).permutation(get_predictions().num_rows)
    )
    metrics = choose_metrics(strategy)
    got = evaluate(
        metrics,
        shuffled,
        by=[["group"], []],
        plan={"score_order": strategy},
        connection=None,
        threads=threads,
    )
    assert_equal(got, select_metrics(metrics, compute_expected(strategy)))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", select_few(["buckets", "distinct", "auto"], 1))
def test_strategy(strategy):
    assert_equal(compute_expected(strategy), compute_expected("window"))


@pytest.mark.slow
def test_when_equal_scores_are_added_up_does_not_matter():
    assert_equal(
        evaluate(
            METRICS,
            get_predictions(),
            by=[["group"], []],
            plan={"score_order": "buckets", "bucket_aggregation": "before_bucketing"},
        ),
        compute_expected("buckets"),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "scale",
    select_few(
        [
            math.exp,
            lambda s: s * 1e-300,
            lambda s: -math.exp(-s),
            lambda s: 1e300 + 1e299 * s,
            lambda s: math.log(s + 1e-9),
            lambda s: 3 * s - 1,
        ],
        1,
    ),
    ids=["exp", "tiny", "negative", "huge", "log", "across 0"],
)
@pytest.mark.parametrize("strategy", select_few(["window", "buckets"], ("buckets",)))
def test_scores_of_rank_metrics_matter_by_their_order_alone(strategy, scale):
    mapped = change_columns(
        get_predictions(), score=[scale(score) for score in get_predictions()["score"].to_pylist()]
    )
    assert len(set(mapped["score"].to_pylist())) == len(set(get_predictions()["score"].to_pylist()))
    got = evaluate(RANKS, mapped, by=[["group"], []], plan={"score_order": strategy})
    assert_equal(got, select_metrics(RANKS, compute_expected(strategy)))


def scale_weights(factor: float) -> pa.Table:
    return change_columns(
        get_predictions(),
        weight=[factor * weight for weight in get_predictions()["weight"].to_pylist()],
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "factor"),
    [
        *(
            pytest.param("window", factor, marks=pytest.mark.slow)
            for factor in (0.125, 3.0, 1e9, 1e-9)
        ),
        ("distinct", 3.0),
        ("buckets", 1e-9),
    ],
)
def test_scale_of_weights(strategy, factor):
    """Great weights have a test of their own below; the best MCC of weights that sums round has one
    among the definitions.
    """
    metrics = choose_metrics(strategy)
    got = evaluate(
        metrics, scale_weights(factor), by=[["group"], []], plan={"score_order": strategy}
    )
    but = (
        "PnDCG" if factor > 1e6 else "PnDCG@3",
        *(("MCC(criterion",) if factor in {1e9, 1e-9} else ()),
    )
    assert_equal(
        got, select_metrics(metrics, compute_expected(strategy)), but=(*SUMS, *but), tolerance=1e-9
    )
    for row, before in zip(got, compute_expected(strategy), strict=True):
        sums = [name for name in SUMS if name in row]
        assert [row[name] for name in sums] == pytest.approx(
            [factor * before[name] for name in sums], rel=1e-11
        )


def test_pndcg_of_great_weights():
    assert_equal(evaluate(["PnDCG"], scale_weights(1e9)), evaluate(["PnDCG"], get_predictions()))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ON_DUCKDB)
def test_a_row_of_weight_2_is_two_rows(strategy):
    """GAUC counts rows; its other weights are of weights."""
    metrics = [metric for metric in METRICS if not any(name in metric for name in UNWEIGHTED)]
    metrics += ["GAUC(query_weight=weight)", "GAUC(query_weight=positives)", "ECE(bins=7)"]
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 4, get_predictions().num_rows)
    weighted = change_columns(get_predictions(), weight=counts.astype(float))
    repeated = (
        get_predictions()
        .take(np.repeat(np.arange(get_predictions().num_rows), counts))
        .drop_columns(["weight"])
    )
    for plain in [strategy, "rank", "integer_sort"] if strategy == "window" else [strategy]:
        got = evaluate(metrics, repeated, by=[["group"], []], plan={"score_order": plain})
        assert_equal(
            got, evaluate(metrics, weighted, by=[["group"], []], plan={"score_order": strategy})
        )


@pytest.mark.slow
@pytest.mark.parametrize("strategy", select_few(ON_DUCKDB, ("distinct", "integer_sort")))
def test_rows_of_no_weight(strategy):
    """They change nothing but what counts rows: they stand at scores of others, at their own, and
    at either end.
    """
    rng = np.random.default_rng(6)
    n = 150
    score = rng.choice([*get_predictions()["score"].to_pylist()[:40], 0.0, 1.0, 0.123, 0.987], n)
    added = pa.table(
        {
            "label": rng.integers(0, 2, n),
            "score": score,
            "weight": np.zeros(n),
            "query_id": rng.integers(0, 30, n),
            "group": ["left"] * n,
        }
    )
    got = evaluate(
        METRICS,
        pa.concat_tables([get_predictions(), added]),
        by=[["group"], []],
        plan={"score_order": strategy},
    )
    assert_equal(got, compute_expected(strategy), but=("num_predictions", "GAUC"))
    equal = [
        "GAUC(query_weight=equal)",
        "GAUC(query_weight=weight)",
        "GAUC(query_weight=positives)",
    ]
    assert_equal(
        evaluate(
            equal, pa.concat_tables([get_predictions(), added]), plan={"score_order": strategy}
        ),
        evaluate(equal, get_predictions(), plan={"score_order": strategy}),
    )


CURVES = [
    *(
        "PR", "ROC", "Threshold", "Gain", "Lift", "Calibration", "Calibration(bins=3)",
        "Calibration(binning=equal_mass)", "CommonScores",
    ),
    *(
        "PR(points=0)",
        "ROC(points=0)",
        "ROC(curve_spacing=logarithmic)",
        "CommonScores(min_share=0)",
    ),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["window", "distinct", "buckets", "auto"])
def test_curves_have_no_points_of_no_weight(strategy):
    """Bins of equal mass do not count rows of no weight, either."""
    table = get_predictions().slice(0, 60)
    score = [*table["score"].to_pylist()[:5], -0.5, 0.0, 0.123, 0.987, 1.0]
    added = pa.table(
        {
            "label": [0, 1] * 5,
            "score": score,
            "weight": [0.0] * 10,
            "query_id": [0] * 10,
            "group": ["left", "right"] * 5,
        }
    )
    for metric in CURVES:
        if metric.startswith("Calibration"):
            added = added.filter(pc.greater_equal(added["score"], 0))
        for by in ([], ["group"]):
            got = evaluate(
                [metric], pa.concat_tables([table, added]), by=by, plan={"score_order": strategy}
            )
            wanted = evaluate([metric], table, by=by, plan={"score_order": strategy})
            assert got == wanted, metric
            assert len(got) > len(by)


@pytest.mark.one_in(15)
@pytest.mark.parametrize("metric", METRICS)
def test_company_does_not_matter(metric):
    (name,) = sqlrank.evaluate(
        [metric], predictions=get_predictions().slice(0, 1), connection=open_database()
    ).column_names
    got = evaluate(
        [metric], get_predictions(), by=[["group"], []], plan={"score_order": "window"}, check="off"
    )
    assert_equal(
        got, [{key: row[key] for key in ("group", name)} for row in compute_expected("window")]
    )


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ON_DUCKDB)
def test_groups_and_slices_are_those_of_calls_of_their_own(strategy):
    groups = {
        name: get_predictions().filter(pa.compute.equal(get_predictions()["group"], name))
        for name in ("left", "right", "small")
    }
    metrics = choose_metrics(strategy)
    alone = [
        {"group": None, **evaluate(metrics, get_predictions(), plan={"score_order": strategy})[0]}
    ]
    alone += [
        {"group": name, **evaluate(metrics, table, plan={"score_order": strategy})[0]}
        for name, table in groups.items()
    ]
    assert_equal(select_metrics(metrics, compute_expected(strategy)), alone)
    assert_equal(
        evaluate(metrics, get_predictions(), by="group", plan={"score_order": strategy}), alone[1:]
    )


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ON_DUCKDB)
def test_each_query_is_that_of_a_call_of_its_own(strategy):
    metrics = choose_metrics(strategy)
    got = evaluate(metrics, get_predictions(), per_query=True, plan={"score_order": strategy})
    by_hand = evaluate(
        metrics,
        get_predictions()
        .rename_columns(["label", "score", "weight", "q", "group"])
        .append_column("query_id", get_predictions()["query_id"]),
        by="q",
        plan={"score_order": strategy},
    )
    assert_equal(got, [{"query_id": row.pop("q"), **row} for row in by_hand])


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["window", "buckets"])
def test_slices_that_overlap(strategy):
    sets = [["group", "half"], ["half"], ["group"], []]
    table = get_predictions().append_column(
        "half",
        pa.array([None if i % 3 == 0 else bool(i % 2) for i in range(get_predictions().num_rows)]),
    )
    got = evaluate(RANKS, table, by=sets, plan={"score_order": strategy})
    found = []
    for group in sets:
        found += [
            {"group": None, "half": None} | row
            for row in evaluate(RANKS, table, by=group, plan={"score_order": strategy})
        ]
    columns = ("group", "half", "AUC", "TP(threshold_from=best)")
    key = lambda row: tuple((row[name] is not None, str(row[name])) for name in columns)  # noqa: E731
    assert_equal(sorted(got, key=key), sorted(found, key=key))


@pytest.mark.parametrize("strategy", [*ON_DUCKDB, "auto"])
def test_deviances_do_not_change_either(strategy):
    table = change_columns(
        get_predictions(), score=[score + 0.125 for score in get_predictions()["score"].to_pylist()]
    )
    shuffled = table.take(np.random.default_rng(1).permutation(table.num_rows))
    assert_equal(
        evaluate(DEVIANCES, shuffled, by="group", plan={"score_order": strategy}),
        evaluate(DEVIANCES, table, by="group"),
    )
