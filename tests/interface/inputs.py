"""One evaluation from any source: its request, its result, and its errors."""

from functools import partial
from typing import Any

import sqlrank
from tests.interface import calls

METRICS = ["RR", "P@1", "num_ret"]
EXPECTED = [{"RR": 0.75, "P@1": 0.5, "num_ret": 3.0}]


def evaluate(run: Any, qrels: Any, **options: Any) -> list[dict[str, Any]]:
    return sqlrank.evaluate(METRICS, run=run, qrels=qrels, **options).to_pylist()


refused = partial(calls.assert_refused, metrics=METRICS)
