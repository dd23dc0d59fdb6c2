"""Stability of metrics over samples of imbalanced data: the coefficient of variation of P-nDCG,
AUC, nDCG and log loss.

Bootstrap samples of the impressions in ``examples/data/open_bandit`` (0.5 % of them clicked) are
drawn with replacement, each metric is evaluated on every sample, all samples in one statement, and
its standard deviation is divided by its mean. A smaller share varies less. It needs NumPy, and for
``--picture`` the charts of sqlrank.

    python examples/stability.py --samples 100 --picture stability.svg
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sqlrank

IMPRESSIONS = Path(__file__).parent / "data" / "open_bandit" / "impressions.parquet"
METRICS = ("AUC", "nDCG", "LogLoss", "PnDCG")
FRACTIONS = (8, 2, 1)
"""Every eighth, every second and every row."""


def draw_samples(impressions: pa.Table, samples: int, seed: int) -> pa.Table:
    """Draw bootstrap samples, numbered by the column ``sample``."""
    rows = impressions.num_rows
    chosen = np.random.default_rng(seed).integers(rows, size=samples * rows)
    numbers = {"sample": np.repeat(np.arange(samples), rows), "row": np.arange(samples * rows)}
    columns = {
        name: impressions[source].take(pa.array(chosen))
        for name, source in {"label": "click", "score": "score_boosting"}.items()
    }
    return pa.table(numbers | columns)


def measure_samples(drawn: pa.Table) -> dict[str, np.ndarray]:
    """Return each metric of each sample; for nDCG a sample is a query with all of its rows as
    documents.
    """
    by_sample = sqlrank.evaluate(["AUC", "LogLoss", "PnDCG"], predictions=drawn, by="sample")
    documents = pa.table(
        {"query_id": drawn["sample"], "doc_id": drawn["row"], "score": drawn["score"]}
    )
    judgments = pa.table(
        {"query_id": drawn["sample"], "doc_id": drawn["row"], "relevance": drawn["label"]}
    )
    by_query = sqlrank.evaluate("nDCG", run=documents, qrels=judgments, per_query=True)
    return {name: (by_query if name == "nDCG" else by_sample)[name].to_numpy() for name in METRICS}


def draw_picture(rows: list[dict[str, float | str]], path: Path) -> None:
    """Write a chart of the coefficients of variation."""
    import altair as alt  # noqa: PLC0415  of the extra charts

    from sqlrank.charts.export import save_chart  # noqa: PLC0415

    clicks = [str(value) for value in dict.fromkeys(row["clicks"] for row in rows)]
    drawn = (
        alt.Chart(alt.Data(values=rows), title="Coefficient of variation over bootstrap samples")
        .mark_bar()
        .encode(
            alt.X("variation:Q", title="standard deviation divided by mean").axis(format="%"),
            alt.Y("metric:N", title=None, sort=list(METRICS)),
            alt.Color("clicks:N", title="clicks", sort=clicks)
            .scale(domain=clicks, range=["#9ccbe4", "#4f9dc8", "#1f5f8b"])
            .legend(orient="top"),
            alt.YOffset("clicks:N", sort=clicks),
        )
        .properties(width=320, height=220)
    )
    save_chart(drawn, path, force=True)


def main(arguments: list[str]) -> None:
    """Print the mean and the coefficient of variation of each metric, for samples of three
    sizes.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=40, help="bootstrap samples of each size")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path, help="write a chart: .svg, .png, .pdf or .html")
    options = parser.parse_args(arguments)
    impressions = pq.read_table(IMPRESSIONS)
    rows: list[dict[str, float | str]] = []
    print(f"{'rows':>7}{'clicks':>8}" + "".join(f"{name:>18}" for name in METRICS))
    for every in FRACTIONS:
        part = impressions.take(pa.array(range(0, impressions.num_rows, every)))
        clicks = int(np.sum(part["click"].to_numpy()))
        line = f"{part.num_rows:7}{clicks:8}"
        for name, values in measure_samples(
            draw_samples(part, options.samples, options.seed)
        ).items():
            variation = float(values.std(ddof=1) / values.mean())
            rows.append({"clicks": str(clicks), "metric": name, "variation": variation})
            line += f"{values.mean():11.4f}{variation:7.1%}"
        print(line, flush=True)
    if options.picture:
        draw_picture(rows, options.picture)


if __name__ == "__main__":
    main(sys.argv[1:])
