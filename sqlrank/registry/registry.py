"""Hold the SQL files of the package and users, with roles, policies and plans, and look them up by
name.
"""

from __future__ import annotations

import os
import re
from functools import cache, cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sqlrank.errors import (
    ContractError,
    MetricError,
    check_choice,
    did_you_mean,
    join_sentences,
    quote_excerpt,
    to_sentence,
)
from sqlrank.registry.metric import normalize_name
from sqlrank.registry.roles import INPUTS_BY_KEYWORD, Role, read_roles
from sqlrank.registry.sql_file import SqlFile
from sqlrank.registry.sql_folder import (
    FUNCTION_DEFAULTS,
    find_files,
    read_choices,
    read_names,
    read_tables,
    sql_root,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from sqlrank.registry.metric import Metric


REQUEST_OPTIONS = ("by", "check", "columns", "compat", "connection", "per_query", "where")
"""Names of request options.

Messages hint at the right argument if a user passes one as a policy or parameter.
"""

_FILE_ORDER = attrgetter("parts")
"""Key of paths: to compare paths themselves takes a tenth of the time of a registry."""


class Registry:
    """All metrics, relations, functions, roles, policies and plans of the package and the user's
    folders. ``formulas`` are the functions that statements insert, which callers do not choose.

    Files of the user are parsed at once, so that every call reports their errors. ``check`` raises
    ``ContractError`` for files that violate the contract.
    """

    def __init__(
        self, folders: tuple[Path, ...], check: Callable[[SqlFile, Registry], None]
    ) -> None:
        self._check = check
        self.user_files: set[SqlFile] = set()
        self.metrics: dict[str, SqlFile] = {}
        self.curves: dict[str, SqlFile] = {}
        self.relations: dict[tuple[str, str], SqlFile] = {}
        self.functions: dict[str, dict[str, SqlFile]] = {}
        self.formulas: set[str] = set()
        self.roles: dict[str, Role] = {}
        self.policies: dict[str, Any] = {}
        self.plans: dict[str, Any] = {}
        self._default_functions: dict[str, str] = {}
        self.checks: dict[str, Path] = {}
        self.compat_files: dict[str, Path] = {}
        self._checked: set[SqlFile] = set()
        self._folders = folders
        for folder in folders:
            self._add_folder(folder)
        _ = self.synonyms if len(folders) > 1 else None
        for file in self.list_files() if len(folders) > 1 else ():
            if not file.path.is_relative_to(folders[0]):
                self.user_files.add(file)
                self.validate_file(file)

    def _add_folder(self, folder: Path) -> None:
        if not os.path.isdir(folder):  # noqa: PTH112  returns False for paths that are too long
            raise ContractError(
                f"the SQL folder {str(folder)!r} is not there. Give a folder with metrics/,"
                " relations/ or functions/"
            )
        unread = (
            []
            if folder == sql_root()
            else [
                path
                for path in [*folder.glob("*.sql"), *folder.glob("*/*.sql")]
                if not _is_read(path, folder)
            ]
        )
        if unread:
            raise ContractError(
                f"{min(unread)}:1: this file is not read. Move it to metrics/, curves/, relations/"
                " or checks/, or to functions/ with a folder of the slot that it fills, such as"
                " functions/gain/"
            )
        for name, declarations in (("policies", self.policies), ("plans", self.plans)):
            for path in find_files(folder, f"{name}.toml"):
                declarations.update(read_choices(path))
        for path in find_files(folder, "roles.toml"):
            self.roles |= read_roles(path, read_tables(path))
        self.compat_files |= {path.stem: path for path in find_files(folder, "compat/*.toml")}
        self.checks |= {path.stem: path for path in find_files(folder, "checks/*.sql")}
        load = _packaged_file if folder == sql_root() else SqlFile
        self._add_relations(folder, load)
        self._add_functions(folder, load)
        for path in sorted(folder.glob("metrics/**/*.sql"), key=_FILE_ORDER):
            file = load("metrics", path.stem, path)
            # The first line of a curve says what a row is. Its file may have a suffix, next to that
            # of the metric with its name.
            if ": one row per group" in file.title:
                self._add_curve(load("curves", path.stem.removesuffix("_curve"), path))
                continue
            if (existing := self.metrics.get(file.full_name.lower())) is not None:
                raise _taken_name(path, file.full_name, existing)
            self.metrics[file.full_name.lower()] = file
        for path in sorted(folder.glob("curves/*.sql")):
            self._add_curve(load("curves", path.stem, path))

    def _add_relations(self, folder: Path, load: Callable[..., SqlFile]) -> None:
        # Relations may stand in folders of families, which are those of metrics; other folders hold
        # the files of one relation.
        families = {path.name for path in folder.glob("metrics/*/")}
        for path in sorted(folder.glob("relations/**/*.sql"), key=_FILE_ORDER):
            names = path.relative_to(folder / "relations").with_suffix("").parts
            name, variant = (*names[len(names) > 1 and names[0] in families :], "")[:2]
            if (name, variant) in self.relations or (name in self.roles and not variant):
                raise _taken_name(path, name, self.relations.get((name, variant)))
            self.relations[name, variant] = load("relations", name, path)

    def _add_functions(self, folder: Path, load: Callable[..., SqlFile]) -> None:
        for path in sorted(folder.glob("functions/**/*.sql"), key=_FILE_ORDER):
            slot = self.functions.setdefault(path.parent.name, {})
            if path.parent.parent.name == "formulas":
                self.formulas.add(path.parent.name)
            if path.stem in slot:
                raise _taken_name(path, path.stem, slot[path.stem])
            slot[path.stem] = load("functions", path.parent.name, path)
        self._default_functions |= self.policies.pop(FUNCTION_DEFAULTS, {})
        for slot_name, default in self._default_functions.items():
            if default not in self.functions.get(slot_name, {}):
                raise ContractError(
                    f"{folder / 'policies.toml'}:1: {slot_name} of [{FUNCTION_DEFAULTS}] has no"
                    f" function {default!r}. Write one of functions/{slot_name}/"
                )

    def _add_curve(self, file: SqlFile) -> None:
        name = file.display_name
        if (existing := self.curves.get(name.lower())) is not None:
            raise _taken_name(file.path, name, existing)
        self.curves[name.lower()] = file

    def list_files(self) -> list[SqlFile]:
        """Return all metric, curve, relation and function files."""
        functions = (file for slot in self.functions.values() for file in slot.values())
        return [*self.metric_files, *self.relations.values(), *functions]

    def validate_file(self, file: SqlFile) -> SqlFile:
        """Return a file after checking it against the contract once.

        Raises:
            ContractError: The file violates the contract, or names something that does not exist.
        """
        if file not in self._checked:
            self._checked.add(file)
            try:
                self._check(file, self)
            except ContractError:
                self._checked.discard(file)
                raise
        return file

    def may_be_infinite(self, file: SqlFile, files: Iterable[SqlFile]) -> bool:
        """Return True if a metric made of these files can be infinite or NaN.

        This holds for files of users, and for metrics of unbounded scores or measured columns. All
        others are quotients of sums of weights, gains and values between 0 and 1, which the row
        checks keep bounded.
        """
        return (
            "finite scores" in file.required_row_checks
            or (file.measures_column and file.bounds is not None and file.bounds.is_unbounded)
            or any(dependency in self.user_files for dependency in files)
        )

    @cached_property
    def synonyms(self) -> dict[str, dict[str, Any]]:
        """Names of metrics and arguments in other tools, by section of ``names.toml``; read on
        demand.
        """
        sections: dict[str, dict[str, Any]] = {}
        for folder in self._folders:
            for path in find_files(folder, "names.toml"):
                for section, names in read_names(path).items():
                    sections[section] = sections.get(section, {}) | names
        aliases = sections.get("aliases", {})
        return sections | {"aliases": {normalize_name(name): aliases[name] for name in aliases}}

    def column_names(self, column: str) -> set[str]:
        """Return the normalized names of a column of inputs: its own, and those in other tools."""
        return {
            normalize_name(name) for name in (column, *self.synonyms["columns"].get(column, ()))
        }

    def relation_files(self, name: str) -> list[SqlFile]:
        """Return the variants (files) of a relation."""
        return self._variants_by_relation.get(name, [])

    @cached_property
    def _variants_by_relation(self) -> dict[str, list[SqlFile]]:
        variants: dict[str, list[SqlFile]] = {}
        for (name, _), file in self.relations.items():
            variants.setdefault(name, []).append(file)
        return variants

    @cached_property
    def relation_names(self) -> set[str]:
        """The names of all relations."""
        return {name for name, _ in self.relations}

    @cached_property
    def relation_columns(self) -> set[str]:
        """The column names of all relations, found in their texts.

        Parsing all files would be slow.
        """
        code = "\n".join(
            re.sub(r"(?m)^--.*$", "", file.text)
            for file in [*self.relations.values(), *self.curves.values()]
        )
        aliases = re.findall(
            r"\bAS\s+([a-z_]\w*)", re.sub(r"\b(FROM|JOIN)\s+\w+\s+AS\s+\w+", "", code)
        )
        elements = {
            name
            for names in re.findall(r"\bORDINALITY AS \w+\((.*?)\)", code)
            for name in names.split(", ")
        }
        return {*aliases, *elements, *re.findall(r"(?m)^\s+(?:\w+\.)?([a-z_]\w*),?$", code)}

    @cached_property
    def metric_policies(self) -> set[str]:
        """Policies that only affect metrics that declare them, such as ``ideal`` and
        ``precision_at``, found in their texts.

        ``level`` is excluded, because it affects every metric of groups.
        """
        texts = "\n".join([file.text for file in self.metric_files])
        return {*re.findall(r"(?m)^-- ?(\w+): default \w+: ", texts)} - {"level"}

    @property
    def metric_files(self) -> list[SqlFile]:
        """The files of all metrics and curves."""
        return [*self.metrics.values(), *self.curves.values()]

    @property
    def metric_names(self) -> list[str]:
        """The names of all metrics and curves, as users write them."""
        return [file.display_name for file in self.metric_files]

    def find_metric(self, name: str) -> SqlFile:
        """Return the file of a metric; names are case-insensitive."""
        if file := self.metrics.get(name.lower()):
            return file
        raise MetricError(
            join_sentences(
                f"unknown metric {quote_excerpt(name)}",
                self.misplaced_name_hint(name) or did_you_mean(name, self.metric_names),
                "sqlrank.metrics (sqlrank metrics) lists all",
            )
        )

    def misplaced_name_hint(self, name: str) -> str:
        """Return a sentence on the right argument for a misplaced name, else an empty text."""
        if name in self.plans:
            return f"{name} is a plan: plan={{'{name}': ...}}"
        if name in REQUEST_OPTIONS:
            return f"{name} is an option of the call: give {name}=... instead"
        if name in {*self.policies, *self.functions}:
            return f"{name} is a policy: give {name}=... instead"
        if name in self.roles and name not in INPUTS_BY_KEYWORD:
            return f"{name} is an input: inputs={{{name!r}: ...}}"
        advice = self.synonyms["hints"].get(re.sub(r"[-_ ]", "", name.lower()))
        return "" if advice is None else to_sentence(advice)

    def is_plan_supported(self, name: str, value: str, dialect: str) -> bool:
        """Return True if the files of a plan's value are for the engine of a dialect."""
        return dialect in self.plans[name]["values"][value].get("engines", [dialect])

    def file_for(self, metric: Metric, measured_role: str = "") -> SqlFile:
        """Return the file of a requested metric or curve.

        ``Lift@0.1`` is a metric and ``Lift`` a curve; ``AUC@5`` has another file than ``AUC``, and
        ``Mean`` one for columns of predictions.
        """
        name = metric.name.lower()
        if file := self.metrics.get(f"{name} of {measured_role}"):
            return file
        parameter_names = self.metrics[name].params.keys() if name in self.metrics else None
        if name in self.curves and (
            parameter_names is None
            or (metric.cutoff is None and not parameter_names & dict(metric.params).keys())
        ):
            return self.curves[name]
        return self.metrics.get(
            f"{name}@k" if metric.cutoff is not None else name
        ) or self.find_metric(metric.name)

    @cached_property
    def selectors(self) -> Mapping[str, dict[str, Any]]:
        """The policies and plans that select a variant of a relation, or a function, by its name.

        Each maps names to definitions, policies first.
        """
        selectors: dict[str, dict[str, Any]] = {}
        for selector, description in (self.policies | self.plans).items():
            for value in description["values"].values():
                for relation in value.get("files", ()):
                    selectors.setdefault(relation, {})[selector] = description
        return selectors

    def find_relation(self, name: str, settings: Mapping[str, Any]) -> SqlFile:
        """Return the variant of a relation under the policies and plans in force, or the file of
        the relation that they name in its place.

        A plan that is not chosen yet is taken at its first value that names a file.
        """
        if file := self.relations.get((name, "")):
            return self.validate_file(file)
        selectors = self.selectors.get(name, {})
        for selector, description in selectors.items():
            values = description["values"]
            possible = [value for value in values if name in values[value].get("files", ())]
            default = next(iter(values)) if selector in self.policies else possible[0]
            variant = values[settings.get(selector, default)].get("files", {}).get(name)
            if variant is not None:
                file = self.relations.get((name, variant))
                return (
                    self.find_relation(variant, settings)
                    if file is None
                    else self.validate_file(file)
                )
        selector, description = next(iter(selectors.items()))
        values = description["values"]
        choices = ", ".join(value for value in values if name in values[value].get("files", ()))
        raise MetricError(
            f"{selector}={settings.get(selector)!r} is not for this metric. Choose from: {choices}"
        )

    def row_filter(self, role: str, settings: Mapping[str, Any]) -> SqlFile | None:
        """Return the file that filters an input's rows under the policies, if any."""
        for selector, description in self.selectors.get(role, {}).items():
            values = description["values"]
            variant = values[settings.get(selector, next(iter(values)))].get("files", {}).get(role)
            if variant is not None:
                return self.validate_file(self.relations[role, variant])
        return None

    def policy_checks(self, read_settings: Iterable[str], settings: Mapping[str, Any]) -> list[str]:
        """Return the queries in ``checks/`` that must find nothing under the values of these
        policies.
        """
        return [
            entry["validate"]
            for entry in self._chosen_values(read_settings, settings)
            if "validate" in entry
        ]

    def left_out_counts(
        self, read_settings: Iterable[str], settings: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the metrics that count the units which the values of these policies leave out or
        fill, with the note on them.
        """
        return {
            name: note
            for entry in self._chosen_values(read_settings, settings)
            for name, note in entry.get("counts", {}).items()
        }

    def number_columns(
        self, read_settings: Iterable[str], settings: Mapping[str, Any]
    ) -> list[str]:
        """Return the columns that have to be numeric under the values of these policies."""
        return [
            entry["number"]
            for entry in self._chosen_values(read_settings, settings)
            if "number" in entry
        ]

    def _chosen_values(
        self, read_settings: Iterable[str], settings: Mapping[str, Any]
    ) -> list[Mapping[str, Any]]:
        """Return the declared values of policies that are in force."""
        read_names = {*read_settings}
        read = [
            (name, policy["values"]) for name, policy in self.policies.items() if name in read_names
        ]
        return [values.get(settings.get(name, next(iter(values))), {}) for name, values in read]

    def find_function(self, slot: str, name: str) -> SqlFile:
        """Return the file of a function that fills a slot."""
        check_choice(slot, name, sorted(self.functions[slot]))
        return self.validate_file(self.functions[slot][name])

    def choose_function(self, slot: str, settings: Mapping[str, Any]) -> Any:
        """Return the function of a slot, or a map in its place, under the settings in force: that
        of a setting of its name, of a policy, or the default.
        """
        chosen = [settings.get(slot)]
        for selector, description in self.selectors.get(slot, {}).items():
            values = description["values"]
            value = values[settings.get(selector, next(iter(values)))]
            chosen.append(value.get("files", {}).get(slot))
        return next(filter(None, chosen), self.default_function(slot))

    def default_function(self, slot: str) -> str:
        """Return the default function of a slot: the one in ``policies.toml``, or the first."""
        files = self.functions[slot]
        name = self._default_functions.get(slot)
        return name if name in files else next(iter(files))

    def function_arguments(self, slot: str) -> tuple[str, ...]:
        """Return the arguments of the functions that fill a slot."""
        return next(iter(self.functions[slot].values())).function_arguments

    def allowed_values(self, selector: str) -> list[str]:
        """Return the values of a policy or plan, the default first."""
        return list((self.policies | self.plans)[selector]["values"])


def _taken_name(path: Path, name: str, existing: SqlFile | None) -> ContractError:
    """Return the error of a file whose name another has, or an input."""
    owner = "an input" if existing is None else "/".join(existing.path.parts[-2:])
    return ContractError(f"{path}:1: the name {name} is taken by {owner}. Choose another")


def _is_read(path: Path, folder: Path) -> bool:
    return path.parent != folder and path.parent.name in {
        "metrics",
        "curves",
        "relations",
        "checks",
    }


_packaged_file = cache(SqlFile)
"""The parsed files of the package, shared by all registries."""
