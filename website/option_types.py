"""The types of policies and dialects in public signatures, sqlrank/option_types.pyi;
``python -m website.option_types`` writes the file.

Type checkers read it, so that a misspelt policy or value is found before a call.
"""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.settings_checks import QUERIES_POLICY_KEYWORD, policy_names
from sqlrank.rendering.dialects import DIALECT_NAMES, DIALECTS

STUB = Path(sqlrank.__file__).with_name("option_types.pyi")
_HEAD = """\
# Types of options, which `python -m website.option_types` writes.
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

Map = Mapping[Any, float]

"""

_CLASSES = {"Policies": "evaluate", "ComparisonPolicies": "compare", "RollupPolicies": "rollup"}
"""Policies of functions that have arguments of other names: those that are no argument."""


def build_stub() -> str:
    """Return the text of the file: dialects with their other names, and policies with their values,
    functions of slots with their names, and parameters of metrics.
    """
    names = {QUERIES_POLICY_KEYWORD, *policy_names(load_registry())}
    by_class = {
        title: names - inspect.signature(getattr(sqlrank, function)).parameters.keys()
        for title, function in _CLASSES.items()
    }
    shared = set.intersection(*by_class.values())
    lines = [f"DialectName = {_write_literal(sorted(_list_dialects()))}\n"]
    lines += _write_class("SharedPolicies", "TypedDict", shared)
    for title, accepted in by_class.items():
        lines += _write_class(title, "SharedPolicies", accepted - shared)
    return _HEAD + "\n".join(lines) + "\n"


def _write_class(title: str, base: str, names: set[str]) -> list[str]:
    fields = [f"    {name}: {_write_type(name)}" for name in sorted(names)]
    return [f"class {title}({base}, total=False):", *(fields or ["    pass"]), ""]


def _write_type(name: str) -> str:
    """Return the type of the values of a policy, a slot or a parameter."""
    library = load_registry()
    policy = library.policies.get("queries" if name == QUERIES_POLICY_KEYWORD else name)
    if policy is not None:
        return _write_literal([*policy["values"]])
    if name in library.functions:
        return f"{_write_literal([*library.functions[name]])} | Map"
    return "Any"


def _list_dialects() -> set[str]:
    return {*DIALECT_NAMES, *(name for dialect in DIALECTS.values() for name in dialect.aliases)}


def _write_literal(values: list[str]) -> str:
    text = ", ".join(f'"{value}"' for value in values)
    if len(text) < 60:  # noqa: PLR2004  beside a name
        return f"Literal[{text}]"
    lines = textwrap.fill(text, 90, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return f"Literal[\n{lines}\n    ]"


if __name__ == "__main__":
    STUB.write_text(build_stub(), "utf-8")
