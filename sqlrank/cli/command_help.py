"""Compose texts of the help: sentences, calls that can be copied, and the first screen for
newcomers.
"""

from __future__ import annotations

import re
from textwrap import wrap

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
