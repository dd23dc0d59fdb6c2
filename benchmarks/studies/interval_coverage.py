"""Coverage of the intervals of every metric, and errors of tests and gates, on samples in which a
cell is small, which samples.py draws.

Every metric of the registry with an interval is evaluated on the designs of its inputs, all samples
in one call. The truth is the metric of one large sample. ``python -m
benchmarks.studies.interval_coverage --samples 3000 --seed 2`` lists the cells outside the limits
that docs/coverage.md does not list.
"""

from __future__ import annotations

import argparse
import math
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

import sqlrank
from benchmarks.studies.samples import DESIGNS, KINDS, Design, Sources
from sqlrank.registry.loader import load_registry
from website.examples import format_metric, list_roles

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

LEAST, MOST, WIDEST = 92.0, 98.5, 1.25
"""Limits of the coverage in percent, and of the mean width as a multiple of the narrowest reference
that covers.
"""

VARIANTS = {
    "MulticlassPrecision": ("average=weighted",),
    "MulticlassRecall": ("average=weighted",),
    "MulticlassFBeta": ("average=weighted",),
    "MultilabelPrecision": ("average=micro", "average=weighted", "average=samples"),
    "MultilabelRecall": ("average=micro", "average=weighted", "average=samples"),
    "MultilabelFBeta": ("average=micro", "average=weighted", "average=samples"),
    "MultilabelJaccard": ("average=micro", "average=weighted", "average=samples"),
    "MulticlassAUC": ("average=weighted", "multi_class=ovo"),
    "Uplift": ("targeting=by_arm",),
    "GAUC": ("query_weight=equal",),
}
"""Settings of metrics that are computed in another way, besides the default one."""


class ListedCell(NamedTuple):
    """Metrics whose intervals are outside the limits on a design, and the lowest percentage of
    samples in which they hold the truth.
    """

    kind: str
    design: str
    metrics: tuple[str, ...]
    coverage: float


def read_table(heading: str) -> list[list[str]]:
    """Return the cells of the rows of the table under a heading of docs/coverage.md."""
    page = (
        (ROOT / "docs" / "coverage.md")
        .read_text("utf-8")
        .partition(f"## {heading}\n")[2]
        .partition("\n##")[0]
    )
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in page.splitlines()
        if line.startswith("| ")
    ][1:]


@cache
def read_listed_cells() -> list[ListedCell]:
    """Return the samples that are too small for some metrics."""
    rows = read_table("Samples that are too small")
    return [
        ListedCell(kind, design, tuple(metrics.split(", ")), float(coverage.split(" %")[0]))
        for kind, design, metrics, coverage, _ in rows
    ]


def read_listed_errors(design: Design) -> tuple[float, float]:
    """Return the greatest percentages of small p-values and of passes on a design: those listed,
    else the limits of all.
    """
    rows = read_table("Comparisons and gates")
    listed = {
        (kind, name): (float(different.split(" %")[0]), float(passed.split(" %")[0]))
        for kind, name, _, different, passed in rows
    }
    return listed.get((design.kind, design.name), (MOST_DIFFERENT, MOST_PASSED))


def find_listed_cell(design: Design, metric: str) -> ListedCell | None:
    """Return the listed cell of a metric on samples of a design, None if all limits hold."""
    names = {metric, metric.partition("(threshold")[0].partition("@")[0]}
    return next(
        (
            each
            for each in read_listed_cells()
            if (each.kind, each.design) == (design.kind, design.name) and names & {*each.metrics}
        ),
        None,
    )


def list_metrics(design: Design) -> list[str]:
    """Return the metrics of the registry that read the inputs of a design and have an interval,
    with a threshold that finds positives.
    """
    kind = KINDS[design.kind]
    metrics = []
    for file in load_registry().metrics.values():
        declared = file.interval
        is_asked = (
            declared.influence or declared.no_influence
            if design.is_bootstrap
            else not declared.no_influence
        )
        if (
            declared.no_interval
            or not is_asked
            or tuple(list_roles(file)) != kind.roles
            or not kind.reads(file)
        ):
            continue
        settings = ["", *VARIANTS.get(file.display_name, ())]
        if "threshold_from" in file.declared_settings and abs(design.level) > 1:
            settings = [f"threshold={0.05 if design.level < 0 else 0.95}"]
        if design.is_bootstrap and "level" in file.declared_settings:
            settings = ["level=group"]
        name, *cutoff = format_metric(file).split("@")
        metrics += ["@".join([f"{name}({text})" if text else name, *cutoff]) for text in settings]
    return metrics


def split_sources(sources: Sources) -> tuple[Sources, Sources]:
    """Return the inputs with an argument of their own, and the others."""
    named = {
        name: table
        for name, table in sources.items()
        if name in {"run", "qrels", "predictions", "queries"}
    }
    return named, {name: table for name, table in sources.items() if name not in named}


def evaluate_columns(metrics: list[str], sources: Sources, **options: Any) -> dict[str, np.ndarray]:
    """Return the columns of a result as arrays."""
    named, inputs = split_sources(sources)
    result = sqlrank.evaluate(metrics, **named, inputs=inputs, check="off", **options)
    return {
        name: np.array(result[name].to_pylist(), dtype=float)
        for name in result.column_names
        if name != "sample"
    }


@cache
def find_truth(name: str, kind: str) -> dict[str, float]:
    """Return the metrics of one large sample of a design."""
    design = next(each for each in DESIGNS if (each.name, each.kind) == (name, kind))
    return {
        metric: values[0]
        for metric, values in evaluate_columns(list_metrics(design), design.draw_large()).items()
    }


class Cell(NamedTuple):
    """How the interval of a metric did: coverage and NULLs in percent, mean width over the
    narrowest reference that covers.
    """

    coverage: float
    missing: float
    width: float
    reference: str

    def is_within(self) -> bool:
        """Return True if all limits hold."""
        return LEAST <= self.coverage <= MOST and not self.missing and not self.width > WIDEST


def evaluate_parts(
    design: Design, samples: int, seed: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the columns of the default intervals of all samples, and those of Student's."""
    metrics = list_metrics(design)
    options = {"by": "sample", "confidence": 0.95, **design.options}
    parts = []
    for sources in design.draw_parts(seed, samples):
        columns = evaluate_columns(metrics, sources, **options)
        plain = (
            columns
            if design.is_bootstrap
            else evaluate_columns(metrics, sources, interval="t", **options)
        )
        parts.append((columns, plain))
    default, student = (
        {name: np.concatenate([part[name] for part in each]) for name in each[0]}
        for each in zip(*parts, strict=True)
    )
    return default, student


def measure_design(design: Design, samples: int, seed: int) -> Iterator[tuple[str, Cell]]:
    """Yield the metrics of a design with how their intervals did."""
    truth = find_truth(design.name, design.kind)
    columns, plain = evaluate_parts(design, samples, seed)
    for metric in truth:
        value, error, low, high = (
            columns[f"{metric}{suffix}"] for suffix in ("", ".se", ".ci_low", ".ci_high")
        )
        is_there = ~np.isnan(low)
        if not is_there.any():
            yield metric, Cell(0.0, 100.0, math.nan, "none")
            continue
        holds = (low <= truth[metric] + 1e-12) & (truth[metric] <= high + 1e-12)
        # What multiple of the standard error covers is known here alone.
        with np.errstate(divide="ignore", invalid="ignore"):
            multiple = np.nanquantile(
                np.where(error > 0, abs(value - truth[metric]) / error, np.inf), 0.95
            )
        widths = {"scaled": 2 * multiple * np.nanmean(error)}
        t_low, t_high = (plain[f"{metric}{suffix}"] for suffix in (".ci_low", ".ci_high"))
        if np.mean((t_low <= truth[metric]) & (truth[metric] <= t_high)) * 100 >= LEAST:
            widths["t"] = np.nanmean(t_high - t_low)
        reference = min(widths, key=lambda name: widths[name])
        width = (
            float(np.nanmean(high - low) / widths[reference])
            if math.isfinite(widths[reference])
            else math.nan
        )
        yield metric, Cell(100 * holds[is_there].mean(), 100 * (~is_there).mean(), width, reference)


PAIRED = {
    "binary": ("predictions", "score"),
    "numbers": ("predictions", "score"),
    "classified": ("classified", "predicted"),
    "class_scores": ("class_scores", "score"),
    "class_labels": ("class_labels", "predicted"),
    "ratings": ("ratings", "rating"),
    "logs": ("logs", "target_propensity"),
    "uplift": ("uplift", "score"),
    **dict.fromkeys(
        (
            "rankings",
            "subtopics",
            "clicks",
            "features",
            "history",
            "popularity",
            "history and features",
            "history and items",
        ),
        ("run", "score"),
    ),
}
"""By kind the input with a column of one system, and one of another that is as good."""

MOST_DIFFERENT, MOST_PASSED = 7.0, 4.0
"""Limits in percent of p-values below 0.05 of equal systems, and of gates that pass a loss of the
tolerance.
"""


def measure_comparisons(
    design: Design, samples: int, seed: int
) -> Iterator[tuple[str, float, float]]:
    """Yield the metrics of a design with the percentages of p-values below 0.05 and of gates that
    pass, for two equally good systems.

    A gate without a tolerance passes if the interval is above 0, in samples in which the systems
    differ: a loss of the tolerance.
    """
    parts = [compare_part(design, sources) for sources in design.draw_parts(seed, samples)]
    metric, p_value, low = (np.concatenate(each) for each in zip(*parts, strict=True))
    for name in dict.fromkeys(metric):
        is_row = metric == name
        different, passed = np.mean(p_value[is_row] < 0.05), np.mean(low[is_row] >= 0)
        yield str(name), 100 * float(different), 100 * float(passed)


def compare_part(design: Design, sources: Sources) -> tuple[np.ndarray, ...]:
    """Return metrics, p-values and lower limits of the differences of two systems by sample."""
    role, column = PAIRED[design.kind]
    options: dict[str, Any] = {
        "by": "sample",
        "correction": "none",
        "check": "off",
        **design.options,
    }
    if role == "predictions":
        options["columns"] = {"score": [column, "other"]}
    else:
        table = sources[role]
        systems = [
            table.select([name for name in table.column_names if name not in {column, "other"}])
            .append_column(column, table[each])
            .append_column("system", pa.array([each] * table.num_rows))
            for each in (column, "other")
        ]
        if role in {"classified", "logs", "uplift"}:
            options.setdefault("unit", "unit")
        elif role in {"class_scores", "class_labels"}:
            options.setdefault("unit", "prediction_id")
        sources = {**sources, role: pa.concat_tables(systems)}
    named, inputs = split_sources(sources)
    # A mean of one of several scores has no second system
    metrics = [
        name for name in list_metrics(design) if role != "predictions" or "(score)" not in name
    ]
    compared = sqlrank.compare(metrics, **named, inputs=inputs, **options)
    types = {"metric": str, "p_value": float, "ci_low": float}
    return tuple(np.array(compared[name].to_pylist(), type_) for name, type_ in types.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--design", default="", help="words of one, such as 'binary, 3 users'")
    parser.add_argument("--compare", action="store_true", help="comparisons instead of intervals")
    parser.add_argument("--all", action="store_true", help="list the cells within the limits, too")
    options = parser.parse_args()
    for design in DESIGNS:
        if options.design not in f"{design.kind}, {design.name}":
            continue
        start = time.perf_counter()
        for metric, different, passed in (
            measure_comparisons(design, options.samples, options.seed)
            if options.compare and design.kind in PAIRED and not design.is_bootstrap
            else ()
        ):
            limits = read_listed_errors(design)
            if options.all or different > limits[0] or passed > limits[1]:
                print(
                    f"{design.kind}, {design.name}: {metric} of equal systems p < 0.05 in"
                    f" {different:.1f} %, passed {passed:.1f} %"
                )
        for metric, cell in (
            () if options.compare else measure_design(design, options.samples, options.seed)
        ):
            if options.all or not (cell.is_within() or find_listed_cell(design, metric)):
                print(
                    f"{design.kind}, {design.name}: {metric} {cell.coverage:.1f} %"
                    f" ({cell.width:.2f} of {cell.reference}), NULL {cell.missing:.1f} %"
                )
        print(f"-- {design.kind}, {design.name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
