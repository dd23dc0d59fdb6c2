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
from sqlrank.cli.console import with_type_name, wrap_command
from website.command_outputs import WIDTH
from website.page_templates import render_template

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
    return render_template("command_index.md", commands=load_commands(), code_flags=_code_flags)


def build_command_page(name: str) -> str:
    """Return the page of a command: its call, arguments, and options by group."""
    command = load_commands()[name]
    context = command.make_context(name, [], resilient_parsing=True)
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    groups = {"Arguments": arguments} | {
        title: [
            param
            for param in command.params
            if param not in arguments
            and not param.hidden
            and "--help" not in param.opts
            and command.declared[param.name].group == title
        ]
        for title in command.command.groups
    }

    return render_template(
        "command_page.md",
        name=name,
        command=command,
        arguments=arguments,
        groups=groups,
        context=context,
        label=_format_label,
        pages=PAGES_OF_OPTIONS,
        wrap=lambda example: "\n".join(wrap_command(example, WIDTH)),
        format_argument=_format_argument,
        code_flags=_code_flags,
    )


def _format_label(param: Any, context: Any) -> str:
    """Return an argument, or the flags of an option and the name or type of its value, as code in a
    cell of a table.
    """
    if param.param_type_name == "argument":
        return f"`{_format_argument(param)}`"
    flags = ", ".join(f"`{flag}`" for flag in [*param.opts, *param.secondary_opts])
    kind = "" if param.is_flag else with_type_name(param.display_type(context))
    value = escape(param.metavar or kind).replace("|", "&#124;")  # a bar would end the cell
    return f"{flags} <code>{value}</code>" if value else flags


def _format_argument(param: Any) -> str:
    word = param.name.upper() + ("..." if param.nargs == -1 else "")
    return word if param.required else f"[{word}]"


def _code_flags(text: str | None) -> str:
    """Return a help text as a cell of a table: flags are code."""
    flat = (
        " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    )
    return re.sub(r"(?<![\w`-])(--?[a-zA-Z][\w-]*)", r"`\1`", flat)
