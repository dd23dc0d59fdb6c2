"""The pages of the command line: each command with its arguments and options, from the text of its
help.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import Any

from typer.main import get_command

from sqlrank.cli.app import command_line
from sqlrank.cli.console import with_type_name

PAGES_OF_OPTIONS = {
    "--column": "inputs.md",
    "--policy": "policies.md",
    "-p": "policies.md",
    "--compat": "sql/compat.md",
    "--plan": "plans.md",
    "--confidence": "confidence.md",
    "--interval": "confidence.md",
    "--unit": "confidence.md",
    "--format": "results.md",
    "--rollup": "rollups.md",
    "--tolerance": "gates.md",
    "--dbt": "start/dbt.md",
}
"""Page that explains an option, by its first flag."""


@cache
def load_commands() -> dict[str, Any]:
    """Return the commands by name, in the order of the help."""
    return {
        name: command
        for name, command in getattr(get_command(command_line()), "commands", {}).items()
        if not command.hidden
    }


def locate_command_page(name: str) -> str:
    """Return the page of a command, below docs."""
    return f"cli/{name}.md"


def build_command_index() -> str:
    """Return the page of all commands, with a sentence of each."""
    rows = [
        f"| [`sqlrank {name}`]({name}.md) | {_format_help(command.help)} |"
        for name, command in load_commands().items()
    ]
    about = (
        "Every command with its options. `sqlrank COMMAND --help` prints the same in your terminal."
    )
    return "\n".join(
        ["# Command line", "", about, "", "| command | what it does |", "|---|---|", *rows, ""]
    )


def build_command_page(name: str) -> str:
    """Return the page of a command: its call, arguments, and options by group."""
    command = load_commands()[name]
    context = command.make_context(name, [], resilient_parsing=True)
    options = [
        param
        for param in command.params
        if param.param_type_name == "option" and not param.hidden and "--help" not in param.opts
    ]
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    words = [_format_argument(param) for param in arguments]
    parts = [
        f"# sqlrank {name}",
        _format_help(command.help),
        f"```sh\n{' '.join(['sqlrank', name, *words, '[OPTIONS]'])}\n```",
    ]
    parts += [
        "## Examples",
        "\n\n".join(f"```sh\n{example}\n```" for example in command.command.examples),
    ]
    if arguments:
        parts += [
            "## Arguments",
            _format_table(
                "argument", [(f"`{_format_argument(param)}`", param) for param in arguments]
            ),
        ]
    for title in command.command.groups:
        rows = [
            (_format_option(param, context), param)
            for param in options
            if command.declared[param.name].group == title
        ]
        parts += [f"## {title}", _format_table("option", rows)] if rows else []
    return "\n\n".join(part for part in parts if part) + "\n"


def _format_option(param: Any, context: Any) -> str:
    """Return the flags of an option and the name or type of its value, as code in a cell of a
    table.
    """
    flags = ", ".join(f"`{flag}`" for flag in [*param.opts, *param.secondary_opts])
    kind = "" if param.is_flag else with_type_name(param.display_type(context))
    value = escape(param.metavar or kind).replace("|", "&#124;")  # a bar would end the cell
    return f"{flags} <code>{value}</code>" if value else flags


def _format_argument(param: Any) -> str:
    word = param.name.upper() + ("..." if param.nargs == -1 else "")
    return word if param.required else f"[{word}]"


def _format_table(kind: str, rows: list[tuple[str, Any]]) -> str:
    """Return a table of options or arguments: the meaning ends with the default, and with the page
    that says more.
    """
    lines = [(kind, "meaning"), ("---", "---")]
    lines += [
        (label, f"{_format_help(param.help)}{_format_default(param)}{_format_link(param)}")
        for label, param in rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _format_default(param: Any) -> str:
    if param.required:
        return " Required."
    return (
        ""
        if param.default in (None, False, True, (), []) or callable(param.default)
        else f" Default: `{param.default}`."
    )


def _format_link(param: Any) -> str:
    page = PAGES_OF_OPTIONS.get(param.opts[0])
    return f" [More](../{page})." if page else ""


def _format_help(text: str | None) -> str:
    """Return a help text as a cell of a table: flags are code."""
    flat = (
        " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    )
    return re.sub(r"(?<![\w`-])(--?[a-zA-Z][\w-]*)", r"`\1`", flat)
