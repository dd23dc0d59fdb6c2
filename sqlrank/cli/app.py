"""The ``sqlrank`` command with all that it can do."""

from sqlrank.cli.commands import command_line

app = command_line()
