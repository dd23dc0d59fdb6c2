"""Coverage of confidence intervals in 1,000 samples of known distributions, compared with published
simulations.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sqlrank

SAMPLES = 1000
SHARE = """-- Portion: mean of the scores, which are shares.
-- Range: 0 to 1.
-- Undefined: no predictions.
SELECT group_id, SUM(weight * score) / NULLIF(SUM(weight), 0) AS portion FROM predictions GROUP BY group_id
"""

pytestmark = pytest.mark.slow


def measure_coverage(
    metric: str, table: pa.Table, truth: float, folder: Path | None = None
) -> float:
    """Return in how many of 100 samples the interval holds the truth; a sample without an interval
    holds nothing.
    """
    found = sqlrank.evaluate(
        metric, predictions=table, by="sample", confidence=0.95, sql_dir=folder
    )
    low, high = (
        np.array(found[f"{metric}.{limit}"].to_pylist(), dtype=float)
        for limit in ("ci_low", "ci_high")
    )
    assert len(low) == SAMPLES
    return float(np.mean((low <= truth) & (truth <= high)) * 100)


@pytest.mark.parametrize(
    ("a", "b", "units", "expected"),
    [
        (0.6, 1.2, 20, 96.3), (0.6, 1.2, 50, 95.7), (0.6, 1.2, 200, 94.5),
        (0.1, 1.5, 20, 94.2), (0.1, 1.5, 50, 96.6), (0.1, 1.5, 200, 96.5),
    ],
)  # fmt: skip
def test_means_of_shares(a, b, units, expected, tmp_path):
    values = np.random.default_rng([units, int(10 * a)]).beta(a, b, (SAMPLES, units))
    check_share(values, a / (a + b), expected, tmp_path)


@pytest.mark.parametrize(
    ("truth", "units", "expected"),
    [
        (0.3, 20, 97.1), (0.3, 50, 95.1), (0.3, 200, 95.5),
        (0.9, 20, 96.1), (0.9, 50, 97.1), (0.9, 200, 95.9),
        (0.03, 20, 97.9), (0.03, 50, 94.2), (0.03, 200, 94.1),
    ],
)  # fmt: skip
def test_shares_of_successes(truth, units, expected, tmp_path):
    values = (
        np.random.default_rng([units, int(100 * truth)]).random((SAMPLES, units)) < truth
    ).astype(float)
    check_share(values, truth, expected, tmp_path)


def test_how_far_metrics_vary_by_clicks():
    """The table of docs/confidence.md is what intervals say of the data of the examples."""
    root = Path(sqlrank.__file__).parents[1]
    page = (root / "docs" / "confidence.md").read_text("utf-8")
    predictions = root / "examples" / "data" / "open_bandit" / "impressions.parquet"
    columns = {"label": "click", "score": "score_boosting"}
    of_hours = {**columns, "query_id": "date_trunc('hour', timestamp)", "doc_id": "impression_id"}
    for step in (8, 2, 1):
        given = {
            "predictions": predictions,
            "where": f"impression_id % {step} = 0",
            "confidence": 0.95,
        }
        (row,) = sqlrank.evaluate(
            ["AUC", "PnDCG", "LogLoss", "Positives"],
            **given,
            columns=columns,
            unit="impression_id",
            interval="bootstrap",
        ).to_pylist()
        row |= sqlrank.evaluate("nDCG", **given, columns=of_hours, if_undefined="skip").to_pylist()[
            0
        ]
        digits = {"AUC": 3, "PnDCG": 3, "LogLoss": 4, "nDCG": 3}
        cells = [
            f"{row[name]:.{places}f} ± {row[f'{name}.se']:.{places}f}"
            for name, places in digits.items()
        ]
        assert f"| {row['Positives']:.0f} | {' | '.join(cells)} | {row['nDCG.n_units']} |" in page


def check_share(values: np.ndarray, truth: float, expected: float, folder: Path) -> None:
    """Compare the share of samples whose interval holds the truth with what it is expected to be,
    to 2 points.
    """
    (folder / "metrics").mkdir()
    (folder / "metrics" / "portion.sql").write_text(SHARE)
    samples, units = values.shape
    table = pa.table(
        {
            "sample": np.repeat(np.arange(samples), units),
            "score": values.ravel(),
            "label": np.zeros(values.size),
        }
    )
    assert measure_coverage("Portion", table, truth, folder) == pytest.approx(expected, abs=2)


@pytest.mark.parametrize(
    ("area", "positives", "negatives", "expected"),
    [
        (0.6, 20, 200, 96.8), (0.8, 20, 200, 95.2), (0.95, 20, 200, 95.5), (0.99, 20, 200, 98.0),
        (0.6, 100, 1000, 94.5), (0.8, 100, 1000, 94.3), (0.95, 100, 1000, 93.5), (0.99, 100, 1000, 94.7),
    ],
)  # fmt: skip
def test_areas_of_normal_scores(area, positives, negatives, expected):
    rng = np.random.default_rng([positives, int(100 * area)])
    score = rng.normal(size=(SAMPLES, positives + negatives))
    score[:, :positives] += stats.norm.ppf(area) * np.sqrt(2)
    label = np.tile(np.arange(positives + negatives) < positives, SAMPLES).astype(int)
    sample = np.repeat(np.arange(SAMPLES), positives + negatives)
    assert measure_coverage(
        "AUC", pa.table({"sample": sample, "label": label, "score": score.ravel()}), area
    ) == pytest.approx(expected, abs=2)


def test_areas_of_users_by_buckets():
    """Scores of a user move together, and so do labels: buckets of users know of it, and rows taken
    for independent do not.
    """
    rng, samples, users, rows = np.random.default_rng(8), 250, 200, 10
    moved = rng.normal(0, 1, (samples, users, 1))
    label = (
        rng.random((samples, users, rows))
        < np.where(rng.random((samples, users, 1)) < 0.5, 0.05, 0.45)
    ).astype(int)
    score = moved + label + rng.normal(0, 1, label.shape)
    places = np.indices(label.shape).reshape(3, -1)
    columns = {
        "sample": places[0],
        "user": places[1],
        "label": label.ravel(),
        "score": np.round(score.ravel(), 2),
    }
    kept = sqlrank.rollup(
        "AUC", predictions=pa.table(columns), by="sample", unit="user", binning="exact"
    )
    truth = stats.norm.cdf(1 / np.sqrt(2 * 2))
    by_buckets = sqlrank.evaluate("AUC", rollup=kept, by="sample", confidence=0.95)
    by_rows = sqlrank.evaluate("AUC", predictions=pa.table(columns), by="sample", confidence=0.95)
    held = [
        np.mean(
            [
                low <= truth <= high
                for low, high in zip(
                    *(found[f"AUC.{end}"].to_pylist() for end in ("ci_low", "ci_high")), strict=True
                )
            ]
        )
        for found in (by_buckets, by_rows)
    ]
    assert 0.925 < held[0] < 0.975
    assert held[1] < 0.9
    error, spread = (
        np.array(by_buckets["AUC.se"].to_pylist()),
        np.std(by_buckets["AUC"].to_pylist()),
    )
    assert np.mean(error) == pytest.approx(spread, rel=0.07)
