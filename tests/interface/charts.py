"""Results for tests of charts, and access to the specification of a chart."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

import sqlrank
from tests.tables import build_table

CLICKS = build_table(
    label="0 0 1 1 0 1 0 1",
    score="0.1 0.4 0.35 0.8 0.2 0.6 0.7 0.9",
    country="FR FR FR FR DE DE DE DE",
    device="a b a b a b a b",
    day=["2026-01-01", "2026-01-02"] * 4,
)
QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
RUNS = {
    "baseline": {
        "q1": {"a": 2.0, "b": 1.0},
        "q2": {"b": 2.0, "a": 1.0},
        "q3": {"b": 3.0, "c": 2.0, "a": 1.0},
    },
    "dense": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 2.0, "b": 1.0}, "q3": {"a": 2.0, "b": 1.0}},
}
TARGETED = build_table(
    label="1 0 1 0 0 1 0 1", score="0.8 0.7 0.6 0.5 0.4 0.3 0.2 0.1", treatment="1 0 1 0 1 0 0 1"
)
DISPLAYED = build_table(query_id="q1 q1 q2 q2", doc_id="a b a b", rank="1 2 1 2", clicked="1 0 0 1")
CLASSES = build_table(
    system="a a a b", label="it's it's x x", predicted="it's x z x", weight="1.5 1.0 2.0 0.0"
)
SCORED: dict[str, Any] = {"run": RUNS, "qrels": QRELS}


def evaluate_clicks(metrics: Any, **options: Any) -> pa.Table:
    return sqlrank.evaluate(metrics, predictions=CLICKS, **options)


def detect_drift(**options: Any) -> pa.Table:
    """Return the drift between the two days of ``CLICKS`` within each country."""
    kept = sqlrank.rollup(["AUC", "Brier"], predictions=CLICKS, by=["day", "country"])
    return sqlrank.drift(
        ["AUC", "Brier"],
        rollup=kept,
        by="country",
        reference="day = '2026-01-01'",
        current="day = '2026-01-02'",
        **options,
    )


RESULTS: dict[str, Callable[[], pa.Table]] = {
    "roc": lambda: evaluate_clicks("ROC", by="country"),
    "pr": lambda: evaluate_clicks("PR"),
    "gain": lambda: evaluate_clicks("Gain", by=["country", "device"]),
    "lift": lambda: evaluate_clicks("Lift"),
    "uplift": lambda: sqlrank.evaluate("Uplift", inputs={"uplift": TARGETED}),
    "etasweep": lambda: sqlrank.evaluate(
        "EtaSweep", run=RUNS["dense"], inputs={"clicks": DISPLAYED, "baseline": RUNS["baseline"]}
    ),
    "threshold": lambda: evaluate_clicks("Threshold"),
    "calibration": lambda: evaluate_clicks("Calibration", by="country"),
    "cutoffs": lambda: sqlrank.evaluate("nDCG@1..3", **SCORED),
    "dots": lambda: sqlrank.evaluate(["RR", "num_q"], confidence=0.95, **SCORED),
    "line": lambda: evaluate_clicks("LogLoss", by="day=CAST(day AS DATE)"),
    "heatmap": lambda: evaluate_clicks("Brier", by=["country", "device"]),
    "confusion": lambda: sqlrank.evaluate(
        "MulticlassConfusionMatrix", inputs={"classified": CLASSES}, by="system"
    ),
    "forest": lambda: sqlrank.compare("RR", **SCORED),
    "drift": lambda: detect_drift(tolerance={"AUC": 0.1, "Brier": "10%", "PSI": 2}),
    "differences": lambda: sqlrank.compare("RR", per_query=True, **SCORED),
}
"""A result for each kind of chart, which is drawn of it by itself."""


def list_rows(spec: dict[str, Any], *fields: str) -> list[tuple[Any, ...]]:
    """Return the values of fields of the data of a chart that have the first of them."""
    return [
        tuple(row.get(field) for field in fields)
        for data in spec["datasets"].values()
        for row in data
        if fields[0] in row
    ]


def iterate_parts(spec: Any, name: str) -> Iterator[Any]:
    """Yield the values of a key anywhere in a specification but in its data."""
    if isinstance(spec, list):
        for item in spec:
            yield from iterate_parts(item, name)
    if isinstance(spec, dict):
        for key, item in spec.items():
            if key == name:
                yield item
            if key != "datasets":
                yield from iterate_parts(item, name)


def list_marks(spec: dict[str, Any]) -> list[str]:
    """Return the marks of a chart in order."""
    return [mark["type"] for mark in iterate_parts(spec, "mark")]


def read_caption(spec: dict[str, Any]) -> str:
    """Return the text under the title of a chart."""
    return " ".join(spec["title"]["subtitle"])
