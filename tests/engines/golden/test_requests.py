"""Every request has a statement without superfluous parts, in each dialect that has its plan."""

import shlex

import pytest

from tests.engines.golden.header import find_header_faults
from tests.engines.golden.reading import find_faults
from tests.engines.golden.requests import REQUESTS
from tests.engines.golden.style import find_style_faults
from tests.interface.command_line import run_command

UNFINISHED = {"56": "written 2 times"}
"""Superfluous parts of some statements, in words of the report."""

CASES = [(number, dialect) for number, request in REQUESTS.items() for dialect in request.dialects]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("number", "dialect"), CASES)
def test_nothing_in_a_requested_statement_is_without_need(number, dialect):
    """The command in its header prints it."""
    text = REQUESTS[number].text(dialect)
    faults = [
        *find_faults(text, dialect),
        *find_style_faults(text, dialect),
        *find_header_faults(text),
    ]
    assert [fault for fault in faults if UNFINISHED.get(number, "\0") not in fault] == []
    (command,) = [
        line.removeprefix("-- made by: ")
        for line in text.splitlines()
        if line.startswith("-- made by: ")
    ]
    program, *arguments = shlex.split(command)
    assert program == "sqlrank"
    assert run_command(*arguments) == f"{text};\n"
