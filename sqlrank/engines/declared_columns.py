"""Declare the columns that a call reads of a source: their kinds by role, and expressions that may name others."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlrank.registry.roles import ColumnSpec

_NAME = re.compile(r'\w+|"[^"]*"|`[^`]*`')


@dataclass(frozen=True)
class DeclaredColumns:
    """The columns that a call reads of a source.

    Attributes:
        kinds: The kinds of columns by their names in lower case.
        texts: Expressions, conditions and names that may name further columns.
        reads_all: All columns are read.
    """

    kinds: Mapping[str, str]
    texts: tuple[str, ...] = ()
    reads_all: bool = False

    @classmethod
    def declare_columns(
        cls, columns: Mapping[str, ColumnSpec], mapping: Mapping[str, Any] | None = None, texts: Iterable[str | None] = ()
    ) -> DeclaredColumns:
        """Return the columns of a role, under their own names and under those that a mapping gives them.

        Its expressions may name further columns, as ``texts`` may, and what it maps to names that the role does not have.
        """
        kinds: dict[str, str] = {}
        expressions = [text for text in texts if text]
        for name, mapped in (mapping or {}).items():
            names = [mapped] if isinstance(mapped, str) else list(mapped)
            column = columns.get(name)
            expressions += [text for text in names if column is None or not _NAME.fullmatch(text)]
            if column is not None:
                kind = "number" if column.is_number or not isinstance(mapped, str) else _find_kind(column)
                kinds |= {text.strip('"`').lower(): kind for text in names}
        for name, column in columns.items():
            kinds = dict.fromkeys(filter(None, (name.lower(), column.fallback)), _find_kind(column)) | kinds
        return cls(kinds, tuple(text.lower() for text in expressions), any("*" in text for text in expressions))

    def declare_texts(self, names: Iterable[str]) -> DeclaredColumns:
        """Return the same, with columns that are read as ids are: as they are written, unless all are whole numbers."""
        return replace(self, kinds={**self.kinds, **{name.lower(): "key" for name in names}})

    def find_kind(self, name: str) -> str | None:
        """Return the kind of a column, ``any`` if further texts name it, and None if nothing reads it."""
        kind = self.kinds.get(name.lower())
        if kind in {"key", "list"}:
            return kind
        is_named = self.reads_all or any(re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", text) for text in self.texts)
        return "any" if is_named else kind


def _find_kind(column: ColumnSpec) -> str:
    """Return the kind of a column: key, number, list (of ids), numbers (a list of these) or any."""
    return "numbers" if column.id_list else "number" if column.is_number else column.type


ALL_COLUMNS = DeclaredColumns({}, reads_all=True)
"""All columns, with the types of all rows."""
