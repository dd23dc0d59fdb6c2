"""Notes on what is left out of some systems or queries only: ids that one system has in another
form, and queries in which nothing differs.
"""

from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score

import sqlrank
from sqlrank import InputError
from sqlrank.registry.loader import load_registry
from sqlrank.result_metadata import LeftOut
from tests.interface.advice import find_options, follow_all, read_notes
from tests.lanes import select_few
from tests.tables import read_columns

DOCS = {f"q{query}": {f"D{doc}": float(9 - doc) for doc in range(4)} for query in range(5)}
JUDGED = {query: {"D0": 0, "D1": 1, "D2": 0, "D3": 0} for query in DOCS}
OTHER_FORMS: dict[str, dict[str, dict[str, float]]] = {
    "case of documents": {
        query: {doc.lower(): score for doc, score in docs.items()} for query, docs in DOCS.items()
    },
    "blanks of documents": {
        query: {f" {doc}": score for doc, score in docs.items()} for query, docs in DOCS.items()
    },
    "case of queries": {query.upper(): docs for query, docs in DOCS.items()},
    "blanks of queries": {f"{query} ": docs for query, docs in DOCS.items()},
    "other documents": {
        query: {f"x{doc}": score for doc, score in docs.items()} for query, docs in DOCS.items()
    },
}


def list_call(form: str, **options: Any) -> list[str]:
    return read_notes(
        sqlrank.evaluate("RR", run={"old": DOCS, "new": OTHER_FORMS[form]}, qrels=JUDGED, **options)
    )


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "options",
    select_few([{}, {"per_query": True}, {"queries": "judged_and_retrieved"}], 1),
    ids=str,
)
@pytest.mark.parametrize("form", OTHER_FORMS)
def test_a_system_without_judged_ids_is_named(form, options):
    """The other system has them all, so that the number alone says nothing."""
    notes = list_call(form, **options)
    noun, number = ("queries", 5) if "queries" in form else ("documents", 4)
    (note,) = (note for note in notes if "in the run" in note)
    assert (
        note == f"some {noun} in the run are in no judgment, all of some systems"
        f" (system=new: {number} of {number})"
    )
    advice = [note for note in notes if "Map both to one form" in note]
    assert len(advice) == (form != "other documents")
    what = "case" if "case" in form else "surrounding blanks"
    assert all(f"differ in {what} only in {number} and" in note for note in advice)


def test_counts_of_the_others_are_given_too():
    result = sqlrank.evaluate(
        "RR",
        run={"old": DOCS, "new": OTHER_FORMS["other documents"]},
        qrels={query: {"D1": 1} for query in DOCS},
    )
    assert read_notes(result) == [
        (
            "some documents in the run are in no judgment, all of some systems (system=new: 4 of 4,"
            " system=old: 3 of 4)"
        )
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", [form for form in OTHER_FORMS if "other" not in form])
def test_the_mapping_of_a_system_without_judged_ids_makes_both_equal(form):
    name = "doc_id" if "documents" in form else "query_id"
    mapping = f"LOWER({name})" if "case" in form else f"TRIM({name})"
    assert mapping in list_call(form)[-1]
    runs = {"old": DOCS, "new": OTHER_FORMS[form]}
    mapped = sqlrank.evaluate("RR", run=runs, qrels=JUDGED, columns={name: mapping})
    assert mapped.to_pylist() == [{"system": "new", "RR": 0.5}, {"system": "old", "RR": 0.5}]
    assert not read_notes(mapped)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("by", ["name", "number", "twice=number * 2", ["name", "number"]], ids=str)
def test_systems_may_be_any_groups_of_a_run(by):
    rows = [
        {"name": name, "number": number, "query_id": query, "doc_id": doc, "score": score}
        for number, (name, run) in enumerate(
            {"old": DOCS, "new": OTHER_FORMS["case of documents"]}.items()
        )
        for query, docs in run.items()
        for doc, score in docs.items()
    ]
    notes = read_notes(sqlrank.evaluate("RR", run=pd.DataFrame(rows), qrels=JUDGED, by=by))
    assert notes[0].startswith("some documents in the run are in no judgment")
    assert "Map both to one form" in notes[1]


def test_systems_whose_ids_are_judged_have_no_note():
    half = {query: {"D1" if query < "q3" else "D9": 1.0} for query in DOCS}
    notes = read_notes(
        sqlrank.evaluate(
            "RR", run={"old": DOCS, "new": half, "third": {"q0": {"D2": 1.0}}}, qrels=JUDGED
        )
    )
    assert notes == [
        "some judged queries have no results, and count as empty lists (system=third: 4 of 5)"
    ]


DIVIDED = pa.Table.from_pylist(
    [
        {"system": name, "query_id": f"q{query}", "country": "ab"[query % 2], "doc_id": "D1"}
        | {"score": 1.0}
        for name in ("baseline", "new")
        for query in range(6)
    ]
)
"""Results of queries of two countries, each of one."""


def test_queries_that_groups_of_a_run_divide_are_named():
    """Each country counts the queries of the other as empty lists, which halves its metrics."""
    qrels = {f"q{query}": {"D1": 1} for query in range(6)}
    given: dict[str, Any] = {"run": DIVIDED, "qrels": qrels, "by": ["system", "country"]}
    result = sqlrank.evaluate("RR", **given)
    assert result["RR"].to_pylist() == [0.5] * 4
    notes = [note for note in read_notes(result) if note.startswith("each query has results in")]
    assert len(notes) == 1
    assert "in one country only" in notes[0]
    followed = sqlrank.evaluate("RR", queries="judged_and_retrieved", **given)
    assert followed["RR"].to_pylist() == [1.0] * 4
    # With a query in both countries, an empty list may be meant.
    both = pa.concat_tables([DIVIDED, DIVIDED.slice(0, 1).set_column(2, "country", [["b"]])])
    notes = read_notes(sqlrank.evaluate("RR", **{**given, "run": both}))
    assert [note for note in notes if note.startswith("each query")] == []


@pytest.mark.parametrize("call", [sqlrank.compare, sqlrank.gate])
def test_groups_that_divide_queries_are_not_compared(call):
    given: dict[str, Any] = {
        "run": DIVIDED, "qrels": {f"q{query}": {"D1": 1} for query in range(6)}, "by": "country"
    }  # fmt: skip
    with pytest.raises(InputError, match="by: each query has results in one country only"):
        call("RR", **given)
    result = call("RR", queries="judged_and_retrieved", **given)
    assert {"a", "b"} <= {*result["country"].to_pylist()}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("call", [sqlrank.compare, sqlrank.gate])
def test_comparisons_say_so(call):
    options = {"tolerance": 0.1} if call is sqlrank.gate else {}
    result = call(
        "RR", run={"old": DOCS, "new": OTHER_FORMS["case of documents"]}, qrels=JUDGED, **options
    )
    assert read_notes(result)[0].startswith("some documents in the run are in no judgment")


@pytest.mark.parametrize("call", [sqlrank.compare, sqlrank.gate])
def test_units_of_one_system_are_counted(call: Any) -> None:
    """Units that have a partner in none of the pairs are left out, and a note says how many."""
    clicks = {
        name: pa.table({
            "query_id": [number // 2 for number in range(rows)],
            "label": [0, 1] * (rows // 2),
            "score": [(7 * number) % 11 / 11 for number in range(rows)],
        })
        for name, rows in (("old", 84), ("new", 60))
    }  # fmt: skip
    notes = read_notes(call("GAUC", predictions=clicks))
    assert notes == [
        "12 of 42 queries have a value for one of two systems only. Comparisons leave them out"
    ]


ONE_LABEL = read_columns(
    query_id="1 1 1 2 2 3 3 4 4 4",
    label="1 0 1 1 1 0 0 0 1 0",
    score="0.9 0.1 0.05 0.8 0.2 0.3 0.4 0.1 0.7 0.8",
)
POOLED = sorted(
    file.display_name
    for file in load_registry().metrics.values()
    if "level" in file.declared_settings
    and load_registry().metrics[file.display_name.lower()] is file
)


def test_there_are_metrics_that_compare_within_queries():
    assert {"GAUC", "FCP", "PairAccuracy"} <= {*POOLED}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("metric", POOLED)
def test_metrics_that_compare_within_queries_count_those_of_one_label(metric):
    what = f"queries have predictions of one label only, and are left out of {metric}"
    note = f"2 of 4 {what}"
    assert read_notes(sqlrank.evaluate(metric, predictions=ONE_LABEL)) == [note]
    assert read_notes(sqlrank.evaluate(["LogLoss", metric], predictions=ONE_LABEL)) == [note]
    assert not read_notes(sqlrank.evaluate(metric, predictions=ONE_LABEL, per_query=True))
    assert not read_notes(sqlrank.evaluate(metric, predictions=ONE_LABEL, level="group"))
    assert not read_notes(
        sqlrank.evaluate(metric, predictions=ONE_LABEL, where="query_id IN (1, 4)")
    )
    groups = {**ONE_LABEL, "day": ["mon"] * 5 + ["tue"] * 5}
    assert read_notes(sqlrank.evaluate(metric, predictions=groups, by="day")) == [
        f"some {what} (each day: 1 of 2)"
    ]
    weighted = {**ONE_LABEL, "weight": [1, 0, 1, *[1] * 7]}
    assert read_notes(sqlrank.evaluate(metric, predictions=weighted))[0].startswith(
        "3 of 4 queries have predictions of one label only"
    )


def test_gauc_without_them_is_the_mean_of_the_others():
    rows = pd.DataFrame(ONE_LABEL)
    areas = [
        roc_auc_score(part.label, part.score) * len(part)
        for query, part in rows.groupby("query_id")
        if query in {1, 4}
    ]
    assert sqlrank.evaluate("GAUC", predictions=ONE_LABEL)["GAUC"][0].as_py() == pytest.approx(
        sum(areas) / 6
    )


@pytest.mark.parametrize("pairs", ["ovr", "ovo"])
def test_areas_of_classes_that_are_no_label_are_counted(pairs):
    scores = {
        "label": ["a", "a", "b"],
        "classes": [list("abc")] * 3,
        "scores": [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.2, 0.2, 0.6]],
    }
    notes = read_notes(
        sqlrank.evaluate(
            f"MulticlassAUC(multi_class={pairs})", inputs={"multiclass_predictions": scores}
        )
    )
    counts = {"ovr": "1 of 3", "ovo": "2 of 4"}[pairs]
    assert notes == [
        (
            f"{counts} areas of classes are undefined, of classes that are no label or the only one,"
            " and are left out"
        )
    ]


def test_advice_on_ids_leads_somewhere():
    runs = {"old": DOCS, "new": OTHER_FORMS["case of documents"]}
    assert follow_all("RR", run=runs, qrels=JUDGED)


WEIGHTED = {"query_id": ["q0", "Q1"], "weight": [1, 3]}
RANKED = {"q0": {"007": 2.0, "8": 1.0}, "q1": {"9": 2.0, "6": 1.0}}
RELEVANT = {"q0": {"007": 1}, "q1": {"6": 1}}
CLUSTERS = {"record_id": ["007", "8", "9", "10"], "cluster_id": ["a", "a", "b", "b"]}
OTHER_SIDES: dict[str, tuple[Any, dict[str, Any], float]] = {
    "weights of queries": (
        "RR",
        {"run": RANKED, "qrels": RELEVANT, "queries": WEIGHTED, "columns": {"weight": "weight"}},
        (1 + 3 * 0.5) / 4,
    ),
    "queries with nothing in common": (
        "RR",
        {"run": RANKED, "qrels": RELEVANT, "queries": {"query_id": ["Q0"]}},
        1.0,
    ),
    "catalog": (
        "CatalogCoverage@1",
        {"run": RANKED, "inputs": {"items": {"doc_id": ["7", "8", "9"]}}},
        2 / 3,
    ),
    "history": (
        "Unseen@1",
        {"run": RANKED, "inputs": {"history": {"query_id": ["q0"], "doc_id": ["7"]}}},
        0.5,
    ),
    "baseline": (
        "Overlap@1",
        {"run": RANKED, "inputs": {"baseline": {"q0": {"7": 1.0}, "q1": {"9": 1.0}}}},
        1.0,
    ),
    "clusters": (
        "PairwiseRecall",
        {
            "inputs": {
                "predicted_clusters": CLUSTERS,
                "true_clusters": {**CLUSTERS, "record_id": ["7", "8", "9", "10"]},
            }
        },
        1.0,
    ),
    "clusters with nothing in common": (
        "PairwiseRecall",
        {
            "inputs": {
                "predicted_clusters": {**CLUSTERS, "record_id": ["07", "08", "09", "010"]},
                "true_clusters": {**CLUSTERS, "record_id": ["7", "8", "9", "10"]},
            }
        },
        1.0,
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("sides", OTHER_SIDES)
def test_ids_of_any_two_inputs_that_differ_in_form_are_named(sides):
    metric, arguments, right = OTHER_SIDES[sides]
    try:
        message = "\n".join(read_notes(sqlrank.evaluate(metric, **arguments)))
    except InputError as error:
        message = str(error)
    form = "case" if "quer" in sides else "leading zeros"
    assert f"differ in {form} only in" in message
    columns = {**arguments.get("columns", {}), **find_options(message)["columns"]}
    result = sqlrank.evaluate(metric, **{**arguments, "columns": columns})
    assert result[0][0].as_py() == pytest.approx(right)
    assert not any("differ in" in note for note in read_notes(result))


def test_groups_of_several_columns_are_kept_apart():
    groups = [({"system": name, "intent": "x"}, 1, 27) for name in ("old", "new")]
    entry = LeftOut("queries have no results", ("RR",), 2, 54, tuple(groups))
    assert str(entry) == "some queries have no results (each system, intent=x: 1 of 27)"
    entry = replace(entry, groups=(*entry.groups, ({"system": "new", "intent": "y"}, 2, 30)))
    assert str(entry) == (
        "some queries have no results (system=new, intent=y: 2 of 30; system=old, intent=x: 1 of"
        " 27; system=new, intent=x: 1 of 27)"
    )
