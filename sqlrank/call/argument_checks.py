"""Decorate public functions: check and convert arguments, connect sources of other libraries, set
the deadline, replace memory and recursion errors.
"""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from html import escape
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from sqlrank import errors
from sqlrank.call.request import parse_memory_size
from sqlrank.call.sources import connect_sources
from sqlrank.cancellation import set_deadline
from sqlrank.errors import (
    ExecutionError,
    InputError,
    MetricError,
    SqlrankError,
    short_repr,
    suggest_choice,
)
from sqlrank.options import Option, find_option
from sqlrank.rendering.dialects import normalize_dialect

P = ParamSpec("P")
R = TypeVar("R")

MAX_THREADS_PER_CORE = 8
MAX_INTEGER = 2**63 - 1
"""The greatest whole number of a database."""
COMPLETE = 100.0
"""Percentage that progress ends with, also of a call that reports none between."""
MAX_NESTING = 20
"""Maximum nesting depth of lists that are searched for texts."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""A NUL, or half a surrogate pair."""

_MIN_MEMORY_BYTES = 10_000_000


def max_threads() -> int:
    """Return the maximum number of threads.

    More bring no speed, and the system may not provide them.
    """
    return MAX_THREADS_PER_CORE * (os.cpu_count() or 1)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_column(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_name(value: Any) -> bool:
    return isinstance(value, (str, Path))


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _is_column_mapping(value: Any) -> bool:
    name_lists = (
        (mapped if isinstance(mapped, (list, tuple)) else [mapped] for mapped in value.values())
        if _is_mapping(value)
        else [[None]]
    )
    return all(isinstance(name, str) for names in name_lists for name in names)


def _are_columns(value: Any) -> bool:
    return _is_column(value) or (isinstance(value, (list, tuple)) and all(map(_is_column, value)))


def _is_grouping(value: Any) -> bool:
    return _are_columns(value) or (
        isinstance(value, (list, tuple)) and all(map(_are_columns, value))
    )


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, float) or (isinstance(value, int) and abs(value) <= MAX_INTEGER)
    ) and not isinstance(value, bool)


def _are_metrics(value: Any) -> bool:
    """Return False for a table, an array or rows, which are data."""
    has_rows = isinstance(value, Mapping) and any(
        isinstance(nested, Mapping) for nested in value.values()
    )
    return not (hasattr(value, "columns") or hasattr(value, "__array__") or has_rows)


KINDS: dict[str, Callable[[Any], bool]] = {
    "text": _is_text,
    "choice": _is_text,
    "condition": _is_text,
    "column": _is_column,
    "columns": _are_columns,
    "grouping": _is_grouping,
    "path": lambda value: _is_name(value) and str(value).strip() != "",
    "table": _is_name,
    "baseline": lambda value: _is_name(value) or hasattr(value, "num_rows"),
    "date": lambda value: _is_text(value) or hasattr(value, "isoformat"),
    "inputs": _is_mapping,
    "pairs": _is_mapping,
    "column_map": _is_column_mapping,
    "flag": lambda value: isinstance(value, int) and value in {0, 1},
    "integer": lambda value: _is_number(value) and isinstance(value, int),
    "threads": lambda value: (
        _is_number(value) and isinstance(value, int) and 0 < value <= max_threads()
    ),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "numbers": lambda value: all(
        _is_number(number) and math.isfinite(number)
        for number in (value if isinstance(value, (list, tuple, range)) else [value])
    ),
    "memory": lambda value: (
        _is_text(value) and (parse_memory_size(value) or 0) >= _MIN_MEMORY_BYTES
    ),
    "function": callable,
    "metrics": _are_metrics,
}
"""Checks of values by kind. Those of other kinds, such as sources, levels and tolerances, are made
where their meaning is known.
"""

_EXPECTED = {"flag": "True or False", "column": "the name of a column"}
"""Expectations in messages by kind, for options that declare none."""


def find_check(name: str) -> Option | None:
    """Return the option of an argument whose values are checked here, None for others."""
    option = find_option(name)
    return option if option is not None and option.kind in KINDS else None


def is_possible(option: Option, value: Any) -> bool:
    """Return True if a value is of the kind of an option, and in its range or among its choices."""
    return (
        KINDS[option.kind](value)
        and (not option.choices or value in option.choices)
        and (option.low is None or value >= option.low)
        and (option.above is None or value > option.above)
        and (option.below is None or value < option.below)
    )


def _format_expectation(option: Option) -> str:
    """Return the values that are possible, as a message names them."""
    expected = (
        option.expects or _EXPECTED.get(option.kind) or f"one of: {', '.join(option.choices)}"
    )
    return expected.replace("{max_threads}", str(max_threads()))


_TRANSLATED_ERRORS: dict[type[Exception], tuple[type[SqlrankError], str]] = {
    RecursionError: (
        InputError,
        "the request is nested too deeply. Write it with fewer brackets or conditions",
    ),
    MemoryError: (ExecutionError, "out of memory. Evaluate less at a time"),
}
"""Errors of Python for excessive input, and their replacements."""


class StatementText(str):
    """A statement, which a notebook shows line by line."""

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return f'<pre style="font-family: monospace">{escape(self)}</pre>'


def entry_point(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function with argument validation, its deadline, and error translation.

    Errors of the user's ``progress`` are passed on unchanged. Those of the call have the traceback
    of the caller alone, whose mistake they are.
    """
    signature, untyped = inspect.signature(function), cast("Any", function)
    required = {
        name
        for name, parameter in signature.parameters.items()
        if parameter.default != () and not re.search("None|Any", str(parameter.annotation))
    }

    def call_with_checks(*args: P.args, **kwargs: P.kwargs) -> R:
        # Imports the registry, which help does not need
        from sqlrank.call.suggestions import bind_arguments

        arguments = {
            name: to_plain(name, value)
            for name, value in bind_arguments(function.__name__, signature, args, kwargs).items()
        }
        check_arguments(arguments, required, function.__name__, signature.parameters)
        check_modes(function.__name__, signature, arguments)
        sources = {name for name in arguments if name in signature.parameters and is_source(name)}
        reached = _track_progress(arguments) if "progress" in signature.parameters else []
        try:
            with (
                set_deadline(arguments.get("timeout")),
                connect_sources(arguments, sources) as connected,
            ):
                names = {*arguments, *signature.parameters}
                by_name = {name: connected[name] for name in connected if name in names}
                result: R = untyped(**by_name)
        except tuple(_TRANSLATED_ERRORS) as error:
            error_class, message = _TRANSLATED_ERRORS[type(error)]
            raise error_class(message) from None
        if reached and reached[0] < COMPLETE:
            arguments["progress"](COMPLETE)
        return cast("R", StatementText(result)) if isinstance(result, str) else result

    @wraps(function)
    def call_with_short_traceback(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call_with_checks(*args, **kwargs)
        except SqlrankError as error:
            raise error.with_traceback(None) from error.__cause__

    return call_with_short_traceback


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


def _write_numbers(names: list[Any]) -> list[Any]:
    """Return names of columns with those that are integers, as pandas numbers columns, as their
    texts.
    """
    return [
        str(name) if isinstance(name, int) and not isinstance(name, bool) else name
        for name in names
    ]


def to_plain(name: str, value: Any) -> Any:
    """Convert numbers, arrays and series of numpy and pandas to those of Python, other names of
    dialects, and sets of metrics; keep sources.
    """
    if name == "metrics" and isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if name == "columns" and _is_mapping(value):
        return {
            key: _write_numbers(names) if isinstance(names, list) else names
            for key, names in value.items()
        }
    if name == "dialect" and isinstance(value, str):
        return normalize_dialect(value)
    is_foreign = type(value).__module__.partition(".")[0] in {"numpy", "pandas"} and hasattr(
        value, "tolist"
    )
    return (
        value.tolist()
        if is_foreign and (not is_source(name) or getattr(value, "ndim", 1) == 0)
        else value
    )


def is_source(name: str) -> bool:
    """Return True for an argument whose arrays are tables, and for metrics, where an array is an
    error.
    """
    option = find_option(name)
    return option is not None and (option.is_source or option.kind == "metrics")


def check_arguments(
    arguments: Mapping[str, Any],
    required: Collection[str],
    function: str = "",
    parameters: Collection[str] | None = None,
) -> None:
    """Check all arguments of a call.

    Args:
        arguments: Arguments by name.
        required: Names of arguments that may not be None.
        function: Name of the function, which may have choices of its own.
        parameters: Parameters of the function, all by default; other arguments are policies, which
            may share a name with a parameter elsewhere.

    Raises:
        SqlrankError: The first invalid argument; the message has its name, its value and the
            expectation.
    """
    for name, value in arguments.items():
        option = find_check(name) if parameters is None or name in parameters else None
        error = InputError if option is None else getattr(errors, option.error)
        if option is not None and option.choices:
            option = option.for_function(function)
        if option is not None and not (
            is_possible(option, value) if value is not None else name not in required
        ):
            if option.choices and isinstance(value, str):
                raise error(suggest_choice(f"unknown {name} {value!r}", value, option.choices))
            raise error(
                f"{name}={short_repr(value)} is not possible: give {_format_expectation(option)}"
            )
        if (text := _find_unstorable_text(value)) is not None:
            raise error(
                f"{name}={short_repr(value)} is not possible: {short_repr(text)} holds a character"
                " that no database takes as text. Leave it out"
            )


def check_modes(function: str, signature: inspect.Signature, arguments: Mapping[str, Any]) -> None:
    """Raise ``MetricError`` for an argument that has no meaning beside another, or without it, as
    options.toml declares.
    """
    parameters = signature.parameters
    named = [
        name
        for name, value in arguments.items()
        if name in parameters and not _is_default(value, parameters[name].default)
    ]
    for name in named:
        option = find_option(name)
        for mode in () if option is None else option.modes:
            if function not in mode["functions"].split():
                continue
            excluded = mode.get("excludes", "").split()
            refused = [other for other in excluded if other in named]
            if "policies" in excluded:
                refused += [other for other in arguments if other not in parameters]
            if "needs" in mode and {*named}.isdisjoint(mode["needs"].split()):
                refused = [name]
            if refused:
                raise MetricError(
                    mode["message"].format(name=refused[0], value=short_repr(arguments[refused[0]]))
                )


def _is_default(value: Any, default: Any) -> bool:
    """Return True for a value that is as good as none; data are compared with nothing."""
    is_plain = isinstance(value, (dict, list, tuple, str, int, float))
    return value is None or (is_plain and (value == default or value in ({}, [], (), "")))


def _find_unstorable_text(value: Any, depth: int = 0) -> str | None:
    """Return the first text in a value, or in its lists and dicts, that no database takes: with a
    NUL, or half a surrogate pair.
    """
    if isinstance(value, (str, Path)):
        return str(value) if _UNSTORABLE.search(str(value)) else None
    if not isinstance(value, (list, tuple, dict)) or depth == MAX_NESTING:
        return None
    elements = [*value, *value.values()] if isinstance(value, dict) else value
    # Data may have a million texts and numbers, so that those of one list are looked at in one
    # call.
    if {*map(type, elements)} <= {str, float, int} and not _UNSTORABLE.search(
        "".join([item for item in elements if type(item) is str])
    ):
        return None
    for element in elements:
        if (text := _find_unstorable_text(element, depth + 1)) is not None:
            return text
    return None
