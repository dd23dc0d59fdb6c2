"""Metrics of clicks against their definitions in plain Python, rankkit, cases by hand, and
judgments that clicks were drawn from.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.errors import InputError
from tests.interface.command_line import run_command
from tests.tables import build_table, read_columns
from website.sections import group_by_section

DISCOUNTS = {
    "log2": lambda rank: 1 / math.log2(rank + 1),
    "inverse": lambda rank: 1 / rank,
    "none": lambda _: 1.0,
}
SHOWN = [
    ("q1", "a", 1, 1),
    ("q1", "b", 2, 0),
    ("q1", "c", 3, 1),
    ("q2", "d", 1, 0),
    ("q2", "e", 2, 0),
]
RUN = read_columns(q1="c b a", q2="e d")


@dataclass(frozen=True)
class Log:
    """Lists that were shown, the ranks that were clicked in each, and the lists of another
    system.
    """

    shown: dict[str, list[str]]
    clicked: dict[str, set[int]]
    run: dict[str, list[str]]

    @property
    def clicks(self) -> pa.Table:
        return make_clicks(
            [
                (query, doc, rank, int(rank in self.clicked[query]))
                for query, docs in self.shown.items()
                for rank, doc in enumerate(docs, 1)
            ]
        )

    def weigh(self, eta: float, clip: float = math.inf) -> Iterator[tuple[str, str, float]]:
        """Yield the query, document and weight of each click."""
        for query, ranks in self.clicked.items():
            yield from (
                (query, self.shown[query][rank - 1], min(rank**eta, clip)) for rank in ranks
            )

    def estimate(
        self,
        run: dict[str, list[str]],
        eta: float,
        discount: str = "log2",
        k: int = 99,
        clip: float = math.inf,
    ) -> float:
        """Return the mean over all queries that were shown of the weighted discounts, by the
        formula of Joachims et al.
        """
        total = 0.0
        for query, doc, weight in self.weigh(eta, clip):
            if doc in run.get(query, [])[:k]:
                total += weight * DISCOUNTS[discount](run[query].index(doc) + 1)
        return total / len(self.shown)

    def sum_ranks(self, eta: float) -> float:
        """Return the mean over queries whose clicked documents are all retrieved of the weighted
        sum of ranks.
        """
        sums: dict[str, float] = dict.fromkeys(self.shown, 0.0)
        for query, doc, weight in self.weigh(eta):
            place = self.run[query].index(doc) + 1 if doc in self.run.get(query, []) else math.nan
            sums[query] += weight * place
        defined = [value for value in sums.values() if not math.isnan(value)]
        return sum(defined) / len(defined)


def make_clicks(rows: list[tuple[Any, ...]], **others: Any) -> pa.Table:
    return pa.table(
        {
            **dict(
                zip(
                    ("query_id", "doc_id", "rank", "clicked"),
                    map(list, zip(*rows, strict=True)),
                    strict=True,
                )
            ),
            **others,
        }
    )


def draw_log(seed: int) -> Log:
    """Draw lists of 9 documents, queries without clicks among them, and lists of another system
    that lack queries and documents.
    """
    rng = random.Random(seed)  # noqa: S311
    shown = {f"q{number}": rng.sample([f"d{i}" for i in range(9)], 9) for number in range(40)}
    clicked = {
        query: {rank for rank in range(1, 10) if rng.random() < 0.3 / rank} for query in shown
    }
    run = {
        query: rng.sample(docs, rng.randint(6, 9))
        for query, docs in shown.items()
        if rng.random() < 0.9
    }
    return Log(shown, clicked, run | {"never shown": ["d1"]})


def evaluate(metrics: Any, log: Log, **options: Any) -> dict[str, Any]:
    (row,) = sqlrank.evaluate(
        metrics, run=log.run, inputs={"clicks": log.clicks}, **options
    ).to_pylist()
    return dict(row)


def test_every_metric_has_a_reference():
    there = {file.display_name for file in group_by_section()["clicks"]}
    assert there == {"ClickDCG", "ClickRank", "ClickESS", "ClickClippedShare"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_numbers_follow_the_definitions(seed):
    log = draw_log(seed)
    wanted = {
        f"ClickDCG(discount={name},eta={eta})@{k}": log.estimate(log.run, eta, name, k)
        for name in DISCOUNTS
        for eta in (0, 0.7, 1)
        for k in (1, 3, 50)
    }
    weights = [weight for *_, weight in log.weigh(1.5)]
    wanted |= {
        "ClickDCG(importance_weight=clip,clip=2)": log.estimate(log.run, 1, clip=2),
        "ClickRank(eta=0.5)": log.sum_ranks(0.5),
        "ClickESS(eta=1.5)": sum(weights) ** 2 / sum(weight**2 for weight in weights),
        "ClickClippedShare(eta=1.5,clip=4)": sum(weight > 4 for weight in weights) / len(weights),
    }
    found = evaluate(list(wanted), log)
    assert [*found.values()] == pytest.approx([*wanted.values()], rel=1e-12)


def test_the_numbers_of_rankkit():
    """Calls of rankkit 0.1.0 gave these for 300 lists with 321 clicks: estimate, diagnose,
    sensitivity, and crossover by bisection.
    """
    log = draw_rankkit_log()
    found = evaluate(
        ["ClickDCG", "ClickDCG(discount=inverse)", "ClickDCG(discount=none)@10", "ClickESS"], log
    )
    assert list(found.values()) == pytest.approx(
        [RANKKIT[name] for name in ("dcg", "rr", "recall", "ess")], rel=1e-12
    )
    sweep = sqlrank.evaluate(
        "EtaSweep", run=log.run, inputs={"clicks": log.clicks, "baseline": log.shown}
    ).to_pylist()
    assert [sweep[point]["dcg_difference"] for point in (0, 5, 10, 15, 20)] == pytest.approx(
        RANKKIT["deltas"], rel=1e-9
    )
    assert [row["flips_at"] for row in sweep] == pytest.approx(
        [RANKKIT["crossover"]] * 21, abs=1e-4
    )


def test_cases_by_hand():
    """The clicks of q1 weigh 1 and 3; c is first in the run and a third; q2 has no click and counts
    0.
    """
    log = partial(sqlrank.evaluate, run=RUN, inputs={"clicks": make_clicks(SHOWN)})
    metrics = [
        "ClickDCG", "ClickDCG@1", "ClickDCG(eta=0)", "ClickRank", "ClickESS",
        "ClickClippedShare(clip=2)",
    ]  # fmt: skip
    (row,) = log(metrics).to_pylist()
    assert list(row.values()) == pytest.approx(
        [(3 * 1 + 1 * 0.5) / 2, 3 / 2, 1.5 / 2, (3 * 1 + 1 * 3) / 2, 16 / 10, 1 / 2]
    )
    each = log(["ClickDCG", "ClickRank"], per_query=True).to_pylist()
    assert [(row["ClickDCG"], row["ClickRank"]) for row in each] == [
        pytest.approx((3.5, 6)),
        (0, 0),
    ]


def test_queries_without_a_click_or_a_list_count():
    """Of four queries that were shown, two have no click and one of these no list; that of the run
    alone was never shown.
    """
    rows = [*SHOWN, ("q3", "x", 1, 1), ("q4", "y", 1, 0)]
    table = sqlrank.evaluate(
        ["ClickDCG", "num_q"],
        run=RUN | {"q3": ["x"], "own": ["z"]},
        inputs={"clicks": make_clicks(rows)},
    )
    assert table.to_pylist() == [{"ClickDCG": pytest.approx((3.5 + 1) / 4), "num_q": 4}]
    notes = (table.schema.metadata or {})[b"sqlrank.notes"].decode()
    assert "1 of 4 queries that were shown have no results, and count as empty lists" in notes
    assert "1 of 4 queries of the run were never shown, and are left out" in notes


def test_lists_of_answers_are_evaluated_for_the_queries_that_were_shown():
    answers = build_table(
        query_id="q1 own", retrieved=[["c", "b", "a"], ["z"]], relevant=[["a"], ["z"]]
    )
    found = sqlrank.evaluate(
        "ClickDCG", inputs={"answers": answers, "clicks": make_clicks(SHOWN)}, per_query=True
    ).to_pylist()
    assert found == [
        {"query_id": "q1", "ClickDCG": pytest.approx(3.5)},
        {"query_id": "q2", "ClickDCG": 0},
    ]


def test_a_clicked_document_that_is_not_retrieved():
    found = sqlrank.evaluate(
        ["ClickDCG", "ClickRank"],
        run={"q1": ["c"], "q2": ["d"]},
        inputs={"clicks": make_clicks(SHOWN)},
        per_query=True,
    )
    assert [list(row.values())[1:] for row in found.to_pylist()] == [
        [pytest.approx(3), None],
        [0, 0],
    ]


def test_without_clicks():
    rows = [(query, doc, rank, 0) for query, doc, rank, _ in SHOWN]
    inputs = {"clicks": make_clicks(rows), "baseline": RUN}
    (found,) = sqlrank.evaluate(
        ["ClickDCG", "ClickRank", "ClickESS", "ClickClippedShare"], run=RUN, inputs=inputs
    ).to_pylist()
    assert list(found.values()) == [0, 0, None, None]
    sweep = sqlrank.evaluate("EtaSweep", run=RUN, inputs=inputs).to_pylist()
    assert {
        (row["dcg_difference"], row["ess"], row["clipped_share"], row["flips_at"]) for row in sweep
    } == {(0, None, None, None)}


def test_given_propensities():
    clicks = make_clicks(SHOWN, propensity=[0.5, 0.4, 0.25, 0.5, 0.4])
    metrics = ["ClickDCG", "ClickESS"]
    (row,) = sqlrank.evaluate(
        metrics, run=RUN, inputs={"clicks": clicks}, propensity="given"
    ).to_pylist()
    assert list(row.values()) == pytest.approx([(4 * 1 + 2 * 0.5) / 2, 36 / 20])


def test_the_mean_is_that_of_judgments():
    """Users examine rank r with probability 1 / r and click what is relevant: weighted clicks give
    DCG, and clicks alone another winner.
    """
    rng = random.Random(5)  # noqa: S311
    docs = [f"d{i}" for i in range(8)]
    relevant = {"d1", "d5", "d6", "d7"}
    clicks = [
        (q, doc, rank, int(doc in relevant and rng.random() < 1 / rank))
        for q in range(20_000)
        for rank, doc in enumerate(docs, 1)
    ]
    orders = {"shown": docs, "new": ["d5", "d6", "d7", "d1", "d0", "d2", "d3", "d4"]}
    run = pa.concat_tables(
        [
            pa.table({"system": [name] * 160_000, "query_id": [q for q in range(20_000) for _ in docs], "doc_id": order * 20_000})
            .append_column("score", pa.array([-float(rank) for rank in range(8)] * 20_000))
            for name, order in orders.items()
        ]
    )  # fmt: skip
    found = sqlrank.evaluate(
        "ClickDCG", run=run, inputs={"clicks": make_clicks(clicks)}, by="system", confidence=0.999
    ).to_pylist()
    for row in found:
        dcg = sum(
            DISCOUNTS["log2"](rank)
            for rank, doc in enumerate(orders[row["system"]], 1)
            if doc in relevant
        )
        assert row["ClickDCG.ci_low"] <= dcg <= row["ClickDCG.ci_high"]
        assert row["ClickDCG.ci_high"] - row["ClickDCG.ci_low"] < 0.2
        naive = sqlrank.evaluate(
            "ClickDCG(eta=0)",
            run=run,
            inputs={"clicks": make_clicks(clicks)},
            where=f"system = '{row['system']}'",
        )
        assert naive[0][0].as_py() < 0.6 * dcg


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_sweep(seed):
    """The winner changes where the reference's difference does, and the columns are those of the
    metrics at each eta.
    """
    log = draw_log(seed)
    rows = sqlrank.evaluate(
        "EtaSweep(clip=3,importance_weight=clip)@5",
        run=log.run,
        inputs={"clicks": log.clicks, "baseline": log.shown},
    ).to_pylist()
    assert [row["eta"] for row in rows] == pytest.approx([point / 10 for point in range(21)])

    def difference(eta):
        return log.estimate(log.run, eta, k=5, clip=3) - log.estimate(log.shown, eta, k=5, clip=3)

    for row in rows:
        weights = [weight for *_, weight in log.weigh(row["eta"], 3)]
        clipped = sum(weight > 3 for *_, weight in log.weigh(row["eta"])) / len(weights)
        ess = sum(weights) ** 2 / sum(weight**2 for weight in weights)
        found = [
            row[name]
            for name in (
                "click_dcg", "baseline_click_dcg", "dcg_difference", "ess", "clipped_share",
            )
        ]  # fmt: skip
        dcgs = [log.estimate(run, row["eta"], k=5, clip=3) for run in (log.run, log.shown)]
        assert found == pytest.approx([*dcgs, dcgs[0] - dcgs[1], ess, clipped], abs=1e-12)
    etas = [step / 1000 for step in range(2001)]
    changes = [high for low, high in pairwise(etas) if difference(low) * difference(high) < 0]
    assert {row["flips_at"] is None for row in rows} == {not changes}
    assert not changes or rows[0]["flips_at"] == pytest.approx(changes[0], abs=0.0011)


def test_no_winner_changes_where_both_are_equal():
    log = draw_log(1)
    rows = sqlrank.evaluate(
        "EtaSweep", run=log.shown, inputs={"clicks": log.clicks, "baseline": log.shown}
    ).to_pylist()
    assert {(row["dcg_difference"], row["flips_at"]) for row in rows} == {(0, None)}


def test_the_previous_run_is_the_baseline():
    log = draw_log(2)
    rows = sqlrank.evaluate(
        "EtaSweep",
        run={"shown": log.shown, "new": log.run},
        inputs={"clicks": log.clicks},
        by="system",
    ).to_pylist()
    alone = sqlrank.evaluate(
        "EtaSweep", run=log.run, inputs={"clicks": log.clicks, "baseline": log.shown}
    ).to_pylist()
    assert [row["dcg_difference"] for row in rows if row["system"] == "new"] == pytest.approx(
        [row["dcg_difference"] for row in alone]
    )


def test_systems_are_compared_over_all_queries_that_were_shown():
    log = draw_log(3)
    (row,) = sqlrank.compare(
        "ClickDCG",
        run={"old": log.shown, "new": log.run},
        inputs={"clicks": log.clicks},
        baseline="old",
    ).to_pylist()
    assert row["n_units"] == len(log.shown)
    assert row["difference"] == pytest.approx(log.estimate(log.run, 1) - log.estimate(log.shown, 1))


def test_the_command(tmp_path):
    texts = {
        "clicks": "query_id,doc_id,rank,clicked\nq,a,1,0\nq,b,2,1\nr,a,1,0\n",
        "run": "query_id,doc_id,score\nq,b,2\nq,a,1\nr,a,1\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text, "utf-8")
    files = ["--run", str(tmp_path / "run.csv"), "--input", f"clicks={tmp_path / 'clicks.csv'}"]
    assert (
        run_command("evaluate", "ClickDCG", "ClickESS", *files, "--format", "csv")
        == "ClickDCG,ClickESS\n1.0,1.0\n"
    )


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("clicked", None, "1 row: clicked is NULL"),
        ("clicked", 2, "1 row: clicked is neither 0 nor 1"),
        ("rank", 0, "1 row: rank is not a whole number from 1"),
        ("rank", 1.5, "1 row: rank is not a whole number from 1"),
        ("propensity", 0.0, "1 row: propensity is not a probability above 0"),
        # its inverse has no square
        ("propensity", 1e-160, "1 row: propensity is not a probability above 0 (at least 1e-90)"),
        ("propensity", 1.5, "1 row: propensity is not a probability above 0"),
    ],
)
def test_rows_that_are_refused(name, value, expected):
    table = make_clicks(SHOWN, propensity=[1.0] * 5)
    rows = table.to_pydict()
    rows[name][1] = value
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate(
            "ClickDCG",
            run=RUN,
            inputs={"clicks": pa.table(rows)},
            propensity="given" if name == "propensity" else "rank",
        )
    assert expected in str(caught.value)


def draw_rankkit_log() -> Log:
    """Draw 300 lists of 12 documents, and lists that move clicked documents from below rank 4
    up.
    """
    rng = random.Random(3)  # noqa: S311
    shown = {f"q{number}": rng.sample([f"d{i}" for i in range(12)], 12) for number in range(300)}
    clicked = {
        query: {rank for rank in range(1, 13) if rng.random() < 0.25 / rank**0.7} for query in shown
    }
    run = {}
    for query, docs in shown.items():
        places = {
            doc: rank + rng.gauss(0, 3) - (2.2 if rank > 4 and rank in clicked[query] else 0)
            for rank, doc in enumerate(docs, 1)
        }
        run[query] = sorted(docs, key=places.__getitem__)
    return Log(shown, clicked, run)


RANKKIT = {
    "dcg": 2.1899071774651917,
    "rr": 1.4019570707070708,
    "recall": 4.523333333333333,
    "ess": 209.41590214067278,
    "deltas": [
        -0.02426089639550766, 0.058315976421798976, 0.27858860914182726, 0.8832268487620247,
        2.588432520144579,
    ],
    "crossover": 0.20211961260065436,
}  # fmt: skip
