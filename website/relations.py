"""The page of all relations and their columns; ``python -m website.relations`` prints it."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_file import SqlFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PAGE = "sql/relations.md"
"""Place of the page, below docs."""

_FRAME = Path(__file__).with_suffix(".md")


def build_relations_page() -> str:
    """Return the page: its text with the tree and the columns."""
    text = _FRAME.read_text("utf-8")
    parts = {"tree": build_tree(), "columns": build_columns_table()}
    return re.sub(r"<!-- (tree|columns) -->", lambda place: parts[place[1]], text)


def build_tree() -> str:
    """Return the tree: each relation below what the FROM of its default file reads, with the first
    sentence of that file.
    """
    library = load_registry()
    children: dict[str, list[SqlFile]] = defaultdict(list)
    for name in sorted(library.relation_names - library.roles.keys()):
        file = library.find_relation(name, {})
        file = file if file.name == name else library.relation_files(name)[0]
        children[_first_table(file)].append(file)
    lines = []
    for name, role in library.roles.items():
        if name in children:
            lines += [f"{name}: {role.description}", *_list_descendants(name, children, 1)]
    return "\n".join(["```text", *lines, *_list_descendants("", children, 0), "```"])


def _list_descendants(
    name: str, children: Mapping[str, Sequence[SqlFile]], depth: int
) -> Iterator[str]:
    for file in children.get(name, ()):
        yield f"{'  ' * depth}{file.name}: {file.summary}"
        yield from _list_descendants(file.name, children, depth + 1)


def _first_table(file: SqlFile) -> str:
    """Return the relation or input that the innermost first FROM of a file reads, empty if it reads
    none.
    """
    node = file.tree
    while not isinstance(node, exp.Table):
        while isinstance(node, exp.Union):
            node = node.left
        source = node.args.get("from_")
        if source is None:
            return ""
        node = source.this.this if isinstance(source.this, exp.Subquery) else source.this
    return str(node.name)


def build_columns_table() -> str:
    """Return the grain and the columns of each relation, with their comments, and those of its
    files that have others.
    """
    library = load_registry()
    return "\n".join(
        [
            "```text",
            *(
                line
                for name in sorted(library.relation_names)
                for line in _list_shapes(library.relation_files(name))
            ),
            "```",
        ]
    )


def _list_shapes(files: Sequence[SqlFile]) -> Iterator[str]:
    shapes: dict[tuple[str, frozenset[str]], list[SqlFile]] = defaultdict(list)
    for file in files:
        shapes[str(file.row_grain), frozenset(file.tree.named_selects)].append(file)
    for (grain, _), same in sorted(shapes.items(), key=lambda shape: -len(shape[1])):
        variants = f" ({', '.join(file.path.stem for file in same)})" if len(shapes) > 1 else ""
        yield f"{same[0].name}{variants}: {grain}"
        # The registry drops comments, since trees without them are copied faster.
        comments = SqlFile(same[0].kind, same[0].name, same[0].path).column_comments
        if plain := [name for name in same[0].tree.named_selects if name not in comments]:
            yield f"  {', '.join(plain)}"
        width = max(map(len, comments), default=0)
        yield from (f"  {name:{width}}  {comment}" for name, comment in comments.items())


if __name__ == "__main__":
    sys.stdout.write(build_relations_page())
