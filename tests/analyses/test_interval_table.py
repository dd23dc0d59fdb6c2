"""Intervals, comparisons and gates of every metric on samples with a small cell, as
benchmarks/studies/samples.py draws them.
"""

import pytest

from benchmarks.studies.interval_coverage import (
    LEAST,
    MOST,
    PAIRED,
    WIDEST,
    find_listed_cell,
    list_metrics,
    measure_comparisons,
    measure_design,
    read_listed_cells,
    read_listed_errors,
)
from benchmarks.studies.samples import DESIGNS, WITHOUT_TRUTH, Design
from sqlrank.registry.loader import load_registry
from tests.lanes import select_few
from website.examples import format_metric

QUICK = {
    "classified, 3 rows of a class", "ratings, 10 items", "logs, 10 users",
    "queries, 8 queries", "records, 10 clusters",
}  # fmt: skip
"""Designs that are drawn in every run of the tests."""


def name_design(design: Design) -> str:
    return f"{design.kind}, {design.name}"


NAMES = [name_design(design) for design in DESIGNS]


def list_names(metrics: list[str]) -> set[str]:
    return {metric.partition("(")[0] for metric in metrics}


def test_every_interval_is_in_the_table():
    listed = {name for design in DESIGNS for name in list_names(list_metrics(design))}
    files = load_registry().metrics.values()
    expected = list_names(
        [
            format_metric(file)
            for file in files
            if not (file.interval.no_interval or file.full_name in WITHOUT_TRUTH)
        ]
    )
    assert expected - listed == set()
    cells = [(each, metric) for each in read_listed_cells() for metric in each.metrics]
    designs = {(design.kind, design.name): list_metrics(design) for design in DESIGNS}
    without_settings = {
        key: {*metrics, *(name.partition("@")[0] for name in list_names(metrics))}
        for key, metrics in designs.items()
    }
    assert [
        (each, metric)
        for each, metric in cells
        if metric not in without_settings.get((each.kind, each.design), ())
    ] == []


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "place",
    select_few(
        range(len(DESIGNS)),
        [place for place, design in enumerate(DESIGNS) if name_design(design) in QUICK],
    ),
    ids=NAMES,
)
def test_limits_hold_where_a_cell_is_small(place):
    """All metrics, but for what this number of samples varies by, and for what docs/coverage.md
    lists.
    """
    design, samples = DESIGNS[place], 300
    wrong = []
    for metric, cell in measure_design(design, samples, seed=1):
        listed = find_listed_cell(design, metric)
        least = LEAST if listed is None else listed.coverage
        intervals = max(samples * (1 - cell.missing / 100), 1)
        error = 4 * (least * (100 - min(least, 97)) / intervals) ** 0.5
        is_too_wide = listed is None and (
            cell.coverage > MOST + 1.3 or cell.width > WIDEST * 1.2 or cell.missing > 0
        )
        if cell.coverage < least - error or is_too_wide:
            wrong.append((metric, cell))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "design",
    [
        pytest.param(design, id=name_design(design))
        for design in DESIGNS
        if design.kind in PAIRED and not design.is_bootstrap
    ],
)
def test_equally_good_systems(design):
    """Tests find them different, and gates pass, in few samples."""
    samples = 300
    limits = read_listed_errors(design)
    different, passed = (limit + 4 * (limit * (100 - limit) / samples) ** 0.5 for limit in limits)
    found = list(measure_comparisons(design, samples, seed=1))
    assert found
    assert [each for each in found if each[1] > different or each[2] > passed] == []
