"""The first line of a docstring is a complete phrase: an imperative verb, or the name of the thing
that follows.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sqlrank"
FOLDERS = ("sqlrank", "tests", "benchmarks", "examples", "website", "release")
HEADLESS = re.compile(
    r"(What|Which|How|Whether|Where|Why|When)\b|\w+ (what|which|how|whether|why)\b|.*(:|;|,| and|"
    r" of) (what|whether|how)\b"
)
"""First lines in which a clause takes the place of a noun, such as "Whether", "Return how many" or
"Texts, and their meaning" with "what".
"""


def find_docstrings(code: str) -> list[tuple[int, str]]:
    """Return line and text of the docstrings of modules, classes, functions and constants."""
    found, blocks = [], [ast.parse(code).body]
    for block in blocks:
        for item in block:
            if (
                isinstance(item, ast.Expr)
                and isinstance(item.value, ast.Constant)
                and isinstance(item.value.value, str)
            ):
                found.append((item.lineno, item.value.value))
            blocks += [
                nested
                for name in ("body", "orelse", "finalbody")
                if isinstance(nested := getattr(item, name, None), list)
            ]
    return found


def test_docstrings_are_complete_phrases():
    """Outside of the package, those of modules: docstrings of tests are sentences on the expected
    values.
    """
    found = []
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        docstrings = find_docstrings(path.read_text("utf-8"))
        checked = docstrings if path.is_relative_to(PACKAGE) else docstrings[:1]
        found += [
            f"{path}:{line}: {text.splitlines()[0]}"
            for line, text in checked
            if HEADLESS.match(text)
        ]
    assert found == [], (
        "begin with an imperative verb or a noun; for a boolean with 'Return True if'"
    )


def test_arguments_of_docstrings_are_parameters():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and "\nArgs:\n" in (ast.get_docstring(node) or ""):
                section = (
                    str(ast.get_docstring(node)).partition("\nArgs:\n")[2].partition("\n\n")[0]
                )
                names = re.findall(r"^    \**(\w+):", section, re.MULTILINE)
                parameters = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
                found += [f"{path}:{node.name}: {name}" for name in {*names} - parameters]
    assert found == []


def test_headless_docstrings_are_found():
    code = (
        '"""Whether."""\nA = 1\n"""What A is."""\n\n\ndef f():\n    """How f works."""\n   '
        ' "Where."\n\n\nclass C:\n    """Which."""\n'
    )
    assert [line for line, text in find_docstrings(code) if HEADLESS.match(text)] == [
        1, 3, 7, 8, 12,
    ]  # fmt: skip
    headless = [
        "Return what a row is.", "Decide whether it fails.", "Texts and what they mean.",
        "A call: what it returns.", "Sum of what is left.",
    ]  # fmt: skip
    assert all(HEADLESS.match(text) for text in headless)
    complete = [
        "Whenever",
        "Return the reason why it fails.",
        "List the rows for which it holds.",
        "Return True if it fails.",
    ]
    assert not any(HEADLESS.match(text) for text in complete)
