"""The public interface as a file, docs/public-interface.toml, and its changes that the changelog
does not name.

``python -m website.public_interface`` writes the file. It describes the last release, or before the
first one the interface to be released.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from enum import Enum
from itertools import chain
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, get_args

import sqlrank
from sqlrank import result_columns
from sqlrank.cli.commands import EXITS
from sqlrank.cli.options import make_parameter
from sqlrank.explanations.explanation import Explanation
from sqlrank.registry.loader import load_registry
from sqlrank.reports.report import Report
from website.command_line import load_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlrank.registry.registry import Registry
    from sqlrank.registry.sql_file import SqlFile

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "public-interface.toml"
CHANGELOG = ROOT / "CHANGELOG.md"

_HEAD = """\
# The public interface of sqlrank {version}, which docs/stability.md promises to keep.
# `python -m website.public_interface` writes this file. The first value of a policy or function is its default.
"""  # noqa: E501
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_RELEASE = re.compile(r"^## \[(\d+\.\d+\.\d+)\]", re.MULTILINE)
_UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## \[|\Z)", re.DOTALL | re.MULTILINE)
_NAME_IN_CODE = re.compile(r"[\w@-][\w@.-]*")


def describe_interface() -> dict[str, dict[str, str | list[str]]]:
    """Return the entries of each section: parameters of functions and metrics, options of commands,
    columns and values.
    """
    library = load_registry()
    names = [name for name in sqlrank.__all__ if not name.startswith("_")]
    sections: dict[str, dict[str, str | list[str]]] = {
        f"function {name}": _describe_signature(getattr(sqlrank, name))
        for name in names
        if name.islower()
    }
    classes = [
        *(getattr(sqlrank, name) for name in names if not name.islower()),
        Explanation,
        Report,
    ]
    sections |= {f"class {item.__name__}": _describe_class(item) for item in classes}
    sections |= {
        f"command {name}": _describe_command(command) for name, command in load_commands().items()
    }
    sections["exit statuses"] = {
        name: str(status) for name, status in {**EXITS, "error": 2, "interrupted": 130}.items()
    }
    sections |= {
        f"input {role.name}": {
            name: _describe_column(column) for name, column in role.columns.items()
        }
        for role in library.roles.values()
    }
    sections["metric columns"] = {
        f".{name}": "double" for name in (*result_columns.BOUNDS, "ci_low", "ci_high", "se")
    }
    sections["metric columns"] |= {f".{name}": "int64" for name in ("n_units", "n_buckets")}
    sections |= {
        f"{name.removesuffix('_SCHEMA').lower()} columns".replace("_", " "): dict(schema)
        for name, schema in vars(result_columns).items()
        if name.endswith("_SCHEMA")
    }
    sections["metrics columns"] = {
        field.name: str(field.type) for field in sqlrank.metrics().schema
    }
    for kind, files in (("metric", library.metrics), ("curve", library.curves)):
        sorted_files = sorted(files.values(), key=lambda file: file.full_name.lower())
        sections |= {f"{kind} {file.full_name}": _describe_metric(file) for file in sorted_files}
    return sections | _describe_settings(library)


def _describe_signature(function: Any) -> dict[str, str | list[str]]:
    """Return each parameter with its type and default, and the type of the result.

    >>> _describe_signature(sqlrank.parse)
    {'text': 'str', 'sql_dir': 'str | Path | None = None', 'return': 'Metric'}
    """
    signature = inspect.signature(function)
    entries: dict[str, str | list[str]] = {}
    for name, parameter in signature.parameters.items():
        if name != "self":
            default = (
                "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
            )
            is_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            entries[str(parameter).partition(":")[0] if name == "policies" else name] = (
                f"{parameter.annotation}{default}{', by keyword' if is_keyword else ''}"
            )
    return entries | {"return": str(signature.return_annotation)}


def _describe_class(item: type) -> dict[str, str | list[str]]:
    """Return the base of an error, or the fields, properties and methods of a class."""
    if issubclass(item, Exception):
        return {
            "bases": [
                base.__name__ for base in item.__mro__[1:] if base not in {object, BaseException}
            ]
        }
    fields = {
        name: str(annotation)
        for name, annotation in inspect.get_annotations(item).items()
        if not name.startswith("_")
    }
    methods: dict[str, str | list[str]] = {}
    for name, member in vars(item).items():
        is_public = not name.startswith("_") and name not in fields
        if is_public and isinstance(member, property):
            methods[name] = (
                str(inspect.signature(member.fget).return_annotation) if member.fget else ""
            )
        elif is_public and inspect.isfunction(member):
            methods[f"{name}()"] = (
                str(inspect.signature(member))
                .replace("'", "")
                .replace("(self, ", "(")
                .replace("(self)", "()")
            )
    return {**fields, **methods}


def _describe_command(command: Any) -> dict[str, str | list[str]]:
    """Return each argument and option with its type, and its default if there is one."""
    types = {
        name: make_parameter(option).annotation.__origin__
        for name, option in command.declared.items()
    }
    entries: dict[str, str | list[str]] = {}
    for param in command.params:
        if param.name in types and not param.hidden:
            is_plain = param.default in (None, False, [], ()) or callable(param.default)
            facts = [
                _describe_type(types[param.name]),
                *(
                    ["required"]
                    if param.required
                    else []
                    if is_plain
                    else [f"default {param.default}"]
                ),
            ]
            is_argument = param.param_type_name == "argument"
            entries[
                (
                    param.name.upper()
                    if is_argument
                    else ", ".join([*param.opts, *param.secondary_opts])
                )
            ] = ", ".join(facts)
    return entries


def _describe_type(hint: Any) -> str:
    """Return a type of an option; None, the value without the option, is left out.

    >>> _describe_type(list[str] | None), _describe_type(Path), _describe_type(bool)
    ('list[str]', 'Path', 'bool')
    """
    inner_hint = (
        next((item for item in get_args(hint) if item is not NoneType), hint)
        if isinstance(hint, UnionType)
        else hint
    )
    if isinstance(inner_hint, type) and issubclass(inner_hint, Enum):
        return " | ".join(str(choice.value) for choice in inner_hint)
    return (
        inner_hint.__name__
        if isinstance(inner_hint, type) and not get_args(inner_hint)
        else str(inner_hint)
    )


def _describe_column(column: Any) -> str:
    facts = [column.type, *(name for name in ("optional", "nullable") if getattr(column, name))]
    return ", ".join(facts + ([] if column.default is None else [f"default {column.default:g}"]))


def _describe_metric(file: SqlFile) -> dict[str, str | list[str]]:
    """Return the parameters and settings of a metric with their defaults, and the columns of a
    curve.
    """
    entries: dict[str, str | list[str]] = {
        name: str(param) + ("" if param.default is None else f", default {param.default_text}")
        for name, param in file.params.items()
    }
    entries |= {
        f"{setting.name}{'()' * setting.is_slot}": setting.default
        for setting in file.declared_settings.values()
    }
    return entries | ({"columns": file.tree.named_selects[1:]} if file.kind == "curves" else {})


def _describe_settings(library: Registry) -> dict[str, dict[str, str | list[str]]]:
    slots = {
        slot: dict.fromkeys([library.default_function(slot), *sorted(files)])
        for slot, files in library.functions.items()
        if slot not in library.formulas
    }
    return {
        "policies": {name: library.allowed_values(name) for name in library.policies},
        "functions of metrics": {slot: [*names] for slot, names in sorted(slots.items())},
        "compatibility modes": dict.fromkeys(sorted(library.compat_files), ""),
        "other names of metrics": {
            name: str(target) for name, target in library.synonyms["aliases"].items()
        },
    }


def format_interface(sections: Mapping[str, Mapping[str, str | list[str]]], version: str) -> str:
    """Return the text of the file.

    >>> format_interface({"policies": {"ties": ["doc_desc", "worst"]}}, "1.0.0").splitlines()[-2:]
    ['[policies]', 'ties = ["doc_desc", "worst"]']
    """
    lines = [_HEAD.format(version=version)]
    for section, entries in sections.items():
        lines += [
            f"[{_format_key(section)}]",
            *(f"{_format_key(name)} = {_format_value(value)}" for name, value in entries.items()),
            "",
        ]
    return "\n".join(lines)


def _format_key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _format_value(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_interface() -> dict[str, dict[str, str | list[str]]]:
    """Return the sections of the file."""
    return tomllib.loads(PAGE.read_text("utf-8"))


def released_version(changelog: str) -> str:
    r"""Return the version of the last release, empty before the first.

    >>> released_version("## [Unreleased]\n\n## [1.1.0] - 2027-01-01\n\n## [1.0.0]\n")
    '1.1.0'
    """
    release = _RELEASE.search(changelog)
    return release[1] if release else ""


def find_unnamed_changes(
    before: Mapping[str, Mapping[str, str | list[str]]],
    after: Mapping[str, Mapping[str, str | list[str]]],
    changelog: str,
) -> list[str]:
    r"""Return the changes of the interface that the changelog does not name in code under
    Unreleased.

    Additions count after the first release only.

    >>> before, after = {"metric AP": {"k": "integer"}}, {"metric AP": {}, "metric RR": {}}
    >>> find_unnamed_changes(before, after, "## [Unreleased]\n")
    ['metric AP, k: removed']
    >>> find_unnamed_changes(
    ...     before, after, "## [Unreleased]\n- `k` of `AP` is gone.\n\n## [1.0.0]\n"
    ... )
    ['metric RR: added']
    """
    unreleased = _UNRELEASED.search(changelog)
    codes = re.findall(r"`([^`]+)`", unreleased[1] if unreleased else "")
    named = {*chain.from_iterable(_NAME_IN_CODE.findall(code) for code in codes)}
    old, new = dict(_flatten_sections(before)), dict(_flatten_sections(after))
    changes = {
        path: "removed" if path not in new else "changed"
        for path in old
        if old[path] != new.get(path)
    }
    if released_version(changelog):
        changes |= dict.fromkeys((path for path in new if path not in old), "added")
    section_names = {path for path in changes if len(path) == 1}
    return [
        f"{', '.join(path)}: {change}"
        for path, change in changes.items()
        if (path in section_names or path[:1] not in section_names)
        and not named
        & {*_NAME_IN_CODE.findall(path[-1] if path[1:] else path[0].partition(" ")[2])}
    ]


def _flatten_sections(
    sections: Mapping[str, Mapping[str, str | list[str]]],
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path of each section, entry and value with its text; of a list, the first value is
    the default.
    """
    for section, entries in sections.items():
        yield (section,), ""
        for name, value in entries.items():
            yield (section, name), "" if isinstance(value, list) else value
            if isinstance(value, list):
                yield from (
                    ((section, name, item), "default" * (item == value[0])) for item in value
                )


def write_interface() -> None:
    """Write the file for the present version."""
    PAGE.write_text(format_interface(describe_interface(), sqlrank.__version__), "utf-8")


if __name__ == "__main__":
    write_interface()
