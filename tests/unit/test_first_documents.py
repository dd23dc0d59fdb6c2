"""The number of documents per list that a metric reads is derived from the trees of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import sqlrank
from sqlrank import MetricError
from sqlrank.compiler.topk_analysis import required_depth
from sqlrank.registry import metric_resolver
from sqlrank.registry.loader import registry_for

if TYPE_CHECKING:
    from pathlib import Path

ROLES = {"run", "qrels", "history", "items", "features", "baseline", "queries"}


def firsts(metric: str, folder: Path | None = None, **policies: Any) -> int | None:
    library = registry_for(folder)
    (asked,) = metric_resolver.resolve_metrics([metric], library, None, policies, ROLES)
    return required_depth(library, asked, {"rank_method": "top_k"})


@pytest.mark.parametrize(
    ("metric", "policies", "expected"),
    [
        ("nDCG@10", {}, 10),
        ("nDCG(gain=exp2, discount=zipf)@7", {}, 7),
        ("P@1..20", {}, 20),
        ("AP@5", {}, 5),
        ("RBP@4", {}, 4),
        ("PFound@4", {}, 4),
        ("num_tied@3", {"ties": "worst"}, 3),
        ("CatalogCoverage@6", {}, 6),
        ("IntraListDiversity(distance=cosine)@6", {}, 6),
        ("Lost@6", {}, 6),
        ("UserCoverage", {}, 1),  # whether there is a document
        ("num_q", {}, 0),
        ("num_dropped", {}, 0),
        # the rank of each relevant document
        *((name, {}, None) for name in ("AP", "nDCG", "RR", "Rprec", "bpref", "G", "binG", "11pt", "RBPresid", "num_shown")),
        # the length of the list
        *(
            (name, {}, None)
            for name in ("num_ret", "num_unjudged", "SetP", "Judged@3", "Unj@3", "SearchReduction", "P(denominator=retrieved)@3")
        ),
        # which documents are retrieved
        *((name, {}, None) for name in ("num_rel_ret", "nDCG(ideal=retrieved)@3", "nDCG(ideal=judged_truncated)@3")),
        # all of that is as long as lists are read
        *(
            (name, {"depth": 5}, 5)
            for name in ("AP", "Rprec", "bpref", "11pt", "num_ret", "Judged@3", "nDCG(ideal=retrieved)@3", "nDCG@10")
        ),
        ("nDCG@10", {"depth": 1000}, 10),
        # orders that are not that of scores alone
        *(("nDCG@10", {"ties": ties}, None) for ties in ("rank", "worst", "best", "expected")),
        ("nDCG@10", {"ties": "doc_asc"}, 10),
        ("AP(precision_at=all_ranks)@3", {}, None),
        ("RHR(normalization=ideal)@3", {}, None),
        ("P@200000", {}, None),
    ],
)
def test_how_many_documents_a_metric_looks_at(metric: str, policies: dict[str, Any], expected: int | None) -> None:
    assert firsts(metric, **policies) == expected


HEAD = "-- $k: integer from 1: cut-off.\nSELECT list_id, "


@pytest.mark.parametrize(
    ("expression", "relation", "expected"),
    [
        ("SUM(CASE WHEN rank <= $k THEN relevance ELSE 0 END)", "judged_documents", 4),
        ("SUM(CASE WHEN rank < $k AND relevance > 1 THEN 1 ELSE 0 END)", "judged_documents", 4),
        ("SUM(CASE WHEN rank IS NULL OR rank > $k THEN 0 ELSE 1 / rank END)", "judged_documents", 4),
        ("SUM(CASE WHEN rank > $k THEN 1 ELSE 0 END)", "judged_documents", None),  # NULL is not more than k
        ("SUM(CASE WHEN rank <= $k THEN 1 WHEN rank IS NULL THEN 2 ELSE 0 END)", "judged_documents", None),
        ("SUM(CASE WHEN rank <= $k OR relevance > 1 THEN 1 ELSE 0 END)", "judged_documents", 4),
        ("SUM(CASE WHEN rank <= $k OR list_length > 3 THEN 1 ELSE 0 END)", "judged_documents", None),
        ("SUM(CASE WHEN rank <= $k * MAX_GRADE THEN 1 ELSE 0 END)".replace("MAX_GRADE", "relevance"), "judged_documents", None),
        ("SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END) / NULLIF(COUNT(rank), 0)", "judged_documents", None),
        ("SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END) / COUNT(*)", "judged_documents", 4),
        ("SUM(CASE WHEN rank <= $k THEN list_length ELSE 0 END)", "judged_documents", None),
        ("SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END)", "ranked_documents", 4),
        ("AVG(CASE WHEN rank <= $k THEN 1 / rank END)", "ranked_documents", 4),
        ("AVG(CASE WHEN rank <= $k THEN 1 / rank ELSE 0 END)", "ranked_documents", None),  # a mean over all documents
        ("MAX(CASE WHEN rank <= $k THEN -1 ELSE 0 END)", "ranked_documents", None),
        ("COUNT(*) + $k", "ranked_documents", None),
        ("MIN(CASE WHEN rank <= $k THEN rank END)", "ranked_documents", 4),
        ("MAX(CASE WHEN list_length > $k THEN $k ELSE list_length END)", "list_lengths", 4),
        ("MAX(CASE WHEN list_length > 2 THEN $k ELSE list_length END)", "list_lengths", None),
    ],
)
def test_metrics_of_users_are_read_as_well(expression: str, relation: str, expected: int | None, tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    never = "-- Nonzero: COUNT(*).\n" if "/ COUNT(*)" in expression else ""
    (tmp_path / "metrics" / "mine.sql").write_text(
        f"-- Mine: one of a user.\n{never}{HEAD}{expression} AS mine FROM {relation} GROUP BY list_id"
    )
    assert firsts("Mine@4", tmp_path) == expected


RELATIONS = {
    "SELECT list_id, DENSE_RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS rank FROM retrieved_documents": None,
    "SELECT list_id, RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS rank FROM retrieved_documents": 4,
    "SELECT list_id, ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id) AS rank FROM retrieved_documents": 4,
    "SELECT list_id, ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score) AS rank FROM retrieved_documents": None,
    "SELECT list_id, ROW_NUMBER() OVER (PARTITION BY list_id, doc_id ORDER BY score DESC) AS rank FROM retrieved_documents": None,
    "SELECT list_id, ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC) AS rank FROM retrieved_documents WHERE score > 1": None,
    "SELECT r.list_id, ROW_NUMBER() OVER (PARTITION BY r.list_id ORDER BY r.score DESC) AS rank FROM retrieved_documents AS r JOIN judgments AS j "
    "ON j.list_id = r.list_id AND j.doc_id = r.doc_id": None,
    "SELECT r.list_id, r.rank FROM ranked_documents AS r JOIN judgments AS j ON j.list_id = r.list_id AND j.doc_id = r.doc_id": None,
    "SELECT r.list_id, r.rank FROM ranked_documents AS r JOIN ranked_lists AS l ON l.list_id = r.list_id": 4,
    "SELECT r.list_id, r.rank FROM ranked_documents AS r LEFT JOIN judgments AS j ON j.list_id = r.list_id AND j.doc_id = r.doc_id": 4,
    "SELECT r.list_id, r.rank FROM ranked_documents AS r JOIN ranked_documents AS o ON o.list_id = r.list_id AND o.doc_id = r.doc_id": None,
    "SELECT list_id, LEAD(rank) OVER (PARTITION BY list_id ORDER BY rank) AS rank FROM ranked_documents": None,
    "SELECT list_id, rank FROM ranked_documents WHERE rank <= 9": 4,
    "SELECT list_id, rank FROM ranked_documents WHERE doc_id > 'a'": None,
    "SELECT list_id, rank FROM judged_documents WHERE relevance > 1": 4,
    "SELECT j.list_id, r.rank FROM judgments AS j LEFT JOIN ranked_documents AS r ON r.list_id = j.list_id AND r.rank = j.relevance": None,
    "SELECT list_id, rank FROM judged_documents WHERE list_id IN (SELECT list_id FROM list_lengths)": None,
    "SELECT list_id, rank FROM ranked_documents WHERE rank > 2": None,
    "SELECT list_id, MIN(rank) AS rank FROM ranked_documents GROUP BY list_id": 4,
    "SELECT list_id, MAX(rank) AS rank FROM ranked_documents GROUP BY list_id": None,
}


@pytest.mark.parametrize("relation", RELATIONS)
def test_relations_of_users_are_read_as_well(relation: str, tmp_path: Path) -> None:
    for folder, name, text in (
        ("relations", "places", f"-- places: one row per place.\n{relation}"),
        (
            "metrics",
            "mine",
            f"-- Mine: one of a user.\n{HEAD}SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END) AS mine FROM places GROUP BY list_id",
        ),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.sql").write_text(text)
    assert firsts("Mine@4", tmp_path) == RELATIONS[relation]


@pytest.mark.parametrize(
    ("metric", "options", "problem"),
    [
        ("AP", {}, "rank_method='top_k' is for metrics of the first documents alone, not AP; give rank_method='sort', or leave it out"),
        ("nDCG@3", {"ties": "worst"}, "rank_method='top_k' is for ties='doc_desc', not 'worst'; give rank_method='sort', or leave it out"),
        ("nDCG@3", {"dialect": "spark"}, "rank_method='top_k' is for DuckDB; choose sort, count or array for spark"),
    ],
)
def test_what_the_first_documents_do_not_say_is_refused(metric: str, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(MetricError) as error:
        sqlrank.sql(metric, run="run", qrels="qrels", plan={"rank_method": "top_k"}, **options)
    assert problem in str(error.value)
