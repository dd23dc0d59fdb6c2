"""The help of commands: groups of options, examples, sentences, and the width of the terminal."""

import contextlib
import io
import shlex

import pytest
from typer.main import get_command

from sqlrank.cli.console import wrap_command
from sqlrank.options import load_commands
from tests.interface.command_line import app, invoke_command, run_command
from tests.lanes import select_few
from website.command_line import build_command_page

COMMANDS = getattr(get_command(app), "commands", {})


EXAMPLES = {name: command.examples for name, command in load_commands().items()}
GROUPS = [
    "Inputs", "Metrics and policies", "Grouping and filters", "Intervals", "Verdicts", "Output",
    "Limits",
]  # fmt: skip
"""Groups of a command that has all of them."""


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_has_a_group(name):
    options = [option for option in load_commands()[name].options if not option.argument]
    assert [
        option.name for option in options if option.group not in load_commands()[name].groups[:-1]
    ] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_can_be_parsed(name):
    command = COMMANDS[name]
    assert len(set(EXAMPLES[name])) == 2
    for example in EXAMPLES[name]:
        program, word, *arguments = shlex.split(example)
        assert (program, word) == ("sqlrank", name)
        with command.make_context(name, arguments) as context:
            assert context.params


def test_the_help_of_a_command_has_examples_and_groups():
    shown = run_command("gate", "--help")
    titles = [
        line.removesuffix(":")
        for line in shown.splitlines()
        if line.endswith(":") and not line.startswith(" ")
    ]
    assert titles == ["Examples", "Arguments", *GROUPS, "Options"]
    assert all(
        f"\n  {example}\n" in shown.replace(" \\\n     ", "") for example in EXAMPLES["gate"]
    )
    assert "--run [NAME=]SOURCE " in shown
    assert "--format FORMAT " in shown
    assert "table, markdown, latex, csv, json, jsonl, parquet or xlsx" in " ".join(shown.split())


@pytest.mark.slow
@pytest.mark.parametrize("width", select_few([80, 60, 100, 140], 1))
def test_help_is_as_wide_as_the_terminal(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in ([], ["--help"], *([name, "--help"] for name in COMMANDS)):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            get_command(app).main(arguments, prog_name="sqlrank", standalone_mode=False)
        lines = text.getvalue().splitlines()
        assert (
            (width - 25 if arguments[:1] in (["--help"], ["evaluate"]) else 0)
            < max(map(len, lines))
            <= width
        )
        assert arguments != ["--help"] or not any(line.endswith("...") for line in lines[1:])


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_wrapped_examples_can_be_copied(width):
    for example in (example for examples in EXAMPLES.values() for example in examples):
        lines = wrap_command(example, width)
        assert shlex.split("\n".join(lines).replace("\\\n", "")) == shlex.split(example)
        assert all(line.endswith(" \\") for line in lines[:-1])
        assert max(map(len, lines)) <= max(width, 48)


def test_the_list_of_commands_has_groups():
    lines = run_command("--help").splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Options:", "Evaluate:", "Decide:", "Production:", "Data and training:"]
    evaluating = lines[lines.index("Evaluate:") + 1 : lines.index("Decide:")]
    names = [line.split()[0] for line in evaluating if line[:3].strip()]
    assert names == ["evaluate", "metrics", "explain", "chart", "report"]


def test_usage_names_arguments_as_the_reference_does():
    assert run_command("evaluate", "--help").startswith(
        "Usage: sqlrank evaluate [OPTIONS] METRICS...\n"
    )


def test_the_list_of_commands_has_whole_sentences():
    shown = " ".join(run_command("--help").split())
    for name, command in COMMANDS.items():
        sentence = " ".join(command.help.split()).split(". ")[0].removesuffix(".")
        assert f" {name} {sentence}." in shown


def test_the_command_alone_shows_those_to_start_with():
    result = invoke_command()
    assert (result.exit_code, result.stderr) == (0, "")
    text = result.stdout.replace("\\\n", "")
    calls = [line.split() for line in text.splitlines() if line.startswith("  sqlrank ")]
    assert [words[1] for words in calls] == ["metrics", "evaluate", "compare", "gate", "sql"]
    for _, name, *arguments in map(
        shlex.split, (line for line in text.splitlines() if line.startswith("  sqlrank "))
    ):
        with COMMANDS[name].make_context(name, arguments) as context:
            assert context.params
    assert "'sqlrank --help' lists all commands" in text


def test_pages_of_commands_show_examples_and_groups():
    text = build_command_page("gate")
    assert f"## Examples\n\n```sh\n{EXAMPLES['gate'][0]}\n```" in text
    assert [title for title in GROUPS if f"\n## {title}\n" in text] == GROUPS
    assert text.index("## Inputs") < text.index("## Verdicts") < text.index("## Limits")
