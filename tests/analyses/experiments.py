"""A small experiment whose numbers are known, and effects by NumPy, written from the papers."""

import numpy as np
import pyarrow as pa
from scipy import stats

UNITS = pa.Table.from_pylist(
    [
        {
            "unit_id": i,
            "variant": (variant := "ABC"[i % 3] if i < 21 else "A"),
            "views": (views := 1 + 5 * i % 7),
            "clicks": (i * i + 1) % (views + 1),
            "pre": (pre := (11 * i % 13) / 2),
            "spend": 0.8 * pre + (17 * i % 10) / 4 + (0.9 if variant == "B" else 0),
        }
        for i in range(24)
    ]
)
"""The units of the golden numbers."""


def draw_experiment(seed: int, units: int = 60, arms: int = 2) -> pa.Table:
    """Return an experiment with what was seen before, a row per unit."""
    draw = np.random.default_rng(seed)
    before_views = draw.integers(1, 9, units)
    before_clicks = draw.binomial(before_views, 0.4)
    views = before_views + draw.integers(0, 4, units)
    clicks = draw.binomial(views, np.clip(before_clicks / before_views + 0.05, 0.05, 0.95))
    return pa.table(
        {
            "unit_id": np.arange(units),
            "variant": np.array(list("ABCDEFGH"[:arms]))[draw.permutation(units) % arms],
            "clicks": clicks,
            "views": views,
            "clicks_before": before_clicks,
            "views_before": before_views,
        }
    )


def linearize_ratio(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the per-unit values whose mean is a ratio of means, to first order (Deng, Knoblich &
    Lu 2018).
    """
    return x.mean() / y.mean() + (x - x.mean() / y.mean() * y) / y.mean()


def count_freedom(denominators: np.ndarray) -> float:
    """Return the degrees of freedom of the variance of a ratio: those of its units, in the
    proportion of Kish's effective number of units to theirs.
    """
    size = denominators.sum() ** 2 / (denominators**2).sum()
    return float((len(denominators) - 1) * size / len(denominators))


def run_welch_test(
    treatment: np.ndarray,
    control: np.ndarray,
    level: float = 0.95,
    freedom: tuple[float, float] | None = None,
) -> dict[str, float]:
    """Return Welch's test of two means, with SciPy's distribution."""
    arms = (treatment, control)
    variances = [values.var(ddof=1) / len(values) for values in arms]
    parts = [len(values) - 1 for values in arms] if freedom is None else freedom
    df = sum(variances) ** 2 / sum(
        variance**2 / part for variance, part in zip(variances, parts, strict=True)
    )
    difference, error = treatment.mean() - control.mean(), sum(variances) ** 0.5
    margin = stats.t.isf((1 - level) / 2, df) * error
    numbers = {
        "value_control": control.mean(),
        "value": treatment.mean(),
        "difference": difference,
        "ci_low": difference - margin,
        "ci_high": difference + margin,
        "statistic": difference / error,
        "p_value": 2 * stats.t.sf(abs(difference / error), df),
        "df": df,
    }
    return {name: float(number) for name, number in numbers.items()}


def estimate_cuped_effect(
    table: pa.Table, treatment: str, control: str, parts: tuple[str, str, str, str]
) -> dict[str, float]:
    """Return the effect on a ratio, less what the ratio before foretold, of two variants taken as
    one sample.
    """
    both = [row for row in table.to_pylist() if row["variant"] in {treatment, control}]
    x, y, c, e = (np.array([float(row[name]) for row in both]) for name in parts)
    is_treated = np.array([row["variant"] == treatment for row in both])
    before = linearize_ratio(c, e)
    theta = np.cov(linearize_ratio(x, y), before, ddof=1)[0, 1] / before.var(ddof=1)
    arms = [
        linearize_ratio(x[side], y[side])
        - theta * (linearize_ratio(c[side], e[side]) - c.mean() / e.mean())
        for side in (is_treated, ~is_treated)
    ]
    freedom = (count_freedom(y[is_treated]), count_freedom(y[~is_treated]))
    return run_welch_test(*arms, freedom=freedom) | {"cuped_theta": float(theta)}
