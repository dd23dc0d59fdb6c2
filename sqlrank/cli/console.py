"""Define command classes that reject repeated and unread options and write help, translate keywords
in messages into options, and print the first screen, errors, warnings, output paths and a progress
bar.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import sys
import warnings
from contextlib import contextmanager
from shutil import get_terminal_size
from textwrap import wrap
from threading import Timer
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sqlrank.cancellation import clean_up_at_signal, forget_cleanup
from sqlrank.errors import SqlrankError, clean_line, describe_os_error, to_sentence
from sqlrank.options import get_flag, load_commands, load_options
from sqlrank.output.display import wrap_text
from sqlrank.result_columns import NOTES_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_KEYWORD = re.compile(
    r"""(?<![\w.(\[{'"=/-])(?P<name>[a-z]\w*)=(?P<value>\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\[\]]*\]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.\.\.|[\w.+%-]*[\w%])?(?P<stop>\.(?!\S))?"""
)
_SUBJECT = re.compile(r"^[a-z]\w*(?=: | maps | names | is | cannot name )", re.MULTILINE)
_CALL = r"\w*\([^()'\"]*=[^()'\"]*\)\S*"
"""Pattern of parameters, alone or after the name of a metric, which are no keywords."""
_METRICS = re.compile(
    r"(?:a list of them, )?\['[^\]]*'\] \((?:on the command line )?((?:[^()]|\([^()]*\))*)\)"
)
"""Pattern of a list of metrics in Python, with what to write on the command line."""
_FUNCTION = re.compile(r"sqlrank\.\w+ \((sqlrank [^()]*)\)")
"""Pattern of a public function, with the command that does the same."""
_TABLE_KINDS = ("source", "runs", "baseline", "result", "stored")
_PAIR = re.compile(
    r"""'([^']*)': *(\[[^\[\]]*\]|\{[^{}]*\}|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.\.\.|[^,}]+)"""
)


def as_option_message(message: str) -> str:
    r"""Return a message with options of the command line in place of keywords; lines of examples
    stay as they are.

    >>> print(as_option_message("name their column with unit=, such as unit='user_id'"))
    name their column with --unit, such as --unit user_id
    >>> print(as_option_message("give run={'old': ..., 'new': ...}, or ties='rank'"))
    give --run old=... --run new=..., or --policy ties=rank
    >>> print(
    ...     as_option_message(
    ...         "pAp(k=3, margin=1)@5: n_bins is 0\nn_bins is 0, and queries='strict'"
    ...     )
    ... )
    pAp(k=3, margin=1)@5: n_bins is 0
    --n-bins is 0, and --policy queries=strict
    >>> print(as_option_message("columns maps 'skore', which no input has"))
    --column maps 'skore', which no input has
    >>> print(
    ...     as_option_message("Give queries=..., a table of them, and the policy as topics='given'")
    ... )
    Give --queries ..., a table of them, and the policy as --policy topics=given
    >>> print(as_option_message("give inputs={'answers': {'old': ..., 'new': ...}}"))
    give --input answers=old=... --input answers=new=...
    >>> print(as_option_message("give columns={'score': \"REPLACE(p, ',', '')\"}"))
    give --column score="REPLACE(p, ',', '')"
    >>> print(as_option_message("Give connection='x', predictions='t', columns={'label': 'y'}"))
    Give --db x --predictions t --column label=y
    >>> print(as_option_message("Say which it is with columns={'label': ...}. There are: y"))
    Say which it is with --column label=... There are: y
    >>> print(as_option_message("what sqlrank.sql (sqlrank sql --dialect ...) prints"))
    what sqlrank sql --dialect ... prints
    """
    on_command_line = [option for option in load_options().values() if option.is_on_command_line]
    options = {option.name: option.flag for option in on_command_line} | {
        option.word: option.flag for option in on_command_line
    }
    settings = _list_settings()

    def translate_match(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        if name in settings and (
            name not in options or (name == "queries" and (value or "")[:1] == "'")
        ):  # which is a table, too
            text = f"{settings[name]} {name}={'...' if value is None else _quote_word(value)}"
        elif name in options:
            text = _format_option(options[name], value)
        else:
            return match[0]
        return (
            text if text.endswith("...") else f"{text}{match['stop'] or ''}"
        )  # a placeholder ends a sentence without a fourth dot

    message = _FUNCTION.sub(r"\1", _METRICS.sub(r"\1", message))
    # A source is called by its name, as in "run: no column score".
    tables = {
        option.name
        for option in on_command_line
        if option.group == "Inputs" and option.kind in _TABLE_KINDS
    }
    lines = _SUBJECT.sub(
        lambda match: match[0] if match[0] in tables else options.get(match[0], match[0]), message
    ).split("\n")
    return "\n".join(
        line if line.startswith("    ") else _translate_line(line, translate_match)
        for line in lines
    )


def _list_settings() -> dict[str, str]:
    """Return the options of policies and plans by name, loaded only for messages."""
    from sqlrank.registry.loader import load_registry  # read where something is wrong
    from sqlrank.registry.settings_checks import QUERIES_POLICY_KEYWORD, policy_names

    library = load_registry()
    return dict.fromkeys(library.plans, "--plan") | dict.fromkeys(
        [*policy_names(library), QUERIES_POLICY_KEYWORD], "--policy"
    )


def _translate_line(line: str, translate: Callable[[re.Match[str]], str]) -> str:
    # What follows an option is in its language already, such as --policy ties=rank.
    words = re.split(rf"(--[a-z-]+ [^\s=]+=\S*|{_CALL})", line)
    return "".join(
        part if index % 2 else _translate_part(part, translate) for index, part in enumerate(words)
    )


def _translate_part(part: str, translate: Callable[[re.Match[str]], str]) -> str:
    """Translate the keywords of a part of a line; between those of one call are blanks."""
    texts: list[str] = []
    end, is_option = 0, False
    for match in _KEYWORD.finditer(part):
        between, text = part[end : match.start()], translate(match)
        follows, is_option = is_option, text != match[0] and match["value"] is not None
        texts += [" " if follows and is_option and between in {", ", " and "} else between, text]
        end = match.end()
    return "".join([*texts, part[end:]])


def _format_option(flag: str, value: str | None) -> str:
    if value is None or value == "True":
        return flag
    if value.startswith("{"):
        return " ".join(
            f"{flag} {shlex.quote(name)}={_quote_word(each)}"
            for name, texts in _PAIR.findall(value)
            for each in _split_items(texts)
        )
    return " ".join(f"{flag} {_quote_word(each)}" for each in _split_items(value))


def _split_items(value: str) -> list[str]:
    """Return the items of a list, the pairs of a dict, or the value."""
    if value.startswith("{"):
        return [f"{name}={text}" for name, text in _PAIR.findall(value)]
    if value.startswith("["):
        return [text.strip() for text in value.strip("[]").split(",")]
    return [value]


def _quote_word(value: str) -> str:
    """Return a value as a word of a shell."""
    text = value.strip()
    text = ast.literal_eval(text) if text[:1] in {"'", '"'} else text
    return (
        text
        if text == "..."
        else f'"{text}"'
        if "'" in text and not re.search(r'["$`\\!]', text)
        else shlex.quote(text)
    )


SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"
"""Sequence that erases the line of a progress bar and shows the cursor that it hides."""

HANGING_INDENT = "  "
"""Indent of the further lines of a message in a terminal."""

USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
"""Class of the parser's errors, which typer does not export."""

ERROR_STATUS = 2
"""Exit status of a command that failed. It wrote nothing but the error to a JUnit report."""


START = """\
Metrics for rankings, recommenders and click models, computed in SQL where the data is.

Start with one of these commands:

  sqlrank metrics click probability
      Find the metric for a task, from words.
  sqlrank evaluate nDCG@10 --run run.trec --qrels qrels.trec
      Compute metrics, with confidence intervals and by groups.
  sqlrank compare nDCG@10 --run old=old.trec --run new=new.trec --qrels qrels.trec
      Test if two systems differ.
  sqlrank gate nDCG@10 --tolerance 0.01 --run old=old.trec --run new=new.trec --qrels qrels.trec
      Fail a build if a candidate is worse than the baseline.
  sqlrank sql AUC --predictions shop.clicks --by day --dialect bigquery
      Print the statement, to run it in your warehouse.

'sqlrank --help' lists all commands, and 'sqlrank COMMAND --help' the options of one.
"""

_OPTION_BOUNDARY = re.compile(r" (?=-)")
_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "NUMBER", "path": "FILE"}


def first_sentence(text: str) -> str:
    """Return the first sentence of a help text, on one line."""
    flat = " ".join(text.split())
    return f"{flat.split('. ')[0].removesuffix('.')}."


def wrap_command(command: str, width: int) -> list[str]:
    r"""Return the lines of a command, broken before options, where a backslash continues it, so
    that it can be copied.

    >>> print(
    ...     *wrap_command("sqlrank compare nDCG@10 --run old=old.trec --run new=new.trec", 45),
    ...     sep="\n"
    ... )
    sqlrank compare nDCG@10 --run old=old.trec \
        --run new=new.trec
    """
    first, *options = _OPTION_BOUNDARY.split(command)
    lines = [first]
    for option in options:
        if len(f"{lines[-1]} {option} \\") <= width:
            lines[-1] += f" {option}"
        else:
            lines.append(f"    {option}")
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def start_screen(width: int) -> str:
    """Return the text for callers without arguments, as wide as the terminal."""
    lines: list[str] = []
    for line in START.splitlines():
        text = line.lstrip()
        indent = line[: len(line) - len(text)]
        wrapped = wrap_command if text.startswith("sqlrank ") else wrap
        lines += [f"{indent}{part}" for part in wrapped(text, width - len(indent)) or [""]]
    return "\n".join([*lines, ""])


def with_type_name(words: str) -> str:
    """Name the type of a value as other commands do.

    >>> with_type_name("--run <list[str]>"), with_type_name("--top <int range>"), with_type_name(
    ...     "--check <auto|off>"
    ... )
    ('--run TEXT', '--top INTEGER', '--check [auto|off]')
    """
    return re.sub(
        r"<(?:list\[)?([\w|]+)(?: range)?\]?>",
        lambda match: _TYPES.get(match[1], f"[{match[1]}]"),
        words,
    )


class CommandGroup(TyperGroup):
    """All commands: without arguments it shows those to start with, and its help lists all in whole
    sentences.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; without any, print the commands to start with."""
        if not args and not ctx.resilient_parsing:
            typer.echo(start_screen(get_terminal_size().columns), nl=False)
            ctx.exit()
        if args[:1] == ["help"]:
            ctx.fail(
                f"No such command 'help'. '{' '.join([ctx.command_path, *args[1:2]])} --help'"
                " shows it"
            )
        return super().parse_args(ctx, args)

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Return the context of a call, and print errors of its words as all others."""
        with exit_on_usage_error():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and print errors of its words as all others."""
        with exit_on_usage_error():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of a call; raise a usage error with a next step for another word."""
        try:
            return super().resolve_command(ctx, args)
        except USAGE_ERROR as error:
            message = error.format_message().strip()  # type: ignore[attr-defined]
            if "Did you mean" not in message:
                ctx.fail(f"{message} {_advise_on_word(ctx.command_path, args[0])}")
            raise

    def format_commands(self, _: Any, formatter: Any) -> None:
        """Write a sentence on each command, by group."""
        commands = load_commands()
        for title in dict.fromkeys(command.group for command in commands.values()):
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name, first_sentence(command.about))
                        for name, command in commands.items()
                        if command.group == title
                    ]
                )


def _advise_on_word(program: str, word: str) -> str:
    """Return the next step for a word in the place of a command, such as the name of a metric."""
    from sqlrank.registry.loader import load_registry  # read where something is wrong
    from sqlrank.registry.metric import parse_metric_text

    try:
        load_registry().find_metric(parse_metric_text(word).name)
    except SqlrankError:
        return f"'{program} --help' lists the commands"
    return f"A metric follows a command: {program} evaluate {shlex.quote(word)}"


def _advise_on_missing(option: Any) -> str:
    """Return the next step for an option that a command needs."""
    return f"Give {option.expects}" if option.expects else option.sentence


class UniqueOptionCommand(TyperCommand):
    """A command that rejects repeated options unless they accept several values, with options in
    groups and examples in its help.

    The parser itself would use the last value.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.command = load_commands()[str(self.name)]
        self.declared = {option.word: option for option in self.command.options}

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write examples, arguments, and options by group."""
        rows: dict[str, list[tuple[str, str]]] = {
            title: [] for title in ("Arguments", *self.command.groups)
        }
        for param in self.get_params(ctx):
            option = self.declared.get(str(param.name))
            title = (
                "Options" if option is None else "Arguments" if option.argument else option.group
            )
            if (record := param.get_help_record(ctx)) is not None:
                words = record[0].split(" ")[0] if title == "Arguments" else record[0]
                rows[title].append((with_type_name(words), record[1]))
        with formatter.section("Examples"):
            for example in self.command.examples:
                formatter.write(
                    "".join(
                        f"  {line}\n" for line in wrap_command(example, formatter.width - len("  "))
                    )
                )
        for title in filter(rows.get, rows):
            with formatter.section(title):
                formatter.write_dl(rows[title])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the call, with arguments as the reference names them."""
        return [
            piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)
        ]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; raise a usage error for a repeated option."""
        try:
            parsed = (
                self.make_parser(ctx).parse_args(args=list(args))
                if not ctx.resilient_parsing
                else ({}, [], [])
            )
        except Exception as error:  # the class of an unknown option is not public in typer
            if type(error).__name__ != "NoSuchOption":
                raise
            option = str(error.option_name)  # type: ignore[attr-defined]
            # The parser reads the letters of -run as options of one letter.
            long = next(
                (word for word in args if re.fullmatch(rf"{re.escape(option)}[a-z]\S+", word)), None
            )
            option = option if long is None else long.partition("=")[0]
            advice = (
                self._suggest_option(option) or f"'{ctx.command_path} --help' lists the options"
            )
            ctx.fail(f"No such option: {option}. {to_sentence(advice)}")
        options: list[Any] = parsed[2]
        self._refuse_unread(
            ctx,
            {
                self.declared[option.name].name: option.opts[0]
                for option in options
                if option.name in self.declared
            },
        )
        self._check_values(ctx, parsed[0], options)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            self._reword_error(ctx, error)
            raise

    def _check_values(self, ctx: Any, values: Mapping[str, Any], options: list[Any]) -> None:
        """Raise a usage error for an option without a value, or with several where it takes one."""
        flags = {flag for param in self.params for flag in param.opts if flag.startswith("-")}
        for option in dict.fromkeys(options):
            value = values.get(option.name)
            texts = value if isinstance(value, list) else [value]
            if "" in texts:
                ctx.fail(f"{option.opts[0]} is empty. Give a value, or leave it out")
            if swallowed := next((text for text in texts if text in flags), None):
                ctx.fail(
                    f"{option.opts[0]} is without a value, since {swallowed} follows it. Give"
                    f" {option.opts[0]} a value"
                )
            if options.count(option) > 1 and not (
                option.multiple or option.nargs < 0 or getattr(option, "is_flag", False)
            ):
                ctx.fail(f"{option.opts[0]} is given twice. It takes one value")

    def _reword_error(self, ctx: Any, error: Any) -> None:
        """Add advice to the message of an error of the parser."""
        message = getattr(error, "message", None)
        param_type = getattr(getattr(error, "param", None), "param_type_name", None)
        if type(error).__name__ == "MissingParameter":
            option = self.declared[error.param.name]
            advice = option.missing if param_type == "argument" else _advise_on_missing(option)
            ctx.fail(f"{error.format_message().strip()} {advice}")
        if isinstance(message, str):
            if message.startswith("Got unexpected extra argument"):
                ctx.fail(
                    f"{message}. Quote a value with blanks, and write one value after an option"
                )
            message = message.replace(
                ", unable to parse string as a number", ", such as 0.95 and not 95%"
            )
            message = message.replace("Value error, ", "")
            error.message = message.replace(", unable to parse string as an integer", "")

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and report the files that it wrote, also where its exit status is a
        verdict.
        """
        try:
            result = super().invoke(ctx)
        except typer.Exit as exit_request:
            if exit_request.exit_code != ERROR_STATUS:
                _report_files(ctx)
            raise
        _report_files(ctx)
        return result

    def _refuse_unread(self, ctx: Any, flags: dict[str, str]) -> None:
        """Raise a usage error for an option that would be ignored."""
        for name, ignored in self.command.ignored.items():
            if (flag := flags.get(name)) and (
                unread := next((flags[other] for other in ignored.split() if other in flags), None)
            ):
                ctx.fail(f"{unread} is not possible with {flag}. Leave one of them out")
        for name, needed in self.command.needed.items():
            if name in flags and needed not in flags:
                ctx.fail(f"{flags[name]} is for {get_flag(needed)}. Leave it out, or give both")

    def _suggest_option(self, option: str) -> str | None:
        """Return the equivalent of an option of another tool, None for an unknown one."""
        from sqlrank.call.suggestions import suggest_option
        from sqlrank.registry.loader import load_registry  # read where something is wrong

        flags = {
            name: option.flag
            for option in self.declared.values()
            if not option.argument
            for name in (option.word, option.name)
        }
        if option in {"--predictions", "--run", "--qrels"} and "rollup" in flags:
            return "'sqlrank rollup' makes a rollup of them. Give that with --rollup"
        elsewhere = next(
            (
                other.elsewhere
                for other in load_options().values()
                if option in {other.flag, other.short}
            ),
            "",
        )
        return elsewhere or suggest_option(option, flags, load_registry())


@contextmanager
def exit_on_usage_error() -> Iterator[None]:
    """Print an error of the parser to standard error, and exit with status 2."""
    try:
        yield
    except USAGE_ERROR as error:
        echo_message(f"sqlrank: {error.format_message().strip()}")  # type: ignore[attr-defined]
        raise typer.Exit(ERROR_STATUS) from None


@contextmanager
def print_warnings() -> Iterator[None]:
    """Print the warnings of a call to standard error, each on a line of its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        echo_message(f"sqlrank: {as_option_message(str(warning.message))}")


def echo_message(text: str) -> None:
    """Write a message to standard error: a line for programs, and in a terminal wrapped between
    words.
    """
    width = get_terminal_size().columns if sys.stderr.isatty() else None
    lines = (
        text.split("\n")
        if width is None
        else [part for line in text.split("\n") for part in _wrap_line(line, width)]
    )
    typer.echo("\n".join(lines), err=True)


def _wrap_line(text: str, width: int) -> list[str]:
    """Return the lines of a line, those after the first with more indentation."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    first, *rest = wrap_text(text.strip(" "), width - len(indent) - len(HANGING_INDENT))
    return [f"{indent}{first}", *(f"{indent}{HANGING_INDENT}{line}" for line in rest)]


def _report_files(ctx: Any) -> None:
    """Print the output files of a command to standard error."""
    for name in ("output", "summary", "junit"):
        if path := ctx.params.get(name):
            typer.echo(f"wrote {clean_line(str(path))}", err=True)


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Print errors to standard error, and exit with status 2."""
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        raise typer.Exit from None
    except Exception as error:
        # Recognize DuckDB errors by their module, which is not imported for help.
        if not isinstance(error, (SqlrankError, OSError)) and not type(error).__module__.startswith(
            ("duckdb", "_duckdb")
        ):
            raise
        text = describe_os_error(error) if isinstance(error, OSError) else str(error)
        sqlrank_error = (
            error if isinstance(error, SqlrankError) else SqlrankError(*text.splitlines())
        )
        echo_message(f"sqlrank: {as_option_message(str(sqlrank_error))}")
        raise typer.Exit(ERROR_STATUS) from None


_GROUPS = re.compile(r" \((?=[^()]*: [\d,]+)[^()]*\)$")
"""Counts of groups at the end of a note, whose columns are no options."""


def echo_notes(result: Any) -> None:
    """Write the notes on a result to standard error, a line each."""
    for note in (result.schema.metadata or {}).get(NOTES_KEY.encode(), b"").decode().splitlines():
        groups = _GROUPS.search(note)
        end = len(note) if groups is None else groups.start()
        echo_message(f"note: {clean_line(as_option_message(note[:end]) + note[end:])}")


@contextmanager
def ignore_closed_pipe() -> Iterator[None]:
    """Ignore a closed standard output, so that a command can still set its exit status."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()


def _discard_output() -> None:
    """Redirect standard output to the null device after its reader closed it.

    Python would otherwise report an error at exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


SECONDS_WITHOUT_PROGRESS = 1.0
"""Time after which a call shows its progress."""


@contextmanager
def progress_bar(activity: str) -> Iterator[Any]:
    """Yield a function that shows the percentage done, after a second; None if standard error is no
    terminal, or one that cannot erase.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console  # a tenth of a second that is for people only
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(stderr=True)
    bar = Progress(
        SpinnerColumn(),
        TextColumn(activity),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    clean_up_at_signal("progress bar", lambda: os.write(2, SHOW_CURSOR))
    task = bar.add_task(activity, total=None)  # until a percentage is known
    start = Timer(SECONDS_WITHOUT_PROGRESS, bar.start)
    start.start()
    try:
        yield lambda percentage: bar.update(
            task, completed=percentage, total=100 if percentage > 0 else None
        )
    finally:
        start.cancel()
        start.join()
        bar.stop()
    forget_cleanup("progress bar")
