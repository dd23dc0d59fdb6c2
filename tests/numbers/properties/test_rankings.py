"""Invariances of ranking metrics: row order, threads, scale of scores, names, other metrics, and
list ids.
"""

import math
import random
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import sqlrank
from tests.lanes import select_few
from tests.numbers.properties.rankings import (
    METRICS,
    assert_equal,
    draw_collection,
    evaluate_alone,
    evaluate_columns,
    get_collection,
)
from tests.numbers.references import reference
from tests.numbers.references.answers import Collection, Scores
from website.sections import group_by_section


def shuffle_rows(table: pa.Table, seed: int) -> pa.Table:
    order = list(range(table.num_rows))
    random.Random(seed).shuffle(order)  # noqa: S311
    return table.take(order)


def rename_documents(nested: Scores, name: Callable[[str], str]) -> Scores:
    return {
        query: {name(doc): number for doc, number in docs.items()} for query, docs in nested.items()
    }


def test_every_metric_is_among_them():
    named = {sqlrank.parse(metric).name for metric in METRICS}
    assert named == {file.full_name.partition("@")[0] for file in group_by_section()["ranking"]}


@pytest.mark.slow
@pytest.mark.parametrize("threads", select_few([1, 2, 4], (2,)))
def test_order_of_rows_and_threads(threads):
    tables = {role: shuffle_rows(table, threads) for role, table in get_collection().tables.items()}
    assert_equal(evaluate_columns(tables, threads=threads), evaluate_alone())


@pytest.mark.slow
def test_order_of_rows_and_threads_in_the_aggregate():
    tables = {role: shuffle_rows(table, 10) for role, table in get_collection().tables.items()}
    expected = sqlrank.evaluate(METRICS, **get_collection().tables, threads=1).to_pydict()
    assert_equal(sqlrank.evaluate(METRICS, **tables, threads=4).to_pydict(), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scale",
    select_few(
        [
            math.exp,
            lambda score: score * 1e-300,
            lambda score: -math.exp(-score),
            lambda score: 1e300 + 1e299 * score,
        ],
        1,
    ),
)
def test_scores_matter_by_their_order_alone(scale):
    run = {
        query: {doc: scale(score) for doc, score in docs.items()}
        for query, docs in get_collection().run.items()
    }
    assert_equal(evaluate_columns(Collection(run, get_collection().qrels).tables), evaluate_alone())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", select_few(["{:04}", "http://example.com/Ä/{:04}?q='\"", "\N{GRINNING FACE}{:04}"], 1)
)
def test_names_of_documents_matter_by_their_order_alone(name):
    docs = sorted(
        {
            doc
            for nested in (get_collection().run, get_collection().qrels)
            for found in nested.values()
            for doc in found
        }
    )
    names = {doc: name.format(place) for place, doc in enumerate(docs)}
    data = Collection(
        rename_documents(get_collection().run, names.__getitem__),
        rename_documents(get_collection().qrels, names.__getitem__),
    )
    assert_equal(evaluate_columns(data.tables), evaluate_alone())


@pytest.mark.slow
def test_documents_may_be_numbers():
    docs = sorted(
        {
            doc
            for nested in (get_collection().run, get_collection().qrels)
            for found in nested.values()
            for doc in found
        }
    )
    tables = {}
    for role, table in get_collection().tables.items():
        numbers = pa.array([docs.index(doc) for doc in table["doc_id"].to_pylist()])
        tables[role] = table.set_column(1, "doc_id", numbers)
    assert_equal(evaluate_columns(tables), evaluate_alone())


@pytest.mark.one_in(30)
@pytest.mark.parametrize("metric", METRICS)
def test_company_does_not_matter(metric):
    got = evaluate_columns(get_collection().tables, [metric], check="off")
    name = list(got)[-1]
    assert_equal(got, {"query_id": evaluate_alone()["query_id"], name: evaluate_alone()[name]})


@pytest.mark.slow
def test_order_of_metrics_does_not_matter():
    got = evaluate_columns(get_collection().tables, METRICS[::-1])
    assert_equal({name: got[name] for name in evaluate_alone()}, evaluate_alone())


def draw_systems() -> dict[str, Collection]:
    return {
        f"s{i}": Collection(draw_collection(20 + i).run, get_collection().qrels) for i in range(2)
    }


@pytest.mark.slow
@pytest.mark.parametrize("numbering", select_few(["integer", "input"], 1))
def test_systems_do_not_matter_to_each_other(numbering):
    runs = []
    for name, data in draw_systems().items():
        table = data.tables["run"]
        runs.append(table.append_column("system", pa.array([name] * table.num_rows)))
    tables = {
        "run": shuffle_rows(pa.concat_tables(runs), 1),
        "qrels": get_collection().tables["qrels"],
    }
    together = evaluate_columns(tables, by="system", plan={"list_key": numbering})
    for name, data in draw_systems().items():
        rows = [i for i, system in enumerate(together["system"]) if system == name]
        got = {
            column: [values[i] for i in rows]
            for column, values in together.items()
            if column != "system"
        }
        assert_equal(got, evaluate_columns(data.tables))


@pytest.mark.slow
@pytest.mark.parametrize(
    "policies",
    select_few(
        [
            {},
            {"queries": "retrieved"},
            {"queries": "judged_and_retrieved", "if_undefined": "skip"},
            {"unjudged": "drop", "depth": 4},
            {"ties": "worst"},
            {"ties": "best"},
        ],
        1,
    ),
    ids=str,
)
def test_numbering_does_not_matter(policies):
    tables = get_collection().tables
    metrics = [metric for metric in METRICS if "ties" not in metric]
    assert_equal(
        evaluate_columns(tables, metrics, plan={"list_key": "input"}, **policies),
        evaluate_columns(tables, metrics, **policies),
    )


DOCS = st.sampled_from([f"d{i}" for i in range(8)])
RUNS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.dictionaries(DOCS, st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1),
    min_size=1,
)
QRELS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.dictionaries(DOCS, st.integers(0, 4).map(float), min_size=1),
    min_size=1,
)
BOUNDED = [
    *(
        "P@1", "P@3", "R@3", "R", "AP", "AP@3", "AP(denominator=min_rk)@3", "nDCG", "nDCG@3",
        "nDCG(gain=exp2)@2", "RR", "RR@2", "F@3",
    ),
    *(
        "nDCG(ideal=retrieved)@3", "ERR", "PFound", "RBP", "RHR(normalization=ideal)@3",
        "Success@2", "bpref", "11pt", "Judged@3", "Unj@3",
    ),
    *("RBPresid", "Rprec", "Rndcg", "nDCGrel", "SetF", "IPrec@0.5"),
]  # fmt: skip
COMPARED = [
    "AP", "nDCG@3", "RR", "P@3", "ERR", "bpref", "Rndcg", "RBPresid",
    "RHR(normalization=ideal)@3", "11pt",
]  # fmt: skip


def share_a_document(run: Scores, qrels: Scores) -> Collection:
    """Add a query that makes it one collection: run and judgments without a common document are an
    error.
    """
    return Collection(run | {"z": {"d0": 1.0}}, qrels | {"z": {"d0": 1.0}})


QUICKLY = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],
)


@pytest.mark.slow
@QUICKLY
@given(run=RUNS, qrels=QRELS, ties=st.sampled_from(["doc_desc", "doc_asc", "worst", "best"]))
def test_values_are_shares_and_those_of_the_reference(run, qrels, ties):
    data = share_a_document(run, qrels)
    got = evaluate_columns(data.tables, BOUNDED, ties=ties)
    for metric in BOUNDED:
        assert all(0 <= value <= 1 + 1e-12 for value in got[metric]), metric
    for metric in COMPARED:
        expected = reference.evaluate(metric, data.run, data.qrels, ties=ties)
        assert dict(zip(got["query_id"], got[metric], strict=True)) == pytest.approx(
            expected, rel=1e-9, abs=1e-9
        ), metric


@pytest.mark.slow
@QUICKLY
@given(qrels=QRELS)
def test_the_ideal_ranking_is_perfect(qrels):
    data = share_a_document(qrels, qrels)
    metrics = [
        "nDCG", "nDCG@1", "nDCG@3", "nDCG(gain=exp2)@5", "nDCG(discount=inverse)",
        "nDCG(ideal=retrieved)@3", "AP", "RR", "Rprec", "bpref", "nDCGrel",
    ]  # fmt: skip
    got = evaluate_columns(data.tables, [*metrics, "num_rel"], if_undefined="one")
    for metric in metrics:
        assert got[metric] == pytest.approx([1.0] * len(got[metric]), rel=1e-12), metric


@pytest.mark.slow
@QUICKLY
@given(run=RUNS, qrels=QRELS)
def test_ties_lie_between_worst_and_best(run, qrels):
    tables = share_a_document(run, qrels).tables
    linear = [
        ("P", 2),
        ("R", 2),
        ("DCG", 3),
        ("nDCG", 2),
        ("CG", 2),
        ("RBP", 4),
        ("MDCG", 3),
        ("F", 2),
    ]
    got = evaluate_columns(
        tables,
        [
            f"{name}(ties={ties})@{k}"
            for name, k in linear
            for ties in ("worst", "expected", "best")
        ],
    )
    for name, k in linear:
        for low, middle, high in zip(
            *(got[f"{name}(ties={ties})@{k}"] for ties in ("worst", "expected", "best")),
            strict=True,
        ):
            assert low - 1e-12 <= middle <= high + 1e-12, name
