"""Find the settings that metrics read: their policies, and the functions that they and their
relations call.
"""

from functools import cache

from sqlglot import exp

from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_file import SqlFile
from sqlrank.sql_ast import find_nodes


def list_metric_settings(file: SqlFile) -> dict[str, list[str]]:
    """Return the values of every function slot and policy that a metric of rankings reads, by
    name.
    """
    names = find_settings_read([file])[file.name] - {
        "level",
        "aggregate",
        "if_undefined",
        "weight_below",
    }
    slots = {
        name: sorted(load_registry().functions[name])
        for name in sorted(names)
        if name in load_registry().functions
    }
    return slots | {
        name: load_registry().allowed_values(name)
        for name in sorted(names)
        if name in load_registry().policies
    }


def find_settings_read(files: list[SqlFile]) -> dict[str, set[str]]:
    """Return the declared policies and the called functions, also of relations, by metric."""
    calls = _find_calls()
    return {
        file.name: {
            *file.declared_settings,
            *calls[file.name],
            *(call for name in _find_relations(file) for call in calls[name]),
        }
        for file in files
    }


@cache
def _find_calls() -> dict[str, set[str]]:
    """Return the functions that each file calls, by its name."""
    calls: dict[str, set[str]] = {}
    for file in load_registry().list_files():
        calls.setdefault(file.name, set()).update(
            call.name.lower() for call in find_nodes(file.tree, exp.Anonymous)
        )
    return calls


def _find_relations(file: SqlFile) -> set[str]:
    """Return the relations that a metric reads, directly or not, under any policies."""
    found: set[str] = set()
    left = [file]
    while left:
        for name in _find_tables(left.pop()) - found - load_registry().roles.keys():
            found.add(name)
            left += load_registry().relation_files(name)
    return found


@cache
def _find_tables(file: SqlFile) -> set[str]:
    return {table.name for table in find_nodes(file.tree, exp.Table)}
