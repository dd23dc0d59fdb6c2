"""LEFT JOINs of files find one row: ON compares the columns that identify a row of a relation, or
of a subquery.
"""

import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.reference_checks import find_multiplying_joins
from sqlrank.registry.sql_file import SqlFile


@pytest.mark.parametrize(
    ("joined", "is_lookup"),
    [
        (
            (
                "(SELECT list_id, MAX(rank) AS last FROM ranked_documents GROUP BY list_id) AS o ON"
                " o.list_id = j.list_id"
            ),
            True,
        ),
        (
            (
                "(SELECT list_id, doc_id, MAX(rank) AS last FROM ranked_documents GROUP BY list_id,"
                " doc_id) AS o ON o.list_id = j.list_id"
            ),
            False,
        ),
        (
            (
                "(SELECT list_id AS other, rank AS last FROM ranked_lists) AS o ON o.other ="
                " j.list_id AND o.last > 1"
            ),
            True,
        ),
        (
            (
                "(SELECT r.list_id, 1 AS last FROM ranked_lists AS r JOIN judgments AS k ON"
                " k.list_id = r.list_id) AS o ON o.list_id = j.list_id"
            ),
            False,
        ),
        ("(SELECT MAX(rank) AS last FROM ranked_documents) AS o ON o.last > j.relevance", True),
        (
            (
                "(SELECT rank AS last FROM ranked_documents WHERE rank = 1) AS o ON o.last >"
                " j.relevance"
            ),
            False,
        ),
        ("ranked_documents AS o ON o.list_id = j.list_id OR o.doc_id = j.doc_id", False),
    ],
)
def test_a_left_join_finds_one_row(joined, is_lookup, tmp_path):
    (tmp_path / "relations").mkdir()
    file = tmp_path / "relations" / "near.sql"
    file.write_text(
        f"-- near: one row per judgment.\nSELECT j.list_id FROM judgments AS j LEFT JOIN {joined}"
    )
    violations = list(find_multiplying_joins(SqlFile("relations", "near", file), load_registry()))
    assert len(violations) == (0 if is_lookup else 1)


@pytest.mark.parametrize(
    ("query", "is_complete"),
    [
        ("FROM judgments AS j JOIN qrels ON qrels.doc_id = j.doc_id", False),
        (
            (
                "FROM judgments AS j JOIN qrels ON qrels.doc_id = j.doc_id AND qrels.group_id ="
                " j.group_id"
            ),
            True,
        ),
        (
            (
                "FROM judgments AS j LEFT JOIN qrels ON qrels.query_id = j.query_id AND"
                " qrels.doc_id = j.doc_id"
            ),
            False,
        ),
        ("FROM judgments AS j JOIN ranked_documents AS r ON r.doc_id = j.doc_id", False),
        (
            (
                "FROM judgments AS j JOIN ranked_documents AS r ON r.doc_id = j.doc_id AND"
                " r.list_id = j.list_id"
            ),
            True,
        ),
        (
            (
                "FROM judgments AS j JOIN (SELECT doc_id, group_id FROM run) AS r ON r.doc_id ="
                " j.doc_id"
            ),
            False,
        ),
        ("FROM judgments AS j CROSS JOIN (SELECT COUNT(*) AS num FROM run) AS r", True),
        ("FROM judgments AS j JOIN queries ON queries.query_id = j.query_id", True),
        ("FROM candidate_pairs AS j JOIN records ON records.record_id = j.left_id", False),
        (
            (
                "FROM (SELECT left_id FROM candidate_pairs) AS j JOIN records ON records.record_id"
                " = j.left_id"
            ),
            True,
        ),
    ],
)
def test_joins_compare_groups(query, is_complete, tmp_path):
    (tmp_path / "relations").mkdir()
    file = tmp_path / "relations" / "near.sql"
    file.write_text(f"-- near: one row per judgment.\nSELECT 1 AS one {query}")
    violations = [
        text
        for _, text in find_multiplying_joins(SqlFile("relations", "near", file), load_registry())
        if "are of groups" in text
    ]
    assert len(violations) == (0 if is_complete else 1)


def test_a_relation_that_joins_rows_of_other_groups_is_refused(tmp_path):
    """Without the rule the lists of each system find the documents of all."""
    for folder in ("relations", "metrics"):
        (tmp_path / folder).mkdir()
    head = "-- near: one row per query and document of the run.\n-- Grain: many per list_id\n"
    relation = (
        "SELECT ranked_lists.list_id, run.score FROM ranked_lists JOIN run ON run.query_id ="
        " ranked_lists.query_id"
    )
    (tmp_path / "metrics" / "Near.sql").write_text(
        "-- Near: sum of scores.\n-- Use when: near.\n-- Range: -inf to inf.\n-- Unit: 1.\n--"
        " Source: sum.\n-- Undefined: an empty list.\nSELECT list_id, SUM(score) AS near FROM near"
        " GROUP BY list_id"
    )
    run = [
        {"system": system, "query_id": "q", "doc_id": "d", "score": score}
        for system, score in (("a", 1.0), ("b", 2.0))
    ]
    call = {"run": run, "qrels": {"q": {"d": 1}}, "by": "system", "sql_dir": tmp_path}
    (tmp_path / "relations" / "near.sql").write_text(head + relation)
    with pytest.raises(
        sqlrank.SqlrankError,
        match=r"rows of run are of groups, as those of ranked_lists. Compare run.group_id in ON",
    ):
        sqlrank.evaluate("Near", **call)
    (tmp_path / "relations" / "near.sql").write_text(
        f"{head}{relation} AND run.group_id = ranked_lists.group_id"
    )
    assert [row["Near"] for row in sqlrank.evaluate("Near", **call).to_pylist()] == [1.0, 2.0]
