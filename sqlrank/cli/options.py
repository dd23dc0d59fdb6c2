"""Make the options of a command from options.toml, and hold the values that it was given, also as
arguments of functions.
"""

from __future__ import annotations

from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlrank.call.sources import leaf_sources
from sqlrank.cli.parsing import (
    parse_columns,
    parse_groupings,
    parse_inputs,
    parse_pairs,
    parse_policies,
    parse_runs,
    parse_shares_option,
    parse_source,
    parse_tolerance_options,
)
from sqlrank.errors import join_words
from sqlrank.output.display import Format
from sqlrank.output.output_file import FileKind, OutputFile
from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_folder import FOLDERS, list_sql_files
from sqlrank.rendering.dialects import DIALECT_NAMES
from sqlrank.routines import FUNCTION_DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from sqlrank.options import Command, Option

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

_READERS: dict[str, Callable[[str, Any], Any]] = {
    "run": lambda _, run: parse_runs([run]),
    "runs": lambda flag, runs: parse_runs(runs, f"{flag} "),
    "inputs": lambda _, texts: parse_inputs(texts),
    "column_map": lambda _, texts: parse_columns(texts),
    "grouping": lambda _, texts: parse_groupings(texts),
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
    if isinstance(option.completes, list):
        return option.completes
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
        "autocompletion": _make_completion(option) if option.completes else None,
    }
    if option.kind == "source":
        details |= {
            "parser": parse_source,
            "metavar": option.name.upper() if option.argument else "TEXT",
        }
    if option.kind == "format":
        details["metavar"] = "FORMAT"
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
