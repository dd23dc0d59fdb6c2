"""Load registries, cached until a user's file changes, check users' files, and strip comments that
statements do not repeat.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlrank.registry.registry import Registry
from sqlrank.registry.sql_folder import list_sql_files, sql_root

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile


def load_registry(*extra: str) -> Registry:
    """Load the registry of the package and extra folders; changed files are read again."""
    edits = tuple(
        (str(path), path.stat().st_mtime_ns)
        for folder in extra
        for path in list_sql_files(Path(folder))
    )
    return _load_cached(extra, edits)


def registry_for(sql_dir: str | Path | None) -> Registry:
    """Load the registry, with the files of a user's folder if one is named."""
    return load_registry(*([] if sql_dir is None else [str(sql_dir)]))


@cache
# Edits are part of the cache key
def _load_cached(extra: tuple[str, ...], edits: tuple[tuple[str, int], ...]) -> Registry:  # noqa: ARG001
    return Registry((sql_root(), *map(Path, extra)), _prepare_file)


def _prepare_file(file: SqlFile, library: Registry) -> None:
    """Check a file of the user, and drop comments and positions from any file's tree.

    Files of the package are checked before the build, which saves start-up time.
    """
    from sqlglot import exp  # importing sqlglot takes a quarter of a second

    if not file.path.is_relative_to(sql_root()):
        from sqlrank.registry.reference_checks import check_contract  # the package's are checked

        check_contract(file, library)
    # Statements keep two kinds of comments: those of a relation's columns, and those of subqueries
    # on their rows.
    commented_nodes: set[int] = set()
    for node in file.statement.walk():
        if isinstance(node, exp.Select) and (
            file.kind == "relations" or (file.kind == "curves" and node is not file.statement)
        ):
            commented_nodes.update(map(id, (node, *node.expressions)))
        if id(node) not in commented_nodes:
            node.comments = None
        # Source positions; copying them, even if empty, doubles the cost
        node._meta = None  # noqa: SLF001
