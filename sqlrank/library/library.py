"""The SQL files: found, and looked up by name; each is read when it is asked for."""

from __future__ import annotations

import os
import re
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from sqlrank.errors import ContractError, MetricError, suggestion
from sqlrank.library.file import SqlFile
from sqlrank.library.folder import read_toml, sql_root
from sqlrank.library.roles import read_roles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from sqlrank.library.metric import Metric
    from sqlrank.library.roles import Role

FACTS_OF_VALUES = {"about", "change", "convex", "engines", "needs", "only"}
"""What is said of a value of a policy or plan beside the files that it names."""

OPTIONS = ("by", "check", "columns", "compat", "connection", "per_query", "where")
"""What is said once a call, and easily taken for a policy, a parameter or a metric."""

OLD_NAMES = {"strategy": "order", "numbering": "lists"}
"""What plans were called when they were policies."""


class Library:
    """All metrics, relations, functions, roles, policies and plans, of this package and of the folders a user adds.

    The files of a user are read at once, so that a mistake in one is found by any call. ``check`` raises ``ContractError`` for
    a file that names what is not there.
    """

    def __init__(self, folders: tuple[Path, ...], check: Callable[[SqlFile, Library], None]) -> None:
        self._check = check
        self._own: set[SqlFile] = set()
        self.metrics: dict[str, SqlFile] = {}
        self.curves: dict[str, SqlFile] = {}
        self.relations: dict[tuple[str, str], SqlFile] = {}
        self.functions: dict[str, dict[str, SqlFile]] = {}
        self.roles: dict[str, Role] = {}
        self.policies: dict[str, Any] = {}
        self.plans: dict[str, Any] = {}
        self.known: dict[str, Any] = {}
        self.checks: dict[str, Path] = {}
        self.compat_files: dict[str, Path] = {}
        self._checked: set[SqlFile] = set()
        for folder in folders:
            self._add(folder)
        for file in self.files() if len(folders) > 1 else ():
            if not file.path.is_relative_to(folders[0]):
                self._own.add(file)
                self.checked(file)

    def _add(self, folder: Path) -> None:
        if not os.path.isdir(folder):  # noqa: PTH112  a path that is too long is none, too
            raise ContractError(f"the SQL folder {str(folder)!r} is not there; give a folder with metrics/, relations/ or functions/")
        unread = (
            []
            if folder == sql_root()
            else [path for path in [*folder.glob("*.sql"), *folder.glob("*/*.sql")] if not _is_read(path, folder)]
        )
        if unread:
            raise ContractError(
                f"{min(unread)}:1: this file is not read; move it to metrics/, curves/, relations/ or checks/, or to functions/ with a folder "
                "of the slot that it fills, such as functions/gain/"
            )
        for name, held in (("policies", self.policies), ("plans", self.plans), ("names", self.known)):
            if (path := folder / f"{name}.toml").is_file():
                held.update(read_toml(path) if name != "names" else {key: held.get(key, {}) | own for key, own in read_toml(path).items()})
        if (path := folder / "roles.toml").is_file():
            self.roles |= read_roles(path, read_toml(path))
        self.compat_files |= {path.stem: path for path in sorted(folder.glob("compat/*.toml"))}
        self.checks |= {path.stem: path for path in sorted(folder.glob("checks/*.sql"))}
        load = _kept if folder == sql_root() else SqlFile
        for path in sorted(folder.glob("relations/**/*.sql")):
            parts = path.relative_to(folder / "relations").with_suffix("").parts
            key = (parts[0], parts[1] if len(parts) > 1 else "")
            self._once(parts[0], self.relations.get(key), path, parts[0] in self.roles and not key[1])
            self.relations[key] = load("relations", parts[0], path)
        for path in sorted(folder.glob("functions/*/*.sql")):
            slot = self.functions.setdefault(path.parent.name, {})
            self._once(path.stem, slot.get(path.stem), path)
            slot[path.stem] = load("functions", path.parent.name, path)
        for path in sorted(folder.glob("metrics/**/*.sql")):
            file = load("metrics", path.stem, path)
            self._once(file.title_name, self.metrics.get(file.title_name.lower()), path)
            self.metrics[file.title_name.lower()] = file
        for path in sorted(folder.glob("curves/*.sql")):
            file = load("curves", path.stem, path)
            self._once(file.display_name, self.curves.get(file.display_name.lower()), path)
            self.curves[file.display_name.lower()] = file

    @staticmethod
    def _once(name: str, other: SqlFile | None, path: Path, is_input: bool = False) -> None:
        if other is not None or is_input:
            taken = "/".join(other.path.parts[-2:]) if other is not None else "an input"
            raise ContractError(f"{path}:1: the name {name} is taken by {taken}; choose another")

    def files(self) -> list[SqlFile]:
        """Return all metrics, curves, relations and functions."""
        functions = (file for slot in self.functions.values() for file in slot.values())
        return [*self.metrics.values(), *self.curves.values(), *self.relations.values(), *functions]

    def checked(self, file: SqlFile) -> SqlFile:
        """Return a file that keeps the contract, and names only what is there; raise ``ContractError`` otherwise."""
        if file not in self._checked:
            self._checked.add(file)
            try:
                self._check(file, self)
            except ContractError:
                self._checked.discard(file)
                raise
        return file

    def can_overflow(self, file: SqlFile, files: Iterable[SqlFile]) -> bool:
        """Whether a metric made of these files can be infinite or NaN: one of a user's, and one of scores of any size.

        The others are quotients of sums of weights, of gains and of what lies between 0 and 1, which the checks keep in bounds.
        """
        return "finite scores" in file.requires or any(read in self._own for read in files)

    def variants(self, name: str) -> list[SqlFile]:
        """Return the files of a relation."""
        return self._variants.get(name, [])

    @cached_property
    def _variants(self) -> dict[str, list[SqlFile]]:
        found: dict[str, list[SqlFile]] = {}
        for (name, _), file in self.relations.items():
            found.setdefault(name, []).append(file)
        return found

    @cached_property
    def relation_names(self) -> set[str]:
        """The names of all relations."""
        return {name for name, _ in self.relations}

    @cached_property
    def inner_columns(self) -> set[str]:
        """The names of all columns of relations, read off their texts, since to parse them all takes longer than a statement."""
        code = "\n".join(re.sub(r"(?m)^--.*$", "", file.text) for file in [*self.relations.values(), *self.curves.values()])
        aliases = re.findall(r"\bAS\s+([a-z_]\w*)", re.sub(r"\b(FROM|JOIN)\s+\w+\s+AS\s+\w+", "", code))
        return {*aliases, *re.findall(r"(?m)^\s+(?:\w+\.)?([a-z_]\w*),?$", code)}

    @cached_property
    def own_choices(self) -> set[str]:
        """Policies that only metrics which declare them heed, such as ``ideal`` and ``form``; ``level`` is for all that have groups."""
        declared = (choice for file in [*self.metrics.values(), *self.curves.values()] for choice in file.choices.values())
        return {choice.name for choice in declared if not choice.is_slot} - {"level"}

    @property
    def names(self) -> list[str]:
        """The names of all metrics and curves, as users write them."""
        return [file.display_name for file in [*self.metrics.values(), *self.curves.values()]]

    def metric(self, name: str) -> SqlFile:
        """Return the file of a metric; names are case-insensitive."""
        if file := self.metrics.get(name.lower()):
            return file
        raise MetricError(f"unknown metric {name!r}{self.elsewhere(name) or suggestion(name, self.names)} 'sqlrank metrics' lists all")

    def elsewhere(self, name: str) -> str:
        """Say where a name belongs that is of another kind than what it was given as; empty for one that is of no kind."""
        plan = OLD_NAMES.get(name, name)
        if plan in self.plans:
            return f"; {plan} is a plan: plan={{'{plan}': ...}} (--plan {plan}=...)."
        if name in OPTIONS:
            return f"; {name} is an option of the call: {name}=... (--{name.replace('_', '-')})."
        if name in {*self.policies, *self.functions}:
            return f"; {name} is a policy: {name}=... (--policy {name}=...)."
        said = self.known.get("words", {}).get(re.sub(r"[-_ ]", "", name.lower()))
        return "" if said is None else f"; {said}."

    def asked(self, metric: Metric) -> SqlFile:
        """Return the file of what is asked for: ``Lift@0.1`` is a metric, ``Lift`` a curve; ``AUC@5`` has another file than ``AUC``."""
        name = metric.name.lower()
        own = self.metrics[name].params.keys() if name in self.metrics else None
        if name in self.curves and (own is None or (metric.cutoff is None and not own & dict(metric.params).keys())):
            return self.curves[name]
        return self.metrics.get(f"{name}@k" if metric.cutoff is not None else name) or self.metric(metric.name)

    def deciders(self, name: str) -> dict[str, Any]:
        """Return the policies and plans that choose the file of a relation, with what they are; policies first."""
        if name not in self._deciders:
            return {}
        return {decider: (self.policies | self.plans)[decider] for decider in self._deciders[name]}

    @cached_property
    def _deciders(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for decider, description in (self.policies | self.plans).items():
            for relation in dict.fromkeys(key for value in description["values"].values() for key in value if key not in FACTS_OF_VALUES):
                found.setdefault(relation, []).append(decider)
        return found

    def relation(self, name: str, settings: Mapping[str, Any]) -> SqlFile:
        """Return the file of a relation under the policies and plans in force; a plan that is not chosen yet is any that has a file."""
        if file := self.relations.get((name, "")):
            return self.checked(file)
        for decider, description in self.deciders(name).items():
            values = description["values"]
            usual = next(value for value, files in values.items() if decider in self.policies or name in files)
            variant = values[settings.get(decider, usual)].get(name)
            if variant is not None:
                return self.checked(self.relations[name, variant])
        raise MetricError(f"no {name!r} under these policies: ties='row_order' is for metrics of predictions only")

    def rows_of(self, role: str, settings: Mapping[str, Any]) -> SqlFile | None:
        """Return the file that says which rows of an input are read under the policies in force, None if all are."""
        for decider, description in self.deciders(role).items():
            variant = description["values"][settings.get(decider, next(iter(description["values"])))].get(role)
            if variant is not None:
                return self.checked(self.relations[role, variant])
        return None

    def function(self, slot: str, name: str) -> SqlFile:
        """Return the file of a function that fills a slot."""
        if file := self.functions[slot].get(name):
            return self.checked(file)
        known = ", ".join(sorted(self.functions[slot]))
        raise MetricError(f"unknown {slot} {name!r}{suggestion(name, self.functions[slot])} Choose from: {known}")

    def default_of(self, slot: str) -> str:
        """Return the function that fills a slot where nothing is said: the one whose file says so, or the first."""
        files = self.functions[slot]
        return next((name for name, file in files.items() if "Default" in file.facts), next(iter(files)))

    def arguments(self, slot: str) -> tuple[str, ...]:
        """Return the arguments that functions of a slot take."""
        return next(iter(self.functions[slot].values())).arguments

    def values_of(self, decider: str) -> list[str]:
        """Return the values of a policy or plan, the default first."""
        return list((self.policies | self.plans)[decider]["values"])


def _is_read(path: Path, folder: Path) -> bool:
    return path.parent != folder and path.parent.name in {"metrics", "curves", "relations", "checks"}


_kept = cache(SqlFile)
"""The files of the package, the same in every library."""
