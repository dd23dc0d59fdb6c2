-- sqlrank 0.1.0: nDCG@10, AP, RR
-- plan: lists=plain, ranking=listed
-- for another: ranking=sorted, where a list does not fit an array, or thousands of its documents are judged
WITH qrels AS (
  /* qrels: what was judged: a row per document of a query */
  SELECT
    `user_id` AS query_id,
    `item_id` AS doc_id,
    CAST(`stars` AS DOUBLE) AS relevance
  FROM shop.eval.bought
  WHERE `day` = '2026-01-01'
), run AS (
  /* run: what was retrieved: a row per document of a query */
  SELECT
    `model`,
    `user_id` AS query_id,
    `item_id` AS doc_id,
    CAST(`predicted` AS DOUBLE) AS score
  FROM shop.eval.recommended
  WHERE `day` = '2026-01-01'
), topics AS (
  /* relations/topics/truth.sql: one row per query to evaluate: every query with a judgment, answered or
   not. */
  SELECT
    systems.`model`, asked.query_id
  FROM (
    SELECT
      query_id
    FROM qrels
    GROUP BY query_id
  ) AS asked
  CROSS JOIN (
    SELECT
      `model`
    FROM run
    GROUP BY `model`
  ) AS systems
), queries AS (
  /* queries: what is known of queries: a row per query */
  SELECT
    `user_id` AS query_id,
    CAST(`revenue` AS DOUBLE) AS weight
  FROM shop.eval.users
), chosen AS (
  /* relations/chosen/known.sql: one row per query to evaluate: the topics that the table of queries
   holds. */
  SELECT
    t.`model`, t.query_id
  FROM topics AS t
  JOIN queries AS a ON a.query_id = t.query_id
), judged AS (
  /* RAND makes Spark compute this once for all that read it: it repeats what is deterministic */
  SELECT /*+ REPARTITION(`model`, query_id) */
    ELEMENT_AT(ARRAY(`model`), 1) AS `model`,
    ELEMENT_AT(ARRAY(query_id), 1) AS query_id,
    relevance, rank, docs, chance
  FROM (
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
      FROM chosen AS l
      LEFT JOIN (
        SELECT
          `model`, query_id,
          SORT_ARRAY(COLLECT_LIST(STRUCT(score AS score, doc_id AS doc_id)), FALSE).doc_id AS documents
        FROM run
        GROUP BY `model`, query_id
      ) AS r
        ON r.`model` IS NOT DISTINCT FROM l.`model` AND r.query_id = l.query_id
      JOIN qrels AS j ON j.query_id = l.query_id
    ) AS looked_up
  ) AS once
  WHERE RAND() >= 0
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
), relevant AS (
  /* relations/relevant/hits_only.sql: one row per relevant document; hit counts them in the order of
   their ranks, unretrieved ones last. */
  SELECT
    `model`, query_id, rank, docs,
    ROW_NUMBER() OVER (PARTITION BY `model`, query_id ORDER BY place) AS hit
  FROM (
    SELECT
      `model`, query_id, rank, docs,
      CASE WHEN docs = 0 THEN 2147483647 WHEN rank IS NULL THEN 2147483646 ELSE rank END AS place
    FROM judged
    WHERE relevance >= 1
  ) AS placed
), by_discounted AS (
  /* one row per list */
  SELECT
    `model`, query_id,
    /* nDCG: discounted gain of the first k documents over that of the best possible order. */
    SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_gain ELSE 0 END), 0) AS ndcg_at_10
  FROM discounted
  GROUP BY `model`, query_id
), by_relevant AS (
  /* one row per list */
  SELECT
    `model`, query_id,
    /* AP: average precision, the mean over queries of which is MAP. */
    COALESCE(SUM(CASE WHEN NOT rank IS NULL THEN hit / rank ELSE 0 END) / NULLIF(SUM(docs), 0), 0) AS ap,
    /* RR: reciprocal rank of the first relevant document, the mean over queries of which is MRR. */
    MAX(CASE WHEN NOT rank IS NULL THEN 1 / rank ELSE 0 END) AS rr
  FROM relevant
  GROUP BY `model`, query_id
), per_query AS (
  /* one row per query to evaluate, with the value of every metric */
  SELECT
    l.`model`, a.weight,
    COALESCE(by_discounted.ndcg_at_10, 0) AS ndcg_at_10,
    COALESCE(by_relevant.ap, 0) AS ap,
    COALESCE(by_relevant.rr, 0) AS rr
  FROM chosen AS l
  LEFT JOIN by_discounted
    ON by_discounted.`model` IS NOT DISTINCT FROM l.`model` AND by_discounted.query_id = l.query_id
  LEFT JOIN by_relevant
    ON by_relevant.`model` IS NOT DISTINCT FROM l.`model` AND by_relevant.query_id = l.query_id
  LEFT JOIN queries AS a ON a.query_id = l.query_id
)
SELECT
  `model`,
  SUM(weight * ndcg_at_10) / NULLIF(SUM(CASE WHEN ndcg_at_10 IS NULL THEN 0 ELSE weight END), 0) AS ndcg_at_10,
  SUM(weight * ap) / NULLIF(SUM(CASE WHEN ap IS NULL THEN 0 ELSE weight END), 0) AS ap,
  SUM(weight * rr) / NULLIF(SUM(CASE WHEN rr IS NULL THEN 0 ELSE weight END), 0) AS rr
FROM per_query
GROUP BY `model`
ORDER BY `model`;
