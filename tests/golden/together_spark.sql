-- sqlrank 0.1.0: nDCG@10, AUC
-- plan: lists=plain, ranking=listed, order=ranked
-- for another: ranking=sorted, where a list does not fit an array, or thousands of its documents are judged; order=bucketed, if one group alone is more than a worker holds
WITH predictions AS (
  /* predictions: what was predicted: a row per example */
  SELECT
    `model`,
    CAST(score AS DOUBLE) AS score,
    CAST(label AS DOUBLE) AS label,
    query_id, doc_id
  FROM shop.eval.predictions
), qrels AS (
  /* qrels: what was judged: a row per document of a query */
  SELECT
    `model`, query_id, doc_id,
    label AS relevance
  FROM predictions
  WHERE NOT label IS NULL
), topics AS (
  /* relations/topics/truth.sql: one row per query to evaluate: every query with a judgment, answered or
   not. */
  SELECT
    `model`, query_id
  FROM qrels
  GROUP BY `model`, query_id
), judged AS (
  /* relations/judged/listed.sql: one row per judged document with its rank, NULL where it was not
   retrieved; equal scores by doc_id, greatest first, as trec_eval. */
  SELECT
    `model`, query_id, relevance,
    CASE WHEN NOT place IS NULL THEN place END AS rank,
    CAST(1 AS DOUBLE) AS docs,
    CAST(1 AS DOUBLE) AS chance
  FROM (
    SELECT
      l.`model`, l.query_id, j.relevance,
      NULLIF(ARRAY_POSITION(r.documents, j.doc_id), 0) AS place
    FROM topics AS l
    LEFT JOIN (
      SELECT
        `model`, query_id,
        SORT_ARRAY(COLLECT_LIST(STRUCT(score AS score, doc_id AS doc_id)), FALSE).doc_id AS documents
      FROM predictions AS run
      GROUP BY `model`, query_id
    ) AS r
      ON r.`model` IS NOT DISTINCT FROM l.`model` AND r.query_id = l.query_id
    JOIN qrels AS j ON j.`model` IS NOT DISTINCT FROM l.`model` AND j.query_id = l.query_id
  ) AS looked_up
), valued AS (
  /* relations/valued.sql: one row per document of positive relevance, which is what can have a gain. */
  SELECT
    `model`, query_id, relevance, rank, docs, chance
  FROM judged
  WHERE relevance > 0
), weighed AS (
  /* relations/weighed.sql: the documents of positive relevance with their worth, which the best possible
   order is sorted by. */
  SELECT
    `model`, query_id, relevance, rank, docs, chance,
    docs * relevance AS worth
  FROM valued
), graded AS (
  /* relations/graded/judged.sql: one row per document of positive relevance; ideal_rank is its place in
   the best possible order. */
  SELECT
    `model`, query_id, relevance, rank, docs, chance,
    ROW_NUMBER() OVER (PARTITION BY `model`, query_id ORDER BY worth DESC) AS ideal_rank
  FROM weighed
), discounted AS (
  /* relations/discounted.sql: one row per document of positive relevance with its gain discounted at its
   rank (discounted_gain) and at its place in the best possible order (ideal_gain), which leaves out
   what has a gain below 0. */
  SELECT
    `model`, query_id, rank, ideal_rank,
    chance * relevance * (LN(2) / LN(rank + 1)) AS discounted_gain,
    CASE WHEN relevance > 0 THEN docs * relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END AS ideal_gain
  FROM graded
), totals AS (
  /* relations/totals.sql: one row per group: how many predictions it has. */
  SELECT
    `model`,
    COUNT(*) AS all_rows
  FROM predictions
  GROUP BY `model`
), thresholds AS (
  /* relations/thresholds/ranked.sql: one row per distinct score of a positive, highest first, where
   every prediction weighs 1. */
  SELECT
    `model`, positives,
    rows_upto - rows_above - positives AS negatives,
    all_rows - rows_upto - all_positives + positives_upto AS negatives_below,
    all_positives,
    all_rows - all_positives AS all_negatives
  FROM (
    SELECT
      t.`model`, t.positives, t.rows_above,
      FLOOR(t.share_upto * n.all_rows + 0.5e0) AS rows_upto,
      n.all_rows,
      SUM(t.positives) OVER (PARTITION BY t.`model` ORDER BY t.score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS positives_upto,
      SUM(t.positives) OVER (PARTITION BY t.`model`) AS all_positives
    FROM (
      SELECT
        `model`, score,
        COUNT(*) AS positives,
        MAX(place) - 1 AS rows_above,
        MAX(share_upto) AS share_upto
      FROM (
        SELECT
          `model`, label, score,
          RANK() OVER (PARTITION BY `model` ORDER BY score DESC) AS place,
          CUME_DIST() OVER (PARTITION BY `model` ORDER BY score DESC) AS share_upto
        FROM predictions
      ) AS ranked
      WHERE label = 1
      GROUP BY `model`, score
    ) AS t
    JOIN totals AS n ON n.`model` IS NOT DISTINCT FROM t.`model`
  ) AS counted
), by_discounted AS (
  /* one row per list */
  SELECT
    `model`, query_id,
    /* nDCG: discounted gain of the first k documents over that of the best possible order. */
    SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_gain ELSE 0 END), 0) AS ndcg_at_10
  FROM discounted
  GROUP BY `model`, query_id
), by_thresholds AS (
  /* one row per group */
  SELECT
    `model`,
    /* AUC: area under the ROC curve: how probably a positive is scored above a negative; a tie counts half. */
    SUM(
      positives / NULLIF(all_positives, 0) * ((negatives_below + 0.5e0 * negatives) / NULLIF(all_negatives, 0))
    ) AS auc
  FROM thresholds
  GROUP BY `model`
), per_query AS (
  /* one row per query to evaluate, with the value of every metric */
  SELECT
    l.`model`,
    COALESCE(by_discounted.ndcg_at_10, 0) AS ndcg_at_10
  FROM topics AS l
  LEFT JOIN by_discounted
    ON by_discounted.`model` IS NOT DISTINCT FROM l.`model` AND by_discounted.query_id = l.query_id
), by_predictions AS (
  /* one row per group */
  SELECT
    `model`
  FROM predictions
  GROUP BY `model`
), over_lists AS (
  /* one row per group: its lists, aggregated */
  SELECT
    `model`,
    AVG(ndcg_at_10) AS ndcg_at_10
  FROM per_query
  GROUP BY `model`
)
SELECT
  by_predictions.`model`,
  over_lists.ndcg_at_10 AS ndcg_at_10,
  by_thresholds.auc AS auc
FROM by_predictions
LEFT JOIN by_thresholds ON by_thresholds.`model` IS NOT DISTINCT FROM by_predictions.`model`
LEFT JOIN over_lists ON over_lists.`model` IS NOT DISTINCT FROM by_predictions.`model`
ORDER BY by_predictions.`model`;
