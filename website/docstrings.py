"""Docstrings as MkDocs takes them: examples in a section of their own, and names that lead to where they are described."""

from __future__ import annotations

import re
from typing import Any

import griffe

import sqlrank

ROLE = re.compile(r":(?:func|class|meth):`(?P<name>[\w.]+)`")
EXAMPLES = re.compile(r"^>>> .*\Z", re.DOTALL | re.MULTILINE)


class Written(griffe.Extension):
    """Writes docstrings anew when they were read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = written(obj.docstring.value)


def written(docstring: str) -> str:
    """Return a docstring whose references are links, and whose examples are a section."""
    text = ROLE.sub(lambda match: _reference(match["name"]), docstring)
    return EXAMPLES.sub(lambda match: "Examples:\n" + re.sub(r"^(?=.)", "    ", match[0], flags=re.MULTILINE), text)


def _reference(name: str) -> str:
    short = name.rpartition(".")[2]
    return f"[`{name}`][sqlrank.{short}]" if short in sqlrank.__all__ else f"`{name}`"
