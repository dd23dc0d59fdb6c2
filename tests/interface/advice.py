"""Follow the suggestions of a message: take mappings, options, queries, calls and metrics out of
its text, and apply them to the call.
"""

import ast
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

import sqlrank
from sqlrank.errors import SqlrankError
from tests.interface.command_line import invoke_command

MAX_STEPS = 3
INPUTS = ("predictions", "run", "qrels")

_KEYWORD = re.compile(
    r"(?<![\w.(])(?:--)?(columns|where|nulls|confidence|ties|ranks|duplicates|compat|by|unjudged|level|rel)="
)
_ALTERNATIVE = re.compile(r",? or (?=\w*[^\n]*?(?:columns|where|nulls|ties|ranks|duplicates)=)")
_TABLE = re.compile(
    r"[Gg]ive the table as ((?:inputs|predictions)=.*?)(?:, and ask for"
    r" (\w+)(?:\([^()]*\))?)?(?=$|\. )"
)
_TABLE_OPTIONS = re.compile(
    r"[Gg]ive the table as (--(?:input|predictions) .*?)(?:, and ask for (\w+))?(?=$|\. |\n)"
)
_METRIC = re.compile(
    r"(?:[Ww]rite|[Aa]sk for|[Gg]ive(?: a list of them,)?|[Dd]id you mean)"
    r" (\[[^\]]*\]|'?[A-Z]\w*(?:\([^()]*\))?(?:@\d+)?)"
)


def read_notes(result: pa.Table) -> list[str]:
    return (result.schema.metadata or {}).get(b"sqlrank.notes", b"").decode().splitlines()


def _read_literal(text: str) -> Any:
    """Return the literal of Python at the beginning of a text, the longest that is one."""
    for end in reversed([match.end() for match in re.finditer(r"[}'\"\d\])]", text)]):
        try:
            return ast.literal_eval(text[:end])
        except (SyntaxError, ValueError):
            continue
    return None


@cache
def _connect() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def _read_query(text: str) -> str | None:
    """Return the longest query at the beginning of a text that an engine runs."""
    for end in sorted({match.start() for match in re.finditer(r'[.,]? |$|"', text)}, reverse=True):
        try:
            _connect().execute(text[:end])
        except duckdb.Error:
            continue
        return text[:end]
    return None


def find_options(message: str) -> dict[str, Any]:
    """Return the options that a part of a message suggests, the first of each name; mappings of
    several columns are one.
    """
    options: dict[str, Any] = {}
    advice = re.sub(r"^\w+=\S+ is not possible", "", message)
    for match in _KEYWORD.finditer(advice):
        value = _read_literal(advice[match.end() :])
        if match[1] == "columns" and isinstance(value, dict):
            known = {name: text for name, text in value.items() if text is not ...}
            options.update({"columns": {**known, **options.get("columns", {})}} if known else {})
        elif value is not None:
            options.setdefault(match[1], value)
    return options


def list_alternatives(message: str) -> list[dict[str, Any]]:
    """Return the options of each alternative of a message, between which it says or; of several
    problems they are combined.
    """
    choices = []
    for problem in _list_problems(message):
        suggested = [
            options for part in _ALTERNATIVE.split(problem) if (options := find_options(part))
        ]
        choices += [suggested] if suggested else []
    combined = []
    for number in range(max(map(len, choices), default=0)):
        chosen = [suggested[min(number, len(suggested) - 1)] for suggested in choices]
        columns = {
            name: text
            for options in reversed(chosen)
            for name, text in options.get("columns", {}).items()
        }
        others = {name: value for options in reversed(chosen) for name, value in options.items()}
        combined.append({**others, **({"columns": columns} if columns else {})})
    return combined


def _list_problems(message: str) -> list[str]:
    return [line for line in message.split("\n") if not line.startswith("    ")]


def _list_queries(problem: str) -> list[str]:
    """Return the queries in a message, which are no part of another."""
    queries: list[str] = []
    end = 0
    for match in re.finditer(r"SELECT ", problem):
        if match.start() >= end and (query := _read_query(problem[match.start() :])):
            queries.append(query)
            end = match.start() + len(query)
    return queries


def _parse_call(arguments: str) -> ast.Call:
    bound = ast.parse(f"f({arguments})", mode="eval").body
    assert isinstance(bound, ast.Call)
    return bound


def list_ways(
    message: str, metrics: Any, arguments: Mapping[str, Any]
) -> list[tuple[Any, dict[str, Any]]]:
    """Return metrics and arguments of each call that a message leads to, none if it leads
    nowhere.
    """
    if (call := re.search(r"[Ww]rite evaluate\((.*)\)$", message)) is not None:
        bound = _parse_call(call[1])
        given = {
            keyword.arg: arguments.get(str(keyword.arg)) or ast.literal_eval(keyword.value)
            for keyword in bound.keywords
        }
        return [
            (ast.literal_eval(bound.args[0]), {str(name): value for name, value in given.items()})
        ]
    alternatives = list_alternatives(message)
    problem, queries = next(
        (
            (problem, found)
            for problem in _list_problems(message)
            if (found := _list_queries(problem))
        ),
        ("", []),
    )
    if queries and not any("columns" in options for options in alternatives):
        options = alternatives[0] if alternatives else {}
        role = (
            problem.split(" (", maxsplit=1)[0].split(".", maxsplit=1)[0].split(":", maxsplit=1)[0]
        )
        inputs = dict(arguments.get("inputs") or {})
        if role in inputs:
            return [
                (metrics, {**arguments, "inputs": {**inputs, role: query}}) for query in queries
            ]
        name = role if role in arguments else next(name for name in INPUTS if name in arguments)
        kept = {key: value for key, value in arguments.items() if key != "columns"}
        return [(metrics, {**kept, **options, name: query}) for query in queries]
    given = arguments.get("columns", {})
    if (table := _TABLE.search(message)) is not None:
        new = {
            str(keyword.arg): ast.literal_eval(keyword.value)
            for keyword in _parse_call(table[1].replace(" and columns=", ", columns=")).keywords
        }
        source = arguments.get("predictions") or next(
            iter(arguments.get("inputs", {}).values())
        )  # which ... stands for
        if "inputs" in new:
            new["inputs"] = {
                role: source if value is ... else value for role, value in new["inputs"].items()
            }
        kept = {
            name: value
            for name, value in arguments.items()
            if name not in {"inputs", "predictions", "columns"}
        }
        alternatives = [
            options
            for options in list_alternatives(_TABLE.sub("", message))
            if "columns" in options
        ]
        others = [{"columns": {**given, **options["columns"]}} for options in alternatives]
        ways = [
            (table[2] or metrics, {**kept, **new}),
            *((metrics, {**arguments, **other}) for other in others),
        ]
        return ways if table.start() < message.find("columns=") else ways[::-1]
    ways = [
        (
            metrics,
            {
                **arguments,
                **options,
                **({"columns": {**given, **options["columns"]}} if "columns" in options else {}),
            },
        )
        for options in alternatives
    ]
    if any("columns" in options for options in alternatives):
        return ways
    suggested = [
        ast.literal_eval(match[1]) if match[1][0] in "['" else match[1]
        for match in _METRIC.finditer(message)
    ]
    return [*ways, *((metric, dict(arguments)) for metric in suggested)]


def follow(metrics: Any, **arguments: Any) -> tuple[Any, list[str]]:
    """Return the first number of a call, after the first advice of its messages is followed, and
    these messages.
    """
    messages: list[str] = []
    for _ in range(MAX_STEPS + 1):
        try:
            result = sqlrank.evaluate(metrics, **arguments)
        except SqlrankError as error:
            messages.append(str(error))
            ways = [
                way
                for way in list_ways(messages[-1], metrics, arguments)
                if way != (metrics, arguments)
            ]
            assert ways, f"no way on from: {messages[-1]}"
            metrics, arguments = ways[0]
        else:
            return result[0][0].as_py(), messages
    raise AssertionError("\n".join(messages))


def follow_all(metrics: Any, steps: int = MAX_STEPS, **arguments: Any) -> list[Any]:
    """Return the first number of every call that the messages and the notes of a call lead to, one
    for each alternative.
    """
    try:
        result = sqlrank.evaluate(metrics, **arguments)
    except SqlrankError as error:
        text, numbers = str(error), []
    else:
        notes = (result.schema.metadata or {}).get(b"sqlrank.notes", b"").decode().split("\n")
        # Weights are no mistake: tests/interface/test_weights_and_tasks.py follows what their note says
        # of the other reading.
        text, numbers = (
            "\n".join(note for note in notes if "count by the column" not in note),
            [result[0][0].as_py()],
        )
    ways = [way for way in list_ways(text, metrics, arguments) if way != (metrics, arguments)]
    assert ways or numbers, f"no way on from: {text}"
    assert steps or not ways, f"no end of: {text}"
    return [number for way in ways for number in follow_all(way[0], steps - 1, **way[1])] or numbers


def follow_command(*words: object) -> tuple[str, list[str]]:
    """Return the output of a command, after the options that its messages suggest are added, and
    these messages.
    """
    return _run_until_right(words, _follow_message)


def paste_command(*words: object) -> tuple[str, list[str]]:
    """Return the output of a command, after the first options of each message, which stand next to
    one another, are pasted at its end, and these messages.
    """
    return _run_until_right(words, _paste_options)


def _run_until_right(
    words: Iterable[object], change: Callable[[list[str], str], list[str]]
) -> tuple[str, list[str]]:
    """Return the output of a command, after it is changed by each of its messages, and these."""
    messages: list[str] = []
    line = [str(word) for word in words]
    for _ in range(MAX_STEPS + 1):
        result = invoke_command(*line)
        if result.exit_code == 0:
            return result.stdout, messages
        messages.append(result.stderr)
        line = change(line, result.stderr)
    raise AssertionError("\n".join(messages))


def _follow_message(line: list[str], message: str) -> list[str]:
    """Return a command with the options that a message suggests."""
    if (table := _TABLE_OPTIONS.search(message)) is not None:
        values = [
            index
            for index, word in enumerate(line)
            if word in {"--predictions", "--input", "--column"}
        ]
        line = [
            word
            for index, word in enumerate(line)
            if index not in values and index - 1 not in values
        ]
        line += shlex.split(table[1])
        line[1] = table[2] or line[1]
        return line
    if (metric := re.search(r"not given\. Ask for (\w+)", message)) is not None:
        return [line[0], metric[1], *line[2:]]
    found = re.finditer(r"(--column|--policy|--where) (?=\S)", message)
    pairs = dict.fromkeys((match[1], _first_word(message[match.end() :])) for match in found)
    added = [word for pair in pairs for word in pair]
    assert added, f"no way on from: {message}"
    return [*line, *added]


def _paste_options(line: list[str], message: str) -> list[str]:
    """Return a command with the first options of a message at its end."""
    start = re.search(r"--(column|policy|where|by|unit|input|predictions|run|qrels|db) ", message)
    assert start is not None, f"nothing to paste: {message}"
    lexer = _read_words(message[start.start() :])
    for option, value in zip(lexer, lexer, strict=False):
        if not option.startswith("--"):
            break
        line = [*line, option, value.rstrip(",.")]
        if value[-1:] in {",", "."}:
            break
    return line


def _read_words(text: str) -> shlex.shlex:
    """Return the words of the first line of a text as a shell reads them."""
    lexer = shlex.shlex(text.split("\n", maxsplit=1)[0], posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    return lexer


def _first_word(text: str) -> str:
    """Return the first word of a text, without the punctuation of the sentence."""
    return next(iter(_read_words(text))).rstrip(",.")
