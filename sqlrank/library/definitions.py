"""What a stored value is a value of: the SQL of its metric, and the policies that it was computed under."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.library.asked import Asked
    from sqlrank.library.file import SqlFile
    from sqlrank.library.library import Library


def definitions(asked: Sequence[Asked], library: Library) -> dict[str, dict[str, str | dict[str, str]]]:
    """Return for every metric a digest of the SQL that it is made of, comments and layout left out, and its policies by name."""
    return {str(item.metric): {"definition": _digest(tuple(item.uses.files)), "policies": policies_of(item, library)} for item in asked}


def policies_of(item: Asked, library: Library) -> dict[str, str]:
    """Return what a value of a query depends on but its data: parameters and policies with their defaults, and no plans."""
    names = sorted(item.uses.settings - library.plans.keys() - {"aggregate"})
    defaults = {name: param.default for file in item.uses.files for name, param in file.params.items()}
    found = {}
    for name in names:
        value = item.settings.get(name, defaults.get(name))
        if value is None and name in library.policies:
            value = library.values_of(name)[0]
        if value is None and name in library.functions:
            value = library.default_of(name)
        found[name] = str(int(value) if isinstance(value, float) and value.is_integer() else value)
    return found


@lru_cache(maxsize=1024)
def _digest(files: tuple[SqlFile, ...]) -> str:
    return sha256("\n".join(sorted(map(_text, files))).encode()).hexdigest()[:16]


@lru_cache(maxsize=4096)
def _text(file: SqlFile) -> str:
    return f"{file.kind}/{file.path.stem} {file.statement.sql('duckdb')}"
