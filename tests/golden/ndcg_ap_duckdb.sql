-- sqlrank 0.1.0: nDCG@10, AP
-- plan: lists=numbered, ranking=sorted
-- for another: lists=plain, by the ids of the input; ranking=counted, where queries have three judged documents or fewer and lists are long
WITH qrels AS NOT MATERIALIZED (
  /* qrels: what was judged: a row per document of a query */
  SELECT
    query_id, doc_id,
    CAST(relevance AS DOUBLE) AS relevance
  FROM shop.eval.qrels
), run AS NOT MATERIALIZED (
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
), lists AS (
  /* relations/lists/numbered.sql: one row per ranked list to evaluate, numbered: integers join and sort
   faster than users' ids. */
  SELECT
    query_id,
    CAST(ROW_NUMBER() OVER (ORDER BY query_id) AS INT) AS list_id
  FROM topics AS chosen
), judgments AS (
  /* relations/judgments.sql: one row per judged document of a list that is evaluated, retrieved or not. */
  SELECT
    l.list_id, j.doc_id, j.relevance
  FROM qrels AS j
  JOIN lists AS l ON l.query_id = j.query_id
), retrieved AS (
  /* relations/retrieved/nonrelevant.sql: one row per retrieved document; documents without a judgment
   keep their place. */
  SELECT
    l.list_id, r.doc_id, r.score
  FROM run AS r
  JOIN lists AS l ON l.query_id = r.query_id
), ranked AS (
  /* relations/ranked/doc_desc.sql: one row per retrieved document with its rank; equal scores by doc_id,
   greatest first, as trec_eval. */
  SELECT
    list_id, doc_id, rank
  FROM (
    SELECT
      list_id, doc_id,
      ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id DESC) AS rank
    FROM retrieved
  ) AS numbered
), judged AS (
  /* relations/judged/placed.sql: one row per judged document with its rank, NULL where it was not
   retrieved. docs is 1 and chance is 1: each row is one document that certainly stands at its rank. */
  SELECT
    j.list_id, j.relevance, r.rank,
    CAST(1 AS DOUBLE) AS docs,
    CAST(1 AS DOUBLE) AS chance
  FROM judgments AS j
  LEFT JOIN ranked AS r ON r.list_id = j.list_id AND r.doc_id = j.doc_id
), valued AS (
  /* relations/valued.sql: one row per document of positive relevance, which is what can have a gain. */
  SELECT
    list_id, relevance, rank, docs, chance
  FROM judged
  WHERE relevance > 0
), weighed AS (
  /* relations/weighed.sql: the documents of positive relevance with their worth, which the best possible
   order is sorted by. */
  SELECT
    list_id, relevance, rank, docs, chance,
    docs * relevance AS worth
  FROM valued
), graded AS (
  /* relations/graded/judged.sql: one row per document of positive relevance; ideal_rank is its place in
   the best possible order. */
  SELECT
    list_id, relevance, rank, docs, chance,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY worth DESC) AS ideal_rank
  FROM weighed
), discounted AS (
  /* relations/discounted.sql: one row per document of positive relevance with its gain discounted at its
   rank (discounted_gain) and at its place in the best possible order (ideal_gain), which leaves out
   what has a gain below 0. */
  SELECT
    list_id, rank, ideal_rank,
    chance * relevance * (LN(2) / LN(rank + 1)) AS discounted_gain,
    CASE WHEN relevance > 0 THEN docs * relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END AS ideal_gain
  FROM graded
), relevant AS (
  /* relations/relevant/hits_only.sql: one row per relevant document; hit counts them in the order of
   their ranks, unretrieved ones last. */
  SELECT
    list_id, rank, docs,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY place) AS hit
  FROM (
    SELECT
      list_id, rank, docs,
      CASE WHEN docs = 0 THEN 2147483647 WHEN rank IS NULL THEN 2147483646 ELSE rank END AS place
    FROM judged
    WHERE relevance >= 1
  ) AS placed
), by_discounted AS (
  /* one row per list */
  SELECT
    list_id,
    /* nDCG: discounted gain of the first k documents over that of the best possible order. */
    SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_gain ELSE 0 END), 0) AS ndcg_at_10
  FROM discounted
  GROUP BY list_id
), by_relevant AS (
  /* one row per list */
  SELECT
    list_id,
    /* AP: average precision, the mean over queries of which is MAP. */
    COALESCE(SUM(CASE WHEN NOT rank IS NULL THEN hit / rank ELSE 0 END) / NULLIF(SUM(docs), 0), 0) AS ap
  FROM relevant
  GROUP BY list_id
), per_query AS (
  /* one row per query to evaluate, with the value of every metric */
  SELECT
    COALESCE(by_discounted.ndcg_at_10, 0) AS ndcg_at_10,
    COALESCE(by_relevant.ap, 0) AS ap
  FROM lists AS l
  LEFT JOIN by_discounted ON by_discounted.list_id = l.list_id
  LEFT JOIN by_relevant ON by_relevant.list_id = l.list_id
)
SELECT
  AVG(ndcg_at_10) AS ndcg_at_10,
  AVG(ap) AS ap
FROM per_query;
