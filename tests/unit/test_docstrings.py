"""The first line of a docstring is a complete phrase: an imperative verb, or the name of the thing that follows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "sqlrank"
HEADLESS = re.compile(r"(What|Which|How|Whether|Where|Why|When)\b")


def find_docstrings(code: str) -> list[tuple[int, str]]:
    """Return line and text of the docstrings of modules, classes, functions and constants."""
    blocks = [getattr(node, "body", None) for node in ast.walk(ast.parse(code))]
    statements = [item for block in blocks if isinstance(block, list) for item in block if isinstance(item, ast.Expr)]
    values = [item.value for item in statements]
    return [(value.lineno, value.value) for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]


def test_docstrings_are_complete_phrases() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        docstrings = find_docstrings(path.read_text("utf-8"))
        found += [f"{path}:{line}: {text.splitlines()[0]}" for line, text in docstrings if HEADLESS.match(text)]
    assert found == [], "begin with an imperative verb or a noun; for a boolean with 'Return True if'"


def test_headless_docstrings_are_found() -> None:
    code = '"""Whether."""\nA = 1\n"""What A is."""\n\n\ndef f():\n    """How f works."""\n    "Where."\n\n\nclass C:\n    """Which."""\n'
    assert [line for line, text in find_docstrings(code) if HEADLESS.match(text)] == [1, 3, 7, 8, 12]
    assert not HEADLESS.match("Whenever")
