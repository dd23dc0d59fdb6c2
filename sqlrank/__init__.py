"""SQL-native metrics for rankings, recommenders and click models: see :func:`evaluate`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__

if TYPE_CHECKING:
    from sqlrank.api import evaluate, metrics, parse, sql
    from sqlrank.charts.chart import chart
    from sqlrank.comparison.compare import compare
    from sqlrank.comparison.gate import gate
    from sqlrank.errors import ContractError, ExecutionError, InputError, MetricError, SqlrankError
    from sqlrank.experiments.experiment import experiment, experiment_sql
    from sqlrank.explanations.explain import explain
    from sqlrank.library.metric import Metric
    from sqlrank.reports.report import report
    from sqlrank.results.dbt import DbtModel, dbt_model
    from sqlrank.splits.split import split, split_sql
    from sqlrank.states.comparing import compare_states
    from sqlrank.states.drift import drift
    from sqlrank.states.model import state_model
    from sqlrank.states.state import state, state_sql

__all__ = [
    "ContractError",
    "DbtModel",
    "ExecutionError",
    "InputError",
    "Metric",
    "MetricError",
    "SqlrankError",
    "__version__",
    "chart",
    "compare",
    "compare_states",
    "dbt_model",
    "drift",
    "evaluate",
    "experiment",
    "experiment_sql",
    "explain",
    "gate",
    "metrics",
    "parse",
    "report",
    "split",
    "split_sql",
    "sql",
    "state",
    "state_model",
    "state_sql",
]

_PLACES = {
    "sqlrank.api": ("evaluate", "metrics", "parse", "sql"),
    "sqlrank.charts.chart": ("chart",),
    "sqlrank.comparison.compare": ("compare",),
    "sqlrank.comparison.gate": ("gate",),
    "sqlrank.errors": ("ContractError", "ExecutionError", "InputError", "MetricError", "SqlrankError"),
    "sqlrank.experiments.experiment": ("experiment", "experiment_sql"),
    "sqlrank.explanations.explain": ("explain",),
    "sqlrank.library.metric": ("Metric",),
    "sqlrank.reports.report": ("report",),
    "sqlrank.results.dbt": ("DbtModel", "dbt_model"),
    "sqlrank.splits.split": ("split", "split_sql"),
    "sqlrank.states.comparing": ("compare_states",),
    "sqlrank.states.drift": ("drift",),
    "sqlrank.states.model": ("state_model",),
    "sqlrank.states.state": ("state", "state_sql"),
}
"""Where the public names are: each is imported when it is asked for, since engines take half a second that help does not need."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    place = next((place for place, names in _PLACES.items() if name in names), None)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(place), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
