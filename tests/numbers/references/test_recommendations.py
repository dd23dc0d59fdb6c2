"""Every metric beyond accuracy against its formula over all pairs and items, on random data sets
and one worked by hand.
"""

from functools import cache
from typing import Any

import pytest

import sqlrank
from tests.lanes import select_few
from tests.numbers.references.recommendations import (
    GROUP_METRICS,
    LIST_METRICS,
    SUMMED,
    World,
    draw_world,
    exposure_of_providers,
    write_cutoff,
)
from website.sections import group_by_section

OPTIONS = {
    "ExposureEntropy": [{}, {"base": 2}],
    "IntraListDiversity": [
        {"distance": "hamming"},
        {"distance": "cosine"},
        {"distance": "category"},
    ],
    "Miscalibration": [{}, {"alpha": 0.5}, {"alpha": 1}],
}
CUTOFFS = (1, 2, 5, 50)
SEEDS = select_few([1, 2, 3, 4], 1)


def write_metric(name: str, options: dict[str, Any], k: int) -> str:
    inside = ", ".join(f"{key}={value}" for key, value in options.items())
    return name + (f"({inside})" if inside else "") + write_cutoff(name, k)


def list_variants(names: Any) -> list[tuple[str, dict[str, Any], int]]:
    return [
        (name, options, k) for name in names for options in OPTIONS.get(name, [{}]) for k in CUTOFFS
    ]


@cache
def draw_cached_world(seed: int) -> World:
    return draw_world(seed)


def test_every_metric_has_a_reference():
    there = {file.display_name for file in group_by_section()["recommendation"]}
    assert there == {*GROUP_METRICS, *LIST_METRICS}, (
        "GROUP_METRICS or LIST_METRICS of recommendations.py"
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_of_all_lists(seed):
    data = draw_cached_world(seed)
    metrics = {write_metric(*variant): variant for variant in list_variants(GROUP_METRICS)}
    (found,) = sqlrank.evaluate(list(metrics), run=data.run, inputs=data.inputs).to_pylist()
    for metric, (name, options, k) in metrics.items():
        assert found[sqlrank.parse(metric).__str__()] == pytest.approx(
            GROUP_METRICS[name](data, k, **options), abs=1e-12
        ), metric


@pytest.mark.parametrize("seed", SEEDS)
def test_of_each_list_and_their_mean(seed):
    data = draw_cached_world(seed)
    metrics = {write_metric(*variant): variant for variant in list_variants(LIST_METRICS)}
    options = {"run": data.run, "qrels": data.qrels, "inputs": data.inputs, "queries": "retrieved"}
    each = sqlrank.evaluate(list(metrics), per_query=True, **options).to_pylist()
    (mean,) = sqlrank.evaluate(list(metrics), **options).to_pylist()
    assert [row["query_id"] for row in each] == sorted(data.lists)
    for metric, (name, given, k) in metrics.items():
        own = {"k": k} if name == "Unexpectedness" else {}
        wanted = [
            LIST_METRICS[name](
                data, row["query_id"], data.top_k(k)[row["query_id"]], **own, **given
            )
            for row in each
        ]
        for row, value in zip(each, wanted, strict=True):
            assert row[metric] == (None if value is None else pytest.approx(value, abs=1e-12)), (
                metric,
                row["query_id"],
            )
        defined = [value for value in wanted if value is not None]
        number = 1 if name in SUMMED else len(defined)
        assert mean[metric] == (
            pytest.approx(sum(defined) / number, abs=1e-12) if defined else None
        ), metric


@pytest.mark.parametrize("seed", SEEDS)
def test_providers(seed):
    rows = sqlrank.evaluate(
        "ProviderExposure@5",
        run=draw_cached_world(seed).run,
        inputs={"items": draw_cached_world(seed).inputs["items"]},
    ).to_pylist()
    wanted = exposure_of_providers(draw_cached_world(seed), 5)
    assert [row["point"] for row in rows] == [1, 2, 3]
    assert [row["provider"] for row in rows] == sorted(wanted, key=lambda name: -wanted[name][0])
    for row in rows:
        assert (row["exposure_share"], row["catalog_share"]) == pytest.approx(
            wanted[row["provider"]], abs=1e-12
        )
