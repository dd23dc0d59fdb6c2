"""LEFT JOINs of files find one row: ON compares the columns that identify a row of a relation, or of a subquery."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlrank.registry.loader import load_registry
from sqlrank.registry.lookup_joins import find_multiplying_joins
from sqlrank.registry.sql_file import SqlFile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("joined", "is_lookup"),
    [
        ("(SELECT list_id, MAX(rank) AS last FROM ranked_documents GROUP BY list_id) AS o ON o.list_id = j.list_id", True),
        ("(SELECT list_id, doc_id, MAX(rank) AS last FROM ranked_documents GROUP BY list_id, doc_id) AS o ON o.list_id = j.list_id", False),
        ("(SELECT list_id AS other, rank AS last FROM ranked_lists) AS o ON o.other = j.list_id AND o.last > 1", True),
        (
            "(SELECT r.list_id, 1 AS last FROM ranked_lists AS r JOIN judgments AS k ON k.list_id = r.list_id) AS o ON o.list_id = j.list_id",
            False,
        ),
        ("(SELECT MAX(rank) AS last FROM ranked_documents) AS o ON o.last > j.relevance", True),
        ("(SELECT rank AS last FROM ranked_documents WHERE rank = 1) AS o ON o.last > j.relevance", False),
        ("ranked_documents AS o ON o.list_id = j.list_id OR o.doc_id = j.doc_id", False),
    ],
)
def test_a_left_join_finds_one_row(joined: str, is_lookup: bool, tmp_path: Path) -> None:
    (tmp_path / "relations").mkdir()
    file = tmp_path / "relations" / "near.sql"
    file.write_text(f"-- near: one row per judgment.\nSELECT j.list_id FROM judgments AS j LEFT JOIN {joined}")
    violations = list(find_multiplying_joins(SqlFile("relations", "near", file), load_registry()))
    assert len(violations) == (0 if is_lookup else 1)
