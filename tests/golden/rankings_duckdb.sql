-- sqlrank 0.1.0 for DuckDB: nDCG@10, AP, RR, one row per model
-- reads: shop.eval.recommended (run), shop.eval.bought (qrels), shop.eval.users (queries)
-- settings: weight=revenue, aggregate=wmean, where run.day = '2026-01-01' AND qrels.day = '2026-01-01'
-- plan: rank_method=sort; alternative: rank_method=count, for long lists with three judged documents or fewer
-- made by: sqlrank sql nDCG@10 AP RR --policy aggregate=wmean --run shop.eval.recommended --qrels shop.eval.bought --queries shop.eval.users --column query_id=user_id --column doc_id=item_id --column score=predicted --column relevance=stars --column weight=revenue --by model --where "run.day = '2026-01-01' AND qrels.day = '2026-01-01'"
WITH qrels AS NOT MATERIALIZED (
  -- One row per query and judged document. (shop.eval.bought)
  SELECT "user_id" AS query_id, "item_id" AS doc_id, CAST("stars" AS DOUBLE) AS relevance
  FROM shop.eval.bought
  WHERE "day" = '2026-01-01'
), run AS NOT MATERIALIZED (
  -- One row per model, query and retrieved document. (shop.eval.recommended)
  SELECT "model", "user_id" AS query_id, "item_id" AS doc_id, CAST("predicted" AS DOUBLE) AS score
  FROM shop.eval.recommended
  WHERE "day" = '2026-01-01'
), evaluated_queries AS (
  -- One row per model and query that has judgments, retrieved for or not.
  -- (relations/evaluated_queries/judged.sql)
  SELECT systems."model", asked.query_id
  FROM (
    SELECT query_id
    FROM qrels
    GROUP BY query_id
  ) AS asked
  CROSS JOIN (
    SELECT "model"
    FROM run
    GROUP BY "model"
  ) AS systems
), queries AS NOT MATERIALIZED (
  -- One row per query, with its attributes. (shop.eval.users)
  SELECT "user_id" AS query_id, CAST("revenue" AS DOUBLE) AS weight
  FROM shop.eval.users
), selected_queries AS (
  -- One row per model and query to evaluate that the queries table has.
  -- (relations/selected_queries/in_queries_table.sql)
  SELECT evaluated_queries."model", evaluated_queries.query_id
  FROM evaluated_queries
  JOIN queries ON queries.query_id = evaluated_queries.query_id
), ranked_lists AS (
  -- One row per model and query to evaluate: the answer to one query, which may be empty.
  -- (relations/ranked_lists/integer_key.sql)
  SELECT
    "model", query_id,
    -- number of the list in this statement
    CAST(ROW_NUMBER() OVER (ORDER BY "model", query_id) AS INT) AS list_id
  FROM selected_queries
), judgments AS (
  -- One row per model, query and judged document, retrieved or not. (relations/judgments.sql)
  SELECT
    ranked_lists.list_id, qrels.doc_id,
    qrels.relevance  -- grade; negative if pooled but not judged
  FROM qrels
  JOIN ranked_lists ON ranked_lists.query_id = qrels.query_id
), retrieved_documents AS (
  -- One row per model, query and retrieved document, judged or not.
  -- (relations/retrieved_documents/all.sql)
  SELECT ranked_lists.list_id, run.doc_id, run.score
  FROM run
  JOIN ranked_lists
    ON ranked_lists."model" IS NOT DISTINCT FROM run."model" AND ranked_lists.query_id = run.query_id
), ranked_documents AS (
  -- One row per model, query and retrieved document, ranked by score; ties by doc_id, greatest
  -- first, as in trec_eval. (relations/ranked_documents/doc_desc.sql)
  SELECT
    list_id, doc_id,
    rank  -- position in the list, from 1
  FROM (
    -- One row per model, query and retrieved document.
    SELECT
      list_id, doc_id,
      ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id DESC) AS rank
    FROM retrieved_documents
  ) AS numbered_documents
), judged_documents AS (
  -- One row per model, query and judged document, retrieved or not.
  -- (relations/judged_documents/by_join.sql)
  SELECT
    judgments.list_id, judgments.relevance,
    ranked_documents.rank,  -- NULL if not retrieved
    CAST(1 AS DOUBLE) AS doc_count,  -- documents that the row counts as
    CAST(1 AS DOUBLE) AS rank_probability  -- probability that the document has this rank
  FROM judgments
  LEFT JOIN ranked_documents
    ON ranked_documents.list_id = judgments.list_id AND ranked_documents.doc_id = judgments.doc_id
), documents_with_gain AS (
  -- One row per model, query and judged document of positive relevance, retrieved or not: only
  -- these can have a gain. (relations/documents_with_gain.sql)
  SELECT list_id, relevance, rank, doc_count, rank_probability
  FROM judged_documents
  WHERE relevance > 0
), ideal_ranking AS (
  -- One row per model, query and judged document of positive relevance, retrieved or not, also
  -- ranked by gain. (relations/ideal_ranking/judged.sql)
  SELECT
    list_id, relevance, rank, doc_count, rank_probability,
    -- position by gain, 1 is the greatest
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY doc_count * relevance DESC) AS ideal_rank
  FROM documents_with_gain
), discounted_gains AS (
  -- One row per model, query and judged document of positive relevance: its gains, discounted by
  -- its ranks. (relations/discounted_gains.sql)
  SELECT
    list_id, rank, ideal_rank,
    -- NULL if not retrieved
    rank_probability * relevance * (LN(2) / LN(rank + 1)) AS discounted_gain,
    -- 0 if the gain is negative
    CASE WHEN relevance > 0 THEN doc_count * relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END AS ideal_discounted_gain
  FROM ideal_ranking
), relevant_documents AS (
  -- One row per model, query and relevant document, retrieved or not.
  -- (relations/relevant_documents/at_hits.sql)
  SELECT
    list_id, rank, doc_count,
    -- relevant documents down to this rank
    ROW_NUMBER() OVER (
      PARTITION BY list_id
      ORDER BY CASE WHEN doc_count = 0 THEN 2 WHEN rank IS NULL THEN 1 ELSE 0 END, rank
    ) AS cumulative_hits
  FROM judged_documents
  WHERE relevance >= 1
), discounted_gains_metrics AS (
  -- One row per model and query.
  SELECT
    list_id,
    -- nDCG: discounted gain of the first k documents over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN discounted_gain ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= 10 THEN ideal_discounted_gain ELSE 0 END), 0) AS ndcg_at_10
  FROM discounted_gains
  GROUP BY list_id
), relevant_documents_metrics AS (
  -- One row per model and query.
  SELECT
    list_id,
    -- AP: average precision, the mean over queries of which is MAP.
    COALESCE(SUM(CASE WHEN NOT rank IS NULL THEN cumulative_hits / rank ELSE 0 END) / NULLIF(SUM(doc_count), 0), 0) AS ap,
    -- RR: reciprocal rank of the first relevant document, the mean over queries of which is MRR.
    MAX(CASE WHEN NOT rank IS NULL THEN 1 / rank ELSE 0 END) AS rr
  FROM relevant_documents
  GROUP BY list_id
), query_metrics AS (
  -- One row per model and query to evaluate.
  SELECT
    l."model", a.weight,
    COALESCE(discounted_gains_metrics.ndcg_at_10, 0) AS ndcg_at_10,
    COALESCE(relevant_documents_metrics.ap, 0) AS ap,
    COALESCE(relevant_documents_metrics.rr, 0) AS rr
  FROM ranked_lists AS l
  LEFT JOIN discounted_gains_metrics ON discounted_gains_metrics.list_id = l.list_id
  LEFT JOIN relevant_documents_metrics ON relevant_documents_metrics.list_id = l.list_id
  LEFT JOIN queries AS a ON a.query_id = l.query_id
)
SELECT
  "model",
  SUM(weight * ndcg_at_10) / NULLIF(SUM(CASE WHEN ndcg_at_10 IS NULL THEN 0 ELSE weight END), 0) AS ndcg_at_10,
  SUM(weight * ap) / NULLIF(SUM(CASE WHEN ap IS NULL THEN 0 ELSE weight END), 0) AS ap,
  SUM(weight * rr) / NULLIF(SUM(CASE WHEN rr IS NULL THEN 0 ELSE weight END), 0) AS rr
FROM query_metrics
GROUP BY "model"
ORDER BY "model" NULLS FIRST;
