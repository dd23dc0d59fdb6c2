"""Name the columns of results, such as ``ci_low``, with the kind of their values, and define
schemas of comparisons, gates, drift and experiments.

Of a metric ``AUC``, ``ci_low`` is ``AUC.ci_low``, in SQL ``auc_ci_low``. Terminals, files, charts
and reports format a column by its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from sqlrank.errors import MetricError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sized

ResultRow = Mapping[str, Any]
"""A row of a result: its values by the names of columns."""

CI_LOW, CI_HIGH, SE = "ci_low", "ci_high", "se"
"""Limits of a confidence interval, and the standard error."""

N_UNITS, N_BUCKETS = "n_units", "n_buckets"
"""Number of independent units behind a value, or of jackknife buckets behind an interval."""

BOUND_LOW, BOUND_HIGH = BOUNDS = ("bound_low", "bound_high")
"""Certain bounds of a rank metric over all orders within score bins."""

NOTES_KEY = "sqlrank.notes"
REGRESSIONS_KEY = "sqlrank.regressions"
"""Metadata key of the notes on a result, a line each."""

P_VALUE, P_ADJUSTED = "p_value", "p_adjusted"
"""Two-sided p-value, before and after the correction for multiple comparisons."""

LIFT_LIMITS = ("relative_ci_low", "relative_ci_high")
"""Limits of the interval of a relative difference."""

SRM_ALPHA = 0.001
"""P-value of the test of the sample ratio below which units are not assigned as planned."""

WINS = ("wins", "ties", "losses")
"""Numbers of units in which a system is better, equal and worse."""

NUM_DAYS, NUM_ROWS = "num_days", "num_rows"
"""Number of days and of rows that a rollup merges."""

SLICE_COLUMN = "slice"
"""Column that names the grouping of a row."""

ALL_ROWS_LABEL = "all"
"""Label in ``slice`` of the grouping without columns."""

EXTREME_VALUES = ("value_min", "value_max")
"""Least and greatest value of the groups that are compared."""

PAIR_STATISTICS, RATIO_LIMITS = ("difference", "ratio"), ("ratio_ci_low", "ratio_ci_high")
"""Difference and ratio of these values, and the limits of the ratio; those of the difference are
``ci_low`` and ``ci_high``.
"""

GROUP_COUNTS = ("num_groups", "num_undefined")
"""Number of compared groups with a value, and of those without."""

COMPONENT_COLUMN = "component"
"""Column of the metric that a difference of several metrics is of, such as Recall of
EqualizedOdds.
"""


def extreme_column(name: str, extreme: str) -> str:
    """Return the column of the group that has an extreme value.

    >>> extreme_column("country", "value_min")
    'country_min'
    """
    return f"{name}_{extreme.removeprefix('value_')}"


def difference_columns(across: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of differences between groups of some columns, without those of ``by``;
    none without such columns.
    """
    extremes = [extreme_column(name, side) for name in across for side in EXTREME_VALUES]
    limits = [f"{side}_{limit}" for side in EXTREME_VALUES for limit in (CI_LOW, CI_HIGH)]
    names = (
        "metric",
        COMPONENT_COLUMN,
        *GROUP_COUNTS,
        *EXTREME_VALUES,
        *PAIR_STATISTICS,
        CI_LOW,
        CI_HIGH,
        *RATIO_LIMITS,
    )
    return (*extremes, *names, *limits) if extremes else ()


DIFFERENCE_STEP_COLUMNS = (
    *difference_columns(["compared"]),
    *(
        "position",
        "value",
        "bound_low",
        "bound_high",
        "value_rank",
        "value_rank_from_greatest",
        "num_compared",
        "difference_rank",
        "least_ratio",
    ),
    *("unit", "influence", "num_values", "num_pairs"),
)
"""Columns that the steps of differences between groups have besides keys, and that no group-by
column may have in a statement.
"""


class Kind(Enum):
    """Kind of the values of a column, which decides on their Arrow type in contrasts and on their
    text.
    """

    VALUE = auto()
    DIFFERENCE = auto()
    LIFT = auto()
    P_VALUE = auto()
    COUNT = auto()
    TEXT = auto()


_KINDS = {
    **dict.fromkeys(
        (
            "value",
            *BOUNDS,
            CI_LOW,
            CI_HIGH,
            "ci_level",
            SE,
            "sd",
            "cohens_d",
            "statistic",
            "df",
            "mde",
            "cuped_theta",
        ),
        Kind.VALUE,
    ),
    "difference": Kind.DIFFERENCE,
    **dict.fromkeys(("relative_difference", *LIFT_LIMITS), Kind.LIFT),
    **dict.fromkeys((P_VALUE, P_ADJUSTED), Kind.P_VALUE),
    **dict.fromkeys(
        (N_UNITS, N_BUCKETS, "unpaired", *WINS, "required_units", NUM_DAYS, NUM_ROWS, "n"),
        Kind.COUNT,
    ),
    **dict.fromkeys(("smallest", "largest", "clusters", "all_records"), Kind.COUNT),
    **dict.fromkeys(("tolerance", "verdict", "winner", "test", "correction", "reason"), Kind.TEXT),
}
"""Kinds of the quantities of results."""

_ARROW_TYPES = {Kind.COUNT: "int64", Kind.TEXT: "string"}
"""Arrow types of quantities; others are ``double``."""


def column_kind(name: str) -> Kind:
    """Return the kind of a column by its name.

    Of an unknown one it is a value: an integer among them may be an identifier, which has no
    separators.

    >>> column_kind("p_adjusted").name, column_kind("num_q").name, column_kind("nDCG@10").name
    ('P_VALUE', 'COUNT', 'VALUE')
    """
    is_count = name.startswith(("num_", N_UNITS)) or name.endswith("_links")
    return _KINDS.get(name, Kind.COUNT if is_count else Kind.VALUE)


def side_columns(name: str, left: str, right: str = "") -> tuple[str, str]:
    """Return the columns of a quantity of both sides; the right one has the plain name without
    ``right``.

    >>> side_columns("value", "baseline"), side_columns("value", "reference", "current")
    (('value_baseline', 'value'), ('value_reference', 'value_current'))
    """
    return f"{name}_{left}", f"{name}_{right}" if right else name


def contrast_schema(
    left: str,
    right: str = "",
    *,
    labels: Iterable[str] = ("metric",),
    quantities: Iterable[str],
    paired: Collection[str] = ("value", NUM_DAYS, NUM_ROWS),
) -> dict[str, str]:
    """Return the columns of a contrast with their Arrow types, in order.

    Args:
        left: the side that the other is compared with: ``baseline``, ``control`` or ``reference``.
        right: the suffix of the other side's columns.
        labels: the columns that name the metric and the sides.
        quantities: the quantities after them.
        paired: those of them that each side has.

    >>> contrast_schema("baseline", quantities=["value", "difference"])
    {'metric': 'string', 'value_baseline': 'double', 'value': 'double', 'difference': 'double'}
    """
    schema = dict.fromkeys(labels, "string")
    for name in quantities:
        schema |= dict.fromkeys(
            side_columns(name, left, right) if name in paired else (name,),
            _ARROW_TYPES.get(_KINDS[name], "double"),
        )
    return schema


def check_group_names(
    names: Iterable[str],
    columns: Collection[str],
    argument: str = "by",
    can_rename: bool = True,
) -> None:
    """Raise ``MetricError`` if a column of groups, which may be quoted, has the name of another
    column of the result; ``can_rename`` says whether the argument takes ``name=column``.
    """
    for name in names:
        label = name[1:-1] if name[:1] in {'"', "`"} else name
        if label in columns:
            own = label.removesuffix("_id") if label.endswith("_id") else "own"
            column = label if label.isidentifier() else f'"{label}"'
            advice = f"Give it another name, such as {argument}={f'{own}={column}'!r}"
            raise MetricError(
                f"{argument} cannot name {label!r}, which is a column of the run or of the result."
                f" {advice if can_rename else 'Rename the column'}"
            )


def slice_columns(groupings: Sized) -> tuple[str, ...]:
    """Return the name of the column that says which grouping a row is of, if there are several."""
    return (SLICE_COLUMN,) if len(groupings) > 1 else ()


def slice_value(columns: Iterable[str], groupings: Sized) -> dict[str, str]:
    """Return the value of that column for a grouping by some columns."""
    return {name: ", ".join(columns) or ALL_ROWS_LABEL for name in slice_columns(groupings)}


SYSTEM_LABELS = ("metric", "baseline", "system")
_INTERVAL = (CI_LOW, CI_HIGH)

COMPARISON_SCHEMA = contrast_schema(
    "baseline",
    labels=SYSTEM_LABELS,
    quantities=(
        "value", "difference", *_INTERVAL, "ci_level", "relative_difference", SE, N_UNITS,
        "unpaired", *WINS, "cohens_d", "statistic", P_VALUE, "p_adjusted", "winner", "mde",
        "required_units", "test", "correction", "reason",
    ),
)  # fmt: skip
"""Columns of a comparison of systems."""

POWER_SCHEMA = contrast_schema(
    "baseline",
    labels=SYSTEM_LABELS,
    quantities=("value", N_UNITS, "sd", "ci_level", "mde", "required_units", "reason"),
)
"""Columns of a plan of comparisons."""

ROLLUP_COMPARISON_SCHEMA = COMPARISON_SCHEMA | contrast_schema(
    "baseline", labels=(), quantities=(*BOUNDS, N_BUCKETS, NUM_DAYS, NUM_ROWS)
)
"""Columns of a comparison of rollups: those of all comparisons, and those that only rollups
have.
"""

GATE_SCHEMA = contrast_schema(
    "baseline",
    labels=SYSTEM_LABELS,
    quantities=(
        "value", "difference", *_INTERVAL, "relative_difference", SE, N_UNITS, "unpaired", *WINS,
        "tolerance", "verdict", "reason", "required_units",
    ),
)  # fmt: skip
"""Columns of a gate."""

PSI = "PSI"
"""Name of the population stability index, which is a distance between two periods."""

DRIFT_SCHEMA = contrast_schema(
    "reference",
    "current",
    quantities=(
        "value", "difference", *BOUNDS, *_INTERVAL, SE, N_BUCKETS, P_VALUE, "tolerance", "verdict",
        "reason", NUM_DAYS, NUM_ROWS,
    ),
)  # fmt: skip
"""Columns of drift; a result has those of its arguments."""

EXPERIMENT_SCHEMA = contrast_schema(
    "control",
    labels=("metric", "control", "variant"),
    quantities=(
        "value", "difference", *_INTERVAL, "ci_level", "relative_difference", *LIFT_LIMITS, SE,
        N_UNITS, "statistic", "df", P_VALUE, "p_adjusted", "winner", "mde", "cuped_theta",
    ),
    paired=("value", N_UNITS),
)  # fmt: skip
"""Columns of an experiment."""
