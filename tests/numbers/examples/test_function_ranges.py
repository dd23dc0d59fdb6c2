"""Functions of a database refuse the values of parameters that ``evaluate`` refuses, with its
message.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pytest

import sqlrank
from sqlrank.registry.loader import registry_for
from sqlrank.registry.sql_file import Parameter
from sqlrank.routines.function_script import FunctionScript
from sqlrank.routines.function_statements import Routine, load_list_functions
from tests.numbers.examples.test_functions import install, script

pytestmark = pytest.mark.xdist_group("functions")  # one worker makes all of them

LIMITED_BY_PARAMETER = ("cluster_errors.k", "common_scores.min_share", "leaked_queries.threshold")
"""Curves whose rows a parameter selects: with NULL there are none, and DuckDB plans no check."""

SAMPLE = ("P", "Lift@k", "MAPE", "F")


def find_declared(function: Routine) -> dict[str, Parameter]:
    """Return the declarations of a function's parameters by name."""
    if function.facts.kind == "list":
        return load_list_functions()[function.facts.name].params
    library = registry_for(None)
    files = [library.file_for(sqlrank.parse(metric)) for metric in function.facts.metrics]
    names = re.findall(r"[(,] ?(\w+)", function.signature)
    return {name: param for file in files for name, param in file.params.items() if name in names}


def list_wrong_values(param: Parameter) -> list[tuple[str, str]]:
    """Return values that are out of range, as they are written, each with the text that messages
    have.
    """
    numbers = [param.low if param.excludes_low else param.low - 1] if param.low > -1e91 else []
    numbers += [param.high + 1] if param.high < 1e80 else []
    numbers += [param.low + 1.5] if param.type == "integer" else []
    texts = [
        f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else f"{number:.17g}"
        for number in numbers
    ]
    values = [(text, text) for text in texts if "e" not in text]
    return [*values, ("NULL", "NULL"), ("'nan'::DOUBLE", "nan"), ("'infinity'::DOUBLE", "inf")]


def write_call(function: Routine, values: dict[str, str], declared: dict[str, Parameter]) -> str:
    """Return the call of a function with values of its parameters, and an example of another that
    it needs.
    """
    name, _, arguments = function.signature.removesuffix(")").partition("(")
    if function.facts.kind == "list":
        return f"SELECT {name}(['a'], ['a'], {values['k']})"
    needed = [argument for argument in arguments.split(", ") if ":=" not in argument]
    values = {name: "0.5" for name in needed if name in declared} | values
    named = [f"{argument} := {value}" for argument, value in values.items()]
    columns = [
        "run_of_a" if argument == "run" else argument
        for argument in needed
        if argument not in values
    ]
    call = f"{name}({', '.join([*columns, *named])})"
    return (
        f"FROM {call}"
        if function.facts.kind == "table"
        else f"SELECT {call} FROM {function.facts.inputs[0]}"
    )


def list_wrong_calls(
    script: FunctionScript, num_values: int | None = None
) -> Iterator[tuple[str, str]]:
    """Return calls of each function with wrong values of its parameters, all or some, each with the
    message that ``evaluate`` has, which is empty where DuckDB plans no check.
    """
    for function in script.functions:
        declared = find_declared(function)
        for name, param in declared.items():
            for value, text in list_wrong_values(param)[:num_values]:
                limits = value == "NULL" and f"{function.facts.name}.{name}" in LIMITED_BY_PARAMETER
                message = f"{name} is {text}. It must be {param.limited_range_text}"
                yield write_call(function, {name: value}, declared), "" if limits else message


@contextmanager
def install_with_answers(script: FunctionScript) -> Iterator[duckdb.DuckDBPyConnection]:
    with install(script) as connection:
        connection.execute(
            "CREATE TABLE answers AS SELECT 1 AS query_id, ['a'] AS retrieved, ['a'] AS relevant"
        )
        yield connection


def check_refusals(script: FunctionScript, num_values: int | None = None) -> int:
    """Assert that calls with wrong values are refused, and return how many were."""
    refused = 0
    with install_with_answers(script) as connection:
        for query, message in list_wrong_calls(script, num_values):
            if not message:
                assert connection.execute(query).fetchall() == []
                continue
            with pytest.raises(duckdb.InvalidInputException) as refusal:
                connection.execute(query).fetchall()
            text = str(refusal.value).removesuffix(".0")
            assert text == f"Invalid Input Error: {message}", query
            refused += 1
    return refused


@pytest.mark.slow
def test_functions_refuse_values_out_of_range():
    assert check_refusals(sqlrank.functions(SAMPLE), 2) == 12


@pytest.mark.slow
def test_all_functions_refuse_values_out_of_range():
    """Those of inputs and lists too."""
    assert check_refusals(script()) > 600


@pytest.mark.slow
def test_no_step_of_a_function_fails_on_values_out_of_range():
    """DuckDB may run steps of a statement before its check, whose message must come all the same.
    Without the check, each call has a result.
    """
    unchecked = [
        re.sub(r"\bERROR\(", "unchecked(", statement)
        for function in script().functions
        for statement in function.create
    ]
    with install_with_answers(script()) as connection:
        connection.execute("CREATE MACRO unchecked(message) AS NULL")
        for statement in unchecked:
            connection.execute(statement)
        for query, _ in list_wrong_calls(script()):
            connection.execute(query).fetchall()


def test_functions_take_values_at_the_ends_of_their_range():
    with install(sqlrank.functions(["P", "Lift@k"])) as connection:
        for value in ("1", "2147483647", "3.0", "(SELECT 2)"):
            assert (
                connection.execute(f"FROM sqlrank.p(run_of_a, qrels, k := {value})").fetchone()
                is not None
            )
        assert connection.execute(
            "SELECT lift_at_k FROM sqlrank.lift_at_k(predictions, fraction := 1)"
        ).fetchall() == [(1.0,)]


def test_functions_without_checks_of_rows_refuse_values_out_of_range():
    """And those that are installed without any checks do not."""
    with install(sqlrank.functions("P")) as connection:
        with pytest.raises(duckdb.InvalidInputException, match="k is 0"):
            connection.execute("FROM sqlrank.p(run_of_a, qrels, k := 0, checks := FALSE)")
        connection.execute(sqlrank.functions("P", check="off").sql)
        assert connection.execute(
            "SELECT p FROM sqlrank.p(run_of_a, qrels, k := 0)"
        ).fetchall() == [(0.0,)]
