"""What a file reads under given settings: known from the files alone, so that a wrong setting is refused before any data is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.library.nodes import nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.library.file import SqlFile
    from sqlrank.library.library import Library


@dataclass
class Uses:
    """The settings, roles and relations that a file reads, itself or through others, and all files that it is made of."""

    settings: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)
    files: dict[SqlFile, None] = field(default_factory=dict)

    def add(self, other: Uses) -> None:
        """Add what another file reads."""
        self.settings |= other.settings
        self.roles |= other.roles
        self.relations |= other.relations
        self.files |= other.files

    def facts(self, name: str) -> list[str]:
        """Return what the files declare under a word, such as ``Probability``."""
        return [file.facts[name] for file in self.files if name in file.facts]


def uses(library: Library, file: SqlFile, settings: Mapping[str, Any], *slots: str) -> Uses:
    """Return what a file, and functions that fill further slots, read under these settings."""
    found = Uses()
    _visit(library, library.checked(file), settings, found)
    for slot in slots:
        _fill(library, slot, settings, found)
    return found


@lru_cache(maxsize=4096)
def home(library: Library, file: SqlFile) -> str:
    """Return the role that a metric is of: the first that it reads, or what that is beside, through the first file of each relation."""
    left, seen = [file], set()
    while left:
        for name in sorted(_mentions(library.checked(left.pop())).tables):
            if name in library.roles:
                return "run" if library.roles[name].lists else library.roles[name].beside or name
            if name not in seen:
                seen.add(name)
                left.append(library.variants(name)[0])
    return "run"


@dataclass(frozen=True)
class _Mentions:
    params: frozenset[str]
    calls: frozenset[str]
    tables: frozenset[str]


@cache
def _mentions(file: SqlFile) -> _Mentions:
    tree = file.tree
    return _Mentions(
        frozenset(node.name for node in nodes(tree, exp.Placeholder)),
        frozenset(call.name.lower() for call in nodes(tree, exp.Anonymous)),
        frozenset(table.name for table in nodes(tree, exp.Table)),
    )


def _visit(library: Library, file: SqlFile, settings: Mapping[str, Any], found: Uses) -> None:
    if file in found.files:
        return
    found.files[file] = None
    mentions = _mentions(file)
    found.settings |= mentions.params
    for slot in sorted(mentions.calls):
        _fill(library, slot, settings, found)
    for name in sorted(mentions.tables):
        if name in library.roles:
            found.roles.add(name)
            found.settings |= {"nulls", *library.deciders(name)}
            continue
        found.relations.add(name)
        found.settings |= library.deciders(name).keys()
        _visit(library, library.relation(name, settings), settings, found)


def _fill(library: Library, slot: str, settings: Mapping[str, Any], found: Uses) -> None:
    found.settings.add(slot)
    chosen = settings.get(slot) or library.default_of(slot)
    if not isinstance(chosen, tuple):  # a map of grades, which is no file
        _visit(library, library.function(slot, str(chosen)), settings, found)
