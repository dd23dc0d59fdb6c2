"""Ranges of cut-offs: every row has the numbers of a call with its cut-off, with any other
metrics.
"""

import random
import time
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.registry.loader import registry_for
from tests.lanes import select_few
from tests.tables import build_table
from website.sections import find_section

CUTOFFS = range(2, 6)
LIBRARY = registry_for(None)


def list_metrics(role: str) -> list[str]:
    """Return the metrics with an integer cut-off of rankings, or of predictions."""
    places = {
        "run": {"ranking", "exposure"},
        "predictions": {"classification", "pairs", "regression"},
    }[role]
    files = [
        file
        for file in LIBRARY.metrics.values()
        if find_section(file) in places
        and file.cutoff_parameter
        and file.cutoff_parameter.type == "integer"
    ]
    return sorted(file.display_name for file in files)


RANKINGS = list_metrics("run")
PREDICTIONS = list_metrics("predictions")


def make_runs() -> dict[str, Any]:
    """Return two runs of six queries, one of which is not answered, with ties and grades below
    0.
    """
    draw = random.Random(3)  # noqa: S311
    runs = [
        (system, query, f"d{doc}", draw.randrange(6) / 4)
        for system in "ab"
        for query in range(1, 6)
        for doc in draw.sample(range(12), draw.randrange(1, 10))
    ]
    judged = [
        (query, f"d{doc}", draw.choice([-1, 0, 0, 1, 2, 3]))
        for query in range(1, 7)
        for doc in draw.sample(range(12), 7)
    ]
    run = pa.table(
        dict(
            zip(
                ("system", "query_id", "doc_id", "score"),
                map(list, zip(*runs, strict=True)),
                strict=True,
            )
        )
    )
    qrels = pa.table(
        dict(
            zip(
                ("query_id", "doc_id", "relevance"),
                map(list, zip(*judged, strict=True)),
                strict=True,
            )
        )
    )
    queries = build_table(
        query_id=[*range(1, 7)], weight="1.0 2 0.5 1 1 3", country="x y NULL x y x", k=[*"ppqqpq"]
    )
    return {"run": run, "qrels": qrels, "queries": queries}


def make_predictions() -> dict[str, Any]:
    """Return predictions of two days and several users, with ties."""
    draw = random.Random(5)  # noqa: S311
    rows = [
        (draw.choice("mt"), draw.randrange(4), draw.randrange(2), draw.randrange(8) / 8)
        for _ in range(60)
    ]
    return {
        "predictions": pa.table(
            dict(
                zip(
                    ("day", "query_id", "label", "score"),
                    map(list, zip(*rows, strict=True)),
                    strict=True,
                )
            )
        )
    }


def assert_equal_per_cutoff(metrics: list[str], options: dict[str, Any]) -> None:
    """Compare a range with a call per cut-off."""
    swept = sqlrank.evaluate([f"{metric}@2..5" for metric in metrics], **options)
    keys = swept.column_names[: swept.column_names.index("k")]
    singles = {
        k: sqlrank.evaluate([f"{metric}@{k}" for metric in metrics], **options) for k in CUTOFFS
    }
    assert swept.schema.field("k").type == pa.int32()
    rows = swept.to_pylist()
    order = [(*(row[name] for name in keys), row["k"]) for row in rows]
    assert order == [
        # By position: a group that is called k has the name of its input beside the cut-off.
        (*list(row.values())[: len(keys)], k)
        for row in singles[2].to_pylist()
        for k in CUTOFFS
    ]
    for k, single in singles.items():
        found = [list(row.values())[len(keys) + 1 :] for row in rows if row["k"] == k]
        for values, expected in zip(found, single.to_pylist(), strict=True):
            assert values == pytest.approx(
                list(expected.values())[len(keys) :], rel=1e-12, abs=1e-15, nan_ok=False
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    select_few(
        [
            {"by": "system", "check": "full"},
            {"by": [["system"], ["queries.country"], []]},
            {"by": ["system", "queries.k"], "columns": {"weight": "weight"}},
            {"where": "run.system = 'a'"},
            {"where": "run.system = 'a'", "per_query": True},
            {"by": "system", "per_query": True, "if_undefined": "null"},
            {"by": "system", "topics": "retrieved", "if_undefined": "null"},
            {"by": "system", "plan": {"list_key": "input"}, "per_query": True},
            {"by": "system", "plan": {"list_key": "input"}},
            {"by": "system", "ties": "worst"},
        ],
        2,
    ),
    ids=str,
)
def test_rankings(options):
    sources = {
        name: table
        for name, table in make_runs().items()
        if name != "queries" or "quer" in str(options) or "weight" in str(options)
    }
    assert_equal_per_cutoff(RANKINGS, {**sources, **options})


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    select_few(
        [
            {"by": "day"},
            {},
            {"by": [["day"], []]},
            {"by": "day", "per_query": True},
            {"by": "day", "level": "query"},
            {"by": [["day"], []], "level": "query"},
            {"by": "day", "plan": {"score_order": "buckets"}},
        ],
        1,
    ),
    ids=str,
)
def test_predictions(options):
    assert_equal_per_cutoff(PREDICTIONS, {**make_predictions(), **options})


def test_settings_that_read_the_cut_off_in_a_relation():
    metrics = [
        "nDCG(ideal=binary_k)",
        "AP(precision_at=all_ranks)",
        "R(denominator=min_rk)",
        "DCG(discount=zipf)",
    ]
    sources = {"run": make_runs()["run"], "qrels": make_runs()["qrels"]}
    swept = sqlrank.evaluate([f"{metric}@2..5" for metric in metrics], **sources, by="system")
    assert swept.num_rows == 8
    for k in CUTOFFS:
        singles = sqlrank.evaluate(
            [f"{metric}@{k}" for metric in metrics], **sources, by="system"
        ).to_pylist()
        found = [list(row.values())[2:] for row in swept.to_pylist() if row["k"] == k]
        assert found == [pytest.approx(list(row.values())[1:], rel=1e-12) for row in singles]


def test_nothing_retrieved():
    sources = {
        "run": make_runs()["run"].slice(0, 0).drop_columns("system"),
        "qrels": make_runs()["qrels"],
    }
    assert sqlrank.evaluate("P@2..3", **sources, check="off").to_pylist() == [
        {"k": 2, "P@2..3": 0.0},
        {"k": 3, "P@2..3": 0.0},
    ]


def test_a_thousand_cut_offs_take_a_moment():
    started = time.monotonic()
    text = sqlrank.sql("nDCG@1..1000", run="r", qrels="q")
    assert len(text) < 10_000
    found = sqlrank.evaluate(
        "nDCG@1..1000", run=make_runs()["run"], qrels=make_runs()["qrels"], by="system"
    )
    assert found.num_rows == 2000
    assert time.monotonic() - started < 5
