"""Docstrings as MkDocs takes them: examples in a section of their own, and names that lead to where
they are described.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

import griffe

import sqlrank

ROLE = re.compile(r":(?:func|class|meth):`(?P<name>[\w.]+)`")
EXAMPLES = re.compile(r"^>>> .*\Z", re.DOTALL | re.MULTILINE)
SECTION = re.compile(r"^(?:Args|Attributes|Returns|Raises):$", re.MULTILINE)


ARGUMENTS = re.compile(r"^Args:\n(?P<items>(?: {4,}.*\n|\n(?= {4}))*)", re.MULTILINE)
ARGUMENT = re.compile(r"^ {4}(?P<name>\*{0,2}\w+): .*\n(?: {5,}.*\n)*", re.MULTILINE)
BASES = {
    "sql": "evaluate", "dbt_model": "sql", "experiment_sql": "experiment", "rollup_sql": "rollup",
    "rollup_model": "rollup", "split_sql": "split",
}  # fmt: skip
"""Functions that describe those arguments of another one which it does not describe."""


class DocstringExtension(griffe.Extension):
    """Writes docstrings anew when they were read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring:
            is_public = (
                obj.is_function
                and getattr(sqlrank, obj.name, None) is not None
                and obj.name in sqlrank.__all__
            )
            obj.docstring.value = format_docstring(
                complete_docstring(obj.name) if is_public else obj.docstring.value
            )


def complete_docstring(name: str) -> str:
    """Return the docstring of a public function, with a description of every argument: those that
    it leaves out are as in its base.
    """
    text = f"{inspect.getdoc(getattr(sqlrank, name))}\n"
    arguments, names = (
        describe_arguments(name),
        {parameter.name for parameter in _list_parameters(name)},
    )
    items = "".join(item for argument, item in arguments.items() if argument.lstrip("*") in names)
    return ARGUMENTS.sub(lambda _: f"Args:\n{items}\n" if items else "", text, count=1)


def describe_arguments(name: str) -> dict[str, str]:
    """Return the description of each argument of a public function, as a line of its docstring,
    those of its base last.
    """
    section = ARGUMENTS.search(f"{inspect.getdoc(getattr(sqlrank, name))}\n")
    own = {item["name"]: item[0] for item in ARGUMENT.finditer(section["items"])} if section else {}
    base = describe_arguments(BASES[name]) if name in BASES else {}
    return own | {argument: item for argument, item in base.items() if argument not in own}


def _list_parameters(name: str) -> list[inspect.Parameter]:
    return list(inspect.signature(getattr(sqlrank, name)).parameters.values())


def format_docstring(docstring: str) -> str:
    """Return a docstring whose references are links, and whose examples are a section before the
    others.
    """
    text = ROLE.sub(lambda match: _link_reference(match["name"]), docstring)
    if not (examples := EXAMPLES.search(text)):
        return text
    section = f"Examples:\n{textwrap.indent(examples[0].rstrip(), '    ')}\n\n"
    text = text[: examples.start()]
    place = SECTION.search(text)
    start = place.start() if place else len(text)
    return f"{text[:start]}{section}{text[start:]}".rstrip()


def _link_reference(name: str) -> str:
    short = name.rpartition(".")[2]
    return f"[`{name}`][sqlrank.{short}]" if short in sqlrank.__all__ else f"`{name}`"
