"""Metrics at a cut-off per query, such as a viewport: numbers by hand, and those of fixed
cut-offs.
"""

import re

import duckdb
import pytest

import sqlrank
from sqlrank import InputError
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_input_role
from tests.engines.data import TABLES
from tests.interface.command_line import run_command
from tests.tables import build_table

RUN = build_table(query_id="1 1 1 2 2 2 3", doc_id="a b c a b c a", score="3.0 2 1 3 2 1 1")
QRELS = build_table(query_id="1 1 2 2 3", doc_id="a c b c z", relevance="1 1 1 1 1")
QUERIES = build_table(query_id="1 2 3", cutoff="3 1 2")
SOURCES = {"run": RUN, "qrels": QRELS, "queries": QUERIES}


def test_by_hand():
    """Of a b c the first query wants a and c among three, the second b and c of one that is shown,
    the third what was not found.
    """
    found = sqlrank.evaluate(
        ["P@cutoff", "R@cutoff", "RR@cutoff", "AP@cutoff", "P@2"], **SOURCES, per_query=True
    ).to_pydict()
    assert found == {
        "query_id": [1, 2, 3],
        "P@cutoff": [pytest.approx(2 / 3), 0, 0],
        "R@cutoff": [1, 0, 0],
        "RR@cutoff": [1, 0, 0],
        "AP@cutoff": [pytest.approx((1 + 2 / 3) / 2), 0, 0],
        "P@2": [0.5, 0.5, 0],
    }
    assert sqlrank.evaluate("P@cutoff", **SOURCES).to_pylist() == [
        {"P@cutoff": pytest.approx(2 / 9)}
    ]


def test_cutoffs_that_a_relation_reads():
    """The shared documents of two lists are counted in a step, down to the cut-off of each query:
    a b c and c b a share all of three and none of one, and one document is half of two.
    """
    baseline = build_table(
        query_id="1 1 1 2 2 2 3", doc_id="c b a c b a a", score="3.0 2 1 3 2 1 1"
    )
    found = sqlrank.evaluate(
        "Overlap@cutoff",
        run=RUN,
        queries=QUERIES,
        inputs={"baseline": baseline},
        per_query=True,
    )
    assert found["Overlap@cutoff"].to_pylist() == [1, 0, 0.5]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{"plan": {"rank_method": "count"}}, {"by": "system", "plan": {"list_key": "input"}}],
    ids=str,
)
def test_as_at_fixed_cutoffs(options):
    """Every metric that has a value per query; each query alone at its cut-off gives the same."""
    files = [
        file
        for file in load_registry().metrics.values()
        if file.cutoff_parameter and file.cutoff_parameter.type == "integer"
    ]
    files = [
        file for file in files if file.path.stem not in {"alpha_dcg", "err_ia", "rbo", "rbo_min"}
    ]  # of cut-offs to 10,000, which those of queries may exceed
    names = [
        file.display_name
        for file in files
        if find_input_role(load_registry(), file) == "run" and file.grain == "list"
    ]
    with duckdb.connect() as connection:
        for name in (
            "run",
            "qrels",
            "queries",
            "history",
            "items",
            "features",
            "baseline",
            "clicks",
        ):
            connection.execute(f"CREATE TABLE {name} AS {TABLES[name]}")
        connection.execute("ALTER TABLE qrels ADD COLUMN subtopic VARCHAR")
        connection.execute("UPDATE qrels SET subtopic = 's' || (relevance + 1) % 2")
        connection.execute("UPDATE queries SET cutoff = (cutoff + 1) // 2")
        inputs = {name: name for name in ("history", "items", "features", "baseline", "clicks")}
        given = {
            "run": "run",
            "qrels": "qrels",
            "inputs": inputs,
            "connection": connection,
            "per_query": True,
            **options,
        }
        found = sqlrank.evaluate(
            [f"{name}@cutoff" for name in names], **given, queries="queries"
        ).to_pylist()
        cutoffs = dict(connection.sql("SELECT query_id, cutoff FROM queries").fetchall())
        fixed = {}
        for cutoff in set(cutoffs.values()):
            for row in sqlrank.evaluate(
                [f"{name}@{cutoff}" for name in names], **given, queries="queries"
            ).to_pylist():
                fixed[row.get("system"), row["query_id"], cutoff] = row
    assert len(names) == 40
    assert len(found) > 8
    for row in found:
        cutoff = cutoffs[row["query_id"]]
        for name in names:
            expected = fixed[row.get("system"), row["query_id"], cutoff][f"{name}@{cutoff}"]
            assert row[f"{name}@cutoff"] == (
                None if expected is None else pytest.approx(expected, rel=1e-12, abs=1e-12)
            ), name


def test_a_column_of_another_name_and_weights():
    queries = build_table(query_id="1 2 3", viewport="3 1 2", weight="3.0 1.0 0.0")
    found = sqlrank.evaluate(
        "P@cutoff",
        run=RUN,
        qrels=QRELS,
        queries=queries,
        columns={"cutoff": "viewport"},
        confidence=0.9,
    )
    assert found["P@cutoff"].to_pylist() == [pytest.approx(2 / 3 * 3 / 4)]


def test_systems_compared():
    """Two runs at the same cut-offs: differences below them do not count."""
    other = build_table(query_id="1 1 1 2 2 2 3", doc_id="a c b a c b a", score="3.0 2 1 3 2 1 1")
    found = sqlrank.compare(
        "P@cutoff", run={"old": RUN, "new": other}, qrels=QRELS, queries=QUERIES, baseline="old"
    ).to_pylist()
    assert [(row["metric"], row["difference"]) for row in found] == [("P@cutoff", 0)]


def test_it_reads_back():
    assert str(sqlrank.parse("ndcg(gain=exp2)@ cutoff")) == "nDCG(gain=exp2)@cutoff"
    assert sqlrank.parse("nDCG@cutoff").sql_column("ndcg") == "ndcg_at_cutoff"
    assert sqlrank.parse("nDCG") @ "cutoff" == sqlrank.parse("nDCG@cutoff")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("cutoffs", "expected"),
    [
        ([3, None, 2], "1 row: cutoff is NULL. Give the query one, or leave it out"),
        ([3, 0, -1], "2 rows: cutoff is not an integer from 1"),
        ([3.5, 1.0, float("nan")], "2 rows: cutoff is not an integer from 1"),
    ],
)
def test_cutoffs_that_are_refused(cutoffs, expected):
    queries = build_table(query_id="1 2 3", cutoff=cutoffs)
    with pytest.raises(InputError, match=re.escape(expected)):
        sqlrank.evaluate("P@cutoff", run=RUN, qrels=QRELS, queries=queries)
    assert sqlrank.evaluate("P@2", run=RUN, qrels=QRELS, queries=queries).num_rows == 1


def test_on_the_command_line(tmp_path):
    for name, table in {"run": RUN, "qrels": QRELS, "queries": QUERIES}.items():
        duckdb.from_arrow(table).write_csv(str(tmp_path / f"{name}.csv"))
    files = [
        part
        for name in ("run", "qrels", "queries")
        for part in (f"--{name}", str(tmp_path / f"{name}.csv"))
    ]
    assert run_command("evaluate", "P@cutoff", *files, "--format", "csv").splitlines() == [
        "P@cutoff",
        "0.2222222222222222",
    ]
