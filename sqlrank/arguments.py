"""What each argument of a public function may be, judged in one place before anything else."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from sqlrank.deadline import deadline
from sqlrank.errors import ExecutionError, InputError, MetricError, SqlrankError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Taken = ParamSpec("Taken")
Returned = TypeVar("Returned")

CHECKS = ("auto", "full", "off")
THREADS_OF_A_CORE = 8
REPLICATES = (99, 1_000_000)
DEEPEST = 20
"""How far lists are looked into: nothing that is asked for is as deep."""

_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?)B\s*", re.IGNORECASE)
_LEAST_MEMORY = 10_000_000
_UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


class Argument(NamedTuple):
    """What an argument may be: a test of its value, what an error says is expected, the error, and whether it may be None."""

    fits: Callable[[Any], bool]
    expected: str
    error: type[SqlrankError] = InputError
    may_be_none: bool = True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_column(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, Path)) and str(value).strip() != ""


def _is_name(value: Any) -> bool:
    return isinstance(value, (str, Path))


def _is_yes_or_no(value: Any) -> bool:
    return isinstance(value, int) and value in {0, 1}


def _names_columns(value: Any) -> bool:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        return False
    several = (theirs if isinstance(theirs, (list, tuple)) else [theirs] for theirs in value.values())
    return all(isinstance(name, str) for names in several for name in names)


def _has_names(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _groups(value: Any) -> bool:
    if isinstance(value, str):
        return True
    several = [names if isinstance(names, (list, tuple)) else [names] for names in value] if isinstance(value, (list, tuple)) else [[None]]
    return all(isinstance(name, str) for names in several for name in names)


def _is_count_of_threads(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most_threads()


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _is_share(value: Any) -> bool:
    return isinstance(value, float) and 0.5 < value < 1  # noqa: PLR2004  less finds nothing that a coin does not


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_whole_or_yes_or_no(value: Any) -> bool:
    return _is_whole(value) or _is_yes_or_no(value)


def _is_count_of_replicates(value: Any) -> bool:
    return _is_whole(value) and REPLICATES[0] <= value <= REPLICATES[1]


def _is_memory(value: Any) -> bool:
    match = _MEMORY.fullmatch(value) if isinstance(value, str) else None
    return match is not None and float(match[1]) * _UNITS[match[2][0].upper()] >= _LEAST_MEMORY


def most_threads() -> int:
    """Return how many threads may be asked for: more make nothing faster, and a process may not have them."""
    return THREADS_OF_A_CORE * (os.cpu_count() or 1)


ARGUMENTS = {
    "inputs": Argument(_has_names, "a dict of names of inputs to sources, such as {'orders': 'orders.parquet'}"),
    "dialect": Argument(_is_text, "the name of a dialect, such as 'bigquery'", MetricError),
    "columns": Argument(
        _names_columns, "a dict of names to your columns, such as {'query_id': 'user_id'}, each a text; of score also a list"
    ),
    "by": Argument(_groups, "a column, a list of columns, or a list of lists", MetricError),
    "slices": Argument(_groups, "a column, a list of columns, or a list of lists", MetricError),
    "baseline": Argument(
        lambda value: _is_name(value) or hasattr(value, "schema"), "the name of a system, or to a gate a stored baseline", MetricError
    ),
    **{
        name: Argument(_is_column, "the name of a column", MetricError)
        for name in ("key", "time", "item", "user", "stratum", "into", "variant", "system")
    },
    "salt": Argument(_is_text, "what the split is for, a text", MetricError),
    "exact": Argument(_is_yes_or_no, "True or False", MetricError, may_be_none=False),
    "rolling": Argument(_is_whole_or_yes_or_no, "a whole number of days from 1, such as 28, or to a split True or False", MetricError),
    "ends": Argument(_is_text, "one condition over days in SQL, such as \"day >= '2026-01-01'\""),
    "batch": Argument(_is_text, "a name for rows that are added at once, such as '2026-03-05-corrections'", MetricError),
    "negative": Argument(_is_yes_or_no, "True or False", MetricError, may_be_none=False),
    "only": Argument(_is_text, 'one condition over columns in SQL, such as "user_id IN (7, 9)"'),
    "lookback": Argument(_is_whole, "a whole number of days from 0, such as 3", MetricError, may_be_none=False),
    "day": Argument(_is_column, "the name of a column", MetricError, may_be_none=False),
    "min_units": Argument(_is_whole, "a whole number from 0, such as 20", MetricError, may_be_none=False),
    "power": Argument(_is_share, "a number above 0.5 and below 1, such as 0.8", MetricError, may_be_none=False),
    "replicates": Argument(_is_count_of_replicates, f"a whole number from {REPLICATES[0]} to {REPLICATES[1]}, such as 9999", MetricError),
    "rows": Argument(lambda value: _is_whole(value) and value > 0, "a whole number from 1, such as 20", MetricError, may_be_none=False),
    "examples": Argument(_is_whole, "a whole number from 0, such as 3", MetricError, may_be_none=False),
    "title": Argument(_is_text, "the heading of the page, a text", MetricError, may_be_none=False),
    "when": Argument(lambda value: _is_text(value) or hasattr(value, "isoformat"), "a date, a time or a text", MetricError),
    "seed": Argument(_is_whole, "a whole number from 0", MetricError, may_be_none=False),
    "where": Argument(_is_text, "one condition over columns in SQL, such as \"day = '2026-01-01'\""),
    "show": Argument(_is_text, "one condition over columns of steps in SQL, such as \"true_cluster = 'Ann'\""),
    "reference": Argument(_is_text, "one condition over columns of the state in SQL, such as \"day < '2026-03-01'\"", may_be_none=False),
    **{name: Argument(_is_text, "the name of a column, such as 'user_id'", MetricError) for name in ("unit", "fold")},
    "per_query": Argument(_is_yes_or_no, "True or False"),
    "compat": Argument(_is_text, "the name of a tool's settings, such as 'trec10'", MetricError),
    "check": Argument(lambda value: _is_text(value) and value in CHECKS, f"one of: {', '.join(CHECKS)}", may_be_none=False),
    "sql_dir": Argument(_is_path, "the path of a folder"),
    "plan": Argument(_has_names, "a plan and its value, such as {'order': 'bucketed'}", MetricError),
    "memory_limit": Argument(_is_memory, "a number with a unit, from 10MB, such as '2GB'"),
    "threads": Argument(
        _is_count_of_threads, f"a whole number from 1 to {most_threads()}, which is {THREADS_OF_A_CORE} times the cores here"
    ),
    "temp_directory": Argument(_is_path, "the path of a folder"),
    "timeout": Argument(_is_time, "seconds above 0"),
    "progress": Argument(callable, "a function of a percentage"),
    "create_table": Argument(_is_name, "the name of a table"),
    "create_view": Argument(_is_name, "the name of a view"),
    "insert": Argument(_is_name, "the name of a table"),
    "replace": Argument(_is_text, "a column of by, such as 'day'"),
    "kind": Argument(_is_text, "the name of a kind of chart, such as 'bars'", MetricError),
    "name": Argument(_is_text, "the name of a model, a text"),
    "materialized": Argument(_is_text, "one of: table, view, incremental"),
    "text": Argument(_is_text, "a metric as it is written, such as 'nDCG@10'", MetricError),
}
"""What each argument of a public function may be. The rest is judged where it is looked up: metrics, sources, connections and policies."""

_HIDDEN: dict[type[Exception], tuple[type[SqlrankError], str]] = {
    RecursionError: (InputError, "what was asked is nested too deeply; write it with fewer brackets, or in fewer conditions"),
    MemoryError: (ExecutionError, "out of memory; ask for less at a time"),
}
"""What Python raises for what is too large, and what is raised instead."""


def public(function: Callable[Taken, Returned]) -> Callable[Taken, Returned]:
    """Let a function judge its arguments before anything else, and raise no errors for them but those of this package.

    What a ``progress`` of the caller's raises, or a table of theirs that cannot be read, is passed on as it is.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def judged(*args: Taken.args, **kwargs: Taken.kwargs) -> Returned:
        given = dict(signature.bind(*args, **kwargs).arguments)
        others = {name for name, param in signature.parameters.items() if param.kind is param.VAR_KEYWORD}
        for name in others:
            given |= given.pop(name, {})
        check_arguments(given)
        try:
            with deadline(given.get("timeout")):
                return function(*args, **kwargs)
        except tuple(_HIDDEN) as error:
            instead, message = _HIDDEN[type(error)]
            raise instead(message) from None

    return judged


def check_arguments(given: Mapping[str, Any]) -> None:
    """Raise ``SqlrankError`` for the first argument that is not what it may be; the message names it, what was given and what is expected."""
    for name, value in given.items():
        argument = ARGUMENTS.get(name)
        if argument is not None and not (value is None and argument.may_be_none) and not argument.fits(value):
            raise argument.error(f"{name}={shown(value)} is not possible: give {argument.expected}")
        for text in texts(value):
            if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
                error = InputError if argument is None else argument.error
                raise error(f"{name}={shown(value)} is not possible: {shown(text)} holds a character that no database takes as text")


def texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts of a value, which may be in lists and dicts."""
    if isinstance(value, (str, Path)):
        yield str(value)
    elif isinstance(value, (list, tuple, dict)) and depth < DEEPEST:
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from texts(item, depth + 1)
