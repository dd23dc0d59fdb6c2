"""Hold and check options of confidence intervals (level, method, unit, replicates, seed), and name
columns that intervals add.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError, join_sentences, short_repr
from sqlrank.registry.resolved_metric import ResolvedMetric, is_bounded_0_1, is_bounded_minus1_1

if TYPE_CHECKING:
    from collections.abc import Sequence


BOOTSTRAP = "bootstrap"
SEQUENTIAL = "sequential"
"""Intervals of comparisons, gates and experiments: for one look at the planned end, or valid at
every look.
"""

INTERVAL_METHODS = ("auto", "wilson", "t", "normal", BOOTSTRAP)

REPLICATE_COLUMN, MULTIPLICITY_COLUMN = "replicate", "times_drawn"
RESAMPLING_COLUMNS = (
    *(REPLICATE_COLUMN, "place_drawn", "unit_digest", "unit_start", "unit_step"),
    MULTIPLICITY_COLUMN,
)
"""Names of the columns that resampling adds, as ``resampled_rows.sql`` has them."""

METRIC_COLUMN = "metric"
"""Column of the name of a metric where intervals of several have the same formula."""

INTERVAL_STEP_COLUMNS = (
    *(
        METRIC_COLUMN,
        "value",
        "units",
        "squares",
        "fourth_powers",
        "positive_squares",
        "negative_squares",
        "positives",
        "negatives",
    ),
    *(
        "positive_size",
        "negative_size",
        "smaller_class_size",
        "unit_size",
        "entering_units",
        "all_units",
        "size",
        "se",
        "concentration",
    ),
    *("cell_squares", "enlarged_se"),
    *("t_growth", "effective_df", "inflation", "proportion", "center", "t_quantile"),
    *("variance", "variance_ratio", "quantile_ratio", "shrinkage", "margin", "ci_low", "ci_high"),
)
"""Names of the columns of the steps of intervals."""

DEFAULT_QUERY_REPLICATES, DEFAULT_ROW_REPLICATES, MIN_REPLICATES, MAX_REPLICATES = (
    999,
    199,
    99,
    9999,
)
"""Numbers of bootstrap replicates: default for query values and rows, minimum, maximum."""

MAX_LEVEL = 1 - 1e-9
"""Highest confidence level; quantiles of higher levels are lost to rounding."""

DEFAULT_SIGN_REPLICATES, MAX_SIGN_REPLICATES = 9999, 1_000_000
"""Default and maximum number of random sign flips in a randomization test."""

ROUNDING_TOLERANCE = 1e-6
"""Tolerance for rounding errors in the required number of replicates."""


@dataclass(frozen=True)
class IntervalOptions:
    """The options of confidence intervals.

    Attributes:
        level: Confidence level, such as 0.95.
        method: Method: ``auto``, ``wilson``, ``t``, ``normal`` or ``bootstrap``.
        unit: Column that identifies independent units, None if the user named none.
        per_unit: Return one pseudo-value per unit instead of intervals; ``compare`` computes its
            tests from them.
        replicates: Number of bootstrap replicates, 0 for analytic intervals.
        seed: Seed of the resampling.
        resamples_rows: Resample the rows of predictions instead of query values.
    """

    level: float
    method: str = "auto"
    unit: str | None = None
    per_unit: bool = False
    replicates: int = 0
    seed: int = 0
    resamples_rows: bool = False

    @property
    def is_bootstrap(self) -> bool:
        """True if intervals are computed by bootstrap."""
        return self.replicates > 0

    @property
    def tail_probability(self) -> float:
        """Probability outside either limit of the interval."""
        return (1 - self.level) / 2

    def method_for(self, metric: ResolvedMetric, is_group_metric: bool) -> str:
        """Return the interval method of a metric: its own, Wilson's for proportions, else Student's
        t.

        Args:
            metric: The metric.
            is_group_metric: The metric is computed from all rows of a group, not as a mean of
                values.
        """
        if self.method != "auto":
            return "t" if self.method == "normal" else self.method
        declared_method = metric.file.interval.limits if is_group_metric else ""
        return declared_method or (
            "wilson" if is_bounded_0_1(metric) or is_bounded_minus1_1(metric) else "t"
        )

    def needs_class_sizes(self, method: str) -> bool:
        """Return True if a SQL file declares the method.

        Such methods may need the sizes of two classes.
        """
        return method not in INTERVAL_METHODS


def check_replicates(count: int | None, level: float | None = None) -> None:
    """Validate the number of bootstrap replicates for a confidence level.

    Without a level, the number is that of a randomization test.

    Raises:
        MetricError: No replicate would lie outside an interval limit, or the number is above the
            maximum.
    """
    if level is None:
        minimum, maximum, default, purpose = (
            MIN_REPLICATES,
            MAX_SIGN_REPLICATES,
            DEFAULT_SIGN_REPLICATES,
            "a randomization test",
        )
    else:
        minimum = max(MIN_REPLICATES, math.ceil(2 / (1 - level) - ROUNDING_TOLERANCE) - 1)
        maximum, default, purpose = (
            MAX_REPLICATES,
            max(DEFAULT_QUERY_REPLICATES, minimum),
            f"confidence={level:g}",
        )
    if minimum > maximum:
        raise MetricError(
            f"interval='bootstrap' at {purpose} takes {minimum} replicates, more than {maximum}."
            " Give a lower confidence"
        )
    if count is None or not minimum <= count <= maximum:
        raise MetricError(
            f"replicates={count} is not possible for {purpose}: give {minimum} to {maximum}, such"
            f" as {default}"
        )


def describe_query_units(metric: ResolvedMetric, unit: Any, systems: Sequence[str] = ()) -> str:
    """Return the message on a unit other than queries for a metric of these, with the two calls
    that have it.

    ``systems`` are the columns that tell compared systems apart.
    """
    problem = (
        f"unit={unit!r} is not possible for {metric.metric}, whose units are queries. Leave out"
        " unit"
    )
    if metric.compares_within_queries:
        return f"{problem}{_advise_on_folds(metric)}"  # it is no mean of values of queries
    by = [*systems, str(unit)]
    values = (
        f"evaluate its values of queries with by={(by if len(by) > 1 else unit)!r} and"
        " per_query=True"
    )
    return (
        f"{problem}, or {values}, and give these as predictions to {metric.mean_of_values} with"
        f" unit={unit!r}{_advise_on_folds(metric)}"
    )


def _advise_on_folds(metric: ResolvedMetric) -> str:
    """Return the advice for queries that have rows of every unit, of which values by unit do not
    exist; empty for rankings.
    """
    if metric.input_role == "run":
        return ""
    name = {"GAUC": "AUC"}.get(metric.metric.name, metric.metric.name)
    return (
        f". If queries are folds, which share units, leave out level and query_id: {name} of all"
        " rows has the unit"
    )


def check_confidence_level(level: Any) -> None:
    """Check that a confidence level is a number from 0.5 to ``MAX_LEVEL``."""
    is_number = isinstance(level, (int, float)) and not isinstance(level, bool)
    # A coin flip
    if not (is_number and 0.5 <= level <= MAX_LEVEL):  # noqa: PLR2004
        # The command line reads 95 as a float.
        typed_level = int(level) if isinstance(level, float) and level.is_integer() else level
        problem = f"confidence={short_repr(typed_level)} is not possible"
        meant = (
            next((text for text in (level / 100, 1 - level) if 0.5 <= text <= MAX_LEVEL), None)  # noqa: PLR2004
            if is_number
            else None
        )
        advice = "" if meant is None else f"Did you mean confidence={meant:g}?"
        raise MetricError(
            join_sentences(
                problem, advice, f"It is a number from 0.5 to {MAX_LEVEL:.9f}, such as 0.95"
            )
        )
