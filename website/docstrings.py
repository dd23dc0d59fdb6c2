"""Docstrings as MkDocs takes them: examples and the call in sections of their own, arguments in the
groups of the command line, and names that lead to where they are described.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

import griffe

import sqlrank
from sqlrank.options import find_option, load_commands
from website.command_line import PAGES_OF_OPTIONS
from website.command_outputs import WIDTH

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

MAX_UNGROUPED = 8
"""Number of arguments up to which they are one list."""

_SIGNATURE = '<p><span class="doc-section-title">Signature:</span></p>\n\n```python\n{}\n```\n\n'


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
            text = complete_docstring(obj.name) if is_public else obj.docstring.value
            obj.docstring.value = format_docstring(text, obj.name if is_public else "")
            if is_public:
                _simplify_parameters(obj)


def _simplify_parameters(function: Any) -> None:
    """Name tables as the text does, and leave out None as a default, which the signature shows,
    and the types of policies.
    """
    for parameter in function.parameters:
        option = find_option(parameter.name.lstrip("*"))
        if str(parameter.annotation) == "Any" and option and option.is_source:
            parameter.annotation = "source"
        if parameter.default == "None":
            parameter.default = None
        if parameter.name.endswith("policies"):
            parameter.annotation, parameter.default = "value", None


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


def group_arguments(name: str) -> dict[str, list[str]]:
    """Return the arguments of a public function by title: those that it needs or takes by position,
    then the groups of the command line.

    >>> groups = group_arguments("evaluate")
    >>> groups["Parameters"], groups["Limits"][:2]
    (['metrics'], ['check', 'memory_limit'])
    >>> group_arguments("show")
    {'Parameters': ['result', 'max_rows']}
    """
    parameters = _list_parameters(name)
    titles = ["Parameters", *load_commands()["evaluate"].groups]
    groups: dict[str, list[str]] = {title: [] for title in titles}
    names = {parameter.name for parameter in parameters}
    for parameter in parameters:
        is_first = (
            parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            or parameter.default is parameter.empty
        ) and parameter.kind is not parameter.VAR_KEYWORD
        is_short = len(parameters) <= MAX_UNGROUPED
        # The dialect is that of the connection, where there is one.
        is_of_connection = parameter.name == "dialect" and "connection" in names
        option = find_option("connection" if is_of_connection else parameter.name)
        title = titles[0] if is_first or is_short else option.group if option else titles[-1]
        groups[title].append(parameter.name)
    return {title: items for title, items in groups.items() if items}


def format_signature(name: str) -> str:
    """Return the call of a public function with the defaults of its arguments, without types.

    >>> print(format_signature("show"))
    sqlrank.show(result, *, max_rows=100)
    """
    signature = inspect.signature(getattr(sqlrank, name))
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    bare = signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)
    return textwrap.fill(
        f"sqlrank.{name}{bare}",
        WIDTH,
        subsequent_indent="    ",
        break_on_hyphens=False,
    )


def format_docstring(docstring: str, function: str = "") -> str:
    """Return a docstring whose references are links, and whose examples are a section before the
    others. That of a function has its call after them, and its arguments in groups.
    """
    text = ROLE.sub(lambda match: _link_reference(match["name"]), docstring)
    examples = EXAMPLES.search(text)
    text = text[: examples.start()] if examples else text
    call = _SIGNATURE.format(format_signature(function)) if function else ""
    session = examples[0].rstrip() if examples else ""
    title = "Examples:" if "\n\n" in session else "Examples: Example:"
    before = f"{title}\n{textwrap.indent(session, '    ')}\n\n" if session else ""
    place = SECTION.search(text)
    start = place.start() if place else len(text)
    text = f"{text[:start]}{before}{call}{text[start:]}"
    return (_split_arguments(text, function) if function else text).rstrip()


def _split_arguments(text: str, function: str) -> str:
    def write_groups(section: re.Match[str]) -> str:
        items = {
            name: f"{item[0].rstrip()}{_link_guide(name)}\n"
            for item in ARGUMENT.finditer(section["items"])
            for name in [item["name"].lstrip("*")]
        }
        return "".join(
            f"Args: {title}:\n{''.join(items[name] for name in names if name in items)}\n"
            for title, names in group_arguments(function).items()
        )

    return ARGUMENTS.sub(write_groups, text, count=1)


def _link_guide(argument: str) -> str:
    """Return a link to the page that explains an argument, empty if there is none.

    >>> _link_guide("policies"), _link_guide("timeout")
    (' [More](../policies.md).', '')
    """
    option = find_option(argument)
    page = PAGES_OF_OPTIONS.get(option.flag, "") if option else ""
    return f" [More](../{page})." if page else ""


def _link_reference(name: str) -> str:
    short = name.rpartition(".")[2]
    return f"[`{name}`][sqlrank.{short}]" if short in sqlrank.__all__ else f"`{name}`"
