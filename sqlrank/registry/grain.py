"""Parse the grain of a relation, CTE or role from its annotation: the columns that identify or group rows, or the source of rows."""

from __future__ import annotations

import re
from dataclasses import dataclass

GRAIN = "Grain"
"""Annotation of the columns that identify a row: ``-- Grain: list_id, doc_id``."""

_GRAIN = re.compile(r"one row|rows of (?P<source>\w+)|(?P<many>many per )?(?P<columns>\w+(?:, \w+)*)")


@dataclass(frozen=True, slots=True)
class Grain:
    """The grain of a file's rows.

    Attributes:
        columns: The columns that identify a row, or that group rows if not ``is_unique``; none if there is only one row, or a source.
        is_unique: True if no two rows agree in ``columns``; False for rows of a source, which no columns identify.
        source: The relation or input whose rows these are, where no columns identify them.

    >>> print(read_grain("list_id, doc_id"), read_grain("one row"), read_grain("many per list_id"), read_grain("rows of run"), sep="; ")
    list_id, doc_id; one row; many per list_id; rows of run
    """

    columns: tuple[str, ...] = ()
    is_unique: bool = True
    source: str = ""

    def __str__(self) -> str:
        """Return the grain as files declare it."""
        if self.source:
            return f"rows of {self.source}"
        return ("" if self.is_unique else "many per ") + ", ".join(self.columns) if self.columns else "one row"


def read_grain(text: str) -> Grain | None:
    """Parse the grain of a comment line, None if it has another form."""
    match = _GRAIN.fullmatch(text)
    if match is None:
        return None
    columns = tuple((match["columns"] or "").split(", ")) if match["columns"] else ()
    return Grain(columns, not (match["many"] or match["source"]), match["source"] or "")
