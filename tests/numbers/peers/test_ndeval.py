"""Metrics of subtopics equal those of ndeval, the program of TREC's diversity tasks, whose values
are in ndeval.json.
"""

import json
import math
from pathlib import Path

import pytest

import sqlrank

GOLDEN = json.loads(Path(__file__).with_name("ndeval.json").read_text(encoding="utf-8"))


def write_trec_files(folder: Path) -> dict[str, str]:
    run, qrels = folder / "run.txt", folder / "qrels.txt"
    run.write_text(
        "".join(
            f"{query} Q0 {doc} 0 {-rank} ours\n"
            for query, docs in GOLDEN["run"].items()
            for rank, doc in enumerate(docs)
        )
    )
    qrels.write_text(
        "".join(
            f"{query} {subtopic} {doc} {grade}\n"
            for query, docs in GOLDEN["qrels"].items()
            for doc, grades in docs.items()
            for subtopic, grade in grades.items()
        )
    )
    return {"run": str(run), "qrels": str(qrels)}


@pytest.mark.slow
@pytest.mark.parametrize("case", GOLDEN["values"], ids=lambda case: f"alpha={case['alpha']}")
def test_values_are_those_of_ndeval(case, tmp_path):
    options = {
        "alpha": f"alpha={case['alpha']}",
        "NRBP": f"alpha={case['alpha']}, beta={case['beta']}",
        "ERR": f"alpha={case['alpha']}",
    }
    asked = {}
    for measure in case["of"]:
        name, at, k = measure.partition("@")
        inside = next((text for start, text in options.items() if start in name), "")
        asked[measure] = name + (f"({inside})" if inside else "") + at + k
    table = sqlrank.evaluate(list(asked.values()), **write_trec_files(tmp_path), per_query=True)
    assert table["query_id"].to_pylist() == sorted(GOLDEN["run"])
    for measure, column in zip(asked, table.column_names[1:], strict=True):
        wanted = [
            0.0 if math.isnan(value) else value for value in case["of"][measure]
        ]  # 0 / 0 of a query without relevant documents
        assert table[column].to_pylist() == pytest.approx(wanted, abs=1e-11), measure
