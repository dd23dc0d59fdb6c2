"""Read the roles of inputs, their columns and keys, from ``roles.toml``."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from sqlrank.errors import ContractError, did_you_mean, join_sentences, join_words, short_repr
from sqlrank.registry.sql_file import Grain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


COLUMN_KINDS = ("key", "integer", "number", "double", "list", "any")
"""Column kinds.

- key: identifies rows
- integer: a rank or cut-off
- number: numeric, cast to double only if its type is unknown
- double: always cast to double
- list: a list of keys or numbers
- any: any type
"""


SYSTEM_COLUMN = "system"
"""Name of the column that identifies one of several runs."""

UNIT_COLUMN = "unit_id"
"""Name of the column that identifies the resampling unit of a prediction."""

INPUTS_BY_KEYWORD = ("run", "qrels", "predictions", "queries")
"""Inputs that have their own keyword argument."""


_LIST_KEYS = ("unique", "assembled_from", "joined_from")
_ROLE_KEYS = (
    "description",
    "columns",
    *_LIST_KEYS,
    "duplicate_message",
    "list_relation",
    "query_column",
    "unit_column",
    "main_role",
)


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A column of a role.

    Attributes:
        name: Column name.
        type: One of ``COLUMN_KINDS``.
        description: Description.
        optional: The column may be missing.
        nullable: The column may be NULL.
        default: Value of a missing column.
        is_measure: The column is a measured value, so rows are never grouped by it.
        is_ordered: Rows are sorted or grouped by the column.
        references: Entity that a key references, such as ``record_id``; keys with equal references
            are compared.
        fallback: Column that is read if metrics need this one and the table has none of its name.
        id_list: List of the ids that the numbers of this list belong to.
        is_measured: The column is the user's own, which a metric measures.
        is_flag: The column is measured as a flag, so it has to be 0 or 1.
        repeats_units: A unit has a row for each value, such as a prediction for each level of a
            quantile, so that rows are not independent.
    """

    name: str
    type: str
    description: str
    optional: bool = False
    nullable: bool = False
    default: float | None = None
    is_measure: bool = False
    is_ordered: bool = False
    references: str = ""
    fallback: str = ""
    id_list: str = ""
    is_measured: bool = False
    is_flag: bool = False
    repeats_units: bool = False

    @property
    def is_number(self) -> bool:
        """True if the column is numeric."""
        return self.type in {"integer", "number", "double"}

    @property
    def is_required(self) -> bool:
        """True if every table of the role has the column."""
        return not self.optional and self.default is None

    def with_measure(self, is_flag: bool, counts_missing: bool, *, drops_nulls: bool) -> ColumnSpec:
        """Return the column as one more metric measures it: values are counted whatever their type
        is, and others are numbers.
        """
        return replace(
            self,
            type="double" if self.is_measured and not counts_missing else self.type,
            nullable=drops_nulls or counts_missing or self.nullable,
            is_flag=is_flag or self.is_flag,
        )


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of input table.

    Attributes:
        name: Name of the role.
        description: Description, including the meaning of a row.
        columns: The columns by name.
        unique: Columns that identify a row.
        list_relation: Relation with one row per list, for roles of ranked lists.
        query_column: Column that identifies lists, for other roles.
        duplicate_message: Message about duplicate rows.
        assembled_from: Roles from which ``relations/<role>/assembled.sql`` composes this one, if
            these are passed instead.
        joined_from: Roles of which ``relations/<role>/joined.sql`` joins rows of this one, if all
            are passed instead.
        main_role: Role that a companion input accompanies: the one that metrics reading both
            evaluate.
        unit_column: Column of the resampling unit, if the role has one.
    """

    name: str
    description: str
    columns: Mapping[str, ColumnSpec]
    unique: tuple[str, ...] = ()
    list_relation: str | None = None
    query_column: str | None = None
    duplicate_message: str = ""
    assembled_from: tuple[str, ...] = ()
    joined_from: tuple[str, ...] = ()
    main_role: str | None = None
    unit_column: str | None = None

    @property
    def row_grain(self) -> Grain:
        """The grain of the rows that relations read: the unique columns without optional ones, or
        none but the rows themselves.
        """
        unique = tuple(name for name in self.unique if name not in self.optional_unique_columns)
        return Grain(unique) if unique else Grain(is_unique=False, source=self.name)

    @property
    def optional_unique_columns(self) -> list[str]:
        """The optional unique columns: rows that differ in these alone are merged, except for
        relations that read them with duplicates.
        """
        return [name for name in self.unique if self.columns[name].optional]

    @property
    def number_columns(self) -> dict[str, str]:
        """The columns of lists of numbers, by those of the ids that they belong to."""
        return {column.id_list: column.name for column in self.columns.values() if column.id_list}

    @property
    def measure_columns(self) -> list[str]:
        """The columns of measured values, by which rows are never grouped."""
        return [column.name for column in self.columns.values() if column.is_measure]


def read_roles(path: Path, declared: Mapping[str, Any]) -> dict[str, Role]:
    """Parse the roles of a file.

    Raises:
        ContractError: A declaration is invalid.
    """
    roles = {}
    for name, entry in declared.items():
        unknown = sorted(entry.keys() - {*_ROLE_KEYS})
        if unknown or not isinstance(entry.get("columns"), dict):
            problem = f"has {unknown[0]!r}" if unknown else "has no [columns]"
            raise ContractError(
                f"{path}:1: role {name!r} {problem}. A role has description, columns, and may have"
                f" {', '.join(_ROLE_KEYS[2:-1])} and {_ROLE_KEYS[-1]}"
            )
        for key in _LIST_KEYS:
            elements = entry.get(key, [])
            if not isinstance(elements, list) or not {*map(type, elements)} <= {str}:
                raise ContractError(
                    f"{path}:1: {key} of role {name!r} is {short_repr(entry[key])}. It must be a"
                    " list of texts"
                )
        for key in {*entry} - {"columns", *_LIST_KEYS}:
            if not isinstance(entry[key], str):
                raise ContractError(
                    f"{path}:1: {key} of role {name!r} is {short_repr(entry[key])}. It must be a"
                    " text"
                )
        columns = {
            column: _parse_column(path, name, column, column_entry)
            for column, column_entry in entry["columns"].items()
        }
        for column in [
            *entry.get("unique", ()),
            *(entry[key] for key in ("query_column", "unit_column") if key in entry),
        ]:
            if column not in columns:
                raise ContractError(
                    join_sentences(
                        f"{path}:1: role {name!r} has no column {column!r}",
                        did_you_mean(column, columns),
                    )
                )
        settings: dict[str, Any] = {
            key: tuple(value) if key in _LIST_KEYS else value for key, value in entry.items()
        }
        roles[name] = Role(name, **{"description": "", **settings, "columns": columns})
    return roles


def _parse_column(path: Path, role: str, name: str, entry: Any) -> ColumnSpec:
    if not isinstance(entry, dict) or entry.get("type") not in COLUMN_KINDS:
        raise ContractError(
            f"{path}:1: {role}.{name} needs a type, one of: {', '.join(COLUMN_KINDS)}"
        )
    try:
        return ColumnSpec(
            name,
            entry["type"],
            **{"description": "", **{key: value for key, value in entry.items() if key != "type"}},
        )
    except TypeError:
        raise ContractError(
            f"{path}:1: {role}.{name} has more than"
            f" {join_words(field.name for field in fields(ColumnSpec)[1:])}"
        ) from None
