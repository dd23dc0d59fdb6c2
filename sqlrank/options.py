"""Read options.toml, which declares every option of the public functions and of the command line,
and the commands.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_SOURCE_KINDS = ("source", "run", "runs", "rollups", "inputs", "baseline", "result")


@dataclass(frozen=True)
class Option:
    """An option under its name in Python. The comment of options.toml says what its fields are."""

    name: str
    kind: str
    flag: str
    short: str = ""
    argument: bool = False
    group: str = "Options"
    required: bool = False
    default: Any = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    command_default: str | None = None
    low: int | None = None
    above: float | None = None
    below: float | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[str, ...] = ()
    completes: str | list[str] = ""
    expects: str = ""
    error: str = "MetricError"
    sentence: str = ""
    value: str = ""
    missing: str = ""
    elsewhere: str = ""
    before: str = ""
    commands: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    variants: tuple[Mapping[str, Any], ...] = ()
    modes: tuple[Mapping[str, str], ...] = ()

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any]) -> Option:
        """Return the option of a table of the file."""
        flag = f"--{name.replace('_', '-')}"
        return cls(
            name,
            **_split_names(
                {"flag": flag, **table},
                "commands",
                "functions",
                "other_names",
                "choices",
                "variants",
                "modes",
            ),
        )

    @property
    def word(self) -> str:
        """The name of the option on the command line, as a word of Python: ``db`` for ``--db``."""
        return self.flag.lstrip("-").replace("-", "_")

    @property
    def is_on_command_line(self) -> bool:
        """True if a command has the option, and it is not given by position."""
        return bool(self.commands or self.variants) and not self.argument

    @property
    def is_source(self) -> bool:
        """True if values may be tables, of which arrays are kept as they are."""
        return self.kind in _SOURCE_KINDS

    def for_function(self, function: str) -> Option:
        """Return the option as a function has it, which may have other choices."""
        return next(
            (
                replace(self, choices=tuple(variant["choices"]))
                for variant in self.variants
                if function in variant.get("functions", "").split()
            ),
            self,
        )

    def for_command(self, command: str) -> Option | None:
        """Return the option as a command has it, None if it does not have it."""
        default = (
            self.defaults.get(command, self.default)
            if self.command_default is None
            else self.command_default or None
        )
        if command in self.commands:
            return replace(self, default=default)
        variant = next(
            (variant for variant in self.variants if command in variant["commands"].split()), None
        )
        return (
            None
            if variant is None
            else replace(self, **{"default": default, **variant, "commands": (command,)})
        )


def _split_names(table: Mapping[str, Any], *names: str) -> dict[str, Any]:
    texts = {
        name: table[name].split() if isinstance(table[name], str) else table[name]
        for name in names
        if name in table
    }
    return {**table, **{name: tuple(values) for name, values in texts.items()}}


@dataclass(frozen=True)
class Command:
    """A command of the command line, as options.toml declares it."""

    name: str
    group: str
    about: str
    examples: list[str]
    ignored: Mapping[str, str] = field(default_factory=dict)
    needed: Mapping[str, str] = field(default_factory=dict)
    leading: str = ""

    @property
    def options(self) -> list[Option]:
        """Its options, in the order of the help."""
        named = [
            find_option(name) for name, text in _split_file()[1].items() if self.name in text
        ]  # others need no parsing
        options = [
            own
            for option in named
            if option is not None and (own := option.for_command(self.name)) is not None
        ]
        for option in [option for option in options if option.before]:
            options.remove(option)
            options.insert(
                next(index for index, other in enumerate(options) if other.name == option.before),
                option,
            )
        return options

    @property
    def groups(self) -> list[str]:
        """Titles of groups of options, in the order of the help."""
        inputs, *others = _read_head()["groups"]
        return list(dict.fromkeys([inputs, *filter(None, [self.leading]), *others]))


@cache
def _split_file() -> tuple[str, dict[str, str]]:
    """Return the text of groups and commands, and of each option. A call parses those that it has:
    all take five milliseconds.
    """
    head, *tables = re.split(
        r"^\[(\w+)\]$", Path(__file__).with_suffix(".toml").read_text("utf-8"), flags=re.MULTILINE
    )
    return head, {
        name: f"[{name}]{text}" for name, text in zip(tables[::2], tables[1::2], strict=True)
    }


@cache
def find_option(name: str) -> Option | None:
    """Return the option of a name, None if there is none."""
    text = _split_file()[1].get(name)
    return None if text is None else Option.from_table(name, tomllib.loads(text)[name])


def get_flag(name: str) -> str:
    """Return the option of the command line for an argument, also for one that no table declares.

    >>> get_flag("lower_is_better"), get_flag("connection"), get_flag("k")
    ('--lower-is-better', '--db', '-k')
    """
    option = find_option(name)
    return f"--{name.replace('_', '-')}" if option is None else option.flag


@cache
def load_options() -> dict[str, Option]:
    """Return all options by name, in the order of the file."""
    return {name: option for name in _split_file()[1] if (option := find_option(name)) is not None}


@cache
def _read_head() -> dict[str, Any]:
    return tomllib.loads(_split_file()[0])


@cache
def load_commands() -> dict[str, Command]:
    """Return the commands by name, in the order of the help."""
    return {name: Command(name, **table) for name, table in _read_head()["commands"].items()}
