"""Build the ``sqlrank`` command with all its subcommands, as a typer application, by one call of
``command_line``.
"""

from sqlrank.cli.commands import command_line

app = command_line()
