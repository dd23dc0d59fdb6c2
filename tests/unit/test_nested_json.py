"""Files of JSON whose rows are within an object, or that have a key for each query: their messages have a query that reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import sqlrank
from sqlrank import InputError
from tests.definitions.test_answers import QUESTIONS

if TYPE_CHECKING:
    from pathlib import Path


def find_refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("RR", inputs={"answers": path}, **options)
    return str(caught.value)


def test_scores_that_are_no_list_may_have_another_name(tmp_path: Path) -> None:
    path = tmp_path / "eval.json"
    path.write_text(json.dumps([{"query_id": 1, "retrieved": ["a"], "relevant": ["a"], "scores": {"faithfulness": 0.5}}]))
    assert "scores is STRUCT(faithfulness DOUBLE), not a list" in find_refusal(path)
    assert "give a query in which it has another name: SELECT * RENAME (scores AS other) FROM ..." in find_refusal(path)
    renamed = f"SELECT * RENAME (scores AS other) FROM '{path}'"
    names = {"faithfulness": "other.faithfulness"}
    result = sqlrank.evaluate(["RR", "Mean(faithfulness)"], inputs={"answers": renamed}, columns=names)
    assert result.to_pylist() == [{"RR": 1.0, "Mean(faithfulness)": 0.5}]


def find_query(message: str) -> str:
    """Return the query that a message gives."""
    return message.partition("give the query ")[2].partition("\n")[0]


def test_a_message_gives_the_query_of_rows_within_an_object(tmp_path: Path) -> None:
    path = tmp_path / "eval.json"
    path.write_text(json.dumps({"version": 1, "results": QUESTIONS}))
    expected = sqlrank.evaluate(["RR", "num_q"], inputs={"answers": QUESTIONS}).to_pylist()
    for options in ({}, {"columns": {"retrieved": "intent"}}):
        query = find_query(find_refusal(path, **options))
        assert query == f"SELECT UNNEST(results, max_depth := 2) FROM '{path}'"
        assert sqlrank.evaluate(["RR", "num_q"], inputs={"answers": query}).to_pylist() == expected
    assert "give the query" not in find_refusal(path, columns={"retrieved": "unknown"})


@pytest.mark.parametrize("num_queries", [2, 300])  # of many keys DuckDB infers a map
@pytest.mark.parametrize(
    ("docs", "judged"),
    [({"a": 0.5, "b": 0.7}, {"a": 2}), (["b", "a"], ["a"]), ({"a": 0.5, "b": 0.7}, ["a"])],
    ids=["dicts", "lists", "both"],
)
def test_a_message_gives_the_query_of_a_dict_of_queries(tmp_path: Path, docs: Any, judged: Any, num_queries: int) -> None:
    paths = {role: tmp_path / f"{role}.json" for role in ("run", "qrels")}
    for path, value in zip(paths.values(), (docs, judged), strict=True):
        path.write_text(json.dumps({f"q{number}": value for number in range(num_queries)}))
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("RR", **paths)
    run, qrels = map(find_query, str(caught.value).split("\n"))
    assert sqlrank.evaluate(["RR", "num_q"], run=run, qrels=qrels).to_pylist() == [{"RR": 0.5, "num_q": num_queries}]


def write_hits(*hits: tuple[str, float]) -> dict[str, Any]:
    listed = [{"_index": "docs", "_id": doc, "_score": score, "_source": {"title": "T"}} for doc, score in hits]
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 1},
        "hits": {"total": {"value": len(listed)}, "max_score": 1.5, "hits": listed},
    }


def test_a_message_gives_the_query_of_answers_of_elasticsearch(tmp_path: Path) -> None:
    first, second = write_hits(("x", 1.5), ("y", 1.2)), write_hits(("y", 2.5))
    for name, content in {"q1": first, "q2": second, "both": {"took": 5, "responses": [first, second]}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    calls: list[tuple[str, dict[Any, dict[str, int]]]] = [
        ("q*.json", {"q1": {"y": 1}, "q2": {"y": 1}}),
        ("both.json", {1: {"y": 1}, 2: {"y": 1}}),
    ]
    for name, qrels in calls:
        with pytest.raises(InputError) as caught:
            sqlrank.evaluate("RR", run=str(tmp_path / name), qrels=qrels)
        assert sqlrank.evaluate("RR", run=find_query(str(caught.value)), qrels=qrels).to_pylist() == [{"RR": 0.75}]


def test_a_path_goes_through_lists_of_structs(tmp_path: Path) -> None:
    """A column of the table may have the name of the field, which the path does not mean."""
    path = tmp_path / "answers.jsonl"
    contexts = [[{"metadata": {"id": "x"}}, {"metadata": {"id": "y"}}], [{"metadata": {"id": "y"}}]]
    rows = [{"query_id": number, "id": "z", "contexts": listed, "relevant": ["y"]} for number, listed in enumerate(contexts)]
    path.write_text("\n".join(map(json.dumps, rows)))
    call: dict[str, Any] = {"inputs": {"answers": path}, "columns": {"retrieved": "contexts.metadata.id"}}
    assert sqlrank.evaluate(["RR", "num_ret"], **call).to_pylist() == [{"RR": 0.75, "num_ret": 3.0}]
    with pytest.raises(InputError, match=r"columns maps to 'nothing', which no input has"):
        sqlrank.evaluate("RR", inputs={"answers": path}, columns={"retrieved": "contexts.metadata.nothing"})
