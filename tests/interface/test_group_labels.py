"""Test that results of all commands give a column of ``by`` one name."""

import pytest

import sqlrank

LISTS = {
    "run": [
        {"system": system, "model": system, "query_id": query, "doc_id": "d", "score": 1, "day": 1}
        for system in ("x", "y")
        for query in ("a", "b")
    ],
    "qrels": [{"query_id": query, "doc_id": "d", "relevance": 1} for query in ("a", "b")],
    "queries": [
        {"query_id": query, "country": "de", "day": 2, "value": 3, "slice": 4}
        for query in ("a", "b")
    ],
}
SYSTEMS = {"baseline": "x", "system": "system"}


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["queries.country"], ["country"]),
        (['queries."country"'], ["country"]),
        (["queries.country", "run.day"], ["country", "day"]),
        (["queries.day", "run.day"], ["queries.day", "run.day"]),
        (["queries.slice"], ["queries.slice"]),
    ],
)
def test_one_name_in_all_results(columns, names):
    by = ["system", *columns]
    evaluated = sqlrank.evaluate("RR", **LISTS, by=by)
    assert evaluated.column_names == ["system", *names, "RR"]
    assert sqlrank.evaluate("RR", **LISTS, by=[by, []]).column_names[1:-2] == names
    compared = sqlrank.compare("RR", **LISTS, **SYSTEMS, by=columns)
    gated = sqlrank.gate("RR", **LISTS, **SYSTEMS, by=columns, tolerance={"RR": 0.1})
    for result in (compared, gated):
        assert result.column_names[: len(names)] == names
    assert sqlrank.report("RR", **LISTS, **SYSTEMS, by=columns)


def test_names_of_several_groupings():
    by = [["queries.day"], ["run.day"], ["queries.value"]]
    result = sqlrank.compare("RR", **LISTS, **SYSTEMS, by=by)
    assert result.column_names[:4] == ["queries.day", "run.day", "queries.value", "slice"]
    assert result["slice"].to_pylist() == ["queries.day", "run.day", "queries.value"]
    assert sqlrank.report("RR", **LISTS, **SYSTEMS, by=by)


def test_a_system_of_the_run():
    run = [{name: row[name] for name in row if name != "system"} for row in LISTS["run"]]
    lists = {**LISTS, "run": run}
    options = {"baseline": "x", "system": "run.model"}
    assert sqlrank.compare("RR", **lists, **options)["difference"].to_pylist() == [0]
    assert sqlrank.report("RR", **lists, **options)


def test_rollups_by_a_column_of_predictions(tmp_path):
    rows = [{"score": score, "label": score, "country": "de"} for score in (0, 1)]
    options = {
        "predictions": rows,
        "by": "predictions.country",
        "insert": "sums",
        "connection": tmp_path / "sums.duckdb",
    }
    assert sqlrank.rollup("AUC", **options, overwrite_by="country").column_names[0] == "country"
    with pytest.raises(sqlrank.MetricError, match="by is country"):
        sqlrank.rollup("AUC", **options, overwrite_by="predictions.country")
