"""Make the options of a command from options.toml, and read the values that it was given as
arguments of functions.
"""

from __future__ import annotations

from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlrank.call.request import split_column_list
from sqlrank.call.sources import (
    QuerySource,
    SourceGroup,
    is_query_text,
    leaf_sources,
)
from sqlrank.engines.file_sources import names_files
from sqlrank.errors import (
    MetricError,
    SqlrankError,
    did_you_mean,
    join_sentences,
    join_words,
    to_sentence,
)
from sqlrank.options import load_options
from sqlrank.output.display import group_items
from sqlrank.output.output_file import FileKind, OutputFile
from sqlrank.output.result_formats import Format
from sqlrank.registry.loader import load_registry, registry_for
from sqlrank.registry.metric import ParameterValue, freeze_value, parse_metric_text
from sqlrank.registry.sql_folder import FOLDERS, list_sql_files
from sqlrank.rendering.dialects import DIALECT_NAMES
from sqlrank.routines import FUNCTION_DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from sqlrank.options import Command, Option
    from sqlrank.registry.registry import Registry

_LISTED_COLUMNS = ("score", "scores")
"""Names that several columns may be mapped to."""


def parse_pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """Parse ``name=value`` options; raise ``SqlrankError`` for malformed ones and duplicate
    names.
    """
    pairs = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise SqlrankError(f"{option} {text}: write {option} name=value")
        if name in pairs:
            raise SqlrankError(f"{option} {text}: {name} is given twice")
        pairs[name] = value
    return pairs


def parse_runs(option: str, runs: list[str], role: str = "") -> Any:
    """Return a single unnamed run unchanged, and named or several runs as systems.

    A run is named by ``name=source``, unless a file has that name, or it is a query. ``role`` is
    the text between option and run on the command line.
    """
    members = []
    for run in runs:
        name, equals, source = run.partition("=")
        is_named = bool(equals) and not (names_files(run) or is_query_text(run)) and "/" not in name
        if is_named and not (name and source):
            raise SqlrankError(f"{option} {role}{run}: write {option} {role}name=source")
        members.append(
            (name, read_query_file(source)) if is_named else (None, read_query_file(run))
        )
    if not members or (len(members) == 1 and members[0][0] is None):
        return members[0][1] if members else None
    return SourceGroup(tuple(members), members_are_systems=True)


def read_query_file(text: str) -> Any:
    """Return the query in a file for ``@file.sql``, other sources unchanged."""
    if not text.startswith("@") or names_files(text):
        return text
    try:
        return QuerySource.from_file(text[1:])
    except (OSError, UnicodeDecodeError) as error:
        raise SqlrankError(
            f"{text}: the file of the query cannot be read:"
            f" {getattr(error, 'strerror', None) or error}. Check its path"
        ) from None


def parse_source(text: str) -> Any:
    """Parse the source of an option: a table, a file, a query, or ``@file.sql`` with a query in
    it.
    """
    try:
        return read_query_file(text)
    except SqlrankError as error:
        raise typer.BadParameter(str(error)) from None


def parse_inputs(option: str, inputs: list[str]) -> dict[str, Any]:
    """Return the sources of further inputs by role; of a role there may be several systems, as for
    ``--run``.
    """
    by_role: dict[str, list[str]] = {}
    for text in inputs:
        role, _, source = text.partition("=")
        if not role or not source:
            raise SqlrankError(f"{option} {text}: write {option} name=value")
        by_role.setdefault(role, []).append(source)
    return {role: parse_runs(option, sources, f"{role}=") for role, sources in by_role.items()}


def parse_columns(option: str, mappings: list[str]) -> dict[str, Any]:
    """Parse column mappings; several scores are several models, and several columns of scores those
    of classes.
    """
    mappings_by_name = group_items(
        [mapping for mapping in mappings if "=" in mapping],
        lambda mapping: mapping.partition("=")[0],
    )
    several = {
        name: [text.partition("=")[2] for text in texts]
        for name, texts in sorted(mappings_by_name.items())
        if len(texts) > 1 and name.rpartition(".")[-1] in _LISTED_COLUMNS
    }
    single = [mapping for mapping in mappings if mapping.partition("=")[0] not in several]
    return parse_pairs(option, single) | several


def parse_policies(policies: list[str] | None, sql_dir: Any = None) -> dict[str, Any]:
    """Parse policies like metric parameters: ``depth=100`` is a number, ``ties=rank`` a name."""
    if not policies:
        return {}
    # Help does not need the library
    from sqlrank.registry.settings_checks import QUERIES_POLICY_KEYWORD, check_policy_values

    reserved_names = {
        name for name, option in load_options().items() if "evaluate" in option.functions
    } - {"policies", "queries"}
    clash = [name for name in parse_pairs("--policy", policies) if name in reserved_names]
    if clash:
        raise SqlrankError(
            f"--policy: unknown policy {clash[0]!r}. It is an option of its own, see --help"
        )
    library = registry_for(sql_dir)
    _refuse_unknown(policies, library)
    read_as = {name: value for policy in policies for name, value in _parse_policy(policy)}
    if "queries" in read_as:
        check_policy_values(
            {"queries": read_as["queries"]}, library
        )  # under the name of the command line
        read_as[QUERIES_POLICY_KEYWORD] = read_as.pop("queries")
    return {
        name: (
            dict(value)
            if isinstance(value, tuple) and isinstance(value[0], tuple)
            else freeze_value(value)
        )
        for name, value in read_as.items()
    }


def _refuse_unknown(policies: list[str], library: Registry) -> None:
    """Raise ``MetricError`` for an unknown policy, with a suggestion."""
    from sqlrank.call.suggestions import flag_for

    # Help does not need the library
    from sqlrank.registry.settings_checks import policy_names, unknown_keywords, unknown_policies

    for policy in policies:
        for name in unknown_keywords([policy.partition("=")[0].strip()], library):
            (problem,) = unknown_policies([name], library)
            flags = {
                name: option.flag
                for name, option in load_options().items()
                if "evaluate" in option.functions
            }
            advice = (
                flag_for(name, flags, library)
                or did_you_mean(name, policy_names(library))
                or did_you_mean(name, flags.values())
            )
            raise MetricError(
                f"--policy {policy}: "
                + (
                    join_sentences(f"unknown policy {name!r}", to_sentence(advice))
                    if advice
                    else problem
                )
            )


def _parse_policy(policy: str) -> tuple[tuple[str, ParameterValue], ...]:
    try:
        return parse_metric_text(f"m({policy})").params
    except MetricError:
        raise SqlrankError(
            f"--policy {policy}: cannot read this. Write it like ties=rank, depth=100 or gain={{1:"
            " 3, 2: 9}"
        ) from None


def parse_groupings(option: str, by: list[str] | None) -> Any:
    """Parse group columns, or several groupings: ``a,b``, and ``total`` for no columns."""
    if not by:
        return ()
    groups = _split_groupings(option, by, f", {option} a,b or {option} total")
    if all(len(names) == 1 and names != ["total"] for names in groups):
        return by
    return [[] if names == ["total"] else names for names in groups]


def parse_group_columns(by: list[str] | None) -> list[str]:
    """Parse the columns of one grouping, ``a,b`` or an option for each."""
    return [name for names in _split_groupings("--by", by or [], " or --by a,b") for name in names]


def _split_groupings(option: str, by: list[str], other_forms: str) -> list[list[str]]:
    groups = [split_column_list(text) for text in by]
    for text, names in zip(by, groups, strict=True):
        if not all(names):
            raise SqlrankError(
                f"{option} {text!r}: a column has no name. Write {option} a{other_forms}"
            )
    return groups


def parse_tolerance_options(option: str, texts: list[str] | None) -> dict[str, str]:
    """Parse ``0.01`` and ``AP=2%``; raise ``SqlrankError`` for duplicates."""
    tolerances: dict[str, str] = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        if (name or "*") in tolerances:
            raise SqlrankError(f"{option} {text}: given twice for {name or 'all metrics'}")
        tolerances[name or "*"] = value
    return tolerances


def parse_shares_option(option: str, texts: list[str] | None) -> dict[str, float] | None:
    """Parse parts with their shares; raise ``SqlrankError`` for values that are not numbers."""
    try:
        return {name: float(value) for name, value in parse_pairs(option, texts).items()} or None
    except ValueError:
        raise SqlrankError(
            f"{option}: give a name and its share, such as {option} train=0.8 {option} test=0.2"
        ) from None


_SEVERAL = (
    "metrics", "runs", "rollups", "inputs", "column_map", "policies", "pairs", "texts", "columns",
    "grouping", "tolerances", "shares",
)  # fmt: skip
"""Kinds of options that can be repeated."""

_TYPES: dict[str, Any] = {
    **dict.fromkeys(("path", "stored", "result"), Path),
    **dict.fromkeys(("integer", "threads"), int),
    **dict.fromkeys(("number", "level"), float),
    **dict.fromkeys(_SEVERAL, list[str]),
    "numbers": list[float],
    "flag": bool,
    "format": Format,
}
"""Types of values by kind; others are texts."""

_VALUE_NAMES = {
    "baseline": "NAME|SOURCE",
    "column": "COLUMN",
    "column_map": "NAME=COLUMN",
    "columns": "COLUMN",
    "condition": "CONDITION",
    "connection": "FILE",
    "date": "DATE",
    "format": "FORMAT",
    "grouping": "COLUMN[,COLUMN]",
    "inputs": "NAME=SOURCE",
    "level": "LEVEL",
    "memory": "SIZE",
    "pairs": "NAME=VALUE",
    "policies": "NAME=VALUE",
    "rollups": "[NAME=]SOURCE",
    "run": "[NAME=]SOURCE",
    "runs": "[NAME=]SOURCE",
    "shares": "NAME=SHARE",
    "source": "SOURCE",
    "table": "TABLE",
    "tolerances": "[METRIC=]TOLERANCE",
}
"""Names of values in the help by kind; others have those of their types."""

_READERS: dict[str, Callable[[str, Any], Any]] = {
    "run": lambda flag, run: parse_runs(flag, [run]),
    "runs": parse_runs,
    "inputs": parse_inputs,
    "column_map": parse_columns,
    "grouping": parse_groupings,
    **dict.fromkeys(("pairs", "rollups"), parse_pairs),
    "tolerances": parse_tolerance_options,
    "shares": parse_shares_option,
}
"""Functions that read the values of a kind, whose messages name the option. Values of others are
those of Python.
"""

_PLACEHOLDERS = {
    "{dialects}": ", ".join(DIALECT_NAMES),
    "{function_dialects}": ", ".join(FUNCTION_DIALECTS),
    "{formats}": join_words(Format, "or"),
}


def _list_words(option: Option) -> Iterable[str]:
    """Return the words that complete an option."""
    if option.choices:
        return option.choices
    if option.completes == "metrics":
        return dict.fromkeys(file.display_name for file in load_registry().metrics.values())
    if option.completes == "compat":
        return sorted(load_registry().compat_files)
    if option.completes == "plans":
        return [
            f"{name}={value}"
            for name, plan in load_registry().plans.items()
            for value in plan["values"]
        ]
    return DIALECT_NAMES if option.completes == "dialects" else FUNCTION_DIALECTS


def _make_completion(option: Option) -> Callable[[str], list[str]]:
    # The names of metrics are completed whatever their case.
    return lambda incomplete: [
        word for word in _list_words(option) if word.lower().startswith(incomplete.lower())
    ]


def make_parameter(option: Option) -> Parameter:
    """Return the parameter from which typer makes an option or argument of a command."""
    sentence = option.sentence
    for placeholder, words in _PLACEHOLDERS.items():
        sentence = sentence.replace(placeholder, words)
    details: dict[str, Any] = {
        "help": sentence,
        "autocompletion": _make_completion(option) if option.completes or option.choices else None,
    }
    if option.kind == "source":
        details["parser"] = parse_source
    value_name = option.value or _VALUE_NAMES.get(option.kind) or "|".join(option.choices)
    if option.argument:
        value_name = option.name.upper()
    if value_name:
        details["metavar"] = value_name
    flags = [flag for flag in (option.flag, option.short) if flag]
    info = (
        typer.Argument(**details)
        if option.argument
        else typer.Option(*flags, min=option.min, max=option.max, **details)
    )
    default = (
        False if option.kind == "flag" else None if option.kind in _SEVERAL else option.default
    )
    value_type = _TYPES.get(option.kind, str)
    if not option.required and default is None:
        value_type = value_type | None
    default = Parameter.empty if option.required else default
    return Parameter(
        option.word, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[value_type, info]
    )


class CommandCall:
    """The values that a command was given: attributes are those of its options, under their names
    in Python.
    """

    def __init__(self, command: Command, values: Mapping[str, Any]) -> None:
        self.command = command
        self.values = {option.name: values[option.word] for option in command.options}

    def __getattr__(self, name: str) -> Any:
        return self.values[name]

    def read_arguments(self, function: str = "", **others: Any) -> dict[str, Any]:
        """Return the arguments of a function, by default that of the command's name, from the
        options that were given.

        ``others`` are further arguments, or stand for options that the command reads in a way of
        its own.
        """
        arguments: dict[str, Any] = {}
        for option in self.command.options:
            if (function or self.command.name) not in option.functions or option.name in others:
                continue
            if option.kind == "policies":
                arguments |= parse_policies(self.policies, self.sql_dir)
            elif (value := self._read_value(option)) is not None:
                arguments[option.name] = value
        return arguments | others

    def _read_value(self, option: Option) -> Any:
        """Return a value as functions take it, None for a list of none."""
        value, read = self.values[option.name], _READERS.get(option.kind)
        return (
            None
            if value is None or value == []
            else value
            if read is None
            else read(option.flag, value)
        )

    def list_sources(self, names: Collection[str] | None = None) -> tuple[Any, ...]:
        """Return the files, patterns, folders and table names that a command reads, also in
        queries.

        ``names`` are the options that name them, by default all sources. Those of ``--sql-dir`` are
        among them in any case.
        """
        from sqlrank.engines.query_sources import list_query_files  # help does not need engines

        sources: list[Any] = []
        for option in self.command.options:
            if (
                (option.is_source or option.kind in {"connection", "stored"})
                if names is None
                else option.name in names
            ):
                value = self._read_value(option)
                sources += value.values() if isinstance(value, dict) else [value]
        files = [
            file
            for source in sources
            for leaf in leaf_sources(source)
            for file in list_query_files(leaf)
        ]
        if (folder := self.values.get("sql_dir")) is not None:
            files += [
                *list_sql_files(folder),
                folder / "*.toml",
                *(folder / name for name in FOLDERS),
            ]
        return tuple(file for file in files if file is not None)

    def output_file(
        self, kind: FileKind, names: Collection[str] | None = None
    ) -> OutputFile | None:
        """Return the output file, checked before any work, None without one. It may be none of
        ``list_sources``.
        """
        return (
            None
            if self.output is None
            else OutputFile(self.output, kind, force=self.force, sources=self.list_sources(names))
        )
