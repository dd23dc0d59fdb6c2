"""Reports of several systems: compared within groups, and their lists side by side."""

import re
import shlex
from html import unescape
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.charts.theme import GREY, PALETTE
from tests.interface.command_line import run_command
from tests.interface.test_reports import RUNS, Page
from tests.tables import build_table


@pytest.mark.slow
def test_systems_are_compared_within_groups_where_the_baseline_is_better_first():
    # In x the new run puts the one relevant document second or third, in y first: RR falls by 1/2
    # or 2/3, and rises by 1/2; in z nothing moves.
    old: dict[str, Any] = {}
    new: dict[str, Any] = {}
    queries: dict[str, list[str]] = {"query_id": [], "country": []}
    places = {"z": ("ab", "ab"), "y": ("ba", "ab"), "x": ("abc", "bac")}
    for country, lists in places.items():
        for place in range(12):
            query = f"{country}{place}"
            theirs = "bca" if country == "x" and place % 2 else lists[1]
            for run, docs in ((old, lists[0]), (new, theirs)):
                run[query] = {doc: -float(rank) for rank, doc in enumerate(docs)}
            queries["query_id"].append(query)
            queries["country"].append(country)
    qrels = {query: {"a": 1} for query in old}
    given: dict[str, Any] = {
        "run": {"old": old, "new": new},
        "qrels": qrels,
        "queries": pa.table(queries),
    }
    page = Page(sqlrank.report("RR", by="country", **given).html)
    rows = page.rows("comparison-group-0")
    assert [(*row[:2], row[-1]) for row in rows[:2]] == [("x", "RR", "old"), ("z", "RR", "none")]
    assert [row[4] for row in rows] == ["-0.5833", "0.0000", "+0.5000"]
    assert (
        "Largest regression of a group: RR of new in country=x, 0.4167 against 1.0000 of old, 97.5%"
        " interval of the difference -0.6" in page.text
    )
    assert "The baseline is better in 1 of 3 comparisons within groups." in page.text
    assert "country=y: no interval: the same change in every query." in page.text
    assert {"comparison-groups", "comparison-group-0-sql", "comparison-group-0-chart"} <= set(
        page.ids
    )


@pytest.mark.slow
def test_three_systems_are_compared_and_drawn_within_each_of_several_groupings():
    names = {"query_id": "q1 q2 q3", "country": "fr fr de", "device": "a b a"}
    page = Page(
        sqlrank.report(
            "RR",
            run={**RUNS, "third": RUNS["old"]},
            qrels={query: {"a": 1} for query in ("q1", "q2", "q3")},
            queries=build_table(**names),
            by=[["country"], ["device"]],
            baseline="old",
        ).html
    )
    assert "Not drawn" not in page.text
    for index, name in enumerate(("country", "device")):
        heads = page.tables[f"comparison-group-{index}-rows"][0]
        assert heads[:5] == [name, "metric", "system", "old", "value"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["column of a run", "renamed column of predictions", "scores"])
def test_lists_are_next_to_each_other_however_systems_are_distinguished(kind, tmp_path):
    rows = [
        (system, query, doc, score, int(doc == "a"))
        for system, run in RUNS.items()
        for query, docs in run.items()
        for doc, score in docs.items()
    ]
    table = pa.table(
        dict(
            zip(
                ("o'model", "query_id", "doc_id", "score", "relevance"),
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )
    if kind == "column of a run":
        pq.write_table(table.drop_columns(["relevance"]), tmp_path / "runs.parquet")
        (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 a 1\nq3 0 a 2\n", "utf-8")
        files: dict[str, Any] = {
            "run": str(tmp_path / "runs.parquet"),
            "qrels": str(tmp_path / "qrels"),
        }
        html = sqlrank.report(
            "RR", **files, system="o'model", baseline="old", where="run.score > 0"
        ).html
        command = unescape(re.findall(r'data-text="([^"]*)"', html)[0])
        assert "RR of query q1 is 0.5" in run_command(*shlex.split(command)[1:])
    elif kind == "scores":
        both = table.filter(pc.equal(table["o'model"], "old")).rename_columns({"score": "old"})
        new = [
            RUNS["new"][query].get(doc, 0.5)
            for query, doc in zip(
                both["query_id"].to_pylist(), both["doc_id"].to_pylist(), strict=True
            )
        ]
        html = sqlrank.report(
            "RR",
            predictions=both.append_column("new", pa.array(new)),
            columns={"score": ["old", "new"]},
        ).html
    else:
        html = sqlrank.report(
            "RR", predictions=table, columns={"arm": "o'model"}, system="arm", baseline="old"
        ).html
    page = Page(html)
    lists = [
        [row[1] for row in rows[1:]]
        for name, rows in page.tables.items()
        if not name.endswith("-rows")
    ]
    assert lists[:2] == [["a", "b"], ["b", "a"]]
    assert lists[2:4] == [["b", "c", "a"], ["a", "b"] if kind != "scores" else ["a", "b", "c"]]
    assert page.rows("queries-lost") == [["q1", "1.0000", "0.5000", "-0.5000"]]


@pytest.mark.slow
def test_systems_have_their_colours_and_a_difference_of_which_no_value_is_better_is_not_chance():
    scores = [0.02 * place for place in range(1, 41)]
    table = pa.table(
        {
            "label": [place % 2 for place in range(40)],
            "old": scores,
            "new": [score + 0.1 for score in scores],
        }
    )
    found = sqlrank.report(
        ["CalibrationRatio", "Brier"], predictions=table, columns={"score": ["old", "new"]}
    )
    page = Page(found.html)
    rows = {row[0]: row[-1] for row in page.rows("comparison-table")}
    assert rows["CalibrationRatio"] == "differs"
    assert "differs significantly between old and new: neither higher nor lower" in page.text
    drawn = found.html.partition('aria-label="Metrics of each system')[2].partition("</svg>")[0]
    dots = [
        colour for colour in re.findall(r'fill="(#\w+)"', drawn) if colour in {GREY, PALETTE[0]}
    ]
    # The first of two charts, in the order of the caller: the baseline is grey, as in every chart.
    assert dots == [GREY, PALETTE[0]]
