"""The arrows between packages point down, as CONTRIBUTING.md draws them; no module is long, and none waits for another in a circle."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sqlrank"
LONGEST = 250


@cache
def imports() -> dict[str, set[str]]:
    """Return what each module of sqlrank imports of it, also where only types need it, or a function when it is called."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        named = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        named |= {f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        named |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        found[module] = named
    return {module: {name for name in named if name in found and name != module} for module, named in found.items()}


def room(module: str) -> str:
    """Return the package of a module, or its own name if it stands at the top."""
    return [*module.split("."), ""][1]


def drawn() -> dict[str, set[str]]:
    """Return the map of CONTRIBUTING.md: what each room may import."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Map")[2]
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", allowed)) for name, allowed in rows}


def test_rooms_import_what_the_map_allows() -> None:
    free = {"", "deadline", "errors", "_version", "__main__"}
    seen: dict[str, set[str]] = {}
    for module, named in imports().items():
        seen.setdefault(room(module), set()).update(room(other) for other in named)
    for name in seen.keys() - free:
        allowed = drawn()[name]
        assert seen[name] - free - {name} <= allowed, f"{name} imports more than the map of CONTRIBUTING.md says"
        assert allowed <= seen[name], f"the map says that {name} imports what it does not"
    assert drawn().keys() == seen.keys() - free


def test_the_arrows_point_down() -> None:
    list(TopologicalSorter(drawn()).static_order())


def test_no_circle_of_modules() -> None:
    # The package itself imports its public names when they are asked for.
    graph = {module: {other for other in named if other != "sqlrank"} for module, named in imports().items() if module != "sqlrank"}
    list(TopologicalSorter(graph).static_order())


def test_modules_are_short() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {path.name: length for path, length in lengths.items() if length > LONGEST} == {}
    tests = {path: len(path.read_text("utf-8").splitlines()) for path in (ROOT / "tests").rglob("*.py")}
    assert {path.name: length for path, length in tests.items() if length > 400} == {}
