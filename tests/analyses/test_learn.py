"""Training: the loss decreases, the form of the features does not matter, and unsuitable data raise
an error.
"""

import json
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sqlrank
from sqlrank.errors import InputError, MetricError
from sqlrank.learn import fit, scoring_sql
from tests.interface.command_line import app
from tests.numbers.references import surrogates_reference as reference

pytestmark = pytest.mark.filterwarnings("ignore:the descent")  # most take few steps

KINDS = ("avg", "max", "ts", "ts_reference", "pauc", "precision", "precision_reference")
NAMES = ["f1", 'of "two"', "select"]
FEATURES = len(NAMES)


def draw_examples(queries: int = 12, seed: int = 0) -> dict[str, np.ndarray]:
    """Draw examples whose positives stand higher in the first feature and lower in the second; the
    third tells nothing.
    """
    rng = np.random.default_rng(seed)
    n = 25 * queries
    features = rng.normal(size=(n, FEATURES))
    label = (features @ [2.0, -1.0, 0.0] + rng.normal(0, 0.3, n) > 2.2).astype(int)
    return {
        "row_id": np.arange(n),
        "query_id": np.repeat(np.arange(queries), 25),
        "label": label,
        "features": features,
    }


DATA = draw_examples()


def to_arrays(data: dict[str, np.ndarray] = DATA) -> pa.Table:
    return pa.table({**data, "features": pa.array(data["features"].tolist())})


def to_wide(data: dict[str, np.ndarray] = DATA) -> pa.Table:
    return pa.table(
        {
            **{name: data[name] for name in ("row_id", "query_id", "label")},
            **dict(zip(NAMES, data["features"].T, strict=True)),
        }
    )


def to_long(data: dict[str, np.ndarray] = DATA) -> pa.Table:
    repeated = {name: np.repeat(data[name], FEATURES) for name in ("row_id", "query_id", "label")}
    rows = pa.table(
        {**repeated, "feature": NAMES * len(data["label"]), "value": data["features"].ravel()}
    )
    return rows.take(np.random.default_rng(1).permutation(rows.num_rows))


def read_weights(table: pa.Table) -> np.ndarray:
    return np.array(table["weight"].to_pylist())


def compute_loss(
    kind: str, weights: np.ndarray, k: int, l2: float, data: dict[str, np.ndarray] = DATA
) -> float:
    """Return the minimized loss: the mean of the surrogate over queries of both classes, and the
    penalty.
    """
    score = data["features"] @ weights
    each = []
    for query in np.unique(data["query_id"]):
        label, own = (values[data["query_id"] == query] for values in (data["label"], score))
        each.append(reference.surrogate(kind, own[label == 1], own[label == 0], k))
    return float(np.mean([value for value in each if value is not None])) + l2 / 2 * float(
        weights @ weights
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_goes_down(kind):
    losses = [
        compute_loss(
            kind,
            read_weights(fit(to_arrays(), k=3, surrogate=kind, learning_rate=1, max_iter=n)),
            3,
            0.01,
        )
        for n in (2, 10, 60)
    ]
    assert losses[0] > losses[1] > losses[2]
    assert losses[2] < 0.75


def test_the_loss_of_the_weights_is_the_mean_over_queries():
    weights = fit(to_arrays(), k=3, learning_rate=1, max_iter=2)
    (losses,) = json.loads((weights.schema.metadata or {})[b"sqlrank.losses"])
    assert losses["loss"] == pytest.approx(compute_loss("avg", read_weights(weights), 3, 0.01))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["avg", "max", "pauc"])
def test_the_loss_is_near_the_least(kind):
    """No small change of the weights helps much: the problem is convex."""
    weights = read_weights(fit(to_arrays(), k=3, surrogate=kind, learning_rate=1, max_iter=300))
    here = compute_loss(kind, weights, 3, 0.01)
    rng = np.random.default_rng(3)
    assert (
        min(compute_loss(kind, weights + rng.normal(0, 0.3, FEATURES), 3, 0.01) for _ in range(200))
        > here - 0.01
    )


def test_steps_are_those_of_the_formula():
    """Two steps by hand from 0, where the negatives share what the top of them gets."""
    label, features, l2, eta = np.array([1, 0, 0]), np.array([[1.0, 0], [0, 1], [0, -2]]), 0.5, 0.4
    first = -eta * (features[1:].mean(axis=0) - features[0])
    # Then the second row is the highest negative, and within the margin.
    scores = features @ first
    assert scores[1] > scores[2]
    assert scores[0] - scores[1] < 1
    second = first - eta / np.sqrt(2) * (features[1] - features[0] + l2 * first)
    examples = pa.table({"label": label, "features": features.tolist()})
    assert read_weights(fit(examples, k=1, learning_rate=eta, l2=l2, max_iter=1)) == pytest.approx(
        first
    )
    assert (
        compute_loss(
            "avg", second, 1, l2, {"label": label, "features": features, "query_id": np.zeros(3)}
        )
        < 1
    )
    assert read_weights(fit(examples, k=1, learning_rate=eta, l2=l2, max_iter=2)) == pytest.approx(
        second
    )


@pytest.mark.filterwarnings("ignore:the least loss found")
def test_weights_stay_in_the_ball():
    weights = read_weights(fit(to_arrays(), k=3, learning_rate=1000, l2=2, max_iter=1))
    assert np.linalg.norm(weights) == pytest.approx(1)


@pytest.mark.slow
def test_every_form_gives_the_same_weights_to_the_bit():
    of_array = fit(to_arrays(), k=3, learning_rate=1, max_iter=30)
    assert of_array["feature"].to_pylist() == [1, 2, 3]
    shuffled = to_arrays().take(np.random.default_rng(2).permutation(len(DATA["label"])))
    assert fit(shuffled, k=3, learning_rate=1, max_iter=30).equals(of_array)
    of_columns = fit(to_wide(), k=3, learning_rate=1, max_iter=30, columns={"features": NAMES})
    assert of_columns["feature"].to_pylist() == NAMES
    assert of_columns["weight"].equals(of_array["weight"])
    of_rows = fit(to_long(), k=3, learning_rate=1, max_iter=30)
    assert of_rows["feature"].to_pylist() == sorted(NAMES)
    by_name = dict(zip(NAMES, read_weights(of_array), strict=True))
    assert dict(zip(*of_rows.to_pydict().values(), strict=True)) == pytest.approx(by_name)


@pytest.mark.slow
def test_queries_of_few_negatives_can_be_left_out():
    few = {name: np.concatenate([values, values[:3]]) for name, values in DATA.items()} | {
        "label": np.append(DATA["label"], [1, 1, 0])
    }
    few["query_id"] = np.append(DATA["query_id"], [99, 99, 99])
    assert fit(to_arrays(few), k=3, max_iter=5, few_negatives="skip").equals(
        fit(to_arrays(), k=3, max_iter=5)
    )
    assert fit(to_arrays(few), k=3, max_iter=5) != fit(to_arrays(), k=3, max_iter=5)


@pytest.mark.slow
def test_what_has_no_row_is_0():
    data = {**DATA, "features": np.where(DATA["features"] < [-1, -1, -9], 0, DATA["features"])}
    sparse = to_long(data).filter(pa.compute.field("value") != 0)
    assert sparse.num_rows < to_long(data).num_rows
    assert fit(sparse, k=3, learning_rate=1, max_iter=20).equals(
        fit(to_long(data), k=3, learning_rate=1, max_iter=20)
    )


@pytest.mark.slow
def test_each_model_has_weights_of_its_own():
    parts = {name: draw_examples(4, seed) for seed, name in enumerate(["b", None, "a"], 2)}
    together = pa.concat_tables(
        [
            to_arrays(part).append_column("group by", pa.array([name] * 100, pa.string()))
            for name, part in parts.items()
        ]
    )
    got = fit(together, k=3, learning_rate=1, max_iter=15, by="group by")
    assert got.column_names == ["group by", "feature", "weight"]
    for name, part in parts.items():
        own = [row["weight"] for row in got.to_pylist() if row["group by"] == name]
        assert own == pytest.approx(
            read_weights(fit(to_arrays(part), k=3, learning_rate=1, max_iter=15))
        )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the least loss found")
def test_a_seed_starts_elsewhere():
    ones = [
        fit(to_arrays(), k=3, seed=seed, max_iter=1)["weight"].to_pylist() for seed in (1, 1, 2)
    ]
    assert ones[0] == ones[1] != ones[2]


@pytest.mark.slow
def test_learning_leaves_nothing_behind():
    with duckdb.connect() as database:
        database.register("examples", to_arrays())
        before = database.sql("SHOW ALL TABLES").fetchall()
        seen = []
        got = fit("examples", k=3, max_iter=4, connection=database, progress=seen.append)
        assert seen == [25, 50, 75, 100]
        assert database.sql("SHOW ALL TABLES").fetchall() == before
        assert database.sql("SELECT * FROM duckdb_prepared_statements()").fetchall() == []
        assert got["weight"].to_pylist() == pytest.approx(
            fit(to_arrays(), k=3, max_iter=4)["weight"].to_pylist()
        )


def test_a_problem_of_progress_ends_it():
    def progress(percentage):
        raise ArithmeticError(percentage)

    with pytest.raises(ArithmeticError, match="1"):
        fit(to_arrays(), k=3, progress=progress)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["array", "columns", "long"])
def test_the_statement_scores_as_the_weights_do(form):
    source, columns = {
        "array": (to_arrays(), {}),
        "columns": (to_wide(), {"features": NAMES}),
        "long": (to_long(), {}),
    }[form]
    weights = fit(source, k=3, learning_rate=1, max_iter=10, columns=columns)
    with duckdb.connect() as database:
        database.register("new rows", source)
        scored = database.sql(scoring_sql(weights, '"new rows"')).to_arrow_table()
    of_array = dict(zip(NAMES, DATA["features"].T, strict=True))
    names = NAMES if form == "array" else weights["feature"].to_pylist()
    expected = sum(
        weight * of_array[name]
        for name, weight in zip(names, weights["weight"].to_pylist(), strict=True)
    )
    got = dict(zip(scored["row_id"].to_pylist(), scored["score"].to_pylist(), strict=True))
    assert [got[row] for row in range(len(got))] == pytest.approx(list(expected))
    assert "`" in scoring_sql(weights, "t", dialect="spark")


@pytest.mark.slow
def test_learning_is_worth_it():
    """pAp@k of unseen queries."""
    data = draw_examples(40, seed=9)
    weights = read_weights(fit(to_arrays(), k=3, learning_rate=1, max_iter=60))
    rows = pa.table(
        {"query_id": data["query_id"], "label": data["label"], "score": data["features"] @ weights}
    )
    risks = []
    for query in range(40):
        mask = data["query_id"] == query
        score, label = np.array(rows["score"])[mask], data["label"][mask]
        if len(set(label)) > 1:
            risks.append(reference.risk(score[label == 1], score[label == 0], 3))
    assert np.mean(risks) < 0.2


def change_examples(**columns: Any) -> pa.Table:
    table = to_arrays(draw_examples(1))
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return table


NUMBERS = draw_examples(1)["features"].tolist()


@pytest.mark.slow
def test_labels_and_queries_may_be_expressions_and_a_feature_may_be_alone():
    examples = to_wide()
    expected = fit(examples, k=2, columns={"features": [NAMES[0]]})
    assert fit(examples, k=2, columns={"features": NAMES[0]}).equals(expected)
    doubled = examples.rename_columns({"label": "clicks", "query_id": "user"})
    columns = {"features": NAMES[0], "label": "clicks > 0", "query_id": "user + 1"}
    assert fit(doubled, k=2, columns=columns).equals(expected)


def test_weights_that_cannot_score():
    several = fit(to_arrays(), k=3, max_iter=2, by="query_id")
    one = several.filter(pa.compute.field("query_id") == 3).drop_columns(["query_id"])
    assert scoring_sql(one, "t").count("features") == 3
    with pytest.raises(InputError, match="have no metadata"):
        scoring_sql(one.replace_schema_metadata(None), "t")
    with pytest.raises(MetricError, match="unknown dialect 'oracle'"):
        scoring_sql(one, "t", dialect="oracle")


@pytest.mark.slow
def test_the_command(tmp_path):
    path = tmp_path / "train.parquet"
    pq.write_table(to_wide(), path)
    options = [
        "learn",
        str(path),
        "-k",
        "3",
        "--max-iter",
        "5",
        *(part for name in NAMES for part in ("--column", f"features={name}")),
    ]
    result = CliRunner().invoke(app, [*options, "--format", "csv"])
    expected = fit(str(path), k=3, max_iter=5, columns={"features": NAMES})
    assert result.stderr == ""
    assert result.stdout.splitlines()[0] == "feature,weight"
    assert [
        float(line.rpartition(",")[2]) for line in result.stdout.splitlines()[1:]
    ] == read_weights(expected).tolist()
    printed = CliRunner().invoke(app, [*options, "--score-table", "t"])
    assert printed.stdout == scoring_sql(expected, "t") + ";\n"
    weights = tmp_path / "weights.parquet"
    logistic = ["learn", str(path), "--surrogate", "logistic", "--max-iter", "3", *options[6:]]
    assert CliRunner().invoke(app, [*logistic, "-o", str(weights)]).exit_code == 0
    continued = CliRunner().invoke(
        app, [*options, "--start", str(weights), "--learning-rate", "1e-9", "--format", "csv"]
    )
    assert continued.stderr == ""
    assert [
        float(line.rpartition(",")[2]) for line in continued.stdout.splitlines()[1:]
    ] == pytest.approx(pq.read_table(weights)["weight"].to_pylist(), abs=1e-6)
    warned = CliRunner().invoke(app, [*options, "--seed", "1", "--learning-rate", "1e-9"])
    assert warned.exit_code == 0
    assert warned.stderr.startswith("sqlrank: the least loss found, ")
    merged = CliRunner().invoke(
        app, [*options[:4], "--merge", str(weights), *options[6:], "--format", "csv"]
    )
    assert [
        float(line.rpartition(",")[2]) for line in merged.stdout.splitlines()[1:]
    ] == pq.read_table(weights)["weight"].to_pylist()
    unread = CliRunner().invoke(app, [*options, "--merge", str(weights)])
    assert "--max-iter is not possible with --merge. Leave one of them out" in unread.stderr
    refused = CliRunner().invoke(app, [*options, "--surrogate", "svm"])
    assert refused.exit_code == 2
    assert refused.stderr.startswith("sqlrank: unknown surrogate 'svm'")


@pytest.mark.slow
def test_the_surrogate_is_what_evaluate_says():
    weights = read_weights(fit(to_arrays(), k=3, surrogate="ts", learning_rate=1, max_iter=5))
    scored = pa.table(
        {"query_id": DATA["query_id"], "label": DATA["label"], "score": DATA["features"] @ weights}
    )
    (got,) = (
        sqlrank.evaluate("pApSurrogate(surrogate=ts, level=query)@3", predictions=scored)
        .to_pylist()[0]
        .values()
    )
    assert got == pytest.approx(compute_loss("ts", weights, 3, 0))
