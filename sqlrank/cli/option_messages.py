"""Translate keywords in messages, such as ``unit='user_id'``, into options of the command line."""

from __future__ import annotations

import ast
import re
import shlex
from typing import TYPE_CHECKING

from sqlrank.options import load_options

if TYPE_CHECKING:
    from collections.abc import Callable

_KEYWORD = re.compile(
    r"""(?<![\w.(\[{'"=/-])(?P<name>[a-z]\w*)=(?P<value>\{[^{}]*\}|\[[^\[\]]*\]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.\.\.|[\w.+%-]*[\w%])?(?P<stop>\.(?!\S))?"""
)
_SUBJECT = re.compile(r"^[a-z]\w*(?=: | maps | names | is | cannot name )", re.MULTILINE)
_CALL = r"\w*\([^()'\"]*=[^()'\"]*\)\S*"
"""Pattern of parameters, alone or after the name of a metric, which are no keywords."""
_METRICS = re.compile(
    r"(?:a list of them, )?\['[^\]]*'\] \((?:on the command line )?((?:[^()]|\([^()]*\))*)\)"
)
"""Pattern of a list of metrics in Python, with what to write on the command line."""
_TABLE_KINDS = ("source", "runs", "baseline", "result", "stored")
_PAIR = re.compile(
    r"""'([^']*)': *(\[[^\[\]]*\]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.\.\.|[^,}]+)"""
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
    >>> print(as_option_message("give columns={'score': \"REPLACE(p, ',', '')\"}"))
    give --column score="REPLACE(p, ',', '')"
    >>> print(as_option_message("Say which it is with columns={'label': ...}. There are: y"))
    Say which it is with --column label=... There are: y
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

    message = _METRICS.sub(r"\1", message)
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
        part if index % 2 else _KEYWORD.sub(translate, part) for index, part in enumerate(words)
    )


def _format_option(flag: str, value: str | None) -> str:
    if value is None or value == "True":
        return flag
    if value.startswith("{"):
        return " ".join(
            f"{flag} {shlex.quote(name)}={_quote_word(each)}"
            for name, texts in _PAIR.findall(value)
            for each in (_split_items(texts) if texts[0] == "[" else [texts])
        )
    return " ".join(
        f"{flag} {_quote_word(each)}"
        for each in (_split_items(value) if value.startswith("[") else [value])
    )


def _split_items(texts: str) -> list[str]:
    return [text.strip() for text in texts.strip("[]").split(",")]


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
