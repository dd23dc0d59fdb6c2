"""Roles: what can be given, with the columns that each kind of input has, as declared in ``roles.toml``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.errors import ContractError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TYPES = ("key", "whole", "number", "double", "any")
"""What a column can be: what tells rows apart, a place, a number that is left as it is if that is known, one that is made a double, or anything."""


SYSTEM = "system"
"""The column that tells several runs apart."""

UNIT = "unit_id"
"""The column that says which predictions were drawn together."""


_SAID = ("about", "columns", "unique", "twice", "lists", "list", "unit", "joins", "beside")


@dataclass(frozen=True, slots=True)
class RoleColumn:
    """A column of a role: its type, whether it may be missing, what it is then, and whether it is a value of a row.

    ``of`` is what a key names, such as ``record_id``: keys that name the same are compared with each other.
    """

    name: str
    type: str
    about: str
    optional: bool = False
    default: float | None = None
    measure: bool = False
    of: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it is computed with."""
        return self.type in {"whole", "number", "double"}


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of input: what a row is, its columns by name, and the columns of which no two rows have the same.

    ``lists`` is the relation that has a row per list, for the roles of rankings; ``list_column`` the column that tells lists apart in others,
    ``unit_column`` that which says what was drawn on its own, if it can be said.
    ``twice`` says what is wrong where rows are not unique. ``joins`` are the roles that it is made of, by ``relations/<role>/joined.sql``,
    where these are given instead; ``beside`` is the role that metrics are of which read this one, too.
    """

    name: str
    about: str
    columns: Mapping[str, RoleColumn]
    unique: tuple[str, ...] = ()
    lists: str | None = None
    list_column: str | None = None
    twice: str = ""
    joins: tuple[str, ...] = ()
    beside: str | None = None
    unit_column: str | None = None

    @property
    def measures(self) -> list[str]:
        """The columns that rows are never grouped by."""
        return [column.name for column in self.columns.values() if column.measure]


def read_roles(path: Path, declared: Mapping[str, Any]) -> dict[str, Role]:
    """Return the roles of a file; raise ``ContractError`` for what cannot be one."""
    roles = {}
    for name, said in declared.items():
        unknown = [key for key in said if key not in _SAID]
        if unknown or not isinstance(said.get("columns"), dict):
            problem = f"has {unknown[0]!r}" if unknown else "has no [columns]"
            raise ContractError(
                f"{path}:1: role {name!r} {problem}; a role has about, columns, and may have {', '.join(_SAID[2:-1])} and {_SAID[-1]}"
            )
        columns = {column: _column(path, name, column, given) for column, given in said["columns"].items()}
        for column in [*said.get("unique", ()), *(said[key] for key in ("list", "unit") if key in said)]:
            if column not in columns:
                raise ContractError(f"{path}:1: role {name!r} has no column {column!r}{suggestion(column, columns)}")
        own = {"unique": tuple(said.get("unique", ())), "joins": tuple(said.get("joins", ())), "twice": said.get("twice", "")}
        lists = {"lists": said.get("lists"), "list_column": said.get("list"), "beside": said.get("beside"), "unit_column": said.get("unit")}
        roles[name] = Role(name, said.get("about", ""), columns, **own, **lists)
    return roles


def _column(path: Path, role: str, name: str, given: Any) -> RoleColumn:
    if not isinstance(given, dict) or given.get("type") not in TYPES:
        raise ContractError(f"{path}:1: {role}.{name} needs a type, one of: {', '.join(TYPES)}")
    try:
        return RoleColumn(name, given["type"], **{"about": "", **{key: value for key, value in given.items() if key != "type"}})
    except TypeError:
        raise ContractError(f"{path}:1: {role}.{name} has more than type, about, optional, default, measure and of") from None
