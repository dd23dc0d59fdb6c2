-- sqlrank 0.1.0: nDCG@10, AP
-- plan: lists=plain, ranking=listed
-- for another: ranking=sorted, where a list does not fit an array, or thousands of its documents are judged
WITH qrels AS (
  /* qrels: what was judged: a row per document of a query */
  SELECT
    query_id, doc_id,
    CAST(relevance AS DOUBLE) AS relevance
  FROM shop.eval.qrels
), run AS (
  /* run: what was retrieved: a row per document of a query */
  SELECT
    query_id, doc_id,
    CAST(score AS DOUBLE) AS score
  FROM shop.eval.run
), topics AS (
  /* relations/topics/truth.sql: one row per query to evaluate: every query with a judgment, answered or
   not. */
  SELECT
    query_id
  FROM qrels
  GROUP BY query_id
), judged AS (
  /* RAND makes Spark compute this once for all that read it: it repeats what is deterministic */
  SELECT /*+ REPARTITION(query_id) */
    ELEMENT_AT(ARRAY(query_id), 1) AS query_id,
    relevance, rank, docs, chance
  FROM (
    /* relations/judged/listed.sql: one row per judged document with its rank, NULL where it was not
   retrieved; equal scores by doc_id, greatest first, as trec_eval. */
    SELECT
      query_id, relevance,
      CASE WHEN NOT place IS NULL THEN place END AS rank,
      CAST(1 AS DOUBLE) AS docs,
      CAST(1 AS DOUBLE) AS chance
    FROM (
      SELECT
        l.query_id, j.relevance,
        NULLIF(ARRAY_POSITION(r.documents, j.doc_id), 0) AS place
      FROM topics AS l
      LEFT JOIN (
        SELECT
          query_id,
          SORT_ARRAY(COLLECT_LIST(STRUCT(score AS score, doc_id AS doc_id)), FALSE).doc_id AS documents
        FROM run
        GROUP BY query_id
      ) AS r
        ON r.query_id = l.query_id
      JOIN qrels AS j ON j.query_id = l.query_id
    ) AS looked_up
  ) AS once
  WHERE RAND() >= 0
), valued AS (
  /* relations/valued.sql: one row per document of positive relevance, which is what can have a gain. */
  SELECT
    query_id, relevance, rank, docs, chance
  FROM judged
  WHERE relevance > 0
), weighed AS (
  /* relations/weighed.sql: the documents of positive relevance with their worth, which the best possible
   order is sorted by. */
  SELECT
    query_id, relevance, rank, docs, chance,
    docs * relevance AS worth
  FROM valued
), graded AS (
  /* relations/graded/judged.sql: one row per document of positive relevance; ideal_rank is its place in
   the best possible order. */
  SELECT
    query_id, relevance, rank, docs, chance,
    ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY worth DESC) AS ideal_rank
  FROM weighed
), discounted AS (
  /* relations/discounted.sql: one row per document of positive relevance with its gain discounted at its
   rank (discounted_gain) and at its place in the best possible order (ideal_gain), which leaves out
   what has a gain below 0. */
  SELECT
    query_id, rank, ideal_rank,
    chance * relevance * (LN(2) / LN(rank + 1)) AS discounted_gain,
    CASE WHEN relevance > 0 THEN docs * relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END AS ideal_gain
  FROM graded
), relevant AS (
  /* relations/relevant/hits_only.sql: one row per relevant document; hit counts them in the order of
   their ranks, unretrieved ones last. */
  SELECT
    query_id, rank, docs,
    ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY place) AS hit
  FROM (
    SELECT
      query_id, rank, docs,
      CASE WHEN docs = 0 THEN 2147483647 WHEN rank IS NULL THEN 2147483646 ELSE rank END AS place
    FROM judged
    WHERE relevance >= 1
  ) AS placed
), by_discounted AS (
  /* one row per list */
  SELECT
    query_id,
    /* nDCG: discounted gain of the first k documents over that of the best possible order. */
    SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_gain ELSE 0 END), 0) AS ndcg_at_10
  FROM discounted
  GROUP BY query_id
), by_relevant AS (
  /* one row per list */
  SELECT
    query_id,
    /* AP: average precision, the mean over queries of which is MAP. */
    COALESCE(SUM(CASE WHEN NOT rank IS NULL THEN hit / rank ELSE 0 END) / NULLIF(SUM(docs), 0), 0) AS ap
  FROM relevant
  GROUP BY query_id
), per_query AS (
  /* one row per query to evaluate, with the value of every metric */
  SELECT
    COALESCE(by_discounted.ndcg_at_10, 0) AS ndcg_at_10,
    COALESCE(by_relevant.ap, 0) AS ap
  FROM topics AS l
  LEFT JOIN by_discounted ON by_discounted.query_id = l.query_id
  LEFT JOIN by_relevant ON by_relevant.query_id = l.query_id
)
SELECT
  AVG(ndcg_at_10) AS ndcg_at_10,
  AVG(ap) AS ap
FROM per_query;
