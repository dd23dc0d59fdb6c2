"""Files of JSON whose rows are within an object, or that have a key for each query: their messages
have a query that reads them.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlrank
from sqlrank import InputError
from tests.interface.advice import follow
from tests.lanes import select_few
from tests.numbers.examples.test_answers import QUESTIONS


def find_refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("RR", inputs={"answers": path}, **options)
    return str(caught.value)


def test_scores_that_are_no_list_may_have_another_name(tmp_path):
    path = tmp_path / "eval.json"
    path.write_text(
        json.dumps(
            [
                {
                    "query_id": 1,
                    "retrieved": ["a"],
                    "relevant": ["a"],
                    "scores": {"faithfulness": 0.5},
                }
            ]
        )
    )
    assert "scores is STRUCT(faithfulness DOUBLE), not a list" in find_refusal(path)
    assert (
        "give a query in which it has another name: SELECT * RENAME (scores AS other) FROM ..."
        in find_refusal(path)
    )
    renamed = f"SELECT * RENAME (scores AS other) FROM '{path}'"
    names = {"faithfulness": "other.faithfulness"}
    result = sqlrank.evaluate(
        ["RR", "Mean(faithfulness)"], inputs={"answers": renamed}, columns=names
    )
    assert result.to_pylist() == [{"RR": 1.0, "Mean(faithfulness)": 0.5}]


def find_query(message: str) -> str:
    """Return the query that a message gives."""
    return message.partition("give the query ")[2].partition("\n")[0]


@pytest.mark.slow
def test_a_message_gives_the_query_of_rows_within_an_object(tmp_path):
    path = tmp_path / "eval.json"
    path.write_text(json.dumps({"version": 1, "results": QUESTIONS}))
    expected = sqlrank.evaluate(["RR", "num_q"], inputs={"answers": QUESTIONS}).to_pylist()
    for options in ({}, {"columns": {"retrieved": "intent"}}):
        query = find_query(find_refusal(path, **options))
        assert query == f"SELECT UNNEST(results, max_depth := 2) FROM '{path}'"
        assert sqlrank.evaluate(["RR", "num_q"], inputs={"answers": query}).to_pylist() == expected
    assert "give the query" not in find_refusal(path, columns={"retrieved": "unknown"})


@pytest.mark.one_in(3)
@pytest.mark.parametrize("num_queries", [2, 300])  # of many keys DuckDB infers a map
@pytest.mark.parametrize(
    ("docs", "judged"),
    [({"a": 0.5, "b": 0.7}, {"a": 2}), (["b", "a"], ["a"]), ({"a": 0.5, "b": 0.7}, ["a"])],
    ids=["dicts", "lists", "both"],
)
def test_a_message_gives_the_query_of_a_dict_of_queries(tmp_path, docs, judged, num_queries):
    paths = {role: tmp_path / f"{role}.json" for role in ("run", "qrels")}
    for path, value in zip(paths.values(), (docs, judged), strict=True):
        path.write_text(json.dumps({f"q{number}": value for number in range(num_queries)}))
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("RR", **paths)
    run, qrels = map(find_query, str(caught.value).split("\n"))
    assert sqlrank.evaluate(["RR", "num_q"], run=run, qrels=qrels).to_pylist() == [
        {"RR": 0.5, "num_q": num_queries}
    ]


def write_layouts(number: str, values: tuple[float, float]) -> dict[str, Any]:
    """Return files of two documents of each query, with their numbers under the name of a
    column.
    """
    documents = dict(zip(("a", "b"), values, strict=True))
    rows = [{"doc_id": doc, number: value} for doc, value in documents.items()]
    pairs, objects = (
        [[doc, value] for doc, value in documents.items()],
        {doc: {number: value} for doc, value in documents.items()},
    )
    keyed = [{"qid": query, **row} for query in ("q1", "q2") for row in rows]
    queries = {
        "dicts": documents,
        "rows": rows,
        "pairs": pairs,
        "objects": objects,
        "other fields": [{**row, "tags": ["x"]} for row in rows],
    }
    layouts = {name: {"q1": value, "q2": value} for name, value in queries.items()}
    layouts |= {f"{name} of one query": {"q1": value} for name, value in queries.items()}
    layouts["numbers for names"] = {
        "1": {"10": values[0], "20": values[1]},
        "2": {"10": values[0], "20": values[1]},
    }
    layouts["numbers for documents"] = {
        "q1": {"10": values[0], "20": values[1]},
        "q2": {"10": values[0], "20": values[1]},
    }
    layouts |= {f"{name} in data": {"version": 1, "data": value} for name, value in layouts.items()}
    layouts["rows in data with queries"] = {"data": keyed}
    layouts["rows in parts with queries"] = {"part 1": keyed[:2], "part 2": keyed[2:]}
    layouts["both inputs"] = {"qrels": {"q1": documents}, "run": {"q1": documents}}
    return layouts


QUICK_LAYOUTS = {"rows", "rows of one query", "pairs in data"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "layout",
    [
        pytest.param(name, marks=() if name in QUICK_LAYOUTS else pytest.mark.slow)
        for name in write_layouts("score", (0, 1))
    ],
)
def test_the_query_of_a_message_reads_the_file_of_the_message(layout, tmp_path):
    paths = {role: tmp_path / f"{role}.json" for role in ("run", "qrels")}
    paths["run"].write_text(json.dumps(write_layouts("score", (0.5, 2))[layout]))
    paths["qrels"].write_text(json.dumps(write_layouts("relevance", (1, 0))[layout]))
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("RR", **paths)
    run, qrels = map(find_query, str(caught.value).split("\n"))
    renamed = {"columns": {"query_id": "qid"}} if "with queries" in layout else {}
    result = sqlrank.evaluate(
        ["RR", "num_rel", "num_ret"], run=run, qrels=qrels, **renamed
    ).to_pylist()
    number = 1 if "one query" in layout or layout == "both inputs" else 2
    assert result == [{"RR": 0.5, "num_rel": number, "num_ret": 2 * number}]


@pytest.mark.slow
@pytest.mark.parametrize("doc", [7, 2**53 + 1])
def test_ids_of_documents_in_the_query_of_a_message_keep_their_digits(doc, tmp_path):
    rows = [
        {"query_id": 1, "doc_id": doc, "score": 1.0},
        {"query_id": 1, "doc_id": doc - 1, "score": 2},
    ]
    by_query = {
        "1": [{name: value for name, value in row.items() if name != "query_id"} for row in rows]
    }
    for content in (json.dumps(by_query), pd.DataFrame(rows).to_json(orient="index")):
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(InputError) as caught:
            sqlrank.evaluate("RR", run=tmp_path / "run.json", qrels={1: {doc: 1}})
        assert sqlrank.evaluate(
            "RR", run=find_query(str(caught.value)), qrels={1: {doc: 1}}
        ).to_pylist() == [{"RR": 0.5}]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "content",
    [
        {"q1": {"a": "x"}},
        {"q1": {"docs": ["a"], "scores": [0.5]}, "q2": {"docs": ["a"], "scores": [0.5]}},
        {"q1": {"docs": ["a"], "scores": [0.5]}},
        {"q1": [["a", 0.5, 1]]},
        {"q1": [["a", "b"]]},
        {"q1": [{"doc_id": "a", "score": 0.5}, {"doc_id": "b", "score": "high"}]},
        {"q1": {"a": 0.5}, "q2": ["a"]},
        {"first": {"q1": {"a": 0.5}}, "second": {"q1": {"a": 0.5}}},
    ],
    ids=str,
)
def test_a_message_gives_no_query_that_fails(content, tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="no columns 'query_id', 'doc_id', 'score'") as caught:
        sqlrank.evaluate("RR", run=tmp_path / "run.json", qrels={"q1": {"a": 1}})
    assert "SELECT" not in str(caught.value)


@pytest.mark.parametrize("content", ["[]", "{}", "null", " [] \n"])
def test_a_file_of_json_without_rows(content, tmp_path):
    (tmp_path / "rows.json").write_text(content)
    for role, arguments in {
        "run": {"qrels": {"q1": {"a": 1}}},
        "qrels": {"run": {"q1": ["a"]}},
    }.items():
        with pytest.raises(InputError) as caught:
            sqlrank.evaluate("RR", **{role: tmp_path / "rows.json"}, **arguments)
        assert str(caught.value) == f"{role} ({tmp_path / 'rows.json'}) has no rows"


def write_hits(*hits: tuple[str, float]) -> dict[str, Any]:
    listed = [
        {"_index": "docs", "_id": doc, "_score": score, "_source": {"title": "T"}}
        for doc, score in hits
    ]
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 1},
        "hits": {"total": {"value": len(listed)}, "max_score": 1.5, "hits": listed},
    }


@pytest.mark.slow
def test_a_message_gives_the_query_of_answers_of_elasticsearch(tmp_path):
    first, second = write_hits(("x", 1.5), ("y", 1.2)), write_hits(("y", 2.5))
    for name, content in {
        "q1": first,
        "q2": second,
        "both": {"took": 5, "responses": [first, second]},
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    for name in ("q1", "q2"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        shutil.copy(tmp_path / f"{name}.json", tmp_path / "folder")
    calls = [
        ("q*.json", {"q1": {"y": 1}, "q2": {"y": 1}}),
        ("folder", {"q1": {"y": 1}, "q2": {"y": 1}}),
        ("both.json", {1: {"y": 1}, 2: {"y": 1}}),
    ]
    for name, qrels in calls:
        with pytest.raises(InputError) as caught:
            sqlrank.evaluate("RR", run=str(tmp_path / name), qrels=qrels)
        assert sqlrank.evaluate(
            "RR", run=find_query(str(caught.value)), qrels=qrels
        ).to_pylist() == [{"RR": 0.75}]


def test_a_path_goes_through_lists_of_structs(tmp_path):
    """A column of the table may have the name of the field, which the path does not mean."""
    path = tmp_path / "answers.jsonl"
    contexts = [[{"metadata": {"id": "x"}}, {"metadata": {"id": "y"}}], [{"metadata": {"id": "y"}}]]
    rows = [
        {"query_id": number, "id": "z", "contexts": listed, "relevant": ["y"]}
        for number, listed in enumerate(contexts)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    call = {"inputs": {"answers": path}, "columns": {"retrieved": "contexts.metadata.id"}}
    assert sqlrank.evaluate(["RR", "num_ret"], **call).to_pylist() == [{"RR": 0.75, "num_ret": 3.0}]
    with pytest.raises(
        InputError, match=r"columns maps to 'contexts.metadata.nothing', which no input has"
    ):
        sqlrank.evaluate(
            "RR", inputs={"answers": path}, columns={"retrieved": "contexts.metadata.nothing"}
        )


SCORES = {"q1": {"a": 1.0, "b": 0.5}, "q2": {"a": 0.25, "b": 0.75}}
DOCUMENTS = {
    "scores": SCORES,
    "lists": {query: sorted(docs, key=lambda doc: -docs[doc]) for query, docs in SCORES.items()},
    "rows": {
        query: [{"doc_id": doc, "score": score} for doc, score in docs.items()]
        for query, docs in SCORES.items()
    },
    "pairs": {
        query: [[doc, score] for doc, score in docs.items()] for query, docs in SCORES.items()
    },
}
LINES = {
    "a line": lambda docs: [docs],
    "a line for each query": lambda docs: [{query: value} for query, value in docs.items()],
    "a line with an object": lambda docs: [{"results": docs}],
    "rows with documents": lambda docs: [
        {"query_id": query, "documents": value} for query, value in docs.items()
    ],
    "rows of another name": lambda docs: [
        {"qid": query, "n": 1, "hits": value} for query, value in docs.items()
    ],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("end", select_few(["\n", "\r\n", ""], 1))
@pytest.mark.parametrize("lines", select_few(LINES, {"a line", "rows with documents"}))
@pytest.mark.parametrize("form", DOCUMENTS)
def test_lines_of_queries(form, lines, end, tmp_path):
    """The first document of q1 is a, and of q2 b: RR of b is 1/2 and 1."""
    rows = LINES[lines](DOCUMENTS[form])
    for suffix in (".jsonl", ".ndjson"):
        (tmp_path / f"run{suffix}").write_bytes(
            ((end or "\n").join(map(json.dumps, rows)) + end).encode()
        )
        assert (
            follow("RR", run=str(tmp_path / f"run{suffix}"), qrels={"q1": ["b"], "q2": ["b"]})[0]
            == 0.75
        )
    if lines.startswith("rows"):
        (tmp_path / "run.json").write_text(json.dumps(rows))
        assert (
            follow("RR", run=str(tmp_path / "run.json"), qrels={"q1": ["b"], "q2": ["b"]})[0]
            == 0.75
        )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("lines", [name for name in LINES if name != "a line with an object"])
def test_lines_of_judged_queries(lines, tmp_path):
    judged = {"q1": {"b": 1}, "q2": {"b": 2, "a": 0}, "q3": {}}
    (tmp_path / "qrels.jsonl").write_text("\n".join(map(json.dumps, LINES[lines](judged))))
    value, (message,) = follow("RR", run=SCORES, qrels=str(tmp_path / "qrels.jsonl"))
    assert value == 0.75
    assert (
        "It leaves out 1 without documents, such as 'q3'. Give each a document of relevance 0 to"
        " count it" in message
    )
