"""Invariances of metrics beyond accuracy: order of rows, names, and repeated systems."""

import random
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from tests.lanes import select_few
from tests.numbers.references.recommendations import (
    GROUP_METRICS,
    LIST_METRICS,
    World,
    draw_world,
    write_cutoff,
)
from tests.tables import build_table

DATA = draw_world(11)
METRICS = [
    *(name + write_cutoff(name, 4) for name in [*GROUP_METRICS, *LIST_METRICS]),
    *(f"IntraListDiversity(distance={distance})@4" for distance in ("cosine", "category")),
]


def evaluate(
    run: pa.Table = DATA.run,
    qrels: pa.Table = DATA.qrels,
    inputs: Any = DATA.inputs,
    **options: Any,
) -> list[dict[str, Any]]:
    return sqlrank.evaluate(
        METRICS, run=run, qrels=qrels, inputs=inputs, queries="retrieved", **options
    ).to_pylist()


def shuffle_rows(table: pa.Table) -> pa.Table:
    places = list(range(len(table)))
    random.Random(5).shuffle(places)  # noqa: S311
    return table.take(places)


def assert_same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> None:
    assert len(one) == len(other) > 0
    for left, right in zip(one, other, strict=True):
        assert left == pytest.approx(right, abs=1e-12, nan_ok=False)


@pytest.mark.slow
def test_the_order_of_rows():
    inputs = {name: shuffle_rows(table) for name, table in DATA.inputs.items()}
    assert_same(evaluate(shuffle_rows(DATA.run), shuffle_rows(DATA.qrels), inputs), evaluate())


@pytest.mark.slow
def test_names_of_documents_users_providers_and_categories():
    def doc(name):
        return f"x{99 - int(name[1:]):02}"

    def renamed(lists):
        return {f"{user}'": [doc(name) for name in docs] for user, docs in lists.items()}

    other = World(
        renamed(DATA.lists),
        renamed(DATA.history),
        {doc(name): f"of {provider}" for name, provider in DATA.items.items()},
        {
            doc(name): {f"{9 - ord(category)}": value for category, value in values.items()}
            for name, values in DATA.features.items()
        },
        renamed(DATA.baseline),
        renamed(DATA.relevant),
    )
    assert_same(evaluate(other.run, other.qrels, other.inputs), evaluate())


@pytest.mark.slow
def test_two_systems_that_are_one():
    both = pa.concat_tables(
        [DATA.run.append_column("system", pa.array([name] * len(DATA.run))) for name in ("a", "b")]
    )
    (alone,) = evaluate()
    assert_same(
        [{name: row[name] for name in METRICS} for row in evaluate(both, by="system")],
        [alone, alone],
    )


@pytest.mark.slow
def test_values_of_features_are_directions():
    features = DATA.inputs["features"]
    longer = features.set_column(
        2, "value", pa.array([7 * value for value in features["value"].to_pylist()])
    )
    nothing = build_table(doc_id="d1 d2", category="none none", value="0.0 0.0")
    assert_same(
        evaluate(inputs=DATA.inputs | {"features": pa.concat_tables([longer, nothing])}), evaluate()
    )


@pytest.mark.slow
@pytest.mark.parametrize("lists", select_few(["input", "integer"], 1))
def test_a_row_per_list_is_what_a_list_alone_gives(lists):
    rows = evaluate(per_query=True, plan={"list_key": lists})
    for row in rows[:2]:
        (alone,) = evaluate(
            DATA.run.filter(pa.compute.equal(DATA.run["query_id"], row["query_id"])), check="off"
        )
        assert_same([{name: row[name] for name in METRICS}], [alone])
