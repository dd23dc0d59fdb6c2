"""Record calls as callers pass them, not validated, with their limits, which are checked when a
call is made, read their groupings, and describe them as text: the equivalent command, the sources,
and the settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sqlrank.call.sources import (
    QuerySource,
    SourceGroup,
    collect_sources,
    leaf_sources,
    source_kind,
)
from sqlrank.errors import InputError, MetricError, join_words
from sqlrank.registry.metric import format_parameter, freeze_value
from sqlrank.registry.roles import INPUTS_BY_KEYWORD
from sqlrank.rendering.dialects import DEFAULT_DIALECT
from sqlrank.result_columns import SLICE_COLUMN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_Record = TypeVar("_Record")

_COMPUTED = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*=\s*(?!(?:ANY|SOME|ALL)\s*\()(?P<expression>[^=\s].*)",
    re.DOTALL | re.IGNORECASE,
)
_QUOTED = re.compile(r'"(?:[^"]|"")+"|`(?:[^`]|``)+`')


ColumnNames = Literal["requested", "plain"]
"""Names of metrics in results: as requested, or unique identifiers."""


@dataclass(frozen=True)
class Request:
    """The arguments of a request; they are validated when it is resolved.

    Attributes:
        include_query_weights: Return the weights of queries with their values, if there are any.
        per_unit: Return pseudo-values of units for metrics of groups.
        only_queries: The only queries to read, if there are any.
        requested_names: Columns have the names under which metrics were requested, instead of the
            canonical ones.
        across: Columns whose groups are compared.
        system: The column of ``by`` that identifies the systems of a comparison, None without one.
        group_labels: Names in the result of columns of ``by``, if another call decides on them.
        names: ``plain`` if columns and rows of metrics have identifiers for names.
        lower_is_better: Metrics of columns, or the columns, of which lower values are better.
        command: The command that prints the statement, such as ``sql``, None if there is none.
        options: Further arguments of the command.
    """

    metrics: Any
    sources: Mapping[str, Any]
    columns: Mapping[str, Any] | None = None
    by: Any = ()
    across: Any = ()
    system: str | None = None
    group_labels: Mapping[str, str] = field(default_factory=dict)
    where: str | None = None
    per_query: bool = False
    compat: str | None = None
    sql_dir: Any = None
    plan: Mapping[str, Any] | None = None
    confidence: float | None = None
    interval: str = "auto"
    include_query_weights: bool = False
    per_unit: bool = False
    only_queries: tuple[Any, ...] = ()
    requested_names: bool = False
    names: ColumnNames = "requested"
    lower_is_better: str | Sequence[str] = ()
    unit: str | None = None
    replicates: int | None = None
    seed: int | None = None
    policies: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_arguments(
        cls, arguments: Mapping[str, Any], *, leave_out: Collection[str] = (), **others: Any
    ) -> Request:
        """Return the request of all arguments of a public function, but those to ``leave_out``,
        which others read there.
        """
        values = {name: value for name, value in arguments.items() if name not in leave_out}
        sources = collect_sources(
            **{name: values.get(name) for name in (*INPUTS_BY_KEYWORD, "inputs")}
        )
        return select_arguments(cls, values, sources=sources, **others)


def select_arguments(
    record: Callable[..., _Record], arguments: Mapping[str, Any], **others: Any
) -> _Record:
    """Return a record, such as the limits of a call, made of the arguments that have the names of
    its fields, and of ``others``.
    """
    names = {field.name for field in fields(record)}  # type: ignore[arg-type]
    return record(
        **{name: value for name, value in {**arguments, **others}.items() if name in names}
    )


def split_column_list(text: str) -> list[str]:
    """Split a text at commas outside of parentheses and quotes: ``system,day=SUBSTR(ts, 1,
    10)``.
    """
    names, depth, quote = [""], 0, ""
    for letter in text:
        if quote or letter in "'\"":
            quote = "" if letter == quote else quote or letter
        depth += 0 if quote else (letter == "(") - (letter == ")")
        if letter == "," and not depth and not quote:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]


_SIZE = re.compile(
    r"\s*(?P<number>\d+(\.\d+)?)\s*((?P<unit>[KMGT])(?P<binary>i?)B|bytes)\s*", re.IGNORECASE
)


@dataclass(frozen=True)
class ResourceLimits:
    """Resource limits of a call, which are checked when it is made; the directory for spilled data
    is then created.

    Attributes:
        memory_limit: Memory of this process, such as ``"2GB"``.
        threads: Number of threads.
        temp_directory: Directory for spilled data.
        timeout: Time-out in seconds.
    """

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: str | Path | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Create the directory for spilled data."""
        if self.temp_directory is not None:
            try:
                Path(self.temp_directory).mkdir(parents=True, exist_ok=True)
                problem = "" if os.access(self.temp_directory, os.W_OK) else "it is read-only"
            except OSError as error:
                problem = str(error.strerror)
            if problem:
                raise InputError(
                    f"temp_directory={str(self.temp_directory)!r} is not possible: {problem}. Name"
                    " a folder that can be written to"
                )


def parse_memory_size(text: str) -> float | None:
    """Return the bytes of a memory size, None for other texts.

    >>> parse_memory_size("2GB"), parse_memory_size("1.5 KiB"), parse_memory_size("much")
    (2000000000.0, 1536.0, None)
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    return float(match["number"]) * (1024.0 if match["binary"] else 1000.0) ** " KMGT".index(
        (match["unit"] or " ").upper()
    )


_FLAGS = {
    "connection": "db",
    "columns": "column",
    "inputs": "input",
    "policies": "policy",
    "shares": "share",
    "expected_shares": "expected-share",
    "covariates": "covariate",
    "exact_scores": "exact-score",
    "time_bounds": "time-bound",
}
"""Names of options that differ from those of their arguments."""

MAX_SOURCES = 3
"""Maximum number of sources of one role that a header names."""


MAX_QUERY_LETTERS = 80
"""Maximum length of a query in a header."""


class _NoOptionError(Exception):
    """An argument has no form on the command line."""


def write_command(words: Sequence[str], arguments: Mapping[str, Any]) -> str | None:
    """Return a command with arguments as options, None if one of them has no form on the command
    line.

    >>> write_command(
    ...     ["sql", "AP"],
    ...     {"run": "eval.run", "where": "day > 3", "by": ["day", "system"], "per_query": False},
    ... )
    "sqlrank sql AP --run eval.run --where 'day > 3' --by day --by system"
    """
    try:
        options = [
            word
            for name, value in arguments.items()
            for word in _format_option(_FLAGS.get(name, name.replace("_", "-")), value)
        ]
    except _NoOptionError:
        return None
    command = " ".join(map(_quote_word, ["sqlrank", *words, *options]))
    return command if command.isprintable() else None


def request_command(
    command: str, metrics: Iterable[str], request: Request, dialect: str
) -> str | None:
    """Return the command of a request, with the further arguments that it holds; None if there is
    none.
    """
    try:
        arguments = {**_request_arguments(request), **request.options}
    except _NoOptionError:
        return None
    return write_command(
        [command, *metrics],
        arguments | ({} if dialect == DEFAULT_DIALECT else {"dialect": dialect}),
    )


def _quote_word(word: str) -> str:
    """Quote a word for a shell, in double quotes if it holds single ones and nothing that is
    special there.
    """
    import shlex  # its import takes a millisecond

    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)


def _format_option(name: str, value: Any) -> list[str]:
    """Return the words of an option; none for a value that is the same as no option."""
    if (
        value is None
        or value is False
        or (isinstance(value, (Mapping, list, tuple, str)) and not value)
    ):
        return []
    if value is True:
        return [f"--{name}"]
    if isinstance(value, Mapping):
        value = [f"{key}={_format_value(item)}" for key, item in value.items() if item is not None]
    return [
        word
        for item in (value if isinstance(value, (list, tuple)) else [value])
        for word in (f"--{name}", _format_value(item))
    ]


def _format_value(value: Any) -> str:
    if isinstance(value, QuerySource):
        return value.option if value.option is not None else _one_line(value.text)
    if not isinstance(value, (str, int, float, Path)):
        raise _NoOptionError
    return str(value)


def _request_arguments(request: Request) -> dict[str, Any]:
    sources = dict(request.sources)
    return {
        "compat": request.compat,
        "policies": _list_policies(request),
        **{
            role: _run_options(source) if isinstance(source, SourceGroup) else source
            for role in INPUTS_BY_KEYWORD
            for source in [sources.pop(role, None)]
        },
        "inputs": [
            f"{role}={text}" for role, source in sources.items() for text in _source_options(source)
        ],
        "columns": _column_options(request.columns or {}),
        "by": _by_options(request.by),
        "across": _by_options(request.across),
        "where": request.where,
        "per_query": request.per_query,
        "confidence": request.confidence,
        "interval": None if request.interval == "auto" else request.interval,
        "unit": request.unit,
        "replicates": request.replicates,
        "seed": request.seed,
        "plan": request.plan,
        "sql_dir": request.sql_dir,
    }


def _source_options(source: Any) -> list[str]:
    """Return the sources of a further input, one for each system; none without a source."""
    if source is None:
        return []
    return _run_options(source) if isinstance(source, SourceGroup) else [_format_value(source)]


def _run_options(run: SourceGroup) -> list[str]:
    """Return the runs of several systems as ``name=source`` or sources."""
    if not run.members_are_systems or (len(run.members) == 1 and run.members[0][0] is None):
        raise _NoOptionError
    words = []
    for name, source in run.members:
        text = _format_value(source)
        if ("=" in text) if name is None else ("=" in name or "/" in name):
            raise _NoOptionError
        words.append(text if name is None else f"{name}={text}")
    return words


def _column_options(columns: Mapping[str, Any]) -> list[str]:
    """Return mappings of columns; several scores are one each."""
    words = []
    for name, column in columns.items():
        # One is no list
        if isinstance(column, (list, tuple)) and (
            not name.endswith(("score", "scores")) or len(column) < 2  # noqa: PLR2004
        ):
            raise _NoOptionError
        words += [
            f"{name}={_format_value(item)}"
            for item in (column if isinstance(column, (list, tuple)) else [column])
        ]
    return words


def _by_options(by: Any) -> list[str]:
    """Return a column per option, or a grouping: ``day,system``, and ``total`` for all rows."""
    entries = [by] if isinstance(by, str) else list(by or ())
    groups = [[entry] if isinstance(entry, str) else list(entry) for entry in entries]
    is_list_of_columns = all(isinstance(entry, str) for entry in entries)
    has_no_form = any(
        not isinstance(name, str) or name == "total" or split_column_list(name) != [name]
        for group in groups
        for name in group
    )
    if has_no_form or (not is_list_of_columns and all(len(group) == 1 for group in groups)):
        raise _NoOptionError
    return [",".join(group) or "total" for group in groups]


def describe_sources(sources: Mapping[str, Any]) -> list[str]:
    """Return the sources by role as a header names them.

    >>> describe_sources({"run": "eval.run", "qrels": {"q1": {"a": 1}}})
    ['eval.run (run)', 'a dict (qrels)']
    >>> describe_sources({"run": "run"})
    ['run']
    """
    names = {role: describe_source(source) for role, source in sources.items()}
    return [role if name == role else f"{name} ({role})" for role, name in names.items()]


def describe_source(source: Any) -> str:
    """Return the name of a source, or of its class."""
    names = [_source_name(leaf) for leaf in leaf_sources(source)]
    first_names = names[:MAX_SOURCES] if len(names) > MAX_SOURCES + 1 else names
    return join_words(
        [
            *first_names,
            *([f"{len(names) - len(first_names)} more"] if len(first_names) < len(names) else []),
        ]
    )


def _source_name(source: Any) -> str:
    """Return the name of a table or file, the beginning of a query, or the name of a class."""
    if isinstance(source, QuerySource):
        return (
            shorten(_one_line(source.text), MAX_QUERY_LETTERS, placeholder=" ...")
            if source.option is None
            else source.option[1:]
        )
    return (
        str(source)
        if isinstance(source, str)
        else source.name
        if hasattr(source, "suffix")
        else f"a {source_kind(source)}"
    )


def setting_text(name: str, value: Any) -> str:
    """Return a setting as a header names it.

    >>> setting_text("shares", {"train": 0.8, "test": 0.2}), setting_text(
    ...     "where", "day > 3"
    ... ), setting_text("folds", 10)
    ('shares=(train=0.8, test=0.2)', 'where day > 3', 'folds=10')
    """
    if isinstance(value, Mapping):
        value = f"({', '.join(f'{key}={item}' for key, item in value.items())})"
    elif isinstance(value, (list, tuple)):
        value = f"({', '.join(map(str, value))})"
    return f"where {_one_line(value).rstrip('; ')}" if name == "where" else f"{name}={value}"


def _one_line(text: str) -> str:
    """Return a condition or a query on one line, without its comments.

    >>> _one_line("day > 3 -- */ x"), _one_line("day > 3 --" + chr(10) + "AND note = '--'")
    ('day > 3', "day > 3 AND note = '--'")
    """
    if not any(mark in text for mark in ("--", "/*", "\n")):
        return text
    import sqlglot  # help does not need it

    try:
        tokens = sqlglot.tokenize(text, read="clickhouse")  # it reads the quotes of all dialects
    except sqlglot.errors.SqlglotError:
        return text
    starts = [0, *(token.end + 1 for token in tokens[:-1])]
    return "".join(
        (" " if start and start < token.start else "") + text[token.start : token.end + 1]
        for start, token in zip(starts, tokens, strict=True)
    )


def call_settings(call: Request) -> list[str]:
    """Return the policies and the filter of a call."""
    texts = _list_policies(call)
    return texts if call.where is None else [*texts, setting_text("where", call.where)]


def _list_policies(call: Request) -> list[str]:
    return [
        f"{'queries' if name == 'topics' else name}={format_parameter(freeze_value(value))}"
        for name, value in call.policies.items()
        if value is not None
    ]


def parse_group_by(by: Any) -> list[list[str]]:
    """Return the columns of each grouping of a group-by argument; a list of columns is one
    grouping.

    >>> parse_group_by("day"), parse_group_by([[], ["country"]])
    ([['day']], [[], ['country']])
    """
    entries = [by] if isinstance(by, str) else list(by or ())
    is_flat = all(isinstance(entry, str) for entry in entries)
    groupings = (
        [entries]
        if is_flat
        else [[entry] if isinstance(entry, str) else list(entry) for entry in entries]
    )
    for position, group in enumerate(groupings):
        if len(set(group)) < len(group):
            raise MetricError(f"by names a column twice: {', '.join(group)}")
        if set(group) in map(set, groupings[:position]):
            raise MetricError(f"by names a grouping twice: {', '.join(group) or 'all'}")
    return groupings


def split_group_expressions(groupings: list[list[str]]) -> tuple[list[list[str]], dict[str, str]]:
    """Separate names of group-by columns from their expressions: ``day=DATE(ts)``."""
    names: dict[str, str] = {}
    expressions: dict[str, str] = {}
    for entry in dict.fromkeys(chain.from_iterable(groupings)):
        match = _COMPUTED.fullmatch(entry)
        names[entry] = entry if match is None else match["name"]
        if match is not None:
            expressions[names[entry]] = match["expression"]
    if len(set(names.values())) < len(names):
        raise MetricError(f"by names a column twice: {', '.join(names.values())}")
    return [[*map(names.__getitem__, group)] for group in groupings], expressions


def name_groups(groups: Iterable[str]) -> list[str]:
    """Return the names of columns of ``by`` without quotes.

    >>> name_groups(['"my segment"', "day", 'it"s'])
    ['my segment', 'day', 'it"s']
    """
    return [
        name[1:-1].replace(name[0] * 2, name[0]) if _QUOTED.fullmatch(name) else name
        for name in groups
    ]


def label_groups(
    names: Iterable[str],
    sources: Collection[str],
    reserved: Collection[str] = (),
    system: str | None = None,
) -> dict[str, str]:
    """Return the names of group-by columns in results: without quotes, and without the input before
    a column, unless another column of the result has that name.

    >>> label_groups(["queries.country", "queries.day", "run.day"], ["run", "queries"])
    {'queries.country': 'country', 'queries.day': 'queries.day', 'run.day': 'run.day'}
    """
    names = list(dict.fromkeys(names))
    unquoted = dict(zip(names, name_groups(names), strict=True))
    labels = {
        name: name_groups([name.partition(".")[2]])[0]
        if name.partition(".")[0] in sources and name != system
        else label
        for name, label in unquoted.items()
    }
    taken = {*reserved, SLICE_COLUMN}
    used = [label.lower() for label in labels.values()]
    return {
        name: unquoted[name] if used.count(label.lower()) > 1 or label in taken else label
        for name, label in labels.items()
    }


def label_groupings(
    groupings: list[list[str]], sources: Collection[str], reserved: Collection[str]
) -> tuple[list[list[str]], dict[str, str], dict[str, str]]:
    """Return groupings by their names in results, these names by column, and the text of each in
    ``by``, an expression as ``day=DATE(ts)``.
    """
    groups, expressions = split_group_expressions(groupings)
    labels = label_groups(chain.from_iterable(groups), sources, reserved)
    texts = {
        label: f"{name}={expressions[name]}" if name in expressions else name
        for name, label in labels.items()
    }
    return [[labels[name] for name in group] for group in groups], labels, texts
