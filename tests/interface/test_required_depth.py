"""The number of documents per list that determine a metric follows from its cut-off and the lines
``-- Depth:`` of its files.
"""

from pathlib import Path
from typing import Any

import pytest

from sqlrank.registry import metric_resolver
from sqlrank.registry.loader import registry_for
from sqlrank.run.planner import required_depth

ROLES = {"run", "qrels", "history", "items", "features", "baseline", "queries"}


def find_depth(metric: str, folder: Path | None = None, **policies: Any) -> int | None:
    library = registry_for(folder)
    (resolved,) = metric_resolver.resolve_metrics([metric], library, None, policies, ROLES)
    return required_depth(library, resolved)


@pytest.mark.parametrize(
    ("metric", "policies", "expected"),
    [
        ("nDCG@10", {}, 10),
        ("nDCG(gain=exp2, discount=zipf)@7", {}, 7),
        ("P@1..20", {}, 20),
        ("AP@5", {}, 5),
        ("RBP@4", {}, 4),
        ("PFound@4", {}, 4),
        ("CatalogCoverage@6", {}, 6),
        ("IntraListDiversity(distance=cosine)@6", {}, 6),
        ("Lost@6", {}, 6),
        ("ProviderExposure@6", {}, 6),
        # a length of the list that is read up to the cut-off
        *(
            (name, {}, 3)
            for name in ("Judged@3", "Unj@3", "P(denominator=retrieved)@3", "num_tied@3")
        ),
        # whether there is a document, or judgments alone
        *((name, {}, 1) for name in ("UserCoverage", "num_unanswered")),
        *((name, {}, 0) for name in ("num_q", "num_dropped", "num_rel", "num_no_rel")),
        # the rank of each relevant document
        *(
            (name, {}, None)
            for name in (
                "AP",
                "nDCG",
                "RR",
                "Rprec",
                "bpref",
                "G",
                "binG",
                "11pt",
                "RBPresid",
                "num_shown",
                "nDCG@cutoff",
            )
        ),
        # the length of the list, or which documents are retrieved
        *(
            (name, {}, None)
            for name in ("num_ret", "num_unjudged", "SetP", "SearchReduction", "num_rel_ret")
        ),
        *((f"nDCG(ideal={ideal})@3", {}, None) for ideal in ("retrieved", "judged_truncated")),
        # all of that is as long as lists are read
        *(
            (name, {"depth": 5}, 5)
            for name in (
                "AP",
                "Rprec",
                "bpref",
                "11pt",
                "num_ret",
                "nDCG(ideal=retrieved)@3",
                "nDCG@10",
                "nDCG@cutoff",
            )
        ),
        ("nDCG@10", {"depth": 1000}, 10),
        ("P@200000", {}, None),
    ],
)
def test_required_depth(metric, policies, expected):
    assert find_depth(metric, **policies) == expected


METRIC = (
    "-- Mine: one of a user.\n{}-- $k: integer from 1: cut-off.\nSELECT\n  list_id,\n  {} AS"
    " mine\nFROM {}\nGROUP BY list_id\n"
)
HITS = "SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END)"
RELATION = (
    "-- positions: one row per document.\n{}SELECT\n  list_id,\n  rank\nFROM ranked_documents\n"
)
GAIN = "-- gain: a gain of a user.\n{}CREATE MACRO gain(relevance) AS relevance * relevance\n"
DEPTH = "-- Depth: k.\n"


@pytest.mark.parametrize(
    ("files", "metric", "policies", "expected"),
    [
        ({"metrics/mine": METRIC.format("", HITS, "judged_documents")}, "Mine@4", {}, None),
        ({"metrics/mine": METRIC.format("", HITS, "judged_documents")}, "Mine@4", {"depth": 2}, None),
        ({"metrics/mine": METRIC.format(DEPTH, HITS, "judged_documents")}, "Mine@4", {}, 4),
        ({"metrics/mine": METRIC.format(DEPTH, HITS, "judged_documents")}, "Mine@4", {"depth": 2}, 2),
        ({"metrics/mine": METRIC.format("-- Depth: 2 (a constant).\n", HITS, "judged_documents")}, "Mine@4", {}, 2),
        ({"metrics/mine": METRIC.format("-- Depth: all.\n", HITS, "judged_documents")}, "Mine@4", {}, None),
        ({"metrics/mine": METRIC.format("-- Depth: all.\n", HITS, "judged_documents")}, "Mine@4", {"depth": 2}, 2),
        ({"metrics/mine": METRIC.format("", "SUM(relevance) + $k", "judgments")}, "Mine@4", {}, 0),
        ({"metrics/mine": METRIC.format(DEPTH, HITS, "positions"), "relations/positions": RELATION.format("")}, "Mine@4", {}, None),
        ({"metrics/mine": METRIC.format("", HITS, "positions"), "relations/positions": RELATION.format(DEPTH)}, "Mine@4", {}, None),
        ({"metrics/mine": METRIC.format(DEPTH, HITS, "positions"), "relations/positions": RELATION.format(DEPTH)}, "Mine@4", {}, 4),
        ({"functions/gain/mine": GAIN.format("")}, "nDCG(gain=mine)@4", {}, None),
        ({"functions/gain/mine": GAIN.format(DEPTH)}, "nDCG(gain=mine)@4", {}, 4),
        ({"functions/gain/mine": GAIN.format("")}, "nDCG@4", {}, 4),
    ],
)  # fmt: skip
def test_files_of_users_read_whole_lists_unless_they_declare_a_depth(
    files, metric, policies, expected, tmp_path
):
    for name, text in files.items():
        path = tmp_path / f"{name}.sql"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    assert find_depth(metric, tmp_path, **policies) == expected
