"""Find the settings, roles, relations and files that a SQL file depends on, and the input role that
a metric evaluates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlrank.registry.registry import Registry
    from sqlrank.registry.sql_file import SqlFile


@dataclass
class Dependencies:
    """Transitive dependencies of a file: settings, roles, relations and files."""

    settings: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)
    files: dict[SqlFile, None] = field(default_factory=dict)

    def __or__(self, other: Dependencies) -> Dependencies:
        """Return these dependencies with those of another file."""
        return Dependencies(
            self.settings | other.settings,
            self.roles | other.roles,
            self.relations | other.relations,
            self.files | other.files,
        )

    @property
    def reads_documents(self) -> bool:
        """True if a file reads more of the run or the judgments than their queries."""
        return any(
            {"run", "qrels"} & find_references(file).tables
            and file.path.parent.name != "evaluated_queries"
            for file in self.files
        )

    def list_annotations(self, name: str) -> list[str]:
        """Return the values of an annotation, such as ``Validate``, in all files."""
        return [file.annotations[name] for file in self.files if name in file.annotations]


def find_dependencies(
    library: Registry, file: SqlFile, settings: Mapping[str, Any], *slots: str
) -> Dependencies:
    """Find the dependencies of a file, and of further slots, under these settings.

    They are found once, and shared by callers.
    """
    return _find_dependencies(library, file, frozenset(settings.items()), slots)


@lru_cache(maxsize=4096)
def _find_dependencies(
    library: Registry, file: SqlFile, settings: frozenset[tuple[str, Any]], slots: tuple[str, ...]
) -> Dependencies:
    dependencies, by_name = Dependencies(), dict(settings)
    _visit_file(library, library.validate_file(file), by_name, dependencies)
    for slot in slots:
        _visit_slot(library, slot, by_name, dependencies)
    return dependencies


def find_engines(files: Iterable[SqlFile]) -> list[str]:
    """Return the engines that have all relations among these files, which declare some; empty if
    none declares any.

    >>> from sqlrank.registry.loader import load_registry
    >>> library = load_registry()
    >>> [
    ...     find_engines(find_dependencies(library, library.metrics[name], {}).files)
    ...     for name in ("alpha_ndcg", "ndcg")
    ... ]
    [['duckdb'], []]
    """
    declared = [file.engines for file in files if file.kind == "relations" and file.engines]
    return (
        [engine for engine in declared[0] if all(engine in engines for engines in declared)]
        if declared
        else []
    )


@lru_cache(maxsize=4096)
def find_input_role(library: Registry, file: SqlFile) -> str:
    """Return the input role that a metric evaluates.

    It follows dependencies, through the first variant of each relation, to the first role. Roles of
    ranked lists count as ``run``, companion roles as their main role.
    """
    unvisited, visited = [file], set()
    while unvisited:
        for name in sorted(find_references(library.validate_file(unvisited.pop())).tables):
            if name in library.roles:
                return (
                    "run"
                    if library.roles[name].list_relation
                    else library.roles[name].main_role or name
                )
            if name not in visited:
                visited.add(name)
                unvisited.append(library.relation_files(name)[0])
    return "run"


@dataclass(frozen=True)
class References:
    """Names of the parameters, functions, tables and columns in a file."""

    params: frozenset[str]
    calls: frozenset[str]
    tables: frozenset[str]
    columns: frozenset[str]


@cache
def find_references(file: SqlFile) -> References:
    """Return the names in a file, which is searched once."""
    tree = file.tree
    return References(
        frozenset(node.name for node in find_nodes(tree, exp.Placeholder)),
        frozenset(call.name.lower() for call in find_nodes(tree, exp.Anonymous)),
        frozenset(table.name for table in find_nodes(tree, exp.Table)),
        frozenset(column.name for column in find_nodes(tree, exp.Column)),
    )


def _visit_file(
    library: Registry, file: SqlFile, settings: Mapping[str, Any], dependencies: Dependencies
) -> None:
    if file in dependencies.files:
        return
    dependencies.files[file] = None
    references = find_references(file)
    dependencies.settings |= references.params
    for slot in sorted(
        references.calls & library.functions.keys()
    ):  # others are functions of an engine
        _visit_slot(library, slot, settings, dependencies)
    for name in sorted(references.tables):
        if name in library.roles:
            dependencies.roles.add(name)
            dependencies.settings |= {"nulls", *library.find_selectors(name)}
            continue
        read = library.find_relation(name, settings)
        dependencies.relations |= {name, read.name}
        dependencies.settings |= {*library.find_selectors(name), *library.find_selectors(read.name)}
        _visit_file(library, read, settings, dependencies)


def _visit_slot(
    library: Registry, slot: str, settings: Mapping[str, Any], dependencies: Dependencies
) -> None:
    dependencies.settings.add(slot)
    chosen = settings.get(slot) or library.default_function(slot)
    if not isinstance(chosen, tuple):  # a map of grades, which has no file
        _visit_file(library, library.find_function(slot, str(chosen)), settings, dependencies)
