"""Queries and groups that lost most, in the metadata and all summaries of a gate: by hand, against
compare, and for either direction.
"""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.engines.duckdb_database import DuckDBDatabase
from sqlrank.output.ci_reports import format_junit, list_regressions, markdown_summary
from tests.interface.command_line import invoke_command

QRELS = {f"q{number:02}": {"a": 1} for number in range(24)}
OLD = {query: {"a": 3.0, "b": 2.0} for query in QRELS}
NEW = {
    query: (
        {"b": 3.0, **{f"x{place}": 2.5 for place in range(number)}, "a": 1.0}
        if number < 12
        else OLD[query]
    )
    for number, query in enumerate(QRELS)
}
"""The first 12 queries get worse: their document falls to rank 2 of the first one, to rank 13 of
the last.
"""


def read_regressions(result: pa.Table) -> list[dict[str, Any]]:
    return json.loads((result.schema.metadata or {}).get(b"sqlrank.regressions", b"[]"))


def test_the_ten_queries_that_lost_most():
    result = sqlrank.gate(["RR", "MAP"], run={"old": OLD, "new": NEW}, qrels=QRELS, baseline="old")
    found = read_regressions(result)
    assert [row["name"] for row in found] == [f"q{number:02}" for number in range(11, 1, -1)] * 2
    assert [row["metric"] for row in found] == ["RR"] * 10 + ["MAP"] * 10
    assert found[0] == {
        "metric": "RR", "kind": "queries", "name": "q11", "baseline": 1.0, "candidate": pytest.approx(1 / 13), "difference": pytest.approx(1 / 13 - 1),
        "documents": [["a", "b"], ["b", "x9", "x8"]],
    }  # fmt: skip
    each = sqlrank.compare(
        "RR", run={"old": OLD, "new": NEW}, qrels=QRELS, baseline="old", per_query=True
    ).to_pylist()
    worst = sorted((row["difference"], row["query_id"]) for row in each)[:10]
    assert [(row["difference"], row["name"]) for row in found[:10]] == worst


def test_a_gate_reads_each_file_once(tmp_path, monkeypatch):
    """Of text, which takes longer to read than a gate to decide; with groups, too."""
    runs = {"old": tmp_path / "old.run", "new": tmp_path / "new.run"}
    for (name, path), run in zip(runs.items(), (OLD, NEW), strict=True):
        lines = [
            f"{query} Q0 {doc} {rank} {score} {name}\n"
            for query, docs in run.items()
            for rank, (doc, score) in enumerate(docs.items())
        ]
        path.write_text("".join(lines))
    queries = pa.table({"query_id": [*QRELS], "half": ["first", "second"] * (len(QRELS) // 2)})
    read_files = []
    load_table = DuckDBDatabase._load_table  # noqa: SLF001  where text is read

    def count_files(self, role, table):
        read_files.append(Path(table.label))
        return load_table(self, role, table)

    monkeypatch.setattr(DuckDBDatabase, "_load_table", count_files)
    result = sqlrank.gate(
        "RR", run=runs, qrels=QRELS, queries=queries, by="half", baseline="old", min_units=5
    )
    assert sorted(read_files) == sorted(runs.values())
    assert read_regressions(result)[0]["documents"] == [["a", "b"], ["b", "x9", "x8"]]


def test_groups_and_lower_values():
    """All queries of the first half of the queries get slower, those of the second half faster."""
    rows = [(system, query, "first" if number < 12 else "second", 100 + (number if system == "new" and number < 12 else 0) - (system == "new" and number >= 12))
            for system in ("old", "new") for number, query in enumerate(QRELS)]  # fmt: skip
    table = pa.table(
        dict(
            zip(
                ["system", "query_id", "half", "latency"],
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )
    table = table.append_column("retrieved", pa.array([["a"]] * 48)).append_column(
        "relevant", pa.array([["a"]] * 48)
    )
    options = {
        "inputs": {"answers": table},
        "baseline": "old",
        "by": "half",
        "lower_is_better": "latency",
    }
    found = read_regressions(sqlrank.gate("Mean(latency)", **options))
    assert [row["name"] for row in found if row["kind"] == "queries"] == [
        f"q{number:02}" for number in range(11, 1, -1)
    ]
    assert [tuple(row.values()) for row in found if row["kind"] == "groups"] == [
        ("Mean(latency)", "groups", "half=first", 100, pytest.approx(105.5), pytest.approx(5.5))
    ]


def test_a_stored_baseline_has_no_column_of_documents(tmp_path):
    stored = tmp_path / "old.parquet"
    pq.write_table(sqlrank.evaluate("RR", run=OLD, qrels=QRELS, per_query=True), stored)
    summary = markdown_summary(sqlrank.gate("RR", run=NEW, qrels=QRELS, baseline=str(stored)))
    assert "| difference | candidate's first documents |\n" in summary
    assert "| RR | q11 | 1.0000 | 0.0769 | -0.9231 | b, x9, x8 |\n" in summary


def test_summaries_name_them_and_a_pass_without_losses_none():
    result = sqlrank.gate("RR", run={"old": OLD, "new": NEW}, qrels=QRELS, baseline="old")
    summary = markdown_summary(result)
    assert (
        "<details>\n<summary>Most regressed queries and groups</summary>\n\n| metric | query or"
        " group |" in summary
    )
    first = (
        "| RR | q11 | 1.0000 | 0.0769 | -0.9231 | a, b | b, x9, x8 |\n| RR | q10 | 1.0000 | 0.0833"
        " | -0.9167 | a, b | b, x9, x8 |"
    )
    assert first in summary
    line = (
        "RR, most regressed queries: q11 (1.0000 -> 0.0769), q10 (1.0000 -> 0.0833), q09 (1.0000 ->"
        " 0.0909)"
    )
    assert list_regressions(result, 3) == [line]
    # Written here
    output = ET.fromstring(format_junit(result)).findtext("system-out") or ""  # noqa: S314
    assert output.startswith(f"{line}, q08")
    same = sqlrank.gate("RR", run={"old": OLD, "new": OLD}, qrels=QRELS, baseline="old")
    assert (
        read_regressions(same),
        "<details>" in markdown_summary(same),
        list_regressions(same),
    ) == ([], False, [])


def test_the_command_prints_three(tmp_path):
    lines = [
        f"{query},{doc},{score},{system}"
        for system, run in (("old", OLD), ("new", NEW))
        for query, docs in run.items()
        for doc, score in docs.items()
    ]
    (tmp_path / "run.csv").write_text("\n".join(["query_id,doc_id,score,system", *lines]), "utf-8")
    (tmp_path / "qrels.csv").write_text(
        "\n".join(["query_id,doc_id,relevance", *(f"{query},a,1" for query in QRELS)]), "utf-8"
    )
    arguments = [
        "--run", str(tmp_path / "run.csv"), "--qrels", str(tmp_path / "qrels.csv"),
        "--baseline", "old",
    ]  # fmt: skip
    shown = invoke_command("gate", "RR", *arguments)
    assert (
        "RR, most regressed queries: q11 (1.0000 -> 0.0769), q10 (1.0000 -> 0.0833), q09 (1.0000 ->"
        " 0.0909)\n" in shown.stdout
    )
    assert shown.stdout.startswith("verdict: fail\n")
    passed = invoke_command("gate", "RR", *arguments, "--tolerance", "1")
    assert "most regressed" not in passed.stdout


def test_documents_of_a_stored_baseline_and_of_streams():
    """The documents of a baseline that was stored are not known. A stream is read once."""
    stored = sqlrank.evaluate("RR", run=OLD, qrels=QRELS, per_query=True)
    found = read_regressions(sqlrank.gate("RR", run=NEW, qrels=QRELS, baseline=stored))
    assert found[0]["documents"] == [[], ["b", "x9", "x8"]]
    rows = [
        (system, query, doc, score)
        for system, run in (("old", OLD), ("new", NEW))
        for query, docs in run.items()
        for doc, score in docs.items()
    ]
    table = pa.table(
        dict(
            zip(
                ("system", "query_id", "doc_id", "score"),
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )
    result = sqlrank.gate("RR", run=table.to_reader(), qrels=QRELS, baseline="old")
    assert read_regressions(result)[0]["documents"] == [["a", "b"], ["b", "x9", "x8"]]
