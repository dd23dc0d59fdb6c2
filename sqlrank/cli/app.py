"""The ``sqlrank`` command with all its subcommands."""

from sqlrank.cli.commands import command_line

app = command_line()
