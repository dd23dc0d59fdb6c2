"""The page of a metric, metric_page.md.j2: everything on it is read from its file, or printed by
sqlrank when the site is built.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.metric_info import better_direction
from sqlrank.registry.resolved_metric import find_input_role
from sqlrank.registry.settings_checks import LIST_SLOTS, list_settings
from website import examples, sections
from website.command_outputs import read_output
from website.formulas import typeset_formulas
from website.gallery import TEXTS
from website.page_templates import render_template
from website.policy_tables import capitalize_sentence, describe_values, locate_policy
from website.tools import compare_tools

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

UP = "../.."
"""From a page of a metric to the pages of docs."""

RUNNABLE = "duckdb"
"""Dialect of the statements that docs/assets/run.mjs runs in the page."""

LONGEST_ABBREVIATION, LONGEST_WORD, SHORTEST_WORD = 5, 11, 2
"""Letters of other names: of the longest that is written in capitals, of the longest without
blanks, and of those that are no word.
"""

PICTURES = TEXTS["pictures"]
"""Pictures on pages of metrics, in docs/assets."""


def build_metric_page(file: SqlFile) -> str:
    """Return the page of a metric in Markdown."""
    roles, warehouses = examples.list_roles(file), examples.list_warehouses(file)
    formulas, comment = _read_formulas(file)
    return render_template(
        "metric_page.md",
        file=file,
        up=UP,
        title=format_title(file),
        capitalize=capitalize_sentence,
        other_names=_list_other_names(file),
        examples=examples,
        sections=sections,
        direction=better_direction(file.display_name, load_registry()),
        settings=list_settings(file, load_registry()),
        formulas=formulas,
        comment=comment,
        picture=PICTURES.get(file.full_name),
        roles=roles,
        tables={
            name: _read_table(name)
            for name in (examples.choose_table(role, file) for role in roles)
        },
        outputs=[
            (examples.format_command(arguments), read_output(file, arguments))
            for arguments in examples.list_commands(file)
        ],
        runnable=RUNNABLE,
        warehouses=warehouses,
        describe_values=describe_values,
        policies=_list_policies(file),
        tools=compare_tools(file),
        is_of_lists=find_input_role(load_registry(), file) == "run",
    )


def format_title(file: SqlFile) -> str:
    """Return the title of a page: the name in words, then the one that users write.

    >>> from sqlrank.registry.loader import load_registry
    >>> [format_title(load_registry().metrics[name]) for name in ("r", "recall", "logloss")]
    ['Recall (R@k)', 'Recall', 'Log loss (LogLoss)']
    """
    words = sections.spell_name(file)
    if " of " in file.full_name or words.lower() == file.display_name.lower():
        return file.full_name
    cutoff = file.cutoff_parameter
    has_cutoff = cutoff is not None and cutoff.type == "integer"
    return f"{words[:1].upper()}{words[1:]} ({file.display_name}{'@k' * has_cutoff})"


def describe_metric(file: SqlFile) -> str:
    """Return the description of a metric for the head of the page and search results."""
    return f"{format_title(file)}: {re.sub(r'[`*]', '', file.description)}"


def _read_formulas(file: SqlFile) -> tuple[list[str], str]:
    """Return the formulas, the indented lines of the comment of the file, and its further
    sentences.
    """
    lines = [
        line
        for line in file.doc.splitlines()[1:]
        if not re.match(r"\$|[A-Z][a-z ]+: |\w+(\(\))?: default ", line)
    ]
    formulas = typeset_formulas([line[4:] for line in lines if line.startswith("    ")])
    return formulas, " ".join(line for line in lines if not line.startswith("    "))


def _list_other_names(file: SqlFile) -> list[str]:
    """Return the other names of a metric, each of one with other settings with its text; spellings
    of its own names are left out.
    """
    name = file.display_name.lower()
    own = {name, sections.spell_name(file).lower().replace("-", " ")}
    names = {
        words: ours
        for words, ours in sections.list_aliases().items()
        if parse_metric_text(ours).name == file.display_name
        and words not in own
        and not words.startswith(name if len(name) > SHORTEST_WORD else f"{name} ")
        and (" " in words or len(words) <= LONGEST_WORD)
    }
    return [
        (words.upper() if len(words) <= LONGEST_ABBREVIATION else words)
        + (f" (`{ours}`)" if ours != file.display_name else "")
        for words, ours in names.items()
        if " " in words or not any(other != words and other in words for other in names)
    ]


def _list_policies(file: SqlFile) -> dict[str, tuple[str, str, str]]:
    """Return the place, default and meaning of each setting that a metric has in common with
    others.
    """
    names = list_settings(file, load_registry()) - {*file.params, *file.declared_settings}
    has_lists = find_input_role(load_registry(), file) == "run" or "level" in names
    return {
        name: (locate_policy(name), *_describe_setting(name))
        for name in sorted(names - (set() if has_lists else {*LIST_SLOTS}))
    }


def _describe_setting(name: str) -> tuple[str, str]:
    """Return the default and the meaning of a policy, a function slot, or a parameter of relations
    and functions.
    """
    library = load_registry()
    if name in library.policies:
        values = [*map(str, library.allowed_values(name))]
        return values[0] if values else "", library.policies[name]["description"]
    if name in library.functions:
        default = library.default_function(name)
        files = [*library.metrics.values(), *library.relations.values()]
        about = next(
            (
                item.declared_settings[name].about
                for item in files
                if name in item.declared_settings
            ),
            "",
        )
        return (
            default,
            capitalize_sentence(about)
            or f"By default: {library.functions[name][default].description}",
        )
    return _shared_parameters()[name]


@cache
def _shared_parameters() -> dict[str, tuple[str, str]]:
    """Return the default and the meaning of the parameters of relations and functions."""
    library = load_registry()
    files = [
        *library.relations.values(),
        *(file for variants in library.functions.values() for file in variants.values()),
        *library.metrics.values(),
    ]
    parameters = {param.name: param for file in files[::-1] for param in file.params.values()}
    return {
        name: (
            param.default_text if param.default is not None else "required",
            capitalize_sentence(param.about),
        )
        for name, param in parameters.items()
    }


def _read_table(name: str) -> list[list[str]]:
    text = (examples.ROOT / examples.TABLES / f"{name}.csv").read_text("utf-8")
    return [line.split(",") for line in text.splitlines()]
