"""Learned weights: losses compared with zero weights, initial weights, logistic regression against
scikit-learn, merged models.
"""

import json
import warnings

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sqlrank.errors import InputError
from sqlrank.learn import fit, merge_weights, scoring_sql
from tests.analyses.test_learn import DATA, NAMES, read_weights, to_arrays, to_wide
from tests.numbers.references import surrogates_reference as reference
from tests.tables import build_table

pytestmark = pytest.mark.filterwarnings("ignore:the descent")  # most take few steps


def test_a_loss_that_is_not_below_that_of_zero_weights():
    """Zero weights are the optimum where the positive is between negatives: every direction puts
    one of them above it.
    """
    between = build_table(
        label="1 0 0 1 0 0", shop=[*"aaabbb"], features=[[0.0], [1.0], [-1.0], [2.0], [1.0], [0.0]]
    )
    with pytest.warns(UserWarning, match="the least loss found") as caught:
        weights = fit(
            between,
            k=1,
            by="shop",
            l2=0,
            learning_rate=0.5,
            max_iter=3,
            start=build_table(shop="b a", feature="1 1", weight="0.0 0.5"),
        )
    (warning,) = caught
    assert (
        str(warning.message)
        == "the least loss found for {'shop': 'a'}, 1.5, is not below that of zero weights, 1 (1 of"
        " 2 models), so that no weights found are better than none. k=1 may be too small for"
        " these features: train surrogate='logistic' instead, raise k=, or change learning_rate="
        " or max_iter="
    )
    losses = json.loads(weights.schema.metadata[b"sqlrank.losses"])
    assert [loss["model"] for loss in losses] == [{"shop": "a"}, {"shop": "b"}]
    assert [loss["loss_of_zero_weights"] for loss in losses] == [1, 1]
    assert losses[0]["loss"] >= 1 > losses[1]["loss"]
    values, label = np.array([2.0, 1, 0]), np.array([1, 0, 0])
    own = weights["weight"].to_pylist()[1]
    assert losses[1]["loss"] == pytest.approx(
        reference.surrogate("avg", own * values[label == 1], own * values[label == 0], 1)
    )


@pytest.mark.filterwarnings("error")
def test_a_descent_that_has_not_come_to_an_end():
    """The last tenth of ten steps takes a ninth of the fall of the loss, that of 100 longer ones
    hardly anything.
    """
    examples = pa.table(
        {
            "label": [1, 0, 1, 0] * 2,
            "shop": [*"aaaabbbb"],
            "features": [[2.0], [1.0], [-1.0], [-2.0]] * 2,
        }
    )
    options = {"surrogate": "logistic", "learning_rate": 0.05, "by": "shop"}
    with pytest.warns(UserWarning, match="the descent") as caught:
        fit(examples, max_iter=10, **options)
    (warning,) = caught
    assert str(warning.message) == (
        "the descent for {'shop': 'a'} has not come to an end (2 of 2 models): 0.11 of the fall of"
        " the loss, from that of zero weights, is of the last tenth of the steps. Raise max_iter="
        " or learning_rate=, or go on from these weights with start="
    )
    weights = fit(examples, max_iter=100, **(options | {"learning_rate": 2}))
    for losses in json.loads(weights.schema.metadata[b"sqlrank.losses"]):
        assert 0 <= losses["loss_of_early_steps"] - losses["loss"] < 1e-3


@pytest.mark.slow
def test_training_starts_from_given_weights(tmp_path):
    """A first step of no length returns the start, from a table or from a file, for each model and
    feature in any order.
    """
    both = pa.concat_tables(
        [to_wide().append_column("shop", pa.array([shop] * 300)) for shop in "ab"]
    )
    rows = [
        (shop, name, 1.0 + 10 * number)
        for shop in "ba"
        for number, name in enumerate(reversed(NAMES))
    ]
    start = pa.table(dict(zip(["shop", "feature", "weight"], zip(*rows, strict=True), strict=True)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = fit(
            both,
            k=3,
            by="shop",
            columns={"features": NAMES},
            start=start,
            learning_rate=1e-12,
            l2=0,
            max_iter=1,
        )
        pq.write_table(got, tmp_path / "weights.parquet")
        again = fit(
            both,
            k=3,
            by="shop",
            columns={"features": NAMES},
            start=str(tmp_path / "weights.parquet"),
            learning_rate=1e-12,
            l2=0,
            max_iter=1,
        )
    assert got["weight"].to_pylist() == pytest.approx([21, 11, 1, 21, 11, 1])
    assert again["weight"].to_pylist() == pytest.approx(got["weight"].to_pylist())
    with pytest.raises(
        InputError,
        match=(
            r"start: there are weights for {'shop': 'b'}, of which there are no examples. Leave"
            r" them out"
        ),
    ):
        fit(both.slice(0, 300), k=3, by="shop", columns={"features": NAMES}, start=start)
    with pytest.raises(InputError, match=r"feature 'f1' for {'shop': 'b'} has no weight"):
        fit(both, k=3, by="shop", columns={"features": NAMES}, start=start.slice(3))


@pytest.mark.slow
def test_weights_of_examples_count_as_rows():
    """Logistic regression on weighted rows is that on repeated ones; weights of 0, however many,
    change nothing.
    """
    counts = np.random.default_rng(5).integers(0, 4, len(DATA["label"]))
    weighted = to_arrays().append_column("weight", pa.array(counts * 1e12))
    repeated = to_arrays().take(np.repeat(np.arange(len(counts)), counts))
    got, expected = (
        fit(rows, surrogate="logistic", learning_rate=5, max_iter=5)
        for rows in (weighted, repeated)
    )
    assert read_weights(got) == pytest.approx(read_weights(expected))
    signed = (2 * DATA["label"] - 1) * (DATA["features"] @ read_weights(got))
    loss = (
        np.average(np.log1p(np.exp(-signed)), weights=counts)
        + 0.01 / 2 * (read_weights(got) ** 2).sum()
    )
    (losses,) = json.loads(got.schema.metadata[b"sqlrank.losses"])
    assert losses["loss_of_early_steps"] is None  # of five steps there is no tenth
    assert losses["loss"] == pytest.approx(loss)
    assert losses["loss_of_zero_weights"] == pytest.approx(np.log(2))
    for weight, message in (
        (-1.0, "300 rows: weight is negative"),
        (0.0, "there are not both positives and negatives"),
        (None, "weight is NULL"),
    ):
        with pytest.raises(InputError, match=message):
            fit(
                to_arrays().append_column("weight", pa.array([weight] * 300, pa.float64())),
                surrogate="logistic",
            )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
def test_logistic_regression_is_that_of_scikit_learn(name):
    """Standardised features with a constant; the penalty of scikit-learn is 1 / (2 C) of the sum of
    losses, ours l2 / 2 of the mean.
    """
    from sklearn import datasets, linear_model

    values, target = getattr(datasets, f"load_{name}")(return_X_y=True)
    label = (target == 1).astype(int)
    values = np.column_stack(
        [(values - values.mean(axis=0)) / values.std(axis=0), np.ones(len(label))]
    )
    weight = np.random.default_rng(6).uniform(0.5, 2, len(label))
    examples = pa.table({"label": label, "weight": weight, "features": values.tolist()})
    l2 = 0.1
    got = fit(examples, surrogate="logistic", l2=l2, learning_rate=5, max_iter=600)
    model = linear_model.LogisticRegression(
        C=1 / (weight.sum() * l2), fit_intercept=False, tol=1e-10, max_iter=10_000
    )
    assert read_weights(got) == pytest.approx(model.fit(values, label, weight).coef_[0], abs=1e-4)
    with duckdb.connect() as database:
        database.register("rows", examples)
        scores = database.sql(scoring_sql(got, "rows")).to_arrow_table()["score"].to_pylist()
    assert scores == pytest.approx(list(model.decision_function(values)), abs=1e-3)


def test_large_scores_do_not_overflow():
    examples = build_table(label="1 0", features=[[1e6], [-1e6]])
    assert (
        json.loads(
            fit(examples, surrogate="logistic", l2=0, max_iter=1).schema.metadata[b"sqlrank.losses"]
        )[0]["loss"]
        == 0
    )


def count_pairs(weights: np.ndarray, k: int, data: dict[str, np.ndarray]) -> tuple[float, int]:
    """Return mean pAp@k over queries with k negatives, and the rightly ordered pairs of all of
    them.
    """
    risks, pairs = [], 0
    for query in np.unique(data["query_id"]):
        mask = data["query_id"] == query
        score, label = data["features"][mask] @ weights, data["label"][mask]
        if label.any() and (label == 0).sum() >= k:
            risks.append(reference.risk(score[label == 1], score[label == 0], k))
            pairs += round((1 - risks[-1]) * min(label.sum(), k) * k)
    return 1 - float(np.mean(risks)), pairs


def test_models_are_merged_greedily():
    """The candidate of most rightly ordered pairs at each of two merges, found one by one."""
    models = {"b": [0.2, -1.0, 0.5], "a": [1.0, 0.9, 0.0], "it's": [-0.5, -0.2, 1.0]}
    rows = [
        (name, feature, weight)
        for name, weights in models.items()
        for feature, weight in enumerate(weights, 1)
    ]
    table = pa.table(
        dict(zip(["shop", "feature", "weight"], zip(*reversed(rows), strict=True), strict=True))
    )
    first, *others = sorted(
        (np.array(weights) for weights in models.values()),
        key=lambda weights: -count_pairs(weights, 3, DATA)[0],
    )
    for other in others:
        shares = np.linspace(0, 1, 5)
        candidates = [
            *(first + share * other for share in shares),
            *(share * first + other for share in shares),
        ]
        first = max(candidates, key=lambda candidate: count_pairs(candidate, 3, DATA)[1])
    got = merge_weights(table, to_arrays(), k=3, factors=5)
    assert got.column_names == ["feature", "weight"]
    assert read_weights(got) == pytest.approx(first)
    assert float(got.schema.metadata[b"sqlrank.pap"]) == pytest.approx(
        count_pairs(first, 3, DATA)[0]
    )
    assert scoring_sql(got, "t").count("features") == 3
