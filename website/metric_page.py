"""The page of a metric, metric_page.md.j2: everything on it is read from its file, or printed by
sqlrank when the site is built.
"""

from __future__ import annotations

import math
import re
from functools import cache
from textwrap import indent
from typing import TYPE_CHECKING

from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.metric_info import better_direction
from sqlrank.registry.resolved_metric import find_input_role
from sqlrank.registry.settings_checks import LIST_SLOTS, list_settings
from website import examples, families
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
    explained, evaluated = (
        (examples.format_command(arguments), read_output(file, arguments))
        for arguments in (
            examples.build_explain_command(file),
            examples.build_evaluate_command(file),
        )
    )
    tables = [examples.choose_table(role, file) for role in examples.list_roles(file)]
    return render_template(
        "metric_page.md",
        file=file,
        up=UP,
        tab=format_tab,
        title=format_title(file),
        description=capitalize_sentence(file.description),
        other_names=_list_other_names(file),
        calls=_build_calls(file),
        usage=families.find_usage(file),
        reading=_build_reading(file),
        formula=_build_formula(file),
        picture=PICTURES.get(file.full_name),
        tables={name: _format_table(name) for name in tables},
        explained=explained,
        evaluated=evaluated if evaluated != explained else None,
        runnable=RUNNABLE,
        warehouses=examples.list_warehouses(file),
        parameters=_build_parameters(file),
        describe_values=describe_values,
        policies=_build_policies(file),
        tools=compare_tools(file, UP),
        edge_cases=_list_edge_cases(file),
        facts=_list_facts(file),
        statements=_build_statements(file),
    )


def format_tab(name: str, text: str) -> str:
    """Return a tab of a page with its text."""
    return f'=== "{name}"\n\n{indent(text, "    ")}'


def format_title(file: SqlFile) -> str:
    """Return the title of a page: the name in words, then the one that users write.

    >>> from sqlrank.registry.loader import load_registry
    >>> [format_title(load_registry().metrics[name]) for name in ("r", "recall", "logloss")]
    ['Recall (R@k)', 'Recall', 'Log loss (LogLoss)']
    """
    words = families.spell_name(file)
    if " of " in file.full_name or words.lower() == file.display_name.lower():
        return file.full_name
    cutoff = file.cutoff_parameter
    has_cutoff = cutoff is not None and cutoff.type == "integer"
    return f"{words[:1].upper()}{words[1:]} ({file.display_name}{'@k' * has_cutoff})"


def describe_metric(file: SqlFile) -> str:
    """Return the description of a metric for the head of the page and search results."""
    return f"{format_title(file)}: {re.sub(r'[`*]', '', file.description)}"


def _build_calls(file: SqlFile) -> dict[str, str]:
    """Return the calls that compute a metric, of files or tables that are named as their inputs."""
    statement = examples.build_table_command(file, next(iter(examples.list_warehouses(file))))
    return {
        "Command line": f"```sh\n{examples.build_file_command(file)}\n```",
        "Python": f"```python\n{examples.python_call(file)}\n```",
        "SQL": (
            f"```sh\n{statement}\n```\n\nThis prints a [statement](#sql-statement). In DuckDB you"
            f" can also call [functions]({UP}/functions.md)."
        ),
    }


def _build_reading(file: SqlFile) -> str:
    """Return how to read a value: its range, which values are better, and what moves it."""
    if file.is_always_defined or file.kind == "curves":
        return ""
    direction = better_direction(file.display_name, load_registry())
    better = {"higher": "higher is better", "lower": "lower is better"}.get(direction, "")
    value, _, meaning = file.annotations.get("Reference value", "").partition(" ")
    sentences = [
        f"**{'; '.join(filter(None, [_describe_range(file), better]))}.**",
        f"{value} is the value of {meaning.strip('()')}." if value else "",
        families.find_reading(file),
        (
            "`threshold=0.5` is the default, which is rarely right for rare positives."
            if "threshold" in list_settings(file, load_registry()).difference(file.params)
            else ""
        ),
    ]
    return " ".join(filter(None, sentences))


def _describe_range(file: SqlFile) -> str:
    bounds = file.bounds
    if bounds is None or bounds.is_unbounded:
        text = "Any number"
    elif math.isinf(bounds.high):
        text = f"From {bounds.low:g}, without an upper bound"
    elif math.isinf(bounds.low):
        text = f"At most {bounds.high:g}"
    else:
        text = f"From {bounds.low:g} to {bounds.high:g}"
    exceptions = [f"`{name}={value}`" for name, value in (bounds.exceptions if bounds else ())]
    beyond = f", or beyond with {' or '.join(exceptions)}" if exceptions else ""
    unit = file.annotations.get("Unit", "")
    return text + (f" ({unit})" if unit else "") + beyond


def _frame_formula(formula: str) -> str:
    return f'<div class="formula" tabindex="0" data-search-exclude>{formula}</div>'


def _build_formula(file: SqlFile) -> list[str]:
    """Return the formulas of the literature, the indented lines of the comment of the file, and its
    further sentences.
    """
    lines = [
        line
        for line in file.doc.splitlines()[1:]
        if not re.match(r"\$|[A-Z][a-z ]+: |\w+(\(\))?: default ", line)
    ]
    formulas = typeset_formulas([line[4:] for line in lines if line.startswith("    ")])
    rest = " ".join(line for line in lines if not line.startswith("    "))
    return [part for part in (*map(_frame_formula, formulas), rest) if part]


def _list_facts(file: SqlFile) -> dict[str, str]:
    roles = ", ".join(f"`{name}`" for name in examples.list_roles(file))
    return {
        "Computed for": _describe_grain(file),
        "Reads": f"{roles} ([inputs]({UP}/inputs.md))",
        "Interval": _describe_interval(file),
        "Source": file.source,
        "File": f"`sql/{file.relative_path}`",
    }


def _list_other_names(file: SqlFile) -> list[str]:
    """Return the other names of a metric, each of one with other settings with its text; spellings
    of its own names are left out.
    """
    name = file.display_name.lower()
    own = {name, families.spell_name(file).lower().replace("-", " ")}
    names = {
        words: ours
        for words, ours in families.list_aliases().items()
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


def _describe_grain(file: SqlFile) -> str:
    if file.kind == "curves":
        return "each point, in rows of their own"
    if find_input_role(load_registry(), file) != "run":
        return "all rows, or each group of `by`"
    return (
        "each query, and the sum or mean over queries"
        if file.grain == "list"
        else "all lists together, or each group of `by`"
    )


def _describe_interval(file: SqlFile) -> str:
    link = f"([confidence intervals]({UP}/confidence.md))"
    if file.kind == "curves":
        return "none"
    if file.interval.no_interval:
        return f"none: {file.interval.no_interval} {link}"
    if file.interval.no_influence:
        return f"bootstrap, or that of a mean over queries: {file.interval.no_influence} {link}"
    return (
        f"none: it is a count {link}"
        if file.is_always_defined
        else f"with `--confidence 0.95` {link}"
    )


def _build_parameters(file: SqlFile) -> str:
    """Return the table of parameters and settings of a metric, empty without any."""
    rows = [f"| `{_format_parameter(file, param.name)}` | {param.default_text if param.default is not None else 'required'} | {param} | {capitalize_sentence(param.about)} |"  # noqa: E501
            for param in file.params.values()]  # fmt: skip
    rows += [
        f"| `{choice.name}` | `{choice.default}` | [see below](#parameters) |"
        f" {capitalize_sentence(choice.about)} |"
        for choice in file.declared_settings.values()
    ]
    head = ["| name | default | values | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *rows]) if rows else ""


def _build_policies(file: SqlFile) -> str:
    """Return a table of the settings that a metric has in common with others, each with its default
    and meaning.
    """
    names = list_settings(file, load_registry()) - {*file.params, *file.declared_settings}
    has_lists = find_input_role(load_registry(), file) == "run" or "level" in names
    rows = [
        f"| [`{name}`]({UP}/{locate_policy(name)}) | {' | '.join(_describe_setting(name))} |"
        for name in sorted(names - (set() if has_lists else {*LIST_SLOTS}))
    ]
    table = "\n".join(["| name | default | meaning |", "|---|---|---|", *rows])
    text = f"[Policies]({UP}/policies.md) explains their values:\n\n{table}"
    title = '??? note "Settings of all metrics of its kind"'
    return f"{title}\n\n{indent(text, '    ')}" if rows else ""


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


def _format_parameter(file: SqlFile, name: str) -> str:
    return (
        f"{name}, @{name}" if file.cutoff_parameter and file.cutoff_parameter.name == name else name
    )


def _list_edge_cases(file: SqlFile) -> list[str]:
    undefined = file.annotations.get("Undefined", "")
    required = ", ".join(file.required_row_checks)
    is_of_lists = find_input_role(load_registry(), file) == "run" and file.kind == "metrics"
    return [
        f"Undefined (NULL): {undefined}." if undefined not in {"never", ""} else "",
        f"Required of the rows: {required}. Other rows are an error that shows them."
        if required
        else "",
        "Never undefined." if file.is_always_defined else "",
        f"If it is undefined for a query, the policy [`if_undefined`]({UP}/policies.md) decides"
        " the value of that query."
        if is_of_lists and not file.is_always_defined
        else "",
    ]


def _format_table(name: str) -> str:
    head, *rows = (examples.ROOT / examples.TABLES / f"{name}.csv").read_text("utf-8").splitlines()
    cells = [f"| {line.replace(',', ' | ')} |" for line in rows]
    return "\n".join(
        [f"| {head.replace(',', ' | ')} |", "|---" * (head.count(",") + 1) + "|", *cells]
    )


def _build_statements(file: SqlFile) -> dict[str, str]:
    """Return the statements for warehouses, which search leaves out: they are long, and similar."""
    texts = {}
    for dialect, name in examples.list_warehouses(file).items():
        arguments = examples.build_sql_command(file, dialect)
        mark = " .duckdb-statement" if dialect == RUNNABLE else ""
        texts[name] = (
            f"```sh\n{examples.format_command(arguments)}\n```\n\n"
            f"``` {{ .sql .wrapped{mark} }}\n{read_output(file, arguments)}\n```"
        )
    return texts
