"""Leaked queries against sets of n-grams in plain Python, by hand, and undefined cases."""

import random
import re
import sqlite3
from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest

import sqlrank

QUERIES = {
    "reset": "How do I reset my password?",
    "fox": "the quick brown fox jumps over",
    "short": "too short",
    "none": None,
    "twice": "again and again and again and again",
}
ITEMS = {
    "faq": "To reset: HOW DO I RESET my password, they ask.",
    "poem": "The Quick, brown fox sleeps. Fox jumps over",
    "words": "I and again",
    "empty": None,
}


def make_tables(
    queries: dict[str, str | None], items: dict[str, str | None], **columns: Any
) -> dict[str, Any]:
    texts = {"queries": ("query_id", queries), "items": ("doc_id", items)}
    tables = {
        role: pa.table({key: list(rows), "text": pa.array(list(rows.values()), pa.string())})
        for role, (key, rows) in texts.items()
    }
    for name, values in columns.items():
        tables["queries"] = tables["queries"].append_column(name, pa.array(values))
    return {"queries": tables["queries"], "inputs": {"items": tables["items"]}}


def list_ngrams(text: str | None, n: int) -> set[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", (text or "").lower())
    return {tuple(words[start : start + n]) for start in range(len(words) - n + 1)}


def contain(query: str | None, item: str | None, n: int) -> float | None:
    """Return the share of the n-grams of a query in an item (Broder 1997), None without any."""
    ngrams = list_ngrams(query, n)
    return len(ngrams & list_ngrams(item, n)) / len(ngrams) if ngrams else None


def test_cases_by_hand():
    """Of the four trigrams of the fox three are in the poem, if not in a row; of two different ones
    of "twice", "I and again" has none.
    """
    tables = make_tables(QUERIES, ITEMS)
    metrics = [
        "LeakedShare",
        "LeakedShare(threshold=0.75)",
        "LeakedShare(threshold=0.76)",
        "LeakedShare(n=2,threshold=0.5)",
    ]
    table = sqlrank.evaluate(metrics, **tables, per_query=True)
    assert {row.pop("query_id"): list(row.values()) for row in table.to_pylist()} == {
        "reset": [1, 1, 1, 1],
        "fox": [1, 1, 0, 1],
        "short": [None, None, None, 0],
        "none": [None] * 4,
        "twice": [0, 0, 0, 1],
    }
    mean = sqlrank.evaluate(metrics, **tables, confidence=0.95)
    assert mean.select(metrics).to_pylist() == [
        dict(zip(metrics, [2 / 3, 2 / 3, 1 / 3, 3 / 4], strict=True))
    ]
    assert mean["LeakedShare.n_units"].to_pylist() == [3]
    for metric, number in (("LeakedShare", 2), ("LeakedShare(n=2)", 1)):
        note = (
            f"{number} of 5 queries are left out of {metric} (undefined: a query with fewer than n"
            " words)"
        )
        assert sqlrank.evaluate(metric, **tables).schema.metadata[b"sqlrank.notes"].decode() == note
    rows = sqlrank.evaluate("LeakedQueries(threshold=0.75)", **tables).to_pylist()
    assert [
        (row["point"], row["query_id"], row["doc_id"], row["contained_share"]) for row in rows
    ] == [(1, "reset", "faq", 1.0), (2, "fox", "poem", 0.75)]


WORDS = ["a", "B", "Éa", "x1", "7", "日本", "don't", "ß_y"]


def draw_text(rng: random.Random, words: int) -> str | None:
    text = "".join(
        rng.choice(WORDS[: rng.choice([2, 8])]) + rng.choice([" ", ", ", "-", "\n"])
        for _ in range(rng.randrange(words))
    )
    return text if rng.random() < 0.9 else None


@pytest.mark.one_in(4)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_shares_are_those_of_sets(n):
    rng = random.Random(n)  # noqa: S311
    queries = {f"q{number}": draw_text(rng, 12) for number in range(60)}
    items = {f"d{number}": draw_text(rng, 40) for number in range(30)}
    tables = make_tables(queries, items)
    shares = {
        (query, item): contain(queries[query], items[item], n)
        for query in queries
        for item in items
    }
    for threshold in (0.25, 0.6, 1):
        setting = f"n={n},threshold={threshold}"
        rows = sqlrank.evaluate(f"LeakedShare({setting})", names="plain", **tables, per_query=True)
        found = dict(zip(rows["query_id"].to_pylist(), rows[1].to_pylist(), strict=True))
        for query in queries:
            greatest = max(
                (share for item in items if (share := shares[query, item]) is not None),
                default=None,
            )
            assert found[query] == (None if greatest is None else greatest >= threshold), query
        named = sqlrank.evaluate(f"LeakedQueries({setting})", **tables).to_pylist()
        wanted = sorted(
            (-share, *pair)
            for pair, share in shares.items()
            if share is not None and share >= threshold
        )
        assert [
            (-row["contained_share"], row["query_id"], row["doc_id"]) for row in named
        ] == wanted
    assert 0 < sum(value for value in found.values() if value is not None) < len(queries)


def test_groups_weights_and_thresholds():
    tables = make_tables(
        QUERIES, ITEMS, country=["de", "fr", "fr", "fr", "de"], weight=[1.0, 2.0, 3.0, 1.0, 4.0]
    )
    rows = sqlrank.evaluate("LeakedShare", **tables, by="country", aggregate="wmean").to_pylist()
    assert rows == [{"country": "de", "LeakedShare": 1 / 5}, {"country": "fr", "LeakedShare": 1.0}]
    named = sqlrank.evaluate("LeakedQueries", **tables, by="country").to_pylist()
    assert [(row["country"], row["point"], row["query_id"], row["doc_id"]) for row in named] == [
        ("de", 1, "reset", "faq"),
        ("fr", 1, "fox", "poem"),
    ]
    sliced = sqlrank.evaluate("LeakedQueries", **tables, by=[["country"], []]).to_pylist()
    assert [(row["slice"], row["point"], row["query_id"]) for row in sliced] == [
        ("all", 1, "reset"),
        ("all", 2, "fox"),
        ("country", 1, "reset"),
        ("country", 1, "fox"),
    ]
    run = {name: {query: {"faq": 1.0} for query in QUERIES} for name in ("old", "new")}
    each = sqlrank.evaluate(
        ["LeakedShare", "num_ret"],
        run=run,
        qrels={query: {"faq": 1} for query in QUERIES},
        **tables,
    ).to_pylist()
    assert [(row["system"], row["LeakedShare"], row["num_ret"]) for row in each] == [
        ("new", 3 / 7, 5),
        ("old", 3 / 7, 5),
    ]


def test_sqlite_gets_the_function_that_lists_words():
    """Letters of all alphabets are in lower case, which LOWER of SQLite leaves as they are."""
    tables = make_tables(QUERIES | {"été": "L'ÉTÉ DERNIER, là"}, ITEMS | {"là": "l'été dernier là"})
    expected = sqlrank.evaluate("LeakedShare", **tables, per_query=True)
    with closing(sqlite3.connect(":memory:")) as connection:
        for name, table in {"q": tables["queries"], "d": tables["inputs"]["items"]}.items():
            connection.execute(f"CREATE TABLE {name} ({', '.join(table.column_names)})")
            rows = zip(*table.to_pydict().values(), strict=True)
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)
        found = sqlrank.evaluate(
            "LeakedShare", queries="q", inputs={"items": "d"}, connection=connection, per_query=True
        )
    assert found.to_pylist() == expected.to_pylist()
