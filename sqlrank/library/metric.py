"""A metric as it is written: ``nDCG(gain=exp2)@10``, a value that prints canonically and parses back."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, replace
from numbers import Real

from sqlrank.errors import MetricError, shown

Value = int | float | str | tuple[float, ...] | tuple[tuple[float, float], ...]
"""A parameter: a number, a name, a list of numbers, or a map from number to number as pairs."""

OWN = "cutoff"
"""What is written after ``@`` for the cut-off that each query has of its own: a column of the table of queries."""

_WRITTEN = re.compile(r"\s*(?P<name>\w+(?:-\w+)*)\s*(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<cutoff>[^@]+?))?\s*", re.DOTALL)
_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")
_LIST = re.compile(r"(?P<metric>[^@]*)@\s*\[(?P<cutoffs>[^\[\]]*)\]\s*", re.DOTALL)
_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)(e-?\d+)?")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and the parameters it was asked for with.

    ``name`` is the canonical name, ``params`` are (name, value) pairs in alphabetical order, ``cutoff`` is what is
    written after ``@``: a number, a ``(first, last)`` pair for a sweep, or ``"cutoff"``, the column of the table of queries.
    ``str()`` gives the canonical text and :func:`sqlrank.parse` reads it back.

    >>> ndcg = Metric("nDCG", (("gain", "exp2"),))
    >>> str(ndcg @ 10)
    'nDCG(gain=exp2)@10'
    """

    name: str
    params: tuple[tuple[str, Value], ...] = ()
    cutoff: float | tuple[int, int] | str | None = None

    def __matmul__(self, cutoff: float | tuple[int, int] | str) -> Metric:
        """Return this metric at a cut-off."""
        return replace(self, cutoff=cutoff)

    def __str__(self) -> str:
        params = ", ".join(f"{name}={_written(value)}" for name, value in self.params)
        if isinstance(self.cutoff, tuple):
            cutoff = f"@{self.cutoff[0]}..{self.cutoff[1]}"
        elif isinstance(self.cutoff, str):
            cutoff = f"@{self.cutoff}"
        else:
            cutoff = "" if self.cutoff is None else f"@{_plain(self.cutoff)!r}"
        return self.name + (f"({params})" if params else "") + cutoff

    @property
    def slug(self) -> str:
        """The name as a plain SQL identifier: ``ndcg_gain_exp2_at_10``."""
        text = str(self).lower().replace("@", "_at_").replace("..", "_to_").replace("-", "_minus_")
        slug = re.sub(r"[^a-z0-9]+", "_", text).strip("_")
        return slug if slug[0].isalpha() else f"m_{slug}"


def read(text: str) -> Metric:
    """Read a metric as written; names and parameters are taken as they are, not looked up."""
    match = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise MetricError(f"cannot read the metric {text!r}; write it like nDCG@10, P(rel=2)@5 or AP")
    params = _read_params(text, match["params"] or "")
    return Metric(match["name"], params, _read_cutoff(text, match["cutoff"]))


def each_cutoff(text: str) -> list[str]:
    """Return a metric at each of a list of cut-offs; one without such a list as it is.

    >>> each_cutoff("P(rel=2)@[1,5]")
    ['P(rel=2)@1', 'P(rel=2)@5']
    """
    match = _LIST.fullmatch(text)
    if match is None:
        return [text]
    cutoffs = [cutoff.strip() for cutoff in match["cutoffs"].split(",")]
    if not all(_NUMBER.fullmatch(cutoff) for cutoff in cutoffs):
        raise MetricError(f"cannot read the cut-offs of {text!r}; write numbers with commas between them, as in P@[1,5,10]")
    return [f"{match['metric'].strip()}@{cutoff}" for cutoff in cutoffs]


def freeze(value: object, name: str = "a parameter") -> Value:
    """Return a parameter value as a hashable one: lists and maps become tuples; ``name`` is what an error calls it."""
    try:
        return _frozen(value, name)
    except OverflowError:
        raise MetricError(f"{name} is {shown(value)}; it must be a number or a plain name") from None


def _frozen(value: object, name: str) -> Value:
    if isinstance(value, Real) and math.isfinite(value):
        return _plain(float(value)) if not isinstance(value, int) else int(value)
    if isinstance(value, str) and value.isidentifier():
        return value
    if isinstance(value, dict) and value and all(isinstance(item, Real) for pair in value.items() for item in pair):
        return tuple(sorted((float(key), float(item)) for key, item in value.items()))
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, Real) for item in value):
        return tuple(float(item) for item in value)
    if isinstance(value, tuple) and value and all(isinstance(pair, tuple) for pair in value):
        return value
    if isinstance(value, (str, Real)):
        raise MetricError(f"{name} is {value!r}; it must be a number or a plain name")
    raise MetricError(f"a parameter is a number, a name, a list of numbers or a map of numbers, not {shown(value)}")


def _read_params(text: str, params: str) -> tuple[tuple[str, Value], ...]:
    """Read ``rel=2, gain=exp2`` with Python's own grammar for keyword arguments."""
    try:
        call = ast.parse(f"f({params})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise MetricError(f"cannot read the parameters of {text!r}; write them like (rel=2, gain=exp2)") from None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Name)
        or call.args
        or any(keyword.arg is None for keyword in call.keywords)
    ):
        raise MetricError(f"cannot read the parameters of {text!r}; each needs a name, as in (rel=2)")
    values: dict[str, Value] = {}
    for keyword in call.keywords:
        if keyword.arg in values:
            raise MetricError(f"{text!r} gives {keyword.arg!r} twice")
        if isinstance(keyword.value, ast.Name):
            value: object = keyword.value.id
        else:
            try:
                value = ast.literal_eval(keyword.value)
            except (ValueError, TypeError):
                raise MetricError(f"cannot read the value of {keyword.arg!r} in {text!r}") from None
        values[str(keyword.arg)] = freeze(value, f"cannot read {text!r}: {keyword.arg}")
    return tuple(sorted(values.items()))


def _read_cutoff(text: str, cutoff: str | None) -> float | tuple[int, int] | str | None:
    if cutoff is None or cutoff == OWN:
        return cutoff
    if match := _RANGE.fullmatch(cutoff):
        first, last = int(match[1]), int(match[2])
        if not 1 <= first <= last:
            raise MetricError(f"the range of cut-offs in {text!r} must rise from 1 or more, as in @1..20")
        return first, last
    if _NUMBER.fullmatch(cutoff):
        return _plain(float(cutoff))
    raise MetricError(
        f"cannot read the cut-off {cutoff!r} in {text!r}; write a number, a range such as @1..20, or @{OWN}, a column of the table of queries"
    )


def _plain(number: float) -> int | float:
    """Return a whole number as an integer, so that ``@5.0`` is ``@5``."""
    return int(number) if isinstance(number, int) or number.is_integer() else number


def _written(value: Value) -> str:
    if isinstance(value, tuple):
        pairs = [item for item in value if isinstance(item, tuple)]
        if pairs:
            return "{" + ", ".join(f"{_plain(key)!r}: {_plain(item)!r}" for key, item in pairs) + "}"
        return "[" + ", ".join(repr(_plain(float(item))) for item in value if not isinstance(item, tuple)) + "]"
    return value if isinstance(value, str) else repr(_plain(value))
