"""Comparisons by groups: values of queries are evaluated once where the groups are columns of the
queries.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sqlrank
from sqlrank.call.request import Request
from sqlrank.call.sources import collect_sources
from sqlrank.comparison import paired_differences
from sqlrank.comparison.comparison_plan import ComparisonPlan
from sqlrank.comparison.paired_differences import PairedUnits, evaluate_unit_values
from sqlrank.engines.open_database import ExecutionOptions
from tests.tables import build_table

QUERIES = [f"q{number}" for number in range(40)]


def make_run() -> pa.Table:
    """Return two systems; ``old`` answers no query of France, ``new`` leaves out others."""
    rows = [
        {
            "system": system,
            "query_id": query,
            "doc_id": f"d{doc}",
            "score": float((number * (doc + 2) + len(system)) % 7),
        }
        for system, step in (("old", 3), ("newer", 5))
        for number, query in enumerate(QUERIES)
        if number % step
        for doc in range(6)
    ]
    return pa.Table.from_pylist(rows)


QRELS = pa.Table.from_pylist(
    [
        {"query_id": query, "doc_id": f"d{doc}", "relevance": (number + doc) % 3}
        for number, query in enumerate(QUERIES)
        for doc in range(4)
    ]
)
ATTRIBUTES = pa.table(
    {
        "query_id": QUERIES[:35],
        "country": [
            "fr" if number % 3 == 0 else None if number % 7 == 0 else "de" for number in range(35)
        ],
        "day": [number % 4 for number in range(35)],
        "weight": [1.0 + number % 3 for number in range(35)],
    }
)
OPTIONS = ExecutionOptions()


def plan_comparison(
    groupings: list[list[str]], metrics: Any, policies: dict[str, Any], **sources: Any
) -> ComparisonPlan:
    call = Request(
        metrics,
        collect_sources(**{"run": make_run(), "qrels": QRELS, "queries": ATTRIBUTES, **sources}),
        policies=policies,
    )
    return ComparisonPlan.from_call(call, "system", groupings, ())


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "policies", [{}, {"topics": "judged_and_retrieved"}, {"if_undefined": "skip"}], ids=str
)
@pytest.mark.parametrize(
    "groupings", [[[], ["country"]], [["day"], ["day", "country"], ["country"]]], ids=str
)
def test_values_are_those_of_an_evaluation_by_each_grouping(groupings, policies, monkeypatch):
    """Rows stand in the same order, on which sums depend."""
    request = plan_comparison(groupings, ["nDCG@3", "AP"], policies)
    shared = evaluate_unit_values(request, OPTIONS)
    with monkeypatch.context() as patched:
        patched.setattr(paired_differences, "_evaluate_shared_values", lambda *_: None)
        expected = evaluate_unit_values(request, OPTIONS)
    assert [group for group, _ in shared] == groupings
    for (_, table), (_, by_grouping) in zip(shared, expected, strict=True):
        assert table.replace_schema_metadata(None) == by_grouping.replace_schema_metadata(None)


@pytest.mark.slow
def test_queries_are_evaluated_once(monkeypatch):
    def count(**options):
        counts = []
        with monkeypatch.context() as patched:
            for name in ("execute_request", "execute_resolved", "run_resolved"):
                execute = getattr(paired_differences, name)
                patched.setattr(
                    paired_differences,
                    name,
                    lambda *args, execute=execute, **named: (
                        counts.append(1) or execute(*args, **named)
                    ),
                )
            sqlrank.compare(
                **{
                    "metrics": "AP",
                    "run": make_run(),
                    "qrels": QRELS,
                    "queries": ATTRIBUTES,
                    **options,
                }
            )
        return len(counts)

    by = [[], ["country"], ["day"]]
    assert count(by=by) == 1
    assert count(by="country") == 1
    with_days = make_run().append_column(
        # Documents of each query stand in both hours.
        "hour",
        pa.array([row % 2 for row in range(make_run().num_rows)]),
    )
    assert count(run=with_days, by=[[], ["hour"]]) == 2
    history = build_table(query_id="q1 q2", doc_id="d1 d2")
    assert count(metrics="MeanPopularity", qrels=None, inputs={"history": history}, by=by) == 3


@pytest.mark.one_in(2)
@pytest.mark.parametrize("by", ["country=UPPER(country)", [[], ["country=UPPER(country)", "day"]]])
def test_groups_by_expressions_are_those_of_a_column_with_their_values(by):
    """Comparison and gate by an expression, also one named as the column that it reads, give the
    rows of a column with its values.
    """
    upper = ATTRIBUTES.set_column(1, "country", pc.utf8_upper(ATTRIBUTES["country"]))
    plain = "country" if isinstance(by, str) else [[], ["country", "day"]]
    given = {"run": make_run(), "qrels": QRELS}
    computed = sqlrank.compare(["nDCG@3", "RR"], queries=ATTRIBUTES, by=by, **given).to_pylist()
    assert computed == [
        pytest.approx(row)
        for row in sqlrank.compare(["nDCG@3", "RR"], queries=upper, by=plain, **given).to_pylist()
    ]
    assert {row["country"] for row in computed} >= {"FR", "DE"}
    options = {"tolerance": 0.1, "baseline": "old", **given}
    computed = sqlrank.gate("nDCG@3", queries=ATTRIBUTES, by=by, **options).to_pylist()
    assert computed == [
        pytest.approx(row)
        for row in sqlrank.gate("nDCG@3", queries=upper, by=plain, **options).to_pylist()
    ]


def test_groups_are_drawn_as_rows_and_not_as_columns(monkeypatch):
    """The work of drawing signs grows with the units of all groups, not with groups times units."""
    widths = []
    make = PairedUnits.create_temp

    def noted(units, name, query, *arguments, **values):
        widths.extend([len(query.selects)] if name in {"wide", "flips"} else [])
        make(units, name, query, *arguments, **values)

    monkeypatch.setattr(PairedUnits, "create_temp", noted)
    queries = [f"q{place}" for place in range(12)]
    run = {
        name: {query: {"a": 1.0, "b": sign * place % 5} for place, query in enumerate(queries)}
        for name, sign in (("x", 1), ("y", -3))
    }
    qrels = {query: {"a": 1} for query in queries}
    for number in (1, 6):
        attributes = pa.table(
            {"query_id": queries, "kind": [place % number for place in range(12)]}
        )
        result = sqlrank.compare(
            "RR",
            run=run,
            qrels=qrels,
            queries=attributes,
            by="kind",
            test="randomization",
            replicates=99,
        )
        assert result.num_rows == number
    assert widths[:2] == widths[2:]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["positive_size", "smaller_class_size"])
@pytest.mark.parametrize("metric", ["Brier", "AUC"])
def test_groups_may_be_named_as_sizes_of_classes(metric, name):
    """Sizes of classes come with the values of rows, next to the caller's groups."""
    rows = range(40)
    predictions = {
        "label": [number % 3 == 0 for number in rows],
        "old": [number * 7 % 11 / 11 for number in rows],
        "new": [number * 5 % 13 / 13 for number in rows],
    }

    def compare(group):
        table = pa.table(predictions | {group: [number % 2 for number in rows]})
        scores = {"score": ["old", "new"]}
        result = sqlrank.compare(metric, predictions=table, columns=scores, by=group)
        return [result["difference"].to_pylist(), result["ci_low"].to_pylist()]

    assert compare(name) == compare("market")
