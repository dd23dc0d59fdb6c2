"""Decorate public functions: check and convert arguments, connect sources of other libraries, set the deadline, replace memory and recursion errors."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_args

from sqlrank.deadline import set_deadline
from sqlrank.engines.backend_sources import connect_sources
from sqlrank.engines.resource_limits import parse_memory_size
from sqlrank.errors import ExecutionError, InputError, MetricError, SqlrankError, short_repr
from sqlrank.rendering import normalize_dialect
from sqlrank.request import ColumnNames

P = ParamSpec("P")
R = TypeVar("R")

CHECK_MODES = ("auto", "full", "off")
MAX_THREADS_PER_CORE = 8
MAX_INTEGER = 2**63 - 1
"""The greatest whole number of a database."""
COMPLETE = 100.0
"""Percentage that progress ends with, also of a call that reports none between."""
MAX_NESTING = 20
"""Maximum nesting depth of lists that are searched for texts."""

_MIN_MEMORY_BYTES = 10_000_000


class ArgumentRule(NamedTuple):
    """The rule of an argument: predicate, expectation in messages, and error class. None is allowed where the annotation has it."""

    accepts: Callable[[Any], bool]
    expected: str
    error: type[SqlrankError] = InputError


def _is_str(value: Any) -> bool:
    return isinstance(value, str)


def _is_column(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, Path)) and str(value).strip() != ""


def _is_str_or_path(value: Any) -> bool:
    return isinstance(value, (str, Path))


def _is_bool(value: Any) -> bool:
    return isinstance(value, int) and value in {0, 1}


def _is_column_mapping(value: Any) -> bool:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        return False
    name_lists = (mapped if isinstance(mapped, (list, tuple)) else [mapped] for mapped in value.values())
    return all(isinstance(name, str) for names in name_lists for name in names)


def _is_str_keyed_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _are_columns(value: Any) -> bool:
    return _is_column(value) or (isinstance(value, (list, tuple)) and all(map(_is_column, value)))


def _is_grouping(value: Any) -> bool:
    if isinstance(value, str):
        return _is_column(value)
    groupings = (
        [names if isinstance(names, (list, tuple)) else [names] for names in value] if isinstance(value, (list, tuple)) else [[None]]
    )
    return all(_is_column(name) for names in groupings for name in names)


def _is_thread_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= max_threads()


def _has_rows(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(nested, Mapping) for nested in value.values())


def _is_positive_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _is_power(value: Any) -> bool:
    return isinstance(value, float) and 0.5 < value < 1  # noqa: PLR2004  0.5 is the power of a coin flip


def _is_non_negative_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_INTEGER


def _is_count(value: Any) -> bool:
    return _is_non_negative_int(value) and value > 0


def _is_number(value: Any) -> bool:
    return (isinstance(value, float) or (isinstance(value, int) and abs(value) <= MAX_INTEGER)) and not isinstance(value, bool)


def _are_numbers(value: Any) -> bool:
    return _is_number(value) or (isinstance(value, (list, tuple, range)) and all(map(_is_number, value)))


def _is_memory(value: Any) -> bool:
    return isinstance(value, str) and (parse_memory_size(value) or 0) >= _MIN_MEMORY_BYTES


def max_threads() -> int:
    """Return the maximum number of threads.

    More bring no speed, and the system may not provide them.
    """
    return MAX_THREADS_PER_CORE * (os.cpu_count() or 1)


ARGUMENT_RULES = {
    "inputs": ArgumentRule(_is_str_keyed_mapping, "a dict of names of inputs to sources, such as {'orders': 'orders.parquet'}"),
    "dialect": ArgumentRule(_is_column, "the name of a dialect, such as 'bigquery'", MetricError),
    "columns": ArgumentRule(
        _is_column_mapping, "a dict of names to your columns, such as {'query_id': 'user_id'}, each a text, of score and scores also a list"
    ),
    "by": ArgumentRule(_is_grouping, "a column, a list of columns, or a list of lists", MetricError),
    "across": ArgumentRule(_are_columns, "a column, or a list of columns whose combinations are compared", MetricError),
    "baseline": ArgumentRule(
        lambda value: _is_str_or_path(value) or hasattr(value, "schema"),
        "the name of a system, or to a gate a stored baseline",
        MetricError,
    ),
    **{
        name: ArgumentRule(_is_column, "the name of a column", MetricError)
        for name in ("key", "time", "item", "user", "stratum", "column", "variant", "system")
    },
    "salt": ArgumentRule(_is_str, "the purpose of the split, a text", MetricError),
    "window_days": ArgumentRule(_is_count, "days as an integer from 1, such as 28", MetricError),
    "window_ends": ArgumentRule(_is_str, "one condition over days in SQL, such as \"day >= '2026-01-01'\""),
    "batch": ArgumentRule(_is_str, "a name for rows that are added at once, such as '2026-03-05-corrections'", MetricError),
    "batch_where": ArgumentRule(_is_str, 'one condition over columns in SQL, such as "user_id IN (7, 9)"'),
    "lookback": ArgumentRule(_is_non_negative_int, "days as an integer from 0, such as 3", MetricError),
    "day": ArgumentRule(_is_column, "the name of a column", MetricError),
    "min_units": ArgumentRule(_is_non_negative_int, "an integer from 0, such as 20", MetricError),
    "power": ArgumentRule(_is_power, "a number above 0.5 and below 1, such as 0.8", MetricError),
    "replicates": ArgumentRule(_is_non_negative_int, "an integer, such as 999", MetricError),
    "max_rows": ArgumentRule(_is_count, "an integer from 1, such as 20", MetricError),
    "query_examples": ArgumentRule(_is_non_negative_int, "an integer from 0, such as 3", MetricError),
    "title": ArgumentRule(_is_str, "the heading of the page, a text", MetricError),
    "created_at": ArgumentRule(lambda value: _is_str(value) or hasattr(value, "isoformat"), "a date, a time or a text", MetricError),
    "begin": ArgumentRule(lambda value: _is_str(value) or hasattr(value, "isoformat"), "a day, such as '2026-01-31'"),
    "seed": ArgumentRule(_is_non_negative_int, "an integer from 0", MetricError),
    "where": ArgumentRule(_is_str, "one condition over columns in SQL, such as \"day = '2026-01-01'\""),
    "show_where": ArgumentRule(_is_str, "one condition over columns of steps in SQL, such as \"true_cluster = 'Ann'\""),
    "reference": ArgumentRule(_is_str, "one condition over columns of the rollup in SQL, such as \"day < '2026-03-01'\""),
    "current": ArgumentRule(_is_str, "one condition over columns of the rollup in SQL, such as \"day >= '2026-03-01'\""),
    "unit": ArgumentRule(_is_column, "the name of a column, such as 'user_id'", MetricError),
    "compat": ArgumentRule(_is_str, "the name of a tool's settings, such as 'trec10'", MetricError),
    "names": ArgumentRule(lambda value: value in get_args(ColumnNames), f"one of: {', '.join(get_args(ColumnNames))}", MetricError),
    "check": ArgumentRule(lambda value: _is_str(value) and value in CHECK_MODES, f"one of: {', '.join(CHECK_MODES)}"),
    "sql_dir": ArgumentRule(_is_path, "the path of a folder"),
    "plan": ArgumentRule(_is_str_keyed_mapping, "a plan and its value, such as {'score_order': 'buckets'}", MetricError),
    "memory_limit": ArgumentRule(_is_memory, "a number with a unit, from 10MB, such as '2GB'"),
    "threads": ArgumentRule(
        _is_thread_count, f"an integer from 1 to {max_threads()}, which is {MAX_THREADS_PER_CORE} times the cores here"
    ),
    "temp_directory": ArgumentRule(_is_path, "the path of a folder"),
    "timeout": ArgumentRule(_is_positive_number, "seconds above 0"),
    "progress": ArgumentRule(callable, "a function of a percentage"),
    "create_table": ArgumentRule(_is_str_or_path, "the name of a table"),
    "create_view": ArgumentRule(_is_str_or_path, "the name of a view"),
    "insert": ArgumentRule(_is_str_or_path, "the name of a table"),
    "overwrite_by": ArgumentRule(_is_str, "a column of by, such as 'day'"),
    "kind": ArgumentRule(_is_str, "the name of a kind of chart, such as 'dots'", MetricError),
    "name": ArgumentRule(_is_str, "the name of a model, a text"),
    "materialized": ArgumentRule(_is_str, "one of: table, view, incremental"),
    "treat_inconclusive_as": ArgumentRule(lambda value: value in ("pass", "fail"), "'pass' or 'fail'", MetricError),
    "statement": ArgumentRule(_is_path, "one SELECT, such as 'SELECT query_id, doc_id, score FROM logs', or the path of a file"),
    "search": ArgumentRule(_is_str, "a text to find in names and descriptions, such as 'calibration'", MetricError),
    "metrics": ArgumentRule(
        lambda value: not (hasattr(value, "columns") or hasattr(value, "__array__") or _has_rows(value)),
        "a metric such as 'nDCG@10', or a list of them, and the data by name: evaluate('AUC', predictions=table)",
        MetricError,
    ),
    "text": ArgumentRule(_is_str, "a metric as it is written, such as 'nDCG@10'", MetricError),
    **{
        name: ArgumentRule(_is_str, f"a text, such as {example!r}", MetricError)
        for name, example in {
            "interval": "t",
            "test": "t",
            "correction": "holm",
            "lift_scale": "log",
            "multi_variant_units": "error",
            "cold_start": "drop",
            "seen_pairs": "drop",
            "binning": "grid",
            "few_negatives": "truncate",
        }.items()
    },
    "n_bins": ArgumentRule(_is_non_negative_int, "an integer from 1, such as 1024", MetricError),
    **{name: ArgumentRule(_is_count, "an integer from 1, such as 10", MetricError) for name in ("folds", "leave_last", "n_buckets")},
    "exact_scores": ArgumentRule(_are_numbers, "the scores that have bins of their own, such as [0.25, 0.5]", MetricError),
    "path": ArgumentRule(_is_path, "the path of a file", SqlrankError),
}
"""Rules of the arguments of public functions.

Parameters that are annotated as ``bool`` have the rule of switches. Others are validated where they are resolved.
"""

SWITCH = ArgumentRule(_is_bool, "True or False", MetricError)
"""Rule of parameters that are annotated as ``bool``."""

CHECKED_LATER = {
    *("connection", "query", "experiment", "time_bounds", "metric", "rollups", "schema", "control", "covariates"),
    *("confidence", "tolerance", "target_effect", "lower_is_better", "shares", "expected_shares"),
}
"""Parameters without a rule here, whose values are validated where their meaning is known."""

SOURCES = {
    "metrics",
    "run",
    "qrels",
    "predictions",
    "queries",
    "inputs",
    "rollup",
    "rollups",
    "data",
    "source",
    "examples",
    "result",
    "weights",
    "baseline",
}
"""Arguments whose arrays are tables, and metrics, where an array is an error."""

_TRANSLATED_ERRORS: dict[type[Exception], tuple[type[SqlrankError], str]] = {
    RecursionError: (InputError, "the request is nested too deeply. Write it with fewer brackets or conditions"),
    MemoryError: (ExecutionError, "out of memory. Evaluate less at a time"),
}
"""Errors of Python for excessive input, and their replacements."""


def entry_point(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function with argument validation, its deadline, and error translation.

    Errors of the user's ``progress`` are passed on unchanged.
    """
    signature = inspect.signature(function)
    required = {
        name
        for name, parameter in signature.parameters.items()
        if parameter.default != () and not re.search("None|Any", str(parameter.annotation))
    }

    @wraps(function)
    def call_with_checks(*args: P.args, **kwargs: P.kwargs) -> R:
        from sqlrank.call_suggestions import bind_arguments  # noqa: PLC0415  imports the registry, which help does not need

        arguments = {name: to_plain(name, value) for name, value in bind_arguments(function.__name__, signature, args, kwargs).items()}
        check_arguments(arguments, required, parameters=signature.parameters)
        positions = [name for name, _ in zip(signature.parameters, args, strict=False)]
        reached = _track_progress(arguments) if "progress" in signature.parameters else []
        try:
            with set_deadline(arguments.get("timeout")), connect_sources(arguments, SOURCES & signature.parameters.keys()) as connected:
                by_position: Any = [connected[name] for name in positions]
                names = {*arguments, *signature.parameters} - {*positions}
                by_name: Any = {name: value for name, value in connected.items() if name in names}  # in the order of the call
                result = function(*by_position, **by_name)
        except tuple(_TRANSLATED_ERRORS) as error:
            error_class, message = _TRANSLATED_ERRORS[type(error)]
            raise error_class(message) from None
        if reached and reached[0] < COMPLETE:
            arguments["progress"](COMPLETE)
        return result

    return call_with_checks


def _track_progress(arguments: dict[str, Any]) -> list[float]:
    """Wrap the progress function of a call; return its last percentage, nothing without one."""
    report_progress = arguments.get("progress")
    if report_progress is None:
        return []
    reached = [0.0]

    def track_percentage(percentage: float) -> None:
        reached[0] = percentage
        report_progress(percentage)

    arguments["progress"] = track_percentage
    return reached


def to_plain(name: str, value: Any) -> Any:
    """Convert numbers, arrays and series of numpy and pandas to those of Python, other names of dialects, and sets of metrics; keep sources."""
    if name == "metrics" and isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if name == "dialect" and isinstance(value, str):
        return normalize_dialect(value)
    is_foreign = type(value).__module__.partition(".")[0] in {"numpy", "pandas"} and hasattr(value, "tolist")
    return value.tolist() if is_foreign and (name not in SOURCES or getattr(value, "ndim", 1) == 0) else value


def check_arguments(
    arguments: Mapping[str, Any], required: Collection[str] = (), parameters: Mapping[str, inspect.Parameter] | None = None
) -> None:
    """Check all arguments of a call.

    Args:
        arguments: Arguments by name.
        required: Names of arguments that may not be None.
        parameters: Parameters of the function, all by default; other arguments are policies, which may share a name with a parameter
            elsewhere.

    Raises:
        SqlrankError: The first invalid argument; the message has its name, its value and the expectation.
    """
    for name, value in arguments.items():
        rule = find_rule(name, None if parameters is None else parameters.get(name)) if parameters is None or name in parameters else None
        if rule is not None and not (rule.accepts(value) if value is not None else name not in required):
            raise rule.error(f"{name}={short_repr(value)} is not possible: give {rule.expected}")
        for text in iter_strings(value):
            if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
                error = InputError if rule is None else rule.error
                raise error(
                    f"{name}={short_repr(value)} is not possible: {short_repr(text)} holds a character that no database takes as text. Leave it out"
                )


def find_rule(name: str, parameter: inspect.Parameter | None) -> ArgumentRule | None:
    """Return the rule of a parameter, from its annotation if it is a switch."""
    is_switch = parameter is not None and parameter.annotation in {"bool", bool}
    return SWITCH if is_switch else ARGUMENT_RULES.get(name)


def iter_strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a value, including those nested in lists and dicts."""
    if isinstance(value, (str, Path)):
        yield str(value)
    elif isinstance(value, (list, tuple, dict)) and depth < MAX_NESTING:
        for element in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from iter_strings(element, depth + 1)
