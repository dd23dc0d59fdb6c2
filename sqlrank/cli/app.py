"""The ``sqlrank`` command with all its subcommands, as an object of typer."""

from sqlrank.cli.commands import command_line

app = command_line()
