"""options.toml and the signatures of public functions agree, and each value that an option declares as possible is."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

import sqlrank
from sqlrank import learn
from sqlrank.argument_checks import KINDS, is_possible
from sqlrank.options import load_options

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (*(getattr(sqlrank, name) for name in sqlrank.__all__), learn.fit, learn.merge_weights)
    if inspect.isfunction(function)
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_those_that_are_declared(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    declared = {option.name: option for option in load_options().values() if name in option.functions}
    assert set(parameters) == set(declared)
    for option in declared.values():
        parameter = parameters[option.name]
        assert (parameter.annotation in {"bool", bool}) is (option.kind == "flag"), option.name
        if parameter.default is not parameter.empty:
            default = None if parameter.default is False or parameter.default == () else parameter.default
            assert default == option.defaults.get(name, option.default), option.name


def test_functions_that_are_declared_exist() -> None:
    named = {name for option in load_options().values() for name in (*option.functions, *option.defaults)}
    assert named == set(FUNCTIONS) - {name for name, function in FUNCTIONS.items() if not inspect.signature(function).parameters}


@pytest.mark.parametrize("name", [name for name, option in load_options().items() if option.kind in KINDS])
def test_defaults_and_choices_are_possible_and_an_object_is_not(name: str) -> None:
    option = load_options()[name]
    defaults = [value for value in (option.default, *option.defaults.values()) if value is not None]
    assert [value for value in (*defaults, *option.choices) if not is_possible(option, value)] == []
    assert option.expects or option.kind in {"flag", "column", "choice"} or not {*option.functions} - {"fit", "merge_weights"}
    assert option.kind == "metrics" or not is_possible(option, object())
