"""The sections of a record: calls and commands by title, each with the text that it shows."""

import inspect
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path

import duckdb
import typer.main

import sqlrank
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.data import TABLES
from tests.engines.golden.requests import REQUESTS
from tests.engines.golden.test_all_metrics import FILES, SWEEPS
from tests.engines.scenarios import make_tables, scenarios
from tests.freeze import messages
from tests.freeze.describing import ROOT, describe_call, describe_file, normalize
from tests.interface.command_line import app, invoke_command
from tests.interface.outputs import OUTPUTS, make_data
from tests.interface.test_argument_sweep import MODES, get_value
from tests.repository.test_docs import CONSOLE
from website.public_interface import describe_interface, format_interface

FORMATS = ("table", "markdown", "latex", "csv", "json", "jsonl")
FORMATTED = ("evaluate", "compare", "gate", "drift", "experiment")
PROVOKING = (
    "interface/test_argument_values", "interface/test_cli",
    "interface/test_contract", "interface/test_filters", "interface/test_followed_advice",
    "interface/test_given_ranks", "interface/test_input_advice", "interface/test_invalid_names",
    "interface/test_option_mistakes", "interface/test_query_sources", "interface/test_row_checks",
    "interface/test_unreadable_files", "analyses/test_invalid_rollups",
    "numbers/examples/test_measures", "numbers/examples/test_predictions_refused",
)  # fmt: skip
"""Tests that provoke most of the messages, in a minute."""


def record_interface() -> Iterator[tuple[str, str]]:
    """Yield the declared interface, the docstrings and signatures of public names, and the help of
    all commands.
    """
    yield "interface", format_interface(describe_interface(), sqlrank.__version__)
    for name in sqlrank.__all__:
        item = getattr(sqlrank, name)
        yield name, f"{inspect.signature(item) if callable(item) else item}\n{inspect.getdoc(item)}"
    os.environ["COLUMNS"] = "100"
    for name in ("", *typer.main.get_command(app).commands):
        yield f"sqlrank {name} --help", _describe_command(*filter(None, [name]), "--help")
    yield "metrics", describe_call(sqlrank.metrics)
    for file in FILES:
        yield f"sqlrank metrics {file.full_name}", _describe_command("metrics", file.full_name)


def _describe_command(*arguments: object) -> str:
    result = invoke_command(*arguments)
    error = (
        ""
        if result.exception is None or isinstance(result.exception, SystemExit)
        else f"{result.exception!r}\n"
    )
    return normalize(f"exit status {result.exit_code}\n{error}{result.stderr}{result.stdout}")


def record_requests() -> Iterator[tuple[str, str]]:
    """Yield the statements of the requests that are read, in each dialect."""
    for number, request in REQUESTS.items():
        for dialect in DIALECTS:
            yield (
                f"{number} {dialect}: {request.title}",
                describe_call(partial(request.text, dialect)),
            )


def record_sweep(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the statements of a kind of every metric, in dialects that take turns by its name, so
    that a file that moves keeps its dialect.
    """
    files = sorted(FILES, key=lambda file: (file.full_name, file.kind))
    for file, dialect in zip(files, cycle(DIALECTS), strict=False):
        yield f"{file.full_name} {dialect}", describe_call(partial(SWEEPS[kind], file, dialect))


def record_scenarios(part: int) -> Iterator[tuple[str, str]]:
    """Yield the results of every other scenario with one thread."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, table in make_tables().items():
            connection.register("arrow_rows", table)
            connection.execute(f'CREATE TABLE "{name}" AS FROM arrow_rows')
            connection.unregister("arrow_rows")
        assert connection.sql("SHOW TABLES").fetchall() == sorted((name,) for name in TABLES)
        for scenario in scenarios()[part::2]:
            yield scenario.name, describe_call(partial(scenario.expected, connection))


def record_calls() -> Iterator[tuple[str, str]]:
    """Yield results of calls in every mode, and of each argument with a value that is not its
    default.
    """
    for mode, (function, given) in MODES.items():
        arguments = given | (
            {"threads": 1} if "threads" in inspect.signature(function).parameters else {}
        )
        yield mode, describe_call(partial(function, **arguments))
        for name in inspect.signature(function).parameters:
            if name not in {"policies", "timeout"}:
                yield (
                    f"{mode}: {name}",
                    describe_call(partial(function, **{**arguments, name: get_value(name)})),
                )


def record_commands() -> Iterator[tuple[str, str]]:
    """Yield what commands print and the files that they write."""
    data, commands = make_data(Path("data")), typer.main.get_command(app).commands
    for name, output in OUTPUTS.items():
        source, target = data / f"{output.reads}.parquet", Path(f"written{output.ending}")
        extra = {"--created-at": "then", "--threads": "1"}
        options = [
            word
            for param in commands[output.call[0]].params
            for flag in param.opts
            for word in (flag, extra.get(flag))
            if flag in extra
        ]
        yield name, _describe_command(*output.arguments(source, target), *options)
        yield f"{name}: file", describe_file(target) if target.exists() else "no file"
        target.unlink(missing_ok=True)
        if name in FORMATTED:
            for form in FORMATS:
                yield (
                    f"{name} --format {form}",
                    _describe_command(
                        *output.arguments(source, target)[:-2], *options, "--format", form
                    ),
                )
    for dialect in DIALECTS:
        yield f"functions {dialect}", _describe_command("functions", "--dialect", dialect)
    yield "functions --dbt", _describe_command("functions", "--dbt", "package")
    for path in sorted(Path("package").rglob("*")):
        if path.is_file():
            yield path.as_posix(), describe_file(path)


def record_documents() -> Iterator[tuple[str, str]]:
    """Yield what the commands of the documentation print."""
    os.chdir(ROOT)
    for page, command, _ in CONSOLE:
        program, *arguments = shlex.split(command)
        if program == "sqlrank":
            yield f"{page}: {command}", _describe_command(*arguments)


def record_messages() -> Iterator[tuple[str, str]]:
    """Yield the messages that quick tests provoke."""
    files = [f"{ROOT}/tests/{name}.py" for name in PROVOKING]
    with tempfile.NamedTemporaryFile(suffix=".txt") as target:
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", messages.__name__, "-m", "not slow", *files],
            cwd=ROOT, check=False, stdout=subprocess.DEVNULL, env={**os.environ, messages.TARGET: target.name},
        )  # fmt: skip
        for entry in Path(target.name).read_text("utf-8").split("=== ")[1:]:
            title, _, text = entry.partition("\n")
            yield title, text


SECTIONS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "messages": record_messages,
    "requests": record_requests,
    "scenarios-1": partial(record_scenarios, 0),
    "scenarios-2": partial(record_scenarios, 1),
    "calls": record_calls,
    "commands": record_commands,
    "documents": record_documents,
    **{f"statements-{kind.replace(' ', '-')}": partial(record_sweep, kind) for kind in SWEEPS},
    "interface": record_interface,
}
"""The sections, those that take longest first."""
