"""The size of the code beside its targets: ``python -m tests.budget``. A change that raises one
says what it buys.
"""

import ast
import sys
import tokenize
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGETS = {"sqlrank": 280_000, "website": 11_000, "benchmarks": 26_000, "tests": 560_000}
"""Tokens of Python by folder, as Python 3.11 counts them: later versions divide f-strings into
several.
"""

MAX_MODULES = 150
MAX_FLOORS = 10
MAX_SQL_LINES = 13_000
_COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}


def count_tokens(path: Path) -> int:
    """Return the number of names, operators, numbers and strings of a module, which no layout
    changes.
    """
    with path.open("rb") as file:
        return sum(token.type in _COUNTED for token in tokenize.tokenize(file.readline))


def list_imports(node: ast.AST) -> Iterator[str]:
    """Yield the modules that a module imports at once: not for types, nor within functions."""
    for child in ast.iter_child_nodes(node):
        is_for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif not is_for_types and not isinstance(child, ast.FunctionDef):
            yield from list_imports(child)


def count_floors() -> int:
    """Return how many packages of sqlrank stand on each other by imports at run time."""
    package = ROOT / "sqlrank"
    graph: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        name = path.relative_to(package).parts[0].removesuffix(".py")
        named = list_imports(ast.parse(path.read_text("utf-8")))
        imported = {module.split(".")[1] for module in named if module.startswith("sqlrank.")}
        graph.setdefault(name, set()).update(imported - {name})
    floors: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        floors[name] = 1 + max((floors[other] for other in graph.get(name, ())), default=0)
    return max(floors.values())


def format_sizes() -> str:
    """Return a line for each size: what it is, the number, and its target."""
    rows = {
        f"tokens of Python in {folder}": (
            sum(map(count_tokens, (ROOT / folder).rglob("*.py"))),
            target,
        )
        for folder, target in TARGETS.items()
    }
    modules = [path for path in (ROOT / "sqlrank").rglob("*.py") if path.name != "__init__.py"]
    rows["modules of sqlrank"] = (len(modules), MAX_MODULES)
    rows["floors of packages"] = (count_floors(), MAX_FLOORS)
    rows["lines of SQL"] = (
        sum(len(path.read_text("utf-8").splitlines()) for path in (ROOT / "sql").rglob("*.sql")),
        MAX_SQL_LINES,
    )
    return "\n".join(f"{name:32} {size:9,} of {target:9,}" for name, (size, target) in rows.items())


if __name__ == "__main__":
    sys.stdout.write(f"{format_sizes()}\n")
