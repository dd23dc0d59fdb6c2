"""The tree of relations and the table of their columns in sql/RELATIONS.md, from the files; ``python -m website.relations`` renews them."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.registry.loader import load_registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlrank.registry.sql_file import SqlFile

PAGE = Path(__file__).parents[1] / "sql" / "RELATIONS.md"

_BLOCK = re.compile(r"(<!-- (tree|columns) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def page() -> str:
    """Return the page with its generated parts renewed."""
    parts = {"tree": tree(), "columns": columns()}
    return _BLOCK.sub(lambda block: f"{block[1]}\n{parts[block[2]]}\n\n", PAGE.read_text("utf-8"))


def tree() -> str:
    """Return the tree: each relation below what the FROM of its default file reads, with the first sentence of that file."""
    library = load_registry()
    children: dict[str, list[SqlFile]] = defaultdict(list)
    for name in sorted(library.relation_names - library.roles.keys()):
        file = library.relation(name, {})
        children[_first_table(file)].append(file)
    lines = []
    for name, role in library.roles.items():
        if name in children:
            lines += [f"{name}: {role.description}", *_below(name, children, 1)]
    return "\n".join(["```text", *lines, *_below("", children, 0), "```"])


def _below(name: str, children: Mapping[str, Sequence[SqlFile]], depth: int) -> Iterator[str]:
    for file in children.get(name, ()):
        yield f"{'  ' * depth}{file.name}: {file.summary}"
        yield from _below(file.name, children, depth + 1)


def _first_table(file: SqlFile) -> str:
    """Return the relation or input that the innermost first FROM of a file reads, empty if it reads none."""
    node = file.tree
    while not isinstance(node, exp.Table):
        while isinstance(node, exp.Union):
            node = node.left
        source = node.args.get("from_")
        if source is None:
            return ""
        node = source.this.this if isinstance(source.this, exp.Subquery) else source.this
    return str(node.name)


def columns() -> str:
    """Return the table of grains and columns: a row per relation, and one more for each of its files that have others."""
    library = load_registry()
    rows = ["| relation | grain | columns |", "|---|---|---|"]
    for name in sorted(library.relation_names):
        files = library.relation_files(name)
        shapes: dict[tuple[str, str], list[str]] = {}
        for file in files:
            shapes.setdefault((str(file.row_grain), ", ".join(file.tree.named_selects)), []).append(file.path.stem)
        first, *others = sorted(shapes.items(), key=lambda item: (-len(item[1]), item[1]))
        rows.append(f"| {name} | {first[0][0]} | {first[0][1]} |")
        rows += [f"| {name}: {', '.join(stems)} | {grain} | {names} |" for (grain, names), stems in others]
    return "\n".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
