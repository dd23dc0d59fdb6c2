"""options.toml and the signatures of public functions agree, and each value that an option declares
as possible is.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import fields
from textwrap import dedent
from typing import Any

import pytest

import sqlrank
from sqlrank import learn
from sqlrank.call.argument_checks import KINDS, is_possible
from sqlrank.call.request import ResourceLimits
from sqlrank.comparison import paired_tests
from sqlrank.options import load_options
from sqlrank.reports.report_request import ReportRequest
from sqlrank.reports.rollup_report import RollupReportRequest

FUNCTIONS = {
    function.__name__: function
    for function in (
        *(getattr(sqlrank, name) for name in sqlrank.__all__),
        learn.fit,
        learn.merge_weights,
    )
    if inspect.isfunction(function)
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_those_that_are_declared(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    declared = {
        option.name: option for option in load_options().values() if name in option.functions
    }
    assert set(parameters) == set(declared), (
        f"the signature of {name} and options.toml have the same options"
    )
    for option in declared.values():
        parameter = parameters[option.name]
        assert (parameter.annotation in {"bool", bool}) is (option.kind == "flag"), option.name
        if parameter.default is not parameter.empty:
            default = (
                None if parameter.default is False or parameter.default == () else parameter.default
            )
            assert default == option.defaults.get(name, option.default), option.name


def test_functions_that_are_declared_exist():
    named = {
        name for option in load_options().values() for name in (*option.functions, *option.defaults)
    }
    assert named == set(FUNCTIONS) - {
        name for name, function in FUNCTIONS.items() if not inspect.signature(function).parameters
    }


@pytest.mark.parametrize(
    "name", [name for name, option in load_options().items() if option.kind in KINDS]
)
def test_defaults_and_choices_are_possible_and_an_object_is_not(name):
    option = load_options()[name]
    for function in option.functions:
        own, default = option.for_function(function), option.defaults.get(function, option.default)
        values = (*own.choices, *([] if default is None else [default]))
        assert [value for value in values if not is_possible(own, value)] == []
    assert (
        option.expects
        or option.kind in {"flag", "column", "choice"}
        or not {*option.functions} - {"fit", "merge_weights"}
    ), "expects in options.toml, for the message of a value that is not possible"
    assert option.kind == "metrics" or not is_possible(option, object())


def read_parameters(function: Callable[..., Any]) -> set[str]:
    """Return the parameters that a function reads: by their names, or as fields of records that it
    makes of all of its arguments.
    """
    function = inspect.unwrap(function)
    body = ast.parse(dedent(inspect.getsource(function))).body[0].body[1:]  # type: ignore[attr-defined]
    code = "\n".join(map(ast.unparse, body))
    scope = {**vars(sys.modules[function.__module__]), "ResourceLimits": ResourceLimits}
    scope |= {"ReportRequest": ReportRequest, "RollupReportRequest": RollupReportRequest}
    scope |= {"TestOptions": paired_tests.TestOptions}
    records = []
    while new := set(
        re.findall(
            r"(?:select_arguments\(|\b)([A-Z]\w+)(?:, arguments|\.from_arguments\(arguments)", code
        )
    ) - {*records}:
        for record in map(scope.__getitem__, new):
            parse = (
                inspect.getsource(record.from_arguments)
                if hasattr(record, "from_arguments")
                else ""
            )
            constants = [
                value
                for name, value in vars(sys.modules[record.__module__]).items()
                if name.isupper() and name in parse
            ]
            code = "\n".join(
                [code, parse, *map(str, constants), *(field.name for field in fields(record))]
            )
        records += new
    return set(re.findall(r"\w+", code))


@pytest.mark.parametrize(
    "name", [name for name in FUNCTIONS if name not in {"fit", "merge_weights"}]
)
def test_every_parameter_is_read(name):
    read = read_parameters(FUNCTIONS[name])
    is_passed_on = name == "assert_not_worse"  # all but one, to gate
    assert [
        parameter
        for parameter in inspect.signature(FUNCTIONS[name]).parameters
        if parameter not in read and not is_passed_on
    ] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_that_are_described_elsewhere_are_described_there(name):
    """An argument "as for" another function is one of that function, which says what it is."""
    described = dict(
        re.findall(r"^ {8}\**(\w+): (.*)$", str(FUNCTIONS[name].__doc__), re.MULTILINE)
    )
    for argument, text in described.items():
        for other in re.findall(r"^as for :func:`(?:sqlrank\.)?(\w+)`", text):
            own = dict(
                re.findall(r"^ {8}\**(\w+): (.*)$", str(FUNCTIONS[other].__doc__), re.MULTILINE)
            )
            assert argument in own, f"{name}({argument}) is not described by {other}"
