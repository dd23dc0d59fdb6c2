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


def run_welch_test(
    treatment: np.ndarray, control: np.ndarray, level: float = 0.95
) -> dict[str, float]:
    """Return SciPy's test of two means."""
    test = stats.ttest_ind(treatment, control, equal_var=False)
    low, high = test.confidence_interval(level)
    names = (
        "value_control", "value", "difference", "ci_low", "ci_high", "statistic", "p_value",
        "df",
    )  # fmt: skip
    values = (
        control.mean(),
        treatment.mean(),
        treatment.mean() - control.mean(),
        low,
        high,
        test.statistic,
        test.pvalue,
        test.df,
    )
    return dict(zip(names, map(float, values), strict=True))


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
    return run_welch_test(*arms) | {"cuped_theta": float(theta)}
