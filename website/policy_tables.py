"""The values of policies on docs/policies.md, a row for each, and a table of all policies, from
policies.toml and the files of slots.

``python -m website.policy_tables`` writes them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_folder import read_toml, sql_root

PAGE = Path(__file__).parents[1] / "docs" / "policies.md"
_TABLE = re.compile(
    r"(?<=^### )(\w+)\n((?:(?!^#|^\| value ).*\n)*)(\| value (?:.*\|\n)+)", re.MULTILINE
)
_SUMMARY = re.compile(r"\| policy \| default \| decides \|\n(?:\|.*\|\n)+")


def describe_values(name: str) -> dict[str, str]:
    """Return the values of a policy or slot, the default first, each with its description."""
    library = load_registry()
    if name in library.policies:
        values = library.policies[name]["values"]
        return {str(value): str(values[value]["description"]) for value in values}
    files = library.functions[name]
    default = find_default(name)
    names = sorted(files, key=lambda value: (value != default, value))
    return {value: capitalize_sentence(files[value].description) for value in names}


def find_default(name: str) -> str:
    """Return the default value of a policy or slot, empty if metrics set different ones."""
    library = load_registry()
    if name in library.policies:
        return str(library.allowed_values(name)[0])
    shared = read_toml(sql_root() / "settings" / "policies.toml")["functions"]
    files = [*library.metrics.values(), *library.curves.values(), *library.relations.values()]
    settings = [file.declared_settings[name] for file in files if name in file.declared_settings]
    declared = {setting.default for setting in settings} or {library.default_function(name)}
    return shared.get(name) or (declared.pop() if len(declared) == 1 else "")


def capitalize_sentence(text: str) -> str:
    """Return a text whose first word is capitalized, unless it is a name.

    >>> capitalize_sentence("mean over queries."), capitalize_sentence("nDCG of it.")
    ('Mean over queries.', 'nDCG of it.')
    """
    first = text.partition(" ")[0]
    is_name = any(letter.isupper() for letter in first) or "_" in first
    return text if is_name else text[:1].upper() + text[1:]


def build_table(name: str) -> str:
    """Return the table of the values of a policy or slot."""
    default = find_default(name)
    rows = [
        f"| `{value}`{' (default)' * (value == default)} | {about.replace('|', chr(92) + '|')} |"
        for value, about in describe_values(name).items()
    ]
    return "\n".join(["| value | meaning |", "|---|---|", *rows]) + "\n"


def build_summary(texts: dict[str, str]) -> str:
    """Return the table of all policies, each with its default, the case that it decides and the
    metrics that read it, from the texts of their sections.
    """
    rows = [
        f"| [`{name}`](#{name}) | {f'`{default}`' if default else 'by metric'} | {first}"
        + "".join(f" {sentence}" for sentence in others if re.search(r" reads? it\.$", sentence))
        + " |"
        for name, text in texts.items()
        for default in [find_default(name)]
        for first, *others in [re.split(r"(?<=\.)\s+", text.strip())]
    ]
    return "\n".join(["| policy | default | decides |", "|---|---|---|", *rows]) + "\n"


def locate_policy(name: str) -> str:
    """Return the place of a setting on the page: its heading, or the page for a number."""
    return f"{PAGE.name}#{name}" if name in _list_headings() else PAGE.name


@cache
def _list_headings() -> frozenset[str]:
    return frozenset(re.findall(r"^### (\w+)$", PAGE.read_text("utf-8"), re.MULTILINE))


def format_page(text: str) -> str:
    """Return the page with the tables of its policies as the package has them."""
    texts = {part[1]: part[2] for part in _TABLE.finditer(text)}
    text = _TABLE.sub(lambda part: f"{part[1]}\n{part[2]}{build_table(part[1])}", text)
    return _SUMMARY.sub(lambda _: build_summary(texts), text)


if __name__ == "__main__":
    PAGE.write_text(format_page(PAGE.read_text("utf-8")), "utf-8")
