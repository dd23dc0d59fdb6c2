"""The page of a metric: everything on it is read from its file, or printed by sqlrank when the site is built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlrank.registry.dependencies import find_input_role
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import parse_metric_text
from sqlrank.registry.metric_info import better_direction
from sqlrank.registry.settings_checks import LIST_SLOTS
from website import examples
from website.formulas import formula
from website.kept import printed
from website.tools import beside_tools, taken

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

UP = "../.."
"""From a page of a metric to the pages of docs."""


def page(file: SqlFile) -> str:
    """Return the page of a metric in Markdown."""
    parts = [
        f"# {file.full_name}",
        _first_upper(file.description),
        *_typeset(file),
        *_further(file),
        _facts(file),
        *_parameters(file),
        *_edges(file),
        *_worked(file),
        *_definition(file),
        *_statements(file),
        *beside_tools(file, UP),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def description(file: SqlFile) -> str:
    """Return what the head of the page and search results say of a metric."""
    return f"{file.full_name}: {re.sub(r'[`*]', '', file.description)}"


def _first_upper(text: str) -> str:
    first = text.partition(" ")[0]
    return text if any(letter.isupper() for letter in first) or "_" in first else text[:1].upper() + text[1:]


def _typeset(file: SqlFile) -> list[str]:
    """Return the formula of the file, set, and what it is over."""
    found = formula(file)
    if not found:
        return []
    return [f'<div class="formula" tabindex="0" data-search-exclude>{found}</div>', _over(file.source_relation)]


def _over(relation: str) -> str:
    """Return what the totals of a formula are over."""
    if relation in load_registry().roles:
        return f"Over the rows of the [input]({UP}/inputs.md) `{relation}`, with the columns and parameters as names."
    text = " ".join(load_registry().relation(relation, {}).doc.splitlines()).removeprefix(f"{relation}: ")
    row = re.match(r".*?(?=[.;](?:\s|$))", text)
    return f"Over the rows of `{relation}`, with its columns and the parameters as names: {row[0] if row else text}."


def _further(file: SqlFile) -> list[str]:
    """Return what the comment says further: indented lines are a formula where they are one, others are sentences."""
    lines = [line for line in file.doc.splitlines()[1:] if not re.match(r"\$|[A-Z][a-z ]+: |\w+(\(\))?: default ", line)]
    if not lines:
        return []
    if any(re.search(r" [=*/] |^ +sum over", line) for line in lines):
        formula = [line[4:] for line in lines if line.startswith("    ")]
        rest = " ".join(line for line in lines if not line.startswith("    "))
        return ["``` { .text .wrapped }\n" + "\n".join(formula) + "\n```", rest]
    return [" ".join(line.strip() for line in lines)]


def _facts(file: SqlFile) -> str:
    named = file.display_name
    told = {
        "Asked for as": f"`{examples.asked(file)}`",
        "Also called": _others(named),
        "Range": file.annotations.get("Range", ""),
        "Better": "" if file.kind == "curves" else better_direction(named, load_registry()),
        "Unit": file.annotations.get("Unit", ""),
        "A value of": _grain(file),
        "Reads": ", ".join(f"`{name}`" for name in examples.roles(file)) + f" ([inputs]({UP}/inputs.md))",
        "Interval": _interval(file),
        "Source": file.source,
        "File": f"`sql/{file.relative_path}`",
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in told.items() if text)])


def _others(named: str) -> str:
    """Return what else a metric is called, and how one of other settings is."""
    same = {key.rstrip("@"): ours for key, ours in load_registry().synonyms["aliases"].items() if parse_metric_text(ours).name == named}
    return ", ".join(f"`{key}`" if ours == named else f"`{key}`, which is `{ours}`" for key, ours in same.items())


def _grain(file: SqlFile) -> str:
    if file.kind == "curves":
        return "each point: rows of its own"
    if find_input_role(load_registry(), file) != "run":
        return "all rows, or those of each group of `by`"
    return (
        "each query, and over queries their sum or mean" if file.grain == "list" else "all lists together, or those of each group of `by`"
    )


def _interval(file: SqlFile) -> str:
    link = f"([confidence]({UP}/confidence.md))"
    if file.kind == "curves":
        return "none"
    if file.interval.no_interval:
        return f"none: {file.interval.no_interval} {link}"
    if file.interval.no_influence:
        return f"by the bootstrap, and of means over queries: {file.interval.no_influence} {link}"
    return f"none: it counts {link}" if file.is_always_defined else f"with `--confidence 0.95` {link}"


def _parameters(file: SqlFile) -> list[str]:
    rows = [f"| `{_at(file, param.name)}` | {param} | {param.default_text if param.default is not None else 'to be given'} | {_first_upper(param.about)} |"
            for param in file.params.values()]  # fmt: skip
    for choice in file.declared_settings.values():
        known = sorted(load_registry().functions[choice.name]) if choice.is_slot else load_registry().allowed_values(choice.name)
        values = ", ".join(f"`{value}`" for value in known)
        rows.append(f"| `{choice.name}` | {values} | `{choice.default}` | {_first_upper(choice.about)} |")
    head = ["## Parameters", "| name | values | default | what it is |\n|---|---|---|---|\n" + "\n".join(rows)]
    found = taken(file) - {*file.params, *file.declared_settings}
    has_lists = find_input_role(load_registry(), file) == "run" or "level" in found
    others = ", ".join(f"`{name}`" for name in sorted(found - (set() if has_lists else {*LIST_SLOTS})))
    return [*(head if rows else []), *([f"It also heeds {others}: [policies]({UP}/policies.md)."] if others else [])]


def _at(file: SqlFile, name: str) -> str:
    return f"{name}, @{name}" if file.cutoff_parameter and file.cutoff_parameter.name == name else name


def _edges(file: SqlFile) -> list[str]:
    undefined = file.annotations.get("Undefined", "")
    items = [f"Undefined, which is NULL: {undefined}." if undefined not in {"never", ""} else ""]
    items += [
        f"Rows are checked for it: {', '.join(file.required_row_checks)}; what is not so is an error that names the rows."
        if file.required_row_checks
        else ""
    ]
    items += ["Never undefined." if file.is_always_defined else ""]
    if find_input_role(load_registry(), file) == "run" and file.kind == "metrics" and not file.is_always_defined:
        items.append(f"What a query counts for which it is undefined is the policy [if_undefined]({UP}/policies.md).")
    return ["## Edge cases", "\n".join(f"- {item}" for item in items if item)]


def _worked(file: SqlFile) -> list[str]:
    asked = examples.command(file)
    tables = [examples.table(role, file) for role in examples.roles(file)]
    links = ", ".join(f"[{name}.csv]({UP}/tables/{name}.csv)" for name in tables)
    shown = "\n\n".join(f'=== "{name}"\n\n{_indented(_table(name))}' for name in tables)
    command, found = examples.shown(asked), printed(file, asked)
    whole = f"```console\n$ {command}\n{found}\n```"
    head = ["## Worked example", f"Of [small tables]({UP}/examples/small.md) ({links}), computed when this page was made:", shown]
    every = f'??? example "Every step, and the command"\n\n{_indented(whole)}'
    last = _last(file, found)
    return [*head, *last, every] if last else [*head, whole]


def _last(file: SqlFile, found: str) -> list[str]:
    """Return the last of what an explanation prints: the rows that the metric reads, and its expression with its sums put in."""
    parts = found.split("\n\n")
    expression = next((place for place, part in enumerate(parts) if part.startswith(f"{examples.asked(file)} = ")), None)
    if expression is None:
        return []
    rows = next(([part] for part in parts[:expression] if part.startswith(f"{file.source_relation}: ")), [])
    named = [part.partition("\n") for part in rows]
    shown = [text for title, _, table in named for text in (f"What it reads is {title}", f"```text\n{table}\n```")]
    return [*shown, "Its expression, with the sums put in:", "``` { .text .wrapped }\n" + "\n\n".join(parts[expression:]) + "\n```"]


def _table(name: str) -> str:
    head, *rows = (examples.ROOT / examples.TABLES / f"{name}.csv").read_text("utf-8").splitlines()
    cells = [f"| {line.replace(',', ' | ')} |" for line in rows]
    return "\n".join([f"| {head.replace(',', ' | ')} |", "|---" * (head.count(",") + 1) + "|", *cells])


def _definition(file: SqlFile) -> list[str]:
    return [
        "## The file",
        f"It is computed by this, over relations that [the contract]({UP}/sql/index.md) describes:",
        f"``` {{ .sql .wrapped }}\n{file.text.rstrip()}\n```",
    ]


def _statements(file: SqlFile) -> list[str]:
    """Return the statements for warehouses, which search leaves out: they are alike, and long."""
    parts = ["## The statement { data-search-exclude }", "What `sqlrank sql` prints, of tables that are called as their inputs:"]
    for dialect, name in examples.warehouses(file).items():
        asked = examples.statement(file, dialect)
        parts.append(f'=== "{name}"\n\n' + _indented(f"```sh\n{examples.shown(asked)}\n```\n\n```sql\n{printed(file, asked)}\n```"))
    return parts


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())
