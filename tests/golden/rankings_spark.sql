-- sqlrank 0.1.0 for Spark: nDCG@10, AP, RR, one row per model
-- reads: shop.eval.recommended (run), shop.eval.bought (qrels), shop.eval.users (queries)
-- settings: weight=revenue, aggregate=wmean, where run.day = '2026-01-01' AND qrels.day = '2026-01-01'
-- plan: rank_method=array; alternative: rank_method=sort, if a list does not fit an array, or thousands of its documents are judged
-- made by: sqlrank sql nDCG@10 AP RR --policy aggregate=wmean --run shop.eval.recommended --qrels shop.eval.bought --queries shop.eval.users --column query_id=user_id --column doc_id=item_id --column score=predicted --column relevance=stars --column weight=revenue --by model --where "run.day = '2026-01-01' AND qrels.day = '2026-01-01'" --dialect spark
WITH qrels AS (
  -- One row per query and judged document. (shop.eval.bought)
  SELECT `user_id` AS query_id, `item_id` AS doc_id, CAST(`stars` AS DOUBLE) AS relevance
  FROM shop.eval.bought
  WHERE `day` = '2026-01-01'
), run AS (
  -- One row per model, query and retrieved document. (shop.eval.recommended)
  SELECT `model`, `user_id` AS query_id, `item_id` AS doc_id, CAST(`predicted` AS DOUBLE) AS score
  FROM shop.eval.recommended
  WHERE `day` = '2026-01-01'
), evaluated_queries AS (
  -- One row per model and query that has judgments, retrieved for or not.
  -- (relations/evaluated_queries/judged.sql)
  SELECT systems.`model`, asked.query_id
  FROM (
    SELECT query_id
    FROM qrels
    GROUP BY query_id
  ) AS asked
  CROSS JOIN (
    SELECT `model`
    FROM run
    GROUP BY `model`
  ) AS systems
), queries AS (
  -- One row per query, with its attributes. (shop.eval.users)
  SELECT `user_id` AS query_id, CAST(`revenue` AS DOUBLE) AS weight
  FROM shop.eval.users
), selected_queries AS (
  -- One row per model and query to evaluate that the queries table has.
  -- (relations/selected_queries/in_queries_table.sql)
  SELECT evaluated_queries.`model`, evaluated_queries.query_id
  FROM evaluated_queries
  JOIN queries ON queries.query_id = evaluated_queries.query_id
), judged_documents AS (
  -- One row per model, query and judged document, retrieved or not.
  -- (relations/judged_documents/by_array.sql)
  -- RAND makes Spark compute this once: deterministic CTEs are repeated for each reader.
  SELECT /*+ REPARTITION(`model`, query_id) */
    ELEMENT_AT(ARRAY(`model`), 1) AS `model`,
    ELEMENT_AT(ARRAY(query_id), 1) AS query_id,
    relevance, rank, doc_count, rank_probability
  FROM (
    SELECT
      `model`, query_id, relevance,
      CASE WHEN NOT document_rank IS NULL THEN document_rank END AS rank,  -- NULL if not retrieved
      CAST(1 AS DOUBLE) AS doc_count,  -- documents that the row counts as
      CAST(1 AS DOUBLE) AS rank_probability  -- probability that the document has this rank
    FROM (
      -- One row per model, query and judged document.
      SELECT
        ranked_lists.`model`, ranked_lists.query_id, qrels.relevance,
        -- position in the list, at any depth
        NULLIF(ARRAY_POSITION(document_arrays.documents, qrels.doc_id), 0) AS document_rank
      FROM selected_queries AS ranked_lists
      LEFT JOIN (
        -- One row per group and query of the run.
        SELECT
          `model`, query_id,
          -- sorted from the highest score
          SORT_ARRAY(COLLECT_LIST(STRUCT(score AS score, doc_id AS doc_id)), FALSE).doc_id AS documents
        FROM run
        GROUP BY `model`, query_id
      ) AS document_arrays
        ON document_arrays.`model` IS NOT DISTINCT FROM ranked_lists.`model`
        AND document_arrays.query_id = ranked_lists.query_id
      JOIN qrels ON qrels.query_id = ranked_lists.query_id
    ) AS positions
  ) AS once
  WHERE RAND() >= 0
), documents_with_gain AS (
  -- One row per model, query and judged document of positive relevance, retrieved or not: only
  -- these can have a gain. (relations/documents_with_gain.sql)
  SELECT `model`, query_id, relevance, rank, doc_count, rank_probability
  FROM judged_documents
  WHERE relevance > 0
), ideal_ranking AS (
  -- One row per model, query and judged document of positive relevance, retrieved or not, also
  -- ranked by gain. (relations/ideal_ranking/judged.sql)
  SELECT
    `model`, query_id, relevance, rank, doc_count, rank_probability,
    -- position by gain, 1 is the greatest
    ROW_NUMBER() OVER (PARTITION BY `model`, query_id ORDER BY doc_count * relevance DESC) AS ideal_rank
  FROM documents_with_gain
), discounted_gains AS (
  -- One row per model, query and judged document of positive relevance: its gains, discounted by
  -- its ranks. (relations/discounted_gains.sql)
  SELECT
    `model`, query_id, rank, ideal_rank,
    -- NULL if not retrieved
    rank_probability * relevance * (LN(2) / LN(rank + 1)) AS discounted_gain,
    -- 0 if the gain is negative
    CASE WHEN relevance > 0 THEN doc_count * relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END AS ideal_discounted_gain
  FROM ideal_ranking
), relevant_documents AS (
  -- One row per model, query and relevant document, retrieved or not.
  -- (relations/relevant_documents/at_hits.sql)
  SELECT
    `model`, query_id, rank, doc_count,
    -- relevant documents down to this rank
    ROW_NUMBER() OVER (
      PARTITION BY `model`, query_id
      ORDER BY CASE WHEN doc_count = 0 THEN 2 WHEN rank IS NULL THEN 1 ELSE 0 END, rank
    ) AS cumulative_hits
  FROM judged_documents
  WHERE relevance >= 1
), discounted_gains_metrics AS (
  -- One row per model and query.
  SELECT
    `model`, query_id,
    -- nDCG: discounted gain of the first k documents over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_discounted_gain ELSE 0 END), 0) AS ndcg_at_10
  FROM discounted_gains
  GROUP BY `model`, query_id
), relevant_documents_metrics AS (
  -- One row per model and query.
  SELECT
    `model`, query_id,
    -- AP: average precision, the mean over queries of which is MAP.
    COALESCE(SUM(CASE WHEN NOT rank IS NULL THEN cumulative_hits / rank ELSE 0 END) / NULLIF(SUM(doc_count), 0), 0) AS ap,
    -- RR: reciprocal rank of the first relevant document, the mean over queries of which is MRR.
    MAX(CASE WHEN NOT rank IS NULL THEN 1 / rank ELSE 0 END) AS rr
  FROM relevant_documents
  GROUP BY `model`, query_id
), query_metrics AS (
  -- One row per model and query to evaluate.
  SELECT
    l.`model`, a.weight,
    COALESCE(discounted_gains_metrics.ndcg_at_10, 0) AS ndcg_at_10,
    COALESCE(relevant_documents_metrics.ap, 0) AS ap,
    COALESCE(relevant_documents_metrics.rr, 0) AS rr
  FROM selected_queries AS l
  LEFT JOIN discounted_gains_metrics
    ON discounted_gains_metrics.`model` IS NOT DISTINCT FROM l.`model`
    AND discounted_gains_metrics.query_id = l.query_id
  LEFT JOIN relevant_documents_metrics
    ON relevant_documents_metrics.`model` IS NOT DISTINCT FROM l.`model`
    AND relevant_documents_metrics.query_id = l.query_id
  LEFT JOIN queries AS a ON a.query_id = l.query_id
)
SELECT
  `model`,
  SUM(weight * ndcg_at_10) / NULLIF(SUM(CASE WHEN ndcg_at_10 IS NULL THEN 0 ELSE weight END), 0) AS ndcg_at_10,
  SUM(weight * ap) / NULLIF(SUM(CASE WHEN ap IS NULL THEN 0 ELSE weight END), 0) AS ap,
  SUM(weight * rr) / NULLIF(SUM(CASE WHEN rr IS NULL THEN 0 ELSE weight END), 0) AS rr
FROM query_metrics
GROUP BY `model`
ORDER BY `model`;
