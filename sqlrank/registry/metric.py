"""Parse and format metrics such as ``nDCG(gain=exp2)@10``, expand lists of cut-offs, and convert
metrics to SQL identifiers.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Real
from typing import Self

from sqlrank.errors import MetricError, quote_excerpt, short_repr

ParameterValue = int | float | str | tuple[float, ...] | tuple[tuple[float, float], ...]
"""A parameter value: a number, a name, a list, or a map as pairs."""

QUERY_CUTOFF = "cutoff"
"""The cut-off ``@cutoff``, which is read from that column of the queries."""

MIN_INTEGER_AS_DOUBLE = 10**15
"""Smallest integer that is kept and written as a double."""

COLUMN_PARAMETER, POSITIONAL_PARAMETERS = "column", ("column", "q")
"""The parameter that is written without its name, ``Mean(latency_ms)``, and those that may be:
``Quantile(latency_ms, 0.95)``.
"""

_METRIC_TEXT = re.compile(
    r"\s*(?P<name>\w+(?:-\w+)*)\s*(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<cutoff>[^@]+?))?\s*",
    re.DOTALL,
)
_TRAILING_PARAMS = re.compile(
    r"\s*(?P<name>\w+(?:-\w+)*)@(?P<cutoff>[\w.\[\],]+)(?P<params>\([^()]*\))\s*"
)
_NAME = re.compile(r"\w+(?:-\w+)*")
_FILE_NAME = re.compile(
    r"/|\.(csv|tsv|txt|json|jsonl|ndjson|parquet|trec|run|qrels|gz|zst)$", re.IGNORECASE
)
_OPERATOR = re.compile(r"[<>=!]+")
_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")
_LIST = re.compile(r"(?P<metric>[^@]*)@\s*\[(?P<cutoffs>[^\[\]]*)\]\s*", re.DOTALL)
_LEADING_COLUMN = re.compile(
    r'\s*(?P<column>(?:\w+\.)?(?:"(?:[^"]|"")+"|[^\W\d]\w*))\s*(?:,(?P<rest>.*))?', re.DOTALL
)
_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?")


class SymbolicNumber(float):
    """The value of a parameter that stays a parameter of the statement.

    Checks and plans take its number. It equals no plain number, so that caches tell them apart.

    Attributes:
        name: Name of the parameter.
    """

    name: str

    def __new__(cls, name: str, value: float) -> Self:
        """Return the number of a parameter."""
        number = super().__new__(cls, value)
        number.name = name
        return number

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SymbolicNumber)
            and self.name == other.name
            and float(self) == float(other)
        )

    def __hash__(self) -> int:
        return hash((self.name, float(self)))


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and its parameters.

    Attributes:
        name: Canonical name.
        params: Pairs (name, value) in alphabetical order.
        cutoff: The cut-off after ``@``: a number, a ``(first, last)`` range, or ``"cutoff"``, a
            column of the table of queries.

    ``str()`` gives the canonical text and :func:`sqlrank.parse` reads it back. ``@`` gives the
    metric at a cut-off.

    >>> import sqlrank
    >>> ndcg = sqlrank.Metric("nDCG", (("gain", "exp2"),))
    >>> str(ndcg @ 10)
    'nDCG(gain=exp2)@10'
    """

    name: str
    params: tuple[tuple[str, ParameterValue], ...] = ()
    cutoff: float | tuple[int, int] | str | None = None

    def __post_init__(self) -> None:
        """Refuse values of other types than those of a metric."""
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise MetricError(
                f"name={short_repr(self.name)} is not possible: give the name of a metric, such as"
                " 'nDCG'"
            )
        if not isinstance(self.params, tuple) or not all(map(_is_param, self.params)):
            raise MetricError(
                f"params={short_repr(self.params)} is not possible: give pairs of a name and a"
                " value, such as (('gain', 'exp2'),)"
            )
        if not (
            self.cutoff is None
            or isinstance(self.cutoff, str)
            or _is_number(self.cutoff)
            or _is_range(self.cutoff)
        ):
            raise MetricError(
                f"cutoff={short_repr(self.cutoff)} is not possible: give a number, such as 10, a"
                f" pair (1, 20), or {QUERY_CUTOFF!r}"
            )

    def __matmul__(self, cutoff: float | tuple[int, int] | str) -> Metric:
        """Return this metric at a cut-off."""
        return replace(self, cutoff=cutoff)

    def __str__(self) -> str:
        ordered = sorted(self.params, key=lambda param: param[0] != COLUMN_PARAMETER)
        params = ", ".join(
            f"{name}={format_parameter(value)}" if name != COLUMN_PARAMETER else str(value)
            for name, value in ordered
        )
        if isinstance(self.cutoff, tuple):
            cutoff = f"@{self.cutoff[0]}..{self.cutoff[1]}"
        elif isinstance(self.cutoff, str):
            cutoff = f"@{self.cutoff}"
        else:
            cutoff = "" if self.cutoff is None else f"@{_drop_zero_fraction(self.cutoff)!r}"
        return self.name + (f"({params})" if params else "") + cutoff

    def sql_column(self, name: str) -> str:
        """Return the column of the metric in SQL: the name, parameters and cut-off as a plain
        identifier.

        >>> Metric("MeanPopularity", (), 10).sql_column("mean_popularity")
        'mean_popularity_at_10'
        """
        return to_sql_name(f"{name.lower()}{str(self)[len(self.name) :]}")


def to_sql_name(text: str) -> str:
    """Convert the text of a metric to a plain SQL identifier in snake case.

    >>> to_sql_name("HitRate@10"), to_sql_name("MRR(rel=2)"), to_sql_name("iprec_at_recall_0.10")
    ('hit_rate_at_10', 'mrr_rel_2', 'iprec_at_recall_0_10')
    """
    name, separator, rest = re.sub(r"(?<=[a-z]{2})(?=[A-Z])", "_", text).partition("(")
    spelled = (
        f"{name.replace('-', '_')}{separator}{rest}".lower()
        .replace("@", "_at_")
        .replace("..", "_to_")
        .replace("-", "_minus_")
    )
    identifier = re.sub(r"[^a-z0-9]+", "_", spelled).strip("_")
    return identifier if identifier[:1].isalpha() else f"m_{identifier}"


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _is_range(value: object) -> bool:
    # First and last
    return (
        isinstance(value, tuple)
        and len(value) == 2  # noqa: PLR2004
        and all(isinstance(bound, int) for bound in value)
    )


def _is_param(pair: object) -> bool:
    """Return True for a name and a value, which ``freeze_value`` would keep as it is."""
    # Name and value
    if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):  # noqa: PLR2004
        return False
    value = pair[1]
    numbers = (
        [
            number
            for element in value
            for number in (element if isinstance(element, tuple) else [element])
        ]
        if isinstance(value, tuple)
        else [value]
    )
    return isinstance(value, str) or (bool(numbers) and all(map(_is_number, numbers)))


def _advise_on_text(text: object) -> str:
    """Return the next step for a text that is no metric: a file, a part of a condition without
    quotes, or another spelling.
    """
    if isinstance(text, str) and _FILE_NAME.search(text):
        return "If it is a file, give it with run=, qrels= or predictions="
    if isinstance(text, str) and text.rstrip().endswith(","):
        return f"Leave out the comma: {text.rstrip().rstrip(',')}"
    if isinstance(text, str) and _OPERATOR.fullmatch(text):
        return "Quote a condition, or another value with blanks"
    return "Write it like nDCG@10, P(rel=2)@5 or AP"


def normalize_name(name: str) -> str:
    """Normalize a name: lower case, without blanks, ``-`` and ``_``."""
    return "".join(name.lower().split()).replace("-", "").replace("_", "")


def is_respelled(text: str, name: str) -> bool:
    """Return True if a text begins with the name of a metric, perhaps in other letters: ``ndcg@10``
    of ``nDCG@10``.
    """
    return normalize_name(re.split(r"[@(]", text, maxsplit=1)[0]) == normalize_name(
        re.split(r"[@(]", name, maxsplit=1)[0]
    )


def parse_metric_text(text: str) -> Metric:
    """Parse a metric expression without looking up its names."""
    match = _METRIC_TEXT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise MetricError(
            "cannot read the metric"
            f" {quote_excerpt(text) if isinstance(text, str) else short_repr(text)}."
            f" {_advise_on_text(text)}"
        )
    params = _read_params(text, match["params"]) if match["params"] else ()
    return Metric(match["name"], params, _read_cutoff(text, match["cutoff"]))


def expand_cutoff_list(text: str) -> list[str]:
    """Expand a list of cut-offs into one metric each; other metrics are returned unchanged.

    >>> expand_cutoff_list("P(rel=2)@[1,5]")
    ['P(rel=2)@1', 'P(rel=2)@5']
    """
    match = _LIST.fullmatch(text)
    if match is None:
        return [text]
    cutoffs = [cutoff.strip() for cutoff in match["cutoffs"].split(",")]
    if not all(_NUMBER.fullmatch(cutoff) for cutoff in cutoffs):
        raise MetricError(
            f"cannot read the cut-offs of {quote_excerpt(text)}. Write numbers with commas between"
            " them, as in P@[1,5,10]"
        )
    return [f"{match['metric'].strip()}@{cutoff}" for cutoff in cutoffs]


def freeze_value(value: object, name: str = "a parameter") -> ParameterValue:
    """Convert a parameter value to a hashable one: lists and maps become tuples.

    ``name`` is the name in error messages.
    """
    try:
        return _freeze_parameter(value, name)
    except OverflowError:
        raise MetricError(
            f"{name} is {short_repr(value)}. It must be a number or a plain name"
        ) from None


def _freeze_parameter(value: object, name: str) -> ParameterValue:
    if isinstance(value, Real) and math.isfinite(value):
        return _drop_zero_fraction(value if isinstance(value, int) else float(value))
    if isinstance(value, str) and value.isidentifier():
        return value
    if (
        isinstance(value, dict)
        and value
        and all(isinstance(number, Real) for pair in value.items() for number in pair)
    ):
        return tuple(sorted((float(key), float(number)) for key, number in value.items()))
    if (
        isinstance(value, (list, tuple))
        and value
        and all(isinstance(number, Real) for number in value)
    ):
        return tuple(float(number) for number in value)
    if isinstance(value, tuple) and value and all(isinstance(pair, tuple) for pair in value):
        return value
    if isinstance(value, (str, Real)):
        raise MetricError(f"{name} is {short_repr(value)}. It must be a number or a plain name")
    raise MetricError(
        "a parameter is a number, a name, a list of numbers or a map of numbers, not"
        f" {short_repr(value)}"
    )


@lru_cache(maxsize=1024)
def _read_params(text: str, params: str) -> tuple[tuple[str, ParameterValue], ...]:
    """Parse ``rel=2, gain=exp2`` with Python's own grammar for keyword arguments; a column may come
    first.
    """
    match = _LEADING_COLUMN.fullmatch(params)
    values: dict[str, ParameterValue] = {}
    if match is not None:
        values[COLUMN_PARAMETER], params = match["column"], match["rest"] or ""
    try:
        call = ast.parse(f"f({params})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise MetricError(
            f"cannot read the parameters of {quote_excerpt(text)}. Write them like (rel=2,"
            " gain=exp2)"
        ) from None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Name)
        or len(call.args) > len(values)
        or any(keyword.arg is None for keyword in call.keywords)
    ):
        raise MetricError(
            f"cannot read the parameters of {quote_excerpt(text)}. Each needs a name, as in (rel=2)"
        )
    positional = zip(POSITIONAL_PARAMETERS[1:], call.args, strict=False)
    for keyword in [
        *(ast.keyword(arg=name, value=value) for name, value in positional),
        *call.keywords,
    ]:
        if keyword.arg in values:
            raise MetricError(f"{quote_excerpt(text)} gives {keyword.arg!r} twice")
        if isinstance(keyword.value, ast.Name):
            value: object = keyword.value.id
        else:
            try:
                value = ast.literal_eval(keyword.value)
            except (ValueError, TypeError):
                raise MetricError(
                    f"cannot read the value of {keyword.arg!r} in {quote_excerpt(text)}"
                ) from None
        values[str(keyword.arg)] = freeze_value(
            value, f"cannot read {quote_excerpt(text)}: {keyword.arg}"
        )
    return tuple(sorted(values.items()))


def _read_cutoff(text: str, cutoff: str | None) -> float | tuple[int, int] | str | None:
    if cutoff is None or cutoff == QUERY_CUTOFF:
        return cutoff
    if match := _RANGE.fullmatch(cutoff):
        first, last = int(match[1]), int(match[2])
        if not 1 <= first <= last:
            raise MetricError(
                f"the range of cut-offs in {quote_excerpt(text)} must rise from 1 or more, as in"
                " @1..20"
            )
        return first, last
    if _NUMBER.fullmatch(cutoff):
        return _drop_zero_fraction(float(cutoff))
    if cutoff.endswith("%") and _NUMBER.fullmatch(cutoff.removesuffix("%")):
        share = f"{text.rpartition('@')[0]}@{float(cutoff.removesuffix('%')) / 100:g}"
        raise MetricError(
            f"cannot read the cut-off {quote_excerpt(cutoff)} in {quote_excerpt(text)}. Write a"
            f" share as a number, {share}"
        )
    if match := _TRAILING_PARAMS.fullmatch(text):
        raise MetricError(
            f"cannot read the cut-off {quote_excerpt(cutoff)} in {quote_excerpt(text)}. Write"
            f" parameters before it, {match['name']}{match['params']}@{match['cutoff']}"
        )
    raise MetricError(
        f"cannot read the cut-off {quote_excerpt(cutoff)} in {quote_excerpt(text)}. Write a number,"
        f" a list such as @[5,10], a range such as @1..20, or @{QUERY_CUTOFF}, a column of the"
        " table of queries"
    )


def _drop_zero_fraction(number: float) -> int | float:
    """Return a number without a fraction as an integer, so that ``@5.0`` is ``@5``, and others as
    doubles.

    Numbers with more digits than a double holds stay as they are.
    """
    return (
        int(number)
        if abs(number) < MIN_INTEGER_AS_DOUBLE and float(number).is_integer()
        else float(number)
    )


def format_parameter(value: ParameterValue) -> str:
    """Return a parameter value as text that is read back."""
    if isinstance(value, tuple):
        pairs = [element for element in value if isinstance(element, tuple)]
        if pairs:
            return (
                "{"
                + ", ".join(
                    f"{_drop_zero_fraction(key)!r}: {_drop_zero_fraction(number)!r}"
                    for key, number in pairs
                )
                + "}"
            )
        return (
            "["
            + ", ".join(
                repr(_drop_zero_fraction(float(element)))
                for element in value
                if not isinstance(element, tuple)
            )
            + "]"
        )
    return value if isinstance(value, str) else repr(_drop_zero_fraction(value))
