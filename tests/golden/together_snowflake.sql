-- sqlrank 0.1.0: nDCG@10, AUC
-- plan: lists=plain, ranking=sorted, order=ranked
-- for another: ranking=counted, where queries have three judged documents or fewer and lists are long; order=bucketed, if one group alone is more than a worker holds
WITH predictions AS (
  /* predictions: what was predicted: a row per example */
  SELECT
    "MODEL",
    CAST(score AS DOUBLE) AS score,
    CAST(label AS DOUBLE) AS label,
    query_id, doc_id
  FROM shop.eval.predictions
), qrels AS (
  /* qrels: what was judged: a row per document of a query */
  SELECT
    "MODEL", query_id, doc_id,
    label AS relevance
  FROM predictions
  WHERE NOT label IS NULL
), topics AS (
  /* relations/topics/truth.sql: one row per query to evaluate: every query with a judgment, answered or
   not. */
  SELECT
    "MODEL", query_id
  FROM qrels
  GROUP BY "MODEL", query_id
), judgments AS (
  /* relations/judgments.sql: one row per judged document of a list that is evaluated, retrieved or not. */
  SELECT
    l."MODEL", l.query_id, j.doc_id, j.relevance
  FROM qrels AS j
  JOIN topics AS l ON l."MODEL" IS NOT DISTINCT FROM j."MODEL" AND l.query_id = j.query_id
), retrieved AS (
  /* relations/retrieved/nonrelevant.sql: one row per retrieved document; documents without a judgment
   keep their place. */
  SELECT
    l."MODEL", l.query_id, r.doc_id, r.score
  FROM predictions AS r
  JOIN topics AS l ON l."MODEL" IS NOT DISTINCT FROM r."MODEL" AND l.query_id = r.query_id
), ranked AS (
  /* relations/ranked/doc_desc.sql: one row per retrieved document with its rank; equal scores by doc_id,
   greatest first, as trec_eval. */
  SELECT
    "MODEL", query_id, doc_id, rank
  FROM (
    SELECT
      "MODEL", query_id, doc_id,
      ROW_NUMBER() OVER (PARTITION BY "MODEL", query_id ORDER BY score DESC, doc_id DESC) AS rank
    FROM retrieved
  ) AS numbered
), judged AS (
  /* relations/judged/placed.sql: one row per judged document with its rank, NULL where it was not
   retrieved. docs is 1 and chance is 1: each row is one document that certainly stands at its rank. */
  SELECT
    j."MODEL", j.query_id, j.relevance, r.rank,
    CAST(1 AS DOUBLE) AS docs,
    CAST(1 AS DOUBLE) AS chance
  FROM judgments AS j
  LEFT JOIN ranked AS r
    ON r."MODEL" IS NOT DISTINCT FROM j."MODEL" AND r.query_id = j.query_id AND r.doc_id = j.doc_id
), valued AS (
  /* relations/valued.sql: one row per document of positive relevance, which is what can have a gain. */
  SELECT
    "MODEL", query_id, relevance, rank, docs, chance
  FROM judged
  WHERE relevance > 0
), weighed AS (
  /* relations/weighed.sql: the documents of positive relevance with their worth, which the best possible
   order is sorted by. */
  SELECT
    "MODEL", query_id, relevance, rank, docs, chance,
    docs * relevance AS worth
  FROM valued
), graded AS (
  /* relations/graded/judged.sql: one row per document of positive relevance; ideal_rank is its place in
   the best possible order. */
  SELECT
    "MODEL", query_id, relevance, rank, docs, chance,
    ROW_NUMBER() OVER (PARTITION BY "MODEL", query_id ORDER BY worth DESC) AS ideal_rank
  FROM weighed
), discounted AS (
  /* relations/discounted.sql: one row per document of positive relevance with its gain discounted at its
   rank (discounted_gain) and at its place in the best possible order (ideal_gain), which leaves out
   what has a gain below 0. */
  SELECT
    "MODEL", query_id, rank, ideal_rank,
    chance * relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(rank + 1 AS DOUBLE))) AS discounted_gain,
    CASE
      WHEN relevance > 0
      THEN docs * relevance * (LN(CAST(2 AS DOUBLE)) / LN(CAST(ideal_rank + 1 AS DOUBLE)))
      ELSE 0
    END AS ideal_gain
  FROM graded
), totals AS (
  /* relations/totals.sql: one row per group: how many predictions it has. */
  SELECT
    "MODEL",
    COUNT(*) AS all_rows
  FROM predictions
  GROUP BY "MODEL"
), thresholds AS (
  /* relations/thresholds/ranked.sql: one row per distinct score of a positive, highest first, where
   every prediction weighs 1. */
  SELECT
    "MODEL", positives,
    rows_upto - rows_above - positives AS negatives,
    all_rows - rows_upto - all_positives + positives_upto AS negatives_below,
    all_positives,
    all_rows - all_positives AS all_negatives
  FROM (
    SELECT
      t."MODEL", t.positives, t.rows_above,
      FLOOR(t.share_upto * n.all_rows + CAST(0.5 AS DOUBLE)) AS rows_upto,
      n.all_rows,
      SUM(t.positives) OVER (PARTITION BY t."MODEL" ORDER BY t.score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS positives_upto,
      SUM(t.positives) OVER (PARTITION BY t."MODEL") AS all_positives
    FROM (
      SELECT
        "MODEL", score,
        COUNT(*) AS positives,
        MAX(place) - 1 AS rows_above,
        MAX(share_upto) AS share_upto
      FROM (
        SELECT
          "MODEL", label, score,
          RANK() OVER (PARTITION BY "MODEL" ORDER BY score DESC) AS place,
          CUME_DIST() OVER (PARTITION BY "MODEL" ORDER BY score DESC) AS share_upto
        FROM predictions
      ) AS ranked
      WHERE label = 1
      GROUP BY "MODEL", score
    ) AS t
    JOIN totals AS n ON n."MODEL" IS NOT DISTINCT FROM t."MODEL"
  ) AS counted
), by_discounted AS (
  /* one row per list */
  SELECT
    "MODEL", query_id,
    /* nDCG: discounted gain of the first k documents over that of the best possible order. */
    SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_gain ELSE 0 END), 0) AS ndcg_at_10
  FROM discounted
  GROUP BY "MODEL", query_id
), by_thresholds AS (
  /* one row per group */
  SELECT
    "MODEL",
    /* AUC: area under the ROC curve: how probably a positive is scored above a negative; a tie counts half. */
    SUM(
      CAST(positives AS DOUBLE) / NULLIF(all_positives, 0) * ((negatives_below + CAST(0.5 AS DOUBLE) * negatives) / NULLIF(all_negatives, 0))
    ) AS auc
  FROM thresholds
  GROUP BY "MODEL"
), per_query AS (
  /* one row per query to evaluate, with the value of every metric */
  SELECT
    l."MODEL",
    COALESCE(by_discounted.ndcg_at_10, 0) AS ndcg_at_10
  FROM topics AS l
  LEFT JOIN by_discounted
    ON by_discounted."MODEL" IS NOT DISTINCT FROM l."MODEL" AND by_discounted.query_id = l.query_id
), by_predictions AS (
  /* one row per group */
  SELECT
    "MODEL"
  FROM predictions
  GROUP BY "MODEL"
), over_lists AS (
  /* one row per group: its lists, aggregated */
  SELECT
    "MODEL",
    AVG(ndcg_at_10) AS ndcg_at_10
  FROM per_query
  GROUP BY "MODEL"
)
SELECT
  by_predictions."MODEL",
  over_lists.ndcg_at_10 AS ndcg_at_10,
  by_thresholds.auc AS auc
FROM by_predictions
LEFT JOIN by_thresholds ON by_thresholds."MODEL" IS NOT DISTINCT FROM by_predictions."MODEL"
LEFT JOIN over_lists ON over_lists."MODEL" IS NOT DISTINCT FROM by_predictions."MODEL"
ORDER BY by_predictions."MODEL" NULLS FIRST;
