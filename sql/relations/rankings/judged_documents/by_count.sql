-- judged_documents: one row per list and judged document, retrieved or not: relevance, rank from counts of scores, and list length, without doc_id.
-- rank_probability is 1, and doc_count, too, unless the run repeats a document.
-- The rank is the number of documents with a higher score, or an equal score and no smaller doc_id. Nothing is sorted. Ties are broken by
-- doc_id, greatest first.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Materialize: every list is compared with its judged documents.
-- Grain: rows of judgments
SELECT
  judgments.list_id, judgments.relevance,
  retrieved_ranks.rank, -- NULL if not retrieved
  CASE
    WHEN retrieved_ranks.num_retrieved > $depth THEN $depth
    ELSE retrieved_ranks.num_retrieved
  END AS list_length, -- documents in the list; NULL if not retrieved
  CAST(COALESCE(retrieved_ranks.num_copies, 1) AS DOUBLE) AS doc_count, -- documents that the row counts as
  CAST(1 AS DOUBLE) AS rank_probability -- probability that the document has this rank
FROM judgments
LEFT JOIN (
  -- one row per list and judged document within the depth
  SELECT
    document_counts.*
  FROM (
    -- one row per list and judged document that is retrieved
    SELECT
      judged_document_scores.list_id, judged_document_scores.doc_id, judged_document_scores.score,
      judged_document_scores.num_copies,
      CAST(SUM(
        CASE
          WHEN retrieved_documents.score > judged_document_scores.score THEN 1
          WHEN retrieved_documents.score = judged_document_scores.score
            AND retrieved_documents.doc_id >= judged_document_scores.doc_id
            THEN 1
          ELSE 0
        END
      ) AS BIGINT) AS rank,
      COUNT(*) AS num_retrieved
    FROM judged_document_scores
    JOIN retrieved_documents ON retrieved_documents.list_id = judged_document_scores.list_id
    GROUP BY judged_document_scores.list_id, judged_document_scores.doc_id, judged_document_scores.score, judged_document_scores.num_copies
  ) AS document_counts
  WHERE rank <= $depth
) AS retrieved_ranks
  ON retrieved_ranks.list_id = judgments.list_id AND retrieved_ranks.doc_id = judgments.doc_id
