"""SQL-native metrics for rankings, recommenders and click models: see :func:`evaluate`."""

from __future__ import annotations

from sqlrank._version import __version__
from sqlrank.api import evaluate, metrics, parse, sql
from sqlrank.dbt import DbtModel, dbt_model
from sqlrank.errors import ContractError, ExecutionError, InputError, MetricError, SqlrankError
from sqlrank.metric import Metric

__all__ = [
    "ContractError",
    "DbtModel",
    "ExecutionError",
    "InputError",
    "Metric",
    "MetricError",
    "SqlrankError",
    "__version__",
    "dbt_model",
    "evaluate",
    "metrics",
    "parse",
    "sql",
]
