"""Decomposition of metric expressions into mergeable aggregates and a formula."""

import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.rollups.decomposition import aggregate_column_name, merge_function, split_aggregates
from tests.tables import build_table


@pytest.mark.parametrize(
    ("text", "formula", "aggregates"),
    [
        ("SUM(a) / NULLIF(SUM(b), 0)", "SUM({0}) / NULLIF(SUM({1}), 0)", ["SUM(a)", "SUM(b)"]),
        ("COUNT(*) + COUNT(a)", "SUM({0}) + SUM({1})", ["COUNT(*)", "COUNT(a)"]),
        ("MAX(a) - MIN(a)", "MAX({0}) - MIN({1})", ["MAX(a)", "MIN(a)"]),
        ("SQRT(AVG(a))", "SQRT((SUM({0}) / NULLIF(SUM({1}), 0)))", ["SUM(a)", "COUNT(a)"]),
        (
            "SUM(a * b) - SUM(a * b) * SUM(a)",
            "SUM({0}) - SUM({0}) * SUM({1})",
            ["SUM(a * b)", "SUM(a)"],
        ),
    ],
)
def test_split(text, formula, aggregates):
    found = split_aggregates(sqlglot.parse_one(text, read="duckdb"))
    assert found is not None
    names = [
        aggregate_column_name(sqlglot.parse_one(aggregate, read="duckdb"))
        for aggregate in aggregates
    ]
    assert {name: tree.sql("duckdb") for name, tree in found[0].items()} == dict(
        zip(names, aggregates, strict=True)
    )
    assert found[1].sql("duckdb") == formula.format(*names)


@pytest.mark.parametrize("text", ["COUNT(DISTINCT a)", "STDDEV(a)", "MEDIAN(a) + SUM(a)"])
def test_what_does_not_merge(text):
    assert split_aggregates(sqlglot.parse_one(text, read="duckdb")) is None


def test_names_are_words_and_digits_that_engines_keep():
    """PostgreSQL cuts names at 63 characters."""
    short, long = (
        aggregate_column_name(sqlglot.parse_one(text, read="duckdb"))
        for text in ("SUM(weight * label)", f"SUM({' + '.join(f'label_{i}' for i in range(40))})")
    )
    assert short == "sum_weight_label_aa407f5a"
    assert len(long) < 63
    assert [
        merge_function(name)
        for name in (short, long, aggregate_column_name(exp.Count(this=exp.Star())))
    ] == [exp.Sum] * 3
    assert merge_function("sum_of_days") is None
    assert long.startswith("sum_label_0_label_1_")


def test_a_metric_of_ones_own_is_added_up(tmp_path):
    own = tmp_path / "metrics" / "spread.sql"
    own.parent.mkdir()
    own.write_text("-- Spread: range of scores over their mean.\nSELECT\n  group_id,\n  (MAX(score) - MIN(score)) / NULLIF(AVG(score), 0) AS spread\n"
                   "FROM predictions\nGROUP BY group_id\n")  # fmt: skip
    rows = build_table(day="1 1 2 2 2", label="0 1 1 0 1", score="0.25 0.5 1.0 0.75 0.5")
    made = sqlrank.rollup(["Spread", "AUC"], predictions=rows, by="day", sql_dir=tmp_path)
    (row,) = sqlrank.evaluate("Spread", rollup=made, sql_dir=tmp_path).to_pylist()
    assert row == {"Spread": pytest.approx(0.75 / 0.6, abs=1e-15), "num_days": 2, "num_rows": 5}
