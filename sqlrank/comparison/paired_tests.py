"""Test paired differences: intervals, p-values, sign-flip randomization, corrections for multiple
comparisons such as max-t, power, and confidence sequences, which are valid at every look.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlrank.call.interval_options import (
    DEFAULT_SIGN_REPLICATES,
    SEQUENTIAL,
    check_confidence_level,
    check_replicates,
)
from sqlrank.compiler.select_builders import inline_functions
from sqlrank.engines.duckdb_session import fetch_tuples
from sqlrank.errors import InputError, MetricError, count_things
from sqlrank.inference import (
    HypothesisFamily,
    Tolerance,
    adjust_p_values,
    clear_rounding_noise,
    minimum_detectable_effect,
    reconcile_interval,
    required_units,
    sign_test,
    t_critical_value,
    t_interval,
    t_test,
    wilcoxon_test,
)
from sqlrank.registry.loader import load_registry
from sqlrank.registry.query_templates import RepeatedNames, load_select, repeat_columns
from sqlrank.result_metadata import LeftOut
from sqlrank.sql_ast import bind_placeholders, sql_literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb

    from sqlrank.comparison.comparison_plan import ComparisonPlan
    from sqlrank.comparison.paired_differences import ContrastKey, DifferenceSummary, PairedUnits


EXPECTED_UNITS = 1000
"""Number of units at which intervals are the narrowest by default; by simulation, looks from 20
units on err as often as stated or less, unless differences are skewed
(benchmarks/studies/peeking.py).
"""

MIN_SEQUENCE_UNITS = 200
"""Number of units below which a note says that the guarantee needs many."""


COUNTS = (
    *range(2, 1000),
    *(digits * 10**zeros for zeros in range(1, 7) for digits in range(100, 1000)),
)
"""Numbers of units of three digits, which required units are rounded up to."""


@dataclass(frozen=True)
class ConfidenceSequence:
    """The confidence sequence of a mean: intervals that together hold it at every look, with a
    probability of ``level``.

    It is the narrowest at ``expected_units``. The guarantee needs both to be the same at each look.
    DuckDB evaluates the files of ``sql/analyses/experiments``, which have the formulas.
    """

    database: duckdb.DuckDBPyConnection
    level: float
    expected_units: int
    _critical_values: dict[tuple[float, float], float] = field(default_factory=dict)

    def _evaluate_sequence(
        self, column: str, requests: Sequence[tuple[float, float, float]]
    ) -> list[float]:
        """Return ``critical_value`` or ``p_value`` by statistics, levels and degrees of freedom,
        one less than units.
        """
        arguments = {
            "metric": list(range(len(requests))),
            "difference": [statistic for statistic, _, _ in requests],
            "alpha": [1 - level for _, level, _ in requests],
            "n_units": [df + 1 for *_, df in requests],
        }
        constants = {
            name: sql_literal(value)
            for name, value in {"variant": 0, "n_units_control": 0, "se": 1}.items()
        }
        columns = {
            name: exp.Explode(this=exp.Placeholder(this=name)) for name in arguments
        } | constants
        tuning = {
            "tuned_alpha": sql_literal(1 - self.level),
            "expected_units": sql_literal(self.expected_units),
        }
        steps = {
            "effects": exp.select(*(value.as_(name) for name, value in columns.items())),
            "sequence_scales": bind_placeholders(
                load_select("analyses/experiments", "sequence_scales.sql"), **tuning
            ),
            "critical_values": inline_functions(
                load_registry(),
                load_select("analyses/experiments", "critical_values", "sequential.sql"),
                {},
            ),
        }
        query = exp.select(column).from_("critical_values").order_by("metric")
        for name, step in steps.items():
            query = query.with_(name, as_=step)
        return [value for (value,) in fetch_tuples(self.database, query.sql("duckdb"), arguments)]

    def critical_values(self, requests: Iterable[tuple[float, float]]) -> list[float]:
        """Return the standard errors that intervals reach to each side, by their levels and degrees
        of freedom.
        """
        requests = list(requests)
        if missing := list(
            dict.fromkeys(request for request in requests if request not in self._critical_values)
        ):
            values = self._evaluate_sequence(
                "critical_value", [(0.0, *request) for request in missing]
            )
            self._critical_values.update(zip(missing, values, strict=True))
        return [self._critical_values[request] for request in requests]

    def critical_value(self, level: float, df: float) -> float:
        """Return a single critical value, as ``t_critical_value`` does for one look."""
        return self.critical_values([(level, df)])[0]

    def p_values(
        self, tests: Mapping[ContrastKey, tuple[float, float]]
    ) -> dict[ContrastKey, float]:
        """Return p-values that are valid at every look, by the t statistics and degrees of freedom
        of comparisons.

        A p-value is the least p for which the interval of level 1 - p excludes 0.
        """
        values = self._evaluate_sequence(
            "p_value", [(statistic, self.level, df) for statistic, df in tests.values()]
        )
        return dict(zip(tests, values, strict=True))

    def required_units(self, deviation: float, half_width: float, level: float) -> int | None:
        """Return the number of units required for an interval of this half-width, of three digits;
        None if there are not so many.
        """
        if (level, COUNTS[-1] - 1) not in self._critical_values:
            self.critical_values((level, count - 1) for count in COUNTS)
        place = bisect_left(
            COUNTS,
            0.0,
            key=lambda n: (
                half_width * math.sqrt(n) - deviation * self._critical_values[level, n - 1]
            ),
        )
        return COUNTS[place] if place < len(COUNTS) else None


def open_sequence(
    database: duckdb.DuckDBPyConnection, interval: str, level: float, expected_units: int | None
) -> ConfidenceSequence | None:
    """Return the confidence sequence for comparisons at several looks, None for the interval of one
    look.
    """
    return (
        ConfidenceSequence(database, level, expected_units or EXPECTED_UNITS)
        if interval == SEQUENTIAL
        else None
    )


def check_interval(interval: str, comparison: ComparisonPlan) -> None:
    """Raise ``MetricError`` for an interval that the metrics don't have."""
    if interval == SEQUENTIAL and comparison.uses_influence:
        raise MetricError(
            f"{comparison.measures[0].name} is compared by interval='fixed', unless level='query'"
            " asks for values of queries"
        )


def find_few_units(
    interval: str, summaries: Sequence[DifferenceSummary], comparison: ComparisonPlan
) -> list[LeftOut]:
    """Return the note on metrics with too few units for intervals that are valid at every look."""
    few = {
        summary.metric
        for summary in summaries
        if summary.se is not None and summary.units < MIN_SEQUENCE_UNITS
    }
    metrics = tuple(comparison.measures[index].name for index in sorted(few))
    if interval != SEQUENTIAL or not metrics:
        return []
    text = (
        f"fewer than {MIN_SEQUENCE_UNITS} queries: intervals for every look need many, and those of"
        " skewed differences err in up to 15 % of samples"
    )
    return [LeftOut(text, metrics)]


MAX_SIGN_FLIPS = 20_000_000_000
"""Maximum number of random signs, some minutes of work."""

STATISTIC_TOLERANCE = 1e-6
"""Relative tolerance when counting permutation statistics as at least as extreme."""


class SignFlips:
    """Sums of sign-flipped differences per comparison and replicate.

    Sums are integers in units of 2^-30 of the comparison's scale.
    """

    def __init__(
        self, units: PairedUnits, compared: Sequence[DifferenceSummary], replicates: int, seed: int
    ) -> None:
        self.compared = [summary for summary in compared if summary.units]
        if (
            num_signs := replicates * sum(summary.units for summary in self.compared)
        ) > MAX_SIGN_FLIPS:
            raise MetricError(
                f"{num_signs:,} signs would have to be drawn. Ask for fewer replicates=, groups or"
                " systems"
            )
        _check_ids(units)
        units.create_temp(
            "sign_seeds", load_select("analyses/comparison", "sign_seeds.sql"), seed=str(seed)
        )
        # One column per metric and pair, rows per group: one column per comparison would be 0 in
        # all other groups.
        columns = {
            key: str(number)
            for number, key in enumerate(
                dict.fromkeys((summary.metric, summary.pair) for summary in self.compared)
            )
        }
        comparisons: RepeatedNames = {("comparison",): [(number,) for number in columns.values()]}
        rows, flips = (
            repeat_columns(load_select("analyses/comparison", f"{name}.sql"), comparisons)
            for name in ("unit_difference_rows", "sign_flip_replicates")
        )
        numbers: dict[str, Any] = {
            f"{name}_of_{number}": value
            for key, number in columns.items()
            for name, value in zip(("metric", "pair"), key, strict=True)
        }
        units.create_temp("unit_difference_rows", rows, **numbers)
        units.create_temp("sign_flip_replicates", flips, replicates=replicates)
        # The sign-flipped sums of each comparison, in the order of replicates.
        table = units.fetch_arrow(
            exp.select("*").from_("sign_flip_replicates").order_by("cell", "replicate")
        )
        starts = {
            cell: index * replicates
            for index, cell in enumerate(table["cell"].to_pylist()[::replicates])
        }
        self.sums = [
            table[f"total_{columns[summary.metric, summary.pair]}"]
            .slice(starts[summary.cell], replicates)
            .to_pylist()
            for summary in self.compared
        ]

    def p_values(self) -> dict[ContrastKey, float]:
        """Return the p-value of each comparison by the randomization test (Fisher 1935), over drawn
        signs.

        It is the share of replicates with a mean difference at least as extreme. Sums within the
        rounding error, one per unit, count as equal.
        """
        p_values = {}
        for summary, sums in zip(self.compared, self.sums, strict=True):
            threshold = abs(summary.total or 0.0) - summary.units
            p_values[summary.key] = (1 + sum(abs(total) >= threshold for total in sums)) / (
                len(sums) + 1
            )
        return p_values

    def max_abs_t(self) -> list[float]:
        """Return the maximum t over all comparisons in each replicate (Westfall & Young 1993)."""
        columns = [
            [_t_statistic(total, summary) for total in sums]
            for summary, sums in zip(self.compared, self.sums, strict=True)
        ]
        return [max(values) for values in zip(*columns, strict=True)]

    def max_t_adjusted_p(self, greatest: Sequence[float]) -> dict[ContrastKey, float]:
        """Return adjusted p-values by comparison: the share of maximum t at least as extreme."""
        return {
            summary.key: (
                (
                    1
                    + sum(
                        value
                        >= _t_statistic(summary.total or 0.0, summary) * (1 - STATISTIC_TOLERANCE)
                        for value in greatest
                    )
                )
                / (len(greatest) + 1)
            )
            for summary in self.compared
        }


def empirical_quantile(greatest: Sequence[float], level: float) -> float:
    """Return the empirical quantile of the maximum t at a confidence level.

    >>> empirical_quantile([3.0, 1.0, 2.0, 4.0], 0.8)
    4.0
    """
    rank = min(len(greatest), math.ceil(level * (len(greatest) + 1)))
    return sorted(greatest)[rank - 1]


def _t_statistic(total: float, summary: DifferenceSummary) -> float:
    rest = (summary.squares or 0.0) - total * total / summary.units
    if rest <= 0:
        return math.inf if total else 0.0
    return abs(total) / math.sqrt(rest) * math.sqrt((summary.units - 1) / summary.units)


def _check_ids(units: PairedUnits) -> None:
    """Raise ``InputError`` for floating-point unit ids, whose text differs between engines."""
    id_type: Any = (
        units.fetch_arrow(exp.select("unit").from_("unit_values").limit(0))
        .schema.field("unit")
        .type
    )
    if pa.types.is_floating(id_type):
        raise InputError(
            "query_id: signs are drawn by ids, which are text or integers, and these are doubles."
            " Cast them to text"
        )


MIN_EFFECT = 1e-9
"""Minimum effect size; a smaller one would require more units than exist."""


@dataclass(frozen=True)
class TestOptions:
    """Test options: test, correction, confidence level, effect size, power, replicates and seed."""

    test: str
    correction: str
    confidence: float
    target_effect: float | str | None
    power: float
    replicates: int | None = None
    seed: int | None = None
    interval: str = "fixed"
    expected_units: int | None = None

    def __post_init__(self) -> None:
        """Raise ``MetricError`` for invalid options."""
        if self.correction == "max_t" and self.name != "t":
            option = "interval" if self.test == "t" else "test"
            raise MetricError(
                f"correction='max_t' is of t-tests. Leave out {option}={self.name!r}, or choose"
                " correction='holm'"
            )
        for name, number in (("replicates", self.replicates), ("seed", self.seed)):
            if number is not None and self.test != "randomization" and self.correction != "max_t":
                raise MetricError(
                    f"{name}={number} is for test='randomization' or correction='max_t', which draw"
                    " signs"
                )
        check_confidence_level(self.confidence)
        check_replicates(self.num_replicates)
        if self.target_effect is not None:
            Tolerance.parse(self.target_effect, "target_effect", MIN_EFFECT)

    @property
    def name(self) -> str:
        """Name of the test, ``sequential`` for one that is valid at every look."""
        return SEQUENTIAL if self.interval == SEQUENTIAL else self.test

    @property
    def num_replicates(self) -> int:
        """Number of drawn signs."""
        return DEFAULT_SIGN_REPLICATES if self.replicates is None else self.replicates

    def effect_on(self, value: float | None) -> float | None:
        """Return the absolute effect size, None without one; a relative one is multiplied by the
        baseline's value.
        """
        return (
            None
            if self.target_effect is None
            else Tolerance.parse(self.target_effect, "target_effect", MIN_EFFECT).compute_margin(
                value
            )
            or None
        )


@dataclass(frozen=True)
class TestResult:
    """A comparison with its test results; None is undefined."""

    summary: DifferenceSummary
    level: float
    se: float | None = None
    low: float | None = None
    high: float | None = None
    effect_size: float | None = None
    statistic: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    detectable: float | None = None
    needed: int | None = None
    is_decided: bool = False
    """True if test and interval both find the same system to have the higher value."""


def standard_error(summary: DifferenceSummary) -> float | None:
    """Return the standard error of a mean difference.

    It is 0 if the differences are equal up to rounding, and None for fewer than two units.
    """
    # One unit has no spread
    if summary.units < 2 or summary.se is None or summary.scale is None:  # noqa: PLR2004
        return None
    return clear_rounding_noise(summary.se, summary.scale)


def describe_few_changes(
    summary: DifferenceSummary, level: float, unit: str = "unit"
) -> str | None:
    """Return a sentence if so few units change that no test of their signs can reject at ``level``:
    its least p-value is 2^(1 - n).
    """
    changed = summary.n_changed or 0
    least = 2.0 ** (1 - changed)
    if not changed or least < 1 - level:
        return None
    return (
        f"{changed} of {count_things(summary.units, unit)} change, so a test of their signs has no"
        f" p-value below {least:.3g}"
    )


def with_t_interval(
    summary: DifferenceSummary, level: float, critical_value: float | None = None
) -> TestResult:
    """Return a comparison with the interval of its difference.

    The half-width is ``critical_value`` standard errors, by default the quantile of Student's t.
    """
    se = standard_error(summary)
    return TestResult(
        summary, level, se, *t_interval(summary.difference, se, summary.df, level, critical_value)
    )


def run_tests(
    compared: Sequence[DifferenceSummary], tests: TestOptions, units: PairedUnits | None = None
) -> list[TestResult]:
    """Run the tests on every comparison, in order; only t-tests need no ``units``."""
    p_values: Mapping[ContrastKey, float] = {}
    adjusted: Mapping[ContrastKey, float] = {}
    critical_value = sequence = None
    ranks: Mapping[ContrastKey, tuple[int, float, float]] = {}
    if units is not None:
        p_values, adjusted, critical_value = _simulate_tests(units, compared, tests)
        sequence = open_sequence(
            units.database, tests.interval, tests.confidence, tests.expected_units
        )
        ranks = units.signed_ranks() if tests.test == "wilcoxon" else ranks
    if sequence is not None:
        p_values = sequence.p_values(
            {
                summary.key: (summary.difference / summary.se, summary.df)
                for summary in compared
                if summary.difference is not None and summary.se
            }
        )
    tested = [_test_difference(summary, tests, p_values, ranks) for summary in compared]
    p_adjusted = adjust_p_values([p for _, p in tested], tests.correction)
    if tests.correction == "max_t":
        p_adjusted = [
            adjusted.get(summary.key) if p is not None else None
            for summary, (_, p) in zip(compared, tested, strict=True)
        ]
    family = HypothesisFamily(
        tests.confidence, tests.correction, sum(p is not None for _, p in tested), critical_value
    )
    levels = [
        family.level_for(p, correct) for (_, p), correct in zip(tested, p_adjusted, strict=True)
    ]
    critical_values: list[float | None] = [critical_value] * len(compared)
    if sequence is not None:
        critical_values[:] = sequence.critical_values(
            (level, summary.df) for level, summary in zip(levels, compared, strict=True)
        )
    intervals = map(with_t_interval, compared, levels, critical_values)
    return [
        _build_result(result, tests, family, *test, correct)
        for result, test, correct in zip(intervals, tested, p_adjusted, strict=True)
    ]


def _simulate_tests(
    units: PairedUnits, compared: Sequence[DifferenceSummary], tests: TestOptions
) -> tuple[Mapping[ContrastKey, float], Mapping[ContrastKey, float], float | None]:
    """Return simulated p-values, adjusted p-values, and the simulated critical value of
    intervals.
    """
    is_randomized = tests.test == "randomization"
    p_values = units.exact_p_values() if is_randomized else {}
    drawn = [
        summary
        for summary in compared
        if summary.key not in p_values
        and (summary.n_positive or summary.n_negative or not is_randomized)
    ]
    if not (is_randomized or tests.correction == "max_t") or not any(
        summary.units for summary in drawn
    ):
        return p_values, {}, None
    draws = SignFlips(units, drawn, tests.num_replicates, tests.seed or 0)
    if is_randomized:
        return p_values | draws.p_values(), {}, None
    greatest = draws.max_abs_t()
    return {}, draws.max_t_adjusted_p(greatest), empirical_quantile(greatest, tests.confidence)


def mean_t_test(summary: DifferenceSummary) -> tuple[float | None, float | None]:
    """Return Student's t and the p-value of a mean difference, None without a standard error."""
    se = standard_error(summary)
    if se is None or summary.difference is None:
        return None, None
    is_change = summary.n_positive or summary.n_negative
    return t_test(summary.difference if is_change else 0.0, se, summary.df)


def _test_difference(
    summary: DifferenceSummary,
    tests: TestOptions,
    p_values: Mapping[ContrastKey, float],
    ranks: Mapping[ContrastKey, tuple[int, float, float]],
) -> tuple[float | None, float | None]:
    if standard_error(summary) is None or summary.difference is None:
        return None, None
    if tests.test == "wilcoxon":
        return wilcoxon_test(*ranks.get(summary.key, (0, 0.0, 0.0)))
    if tests.test == "sign":
        return sign_test(int(summary.n_positive or 0), int(summary.n_negative or 0))
    if tests.test == "randomization":
        return summary.difference, p_values.get(summary.key, 1.0)
    statistic, p = mean_t_test(summary)
    return statistic, p if statistic is None else p_values.get(summary.key, p)


def _build_result(
    result: TestResult,
    tests: TestOptions,
    family: HypothesisFamily,
    statistic: float | None,
    p: float | None,
    p_adjusted: float | None,
) -> TestResult:
    summary = result.summary
    if (se := result.se) is None or summary.difference is None:
        return TestResult(summary, family.level)
    is_rejected = family.is_significant(p_adjusted) and _has_direction(summary, statistic, tests)
    is_decided, low, high = reconcile_interval(is_rejected, result.low, result.high)
    result = replace(
        result,
        low=low,
        high=high,
        statistic=statistic,
        p=p,
        p_adjusted=p_adjusted,
        is_decided=is_decided,
    )
    deviation = se * math.sqrt(summary.units)
    if deviation == 0:
        return result
    result = replace(result, effect_size=summary.difference / deviation)
    if tests.name == SEQUENTIAL:  # power is that of one look
        return result
    effect = tests.effect_on(summary.value_baseline)
    critical_value = (
        t_critical_value(family.level, summary.df)
        if family.critical_value is None
        else family.critical_value
    )
    return replace(
        result,
        detectable=minimum_detectable_effect(
            deviation, summary.units, family.level, tests.power, critical_value
        ),
        needed=(
            None
            if effect is None
            else required_units(deviation, effect, family.level, tests.power, family.critical_value)
        ),
    )


def _has_direction(summary: DifferenceSummary, statistic: float | None, tests: TestOptions) -> bool:
    """Return True if the test statistic and the mean difference have the same sign."""
    if statistic is None or summary.difference is None:
        return False
    if tests.test == "sign":
        statistic = float((summary.n_positive or 0) - (summary.n_negative or 0))
    return statistic * summary.difference > 0
