"""Judgments by spans of evidence: by hand, against judgments worked out span by span, in two
chunkings, and for rows that are refused.
"""

import json
import random
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.interface.command_line import run_command
from tests.tables import build_table, read_columns

Spans = list[tuple[Any, ...]]

EVIDENCE = [("q1", "a", 100, 200), ("q1", "a", 350, 400), ("q2", "b", 0, 50), ("q3", "a", 900, 950)]
CHUNKS = [
    ("c1", "a", 0, 150),
    ("c2", "a", 150, 300),
    ("c3", "a", 300, 450),
    ("c4", "b", 0, 100),
    ("c5", "b", 50, 90),
]
RUN = read_columns(q1="c4 c3 c1", q2="c5 c4", q3="c1")
METRICS = ["RR", "R(rel=0.5)@5", "StRecall@5", "nDCG", "AP", "num_rel", "bpref"]


def make_inputs(evidence: Spans = EVIDENCE, chunks: Spans = CHUNKS) -> dict[str, Any]:
    def make_table(name: str, rows: Spans) -> pa.Table:
        names = [name, "source", "span_start", "span_end", "grade"]
        return pa.table(
            {
                column: list(values)
                for column, values in zip(names, zip(*rows, strict=True), strict=False)
            }
        )

    return {"evidence": make_table("query_id", evidence), "chunks": make_table("doc_id", chunks)}


def judge(evidence: Spans, chunks: Spans) -> pa.Table:
    """Return judgments of one chunk and span after the other: the characters that they share, over
    those of the span.
    """
    rows = []
    for query, source, start, end, *grade in evidence:
        shared = {
            chunk: len({*range(start, end)} & {*range(*limits)})
            for chunk, other, *limits in chunks
            if other == source
        }
        found = {chunk: count / (end - start) for chunk, count in shared.items() if count}
        rows += [
            (query, chunk, (grade or [1])[0] * share, f"{source} {start} {end}")
            for chunk, share in (found or {f"no {start} {end}": 1}).items()
        ]
    return pa.table(
        dict(
            zip(
                ("query_id", "doc_id", "relevance", "subtopic"),
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )


def test_a_case_by_hand():
    """Half of the first span is in c1, half in c2, and all of the second in c3; c5 begins where the
    span of q2 ends.
    """
    rows = sqlrank.evaluate(
        ["RR", "R(rel=0.5)@5", "R@5", "StRecall@5", "CG"],
        run=RUN,
        inputs=make_inputs(),
        per_query=True,
    ).to_pylist()
    assert rows == [
        {
            "query_id": "q1",
            "RR": 1 / 2,
            "R(rel=0.5)@5": 2 / 3,
            "R@5": 1,
            "StRecall@5": 1,
            "CG": 1.5,
        },
        {"query_id": "q2", "RR": 1 / 2, "R(rel=0.5)@5": 1, "R@5": 1, "StRecall@5": 1, "CG": 1},
        {"query_id": "q3", "RR": 0, "R(rel=0.5)@5": 0, "R@5": 0, "StRecall@5": 0, "CG": 0},
    ]


@pytest.mark.slow
def test_spans_in_no_chunk_are_counted_and_not_found():
    result = sqlrank.evaluate(["RR", "num_rel"], run=RUN, inputs=make_inputs())
    note = "spans of evidence are in no chunk, and count as documents that no list finds"
    assert result.schema.metadata[b"sqlrank.notes"].decode() == f"1 of 4 {note}"
    assert result.to_pylist() == [
        {"RR": pytest.approx(1 / 3), "num_rel": 3}
    ]  # c3, c4, and the span of q3
    inputs = make_inputs()
    gone = sqlrank.evaluate(
        ["GoldInCorpus", "num_stale_gold"], run=RUN, inputs={**inputs, "items": inputs["chunks"]}
    )
    assert gone.to_pylist() == [{"GoldInCorpus": pytest.approx(2 / 3), "num_stale_gold": 1}]
    systems = sqlrank.evaluate(
        "RR",
        run={"x": RUN, "y": RUN},
        inputs={**inputs, "chunks": {"x": inputs["chunks"], "y": inputs["chunks"][:3]}},
    )
    assert (
        f"some {note} (system=y: 2 of 4, system=x: 1 of 4)"
        in systems.schema.metadata[b"sqlrank.notes"].decode()
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_judgments_are_those_worked_out_by_spans(seed):
    rng = random.Random(seed)  # noqa: S311
    chunks = [
        (f"{source}{start}", source, start, start + rng.choice([20, 30, 45]))
        for source in "abc"
        for start in range(0, 200, 25)
        if rng.random() < 0.9
    ]
    starts = {(f"q{rng.randrange(12)}", rng.choice("abc"), rng.randrange(200)) for _ in range(40)}
    evidence = [
        (*key, key[-1] + rng.randint(1, 60), rng.choice([1, 1, 2])) for key in sorted(starts)
    ]
    run = {f"q{query}": rng.sample([chunk[0] for chunk in chunks], 10) for query in range(12)}
    inputs, options = make_inputs(evidence, chunks), {"run": run, "per_query": True}
    expected = sqlrank.evaluate(METRICS, qrels=judge(evidence, chunks), **options).to_pylist()
    assert sqlrank.evaluate(METRICS, inputs=inputs, **options).to_pylist() == [
        pytest.approx(row, abs=1e-12) for row in expected
    ]
    assert len({row["nDCG"] for row in expected}) > 6


@pytest.mark.slow
def test_two_chunkings_of_one_corpus_are_compared():
    """Each system has chunks of its own. The same text is found in both, by ids that have nothing
    in common.
    """
    other = [("x1", "a", 0, 250), ("x2", "a", 250, 500), ("x3", "b", 0, 100)]
    runs = {"old": RUN, "new": read_columns(q1="x3 x2 x1", q2="x3", q3="x1")}
    chunks = {"old": make_inputs()["chunks"], "new": make_inputs(chunks=other)["chunks"]}
    inputs = {"evidence": make_inputs()["evidence"], "chunks": chunks}
    rows = sqlrank.evaluate(
        ["RR", "StRecall(rel=0.5)@5", "R@1"], run=runs, inputs=inputs
    ).to_pylist()
    assert rows == [
        {
            "system": "new",
            "RR": pytest.approx((1 / 2 + 1 + 0) / 3),
            "StRecall(rel=0.5)@5": pytest.approx(2 / 3),
            "R@1": pytest.approx(1 / 3),
        },
        {
            "system": "old",
            "RR": pytest.approx(1 / 3),
            "StRecall(rel=0.5)@5": pytest.approx(2 / 3),
            "R@1": 0,
        },
    ]
    (row,) = sqlrank.compare("RR", run=runs, inputs=inputs, baseline="old").to_pylist()
    assert row["difference"] == pytest.approx(1 / 6)


@pytest.mark.slow
def test_groups_of_evidence_and_of_chunks():
    """The run and the spans have a topic, run and chunks a system: q2 alone is of topic u, and y
    has no chunk of it.
    """
    inputs = make_inputs()
    evidence = inputs["evidence"].append_column("topic", pa.array(["t", "t", "u", "t"]))
    rows = [
        (query, doc, -rank, "u" if query == "q2" else "t")
        for query, docs in RUN.items()
        for rank, doc in enumerate(docs)
    ]
    run = pa.table(
        dict(
            zip(
                ("query_id", "doc_id", "score", "topic"),
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )
    chunks = {"x": inputs["chunks"], "y": inputs["chunks"][:3]}
    options = {"run": {"x": run, "y": run}, "inputs": {"evidence": evidence, "chunks": chunks}}
    found = sqlrank.evaluate("RR", by=["system", "topic"], **options).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        ("x", "t", 0.25),
        ("x", "u", 0.5),
        ("y", "t", 0.25),
        ("y", "u", 0.0),
    ]


@pytest.mark.slow
def test_ids_and_positions_of_other_types_and_names(tmp_path):
    """Numbers as ids, seconds as positions, and files with columns start and end."""
    evidence = [(1, 7, 0.5, 1.25), (2, 7, 9, 9.5)]
    chunks = [(10, 7, 0, 1), (11, 7, 1, 2.5), (12, 7, 9, 10)]
    run = build_table(query_id="1 1 2", doc_id="10 11 12", score="2 1 1")
    rows = sqlrank.evaluate(
        "CG", run=run, inputs=make_inputs(evidence, chunks), per_query=True
    ).to_pylist()
    assert rows == [{"query_id": 1, "CG": pytest.approx(1)}, {"query_id": 2, "CG": 1}]
    for name, key, table in (("evidence", "query_id", evidence), ("chunks", "doc_id", chunks)):
        lines = [f"{key},source,start,end", *(",".join(map(str, row)) for row in table)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), "utf-8")
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\n1,10,2\n1,11,1\n2,12,1\n", "utf-8")
    inputs = [
        part
        for name in ("evidence", "chunks")
        for part in ("--input", f"{name}={tmp_path / name}.csv")
    ]
    shown = run_command(
        "evaluate",
        "CG",
        "--run",
        str(tmp_path / "run.csv"),
        *inputs,
        "--per-query",
        "--format",
        "json",
    )
    assert json.loads(shown) == [{"query_id": 1, "CG": pytest.approx(1)}, {"query_id": 2, "CG": 1}]


@pytest.mark.slow
def test_integer_ids_of_chunks_are_ordered_as_those_of_judgments():
    run = build_table(query_id="q q", doc_id="9 10", score="1.0 1.0")
    inputs = make_inputs([("q", "a", 160, 200)], [(9, "a", 0, 150), (10, "a", 150, 300)])
    qrels = build_table(query_id="q", doc_id="10", relevance="1")
    judged, spans = (
        sqlrank.evaluate("RR", run=run, **sources)
        for sources in ({"qrels": qrels}, {"inputs": inputs})
    )
    assert judged.to_pylist() == spans.to_pylist() == [{"RR": 1.0}]
    inputs = make_inputs(
        [("q", "a", 160, 200), ("q", "b", 0, 9)], [(9, "a", 0, 150), (10, "a", 150, 300)]
    )
    result = sqlrank.evaluate(["RR", "R@9"], run=run, inputs=inputs)
    assert result.to_pylist() == [{"RR": 1.0, "R@9": 0.5}]
    equal_scores, spans_left_out = result.schema.metadata[b"sqlrank.notes"].decode().splitlines()
    assert "same score in 1 of 1 lists" in equal_scores
    assert spans_left_out.startswith("1 of 2 spans")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("length", [3, 6, 7, 12, 13])
def test_a_span_that_a_chunk_covers_has_its_grade_to_the_last_bit(length):
    inputs = make_inputs([("q", "a", 0, length, 0.7)], [("c1", "a", 0, 1000)])
    row = sqlrank.evaluate(["R(rel=0.7)@5", "CG@1"], run={"q": ["c1"]}, inputs=inputs).to_pylist()
    assert row == [{"R(rel=0.7)@5": 1.0, "CG@1": 0.7}]
