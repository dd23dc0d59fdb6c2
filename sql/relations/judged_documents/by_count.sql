-- judged_documents: one row per judged document, with its rank, NULL if it was not retrieved; ties are broken by doc_id, greatest first.
-- The rank is the number of documents with a higher score, or an equal score and no smaller doc_id. Nothing is sorted.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Materialize: every list is compared with its judged documents.
-- Grain: rows of judgments
SELECT
  j.list_id,
  j.relevance,
  c.rank,
  CASE WHEN c.retrieved_docs > $depth THEN $depth ELSE c.retrieved_docs END AS list_length,
  CAST(COALESCE(c.num_copies, 1) AS DOUBLE) AS doc_count,
  CAST(1 AS DOUBLE) AS rank_probability
FROM judgments AS j
LEFT JOIN (
  SELECT
    list_id,
    doc_id,
    num_copies,
    rank,
    retrieved_docs
  FROM (
    SELECT
      h.list_id,
      h.doc_id,
      h.score,
      h.num_copies,
      CAST(SUM(
        CASE WHEN r.score > h.score OR (r.score = h.score AND r.doc_id >= h.doc_id) THEN 1 ELSE 0 END
      ) AS BIGINT) AS rank,
      COUNT(*) AS retrieved_docs
    FROM retrieved_judgments AS h
    JOIN retrieved_documents AS r ON r.list_id = h.list_id
    GROUP BY h.list_id, h.doc_id, h.score, h.num_copies
  ) AS counts
  WHERE rank <= $depth
) AS c ON c.list_id = j.list_id AND c.doc_id = j.doc_id
