-- sqlrank 0.1.0: nDCG@10, AP, RR
--   functions/aggregate/wmean.sql
--   functions/denominator/relevant.sql
--   functions/discount/log2.sql
--   functions/gain/linear.sql
--   functions/no_relevant/zero.sql
--   metrics/ranking/ap.sql
--   metrics/ranking/ndcg.sql
--   metrics/ranking/rr.sql
--   relations/discounted.sql
--   relations/graded/judged.sql
--   relations/judged/placed.sql
--   relations/judgments.sql
--   relations/lists/plain.sql
--   relations/ranked/doc_desc.sql
--   relations/relevant/hits_only.sql
--   relations/retrieved/nonrelevant.sql
--   relations/topics/truth.sql
--   relations/valued.sql
--   relations/weighed.sql
WITH topics AS (
  /* one row per query to evaluate: every query with a judgment, answered or not. */
  SELECT
    systems."MODEL",
    asked.query_id
  FROM (
    SELECT
      query_id
    FROM (
      SELECT
        "USER_ID" AS query_id,
        "ITEM_ID" AS doc_id,
        "STARS" AS relevance
      FROM shop.eval.bought
      WHERE
        "DAY" = '2026-01-01'
    ) AS qrels
    GROUP BY
      query_id
  ) AS asked
  CROSS JOIN (
    SELECT
      "MODEL"
    FROM (
      SELECT
        "MODEL",
        "USER_ID" AS query_id,
        "ITEM_ID" AS doc_id,
        "PREDICTED" AS score,
        CAST(NULL AS DOUBLE) AS rank
      FROM shop.eval.recommended
      WHERE
        "DAY" = '2026-01-01'
    ) AS run
    GROUP BY
      "MODEL"
  ) AS systems
), lists AS (
  /* one row per ranked list to evaluate, under the ids the input has. */
  SELECT
    "MODEL",
    query_id
  FROM topics
), judgments AS (
  /* one row per judged document of a list that is evaluated, retrieved or not. */
  SELECT
    l."MODEL",
    l.query_id,
    j.doc_id,
    j.relevance
  FROM (
    SELECT
      "USER_ID" AS query_id,
      "ITEM_ID" AS doc_id,
      "STARS" AS relevance
    FROM shop.eval.bought
    WHERE
      "DAY" = '2026-01-01'
  ) AS j
  JOIN lists AS l
    ON l.query_id = j.query_id
), retrieved AS (
  /* one row per retrieved document; documents without a judgment keep their place. */
  SELECT
    r."MODEL",
    l.query_id,
    r.doc_id,
    r.score,
    r.rank AS given_rank
  FROM (
    SELECT
      "MODEL",
      "USER_ID" AS query_id,
      "ITEM_ID" AS doc_id,
      "PREDICTED" AS score,
      CAST(NULL AS DOUBLE) AS rank
    FROM shop.eval.recommended
    WHERE
      "DAY" = '2026-01-01'
  ) AS r
  JOIN lists AS l
    ON l."MODEL" = r."MODEL" AND l.query_id = r.query_id
), ranked AS (
  /* one row per retrieved document with its rank; equal scores by doc_id, greatest first, as trec_eval. */
  SELECT
    "MODEL",
    query_id,
    doc_id,
    rank,
    CASE WHEN retrieved_docs > 2147483647 THEN 2147483647 ELSE retrieved_docs END AS num_ret
  FROM (
    SELECT
      "MODEL",
      query_id,
      doc_id,
      ROW_NUMBER() OVER (PARTITION BY "MODEL", query_id ORDER BY score DESC, doc_id DESC) AS rank,
      COUNT(*) OVER (PARTITION BY "MODEL", query_id) AS retrieved_docs
    FROM retrieved
  ) AS numbered
), judged AS (
  /* one row per judged document with its rank, NULL where it was not retrieved. docs is 1 and chance is
   1: each row is one document that certainly stands at its rank. */
  SELECT
    j."MODEL",
    j.query_id,
    j.relevance,
    r.rank,
    r.num_ret,
    CAST(1 AS DOUBLE) AS docs,
    CAST(1 AS DOUBLE) AS chance
  FROM judgments AS j
  LEFT JOIN ranked AS r
    ON r."MODEL" = j."MODEL" AND r.query_id = j.query_id AND r.doc_id = j.doc_id
), valued AS (
  /* one row per document of positive relevance, which is what can have a gain. */
  SELECT
    "MODEL",
    query_id,
    relevance,
    rank,
    num_ret,
    docs,
    chance
  FROM judged
  WHERE
    relevance > 0
), weighed AS (
  /* the documents of positive relevance with their worth, which the best possible order is sorted by. */
  SELECT
    "MODEL",
    query_id,
    relevance,
    rank,
    num_ret,
    docs,
    chance,
    docs * relevance AS worth
  FROM valued
), graded AS (
  /* one row per document of positive relevance; ideal_rank is its place in the best possible order. */
  SELECT
    "MODEL",
    query_id,
    relevance,
    rank,
    docs,
    chance,
    ROW_NUMBER() OVER (PARTITION BY "MODEL", query_id ORDER BY worth DESC) AS ideal_rank
  FROM weighed
), discounted AS (
  /* one row per document of positive relevance with its gain discounted at its rank (discounted_gain)
   and at its place in the best possible order (ideal_gain), which leaves out what has a gain below
   0. */
  SELECT
    "MODEL",
    query_id,
    rank,
    ideal_rank,
    chance * relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(rank + 1 AS DOUBLE))) AS discounted_gain,
    CASE
      WHEN relevance > 0
      THEN docs * relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(ideal_rank + 1 AS DOUBLE)))
      ELSE 0
    END AS ideal_gain
  FROM graded
), relevant AS (
  /* one row per relevant document; hit counts them in the order of their ranks, unretrieved ones last. */
  SELECT
    "MODEL",
    query_id,
    relevance,
    rank,
    num_ret,
    docs,
    chance,
    ROW_NUMBER() OVER (PARTITION BY "MODEL", query_id ORDER BY place) AS hit,
    SUM(docs) OVER (PARTITION BY "MODEL", query_id) AS num_rel
  FROM (
    SELECT
      "MODEL",
      query_id,
      relevance,
      rank,
      num_ret,
      docs,
      chance,
      CASE WHEN docs = 0 THEN 2147483647 WHEN rank IS NULL THEN 2147483646 ELSE rank END AS place
    FROM judged
    WHERE
      relevance >= 1
  ) AS placed
), by_discounted AS (
  /* one row per list: the metrics that read this relation */
  SELECT
    "MODEL",
    query_id,
    CAST(SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END) AS DOUBLE)
    / CAST(NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_gain ELSE 0 END), 0) AS DOUBLE) AS ndcg_at_10
  FROM discounted
  GROUP BY
    "MODEL",
    query_id
), by_relevant AS (
  /* one row per list: the metrics that read this relation */
  SELECT
    "MODEL",
    query_id,
    COALESCE(
      CAST(SUM(CASE WHEN NOT rank IS NULL THEN CAST(hit AS DOUBLE) / CAST(rank AS DOUBLE) ELSE 0 END) AS DOUBLE)
      / CAST(NULLIF(SUM(docs), 0) AS DOUBLE),
      0
    ) AS ap,
    MAX(CASE WHEN NOT rank IS NULL THEN CAST(1 AS DOUBLE) / CAST(rank AS DOUBLE) ELSE 0 END) AS rr
  FROM relevant
  GROUP BY
    "MODEL",
    query_id
), per_query AS (
  /* one row per query to evaluate, with the value of every metric */
  SELECT
    l."MODEL",
    l.query_id,
    a.weight,
    COALESCE(by_discounted.ndcg_at_10, 0) AS ndcg_at_10,
    COALESCE(by_relevant.ap, 0) AS ap,
    COALESCE(by_relevant.rr, 0) AS rr
  FROM lists AS l
  LEFT JOIN by_discounted
    ON by_discounted.query_id = l.query_id AND by_discounted."MODEL" = l."MODEL"
  LEFT JOIN by_relevant
    ON by_relevant.query_id = l.query_id AND by_relevant."MODEL" = l."MODEL"
  LEFT JOIN (
    SELECT
      "USER_ID" AS query_id,
      "REVENUE" AS weight
    FROM shop.eval.users
  ) AS a
    ON a.query_id = l.query_id
)
SELECT
  "MODEL",
  CAST(SUM(weight * ndcg_at_10) AS DOUBLE)
  / CAST(NULLIF(SUM(CASE WHEN ndcg_at_10 IS NULL THEN 0 ELSE weight END), 0) AS DOUBLE) AS ndcg_at_10,
  CAST(SUM(weight * ap) AS DOUBLE)
  / CAST(NULLIF(SUM(CASE WHEN ap IS NULL THEN 0 ELSE weight END), 0) AS DOUBLE) AS ap,
  CAST(SUM(weight * rr) AS DOUBLE)
  / CAST(NULLIF(SUM(CASE WHEN rr IS NULL THEN 0 ELSE weight END), 0) AS DOUBLE) AS rr
FROM per_query
GROUP BY
  "MODEL"
ORDER BY
  "MODEL" NULLS FIRST;
