"""Invariances of pair metrics, and identities between them."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.numbers.references.pairs_variants import CLASS_METRICS, NUMBER_METRICS


def draw_list(n: int = 3000) -> pa.Table:
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, n)
    return pa.table(
        {
            "label": label,
            "score": np.round(label + rng.normal(size=n), 2),
            "weight": rng.integers(1, 9, n) / 4,
            "g": rng.integers(0, 2, n),
        }
    )


ONE_LIST = [
    metric
    for metric in [*NUMBER_METRICS, *CLASS_METRICS]
    if "level" in metric or sqlrank.parse(metric).name not in {"FCP", "PairAccuracy"}
]


def evaluate_values(
    source: pa.Table, metrics: list[str] = ONE_LIST, **arguments: Any
) -> list[dict[str, Any]]:
    return sqlrank.evaluate(metrics, predictions=source, by="g", **arguments).to_pylist()


def replace_columns(source: pa.Table, **columns: Any) -> pa.Table:
    for name, column in columns.items():
        source = source.set_column(source.column_names.index(name), name, pa.array(column))
    return source


def assert_close(got: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert len(got) == len(expected) > 1
    for one, other in zip(got, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.slow
def test_order_of_rows_threads_and_companions():
    source = draw_list()
    expected = evaluate_values(source)
    shuffled = source.take(np.random.default_rng(9).permutation(source.num_rows))
    assert_close(evaluate_values(shuffled, threads=4), expected)
    assert_close(evaluate_values(source, plan={"pair_counting": "bits"}), expected)
    for metric in ONE_LIST[::4]:
        assert [row[metric] for row in evaluate_values(source, [metric])] == pytest.approx(
            [row[metric] for row in expected], abs=1e-13
        )


@pytest.mark.slow
def test_scores_matter_by_their_order_alone():
    source = draw_list()
    score = source["score"].to_numpy()
    for mapped in (np.exp(score), score**3, 1e200 * score - 5):
        assert_close(
            evaluate_values(replace_columns(source, score=mapped)), evaluate_values(source)
        )
    turned = evaluate_values(
        replace_columns(source, score=-score), ["KendallTau", "SpearmanRho", "SomersD"]
    )
    assert_close(
        [{name: value if name == "g" else -value for name, value in row.items()} for row in turned],
        evaluate_values(source, ["KendallTau", "SpearmanRho", "SomersD"]),
    )


@pytest.mark.slow
def test_scale_of_weights_and_repeated_rows():
    """A weight of 3 is three rows, except for tau-a and the formula of d squared, which have pairs
    within these rows.

    Ranks of WRanking are divided by the weight plus 1, so it has a scale, as cut-offs have.
    """
    source = draw_list()
    free = [
        metric for metric in ONE_LIST if "@" not in metric and not metric.startswith("WRanking")
    ]
    for factor in (1e-6, 3, 1e6):
        assert_close(
            evaluate_values(
                replace_columns(source, weight=factor * source["weight"].to_numpy()), free
            ),
            evaluate_values(source, free),
        )
    times = np.random.default_rng(4).integers(1, 4, source.num_rows)
    repeated = source.take(np.repeat(np.arange(source.num_rows), times)).drop_columns(["weight"])
    same = [
        "KendallTau", "KendallTau(tau=c)", "KendallTau(tau=gamma)", "SomersD", "SpearmanRho",
        "FCP(level=group)",
    ]  # fmt: skip
    same += [metric for metric in ONE_LIST if "@" in metric]
    assert_close(
        evaluate_values(repeated, same),
        evaluate_values(replace_columns(source, weight=times), same),
    )


def test_identities():
    """Of two classes Somers' D is 2 AUC - 1 and pairs are those of AUC; k as large as the list
    leaves AUC.
    """
    source = draw_list()
    metrics = [
        "AUC", "SomersD", "FCP(level=group)", "PairAccuracy(level=group)", "AUC(tie_credit=0)",
        "PartialAUC@99999", "pAp@99999", "AUC@99999",
    ]  # fmt: skip
    for row in evaluate_values(source, metrics):
        area, strict = row["AUC"], row["AUC(tie_credit=0)"]
        expected = [area, 2 * area - 1, area, strict, strict, area, area, area]
        assert list(row.values())[1:] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_no_statement_joins_a_long_list_with_itself():
    """A hundred thousand predictions would be ten billion pairs."""
    rng = np.random.default_rng(1)
    label = rng.normal(size=100_000)
    source = pa.table(
        {
            "label": label,
            "score": label + rng.normal(size=len(label)),
            "weight": np.full(len(label), 0.5),
        }
    )
    got = [
        sqlrank.evaluate(
            ["KendallTau", "FCP(level=group)"], predictions=each, timeout=120
        ).to_pylist()[0]
        for each in (source, source.drop_columns(["weight"]))
    ]
    assert got[0] == pytest.approx(got[1], abs=1e-12)
    assert got[0]["KendallTau"] == pytest.approx(0.5, abs=0.01)
