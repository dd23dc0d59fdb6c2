-- sqlrank 0.1.0 for DuckDB: nDCG@10, R@5, one row per intent
-- reads: shop.eval.questions (answers)
-- settings: where day = '2026-01-01'
-- plan: rank_method=list_position; alternative: rank_method=sort, if hundreds of documents of a
--   query are judged
-- answers: scores is taken to be missing, since the table cannot be looked at. Map answers.scores
--   to a column to read it
-- made by: sqlrank sql nDCG@10 R@5 --input answers=shop.eval.questions --column retrieved=retrieved_ids --column relevant=gold_ids --column grades=gold_grades --by intent --where "day = '2026-01-01'"
WITH answers AS NOT MATERIALIZED (
  -- One row per intent and query, with the lists of its retrieved and of its relevant documents.
  -- (shop.eval.questions)
  SELECT
    "intent", query_id,
    "retrieved_ids" AS retrieved, "gold_ids" AS relevant, "gold_grades" AS grades
  FROM shop.eval.questions
  WHERE "day" = '2026-01-01'
), relevant_ids AS (
  -- One row per query and element of its list, with its position.
  SELECT
    "intent", query_id, grades,
    UNNEST(relevant) AS doc_id,
    GENERATE_SUBSCRIPTS(relevant, 1) AS list_position
  FROM answers
), qrels AS (
  -- One row per intent, query and judged document.
  SELECT
    "intent", query_id, doc_id,
    CASE WHEN grades IS NULL THEN 1 ELSE CAST(grades[list_position] AS DOUBLE) END AS relevance
  FROM relevant_ids
), deduplicated_qrels AS (
  -- One row per intent, query and judged document, of judgments that may repeat it.
  -- (qrels/deduplicated.sql)
  SELECT
    "intent", query_id, doc_id,
    MAX(relevance) AS relevance  -- the highest of its rows
  FROM qrels
  GROUP BY "intent", query_id, doc_id
), ranked_lists AS (
  -- One row per intent and query to evaluate, even if empty. (ranked_lists/integer_key.sql)
  SELECT
    "intent", query_id,
    -- number of the list in this statement
    CAST(ROW_NUMBER() OVER (ORDER BY "intent", query_id) AS INT) AS list_id
  FROM answers
), judgments AS (
  -- One row per intent, query and document of its judgments, retrieved or not. (judgments.sql)
  SELECT
    ranked_lists.list_id, deduplicated_qrels.doc_id,
    deduplicated_qrels.relevance  -- grade; negative if selected for judging, but never judged
  FROM deduplicated_qrels
  INNER JOIN ranked_lists
    ON ranked_lists."intent" IS NOT DISTINCT FROM deduplicated_qrels."intent"
    AND ranked_lists.query_id = deduplicated_qrels.query_id
), hashed_lists AS (
  -- One row per intent and query, with the hashes of its first documents.
  SELECT
    ranked_lists.list_id, answers.retrieved,
    LIST_TRANSFORM(
      LIST_SELECT(
        answers.retrieved,
        GENERATE_SERIES(
          1,
          CASE
            WHEN ARRAY_LENGTH(answers.retrieved) > 10 THEN 10
            ELSE ARRAY_LENGTH(answers.retrieved)
          END
        )
      ),
      LAMBDA doc_id : HASH(doc_id)
    ) AS hashes
  FROM answers
  INNER JOIN ranked_lists
    ON ranked_lists."intent" IS NOT DISTINCT FROM answers."intent"
    AND ranked_lists.query_id = answers.query_id
), retrieved_lists AS (
  -- One row per intent and query that answers has. (retrieved_lists.sql)
  SELECT
    list_id,
    retrieved,  -- documents in order, with repeated ones
    -- distinct where the first repeat any
    CASE
      WHEN CASE
        WHEN ARRAY_LENGTH(hashes) <= 250
        THEN LIST_BOOL_AND(
          LIST_TRANSFORM(
            hashes,
            LAMBDA doc_hash, list_position : ARRAY_POSITION(hashes, doc_hash) = list_position
          )
        )
        ELSE LIST_UNIQUE(hashes) = ARRAY_LENGTH(hashes)
      END
      THEN ARRAY_LENGTH(retrieved)
      ELSE ARRAY_LENGTH(LIST_DISTINCT(retrieved))
    END AS num_documents
  FROM hashed_lists
), judged_documents AS (
  -- One row per intent, query and judged document, retrieved or not.
  -- (judged_documents/by_list_position.sql)
  SELECT
    ranked_lists.list_id, judgments.relevance,
    -- NULL if not retrieved
    CASE
      WHEN retrieved_lists.num_documents = ARRAY_LENGTH(retrieved_lists.retrieved)
      THEN ARRAY_POSITION(retrieved_lists.retrieved, judgments.doc_id)
      ELSE ARRAY_LENGTH(
        LIST_DISTINCT(
          retrieved_lists.retrieved[1:ARRAY_POSITION(retrieved_lists.retrieved, judgments.doc_id)]
        )
      )
    END AS rank
  FROM judgments
  RIGHT JOIN ranked_lists ON ranked_lists.list_id = judgments.list_id
  LEFT JOIN retrieved_lists ON retrieved_lists.list_id = ranked_lists.list_id
  WHERE judgments.relevance IS NOT NULL
), ideal_ranking AS (
  -- One row per intent, query and judged document of positive relevance. (ideal_ranking/judged.sql)
  SELECT
    list_id, relevance, rank,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY relevance DESC) AS ideal_rank
  FROM judged_documents
  WHERE relevance > 0
), discounted_gains_metrics AS (
  -- One row per intent and query with a judged document of positive relevance.
  SELECT
    list_id,
    -- nDCG: discounted gain of the documents at ranks 1 to 10 over that of the ideal ranking.
    SUM(CASE WHEN rank <= 10 THEN relevance * (LN(2) / LN(rank + 1)) ELSE 0 END) / NULLIF(
      SUM(CASE WHEN ideal_rank <= 10 THEN relevance * (LN(2) / LN(ideal_rank + 1)) ELSE 0 END), 0
    ) AS ndcg_at_10
  FROM ideal_ranking
  GROUP BY list_id
), relevant_documents_metrics AS (
  -- One row per intent and query with a relevant document.
  SELECT
    list_id,
    -- R: recall, the share of the relevant documents that are among the first 5.
    SUM(CASE WHEN rank <= 5 THEN 1e0 ELSE 0 END) / COUNT(*) AS r_at_5
  FROM judged_documents
  WHERE relevance >= 1
  GROUP BY list_id
)
SELECT
  ranked_lists."intent",
  AVG(COALESCE(discounted_gains_metrics.ndcg_at_10, 0)) AS ndcg_at_10,
  AVG(COALESCE(relevant_documents_metrics.r_at_5, 0)) AS r_at_5
FROM ranked_lists
LEFT JOIN discounted_gains_metrics ON discounted_gains_metrics.list_id = ranked_lists.list_id
LEFT JOIN relevant_documents_metrics ON relevant_documents_metrics.list_id = ranked_lists.list_id
GROUP BY ranked_lists."intent"
ORDER BY ranked_lists."intent" NULLS FIRST;
