"""The SQL files: found, read once, and looked up by name."""

from __future__ import annotations

import tomllib
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from sqlrank import contract
from sqlrank.errors import ContractError, MetricError, suggestion
from sqlrank.sqlfile import SqlFile, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.metric import Metric


class Library:
    """All metrics, relations, functions and policies, of this package and of the folders a user adds."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.metrics: dict[str, SqlFile] = {}
        self.curves: dict[str, SqlFile] = {}
        self.relations: dict[tuple[str, str], SqlFile] = {}
        self.functions: dict[str, dict[str, SqlFile]] = {}
        self.policies: dict[str, Any] = {}
        self.compat_files: dict[str, Path] = {}
        self._reads: dict[Path, set[str]] = {}
        for folder in folders:
            self._add(folder)
        self._check_references()
        for file in self.files():
            for node in file.tree.walk():
                node.meta.clear()  # where nodes stand in their file; copying that costs as much as all else

    def _add(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ContractError(f"the SQL folder {str(folder)!r} is not there; give a folder with metrics/, relations/ or functions/")
        if (policies := folder / "policies.toml").is_file():
            self.policies |= read_toml(policies)
        for path in sorted(folder.glob("compat/*.toml")):
            self.compat_files[path.stem] = path
        for path in sorted(folder.glob("relations/**/*.sql")):
            parts = path.relative_to(folder / "relations").with_suffix("").parts
            key = (parts[0], parts[1] if len(parts) > 1 else "")
            self._once(key in self.relations, path)
            self.relations[key] = load("relations", parts[0], path)
        for path in sorted(folder.glob("functions/*/*.sql")):
            slot = self.functions.setdefault(path.parent.name, {})
            self._once(path.stem in slot, path)
            slot[path.stem] = load("functions", path.parent.name, path)
        for path in sorted(folder.glob("metrics/**/*.sql")):
            file = load("metrics", path.stem, path)
            self._once(file.title_name.lower() in self.metrics, path)
            self.metrics[file.title_name.lower()] = file
        for path in sorted(folder.glob("curves/*.sql")):
            file = load("curves", path.stem, path)
            self._once(file.display_name.lower() in self.curves, path)
            self.curves[file.display_name.lower()] = file

    @staticmethod
    def _once(known: bool, path: Path) -> None:
        if known:
            raise ContractError(f"{path}:1: this name is taken; rename the file")

    def files(self) -> list[SqlFile]:
        """Return all metrics, curves, relations and functions."""
        functions = (file for slot in self.functions.values() for file in slot.values())
        return [*self.metrics.values(), *self.curves.values(), *self.relations.values(), *functions]

    def _check_references(self) -> None:
        columns: dict[str, set[str]] = {}
        for (name, _), relation in self.relations.items():
            columns.setdefault(name, set()).update(relation.tree.named_selects)
        relations = columns.keys() | contract.INPUTS
        slots = {slot: next(iter(files.values())).arguments for slot, files in self.functions.items()}
        for file in self.files():
            there = (
                (columns | {"predictions": contract.PREDICTIONS}).get(file.tree.args["from_"].this.name) if file.kind == "metrics" else None
            )
            contract.check_references(file, relations, slots, there)

    @cached_property
    def own_choices(self) -> set[str]:
        """Policies that only metrics which declare them heed, such as ``ideal`` and ``form``; every metric of predictions has a ``level``."""
        declared = (choice for file in [*self.metrics.values(), *self.curves.values()] for choice in file.choices.values())
        return {choice.name for choice in declared if not choice.is_slot} - {"level"}

    def metric(self, name: str) -> SqlFile:
        """Return the file of a metric; names are case-insensitive."""
        if file := self.metrics.get(name.lower()):
            return file
        known = [file.display_name for file in [*self.metrics.values(), *self.curves.values()]]
        raise MetricError(f"unknown metric {name!r}{suggestion(name, known)} 'sqlrank metrics' lists all")

    def asked(self, metric: Metric) -> SqlFile:
        """Return the file of what is asked for.

        ``Lift@0.1`` and ``Lift(fraction=0.1)`` are a metric, ``Lift`` is a curve; ``AUC@5`` has another file than ``AUC``.
        """
        name = metric.name.lower()
        own = self.metrics[name].params.keys() if name in self.metrics else None
        if name in self.curves and (own is None or (metric.cutoff is None and not own & dict(metric.params).keys())):
            return self.curves[name]
        return self.metrics.get(f"{name}@k" if metric.cutoff is not None else name) or self.metric(metric.name)

    def relation(self, name: str, settings: Mapping[str, Any]) -> SqlFile:
        """Return the file of a relation under the policies in force."""
        if file := self.relations.get((name, "")):
            return file
        for policy, description in self.policies.items():
            value = settings.get(policy, next(iter(description["values"])))
            variant = description["values"][value].get(name)
            if variant is not None:
                return self.relations[name, variant]
        raise MetricError(f"no {name!r} under these policies: ties='row_order' is for metrics of predictions only")

    def inputs(self, file: SqlFile) -> set[str]:
        """Return the inputs that a metric or curve reads through relations, under any policies."""
        return self.reads(file) & contract.INPUTS

    def reads(self, file: SqlFile) -> set[str]:
        """Return the relations and inputs that a metric or curve reads, itself or through others."""
        if file.path not in self._reads:
            self._reads[file.path] = set().union(*(self._reached[table.name] for table in file.tree.find_all(exp.Table)))
        return self._reads[file.path]

    @cached_property
    def _reached(self) -> dict[str, set[str]]:
        """Each relation with all that it reads, itself or through others."""
        reads: dict[str, set[str]] = {name: {name} for name in contract.INPUTS}
        for (name, _), relation in self.relations.items():
            reads.setdefault(name, set()).update(table.name for table in relation.tree.find_all(exp.Table))
        found = {}
        for name in reads:
            reached, left = {name}, [name]
            while left:
                new = reads[left.pop()] - reached
                reached |= new
                left += new
            found[name] = reached
        return found

    @cached_property
    def inner_columns(self) -> set[str]:
        """The names of all columns of relations."""
        selects = (select for file in self.relations.values() for select in file.tree.find_all(exp.Select))
        return {name for select in selects for name in select.named_selects}

    def function(self, slot: str, name: str) -> SqlFile:
        """Return the file of a function that fills a slot."""
        if file := self.functions[slot].get(name):
            return file
        known = ", ".join(sorted(self.functions[slot]))
        raise MetricError(f"unknown {slot} {name!r}{suggestion(name, self.functions[slot])} Choose from: {known}")

    def policy_values(self, policy: str) -> list[str]:
        """Return the values of a policy, the default first."""
        return list(self.policies[policy]["values"])


def sql_root() -> Path:
    """Return the folder of the SQL files: in the wheel beside this module, in a checkout at the root."""
    packaged = Path(str(files("sqlrank"))) / "sql"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[1] / "sql"


def read_select(*path: str) -> exp.Select:
    """Return the SELECT of a file that is not a metric, relation or function, such as ``checks/run.sql``."""
    return _read_select(*path).copy()


@cache
def _read_select(*path: str) -> exp.Select:
    tree = sqlglot.parse_one(sql_root().joinpath(*path).read_text("utf-8"), read="duckdb")
    if not isinstance(tree, exp.Select):
        raise ContractError(f"{'/'.join(path)}:1: one SELECT is expected")
    tree.comments = None
    return tree


def library(*extra: str) -> Library:
    """Return the library with the package's own files and those of the extra folders; they are read again when edited."""
    edits = tuple((str(path), path.stat().st_mtime_ns) for folder in extra for path in sorted(Path(folder).rglob("*.*")))
    return _library(extra, edits)


@cache
def _library(extra: tuple[str, ...], edits: tuple[tuple[str, int], ...]) -> Library:  # noqa: ARG001  edits are part of the key
    return Library((sql_root(), *(Path(folder) for folder in extra)))


def read_toml(path: Path) -> dict[str, Any]:
    """Return a file of policies or compatibility settings."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ContractError(f"{path}:1: not TOML: {error}") from None
