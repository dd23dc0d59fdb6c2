"""What a stored value is a value of: the SQL of its metric, and the policies that it was computed under."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.library.asked import Asked
    from sqlrank.library.file import SqlFile


def definitions(asked: Sequence[Asked]) -> dict[str, dict[str, str | dict[str, str]]]:
    """Return for every metric a digest of the SQL that it is made of, comments and layout left out, and its policies by name."""
    return {
        str(item.metric): {
            "definition": _digest(tuple(item.uses.files)),
            "policies": {name: str(value) for name, value in sorted(item.settings.items()) if value is not None},
        }
        for item in asked
    }


@lru_cache(maxsize=1024)
def _digest(files: tuple[SqlFile, ...]) -> str:
    texts = sorted(f"{file.kind}/{file.path.stem} {file.statement.sql('duckdb')}" for file in files)
    return sha256("\n".join(texts).encode()).hexdigest()[:16]
