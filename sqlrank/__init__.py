"""Compute metrics of rankings and click models in SQL: import public functions on first access,
suggest them for names of other tools.

Where IPython runs, and at Python's prompt, results are shown as tables.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__

if TYPE_CHECKING:
    from sqlrank.api.evaluate import compare, evaluate, metrics, parse, query, sql
    from sqlrank.charts.export import chart
    from sqlrank.comparison.gate import assert_not_worse, gate
    from sqlrank.comparison.stored_values import power
    from sqlrank.errors import ContractError, ExecutionError, InputError, MetricError, SqlrankError
    from sqlrank.experiments.experiment import experiment, experiment_sql
    from sqlrank.explanations.explain import explain
    from sqlrank.output.dbt import DbtModel, dbt_model
    from sqlrank.output.result_formats import show
    from sqlrank.registry.metric import Metric
    from sqlrank.reports.report import report
    from sqlrank.rollups.contrasts import drift
    from sqlrank.rollups.rollup import rollup, rollup_model, rollup_sql
    from sqlrank.routines.function_script import FunctionScript, functions
    from sqlrank.splits.split import split, split_sql

__all__ = [
    "ContractError",
    "DbtModel",
    "ExecutionError",
    "FunctionScript",
    "InputError",
    "Metric",
    "MetricError",
    "SqlrankError",
    "__version__",
    "assert_not_worse",
    "chart",
    "compare",
    "dbt_model",
    "drift",
    "evaluate",
    "experiment",
    "experiment_sql",
    "explain",
    "functions",
    "gate",
    "metrics",
    "parse",
    "power",
    "query",
    "report",
    "rollup",
    "rollup_model",
    "rollup_sql",
    "show",
    "split",
    "split_sql",
    "sql",
]

_PUBLIC_NAMES = {
    "sqlrank.api.evaluate": ("compare", "evaluate", "metrics", "parse", "query", "sql"),
    "sqlrank.charts.export": ("chart",),
    "sqlrank.comparison.gate": ("assert_not_worse", "gate"),
    "sqlrank.comparison.stored_values": ("power",),
    "sqlrank.errors": (
        "ContractError",
        "ExecutionError",
        "InputError",
        "MetricError",
        "SqlrankError",
    ),
    "sqlrank.experiments.experiment": ("experiment", "experiment_sql"),
    "sqlrank.explanations.explain": ("explain",),
    "sqlrank.registry.metric": ("Metric",),
    "sqlrank.reports.report": ("report",),
    "sqlrank.output.dbt": ("DbtModel", "dbt_model"),
    "sqlrank.output.result_formats": ("show",),
    "sqlrank.splits.split": ("split", "split_sql"),
    "sqlrank.rollups.contrasts": ("drift",),
    "sqlrank.rollups.rollup": ("rollup", "rollup_model", "rollup_sql"),
    "sqlrank.routines.function_script": ("FunctionScript", "functions"),
}
"""Modules of the public names.

Imports are lazy, because engines take half a second that help does not need.
"""


def __getattr__(name: str) -> Any:
    """Import a public name on first access."""
    module_name = next(
        (module_name for module_name, names in _PUBLIC_NAMES.items() if name in names), None
    )
    if module_name is None:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}{_suggest_call(name)}", name=name
        )
    collects_garbage = gc.isenabled()
    gc.disable()  # modules leave no garbage, and the search for it takes a tenth of a first call
    try:
        value = getattr(import_module(module_name), name)
    finally:
        if collects_garbage:
            gc.enable()
    globals()[name] = value
    return value


def _suggest_call(name: str) -> str:
    """Return the equivalent call for a function of another tool, or a public name that is spelt
    much like it.

    Empty for attributes that Python probes.
    """
    if (
        name.startswith("_")
        or import_module("importlib.util").find_spec(f"{__name__}.{name}") is not None
    ):
        return ""
    call = import_module("sqlrank.call.suggestions").call_for(name)
    if call is not None:
        return f". Write sqlrank.{call}"
    advice = import_module("sqlrank.errors").did_you_mean(name, __all__)
    return f". {advice}" if advice else ""


def __dir__() -> list[str]:
    return __all__


def _register_formatters() -> None:
    """Let a notebook show results as tables, where IPython runs, or Python's prompt."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None:
        import_module("sqlrank.output.notebook").register_formatters(shell)
    elif hasattr(sys, "ps1"):
        import_module("sqlrank.output.notebook").register_display_hook()


_register_formatters()
