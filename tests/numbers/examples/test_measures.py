"""Metrics of columns that users name: means, shares, sums, quantiles and missing values, over
queries and predictions.
"""

from datetime import date
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import sqlrank
from sqlrank import InputError
from sqlrank.registry.loader import load_registry
from tests.interface.advice import follow
from tests.interface.command_line import run_command
from tests.tables import build_table
from website.sections import find_section

QUERIES = [f"q{number}" for number in range(40)]
MEASURES = [
    "Mean(faithfulness)", "Share(passed)", "Sum(cost)", "Quantile(latency_ms, q=0.95)",
    "Missing(faithfulness)",
]  # fmt: skip


def make_measures(*, weighted: bool = False, missing: bool = False) -> pa.Table:
    """Return scores of two systems on each query."""
    rng = np.random.default_rng(7)
    count = len(QUERIES)
    scores = [
        None if missing and number % 7 == 0 else value
        for number, value in enumerate(rng.random(2 * count).tolist())
    ]
    columns = {
        "system": ["new"] * count + ["old"] * count,
        "query_id": QUERIES * 2,
        "faithfulness": pa.array(scores, pa.float64()),
        "passed": rng.random(2 * count) > 0.3,
        "cost": rng.integers(1, 9, 2 * count),
        "latency_ms": rng.integers(80, 900, 2 * count),
        "intent": ["buy" if number % 3 else "read" for number in range(count)] * 2,
    }
    return pa.table(
        columns | ({"weight": rng.choice([0.0, 1.0, 2.5], 2 * count)} if weighted else {})
    )


def make_runs() -> dict[str, Any]:
    """Return two systems with judgments."""
    rng = np.random.default_rng(11)
    lists = {
        name: {query: {f"d{place}": float(rng.random()) for place in range(6)} for query in QUERIES}
        for name in ("old", "new")
    }
    return {"run": lists, "qrels": {query: {"d1": 1, "d4": 2} for query in QUERIES}}


def select_system(table: pa.Table, name: str) -> dict[str, Any]:
    """Return the columns of a system as arrays."""
    rows = [row for row in table.to_pylist() if row["system"] == name]
    return {
        column: np.array([row[column] for row in rows], dtype=object)
        for column in table.column_names
    }


@pytest.mark.parametrize(
    "values", [["a", None], [date(2026, 1, 1), None], [True, None], [{"a": 1}, None], [1.5, None]]
)
def test_missing_values_are_counted_whatever_their_type_is(values):
    table = build_table(query_id="1 2", x=values)
    rollup = sqlrank.rollup("Missing(x)", predictions=table)
    for call in ({"predictions": table}, {"queries": table}, {"rollup": rollup}):
        assert sqlrank.evaluate("Missing(x)", **call)["Missing(x)"].to_pylist() == [1.0]
    if isinstance(values[0], str):
        with pytest.raises(InputError, match="x is VARCHAR, not a number"):
            sqlrank.evaluate(["Missing(x)", "Mean(x)"], predictions=table)


@pytest.mark.parametrize(("values", "share"), [([3, 0, 1, 0], 0.5), ([0.2, 0.9, 0.7, 1.0], 0.75)])
def test_counts_and_probabilities_become_flags(values, share):
    columns = {"query_id": [1, 2, 3, 4], "flag": values}
    assert follow("Share(flag)", predictions=columns)[0] == share
    assert follow("Share(flag)", queries=columns)[0] == share


def test_every_measure_is_tested():
    there = {
        file.display_name
        for file in load_registry().metrics.values()
        if find_section(file) == "measures"
    }
    assert there == {metric.partition("(")[0] for metric in MEASURES}


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_of_queries_are_those_of_numpy(weighted):
    table = make_measures(weighted=weighted)
    for row in sqlrank.evaluate(MEASURES, queries=table, by="system").to_pylist():
        columns = select_system(table, row["system"])
        weights = columns["weight"].astype(float) if weighted else None
        faithfulness, passed, latency = (
            columns[name].astype(float) for name in ("faithfulness", "passed", "latency_ms")
        )
        assert row["Mean(faithfulness)"] == pytest.approx(
            np.average(faithfulness, weights=weights), rel=1e-14
        )
        assert row["Share(passed)"] == pytest.approx(np.average(passed, weights=weights), rel=1e-14)
        assert row["Sum(cost)"] == columns["cost"].sum()
        assert row["Quantile(latency_ms, q=0.95)"] == pytest.approx(
            np.quantile(latency, 0.95), rel=1e-14
        )
        assert row["Missing(faithfulness)"] == 0


def test_measures_of_predictions_are_those_of_numpy():
    table = make_measures(weighted=True, missing=True).drop_columns(["query_id"])
    for row in sqlrank.evaluate(MEASURES, predictions=table, by="system").to_pylist():
        columns = select_system(table, row["system"])
        there = np.array([value is not None for value in columns["faithfulness"]])
        weights = columns["weight"].astype(float)
        mean = np.average(columns["faithfulness"][there].astype(float), weights=weights[there])
        assert row["Mean(faithfulness)"] == pytest.approx(mean, rel=1e-13)
        assert row["Share(passed)"] == pytest.approx(
            np.average(columns["passed"].astype(float), weights=weights), rel=1e-13
        )
        assert row["Sum(cost)"] == pytest.approx(
            (weights * columns["cost"].astype(float)).sum(), rel=1e-13
        )
        assert row["Missing(faithfulness)"] == (~there).sum()
        assert row["Quantile(latency_ms, q=0.95)"] == pytest.approx(
            np.quantile(columns["latency_ms"].astype(float), 0.95), rel=1e-14
        )


def test_they_join_metrics_of_predictions():
    table = build_table(label="0 1 1 0", score="0.1 0.4 0.3 0.35", spend="1.0 2.0 6.0 3.0")
    (row,) = sqlrank.evaluate(["AUC", "Mean(spend)"], predictions=table).to_pylist()
    assert row == {"AUC": 0.75, "Mean(spend)": 3.0}


def test_intervals_of_queries_are_those_of_student():
    table = make_measures()
    for row in sqlrank.evaluate(
        "Mean(faithfulness)", queries=table, by="system", confidence=0.95
    ).to_pylist():
        values = select_system(table, row["system"])["faithfulness"].astype(float)
        low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
        assert (
            row["Mean(faithfulness).ci_low"],
            row["Mean(faithfulness).ci_high"],
        ) == pytest.approx((low, high), rel=1e-9)


def test_a_missing_value_is_refused_or_counted():
    table = make_measures(missing=True)
    counted = sqlrank.evaluate(
        ["Mean(faithfulness)", "Missing(faithfulness)"], queries=table, by="system"
    ).to_pylist()
    dropped = sqlrank.evaluate(
        "Mean(faithfulness)", queries=table, by="system", nulls="drop"
    ).to_pylist()
    for row, other in zip(counted, dropped, strict=True):
        values = [
            value
            for value in select_system(table, row["system"])["faithfulness"]
            if value is not None
        ]
        assert (
            row["Mean(faithfulness)"]
            == other["Mean(faithfulness)"]
            == pytest.approx(np.mean(values), rel=1e-14)
        )
        assert row["Missing(faithfulness)"] == len(QUERIES) - len(values)
    zero = "Mean(faithfulness, if_undefined=zero)"
    for row in sqlrank.evaluate(
        [zero, "Missing(faithfulness)"], queries=table, by="system"
    ).to_pylist():
        values = [value or 0.0 for value in select_system(table, row["system"])["faithfulness"]]
        assert row[zero] == pytest.approx(np.mean(values), rel=1e-14)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "name",
    [
        "my score", "order", "score", "Größe", 'a"b', "query.id", "value", "rank", "group_id",
        "; DROP TABLE x --",
    ],
)  # fmt: skip
def test_columns_of_any_name_are_read(name):
    quoted = name.replace('"', '""')
    table = pa.table({"query_id": ["a", "b"], name: [1.0, 4.0], "weight": [1.0, 3.0]})
    (row,) = sqlrank.evaluate(f'Mean("{quoted}")', queries=table).to_pylist()
    assert list(row.values()) == [3.25]
    predictions = table.drop_columns(["query_id"])
    (row,) = sqlrank.evaluate(f'Mean("{quoted}")', predictions=predictions).to_pylist()
    assert list(row.values()) == [3.25]


def test_names_with_one_spelling_are_two_columns():
    table = pa.table({"query_id": ["a", "b"], "my score": [1.0, 2.0], "my-score": [5.0, 7.0]})
    (row,) = sqlrank.evaluate(['Mean("my score")', 'Mean("my-score")'], queries=table).to_pylist()
    assert list(row.values()) == [1.5, 6.0]


def test_a_metric_is_written_as_it_is_parsed():
    for text in (
        "Mean(latency_ms)",
        'Mean("my score")',
        "Mean(queries.latency_ms)",
        "Quantile(latency_ms, q=0.95)",
    ):
        assert str(sqlrank.parse(text)) == text
        assert str(sqlrank.parse(str(sqlrank.parse(text)))) == text
    assert str(sqlrank.parse("Quantile(latency_ms, 0.95)")) == "Quantile(latency_ms, q=0.95)"
    assert str(sqlrank.parse("mean(column=latency_ms)")) == "Mean(latency_ms)"


def test_a_column_may_be_mapped():
    options = {"queries": make_measures(), "by": "system"}
    first, _ = sqlrank.evaluate(
        "Mean(seconds)", columns={"seconds": "latency_ms / 1000"}, **options
    ).to_pylist()
    other, _ = sqlrank.evaluate("Mean(latency_ms)", **options).to_pylist()
    assert first["Mean(seconds)"] == pytest.approx(other["Mean(latency_ms)"] / 1000, rel=1e-14)


def test_the_command_reads_them(tmp_path):
    pq.write_table(make_measures(), tmp_path / "scores.parquet")
    arguments = [
        "evaluate",
        "Mean(faithfulness)",
        "Share(passed)",
        "--queries",
        str(tmp_path / "scores.parquet"),
        "--by",
        "system",
    ]
    text = run_command(*arguments, "--format", "csv")
    expected = sqlrank.evaluate(
        ["Mean(faithfulness)", "Share(passed)"], queries=make_measures(), by="system"
    ).to_pylist()
    assert text.splitlines()[0] == "system,Mean(faithfulness),Share(passed)"
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == [
        row["system"] for row in expected
    ]


def test_values_per_query():
    table = make_measures()
    rows = sqlrank.evaluate(
        ["Mean(cost)", "nDCG@3"], **make_runs(), queries=table, per_query=True
    ).to_pylist()
    costs = {(row["system"], row["query_id"]): row["cost"] for row in table.to_pylist()}
    assert {(row["system"], row["query_id"]): row["Mean(cost)"] for row in rows} == costs


def test_paired_differences_are_tested_as_scipy_does():
    table = make_measures()
    rows = sqlrank.compare(
        ["nDCG@10", "Mean(faithfulness)", "Mean(cost)"],
        **make_runs(),
        queries=table,
        correction="none",
    ).to_pylist()
    assert [row["metric"] for row in rows] == ["nDCG@10", "Mean(faithfulness)", "Mean(cost)"]
    for row in rows[1:]:
        name = row["metric"].removeprefix("Mean(").removesuffix(")")
        old, new = (select_system(table, system)[name].astype(float) for system in ("old", "new"))
        expected = stats.ttest_rel(new, old)
        assert (row["baseline"], row["system"], row["n_units"]) == ("old", "new", len(QUERIES))
        assert (row["statistic"], row["p_value"]) == pytest.approx(
            (expected.statistic, expected.pvalue), rel=1e-9
        )
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(
            tuple(expected.confidence_interval(0.95)), rel=1e-9
        )


def test_a_query_without_a_value_is_no_pair():
    table = make_measures(missing=True)
    (row,) = sqlrank.compare("Mean(faithfulness)", queries=table, nulls="drop").to_pylist()
    new, old = (select_system(table, system)["faithfulness"] for system in ("new", "old"))
    pairs = [
        (left, right)
        for left, right in zip(new, old, strict=True)
        if left is not None and right is not None
    ]
    assert row["n_units"] == len(pairs) < len(QUERIES)
    assert row["difference"] == pytest.approx(
        np.mean([right - left for left, right in pairs]), rel=1e-12
    )


@pytest.mark.slow
@pytest.mark.parametrize("lower", ["cost", ["Mean(cost)"], ("cost", "latency_ms")])
def test_lower_values_may_be_better(lower):
    table = make_measures()
    worse = pa.array(
        [
            value + 5 if system == "new" else value
            for system, value in zip(
                *(table[name].to_pylist() for name in ("system", "cost")), strict=True
            )
        ]
    )
    table = table.set_column(table.column_names.index("cost"), "cost", worse)
    options = {**make_runs(), "queries": table}
    (higher,) = sqlrank.gate("Mean(cost)", **options).to_pylist()
    metrics = ["nDCG@10", "Mean(cost)", "Mean(latency_ms)"]
    gated = sqlrank.gate(metrics, **options, tolerance=0.5, lower_is_better=lower).to_pylist()
    verdicts = {row["metric"]: row["verdict"] for row in gated}
    assert higher["reason"] == "not worse by more than the tolerance, where higher is better"
    assert [row["reason"].partition(", where ")[2] for row in gated[:2]] == ["", "lower is better"]
    assert (higher["verdict"], verdicts["Mean(cost)"]) == ("pass", "fail")
    assert list(verdicts) == metrics
    rows = sqlrank.compare(metrics, **options, lower_is_better=lower).to_pylist()
    assert {row["metric"]: row["winner"] for row in rows}["Mean(cost)"] == "old"


def test_a_stored_baseline_holds_them(tmp_path):
    old, new = (
        make_measures().filter(pa.compute.equal(make_measures()["system"], system))
        for system in ("old", "new")
    )
    stored = sqlrank.evaluate(
        ["Mean(faithfulness)", "Mean(latency_ms)"], queries=old, per_query=True
    )
    pq.write_table(stored, tmp_path / "baseline.parquet")
    arguments = {
        "baseline": tmp_path / "baseline.parquet",
        "lower_is_better": "latency_ms",
        "tolerance": "50%",
    }
    table = sqlrank.gate(["Mean(faithfulness)", "Mean(latency_ms)"], queries=new, **arguments)
    both = sqlrank.gate(
        ["Mean(faithfulness)", "Mean(latency_ms)"],
        queries=make_measures(),
        **{**arguments, "baseline": "old"},
    )
    assert table["difference"].to_pylist() == pytest.approx(
        both["difference"].to_pylist(), rel=1e-12
    )
    assert table["verdict"].to_pylist() == both["verdict"].to_pylist()


def test_sums_and_quantiles_are_not_compared():
    reason = (
        "a quantile is no mean. Share of a condition such as latency_ms > 300, mapped as a column,"
        " has an interval"
    )
    table = sqlrank.gate(
        ["Quantile(cost, 0.5)", "Share(dear)"],
        queries=make_measures(),
        columns={"dear": "cost > 1"},
        baseline="old",
        lower_is_better=["cost", "dear"],
    )
    assert table["reason"].to_pylist()[0] == f"no interval: {reason}"
    assert table["ci_low"].to_pylist()[1] is not None


@pytest.mark.slow
def test_a_report_has_them():
    page = sqlrank.report(
        ["nDCG@10", "Mean(latency_ms)"],
        **make_runs(),
        queries=make_measures(),
        lower_is_better="latency_ms",
        created_at="today",
    ).html
    assert "Mean(latency_ms)" in page
    definition = page[page.index("Metric definitions") :]
    assert "lower" in definition[definition.index("Mean(latency_ms)") :][:400]


def make_answers(*, system: bool = True) -> pa.Table:
    """Return questions with their retrieved and relevant documents, and measured columns."""
    table = (
        make_measures()
        if system
        else make_measures().slice(0, len(QUERIES)).drop_columns(["system"])
    )
    rng = np.random.default_rng(3)
    retrieved = [
        [f"d{document}" for document in rng.permutation(6)[:4]] for _ in range(table.num_rows)
    ]
    return table.append_column("retrieved", pa.array(retrieved)).append_column(
        "relevant", pa.array([["d1", "d4"]] * table.num_rows)
    )


@pytest.mark.slow
def test_measures_of_answers_join_metrics_of_their_lists():
    table = make_answers()
    metrics = ["nDCG@10", "Mean(faithfulness)", "Share(passed)", "Mean(latency_ms)"]
    rows = sqlrank.evaluate(metrics, inputs={"answers": table}, by="system").to_pylist()
    others = sqlrank.evaluate(metrics[1:], queries=table, by="system").to_pylist()
    lists = sqlrank.evaluate("nDCG@10", inputs={"answers": table}, by="system").to_pylist()
    assert [{name: row[name] for name in ["system", *metrics[1:]]} for row in rows] == others
    assert [row["nDCG@10"] for row in rows] == pytest.approx(
        [row["nDCG@10"] for row in lists], rel=1e-12
    )  # queries are summed in any order


@pytest.mark.slow
def test_answers_are_compared_and_gated():
    metrics = ["nDCG@10", "Mean(faithfulness)", "Mean(latency_ms)"]
    options = {"inputs": {"answers": make_answers()}, "lower_is_better": "latency_ms"}
    rows = sqlrank.compare(metrics, **options, correction="none", baseline="old").to_pylist()
    old, new = (
        select_system(make_measures(), system)["faithfulness"].astype(float)
        for system in ("old", "new")
    )
    assert [row["metric"] for row in rows] == metrics
    assert rows[1]["p_value"] == pytest.approx(stats.ttest_rel(new, old).pvalue, rel=1e-9)
    verdicts = sqlrank.gate(
        metrics, **options, baseline="old", tolerance={"*": 0.9, "Mean(latency_ms)": 900}
    )
    assert verdicts["metric"].to_pylist() == metrics
    assert verdicts["verdict"].to_pylist() == ["pass"] * 3


def test_the_input_is_named_where_several_have_columns():
    inputs = {
        "inputs": {"answers": make_answers(system=False)},
        "queries": make_measures().slice(0, len(QUERIES)),
    }
    (row,) = sqlrank.evaluate(
        ["Mean(answers.cost)", "Mean(queries.cost)", "R@10"], **inputs
    ).to_pylist()
    assert row["Mean(answers.cost)"] == row["Mean(queries.cost)"]


@pytest.mark.slow
def test_rollups_have_columns_of_queries():
    table = (
        make_measures(weighted=True)
        .slice(0, len(QUERIES))
        .append_column("day", pa.array([1 + number % 3 for number in range(len(QUERIES))]))
    )
    metrics = ["Mean(faithfulness)", "Share(passed)", "Sum(cost)", "Missing(faithfulness)"]
    rollup = sqlrank.rollup(metrics, queries=table, by="day")
    for options, by in (({}, ()), ({"where": "day > 1"}, ()), ({}, "day")):
        rows = sqlrank.evaluate(metrics, rollup=rollup, by=by, **options).to_pylist()
        expected = sqlrank.evaluate(metrics, queries=table, by=by, **options).to_pylist()
        assert [[row[name] for name in metrics] for row in rows] == [
            pytest.approx([row[name] for name in metrics], rel=1e-12) for row in expected
        ]


ROLLED_UP = ["Mean(faithfulness)", "Share(passed)", "Sum(cost)", "Missing(faithfulness)"]


def make_predictions(*, weighted: bool = True) -> pa.Table:
    """Return predictions of three days with measured columns, some without a value."""
    table = make_measures(weighted=weighted, missing=True)
    rng = np.random.default_rng(5)
    columns = {
        "label": rng.integers(0, 2, table.num_rows),
        "score": rng.random(table.num_rows),
        "day": rng.integers(1, 4, table.num_rows),
    }
    return pa.table({**{name: table[name] for name in table.column_names}, **columns})


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("metrics", [ROLLED_UP, ["LogLoss", *ROLLED_UP], ["AUC", *ROLLED_UP]])
def test_rollups_have_columns_of_predictions(weighted, metrics):
    table = make_predictions(weighted=weighted)
    rollup = sqlrank.rollup(metrics, predictions=table, by=["day", "system"])
    for options, by in (({}, ()), ({"where": "day > 1"}, ()), ({}, "system")):
        expected = sqlrank.evaluate(ROLLED_UP, predictions=table, by=by, **options).to_pylist()
        for names in (ROLLED_UP, [name.replace("(", "(predictions.") for name in ROLLED_UP]):
            rows = sqlrank.evaluate(names, rollup=rollup, by=by, **options).to_pylist()
            assert [[row[name] for name in names] for row in rows] == [
                pytest.approx([row[name] for name in ROLLED_UP], rel=1e-12) for row in expected
            ]


def test_a_printed_statement_reads_columns_of_predictions_from_a_rollup():
    connection = duckdb.connect()
    rollup = sqlrank.rollup(ROLLED_UP, predictions=make_predictions(), by=["day", "system"])
    connection.register("sums", rollup)
    (expected,) = sqlrank.evaluate(ROLLED_UP, rollup=rollup).to_pylist()
    text = sqlrank.sql(ROLLED_UP, rollup="sums", connection=connection)
    names = [name.replace("(", "(predictions.") for name in ROLLED_UP]
    for statement in (text, sqlrank.sql(names, rollup="sums")):
        (row,) = connection.execute(statement).fetchall()
        assert row[: len(ROLLED_UP)] == pytest.approx(
            tuple(expected[name] for name in ROLLED_UP), rel=1e-14
        )


@pytest.mark.slow
def test_rollups_of_predictions_have_intervals_and_are_compared():
    table = make_predictions()
    kinds = {"unit": "intent", "n_buckets": 8}
    table = table.set_column(
        table.column_names.index("intent"),
        "intent",
        pa.array([f"u{row % 31}" for row in range(table.num_rows)]),
    )
    rollups = {
        system: sqlrank.rollup(
            ["Mean(cost)", "LogLoss"],
            predictions=table.filter(pa.compute.equal(table["system"], system)),
            **kinds,
        )
        for system in ("old", "new")
    }
    (row,) = sqlrank.evaluate("Mean(cost)", rollup=rollups["old"], confidence=0.9).to_pylist()
    assert row["Mean(cost).ci_low"] < row["Mean(cost)"] < row["Mean(cost).ci_high"]
    (compared,) = sqlrank.compare("Mean(cost)", rollups=rollups).to_pylist()
    assert compared["value_baseline"] == pytest.approx(row["Mean(cost)"], rel=1e-12)
    both = sqlrank.rollup(["Mean(cost)", "AUC"], predictions=table, by="day", **kinds)
    moved = sqlrank.drift(
        "Mean(cost)", rollup=both, reference="day = 1", current="day = 2", confidence=0.9
    ).to_pylist()
    assert {line["metric"] for line in moved} == {"Mean(cost)", "PSI"}


def test_columns_of_one_spelling_have_sums_of_their_own_in_a_rollup():
    table = pa.table({"query_id": ["a", "b"], "my score": [1.0, 2.0], "my-score": [5.0, 7.0]})
    metrics = ['Mean("my score")', 'Mean("my-score")']
    for sources in ({"queries": table}, {"predictions": table.drop_columns(["query_id"])}):
        rollup = sqlrank.rollup(metrics, **sources)
        values = [
            sqlrank.evaluate(metric, rollup=rollup).to_pylist()[0][metric] for metric in metrics
        ]
        assert values == [1.5, 6.0]


@pytest.mark.slow
def test_a_rollup_is_read_by_the_names_of_its_inputs():
    table = make_answers(system=False)
    rollup = sqlrank.rollup(["nDCG@10", "Mean(answers.cost)"], inputs={"answers": table})
    (expected,) = sqlrank.evaluate(["Mean(cost)", "nDCG@10"], inputs={"answers": table}).to_pylist()
    for name in ("Mean(cost)", "Mean(answers.cost)"):
        (row,) = sqlrank.evaluate([name, "nDCG@10"], rollup=rollup).to_pylist()
        assert (row[name], row["nDCG@10"]) == pytest.approx(tuple(expected.values()), rel=1e-14)
    assert sqlrank.evaluate("nDCG@10", rollup=rollup)["nDCG@10"].to_pylist() == [row["nDCG@10"]]
    with pytest.raises(InputError, match=r"does not have the sums of Mean\(predictions.cost\)"):
        sqlrank.evaluate("Mean(predictions.cost)", rollup=rollup)
