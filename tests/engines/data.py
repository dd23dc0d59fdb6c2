"""Test tables for all engines, with every edge case in them, each as a DuckDB query."""

RUN = """
    SELECT 'q' || (i // 8) AS query_id, 'd' || (i * 7 % 11) AS doc_id, (i * 13 % 5) / 2.0::DOUBLE AS score, i % 8 + 1 AS rank,
        's' || (i // 40) AS system
    FROM range(80) AS t(i)
"""
"""Lists with ties, unjudged documents, queries without judgments; each query is answered by one of
two systems.
"""

QRELS = """
    SELECT 'q' || (i // 6) AS query_id, 'd' || (i * 5 % 11) AS doc_id,
        CASE WHEN i // 6 = 3 THEN 0 ELSE i * 3 % 4 - CASE WHEN i % 7 = 0 THEN 1 ELSE 0 END END AS relevance
    FROM range(66) AS t(i)
"""
"""Judgments of documents retrieved and not, a query that was not answered, one without relevant
documents, negative ones.
"""

SUBTOPICS = """
    SELECT 'q' || (i // 9) AS query_id, 'd' || (i % 9 * 5 % 11) AS doc_id, 's' || (s * (1 + i % 2)) AS subtopic, (i * 3 + s) % 4 - 1 AS relevance
    FROM range(72) AS t(i), range(3) AS u(s)
    WHERE (i + s) % 4 > 0
"""
"""Documents judged for up to three subtopics; subtopics without relevant documents, and negative
grades.
"""

QUERIES = (
    "SELECT 'q' || i AS query_id, i % 3 / 2.0::DOUBLE AS weight, CASE WHEN i % 2 = 0 THEN 'de' ELSE"
    " 'Fr' END AS country, 1 + i * 3 % 7 AS cutoff FROM range(11) AS t(i)"
)
PREDICTIONS = """
    SELECT i % 4 AS shop, 'u' || (i % 7) AS query_id, 'd' || i AS doc_id, i AS rank, i * 7 % 3 // 2 AS label, (i * 11 % 17) / 16.0::DOUBLE AS score,
        (i % 5) / 2.0::DOUBLE AS weight
    FROM range(140) AS t(i)
    UNION ALL SELECT 9, 'u1', 'd141', 141, 0, 0.25, 1
    UNION ALL SELECT NULL, 'u1', 'd142', 142, 1, 0.25, 1
    UNION ALL SELECT 2, 'u1', 'd143', 143, 1, 0.03, 0
"""
"""Scores tied, 0 and 1; weights of 0, of all that has a score; a shop of one class, and rows of no
shop.
"""

NUMBERS = (
    "SELECT i % 3 AS shop, (1 + i * 7 % 23) / 4.0::DOUBLE AS label, (1 + i * 5 % 19) / 4.0::DOUBLE"
    " AS score, (1 + i % 4) / 2.0::DOUBLE AS weight, (1 + i % 9) / 10.0::DOUBLE AS quantile_level,"
    " (i * 5 % 19) / 4.0::DOUBLE AS interval_low, (4 + i * 5 % 19) / 4.0::DOUBLE AS interval_high,"
    " (1 + i % 5) / 2.0::DOUBLE AS seasonal_error FROM range(90) AS t(i)"
)
UNWEIGHTED = "SELECT shop, label, score FROM predictions"
PROBABILITIES = (
    "SELECT query_id, doc_id, relevance / 4 AS relevance FROM qrels WHERE relevance >= 0"
)
HOSTILE = (
    'SELECT score AS "Select", label AS "group by", weight AS "a ""b""", shop AS "order" FROM'
    " predictions"
)
LONG = """
    SELECT 'q' AS query_id, 'd' || i AS doc_id, -i::DOUBLE AS score, 1 + i % 3 AS relevance FROM range(3000) AS t(i)
"""
"""One list whose chance of being read to its end is less than the smallest double."""

RECORDS = """
    SELECT i AS record_id, i % 3 AS shop, CASE WHEN i % 11 <> 5 THEN 'p' || (i * i % 13) END AS predicted_cluster,
        CASE WHEN i % 7 <> 3 THEN 't' || (i * i % 17 // 2) END AS true_cluster, i % 2 AS source,
        CASE WHEN i % 9 <> 4 THEN 'n' || (i * 7 % 23) END AS name
    FROM range(60) AS t(i)
    UNION ALL SELECT 100, NULL, 'p1', 't1', 0, 'n1'
    UNION ALL SELECT 101, NULL, 'p1', 't1', 1, 'n1'
    UNION ALL SELECT 102, 9, 'p1', NULL, 1, NULL
"""
"""Clusters that were split and merged, records without a cluster on either side; shops of one
cluster, and of none.
"""

LISTED = (
    "SELECT record_id, shop, predicted_cluster AS cluster_id FROM records WHERE record_id % 5 <> 0"
)
RESOLVED = "SELECT record_id, true_cluster AS cluster_id FROM records WHERE record_id % 4 <> 0"
CANDIDATES = (
    "SELECT i AS left_id, i * 5 % 60 AS right_id FROM range(60) AS t(i) WHERE i <> i * 5 % 60"
)
HISTORY = "SELECT 'q' || (i // 5) AS query_id, 'd' || (i * 3 % 13) AS doc_id FROM range(45) AS t(i)"
ITEMS = "SELECT 'd' || i AS doc_id, 'p' || (i % 3) AS provider FROM range(2, 13) AS t(i)"
FEATURES = (
    "SELECT 'd' || (i // 2) AS doc_id, 'c' || (i * 5 % 3) AS category, (i % 5 - 1) / 2.0::DOUBLE AS"
    " value FROM range(20) AS t(i)"
)
BASELINE = (
    "SELECT 'q' || (i // 6) AS query_id, 'd' || (i * 5 % 11) AS doc_id, i * 7 % 4 AS score, i % 6 +"
    " 1 AS rank FROM range(54) AS t(i)"
)
CLICKS = """
    SELECT 'q' || (i // 6) AS query_id, 'd' || (i * 5 % 11) AS doc_id, i % 6 + 1 AS rank, i * 7 % 5 // 3 * (1 - i // 6 % 4 // 3) AS clicked,
        1.0::DOUBLE / (i % 6 + 2) AS propensity
    FROM range(66) AS t(i)
"""
"""Queries without a click, one that the run lacks, and clicked documents that it does not have."""

LOGS = """
    SELECT i % 3 AS shop, i * 7 % 5 / 2.0::DOUBLE AS reward, (1 + i * 5 % 9) / 10.0::DOUBLE AS propensity, i * 3 % 8 / 7.0::DOUBLE AS target_propensity,
        i * 11 % 7 / 7.0::DOUBLE AS predicted_reward, i * 5 % 6 / 6.0::DOUBLE AS expected_reward, i // 2 AS unit_id
    FROM range(60) AS t(i)
    UNION ALL SELECT 9, 1.0, 0.5, 0.0, 0.25, 0.5, 100
    UNION ALL SELECT NULL, 1.0, 0.01, 1.0, 0.25, 0.5, 101
"""
"""Actions that the target never takes, a weight of 100; shops of one action, which the target never
takes, and of none.
"""

INTERLEAVED = """
    SELECT i // 2 % 4 AS shop, 's' || (i // 2) AS session_id, CASE WHEN i % 2 = 0 THEN 'A' ELSE 'B' END AS team,
        i * 7 % 5 // 2 * (i // 2 % 4) AS clicks
    FROM range(50) AS t(i)
    UNION ALL SELECT NULL, 's99', 'B', 2
"""
"""Sessions that each of the two rankers won, that neither won, and without clicks, those of shop 0
among them; one with a row of B alone.
"""

SPLITS = """
    SELECT i % 2 AS shop, 'u' || (i * 7 % 11) AS user_id, 'd' || (i * 5 % 13) AS item_id, i * 3 % 40 AS happened_at,
        CASE WHEN i * 3 % 40 < 28 THEN 'train' ELSE 'test' END AS split
    FROM range(60) AS t(i)
    UNION ALL SELECT 9, 'u1', 'd1', 2, 'train'
    UNION ALL SELECT NULL, 'u99', 'd99', 1, 'test'
    UNION ALL SELECT NULL, 'u1', 'd2', 3, 'train'
"""
"""Users and items of both parts and of one; a shop without a test, and rows of no shop, which train
after they test.
"""

CLASSIFIED = """
    SELECT i % 3 AS shop, 'c' || (i * 7 % 5) AS label, CASE WHEN i % 4 < 2 THEN 'c' || (i * 7 % 5) ELSE 'c' || (i * 11 % 7) END AS predicted,
        (i % 5) / 2.0::DOUBLE AS weight, i // 2 AS unit_id
    FROM range(90) AS t(i)
    UNION ALL SELECT 9, 'c1', 'c1', 1, 100
    UNION ALL SELECT NULL, 'c1', 'c2', 2, 101
    UNION ALL SELECT 8, 'c1', 'c2', 0, 102
"""
"""Classes that are observed only, predicted only, and in one shop only; weights of 0; shops of one
class, without weight, and of no shop.
"""

CLASS_SCORES = """
    SELECT i // 4 % 3 AS shop, i // 4 AS prediction_id, 'c' || (i % 4) AS class_id, (i * 7 % 11) / 10.0::DOUBLE AS score, 'c' || (i // 4 * 3 % 5) AS label,
        (i // 4 % 5) / 2.0::DOUBLE AS weight
    FROM range(160) AS t(i)
    UNION ALL SELECT 9, 100, 'c1', 0.5, 'c1', 1
    UNION ALL SELECT NULL, 101, 'c1', 0.5, 'c2', 2
"""
"""Scores of 0 and 1, and tied; labels without a score; shops of one class, and of no shop."""

CLASS_LABELS = """
    SELECT i // 4 % 3 AS shop, i // 4 AS prediction_id, 'c' || (i % 4) AS class_id, i * 7 % 11 // 6 AS label, i * 5 % 13 // 7 AS predicted,
        (i // 4 % 5) / 2.0::DOUBLE AS weight
    FROM range(160) AS t(i)
    UNION ALL SELECT 9, 100, NULL, 0, 0, 1
    UNION ALL SELECT NULL, 101, 'c1', 1, 0, 2
"""
"""Sets of no, some and all classes; weights of 0; a shop without a class, and a prediction of no
shop.
"""

RATINGS = """
    SELECT i // 3 % 3 AS shop, i // 3 AS item_id, 'j' || (i % 3) AS judge_id, CASE WHEN i % 7 <> 3 THEN i // 3 % 4 + i * 5 % 11 % 2 END AS rating
    FROM range(90) AS t(i)
    UNION ALL SELECT 9, 100, 'j1', 2
    UNION ALL SELECT NULL, 101, 'j1', 1
    UNION ALL SELECT NULL, 101, 'j2', 4
    UNION ALL SELECT NULL, 102, 'j1', 1
    UNION ALL SELECT NULL, 102, 'j2', 1
"""
"""Missing ratings; an item of one rating; shops of one item, and of no shop."""

AGREEMENT = (
    [
        "FleissKappa",
        *(
            f"KrippendorffAlpha(level_of_measurement={level})"
            for level in ("nominal", "ordinal", "interval")
        ),
    ],
    {"inputs": {"ratings": "ratings"}, "by": "shop", "confidence": 0.95},
)
"""The metrics of ratings, and options for them."""

UPLIFT = """
    SELECT i % 3 AS shop, i * 7 % 11 // 6 AS label, (i * 11 % 17) / 16.0::DOUBLE AS score, i * 5 % 7 // 4 AS treatment, (i % 5) / 2.0::DOUBLE AS weight
    FROM range(180) AS t(i)
    UNION ALL SELECT 9, 1, 0.5, 1, 1
    UNION ALL SELECT 8, 1, 0.5, 0, 2
    UNION ALL SELECT NULL, 0, 0.25, 0, 1
    UNION ALL SELECT NULL, 1, 0.25, 1, 2
"""
"""Scores tied across arms; weights of 0; shops of one arm, and rows of no shop, which tie."""

JUDGED = """
    SELECT i % 3 AS shop, CASE WHEN i % 4 = 1 OR i % 3 = 0 THEN i * 7 % 11 // 6 END AS label, (i * 7 % 11 + i * 5 % 7) / 16.0::DOUBLE AS score
    FROM range(240) AS t(i)
    UNION ALL SELECT 9, 1, 0.5
    UNION ALL SELECT NULL, NULL, 0.25
"""
"""A shop whose items are all labelled, shops of some labels, of one and of none."""

_SHOWN = {"run": "run", "inputs": {"clicks": "clicks"}, "by": "system"}
_METRICS_OF_CLICKS = ["ClickDCG", "ClickRank", "ClickESS", "ClickClippedShare(clip=2)"]
CLICKED = (
    ("clicks", _METRICS_OF_CLICKS, _SHOWN),
    ("clicks per query", ["ClickDCG(eta=0.5)@3", "ClickRank"], {**_SHOWN, "per_query": True}),
    (
        "clicks of groups",
        _METRICS_OF_CLICKS,
        {
            **_SHOWN,
            "importance_weight": "clip",
            "propensity": "given",
            "queries": "queries",
            "columns": {"weight": "weight"},
            "by": [["queries.country"], []],
        },
    ),
    ("clicks of systems and all", ["ClickDCG@3", "ClickESS"], {**_SHOWN, "by": [["system"], []]}),
    ("eta", ["EtaSweep@3"], {**_SHOWN, "inputs": {"clicks": "clicks", "baseline": "baseline"}}),
)
"""The metrics of clicks, and options for them."""

LABELLED = (
    ["PPIMean", "PPIProportion"],
    {"inputs": {"judged": "judged"}, "by": "shop", "confidence": 0.95},
)
"""The metrics of labels and a judge, and options for them."""

EVIDENCE = """
    SELECT 'q' || (i // 3) AS query_id, 's' || (i * 7 % 4) AS source, i * 37 % 200 AS span_start, i * 37 % 200 + 5 + i * 11 % 60 AS span_end, 1 + i % 2 AS grade
    FROM range(30) AS t(i)
    UNION ALL SELECT 'q1', 'nowhere', 0, 9, 1
    UNION ALL SELECT 'q20', 's1', 900, 950, 1
"""
"""Spans within a chunk, across two, and beyond all; queries of several spans, and one whose only
span is in no chunk.
"""

CHUNKS = (
    "SELECT 'd' || i AS doc_id, 's' || (i % 4) AS source, i // 4 * 40 AS span_start, i // 4 * 40 +"
    " 55 AS span_end FROM range(20) AS t(i)"
)

ON_EVIDENCE = (
    ["nDCG@5", "RR", "R(rel=0.5)@5", "StRecall@5", "num_rel", "num_duplicates"],
    {
        "run": "run",
        "inputs": {"evidence": "evidence", "chunks": "chunks"},
        "columns": {"grade": "grade"},
        "by": "system",
    },
)
"""Metrics of spans of evidence, and options for them."""

QUESTIONS = """
    SELECT 'q' || i AS query_id, CASE
        WHEN i = 3 THEN NULL WHEN i = 4 THEN ' ...' WHEN i = 5 THEN 'two WORDS'
        ELSE 'How do I RESET ' || (i % 5) || ', x_y and why?' || repeat(' Again, again', i % 4)
    END AS text, CASE WHEN i % 2 = 0 THEN 'de' ELSE 'fr' END AS country
    FROM range(30) AS t(i)
"""
"""Questions, of which one has no text, one no words, and some repeat words."""

PASSAGES = """
    SELECT 'd' || i AS doc_id, CASE WHEN i <> 6 THEN repeat('Well, ', i % 3) || 'how do I reset '
        || (i % 7) || CASE WHEN i % 3 = 0 THEN ': X-Y' ELSE '' END || ' and again again'
    END AS text
    FROM range(14) AS t(i)
"""

_SHARES_OF_NGRAMS = [
    "LeakedShare",
    "LeakedShare(n=1,threshold=0.9)",
    "LeakedShare(n=5,threshold=0.1)",
]
_TEXTS = {"queries": "questions", "inputs": {"items": "passages"}}

ON_TEXTS = (
    ("leaked per query", _SHARES_OF_NGRAMS, {**_TEXTS, "per_query": True}),
    ("leaked", _SHARES_OF_NGRAMS, {**_TEXTS, "by": "queries.country"}),
    ("leaked queries", ["LeakedQueries(n=2,threshold=0.5)"], {**_TEXTS, "by": "queries.country"}),
)
"""The metrics of texts, and options for them."""

TABLES = {
    "questions": QUESTIONS,
    "passages": PASSAGES,
    "run": RUN,
    "qrels": QRELS,
    "subtopics": SUBTOPICS,
    "queries": QUERIES,
    "predictions": PREDICTIONS,
    "numbers": NUMBERS,
    "Odd ta'ble": HOSTILE,
    "unweighted": UNWEIGHTED,
    "probabilities": PROBABILITIES,
    "records": RECORDS,
    "listed": LISTED,
    "resolved": RESOLVED,
    "candidates": CANDIDATES,
    "history": HISTORY,
    "items": ITEMS,
    "features": FEATURES,
    "baseline": BASELINE,
    "clicks": CLICKS,
    "logs": LOGS,
    "interleaved": INTERLEAVED,
    "splits": SPLITS,
    "classified": CLASSIFIED,
    "class_scores": CLASS_SCORES,
    "class_labels": CLASS_LABELS,
    "ratings": RATINGS,
    "uplift": UPLIFT,
    "judged": JUDGED,
    "evidence": EVIDENCE,
    "chunks": CHUNKS,
}
