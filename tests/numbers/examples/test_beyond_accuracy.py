"""Metrics beyond accuracy by hand: a data set of four lists, ties, gaps and unusual inputs."""

from math import log, log2, sqrt
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError
from sqlrank.inputs import row_checks
from tests.numbers.references.recommendations import World
from tests.tables import build_table

WORLD = World(
    lists={"1": ["a", "b", "c"], "2": ["a", "c", "d"], "3": ["b", "a", "e"], "4": ["a", "i"]},
    history={
        "1": ["d", "e"],
        "2": ["a", "e", "f"],
        "3": ["a", "d"],
        "4": ["a", "b", "f"],
        "5": ["a", "h"],
    },
    items=dict.fromkeys("abe", "X") | dict.fromkeys("cd", "Y") | dict.fromkeys("fhi", "Z"),
    features={
        "a": {"comedy": 1.0},
        **{doc: {"drama": 1.0} for doc in "cfi"},
        **{doc: {"crime": 1.0} for doc in "dh"},
        "b": {"comedy": 1.0, "drama": 1.0},
        "e": {"comedy": 1.0, "crime": 1.0},
    },
    baseline={"1": ["a", "d"], "2": ["a", "c", "d"], "3": ["b", "e", "f"], "4": ["b"]},
    relevant={"1": ["a", "c"], "2": ["d"], "3": ["e"], "4": ["i"]},
)
GOLDEN = {
    "CatalogCoverage@3": 6 / 8,
    "UserCoverage": 4 / 5,
    "ExposureGini@3": 41 / 88,
    "ExposureEntropy@3": (4 * log(11 / 4) + 4 * log(11 / 2) + 3 * log(11)) / 11,
    "Personalization@3": 1 - ((2 + 2 + 1) / 3 + 3 / sqrt(6)) / 6,
    "MeanPopularity@3": (5 / 3 + 2 + 7 / 3 + 2) / 4,
    "PopularityLift@3": -0.2,
    "SelfInformation@3": 1.405261428220696,
    "Unseen@3": (1 + 2 / 3 + 2 / 3 + 1 / 2) / 4,
    "IntraListDiversity@3": (4 / 3 + 2 + 4 / 3 + 2) / 4,
    "IntraListDiversity(distance=cosine)@3": (1 - sqrt(2) / 3 + 1 + (1 - (sqrt(2) + 1 / 2) / 3) + 1)
    / 4,
    "CategoryEntropy@3": (2 * log(2) + log(3) + 2 / 3 * log(3 / 2) + 1 / 3 * log(6)) / 4,
    "Unexpectedness@3": (2 / 3 + 0 + 1 / 3 + 1) / 4,
    "Serendipity@3": 0.171875,
    "Miscalibration@3": 0.94105225405465,
    "ExposureDisparity@3": 0.10950106520113873,
    "num_unlisted@3": 0.0,
    "GoldInCorpus": 1.0,
    "num_stale_gold": 0.0,
}


def evaluate(
    metrics: Any, run: pa.Table = WORLD.run, inputs: dict[str, Any] | None = None, **options: Any
) -> list[dict[str, Any]]:
    return sqlrank.evaluate(
        metrics, run=run, inputs=WORLD.inputs | (inputs or {}), **options
    ).to_pylist()


def make_run(**docs: str) -> pa.Table:
    """Return a run of one-letter documents, by query."""
    rows = [(query, doc, -place) for query, held in docs.items() for place, doc in enumerate(held)]
    return pa.table(
        dict(zip(["query_id", "doc_id", "score"], map(list, zip(*rows, strict=True)), strict=True))
    )


def evaluate_one(metric: str, run: pa.Table, **options: Any) -> Any:
    (row,) = evaluate(metric, run, **options)
    (value,) = row.values()
    return value


def test_a_world_by_hand():
    (found,) = evaluate(list(GOLDEN), qrels=WORLD.qrels)
    assert found == pytest.approx(GOLDEN, abs=1e-12)


def test_gold_that_the_catalog_does_not_have():
    """Of the relevant documents a and c of user 1 the catalog has a; user 2 has none left, user 3
    all, and user 4 no relevant document.
    """
    qrels = build_table(query_id=[*"11233444"], doc_id=[*"acdbeabc"], relevance="2 1 1 1 1 0 0 -1")
    options = {"qrels": qrels, "inputs": {"items": pa.table({"doc_id": [*"abe"]})}}
    gold = ["GoldInCorpus", "num_stale_gold", "num_rel", "SetR(if_undefined=skip)"]
    rows = evaluate(
        gold,
        make_run(**{"1": "abe", "2": "abe", "3": "abe", "4": "abe"}),
        per_query=True,
        **options,
    )
    assert [tuple(row.values())[1:] for row in rows] == [
        (0.5, 1, 2, 0.5),
        (0, 1, 1, 0),
        (1, 0, 2, 1),
        (None, 0, 0, None),
    ]
    (row,) = evaluate(gold, make_run(**{"1": "abe", "2": "abe", "3": "abe", "4": "abe"}), **options)
    assert [*row.values()] == [0.5, 2, 5, 0.5]  # no list can have a greater recall
    (graded,) = evaluate(["GoldInCorpus(rel=2)", "num_stale_gold(rel=2)"], **options)
    assert [*graded.values()] == [1, 0]


def test_providers_are_rows():
    rows = evaluate("ProviderExposure@3")
    shares = [0.718103350, 0.203263568, 0.078633082]
    assert [(row["provider"], row["catalog_share"]) for row in rows] == [
        ("X", 3 / 8),
        ("Y", 2 / 8),
        ("Z", 3 / 8),
    ]
    assert [row["exposure_share"] for row in rows] == pytest.approx(shares, abs=1e-9)
    unseen = evaluate("ProviderExposure", make_run(x="ab"), by=[])
    assert [tuple(row.values())[1:3] for row in unseen] == [("X", 1.0), ("Y", 0.0), ("Z", 0.0)]


def test_the_catalog_is_the_history_where_there_is_no_other():
    history = {"history": WORLD.inputs["history"]}
    # a, b, d and e of a, b, d, e, f and h are shown; c and i are in no history.
    metrics = ["CatalogCoverage", "num_unlisted"]
    assert sqlrank.evaluate(metrics, run=WORLD.run, inputs=history).to_pylist() == [
        {"CatalogCoverage": 4 / 6, "num_unlisted": 2.0}
    ]
    assert evaluate(metrics, catalog="history") == [{"CatalogCoverage": 4 / 6, "num_unlisted": 2.0}]


@pytest.mark.parametrize(
    ("metric", "docs", "expected"),
    [
        ("IntraListDiversity", "a", None),
        ("IntraListDiversity(if_undefined=zero)", "a", 0.0),
        ("IntraListDiversity(distance=cosine)", "a", None),
        ("IntraListDiversity(distance=category)", "a", None),
        ("IntraListDiversity@1", "ab", None),
        ("IntraListDiversity", "xy", 0.0),
        ("IntraListDiversity(distance=cosine)", "xy", 1.0),
        ("IntraListDiversity(distance=category)", "cf", 0.0),
        ("CategoryEntropy", "xy", None),
        ("CategoryEntropy", "cf", 0.0),
        ("Miscalibration", "xy", None),
        ("MeanPopularity", "x", 0.0),
        ("Unseen", "x", 1.0),
        ("Unseen@99", "ed", 0.0),
        ("SelfInformation", "a", log2(5 / 4)),
        ("SelfInformation", "x", log2(5)),
        ("Unexpectedness@2", "a", 1 / 2),
        ("CatalogCoverage", "x", 0.0),
        ("ExposureGini", "x", None),
        ("ExposureGini", "a", 7 / 8),
        ("ExposureEntropy", "a", 0.0),
        ("Personalization", "abc", None),
        ("ExposureDisparity", "x", None),
        ("UserCoverage", "x", 1 / 5),
        ("num_unlisted", "xya", 2.0),
    ],
)
def test_one_list(metric, docs, expected):
    assert evaluate_one(metric, make_run(**{"1": docs})) == (
        None if expected is None else pytest.approx(expected)
    )


def test_equal_and_disjoint_lists():
    assert evaluate_one("Personalization", make_run(p="abcd", q="dcba", r="abcd")) == pytest.approx(
        0, abs=1e-15
    )
    assert evaluate_one("Personalization", make_run(p="ab", q="cd")) == 1
    assert evaluate_one("Personalization@1", make_run(p="ab", q="ac")) == 0
    everything = make_run(p="abcd", q="efhi")
    assert evaluate_one("ExposureGini", everything) == 0
    assert evaluate_one("CatalogCoverage", everything) == 1


def test_a_system_that_reaches_no_user_with_a_history():
    """Its coverage is 0 of five users, and not undefined."""
    lists = {"reaches": make_run(**{"1": "ab"}), "misses": make_run(**{"9": "ab"})}
    run = pa.concat_tables(
        [
            table.append_column("system", pa.array([name] * table.num_rows))
            for name, table in lists.items()
        ]
    )
    rows = evaluate("UserCoverage", run, by="system")
    assert {row["system"]: row["UserCoverage"] for row in rows} == {"reaches": 1 / 5, "misses": 0}


def test_users_without_a_history():
    run = make_run(**{"1": "ab", "9": "ab"})
    rows = evaluate(["Unseen", "Miscalibration", "PopularityLift"], run, per_query=True)
    assert [(row["query_id"], row["Unseen"], row["Miscalibration"] is None) for row in rows] == [
        ("1", 1, False),
        ("9", 1, True),
    ]
    assert rows[0]["PopularityLift"] == 2.5 / 2 - 1
    assert rows[1]["PopularityLift"] is None
    # Of both users, the one with a history counts alone.
    assert evaluate_one("PopularityLift", run) == 2.5 / 2 - 1


def test_ties_decide_which_documents_are_first():
    tied = build_table(query_id=["1", "1"], doc_id="a i", score="1.0 1.0")
    base = build_table(query_id=["1", "1"], doc_id="a i", score="5 5", rank="1 2")
    asked = ["MeanPopularity@1", "Unexpectedness@1"]
    assert evaluate(asked, tied, {"baseline": base}) == [
        {"MeanPopularity@1": 0.0, "Unexpectedness@1": 0.0}
    ]
    assert evaluate(asked, tied, {"baseline": base}, ties="doc_asc") == [
        {"MeanPopularity@1": 4.0, "Unexpectedness@1": 0.0}
    ]
    given = tied.append_column("rank", pa.array([2, 1]))
    assert evaluate(asked, given, {"baseline": base}, ties="rank") == [
        {"MeanPopularity@1": 0.0, "Unexpectedness@1": 1.0}
    ]


SYSTEMS = pa.concat_tables(
    [make_run(**{"1": "ab", "2": "ab"}), make_run(**{"1": "ab", "2": "cd"})]
).append_column("system", pa.array(["old"] * 4 + ["new"] * 4))


def test_groups_and_slices():
    metrics = [
        "CatalogCoverage", "Personalization", "UserCoverage", "ExposureGini", "PopularityLift",
        "Unseen", "num_lists",
    ]  # fmt: skip
    total, new, old = (
        list(row.values()) for row in evaluate(metrics, SYSTEMS, by=[["system"], []])
    )
    # Users 1 and 2 have had what 2 and 8/3 users had; a and b were had by 2.5 users on the mean, c
    # and d by 1.
    had = 2 + 8 / 3
    # a and b are shown by three lists, c and d by one; of six pairs of lists three are alike.
    lift = pytest.approx(8.5 / 2 / had - 1)
    assert total == [None, "all", 4 / 8, pytest.approx(0.5), 2 / 5, 40 / 64, lift, 0.875, 4.0]
    assert new == ["new", "system", 4 / 8, 1.0, 2 / 5, 0.5, pytest.approx(3.5 / had - 1), 1.0, 2.0]
    assert old == [
        "old", "system", 2 / 8, pytest.approx(0), 2 / 5, 0.75, pytest.approx(5 / had - 1), 0.75,
        2.0,
    ]  # fmt: skip


def test_an_input_with_the_column_of_by_is_read_group_by_group():
    items = build_table(doc_id="a b a x y z", system="old old new new new new")
    found = evaluate("CatalogCoverage", SYSTEMS, {"items": items}, by=[["system"], []])
    # Over both a and b of a, b, x, y and z are shown.
    assert [row["CatalogCoverage"] for row in found] == [2 / 5, 1 / 4, 1.0]
    history = build_table(query_id=["1", "1", "2", "3"], doc_id="a a a a", system="old new old new")
    # Over both users 1 and 2 of 1, 2 and 3 have a list, and user 1 counts once.
    found = evaluate("UserCoverage", SYSTEMS, {"history": history}, by=[["system"], []])
    assert [row["UserCoverage"] for row in found] == [2 / 3, 1 / 2, 1.0]


def test_an_item_of_several_groups_is_one_of_its_provider_over_all():
    shown, providers = ["a", "b", "c", "d", "a", "b", "c"], ["X", "Y", "Y", "X", "X", "Y", "Y"]
    items = pa.table({"doc_id": shown, "provider": providers, "system": ["new"] * 4 + ["old"] * 3})
    once = items.slice(0, 4).drop_columns("system")
    (total, *_), (expected, *_) = (
        evaluate("ExposureDisparity", SYSTEMS, {"items": table}, by=[["system"], []])
        for table in (items, once)
    )
    assert total["ExposureDisparity"] == pytest.approx(expected["ExposureDisparity"])
    assert total["ExposureDisparity"] > 0


def test_an_item_is_popular_with_all_users_in_a_row_per_list():
    rows = evaluate(["PopularityLift", "UserCoverage", "CatalogCoverage"], per_query=True)
    assert [row["PopularityLift"] for row in rows] == pytest.approx(
        [5 / 6 - 1, 3 / 4 - 1, 7 / 9 - 1, 6 / 7 - 1]
    )
    assert [row["UserCoverage"] for row in rows] == [1 / 5] * 4
    assert [row["CatalogCoverage"] for row in rows] == [3 / 8, 3 / 8, 3 / 8, 2 / 8]


def test_rows_of_other_inputs_are_filtered():
    history = WORLD.inputs["history"].append_column("day", pa.array([1, 2] * 6))
    kept = history.filter(pa.compute.equal(history["day"], 1)).drop_columns(["day"])
    assert evaluate(
        "MeanPopularity", inputs={"history": history}, where="history.day = 1"
    ) == evaluate("MeanPopularity", inputs={"history": kept})


def add_row(of: str, **values: Any) -> dict[str, pa.Table]:
    """Return an input with one row more."""
    table = WORLD.inputs[of]
    return {
        of: pa.concat_tables(
            [
                table,
                pa.table(
                    {
                        name: pa.array([values[name]], table.schema.field(name).type)
                        for name in values
                    }
                ),
            ]
        )
    }


def test_duplicates_are_merged():
    twice = add_row("history", query_id="1", doc_id="d") | add_row(
        "baseline", query_id="1", doc_id="a", score=-9.0
    )
    asked = ["MeanPopularity", "Unexpectedness@3"]
    assert evaluate(asked, inputs=twice, duplicates="max") == evaluate(asked)


def test_judgments_may_be_left_out_where_none_are_read():
    run, qrels = (make_run(p="ab", q="cd"), build_table(query_id="p", doc_id="a", relevance="1"))
    metrics = ["num_lists", "num_shown@1", "num_shown", "ExposureEntropy(base=2)"]
    assert sqlrank.evaluate(metrics, run=run).to_pylist() == [
        dict(zip(metrics, [2, 2, 4, 2.0], strict=True))
    ]
    assert sqlrank.evaluate(metrics, run=run, qrels=qrels).to_pylist() == [
        dict(zip(metrics, [1, 1, 2, 1.0], strict=True))
    ]
    with pytest.raises(InputError, match=r"no qrels. Ranking metrics need run= and qrels="):
        sqlrank.evaluate(["num_lists", "P@1"], run=run)
    with pytest.raises(InputError, match=r"no qrels. Ranking metrics need run= and qrels="):
        sqlrank.evaluate("num_lists", run=run, queries="judged")


@pytest.mark.parametrize("metric", ["num_lists", "ProviderExposure"])
def test_a_large_run_is_searched_where_no_judgment_tells(metric, monkeypatch):
    monkeypatch.setattr(row_checks, "FULL_DUPLICATE_SEARCH_ROWS", 1)
    given = {"qrels": WORLD.qrels} if metric == "ProviderExposure" else {}
    with pytest.raises(InputError, match=r"\(query_id, doc_id\) occurs more than once"):
        sqlrank.evaluate(
            metric,
            run=pa.concat_tables([WORLD.run, WORLD.run.slice(1, 1)]),
            inputs=WORLD.inputs,
            **given,
        )


def test_items_of_equal_popularity_share_a_rank_without_a_gap():
    """Two of three items have two users each: the third is second by popularity, and first here."""
    history = build_table(query_id="u v u v w", doc_id="a a b b c")
    (row,) = sqlrank.evaluate(
        "Serendipity@1",
        run={"u": {"c": 1.0}},
        qrels={"u": {"c": 1}},
        inputs={"history": history},
        catalog="history",
    ).to_pylist()
    assert list(row.values()) == pytest.approx([(2 - 1) / 3])
