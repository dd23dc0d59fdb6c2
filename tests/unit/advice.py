"""Follow the suggestions of a message: take mappings, options, queries, calls and metrics out of its text, and apply them to the call."""

from __future__ import annotations

import ast
import re
import shlex
from typing import TYPE_CHECKING, Any

import duckdb

import sqlrank
from sqlrank.errors import SqlrankError
from tests.unit.command_line import invoke_command

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_STEPS = 3
INPUTS = ("predictions", "run", "qrels")

_KEYWORD = re.compile(r"(?<![\w.(])(?:--)?(columns|where|nulls|confidence|ties)=")
_METRIC = re.compile(r"(?:[Ww]rite|[Gg]ive(?: a list of them,)?|[Dd]id you mean) (\[[^\]]*\]|'?[A-Z]\w*(?:\([^()]*\))?(?:@\d+)?)")


def _read_literal(text: str) -> Any:
    """Return the literal of Python at the beginning of a text, the longest that is one."""
    for end in reversed([match.end() for match in re.finditer(r"[}'\"\d\])]", text)]):
        try:
            return ast.literal_eval(text[:end])
        except (SyntaxError, ValueError):
            continue
    return None


def _read_query(text: str) -> str | None:
    """Return the longest query at the beginning of a text that an engine runs."""
    for end in sorted({match.start() for match in re.finditer(r"[.,]? |$", text)}, reverse=True):
        try:
            duckdb.connect().execute(text[:end])
        except duckdb.Error:
            continue
        return text[:end]
    return None


def find_options(message: str) -> dict[str, Any]:
    """Return the options that a message suggests, the first of each name; mappings of several columns are one."""
    options: dict[str, Any] = {}
    advice = re.sub(r"^\w+=\S+ is not possible", "", message)
    for match in _KEYWORD.finditer(advice):
        value = _read_literal(advice[match.end() :])
        if match[1] == "columns" and isinstance(value, dict):
            options["columns"] = {**value, **options.get("columns", {})}
        elif value is not None:
            options.setdefault(match[1], value)
    return options


def follow_once(message: str, metrics: Any, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return metrics and arguments of the call that a message leads to; unchanged ones if it leads nowhere."""
    if (call := re.search(r"[Ww]rite evaluate\((.*)\)$", message)) is not None:
        bound = ast.parse(f"f({call[1]})", mode="eval").body
        assert isinstance(bound, ast.Call)
        given = {keyword.arg: arguments.get(str(keyword.arg)) or ast.literal_eval(keyword.value) for keyword in bound.keywords}
        return ast.literal_eval(bound.args[0]), {str(name): value for name, value in given.items()}
    options = find_options(message)
    query = next(
        (
            text
            for match in re.finditer(r"SELECT ", message.split("\n    ", maxsplit=1)[0])
            if (text := _read_query(message.split("\n    ", maxsplit=1)[0][match.start() :]))
        ),
        None,
    )
    if query is not None and "columns" not in options:
        inputs = dict(arguments.get("inputs") or {})
        role = message.split(" (", maxsplit=1)[0].split(".", maxsplit=1)[0].split(":", maxsplit=1)[0]
        if role in inputs:
            return metrics, {**arguments, "inputs": {**inputs, role: query}}
        name = next(name for name in INPUTS if name in arguments)
        return metrics, {**{key: value for key, value in arguments.items() if key != "columns"}, **options, name: query}
    if options:
        columns = {**arguments.get("columns", {}), **options.pop("columns", {})}
        return metrics, {**arguments, **({"columns": columns} if columns else {}), **options}
    if (metric := _METRIC.search(message)) is not None:
        return ast.literal_eval(metric[1]) if metric[1][0] in "['" else metric[1], dict(arguments)
    return metrics, dict(arguments)


def follow(metrics: Any, **arguments: Any) -> tuple[Any, list[str]]:
    """Return the first number of a call, after the advice of its messages is followed, and these messages."""
    messages: list[str] = []
    for _ in range(MAX_STEPS + 1):
        try:
            result = sqlrank.evaluate(metrics, **arguments)
        except SqlrankError as error:
            messages.append(str(error))
            following = follow_once(messages[-1], metrics, arguments)
            assert following != (metrics, arguments), f"no way on from: {messages[-1]}"
            metrics, arguments = following
        else:
            return result[0][0].as_py(), messages
    raise AssertionError("\n".join(messages))


def follow_command(*words: object) -> tuple[str, list[str]]:
    """Return the output of a command, after the options that its messages suggest are added, and these messages."""
    messages: list[str] = []
    line = [str(word) for word in words]
    for _ in range(MAX_STEPS + 1):
        result = invoke_command(*line)
        if result.exit_code == 0:
            return result.stdout, messages
        messages.append(result.stderr)
        found = re.finditer(r"(--column|--policy|--where) (?=\S)", result.stderr)
        pairs = dict.fromkeys((match[1], _first_word(result.stderr[match.end() :])) for match in found)
        added = [word for pair in pairs for word in pair]
        assert added, f"no way on from: {result.stderr}"
        line += added
    raise AssertionError("\n".join(messages))


def _first_word(text: str) -> str:
    """Return the first word of a text as a shell reads it, without the punctuation of the sentence."""
    lexer = shlex.shlex(text.split("\n", maxsplit=1)[0], posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    return next(iter(lexer)).rstrip(",.")
